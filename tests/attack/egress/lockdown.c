/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The egress's own lockdown, applied to processes that then try to get out of it. Each try is one child.
 *
 *   attack-egress-lockdown SANDBOX-EGRESS [--need-landlock]
 *
 * A kernel without Landlock has nothing to refuse some of them with; with --need-landlock that is a failure.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <linux/memfd.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "egress/lockdown.h"

static const char *program;
static gboolean need_landlock; /* the kernel is known to have it */
static char *allowed_dir;      /* the one path beyond the common ones */

/* Each returns TRUE when the try was refused. */
typedef gboolean (*Try) (void);

static gboolean
opens (const char *path, int flags)
{
  int fd = open (path, flags, 0600);

  return fd < 0 && (errno == EACCES || errno == EPERM);
}

static gboolean
try_read_passwd (void)
{
  return opens ("/etc/passwd", O_RDONLY);
}

static gboolean
try_read_shadow (void)
{
  return opens ("/etc/shadow", O_RDONLY);
}

static gboolean
try_read_environment (void)
{
  return opens ("/proc/self/environ", O_RDONLY);
}

static gboolean
try_list_root (void)
{
  return opens ("/", O_RDONLY | O_DIRECTORY);
}

static gboolean
try_write_key_dir (void)
{
  g_autofree char *path = g_build_filename (allowed_dir, "new", NULL);

  return opens (path, O_WRONLY | O_CREAT);
}

static gboolean
try_write_temporary (void)
{
  return opens ("/tmp/sbx-lockdown-was-here", O_RDWR | O_CREAT);
}

static gboolean
try_openat2 (void)
{
  guint64 how[3] = { O_WRONLY | O_CREAT, 0600, 0 };

  return syscall (SYS_openat2, AT_FDCWD, "/tmp/sbx-lockdown-was-here", how, sizeof how) < 0 && errno == EPERM;
}

static gboolean
try_unlink (void)
{
  return unlink ("/tmp/sbx-lockdown-not-there") < 0 && errno == EPERM;
}

static gboolean
try_exec (void)
{
  char *const argv[] = { (char *) "true", NULL };
  char *const envp[] = { NULL };

  execve ("/bin/true", argv, envp);
  return errno == EPERM;
}

static gboolean
try_fork (void)
{
  pid_t child = fork ();

  if (child == 0)
    _exit (0);
  return child < 0 && errno == EPERM;
}

static gboolean
try_clone3 (void)
{
  guint64 arguments[8] = { [4] = SIGCHLD };
  long child = syscall (SYS_clone3, arguments, sizeof arguments);

  if (child == 0)
    _exit (0);
  return child < 0 && errno == ENOSYS;
}

static gboolean
try_vfork (void)
{
  return syscall (SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) < 0 && errno == EPERM;
}

static gboolean
try_ptrace (void)
{
  return ptrace (PTRACE_TRACEME, 0, NULL, NULL) < 0 && errno == EPERM;
}

static gboolean
try_kill (void)
{
  return kill (getppid (), 0) < 0 && errno == EPERM;
}

static gboolean
try_prctl (void)
{
  return prctl (PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 && errno == EPERM;
}

static gboolean
try_executable_memory (void)
{
  void *place = mmap (NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  return place == MAP_FAILED && errno == EPERM;
}

static gboolean
try_make_executable (void)
{
  void *place = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  return place != MAP_FAILED && mprotect (place, 4096, PROT_READ | PROT_EXEC) < 0 && errno == EPERM;
}

static gboolean
try_memfd (void)
{
  return syscall (SYS_memfd_create, "a", 0) < 0 && errno == EPERM;
}

static gboolean
try_listen (void)
{
  int fd = socket (AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };

  return fd >= 0 && bind (fd, (struct sockaddr *) &address, sizeof address) < 0 && errno == EPERM
         && listen (fd, 1) < 0 && errno == EPERM;
}

static gboolean
try_netlink (void)
{
  return socket (AF_NETLINK, SOCK_RAW, 0) < 0 && errno == EPERM;
}

static gboolean
try_packet (void)
{
  return socket (AF_PACKET, SOCK_RAW, 0) < 0 && errno == EPERM;
}

static gboolean
try_setuid (void)
{
  return setuid (0) < 0 && errno == EPERM;
}

static gboolean
try_chroot (void)
{
  return chroot ("/") < 0 && errno == EPERM;
}

static gboolean
try_limits (void)
{
  return syscall (SYS_prlimit64, 0, 4, NULL, NULL) < 0 && errno == EPERM;
}

static gboolean
try_io_uring (void)
{
  return syscall (SYS_io_uring_setup, 1, NULL) < 0 && errno == EPERM;
}

static gboolean
try_bpf (void)
{
  return syscall (SYS_bpf, 0, NULL, 0) < 0 && errno == EPERM;
}

/* What has to go on working. */

static void *
thread_main (void *data)
{
  struct addrinfo *found = NULL;

  *(gboolean *) data = getaddrinfo ("localhost", "443", NULL, &found) == 0;
  return NULL;
}

static gboolean
try_look_up_in_thread (void)
{
  gboolean found = FALSE;
  pthread_t thread;

  return pthread_create (&thread, NULL, thread_main, &found) == 0 && pthread_join (thread, NULL) == 0
         && found;
}

static gboolean
try_read_key (void)
{
  g_autofree char *path = g_build_filename (allowed_dir, "key", NULL);

  return open (path, O_RDONLY) >= 0;
}

static gboolean
try_read_certificates (void)
{
  int fd = open ("/etc/ssl", O_RDONLY | O_DIRECTORY);

  return fd >= 0 || errno == ENOENT;
}

static const struct {
  const char *name;
  Try try;
  gboolean needs_landlock;
} tries[] = {
  { "read-passwd", try_read_passwd, TRUE },
  { "read-shadow", try_read_shadow, TRUE },
  { "read-environment", try_read_environment, TRUE },
  { "list-root", try_list_root, TRUE },
  { "write-key-dir", try_write_key_dir, FALSE },
  { "write-temporary", try_write_temporary, FALSE },
  { "openat2", try_openat2, FALSE },
  { "unlink", try_unlink, FALSE },
  { "exec", try_exec, FALSE },
  { "fork", try_fork, FALSE },
  { "clone3", try_clone3, FALSE },
  { "vfork", try_vfork, FALSE },
  { "ptrace", try_ptrace, FALSE },
  { "kill", try_kill, FALSE },
  { "prctl", try_prctl, FALSE },
  { "executable-memory", try_executable_memory, FALSE },
  { "make-executable", try_make_executable, FALSE },
  { "memfd", try_memfd, FALSE },
  { "listen", try_listen, FALSE },
  { "netlink", try_netlink, FALSE },
  { "packet", try_packet, FALSE },
  { "setuid", try_setuid, FALSE },
  { "chroot", try_chroot, FALSE },
  { "limits", try_limits, FALSE },
  { "io-uring", try_io_uring, FALSE },
  { "bpf", try_bpf, FALSE },
  { "look-up-in-thread", try_look_up_in_thread, FALSE },
  { "read-key", try_read_key, FALSE },
  { "read-certificates", try_read_certificates, FALSE },
};

enum {
  CHILD_REFUSED,
  CHILD_GOT_THROUGH,
  CHILD_NOT_LOCKED,
  CHILD_NO_LANDLOCK,
};

static void
test_try (gconstpointer data)
{
  const gsize which = GPOINTER_TO_SIZE (data);
  const char *const paths[] = { allowed_dir, NULL };
  pid_t child = fork ();
  int status = 0;

  if (child == 0)
    {
      gboolean landlock = FALSE;

      sbx_lockdown_preload ();
      if (!sbx_lockdown_apply (paths, &landlock, NULL))
        _exit (CHILD_NOT_LOCKED);
      if (tries[which].needs_landlock && !landlock)
        _exit (CHILD_NO_LANDLOCK);
      _exit (tries[which].try () ? CHILD_REFUSED : CHILD_GOT_THROUGH);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  /* Without Landlock in the kernel, the unit alone keeps files away; there is nothing to try here. */
  if (WEXITSTATUS (status) != CHILD_NO_LANDLOCK || need_landlock)
    g_assert_cmpint (WEXITSTATUS (status), ==, CHILD_REFUSED);
}

/* What was tried above is what the installed program loads. */
static void
test_same_filter (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) process =
    g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, program, "--print-filter", NULL);
  g_autoptr (GBytes) printed = NULL;
  g_autoptr (GBytes) own = sbx_lockdown_filter (&error);

  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate (process, NULL, NULL, &printed, NULL, &error));
  g_assert_true (g_subprocess_get_successful (process));
  g_assert_true (g_bytes_equal (printed, own));
}

int
main (int argc, char **argv)
{
  g_autofree char *key = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, >=, 2);
  program = argv[1];
  need_landlock = argc > 2 && g_str_equal (argv[2], "--need-landlock");
  allowed_dir = g_dir_make_tmp ("sbx-egress-XXXXXX", NULL);
  key = g_build_filename (allowed_dir, "key", NULL);
  g_assert_true (g_file_set_contents (key, "key", -1, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (tries); i++)
    {
      g_autofree char *path = g_strconcat ("/egress/lockdown/", tries[i].name, NULL);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_try);
    }
  g_test_add_func ("/egress/lockdown/same-filter", test_same_filter);
  result = g_test_run ();
  (void) unlink (key);
  (void) rmdir (allowed_dir);
  g_free (allowed_dir);
  return result;
}
