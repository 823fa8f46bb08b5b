/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/hardening.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

typedef void *FilterContext;
G_DEFINE_AUTO_CLEANUP_FREE_FUNC (FilterContext, seccomp_release, NULL)

/* number: an errno value, positive. Always FALSE. */
static gboolean
fail (GError **error, int number, const char *what)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (number), "%s: %s", what, g_strerror (number));
  return FALSE;
}

gboolean
sbx_hardening_die_with_parent (pid_t parent, GError **error)
{
  if (prctl (PR_SET_PDEATHSIG, SIGKILL) < 0)
    return fail (error, errno, "Cannot ask to end with the parent");
  /* Asked after the request, so that a parent that ends in between is seen by one of the two. */
  if (getppid () != parent)
    return fail (error, ESRCH, "The parent has ended");
  return TRUE;
}

gboolean
sbx_hardening_drop_privileges (GError **error)
{
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return fail (error, errno, "Cannot give up new privileges");
  if (prctl (PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
    return fail (error, errno, "Cannot make the process undumpable");
  return TRUE;
}

static gboolean
limit (__rlimit_resource_t resource, guint64 value, GError **error)
{
  struct rlimit rule = { .rlim_cur = value, .rlim_max = value };
  struct rlimit old;

  if (getrlimit (resource, &old) < 0)
    return fail (error, errno, "Cannot read a resource limit");
  /* The hard limit cannot be raised; one that is lower already serves as well. */
  if (old.rlim_max < value)
    rule = (struct rlimit){ .rlim_cur = old.rlim_max, .rlim_max = old.rlim_max };
  if (setrlimit (resource, &rule) < 0)
    return fail (error, errno, "Cannot set a resource limit");
  return TRUE;
}

gboolean
sbx_hardening_limit (const SbxHardeningLimits *limits, GError **error)
{
  return limit (RLIMIT_CORE, 0, error) && limit (RLIMIT_FSIZE, limits->file_bytes, error)
         && limit (RLIMIT_NOFILE, limits->n_files, error)
         && (limits->address_space_bytes == 0 || limit (RLIMIT_AS, limits->address_space_bytes, error));
}

gboolean
sbx_hardening_close_others (const int *kept, gsize n_kept, GError **error)
{
  guint first = 0;

  for (gsize i = 0; i < n_kept; i++)
    {
      guint fd = (guint) kept[i];

      g_return_val_if_fail (kept[i] >= 0 && fd >= first, FALSE);
      if (fd > first && close_range (first, fd - 1, 0) < 0)
        return fail (error, errno, "Cannot close inherited descriptors");
      first = fd + 1;
    }
  if (close_range (first, G_MAXUINT, 0) < 0)
    return fail (error, errno, "Cannot close inherited descriptors");
  return TRUE;
}

/* A negative errno value, or 0. */
static int
filter_add (scmp_filter_ctx context, const SbxFilterRule *rule)
{
  int number = seccomp_syscall_resolve_name (rule->name);
  struct scmp_arg_cmp checks[G_N_ELEMENTS (rule->checks)];

  /* Negative numbers are other architectures' calls (seccomp_syscall_resolve_name(3)). */
  if (number < 0)
    return 0;
  for (guint i = 0; i < rule->n_checks; i++)
    checks[i] =
      SCMP_CMP64 (rule->checks[i].argument, SCMP_CMP_MASKED_EQ, rule->checks[i].mask, rule->checks[i].value);
  return seccomp_rule_add_array (context, SCMP_ACT_ALLOW, number, rule->n_checks, checks);
}

static GBytes *
filter_export (scmp_filter_ctx context, GError **error)
{
  g_auto (SbxFd) fd = memfd_create ("filter", MFD_CLOEXEC);
  g_autofree guint8 *bytes = NULL;
  struct stat status;
  gssize n;
  int r;

  if (fd < 0)
    {
      fail (error, errno, "Cannot make a memory file for the syscall filter");
      return NULL;
    }
  r = seccomp_export_bpf (context, fd);
  if (r < 0)
    {
      fail (error, -r, "Cannot translate the syscall filter");
      return NULL;
    }
  if (fstat (fd, &status) < 0)
    {
      fail (error, errno, "Cannot read the syscall filter back");
      return NULL;
    }
  bytes = g_malloc ((gsize) status.st_size + 1);
  n = pread (fd, bytes, (gsize) status.st_size, 0);
  if (n != status.st_size || n % (gssize) sizeof (struct sock_filter) != 0)
    {
      fail (error, EIO, "Cannot read the syscall filter back");
      return NULL;
    }
  return g_bytes_new_take (g_steal_pointer (&bytes), (gsize) n);
}

GBytes *
sbx_hardening_filter_build (const SbxFilterRule *rules, gsize n_rules, SbxFilterAction action, GError **error)
{
  g_auto (FilterContext) context =
    seccomp_init (action == SBX_FILTER_KILL ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO (EPERM));
  int r;

  if (context == NULL)
    {
      fail (error, ENOMEM, "Cannot start a syscall filter");
      return NULL;
    }
  r = seccomp_attr_set (context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  for (gsize i = 0; r == 0 && i < n_rules; i++)
    r = filter_add (context, &rules[i]);
  if (r < 0)
    {
      fail (error, -r, "Cannot build the syscall filter");
      return NULL;
    }
  return filter_export (context, error);
}

gboolean
sbx_hardening_filter_load (GBytes *filter, GError **error)
{
  gsize n_bytes;
  gconstpointer bytes = g_bytes_get_data (filter, &n_bytes);
  struct sock_fprog program = { .len = (unsigned short) (n_bytes / sizeof (struct sock_filter)),
                                .filter = (struct sock_filter *) bytes };

  g_return_val_if_fail (n_bytes / sizeof (struct sock_filter) <= BPF_MAXINSNS, FALSE);

  if (syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
    return fail (error, errno, "Cannot load the syscall filter");
  return TRUE;
}
