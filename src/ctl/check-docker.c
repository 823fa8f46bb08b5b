/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include <string.h>
#include <unistd.h>

#include "base/names.h"
#include "container/engine.h"
#include "ctl/check.h"
#include "ctl/engine-wait.h"
#include "image-tar.h"
#include "sbx-config.h"

#define WORKER  SBX_LIBEXECDIR "/sandbox-worker"
#define REBUILD "sandboxctl image build"

/* The kernel's own word; the file is not there without AppArmor. */
static gboolean
kernel_has_apparmor (void)
{
  g_autofree char *text = NULL;

  return g_file_get_contents ("/sys/module/apparmor/parameters/enabled", &text, NULL, NULL) && text[0] == 'Y';
}

static void
check_runtime (SbxCheckList *list, const SbxConfig *config, const SbxEngineInfo *info)
{
  gboolean other = *config->runtime != '\0' && !g_str_equal (config->runtime, "runc");

  if (other && !g_strv_contains ((const char *const *) info->runtimes, config->runtime))
    sbx_check_list_add (
      list, SBX_CHECK_FAILED, "runtime",
      "add it to \"runtimes\" in /etc/docker/daemon.json, or unset Runtime= in sandboxd.conf",
      "Docker has no runtime \"%s\"", config->runtime);
  else if (other)
    sbx_check_list_add (list, SBX_CHECK_OK, "runtime", NULL, "workers run by %s", config->runtime);
  else if (sbx_check_runc_is_fixed (info->runc))
    sbx_check_list_add (list, SBX_CHECK_OK, "runtime", NULL, "runc %s", info->runc);
  else
    sbx_check_list_add (list, SBX_CHECK_WARNING, "runtime",
                        "apt-get update && apt-get install --only-upgrade runc; compare with\n"
                        "https://security-tracker.debian.org/tracker/source-package/runc",
                        "runc %s is older than 1.2.8 and 1.3.3 (CVE-2025-31133, -52565, -52881), unless your "
                        "distribution put the fixes into it",
                        *info->runc != '\0' ? info->runc : "of unknown version");
}

static void
check_info (SbxCheckList *list, const SbxConfig *config, const SbxEngineInfo *info)
{
  if (!sbx_check_version_at_least (info->server_version, 20, 10))
    sbx_check_list_add (list, SBX_CHECK_FAILED, "docker", "install Docker 20.10 or a later one",
                        "Docker %s is too old", info->server_version);
  else
    sbx_check_list_add (list, SBX_CHECK_OK, "docker", NULL, "Docker %s, cgroup v%s", info->server_version,
                        info->cgroup_version);

  if (g_str_equal (info->cgroup_driver, "systemd"))
    sbx_check_list_add (list, SBX_CHECK_OK, "cgroups", NULL, "Docker's cgroup driver is systemd");
  else
    sbx_check_list_add (list, SBX_CHECK_FAILED, "cgroups",
                        "write into /etc/docker/daemon.json, then: systemctl restart docker\n"
                        "{ \"exec-opts\": [\"native.cgroupdriver=systemd\"] }",
                        "Docker's cgroup driver is %s; workers cannot be put into " SBX_TURN_SLICE,
                        info->cgroup_driver);

  check_runtime (list, config, info);

  if (info->apparmor)
    sbx_check_list_add (list, SBX_CHECK_OK, "apparmor", NULL, "Docker confines containers by AppArmor");
  else if (kernel_has_apparmor ())
    sbx_check_list_add (list, SBX_CHECK_FAILED, "apparmor",
                        "apt-get install apparmor && systemctl restart docker",
                        "the kernel has AppArmor, but Docker does not use it");
  else
    sbx_check_list_add (list, SBX_CHECK_WARNING, "apparmor", "boot with the kernel argument apparmor=1",
                        "this kernel has no AppArmor: a worker has one wall less");
}

static void
check_image (SbxCheckList *list, const SbxConfig *config, SbxEngine *engine)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (SbxWorkerImage) wanted = NULL;
  g_autoptr (SbxImage) image = NULL;
  SbxWait wait = { 0 };

  sbx_engine_image_inspect_async (engine, config->image, 0, NULL, sbx_wait_done, &wait);
  result = sbx_wait (&wait);
  image = sbx_engine_image_inspect_finish (result, &error);
  if (g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_IMAGE_MISSING))
    sbx_check_list_add (list, SBX_CHECK_FAILED, "image", REBUILD, "there is no image %s", config->image);
  else if (image == NULL)
    sbx_check_list_add (list, SBX_CHECK_FAILED, "image", NULL, "%s: %s", config->image, error->message);
  else if (image->worker_version == NULL)
    sbx_check_list_add (list, SBX_CHECK_OK, "image", NULL, "%s is an image of your own", config->image);
  else if ((wanted = sbx_worker_image_new (WORKER, config->image, &error)) == NULL)
    sbx_check_list_add (list, SBX_CHECK_WARNING, "image", NULL, "it cannot be compared: %s", error->message);
  else if (!g_str_equal (wanted->id, image->id))
    sbx_check_list_add (list, SBX_CHECK_WARNING, "image", REBUILD,
                        "%s differs from the worker and the libraries installed here", config->image);
  else
    sbx_check_list_add (list, SBX_CHECK_OK, "image", NULL, "%s is what is installed, version %s",
                        config->image, image->worker_version);
}

void
sbx_check_docker (SbxCheckList *list, const SbxConfig *config)
{
  g_autoptr (SbxEngine) engine = sbx_engine_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (SbxEngineInfo) info = NULL;
  SbxWait wait = { 0 };

  if (access (SBX_DOCKER_SOCKET, F_OK) == 0 && access (SBX_DOCKER_SOCKET, R_OK | W_OK) < 0)
    {
      sbx_check_list_add (list, SBX_CHECK_NOT_MADE, "docker", NULL,
                          "only root and the group docker may ask Docker");
      return;
    }
  sbx_engine_info_async (engine, 0, NULL, sbx_wait_done, &wait);
  result = sbx_wait (&wait);
  info = sbx_engine_info_finish (result, &error);
  if (info == NULL)
    {
      sbx_check_list_add (list, SBX_CHECK_FAILED, "docker", "systemctl enable --now docker", "%s",
                          error->message);
      return;
    }
  check_info (list, config, info);
  check_image (list, config, engine);
}
