/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A region's count of today is its count less the one at midnight. A count that is below that one
 * began anew meanwhile, so all of it is today's. A short thread writes the file, once a day.
 */
#include "tools/run/api/watch.h"

#include <string.h>

#include "tools/run/keep.h"
#include "tools/run/log.h"

/* Samples, about one a second. */
#define SAMPLES 10
#define DAY "day"
#define COUNTS "counts"

typedef struct
{
  gint64 time;
  guint64 in, out;
} Sample;

typedef struct
{
  char *name, *path; /* @path: (nullable) */
  Sample samples[SAMPLES];
  guint n;
  gboolean fresh;     /* its counts begin with the program */
  char *day;          /* (nullable): of @before, as "2026-11-29" */
  GHashTable *before; /* "ELEMENT KIND NAME" -> SlTodayCount at midnight */
  GThread *writer;    /* (nullable) */
} Watched;

struct _SlWatch
{
  Watched *all;
  guint n;
};

typedef struct
{
  char *name, *path, *text;
} Job;

static char *
key_of (const char *element, const GstStructure *region)
{
  return g_strdup_printf ("%s %s %s", element, gst_structure_get_name (region),
                          gst_structure_get_string (region, "name"));
}

static SlTodayCount
count_of (const GstStructure *region)
{
  SlTodayCount count = { 0 };
  gst_structure_get (region, "entered", G_TYPE_UINT64, &count.entered, "left", G_TYPE_UINT64,
                     &count.left, NULL);
  return count;
}

/* A file that is not there, or is not as it was written, is none. */
static void
load (Watched *watched)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  if (watched->path == NULL || !g_key_file_load_from_file (file, watched->path, 0, NULL))
    return;
  watched->day = g_key_file_get_string (file, DAY, "date", NULL);
  for (guint i = 0;; i++) {
    g_autofree char *group = g_strdup_printf (COUNTS " %u", i);
    char *key = g_key_file_get_string (file, group, "of", NULL);
    if (key == NULL)
      return;
    SlTodayCount *count = g_new0 (SlTodayCount, 1);
    count->entered = g_key_file_get_uint64 (file, group, "entered", NULL);
    count->left = g_key_file_get_uint64 (file, group, "left", NULL);
    g_hash_table_replace (watched->before, key, count);
  }
}

SlWatch *
sl_watch_new (GPtrArray *workers)
{
  SlWatch *watch = g_new0 (SlWatch, 1);
  watch->n = workers->len;
  watch->all = g_new0 (Watched, workers->len);
  for (guint i = 0; i < workers->len; i++) {
    Watched *watched = &watch->all[i];
    const char *folder = sl_worker_state_folder (workers->pdata[i]);
    watched->name = g_strdup (sl_worker_name (workers->pdata[i]));
    watched->path = folder != NULL ? sl_keep_file (folder, watched->name, ".today") : NULL;
    watched->before = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
    g_autofree char *state = folder != NULL ? sl_keep_file (folder, watched->name, ".state") : NULL;
    watched->fresh = state == NULL || !g_file_test (state, G_FILE_TEST_EXISTS);
    load (watched);
  }
  return watch;
}

static void
stop_writing (Watched *watched)
{
  g_clear_pointer (&watched->writer, g_thread_join);
}

void
sl_watch_free (SlWatch *watch)
{
  for (guint i = 0; i < watch->n; i++) {
    Watched *watched = &watch->all[i];
    stop_writing (watched);
    g_free (watched->name);
    g_free (watched->path);
    g_free (watched->day);
    g_hash_table_unref (watched->before);
  }
  g_free (watch->all);
  g_free (watch);
}

static gpointer
write_file (gpointer data)
{
  Job *job = data;
  g_autoptr (GError) error = NULL;
  if (!g_file_set_contents_full (job->path, job->text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600,
                                 &error))
    sl_run_log_later (SL_LOG_WARNING, job->name, "state", "counts of today: %s", error->message);
  g_free (job->name);
  g_free (job->path);
  g_free (job->text);
  g_free (job);
  return NULL;
}

static void
save (Watched *watched)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  GHashTableIter iter;
  gpointer key, value;
  guint n = 0;
  if (watched->path == NULL)
    return;
  g_key_file_set_string (file, DAY, "date", watched->day);
  g_hash_table_iter_init (&iter, watched->before);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    g_autofree char *group = g_strdup_printf (COUNTS " %u", n++);
    const SlTodayCount *count = value;
    g_key_file_set_string (file, group, "of", key);
    g_key_file_set_uint64 (file, group, "entered", count->entered);
    g_key_file_set_uint64 (file, group, "left", count->left);
  }
  Job *job = g_new0 (Job, 1);
  job->name = g_strdup (watched->name);
  job->path = g_strdup (watched->path);
  job->text = g_key_file_to_data (file, NULL, NULL);
  stop_writing (watched);
  watched->writer = g_thread_new ("today", write_file, job);
}

/* From now on it is @day. */
static void
begin_day (Watched *watched, const SlReportPipeline *pipeline, const char *day)
{
  const gboolean first = watched->day == NULL;
  g_free (watched->day);
  watched->day = g_strdup (day);
  g_hash_table_remove_all (watched->before);
  for (guint i = 0; i < pipeline->regions->len; i++) {
    const SlReportRegions *of = &g_array_index (pipeline->regions, SlReportRegions, i);
    for (guint r = 0; r < sl_report_list_length (of->counts, "regions"); r++) {
      const GstStructure *region = sl_report_list_item (of->counts, "regions", r);
      SlTodayCount count = first && watched->fresh ? (SlTodayCount){ 0 } : count_of (region);
      g_hash_table_replace (watched->before, key_of (of->name, region),
                            g_memdup2 (&count, sizeof count));
    }
  }
  save (watched);
}

static void
add_sample (Watched *watched, const SlReportPipeline *pipeline, gint64 made)
{
  const SlFlowCounts *counts = &pipeline->totals.counts;
  const Sample *newest = watched->n > 0 ? &watched->samples[watched->n - 1] : NULL;
  if (newest != NULL && newest->time == made)
    return;
  if (watched->n == SAMPLES) {
    memmove (watched->samples, watched->samples + 1, (SAMPLES - 1) * sizeof (Sample));
    watched->n--;
  }
  watched->samples[watched->n++] = (Sample){ made, counts->in, counts->out };
}

static gboolean
has_regions (const SlReportPipeline *pipeline)
{
  for (guint i = 0; i < pipeline->regions->len; i++)
    if (sl_report_list_length (g_array_index (pipeline->regions, SlReportRegions, i).counts,
                               "regions")
        > 0)
      return TRUE;
  return FALSE;
}

void
sl_watch_take (SlWatch *watch, const SlReport *report, gint64 now)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_local (now / G_USEC_PER_SEC);
  g_autofree char *day = g_date_time_format (time, "%Y-%m-%d");
  for (guint i = 0; i < watch->n; i++) {
    const SlReportPipeline *pipeline = report->pipelines->pdata[i];
    add_sample (&watch->all[i], pipeline, report->made);
    /* Not before its regions are there, whose counts go on. */
    if (g_strcmp0 (watch->all[i].day, day) != 0 && has_regions (pipeline))
      begin_day (&watch->all[i], pipeline, day);
  }
}

void
sl_watch_rates (const SlWatch *watch, guint index, double *in, double *out)
{
  const Watched *watched = &watch->all[index];
  *in = *out = 0;
  if (watched->n < 2)
    return;
  const Sample *first = &watched->samples[0], *last = &watched->samples[watched->n - 1];
  const double seconds = (double) (last->time - first->time) / G_USEC_PER_SEC;
  *in = last->in > first->in ? (double) (last->in - first->in) / seconds : 0;
  *out = last->out > first->out ? (double) (last->out - first->out) / seconds : 0;
}

SlTodayCount
sl_watch_today (SlWatch *watch, guint index, const char *element, const GstStructure *region)
{
  g_autofree char *key = key_of (element, region);
  const SlTodayCount *before = g_hash_table_lookup (watch->all[index].before, key);
  SlTodayCount count = count_of (region);
  if (before == NULL || count.entered < before->entered || count.left < before->left)
    return count;
  count.entered -= before->entered;
  count.left -= before->left;
  return count;
}
