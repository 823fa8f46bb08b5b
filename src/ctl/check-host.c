/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <errno.h>
#include <gio/gio.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/names.h"
#include "config/mcp-d.h"
#include "config/tools-d.h"
#include "ctl/check.h"
#include "sbx-config.h"

#define CONNECT_SEC 5u
/* Where unit(5) credentials are; the egress reads them at its start, and nobody else can. */
#define CREDENTIALS "/run/credentials/"

SbxConfig *
sbx_check_config (SbxCheckList *list)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  SbxConfig *config = sbx_config_load (NULL, warnings, &error);

  if (config == NULL)
    sbx_check_list_add (list, SBX_CHECK_FAILED, "config",
                        "correct it, then: systemctl restart sandboxd sandbox-egress", "%s", error->message);
  else if (warnings->len == 0)
    sbx_check_list_add (list, SBX_CHECK_OK, "config", NULL, "sandboxd.conf and its drop-ins are right");
  for (guint i = 0; i < warnings->len; i++)
    sbx_check_list_add (list, SBX_CHECK_WARNING, "config", NULL, "%s",
                        (const char *) g_ptr_array_index (warnings, i));
  return config;
}

static gboolean
is_member (const char *user, gid_t primary, const char *group)
{
  struct group *entry = getgrnam (group);
  gid_t gid = entry != NULL ? entry->gr_gid : 0;
  gid_t groups[256];
  int n_groups = (int) G_N_ELEMENTS (groups);

  if (entry == NULL || getgrouplist (user, primary, groups, &n_groups) < 0)
    return FALSE;
  for (int i = 0; i < n_groups; i++)
    if (groups[i] == gid)
      return TRUE;
  return FALSE;
}

void
sbx_check_users (SbxCheckList *list)
{
  static const char *const users[] = { SBX_DAEMON_USER, SBX_EGRESS_USER, SBX_WORKER_USER };
  static const char *const groups[] = { "docker", SBX_WORKER_USER };
  gboolean well = TRUE;

  for (gsize i = 0; i < G_N_ELEMENTS (users); i++)
    if (getpwnam (users[i]) == NULL)
      {
        sbx_check_list_add (list, SBX_CHECK_FAILED, "users", "systemd-sysusers", "there is no user %s",
                            users[i]);
        well = FALSE;
      }
  for (gsize i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      struct passwd *daemon = getpwnam (SBX_DAEMON_USER);

      if (daemon == NULL || is_member (SBX_DAEMON_USER, daemon->pw_gid, groups[i]))
        continue;
      sbx_check_list_add (list, SBX_CHECK_FAILED, "users", "systemd-sysusers && systemctl restart sandboxd",
                          "%s is not in the group %s", SBX_DAEMON_USER, groups[i]);
      well = FALSE;
    }
  if (well)
    sbx_check_list_add (list, SBX_CHECK_OK, "users", NULL, "the service users and their groups are there");
}

static void
check_key (SbxCheckList *list, const char *what, const char *path)
{
  g_autofree char *fix = g_strdup_printf ("install -o %s -m 0400 /dev/stdin %s", SBX_EGRESS_USER, path);
  struct passwd *egress = getpwnam (SBX_EGRESS_USER);
  const char *fault;
  struct stat status;

  if (*path == '\0')
    sbx_check_list_add (list, SBX_CHECK_OK, "key", NULL, "%s is called without a key", what);
  else if (g_str_has_prefix (path, CREDENTIALS))
    sbx_check_list_add (list, SBX_CHECK_OK, "key", NULL, "%s: the key is a credential of sandbox-egress",
                        what);
  else if (lstat (path, &status) < 0 && errno == EACCES)
    sbx_check_list_add (list, SBX_CHECK_NOT_MADE, "key", NULL, "%s: only root can look at %s", what, path);
  else if (lstat (path, &status) < 0)
    sbx_check_list_add (list, SBX_CHECK_FAILED, "key", fix, "%s: %s: %s", what, path, g_strerror (errno));
  else if (egress != NULL && (fault = sbx_check_key_fault (&status, egress->pw_uid)) != NULL)
    sbx_check_list_add (list, SBX_CHECK_FAILED, "key", fix, "%s: %s %s", what, path, fault);
  else
    sbx_check_list_add (list, SBX_CHECK_OK, "key", NULL, "%s: %s is there, for %s alone", what, path,
                        SBX_EGRESS_USER);
}

/* mcp.d was read with the tools already: an error is told there. */
static GPtrArray *
servers (void)
{
  GPtrArray *found = sbx_mcp_servers_load (NULL, NULL, NULL);

  return found != NULL ? found : g_ptr_array_new ();
}

void
sbx_check_keys (SbxCheckList *list, const SbxConfig *config)
{
  g_autoptr (GPtrArray) mcp = servers ();

  check_key (list, "the model", config->model->key_file);
  for (guint i = 0; i < mcp->len; i++)
    {
      const SbxMcpServer *server = g_ptr_array_index (mcp, i);

      check_key (list, server->name, server->endpoint->key_file);
    }
}

/* Name and connection only: what the endpoint says to the key is seen by the turn at the end. */
static void
check_endpoint (SbxCheckList *list, const char *what, const char *url)
{
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_autoptr (GSocketConnection) connection = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *host = sbx_endpoint_host (url);
  guint16 port = g_str_has_prefix (url, "https:") ? 443 : 80;

  g_socket_client_set_timeout (client, CONNECT_SEC);
  g_socket_client_set_enable_proxy (client, FALSE);
  connection = g_socket_client_connect_to_uri (client, url, port, NULL, &error);
  if (connection != NULL)
    sbx_check_list_add (list, SBX_CHECK_OK, "endpoint", NULL, "%s: %s takes connections", what, host);
  else
    sbx_check_list_add (list, SBX_CHECK_FAILED, "endpoint",
                        "look at the name in URL= or \"url\", the resolver and the firewall of this host",
                        "%s: %s: %s", what, host, error->message);
}

void
sbx_check_endpoints (SbxCheckList *list, const SbxConfig *config)
{
  g_autoptr (GPtrArray) mcp = servers ();

  if (*config->model->url == '\0')
    sbx_check_list_add (list, SBX_CHECK_FAILED, "endpoint",
                        "write into " SBX_SYSCONFDIR "/sandboxd.conf.d/50-local.conf:\n[Model]\n"
                        "URL=https://…/v1/chat/completions\nName=…",
                        "no model is configured");
  else
    check_endpoint (list, "the model", config->model->url);
  for (guint i = 0; i < mcp->len; i++)
    {
      const SbxMcpServer *server = g_ptr_array_index (mcp, i);

      check_endpoint (list, server->name, server->endpoint->url);
    }
}

void
sbx_check_tools (SbxCheckList *list)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) tools = sbx_tools_load (NULL, warnings, &error);
  g_autoptr (GPtrArray) mcp = tools != NULL ? sbx_mcp_servers_load (NULL, warnings, &error) : NULL;
  guint n_missing = 0;

  if (mcp == NULL)
    {
      sbx_check_list_add (list, SBX_CHECK_FAILED, "tools",
                          "correct it, then: systemctl restart sandboxd sandbox-egress", "%s",
                          error->message);
      return;
    }
  for (guint i = 0; i < warnings->len; i++)
    sbx_check_list_add (list, SBX_CHECK_WARNING, "tools", NULL, "%s",
                        (const char *) g_ptr_array_index (warnings, i));
  for (guint i = 0; i < tools->len; i++)
    {
      const SbxTool *tool = g_ptr_array_index (tools, i);
      g_autofree char *fix =
        g_strdup_printf ("systemctl enable --now sandbox-tool-%s.socket", tool->spec.name);
      struct stat status;

      if (tool->socket == NULL || (stat (tool->socket, &status) == 0 && S_ISSOCK (status.st_mode)))
        continue;
      sbx_check_list_add (list, SBX_CHECK_FAILED, "tools", fix, "%s: there is no socket %s", tool->spec.name,
                          tool->socket);
      n_missing++;
    }
  if (n_missing == 0)
    sbx_check_list_add (list, SBX_CHECK_OK, "tools", NULL, "%u host tools and %u MCP servers are declared",
                        tools->len, mcp->len);
}

/* The channel's files are the guests': without a quota one of them can fill the disk. */
static void
check_quota (SbxCheckList *list)
{
  g_autofree char *mounts = NULL;
  g_autofree char *options = NULL;
  struct stat status;

  if (stat (SBX_STATE_DIR, &status) < 0 || !g_file_get_contents ("/proc/self/mountinfo", &mounts, NULL, NULL))
    return;
  options = sbx_check_mount_options (mounts, major (status.st_dev), minor (status.st_dev));
  if (options == NULL || strstr (options, "quota") == NULL)
    sbx_check_list_add (list, SBX_CHECK_WARNING, "disk",
                        "give " SBX_STATE_DIR
                        " a file system of its own, or a quota: see operations.md in the documentation",
                        "the file system of the workspaces has no quota: guests can fill it");
}

void
sbx_check_disk (SbxCheckList *list, const SbxConfig *config)
{
  struct statvfs fs;
  guint64 free_bytes;

  if (statvfs (SBX_STATE_DIR, &fs) < 0)
    {
      sbx_check_list_add (list, SBX_CHECK_FAILED, "disk", "systemd-tmpfiles --create", "%s: %s",
                          SBX_STATE_DIR, g_strerror (errno));
      return;
    }
  free_bytes = (guint64) fs.f_bavail * fs.f_frsize;
  if (free_bytes < config->min_free_bytes)
    sbx_check_list_add (list, SBX_CHECK_FAILED, "disk", "make room, or lower MinFree= in sandboxd.conf",
                        "%s has %" G_GUINT64_FORMAT " MiB left; MinFree= is %" G_GUINT64_FORMAT " MiB",
                        SBX_STATE_DIR, free_bytes >> 20, config->min_free_bytes >> 20);
  else if (fs.f_files > 0 && fs.f_favail < 1000)
    sbx_check_list_add (list, SBX_CHECK_FAILED, "disk", "remove files: df -i shows where",
                        "%s has %" G_GUINT64_FORMAT " inodes left", SBX_STATE_DIR, (guint64) fs.f_favail);
  else
    sbx_check_list_add (list, SBX_CHECK_OK, "disk", NULL, "%s has %" G_GUINT64_FORMAT " MiB left",
                        SBX_STATE_DIR, free_bytes >> 20);
  check_quota (list);
}
