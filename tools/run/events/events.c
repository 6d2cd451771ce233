/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What of a pipeline goes into which index: its clips into that of their folder, everything else
 * into that of its first folder of clips, or of the folder of states. */
#include "tools/run/events/events.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/utc.h"
#include "plugins/record/names.h"
#include "tools/run/events/indexer.h"
#include "tools/search/searcher.h"

typedef struct
{
  char *name;
  char *home; /* (nullable): in memory */
  SlHistory *history;
} Pipeline;

struct _SlEvents
{
  SlIndexer *indexer;
  SlSearcher *searcher; /* (nullable) */
  SlMp4Cache *mp4s;
  GHashTable *pipelines; /* of Pipeline, by their names */
  gint64 started;
  GMutex lock;
  GPtrArray *folders; /* of SlEventFolder */
};

static void
pipeline_free (gpointer data)
{
  Pipeline *pipeline = data;
  sl_history_free (pipeline->history);
  g_free (pipeline->name);
  g_free (pipeline->home);
  g_free (pipeline);
}

static void
folder_free (gpointer data)
{
  SlEventFolder *folder = data;
  g_free (folder->path);
  g_free (folder->pipeline);
  g_free (folder->source);
  g_free (folder);
}

SlEvents *
sl_events_new (void)
{
  SlEvents *events = g_new0 (SlEvents, 1);
  events->mp4s = sl_mp4_cache_new ();
  events->indexer = sl_indexer_new (events->mp4s);
  events->pipelines = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, pipeline_free);
  events->started = g_get_real_time ();
  events->folders = g_ptr_array_new_with_free_func (folder_free);
  g_mutex_init (&events->lock);
  return events;
}

static void
flush (SlEvents *events, Pipeline *pipeline, gboolean force)
{
  SlHistoryRows *rows = sl_history_flush (pipeline->history, g_get_real_time (), force);
  if (rows != NULL)
    sl_indexer_history (events->indexer, pipeline->home, rows);
}

static GPtrArray *
get_stores (gpointer indexer)
{
  return sl_indexer_stores (indexer);
}

gboolean
sl_events_search (SlEvents *events, const SlModelSettings *settings, GError **error)
{
  events->searcher = sl_searcher_new (settings, get_stores, events->indexer);
  return TRUE;
}

SlSearcher *
sl_events_searcher (SlEvents *events)
{
  return events->searcher;
}

const char *
sl_events_searches (SlEvents *events)
{
  if (events == NULL || events->searcher == NULL)
    return "none";
  return sl_searcher_knows_words (events->searcher) ? "words" : "pictures";
}

void
sl_events_stop (SlEvents *events)
{
  if (events == NULL)
    return;
  sl_mp4_cache_stop (events->mp4s);
  if (events->searcher != NULL)
    sl_searcher_stop (events->searcher);
}

void
sl_events_free (SlEvents *events)
{
  GHashTableIter iter;
  gpointer pipeline;
  if (events == NULL)
    return;
  g_hash_table_iter_init (&iter, events->pipelines);
  while (g_hash_table_iter_next (&iter, NULL, &pipeline))
    flush (events, pipeline, TRUE);
  g_clear_pointer (&events->searcher, sl_searcher_free);
  sl_indexer_free (events->indexer);
  sl_mp4_cache_free (events->mp4s);
  g_hash_table_unref (events->pipelines);
  g_ptr_array_unref (events->folders);
  g_mutex_clear (&events->lock);
  g_free (events);
}

static Pipeline *
pipeline_of (SlEvents *events, const char *name)
{
  Pipeline *pipeline = g_hash_table_lookup (events->pipelines, name);
  if (pipeline == NULL) {
    pipeline = g_new0 (Pipeline, 1);
    pipeline->name = g_strdup (name);
    pipeline->history = sl_history_new (name, events->started);
    g_hash_table_insert (events->pipelines, pipeline->name, pipeline);
  }
  return pipeline;
}

/* Under the lock. */
static void
add_recorder (SlEvents *events, const char *pipeline, GstElement *element)
{
  g_autofree char *location = NULL, *source = NULL;
  gdouble keep = 0, max_size = 0, min_free = 0;
  if (strcmp (G_OBJECT_TYPE_NAME (element), "SlRecord") != 0)
    return;
  g_object_get (element, "location", &location, "source", &source, "keep", &keep, "max-size",
                &max_size, "min-free", &min_free, NULL);
  if (location == NULL || *location == '\0')
    return;
  SlEventFolder *folder = g_new0 (SlEventFolder, 1);
  folder->path = g_steal_pointer (&location);
  folder->pipeline = g_strdup (pipeline);
  folder->source = sl_clip_source (source != NULL ? source : GST_OBJECT_NAME (element));
  folder->keep_days = keep;
  folder->max_bytes = (guint64) (max_size * 1e6);
  folder->min_free = (guint64) (min_free * 1e6);
  g_ptr_array_add (events->folders, folder);
}

/* Under the lock. */
static void
forget_recorders (SlEvents *events, const char *pipeline)
{
  for (guint i = events->folders->len; i-- > 0;)
    if (strcmp (((SlEventFolder *) events->folders->pdata[i])->pipeline, pipeline) == 0)
      g_ptr_array_remove_index (events->folders, i);
}

static void
add_recorders (SlEvents *events, const char *name, GstElement *pipeline)
{
  GstIterator *elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  GValue item = G_VALUE_INIT;
  GstIteratorResult result;
  forget_recorders (events, name);
  while ((result = gst_iterator_next (elements, &item)) == GST_ITERATOR_OK
         || result == GST_ITERATOR_RESYNC) {
    if (result == GST_ITERATOR_OK) {
      add_recorder (events, name, g_value_get_object (&item));
      g_value_reset (&item);
    } else {
      forget_recorders (events, name);
      gst_iterator_resync (elements);
    }
  }
  if (G_IS_VALUE (&item))
    g_value_unset (&item);
  gst_iterator_free (elements);
}

void
sl_events_adopt (SlEvents *events, SlWorker *worker, GstElement *element)
{
  if (events == NULL)
    return;
  Pipeline *pipeline = pipeline_of (events, sl_worker_name (worker));
  const char *home = sl_worker_state_folder (worker);
  gboolean clips = FALSE;
  GHashTable *sources = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  GHashTableIter iter;
  gpointer name;
  g_hash_table_iter_init (&iter, events->pipelines);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (names, g_strdup (name));
  g_mutex_lock (&events->lock);
  add_recorders (events, pipeline->name, element);
  for (guint i = 0; i < events->folders->len; i++) {
    const SlEventFolder *folder = events->folders->pdata[i];
    g_hash_table_insert (sources, g_strdup (folder->source), g_strdup (folder->pipeline));
    if (!clips && strcmp (folder->pipeline, pipeline->name) == 0) {
      home = folder->path;
      clips = TRUE;
    }
  }
  g_free (pipeline->home);
  pipeline->home = g_strdup (home);
  sl_indexer_set_pipelines (events->indexer, names, sources);
  for (guint i = 0; i < events->folders->len; i++)
    sl_indexer_add_folder (events->indexer, ((SlEventFolder *) events->folders->pdata[i])->path,
                           TRUE);
  g_mutex_unlock (&events->lock);
  sl_indexer_add_folder (events->indexer, pipeline->home, clips);
}

static void
take_event (SlEvents *events, Pipeline *pipeline, const GstStructure *structure)
{
  const char *event = gst_structure_get_string (structure, "event"),
             *region = gst_structure_get_string (structure, "region");
  gdouble seconds = -1;
  gint id = 0;
  if (event == NULL || region == NULL) /* the end of an interval */
    return;
  gst_structure_get (structure, "seconds", G_TYPE_DOUBLE, &seconds, "id", G_TYPE_INT, &id, NULL);
  if (strcmp (event, "left") == 0)
    sl_history_dwell (pipeline->history, region, seconds);
  SlNotes *notes = g_new (SlNotes, 1);
  sl_notes_init (notes);
  notes->us = g_get_real_time ();
  notes->object = id;
  sl_notes_add_word (notes, SL_WORD_EVENT, event);
  sl_notes_add_word (notes, SL_WORD_REGION, region);
  sl_notes_add_word (notes, SL_WORD_LABEL, gst_structure_get_string (structure, "label"));
  sl_indexer_event (events->indexer, pipeline->home, pipeline->name, notes);
}

static void
take_clip (SlEvents *events, const GstStructure *structure)
{
  const char *path = gst_structure_get_string (structure, "path");
  if (path == NULL || !g_str_has_suffix (path, ".mkv"))
    return;
  g_autofree char *folder = g_path_get_dirname (path), *stem = g_path_get_basename (path);
  stem[strlen (stem) - strlen (".mkv")] = '\0';
  g_mutex_lock (&events->lock);
  for (guint i = 0; i < events->folders->len; i++) { /* as people wrote it */
    const SlEventFolder *known = events->folders->pdata[i];
    g_autofree char *whole = g_build_filename (known->path, "x", NULL),
                    *plain = g_path_get_dirname (whole);
    if (strcmp (plain, folder) == 0) {
      g_free (folder);
      folder = g_strdup (known->path);
      break;
    }
  }
  g_mutex_unlock (&events->lock);
  sl_indexer_clip (events->indexer, folder, stem);
}

void
sl_events_posted (SlEvents *events, SlWorker *worker, GstMessage *message)
{
  const GstStructure *structure = gst_message_get_structure (message);
  if (events == NULL || structure == NULL)
    return;
  if (gst_structure_has_name (structure, "slanalyze"))
    take_event (events, pipeline_of (events, sl_worker_name (worker)), structure);
  else if (gst_structure_has_name (structure, "slrecord"))
    take_clip (events, structure);
}

void
sl_events_note (SlEvents *events, const SlReportPipeline *report, const SlPredictions *predictions,
                guint ms)
{
  if (events == NULL)
    return;
  Pipeline *pipeline = pipeline_of (events, report->name);
  sl_history_take (pipeline->history, report);
  if (predictions != NULL)
    sl_history_places (pipeline->history, predictions, ms);
  flush (events, pipeline, FALSE);
}

static void
append_newest (gpointer json, const SlEventRow *row)
{
  g_string_append_c (json, '{');
  sl_json_append_text (json, "id", row->stem);
  g_string_append (json, ",\"time\":\"");
  sl_utc_append (json, row->us);
  g_string_append_c (json, '"');
  sl_json_append_text (json, "event", row->event);
  sl_json_append_text (json, "region", row->region);
  sl_json_append_text (json, "label", row->label);
  g_string_append_c (json, '}');
}

void
sl_events_append_newest (SlEvents *events, const char *pipeline, GString *json)
{
  if (!sl_indexer_newest (events->indexer, pipeline, append_newest, json))
    g_string_append (json, "null");
}

GPtrArray *
sl_events_stores (SlEvents *events)
{
  return sl_indexer_stores (events->indexer);
}

SlMp4Cache *
sl_events_mp4s (SlEvents *events)
{
  return events->mp4s;
}

GPtrArray *
sl_events_folders (SlEvents *events)
{
  GPtrArray *folders = g_ptr_array_new_with_free_func (folder_free);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&events->lock);
  for (guint i = 0; i < events->folders->len; i++) {
    const SlEventFolder *known = events->folders->pdata[i];
    SlEventFolder *folder = g_memdup2 (known, sizeof *known);
    folder->path = g_strdup (known->path);
    folder->pipeline = g_strdup (known->pipeline);
    folder->source = g_strdup (known->source);
    g_ptr_array_add (folders, folder);
  }
  return folders;
}
