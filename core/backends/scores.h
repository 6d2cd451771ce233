/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks of ATTENTION (internal to core/backends): what is added to a tile of scores, or put in
 * their place. */
#pragma once

#include "core/backends/float/isa.h"
#include "core/graph/attention.h"

/** The logarithm of e to base 2. */
#define SL_LOG2_E 1.44269504f

/**
 * SlScoreTile: scores of @queries queries from @query on with @keys keys from @key on, of matrix
 * @matrix; rows are @stride floats apart
 * @inputs: of the node; @all: keys of the matrix
 */
typedef struct
{
  const SlAttention *a;
  const void *const *inputs;
  const SlFloatIsa *isa;
  gsize matrix;
  gint32 query, queries, key, keys, all;
  gfloat *scores;
  gsize stride;
} SlScoreTile;

/** sl_scores_mask: masks, and keys that a query has not. Returns what scores are still to be
 * multiplied by. */
gfloat sl_scores_mask (const SlScoreTile *tile);
