/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* deliver: hands one message to sandboxd as a bot would, and prints what came of it.
 *
 *     cc deliver.c -o deliver $(pkg-config --cflags --libs libsystemd)
 *     ./deliver discord:1234 42 Ada "What time is it?"
 */
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define NAME "org.roundtable.Sandbox1"
/* Longer than a turn and the queue before it; sd-bus itself gives up after 25 s. */
#define TIMEOUT_USEC (660 * 1000000ULL)

static int
make_call (sd_bus *bus, char **words, sd_bus_message **ret_call)
{
  int r = sd_bus_message_new_method_call (bus, ret_call, NAME, "/org/roundtable/Sandbox1", NAME ".Manager",
                                          "Deliver");

  if (r < 0)
    return r;
  return sd_bus_message_append (*ret_call, "a{sv}", 6, "channel", "s", words[1], "speaker-id", "s", words[2],
                                "speaker-name", "s", words[3], "text", "s", words[4], "mentioned", "b", 1,
                                "wait", "b", 1);
}

static int
print_answer (sd_bus_message *reply)
{
  const char *verdict, *key, *text;
  int r = sd_bus_message_read (reply, "s", &verdict);

  if (r < 0 || (r = sd_bus_message_enter_container (reply, 'a', "{sv}")) < 0)
    return r;
  printf ("verdict: %s\n", verdict);
  while ((r = sd_bus_message_enter_container (reply, 'e', "sv")) > 0)
    {
      if ((r = sd_bus_message_read (reply, "s", &key)) < 0)
        return r;
      /* Show people "guest-text", never "explanation"; and let it ping nobody. */
      if (strcmp (key, "guest-text") == 0 || strcmp (key, "outcome") == 0 || strcmp (key, "reason") == 0)
        {
          if ((r = sd_bus_message_read (reply, "v", "s", &text)) < 0)
            return r;
          printf ("%s: %s\n", key, text);
        }
      else if ((r = sd_bus_message_skip (reply, "v")) < 0)
        return r;
      if ((r = sd_bus_message_exit_container (reply)) < 0)
        return r;
    }
  return r;
}

int
main (int argc, char **argv)
{
  sd_bus_error error = SD_BUS_ERROR_NULL;
  sd_bus *bus = NULL;
  sd_bus_message *call = NULL, *reply = NULL;
  int r = -1;

  if (argc != 5)
    fprintf (stderr, "usage: deliver CHANNEL SPEAKER-ID SPEAKER-NAME TEXT\n");
  else if ((r = sd_bus_open_system (&bus)) >= 0 && (r = make_call (bus, argv, &call)) >= 0
           && (r = sd_bus_call (bus, call, TIMEOUT_USEC, &error, &reply)) >= 0)
    r = print_answer (reply);
  if (sd_bus_error_is_set (&error))
    fprintf (stderr, "%s: %s\n", error.name, error.message);
  sd_bus_error_free (&error);
  sd_bus_message_unref (reply);
  sd_bus_message_unref (call);
  sd_bus_flush_close_unref (bus);
  return r < 0 ? 1 : 0;
}
