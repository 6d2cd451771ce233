/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/events/history.h"

#include <string.h>

#include "tools/run/events/buckets.h"

/* Regions of a pipeline, and rows of times inside, between two writes. */
#define REGIONS_MOST 256

const guint sl_history_dwells[SL_HISTORY_DWELLS] = { 1,  2,   5,   10,  20,   30,
                                                     60, 120, 300, 600, 1800, 3600 };

typedef struct
{
  char *kind, *name;
  gboolean seen;                       /* in a report */
  guint64 entered_before, left_before; /* totals of the last report */
  gint64 entered, left, most;          /* since the last write */
  gdouble dwell;
  gint64 dwells, classes[SL_HISTORY_DWELLS + 1];
} Region;

typedef struct
{
  gint64 frames, predictions, dropped, p50, p95;
} Flow;

struct _SlHistory
{
  char *pipeline;
  gint64 started, since; /* the time of the first change that is not written yet; 0 = none */
  gboolean seen;
  GHashTable *regions; /* of Region, by kind and name */
  Flow before, flow;
  guint32 *cells; /* (nullable): milliseconds */
};

struct _SlHistoryRows
{
  char *pipeline;
  gint64 at;
  GArray *regions; /* of Region */
  Flow flow;
  guint32 *cells;
};

static void
region_clear (gpointer data)
{
  Region *region = data;
  g_free (region->kind);
  g_free (region->name);
}

static void
region_free (gpointer region)
{
  region_clear (region);
  g_free (region);
}

SlHistory *
sl_history_new (const char *pipeline, gint64 started)
{
  SlHistory *history = g_new0 (SlHistory, 1);
  history->pipeline = g_strdup (pipeline);
  history->started = started;
  history->regions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, region_free);
  return history;
}

void
sl_history_free (SlHistory *history)
{
  g_hash_table_unref (history->regions);
  g_free (history->cells);
  g_free (history->pipeline);
  g_free (history);
}

/* (nullable): there are too many. */
static Region *
region_of (SlHistory *history, const char *kind, const char *name)
{
  g_autofree char *key = g_strconcat (kind, "\n", name, NULL);
  Region *region = g_hash_table_lookup (history->regions, key);
  if (region != NULL || g_hash_table_size (history->regions) >= REGIONS_MOST)
    return region;
  region = g_new0 (Region, 1);
  region->kind = g_strdup (kind);
  region->name = g_strdup (name);
  g_hash_table_insert (history->regions, g_steal_pointer (&key), region);
  return region;
}

/* Counts that are smaller than before began again. */
static gint64
rise (guint64 now, guint64 *before)
{
  const guint64 by = now >= *before ? now - *before : now;
  *before = now;
  return (gint64) MIN (by, (guint64) G_MAXINT32);
}

/* @fresh: counting began in this process, so all of it is new. */
static void
take_region (SlHistory *history, const GstStructure *counts, gboolean fresh)
{
  guint64 entered = 0, left = 0;
  guint inside = 0;
  const char *name = gst_structure_get_string (counts, "name");
  Region *region = region_of (history, gst_structure_get_name (counts), name);
  if (region == NULL)
    return;
  gst_structure_get (counts, "entered", G_TYPE_UINT64, &entered, "left", G_TYPE_UINT64, &left,
                     "inside", G_TYPE_UINT, &inside, NULL);
  if (!region->seen && !fresh) {
    region->entered_before = entered;
    region->left_before = left;
  }
  region->seen = TRUE;
  region->entered += rise (entered, &region->entered_before);
  region->left += rise (left, &region->left_before);
  region->most = MAX (region->most, (gint64) inside);
}

static void
take_flow (SlHistory *history, const SlWorkerTotals *totals)
{
  const Flow now = { (gint64) totals->counts.in, (gint64) totals->counts.predictions,
                     (gint64) totals->counts.dropped, 0, 0 };
  if (history->seen) {
    history->flow.frames += now.frames - history->before.frames;
    history->flow.predictions += now.predictions - history->before.predictions;
    history->flow.dropped += now.dropped - history->before.dropped;
  }
  history->before = now;
  history->seen = TRUE;
  if (totals->timed) {
    history->flow.p50 = totals->p50[SL_STAGE_AGE];
    history->flow.p95 = MAX (history->flow.p95, totals->p95[SL_STAGE_AGE]);
  }
}

static void
touch (SlHistory *history)
{
  if (history->since == 0)
    history->since = g_get_real_time ();
}

void
sl_history_take (SlHistory *history, const SlReportPipeline *report)
{
  touch (history);
  take_flow (history, &report->totals);
  for (guint i = 0; i < report->regions->len; i++) {
    const GstStructure *counts = g_array_index (report->regions, SlReportRegions, i).counts;
    gint64 since = 0;
    if (counts == NULL || !gst_structure_get_int64 (counts, "since", &since) || since == 0)
      continue;
    for (guint r = 0; r < sl_report_list_length (counts, "regions"); r++)
      take_region (history, sl_report_list_item (counts, "regions", r), since >= history->started);
  }
}

void
sl_history_dwell (SlHistory *history, const char *name, gdouble seconds)
{
  guint i = 0;
  Region *region = region_of (history, "zone", name);
  if (region == NULL || !(seconds >= 0))
    return;
  touch (history);
  while (i < SL_HISTORY_DWELLS && seconds >= sl_history_dwells[i])
    i++;
  region->classes[i]++;
  region->dwell += seconds;
  region->dwells++;
}

void
sl_history_places (SlHistory *history, const SlPredictions *predictions, guint ms)
{
  const guint n = sl_predictions_get_n_objects (predictions);
  if (n == 0)
    return;
  touch (history);
  if (history->cells == NULL)
    history->cells = g_new0 (guint32, SL_HISTORY_CELLS);
  for (guint i = 0; i < n; i++) {
    const SlBox *box = sl_object_get_relative_box (sl_predictions_get_object (predictions, i));
    const gdouble column = (box->x + box->width / 2) * SL_HISTORY_WIDTH,
                  row = (box->y + box->height) * SL_HISTORY_HEIGHT; /* where it stands */
    const guint cell = (guint) CLAMP (row, 0, SL_HISTORY_HEIGHT - 1) * SL_HISTORY_WIDTH
                       + (guint) CLAMP (column, 0, SL_HISTORY_WIDTH - 1);
    history->cells[cell] += ms;
  }
}

static gboolean
is_new (const Region *region)
{
  return region->entered != 0 || region->left != 0 || region->most != 0 || region->dwells != 0;
}

/* A copy for the rows; of @region what was before stays. */
static void
take_news (Region *region, GArray *rows)
{
  if (!is_new (region))
    return;
  Region row = *region;
  row.kind = g_strdup (region->kind);
  row.name = g_strdup (region->name);
  g_array_append_val (rows, row);
  region->entered = region->left = region->most = region->dwells = 0;
  region->dwell = 0;
  memset (region->classes, 0, sizeof region->classes);
}

SlHistoryRows *
sl_history_flush (SlHistory *history, gint64 now, gboolean force)
{
  GHashTableIter iter;
  gpointer region;
  if (history->since == 0
      || (!force && now / SL_BUCKET_MINUTE == history->since / SL_BUCKET_MINUTE
          && now - history->since < SL_HISTORY_SECONDS * (gint64) G_USEC_PER_SEC
          && now >= history->since))
    return NULL;
  SlHistoryRows *rows = g_new0 (SlHistoryRows, 1);
  rows->pipeline = g_strdup (history->pipeline);
  rows->at = history->since;
  rows->flow = history->flow;
  rows->cells = g_steal_pointer (&history->cells);
  rows->regions = g_array_new (FALSE, FALSE, sizeof (Region));
  g_array_set_clear_func (rows->regions, region_clear);
  g_hash_table_iter_init (&iter, history->regions);
  while (g_hash_table_iter_next (&iter, NULL, &region))
    take_news (region, rows->regions);
  history->flow = (Flow){ 0 };
  history->since = 0;
  return rows;
}

void
sl_history_rows_free (SlHistoryRows *rows)
{
  g_array_unref (rows->regions);
  g_free (rows->cells);
  g_free (rows->pipeline);
  g_free (rows);
}

/* Hours and days are those of this machine's clocks, which stand at another minute than UTC in some
 * zones. */
static gint64
start_of (const SlHistoryRows *rows, gint64 step)
{
  g_auto (SlBuckets) buckets;
  sl_buckets_init (&buckets, step * (gint64) G_USEC_PER_SEC, NULL);
  return sl_buckets_find (&buckets, rows->at);
}

static gboolean
write_region (SlSql *sql, const SlHistoryRows *rows, const Region *region, gint64 step,
              GError **error)
{
  return sl_sql_do (sql, error,
                    "INSERT INTO count VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
                    "SET entered = entered + excluded.entered, left = left + excluded.left, most = "
                    "max(most, excluded.most), dwell = dwell + excluded.dwell, dwells = dwells + "
                    "excluded.dwells",
                    "siissiiidi", rows->pipeline, step, start_of (rows, step), region->kind,
                    region->name, region->entered, region->left, region->most, region->dwell,
                    region->dwells);
}

static gboolean
write_dwells (SlSql *sql, const SlHistoryRows *rows, const Region *region, GError **error)
{
  for (guint i = 0; i <= SL_HISTORY_DWELLS; i++)
    if (region->classes[i] > 0
        && !sl_sql_do (sql, error,
                       "INSERT INTO dwell VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + "
                       "excluded.n",
                       "sisii", rows->pipeline, start_of (rows, 3600), region->name, (gint64) i,
                       region->classes[i]))
      return FALSE;
  return TRUE;
}

static gboolean
write_flow (SlSql *sql, const SlHistoryRows *rows, gint64 step, GError **error)
{
  const Flow *flow = &rows->flow;
  return sl_sql_do (sql, error,
                    "INSERT INTO flow VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                    "frames = frames + excluded.frames, predictions = predictions + "
                    "excluded.predictions, dropped = dropped + excluded.dropped, p50 = "
                    "CASE excluded.p50 WHEN 0 THEN p50 ELSE excluded.p50 END, p95 = max(p95, "
                    "excluded.p95)",
                    "siiiiiii", rows->pipeline, step, start_of (rows, step), flow->frames,
                    flow->predictions, flow->dropped, flow->p50, flow->p95);
}

static gboolean
write_cells (SlSql *sql, const SlHistoryRows *rows, gint64 step, GError **error)
{
  const gint64 start = start_of (rows, step);
  const gsize size = SL_HISTORY_CELLS * sizeof (guint32);
  if (rows->cells == NULL)
    return TRUE;
  g_autofree guint32 *sum = g_memdup2 (rows->cells, size);
  g_autoptr (sqlite3_stmt) before = sl_sql_query (
    sql, error, "SELECT cells FROM heat WHERE pipeline = ? AND step = ? AND start = ?", "sii",
    rows->pipeline, step, start);
  if (before == NULL)
    return FALSE;
  if (sl_sql_next (sql, before, error) && sqlite3_column_bytes (before, 0) == (int) size) {
    const guint32 *cells = sqlite3_column_blob (before, 0);
    for (guint i = 0; i < SL_HISTORY_CELLS; i++)
      sum[i] += GUINT32_FROM_LE (cells[i]);
  }
  for (guint i = 0; i < SL_HISTORY_CELLS; i++)
    sum[i] = GUINT32_TO_LE (sum[i]);
  g_autoptr (GBytes) bytes = g_bytes_new_static (sum, size);
  return sl_sql_do (sql, error, "INSERT OR REPLACE INTO heat VALUES (?, ?, ?, ?)", "siib",
                    rows->pipeline, step, start, bytes);
}

static gboolean
write_all (SlSql *sql, const SlHistoryRows *rows, GError **error)
{
  for (guint i = 0; i < rows->regions->len; i++) {
    const Region *region = &g_array_index (rows->regions, Region, i);
    if (!write_region (sql, rows, region, 60, error)
        || !write_region (sql, rows, region, 3600, error)
        || !write_dwells (sql, rows, region, error))
      return FALSE;
  }
  return write_flow (sql, rows, 60, error) && write_flow (sql, rows, 3600, error)
         && write_cells (sql, rows, 3600, error) && write_cells (sql, rows, 86400, error);
}

gboolean
sl_history_write (SlStore *store, const SlHistoryRows *rows, GError **error)
{
  SlSql *sql = &store->write;
  return sl_sql_end (
    sql, sl_sql_script (sql, "BEGIN IMMEDIATE", error) && write_all (sql, rows, error), error);
}
