/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/spec.h"

#include <string.h>

#include "base/json-write.h"
#include "base/names.h"

#define MIN_MEMORY_BYTES (64u * 1024u * 1024u)
#define MIN_PIDS         8
#define CHANNEL_DIGITS   64u

G_DEFINE_QUARK (sbx - spec - error - quark, sbx_spec_error)

static gboolean
is_hex (const char *text, gsize n_digits)
{
  return text != NULL && strlen (text) == n_digits && strspn (text, "0123456789abcdef") == n_digits;
}

static gboolean
is_plain_path (const char *path)
{
  if (*path != '/' || path[1] == '\0' || !g_utf8_validate (path, -1, NULL))
    return FALSE;
  /* A comma would end a mount's option on a command line; Docker's own tools could not show such a container.
   */
  return strpbrk (path, ",\r\n") == NULL && strstr (path, "/../") == NULL && !g_str_has_suffix (path, "/..");
}

/* Whether inner is outer, or lies in it. */
static gboolean
is_within (const char *inner, const char *outer)
{
  gsize length = strlen (outer);

  return strncmp (inner, outer, length) == 0 && (inner[length] == '\0' || inner[length] == '/');
}

static gboolean
is_image (const char *image)
{
  return image != NULL && *image != '\0' && *image != '-' && strpbrk (image, " \t\r\n\v\f") == NULL;
}

static gboolean
check (gboolean holds, const char *rule, GError **error)
{
  if (!holds)
    g_set_error (error, SBX_SPEC_ERROR, SBX_SPEC_ERROR_VALUE, "The worker's container: %s.", rule);
  return holds;
}

static gboolean
check_spec (const SbxContainerSpec *spec, GError **error)
{
  return check (is_image (spec->image), "the image is a name without blanks that does not begin with \"-\"",
                error)
         && check (spec->installation != NULL && *spec->installation != '\0', "the installation has no id",
                   error)
         && check (is_hex (spec->channel, CHANNEL_DIGITS), "the channel is 64 hex digits", error)
         && check (spec->turn != NULL && *spec->turn != '\0', "the turn has no id", error)
         && check (spec->uid > 0 && spec->gid > 0, "user and group are never root's", error)
         && check (spec->memory_bytes >= MIN_MEMORY_BYTES && spec->memory_bytes <= G_MAXINT64,
                   "memory is at least 64 MiB", error)
         && check (spec->nano_cpus > 0, "the share of processors is above 0", error)
         && check (spec->pids >= MIN_PIDS, "at least 8 processes are allowed", error)
         && check (spec->workspace != NULL && is_plain_path (spec->workspace),
                   "the workspace is an absolute path, not \"/\", without comma or line end", error)
         && check (spec->run_dir == NULL || is_plain_path (spec->run_dir),
                   "the run directory is an absolute path, not \"/\", without comma or line end", error)
         && check (
           spec->run_dir == NULL
             || (!is_within (spec->run_dir, spec->workspace) && !is_within (spec->workspace, spec->run_dir)),
           "run directory and workspace lie apart", error);
}

static void
append_member (GString *out, const char *name, const char *value)
{
  g_string_append_printf (out, "\"%s\":", name);
  sbx_json_write_text (out, value, -1);
}

static void
append_mount (GString *out, const char *source, const char *target, gboolean read_only)
{
  g_string_append (out, "{\"Type\":\"bind\",");
  append_member (out, "Source", source);
  g_string_append_c (out, ',');
  append_member (out, "Target", target);
  g_string_append_printf (out, ",\"ReadOnly\":%s,\"BindOptions\":{\"Propagation\":\"rprivate\"}}",
                          read_only ? "true" : "false");
}

static void
append_labels (GString *out, const SbxContainerSpec *spec)
{
  g_string_append (out, "\"Labels\":{");
  append_member (out, SBX_LABEL_INSTALLATION, spec->installation);
  g_string_append_c (out, ',');
  append_member (out, SBX_LABEL_CHANNEL, spec->channel);
  g_string_append_c (out, ',');
  append_member (out, SBX_LABEL_TURN, spec->turn);
  g_string_append (out, "},");
}

static void
append_command (GString *out, const char *const *command)
{
  g_string_append (out, "\"Entrypoint\":[");
  for (gsize i = 0; command[i] != NULL; i++)
    {
      if (i > 0)
        g_string_append_c (out, ',');
      sbx_json_write_text (out, command[i], -1);
    }
  g_string_append (out, "],\"Cmd\":[],");
}

static void
append_host_config (GString *out, const SbxContainerSpec *spec)
{
  g_string_append (
    out, "\"HostConfig\":{"
         "\"NetworkMode\":\"none\",\"ReadonlyRootfs\":true,\"CapDrop\":[\"ALL\"],\"Privileged\":false,"
         "\"SecurityOpt\":[\"no-new-privileges\"],");
  g_string_append_printf (out, "\"Memory\":%" G_GUINT64_FORMAT ",\"MemorySwap\":%" G_GUINT64_FORMAT ",",
                          spec->memory_bytes, spec->memory_bytes);
  g_string_append_printf (out, "\"NanoCpus\":%" G_GINT64_FORMAT ",\"PidsLimit\":%" G_GINT64_FORMAT ",",
                          spec->nano_cpus, spec->pids);
  /* Docker's own /dev/shm is 64 MiB, executable and writable: one more place to keep things in. Ours replaces
   * it. */
  g_string_append (out, "\"Ulimits\":[{\"Name\":\"nofile\",\"Soft\":256,\"Hard\":256}],"
                        "\"Tmpfs\":{\"/tmp\":\"rw,noexec,nosuid,nodev,size=64m,mode=1777\","
                        "\"/dev/shm\":\"rw,noexec,nosuid,nodev,size=1m,mode=1777\"},"
                        "\"ShmSize\":1048576,\"Mounts\":[");
  if (spec->run_dir != NULL)
    {
      append_mount (out, spec->run_dir, "/broker", TRUE);
      g_string_append_c (out, ',');
    }
  append_mount (out, spec->workspace, SBX_WORKER_WORKSPACE, FALSE);
  g_string_append (out, "],");
  if (spec->runtime != NULL)
    {
      append_member (out, "Runtime", spec->runtime);
      g_string_append_c (out, ',');
    }
  /* AutoRemove false: removal has one owner, sandboxd, and a status is there until it was read. */
  g_string_append (out,
                   "\"LogConfig\":{\"Type\":\"none\",\"Config\":{}},\"Init\":false,\"AutoRemove\":false,"
                   "\"IpcMode\":\"private\",\"CgroupnsMode\":\"private\",\"RestartPolicy\":{\"Name\":\"no\"},"
                   "\"OomScoreAdj\":500,\"CgroupParent\":\"" SBX_TURN_SLICE "\"}");
}

char *
sbx_container_spec_to_json (const SbxContainerSpec *spec, GError **error)
{
  GString *out = NULL;

  if (!check_spec (spec, error))
    return NULL;
  out = g_string_new ("{");
  append_member (out, "Image", spec->image);
  g_string_append_printf (out, ",\"User\":\"%u:%u\",", spec->uid, spec->gid);
  if (spec->command != NULL)
    append_command (out, spec->command);
  g_string_append (out, "\"Env\":[\"HOME=/tmp/home\"],");
  append_labels (out, spec);
  g_string_append (out, "\"OpenStdin\":true,\"StdinOnce\":true,\"AttachStdin\":true,\"AttachStdout\":true,"
                        "\"AttachStderr\":true,\"Tty\":false,\"NetworkDisabled\":true,\"StopTimeout\":1,");
  append_host_config (out, spec);
  g_string_append_c (out, '}');
  return g_string_free (out, FALSE);
}

char *
sbx_container_name (const char *channel, guint32 random)
{
  g_return_val_if_fail (is_hex (channel, CHANNEL_DIGITS), NULL);

  return g_strdup_printf (SBX_CONTAINER_PREFIX "%.16s-%08x", channel, random);
}
