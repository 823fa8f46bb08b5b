/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/engine-wait.h"

void
sbx_wait_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  SbxWait *wait = user_data;

  wait->result = g_object_ref (result);
}

GAsyncResult *
sbx_wait (SbxWait *wait)
{
  while (wait->result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return g_steal_pointer (&wait->result);
}
