/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/events/scan.h"

#include <string.h>

#include "tools/run/events/colors.h"
#include "tools/run/events/folder.h"

/* Rows of one transaction: few, so that others can write meanwhile. */
#define BATCH 500
/* Of a mark: a user's name and a time. */
#define REVIEW_BYTES 4096

/* The notes of a clip; of one without, or with damaged ones, what its name says. */
static void
read_notes (const char *folder, const char *stem, const SlClipFiles *files, SlNotes *notes)
{
  g_autoptr (GBytes) json =
    (files->has & 1u << SL_CLIP_NOTES) != 0
      ? sl_clip_file_read (folder, stem, SL_CLIP_NOTES, SL_NOTES_BYTES, NULL)
      : NULL;
  sl_notes_init (notes);
  notes->us = files->us;
  if (json != NULL)
    sl_notes_read (notes, g_bytes_get_data (json, NULL), g_bytes_get_size (json), NULL);
  notes->picture = (files->has & 1u << SL_CLIP_PICTURE) != 0;
  /* SOURCE-2026-11-23T19-56-34.123Z-EVENT */
  sl_notes_add_word (notes, SL_WORD_EVENT,
                     stem + strlen (files->source) + strlen ("-2026-11-23T19-56-34.123Z-"));
}

static const char *
color_of (SlStore *store, const char *stem, const gdouble box[4])
{
  g_autoptr (GBytes) picture =
    box[2] > 0 && box[3] > 0
      ? sl_clip_file_read (store->folder, stem, SL_CLIP_PICTURE, SL_PICTURE_BYTES, NULL)
      : NULL;
  const char *color = picture != NULL ? sl_color_of (picture, box, NULL) : NULL;
  return color != NULL ? color : "";
}

/* The mark that somebody has looked at the clip becomes a row; a damaged mark has no name. */
static gboolean
take_review (SlStore *store, const char *stem, GError **error)
{
  g_autoptr (GBytes) json =
    sl_clip_file_read (store->folder, stem, SL_CLIP_REVIEWED, REVIEW_BYTES, NULL);
  g_autofree char *user = NULL;
  gint64 us = 0;
  if (json != NULL)
    sl_notes_read_review (g_bytes_get_data (json, NULL), g_bytes_get_size (json), &user, &us);
  return sl_store_set_review (store, stem, user != NULL ? user : "", us, error);
}

/* The mark of an event that the clip took the place of is written beside the clip, where a later
 * index finds it. */
static gboolean
keep_review (SlStore *store, const char *stem, GError **error)
{
  g_autofree char *user = NULL;
  gint64 us = 0;
  return sl_store_get_review (store, stem, &user, &us, error)
         && (user == NULL || sl_clip_files_review (store->folder, stem, user, us, error));
}

/* @colored: the colour is looked at now */
static gboolean
add (const SlScan *scan, SlStore *store, const char *stem, const SlClipFiles *files,
     gboolean colored, GError **error)
{
  g_auto (SlNotes) notes;
  const char *pipeline = g_hash_table_lookup (scan->pipelines, files->source);
  SlClipFiles *sized = sl_clip_files_of (store->folder, stem);
  SlStoreClip clip = { .stem = stem,
                       .pipeline = pipeline != NULL ? pipeline : files->source,
                       .kept = (files->has & 1u << SL_CLIP_KEEP) != 0,
                       .bytes = sized != NULL ? sized->bytes : 0 };
  g_clear_pointer (&sized, sl_clip_files_free);
  read_notes (store->folder, stem, files, &notes);
  clip.color = colored ? color_of (store, stem, notes.box) : NULL;
  return sl_store_add_clip (store, &clip, &notes, error)
         && ((files->has & 1u << SL_CLIP_REVIEWED) != 0 ? take_review (store, stem, error)
                                                        : keep_review (store, stem, error));
}

gboolean
sl_scan_clip (const SlScan *scan, SlStore *store, const char *stem, GError **error)
{
  SlClipFiles *files = sl_clip_files_of (store->folder, stem);
  if (files == NULL) /* it is deleted already */
    return TRUE;
  g_mutex_lock (&store->write.lock);
  const gboolean added = sl_sql_script (&store->write, "BEGIN IMMEDIATE", error)
                         && (add (scan, store, stem, files, TRUE, error)
                               ? sl_sql_script (&store->write, "COMMIT", error)
                               : (sl_sql_script (&store->write, "ROLLBACK", NULL), FALSE));
  g_mutex_unlock (&store->write.lock);
  sl_clip_files_free (files);
  return added;
}

/* @pipeline: (nullable): another one than the row has, as where a program that ran none made it */
typedef struct
{
  char *stem, *pipeline;
  gboolean kept, reviewed;
} Known;

static void
known_clear (gpointer data)
{
  Known *known = data;
  g_free (known->stem);
  g_free (known->pipeline);
}

/* What is to change of the rows that there are: gone, or with another mark or pipeline. */
static GArray *
compare (const SlScan *scan, SlStore *store, GHashTable *files, GError **error)
{
  GArray *changes = g_array_new (FALSE, FALSE, sizeof (Known));
  g_array_set_clear_func (changes, known_clear);
  g_autoptr (sqlite3_stmt) rows =
    sl_sql_query (&store->write, error,
                  "SELECT stem, kept, pipeline, EXISTS (SELECT 1 FROM review WHERE review.stem = "
                  "event.stem) FROM event WHERE clip",
                  "");
  while (rows != NULL && sl_sql_next (&store->write, rows, error)) {
    const char *stem = sl_sql_text (rows, 0);
    const SlClipFiles *found = g_hash_table_lookup (files, stem);
    const gboolean kept = found != NULL && (found->has & 1u << SL_CLIP_KEEP) != 0,
                   reviewed = found != NULL && (found->has & 1u << SL_CLIP_REVIEWED) != 0;
    const char *pipeline =
      found != NULL ? g_hash_table_lookup (scan->pipelines, found->source) : NULL;
    if (g_strcmp0 (pipeline, sl_sql_text (rows, 2)) == 0)
      pipeline = NULL;
    if (found == NULL || kept != sqlite3_column_int (rows, 1) || pipeline != NULL
        || reviewed != sqlite3_column_int (rows, 3)) {
      const Known known = { g_strdup (stem), g_strdup (pipeline), kept, reviewed };
      g_array_append_val (changes, known);
    }
  }
  return changes;
}

static gboolean
apply (SlStore *store, GHashTable *files, const GArray *changes, guint *removed, GError **error)
{
  gboolean done = sl_sql_script (&store->write, "BEGIN IMMEDIATE", error);
  for (guint i = 0; done && i < changes->len; i++) {
    const Known *known = &g_array_index (changes, Known, i);
    const gboolean there = g_hash_table_contains (files, known->stem);
    done = !there
             ? sl_store_remove (store, known->stem, error)
             : sl_store_set_kept (store, known->stem, known->kept, error)
                 && (known->pipeline == NULL
                     || sl_store_set_pipeline (store, known->stem, known->pipeline, error))
                 && (known->reviewed ? take_review (store, known->stem, error)
                                     : sl_store_set_review (store, known->stem, NULL, 0, error));
    *removed += there ? 0 : 1;
  }
  return done && sl_sql_script (&store->write, "COMMIT", error);
}

static gboolean
has_row (gpointer stem, gpointer files, gpointer data)
{
  SlStore *store = data;
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->write, NULL, "SELECT 1 FROM event WHERE stem = ?", "s", stem);
  return row != NULL && sl_sql_next (&store->write, row, NULL);
}

static gint
newest_first (gconstpointer a, gconstpointer b, gpointer files)
{
  const SlClipFiles *first = g_hash_table_lookup (files, *(const char *const *) a),
                    *second = g_hash_table_lookup (files, *(const char *const *) b);
  return first->us != second->us ? (first->us < second->us ? 1 : -1)
                                 : strcmp (*(const char *const *) b, *(const char *const *) a);
}

/* BATCH of @stems from @from on. */
static gboolean
add_some (const SlScan *scan, SlStore *store, GHashTable *files, const GPtrArray *stems, guint from,
          GError **error)
{
  const guint end = MIN (from + BATCH, stems->len);
  gboolean done = sl_sql_script (&store->write, "BEGIN IMMEDIATE", error);
  for (guint i = from; done && i < end; i++)
    done = add (scan, store, stems->pdata[i], g_hash_table_lookup (files, stems->pdata[i]), FALSE,
                error);
  return sl_sql_end (&store->write, done, error);
}

/* The newest first, as they are what people ask for. */
static GPtrArray *
sort_stems (GHashTable *files)
{
  GPtrArray *stems = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer stem;
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &stem, NULL))
    g_ptr_array_add (stems, stem);
  g_ptr_array_sort_with_data (stems, newest_first, files);
  return stems;
}

gboolean
sl_scan_folder (const SlScan *scan, SlStore *store, guint *added, guint *removed, GError **error)
{
  GError *reason = NULL;
  *added = *removed = 0;
  g_autoptr (GHashTable) files = sl_clip_files_list (store->folder, SL_SCAN_MOST, error);
  if (files == NULL)
    return FALSE;
  g_mutex_lock (&store->write.lock);
  g_autoptr (GArray) changes = compare (scan, store, files, &reason);
  if (reason == NULL && changes->len > 0 && !apply (store, files, changes, removed, &reason))
    sl_sql_script (&store->write, "ROLLBACK", NULL);
  if (reason == NULL)
    g_hash_table_foreach_remove (files, has_row, store);
  g_mutex_unlock (&store->write.lock);
  g_autoptr (GPtrArray) stems = sort_stems (files);
  for (guint i = 0; reason == NULL && i < stems->len && !g_atomic_int_get (scan->stop);
       i += BATCH) {
    g_mutex_lock (&store->write.lock);
    if (add_some (scan, store, files, stems, i, &reason))
      *added += MIN (BATCH, stems->len - i);
    g_mutex_unlock (&store->write.lock);
  }
  if (reason != NULL)
    g_propagate_error (error, reason);
  return reason == NULL;
}

guint
sl_scan_colors (SlStore *store, guint most)
{
  guint n = 0;
  g_mutex_lock (&store->write.lock);
  g_autoptr (GPtrArray) stems = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, 4 * sizeof (gdouble));
  sqlite3_stmt *rows = sl_sql_query (&store->write, NULL,
                                     "SELECT stem, x, y, w, h FROM event WHERE color IS NULL AND "
                                     "picture ORDER BY time DESC LIMIT ?",
                                     "i", (gint64) most);
  while (rows != NULL && sl_sql_next (&store->write, rows, NULL)) {
    const gdouble box[4] = { sqlite3_column_double (rows, 1), sqlite3_column_double (rows, 2),
                             sqlite3_column_double (rows, 3), sqlite3_column_double (rows, 4) };
    g_ptr_array_add (stems, g_strdup (sl_sql_text (rows, 0)));
    g_array_append_vals (boxes, box, 1);
  }
  sqlite3_finalize (rows);
  g_mutex_unlock (&store->write.lock);
  for (gboolean done = TRUE; done && n < stems->len; n += done ? 1 : 0) {
    const char *color =
      color_of (store, stems->pdata[n], (gdouble *) (gpointer) boxes->data + 4 * n);
    g_mutex_lock (&store->write.lock);
    done = sl_store_set_color (store, stems->pdata[n], color, NULL);
    g_mutex_unlock (&store->write.lock);
  }
  return n;
}
