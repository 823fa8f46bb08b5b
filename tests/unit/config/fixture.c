/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "fixture.h"

#include <string.h>
#include <unistd.h>

#include "../remove-tree.h"
#include "config/search.h"
#include "sbx-config.h"

void
fixture_init (Fixture *self)
{
  self->root = g_dir_make_tmp ("sbx-config-XXXXXX", NULL);
  g_assert_nonnull (self->root);
}

void
fixture_clear (Fixture *self)
{
  remove_tree (self->root);
  g_clear_pointer (&self->root, g_free);
}

char *
fixture_path (const Fixture *self, const char *place, const char *name)
{
  const char *directory = strcmp (place, "etc") == 0   ? SBX_SYSCONFDIR
                          : strcmp (place, "run") == 0 ? SBX_RUN_CONFIG_DIR
                                                       : SBX_VENDOR_CONFIG_DIR;
  char *path = g_build_filename (self->root, directory, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);

  g_assert_cmpint (g_mkdir_with_parents (parent, 0755), ==, 0);
  return path;
}

void
fixture_write (const Fixture *self, const char *place, const char *name, const char *content)
{
  g_autofree char *path = fixture_path (self, place, name);

  g_assert_true (g_file_set_contents (path, content, -1, NULL));
}

void
fixture_link (const Fixture *self, const char *place, const char *name, const char *target)
{
  g_autofree char *path = fixture_path (self, place, name);

  g_assert_cmpint (symlink (target, path), ==, 0);
}
