/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/errors.h"

#include <gio/gio.h>

#include "bus/bus-auto.h"

/* Each failure has a name of its own, a valid one, and it leads back. */
static void
test_failures (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  g_assert_null (sbx_bus_error_failure_name (SBX_FAILURE_NONE));
  g_assert_null (sbx_bus_error_failure_name ((SbxFailure) (_SBX_FAILURE_LAST + 1)));
  for (guint i = 1; i <= _SBX_FAILURE_LAST; i++)
    {
      const char *name = sbx_bus_error_failure_name ((SbxFailure) i);
      g_auto (sd_bus_error) error = SD_BUS_ERROR_NULL;

      g_assert_nonnull (name);
      g_assert_true (g_dbus_is_interface_name (name));
      g_assert_true (g_hash_table_add (seen, (gpointer) name));
      g_assert_cmpint (sbx_bus_error_set_failure (&error, (SbxFailure) i, NULL), <, 0);
      g_assert_cmpstr (error.name, ==, name);
      g_assert_cmpstr (error.message, ==, sbx_failure_text ((SbxFailure) i));
    }
  for (guint i = 0; i <= _SBX_BUS_ERROR_LAST; i++)
    {
      g_assert_true (g_dbus_is_interface_name (sbx_bus_error_name ((SbxBusError) i)));
      g_assert_true (g_hash_table_add (seen, (gpointer) sbx_bus_error_name ((SbxBusError) i)));
    }
}

static void
expect (const char *name, const char *message, GQuark domain, gint code, const char *text)
{
  g_autoptr (GError) error = g_error_new_literal (domain, code, text);
  g_auto (sd_bus_error) bus_error = SD_BUS_ERROR_NULL;

  g_assert_cmpint (sbx_bus_error_set_gerror (&bus_error, error), <, 0);
  g_assert_cmpstr (bus_error.name, ==, name);
  g_assert_cmpstr (bus_error.message, ==, message);
}

static void
test_gerrors (void)
{
  expect ("org.roundtable.Sandbox1.Error.QueueFull", "full", SBX_BUS_ERROR, SBX_BUS_ERROR_QUEUE_FULL, "full");
  expect ("org.roundtable.Sandbox1.Error.Internal", "odd", SBX_BUS_ERROR, 99, "odd");
  expect ("org.roundtable.Sandbox1.Error.Cancelled", sbx_failure_text (SBX_FAILURE_CANCELLED), G_IO_ERROR,
          G_IO_ERROR_CANCELLED, "x");
  expect ("org.roundtable.Sandbox1.Error.Internal", "y", G_FILE_ERROR, G_FILE_ERROR_IO, "y");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bus/errors/failures", test_failures);
  g_test_add_func ("/bus/errors/gerrors", test_gerrors);
  return g_test_run ();
}
