/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* image build, image check: the worker's image is made of what is installed on this host; nothing is
 * downloaded. image check IMAGE: a self-test of any worker's image. */
#include "ctl/ctl.h"

#include "base/names.h"
#include "config/config.h"
#include "container/engine.h"
#include "ctl/engine-wait.h"
#include "ctl/image-trial.h"
#include "image-tar.h"
#include "sbx-config.h"

#define WORKER SBX_LIBEXECDIR "/sandbox-worker"

static SbxExit
engine_failed (const GError *error, const char *what)
{
  g_printerr ("Cannot %s: %s\n", what, error->message);
  if (g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_DOWN))
    g_printerr (
      "Docker must run (\"systemctl start docker\"), and only root and the group docker may talk to it.\n");
  return SBX_EXIT_FAILED;
}

static SbxExit
build (const SbxWorkerImage *image, const char *tag)
{
  g_autoptr (SbxEngine) engine = sbx_engine_new (NULL);
  g_autoptr (GInputStream) tar = g_memory_input_stream_new_from_bytes (image->archive);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;
  SbxWait wait = { 0 };

  sbx_engine_image_load_async (engine, tar, 0, NULL, sbx_wait_done, &wait);
  result = sbx_wait (&wait);
  if (!sbx_engine_image_load_finish (result, &error))
    return engine_failed (error, "load the worker's image");
  g_print ("%s: %.1f MB, %s\n", tag, (double) image->n_bytes / 1e6, image->id);
  return SBX_EXIT_GOOD;
}

static SbxExit
check (const SbxWorkerImage *image, const char *tag)
{
  g_autoptr (SbxEngine) engine = sbx_engine_new (NULL);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (SbxImage) loaded = NULL;
  g_autoptr (GError) error = NULL;
  SbxWait wait = { 0 };

  sbx_engine_image_inspect_async (engine, tag, 0, NULL, sbx_wait_done, &wait);
  result = sbx_wait (&wait);
  loaded = sbx_engine_image_inspect_finish (result, &error);
  if (g_error_matches (error, SBX_ENGINE_ERROR, SBX_ENGINE_ERROR_IMAGE_MISSING))
    g_printerr ("%s is missing. Make it: \"sandboxctl image build\".\n", tag);
  else if (loaded == NULL)
    return engine_failed (error, "look at the worker's image");
  else if (loaded->worker_version == NULL)
    g_printerr ("%s is not an image of ours: its replies count at the end of output only.\n", tag);
  else if (!g_str_equal (loaded->id, image->id))
    g_printerr ("%s differs from the worker and the libraries installed here. Make it anew: \"sandboxctl "
                "image build\".\n",
                tag);
  else
    {
      g_print ("%s is what is installed (version %s).\n", tag, loaded->worker_version);
      return SBX_EXIT_GOOD;
    }
  return SBX_EXIT_FAILED;
}

SbxExit
sbx_verb_image (SbxCtl *ctl, int n_words, char **words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxConfig) config = sbx_config_load (NULL, NULL, &error);
  g_autoptr (SbxWorkerImage) image = NULL;

  if (config == NULL)
    {
      g_printerr ("%s\n", error->message);
      return SBX_EXIT_FAILED;
    }
  if ((!g_str_equal (words[1], "build") && !g_str_equal (words[1], "check"))
      || (n_words > 2 && g_str_equal (words[1], "build")))
    {
      g_printerr ("Usage: sandboxctl image build, sandboxctl image check [IMAGE]\n");
      return SBX_EXIT_USAGE;
    }
  if (n_words > 2)
    {
      g_autoptr (SbxEngine) engine = sbx_engine_new (NULL);

      return sbx_image_trial (engine, config, words[2]);
    }
  image = sbx_worker_image_new (WORKER, config->image, &error);
  if (image == NULL)
    {
      g_printerr ("Cannot make the worker's image: %s\n", error->message);
      return SBX_EXIT_FAILED;
    }
  return g_str_equal (words[1], "build") ? build (image, config->image) : check (image, config->image);
}
