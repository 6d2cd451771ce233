/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernels of ATTENTION share (internal to core/backends): the loops over rows of scores,
 * and masks, which are added to a tile of scores or put in their place. */
#pragma once

#include "core/graph/arena.h"
#include "core/graph/attention.h"

/** The logarithm of e to base 2. */
#define SL_LOG2_E 1.44269504f

/**
 * SlFloatScores: rows of scores of some of the keys, @stride floats apart, which become shares
 * relative to the largest score so far
 * @scale: of scores, above 0, times the logarithm of e to base 2
 * @first: these keys are the rows' first ones; else @tops and @sums have the largest score and the
 * sum of shares so far, by row
 * @olds: gets by row what everything before is to be multiplied by
 */
typedef struct
{
  gfloat *scores;
  gsize stride;
  gint32 rows, keys;
  gfloat scale;
  gboolean first;
  gfloat *tops, *sums, *olds;
} SlFloatScores;

/** SlScoreLoops: as in SlFloatIsa. */
typedef struct
{
  void (*attend) (const SlFloatScores *scores);
  void (*add_scaled) (gfloat *scores, gsize n, gfloat scale, const gfloat *mask, gfloat factor);
  void (*blend) (gfloat *out, const gfloat *add, gsize n, gfloat old, gfloat share);
} SlScoreLoops;

/** sl_score_loops: those of the float kernels. */
SlScoreLoops sl_score_loops (void);

/**
 * SlScoreTile: scores of @queries queries from @query on with @keys keys from @key on, of matrix
 * @matrix; rows are @stride floats apart
 * @inputs: of the node; @all: keys of the matrix
 */
typedef struct
{
  const SlAttention *a;
  const void *const *inputs;
  void (*add_scaled) (gfloat *scores, gsize n, gfloat scale, const gfloat *mask, gfloat factor);
  gsize matrix;
  gint32 query, queries, key, keys, all;
  gfloat *scores;
  gsize stride;
} SlScoreTile;

/** sl_scores_mask: masks, and keys that a query has not. Returns what scores are still to be
 * multiplied by. */
gfloat sl_scores_mask (const SlScoreTile *tile);

/** Where in a tensor the rows of each matrix begin. */
typedef struct
{
  const gssize *matrices, *rows;
} SlPlaces;

/** sl_places_of: those of @view, in @arena. */
SlPlaces sl_places_of (const SlStrided *view, SlArena *arena);

static inline gssize
sl_place (const SlPlaces *places, gsize matrix, gint32 row)
{
  return places->matrices[matrix] + places->rows[row];
}

/** Most keys of a block. */
#define SL_SCORE_KEYS 512

/**
 * SlScoreBlocks: how the keys and queries of an attention are divided
 * @keys: of a block; @queries: of a tile
 * @parts: into how many parts the queries of a matrix are divided, for threads; @part: queries of
 * one
 * @items: parts of all matrices
 */
typedef struct
{
  gint32 keys, queries, parts, part;
  guint items;
} SlScoreBlocks;

/** sl_score_pieces: how many pieces of at most @most make up @whole. */
static inline gint32
sl_score_pieces (gint32 whole, gint32 most)
{
  return (whole + most - 1) / most;
}

/** sl_score_divide: blocks of at most @most keys, 1..SL_SCORE_KEYS, in whole panels of @panel keys
 * where there are several, and tiles of at most @rows queries. */
SlScoreBlocks sl_score_divide (const SlAttention *a, gint32 most, gint32 panel, gint32 rows,
                               guint threads);
