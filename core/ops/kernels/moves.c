/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moves: boxes are simplified once (dimensions of one element dropped, neighbours that are
 * contiguous on both sides merged), then carried out row by row; rows that are contiguous on both
 * sides are copied whole, planes that are turned are walked in tiles so that both sides stay in the
 * cache.
 */
#include "core/ops/kernels/moves.h"

#include <string.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/simd/loops.h"

#define TILE SL_TURNED

/* Elements that are converted at a time: they stay in the first cache. */
#define CONVERTED 1024
/* Enough bytes to be worth waking another thread for. */
#define PART_BYTES 65536

SlMoves *
sl_moves_new (SlArena *arena, SlDtype dtype, guint room)
{
  SlMoves *moves = sl_arena_alloc (arena, sizeof *moves);
  moves->size = moves->to_size = sl_dtype_size (dtype);
  moves->room = room;
  moves->moves = sl_arena_alloc (arena, MAX (room, 1) * sizeof moves->moves[0]);
  return moves;
}

SlMove *
sl_moves_add (SlMoves *moves, guint input, guint output)
{
  g_assert (moves->n < moves->room);
  SlMove *move = &moves->moves[moves->n++];
  move->input = input;
  move->output = output;
  return move;
}

SlMoves *
sl_moves_one (const SlGraph *graph, const SlNode *node, SlArena *arena, SlMove **move,
              gssize from[SL_MAX_RANK], gssize to[SL_MAX_RANK])
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  SlMoves *moves = sl_moves_new (arena, input->dtype, 1);
  moves->to_size = sl_dtype_size (sl_node_output (graph, node, 0)->dtype);
  *move = sl_moves_add (moves, 0, 0);
  sl_tensor_strides (input, from);
  sl_tensor_strides (sl_node_output (graph, node, 0), to);
  return moves;
}

void
sl_move_axis (SlMove *move, gsize dim, gssize from, gssize to)
{
  g_assert (move->rank < SL_MOVE_RANK);
  move->dims[move->rank] = dim;
  move->from[move->rank] = from;
  move->to[move->rank++] = to;
}

void
sl_tensor_strides (const SlTensor *tensor, gssize strides[SL_MAX_RANK])
{
  gssize step = 1;
  for (guint i = tensor->rank; i-- > 0;) {
    strides[i] = step;
    step *= tensor->dims[i];
  }
}

static void
simplify (SlMove *move)
{
  guint rank = 0;
  for (guint i = 0; i < move->rank; i++) {
    if (move->dims[i] == 1)
      continue;
    const gssize dim = (gssize) move->dims[i];
    if (rank > 0 && move->from[rank - 1] == move->from[i] * dim
        && move->to[rank - 1] == move->to[i] * dim) {
      move->dims[rank - 1] *= move->dims[i];
      move->from[rank - 1] = move->from[i];
      move->to[rank - 1] = move->to[i];
      continue;
    }
    move->dims[rank] = move->dims[i];
    move->from[rank] = move->from[i];
    move->to[rank++] = move->to[i];
  }
  move->rank = rank;
  while (move->rank < 2) { /* rows of planes, always */
    for (guint i = move->rank++; i > 0; i--) {
      move->dims[i] = move->dims[i - 1];
      move->from[i] = move->from[i - 1];
      move->to[i] = move->to[i - 1];
    }
    move->dims[0] = 1;
    move->from[0] = move->to[0] = 1;
  }
}

SlMoves *
sl_moves_done (SlMoves *moves)
{
  for (guint i = 0; i < moves->n; i++)
    simplify (&moves->moves[i]);
  return moves;
}

/* Inlined once per element size, so that each element is one load and one store. */
static inline __attribute__ ((always_inline)) void
copy_tile (const guint8 *from, guint8 *to, const gsize size, gsize rows, gsize columns,
           gssize from_row, gssize from_column, gssize to_row, gssize to_column)
{
  for (gsize r = 0; r < rows; r++) {
    const guint8 *in = from + (gssize) r * from_row;
    guint8 *out = to + (gssize) r * to_row;
    for (gsize c = 0; c < columns; c++) {
      memcpy (out, in, size);
      in += from_column;
      out += to_column;
    }
  }
}

static void
copy_turned (const guint8 *from, guint8 *to, gsize size, gsize rows, gsize columns,
             const gssize from_step[2], const gssize to_step[2])
{
  for (gsize r = 0; r < rows; r += TILE)
    for (gsize c = 0; c < columns; c += TILE) {
      const guint8 *in = from + (gssize) r * from_step[0] + (gssize) c * from_step[1];
      guint8 *out = to + (gssize) r * to_step[0] + (gssize) c * to_step[1];
      const gsize n = MIN (TILE, rows - r), m = MIN (TILE, columns - c);
      if (size == 1 && n == TILE && m == TILE && from_step[0] == 1 && to_step[1] == 1)
        sl_simd_loops ()->turn (in, from_step[1], out, to_step[0]);
      else if (size == 1 && n == TILE && m == TILE && from_step[1] == 1 && to_step[0] == 1)
        sl_simd_loops ()->turn (in, from_step[0], out, to_step[1]);
      else if (size == 1)
        copy_tile (in, out, 1, n, m, from_step[0], from_step[1], to_step[0], to_step[1]);
      else if (size == 2)
        copy_tile (in, out, 2, n, m, from_step[0], from_step[1], to_step[0], to_step[1]);
      else if (size == 4)
        copy_tile (in, out, 4, n, m, from_step[0], from_step[1], to_step[0], to_step[1]);
      else
        copy_tile (in, out, 8, n, m, from_step[0], from_step[1], to_step[0], to_step[1]);
    }
}

/* Every second of elements of four bytes, as a channel shuffle takes them. What is behind the last
 * one is not read. */
static void
copy_second (const guint8 *from, guint8 *to, gsize n)
{
  typedef guint32 Four __attribute__ ((vector_size (16)));
  gsize i = 0;
  for (; i + 4 < n; i += 4) {
    Four a, b;
    memcpy (&a, from + i * 8, sizeof a);
    memcpy (&b, from + i * 8 + sizeof a, sizeof b);
    a = __builtin_shufflevector (a, b, 0, 2, 4, 6);
    memcpy (to + i * 4, &a, sizeof a);
  }
  for (; i < n; i++)
    memcpy (to + i * 4, from + i * 8, 4);
}

/* The innermost two dimensions of a box. */
static void
copy_plane (const SlMove *move, const guint8 *from, guint8 *to, gsize size, gsize rows)
{
  const guint r = move->rank - 2;
  const gssize bytes = (gssize) size;
  const gssize from_step[2] = { move->from[r] * bytes, move->from[r + 1] * bytes };
  const gssize to_step[2] = { move->to[r] * bytes, move->to[r + 1] * bytes };
  const gsize columns = move->dims[r + 1];
  if ((size == 4 || size == 2) && (columns == 2 || columns == 3) && move->from[r] == 1
      && move->to[r] == (gssize) columns && move->to[r + 1] == 1 && move->from[r + 1] > 0
      && (((gsize) from | (gsize) to) & (size - 1)) == 0) {
    const gsize stride = (gsize) move->from[r + 1];
    if (size == 4)
      sl_simd_loops ()->weave ((const guint32 *) (gconstpointer) from, stride, (guint) columns,
                               (guint32 *) (gpointer) to, rows);
    else
      sl_simd_loops ()->weave_halves ((const guint16 *) (gconstpointer) from, stride,
                                      (guint) columns, (guint16 *) (gpointer) to, rows);
    return;
  }
  if (size == 4 && move->from[r + 1] == 2 && move->to[r + 1] == 1) {
    for (gsize i = 0; i < rows; i++)
      copy_second (from + (gssize) i * from_step[0], to + (gssize) i * to_step[0], columns);
    return;
  }
  if (move->from[r + 1] != 1 || move->to[r + 1] != 1) {
    copy_turned (from, to, size, rows, columns, from_step, to_step);
    return;
  }
  for (gsize i = 0; i < rows; i++)
    sl_copy_row (to + (gssize) i * to_step[0], from + (gssize) i * from_step[0], columns * size);
}

/* The same to a dense output of binary16, from floats, or the other way. */
static void
convert_plane (const SlMove *move, const guint8 *from, guint8 *to, gsize size, gsize rows)
{
  const guint r = move->rank - 2;
  const gsize columns = move->dims[r + 1], width = MIN (columns, CONVERTED),
              height = CONVERTED / width, stride = (gsize) move->to[r];
  gfloat some[CONVERTED];
  for (gsize y = 0; y < rows; y += height)
    for (gsize x = 0; x < columns; x += width) {
      const gsize high = MIN (height, rows - y), wide = MIN (width, columns - x);
      const SlMove block = { .rank = 2,
                             .dims = { high, wide },
                             .from = { move->from[r], move->from[r + 1] },
                             .to = { (gssize) wide, 1 } };
      const gssize at = (gssize) y * move->from[r] + (gssize) x * move->from[r + 1];
      const gboolean dense = stride == wide;
      copy_plane (&block, from + at * (gssize) size, (guint8 *) some, size, high);
      for (gsize i = 0; i < (dense ? 1 : high); i++) {
        const gsize n = dense ? high * wide : wide, place = (y + i) * stride + x;
        if (size == sizeof (gfloat))
          sl_simd_loops ()->to_halves (some + i * wide, (guint16 *) (gpointer) to + place, n);
        else
          sl_simd_loops ()->from_halves ((const guint16 *) (gconstpointer) some + i * wide,
                                         (gfloat *) (gpointer) to + place, n);
      }
    }
}

typedef struct
{
  const SlMove *move;
  const guint8 *from;
  guint8 *to;
  gsize size, to_size;
} Job;

/* Part of a box: @n places from @first along its outermost dimension. */
static void
run_part (void *data, gsize first, gsize n)
{
  const Job *job = data;
  const SlMove *move = job->move;
  const guint outer = move->rank - 2;
  gsize position[SL_MOVE_RANK] = { 0 };
  const guint8 *from = job->from + (gssize) first * move->from[0] * (gssize) job->size;
  guint8 *to = job->to + (gssize) first * move->to[0] * (gssize) job->to_size;
  gssize at_from = 0, at_to = 0;
  gsize planes = outer > 0 ? n : 1;
  for (guint i = 1; i < outer; i++)
    planes *= move->dims[i];
  for (gsize p = 0; p < planes; p++) {
    (job->size == job->to_size ? copy_plane : convert_plane) (
      move, from + at_from * (gssize) job->size, to + at_to * (gssize) job->to_size, job->size,
      outer > 0 ? move->dims[outer] : n);
    for (guint k = outer; k-- > 0;) {
      at_from += move->from[k];
      at_to += move->to[k];
      if (++position[k] < move->dims[k] || k == 0)
        break;
      at_from -= move->from[k] * (gssize) move->dims[k];
      at_to -= move->to[k] * (gssize) move->dims[k];
      position[k] = 0;
    }
  }
}

static void
fill_outputs (const SlKernelCall *call, const SlMoves *moves)
{
  for (guint i = 0; i < call->node->n_outputs; i++) {
    guint8 *out = call->outputs[i];
    const gsize bytes = sl_node_output (call->graph, call->node, i)->bytes;
    gboolean uniform = TRUE;
    for (gsize k = 1; k < moves->size; k++)
      uniform &= moves->fill_value[k] == moves->fill_value[0];
    if (uniform)
      memset (out, moves->fill_value[0], bytes);
    for (gsize at = 0; !uniform && at < bytes; at += moves->size)
      memcpy (out + at, moves->fill_value, moves->size);
  }
}

void
sl_kernel_moves (const SlKernelCall *call)
{
  const SlMoves *moves = call->state;
  if (moves->fill)
    fill_outputs (call, moves);
  for (guint i = 0; i < moves->n; i++) {
    const SlMove *move = &moves->moves[i];
    Job job = { move, (const guint8 *) call->inputs[move->input] + move->from_at * moves->size,
                (guint8 *) call->outputs[move->output] + move->to_at * moves->to_size, moves->size,
                moves->to_size };
    gsize bytes = moves->size;
    for (guint k = 1; k < move->rank; k++)
      bytes *= move->dims[k];
    sl_parallel (call, move->dims[0], PART_BYTES / bytes + 1, run_part, &job);
  }
}
