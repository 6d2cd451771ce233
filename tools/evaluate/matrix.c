/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/evaluate/matrix.h"

#define LEAST_OVERLAP 0.5

/** A found object of class @found, and the class of the true object that it took. */
typedef struct
{
  gdouble confidence;
  gint32 truth, found;
} Pair;

struct _SlObjectPairs
{
  GArray *pairs, *truths; /* of Pair; of gint32: the class of each true object that counts */
};

SlObjectPairs *
sl_object_pairs_new (void)
{
  SlObjectPairs *pairs = g_new0 (SlObjectPairs, 1);
  pairs->pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  pairs->truths = g_array_new (FALSE, FALSE, sizeof (gint32));
  return pairs;
}

void
sl_object_pairs_free (SlObjectPairs *pairs)
{
  if (pairs == NULL)
    return;
  g_array_unref (pairs->pairs);
  g_array_unref (pairs->truths);
  g_free (pairs);
}

/* The free true object that found object @index overlaps most, -1 = none. Ignored ones come last;
 * of equal overlaps, the one of its class is taken. */
static gint
take (const SlEvalObject *truth, guint n_truth, const gboolean *taken, guint index, gint32 label,
      SlOverlap overlap, gconstpointer data)
{
  gdouble most = LEAST_OVERLAP;
  gint best = -1;
  for (guint k = 0; k < n_truth; k++) {
    const gdouble value = taken[k] && !truth[k].crowd ? 0 : overlap (index, k, data);
    const gboolean counts_more = best >= 0 && truth[best].ignored && !truth[k].ignored;
    const gboolean counts_less = best >= 0 && !truth[best].ignored && truth[k].ignored;
    if (value < LEAST_OVERLAP || counts_less)
      continue;
    if (!counts_more && best >= 0 && (value < most || (value == most && truth[k].label != label)))
      continue;
    most = value;
    best = (gint) k;
  }
  return best;
}

void
sl_object_pairs_add (SlObjectPairs *pairs, const SlEvalObject *truth, guint n_truth,
                     const SlEvalObject *found, guint n_found, SlOverlap overlap,
                     gconstpointer data)
{
  g_autofree gboolean *taken = g_new0 (gboolean, (gsize) n_truth + 1);
  for (guint i = 0; i < n_truth; i++)
    if (!truth[i].ignored)
      g_array_append_val (pairs->truths, truth[i].label);
  for (guint i = 0; i < n_found; i++) {
    const gint best = take (truth, n_truth, taken, i, found[i].label, overlap, data);
    const Pair pair = { found[i].confidence, best >= 0 ? truth[best].label : SL_MATRIX_NOTHING,
                        found[i].label };
    if (best >= 0)
      taken[best] = TRUE;
    if (best < 0 || !truth[best].ignored)
      g_array_append_val (pairs->pairs, pair);
  }
}

/* Adds @n to a cell. Each true object is first one that was not found, so no cell ends below zero.
 */
static void
count (GHashTable *cells, gint32 truth, gint32 guess, gint n)
{
  const gint64 key = (gint64) truth * ((gint64) G_MAXUINT32 + 1) + (guint32) guess;
  SlMatrixCell *cell = g_hash_table_lookup (cells, &key);
  if (cell == NULL) {
    cell = g_new0 (SlMatrixCell, 1);
    *cell = (SlMatrixCell){ truth, guess, 0 };
    g_hash_table_insert (cells, g_memdup2 (&key, sizeof key), cell);
  }
  cell->n += (guint64) (gint64) n;
}

GArray *
sl_object_pairs_matrix (const SlObjectPairs *pairs, gdouble confidence)
{
  g_autoptr (GHashTable) cells =
    g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  GArray *matrix = g_array_new (FALSE, FALSE, sizeof (SlMatrixCell));
  GHashTableIter iter;
  gpointer cell;
  for (guint i = 0; i < pairs->truths->len; i++)
    count (cells, g_array_index (pairs->truths, gint32, i), SL_MATRIX_NOTHING, 1);
  for (guint i = 0; i < pairs->pairs->len; i++) {
    const Pair *pair = &g_array_index (pairs->pairs, Pair, i);
    if (pair->confidence < confidence)
      continue;
    count (cells, pair->truth, pair->found, 1);
    if (pair->truth != SL_MATRIX_NOTHING)
      count (cells, pair->truth, SL_MATRIX_NOTHING, -1);
  }
  g_hash_table_iter_init (&iter, cells);
  while (g_hash_table_iter_next (&iter, NULL, &cell))
    if (((SlMatrixCell *) cell)->n > 0)
      g_array_append_vals (matrix, cell, 1);
  return matrix;
}
