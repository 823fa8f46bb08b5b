/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/turn-context.h"

void
sbx_turn_context_clear (SbxTurnContext *self)
{
  sbx_record_store_free (self->records);
  sbx_resets_free (self->resets);
  sbx_reaper_free (self->reaper);
  sbx_egress_client_free (self->egress);
  sbx_image_watch_free (self->images);
  sbx_rest_free (self->rest);
  g_clear_pointer (&self->engine, sbx_engine_unref);
  g_clear_pointer (&self->tools, g_ptr_array_unref);
  g_clear_pointer (&self->sandboxes, g_hash_table_unref);
  sbx_settings_free (self->settings);
  g_free (self->installation);
  g_free (self->run_root);
  g_free (self->workspaces_root);
  g_free (self->broker_program);
  *self = (SbxTurnContext){ 0 };
}
