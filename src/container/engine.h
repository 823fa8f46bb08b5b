/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* An asynchronous client of the Docker Engine API over its Unix socket.
 *
 * One call at a time has a connection, which is kept open for the next one for a few seconds
 * (container/http-pool.h); an answer must have been read to its end for that, so that no call meets the
 * remains of another. Every call is bounded: in time (timeout_ms covers connecting, asking and the whole
 * answer; 0 is the call's own default), in the size of its answer, and by its cancellable. Nothing blocks.
 * The peer is trusted (dockerd is root), but may hang, be restarted, or answer half.
 *
 * Each pair: _async starts, callback gets a NULL source object, _finish takes the result once. A call keeps
 * the engine alive. Errors: SBX_ENGINE_ERROR, or G_IO_ERROR_CANCELLED.
 */
#pragma once

#include <gio/gio.h>

#define SBX_ENGINE_ERROR (sbx_engine_error_quark ())
GQuark sbx_engine_error_quark (void);
typedef enum {
  SBX_ENGINE_ERROR_DOWN,          /* cannot connect, no answer in time, or the connection broke */
  SBX_ENGINE_ERROR_IMAGE_MISSING, /* create, image inspect: there is no such image */
  SBX_ENGINE_ERROR_NAME_TAKEN,    /* create: a container has that name */
  SBX_ENGINE_ERROR_NOT_FOUND,     /* there is no such container (any more) */
  SBX_ENGINE_ERROR_IN_PROGRESS,   /* delete: it is being removed already */
  SBX_ENGINE_ERROR_CONFLICT,      /* 409 of another kind, */
  SBX_ENGINE_ERROR_REFUSED,       /* another error; the text ends with Docker's own message */
  SBX_ENGINE_ERROR_ANSWER,        /* not an answer of the Engine API: is the socket dockerd's? */
} SbxEngineError;

/* The largest answer that is read, in bytes. */
#define SBX_ENGINE_MAX_ANSWER         (8u * 1024u * 1024u)
#define SBX_ENGINE_DEFAULT_TIMEOUT_MS 10000u

typedef struct _SbxEngine SbxEngine;

/* socket_path may be NULL for SBX_DOCKER_SOCKET. Does not connect. */
SbxEngine *sbx_engine_new (const char *socket_path);
/* The same Docker, but no connection is kept open: for calls that come seldom, and then many at once. */
SbxEngine *sbx_engine_new_without_pool (SbxEngine *of);
SbxEngine *sbx_engine_ref (SbxEngine *self);
void sbx_engine_unref (SbxEngine *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxEngine, sbx_engine_unref)

/* --- the daemon --- */

typedef struct {
  char *server_version; /* "20.10.24+dfsg1" */
  char *cgroup_driver;  /* "systemd": the only one with which CgroupParent may be a slice */
  char *cgroup_version; /* "1" or "2"; "" where Docker does not say */
  char **runtimes;      /* their names, NULL-terminated */
  char *runc;           /* its version or commit, as its maker writes it; "" where Docker does not say */
  gboolean apparmor;    /* containers are confined by it */
  gint64 containers_running;
} SbxEngineInfo;

void sbx_engine_info_free (SbxEngineInfo *info);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxEngineInfo, sbx_engine_info_free)

void sbx_engine_info_async (SbxEngine *self, guint timeout_ms, GCancellable *cancellable,
                            GAsyncReadyCallback callback, gpointer user_data);
SbxEngineInfo *sbx_engine_info_finish (GAsyncResult *result, GError **error);

/* --- images --- */

typedef struct {
  char *id;             /* "sha256:…" */
  char *worker_version; /* the value of SBX_LABEL_WORKER; NULL: not our own image */
  /* It runs our worker of this very version, which stays behind its reply until its input ends. An image made
   * from ours has its label: it is taken for ours where its entrypoint is the same, whatever is there. */
  gboolean keeps_input;
} SbxImage;

void sbx_image_free (SbxImage *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxImage, sbx_image_free)

void
sbx_engine_image_inspect_async (SbxEngine *self, const char *image, guint timeout_ms,
                                GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
SbxImage *sbx_engine_image_inspect_finish (GAsyncResult *result, GError **error);

/* Loads what `docker save` wrote. Default timeout: 300 s. */
void
sbx_engine_image_load_async (SbxEngine *self, GInputStream *tar, guint timeout_ms, GCancellable *cancellable,
                             GAsyncReadyCallback callback, gpointer user_data);
gboolean sbx_engine_image_load_finish (GAsyncResult *result, GError **error);

/* --- containers: id is Docker's id or a name of ours --- */

/* body is the JSON of container/spec.h. Gives the id. After a create that was cancelled, or failed with DOWN,
 * the container may be there all the same: remove it by its name. */
void sbx_engine_container_create_async (SbxEngine *self, const char *name, const char *body, guint timeout_ms,
                                        GCancellable *cancellable, GAsyncReadyCallback callback,
                                        gpointer user_data);
char *sbx_engine_container_create_finish (GAsyncResult *result, GError **error);

/* One that runs already is started (304). */
void sbx_engine_container_start_async (SbxEngine *self, const char *id, guint timeout_ms,
                                       GCancellable *cancellable, GAsyncReadyCallback callback,
                                       gpointer user_data);
gboolean sbx_engine_container_start_finish (GAsyncResult *result, GError **error);

/* Waits until it does not run, and gives its exit status. Call it when start has finished, not before: one
 * that was never started "does not run". Since AutoRemove is false a status cannot be missed. timeout_ms 0:
 * no limit, so hold a cancellable. */
void
sbx_engine_container_wait_async (SbxEngine *self, const char *id, guint timeout_ms, GCancellable *cancellable,
                                 GAsyncReadyCallback callback, gpointer user_data);
gboolean sbx_engine_container_wait_finish (GAsyncResult *result, gint64 *ret_exit_status, GError **error);

typedef struct {
  char *id;
  char *name;   /* without the leading "/" */
  char *status; /* created, running, paused, restarting, removing, exited, dead */
  gboolean running;
  gboolean oom_killed;
  gint64 exit_status;
  gint64 pid;  /* as the host sees it; 0 when it does not run */
  char *error; /* Docker's words about a failed start, or "" */
} SbxContainerState;

void sbx_container_state_free (SbxContainerState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxContainerState, sbx_container_state_free)

/* On a connection of its own: a Docker that is ending takes none, so it does not answer this. */
void sbx_engine_container_inspect_async (SbxEngine *self, const char *id, guint timeout_ms,
                                         GCancellable *cancellable, GAsyncReadyCallback callback,
                                         gpointer user_data);
SbxContainerState *sbx_engine_container_inspect_finish (GAsyncResult *result, GError **error);

/* One DELETE with force and volumes. NOT_FOUND and IN_PROGRESS are told apart; container/removal.h is what a
 * turn uses. */
void sbx_engine_container_delete_async (SbxEngine *self, const char *id, guint timeout_ms,
                                        GCancellable *cancellable, GAsyncReadyCallback callback,
                                        gpointer user_data);
gboolean sbx_engine_container_delete_finish (GAsyncResult *result, GError **error);

typedef struct {
  char *id;
  char *name;
  char *state;        /* as SbxContainerState.status */
  GHashTable *labels; /* text to text */
} SbxContainerInfo;

/* All containers, running or not, that have the label ("name" or "name=value"). Gives an array of
 * SbxContainerInfo. */
void
sbx_engine_container_list_async (SbxEngine *self, const char *label, guint timeout_ms,
                                 GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
GPtrArray *sbx_engine_container_list_finish (GAsyncResult *result, GError **error);
