/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The end of the time that something may take: one shot, by the monotonic clock, on the thread-default main
 * context. */
#pragma once

#include <glib.h>

typedef struct _SbxDeadline SbxDeadline;

/* The longest there is: longer ones are cut to it. */
#define SBX_DEADLINE_MAX_MSEC (24u * 60u * 60u * 1000u)

/* Runs passed from the main loop, once, when msec have gone by, unless freed before. passed may free the
 * deadline. */
SbxDeadline *sbx_deadline_new (guint msec, void (*passed) (gpointer user_data), gpointer user_data);

/* NULL is fine. */
void sbx_deadline_free (SbxDeadline *self);

/* How long it still has; 0 when it has passed. */
guint sbx_deadline_left_msec (const SbxDeadline *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxDeadline, sbx_deadline_free)
