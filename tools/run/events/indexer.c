/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/events/indexer.h"

#include <string.h>
#include <sys/stat.h>

#include "tools/run/log.h"

#define POLL_US G_USEC_PER_SEC
/* A change of a folder that is so fresh may be followed by one of the same time. */
#define FRESH_US (2 * (gint64) G_USEC_PER_SEC)
#define EXPIRE_US (3600 * (gint64) G_USEC_PER_SEC)
#define COLORS 10

/* @path: (nullable) */
typedef struct
{
  char *path;
  gboolean clips, told, settled;
  SlStore *store; /* (nullable) */
  gint64 changed; /* of the folder, when it was looked through; 0 = never */
  gint64 expired;
} Folder;

typedef enum
{
  FOLDER,
  CLIP,
  EVENT,
  HISTORY,
  END
} Kind;

typedef struct
{
  Kind kind;
  gboolean clips;
  char *folder, *text; /* @text: a stem, or a pipeline */
  SlNotes *notes;
  SlHistoryRows *rows;
} Job;

struct _SlIndexer
{
  GThread *thread;
  SlMp4Cache *mp4s;
  GAsyncQueue *jobs;
  gint stop, lost; /* atomic */
  GMutex lock;     /* of the four below */
  GPtrArray *stores;
  GPtrArray *names;      /* of char * */
  GHashTable *pipelines; /* by sources */
  GHashTable *newest;    /* of SlEventRow, by names of pipelines */
  GPtrArray *folders;    /* of Folder: the thread's, as all below */
  gboolean changed;      /* events */
};

static void
job_free (gpointer data)
{
  Job *job = data;
  g_free (job->folder);
  g_free (job->text);
  if (job->notes != NULL)
    sl_notes_clear (job->notes);
  g_free (job->notes);
  g_clear_pointer (&job->rows, sl_history_rows_free);
  g_free (job);
}

static void
folder_free (gpointer data)
{
  Folder *folder = data;
  g_clear_pointer (&folder->store, sl_store_unref);
  g_free (folder->path);
  g_free (folder);
}

/* Once, until it is well again. */
static void
complain (Folder *folder, const GError *error)
{
  if (!folder->told)
    sl_run_log_later (SL_LOG_WARNING, NULL, "events",
                      "%s; events of this folder are not indexed until that is over",
                      error->message);
  folder->told = TRUE;
}

/* The one that a job belongs to, opened. (nullable) */
static Folder *
open_folder (SlIndexer *indexer, Folder *folder)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *damaged = NULL;
  if (folder->store != NULL)
    return folder;
  folder->store = sl_store_new (folder->path, &damaged, &error);
  if (folder->store == NULL) {
    complain (folder, error);
    return NULL;
  }
  folder->store->has_clips = folder->clips;
  if (damaged != NULL)
    sl_run_log_later (
      SL_LOG_WARNING, NULL, "events",
      "%s: the index is damaged: it is %s/%s now, and made again from the clips; counts of before "
      "are lost",
      damaged, folder->path, SL_STORE_DAMAGED);
  indexer->changed = TRUE;
  g_mutex_lock (&indexer->lock);
  g_ptr_array_add (indexer->stores, sl_store_ref (folder->store));
  g_mutex_unlock (&indexer->lock);
  return folder;
}

/* A program that ends does not wait again for an index that another one holds. */
static gboolean
is_given_up (SlIndexer *indexer, const Folder *folder)
{
  return folder->told && g_atomic_int_get (&indexer->stop) != 0;
}

/* (nullable): where it is open: to try that for each job would take seconds each. */
static Folder *
find_folder (SlIndexer *indexer, const char *path)
{
  for (guint i = 0; i < indexer->folders->len; i++) {
    Folder *folder = indexer->folders->pdata[i];
    if (g_strcmp0 (folder->path, path) == 0)
      return folder->store != NULL && !is_given_up (indexer, folder) ? folder : NULL;
  }
  return NULL;
}

static void
add_folder (SlIndexer *indexer, const Job *job)
{
  Folder *folder = NULL;
  for (guint i = 0; i < indexer->folders->len && folder == NULL; i++) {
    Folder *known = indexer->folders->pdata[i];
    folder = g_strcmp0 (known->path, job->folder) == 0 ? known : NULL;
  }
  if (folder == NULL) {
    folder = g_new0 (Folder, 1);
    folder->path = g_strdup (job->folder);
    g_ptr_array_add (indexer->folders, folder);
  }
  folder->clips = folder->clips || job->clips;
  if (!is_given_up (indexer, folder))
    open_folder (indexer, folder);
}

static GHashTable *
get_pipelines (SlIndexer *indexer)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&indexer->lock);
  return g_hash_table_ref (indexer->pipelines);
}

/* The thread's side of sl_indexer_newest(), once something has changed. */
static void
find_newest (SlIndexer *indexer)
{
  g_autoptr (GHashTable) newest =
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, sl_event_row_free);
  g_mutex_lock (&indexer->lock);
  g_autoptr (GPtrArray) names = g_ptr_array_ref (indexer->names);
  g_mutex_unlock (&indexer->lock);
  for (guint n = 0; n < names->len; n++)
    for (guint i = 0; i < indexer->folders->len; i++) {
      const char *name = names->pdata[n];
      const Folder *folder = indexer->folders->pdata[i];
      SlEventRow *row = folder->store != NULL ? sl_event_query_newest (folder->store, name) : NULL;
      const SlEventRow *known = g_hash_table_lookup (newest, name);
      if (row != NULL && (known == NULL || known->us < row->us))
        g_hash_table_insert (newest, g_strdup (name), row);
      else
        g_clear_pointer (&row, sl_event_row_free);
    }
  g_mutex_lock (&indexer->lock);
  GHashTable *before = indexer->newest;
  indexer->newest = g_steal_pointer (&newest);
  g_mutex_unlock (&indexer->lock);
  g_hash_table_unref (before);
}

/* Threads that ask it hold a reference. The next look at the folder opens it again, and puts the
 * damaged file aside. */
static void
close_damaged (SlIndexer *indexer, Folder *folder)
{
  g_mutex_lock (&indexer->lock);
  g_ptr_array_remove (indexer->stores, folder->store);
  g_mutex_unlock (&indexer->lock);
  g_clear_pointer (&folder->store, sl_store_unref);
  folder->changed = 0;
}

/* Jobs fail, as on a full disk, and the index goes on without them: clips are found later. */
static void
note (SlIndexer *indexer, Folder *folder, gboolean done, const GError *error)
{
  if (done)
    folder->told = FALSE;
  else if (sl_sql_is_damaged (error))
    close_damaged (indexer, folder);
  else if (error != NULL)
    complain (folder, error);
}

static void
do_job (SlIndexer *indexer, const Job *job)
{
  g_autoptr (GError) error = NULL;
  Folder *folder = job->kind != FOLDER ? find_folder (indexer, job->folder) : NULL;
  gboolean done = TRUE;
  if (job->kind == FOLDER)
    add_folder (indexer, job);
  if (folder == NULL)
    return;
  indexer->changed = indexer->changed || job->kind == CLIP || job->kind == EVENT;
  if (job->kind == CLIP) {
    g_autoptr (GHashTable) pipelines = get_pipelines (indexer);
    const SlScan scan = { pipelines, &indexer->stop };
    done = sl_scan_clip (&scan, folder->store, job->text, &error);
    note (indexer, folder, done, error);
    return;
  }
  g_mutex_lock (&folder->store->write.lock);
  if (job->kind == EVENT)
    done = sl_store_add_event (folder->store, job->text, job->notes, &error);
  else if (job->kind == HISTORY)
    done = sl_history_write (folder->store, job->rows, &error);
  g_mutex_unlock (&folder->store->write.lock);
  note (indexer, folder, done, error);
}

static gint64
time_of (const char *path)
{
  struct stat status;
  return stat (path, &status) == 0
           ? (gint64) status.st_mtim.tv_sec * G_USEC_PER_SEC + status.st_mtim.tv_nsec / 1000
           : 0;
}

/* The folder changes with each file that comes or goes, so that one without a change is not read.
 */
static void
follow (SlIndexer *indexer, Folder *folder)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) pipelines = get_pipelines (indexer);
  const SlScan scan = { pipelines, &indexer->stop };
  const gint64 changed = time_of (folder->path), now = g_get_real_time ();
  guint added, removed;
  if (changed == 0 || (changed == folder->changed && folder->settled))
    return;
  const gboolean done = sl_scan_folder (&scan, folder->store, &added, &removed, &error);
  indexer->changed = indexer->changed || added > 0 || removed > 0;
  folder->changed = changed;
  folder->settled = now - changed > FRESH_US || now < changed;
  note (indexer, folder, done, error);
}

/* Whether there is more to do. */
static gboolean
look_after (SlIndexer *indexer, Folder *folder)
{
  const gint64 now = g_get_real_time ();
  if (open_folder (indexer, folder) == NULL)
    return FALSE;
  if (now - folder->expired > EXPIRE_US) {
    g_mutex_lock (&folder->store->write.lock);
    sl_store_expire (folder->store, now, NULL);
    g_mutex_unlock (&folder->store->write.lock);
    folder->expired = now;
  }
  if (!folder->clips || folder->path == NULL)
    return FALSE;
  follow (indexer, folder);
  return folder->store != NULL && sl_scan_colors (folder->store, COLORS) == COLORS;
}

static gpointer
run (gpointer data)
{
  SlIndexer *indexer = data;
  gboolean more = FALSE, going = TRUE;
  gint64 looked = 0;
  while (going) {
    Job *job = more ? g_async_queue_try_pop (indexer->jobs)
                    : g_async_queue_timeout_pop (indexer->jobs, POLL_US);
    if (job != NULL) {
      going = job->kind != END;
      do_job (indexer, job);
      job_free (job);
    }
    if (g_atomic_int_exchange (&indexer->lost, 0) != 0)
      sl_run_log_later (SL_LOG_WARNING, NULL, "events",
                        "the disk is too slow: some events are not in the index");
    if (indexer->changed && g_async_queue_length (indexer->jobs) <= 0) {
      indexer->changed = FALSE;
      find_newest (indexer);
    }
    const gint64 now = g_get_monotonic_time ();
    if (job != NULL && now - looked < POLL_US)
      continue;
    more = FALSE;
    for (guint i = 0; g_atomic_int_get (&indexer->stop) == 0 && i < indexer->folders->len; i++)
      more = look_after (indexer, indexer->folders->pdata[i]) || more;
    sl_mp4_cache_tidy (indexer->mp4s);
    looked = now;
  }
  return NULL;
}

SlIndexer *
sl_indexer_new (SlMp4Cache *mp4s)
{
  SlIndexer *indexer = g_new0 (SlIndexer, 1);
  indexer->mp4s = mp4s;
  g_mutex_init (&indexer->lock);
  indexer->jobs = g_async_queue_new_full (job_free);
  indexer->stores = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_store_unref);
  indexer->folders = g_ptr_array_new_with_free_func (folder_free);
  indexer->pipelines = g_hash_table_new (g_str_hash, g_str_equal);
  indexer->newest = g_hash_table_new (g_str_hash, g_str_equal);
  indexer->names = g_ptr_array_new ();
  indexer->thread = g_thread_new ("sl-events", run, indexer);
  return indexer;
}

static void
put (SlIndexer *indexer, Job job)
{
  Job *copy = g_memdup2 (&job, sizeof job);
  if (job.kind != END && job.kind != FOLDER
      && g_async_queue_length (indexer->jobs) >= SL_INDEXER_JOBS_MOST) {
    g_atomic_int_set (&indexer->lost, 1);
    job_free (copy);
    return;
  }
  g_async_queue_push (indexer->jobs, copy);
}

void
sl_indexer_free (SlIndexer *indexer)
{
  g_atomic_int_set (&indexer->stop, 1);
  put (indexer, (Job){ .kind = END });
  g_thread_join (indexer->thread);
  g_async_queue_unref (indexer->jobs);
  g_ptr_array_unref (indexer->folders);
  g_ptr_array_unref (indexer->stores);
  g_hash_table_unref (indexer->pipelines);
  g_hash_table_unref (indexer->newest);
  g_ptr_array_unref (indexer->names);
  g_mutex_clear (&indexer->lock);
  g_free (indexer);
}

void
sl_indexer_add_folder (SlIndexer *indexer, const char *folder, gboolean clips)
{
  put (indexer, (Job){ .kind = FOLDER, .folder = g_strdup (folder), .clips = clips });
}

void
sl_indexer_set_pipelines (SlIndexer *indexer, GPtrArray *names, GHashTable *sources)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&indexer->lock);
  g_ptr_array_unref (indexer->names);
  g_hash_table_unref (indexer->pipelines);
  indexer->names = names;
  indexer->pipelines = sources;
}

void
sl_indexer_clip (SlIndexer *indexer, const char *folder, const char *stem)
{
  put (indexer, (Job){ .kind = CLIP, .folder = g_strdup (folder), .text = g_strdup (stem) });
}

void
sl_indexer_event (SlIndexer *indexer, const char *folder, const char *pipeline, SlNotes *notes)
{
  put (indexer,
       (Job){
         .kind = EVENT, .folder = g_strdup (folder), .text = g_strdup (pipeline), .notes = notes });
}

void
sl_indexer_history (SlIndexer *indexer, const char *folder, SlHistoryRows *rows)
{
  put (indexer, (Job){ .kind = HISTORY, .folder = g_strdup (folder), .rows = rows });
}

gboolean
sl_indexer_newest (SlIndexer *indexer, const char *pipeline,
                   void (*append) (gpointer data, const SlEventRow *row), gpointer data)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&indexer->lock);
  const SlEventRow *row = g_hash_table_lookup (indexer->newest, pipeline);
  if (row != NULL)
    append (data, row);
  return row != NULL;
}

GPtrArray *
sl_indexer_stores (SlIndexer *indexer)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&indexer->lock);
  GPtrArray *stores = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_store_unref);
  for (guint i = 0; i < indexer->stores->len; i++)
    g_ptr_array_add (stores, sl_store_ref (indexer->stores->pdata[i]));
  return stores;
}
