/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What ATTENTION computes (internal to core): of each matrix, the softmax of queries times keys,
 * times values. Operands and the output may lie in their tensors in any order, so that no tensor is
 * transposed for it.
 */
#pragma once

#include "core/graph/strided.h"

#define SL_MAX_ATTENTION_MASKS 2

/**
 * SlAttentionMask:
 * @view: [matrices,queries,keys]
 * @factor: of floats, which are added to scores times this
 * @is_truth: booleans: a score stays where it is @keep, else it is @fill
 */
typedef struct
{
  SlStrided view;
  gfloat factor, fill;
  gboolean is_truth, keep;
} SlAttentionMask;

/**
 * SlAttention: inputs are queries, keys, values, and @n_masks masks, which are applied in order
 * @q: [matrices,queries,depth], @k: [matrices,keys,depth], @v: [matrices,keys,width], @y:
 * [matrices,queries,width]; the last dimension of all but @k has a step of 1
 * @scale: of products of queries and keys
 * @k_scale, @v_scale: 0, or keys and values are rounded to int8 with these scales, and queries and
 * shares, row by row, to 8 bits by their own range
 * @period: 0 = a query has all keys. Else query i has key k if k <= i % @period + @past; @past is
 * not negative
 * @rank, @dims: of the output
 */
typedef struct _SlAttention
{
  SlStrided q, k, v, y;
  gfloat scale, k_scale, v_scale;
  guint n_masks;
  SlAttentionMask masks[SL_MAX_ATTENTION_MASKS];
  gint32 period, past;
  guint rank;
  gint32 dims[SL_MAX_RANK];
} SlAttention;

/** sl_attention_is_rounded: whether it multiplies in 8 bits. */
static inline gboolean
sl_attention_is_rounded (const SlAttention *a)
{
  return a->k_scale > 0;
}

/** sl_attention_keys: how many of @keys query @i has. */
static inline gint32
sl_attention_keys (const SlAttention *a, gint32 i, gint32 keys)
{
  return a->period > 0 ? MIN (keys, i % a->period + a->past + 1) : keys;
}
