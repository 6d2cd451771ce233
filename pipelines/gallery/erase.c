/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * secure_delete overwrites rows in the file, but not the copies that SQLite leaves in unused parts
 * of pages where it moves rows. VACUUM writes the file anew without these. Older pages are still in
 * the log beside it, until all of that is in the file and the log is cut to nothing.
 */
#include "core/base/fail.h"
#include "pipelines/gallery/shared.h"

/* Sightings for each person that the rules allow, on average. */
#define SIGHTINGS 20
/* What rules erase is written anew at most as often. */
#define VACUUM_US (G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC)

/* TRUE: a table that @statement deleted from may have lost rows; their number is added to @n. */
static gboolean
count (SlIdentityStore *store, gboolean done, guint *n)
{
  if (done)
    *n += (guint) sqlite3_changes (store->sql.db);
  return done;
}

/* People of whom no embedding is left are nobody; their sightings say where somebody was. */
gboolean
sl_identity_store_drop_empty (SlIdentityStore *store, guint *n, GError **error)
{
  return count (store,
                sl_sql_do (&store->sql, error,
                           "DELETE FROM person WHERE id NOT IN (SELECT person FROM view)", ""),
                n)
         && count (store,
                   sl_sql_do (&store->sql, error,
                              "DELETE FROM sighting WHERE person NOT IN (SELECT id FROM person)",
                              ""),
                   n)
         && count (store,
                   sl_sql_do (&store->sql, error,
                              "DELETE FROM view WHERE person NOT IN (SELECT id FROM person)", ""),
                   n)
         && sl_sql_do (&store->sql, error,
                       "DELETE FROM named WHERE person NOT IN (SELECT id FROM person)", "")
         && sl_sql_do (&store->sql, error,
                       "DELETE FROM merged WHERE person NOT IN (SELECT id FROM person)", "")
         && sl_sql_do (&store->sql, error,
                       "DELETE FROM picture WHERE person NOT IN (SELECT id FROM person)", "");
}

/* The log is cut to nothing. */
static gboolean
cut_log (SlIdentityStore *store, GError **error)
{
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, error, "PRAGMA wal_checkpoint(TRUNCATE)", "");
  if (row == NULL || !sl_sql_next (&store->sql, row, error))
    return FALSE;
  return sqlite3_column_int (row, 0) == 0
         || sl_fail (
           error, SL_ERROR_OPEN,
           "%s: what was erased is still in %s-wal, since another program reads the file: "
           "try again when that is done",
           store->sql.path, store->sql.path);
}

gboolean
sl_identity_store_wipe (SlIdentityStore *store, GError **error)
{
  store->vacuumed = g_get_monotonic_time ();
  return sl_sql_script (&store->sql, "VACUUM", error) && cut_log (store, error);
}

gboolean
sl_identity_store_forget_rows (SlIdentityStore *store, const SlIdentityChoice *choice, guint *n,
                               GError **error)
{
  const gint64 before = choice->before > 0 ? choice->before : G_MAXINT64;
  return count (store,
                sl_sql_do (&store->sql, error,
                           "DELETE FROM view WHERE ?1 IN (0, person) AND time < ?2 AND "
                           "coalesce(?3, camera) = camera",
                           "iis", choice->person, before, choice->camera),
                n)
         && count (store,
                   sl_sql_do (&store->sql, error,
                              "DELETE FROM picture WHERE ?1 IN (0, person) AND time < ?2 AND "
                              "coalesce(?3, camera) = camera",
                              "iis", choice->person, before, choice->camera),
                   n)
         && count (store,
                   sl_sql_do (&store->sql, error,
                              "DELETE FROM sighting WHERE ?1 IN (0, person) AND first < ?2 AND "
                              "coalesce(?3, camera) = camera",
                              "iis", choice->person, before, choice->camera),
                   n)
         && sl_sql_do (&store->sql, error,
                       "DELETE FROM merged WHERE ?1 IN (0, person) AND ?2 IN (a, b)", "is",
                       choice->person, choice->camera);
}

gboolean
sl_identity_store_forget (SlIdentityStore *store, const SlIdentityChoice *choice, guint *n,
                          GError **error)
{
  *n = 0;
  if (!sl_sql_script (&store->sql, "BEGIN IMMEDIATE", error))
    return FALSE;
  const gboolean good = sl_identity_store_forget_rows (store, choice, n, error)
                        && sl_identity_shared_forgot (store, choice, error)
                        && sl_identity_store_drop_empty (store, n, error);
  return sl_sql_end (&store->sql, good, error)
         && (*n == 0 || sl_identity_store_wipe (store, error));
}

gboolean
sl_identity_store_expire (SlIdentityStore *store, gint64 now, guint *n, GError **error)
{
  const gint64 from = now - store->rules.keep, most = store->rules.most;
  *n = 0;
  if (!sl_sql_script (&store->sql, "BEGIN IMMEDIATE", error))
    return FALSE;
  /* Times of a clock that was ahead would stay for longer. */
  const gboolean good =
    sl_sql_do (&store->sql, error, "UPDATE OR REPLACE view SET time = ?1 WHERE time > ?1", "i", now)
    && sl_sql_do (
      &store->sql, error,
      "UPDATE OR REPLACE sighting SET first = min(first, ?1), last = ?1 WHERE last > ?1", "i", now)
    && sl_sql_do (&store->sql, error, "UPDATE picture SET time = ?1 WHERE time > ?1", "i", now)
    && count (store, sl_sql_do (&store->sql, error, "DELETE FROM view WHERE time < ?", "i", from),
              n)
    && count (store,
              sl_sql_do (&store->sql, error, "DELETE FROM picture WHERE time < ?", "i", from), n)
    && count (store,
              sl_sql_do (&store->sql, error, "DELETE FROM sighting WHERE last < ?", "i", from), n)
    && count (store,
              sl_sql_do (&store->sql, error,
                         "DELETE FROM person WHERE id IN (SELECT id FROM person ORDER BY (SELECT "
                         "max(last) FROM sighting WHERE person = id) DESC, id DESC LIMIT -1 OFFSET "
                         "?)",
                         "i", most),
              n)
    && count (store,
              sl_sql_do (&store->sql, error,
                         "DELETE FROM sighting WHERE rowid IN (SELECT rowid FROM sighting ORDER BY "
                         "last DESC LIMIT -1 OFFSET ?)",
                         "i", most * SIGHTINGS),
              n)
    && sl_identity_store_drop_empty (store, n, error);
  if (!sl_sql_end (&store->sql, good, error))
    return FALSE;
  store->has_traces = store->has_traces || *n > 0;
  if (!store->has_traces
      || (store->vacuumed != 0 && g_get_monotonic_time () - store->vacuumed < VACUUM_US))
    return *n == 0 || cut_log (store, error);
  store->has_traces = FALSE;
  return sl_identity_store_wipe (store, error);
}

gboolean
sl_identity_store_check_person (SlIdentityStore *store, gint64 id, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, error, "SELECT 1 FROM person WHERE id = ?", "i", id);
  if (row == NULL)
    return FALSE;
  if (sl_sql_next (&store->sql, row, &cause))
    return TRUE;
  if (cause == NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s: there is no person %" G_GINT64_FORMAT
                    " in it; expected one that `sightline gallery list` shows",
                    store->sql.path, id);
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

gboolean
sl_identity_store_merge_rows (SlIdentityStore *store, gint64 from, gint64 into, GError **error)
{
  return sl_identity_store_learn_merge (store, from, into, error)
         && sl_sql_do (&store->sql, error, "UPDATE merged SET person = ? WHERE person = ?", "ii",
                       into, from)
         && sl_identity_store_join_merges (store, into, error)
         && sl_sql_do (&store->sql, error, "UPDATE OR REPLACE view SET person = ? WHERE person = ?",
                       "ii", into, from)
         && sl_sql_do (&store->sql, error,
                       "UPDATE OR REPLACE sighting SET person = ? WHERE person = ?", "ii", into,
                       from)
         && sl_sql_do (&store->sql, error, "UPDATE OR IGNORE named SET person = ? WHERE person = ?",
                       "ii", into, from)
         && sl_sql_do (&store->sql, error, "DELETE FROM named WHERE person = ?", "i", from)
         /* Of two pictures the better one stays. */
         && sl_sql_do (&store->sql, error,
                       "DELETE FROM picture WHERE person = ?1 AND score < (SELECT score FROM "
                       "picture WHERE person = ?2)",
                       "ii", into, from)
         && sl_sql_do (&store->sql, error,
                       "UPDATE OR IGNORE picture SET person = ? WHERE person = ?", "ii", into, from)
         && sl_sql_do (&store->sql, error, "DELETE FROM picture WHERE person = ?", "i", from)
         && sl_sql_do (&store->sql, error, "DELETE FROM person WHERE id = ?", "i", from)
         && sl_identity_store_trim_views (store, into, error);
}

gboolean
sl_identity_store_trim_views (SlIdentityStore *store, gint64 person, GError **error)
{
  return sl_sql_do (&store->sql, error,
                    "DELETE FROM view WHERE person = ?1 AND rowid NOT IN (SELECT rowid FROM view "
                    "WHERE person = ?1 ORDER BY time DESC, camera LIMIT ?2)",
                    "ii", person, (gint64) SL_IDENTITY_VIEWS);
}

gboolean
sl_identity_store_merge (SlIdentityStore *store, gint64 from, gint64 into, GError **error)
{
  if (from == into)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "expected two persons, got %" G_GINT64_FORMAT " twice", from);
  if (!sl_sql_script (&store->sql, "BEGIN IMMEDIATE", error))
    return FALSE;
  const gboolean good = sl_identity_store_check_person (store, from, error)
                        && sl_identity_store_check_person (store, into, error)
                        && sl_identity_store_merge_rows (store, from, into, error)
                        && sl_identity_shared_merged (store, from, into, error);
  return sl_sql_end (&store->sql, good, error) && sl_identity_store_wipe (store, error);
}
