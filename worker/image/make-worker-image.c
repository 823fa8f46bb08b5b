/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* make-worker-image: writes the worker image as an archive for POST /images/load (or `docker load`) to
 * standard output. */
#include <unistd.h>

#include "base/names.h"
#include "image-tar.h"
#include "sbx-config.h"

int
main (int argc, char **argv)
{
  g_autofree char *tag = NULL;
  g_autofree char *worker = NULL;
  gboolean only_id = FALSE;
  const GOptionEntry entries[] = {
    { "tag", 0, 0, G_OPTION_ARG_STRING, &tag, "Name the image (default " SBX_WORKER_IMAGE ")",
      "NAME:VERSION" },
    { "worker", 0, 0, G_OPTION_ARG_FILENAME, &worker, "The worker program (default the installed one)",
      "PATH" },
    { "id", 0, 0, G_OPTION_ARG_NONE, &only_id, "Say only the image's id and layer", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("- the worker image, FROM scratch");
  g_autoptr (SbxWorkerImage) image = NULL;
  g_autoptr (GError) error = NULL;
  const char *path;
  const char *name;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      g_printerr ("make-worker-image: %s\n", error->message);
      return 2;
    }
  path = worker != NULL ? worker : SBX_LIBEXECDIR "/sandbox-worker";
  name = tag != NULL ? tag : SBX_WORKER_IMAGE;
  if (only_id)
    {
      image = sbx_worker_image_new (path, name, &error);
      if (image != NULL)
        {
          g_print ("%s %s %" G_GUINT64_FORMAT "\n", image->id, image->layer, image->n_bytes);
          return 0;
        }
    }
  else if (isatty (STDOUT_FILENO))
    {
      g_printerr (
        "make-worker-image: the archive is binary; send standard output to a file or to `docker load`\n");
      return 2;
    }
  else if (sbx_worker_image_write (path, name, STDOUT_FILENO, &error))
    {
      return 0;
    }
  g_printerr ("make-worker-image: %s\n", error->message);
  return 1;
}
