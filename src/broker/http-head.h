/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The strict reader of one HTTP/1.1 request head. Pure: no I/O, no allocation.
 *
 * It takes only what every HTTP implementation reads alike, since every library was seen to be lenient
 * somewhere: lines end with CR LF, bytes are printable ASCII (and tabs in values), the target begins with
 * `/`, the version is HTTP/1.1, there is one Host, a length comes once, is plain decimal digits and never
 * stands beside a Transfer-Encoding. What another field means, and whether it may come twice, is policy.h's
 * matter.
 */
#pragma once

#include <glib.h>

#define SBX_HTTP_MAX_HEAD_BYTES (16u * 1024u) /* the empty line included */
#define SBX_HTTP_MAX_FIELDS     64u

typedef enum {
  SBX_HTTP_HEAD_MORE, /* fine as far as it goes */
  SBX_HTTP_HEAD_WHOLE,
  SBX_HTTP_HEAD_BAD,       /* 400 */
  SBX_HTTP_HEAD_TOO_LARGE, /* 431 */
} SbxHttpVerdict;

/* A piece of the bytes that were read; not NUL-terminated. */
typedef struct {
  const char *data;
  gsize n_bytes;
} SbxHttpText;

typedef struct {
  SbxHttpText name;  /* as sent; compare without case */
  SbxHttpText value; /* without the blanks around it */
} SbxHttpField;

typedef struct {
  SbxHttpText method;
  SbxHttpText target;
  SbxHttpField fields[SBX_HTTP_MAX_FIELDS];
  guint n_fields;
  gboolean field_repeated; /* two have the same name */
  guint64 content_length;  /* 0 where none was sent */
} SbxHttpHead;

/* Looks for the end of the head, and refuses bytes that may not stand in one as soon as they come. *place
 * says how far an earlier call looked (0 at first), so that a peer that sends byte by byte costs no more than
 * one that does not. On WHOLE, *place is the length of the head; what follows is the body. */
SbxHttpVerdict sbx_http_head_find (const char *data, gsize n_bytes, gsize *place);

/* Takes a head that sbx_http_head_find() has found apart: WHOLE, BAD or TOO_LARGE. *ret_head points into
 * data. */
SbxHttpVerdict sbx_http_head_parse (const char *data, gsize n_bytes, SbxHttpHead *ret_head);

/* The first field of that lower-case name, or NULL. */
const SbxHttpField *sbx_http_head_field (const SbxHttpHead *head, const char *name);

gboolean sbx_http_text_is (SbxHttpText text, const char *wanted);
/* Without the case of ASCII letters. */
gboolean sbx_http_text_is_caseless (SbxHttpText text, const char *wanted);
