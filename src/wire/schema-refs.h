/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Whether a JSON schema is local: it refers to nothing but itself (wire contract 2.4, "local schema"). Pure.
 */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

gboolean sbx_schema_is_local (JsonNode *schema);
