/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-request.h"

void
sbx_turn_request_init (SbxTurnRequest *self, const SbxTurnRequest *src)
{
  *self = *src;
  self->channel = g_strdup (src->channel);
  self->speaker_id = g_strdup (src->speaker_id);
  self->speaker_name = g_strdup (src->speaker_name);
  self->principal = g_strdup (src->principal);
  self->text = g_strdup (src->text);
  self->message_id = g_strdup (src->message_id);
}

void
sbx_turn_request_clear (SbxTurnRequest *self)
{
  g_free ((char *) self->channel);
  g_free ((char *) self->speaker_id);
  g_free ((char *) self->speaker_name);
  g_free ((char *) self->principal);
  g_free ((char *) self->text);
  g_free ((char *) self->message_id);
  *self = (SbxTurnRequest){ 0 };
}
