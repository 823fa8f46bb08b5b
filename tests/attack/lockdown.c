/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A guest that owns the broker outright: applies the broker's own lockdown, then tries what it promises to be
 * impossible. Each try is a child of its own and has to be ended by SIGSYS. The filter that was tried is
 * held, byte for byte, against the one that the production program prints.
 *
 *   lockdown PATH-OF-SANDBOX-BROKER
 */
#include "broker/lockdown.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *broker_path;

/* What a try may use; made before the lockdown, as if a broker had kept it by mistake. */
static int pair[2];
static int stream_fd;
static int datagram_fd;
static void *page;

static void
try_open (void)
{
  (void) open ("/etc/passwd", O_RDONLY);
}

static void
try_openat2 (void)
{
  struct open_how how = { .flags = O_RDONLY };

  (void) syscall (SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof how);
}

static void
try_create (void)
{
  (void) creat ("/tmp/broker-was-here", 0600);
}

static void
try_unlink (void)
{
  (void) unlink ("/tmp/broker-was-here");
}

static void
try_stat (void)
{
  (void) access ("/run/docker.sock", F_OK);
}

static void
try_socket (void)
{
  (void) socket (AF_INET, SOCK_STREAM, 0);
}

static void
try_socket_unix (void)
{
  (void) socket (AF_UNIX, SOCK_STREAM, 0);
}

static void
try_connect (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/run/docker.sock" };

  (void) connect (stream_fd, (struct sockaddr *) &address, sizeof address);
}

static void
try_sendto_address (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/run/systemd/notify" };

  (void) sendto (datagram_fd, "x", 1, MSG_NOSIGNAL, (struct sockaddr *) &address, sizeof address);
}

static void
try_bind (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/tmp/broker-was-here" };

  (void) bind (stream_fd, (struct sockaddr *) &address, sizeof address);
}

/* To the bus, or to whatever else is at the other end of a socket that it has. */
static void
try_send_descriptor (void)
{
  union {
    char bytes[CMSG_SPACE (sizeof (int))];
    struct cmsghdr align;
  } control = { .align = {
                  .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN (sizeof (int)) } };
  struct iovec vector = { .iov_base = (char[]){ "x" }, .iov_len = 1 };
  struct msghdr message = {
    .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
  };

  memcpy (CMSG_DATA (&control.align), &stream_fd, sizeof stream_fd);
  (void) sendmsg (pair[0], &message, MSG_NOSIGNAL);
}

static void
try_fork (void)
{
  (void) fork ();
}

static void
try_clone3 (void)
{
  (void) syscall (SYS_clone3, NULL, 0);
}

static void
try_exec (void)
{
  char *const words[] = { (char[]){ "true" }, NULL };

  (void) execv ("/bin/true", words);
}

static void
try_exec_descriptor (void)
{
  (void) syscall (SYS_execveat, stream_fd, "", NULL, NULL, AT_EMPTY_PATH);
}

static void
try_ptrace (void)
{
  (void) ptrace (PTRACE_ATTACH, getppid (), NULL, NULL);
}

static void
try_trace_me (void)
{
  (void) syscall (SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
}

static void
try_read_memory (void)
{
  (void) syscall (SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0);
}

static void
try_kill (void)
{
  (void) kill (1, 0);
}

static void
try_kill_thread (void)
{
  (void) syscall (SYS_tgkill, 1, 1, 0);
}

static void
try_pidfd (void)
{
  (void) syscall (SYS_pidfd_open, 1, 0);
}

static void
try_prctl (void)
{
  (void) prctl (PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static void
try_map_code (void)
{
  (void) mmap (NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void
try_protect_code (void)
{
  (void) mprotect (page, 4096, PROT_READ | PROT_EXEC);
}

static void
try_memory_file (void)
{
  (void) memfd_create ("code", 0);
}

static void
try_raise_limit (void)
{
  struct rlimit limit = { .rlim_cur = 1000, .rlim_max = 1000 };

  (void) prlimit (0, RLIMIT_NOFILE, &limit, NULL);
}

static void
try_other_filter (void)
{
  (void) syscall (SYS_seccomp, 1, 0, NULL);
}

static void
try_namespace (void)
{
  (void) unshare (CLONE_NEWUSER);
}

static void
try_io_uring (void)
{
  (void) syscall (SYS_io_uring_setup, 1, NULL);
}

static void
try_terminal_input (void)
{
  (void) ioctl (pair[0], TIOCSTI, "x");
}

static void
try_own_signal (void)
{
  (void) fcntl (pair[0], F_SETOWN, 1);
}

static void
try_uid (void)
{
  (void) syscall (SYS_setuid, 0);
}

#ifdef __x86_64__
/* The same numbers under the x32 interface, which a filter that looks at numbers alone would let through. */
static void
try_x32 (void)
{
  (void) syscall (0x40000000 | SYS_read, 0, NULL, 0);
}
#endif

static const struct {
  const char *name;
  void (*run) (void);
} tries[] = {
  { "open", try_open },
  { "openat2", try_openat2 },
  { "create", try_create },
  { "unlink", try_unlink },
  { "look-for-docker", try_stat },
  { "socket-inet", try_socket },
  { "socket-unix", try_socket_unix },
  { "connect", try_connect },
  { "sendto-address", try_sendto_address },
  { "bind", try_bind },
  { "send-descriptor", try_send_descriptor },
  { "fork", try_fork },
  { "clone3", try_clone3 },
  { "exec", try_exec },
  { "exec-descriptor", try_exec_descriptor },
  { "ptrace", try_ptrace },
  { "trace-me", try_trace_me },
  { "read-memory", try_read_memory },
  { "kill", try_kill },
  { "kill-thread", try_kill_thread },
  { "pidfd", try_pidfd },
  { "prctl", try_prctl },
  { "map-code", try_map_code },
  { "protect-code", try_protect_code },
  { "memory-file", try_memory_file },
  { "raise-limit", try_raise_limit },
  { "other-filter", try_other_filter },
  { "namespace", try_namespace },
  { "io-uring", try_io_uring },
  { "terminal-input", try_terminal_input },
  { "own-signal", try_own_signal },
  { "uid", try_uid },
#ifdef __x86_64__
  { "x32", try_x32 },
#endif
};

/* Runs a try in a locked-down child. Returns its wait status. */
static int
run_locked_down (void (*run) (void))
{
  pid_t pid = fork ();
  int status = 0;

  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      sbx_lockdown_preload ();
      if (!sbx_lockdown_apply (NULL))
        _exit (99);
      run ();
      _exit (0);
    }
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  return status;
}

static void
test_try (gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  int status = run_locked_down (tries[i].run);

  g_assert_true (WIFSIGNALED (status));
  g_assert_cmpint (WTERMSIG (status), ==, SIGSYS);
}

/* What a broker lives on still works; else the tries above would prove nothing. */
static void
do_allowed (void)
{
  char byte = 'x';
  void *memory = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct timespec now;
  struct timeval real;

  if (memory == MAP_FAILED || send (pair[0], &byte, 1, MSG_NOSIGNAL) != 1 || read (pair[1], &byte, 1) != 1)
    _exit (1);
  if (fcntl (pair[0], F_GETFL) < 0)
    _exit (2);
  g_free (g_malloc0 (8 * 1024 * 1024));
  /* The kernel itself is asked only where the vDSO cannot read the clock. */
  if (syscall (SYS_clock_gettime, CLOCK_MONOTONIC, &now) < 0 || syscall (SYS_gettimeofday, &real, NULL) < 0)
    _exit (3);
}

static void
test_allowed (void)
{
  int status = run_locked_down (do_allowed);

  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
}

static void
test_same_filter (void)
{
  const char *const words[] = { broker_path, "--print-filter", NULL };
  g_autoptr (GSubprocess) process = g_subprocess_newv (words, G_SUBPROCESS_FLAGS_STDOUT_PIPE, NULL);
  g_autoptr (GBytes) theirs = NULL;
  g_autoptr (GBytes) ours = sbx_lockdown_filter (NULL);

  g_assert_nonnull (process);
  g_assert_true (g_subprocess_communicate (process, NULL, NULL, &theirs, NULL, NULL));
  g_assert_nonnull (ours);
  g_assert_cmpuint (g_bytes_get_size (ours), >, 0);
  g_assert_true (g_bytes_equal (ours, theirs));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (argc != 2)
    {
      g_printerr ("usage: lockdown PATH-OF-SANDBOX-BROKER\n");
      return 2;
    }
  broker_path = argv[1];
  stream_fd = socket (AF_UNIX, SOCK_STREAM, 0);
  datagram_fd = socket (AF_UNIX, SOCK_DGRAM, 0);
  page = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM, 0, pair), ==, 0);

  g_test_add_func ("/attack/lockdown/allowed", test_allowed);
  for (gsize i = 0; i < G_N_ELEMENTS (tries); i++)
    {
      g_autofree char *name = g_strdup_printf ("/attack/lockdown/%s", tries[i].name);

      g_test_add_data_func (name, GSIZE_TO_POINTER (i), test_try);
    }
  g_test_add_func ("/attack/lockdown/same-filter", test_same_filter);
  return g_test_run ();
}
