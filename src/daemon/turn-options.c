/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/turn-options.h"

#include <errno.h>
#include <string.h>

#include "base/utf16.h"
#include "bus/errors.h"
#include "daemon/split-reply.h"
#include "turn/turn-request.h"
#include "wire/bounds.h"

void
sbx_turn_options_clear (SbxTurnOptions *self)
{
  g_clear_pointer (&self->principal, g_free);
  g_clear_pointer (&self->message_id, g_free);
}

static int
refuse (sd_bus_error *ret_error, SbxBusError code, const char *text)
{
  return sd_bus_error_set (ret_error, sbx_bus_error_name (code), text);
}

static void
set_text (char **place, const char *text)
{
  g_free (*place);
  *place = g_strdup (text);
}

static int
read_principal (SbxTurnOptions *self, sd_bus_message *message, sd_bus_error *ret_error)
{
  const char *value;

  if (sd_bus_message_read (message, "v", "s", &value) < 0 || *value == '\0'
      || sbx_utf16_units (value) > SBX_MAX_SPEAKER_UNITS)
    return refuse (ret_error, SBX_BUS_ERROR_INVALID_PRINCIPAL,
                   "A principal is a text of 1 to 256 UTF-16 units");
  set_text (&self->principal, value);
  return 1;
}

static int
read_message_id (SbxTurnOptions *self, sd_bus_message *message, sd_bus_error *ret_error)
{
  const char *value;

  if (sd_bus_message_read (message, "v", "s", &value) < 0 || *value == '\0'
      || strlen (value) > SBX_MAX_MESSAGE_ID_BYTES)
    return refuse (ret_error, SBX_BUS_ERROR_INVALID_OPTION, "A message-id is a text of 1 to 256 bytes");
  set_text (&self->message_id, value);
  return 1;
}

static int
read_deadline (SbxTurnOptions *self, sd_bus_message *message, sd_bus_error *ret_error)
{
  if (sd_bus_message_read (message, "v", "u", &self->deadline_sec) < 0 || self->deadline_sec < 1
      || self->deadline_sec > SBX_MAX_DEADLINE_MSEC / 1000)
    return refuse (ret_error, SBX_BUS_ERROR_INVALID_OPTION,
                   "A deadline is a number (u) of seconds, 1 to 600");
  return 1;
}

static int
read_chunk_size (SbxTurnOptions *self, sd_bus_message *message, sd_bus_error *ret_error)
{
  if (sd_bus_message_read (message, "v", "u", &self->chunk_units) < 0
      || self->chunk_units < SBX_MIN_PART_UNITS || self->chunk_units > SBX_MAX_REPLY_UNITS)
    return refuse (ret_error, SBX_BUS_ERROR_INVALID_OPTION,
                   "A chunk-size is a number (u) of UTF-16 units, 64 to 100000");
  return 1;
}

static int
read_wait_in_queue (SbxTurnOptions *self, sd_bus_message *message, sd_bus_error *ret_error)
{
  int value = 0;

  if (sd_bus_message_read (message, "v", "b", &value) < 0)
    return refuse (ret_error, SBX_BUS_ERROR_INVALID_OPTION, "wait-in-queue is a boolean");
  self->not_in_queue = !value;
  return 1;
}

static int
read_defang (SbxTurnOptions *self, sd_bus_message *message, sd_bus_error *ret_error)
{
  int value = 0;

  if (sd_bus_message_read (message, "v", "b", &value) < 0)
    return refuse (ret_error, SBX_BUS_ERROR_INVALID_OPTION, "defang is a boolean");
  self->live_links = !value;
  return 1;
}

static int
read_replace (SbxTurnOptions *self, sd_bus_message *message, sd_bus_error *ret_error)
{
  int value = 0;

  if (sd_bus_message_read (message, "v", "b", &value) < 0)
    return refuse (ret_error, SBX_BUS_ERROR_INVALID_OPTION, "replace is a boolean");
  self->replaces = value;
  return 1;
}

static gboolean
is_of_showing (const char *name)
{
  return strcmp (name, "chunk-size") == 0 || strcmp (name, "defang") == 0;
}

int
sbx_turn_options_read_one (SbxTurnOptions *self, sd_bus_message *message, const char *name,
                           sd_bus_error *ret_error)
{
  static const struct {
    const char *name;
    int (*read) (SbxTurnOptions *self, sd_bus_message *message, sd_bus_error *ret_error);
  } options[] = {
    { "principal", read_principal },   { "message-id", read_message_id },       { "deadline", read_deadline },
    { "chunk-size", read_chunk_size }, { "wait-in-queue", read_wait_in_queue }, { "defang", read_defang },
    { "replace", read_replace },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (options); i++)
    if (strcmp (name, options[i].name) == 0)
      return options[i].read (self, message, ret_error);
  return 0;
}

int
sbx_turn_options_read (SbxTurnOptions *self, sd_bus_message *message, gboolean only_shown,
                       sd_bus_error *ret_error)
{
  int r = sd_bus_message_enter_container (message, 'a', "{sv}");

  while (r >= 0 && (r = sd_bus_message_enter_container (message, 'e', "sv")) > 0)
    {
      const char *name;

      r = sd_bus_message_read (message, "s", &name);
      if (r < 0)
        return r;
      r =
        only_shown && !is_of_showing (name) ? 0 : sbx_turn_options_read_one (self, message, name, ret_error);
      if (r == 0)
        return sd_bus_error_setf (ret_error, sbx_bus_error_name (SBX_BUS_ERROR_INVALID_OPTION),
                                  only_shown ? "There is no option \"%s\"; known are chunk-size and defang"
                                             : "There is no option \"%s\"; known are principal, message-id, "
                                               "deadline, replace, chunk-size, defang and wait-in-queue",
                                  name);
      if (r >= 0)
        r = sd_bus_message_exit_container (message);
    }
  return r < 0 ? r : sd_bus_message_exit_container (message);
}
