/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/systemd-units.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

#include "bus/bus-auto.h"
#include "bus/units-private.h"
#include "test-bus.h"

#define GROUP "/sandboxd.slice/sandboxd-turn.slice/t.scope"

/* How the peer plays systemd. */
typedef struct {
  const char *name;
  const char *refusal;     /* error name of StartTransientUnit */
  const char *job;         /* the job's result; NULL: it never ends */
  gboolean signal_first;   /* the job ends before the call is answered */
  gboolean hold;           /* no answer at all */
  gboolean foreign_signal; /* before it all, somebody else says the job failed */
  const char *group;       /* what ControlGroup says */
  gint code;               /* SbxUnitsError, -1: started */
} Play;

typedef struct {
  TestBus bus;
  SbxUnits *units;
  char *proc;
  const Play *play;
  GAsyncResult *result;
  char *seen; /* the last simple call, as text */
} Fixture;

static const Play plays[] = {
  { .name = "started", .job = "done", .group = GROUP, .code = -1 },
  { .name = "signal-first", .job = "done", .signal_first = TRUE, .group = GROUP, .code = -1 },
  { .name = "foreign-signal", .job = "done", .foreign_signal = TRUE, .group = GROUP, .code = -1 },
  { .name = "no-signal", .group = GROUP, .code = -1 },
  { .name = "no-answer", .refusal = "org.freedesktop.DBus.Error.NoReply", .group = GROUP, .code = -1 },
  { .name = "job-failed", .job = "failed", .code = SBX_UNITS_ERROR_FAILED },
  { .name = "other-group",
    .job = "done",
    .group = "/system.slice/other.service",
    .code = SBX_UNITS_ERROR_NOT_MEMBER },
  { .name = "no-group", .job = "done", .group = "", .code = SBX_UNITS_ERROR_NOT_MEMBER },
  { .name = "root-group", .job = "done", .group = "/", .code = SBX_UNITS_ERROR_NOT_MEMBER },
  { .name = "exists", .refusal = "org.freedesktop.systemd1.UnitExists", .code = SBX_UNITS_ERROR_NAME_TAKEN },
  { .name = "denied", .refusal = "org.freedesktop.DBus.Error.AccessDenied", .code = SBX_UNITS_ERROR_DENIED },
  { .name = "interactive",
    .refusal = "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired",
    .code = SBX_UNITS_ERROR_DENIED },
  { .name = "other-refusal",
    .refusal = "org.freedesktop.DBus.Error.InvalidArgs",
    .code = SBX_UNITS_ERROR_FAILED },
};

static void
emit_job_removed (sd_bus *from, const char *to, const char *unit, const char *result)
{
  g_autoptr (sd_bus_message) signal = NULL;

  g_assert_cmpint (
    sd_bus_message_new_signal (from, &signal, SBX_SYSTEMD_PATH, SBX_SYSTEMD_MANAGER, "JobRemoved"), >=, 0);
  g_assert_cmpint (sd_bus_message_append (signal, "uoss", 7, "/org/freedesktop/systemd1/job/7", unit, result),
                   >=, 0);
  if (to != NULL)
    g_assert_cmpint (sd_bus_message_set_destination (signal, to), >=, 0);
  g_assert_cmpint (sd_bus_send (from, signal, NULL), >=, 0);
  g_assert_cmpint (sd_bus_flush (from), >=, 0);
}

static int
method_start (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Fixture *f = user_data;
  const Play *play = f->play;
  const char *unit = NULL;
  const char *mode = NULL;

  g_assert_cmpint (sd_bus_message_read (message, "ss", &unit, &mode), >=, 0);
  g_assert_cmpstr (mode, ==, "fail");
  if (play->hold)
    return 1;
  if (play->refusal != NULL)
    return sd_bus_error_set (ret_error, play->refusal, "because");
  if (play->foreign_signal)
    {
      sd_bus *stranger = test_bus_connect (&f->bus);
      const char *us = NULL;

      g_assert_cmpint (sd_bus_get_unique_name (f->bus.client, &us), >=, 0);
      emit_job_removed (stranger, us, unit, "failed");
      sd_bus_flush_close_unref (stranger);
    }
  if (play->signal_first && play->job != NULL)
    emit_job_removed (f->bus.peer, NULL, unit, play->job);
  g_assert_cmpint (sd_bus_reply_method_return (message, "o", "/org/freedesktop/systemd1/job/7"), >=, 0);
  if (!play->signal_first && play->job != NULL)
    emit_job_removed (f->bus.peer, NULL, unit, play->job);
  return 1;
}

static int
method_simple (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  Fixture *f = user_data;
  const char *unit = NULL;

  if (sd_bus_message_is_method_call (message, NULL, "Subscribe"))
    return sd_bus_reply_method_return (message, NULL);
  g_assert_cmpint (sd_bus_message_read (message, "s", &unit), >=, 0);
  g_free (f->seen);
  f->seen = g_strdup_printf ("%s %s", sd_bus_message_get_member (message), unit);
  if (g_str_equal (unit, "gone.scope"))
    return sd_bus_error_setf (ret_error, "org.freedesktop.systemd1.NoSuchUnit", "Unit %s not loaded.", unit);
  if (sd_bus_message_is_method_call (message, NULL, "KillUnit"))
    {
      const char *who = NULL;
      int number = 0;

      g_assert_cmpint (sd_bus_message_read (message, "si", &who, &number), >=, 0);
      g_assert_cmpstr (who, ==, "all");
      g_assert_cmpint (number, ==, SIGKILL);
    }
  if (sd_bus_message_is_method_call (message, NULL, "StopUnit"))
    return sd_bus_reply_method_return (message, "o", "/org/freedesktop/systemd1/job/8");
  return sd_bus_reply_method_return (message, NULL);
}

static int
method_list (sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
  return sd_bus_reply_method_return (message, "a(ssssssouso)", 2, "a.scope", "A", "loaded", "active",
                                     "running", "", "/a", 0u, "", "/", "b.scope", "B", "loaded", "failed",
                                     "failed", "", "/b", 0u, "", "/");
}

static int
property_get_group (sd_bus *bus, const char *path, const char *interface, const char *property,
                    sd_bus_message *reply, void *user_data, sd_bus_error *ret_error)
{
  Fixture *f = user_data;

  return sd_bus_message_append (reply, "s", f->play->group);
}

static const sd_bus_vtable manager_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_METHOD ("Subscribe", NULL, NULL, method_simple, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("StartTransientUnit", "ssa(sv)a(sa(sv))", "o", method_start, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("KillUnit", "ssi", NULL, method_simple, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("StopUnit", "ss", "o", method_simple, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("ResetFailedUnit", "s", NULL, method_simple, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_METHOD ("ListUnitsByPatterns", "asas", "a(ssssssouso)", method_list, SD_BUS_VTABLE_UNPRIVILEGED),
  SD_BUS_VTABLE_END,
};

static const sd_bus_vtable scope_vtable[] = {
  SD_BUS_VTABLE_START (0),
  SD_BUS_PROPERTY ("ControlGroup", "s", property_get_group, 0, 0),
  SD_BUS_VTABLE_END,
};

static void
set_up (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *dir = NULL;
  g_autofree char *file = NULL;

  f->play = data != NULL ? data : &plays[0];
  test_bus_set_up (&f->bus, SBX_SYSTEMD_NAME);
  g_assert_cmpint (
    sd_bus_add_object_vtable (f->bus.peer, NULL, SBX_SYSTEMD_PATH, SBX_SYSTEMD_MANAGER, manager_vtable, f),
    >=, 0);
  g_assert_cmpint (sd_bus_add_fallback_vtable (f->bus.peer, NULL, SBX_SYSTEMD_PATH "/unit",
                                               "org.freedesktop.systemd1.Scope", scope_vtable, NULL, f),
                   >=, 0);
  f->units = sbx_units_new (f->bus.client, &error);
  g_assert_no_error (error);

  f->proc = g_dir_make_tmp ("proc-XXXXXX", NULL);
  dir = g_build_filename (f->proc, "42", NULL);
  file = g_build_filename (dir, "cgroup", NULL);
  g_assert_cmpint (g_mkdir (dir, 0700), ==, 0);
  g_assert_true (g_file_set_contents (file, "0::" GROUP "\n", -1, NULL));
  sbx_units_set_proc (f->units, f->proc);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  g_autofree char *dir = g_build_filename (f->proc, "42", NULL);
  g_autofree char *file = g_build_filename (dir, "cgroup", NULL);

  g_clear_object (&f->result);
  sbx_units_free (f->units);
  test_bus_tear_down (&f->bus);
  g_unlink (file);
  g_rmdir (dir);
  g_rmdir (f->proc);
  g_free (f->proc);
  g_free (f->seen);
}

static void
start (Fixture *f, GCancellable *cancellable)
{
  sbx_units_start_scope_async (f->units,
                               &(SbxScopeSpec){
                                 .name = "t-1.scope",
                                 .description = "A turn",
                                 .slice = "sandboxd-turn.slice",
                                 .pid = 42,
                                 .runtime_max_usec = 5000000,
                                 .stop_timeout_usec = 500000,
                                 .tasks_max = 4,
                               },
                               cancellable, keep_result, &f->result);
}

static void
test_start (Fixture *f, gconstpointer data)
{
  g_autofree char *group = NULL;
  g_autoptr (GError) error = NULL;

  start (f, NULL);
  if (sbx_units_start_scope_finish (await_result (&f->result), &group, &error))
    {
      g_assert_cmpint (f->play->code, ==, -1);
      g_assert_cmpstr (group, ==, GROUP);
    }
  else
    {
      g_assert_error (error, SBX_UNITS_ERROR, f->play->code);
    }
}

static void
test_process_gone (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  sbx_units_set_proc (f->units, "/nonexistent");
  start (f, NULL);
  g_assert_false (sbx_units_start_scope_finish (await_result (&f->result), NULL, &error));
  g_assert_error (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_NOT_MEMBER);
}

static gboolean
cancel (gpointer user_data)
{
  g_cancellable_cancel (user_data);
  return G_SOURCE_REMOVE;
}

static gboolean
free_units (gpointer user_data)
{
  Fixture *f = user_data;

  g_clear_pointer (&f->units, sbx_units_free);
  return G_SOURCE_REMOVE;
}

/* A cancel and the loss of the bus, while the call or while the job runs. */
static void
test_stopped (Fixture *f, gconstpointer data)
{
  static const Play waits[] = { { .hold = TRUE }, { .job = NULL } };

  for (gsize i = 0; i < 2 * G_N_ELEMENTS (waits); i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;

      f->play = &waits[i % 2];
      start (f, cancellable);
      if (i < 2)
        g_timeout_add (30, cancel, cancellable);
      else
        g_timeout_add (30, free_units, f);
      g_assert_false (sbx_units_start_scope_finish (await_result (&f->result), NULL, &error));
      if (i < 2)
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      else
        g_assert_error (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_BUS);
      g_clear_object (&f->result);
      if (f->units == NULL)
        f->units = sbx_units_new (f->bus.client, NULL);
    }
}

static void
on_unit_changed (gpointer user_data)
{
  (*(guint *) user_data)++;
}

static void
emit_unit_changed (sd_bus *from, const char *unit, const char *to)
{
  g_autofree char *path = g_strconcat (SBX_SYSTEMD_PATH "/unit/", unit, NULL);
  g_autoptr (sd_bus_message) signal = NULL;

  g_assert_cmpint (
    sd_bus_message_new_signal (from, &signal, path, "org.freedesktop.DBus.Properties", "PropertiesChanged"),
    >=, 0);
  g_assert_cmpint (sd_bus_message_append (signal, "sa{sv}as", "org.freedesktop.systemd1.Unit", 0, 0), >=, 0);
  if (to != NULL)
    g_assert_cmpint (sd_bus_message_set_destination (signal, to), >=, 0);
  g_assert_cmpint (sd_bus_send (from, signal, NULL), >=, 0);
  g_assert_cmpint (sd_bus_flush (from), >=, 0);
}

/* Of that unit alone, and from systemd alone. */
static void
test_watch (Fixture *f, gconstpointer data)
{
  sd_bus *stranger = test_bus_connect (&f->bus);
  g_autoptr (GError) error = NULL;
  const char *us = NULL;
  guint n = 0;

  g_assert_cmpint (sd_bus_get_unique_name (f->bus.client, &us), >=, 0);
  g_assert_true (sbx_units_watch (f->units, "some-thing.service", on_unit_changed, &n, &error));
  /* The manager is known, and the bus has the rule, when it has answered something. */
  start (f, NULL);
  g_assert_true (sbx_units_start_scope_finish (await_result (&f->result), NULL, &error));
  emit_unit_changed (stranger, "some_2dthing_2eservice", us);
  emit_unit_changed (f->bus.peer, "other_2eservice", NULL);
  emit_unit_changed (f->bus.peer, "some_2dthing_2eservice", NULL);
  while (n == 0)
    g_main_context_iteration (NULL, TRUE);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (n, ==, 1);
  sd_bus_flush_close_unref (stranger);
}

static void
test_manager_gone (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (sd_bus_release_name (f->bus.peer, SBX_SYSTEMD_NAME), >=, 0);
  start (f, NULL);
  g_assert_false (sbx_units_start_scope_finish (await_result (&f->result), NULL, &error));
  g_assert_error (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_BUS);
}

static void
do_verb (Fixture *f, SbxUnitsVerb verb, const char *unit, const char *seen)
{
  g_autoptr (GError) error = NULL;

  sbx_units_do_async (f->units, verb, unit, 0, NULL, keep_result, &f->result);
  g_assert_true (sbx_units_do_finish (await_result (&f->result), &error));
  g_assert_no_error (error);
  g_assert_cmpstr (f->seen, ==, seen);
  g_clear_object (&f->result);
}

static void
test_verbs (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  do_verb (f, SBX_UNITS_KILL, "a.scope", "KillUnit a.scope");
  do_verb (f, SBX_UNITS_STOP, "a.scope", "StopUnit a.scope");
  do_verb (f, SBX_UNITS_RESET_FAILED, "a.scope", "ResetFailedUnit a.scope");
  sbx_units_do_async (f->units, SBX_UNITS_KILL, "gone.scope", 0, NULL, keep_result, &f->result);
  g_assert_false (sbx_units_do_finish (await_result (&f->result), &error));
  g_assert_error (error, SBX_UNITS_ERROR, SBX_UNITS_ERROR_NO_UNIT);
}

static void
test_list (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) list = NULL;
  const SbxUnitInfo *second = NULL;

  sbx_units_list_async (f->units, "*.scope", 0, NULL, keep_result, &f->result);
  list = sbx_units_list_finish (await_result (&f->result), &error);
  g_assert_no_error (error);
  g_assert_cmpuint (list->len, ==, 2);
  second = g_ptr_array_index (list, 1);
  g_assert_cmpstr (second->name, ==, "b.scope");
  g_assert_cmpstr (second->active_state, ==, "failed");
}

static void
test_cgroups (void)
{
  static const struct {
    const char *text;
    const char *group;
    gboolean is;
  } cases[] = {
    { "0::/a/b.scope\n", "/a/b.scope", TRUE },
    { "12:pids:/x\n1:name=systemd:/a/b.scope\n0::/\n", "/a/b.scope", TRUE },
    { "12:pids:/a/b.scope\n1:name=systemd:/x\n", "/a/b.scope", FALSE },
    { "0::/a/b.scope/below\n", "/a/b.scope", FALSE },
    { "0::/a\n", "/a/b.scope", FALSE },
    { "0::/\n", "/", FALSE },
    { "0::\n", "", FALSE },
    { "", "/a", FALSE },
    { "garbage\n\n:", "/a", FALSE },
    { "0::/a:b\n", "/a:b", TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (sbx_units_cgroup_is (cases[i].text, cases[i].group), ==, cases[i].is);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (plays); i++)
    {
      g_autofree char *path = g_strconcat ("/bus/units/start/", plays[i].name, NULL);

      g_test_add (path, Fixture, &plays[i], set_up, test_start, tear_down);
    }
  g_test_add ("/bus/units/process-gone", Fixture, NULL, set_up, test_process_gone, tear_down);
  g_test_add ("/bus/units/stopped", Fixture, NULL, set_up, test_stopped, tear_down);
  g_test_add ("/bus/units/watch", Fixture, NULL, set_up, test_watch, tear_down);
  g_test_add ("/bus/units/manager-gone", Fixture, NULL, set_up, test_manager_gone, tear_down);
  g_test_add ("/bus/units/verbs", Fixture, NULL, set_up, test_verbs, tear_down);
  g_test_add ("/bus/units/list", Fixture, NULL, set_up, test_list, tear_down);
  g_test_add_func ("/bus/units/cgroups", test_cgroups);
  return g_test_run ();
}
