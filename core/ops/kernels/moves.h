/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moves (internal to core): the common part of TRANSPOSE, SLICE, SPLIT, PACK, PAD and similar
 * operators. When a session is made, each such operator describes which elements of its inputs go
 * where, as boxes with strides on both sides; one kernel copies the boxes.
 */
#pragma once

#include <string.h>

#include "core/ops/ops.h"

/** Most dimensions of a box: splitting each dimension of a tensor in two still fits. */
#define SL_MOVE_RANK (2 * SL_MAX_RANK)

/**
 * SlMove: a box of elements; offsets and strides count elements.
 * @input, @output: which operand it is read from and written to
 */
typedef struct
{
  guint input, output, rank;
  gsize from_at, to_at;
  gsize dims[SL_MOVE_RANK];
  gssize from[SL_MOVE_RANK], to[SL_MOVE_RANK];
} SlMove;

/**
 * SlMoves:
 * @size: bytes of an element
 * @to_size: bytes of an element of the output: another one where the only move takes floats to
 * binary16 or back, to a dense output
 * @fill: every output is first filled with @fill_value
 */
typedef struct
{
  gsize size, to_size;
  gboolean fill;
  guint8 fill_value[8];
  guint n, room;
  SlMove *moves;
} SlMoves;

/** sl_moves_new: room for @room moves of elements of @dtype, in @arena. */
SlMoves *sl_moves_new (SlArena *arena, SlDtype dtype, guint room);
/** sl_moves_add: the next move, all zero but for @input and @output. */
SlMove *sl_moves_add (SlMoves *moves, guint input, guint output);
/** sl_moves_one: a SlMoves for the only move, of @node's input 0 to its output, *@move, and the
 * strides of both. */
SlMoves *sl_moves_one (const SlGraph *graph, const SlNode *node, SlArena *arena, SlMove **move,
                       gssize from[SL_MAX_RANK], gssize to[SL_MAX_RANK]);
/** sl_move_axis: appends a dimension. */
void sl_move_axis (SlMove *move, gsize dim, gssize from, gssize to);
/** sl_moves_done: merges what can be merged; call once after the last move. Returns @moves. */
SlMoves *sl_moves_done (SlMoves *moves);
/** sl_tensor_strides: elements between neighbours along each dimension. */
void sl_tensor_strides (const SlTensor *tensor, gssize strides[SL_MAX_RANK]);
/** sl_copy_row: memcpy() for the pixels of a few channels that most rows are, where its call is
 * what takes the time. */
static inline void
sl_copy_row (void *to, const void *from, gsize n)
{
  if (n >= 8 && n < 16) {
    memcpy (to, from, 8);
    memcpy ((guint8 *) to + n - 8, (const guint8 *) from + n - 8, 8);
    return;
  }
  if (n < 8 || n > 128) {
    memcpy (to, from, n);
    return;
  }
  for (gsize i = 0; i < n - 16; i += 16)
    memcpy ((guint8 *) to + i, (const guint8 *) from + i, 16);
  memcpy ((guint8 *) to + n - 16, (const guint8 *) from + n - 16, 16);
}

/** sl_kernel_moves: the kernel; the call's state is a SlMoves. */
void sl_kernel_moves (const SlKernelCall *call);
