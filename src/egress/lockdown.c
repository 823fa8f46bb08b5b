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

static const SbxFilterRule rules[] = {
  /* bytes */
  SBX_FILTER_ANY ("read"),
  SBX_FILTER_ANY ("readv"),
  SBX_FILTER_ANY ("pread64"),
  SBX_FILTER_ANY ("write"),
  SBX_FILTER_ANY ("writev"),
  SBX_FILTER_ANY ("recvmsg"),
  SBX_FILTER_ANY ("recvfrom"),
  SBX_FILTER_ANY ("sendto"),
  SBX_FILTER_ANY ("sendmsg"),
  SBX_FILTER_ANY ("sendmmsg"),
  SBX_FILTER_ANY ("close"),
  SBX_FILTER_ANY ("lseek"),
  /* sockets; nothing listens but what was passed in */
  SBX_FILTER_ONLY ("socket", 0, AF_UNIX),
  SBX_FILTER_ONLY ("socket", 0, AF_INET),
  SBX_FILTER_ONLY ("socket", 0, AF_INET6),
  SBX_FILTER_ANY ("socketpair"),
  SBX_FILTER_ANY ("connect"),
  SBX_FILTER_ANY ("accept4"),
  SBX_FILTER_ANY ("shutdown"),
  SBX_FILTER_ANY ("setsockopt"),
  SBX_FILTER_ANY ("getsockopt"),
  SBX_FILTER_ANY ("getsockname"),
  SBX_FILTER_ANY ("getpeername"),
  /* files, to read */
  SBX_FILTER_LACKS ("openat", 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC),
  SBX_FILTER_ANY ("newfstatat"),
  SBX_FILTER_ANY ("fstat"),
  SBX_FILTER_ANY ("fstatfs"),
  SBX_FILTER_ANY ("statx"),
  SBX_FILTER_ANY ("readlink"),
  SBX_FILTER_ANY ("readlinkat"),
  SBX_FILTER_ANY ("faccessat"),
  SBX_FILTER_ANY ("faccessat2"),
  SBX_FILTER_ANY ("access"),
  SBX_FILTER_ANY ("getdents64"),
  SBX_FILTER_ONLY ("fcntl", 1, F_GETFL),
  SBX_FILTER_ONLY ("fcntl", 1, F_SETFL),
  SBX_FILTER_ONLY ("fcntl", 1, F_GETFD),
  SBX_FILTER_ONLY ("fcntl", 1, F_SETFD),
  SBX_FILTER_ONLY ("fcntl", 1, F_DUPFD_CLOEXEC),
  /* waiting and time */
  SBX_FILTER_ANY ("poll"),
  SBX_FILTER_ANY ("ppoll"),
  SBX_FILTER_ANY ("futex"),
  SBX_FILTER_ANY ("clock_gettime"),
  SBX_FILTER_ANY ("clock_nanosleep"),
  SBX_FILTER_ANY ("nanosleep"),
  SBX_FILTER_ANY ("gettimeofday"),
  SBX_FILTER_ANY ("restart_syscall"),
  SBX_FILTER_ANY ("eventfd2"),
  SBX_FILTER_ANY ("pipe2"),
  /* signals to itself */
  SBX_FILTER_ANY ("rt_sigaction"),
  SBX_FILTER_ANY ("rt_sigprocmask"),
  SBX_FILTER_ANY ("rt_sigreturn"),
  SBX_FILTER_ANY ("sigaltstack"),
  /* threads: name look-ups have one each */
  SBX_FILTER_HAS ("clone", 0, CLONE_THREAD | CLONE_VM),
  SBX_FILTER_ANY (
    "clone3"), /* refused with ENOSYS by a filter of its own, whose flags can't be seen from here */
  SBX_FILTER_ANY ("set_robust_list"),
  SBX_FILTER_ANY ("rseq"),
  SBX_FILTER_ONLY ("prctl", 0, PR_SET_NAME),
  SBX_FILTER_ANY ("sched_yield"),
  SBX_FILTER_ANY ("sched_getaffinity"),
  /* memory, never executable */
  SBX_FILTER_ANY ("brk"),
  SBX_FILTER_LACKS ("mmap", 2, PROT_EXEC),
  SBX_FILTER_LACKS ("mprotect", 2, PROT_EXEC),
  SBX_FILTER_ANY ("munmap"),
  SBX_FILTER_ANY ("mremap"),
  SBX_FILTER_ANY ("madvise"),
  /* what the libraries ask of themselves */
  SBX_FILTER_ANY ("getpid"),
  SBX_FILTER_ANY ("gettid"),
  SBX_FILTER_ANY ("getuid"),
  SBX_FILTER_ANY ("geteuid"),
  SBX_FILTER_ANY ("getgid"),
  SBX_FILTER_ANY ("getegid"),
  SBX_FILTER_ANY ("getrandom"),
  SBX_FILTER_ANY ("uname"),
  SBX_FILTER_ANY ("sysinfo"),
  SBX_FILTER_ANY ("exit"),
  SBX_FILTER_ANY ("exit_group"),
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
