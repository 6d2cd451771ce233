/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Machines exchange all that is known of a person, and each keeps the newest of it. A machine that
 * has something that was not in a message sends that in turn; so all have the same in the end. What
 * is erased is remembered, so no machine brings it back.
 */
#include "pipelines/gallery/shared.h"

#include <string.h>

#include "core/base/fail.h"

/* Clocks may differ so much. */
#define AHEAD_US (60 * G_USEC_PER_SEC)
/* Persons who became one another in turn. */
#define MERGES 16

static const char schema[] =
  "CREATE TABLE IF NOT EXISTS share (id INTEGER PRIMARY KEY CHECK (id = 1), machine INTEGER NOT "
  "NULL, origin TEXT NOT NULL, made INTEGER NOT NULL);"
  "CREATE TABLE IF NOT EXISTS erased (n INTEGER PRIMARY KEY AUTOINCREMENT, token TEXT NOT NULL "
  "UNIQUE, person INTEGER NOT NULL, before INTEGER NOT NULL, camera TEXT NOT NULL, same INTEGER "
  "NOT NULL, made INTEGER NOT NULL);"
  "CREATE INDEX IF NOT EXISTS erased_person ON erased (person);";

/* The first number that @text asks for, with the argument @id; @other where there is none. */
static gint64
ask (SlIdentityStore *store, const char *text, gint64 id, gint64 other)
{
  g_autoptr (sqlite3_stmt) row = sl_sql_query (&store->sql, NULL, text, "i", id);
  return row != NULL && sl_sql_next (&store->sql, row, NULL) ? sqlite3_column_int64 (row, 0)
                                                             : other;
}

static gboolean
renumber (SlIdentityStore *store, gint64 by, GError **error)
{
  SlSql *sql = &store->sql;
  return sl_sql_do (sql, error, "UPDATE person SET id = id + ?1 WHERE id < ?1", "i", by)
         && sl_sql_do (sql, error, "UPDATE view SET person = person + ?1 WHERE person < ?1", "i",
                       by)
         && sl_sql_do (sql, error, "UPDATE sighting SET person = person + ?1 WHERE person < ?1",
                       "i", by)
         && sl_sql_do (sql, error, "UPDATE named SET person = person + ?1 WHERE person < ?1", "i",
                       by)
         && sl_sql_do (sql, error, "UPDATE merged SET person = person + ?1 WHERE person < ?1", "i",
                       by)
         && sl_sql_do (sql, error, "UPDATE picture SET person = person + ?1 WHERE person < ?1", "i",
                       by)
         && sl_sql_do (sql, error, "UPDATE about SET next = next + ?1 WHERE next < ?1", "i", by);
}

static gboolean
begin (SlIdentityStore *store, guint machine, GError **error)
{
  return sl_sql_script (&store->sql, schema, error)
         && sl_sql_do (&store->sql, error,
                       "INSERT INTO share VALUES (1, ?, lower(hex(randomblob(16))), ?)", "ii",
                       (gint64) machine, g_get_real_time ())
         && renumber (store, machine * SL_IDENTITY_NUMBERS, error);
}

static gboolean
read_share (SlIdentityStore *store, guint machine, SlIdentityHello *hello, GError **error)
{
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, error, "SELECT machine, origin, made FROM share", "");
  if (row == NULL || !sl_sql_next (&store->sql, row, error))
    return row != NULL && (error == NULL || *error == NULL)
           && sl_fail (error, SL_ERROR_FORMAT,
                       "%s: it does not say which machine it is of; expected a gallery that "
                       "sightline has made",
                       store->sql.path);
  const gint64 number = sqlite3_column_int64 (row, 0);
  const char *origin = sl_sql_text (row, 1);
  g_strlcpy (hello->origin, origin != NULL ? origin : "", sizeof hello->origin);
  hello->made = sqlite3_column_int64 (row, 2);
  return number == machine
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "%s: it is the file of machine %" G_GINT64_FORMAT
                     ", got machine=%u: state machine=%" G_GINT64_FORMAT ", or take another file",
                     store->sql.path, number, machine, number);
}

gboolean
sl_identity_shared_prepare (SlIdentityStore *store, guint machine, SlIdentityHello *hello,
                            GError **error)
{
  if (!sl_sql_script (&store->sql, "BEGIN IMMEDIATE", error))
    return FALSE;
  const gint64 there =
    ask (store, "SELECT count(*) FROM sqlite_master WHERE name = 'share' AND ?1 = 0", 0, 0);
  const gboolean good =
    (there > 0 || begin (store, machine, error)) && read_share (store, machine, hello, error);
  store->is_shared = good;
  return sl_sql_end (&store->sql, good, error);
}

static gboolean
note (SlIdentityStore *store, gint64 person, gint64 before, const char *camera, gint64 same,
      GError **error)
{
  return sl_sql_do (&store->sql, error,
                    "INSERT INTO erased (token, person, before, camera, same, made) VALUES "
                    "(lower(hex(randomblob(16))), ?, ?, ?, ?, ?)",
                    "iisii", person, before, camera != NULL ? camera : "", same,
                    g_get_real_time ());
}

/* The oldest are forgotten; rules have erased long ago what these speak of. */
static gboolean
trim (SlIdentityStore *store, GError **error)
{
  return sl_sql_do (&store->sql, error,
                    "DELETE FROM erased WHERE n <= (SELECT max(n) FROM erased) - ?", "i",
                    (gint64) SL_IDENTITY_ERASURES);
}

gboolean
sl_identity_shared_forgot (SlIdentityStore *store, const SlIdentityChoice *choice, GError **error)
{
  if (!store->is_shared)
    return TRUE;
  const gint64 now = g_get_real_time ();
  const gboolean whole = choice->person != 0 && choice->before == 0 && choice->camera == NULL;
  return (whole
          || note (store, choice->person, choice->before > 0 ? MIN (choice->before, now) : now,
                   choice->camera, 0, error))
         /* Nobody gets the numbers of those who are gone whole. */
         && sl_sql_do (&store->sql, error,
                       "INSERT INTO erased (token, person, before, camera, same, made) SELECT "
                       "lower(hex(randomblob(16))), id, ?, '', 0, ? FROM person WHERE id NOT IN "
                       "(SELECT person FROM view)",
                       "ii", G_MAXINT64, now)
         && trim (store, error);
}

gboolean
sl_identity_shared_merged (SlIdentityStore *store, gint64 from, gint64 into, GError **error)
{
  return !store->is_shared || (note (store, from, 1, NULL, into, error) && trim (store, error));
}

static gboolean
read_views (SlIdentityStore *store, gint64 person, SlIdentityState *state, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, error,
                  "SELECT camera, time, look FROM view WHERE person = ? ORDER BY time DESC, camera "
                  "LIMIT ?",
                  "ii", person, (gint64) SL_IDENTITY_VIEWS);
  while (row != NULL && sl_sql_next (&store->sql, row, &cause)) {
    const guint i = state->n_views;
    const char *camera = sl_sql_text (row, 0);
    g_autoptr (GBytes) plain =
      sl_seal_open (store->seal, SL_IDENTITY_LOOK, sqlite3_column_blob (row, 2),
                    (gsize) sqlite3_column_bytes (row, 2));
    if (camera == NULL || plain == NULL || g_bytes_get_size (plain) != store->length)
      continue; /* the gallery says so when it is read */
    g_strlcpy (state->cameras[i], camera, sizeof state->cameras[i]);
    state->times[i] = sqlite3_column_int64 (row, 1);
    memcpy (state->rows + (gsize) i * store->length, g_bytes_get_data (plain, NULL), store->length);
    state->n_views++;
  }
  if (cause != NULL)
    g_propagate_error (error, g_steal_pointer (&cause));
  return row != NULL && (error == NULL || *error == NULL);
}

gboolean
sl_identity_shared_read (SlIdentityStore *store, gint64 person, SlIdentityState *state,
                         GError **error)
{
  g_autoptr (GError) cause = NULL;
  state->n_views = state->n_seen = 0;
  if (!read_views (store, person, state, &cause)) {
    g_propagate_error (error, g_steal_pointer (&cause));
    return FALSE;
  }
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, error,
                  "SELECT camera, first, max(last), confidence, cosine FROM sighting WHERE person "
                  "= ? GROUP BY camera LIMIT ?",
                  "ii", person, (gint64) SL_IDENTITY_CAMERAS);
  while (row != NULL && sl_sql_next (&store->sql, row, &cause)) {
    SlIdentitySeen *seen = &state->seen[state->n_seen];
    const char *camera = sl_sql_text (row, 0);
    if (camera == NULL)
      continue;
    g_strlcpy (seen->camera, camera, sizeof seen->camera);
    seen->first = sqlite3_column_int64 (row, 1);
    seen->last = sqlite3_column_int64 (row, 2);
    seen->confidence = sqlite3_column_double (row, 3);
    seen->cosine = sqlite3_column_double (row, 4);
    state->n_seen++;
  }
  if (cause != NULL)
    g_propagate_error (error, g_steal_pointer (&cause));
  return row != NULL && (error == NULL || *error == NULL);
}

/* The person that @person is after merges; 0 = none. */
static gint64
resolve (SlIdentityStore *store, gint64 person)
{
  gint64 next;
  for (guint i = 0; i < MERGES; i++) {
    next = ask (store, "SELECT same FROM erased WHERE person = ? AND same <> 0 ORDER BY n DESC",
                person, 0);
    if (next == 0)
      break;
    person = next;
  }
  return ask (store,
              "SELECT 1 FROM erased WHERE person = ? AND same = 0 AND before = 9223372036854775807",
              person, 0)
             == 1
           ? 0
           : person;
}

gboolean
sl_identity_shared_is_gone (SlIdentityStore *store, gint64 person)
{
  return resolve (store, person) != person;
}

/* Whether what @camera saw of @person at @time was erased. */
static gboolean
is_erased (SlIdentityStore *store, gint64 person, const char *camera, gint64 time)
{
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, NULL,
                  "SELECT 1 FROM erased WHERE person IN (0, ?) AND same = 0 AND before > ? AND "
                  "camera IN ('', ?) LIMIT 1",
                  "iis", person, time, camera);
  return row == NULL || sl_sql_next (&store->sql, row, NULL);
}

/* A row of zeros has no direction. */
static gboolean
is_row (const gint8 *row, guint n)
{
  for (guint i = 0; i < n; i++)
    if (row[i] != 0)
      return TRUE;
  return FALSE;
}

static gboolean
take_views (SlIdentityStore *store, gint64 person, const SlIdentityState *state, gint64 now,
            GError **error)
{
  for (guint i = 0; i < state->n_views; i++) {
    const gint8 *numbers = state->rows + (gsize) i * store->length;
    if (state->times[i] < now - store->rules.keep || state->times[i] > now + AHEAD_US
        || !is_row (numbers, store->length)
        || is_erased (store, person, state->cameras[i], state->times[i]))
      continue;
    g_autoptr (GBytes) look =
      sl_seal_close (store->seal, SL_IDENTITY_LOOK, numbers, store->length, error);
    if (look == NULL
        || !sl_sql_do (&store->sql, error, "INSERT OR IGNORE INTO person VALUES (?)", "i", person)
        || !sl_sql_do (&store->sql, error, "INSERT OR IGNORE INTO view VALUES (?, ?, ?, ?)", "isib",
                       person, state->cameras[i], state->times[i], look))
      return FALSE;
  }
  return sl_identity_store_trim_views (store, person, error);
}

static gboolean
take_seen (SlIdentityStore *store, gint64 person, const SlIdentityState *state, gint64 now,
           GError **error)
{
  for (guint i = 0; i < state->n_seen; i++) {
    const SlIdentitySeen *seen = &state->seen[i];
    if (seen->last < now - store->rules.keep || seen->last > now + AHEAD_US
        || is_erased (store, person, seen->camera, seen->first))
      continue;
    if (!sl_sql_do (&store->sql, error,
                    "INSERT INTO sighting SELECT id, ?, ?, ?, ?, ? FROM person WHERE id = ? ON "
                    "CONFLICT (person, camera, first) DO UPDATE SET last = excluded.last, "
                    "confidence = excluded.confidence, cosine = excluded.cosine WHERE "
                    "excluded.last > last",
                    "siiddi", seen->camera, seen->first, seen->last, seen->confidence, seen->cosine,
                    person))
      return FALSE;
  }
  return TRUE;
}

/* Whether @mine has something that is not in @theirs. */
static gboolean
has_more (const SlIdentityState *mine, const SlIdentityState *theirs)
{
  for (guint i = 0; i < mine->n_views; i++) {
    gboolean there = FALSE;
    for (guint k = 0; k < theirs->n_views && !there; k++)
      there =
        mine->times[i] == theirs->times[k] && strcmp (mine->cameras[i], theirs->cameras[k]) == 0;
    if (!there)
      return TRUE;
  }
  for (guint i = 0; i < mine->n_seen; i++) {
    gboolean there = FALSE;
    for (guint k = 0; k < theirs->n_seen && !there; k++)
      there = mine->seen[i].last <= theirs->seen[k].last
              && strcmp (mine->seen[i].camera, theirs->seen[k].camera) == 0;
    if (!there)
      return TRUE;
  }
  return FALSE;
}

/* The order of rows does not count. */
static guint64
print_of (const char *camera, gint64 time, guint64 kind)
{
  guint64 print = G_GUINT64_CONSTANT (0xcbf29ce484222325) ^ kind ^ (guint64) time;
  for (const char *at = camera != NULL ? camera : ""; *at != '\0'; at++)
    print = (print ^ (guint8) *at) * G_GUINT64_CONSTANT (0x100000001b3);
  print ^= print >> 31;
  return print * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
}

static void
add_print (GHashTable *prints, gint64 person, guint64 print)
{
  guint64 *sum = g_hash_table_lookup (prints, &person);
  if (sum == NULL) {
    sum = g_new0 (guint64, 1);
    g_hash_table_insert (prints, g_memdup2 (&person, sizeof person), sum);
  }
  *sum += print;
}

/* Of people from number @first to @last. */
static GHashTable *
make_prints (SlIdentityStore *store, gint64 first, gint64 last, GError **error)
{
  static const char *const texts[] = {
    "SELECT person, camera, time FROM view WHERE person BETWEEN ? AND ?",
    "SELECT person, camera, max(last) FROM sighting WHERE person BETWEEN ? AND ? GROUP BY person, "
    "camera"
  };
  g_autoptr (GHashTable) prints =
    g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) cause = NULL;
    g_autoptr (sqlite3_stmt) row = sl_sql_query (&store->sql, &cause, texts[i], "ii", first, last);
    while (row != NULL && sl_sql_next (&store->sql, row, &cause))
      add_print (prints, sqlite3_column_int64 (row, 0),
                 print_of (sl_sql_text (row, 1), sqlite3_column_int64 (row, 2), i + 1));
    if (cause != NULL) {
      g_propagate_error (error, g_steal_pointer (&cause));
      return NULL;
    }
  }
  return g_steal_pointer (&prints);
}

GHashTable *
sl_identity_shared_prints (SlIdentityStore *store, GError **error)
{
  return make_prints (store, SL_IDENTITY_NUMBERS, G_MAXINT64, error);
}

/* In a transaction. */
static gboolean
take (SlIdentityStore *store, gint64 person, const SlIdentityState *state, gint64 now,
      guint64 *print, GError **error)
{
  g_autofree SlIdentityState *mine = g_new (SlIdentityState, 1);
  if (!take_views (store, person, state, now, error)
      || !take_seen (store, person, state, now, error)
      || !sl_identity_shared_read (store, person, mine, error))
    return FALSE;
  if (has_more (mine, state))
    return TRUE;
  g_autoptr (GHashTable) prints = make_prints (store, person, person, error);
  const guint64 *sum = prints != NULL ? g_hash_table_lookup (prints, &person) : NULL;
  *print = sum != NULL ? *sum : 0;
  return prints != NULL;
}

/* Room for people of other machines is made at once, not only each minute. */
static gboolean
keep_rules (SlIdentityStore *store, gint64 now, GError **error)
{
  guint gone;
  return ask (store, "SELECT count(*) > ? FROM person", store->rules.most, 0) == 0
         || sl_identity_store_expire (store, now, &gone, error);
}

gboolean
sl_identity_shared_take (SlIdentityStore *store, gint64 person, const SlIdentityState *state,
                         gint64 now, guint64 *print, gboolean *is_gone, GError **error)
{
  *print = 0;
  *is_gone = FALSE;
  if (!sl_sql_script (&store->sql, "BEGIN IMMEDIATE", error))
    return FALSE;
  const gint64 who = resolve (store, person);
  *is_gone = who != person;
  const gboolean good = who == 0 || take (store, who, state, now, print, error);
  return sl_sql_end (&store->sql, good, error) && keep_rules (store, now, error);
}

static gboolean
merge (SlIdentityStore *store, gint64 from, gint64 into, GError **error)
{
  const gint64 who = resolve (store, into);
  if (who == 0)
    return sl_sql_do (&store->sql, error, "DELETE FROM view WHERE person = ?", "i", from);
  return sl_sql_do (&store->sql, error,
                    "INSERT OR IGNORE INTO person SELECT ? FROM person WHERE id = ?", "ii", who,
                    from)
         && sl_identity_store_merge_rows (store, from, who, error);
}

/* Two machines may merge two persons in both directions: then the lower number stays. */
static gboolean
apply (SlIdentityStore *store, const char *token, const SlIdentityErasure *erasure, guint *n,
       GError **error)
{
  /* What will be seen in the future cannot be erased. */
  const gint64 before = erasure->before < G_MAXINT64
                          ? MIN (erasure->before, g_get_real_time () + AHEAD_US)
                          : G_MAXINT64;
  const SlIdentityChoice choice = { erasure->person, before,
                                    *erasure->camera != '\0' ? erasure->camera : NULL };
  const gboolean turns = erasure->same != 0 && resolve (store, erasure->same) == erasure->person;
  if (turns && erasure->same > erasure->person)
    return TRUE;
  if (turns
      && !sl_sql_do (&store->sql, error, "DELETE FROM erased WHERE person = ? AND same <> 0", "i",
                     erasure->same))
    return FALSE;
  if (!sl_sql_do (&store->sql, error,
                  "INSERT OR IGNORE INTO erased (token, person, before, camera, same, made) "
                  "VALUES (?, ?, ?, ?, ?, ?)",
                  "siisii", token, erasure->person, before, erasure->camera, erasure->same,
                  erasure->made))
    return FALSE;
  if (sqlite3_changes (store->sql.db) == 0)
    return TRUE; /* it is known */
  return (erasure->same != 0 ? merge (store, erasure->person, erasure->same, error)
                             : sl_identity_store_forget_rows (store, &choice, n, error))
         && sl_identity_store_drop_empty (store, n, error) && trim (store, error);
}

gboolean
sl_identity_shared_erase (SlIdentityStore *store, const char *token,
                          const SlIdentityErasure *erasure, GError **error)
{
  guint n = 0;
  if (!sl_sql_script (&store->sql, "BEGIN IMMEDIATE", error))
    return FALSE;
  const gboolean good = apply (store, token, erasure, &n, error);
  store->has_traces = store->has_traces || n > 0 || erasure->same != 0;
  return sl_sql_end (&store->sql, good, error);
}

gboolean
sl_identity_shared_next (SlIdentityStore *store, gint64 *number, char token[SL_IDENTITY_TOKEN],
                         SlIdentityErasure *erasure, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (sqlite3_stmt) row = sl_sql_query (
    &store->sql, error,
    "SELECT n, token, person, before, camera, same, made FROM erased WHERE n > ? ORDER BY n LIMIT "
    "1",
    "i", *number);
  *number = 0;
  if (row == NULL || !sl_sql_next (&store->sql, row, &cause)) {
    if (cause != NULL)
      g_propagate_error (error, g_steal_pointer (&cause));
    return row != NULL && (error == NULL || *error == NULL);
  }
  const char *name = sl_sql_text (row, 1), *camera = sl_sql_text (row, 4);
  *number = sqlite3_column_int64 (row, 0);
  g_strlcpy (token, name != NULL ? name : "", SL_IDENTITY_TOKEN);
  erasure->person = sqlite3_column_int64 (row, 2);
  erasure->before = sqlite3_column_int64 (row, 3);
  g_strlcpy (erasure->camera, camera != NULL ? camera : "", sizeof erasure->camera);
  erasure->same = sqlite3_column_int64 (row, 5);
  erasure->made = sqlite3_column_int64 (row, 6);
  return TRUE;
}
