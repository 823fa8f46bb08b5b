/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "base/heap.h"

#include <malloc.h>

#define KEPT_BYTES    (2 * 1024 * 1024)
#define LARGEST_BYTES (1024 * 1024) /* what is larger gets pages of its own, and gives them back */

void
sbx_heap_keep (void)
{
  (void) mallopt (M_TRIM_THRESHOLD, KEPT_BYTES);
  (void) mallopt (M_MMAP_THRESHOLD, LARGEST_BYTES);
}
