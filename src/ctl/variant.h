/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the bus sends as a dictionary, a{sv}, as JSON: for --json, and to show it to a person. */
#pragma once

#include <json-glib/json-glib.h>
#include <systemd/sd-bus.h>

/* Reads one a{sv} whose values are basic types, or arrays and dictionaries of those. Returns 0 with an object
 * in *ret, or a negative errno. */
int sbx_variant_to_json (sd_bus_message *message, JsonNode **ret);

/* "name: value" lines, aligned, in the order of their names. The caller frees the text. */
char *sbx_variant_describe (JsonObject *object);
