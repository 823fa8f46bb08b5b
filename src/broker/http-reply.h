/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The bytes of an answer. A refusal's text is the same for all causes of one status: it tells a guest
 * nothing. Pure. */
#pragma once

#include <glib.h>

/* status: 400, 403, 404, 410, 429, 431 or 502. */
GBytes *sbx_http_reply_refusal (guint status);

/* Status 200 with a JSON text. */
GBytes *sbx_http_reply_json (GBytes *json);
