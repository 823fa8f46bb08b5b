/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What a process takes from itself before it reads foreign bytes. None of it needs a privilege, none can be
 * undone.
 *
 * A syscall filter is built once as the very bytes that the kernel gets, so that a test can hold the
 * production program's filter against the one that it tries out. All functions return FALSE (or NULL) with
 * error set (G_IO_ERROR); a caller that goes on after one has failed is not locked down.
 */
#pragma once

#include <gio/gio.h>
#include <sys/types.h>

/* The kernel ends this process with SIGKILL when its parent ends (PR_SET_PDEATHSIG, prctl(2)). parent is who
 * should be the parent: where it is gone already, FALSE, since the signal would never come. */
gboolean sbx_hardening_die_with_parent (pid_t parent, GError **error);

/* No new privileges (also by executing a set-uid file), not dumpable: no core, no ptrace by the same uid. */
gboolean sbx_hardening_drop_privileges (GError **error);

typedef struct {
  guint64 address_space_bytes; /* RLIMIT_AS; 0 leaves it */
  guint64 file_bytes;          /* RLIMIT_FSIZE */
  guint n_files;               /* RLIMIT_NOFILE: no descriptor of this number or above */
} SbxHardeningLimits;

/* Sets the limits, soft and hard, and that of core files to 0. */
gboolean sbx_hardening_limit (const SbxHardeningLimits *limits, GError **error);

/* Closes every descriptor but those given, in ascending order. */
gboolean sbx_hardening_close_others (const int *kept, gsize n_kept, GError **error);

/* A syscall that may be made; everything else meets the filter's action. */
typedef struct {
  const char *name; /* one that this architecture does not have is left out */
  guint n_checks;   /* 0: whatever its arguments; else all must hold */
  struct {
    guint argument; /* 0-5 */
    guint64 mask;   /* allowed where (argument & mask) == value */
    guint64 value;
  } checks[2];
} SbxFilterRule;

/* Elements of a table of rules: whatever the arguments; one argument's low 32 bits are a value; it has none
 * of some bits; it has all of them. */
#define SBX_FILTER_ANY(name_)                                                                                \
  {                                                                                                          \
    .name = (name_)                                                                                          \
  }
#define SBX_FILTER_ONLY(name_, argument_, value_)                                                            \
  {                                                                                                          \
    .name = (name_), .n_checks = 1, .checks = { { (argument_), 0xffffffffu, (value_) } }                     \
  }
#define SBX_FILTER_LACKS(name_, argument_, bits_)                                                            \
  {                                                                                                          \
    .name = (name_), .n_checks = 1, .checks = { { (argument_), (bits_), 0 } }                                \
  }
#define SBX_FILTER_HAS(name_, argument_, bits_)                                                              \
  {                                                                                                          \
    .name = (name_), .n_checks = 1, .checks = { { (argument_), (bits_), (bits_) } }                          \
  }

typedef enum {
  SBX_FILTER_KILL,  /* ends the process with SIGSYS */
  SBX_FILTER_EPERM, /* the call fails with EPERM */
} SbxFilterAction;

/* The filter as the kernel's instructions (struct sock_filter, seccomp(2)). Several rules of one name add up.
 * Another architecture's calls end the process with either action. */
GBytes *sbx_hardening_filter_build (const SbxFilterRule *rules, gsize n_rules, SbxFilterAction action,
                                    GError **error);

/* Puts the filter on this thread and those that it makes later. Privileges must be dropped before. */
gboolean sbx_hardening_filter_load (GBytes *filter, GError **error);
