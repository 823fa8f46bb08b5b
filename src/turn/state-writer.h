/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Brings what changes in a state directory to the disk: one job after another, in the order in which they
 * were asked for, each in a thread of its own, so that a slow disk makes nobody wait but those who asked.
 *
 * The main loop itself only changes what the kernel holds (SBX_STATE_SEEN); it never waits for the disk
 * between the daemon's start and its end. What is asked for while a job is under way is joined into as few
 * jobs as may be, so the queue does not grow with a disk that stands still.
 */
#pragma once

#include "turn/state-dir.h"

typedef struct _SbxStateWriter SbxStateWriter;

/* error: why it may not be on the disk; NULL: it is. */
typedef void (*SbxStateDone) (const GError *error, gpointer user_data);

/* directory must outlive it. */
SbxStateWriter *sbx_state_writer_new (SbxStateDir *directory);
/* Does all that was asked for, blocking as long as the disk takes, and calls no done any more. NULL is fine.
 */
void sbx_state_writer_free (SbxStateWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxStateWriter, sbx_state_writer_free)

/* Writes the file name as a whole (SBX_STATE_ON_DISK). content gives what it is to hold, and is called when
 * the job begins, after the done of every job before. done is called from the loop; may be NULL. */
void sbx_state_writer_write (SbxStateWriter *self, const char *name, GString *(*content) (gpointer),
                             gpointer content_data, SbxStateDone done, gpointer user_data);

/* Brings the file name (NULL: none), written already, and the directory's entries to the disk. done is called
 * from the loop; may be NULL. */
void sbx_state_writer_sync (SbxStateWriter *self, const char *name, SbxStateDone done, gpointer user_data);
