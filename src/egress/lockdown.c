/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/lockdown.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netdb.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/landlock.h>

#include "base/fd.h"
#include "base/hardening.h"

/* Grants, transfers, kept connections and the rest: about 700. */
#define MAX_FILES      1024u
#define MAX_FILE_BYTES (1024u * 1024u)

#define ANY(name_)                                                                                           \
  {                                                                                                          \
    .name = (name_)                                                                                          \
  }
#define ONLY(name_, argument_, value_)                                                                       \
  {                                                                                                          \
    .name = (name_), .n_checks = 1, .checks = { { (argument_), 0xffffffffu, (value_) } }                     \
  }
#define LACKS(name_, argument_, bits_)                                                                       \
  {                                                                                                          \
    .name = (name_), .n_checks = 1, .checks = { { (argument_), (bits_), 0 } }                                \
  }
#define HAS(name_, argument_, bits_)                                                                         \
  {                                                                                                          \
    .name = (name_), .n_checks = 1, .checks = { { (argument_), (bits_), (bits_) } }                          \
  }

static const SbxFilterRule rules[] = {
  /* bytes */
  ANY ("read"),
  ANY ("readv"),
  ANY ("pread64"),
  ANY ("write"),
  ANY ("writev"),
  ANY ("recvmsg"),
  ANY ("recvfrom"),
  ANY ("sendto"),
  ANY ("sendmsg"),
  ANY ("sendmmsg"),
  ANY ("close"),
  ANY ("lseek"),
  /* sockets; nothing listens but what was passed in */
  ONLY ("socket", 0, AF_UNIX),
  ONLY ("socket", 0, AF_INET),
  ONLY ("socket", 0, AF_INET6),
  ANY ("socketpair"),
  ANY ("connect"),
  ANY ("accept4"),
  ANY ("shutdown"),
  ANY ("setsockopt"),
  ANY ("getsockopt"),
  ANY ("getsockname"),
  ANY ("getpeername"),
  /* files, to read */
  LACKS ("openat", 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC),
  ANY ("newfstatat"),
  ANY ("fstat"),
  ANY ("fstatfs"),
  ANY ("statx"),
  ANY ("readlink"),
  ANY ("readlinkat"),
  ANY ("faccessat"),
  ANY ("faccessat2"),
  ANY ("access"),
  ANY ("getdents64"),
  ONLY ("fcntl", 1, F_GETFL),
  ONLY ("fcntl", 1, F_SETFL),
  ONLY ("fcntl", 1, F_GETFD),
  ONLY ("fcntl", 1, F_SETFD),
  ONLY ("fcntl", 1, F_DUPFD_CLOEXEC),
  /* waiting and time */
  ANY ("poll"),
  ANY ("ppoll"),
  ANY ("futex"),
  ANY ("clock_gettime"),
  ANY ("clock_nanosleep"),
  ANY ("nanosleep"),
  ANY ("gettimeofday"),
  ANY ("restart_syscall"),
  ANY ("eventfd2"),
  ANY ("pipe2"),
  /* signals to itself */
  ANY ("rt_sigaction"),
  ANY ("rt_sigprocmask"),
  ANY ("rt_sigreturn"),
  ANY ("sigaltstack"),
  /* threads: name look-ups have one each */
  HAS ("clone", 0, CLONE_THREAD | CLONE_VM),
  ANY ("clone3"), /* refused with ENOSYS by a filter of its own, whose flags can't be seen from here */
  ANY ("set_robust_list"),
  ANY ("rseq"),
  ONLY ("prctl", 0, PR_SET_NAME),
  ANY ("sched_yield"),
  ANY ("sched_getaffinity"),
  /* memory, never executable */
  ANY ("brk"),
  LACKS ("mmap", 2, PROT_EXEC),
  LACKS ("mprotect", 2, PROT_EXEC),
  ANY ("munmap"),
  ANY ("mremap"),
  ANY ("madvise"),
  /* what the libraries ask of themselves */
  ANY ("getpid"),
  ANY ("gettid"),
  ANY ("getuid"),
  ANY ("geteuid"),
  ANY ("getgid"),
  ANY ("getegid"),
  ANY ("getrandom"),
  ANY ("uname"),
  ANY ("sysinfo"),
  ANY ("exit"),
  ANY ("exit_group"),
};

GBytes *
sbx_lockdown_filter (GError **error)
{
  return sbx_hardening_filter_build (rules, G_N_ELEMENTS (rules), SBX_FILTER_EPERM, error);
}

/* The C library makes threads by clone3, whose flags lie in memory where no filter sees them, and by clone
 * only where clone3 does not exist. So for us it does not exist. */
static GBytes *
hide_clone3 (void)
{
  const struct sock_filter program[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };

  return g_bytes_new (program, sizeof program);
}

/* Every module on the "hosts:" line of nsswitch.conf(5): executable memory cannot be had later. */
static void
load_resolver_modules (void)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents ("/etc/nsswitch.conf", &text, NULL, NULL))
    return;
  lines = g_strsplit (text, "\n", -1);
  for (gsize i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) words =
        g_str_has_prefix (lines[i], "hosts:") ? g_strsplit_set (lines[i] + 6, " \t", -1) : NULL;

      for (gsize j = 0; words != NULL && words[j] != NULL; j++)
        {
          g_autofree char *library = g_strdup_printf ("libnss_%s.so.2", words[j]);

          if (g_ascii_isalpha (words[j][0]) && strchr (words[j], '/') == NULL)
            (void) dlopen (library,
                           RTLD_NOW); /* kept open for ever; "dns" and "files" are in the C library */
        }
    }
}

void
sbx_lockdown_preload (void)
{
  struct addrinfo *found = NULL;

  load_resolver_modules ();
  if (getaddrinfo ("localhost", "443", &(struct addrinfo){ .ai_socktype = SOCK_STREAM }, &found) == 0)
    freeaddrinfo (found);
}

/* --- Landlock --- */

/* resolv.conf(5) and its kin are often links into /run. */
static const char *const common_paths[] = {
  "/usr/lib",
  "/usr/lib64",
  "/lib",
  "/lib64",
  "/etc/ld.so.cache",
  "/etc/ssl",
  "/etc/ca-certificates",
  "/usr/share/ca-certificates",
  "/usr/local/share/ca-certificates",
  "/usr/share/zoneinfo",
  "/etc/localtime",
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/host.conf",
  "/etc/nsswitch.conf",
  "/etc/gai.conf",
  "/etc/services",
  "/run/systemd/resolve",
  "/run/NetworkManager",
  "/run/resolvconf",
  "/run/connman",
  "/dev/urandom",
  "/dev/null",
};

static gboolean
fail (GError **error, const char *what)
{
  int saved_errno = errno;

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved_errno), "%s: %s", what,
               g_strerror (saved_errno));
  return FALSE;
}

static gboolean
allow_path (int ruleset, const char *path, GError **error)
{
  g_auto (SbxFd) fd = open (path, O_PATH | O_CLOEXEC);
  struct landlock_path_beneath_attr rule = { .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
                                             .parent_fd = fd };
  struct stat st;

  if (fd < 0)
    return TRUE;
  if (fstat (fd, &st) == 0 && S_ISDIR (st.st_mode))
    rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
  if (syscall (SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
    return fail (error, "Cannot allow a path");
  return TRUE;
}

static gboolean
apply_landlock (const char *const *paths, gboolean *ret_landlock, GError **error)
{
  /* All of the first version: what newer ones add (refer, truncate, ioctl) the syscall filter already
   * refuses. */
  struct landlock_ruleset_attr handled = { .handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1 };
  g_auto (SbxFd) ruleset = -1;

  *ret_landlock = FALSE;
  ruleset = (int) syscall (SYS_landlock_create_ruleset, &handled, sizeof handled.handled_access_fs, 0);
  if (ruleset < 0 && (errno == ENOSYS || errno == EOPNOTSUPP))
    return TRUE;
  if (ruleset < 0)
    return fail (error, "Cannot start a Landlock ruleset");
  for (gsize i = 0; i < G_N_ELEMENTS (common_paths); i++)
    if (!allow_path (ruleset, common_paths[i], error))
      return FALSE;
  for (gsize i = 0; paths[i] != NULL; i++)
    if (!allow_path (ruleset, paths[i], error))
      return FALSE;
  if (syscall (SYS_landlock_restrict_self, ruleset, 0) < 0)
    return fail (error, "Cannot restrict what can be read");
  *ret_landlock = TRUE;
  return TRUE;
}

gboolean
sbx_lockdown_apply (const char *const *paths, gboolean *ret_landlock, GError **error)
{
  static const SbxHardeningLimits limits = { .file_bytes = MAX_FILE_BYTES, .n_files = MAX_FILES };
  g_autoptr (GBytes) filter = sbx_lockdown_filter (error);
  g_autoptr (GBytes) clone3_filter = hide_clone3 ();

  return filter != NULL && sbx_hardening_drop_privileges (error) && sbx_hardening_limit (&limits, error)
         && apply_landlock (paths, ret_landlock, error) && sbx_hardening_filter_load (clone3_filter, error)
         && sbx_hardening_filter_load (filter, error);
}

gboolean
sbx_lockdown_is_stale (void)
{
  g_auto (SbxFd) fd = open ("/etc/resolv.conf", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

  return fd < 0 && errno == EACCES;
}
