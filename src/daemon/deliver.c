/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Deliver: a whole message as a bot received it, and what is to become of it. */
#include "daemon/run-private.h"

#include <string.h>

#include "bus/bus-auto.h"
#include "bus/errors.h"
#include "wire/bounds.h"

/* Of any key, whatever becomes of the message: it is held while polkit is asked, of whoever comes. */
#define MAX_TEXT_BYTES (4u * SBX_MAX_TEXT_UNITS)
/* A longer name of a key is not said back. */
#define MAX_SHOWN_BYTES 64u

typedef struct {
  SbxRun *run;
  char *thread;
  char *quoted;
  gboolean attachments;
} Message;

static void
message_clear (Message *self)
{
  g_free (self->thread);
  g_free (self->quoted);
}

static int
refuse_key (sd_bus_error *ret_error, const char *name, const char *right)
{
  return sd_bus_error_setf (ret_error, sbx_bus_error_name (SBX_BUS_ERROR_INVALID_OPTION),
                            "The key \"%s\" %s; see Deliver in org.roundtable.Sandbox1.xml", name, right);
}

/* 1: read; 0: no such key; negative with ret_error set. */
static int
read_text (Message *self, sd_bus_message *message, const char *name, sd_bus_error *ret_error)
{
  SbxRun *run = self->run;
  const struct {
    const char *name;
    char **place;
  } texts[] = { { "channel", &run->channel },           { "thread", &self->thread },
                { "speaker-id", &run->speaker_id },     { "text", &run->text },
                { "speaker-name", &run->speaker_name }, { "quoted-text", &self->quoted } };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (strcmp (name, texts[i].name) == 0)
      {
        const char *value;

        if (sd_bus_message_read (message, "v", "s", &value) < 0)
          return refuse_key (ret_error, name, "is a text (s)");
        if (strlen (value) > MAX_TEXT_BYTES)
          return sd_bus_error_setf (ret_error, sbx_bus_error_name (SBX_BUS_ERROR_TEXT_TOO_LONG),
                                    "The key \"%s\" is at most %u bytes long", name, MAX_TEXT_BYTES);
        g_free (*texts[i].place);
        *texts[i].place = g_strdup (value);
        return 1;
      }
  return 0;
}

static int
read_flag (Message *self, sd_bus_message *message, const char *name, sd_bus_error *ret_error)
{
  SbxInbound *inbound = &self->run->inbound;
  gboolean resolved = TRUE;
  const struct {
    const char *name;
    gboolean *place;
  } flags[] = { { "bot", &inbound->bot },
                { "integration", &inbound->integration },
                { "direct", &inbound->direct },
                { "mentioned", &inbound->mentioned },
                { "replied-to", &inbound->replied_to },
                { "owner", &inbound->owner },
                { "resolved", &resolved },
                { "attachments", &self->attachments },
                { "wait", &self->run->with_outcome } };

  for (gsize i = 0; i < G_N_ELEMENTS (flags); i++)
    if (strcmp (name, flags[i].name) == 0)
      {
        int value = 0;

        if (sd_bus_message_read (message, "v", "b", &value) < 0)
          return refuse_key (ret_error, name, "is a boolean (b)");
        *flags[i].place = value != 0;
        if (flags[i].place == &resolved)
          inbound->unresolved = !value;
        return 1;
      }
  return 0;
}

static int
read_key (Message *self, sd_bus_message *message, const char *name, sd_bus_error *ret_error)
{
  int r;

  if (strcmp (name, "kind") == 0)
    {
      const char *value;

      if (sd_bus_message_read (message, "v", "s", &value) < 0
          || (strcmp (value, "message") != 0 && strcmp (value, "background") != 0))
        return refuse_key (ret_error, name, "is \"message\" or \"background\"");
      self->run->inbound.background = strcmp (value, "background") == 0;
      return 1;
    }
  if ((r = read_text (self, message, name, ret_error)) != 0
      || (r = read_flag (self, message, name, ret_error)) != 0)
    return r;
  r = sbx_turn_options_read_one (&self->run->options, message, name, ret_error);
  return r != 0
           ? r
           : refuse_key (ret_error, strlen (name) <= MAX_SHOWN_BYTES ? name : "\xe2\x80\xa6", "is not known");
}

static int
read_keys (Message *self, sd_bus_message *message, sd_bus_error *ret_error)
{
  int r = sd_bus_message_enter_container (message, 'a', "{sv}");

  while (r >= 0 && (r = sd_bus_message_enter_container (message, 'e', "sv")) > 0)
    {
      const char *name;

      r = sd_bus_message_read (message, "s", &name);
      if (r >= 0)
        r = read_key (self, message, name, ret_error);
      if (r >= 0)
        r = sd_bus_message_exit_container (message);
    }
  return r < 0 ? r : sd_bus_message_exit_container (message);
}

/* A message that is passed or dropped needs no more than its channel. */
static int
compose (Message *self, sd_bus_error *ret_error)
{
  SbxRun *run = self->run;
  char *text;

  if (self->thread != NULL)
    {
      /* A thread is a channel of its own, and inherits nothing. */
      g_free (run->channel);
      run->channel = g_steal_pointer (&self->thread);
    }
  if (run->channel == NULL)
    return refuse_key (ret_error, "channel", "is missing");
  run->speaker_id = run->speaker_id != NULL ? run->speaker_id : g_strdup ("");
  run->speaker_name = run->speaker_name != NULL ? run->speaker_name : g_strdup ("");
  text = sbx_route_text (run->text != NULL ? run->text : "", self->quoted, self->attachments);
  g_free (run->text);
  run->text = text;
  return sbx_manager_check_channel (run->channel, ret_error);
}

static void
reply_verdict (SbxRun *self, SbxVerdict verdict, const char *name, const char *value)
{
  if (name != NULL)
    (void) sd_bus_reply_method_return (self->message, "sa{sv}", sbx_verdict_name (verdict), 1, name, "s",
                                       value);
  else
    (void) sd_bus_reply_method_return (self->message, "sa{sv}", sbx_verdict_name (verdict), 0);
}

static void
answer_turn (SbxRun *self)
{
  g_autofree char *path = sbx_turn_path (self->id);

  (void) sd_bus_reply_method_return (self->message, "sa{sv}", sbx_verdict_name (SBX_VERDICT_TURN), 2, "turn",
                                     "s", self->id, "path", "o", path);
}

static void
take_turn (SbxRun *self, guint32 uid)
{
  g_auto (sd_bus_error) error = SD_BUS_ERROR_NULL;

  if (sbx_run_check_words (self, &error) < 0)
    {
      (void) sd_bus_reply_method_error (self->message, &error);
      sbx_run_end (self);
    }
  else
    sbx_run_submit (self, uid, self->with_outcome ? NULL : answer_turn);
}

static void
deliver_allowed (GObject *source, GAsyncResult *result, gpointer user_data)
{
  SbxRun *self = user_data;
  const char *reason;
  SbxVerdict verdict;
  guint32 uid = 0;

  if (!sbx_guard_check_finish (result, &uid) || g_cancellable_is_cancelled (self->cancellable))
    {
      sbx_run_end (self);
      return;
    }
  self->inbound.sandboxed =
    sbx_channel_store_has (sbx_daemon_channels (self->manager->daemon), self->channel);
  verdict = sbx_route (&self->inbound, &reason);
  if (verdict == SBX_VERDICT_TURN)
    {
      take_turn (self, uid);
      return;
    }
  reply_verdict (self, verdict, reason != NULL ? "reason" : NULL, reason);
  sbx_run_end (self);
}

int
sbx_method_deliver (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Message self = { .run = sbx_run_new (user_data, message, SBX_RUN_DELIVER) };
  int r = read_keys (&self, message, ret_error);

  if (r >= 0)
    r = compose (&self, ret_error);
  if (r >= 0)
    r = sbx_run_watch (self.run, ret_error);
  message_clear (&self);
  if (r < 0)
    {
      sbx_run_free (self.run);
      return r;
    }
  sbx_run_ask (self.run, deliver_allowed);
  return 1;
}
