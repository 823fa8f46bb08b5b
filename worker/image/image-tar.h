/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The worker image as a tar that the Engine API's POST /images/load takes (the `docker save` layout).
 *
 * FROM scratch: the installed worker as /worker, the dynamic loader and exactly the libraries that the worker
 * needs (asked of the loader itself with --list), zoneinfo, and empty mount points. No shell, no package
 * manager, nothing that is set-uid. Everything is owned by root, 0555 or 0444, with a fixed time: the same
 * installed files always give the same bytes and so the same image id, which is how an image is compared with
 * what is installed.
 *
 * Blocking; for programs that an operator runs, never for a service.
 */
#pragma once

#include <glib.h>

#define SBX_IMAGE_ERROR (sbx_image_error_quark ())
GQuark sbx_image_error_quark (void);
typedef enum {
  SBX_IMAGE_ERROR_MISSING, /* the worker, one of its libraries or zoneinfo is not installed */
  SBX_IMAGE_ERROR_READ,    /* there, but cannot be read */
  SBX_IMAGE_ERROR_LOADER,  /* the loader did not list the libraries */
} SbxImageError;

typedef struct {
  GBytes *archive; /* what POST /images/load takes */
  char *id;        /* "sha256:…": the image's id where Docker keeps images by configuration */
  char *layer;     /* "sha256:…": the only layer's digest (RootFS.Layers[0] of an image inspect) */
  guint64 n_bytes; /* of the files in it, unpacked */
} SbxWorkerImage;

/* Makes the image, named tag ("name:version"), out of worker_path and what it needs on this host. NULL with
 * error set; the text names the file. The labels are SBX_LABEL_WORKER (our version) and
 * org.opencontainers.image.{title,version, source}. */
SbxWorkerImage *sbx_worker_image_new (const char *worker_path, const char *tag, GError **error);
void sbx_worker_image_free (SbxWorkerImage *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxWorkerImage, sbx_worker_image_free)

/* Makes the image and writes the archive to fd. */
gboolean sbx_worker_image_write (const char *worker_path, const char *tag, int fd, GError **error);
