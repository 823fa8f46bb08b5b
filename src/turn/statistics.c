/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/statistics.h"

typedef struct {
  GList link; /* in recent, the latest first */
  char *channel;
  SbxSums sums;
} Known;

struct _SbxStatistics {
  SbxSums all;
  GHashTable *channels; /* channel -> Known, which owns the key */
  GQueue recent;
};

static void
known_free (gpointer data)
{
  Known *self = data;

  g_free (self->channel);
  g_free (self);
}

SbxStatistics *
sbx_statistics_new (void)
{
  SbxStatistics *self = g_new0 (SbxStatistics, 1);

  self->channels = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, known_free);
  g_queue_init (&self->recent);
  return self;
}

void
sbx_statistics_free (SbxStatistics *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->channels);
  g_free (self);
}

static void
forget (SbxStatistics *self, Known *known)
{
  g_queue_unlink (&self->recent, &known->link);
  g_hash_table_remove (self->channels, known->channel);
}

static Known *
know (SbxStatistics *self, const char *channel)
{
  Known *known = g_hash_table_lookup (self->channels, channel);

  if (known != NULL)
    g_queue_unlink (&self->recent, &known->link);
  else
    {
      if (self->recent.length >= SBX_STATISTICS_MAX_CHANNELS)
        forget (self, self->recent.tail->data);
      known = g_new0 (Known, 1);
      known->link.data = known;
      known->channel = g_strdup (channel);
      g_hash_table_insert (self->channels, known->channel, known);
    }
  g_queue_push_head_link (&self->recent, &known->link);
  return known;
}

static void
sums_add (SbxSums *self, const SbxOutcome *outcome, const SbxTurnUsage *usage)
{
  self->outcomes[outcome->kind]++;
  if (outcome->kind != SBX_OUTCOME_REPLIED)
    self->failures[outcome->failure]++;
  for (guint i = 0; i < SBX_TURN_N_PHASES; i++)
    {
      self->sum.phase_usec[i] += usage->phase_usec[i];
      self->longest_usec[i] = MAX (self->longest_usec[i], usage->phase_usec[i]);
    }
  self->sum.calls += usage->calls;
  self->sum.calls_refused += usage->calls_refused;
  self->sum.request_bytes += usage->request_bytes;
  self->sum.answer_bytes += usage->answer_bytes;
  self->sum.prompt_tokens += usage->prompt_tokens;
  self->sum.answer_tokens += usage->answer_tokens;
}

static void
sums_add_finishing (SbxSums *self, gint64 usec)
{
  self->sum.phase_usec[SBX_TURN_STATE_FINISHING] += usec;
  self->longest_usec[SBX_TURN_STATE_FINISHING] = MAX (self->longest_usec[SBX_TURN_STATE_FINISHING], usec);
}

void
sbx_statistics_add (SbxStatistics *self, const char *channel, const SbxOutcome *outcome,
                    const SbxTurnUsage *usage)
{
  sums_add (&self->all, outcome, usage);
  sums_add (&know (self, channel)->sums, outcome, usage);
}

void
sbx_statistics_add_finishing (SbxStatistics *self, const char *channel, gint64 usec)
{
  Known *known = g_hash_table_lookup (self->channels, channel);

  sums_add_finishing (&self->all, usec);
  if (known != NULL)
    sums_add_finishing (&known->sums, usec);
}

const SbxSums *
sbx_statistics_get (SbxStatistics *self, const char *channel)
{
  const Known *known;

  if (channel == NULL)
    return &self->all;
  known = g_hash_table_lookup (self->channels, channel);
  return known != NULL ? &known->sums : NULL;
}

static gint
compare_texts (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
sbx_statistics_channels (SbxStatistics *self)
{
  GPtrArray *channels = g_ptr_array_new ();

  for (const GList *link = self->recent.head; link != NULL; link = link->next)
    g_ptr_array_add (channels, ((const Known *) link->data)->channel);
  g_ptr_array_sort (channels, compare_texts);
  return channels;
}

void
sbx_statistics_purge (SbxStatistics *self, const char *channel)
{
  Known *known = g_hash_table_lookup (self->channels, channel);

  if (known != NULL)
    forget (self, known);
}
