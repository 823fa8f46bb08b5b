/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/tool-call.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/json-write.h"
#include "base/source.h"
#include "base/task-guard.h"
#include "base/unix-connect.h"

#define READ_BYTES 16384u
/* The call's own guard ends it first: NoReply then means that the provider died. */
#define BUS_SLACK_MSEC 5000u

static SbxToolTarget *
tool_target_new (const char *name)
{
  SbxToolTarget *self = g_new0 (SbxToolTarget, 1);

  g_ref_count_init (&self->refs);
  self->name = g_strdup (name);
  self->deadline_msec = SBX_TOOL_DEFAULT_DEADLINE_MSEC;
  return self;
}

SbxToolTarget *
sbx_tool_target_new_socket (const char *name, const char *socket)
{
  SbxToolTarget *self = tool_target_new (name);

  self->socket = g_strdup (socket);
  return self;
}

SbxToolTarget *
sbx_tool_target_new_bus (const char *name, const char *bus_name, const char *path, const char *interface,
                         const char *method)
{
  SbxToolTarget *self = tool_target_new (name);

  self->bus_name = g_strdup (bus_name);
  self->bus_path = g_strdup (path);
  self->bus_interface = g_strdup (interface);
  self->bus_method = g_strdup (method);
  return self;
}

SbxToolTarget *
sbx_tool_target_ref (SbxToolTarget *self)
{
  g_ref_count_inc (&self->refs);
  return self;
}

void
sbx_tool_target_unref (SbxToolTarget *self)
{
  if (self == NULL || !g_ref_count_dec (&self->refs))
    return;
  g_free (self->name);
  g_free (self->socket);
  g_free (self->bus_name);
  g_free (self->bus_path);
  g_free (self->bus_interface);
  g_free (self->bus_method);
  g_free (self);
}

static void
write_member (GString *out, const char *name, const char *value)
{
  g_string_append_printf (out, "\"%s\":", name);
  sbx_json_write_text (out, value, -1);
}

GBytes *
sbx_tool_identity_line (const SbxToolIdentity *identity)
{
  GString *out = g_string_new ("{");

  write_member (out, "turn", identity->turn);
  g_string_append_c (out, ',');
  write_member (out, "channel", identity->channel);
  g_string_append (out, ",\"speaker\":{");
  write_member (out, "id", identity->speaker_id);
  g_string_append_c (out, ',');
  write_member (out, "name", identity->speaker_name);
  g_string_append_c (out, '}');
  if (identity->principal != NULL)
    {
      g_string_append_c (out, ',');
      write_member (out, "principal", identity->principal);
    }
  g_string_append (out, "}\n");
  return g_string_free_to_bytes (out);
}

/* The task's data. */
typedef struct {
  GTask *task; /* a reference, given up with the answer */
  SbxToolTarget *target;
  SbxTaskGuard guard;
  gboolean counted;
  /* a socket */
  SbxFd fd;
  GSource *read_source;
  GSource *write_source;
  GByteArray *outgoing;
  gsize written;
  GByteArray *incoming;
  /* a bus provider */
  sd_bus_slot *slot;
  GBytes *text;
} Call;

static void
call_stop (Call *self)
{
  sbx_task_guard_disarm (&self->guard);
  sbx_source_clear (&self->read_source);
  sbx_source_clear (&self->write_source);
  self->slot = sd_bus_slot_unref (self->slot);
  /* Closing is how a socket tool learns that nobody waits any more. */
  sbx_fd_close (g_steal_fd (&self->fd));
  if (self->counted)
    self->target->running--;
  self->counted = FALSE;
}

static void
call_free (gpointer data)
{
  Call *self = data;

  call_stop (self);
  g_clear_pointer (&self->outgoing, g_byte_array_unref);
  g_clear_pointer (&self->incoming, g_byte_array_unref);
  g_clear_pointer (&self->text, g_bytes_unref);
  sbx_tool_target_unref (self->target);
  g_free (self);
}

static void
call_answer (Call *self, SbxFailure failure)
{
  g_autoptr (GTask) task = g_steal_pointer (&self->task);

  call_stop (self);
  g_task_return_int (task, failure);
}

/* Takes text, which nobody has looked at yet. */
static void
call_answer_text (Call *self, GBytes *text)
{
  gsize n_bytes = g_bytes_get_size (text);

  self->text = text;
  if (n_bytes == 0)
    call_answer (self, SBX_FAILURE_TOOL_BUSY);
  else if (n_bytes > SBX_MAX_ANSWER_BYTES
           || !g_utf8_validate_len (g_bytes_get_data (text, NULL), n_bytes, NULL))
    call_answer (self, SBX_FAILURE_TOOL_FAILED);
  else
    call_answer (self, SBX_FAILURE_NONE);
}

static void
on_call_due (gpointer user_data, gboolean cancelled)
{
  call_answer (user_data, cancelled ? SBX_FAILURE_CANCELLED : SBX_FAILURE_TOOL_TIMEOUT);
}

/* --- a socket --- */

static GSource *
call_watch (Call *self, GIOCondition condition, GUnixFDSourceFunc callback)
{
  return sbx_source_watch_fd (self->fd, condition, G_PRIORITY_DEFAULT, callback, self);
}

static gboolean
on_call_writable (int fd, GIOCondition condition, gpointer user_data)
{
  Call *self = user_data;
  gssize n = send (fd, self->outgoing->data + self->written, self->outgoing->len - self->written,
                   MSG_DONTWAIT | MSG_NOSIGNAL);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return G_SOURCE_CONTINUE;
  if (n >= 0)
    self->written += (gsize) n;
  if (n >= 0 && self->written < self->outgoing->len)
    return G_SOURCE_CONTINUE;
  /* All is written, or the tool needs no more of it (EPIPE): what counts is what it says. */
  (void) shutdown (fd, SHUT_WR);
  g_clear_pointer (&self->write_source, g_source_unref);
  return G_SOURCE_REMOVE;
}

static gboolean
on_call_readable (int fd, GIOCondition condition, gpointer user_data)
{
  Call *self = user_data;
  guint8 bytes[READ_BYTES];
  gssize n = recv (fd, bytes, sizeof bytes, MSG_DONTWAIT);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return G_SOURCE_CONTINUE;
  /* A tool that leaves input unread resets the connection behind its answer (unix(7)); without an answer it
   * is the socket unit that has no room for one more. */
  if (n <= 0)
    call_answer_text (self, g_byte_array_free_to_bytes (g_steal_pointer (&self->incoming)));
  else
    {
      g_byte_array_append (self->incoming, bytes, (guint) n);
      if (self->incoming->len > SBX_MAX_ANSWER_BYTES)
        call_answer (self, SBX_FAILURE_TOOL_FAILED);
    }
  return G_SOURCE_CONTINUE; /* call_stop() destroys the source */
}

static void
call_start_socket (Call *self, const SbxToolIdentity *identity, GBytes *input)
{
  g_autoptr (GBytes) line = sbx_tool_identity_line (identity);
  g_autoptr (GError) error = NULL;

  self->fd = sbx_unix_connect (self->target->socket, &error);
  if (self->fd < 0)
    {
      call_answer (self, g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK)
                           ? SBX_FAILURE_TOOL_BUSY
                           : SBX_FAILURE_TOOL_FAILED);
      return;
    }
  self->outgoing = g_byte_array_new ();
  self->incoming = g_byte_array_new ();
  g_byte_array_append (self->outgoing, g_bytes_get_data (line, NULL), (guint) g_bytes_get_size (line));
  if (g_bytes_get_size (input) > 0)
    g_byte_array_append (self->outgoing, g_bytes_get_data (input, NULL), (guint) g_bytes_get_size (input));
  self->write_source = call_watch (self, G_IO_OUT | G_IO_ERR, on_call_writable);
  self->read_source = call_watch (self, G_IO_IN | G_IO_HUP | G_IO_ERR, on_call_readable);
}

/* --- a bus provider --- */

static int
on_provider_answer (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Call *self = user_data;
  const char *text;

  /* Measured before it is copied: a bus takes messages of 32 MiB and more. */
  if (sd_bus_message_is_method_error (message, NULL) || sd_bus_message_read (message, "s", &text) < 0
      || strlen (text) > SBX_MAX_ANSWER_BYTES)
    call_answer (self, SBX_FAILURE_TOOL_FAILED);
  else
    call_answer_text (self, g_bytes_new (text, strlen (text)));
  return 0;
}

static void
call_start_bus (Call *self, sd_bus *bus, const SbxToolIdentity *identity, GBytes *input)
{
  __attribute__ ((cleanup (sd_bus_message_unrefp))) sd_bus_message *message = NULL;
  gsize n_bytes;
  const void *bytes = g_bytes_get_data (input, &n_bytes);
  const char *principal = identity->principal != NULL ? identity->principal : "";
  gboolean sent =
    bus != NULL
    && sd_bus_message_new_method_call (bus, &message, self->target->bus_name, self->target->bus_path,
                                       self->target->bus_interface, self->target->bus_method)
         >= 0
    && sd_bus_message_append (message, "sssss", identity->turn, identity->channel, identity->speaker_id,
                              identity->speaker_name, principal)
         >= 0
    && sd_bus_message_append_array (message, 'y', bytes, n_bytes) >= 0
    && sd_bus_call_async (bus, &self->slot, message, on_provider_answer, self,
                          ((uint64_t) self->target->deadline_msec + BUS_SLACK_MSEC) * 1000)
         >= 0;

  if (!sent)
    call_answer (self, SBX_FAILURE_TOOL_FAILED);
}

void
sbx_tool_call_async (SbxToolTarget *target, sd_bus *bus, const SbxToolIdentity *identity, GBytes *input,
                     GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  Call *self = g_new0 (Call, 1);

  self->task = g_task_new (NULL, NULL, callback, user_data);
  self->target = sbx_tool_target_ref (target);
  self->fd = -1;
  g_task_set_task_data (self->task, self, call_free);
  if (target->running >= SBX_TOOL_MAX_RUNNING)
    {
      call_answer (self, SBX_FAILURE_TOOL_BUSY);
      return;
    }
  target->running++;
  self->counted = TRUE;
  sbx_task_guard_arm (&self->guard, target->deadline_msec, cancellable, on_call_due, self);
  if (target->socket != NULL)
    call_start_socket (self, identity, input);
  else
    call_start_bus (self, bus, identity, input);
}

SbxFailure
sbx_tool_call_finish (GAsyncResult *result, GBytes **ret_text)
{
  Call *self = g_task_get_task_data (G_TASK (result));
  SbxFailure failure = (SbxFailure) g_task_propagate_int (G_TASK (result), NULL);

  if (failure == SBX_FAILURE_NONE)
    *ret_text = g_steal_pointer (&self->text);
  return failure;
}
