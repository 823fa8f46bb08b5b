/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <string.h>
#include <unistd.h>

#include "base/names.h"
#include "ctl/check.h"

#define SYSTEMD      "org.freedesktop.systemd1"
#define SYSTEMD_PATH "/org/freedesktop/systemd1"
#define POLKIT       "org.freedesktop.PolicyKit1"
/* Nobody's channel: a platform of that name is no bot's. */
#define CHANNEL  "sandboxctl:check"
#define QUESTION "This is a self-test of the installation. Answer with one short sentence."
/* The longest deadline, and a little. */
#define TURN_TIMEOUT_USEC (660 * (guint64) G_USEC_PER_SEC)

/* Calls and adds a failure of it; NULL then. */
static SbxMessage *
call (SbxCheckList *list, SbxCtl *ctl, const char *name, const char *what, SbxMessage *message,
      guint64 timeout_usec)
{
  sd_bus_error error = SD_BUS_ERROR_NULL;
  SbxMessage *reply = NULL;
  int r = sd_bus_call (ctl->bus, message, timeout_usec, &error, &reply);

  if (r < 0)
    {
      SbxExit status;
      g_autofree char *text =
        sbx_ctl_explain (error.name, error.message != NULL ? error.message : g_strerror (-r), what, &status);
      char *fix = strchr (text, '\n');

      if (fix != NULL)
        *fix++ = '\0';
      sbx_check_list_add (list, status == SBX_EXIT_DENIED ? SBX_CHECK_NOT_MADE : SBX_CHECK_FAILED, name, fix,
                          "%s", text);
    }
  sd_bus_error_free (&error);
  return reply;
}

static SbxMessage *
manager_call (SbxCtl *ctl, const char *method)
{
  SbxMessage *message = NULL;

  (void) sd_bus_message_new_method_call (ctl->bus, &message, SBX_BUS_NAME, SBX_OBJECT_PATH,
                                         SBX_MANAGER_INTERFACE, method);
  return message;
}

/* By its name on the bus polkit finds the unit of the process too, which it does not trust a number for; NULL
 * where nobody has the name. */
static char *
daemon_name (SbxCtl *ctl)
{
  sd_bus_creds *creds = NULL;
  const char *name = NULL;
  char *copy = NULL;

  if (sd_bus_get_name_creds (ctl->bus, SBX_BUS_NAME, SD_BUS_CREDS_UNIQUE_NAME, &creds) >= 0
      && sd_bus_creds_get_unique_name (creds, &name) >= 0)
    copy = g_strdup (name);
  sd_bus_creds_unref (creds);
  return copy;
}

/* Asks polkit what it will be asked for each turn. Only root may give it details. */
static void
check_rights (SbxCheckList *list, SbxCtl *ctl)
{
  static const char *const fix =
    "the file 50-roundtable-sandbox.rules must be in /usr/share/polkit-1/rules.d (meson install), and no "
    "rule\n"
    "before it may refuse " SYSTEMD ".manage-units; then: systemctl restart polkit";
  g_autoptr (SbxMessage) message = NULL;
  g_autoptr (SbxMessage) reply = NULL;
  sd_bus_error error = SD_BUS_ERROR_NULL;
  g_autofree char *name = daemon_name (ctl);
  int allowed = 0, challenge = 0;
  int r;

  if (geteuid () != 0 || name == NULL)
    {
      sbx_check_list_add (list, SBX_CHECK_NOT_MADE, "polkit", NULL,
                          "only root may ask polkit about sandboxd");
      return;
    }
  r = sd_bus_message_new_method_call (ctl->bus, &message, POLKIT, "/org/freedesktop/PolicyKit1/Authority",
                                      POLKIT ".Authority", "CheckAuthorization");
  if (r >= 0)
    r = sd_bus_message_append (message, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s", name,
                               SYSTEMD ".manage-units", 2, "unit", "sandboxd-turn-check-broker.scope", "verb",
                               "start", 0u, "");
  if (r >= 0)
    r = sd_bus_call (ctl->bus, message, 0, &error, &reply);
  if (r >= 0)
    r = sd_bus_message_enter_container (reply, 'r', "bba{ss}");
  if (r >= 0)
    r = sd_bus_message_read (reply, "bb", &allowed, &challenge);
  if (r < 0)
    sbx_check_list_add (list, SBX_CHECK_FAILED, "polkit",
                        "apt-get install polkitd && systemctl restart polkit", "polkit does not answer: %s",
                        error.message != NULL ? error.message : g_strerror (-r));
  else if (!allowed)
    sbx_check_list_add (list, SBX_CHECK_FAILED, "polkit", fix,
                        "polkit will not let sandboxd make a broker's scope");
  else
    sbx_check_list_add (list, SBX_CHECK_OK, "polkit", NULL, "sandboxd may make its brokers' scopes");
  sd_bus_error_free (&error);
}

static void
check_unit (SbxCheckList *list, SbxCtl *ctl, const char *unit, const char *why, SbxCheckResult result)
{
  g_autofree char *fix =
    g_strdup_printf ("systemctl enable %s%s", g_str_has_suffix (unit, ".socket") ? "--now " : "", unit);
  g_autoptr (SbxMessage) reply = NULL;
  const char *state = "not installed";

  if (sd_bus_call_method (ctl->bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD ".Manager", "GetUnitFileState", NULL,
                          &reply, "s", unit)
      >= 0)
    (void) sd_bus_message_read (reply, "s", &state);
  if (!g_str_has_prefix (state, "enabled"))
    sbx_check_list_add (list, result, "units", fix, "%s is %s: %s", unit, state, why);
}

static void
check_units (SbxCheckList *list, SbxCtl *ctl)
{
  guint before = sbx_check_list_count (list, SBX_CHECK_OK);

  check_unit (list, ctl, "sandboxd-cleanup.service", "what a power cut leaves would stay", SBX_CHECK_FAILED);
  check_unit (list, ctl, "sandbox-egress.socket", "no turn could call the model after a boot",
              SBX_CHECK_FAILED);
  check_unit (list, ctl, "sandboxd.service", "only a first call would start it after a boot",
              SBX_CHECK_WARNING);
  if (access (SBX_EGRESS_SOCKET, F_OK) < 0)
    sbx_check_list_add (list, SBX_CHECK_FAILED, "egress", "systemctl restart sandbox-egress.socket",
                        "there is no socket %s", SBX_EGRESS_SOCKET);
  else if (before == sbx_check_list_count (list, SBX_CHECK_OK))
    sbx_check_list_add (list, SBX_CHECK_OK, "egress", NULL, "sandbox-egress can be reached");
}

gboolean
sbx_check_service (SbxCheckList *list, SbxCtl *ctl)
{
  g_autoptr (SbxMessage) message = NULL;
  g_autoptr (SbxMessage) reply = NULL;

  if (ctl->bus == NULL && sd_bus_open_system (&ctl->bus) < 0)
    {
      sbx_check_list_add (list, SBX_CHECK_FAILED, "sandboxd", "systemctl status dbus",
                          "the system bus cannot be reached");
      return FALSE;
    }
  check_units (list, ctl);
  message = manager_call (ctl, "GetStatus");
  reply = message != NULL ? call (list, ctl, "sandboxd", "ask sandboxd", message, 0) : NULL;
  if (reply == NULL)
    return FALSE;
  sbx_check_list_add (list, SBX_CHECK_OK, "sandboxd", NULL, "it answers on the bus");
  check_rights (list, ctl);
  return TRUE;
}

static gboolean
set_mode (SbxCheckList *list, SbxCtl *ctl, const char *mode)
{
  g_autoptr (SbxMessage) message = manager_call (ctl, "SetChannelMode");
  g_autoptr (SbxMessage) reply = NULL;

  if (message == NULL || sd_bus_message_append (message, "ss", CHANNEL, mode) < 0)
    return FALSE;
  reply = call (list, ctl, "turn", "switch the channel " CHANNEL, message, 0);
  return reply != NULL;
}

/* What the worker noted of the self-test is nobody's memory. */
static void
purge (SbxCheckList *list, SbxCtl *ctl)
{
  g_autoptr (SbxMessage) message = manager_call (ctl, "PurgeChannel");
  g_autoptr (SbxMessage) reply = NULL;

  if (message != NULL && sd_bus_message_append (message, "s", CHANNEL) >= 0)
    reply = call (list, ctl, "turn", "delete what the self-test left", message, TURN_TIMEOUT_USEC);
}

void
sbx_check_turn (SbxCheckList *list, SbxCtl *ctl)
{
  g_autoptr (SbxMessage) message = NULL;
  g_autoptr (SbxMessage) reply = NULL;
  gint64 began = g_get_monotonic_time ();
  const char *text = NULL;
  int ok = 0;

  if (!set_mode (list, ctl, "on"))
    return;
  message = manager_call (ctl, "RunTurn");
  if (message != NULL
      && sd_bus_message_append (message, "ssssa{sv}", CHANNEL, "self-test", "self-test", QUESTION, 0) >= 0)
    reply = call (list, ctl, "turn", "run a turn", message, TURN_TIMEOUT_USEC);
  if (reply != NULL && sd_bus_message_read (reply, "bs", &ok, &text) >= 0)
    {
      double seconds = (double) (g_get_monotonic_time () - began) / G_USEC_PER_SEC;

      if (ok)
        sbx_check_list_add (list, SBX_CHECK_OK, "turn", NULL, "a guest's turn was answered in %.1f s",
                            seconds);
      else
        sbx_check_list_add (list, SBX_CHECK_FAILED, "turn", "sandboxctl log " CHANNEL,
                            "the worker came to no answer");
    }
  (void) set_mode (list, ctl, "off");
  purge (list, ctl);
}
