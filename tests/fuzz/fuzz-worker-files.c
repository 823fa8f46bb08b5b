/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Memory and history files, as somebody may have left them. */
#include "fuzz.h"

#include "history.h"
#include "memory.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  g_autoptr (GError) memory_error = NULL;
  g_autoptr (GError) history_error = NULL;
  g_autoptr (GPtrArray) memory = sbx_memory_parse ((const char *) data, n_bytes, &memory_error);
  g_autoptr (GPtrArray) history = sbx_history_parse ((const char *) data, n_bytes, &history_error);

  g_assert ((memory == NULL) == (memory_error != NULL));
  g_assert ((history == NULL) == (history_error != NULL));
  g_assert (memory == NULL || memory->len <= SBX_MEMORY_MAX_ENTRIES);
  g_assert (history == NULL || history->len <= SBX_HISTORY_MAX_MESSAGES);
  return 0;
}
