/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/backends/scores.h"

#include <math.h>

/* Floats of mask @i are added to scores, @scale times themselves. */
static void
add_mask (const SlScoreTile *tile, guint i, gfloat scale)
{
  const SlAttentionMask *mask = &tile->a->masks[i];
  const gfloat *from = (const gfloat *) tile->inputs[3 + i] + mask->view.offset
                       + sl_strided_at (&mask->view, 0, tile->matrix);
  gfloat *scores = tile->scores;
  gint64 step = 0;
  const gboolean even = sl_strided_step (&mask->view, 2, &step);
  for (gint32 r = 0; r < tile->queries; r++, scores += tile->stride) {
    const gfloat *row = from + sl_strided_at (&mask->view, 1, (gsize) (tile->query + r));
    if (even && step == 1)
      tile->add_scaled (scores, (gsize) tile->keys, scale, row + tile->key, mask->factor);
    for (gint32 k = 0; !(even && step == 1) && k < tile->keys; k++)
      scores[k] = scores[k] * scale
                  + row[sl_strided_at (&mask->view, 2, (gsize) (tile->key + k))] * mask->factor;
  }
}

static void
choose (const SlScoreTile *tile, guint i, gfloat scale)
{
  const SlAttentionMask *mask = &tile->a->masks[i];
  const guint8 *from = (const guint8 *) tile->inputs[3 + i] + mask->view.offset
                       + sl_strided_at (&mask->view, 0, tile->matrix);
  gfloat *scores = tile->scores;
  gint64 step = 0;
  const gboolean even = sl_strided_step (&mask->view, 2, &step);
  for (gint32 r = 0; r < tile->queries; r++, scores += tile->stride) {
    const guint8 *row = from + sl_strided_at (&mask->view, 1, (gsize) (tile->query + r));
    for (gint32 k = 0; k < tile->keys; k++) {
      const gint32 key = tile->key + k;
      const gboolean truth = row[even ? key * step : sl_strided_at (&mask->view, 2, (gsize) key)];
      scores[k] = truth == mask->keep ? scores[k] * scale : mask->fill;
    }
  }
}

gfloat
sl_scores_mask (const SlScoreTile *tile)
{
  const SlAttention *a = tile->a;
  gfloat scale = a->scale;
  for (guint i = 0; i < a->n_masks; i++, scale = 1)
    (a->masks[i].is_truth ? choose : add_mask) (tile, i, scale);
  for (gint32 r = 0; r < tile->queries; r++) {
    gfloat *row = tile->scores + (gsize) r * tile->stride;
    const gint32 has = sl_attention_keys (a, tile->query + r, tile->all) - tile->key;
    for (gint32 k = 0; !(scale > 0) && k < tile->keys; k++)
      row[k] *= scale;
    for (gint32 k = MAX (has, 0); k < tile->keys; k++)
      row[k] = -INFINITY;
  }
  return scale > 0 ? scale : 1;
}

SlPlaces
sl_places_of (const SlStrided *view, SlArena *arena)
{
  const gsize matrices = (gsize) view->dims[0], rows = (gsize) view->dims[1];
  gssize *all = sl_arena_alloc (arena, (matrices + rows) * sizeof all[0]);
  for (gsize i = 0; i < matrices; i++)
    all[i] = (gssize) (view->offset + sl_strided_at (view, 0, i));
  for (gsize i = 0; i < rows; i++)
    all[matrices + i] = (gssize) sl_strided_at (view, 1, i);
  return (SlPlaces){ all, all + matrices };
}

/* Items are small where that costs little: each packs the keys of its matrix anew, which takes as
 * long as some 15 queries. */
#define ITEMS_A_THREAD 4
#define LEAST_QUERIES 64
#define MANY_QUERIES 512

/* Parts of the queries of each of @matrices: as few as give each of @threads the same number of
 * items, and more of many queries, so that a thread that is held up is left with little. */
static gint32
parts_of (gint32 matrices, gint32 queries, gint32 threads)
{
  const gint32 items = ITEMS_A_THREAD * threads,
               small = MIN (sl_score_pieces (items, matrices), queries / MANY_QUERIES);
  gint32 parts = 1;
  while (matrices * parts % threads != 0 && matrices * parts < items)
    parts++;
  return MAX (parts, small);
}

SlScoreBlocks
sl_score_divide (const SlAttention *a, gint32 most, gint32 panel, gint32 rows, guint threads)
{
  const gint32 matrices = a->q.dims[0], queries = a->q.dims[1], keys = a->k.dims[1];
  const gint32 parts = threads > 1 ? parts_of (matrices, queries, (gint32) threads) : 1;
  SlScoreBlocks blocks = { .keys = sl_score_pieces (keys, sl_score_pieces (keys, most)) };
  if (blocks.keys < keys)
    blocks.keys = MIN (sl_score_pieces (blocks.keys, panel) * panel, SL_SCORE_KEYS);
  blocks.part = MAX (sl_score_pieces (queries, parts), MIN (LEAST_QUERIES, queries));
  blocks.parts = sl_score_pieces (queries, blocks.part);
  blocks.queries = sl_score_pieces (blocks.part, sl_score_pieces (blocks.part, rows));
  blocks.items = (guint) (matrices * blocks.parts);
  return blocks;
}
