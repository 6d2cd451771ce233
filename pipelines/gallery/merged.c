/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a merge says of cosines: embeddings of the two persons are of one. The numbers are of that
 * person, so they go when the person goes.
 */
#include <string.h>

#include "pipelines/gallery/store.h"

typedef struct
{
  char *camera;
  GBytes *row;
  gfloat scale;
} Look;

/* What the looks of two cameras say. */
typedef struct
{
  const char *a, *b;
  SlCosines cosines;
} Pair;

/* The rows of a person and two cameras, as one. */
typedef struct
{
  char *a, *b;
  SlCosines cosines;
} Joined;

static void
look_clear (gpointer data)
{
  Look *look = data;
  g_free (look->camera);
  g_bytes_unref (look->row);
}

static const gint8 *
row_of (const Look *look)
{
  return g_bytes_get_data (look->row, NULL);
}

/* (transfer full): of @person; rows that are not whole are left out. NULL with @error set. */
static GArray *
list_looks (SlIdentityStore *store, const SlIdentityTable *table, gint64 person, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GArray) looks = g_array_new (FALSE, FALSE, sizeof (Look));
  g_array_set_clear_func (looks, look_clear);
  g_autoptr (sqlite3_stmt) row = sl_sql_query (
    &store->sql, error,
    "SELECT camera, look FROM view WHERE person = ? ORDER BY time DESC, camera LIMIT ?", "ii",
    person, (gint64) SL_IDENTITY_VIEWS);
  while (row != NULL && sl_sql_next (&store->sql, row, &cause)) {
    const char *camera = sl_sql_text (row, 0);
    g_autoptr (GBytes) plain =
      sl_seal_open (store->seal, SL_IDENTITY_LOOK, sqlite3_column_blob (row, 1),
                    (gsize) sqlite3_column_bytes (row, 1));
    if (camera == NULL || plain == NULL || g_bytes_get_size (plain) != table->length)
      continue;
    const gfloat scale = sl_identity_table_scale (table, g_bytes_get_data (plain, NULL));
    const Look look = { g_strdup (camera), g_steal_pointer (&plain), scale };
    g_array_append_val (looks, look);
  }
  if (cause != NULL)
    g_propagate_error (error, g_steal_pointer (&cause));
  return row != NULL && (error == NULL || *error == NULL) ? g_steal_pointer (&looks) : NULL;
}

/* The pair of two cameras, in the order of their names. */
static SlCosines *
find_pair (GArray *pairs, const char *one, const char *other)
{
  const gboolean turned = strcmp (one, other) > 0;
  const Pair pair = { turned ? other : one, turned ? one : other, { 0 } };
  for (guint i = 0; i < pairs->len; i++) {
    Pair *known = &g_array_index (pairs, Pair, i);
    if (strcmp (known->a, pair.a) == 0 && strcmp (known->b, pair.b) == 0)
      return &known->cosines;
  }
  g_array_append_val (pairs, pair);
  return &g_array_index (pairs, Pair, pairs->len - 1).cosines;
}

static void
compare_all (const SlIdentityTable *table, const GArray *one, const GArray *other, GArray *pairs)
{
  for (guint i = 0; i < one->len; i++)
    for (guint k = 0; k < other->len; k++) {
      const Look *a = &g_array_index (one, Look, i), *b = &g_array_index (other, Look, k);
      if (a->scale > 0 && b->scale > 0)
        sl_cosines_add (
          find_pair (pairs, a->camera, b->camera),
          sl_identity_table_cosine (table, row_of (a), a->scale, row_of (b), b->scale));
    }
}

static gboolean
insert (SlIdentityStore *store, gint64 person, const char *a, const char *b,
        const SlCosines *cosines, GError **error)
{
  return sl_sql_do (&store->sql, error, "INSERT INTO merged VALUES (?, ?, ?, ?, ?, ?)", "issddd",
                    person, a, b, cosines->n, cosines->mean, cosines->squares);
}

gboolean
sl_identity_store_learn_merge (SlIdentityStore *store, gint64 from, gint64 into, GError **error)
{
  if (store->seal == NULL && sl_identity_store_is_sealed (store))
    return TRUE;
  g_autoptr (SlIdentityTable) table = sl_identity_table_new (store->length);
  g_autoptr (GArray) one = list_looks (store, table, from, error);
  g_autoptr (GArray) other = one != NULL ? list_looks (store, table, into, error) : NULL;
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  gboolean good = other != NULL;
  if (good)
    compare_all (table, one, other, pairs);
  for (guint i = 0; i < pairs->len && good; i++) {
    const Pair *pair = &g_array_index (pairs, Pair, i);
    good = insert (store, into, pair->a, pair->b, &pair->cosines, error);
  }
  return good;
}

static void
joined_clear (gpointer data)
{
  g_free (((Joined *) data)->a);
  g_free (((Joined *) data)->b);
}

/* (transfer full): what the rows of @person say of each pair of cameras; rows that no merge writes
 * are left out. NULL with @error set. */
static GArray *
list_joined (SlIdentityStore *store, gint64 person, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Joined));
  g_array_set_clear_func (all, joined_clear);
  g_autoptr (sqlite3_stmt) row = sl_sql_query (
    &store->sql, error,
    "SELECT a, b, n, mean, squares FROM merged WHERE person = ? AND " SL_IDENTITY_EVIDENCE
    " ORDER BY a, b",
    "i", person);
  while (row != NULL && sl_sql_next (&store->sql, row, &cause)) {
    const char *a = sl_sql_text (row, 0), *b = sl_sql_text (row, 1);
    const SlCosines more = { sqlite3_column_double (row, 2), sqlite3_column_double (row, 3),
                             sqlite3_column_double (row, 4) };
    if (a == NULL || b == NULL)
      continue;
    Joined *last = all->len > 0 ? &g_array_index (all, Joined, all->len - 1) : NULL;
    if (last == NULL || strcmp (last->a, a) != 0 || strcmp (last->b, b) != 0) {
      const Joined fresh = { g_strdup (a), g_strdup (b), { 0 } };
      g_array_append_val (all, fresh);
      last = &g_array_index (all, Joined, all->len - 1);
    }
    sl_cosines_join (&last->cosines, &more);
  }
  if (cause != NULL)
    g_propagate_error (error, g_steal_pointer (&cause));
  return row != NULL && (error == NULL || *error == NULL) ? g_steal_pointer (&all) : NULL;
}

gboolean
sl_identity_store_join_merges (SlIdentityStore *store, gint64 person, GError **error)
{
  g_autoptr (GArray) all = list_joined (store, person, error);
  gboolean good =
    all != NULL
    && sl_sql_do (&store->sql, error, "DELETE FROM merged WHERE person = ?", "i", person);
  for (guint i = 0; good && i < all->len; i++) {
    Joined *joined = &g_array_index (all, Joined, i);
    sl_cosines_forget (&joined->cosines);
    good = insert (store, person, joined->a, joined->b, &joined->cosines, error);
  }
  return good;
}
