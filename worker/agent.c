/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "agent.h"

#include <string.h>

#include "base/json-variant.h"
#include "base/json-write.h"
#include "broker-client.h"
#include "compaction.h"
#include "conversation.h"
#include "history.h"
#include "json-in.h"
#include "memory.h"
#include "model-answer.h"
#include "prompt.h"
#include "toolbox.h"
#include "turn-input.h"
#include "wire/bounds.h"

/* The same for every reason: what went wrong is the operator's to know, not the model's. */
#define REFUSAL        "This call was refused or failed."
#define CUT_SHORT_NOTE "\n\n[The answer was cut short: it reached the length limit.]"

typedef struct {
  const SbxAgentPlaces *places;
  SbxReply *reply;
  SbxTurnInput *input;
  SbxStore *store;
  SbxMemory *memory;
  GPtrArray *history;
  SbxToolbox *toolbox;
  SbxConversation *conversation;
  char *system;
  char *user_text;
  GHashTable *used_ids;
  gint64 calls_left; /* of all routes; -1: unlimited */
} Agent;

static void
agent_clear (Agent *self)
{
  g_clear_pointer (&self->used_ids, g_hash_table_unref);
  g_clear_pointer (&self->conversation, sbx_conversation_free);
  g_clear_pointer (&self->toolbox, sbx_toolbox_free);
  g_clear_pointer (&self->history, g_ptr_array_unref);
  g_clear_pointer (&self->memory, sbx_memory_free);
  g_clear_pointer (&self->store, sbx_store_free);
  g_clear_pointer (&self->input, sbx_turn_input_free);
  g_clear_pointer (&self->system, g_free);
  g_clear_pointer (&self->user_text, g_free);
  g_clear_pointer (&self->reply, sbx_reply_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Agent, agent_clear)

/* FALSE, so that a caller can return it. error may be NULL; it is logged and freed here, where the turn ends.
 */
static gboolean
end (Agent *self, SbxReplyReason reason, GError *error)
{
  self->reply->reason = reason;
  g_printerr ("sandbox-worker: %s%s%s\n", sbx_reply_failure_name (reason), error != NULL ? ": " : "",
              error != NULL ? error->message : "");
  g_clear_error (&error);
  return FALSE;
}

static SbxReplyReason
store_reason (const GError *error)
{
  if (g_error_matches (error, SBX_STORE_ERROR, SBX_STORE_ERROR_FULL))
    return SBX_REPLY_DISK_FULL;
  return g_error_matches (error, SBX_STORE_ERROR, SBX_STORE_ERROR_IO) ? SBX_REPLY_STORE_FAILED
                                                                      : SBX_REPLY_STORE_UNREADABLE;
}

/* Whether a file that gave error was set aside, so that the turn can go on without it. Frees error then. */
static gboolean
repair (Agent *self, const char *name, GError **error)
{
  g_autoptr (GError) aside = NULL;

  if (!self->input->repair || g_error_matches (*error, SBX_STORE_ERROR, SBX_STORE_ERROR_IO))
    return FALSE;
  if (!sbx_store_set_aside (self->store, name, &aside))
    return FALSE;
  g_printerr ("sandbox-worker: set aside: %s\n", (*error)->message);
  g_clear_error (error);
  g_ptr_array_add (self->reply->set_aside, (gpointer) name);
  return TRUE;
}

/* With a reset the content counts for nothing; but what is no file, and so could not be replaced at the
 * turn's end, is to be set aside now where the host wants that. */
static GPtrArray *
load_history (Agent *self, GError **error)
{
  g_autoptr (GBytes) ignored = NULL;

  if (!self->input->reset)
    return sbx_history_load (self->store, error);
  if (self->input->repair && !sbx_store_read (self->store, SBX_HISTORY_FILE, &ignored, error))
    return NULL;
  return sbx_history_new ();
}

static gboolean
open_store (Agent *self)
{
  GError *error = NULL;

  self->store = sbx_store_open (self->places->workspace, &error);
  if (self->store == NULL)
    return end (self, store_reason (error), error);
  self->memory = sbx_memory_load (self->store, self->input->speaker_id, &error);
  if (self->memory == NULL && repair (self, SBX_MEMORY_FILE, &error))
    self->memory = sbx_memory_new (self->store, self->input->speaker_id);
  if (self->memory == NULL)
    return end (self, store_reason (error), error);
  self->history = load_history (self, &error);
  if (self->history == NULL && repair (self, SBX_HISTORY_FILE, &error))
    self->history = sbx_history_new ();
  if (self->history == NULL)
    return end (self, store_reason (error), error);
  return TRUE;
}

static gboolean
assemble (Agent *self)
{
  g_autoptr (GTimeZone) zone = sbx_prompt_zone (self->input->time_zone);
  g_autoptr (GDateTime) now = NULL;
  g_autoptr (GString) speaker = g_string_new (NULL);
  g_autofree char *speaker_memory = sbx_memory_list (self->memory, TRUE);
  g_autofree char *channel_memory = sbx_memory_list (self->memory, FALSE);

  if (zone == NULL)
    return end (self, SBX_REPLY_INPUT, NULL);
  self->toolbox = sbx_toolbox_new (self->input);
  if (self->toolbox == NULL)
    return end (self, SBX_REPLY_TOO_LARGE, NULL);
  now = g_date_time_new_now (zone);
  self->system = sbx_prompt_new (self->input->prompt, now, speaker_memory, channel_memory);
  sbx_json_variant_write (speaker, self->input->speaker);
  self->user_text = sbx_prompt_user_text (speaker->str, self->input->text);
  return TRUE;
}

static void
begin_conversation (Agent *self)
{
  gsize n_bytes;

  g_clear_pointer (&self->conversation, sbx_conversation_free);
  self->conversation = sbx_conversation_new (self->input->model, sbx_toolbox_json (self->toolbox, &n_bytes),
                                             self->system, self->user_text);
  for (guint i = 0; i < self->history->len; i++)
    {
      const SbxHistoryMessage *message = self->history->pdata[i];

      sbx_conversation_add_history (self->conversation, message->role, message->content);
    }
}

static GByteArray *
post_within (Agent *self, const char *path, const GString *body, guint deadline_msec, GError **error)
{
  if (self->calls_left > 0)
    self->calls_left--;
  return sbx_broker_post (self->places->socket_path, path, body->str, body->len, deadline_msec, NULL, error);
}

static GByteArray *
post (Agent *self, const char *path, const GString *body, GError **error)
{
  return post_within (self, path, body, SBX_BROKER_DEADLINE_MSEC, error);
}

static GByteArray *
post_compaction (gpointer user_data, const char *path, const GString *body, guint deadline_msec,
                 GError **error)
{
  return post_within (user_data, path, body, deadline_msec, error);
}

/* At the start and so at most once in a turn; whatever comes of it, the turn goes on. */
static void
compact (Agent *self)
{
  guint n_dropped = sbx_conversation_n_dropped (self->conversation);
  SbxCompactionReport report;
  GPtrArray *history;

  if (!self->input->compaction || !sbx_compaction_is_due (self->history, n_dropped))
    return;
  history = sbx_compaction_run (self->input, self->history, n_dropped, self->calls_left, post_compaction,
                                self, &report);
  self->reply->compaction = report.reason;
  self->reply->compaction_by = report.by;
  self->reply->tokens_before = report.tokens_before;
  if (history == NULL)
    return;
  g_ptr_array_unref (self->history);
  self->history = history;
  begin_conversation (self);
}

static SbxAnswer *
ask_model (Agent *self, guint step)
{
  g_autoptr (GString) request = sbx_conversation_request (self->conversation);
  g_autoptr (GByteArray) body = NULL;
  g_autoptr (GVariant) root = NULL;
  GError *error = NULL;

  if (request == NULL)
    {
      end (self, SBX_REPLY_TOO_LARGE, NULL);
      return NULL;
    }
  body = post (self, "/model", request, &error);
  if (body == NULL)
    {
      end (self, SBX_REPLY_MODEL_FAILED, error);
      return NULL;
    }
  root = sbx_json_in_read ((const char *) body->data, body->len, SBX_MAX_ANSWER_BYTES, &error);
  if (root == NULL)
    {
      end (self, SBX_REPLY_MODEL_ANSWER, error);
      return NULL;
    }
  return sbx_answer_new (root, self->toolbox, self->used_ids, step,
                         (const char *const *) self->input->keep->pdata);
}

/* The answer's body as compact JSON, or NULL. */
static char *
call_out (Agent *self, const char *path, const GString *body)
{
  g_autoptr (GByteArray) answer = NULL;
  g_autoptr (GVariant) root = NULL;
  g_autoptr (GString) json = g_string_new (NULL);

  /* The last call is kept for the model, which has to answer. */
  if (self->calls_left >= 0 && self->calls_left <= 1)
    return NULL;
  answer = post (self, path, body, NULL);
  if (answer == NULL)
    return NULL;
  root = sbx_json_in_read ((const char *) answer->data, answer->len, SBX_MAX_ANSWER_BYTES, NULL);
  if (root == NULL)
    return NULL;
  sbx_json_variant_write (json, root);
  return g_string_free (g_steal_pointer (&json), FALSE);
}

static char *
run_host_tool (Agent *self, const SbxTool *tool, GVariant *arguments)
{
  g_autofree char *path = g_strconcat ("/tools/", tool->tool, NULL);
  g_autoptr (GString) body = g_string_new (NULL);

  sbx_json_variant_write (body, arguments);
  return call_out (self, path, body);
}

static char *
run_mcp_tool (Agent *self, const SbxTool *tool, GVariant *arguments)
{
  g_autofree char *path = g_strconcat ("/mcp/", tool->server, NULL);
  g_autoptr (GString) body = g_string_new ("{\"method\":\"tools/call\",\"params\":{\"name\":");

  sbx_json_write_text (body, tool->tool, -1);
  g_string_append (body, ",\"arguments\":");
  sbx_json_variant_write (body, arguments);
  g_string_append (body, "}}");
  return call_out (self, path, body);
}

/* The result, or NULL for the refusal. */
static char *
run_call (Agent *self, const SbxCall *call)
{
  g_autoptr (GVariant) arguments = NULL;

  if (call->arguments != NULL)
    arguments = sbx_json_in_read (call->arguments, strlen (call->arguments), SBX_MAX_ANSWER_BYTES, NULL);
  if (!sbx_json_in_is_object (arguments))
    return NULL;
  switch (call->tool->kind)
    {
    case SBX_TOOL_MEMORY_SET:
      return sbx_memory_set (self->memory, arguments, NULL);
    case SBX_TOOL_MEMORY_GET:
      return sbx_memory_get (self->memory, arguments, NULL);
    case SBX_TOOL_MEMORY_REMOVE:
      return sbx_memory_remove (self->memory, arguments, NULL);
    case SBX_TOOL_HOST:
      return run_host_tool (self, call->tool, arguments);
    case SBX_TOOL_MCP:
      return run_mcp_tool (self, call->tool, arguments);
    case SBX_TOOL_INVALID:
    default:
      return NULL;
    }
}

static void
run_calls (Agent *self, const SbxAnswer *answer)
{
  sbx_conversation_begin_group (self->conversation, answer->message);
  for (guint i = 0; i < answer->calls->len; i++)
    {
      const SbxCall *call = answer->calls->pdata[i];
      g_autofree char *result = run_call (self, call);

      sbx_conversation_add_result (self->conversation, call->id, result != NULL ? result : REFUSAL);
    }
}

static gboolean
finish (Agent *self, const SbxAnswer *answer)
{
  GError *error = NULL;

  sbx_history_add_exchange (self->history, self->user_text, answer->text);
  if (!sbx_history_save (self->store, self->history, &error))
    return end (self, store_reason (error), error);
  self->reply->text =
    answer->cut_short ? g_strconcat (answer->text, CUT_SHORT_NOTE, NULL) : g_strdup (answer->text);
  return TRUE;
}

/* TRUE while there is another step to take. */
static gboolean
take_step (Agent *self, guint step)
{
  g_autoptr (SbxAnswer) answer = NULL;

  if (step == SBX_AGENT_MAX_MODEL_CALLS || self->calls_left == 0)
    return end (self, SBX_REPLY_CALLS_SPENT, NULL);
  answer = ask_model (self, step);
  if (answer == NULL)
    return FALSE;
  switch (answer->kind)
    {
    case SBX_ANSWER_CALLS:
      run_calls (self, answer);
      return TRUE;
    case SBX_ANSWER_FINAL:
      finish (self, answer);
      return FALSE;
    case SBX_ANSWER_EMPTY:
      return end (self, SBX_REPLY_EMPTY, NULL);
    case SBX_ANSWER_BROKEN:
    case SBX_ANSWER_TOO_LONG:
    case SBX_ANSWER_TOO_MANY:
    default:
      return end (self, SBX_REPLY_MODEL_ANSWER, NULL);
    }
}

static gboolean
read_turn (Agent *self, const char *turn, gsize n_bytes)
{
  GError *error = NULL;

  self->input = sbx_turn_input_read (turn, n_bytes, &error);
  if (self->input == NULL)
    return end (self, SBX_REPLY_INPUT, error);
  self->reply->extended = self->input->repair;
  self->calls_left = self->input->calls;
  return TRUE;
}

SbxReply *
sbx_agent_run (const SbxAgentPlaces *places, const char *turn, gsize n_bytes)
{
  g_auto (Agent) self = { .places = places, .reply = sbx_reply_new () };

  self.used_ids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (read_turn (&self, turn, n_bytes) && open_store (&self) && assemble (&self))
    {
      begin_conversation (&self);
      compact (&self);
      for (guint step = 0; take_step (&self, step); step++)
        ;
    }
  return g_steal_pointer (&self.reply);
}
