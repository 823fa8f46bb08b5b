/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/reply.h"

static const char *const compaction_names[] = {
  [SBX_COMPACTION_NONE] = "none",
  [SBX_COMPACTION_BY_TOOL] = "tool",
  [SBX_COMPACTION_BY_MODEL] = "model",
  [SBX_COMPACTION_DROPPED] = "dropped",
};

static const char *const reason_names[] = {
  "none",         "no-compactor",  "compactor-failed", "compactor-timeout", "compactor-invalid",
  "model-failed", "model-invalid", "no-calls",         "no-time",
};

static gboolean
find (const char *const *names, gsize n_names, const char *name, guint *ret_place)
{
  for (gsize i = 0; i < n_names; i++)
    if (g_str_equal (names[i], name))
      {
        *ret_place = (guint) i;
        return TRUE;
      }
  return FALSE;
}

const char *
sbx_reply_compaction_name (guint by)
{
  return by < G_N_ELEMENTS (compaction_names) ? compaction_names[by] : NULL;
}

gboolean
sbx_reply_compaction_from_name (const char *name, SbxCompactionBy *ret_by)
{
  guint place;

  if (!find (compaction_names, G_N_ELEMENTS (compaction_names), name, &place))
    return FALSE;
  *ret_by = (SbxCompactionBy) place;
  return TRUE;
}

const char *
sbx_reply_reason_name (guint reason)
{
  return reason < G_N_ELEMENTS (reason_names) ? reason_names[reason] : NULL;
}

gboolean
sbx_reply_reason_from_name (const char *name, guint8 *ret_reason)
{
  guint place;

  if (!find (reason_names, G_N_ELEMENTS (reason_names), name, &place))
    return FALSE;
  *ret_reason = (guint8) place;
  return TRUE;
}

static const struct {
  const char *name;
  SbxFailure failure;
} words[] = {
  { "store-unreadable", SBX_FAILURE_STORE_UNREADABLE },
  { "store-failed", SBX_FAILURE_STORE_UNREADABLE },
  { "disk-full", SBX_FAILURE_DISK_FULL },
  { "model-answer", SBX_FAILURE_MODEL_ANSWER },
  { "empty-answer", SBX_FAILURE_MODEL_ANSWER },
};

SbxFailure
sbx_reply_failure_from_name (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_equal (words[i].name, name))
      return words[i].failure;
  return SBX_FAILURE_NONE;
}

gboolean
sbx_reply_failure_is_word (SbxFailure failure)
{
  gboolean found = failure == SBX_FAILURE_NONE;

  for (gsize i = 0; i < G_N_ELEMENTS (words) && !found; i++)
    found = words[i].failure == failure;
  return found;
}

guint8
sbx_reply_set_aside_from_name (const char *name)
{
  if (g_str_equal (name, "memory.json"))
    return SBX_SET_ASIDE_MEMORY;
  return g_str_equal (name, "history.json") ? SBX_SET_ASIDE_HISTORY : 0;
}
