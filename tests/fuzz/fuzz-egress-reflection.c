/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The search for keys, held against one form after another made and looked for by hand. The input begins with
 * the lengths of two keys, then come the keys, then what is searched. */
#include "fuzz.h"

#include <string.h>

#include "egress/reflection.h"

#define MAX_KEY_BYTES 40u

static char *
hex (const char *key, gsize n_bytes)
{
  GString *out = g_string_new (NULL);

  for (gsize i = 0; i < n_bytes; i++)
    g_string_append_printf (out, "%02x", (guint) (guint8) key[i]);
  return g_string_free (out, FALSE);
}

static char *
percent (const char *key, gsize n_bytes)
{
  GString *out = g_string_new (NULL);

  for (gsize i = 0; i < n_bytes; i++)
    if (g_ascii_isalnum (key[i]) || (key[i] != '\0' && strchr ("-_.!~*'()", key[i]) != NULL))
      g_string_append_c (out, key[i]);
    else
      g_string_append_printf (out, "%%%02X", (guint) (guint8) key[i]);
  return g_string_free (out, FALSE);
}

/* base64url without padding, out of base64. */
static char *
url_form (const char *base64)
{
  char *out = g_strdup (base64);

  g_strcanon (out, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", '\0');
  for (char *c = out; *c != '\0'; c++)
    *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
  return out;
}

static gboolean
holds (const char *data, gsize n_bytes, const char *form)
{
  return memmem (data, n_bytes, form, strlen (form)) != NULL;
}

static gboolean
holds_key (const char *key, gsize n_key, const char *data, gsize n_bytes)
{
  g_autofree char *base64 = g_base64_encode ((const guchar *) key, n_key);
  g_autofree char *url = url_form (base64);
  g_autofree char *lower = hex (key, n_key);
  g_autofree char *upper = g_ascii_strup (lower, -1);
  g_autofree char *quoted = percent (key, n_key);

  return memmem (data, n_bytes, key, n_key) != NULL || holds (data, n_bytes, base64)
         || holds (data, n_bytes, url) || holds (data, n_bytes, lower) || holds (data, n_bytes, upper)
         || holds (data, n_bytes, quoted);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  g_autoptr (SbxReflection) reflection = sbx_reflection_new ();
  const char *place = (const char *) data + 2;
  const char *keys[2];
  gsize lengths[2];
  gboolean expected = FALSE;

  if (n_bytes < 2)
    return -1;
  n_bytes -= 2;
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (SbxSecret) secret = NULL;

      lengths[i] = data[i] % MAX_KEY_BYTES;
      if (lengths[i] < 2 || lengths[i] > n_bytes || memchr (place, '\0', lengths[i]) != NULL)
        return -1;
      keys[i] = place;
      place += lengths[i];
      n_bytes -= lengths[i];
      secret = sbx_secret_new (keys[i], lengths[i]);
      sbx_reflection_add (reflection, secret);
    }
  for (guint i = 0; i < 2; i++)
    expected = expected || holds_key (keys[i], lengths[i], place, n_bytes);
  g_assert (sbx_reflection_finds (reflection, place, n_bytes) == expected);
  return 0;
}
