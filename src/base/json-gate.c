/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/json-gate.h"

#include "base/json-scan.h"

gboolean
sbx_json_gate (const char *data, gsize n_bytes, gsize max_bytes, GError **error)
{
  SbxJsonScan scan;
  SbxJsonEvent event;

  if (!sbx_json_scan_init (&scan, data, n_bytes, max_bytes, error))
    return FALSE;
  do
    event = sbx_json_scan_next (&scan, error);
  while (event != SBX_JSON_EVENT_ERROR && event != SBX_JSON_EVENT_END);
  sbx_json_scan_clear (&scan);
  return event == SBX_JSON_EVENT_END;
}
