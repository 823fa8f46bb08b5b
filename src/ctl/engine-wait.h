/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Waits for one call of the asynchronous Docker client: sandboxctl does one thing after the other. */
#pragma once

#include <gio/gio.h>

typedef struct {
  GAsyncResult *result;
} SbxWait;

/* A GAsyncReadyCallback whose user_data is an SbxWait, zeroed before. */
void sbx_wait_done (GObject *source, GAsyncResult *result, gpointer user_data);

/* Runs the default main context until it was called; the caller unrefs the result. */
GAsyncResult *sbx_wait (SbxWait *wait);
