/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/speaker-rate.h"

#include <string.h>

typedef struct {
  char *key;
  GQueue times; /* of gint64 *, the oldest first; at most `turns` */
  GList place;  /* in `heard` */
} Speaker;

struct _SbxSpeakerRate {
  guint turns;
  gint64 window_usec;
  GHashTable *speakers; /* key -> Speaker */
  GQueue heard;         /* the one heard of longest ago first */
};

static void
speaker_free (gpointer data)
{
  Speaker *self = data;

  g_queue_clear_full (&self->times, g_free);
  g_free (self->key);
  g_free (self);
}

SbxSpeakerRate *
sbx_speaker_rate_new (guint turns, gint64 window_usec)
{
  SbxSpeakerRate *self = g_new0 (SbxSpeakerRate, 1);

  self->turns = turns;
  self->window_usec = window_usec;
  self->speakers = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, speaker_free);
  g_queue_init (&self->heard);
  return self;
}

void
sbx_speaker_rate_free (SbxSpeakerRate *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->speakers);
  g_free (self);
}

void
sbx_speaker_rate_set (SbxSpeakerRate *self, guint turns, gint64 window_usec)
{
  self->turns = turns;
  self->window_usec = window_usec;
}

static char *
make_key (const char *channel, const char *speaker)
{
  gsize n_platform = strcspn (channel, ":");

  return g_strdup_printf ("%.*s:%s", (int) n_platform, channel, speaker);
}

static void
forget (SbxSpeakerRate *self, Speaker *speaker)
{
  g_queue_unlink (&self->heard, &speaker->place);
  g_hash_table_remove (self->speakers, speaker->key);
}

static void
drop_old (SbxSpeakerRate *self, Speaker *speaker, gint64 now_usec)
{
  const gint64 *time;

  while ((time = g_queue_peek_head (&speaker->times)) != NULL && *time + self->window_usec <= now_usec)
    g_free (g_queue_pop_head (&speaker->times));
}

/* Everybody whom the window has left behind: they stand at the head. */
static void
forget_old (SbxSpeakerRate *self, gint64 now_usec)
{
  Speaker *speaker;

  while ((speaker = g_queue_peek_head (&self->heard)) != NULL)
    {
      drop_old (self, speaker, now_usec);
      if (!g_queue_is_empty (&speaker->times) && g_queue_get_length (&self->heard) <= SBX_SPEAKER_RATE_MAX)
        return;
      forget (self, speaker);
    }
}

gint64
sbx_speaker_rate_wait_usec (SbxSpeakerRate *self, const char *channel, const char *speaker_id,
                            gint64 now_usec)
{
  g_autofree char *key = make_key (channel, speaker_id);
  Speaker *speaker = g_hash_table_lookup (self->speakers, key);
  const gint64 *time;

  if (self->turns == 0 || speaker == NULL)
    return 0;
  drop_old (self, speaker, now_usec);
  if (g_queue_get_length (&speaker->times) < self->turns)
    return 0;
  /* The limit may have become smaller: so many must go that one less than it is left. */
  time = g_queue_peek_nth (&speaker->times, g_queue_get_length (&speaker->times) - self->turns);
  return *time + self->window_usec - now_usec;
}

void
sbx_speaker_rate_count (SbxSpeakerRate *self, const char *channel, const char *speaker_id, gint64 now_usec)
{
  g_autofree char *key = make_key (channel, speaker_id);
  Speaker *speaker;

  if (self->turns == 0)
    return;
  speaker = g_hash_table_lookup (self->speakers, key);
  if (speaker == NULL)
    {
      speaker = g_new0 (Speaker, 1);
      speaker->key = g_steal_pointer (&key);
      speaker->place.data = speaker;
      g_queue_init (&speaker->times);
      g_hash_table_insert (self->speakers, speaker->key, speaker);
    }
  else
    g_queue_unlink (&self->heard, &speaker->place);
  g_queue_push_tail_link (&self->heard, &speaker->place);
  g_queue_push_tail (&speaker->times, g_memdup2 (&now_usec, sizeof now_usec));
  forget_old (self, now_usec);
}
