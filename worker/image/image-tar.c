/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "image-tar.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/json-write.h"
#include "base/names.h"
#include "libraries.h"
#include "sbx-config.h"
#include "tar.h"

#define ZONES          "/usr/share/zoneinfo"
#define MAX_ZONE_DEPTH 4u
/* The contract's default; the host always says another (WorkerUser=). */
#define IMAGE_USER "1000:1000"
#define SOURCE     "roundtable-sandbox, made on this host from the installed files"

G_DEFINE_QUARK (sbx - image - error - quark, sbx_image_error)

typedef struct {
  SbxTar *tar;
  GHashTable *directories; /* paths that are in it */
  GHashTable *contents;    /* digest to the path that has it */
  guint64 n_bytes;
} Layer;

static void
layer_clear (Layer *self)
{
  g_clear_pointer (&self->tar, sbx_tar_free);
  g_clear_pointer (&self->directories, g_hash_table_unref);
  g_clear_pointer (&self->contents, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Layer, layer_clear)

static gboolean
fail (GError **error, SbxImageError code, const char *path, const char *what)
{
  g_set_error (error, SBX_IMAGE_ERROR, code, "%s: %s", path, what);
  return FALSE;
}

static gboolean
add_directory (Layer *self, const char *path, GError **error)
{
  g_autofree char *parent = g_path_get_dirname (path);

  if (g_hash_table_contains (self->directories, path))
    return TRUE;
  if (strcmp (parent, ".") != 0 && !add_directory (self, parent, error))
    return FALSE;
  g_hash_table_add (self->directories, g_strdup (path));
  return sbx_tar_add_directory (self->tar, path, 0555)
         || fail (error, SBX_IMAGE_ERROR_READ, path, "path too long");
}

/* The host's file at source as /path; a content that is there already as a link to it (many zones are one).
 */
static gboolean
add_file (Layer *self, const char *source, const char *path, guint mode, GError **error)
{
  g_autofree char *data = NULL;
  g_autofree char *digest = NULL;
  g_autofree char *parent = g_path_get_dirname (path);
  const char *same;
  gsize n_bytes;
  gboolean fits;

  if (!g_file_get_contents (source, &data, &n_bytes, NULL))
    return fail (error, SBX_IMAGE_ERROR_READ, source, "cannot be read");
  if (strcmp (parent, ".") != 0 && !add_directory (self, parent, error))
    return FALSE;
  digest = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) data, n_bytes);
  same = g_hash_table_lookup (self->contents, digest);
  if (same != NULL)
    fits = sbx_tar_add_link (self->tar, path, mode, same);
  else
    fits = sbx_tar_add_file (self->tar, path, mode, data, n_bytes);
  if (!fits)
    return fail (error, SBX_IMAGE_ERROR_READ, path, "path too long");
  if (same == NULL)
    {
      self->n_bytes += n_bytes;
      g_hash_table_insert (self->contents, g_steal_pointer (&digest), g_strdup (path));
    }
  return TRUE;
}

/* All into the directory of the C library: without a cache of its own, the loader looks only where it was
 * built to. */
static gboolean
add_program (Layer *self, const char *worker_path, GError **error)
{
  g_autofree char *loader = NULL;
  g_autoptr (GPtrArray) libraries = NULL;
  g_autofree char *directory = g_strdup ("usr/lib");

  if (!sbx_libraries_loader (worker_path, &loader, error)
      || !add_file (self, worker_path, "worker", 0555, error))
    return FALSE;
  libraries = sbx_libraries_of (worker_path, error);
  if (libraries == NULL || (loader != NULL && !add_file (self, loader, loader + 1, 0555, error)))
    return FALSE;
  for (guint i = 0; i < libraries->len; i++)
    {
      const char *path = libraries->pdata[i];

      if (g_str_has_suffix (path, "/libc.so.6"))
        {
          g_free (directory);
          directory = g_path_get_dirname (path + 1);
        }
    }
  for (guint i = 0; i < libraries->len; i++)
    {
      g_autofree char *name = g_path_get_basename (libraries->pdata[i]);
      g_autofree char *path = g_build_filename (directory, name, NULL);

      if (!add_file (self, libraries->pdata[i], path, 0444, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_zone (const char *path)
{
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, NULL);

  return file != NULL && g_mapped_file_get_length (file) > 4
         && memcmp (g_mapped_file_get_contents (file), "TZif", 4) == 0;
}

static int
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
list_directory (const char *path)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_texts);
  return names;
}

/* posix/ and right/ are the same zones again. */
static gboolean
add_zones (Layer *self, const char *path, guint depth, GError **error)
{
  g_autoptr (GPtrArray) names = list_directory (path);

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      g_autofree char *inner = g_build_filename (path, name, NULL);

      if (g_file_test (inner, G_FILE_TEST_IS_DIR))
        {
          if (depth < MAX_ZONE_DEPTH
              && !(depth == 0 && (g_str_equal (name, "posix") || g_str_equal (name, "right")))
              && !add_zones (self, inner, depth + 1, error))
            return FALSE;
        }
      else if (is_zone (inner) && !add_file (self, inner, inner + 1, 0444, error))
        {
          return FALSE;
        }
    }
  return TRUE;
}

static GBytes *
make_layer (const char *worker_path, guint64 *ret_n_bytes, GError **error)
{
  static const char *const mount_points[] = { "broker", "dev", "proc", "sys", "tmp", "workspace" };
  g_auto (Layer) layer = { .tar = sbx_tar_new () };

  layer.directories = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  layer.contents = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (!is_zone (ZONES "/UTC") && !is_zone (ZONES "/Etc/UTC"))
    {
      fail (error, SBX_IMAGE_ERROR_MISSING, ZONES, "no time zones there; install the package tzdata");
      return NULL;
    }
  for (guint i = 0; i < G_N_ELEMENTS (mount_points); i++)
    if (!add_directory (&layer, mount_points[i], error))
      return NULL;
  if (!add_program (&layer, worker_path, error) || !add_zones (&layer, ZONES, 0, error))
    return NULL;
  *ret_n_bytes = layer.n_bytes;
  return sbx_tar_end (layer.tar);
}

/* Docker's names for what uname(2) says. */
static const char *
architecture (void)
{
  static const struct {
    const char *machine;
    const char *name;
  } known[] = { { "x86_64", "amd64" }, { "aarch64", "arm64" } };
  static struct utsname host;

  if (uname (&host) < 0)
    return "amd64";
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (host.machine, known[i].machine) == 0)
      return known[i].name;
  return host.machine; /* riscv64, ppc64le, s390x, loong64: the same */
}

static GString *
make_config (const char *layer_digest)
{
  GString *json = g_string_new (NULL);

  g_string_append_printf (json,
                          "{\"architecture\":\"%s\",\"config\":{\"Entrypoint\":[\"" SBX_WORKER_PROGRAM
                          "\"],\"User\":\"" IMAGE_USER
                          "\",\"WorkingDir\":\"/workspace\",\"Labels\":{\"" SBX_LABEL_WORKER "\":",
                          architecture ());
  sbx_json_write_text (json, SBX_VERSION, -1);
  g_string_append (json, ",\"org.opencontainers.image.source\":");
  sbx_json_write_text (json, SOURCE, -1);
  g_string_append (
    json, ",\"org.opencontainers.image.title\":\"sandbox-worker\",\"org.opencontainers.image.version\":");
  sbx_json_write_text (json, SBX_VERSION, -1);
  g_string_append_printf (
    json,
    "}},\"created\":\"1970-01-01T00:00:00Z\",\"history\":[{\"created\":\"1970-01-01T00:00:00Z\","
    "\"created_by\":\"roundtable-sandbox\"}],\"os\":\"linux\",\"rootfs\":{\"type\":\"layers\","
    "\"diff_ids\":[\"sha256:%s\"]}}",
    layer_digest);
  return json;
}

static GString *
make_manifest (const char *config_name, const char *layer_name, const char *tag)
{
  GString *json = g_string_new ("[{\"Config\":");

  sbx_json_write_text (json, config_name, -1);
  g_string_append (json, ",\"RepoTags\":[");
  sbx_json_write_text (json, tag, -1);
  g_string_append (json, "],\"Layers\":[");
  sbx_json_write_text (json, layer_name, -1);
  g_string_append (json, "]}]");
  return json;
}

SbxWorkerImage *
sbx_worker_image_new (const char *worker_path, const char *tag, GError **error)
{
  g_autoptr (SbxWorkerImage) self = g_new0 (SbxWorkerImage, 1);
  g_autoptr (SbxTar) archive = sbx_tar_new ();
  g_autoptr (GBytes) layer = NULL;
  g_autofree char *layer_digest = NULL;
  g_autofree char *config_digest = NULL;
  g_autofree char *layer_name = NULL;
  g_autofree char *config_name = NULL;
  g_autoptr (GString) config = NULL;
  g_autoptr (GString) manifest = NULL;

  g_return_val_if_fail (worker_path != NULL && tag != NULL, NULL);

  layer = make_layer (worker_path, &self->n_bytes, error);
  if (layer == NULL)
    return NULL;
  layer_digest = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, layer);
  layer_name = g_strconcat (layer_digest, "/layer.tar", NULL);
  config = make_config (layer_digest);
  config_digest = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) config->str, config->len);
  config_name = g_strconcat (config_digest, ".json", NULL);
  manifest = make_manifest (config_name, layer_name, tag);

  sbx_tar_add_directory (archive, layer_digest, 0755);
  sbx_tar_add_file (archive, layer_name, 0444, g_bytes_get_data (layer, NULL), g_bytes_get_size (layer));
  sbx_tar_add_file (archive, config_name, 0444, config->str, config->len);
  sbx_tar_add_file (archive, "manifest.json", 0444, manifest->str, manifest->len);
  self->archive = sbx_tar_end (archive);
  self->id = g_strconcat ("sha256:", config_digest, NULL);
  self->layer = g_strconcat ("sha256:", layer_digest, NULL);
  return g_steal_pointer (&self);
}

void
sbx_worker_image_free (SbxWorkerImage *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->archive, g_bytes_unref);
  g_free (self->id);
  g_free (self->layer);
  g_free (self);
}

gboolean
sbx_worker_image_write (const char *worker_path, const char *tag, int fd, GError **error)
{
  g_autoptr (SbxWorkerImage) image = sbx_worker_image_new (worker_path, tag, error);
  const char *at;
  gsize left;

  if (image == NULL)
    return FALSE;
  at = g_bytes_get_data (image->archive, &left);
  while (left > 0)
    {
      ssize_t put = write (fd, at, left);

      if (put < 0 && errno == EINTR)
        continue;
      if (put < 0)
        return fail (error, SBX_IMAGE_ERROR_READ, "the archive", g_strerror (errno));
      at += put;
      left -= (gsize) put;
    }
  return TRUE;
}
