/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/installation.h"

#include <gio/gio.h>
#include <systemd/sd-id128.h>

/* Ours alone. Changing it would orphan every container of installations that are running. */
#define APPLICATION_ID SD_ID128_MAKE (4a, 51, 8f, 89, 18, 9c, 43, db, ac, 69, 2c, 8b, cd, 82, 6b, 1b)

char *
sbx_installation_id (GError **error)
{
  sd_id128_t id;
  char text[SD_ID128_STRING_MAX];
  int r = sd_id128_get_machine_app_specific (APPLICATION_ID, &id);

  if (r < 0)
    {
      g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (-r),
                   "/etc/machine-id cannot be used: %s. systemd-machine-id-setup makes one.",
                   g_strerror (-r));
      return NULL;
    }
  return g_strdup (sd_id128_to_string (id, text));
}
