/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* What the fuzz targets share. A target says what must hold with g_assert (), which ends the process. */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's entry point; 0 keeps the input, -1 keeps it out of the corpus. */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t n_bytes);
