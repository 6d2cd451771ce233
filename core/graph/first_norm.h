/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * What a file keeps of the batch normalisation behind a graph's first convolution. It becomes one
 * with the convolution, and tells then what the sums of pictures as in training are.
 */
#pragma once

#include "core/graph/graph.h"

/** SlFirstNorm: what sums of a mean of 0 and a spread of 1 are multiplied by, and what is added, of
 * each of @n channels. */
typedef struct _SlFirstNorm
{
  guint n;
  const gfloat *scale, *bias;
} SlFirstNorm;

/** sl_graph_set_first_norm: for readers; copies both. */
void sl_graph_set_first_norm (SlGraph *graph, const gfloat *scale, const gfloat *bias, guint n);
/** sl_graph_first_norm: (transfer none) (nullable): NULL where the file does not tell. */
const SlFirstNorm *sl_graph_first_norm (const SlGraph *graph);
