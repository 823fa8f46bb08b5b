/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "json-in.h"

#include "base/json-gate.h"
#include "base/json-variant.h"

/* Commas and opening brackets outside texts: never fewer than the values. */
static gboolean
has_too_many_values (const char *data, gsize n_bytes)
{
  gboolean in_text = FALSE;
  guint n_values = 0;

  for (gsize i = 0; i < n_bytes; i++)
    {
      if (in_text && data[i] == '\\')
        i++;
      else if (data[i] == '"')
        in_text = !in_text;
      else if (!in_text && (data[i] == ',' || data[i] == '[' || data[i] == '{'))
        n_values++;
    }
  return n_values > SBX_JSON_IN_MAX_VALUES;
}

GVariant *
sbx_json_in_read (const char *data, gsize n_bytes, gsize max_bytes, GError **error)
{
  g_return_val_if_fail (data != NULL || n_bytes == 0, NULL);

  if (n_bytes > max_bytes || has_too_many_values (data, n_bytes))
    {
      g_set_error_literal (error, SBX_JSON_ERROR, SBX_JSON_ERROR_TOO_LARGE, "too many bytes or values");
      return NULL;
    }
  return sbx_json_variant_read (data != NULL ? data : "", n_bytes, max_bytes, error);
}

static gboolean
is_of_type (GVariant *value, const GVariantType *type)
{
  return value != NULL && g_variant_is_of_type (value, type);
}

gboolean
sbx_json_in_is_object (GVariant *value)
{
  return is_of_type (value, G_VARIANT_TYPE_VARDICT);
}

gboolean
sbx_json_in_is_list (GVariant *value)
{
  return is_of_type (value, G_VARIANT_TYPE ("av"));
}

gboolean
sbx_json_in_is_null (GVariant *value)
{
  return is_of_type (value, G_VARIANT_TYPE_UNIT);
}

const char *
sbx_json_in_value_text (GVariant *value)
{
  return is_of_type (value, G_VARIANT_TYPE_STRING) ? g_variant_get_string (value, NULL) : NULL;
}

/* Gives the reference up that GLib's getters return: the tree that value is in has one of its own, as long as
 * nothing has it serialised (base/json-variant.h). */
static GVariant *
borrow (GVariant *value)
{
  if (value != NULL)
    g_variant_unref (value);
  return value;
}

GVariant *
sbx_json_in_member (GVariant *object, const char *name)
{
  return sbx_json_in_is_object (object) ? borrow (g_variant_lookup_value (object, name, NULL)) : NULL;
}

GVariant *
sbx_json_in_object (GVariant *object, const char *name)
{
  GVariant *value = sbx_json_in_member (object, name);

  return sbx_json_in_is_object (value) ? value : NULL;
}

GVariant *
sbx_json_in_list (GVariant *object, const char *name)
{
  GVariant *value = sbx_json_in_member (object, name);

  return sbx_json_in_is_list (value) ? value : NULL;
}

const char *
sbx_json_in_text (GVariant *object, const char *name)
{
  return sbx_json_in_value_text (sbx_json_in_member (object, name));
}

guint
sbx_json_in_length (GVariant *list)
{
  return sbx_json_in_is_list (list) ? (guint) g_variant_n_children (list) : 0;
}

GVariant *
sbx_json_in_element (GVariant *list, guint i)
{
  g_autoptr (GVariant) boxed = NULL;

  if (i >= sbx_json_in_length (list))
    return NULL;
  boxed = g_variant_get_child_value (list, i);
  return borrow (g_variant_get_variant (boxed));
}
