/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/egress-client.h"

#include "base/fd.h"
#include "base/task-guard.h"
#include "base/unix-connect.h"
#include "wire/frame-link.h"

/* The egress is socket-activated: the first answer may have to wait for its start. */
#define ANSWER_MSEC        10000u
#define RELOAD_MSEC        30000u
#define FIRST_PAUSE_MSEC   100u
#define LONGEST_PAUSE_MSEC 5000u
#define MAX_QUESTIONS      256u

struct _SbxEgressClient {
  char *socket_path;
  SbxFrameLink *service;
  GHashTable *questions; /* id -> Question, which its task owns */
  guint32 last_id;
  guint pause_msec; /* until the next try, 0 after an answer */
  gint64 next_try_usec;
};

/* A question on the service connection; the task's data. */
typedef struct {
  SbxEgressClient *client;
  GTask *task; /* a reference, given up with the answer */
  guint32 id;
  SbxFrameType answer;
  SbxTaskGuard guard;
  char *complaint;
} Question;

static void
question_free (gpointer data)
{
  Question *self = data;

  sbx_task_guard_disarm (&self->guard);
  g_free (self->complaint);
  g_free (self);
}

/* Ends the question; it and the client may be gone afterwards. */
static void
question_answer (Question *self, SbxFailure failure)
{
  g_autoptr (GTask) task = g_steal_pointer (&self->task);

  sbx_task_guard_disarm (&self->guard);
  if (self->client != NULL)
    g_hash_table_remove (self->client->questions, GUINT_TO_POINTER (self->id));
  g_task_return_int (task, failure);
}

static void
on_question_due (gpointer user_data, gboolean cancelled)
{
  question_answer (user_data, cancelled ? SBX_FAILURE_CANCELLED : SBX_FAILURE_EGRESS_DOWN);
}

static void
client_pause (SbxEgressClient *self)
{
  self->pause_msec = CLAMP (self->pause_msec * 2, FIRST_PAUSE_MSEC, LONGEST_PAUSE_MSEC);
  self->next_try_usec = g_get_monotonic_time () + (gint64) self->pause_msec * 1000;
}

static void
client_answer_all (SbxEgressClient *self, SbxFailure failure)
{
  g_autoptr (GPtrArray) open = g_ptr_array_new_with_free_func (g_object_unref);
  GHashTableIter iter;
  gpointer question;

  g_hash_table_iter_init (&iter, self->questions);
  while (g_hash_table_iter_next (&iter, NULL, &question))
    {
      Question *each = question;

      /* Cut loose first, since an answered caller may free the client. */
      each->client = NULL;
      g_ptr_array_add (open, g_object_ref (each->task));
    }
  g_hash_table_remove_all (self->questions);
  for (guint i = 0; i < open->len; i++)
    question_answer (g_task_get_task_data (open->pdata[i]), failure);
}

static gboolean
on_service_frame (SbxFrameLink *link, SbxFrame *frame, gpointer user_data)
{
  SbxEgressClient *self = user_data;
  Question *question = g_hash_table_lookup (self->questions, GUINT_TO_POINTER (frame->head.id));
  SbxFailure failure = SBX_FAILURE_INTERNAL;
  gboolean fine;

  if (frame->head.type == SBX_FRAME_GRANTED || frame->head.type == SBX_FRAME_ANSWER)
    return FALSE;
  if (frame->head.type == SBX_FRAME_RELOADED)
    {
      g_autofree char *complaint = NULL;
      gboolean ok = FALSE;

      fine = sbx_grant_reloaded_decode (frame->payload, &ok, &complaint, NULL);
      failure = ok ? SBX_FAILURE_NONE : SBX_FAILURE_INTERNAL;
      if (fine && question != NULL)
        question->complaint = g_steal_pointer (&complaint);
    }
  else
    fine = sbx_grant_verdict_decode (frame->payload, &failure, NULL);
  if (!fine)
    return FALSE;
  self->pause_msec = 0;
  self->next_try_usec = 0;
  /* The answer to a question that was given up. */
  if (question == NULL)
    return TRUE;
  if (question->answer != frame->head.type)
    return FALSE;
  question_answer (question, failure);
  return TRUE;
}

static void
on_service_closed (SbxFrameLink *link, const GError *error, gpointer user_data)
{
  SbxEgressClient *self = user_data;

  g_clear_pointer (&self->service, sbx_frame_link_free);
  client_pause (self);
  client_answer_all (self, SBX_FAILURE_EGRESS_DOWN);
}

static const SbxFrameLinkEvents service_events = { .frame = on_service_frame, .closed = on_service_closed };

static gboolean
client_connect (SbxEgressClient *self)
{
  int fd;

  if (self->service != NULL)
    return TRUE;
  if (g_get_monotonic_time () < self->next_try_usec)
    return FALSE;
  fd = sbx_unix_connect (self->socket_path, NULL);
  if (fd < 0)
    {
      client_pause (self);
      return FALSE;
    }
  self->service =
    sbx_frame_link_new (fd, sbx_grant_rules_client, sbx_grant_n_rules_client, &service_events, self);
  return sbx_frame_link_send (self->service, SBX_FRAME_SERVICE, 0, NULL, NULL, 0, NULL);
}

SbxEgressClient *
sbx_egress_client_new (const char *socket_path)
{
  SbxEgressClient *self = g_new0 (SbxEgressClient, 1);

  self->socket_path = g_strdup (socket_path);
  self->questions = g_hash_table_new (NULL, NULL);
  return self;
}

void
sbx_egress_client_free (SbxEgressClient *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->service, sbx_frame_link_free);
  client_answer_all (self, SBX_FAILURE_EGRESS_DOWN);
  g_hash_table_unref (self->questions);
  g_free (self->socket_path);
  g_free (self);
}

static void
client_ask (SbxEgressClient *self, SbxFrameType type, SbxFrameType answer, GBytes *payload,
            guint deadline_msec, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task = g_task_new (NULL, NULL, callback, user_data);
  Question *question = g_new0 (Question, 1);

  question->task = task;
  question->answer = answer;
  g_task_set_task_data (task, question, question_free);
  if (g_hash_table_size (self->questions) >= MAX_QUESTIONS || !client_connect (self))
    {
      question_answer (question, SBX_FAILURE_EGRESS_DOWN);
      return;
    }
  do
    self->last_id++;
  while (self->last_id == 0 || g_hash_table_contains (self->questions, GUINT_TO_POINTER (self->last_id)));
  question->id = self->last_id;
  if (!sbx_frame_link_send (self->service, type, question->id, payload, NULL, 0, NULL))
    {
      question_answer (question, SBX_FAILURE_EGRESS_DOWN);
      return;
    }
  question->client = self;
  g_hash_table_insert (self->questions, GUINT_TO_POINTER (question->id), question);
  sbx_task_guard_arm (&question->guard, deadline_msec, cancellable, on_question_due, question);
}

static SbxFailure
finish_failure (GAsyncResult *result)
{
  return (SbxFailure) g_task_propagate_int (G_TASK (result), NULL);
}

void
sbx_egress_client_charge_async (SbxEgressClient *self, const char *turn, GCancellable *cancellable,
                                GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GBytes) payload = g_byte_array_free_to_bytes (sbx_grant_charge_encode (turn));

  client_ask (self, SBX_FRAME_CHARGE, SBX_FRAME_CHARGED, payload, ANSWER_MSEC, cancellable, callback,
              user_data);
}

SbxFailure
sbx_egress_client_charge_finish (GAsyncResult *result)
{
  return finish_failure (result);
}

void
sbx_egress_client_scan_async (SbxEgressClient *self, GBytes *text, GCancellable *cancellable,
                              GAsyncReadyCallback callback, gpointer user_data)
{
  client_ask (self, SBX_FRAME_SCAN, SBX_FRAME_SCANNED, text, ANSWER_MSEC, cancellable, callback, user_data);
}

SbxFailure
sbx_egress_client_scan_finish (GAsyncResult *result)
{
  return finish_failure (result);
}

void
sbx_egress_client_reload_async (SbxEgressClient *self, GCancellable *cancellable,
                                GAsyncReadyCallback callback, gpointer user_data)
{
  client_ask (self, SBX_FRAME_RELOAD, SBX_FRAME_RELOADED, NULL, RELOAD_MSEC, cancellable, callback,
              user_data);
}

SbxFailure
sbx_egress_client_reload_finish (GAsyncResult *result, char **ret_complaint)
{
  Question *question = g_task_get_task_data (G_TASK (result));

  if (ret_complaint != NULL)
    *ret_complaint = g_steal_pointer (&question->complaint);
  return finish_failure (result);
}

void
sbx_egress_client_probe_async (SbxEgressClient *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                               gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, NULL, callback, user_data);

  g_task_return_int (task, client_connect (self) ? SBX_FAILURE_NONE : SBX_FAILURE_EGRESS_DOWN);
}

SbxFailure
sbx_egress_client_probe_finish (GAsyncResult *result)
{
  return finish_failure (result);
}

/* --- a turn's own connection --- */

typedef struct {
  GTask *task; /* a reference, given up with the answer */
  SbxFrameLink *link;
  SbxTaskGuard guard;
  SbxFd granted;
} Announcement;

static void
announcement_free (gpointer data)
{
  Announcement *self = data;

  sbx_task_guard_disarm (&self->guard);
  sbx_frame_link_free (self->link);
  sbx_fd_close (self->granted);
  g_free (self);
}

static void
announcement_answer (Announcement *self, SbxFailure failure)
{
  g_autoptr (GTask) task = g_steal_pointer (&self->task);

  sbx_task_guard_disarm (&self->guard);
  g_clear_pointer (&self->link, sbx_frame_link_free);
  g_task_return_int (task, failure);
}

static gboolean
on_announcement_frame (SbxFrameLink *link, SbxFrame *frame, gpointer user_data)
{
  Announcement *self = user_data;
  SbxFailure failure = SBX_FAILURE_EGRESS_DOWN;

  if (frame->head.type != SBX_FRAME_GRANTED || !sbx_grant_verdict_decode (frame->payload, &failure, NULL))
    return FALSE;
  if (failure == SBX_FAILURE_NONE)
    {
      self->granted = sbx_frame_link_steal_fd (g_steal_pointer (&self->link));
      if (self->granted < 0)
        failure = SBX_FAILURE_EGRESS_DOWN;
    }
  announcement_answer (self, failure);
  return TRUE;
}

static void
on_announcement_closed (SbxFrameLink *link, const GError *error, gpointer user_data)
{
  announcement_answer (user_data, SBX_FAILURE_EGRESS_DOWN);
}

static const SbxFrameLinkEvents announcement_events = { .frame = on_announcement_frame,
                                                        .closed = on_announcement_closed };

static void
on_announcement_due (gpointer user_data, gboolean cancelled)
{
  announcement_answer (user_data, cancelled ? SBX_FAILURE_CANCELLED : SBX_FAILURE_EGRESS_DOWN);
}

void
sbx_egress_client_announce_async (SbxEgressClient *self, const SbxGrant *grant, GCancellable *cancellable,
                                  GAsyncReadyCallback callback, gpointer user_data)
{
  Announcement *announcement = g_new0 (Announcement, 1);
  int fd = sbx_unix_connect (self->socket_path, NULL);

  announcement->task = g_task_new (NULL, NULL, callback, user_data);
  announcement->granted = -1;
  g_task_set_task_data (announcement->task, announcement, announcement_free);
  if (fd < 0)
    {
      announcement_answer (announcement, SBX_FAILURE_EGRESS_DOWN);
      return;
    }
  announcement->link = sbx_frame_link_new (fd, sbx_grant_rules_client, sbx_grant_n_rules_client,
                                           &announcement_events, announcement);
  if (!sbx_frame_link_send_packed (announcement->link, SBX_FRAME_ANNOUNCE, 1, sbx_grant_encode (grant), NULL))
    {
      announcement_answer (announcement, SBX_FAILURE_EGRESS_DOWN);
      return;
    }
  sbx_task_guard_arm (&announcement->guard, ANSWER_MSEC, cancellable, on_announcement_due, announcement);
}

int
sbx_egress_client_announce_finish (GAsyncResult *result, SbxFailure *ret_failure)
{
  Announcement *announcement = g_task_get_task_data (G_TASK (result));
  SbxFailure failure = finish_failure (result);

  if (failure != SBX_FAILURE_NONE)
    {
      *ret_failure = failure;
      return -1;
    }
  return g_steal_fd (&announcement->granted);
}
