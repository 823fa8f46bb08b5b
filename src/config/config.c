/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "config/config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json-tree.h"
#include "config/search.h"
#include "config/span.h"
#include "wire/bounds.h"

#define MAIN_FILE            "sandboxd.conf"
#define DROP_INS             "sandboxd.conf.d"
#define MAX_EXTRA_BODY_BYTES 16384u
#define MAX_INITIAL_CHANNELS 1024u
#define NEAR_ENOUGH          3u

G_DEFINE_QUARK (sbx - config - error - quark, sbx_config_error)

/* What a file says of one option. */
typedef struct {
  char *path;
  char *value;
} Setting;

static void
setting_free (gpointer data)
{
  Setting *self = data;

  g_free (self->path);
  g_free (self->value);
  g_free (self);
}

void
sbx_config_free (SbxConfig *self)
{
  if (self == NULL)
    return;
  for (gsize i = 0; i < sbx_config_n_options; i++)
    {
      const SbxConfigOption *option = &sbx_config_options[i];
      gpointer place = G_STRUCT_MEMBER_P (self, option->offset);

      if (option->of_endpoint)
        continue;
      if (option->kind == SBX_OPTION_TEXT)
        g_free (*(char **) place);
      else if (option->kind == SBX_OPTION_LIST)
        g_strfreev (*(char ***) place);
    }
  sbx_endpoint_free (self->model);
  g_free (self);
}

/* --- names --- */

static const SbxConfigOption *
find_option (const char *group, const char *key)
{
  for (gsize i = 0; i < sbx_config_n_options; i++)
    if (strcmp (sbx_config_options[i].group, group) == 0 && strcmp (sbx_config_options[i].key, key) == 0)
      return &sbx_config_options[i];
  return NULL;
}

static gboolean
group_is_known (const char *group)
{
  for (gsize i = 0; i < sbx_config_n_options; i++)
    if (strcmp (sbx_config_options[i].group, group) == 0)
      return TRUE;
  return FALSE;
}

static void
warn_group (GPtrArray *warnings, const char *path, const char *group)
{
  const char *nearest = NULL;
  guint best = NEAR_ENOUGH + 1;

  for (gsize i = 0; i < sbx_config_n_options; i++)
    {
      const char *known = sbx_config_options[i].group;
      guint distance = g_ascii_strcasecmp (known, group) == 0 ? 0 : sbx_edit_distance (known, group);

      if (distance < best)
        {
          best = distance;
          nearest = known;
        }
    }
  if (warnings != NULL)
    g_ptr_array_add (
      warnings, nearest != NULL
                  ? g_strdup_printf ("%s: there is no group [%s]; did you mean [%s]?", path, group, nearest)
                  : g_strdup_printf ("%s: there is no group [%s]; it is ignored", path, group));
}

/* The same key in another group is the likelier slip than a misspelling. */
static void
warn_key (GPtrArray *warnings, const char *path, const char *group, const char *key)
{
  const SbxConfigOption *nearest = NULL;
  guint best = NEAR_ENOUGH + 1;

  if (warnings == NULL)
    return;
  for (gsize i = 0; i < sbx_config_n_options; i++)
    {
      const SbxConfigOption *option = &sbx_config_options[i];
      gboolean here = strcmp (option->group, group) == 0;
      guint distance = sbx_edit_distance (option->key, key);

      if ((here || distance == 0) && distance < best)
        {
          best = distance;
          nearest = option;
        }
    }
  if (nearest == NULL)
    g_ptr_array_add (warnings, g_strdup_printf ("%s: [%s] has no %s=; it is ignored", path, group, key));
  else
    g_ptr_array_add (warnings, g_strdup_printf ("%s: [%s] has no %s=; did you mean %s= in [%s]?", path, group,
                                                key, nearest->key, nearest->group));
}

/* --- files --- */

static char *
setting_name (const char *group, const char *key)
{
  return g_strconcat (group, "/", key, NULL);
}

static gboolean
merge_group (GHashTable *settings, GKeyFile *file, const char *path, const char *group, GPtrArray *warnings,
             GError **error)
{
  g_auto (GStrv) keys = g_key_file_get_keys (file, group, NULL, NULL);

  if (!group_is_known (group))
    {
      warn_group (warnings, path, group);
      return TRUE;
    }
  for (gsize i = 0; keys[i] != NULL; i++)
    {
      g_autoptr (GError) key_error = NULL;
      g_autofree char *value = NULL;
      Setting *setting;

      if (find_option (group, keys[i]) == NULL)
        {
          warn_key (warnings, path, group, keys[i]);
          continue;
        }
      value = g_key_file_get_string (file, group, keys[i], &key_error);
      if (value == NULL)
        {
          g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE,
                       "%s: [%s] %s= cannot be read: %s (a backslash is written \\\\)", path, group, keys[i],
                       key_error->message);
          return FALSE;
        }
      setting = g_new0 (Setting, 1);
      setting->path = g_strdup (path);
      setting->value = g_strdup (g_strstrip (value));
      g_hash_table_replace (settings, setting_name (group, keys[i]), setting);
    }
  return TRUE;
}

static gboolean
merge_file (GHashTable *settings, const SbxConfigFile *source, GPtrArray *warnings, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) parse_error = NULL;
  g_auto (GStrv) groups = NULL;

  if (!g_key_file_load_from_data (file, source->content, source->n_bytes, G_KEY_FILE_NONE, &parse_error))
    {
      g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE, "%s: %s", source->path,
                   parse_error->message);
      return FALSE;
    }
  groups = g_key_file_get_groups (file, NULL);
  for (gsize i = 0; groups[i] != NULL; i++)
    if (!merge_group (settings, file, source->path, groups[i], warnings, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_settings (GHashTable *settings, const char *root, GPtrArray *warnings, GError **error)
{
  g_autoptr (GError) file_error = NULL;
  g_autoptr (SbxConfigFile) main_file = sbx_config_search_file (root, MAIN_FILE, &file_error);
  g_autoptr (GPtrArray) drop_ins = NULL;

  if (file_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&file_error));
      return FALSE;
    }
  if (main_file != NULL && !merge_file (settings, main_file, warnings, error))
    return FALSE;
  drop_ins = sbx_config_search_directory (root, DROP_INS, ".conf", error);
  if (drop_ins == NULL)
    return FALSE;
  for (guint i = 0; i < drop_ins->len; i++)
    if (!merge_file (settings, g_ptr_array_index (drop_ins, i), warnings, error))
      return FALSE;
  return TRUE;
}

/* --- values --- */

static gboolean
number_in_range (const SbxConfigOption *option, guint64 number)
{
  return (option->minimum == 0 && option->maximum == 0)
         || (number >= option->minimum && number <= option->maximum);
}

static gboolean
parse_list (const SbxConfigOption *option, const char *value, char ***ret_list)
{
  g_auto (GStrv) words = g_strsplit_set (value, " \t\n;", -1);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (gsize i = 0; words[i] != NULL; i++)
    {
      if (words[i][0] == '\0')
        continue;
      if (option->check != NULL && !option->check (words[i]))
        return FALSE;
      g_strv_builder_add (builder, words[i]);
    }
  *ret_list = g_strv_builder_end (builder);
  return TRUE;
}

static gboolean
parse_fraction (const char *value, double *ret_number)
{
  char *end = NULL;
  double number;

  if (!g_ascii_isdigit (value[0]))
    return FALSE;
  number = g_ascii_strtod (value, &end);
  /* g_ascii_strtod() reads hexadecimal too. */
  if (*end != '\0' || !isfinite (number) || number <= 0 || number > 1024 || strpbrk (value, "xX") != NULL)
    return FALSE;
  *ret_number = number;
  return TRUE;
}

static gboolean
parse_value (const SbxConfigOption *option, const char *value, gpointer place)
{
  guint64 number = 0;

  switch (option->kind)
    {
    case SBX_OPTION_TEXT:
      if (option->check != NULL && !option->check (value))
        return FALSE;
      g_free (*(char **) place);
      *(char **) place = g_strdup (value);
      return TRUE;
    case SBX_OPTION_LIST:
      return parse_list (option, value, place);
    case SBX_OPTION_BOOLEAN:
      return sbx_boolean_parse (value, place);
    case SBX_OPTION_FRACTION:
      return parse_fraction (value, place);
    case SBX_OPTION_RATE:
      return sbx_rate_parse (value, place, (guint64 *) place + 1);
    case SBX_OPTION_NUMBER:
      if (!g_ascii_string_to_unsigned (value, 10, option->minimum, option->maximum, &number, NULL))
        return FALSE;
      break;
    case SBX_OPTION_SIZE:
      if (!sbx_size_parse (value, &number) || !number_in_range (option, number))
        return FALSE;
      break;
    case SBX_OPTION_SPAN:
      if (!sbx_span_parse (value, &number) || !number_in_range (option, number))
        return FALSE;
      break;
    default:
      g_return_val_if_reached (FALSE);
    }
  *(guint64 *) place = number;
  return TRUE;
}

/* URLs and extra bodies may hold what an operator should not have put there: a message never repeats them. */
static gboolean
refuse (const Setting *setting, const char *group, const char *key, const char *right, GError **error)
{
  gboolean shown = strcmp (key, "URL") != 0 && strcmp (key, "ExtraBody") != 0;

  g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE, "%s: [%s] %s=%s is not right: it must be %s",
               setting != NULL ? setting->path : "built-in", group, key,
               setting == NULL ? ""
               : shown         ? setting->value
                               : "(not shown)",
               right);
  return FALSE;
}

static gboolean
read_options (SbxConfig *self, GHashTable *settings, GError **error)
{
  for (gsize i = 0; i < sbx_config_n_options; i++)
    {
      const SbxConfigOption *option = &sbx_config_options[i];
      g_autofree char *name = setting_name (option->group, option->key);
      const Setting *setting = g_hash_table_lookup (settings, name);
      gpointer base = option->of_endpoint ? (gpointer) self->model : (gpointer) self;
      gboolean standard =
        setting == NULL || (setting->value[0] == '\0' && strcmp (option->key, "Prompt") == 0);

      if (!parse_value (option, standard ? option->standard : setting->value,
                        G_STRUCT_MEMBER_P (base, option->offset)))
        return refuse (setting, option->group, option->key, option->right, error);
    }
  return TRUE;
}

/* --- rules that one value alone does not show --- */

static gboolean
check_extra_body (SbxConfig *self)
{
  static const char *const ours[] = { "model",  "messages",   "tools",
                                      "stream", "max_tokens", "max_completion_tokens",
                                      NULL };
  g_autoptr (JsonNode) node =
    sbx_json_read (self->extra_body, strlen (self->extra_body), MAX_EXTRA_BODY_BYTES, NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    return FALSE;
  for (gsize i = 0; ours[i] != NULL; i++)
    if (json_object_has_member (json_node_get_object (node), ours[i]))
      return FALSE;
  sbx_json_write_node (text, node);
  g_free (self->extra_body);
  self->extra_body = g_strdup (text->str);
  return TRUE;
}

static gboolean
check_model (SbxConfig *self, GHashTable *settings, GPtrArray *warnings, GError **error)
{
  const Setting *url = g_hash_table_lookup (settings, "Model/URL");
  const char *fault;

  if (self->model->url[0] == '\0')
    {
      if (warnings != NULL)
        g_ptr_array_add (
          warnings,
          g_strdup ("[Model] URL= is not set: every turn will fail at its first call to the model"));
      return TRUE;
    }
  fault = sbx_endpoint_url_fault (self->model->url, self->model->plain_http);
  if (fault != NULL)
    {
      g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE,
                   "%s: [Model] URL=(not shown) is not right: %s", url->path, fault);
      return FALSE;
    }
  if (self->model_name[0] == '\0')
    {
      g_set_error (error, SBX_CONFIG_ERROR, SBX_CONFIG_ERROR_VALUE,
                   "%s: [Model] Name= is missing: it must be the model's name at the endpoint", url->path);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_whole (SbxConfig *self, GHashTable *settings, GPtrArray *warnings, GError **error)
{
  if (!check_extra_body (self))
    return refuse (g_hash_table_lookup (settings, "Model/ExtraBody"), "Model", "ExtraBody",
                   find_option ("Model", "ExtraBody")->right, error);
  if (g_strv_length (self->kept_members) > SBX_MAX_KEPT_MEMBERS)
    return refuse (g_hash_table_lookup (settings, "Model/KeptMembers"), "Model", "KeptMembers",
                   find_option ("Model", "KeptMembers")->right, error);
  if (g_strv_length (self->initial_channels) > MAX_INITIAL_CHANNELS)
    return refuse (g_hash_table_lookup (settings, "Channels/Initial"), "Channels", "Initial",
                   "a list of at most 1024 channel keys", error);
  return check_model (self, settings, warnings, error);
}

SbxConfig *
sbx_config_load (const char *root, GPtrArray *warnings, GError **error)
{
  g_autoptr (GHashTable) settings = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, setting_free);
  g_autoptr (SbxConfig) self = g_new0 (SbxConfig, 1);

  self->model = sbx_endpoint_new ();
  if (!read_settings (settings, root, warnings, error) || !read_options (self, settings, error)
      || !check_whole (self, settings, warnings, error))
    return NULL;
  return g_steal_pointer (&self);
}
