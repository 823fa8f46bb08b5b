/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A root directory of the test's own, filled file by file. */
#pragma once

#include <glib.h>

typedef struct {
  char *root;
} Fixture;

void fixture_init (Fixture *self);
void fixture_clear (Fixture *self); /* removes all of it */
/* place: "etc", "run" or "vendor". */
char *fixture_path (const Fixture *self, const char *place, const char *name);
void fixture_write (const Fixture *self, const char *place, const char *name, const char *content);
void fixture_link (const Fixture *self, const char *place, const char *name, const char *target);
