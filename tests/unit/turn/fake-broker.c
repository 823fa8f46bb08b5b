/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A broker that does what its name says: reply, leaves (behind its reply), sorry, disk-full, silent, failed,
 * invalid, dies; audit-N: a model call that ended with failure N, then no reply. Test program. */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>

#include "wire/control.h"
#include "wire/frame-link.h"

static const char *mode;

static void
reply (SbxFrameLink *link, gboolean ok, SbxFailure failure)
{
  const SbxControlReply said = { .ok = ok,
                                 .text = (char *) "hello guest",
                                 .failure = failure,
                                 .set_aside = SBX_SET_ASIDE_HISTORY,
                                 .compaction = SBX_COMPACTION_DROPPED,
                                 .compaction_reason = 1 };

  (void) sbx_frame_link_send_packed (link, SBX_FRAME_REPLY, 0, sbx_control_reply_encode (&said), NULL);
}

static void
audit (SbxFrameLink *link, const char *number)
{
  const SbxControlAudit said = { .route = SBX_ROUTE_MODEL,
                                 .status = 502,
                                 .failure = (SbxFailure) g_ascii_strtoull (number, NULL, 10) };

  (void) sbx_frame_link_send_packed (link, SBX_FRAME_AUDIT, 0, sbx_control_audit_encode (&said), NULL);
  (void) sbx_frame_link_send_packed (link, SBX_FRAME_NO_REPLY, 0,
                                     sbx_control_no_reply_encode (SBX_FAILURE_WORKER_FAILED), NULL);
}

static gboolean
on_frame (SbxFrameLink *link, SbxFrame *frame, gpointer user_data)
{
  if (frame->head.type == SBX_FRAME_CONFIG && strcmp (mode, "dies-early") == 0)
    _exit (1);
  if (frame->head.type == SBX_FRAME_CONFIG)
    return sbx_frame_link_send (link, SBX_FRAME_READY, 0, NULL, NULL, 0, NULL);
  if (frame->head.type != SBX_FRAME_START)
    return TRUE;
  if (strcmp (mode, "reply") == 0)
    reply (link, TRUE, SBX_FAILURE_NONE);
  else if (strcmp (mode, "leaves") == 0)
    {
      reply (link, TRUE, SBX_FAILURE_NONE);
      _exit (0);
    }
  else if (strcmp (mode, "sorry") == 0)
    reply (link, FALSE, SBX_FAILURE_NONE);
  else if (strcmp (mode, "disk-full") == 0)
    reply (link, FALSE, SBX_FAILURE_DISK_FULL);
  else if (strcmp (mode, "failed") == 0)
    (void) sbx_frame_link_send_packed (link, SBX_FRAME_NO_REPLY, 0,
                                       sbx_control_no_reply_encode (SBX_FAILURE_WORKER_FAILED), NULL);
  else if (strcmp (mode, "invalid") == 0)
    (void) sbx_frame_link_send_packed (link, SBX_FRAME_NO_REPLY, 0,
                                       sbx_control_no_reply_encode (SBX_FAILURE_REPLY_INVALID), NULL);
  else if (g_str_has_prefix (mode, "audit-"))
    audit (link, mode + strlen ("audit-"));
  else if (strcmp (mode, "dies") == 0)
    _exit (1);
  return TRUE;
}

static void
on_closed (SbxFrameLink *link, const GError *error, gpointer user_data)
{
  exit (0);
}

static const SbxFrameLinkEvents events = { on_frame, on_closed };

int
main (int argc, char **argv)
{
  g_autofree char *name = g_path_get_basename (argv[0]);
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);

  (void) prctl (PR_SET_PDEATHSIG, SIGKILL);
  mode = name;
  (void) sbx_frame_link_new (4, sbx_control_rules_broker, sbx_control_n_rules_broker, &events, NULL);
  g_main_loop_run (loop);
  return 0;
}
