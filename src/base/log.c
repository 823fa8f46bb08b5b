/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Without it sd-journal would name this file's own lines as the place of each entry. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "base/text.h"

/* Beyond it a caller has mistaken the journal for a store. */
#define MAX_FIELDS 32u

static const char *log_name = "roundtable-sandbox";
static gboolean log_to_journal;
static gboolean log_debug;

/* An entry as the journal takes it. */
typedef struct {
  struct iovec vectors[MAX_FIELDS];
  int count;
} Entry;

static void
entry_add (Entry *self, const char *name, const char *value)
{
  char *field;

  if (value == NULL || (guint) self->count == MAX_FIELDS)
    return;
  field = g_strdup_printf ("%s=%s", name, value);
  self->vectors[self->count++] = (struct iovec){ .iov_base = field, .iov_len = strlen (field) };
}

static void
entry_add_fields (Entry *self, const SbxLogFields *fields)
{
  entry_add (self, "SANDBOX_TURN", fields->turn);
  entry_add (self, "SANDBOX_CHANNEL", fields->channel);
  entry_add (self, "SANDBOX_SPEAKER", fields->speaker);
  entry_add (self, "SANDBOX_PRINCIPAL", fields->principal);
  entry_add (self, "SANDBOX_OUTCOME", fields->outcome);
  entry_add (self, "SANDBOX_REASON", fields->reason);
  entry_add (self, "SANDBOX_CONTAINER", fields->container);
  for (const char *const *more = fields->more; more != NULL && more[0] != NULL; more += 2)
    entry_add (self, more[0], more[1]);
}

static void
entry_clear (Entry *self)
{
  for (int i = 0; i < self->count; i++)
    g_free (self->vectors[i].iov_base);
  self->count = 0;
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Entry, entry_clear)

/* systemd names the socket behind standard output and error as DEVICE:INODE. */
static gboolean
stderr_is_journal (void)
{
  const char *stream = g_getenv ("JOURNAL_STREAM");
  g_autofree char *ours = NULL;
  struct stat status;

  if (stream == NULL || fstat (STDERR_FILENO, &status) < 0)
    return FALSE;
  ours = g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, (guint64) status.st_dev,
                          (guint64) status.st_ino);
  return strcmp (ours, stream) == 0;
}

static void
log_write (const char *message_id, int priority, const SbxLogFields *fields, const char *message)
{
  g_autofree char *line = sbx_text_one_line (message);
  g_auto (Entry) entry = { .count = 0 };
  char level[2] = { (char) ('0' + priority), '\0' };

  if (priority == LOG_DEBUG && !log_debug)
    return;
  if (!log_to_journal)
    {
      (void) fprintf (stderr, "%s: %s\n", log_name, line);
      return;
    }
  entry_add (&entry, "MESSAGE", line);
  entry_add (&entry, "PRIORITY", level);
  entry_add (&entry, "SYSLOG_IDENTIFIER", log_name);
  entry_add (&entry, "MESSAGE_ID", message_id);
  if (fields != NULL)
    entry_add_fields (&entry, fields);
  if (sd_journal_sendv (entry.vectors, entry.count) < 0)
    (void) fprintf (stderr, "<%d>%s\n", priority, line);
}

static int
priority_of (GLogLevelFlags flags)
{
  if (flags & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL))
    return LOG_ERR;
  if (flags & G_LOG_LEVEL_WARNING)
    return LOG_WARNING;
  if (flags & G_LOG_LEVEL_MESSAGE)
    return LOG_NOTICE;
  return flags & G_LOG_LEVEL_INFO ? LOG_INFO : LOG_DEBUG;
}

static GLogWriterOutput
on_glib_message (GLogLevelFlags flags, const GLogField *fields, gsize n_fields, gpointer user_data)
{
  for (gsize i = 0; i < n_fields; i++)
    {
      g_autofree char *message = NULL;

      if (strcmp (fields[i].key, "MESSAGE") != 0)
        continue;
      message = fields[i].length < 0 ? g_strdup (fields[i].value)
                                     : g_strndup (fields[i].value, (gsize) fields[i].length);
      log_write (NULL, priority_of (flags), NULL, message);
    }
  return G_LOG_WRITER_HANDLED;
}

void
sbx_log_init (const char *name)
{
  log_name = name;
  log_to_journal = stderr_is_journal ();
  log_debug = g_strcmp0 (g_getenv ("DEBUG_INVOCATION"), "1") == 0;
  g_log_set_writer_func (on_glib_message, NULL, NULL);
}

G_GNUC_PRINTF (4, 0)
static void
log_format (const char *message_id, int priority, const SbxLogFields *fields, const char *format,
            va_list arguments)
{
  g_autofree char *message = NULL;

  g_return_if_fail (priority >= LOG_EMERG && priority <= LOG_DEBUG);

  message = g_strdup_vprintf (format, arguments);
  log_write (message_id, priority, fields, message);
}

void
sbx_log_event (const char *message_id, int priority, const SbxLogFields *fields, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  log_format (message_id, priority, fields, format, arguments);
  va_end (arguments);
}

void
sbx_log (int priority, const SbxLogFields *fields, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  log_format (NULL, priority, fields, format, arguments);
  va_end (arguments);
}
