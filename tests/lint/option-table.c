/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Prints every option of sandboxd.conf as "Group.Key<tab>default", for the check "options". */
#include "config/config.h"

int
main (void)
{
  for (gsize i = 0; i < sbx_config_n_options; i++)
    g_print ("%s.%s\t%s\n", sbx_config_options[i].group, sbx_config_options[i].key,
             sbx_config_options[i].standard);
  return 0;
}
