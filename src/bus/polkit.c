/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/polkit.h"

#include <errno.h>

#include "bus/bus-auto.h"
#include "bus/bus-call.h"

#define POLKIT_NAME            "org.freedesktop.PolicyKit1"
#define POLKIT_PATH            "/org/freedesktop/PolicyKit1/Authority"
#define POLKIT_INTERFACE       "org.freedesktop.PolicyKit1.Authority"
#define FLAG_ALLOW_INTERACTION 1u

#define DBUS_ACCESS_DENIED "org.freedesktop.DBus.Error.AccessDenied"
#define DBUS_INTERACTIVE   "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"

typedef struct {
  sd_bus *bus;
  sd_bus_message *message;
  char *cancellation_id;
} Check;

G_DEFINE_QUARK (sbx - polkit - error - quark, sbx_polkit_error)

static void
check_free (Check *self)
{
  sd_bus_unref (self->bus);
  sd_bus_message_unref (self->message);
  g_free (self->cancellation_id);
  g_free (self);
}

static int
append_details (sd_bus_message *call, const char *const *details)
{
  int r = sd_bus_message_open_container (call, 'a', "{ss}");

  for (gsize i = 0; r >= 0 && details != NULL && details[i] != NULL; i += 2)
    r = sd_bus_message_append (call, "{ss}", details[i], details[i + 1]);
  return r < 0 ? r : sd_bus_message_close_container (call);
}

static int
make_call (Check *self, const char *action, const char *const *details, guint32 flags,
           sd_bus_message **ret_call)
{
  const char *sender = sd_bus_message_get_sender (self->message);
  g_autoptr (sd_bus_message) call = NULL;
  int r = 0;

  if (sender == NULL)
    return -ENODATA;
  r = sd_bus_message_new_method_call (self->bus, &call, POLKIT_NAME, POLKIT_PATH, POLKIT_INTERFACE,
                                      "CheckAuthorization");
  if (r < 0)
    return r;
  r = sd_bus_message_append (call, "(sa{sv})s", "system-bus-name", 1, "name", "s", sender, action);
  if (r < 0)
    return r;
  r = append_details (call, details);
  if (r < 0)
    return r;
  r = sd_bus_message_append (call, "us", flags, self->cancellation_id);
  if (r < 0)
    return r;
  *ret_call = g_steal_pointer (&call);
  return 0;
}

/* So that no dialogue stays behind. Nobody waits for the answer. */
static void
tell_cancelled (Check *self)
{
  g_autoptr (sd_bus_message) call = NULL;

  if (sd_bus_message_new_method_call (self->bus, &call, POLKIT_NAME, POLKIT_PATH, POLKIT_INTERFACE,
                                      "CancelCheckAuthorization")
        < 0
      || sd_bus_message_append (call, "s", self->cancellation_id) < 0
      || sd_bus_message_set_expect_reply (call, 0) < 0)
    return;
  (void) sd_bus_send (self->bus, call, NULL);
}

static gboolean
is_absent (sd_bus_message *answer)
{
  return sd_bus_message_is_method_error (answer, "org.freedesktop.DBus.Error.ServiceUnknown")
         || sd_bus_message_is_method_error (answer, "org.freedesktop.DBus.Error.NameHasNoOwner")
         || sd_bus_message_is_method_error (answer, "org.freedesktop.systemd1.NoSuchUnit")
         || sd_bus_message_is_method_error (answer, "org.freedesktop.systemd1.UnitMasked")
         || g_str_has_prefix (sd_bus_message_get_error (answer)->name, "org.freedesktop.DBus.Error.Spawn.");
}

static gboolean
read_verdict (sd_bus_message *answer, SbxPolkitVerdict *ret_verdict, GError **error)
{
  int authorized = 0;
  int challenge = 0;

  if (sd_bus_message_is_method_error (answer, NULL))
    {
      const sd_bus_error *cause = sd_bus_message_get_error (answer);

      g_set_error (error, SBX_POLKIT_ERROR,
                   is_absent (answer) ? SBX_POLKIT_ERROR_ABSENT : SBX_POLKIT_ERROR_FAILED,
                   "polkit cannot be asked: %s", cause->message != NULL ? cause->message : cause->name);
      return FALSE;
    }
  if (sd_bus_message_enter_container (answer, 'r', "bba{ss}") < 0
      || sd_bus_message_read (answer, "bb", &authorized, &challenge) < 0)
    {
      g_set_error_literal (error, SBX_POLKIT_ERROR, SBX_POLKIT_ERROR_FAILED,
                           "polkit's verdict cannot be read.");
      return FALSE;
    }
  *ret_verdict = SBX_POLKIT_NO;
  if (authorized)
    *ret_verdict = SBX_POLKIT_YES;
  else if (challenge)
    *ret_verdict = SBX_POLKIT_CHALLENGE;
  return TRUE;
}

static void
check_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) task = user_data;
  Check *self = g_task_get_task_data (task);
  GError *error = NULL;
  SbxPolkitVerdict verdict = SBX_POLKIT_NO;
  g_autoptr (sd_bus_message) answer = sbx_bus_call_finish (result, &error);

  if (answer != NULL)
    {
      if (read_verdict (answer, &verdict, &error))
        g_task_return_int (task, verdict);
      else
        g_task_return_error (task, error);
      return;
    }
  tell_cancelled (self);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_task_return_error (task, error);
      return;
    }
  g_task_return_new_error (task, SBX_POLKIT_ERROR,
                           g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)
                             ? SBX_POLKIT_ERROR_TIMEOUT
                             : SBX_POLKIT_ERROR_FAILED,
                           "polkit did not judge: %s", error->message);
  g_error_free (error);
}

void
sbx_polkit_check_async (sd_bus_message *message, const char *action, const char *const *details,
                        GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  static guint64 last_id = 0;
  GTask *task = g_task_new (NULL, cancellable, callback, user_data);
  Check *self = g_new0 (Check, 1);
  gboolean interactive = sd_bus_message_get_allow_interactive_authorization (message) > 0;
  g_autoptr (sd_bus_message) call = NULL;
  int r = 0;

  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, self, (GDestroyNotify) check_free);
  self->message = sd_bus_message_ref (message);
  self->bus = sd_bus_ref (sd_bus_message_get_bus (message));
  self->cancellation_id = g_strdup_printf ("sandboxd-%" G_GUINT64_FORMAT, ++last_id);
  r = make_call (self, action, details, interactive ? FLAG_ALLOW_INTERACTION : 0, &call);
  if (r < 0)
    {
      g_task_return_new_error (task, SBX_POLKIT_ERROR, SBX_POLKIT_ERROR_FAILED, "polkit cannot be asked: %s",
                               r == -ENODATA ? "the caller has no name on the bus." : g_strerror (-r));
      g_object_unref (task);
      return;
    }
  sbx_bus_call_async (self->bus, call,
                      interactive ? SBX_POLKIT_INTERACTIVE_TIMEOUT_MS : SBX_POLKIT_TIMEOUT_MS, cancellable,
                      check_done, task);
}

gboolean
sbx_polkit_check_finish (GAsyncResult *result, SbxPolkitVerdict *ret_verdict, GError **error)
{
  gboolean failed = g_task_had_error (G_TASK (result));
  gssize verdict = g_task_propagate_int (G_TASK (result), error);

  if (failed)
    return FALSE;
  *ret_verdict = (SbxPolkitVerdict) verdict;
  return TRUE;
}

int
sbx_polkit_reply_refused (sd_bus_message *message, SbxPolkitVerdict verdict, const GError *error)
{
  if (error != NULL)
    return sd_bus_reply_method_errorf (message, DBUS_ACCESS_DENIED, "Access denied: %s", error->message);
  if (verdict == SBX_POLKIT_CHALLENGE)
    return sd_bus_reply_method_errorf (message, DBUS_INTERACTIVE, "Interactive authentication required.");
  return sd_bus_reply_method_errorf (message, DBUS_ACCESS_DENIED, "Access denied.");
}
