/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/ctl.h"

#include <errno.h>
#include <gio/gio.h>
#include <unistd.h>

#include "base/names.h"

/* polkit may have to ask a person. */
#define USUAL_TIMEOUT_SEC 120

static SbxExit
say (const char *name, const char *message, const char *what)
{
  SbxExit status;
  g_autofree char *text = sbx_ctl_explain (name, message, what, &status);

  g_printerr ("%s\n", text);
  return status;
}

/* Peer to peer: there is no bus to say hello to. */
static int
open_socket (const char *path, sd_bus **ret)
{
  g_autofree char *escaped = g_dbus_address_escape_value (path);
  g_autofree char *address = g_strconcat ("unix:path=", escaped, NULL);
  sd_bus *bus = NULL;
  int r = sd_bus_new (&bus);

  if (r >= 0)
    r = sd_bus_set_address (bus, address);
  if (r >= 0)
    r = sd_bus_start (bus);
  if (r < 0)
    sd_bus_unref (bus);
  else
    *ret = bus;
  return r;
}

int
sbx_ctl_connect (SbxCtl *ctl, const char *what, SbxExit *ret_exit)
{
  int r = 0;

  if (ctl->bus == NULL && ctl->socket != NULL)
    r = open_socket (ctl->socket, &ctl->bus);
  else if (ctl->bus == NULL)
    r = ctl->host != NULL ? sd_bus_open_system_remote (&ctl->bus, ctl->host) : sd_bus_open_system (&ctl->bus);
  if (r >= 0)
    r = sd_bus_set_allow_interactive_authorization (ctl->bus, !ctl->no_ask_password);
  if (r >= 0 && ctl->agent == NULL && ctl->socket == NULL && ctl->host == NULL && !ctl->no_ask_password)
    ctl->agent = sbx_agent_start ();
  if (r < 0 && ctl->socket != NULL)
    {
      g_printerr ("Cannot %s: %s: %s\nLook at \"systemctl status sandboxd.socket\".\n", what, ctl->socket,
                  g_strerror (-r));
      *ret_exit = r == -EACCES ? SBX_EXIT_DENIED : SBX_EXIT_DOWN;
    }
  else if (r < 0)
    *ret_exit = say ("org.freedesktop.DBus.Error.FileNotFound", g_strerror (-r), what);
  return r;
}

SbxMessage *
sbx_ctl_call_new (SbxCtl *ctl, const char *method, const char *what, SbxExit *ret_exit)
{
  SbxMessage *call = NULL;
  int r = sbx_ctl_connect (ctl, what, ret_exit);

  if (r < 0)
    return NULL;
  r = sd_bus_message_new_method_call (ctl->bus, &call, SBX_BUS_NAME, SBX_OBJECT_PATH, SBX_MANAGER_INTERFACE,
                                      method);
  if (r >= 0)
    return call;
  *ret_exit = say ("org.freedesktop.DBus.Error.FileNotFound", g_strerror (-r), what);
  return NULL;
}

SbxMessage *
sbx_ctl_call (SbxCtl *ctl, SbxMessage *call, int r, int timeout_sec, const char *what, SbxExit *ret_exit)
{
  sd_bus_error error = SD_BUS_ERROR_NULL;
  SbxMessage *reply = NULL;
  guint64 timeout_usec = (guint64) (timeout_sec > 0 ? timeout_sec : USUAL_TIMEOUT_SEC) * G_USEC_PER_SEC;

  if (r >= 0)
    {
      r = sd_bus_call (ctl->bus, call, timeout_usec, &error, &reply);
      if (r < 0)
        *ret_exit = say (error.name, error.message != NULL ? error.message : g_strerror (-r), what);
    }
  else
    {
      g_printerr ("Cannot %s: the arguments cannot be sent (%s); are they UTF-8?\n", what, g_strerror (-r));
      *ret_exit = SBX_EXIT_USAGE;
    }
  sd_bus_error_free (&error);
  return reply;
}

SbxExit
sbx_ctl_call_each (SbxCtl *ctl, const char *method, char **words, const char *more, const char *what)
{
  SbxExit status = SBX_EXIT_GOOD;

  for (; *words != NULL; words++)
    {
      SbxExit one = SBX_EXIT_GOOD;
      g_autoptr (SbxMessage) call = sbx_ctl_call_new (ctl, method, what, &one);
      g_autoptr (SbxMessage) reply = NULL;
      int r;

      if (call == NULL)
        return one;
      r = sd_bus_message_append (call, "s", *words);
      if (r >= 0 && more != NULL)
        r = sd_bus_message_append (call, "s", more);
      reply = sbx_ctl_call (ctl, call, r, 0, what, &one);
      if (reply == NULL && status == SBX_EXIT_GOOD)
        status = one;
    }
  return status;
}

SbxExit
sbx_ctl_bad_answer (int r, const char *what)
{
  g_printerr ("Cannot %s: the answer of sandboxd is not understood (%s); is it of another version?\n", what,
              g_strerror (-r));
  return SBX_EXIT_FAILED;
}

gboolean
sbx_ctl_has_color (void)
{
  const char *refused = g_getenv ("NO_COLOR");

  return isatty (STDOUT_FILENO) && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0
         && (refused == NULL || *refused == '\0');
}

void
sbx_ctl_print_table (SbxCtl *ctl, const SbxTable *table)
{
  g_autofree char *text =
    ctl->json != SBX_JSON_OFF ? sbx_table_json (table, ctl->json) : sbx_table_text (table, !ctl->no_legend);

  g_print ("%s", text);
}
