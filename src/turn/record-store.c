/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "turn/record-store.h"

#include <string.h>

#include "base/log.h"
#include "base/source.h"
#include "turn/record-file.h"

#define EXPIRE_EVERY_SEC 30u
/* Texts whose file could not be written. */
#define MAX_UNSAVED_BYTES (8u * 1024u * 1024u)

typedef struct {
  SbxRecord record; /* the first member: a record handed out is its entry */
  char *text;       /* only while it is not in the file */
  gboolean saved;
} Entry;

struct _SbxRecordStore {
  SbxStateDir *directory;
  GQueue entries;         /* the oldest outcome first */
  GHashTable *by_turn;    /* turn -> GList of entries */
  GHashTable *by_message; /* message key -> Entry, the newest of it */
  GPtrArray *unfinished;
  SbxStateWriter *writer;
  GQueue replaced; /* turns whose outcome is on its way to the disk, and then replaces the request */
  gsize unsaved_bytes;
  GSource *expire_source;
  void (*gone) (const char *turn, gpointer user_data);
  gpointer user_data;
};

char *
sbx_record_message_key (guint32 uid, const char *channel, const char *message_id)
{
  /* A channel's key holds no line end. */
  return g_strdup_printf ("%u\n%s\n%s", uid, channel, message_id);
}

static void
entry_free (Entry *self)
{
  g_free (self->record.turn);
  g_free (self->record.channel);
  g_free (self->record.message_id);
  g_free (self->text);
  g_free (self);
}

static char *
file_name (const char *turn, const char *state)
{
  return g_strconcat (turn, ".", state, NULL);
}

static void
remove_file (SbxRecordStore *self, const char *turn, const char *state)
{
  g_autofree char *name = file_name (turn, state);

  sbx_state_dir_remove (self->directory, name);
}

/* What an outcome replaces. */
static void
remove_request (SbxRecordStore *self, const char *turn)
{
  remove_file (self, turn, "queued");
  remove_file (self, turn, "started");
}

/* --- the records --- */

static void
entry_drop (SbxRecordStore *self, GList *link)
{
  Entry *entry = link->data;
  const SbxRecord *record = &entry->record;

  if (record->message_id != NULL)
    {
      g_autofree char *key = sbx_record_message_key (record->uid, record->channel, record->message_id);

      if (g_hash_table_lookup (self->by_message, key) == entry)
        g_hash_table_remove (self->by_message, key);
    }
  g_hash_table_remove (self->by_turn, record->turn);
  g_queue_delete_link (&self->entries, link);
  if (entry->text != NULL)
    self->unsaved_bytes -= strlen (entry->text);
  remove_file (self, record->turn, "done");
  /* Of an outcome that never reached the disk the request is still there, and would come back. */
  remove_request (self, record->turn);
  if (self->gone != NULL)
    self->gone (record->turn, self->user_data);
  entry_free (entry);
}

static void
expire (SbxRecordStore *self)
{
  gint64 oldest = g_get_real_time () - SBX_RECORD_KEEP_SEC * (gint64) G_USEC_PER_SEC;

  while (self->entries.head != NULL
         && (g_queue_get_length (&self->entries) > SBX_RECORD_MAX
             || ((Entry *) self->entries.head->data)->record.finished_usec < oldest))
    entry_drop (self, self->entries.head);
}

/* In the order of the saves. */
static void
on_saved (const GError *error, gpointer user_data)
{
  SbxRecordStore *self = user_data;
  g_autofree char *turn = g_queue_pop_head (&self->replaced);

  /* Else both stay, and what a restart finds of the outcome decides. */
  if (error == NULL)
    remove_request (self, turn);
  else
    sbx_log (LOG_ERR, &(SbxLogFields){ .turn = turn },
             "The outcome of turn %s may not outlive a power cut: %s", turn, error->message);
}

static gboolean
entry_save (SbxRecordStore *self, Entry *entry, GError **error)
{
  g_autofree char *name = file_name (entry->record.turn, "done");
  g_autoptr (GString) text = sbx_record_file_write_done (&entry->record, entry->text);

  if (!sbx_state_dir_write (self->directory, name, text->str, text->len, SBX_STATE_SEEN, error))
    return FALSE;
  entry->saved = TRUE;
  if (entry->text != NULL)
    self->unsaved_bytes -= strlen (entry->text);
  g_clear_pointer (&entry->text, g_free);
  g_queue_push_tail (&self->replaced, g_strdup (entry->record.turn));
  sbx_state_writer_sync (self->writer, name, on_saved, self);
  return TRUE;
}

static void
save_again (SbxRecordStore *self)
{
  for (GList *link = self->entries.head; link != NULL; link = link->next)
    {
      Entry *entry = link->data;

      if (!entry->saved && !entry_save (self, entry, NULL))
        break;
    }
}

static gboolean
on_expire (gpointer user_data)
{
  SbxRecordStore *self = user_data;

  expire (self);
  save_again (self);
  return G_SOURCE_CONTINUE;
}

static void
entry_add (SbxRecordStore *self, Entry *entry)
{
  const SbxRecord *record = &entry->record;

  g_queue_push_tail (&self->entries, entry);
  g_hash_table_insert (self->by_turn, record->turn, self->entries.tail);
  if (record->message_id != NULL)
    g_hash_table_replace (self->by_message,
                          sbx_record_message_key (record->uid, record->channel, record->message_id), entry);
}

/* --- start --- */

static int
compare_finished (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Entry *left = a, *right = b;

  return (left->record.finished_usec > right->record.finished_usec)
         - (left->record.finished_usec < right->record.finished_usec);
}

static int
compare_accepted (gconstpointer a, gconstpointer b)
{
  const SbxUnfinished *left = *(const SbxUnfinished *const *) a, *right = *(const SbxUnfinished *const *) b;

  return (left->accepted_usec > right->accepted_usec) - (left->accepted_usec < right->accepted_usec);
}

static void
load_file (SbxRecordStore *self, const char *name, GQueue *done)
{
  g_autofree char *text = NULL;
  g_autofree char *turn = NULL;
  g_autoptr (GError) error = NULL;
  const char *dot = strrchr (name, '.');
  gsize n_bytes = 0;
  gboolean fine = FALSE;

  if (dot != NULL)
    turn = g_strndup (name, (gsize) (dot - name));
  if (turn != NULL && sbx_record_file_is_turn (turn)
      && sbx_state_dir_read (self->directory, name, SBX_RECORD_FILE_MAX_BYTES, &text, &n_bytes, &error)
      && text != NULL)
    {
      if (strcmp (dot, ".done") == 0)
        {
          Entry *entry = g_new0 (Entry, 1);

          entry->saved = TRUE;
          fine = sbx_record_file_read_done (text, n_bytes, turn, &entry->record, NULL, &error);
          if (fine)
            g_queue_push_tail (done, entry);
          else
            entry_free (entry);
        }
      else if (strcmp (dot, ".queued") == 0 || strcmp (dot, ".started") == 0)
        {
          SbxUnfinished *unfinished =
            sbx_record_file_read_unfinished (text, n_bytes, turn, strcmp (dot, ".started") == 0, &error);

          fine = unfinished != NULL;
          if (fine)
            g_ptr_array_add (self->unfinished, unfinished);
        }
    }
  if (fine)
    return;
  sbx_log (LOG_WARNING, NULL, "The record %s cannot be read and is removed: %s", name,
           error != NULL ? error->message : "it is no turn's");
  sbx_state_dir_remove (self->directory, name);
}

SbxRecordStore *
sbx_record_store_open (const char *path, GError **error)
{
  g_autoptr (SbxRecordStore) self = g_new0 (SbxRecordStore, 1);
  g_autoptr (GPtrArray) names = NULL;
  g_auto (GQueue) done = G_QUEUE_INIT;
  Entry *entry;

  g_queue_init (&self->entries);
  g_queue_init (&self->replaced);
  self->by_turn = g_hash_table_new (g_str_hash, g_str_equal);
  self->by_message = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->unfinished = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_unfinished_free);
  self->directory = sbx_state_dir_open (path, error);
  if (self->directory == NULL)
    return NULL;
  self->writer = sbx_state_writer_new (self->directory);
  names = sbx_state_dir_list (self->directory);
  for (guint i = 0; i < names->len; i++)
    load_file (self, names->pdata[i], &done);
  g_queue_sort (&done, compare_finished, NULL);
  while ((entry = g_queue_pop_head (&done)) != NULL)
    entry_add (self, entry);
  /* A daemon that died between writing an outcome and removing what it replaces. */
  for (guint i = self->unfinished->len; i > 0; i--)
    {
      const SbxUnfinished *unfinished = self->unfinished->pdata[i - 1];

      if (!g_hash_table_contains (self->by_turn, unfinished->turn))
        continue;
      remove_file (self, unfinished->turn, unfinished->started ? "started" : "queued");
      g_ptr_array_remove_index (self->unfinished, i - 1);
    }
  g_ptr_array_sort (self->unfinished, compare_accepted);
  expire (self);
  self->expire_source = g_timeout_source_new_seconds (EXPIRE_EVERY_SEC);
  g_source_set_callback (self->expire_source, on_expire, self, NULL);
  g_source_attach (self->expire_source, NULL);
  return g_steal_pointer (&self);
}

void
sbx_record_store_free (SbxRecordStore *self)
{
  if (self == NULL)
    return;
  /* One that failed to open has nothing yet. */
  if (self->directory != NULL)
    save_again (self);
  sbx_state_writer_free (self->writer);
  while (!g_queue_is_empty (&self->replaced))
    on_saved (NULL, self);
  sbx_source_clear (&self->expire_source);
  g_hash_table_unref (self->by_message);
  g_hash_table_unref (self->by_turn);
  g_queue_clear_full (&self->entries, (GDestroyNotify) entry_free);
  g_ptr_array_unref (self->unfinished);
  sbx_state_dir_free (self->directory);
  g_free (self);
}

void
sbx_record_store_set_gone (SbxRecordStore *self, void (*gone) (const char *turn, gpointer user_data),
                           gpointer user_data)
{
  self->gone = gone;
  self->user_data = user_data;
}

GPtrArray *
sbx_record_store_take_unfinished (SbxRecordStore *self)
{
  GPtrArray *unfinished = self->unfinished;

  self->unfinished = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_unfinished_free);
  return unfinished;
}

/* --- a turn's way --- */

gboolean
sbx_record_store_accept (SbxRecordStore *self, const char *turn, const SbxTurnRequest *request,
                         gint64 accepted_usec, GError **error)
{
  g_autofree char *name = file_name (turn, "queued");
  g_autoptr (GString) text = sbx_record_file_write_queued (request, accepted_usec);

  if (!sbx_state_dir_write (self->directory, name, text->str, text->len, SBX_STATE_SEEN, error))
    return FALSE;
  sbx_state_writer_sync (self->writer, name, NULL, NULL);
  return TRUE;
}

void
sbx_record_store_when_kept (SbxRecordStore *self, SbxStateDone done, gpointer user_data)
{
  sbx_state_writer_sync (self->writer, NULL, done, user_data);
}

gboolean
sbx_record_store_start (SbxRecordStore *self, const char *turn, GError **error)
{
  g_autofree char *from = file_name (turn, "queued");
  g_autofree char *to = file_name (turn, "started");

  if (!sbx_state_dir_rename (self->directory, from, to, error))
    return FALSE;
  sbx_state_writer_sync (self->writer, NULL, NULL, NULL);
  return TRUE;
}

void
sbx_record_store_finish (SbxRecordStore *self, const char *turn, const SbxTurnRequest *request,
                         gint64 accepted_usec, const SbxOutcome *outcome)
{
  g_autoptr (GError) error = NULL;
  Entry *entry;

  g_return_if_fail (!g_hash_table_contains (self->by_turn, turn));

  entry = g_new0 (Entry, 1);
  entry->record.turn = g_strdup (turn);
  entry->record.channel = g_strdup (request->channel);
  entry->record.message_id = g_strdup (request->message_id);
  entry->record.uid = request->uid;
  entry->record.accepted_usec = accepted_usec;
  entry->record.finished_usec = g_get_real_time ();
  entry->record.kind = outcome->kind;
  entry->record.failure = outcome->failure;
  entry->record.ok = outcome->ok;
  entry->text = g_strdup (outcome->text);
  if (entry->text != NULL)
    self->unsaved_bytes += strlen (entry->text);
  entry_add (self, entry);
  if (!entry_save (self, entry, &error))
    {
      /* It must not run again, whatever else is lost. A full disk has room for another name. */
      (void) sbx_record_store_start (self, turn, NULL);
      sbx_log (LOG_ERR, &(SbxLogFields){ .turn = turn, .channel = request->channel },
               "The outcome of turn %s is kept in memory only, and is written when that works again: %s",
               turn, error->message);
      if (self->unsaved_bytes > MAX_UNSAVED_BYTES && entry->text != NULL)
        {
          self->unsaved_bytes -= strlen (entry->text);
          g_clear_pointer (&entry->text, g_free);
        }
    }
  expire (self);
}

/* --- asking --- */

const SbxRecord *
sbx_record_store_find (SbxRecordStore *self, const char *turn)
{
  GList *link;

  expire (self);
  link = g_hash_table_lookup (self->by_turn, turn);
  return link != NULL ? &((Entry *) link->data)->record : NULL;
}

const SbxRecord *
sbx_record_store_find_message (SbxRecordStore *self, guint32 uid, const char *channel, const char *message_id)
{
  g_autofree char *key = sbx_record_message_key (uid, channel, message_id);
  const Entry *entry;

  expire (self);
  entry = g_hash_table_lookup (self->by_message, key);
  return entry != NULL ? &entry->record : NULL;
}

char *
sbx_record_store_text (SbxRecordStore *self, const SbxRecord *record)
{
  const Entry *entry = (const Entry *) record;
  g_autofree char *name = file_name (record->turn, "done");
  g_autofree char *content = NULL;
  g_autoptr (GError) error = NULL;
  gsize n_bytes = 0;
  char *text = NULL;

  if (record->kind != SBX_OUTCOME_REPLIED || !entry->saved)
    return g_strdup (entry->text);
  if (sbx_state_dir_read (self->directory, name, SBX_RECORD_FILE_MAX_BYTES, &content, &n_bytes, &error)
      && content != NULL && sbx_record_file_read_done (content, n_bytes, record->turn, NULL, &text, &error))
    return text;
  sbx_log (LOG_ERR, &(SbxLogFields){ .turn = record->turn }, "The reply of turn %s cannot be read again: %s",
           record->turn, error != NULL ? error->message : "its file is gone");
  return NULL;
}

GPtrArray *
sbx_record_store_list (SbxRecordStore *self)
{
  GPtrArray *list = g_ptr_array_new ();

  expire (self);
  for (GList *link = self->entries.head; link != NULL; link = link->next)
    g_ptr_array_add (list, &((Entry *) link->data)->record);
  return list;
}

void
sbx_record_store_purge (SbxRecordStore *self, const char *channel)
{
  for (GList *link = self->entries.head, *next; link != NULL; link = next)
    {
      next = link->next;
      if (strcmp (((Entry *) link->data)->record.channel, channel) == 0)
        entry_drop (self, link);
    }
  sbx_state_writer_sync (self->writer, NULL, NULL, NULL);
}
