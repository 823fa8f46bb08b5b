/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The C library's heap. */
#pragma once

/* For a service that handles one large body after another: room that was had is kept for the next, up to some
 * MB. Otherwise glibc gives a body's pages back at each free, and has them anew, one fault a page. Call it
 * first of all. */
void sbx_heap_keep (void);
