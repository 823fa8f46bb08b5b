/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* JSON as a tree of GLib's own, read through the gate (json-gate.h) and written by the rules of json-write.h:
 * for a program that is to link GLib alone.
 *
 * An object is a{sv}, a list av, a text s; an integer that fits 64 bits is x, another number d; true and
 * false are b, null is the empty tuple (). Members and elements keep their order.
 *
 * Look members up (g_variant_lookup_value()) and walk lists (g_variant_get_child_value()): both hand out what
 * is there. What wants a whole object or list as bytes, such as g_variant_equal(), has GLib serialise it.
 */
#pragma once

#include <glib.h>

/* NULL with error set (SBX_JSON_ERROR). An object may have a member twice: the last one counts, and only it
 * is in the tree, in the place of the first. The root is the caller's, and not floating: g_variant_unref().
 */
GVariant *sbx_json_variant_read (const char *data, gsize n_bytes, gsize max_bytes, GError **error);

/* Appends value and all below it; it is built of the types above, at most SBX_JSON_MAX_DEPTH deep. */
void sbx_json_variant_write (GString *out, GVariant *value);
