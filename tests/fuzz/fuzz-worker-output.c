/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* However the reads cut a worker's output, the outcome is the same, and sandboxd takes what it is told.
 * The first byte is the length of the reads; its highest bit says whether the reply ends at the line end. */
#include "fuzz.h"

#include "base/text.h"
#include "base/utf16.h"
#include "broker/worker-output.h"

#define AT_NEWLINE 0x80u

static SbxOutputVerdict
read_output (const uint8_t *data, gsize n_bytes, gboolean at_newline, gsize step, SbxControlReply *reply,
             SbxFailure *failure)
{
  g_autoptr (SbxWorkerOutput) output = sbx_worker_output_new (at_newline);
  SbxOutputVerdict verdict = SBX_OUTPUT_MORE;

  for (gsize place = 0; verdict == SBX_OUTPUT_MORE && place < n_bytes; place += step)
    verdict = sbx_worker_output_feed (output, data + place, MIN (step, n_bytes - place), reply, failure);
  return verdict == SBX_OUTPUT_MORE ? sbx_worker_output_end (output, reply, failure) : verdict;
}

static void
check_reply (const SbxControlReply *reply)
{
  g_autoptr (GBytes) payload = g_byte_array_free_to_bytes (sbx_control_reply_encode (reply));
  g_auto (SbxControlReply) told = { 0 };
  g_autofree char *plain = sbx_text_plain (reply->text); /* sandboxd's end makes it fit for the bus */

  g_assert (g_utf8_validate (reply->text, -1, NULL));
  g_assert (sbx_utf16_units (reply->text) <= SBX_MAX_REPLY_UNITS);
  g_assert (sbx_control_reply_decode (payload, &told, NULL));
  g_assert_cmpstr (told.text, ==, plain);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes)
{
  g_auto (SbxControlReply) once = { 0 };
  g_auto (SbxControlReply) pieces = { 0 };
  SbxFailure failure_once = SBX_FAILURE_NONE;
  SbxFailure failure_pieces = SBX_FAILURE_NONE;
  SbxOutputVerdict verdict;
  gboolean at_newline;

  if (n_bytes < 1)
    return -1;
  at_newline = (data[0] & AT_NEWLINE) != 0;
  verdict = read_output (data + 1, n_bytes - 1, at_newline, MAX (n_bytes - 1, 1), &once, &failure_once);
  g_assert (
    read_output (data + 1, n_bytes - 1, at_newline, MAX (data[0] & ~AT_NEWLINE, 1u), &pieces, &failure_pieces)
    == verdict);
  g_assert (failure_once == failure_pieces);
  g_assert (verdict == SBX_OUTPUT_REPLY || failure_once == SBX_FAILURE_REPLY_INVALID
            || failure_once == SBX_FAILURE_REPLY_TOO_LARGE || failure_once == SBX_FAILURE_WORKER_FAILED);
  if (verdict == SBX_OUTPUT_REPLY)
    {
      g_assert_cmpstr (once.text, ==, pieces.text);
      check_reply (&once);
    }
  return 0;
}
