/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "ctl/check-list.h"

#include <string.h>

#define EGRESS 990u

static const struct {
  mode_t mode;
  uid_t uid;
  off_t size;
  const char *holds; /* NULL: nothing is wrong */
} keys[] = {
  { S_IFREG | 0400, EGRESS, 40, NULL },
  { S_IFREG | 0600, EGRESS, 8, NULL },
  { S_IFREG | 0640, 0, 40, NULL },
  { S_IFREG | 0600, 0, 40, "cannot be read by sandbox-egress" },
  { S_IFREG | 0400, 1000, 40, "another user" },
  { S_IFREG | 0444, EGRESS, 40, "others" },
  { S_IFREG | 0460, EGRESS, 40, "others" },
  { S_IFREG | 0200, EGRESS, 40, "cannot be read by its owner" },
  { S_IFREG | 0400, EGRESS, 0, "empty" },
  { S_IFREG | 0400, EGRESS, 8194, "too long" },
  { S_IFDIR | 0700, EGRESS, 40, "no plain file" },
  { S_IFLNK | 0777, EGRESS, 40, "no plain file" },
};

static void
test_keys (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      struct stat status = { .st_mode = keys[i].mode, .st_uid = keys[i].uid, .st_size = keys[i].size };
      const char *fault = sbx_check_key_fault (&status, EGRESS);

      g_test_message ("row %u: %s", (guint) i, fault != NULL ? fault : "good");
      if (keys[i].holds == NULL)
        g_assert_null (fault);
      else
        g_assert_nonnull (strstr (fault, keys[i].holds));
    }
}

static const struct {
  const char *version;
  gboolean fixed;
} runcs[] = {
  { "v1.1.12-0-g51d5e946", FALSE },
  { "1.1.5+ds1-1+deb12u1", FALSE },
  { "1.2.7", FALSE },
  { "1.2.8", TRUE },
  { "v1.3.2", FALSE },
  { "1.3.3+ds1-2", TRUE },
  { "1.4.0", TRUE },
  { "2.0.0", TRUE },
  { "1.0.3", FALSE },
  { "N/A", FALSE },
  { "", FALSE },
};

static void
test_runc (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (runcs); i++)
    {
      g_test_message ("%s", runcs[i].version);
      g_assert_cmpint (sbx_check_runc_is_fixed (runcs[i].version), ==, runcs[i].fixed);
    }
}

static void
test_version (void)
{
  g_assert_true (sbx_check_version_at_least ("20.10.24+dfsg1", 20, 10));
  g_assert_true (sbx_check_version_at_least ("26.1.5+dfsg1", 20, 10));
  g_assert_false (sbx_check_version_at_least ("19.03.8", 20, 10));
  g_assert_false (sbx_check_version_at_least ("20.9.0", 20, 10));
  g_assert_false (sbx_check_version_at_least ("", 20, 10));
}

static void
test_mount (void)
{
  static const char *const mounts =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro\n"
    "30 22 254:1 / /var rw,nosuid shared:2 master:3 - xfs /dev/vdb rw,prjquota\n"
    "31 22 0:5 / /odd\n";
  g_autofree char *root = sbx_check_mount_options (mounts, 254, 0);
  g_autofree char *var = sbx_check_mount_options (mounts, 254, 1);

  g_assert_cmpstr (root, ==, "rw,relatime,rw,errors=remount-ro");
  g_assert_cmpstr (var, ==, "rw,nosuid,rw,prjquota");
  g_assert_null (sbx_check_mount_options (mounts, 0, 5));
  g_assert_null (sbx_check_mount_options ("", 1, 1));
}

static void
test_lines (void)
{
  g_autofree char *good = sbx_check_line (SBX_CHECK_OK, "docker", "20.10", NULL, FALSE);
  g_autofree char *bad = sbx_check_line (SBX_CHECK_FAILED, "image", "missing", "do this\nthen that", FALSE);
  g_autofree char *color = sbx_check_line (SBX_CHECK_WARNING, "disk", "no quota", NULL, TRUE);

  g_assert_cmpstr (good, ==, "ok        docker      20.10\n");
  g_assert_cmpstr (bad, ==,
                   "FAILED    image       missing\n                      fix: do this\n                      "
                   "     then that\n");
  g_assert_true (g_str_has_prefix (color, "\033[33mwarning \033[0m"));
}

static void
test_list (void)
{
  g_autoptr (SbxCheckList) list = sbx_check_list_new (SBX_JSON_SHORT, FALSE);
  g_autofree char *json = NULL;

  sbx_check_list_add (list, SBX_CHECK_OK, "users", NULL, "all %d", 3);
  sbx_check_list_add (list, SBX_CHECK_FAILED, "key", "install it", "missing");
  json = sbx_check_list_json (list);
  g_assert_cmpstr (
    json, ==,
    "[{\"check\":\"users\",\"result\":\"ok\",\"text\":\"all 3\",\"fix\":\"\"},"
    "{\"check\":\"key\",\"result\":\"FAILED\",\"text\":\"missing\",\"fix\":\"install it\"}]\n");
  g_assert_cmpuint (sbx_check_list_count (list, SBX_CHECK_FAILED), ==, 1);
  g_assert_cmpuint (sbx_check_list_count (list, SBX_CHECK_WARNING), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ctl/check-list/keys", test_keys);
  g_test_add_func ("/ctl/check-list/runc", test_runc);
  g_test_add_func ("/ctl/check-list/version", test_version);
  g_test_add_func ("/ctl/check-list/mount", test_mount);
  g_test_add_func ("/ctl/check-list/lines", test_lines);
  g_test_add_func ("/ctl/check-list/list", test_list);
  return g_test_run ();
}
