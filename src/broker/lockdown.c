/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "broker/lockdown.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hardening.h"
#include "base/utf16.h"
#include "broker/policy.h"
#include "broker/reply.h"
#include "broker/routes.h"

/* 16 connections, the links, the stream, the loop's own: about 30. */
#define MAX_FILES 64u
/* A body of 256 KiB is at worst some 40 MiB as a tree, answers and output a few MiB each. */
#define MAX_ADDRESS_SPACE_BYTES (384u * 1024u * 1024u)

static const SbxFilterRule rules[] = {
  /* bytes; recvmsg takes the descriptors of START, sendto without an address cannot send any */
  SBX_FILTER_ANY ("read"),
  SBX_FILTER_ANY ("write"),
  SBX_FILTER_ANY ("recvmsg"),
  { .name = "sendto", .n_checks = 1, .checks = { { 4, G_MAXUINT64, 0 } } },
  SBX_FILTER_ANY ("accept4"),
  SBX_FILTER_ANY ("shutdown"),
  SBX_FILTER_ANY ("close"),
  SBX_FILTER_ONLY ("fcntl", 1, F_GETFL),
  SBX_FILTER_ONLY ("fcntl", 1, F_SETFL),
  /* waiting */
  SBX_FILTER_ANY ("poll"),
  SBX_FILTER_ANY ("ppoll"),
  SBX_FILTER_ANY ("futex"),
  /* Both cost no call where the vDSO can read the clock; where it cannot (a machine with an unstable TSC, an
   * emulated one) GLib's g_get_real_time() becomes the second. */
  SBX_FILTER_ANY ("clock_gettime"),
  SBX_FILTER_ANY ("gettimeofday"),
  SBX_FILTER_ANY ("restart_syscall"),
  SBX_FILTER_ANY ("rt_sigreturn"),
  /* memory, never executable */
  SBX_FILTER_ANY ("brk"),
  SBX_FILTER_LACKS ("mmap", 2, PROT_EXEC),
  SBX_FILTER_ANY ("munmap"),
  SBX_FILTER_ANY ("mremap"),
  SBX_FILTER_ANY ("madvise"),
  /* what the libraries ask of themselves */
  SBX_FILTER_ANY ("getpid"),
  SBX_FILTER_ANY ("gettid"),
  SBX_FILTER_ANY ("getrandom"),
  SBX_FILTER_ANY ("exit_group"),
};

GBytes *
sbx_lockdown_filter (GError **error)
{
  return sbx_hardening_filter_build (rules, G_N_ELEMENTS (rules), SBX_FILTER_KILL, error);
}

/* Logging looks at the standard streams with calls that the filter ends the process for, and has nobody to
 * tell. */
static GLogWriterOutput
drop_log (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer user_data)
{
  return G_LOG_WRITER_HANDLED;
}

static void
preload_route (SbxRoute route, const char *text)
{
  static const char *const tools[] = { "a", NULL };
  static const char *const kept[] = { "kept", NULL };
  SbxPolicyTarget target = { .route = route, .name = "a", .tools = tools };
  g_autoptr (GBytes) body = g_bytes_new_static (text, strlen (text));
  SbxFrameType type;
  GByteArray *payload = NULL;

  (void) sbx_routes_read_body (&target, kept, body, &type, &payload);
  if (payload != NULL)
    g_byte_array_unref (payload);
}

void
sbx_lockdown_preload (void)
{
  static const char reply_text[] = "{\"ok\":true,\"text\":\"\\u00e9\",\"compaction\":{\"by\":\"tool\","
                                   "\"reason\":\"none\",\"tokens_before\":1}}";
  g_auto (SbxControlReply) reply = { 0 };
  g_autoptr (GBytes) wrapped = NULL;
  g_autoptr (GBytes) text = g_bytes_new_static ("\x01", 1);

  preload_route (
    SBX_ROUTE_MODEL,
    "{\"messages\":[{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[{\"id\":\"a\",\"type\":"
    "\"function\",\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}]}],\"tools\":[{\"type\":\"function\","
    "\"function\":{\"name\":\"a\",\"description\":\"a\",\"parameters\":{\"default\":[1.5e3,-1,true,null]"
    "}}}]}");
  preload_route (SBX_ROUTE_MCP,
                 "{\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"arguments\":{\"a\":[0.1,1e300]}}}");
  preload_route (SBX_ROUTE_TOOL, "{\"a\":1e-3}");
  preload_route (SBX_ROUTE_TOOL, "{\"a\":"); /* the way of errors, with its translations */
  (void) sbx_reply_read (reply_text, strlen (reply_text), &reply);
  wrapped = sbx_routes_wrap_text (text);
}

/* Nothing can be read from, or written to, where the parent's own output goes. */
static gboolean
quiet_streams (GError **error)
{
  g_auto (SbxFd) null_fd = open ("/dev/null", O_RDWR | O_CLOEXEC);

  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (null_fd < 0 || dup2 (null_fd, fd) < 0)
      {
        g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                             "Cannot put /dev/null in the standard streams' place");
        return FALSE;
      }
  return TRUE;
}

gboolean
sbx_lockdown_apply (GError **error)
{
  static const SbxHardeningLimits limits = { .address_space_bytes = MAX_ADDRESS_SPACE_BYTES,
                                             .n_files = MAX_FILES };
  g_autoptr (GBytes) filter = sbx_lockdown_filter (error);

  if (filter == NULL)
    return FALSE;
  g_log_set_writer_func (drop_log, NULL, NULL);
  (void) signal (SIGPIPE, SIG_IGN);
  return sbx_hardening_limit (&limits, error) && sbx_hardening_drop_privileges (error)
         && quiet_streams (error) && sbx_hardening_filter_load (filter, error);
}
