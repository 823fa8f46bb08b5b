/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The scanner behind the JSON gate: one event a call, by the rules of json-gate.h. Private to this room. */
#pragma once

#include "base/json-gate.h"

typedef enum {
  SBX_JSON_EVENT_ERROR,
  SBX_JSON_EVENT_END, /* after the root, with nothing but blanks behind it */
  SBX_JSON_EVENT_OBJECT,
  SBX_JSON_EVENT_ARRAY,
  SBX_JSON_EVENT_CLOSE, /* of the innermost object or array */
  SBX_JSON_EVENT_NAME,  /* text; its value is the next event */
  SBX_JSON_EVENT_TEXT,  /* text */
  SBX_JSON_EVENT_INTEGER,
  SBX_JSON_EVENT_DOUBLE,
  SBX_JSON_EVENT_TRUE,
  SBX_JSON_EVENT_FALSE,
  SBX_JSON_EVENT_NULL,
} SbxJsonEvent;

typedef struct {
  const char *data;
  gsize n_bytes;
  gsize place;
  gboolean repeats_allowed; /* a caller sets it after init; of equal names the last then counts */
  guint expect;             /* what may come next; the scanner's own */
  guint depth;
  struct {
    gboolean is_object;
    guint first_name; /* of this object, in names */
  } levels[SBX_JSON_MAX_DEPTH];
  GArray *names; /* of the open objects, as slices of name_bytes */
  GString *name_bytes;
  GString *text; /* of a NAME or TEXT, unescaped; valid until the next call */
  gint64 integer;
  double number;
} SbxJsonScan;

/* Starts on data, which must stay as it is. FALSE with error set when it is too large or not UTF-8; nothing
 * has to be cleared then. */
gboolean
sbx_json_scan_init (SbxJsonScan *self, const char *data, gsize n_bytes, gsize max_bytes, GError **error);
void sbx_json_scan_clear (SbxJsonScan *self);

/* The next event. SBX_JSON_EVENT_ERROR comes with error set; do not call again after it, or after END. */
SbxJsonEvent sbx_json_scan_next (SbxJsonScan *self, GError **error);
