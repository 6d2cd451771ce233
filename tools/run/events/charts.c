/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Minutes are read for buckets of a minute, hours for the rest. The arguments of each statement are
 * the same: 1 the pipeline, 2 and 3 the time, 4 the buckets, 5 the step. */
#include "tools/run/events/charts.h"

static void
count_clear (gpointer data)
{
  SlChartCount *count = data;
  g_free (count->pipeline);
  g_free (count->kind);
  g_free (count->name);
}

static void
dwells_clear (gpointer data)
{
  SlChartDwells *dwells = data;
  g_free (dwells->pipeline);
  g_free (dwells->name);
}

static void
flow_clear (gpointer data)
{
  g_free (((SlChartFlow *) data)->pipeline);
}

static char *
text (sqlite3_stmt *rows, gint column)
{
  return g_strdup (sl_sql_text (rows, column));
}

static void
take_count (GArray *out, sqlite3_stmt *rows)
{
  const SlChartCount count = { .from = sqlite3_column_int64 (rows, 0),
                               .pipeline = text (rows, 1),
                               .kind = text (rows, 2),
                               .name = text (rows, 3),
                               .entered = sqlite3_column_int64 (rows, 4),
                               .left = sqlite3_column_int64 (rows, 5),
                               .most = sqlite3_column_int64 (rows, 6),
                               .dwell = sqlite3_column_double (rows, 7),
                               .dwells = sqlite3_column_int64 (rows, 8) };
  g_array_append_val (out, count);
}

/* Rows of one zone follow each other. */
static void
take_dwell (GArray *out, sqlite3_stmt *rows)
{
  SlChartDwells *last = out->len > 0 ? &g_array_index (out, SlChartDwells, out->len - 1) : NULL;
  const gint64 class = sqlite3_column_int64 (rows, 2);
  if (last == NULL || g_strcmp0 (last->pipeline, sl_sql_text (rows, 0)) != 0
      || g_strcmp0 (last->name, sl_sql_text (rows, 1)) != 0) {
    const SlChartDwells dwells = { .pipeline = text (rows, 0), .name = text (rows, 1) };
    g_array_append_val (out, dwells);
    last = &g_array_index (out, SlChartDwells, out->len - 1);
  }
  if (class >= 0 && class <= SL_HISTORY_DWELLS)
    last->n[class] += sqlite3_column_int64 (rows, 3);
}

static void
take_flow (GArray *out, sqlite3_stmt *rows)
{
  const SlChartFlow flow = {
    sqlite3_column_int64 (rows, 0),          text (rows, 1),
    sqlite3_column_int64 (rows, 2),          sqlite3_column_int64 (rows, 3),
    MAX (sqlite3_column_int64 (rows, 4), 0), sqlite3_column_int64 (rows, 5),
    sqlite3_column_int64 (rows, 6)
  };
  g_array_append_val (out, flow);
}

static gboolean
ask (const SlChartQuery *query, GPtrArray *stores, const char *select, gint64 step,
     void (*take) (GArray *out, sqlite3_stmt *rows), GArray *out, GError **error)
{
  GError *reason = NULL;
  for (guint i = 0; i < stores->len && reason == NULL; i++) {
    SlSql *sql = sl_store_reader (stores->pdata[i]);
    g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
    g_autoptr (sqlite3_stmt) rows = sl_sql_query (sql, &reason, select, "siipi", query->pipeline,
                                                  query->from, query->to, query->buckets, step);
    while (rows != NULL && sl_sql_next (sql, rows, &reason))
      take (out, rows);
  }
  if (reason == NULL)
    return TRUE;
  g_propagate_error (error, reason);
  return FALSE;
}

static GArray *
finish (GArray *out, gboolean done, GCompareFunc order)
{
  if (done && order != NULL)
    g_array_sort (out, order);
  if (!done)
    g_clear_pointer (&out, g_array_unref);
  return out;
}

static gint64
step_of (const SlChartQuery *query)
{
  return query->buckets->width < SL_BUCKET_HOUR ? 60 : 3600;
}

static gint
by_count (gconstpointer a, gconstpointer b)
{
  const SlChartCount *first = a, *second = b;
  if (first->from != second->from)
    return first->from < second->from ? -1 : 1;
  const gint pipeline = g_strcmp0 (first->pipeline, second->pipeline),
             kind = g_strcmp0 (first->kind, second->kind);
  return pipeline != 0 ? pipeline : kind != 0 ? kind : g_strcmp0 (first->name, second->name);
}

static gint
by_flow (gconstpointer a, gconstpointer b)
{
  const SlChartFlow *first = a, *second = b;
  if (first->from != second->from)
    return first->from < second->from ? -1 : 1;
  return g_strcmp0 (first->pipeline, second->pipeline);
}

GArray *
sl_chart_counts (const SlChartQuery *query, GPtrArray *stores, GError **error)
{
  GArray *out = g_array_new (FALSE, FALSE, sizeof (SlChartCount));
  g_array_set_clear_func (out, count_clear);
  const gboolean done =
    ask (query, stores,
         "SELECT bucket(start, ?4) AS b, pipeline, kind, name, sum(entered), sum(left), max(most), "
         "sum(dwell), sum(dwells) FROM count WHERE (?1 IS NULL OR pipeline = ?1) AND step = ?5 AND "
         "start >= ?2 AND start < ?3 GROUP BY b, pipeline, kind, name",
         step_of (query), take_count, out, error);
  return finish (out, done, by_count);
}

GArray *
sl_chart_dwells (const SlChartQuery *query, GPtrArray *stores, GError **error)
{
  GArray *out = g_array_new (FALSE, FALSE, sizeof (SlChartDwells));
  g_array_set_clear_func (out, dwells_clear);
  const gboolean done =
    ask (query, stores,
         "SELECT pipeline, name, bucket, sum(n) FROM dwell WHERE (?1 IS NULL OR pipeline = ?1) AND "
         "start >= ?2 AND start < ?3 GROUP BY pipeline, name, bucket ORDER BY "
         "pipeline, name, bucket",
         3600, take_dwell, out, error);
  return finish (out, done, NULL);
}

GArray *
sl_chart_flow (const SlChartQuery *query, GPtrArray *stores, GError **error)
{
  GArray *out = g_array_new (FALSE, FALSE, sizeof (SlChartFlow));
  g_array_set_clear_func (out, flow_clear);
  const gboolean done = ask (
    query, stores,
    "SELECT bucket(start, ?4) AS b, pipeline, sum(frames), sum(predictions), sum(dropped), "
    "avg(nullif(p50, 0)), max(p95) FROM flow WHERE (?1 IS NULL OR pipeline = ?1) AND step = ?5 "
    "AND start >= ?2 AND start < ?3 GROUP BY b, pipeline",
    step_of (query), take_flow, out, error);
  return finish (out, done, by_flow);
}

static void
take_cells (GArray *out, sqlite3_stmt *rows)
{
  const guint32 *cells = sqlite3_column_blob (rows, 0);
  if (sqlite3_column_bytes (rows, 0) != (int) (SL_HISTORY_CELLS * sizeof *cells))
    return;
  for (guint i = 0; i < SL_HISTORY_CELLS; i++)
    g_array_index (out, guint64, i) += GUINT32_FROM_LE (cells[i]);
}

gboolean
sl_chart_places (const SlChartQuery *query, GPtrArray *stores, guint64 *cells, GError **error)
{
  GArray *out = g_array_new (FALSE, TRUE, sizeof *cells);
  g_array_set_size (out, SL_HISTORY_CELLS);
  const gboolean done =
    ask (query, stores,
         "SELECT cells FROM heat WHERE (?1 IS NULL OR pipeline = ?1) AND step = ?5 AND start >= ?2 "
         "AND start < ?3",
         query->buckets->width < SL_BUCKET_DAY ? 3600 : 86400, take_cells, out, error);
  for (guint i = 0; done && i < SL_HISTORY_CELLS; i++)
    cells[i] += g_array_index (out, guint64, i);
  g_array_unref (out);
  return done;
}
