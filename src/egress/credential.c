/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/credential.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

struct _SbxCredential {
  char *path;
  SbxSecret *secret; /* NULL until the first good read */
  SbxSecret *previous;
  struct stat seen; /* of the file that secret came from */
  guint generation;
};

G_DEFINE_QUARK (sbx - credential - error - quark, sbx_credential_error)

SbxCredential *
sbx_credential_new (const char *path)
{
  SbxCredential *self = g_new0 (SbxCredential, 1);

  self->path = g_strdup (path);
  return self;
}

static void
forget (SbxCredential *self)
{
  /* Not poisoned: a call under way holds its own reference. */
  if (self->secret != NULL)
    {
      sbx_secret_unref (self->previous);
      self->previous = g_steal_pointer (&self->secret);
      self->generation++;
    }
  memset (&self->seen, 0, sizeof self->seen);
}

void
sbx_credential_free (SbxCredential *self)
{
  if (self == NULL)
    return;
  sbx_secret_unref (self->secret);
  sbx_secret_unref (self->previous);
  g_free (self->path);
  g_free (self);
}

const char *
sbx_credential_path (const SbxCredential *self)
{
  return self->path;
}

SbxSecret *
sbx_credential_previous (const SbxCredential *self)
{
  return self->previous;
}

guint
sbx_credential_generation (const SbxCredential *self)
{
  return self->generation;
}

gboolean
sbx_credential_is_exposed (const SbxCredential *self)
{
  return (self->seen.st_mode & S_IROTH) != 0;
}

const char *
sbx_credential_fault (const char *bytes, gsize n_bytes)
{
  if (n_bytes == 0)
    return "is empty; it must hold the key";
  for (gsize i = 0; i < n_bytes; i++)
    if (bytes[i] == '\n' || bytes[i] == '\r')
      return "has more than one line; it must hold the key alone, on one line";
  for (gsize i = 0; i < n_bytes; i++)
    if (bytes[i] <= ' ' || bytes[i] >= 0x7f)
      return "holds a blank, a control byte or a byte beyond ASCII; it must hold the key alone";
  if (n_bytes < SBX_KEY_MIN_BYTES)
    return "holds fewer than 8 bytes; that is no key (an endpoint without keys has an empty KeyFile=)";
  if (n_bytes > SBX_KEY_MAX_BYTES)
    return "holds more than 8,192 bytes; it must hold the key alone";
  return NULL;
}

static gboolean
same_file (const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size
         && a->st_mode == b->st_mode && a->st_mtim.tv_sec == b->st_mtim.tv_sec
         && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec
         && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Reads the key from fd into self. */
static gboolean
read_key (SbxCredential *self, int fd, const struct stat *st, GError **error)
{
  char bytes[SBX_KEY_MAX_BYTES + 2];
  gsize n_bytes = 0;
  gssize n = 1;
  const char *fault;

  while (n > 0 && n_bytes < sizeof bytes)
    {
      n = read (fd, bytes + n_bytes, sizeof bytes - n_bytes);
      if (n < 0 && errno == EINTR)
        n = 1;
      else if (n > 0)
        n_bytes += (gsize) n;
    }
  if (n < 0)
    {
      g_set_error (error, SBX_CREDENTIAL_ERROR, SBX_CREDENTIAL_ERROR_UNREADABLE,
                   "The key file %s cannot be read: %s", self->path, g_strerror (errno));
      explicit_bzero (bytes, sizeof bytes);
      return FALSE;
    }
  if (n_bytes > 0 && bytes[n_bytes - 1] == '\n')
    n_bytes--;
  fault = sbx_credential_fault (bytes, n_bytes);
  if (fault != NULL)
    g_set_error (error, SBX_CREDENTIAL_ERROR, SBX_CREDENTIAL_ERROR_MALFORMED, "The key file %s %s",
                 self->path, fault);
  else
    {
      self->secret = sbx_secret_new (bytes, n_bytes);
      self->generation++;
      self->seen = *st;
    }
  explicit_bzero (bytes, sizeof bytes);
  return fault == NULL;
}

SbxSecret *
sbx_credential_get (SbxCredential *self, GError **error)
{
  g_auto (SbxFd) fd = open (self->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  struct stat st;

  if (fd < 0 || fstat (fd, &st) < 0)
    {
      g_set_error (error, SBX_CREDENTIAL_ERROR, SBX_CREDENTIAL_ERROR_UNREADABLE,
                   "The key file %s cannot be read: %s", self->path,
                   errno == ELOOP ? "it is a link; it must be a regular file" : g_strerror (errno));
      forget (self);
      return NULL;
    }
  if (self->secret != NULL && same_file (&st, &self->seen))
    return self->secret;
  forget (self);
  if (!S_ISREG (st.st_mode))
    {
      g_set_error (error, SBX_CREDENTIAL_ERROR, SBX_CREDENTIAL_ERROR_UNREADABLE,
                   "The key file %s must be a regular file", self->path);
      return NULL;
    }
  return read_key (self, fd, &st, error) ? self->secret : NULL;
}
