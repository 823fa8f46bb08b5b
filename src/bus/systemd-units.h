/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What we ask of systemd's manager: scopes for processes of ours, and their end. Asynchronous, each call with
 * a deadline.
 *
 * Callbacks get a NULL source object. Freeing SbxUnits fails what runs with SBX_UNITS_ERROR_BUS, from the
 * main loop.
 */
#pragma once

#include <gio/gio.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#define SBX_UNITS_ERROR (sbx_units_error_quark ())
GQuark sbx_units_error_quark (void);
typedef enum {
  SBX_UNITS_ERROR_BUS,        /* the connection broke, or the call could not be made */
  SBX_UNITS_ERROR_DENIED,     /* polkit refuses: are the rules for our user installed? */
  SBX_UNITS_ERROR_NAME_TAKEN, /* a unit of that name is loaded: try again under another */
  SBX_UNITS_ERROR_NO_UNIT,    /* it is gone, or never was */
  SBX_UNITS_ERROR_TIMEOUT,
  SBX_UNITS_ERROR_FAILED, /* the job did not end as "done", or systemd refused; the text says what it said */
  SBX_UNITS_ERROR_NOT_MEMBER, /* the scope is there, but the process is not in it */
} SbxUnitsError;

#define SBX_UNITS_TIMEOUT_MS 30000u

typedef struct _SbxUnits SbxUnits;

/* Subscribes and listens for finished jobs. NULL with error set (SBX_UNITS_ERROR_BUS). One for each bus
 * connection. */
SbxUnits *sbx_units_new (sd_bus *bus, GError **error);
void sbx_units_free (SbxUnits *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxUnits, sbx_units_free)

/* Calls changed whenever systemd says that something of that unit is another: it has ended, is started, has
 * failed. One unit; again for another takes the first back. FALSE with error set. */
gboolean sbx_units_watch (SbxUnits *self, const char *unit, void (*changed) (gpointer user_data),
                          gpointer user_data, GError **error);

typedef struct {
  const char *name; /* "….scope" */
  const char *description;
  const char *slice;
  pid_t pid;                 /* a child of ours that waits for us before it does anything */
  guint64 runtime_max_usec;  /* 0: no limit */
  guint64 stop_timeout_usec; /* from SIGTERM to SIGKILL */
  guint64 memory_max_bytes;  /* 0: no limit */
  guint64 tasks_max;         /* 0: no limit */
} SbxScopeSpec;

/* Starts the scope, waits for its job, then checks that the process really is in it. The process must still
 * be dumpable (its /proc files are unreadable afterwards), so check before it locks itself down. spec is
 * copied. On success gives the scope's control group, which may be NULL to ignore. Fails closed: after an
 * error the caller kills the process. */
void sbx_units_start_scope_async (SbxUnits *self, const SbxScopeSpec *spec, GCancellable *cancellable,
                                  GAsyncReadyCallback callback, gpointer user_data);
gboolean sbx_units_start_scope_finish (GAsyncResult *result, char **ret_control_group, GError **error);

typedef enum {
  SBX_UNITS_KILL, /* SIGKILL to all its processes */
  SBX_UNITS_STOP, /* queues the stop job, does not wait for it */
  SBX_UNITS_RESET_FAILED,
} SbxUnitsVerb;

/* A unit that is gone is SBX_UNITS_ERROR_NO_UNIT, which most callers take as success. timeout_ms 0:
 * SBX_UNITS_TIMEOUT_MS. */
void sbx_units_do_async (SbxUnits *self, SbxUnitsVerb verb, const char *unit, guint timeout_ms,
                         GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
gboolean sbx_units_do_finish (GAsyncResult *result, GError **error);

typedef struct {
  char *name;
  char *active_state; /* active, failed, … */
  char *sub_state;
} SbxUnitInfo;

/* Loaded units whose names match pattern (a glob). Gives an array of SbxUnitInfo. */
void sbx_units_list_async (SbxUnits *self, const char *pattern, guint timeout_ms, GCancellable *cancellable,
                           GAsyncReadyCallback callback, gpointer user_data);
GPtrArray *sbx_units_list_finish (GAsyncResult *result, GError **error);

/* Pure: whether the text of a /proc/PID/cgroup puts the process into control_group, by systemd's hierarchy
 * (the "0::" line, or "name=systemd" on cgroup v1). */
gboolean sbx_units_cgroup_is (const char *proc_cgroup, const char *control_group);
