/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "daemon/guard.h"

#include "base/names.h"
#include "base/task-guard.h"
#include "base/text.h"
#include "bus/errors.h"
#include "bus/polkit.h"
#include "daemon/rights.h"

#define LOOKUP_MSEC 10000u

/* Of one caller, and of all: far more than an honest bot has, since a verdict takes milliseconds. */
#define MAX_CHECKS_PER_CALLER 32u
/* A bus has 128 open calls for each connection by default (max_replies_per_connection=), and starting a turn
 * takes some too. */
#define MAX_CHECKS 96u
/* Those that may ask a person: whoever has an agent of their own decides how long that takes. */
#define MAX_DIALOGUES 16u
/* One user has at most half of either, however many connections they open. */
#define MAX_CHECKS_PER_USER    (MAX_CHECKS / 2)
#define MAX_DIALOGUES_PER_USER (MAX_DIALOGUES / 2)
/* With so few under way, polkit is asked before it is known whose check it is. */
#define CALM 16u

typedef struct {
  guint n_checks;
  guint n_dialogues;
} User;

struct _SbxGuard {
  GHashTable *callers; /* name -> number of checks under way */
  GHashTable *users;   /* uid -> User: of those whose uid is known */
  guint n_checks;
  guint n_dialogues; /* of them */
};

typedef struct {
  SbxGuard *owner;
  char *caller; /* NULL: not counted */
  gboolean dialogue;
  gboolean asked_again;
  gboolean one_by_one; /* polkit is asked when the uid is known, not beside that */
  guint n_awaited;     /* of the caller's uid and polkit's verdict */
  gboolean counted;    /* with its user */
  gboolean uid_known;
  gboolean allowed;
  GTask *task; /* a reference, given up with the verdict */
  sd_bus_message *message;
  char *action;
  char **details;
  GCancellable *cancellable;
  sd_bus_slot *slot;
  SbxTaskGuard guard;
  guint32 uid;
} Check;

SbxGuard *
sbx_guard_new (void)
{
  SbxGuard *self = g_new0 (SbxGuard, 1);

  self->callers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->users = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  return self;
}

void
sbx_guard_free (SbxGuard *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->callers);
  g_hash_table_unref (self->users);
  g_free (self);
}

static gboolean
is_private (sd_bus_message *message)
{
  return sd_bus_is_bus_client (sd_bus_message_get_bus (message)) <= 0;
}

char *
sbx_caller_name (sd_bus_message *message)
{
  /* A sender that a peer gives itself is worth nothing. */
  if (is_private (message))
    return g_strdup_printf ("peer %p", (void *) sd_bus_message_get_bus (message));
  return g_strdup (sd_bus_message_get_sender (message));
}

static gboolean
guard_enter (SbxGuard *self, const char *caller, gboolean dialogue)
{
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (self->callers, caller));

  if (n >= MAX_CHECKS_PER_CALLER || self->n_checks >= MAX_CHECKS
      || (dialogue && self->n_dialogues >= MAX_DIALOGUES))
    return FALSE;
  g_hash_table_insert (self->callers, g_strdup (caller), GUINT_TO_POINTER (n + 1));
  self->n_checks++;
  self->n_dialogues += dialogue ? 1 : 0;
  return TRUE;
}

static void
guard_leave (SbxGuard *self, const char *caller, gboolean dialogue)
{
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (self->callers, caller));

  self->n_checks--;
  self->n_dialogues -= dialogue ? 1 : 0;
  if (n > 1)
    g_hash_table_insert (self->callers, g_strdup (caller), GUINT_TO_POINTER (n - 1));
  else
    g_hash_table_remove (self->callers, caller);
}

static gboolean
user_enter (SbxGuard *self, guint32 uid, gboolean dialogue)
{
  User *user = g_hash_table_lookup (self->users, GUINT_TO_POINTER (uid));

  if (user == NULL)
    {
      user = g_new0 (User, 1);
      g_hash_table_insert (self->users, GUINT_TO_POINTER (uid), user);
    }
  if (user->n_checks >= MAX_CHECKS_PER_USER || (dialogue && user->n_dialogues >= MAX_DIALOGUES_PER_USER))
    return FALSE;
  user->n_checks++;
  user->n_dialogues += dialogue ? 1 : 0;
  return TRUE;
}

static void
user_leave (SbxGuard *self, guint32 uid, gboolean dialogue)
{
  User *user = g_hash_table_lookup (self->users, GUINT_TO_POINTER (uid));

  user->n_dialogues -= dialogue ? 1 : 0;
  if (--user->n_checks == 0)
    g_hash_table_remove (self->users, GUINT_TO_POINTER (uid));
}

static void
check_free (gpointer data)
{
  Check *self = data;

  sbx_task_guard_disarm (&self->guard);
  sd_bus_slot_unref (self->slot);
  sd_bus_message_unref (self->message);
  g_free (self->action);
  g_strfreev (self->details);
  g_clear_object (&self->cancellable);
  g_free (self);
}

static void
check_end (Check *self, gboolean allowed)
{
  g_autoptr (GTask) task = g_steal_pointer (&self->task);

  sbx_task_guard_disarm (&self->guard);
  self->slot = sd_bus_slot_unref (self->slot);
  if (self->caller != NULL)
    guard_leave (self->owner, self->caller, self->dialogue);
  if (self->counted)
    user_leave (self->owner, self->uid, self->dialogue);
  g_clear_pointer (&self->caller, g_free);
  g_task_return_boolean (task, allowed);
}

static void
reply_unknown (Check *self)
{
  (void) sd_bus_reply_method_errorf (self->message, SD_BUS_ERROR_ACCESS_DENIED,
                                     "The caller could not be looked up");
}

static void
reply_too_busy (Check *self)
{
  (void) sd_bus_reply_method_errorf (self->message, sbx_bus_error_name (SBX_BUS_ERROR_TOO_BUSY),
                                     "Too many calls at once; wait for answers before you ask more");
}

/* One of the two is here. A refusal by polkit has been answered already. */
static void
check_settle (Check *self)
{
  if (--self->n_awaited > 0)
    return;
  if (self->allowed && !self->uid_known)
    reply_unknown (self);
  check_end (self, self->allowed && self->uid_known);
}

static void polkit_done (GObject *source, GAsyncResult *result, gpointer user_data);

static void
ask_polkit (Check *self)
{
  sbx_polkit_check_async (self->message, self->action, (const char *const *) self->details, self->cancellable,
                          polkit_done, self);
}

static void
polkit_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Check *self = user_data;
  g_autoptr (GError) error = NULL;
  SbxPolkitVerdict verdict = SBX_POLKIT_NO;
  gboolean fine = sbx_polkit_check_finish (result, &verdict, &error);

  self->allowed = fine && verdict == SBX_POLKIT_YES;
  if (self->allowed)
    {
      check_settle (self);
      return;
    }
  /* polkit 122 at times takes a rule's script that has ended for one that runs on: it waits for 15 s, says
   * "Terminating runaway script" in the journal, and then no to what the rules allow. A real no is said
   * twice. */
  if (fine && verdict == SBX_POLKIT_NO && !self->dialogue && !self->asked_again)
    {
      self->asked_again = TRUE;
      ask_polkit (self);
      return;
    }
  (void) sbx_polkit_reply_refused (self->message, fine ? verdict : SBX_POLKIT_NO, error);
  check_settle (self);
}

/* The uid is known, or will not be. */
static void
looked_up (Check *self)
{
  if (self->uid_known)
    self->counted = user_enter (self->owner, self->uid, self->dialogue);
  if (!self->one_by_one)
    {
      check_settle (self);
      return;
    }
  if (self->counted)
    {
      self->n_awaited--;
      ask_polkit (self);
      return;
    }
  if (self->uid_known)
    reply_too_busy (self);
  else
    reply_unknown (self);
  check_end (self, FALSE);
}

static void
on_lookup_due (gpointer user_data, gboolean cancelled)
{
  Check *self = user_data;

  self->slot = sd_bus_slot_unref (self->slot);
  looked_up (self);
}

static int
on_uid (sd_bus_message *answer, void *user_data, sd_bus_error *ret_error)
{
  Check *self = user_data;

  self->uid_known =
    !sd_bus_message_is_method_error (answer, NULL) && sd_bus_message_read (answer, "u", &self->uid) >= 0;
  sbx_task_guard_disarm (&self->guard);
  looked_up (self);
  return 0;
}

/* A copy, with what polkit's messages show of a channel: rules get the key as it is, but a key may hold
 * nearly anything, and whoever reads the message must not take a part of it for our words. */
static char **
copy_details (const char *const *details)
{
  g_autoptr (GStrvBuilder) copy = g_strv_builder_new ();

  for (gsize i = 0; details != NULL && details[i] != NULL; i += 2)
    {
      g_autofree char *shown = g_str_equal (details[i], "channel") ? sbx_text_shown (details[i + 1]) : NULL;

      g_strv_builder_add_many (copy, details[i], details[i + 1], NULL);
      if (shown != NULL)
        g_strv_builder_add_many (copy, "channel-shown", shown, NULL);
    }
  return g_strv_builder_end (copy);
}

static void
judge_peer (Check *self)
{
  SbxStanding standing;
  int fd = sd_bus_get_fd (sd_bus_message_get_bus (self->message));
  gboolean allowed =
    fd >= 0 && sbx_rights_of_socket (fd, &self->uid, &standing) && sbx_rights_allow (&standing, self->action);

  if (!allowed)
    (void) sd_bus_reply_method_errorf (self->message, SD_BUS_ERROR_ACCESS_DENIED,
                                       "Access denied: on this socket it takes the group " SBX_OPERATORS_GROUP
                                       " (or " SBX_BOTS_GROUP ", for running turns)");
  check_end (self, allowed);
}

void
sbx_guard_check_async (SbxGuard *guard, sd_bus_message *message, const char *action,
                       const char *const *details, GCancellable *cancellable, GAsyncReadyCallback callback,
                       gpointer user_data)
{
  Check *self = g_new0 (Check, 1);

  self->task = g_task_new (NULL, NULL, callback, user_data);
  self->message = sd_bus_message_ref (message);
  self->action = g_strdup (action);
  self->details = copy_details (details);
  self->cancellable = cancellable != NULL ? g_object_ref (cancellable) : NULL;
  g_task_set_task_data (self->task, self, check_free);
  self->owner = guard;
  self->caller = sbx_caller_name (message);
  self->dialogue = !is_private (message) && sd_bus_message_get_allow_interactive_authorization (message) > 0;
  if (!guard_enter (guard, self->caller, self->dialogue))
    {
      g_clear_pointer (&self->caller, g_free);
      reply_too_busy (self);
      check_end (self, FALSE);
      return;
    }
  if (is_private (message))
    {
      judge_peer (self);
      return;
    }
  self->n_awaited = action != NULL ? 2 : 1;
  self->allowed = action == NULL;
  self->one_by_one = action != NULL && (self->dialogue || guard->n_checks > CALM);
  if (action != NULL && !self->one_by_one)
    ask_polkit (self);
  sbx_task_guard_arm (&self->guard, LOOKUP_MSEC, cancellable, on_lookup_due, self);
  if (sd_bus_call_method_async (sd_bus_message_get_bus (message), &self->slot, "org.freedesktop.DBus",
                                "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixUser",
                                on_uid, self, "s", sd_bus_message_get_sender (message))
      >= 0)
    return;
  sbx_task_guard_disarm (&self->guard);
  looked_up (self);
}

gboolean
sbx_guard_check_finish (GAsyncResult *result, guint32 *ret_uid)
{
  Check *self = g_task_get_task_data (G_TASK (result));

  *ret_uid = self->uid;
  return g_task_propagate_boolean (G_TASK (result), NULL);
}
