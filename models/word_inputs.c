/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The embeddings of classes do not change from frame to frame. As constants of the graph, what is
 * computed from them alone is folded at load, and matrices that they become are packed as weights.
 */
#include "models/word_inputs.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/xxh64.h"
#include "models/data_file.h"

/* Whether an input of these dimensions has a row for each class; those of -1 are open. */
static gboolean
takes_embeddings (const SlWordVectors *words, SlDtype dtype, const gint64 *dims, guint rank)
{
  return words != NULL && words->length > 0 && dtype == SL_DTYPE_F32 && (rank == 2 || rank == 3)
         && (dims[rank - 1] < 1 || dims[rank - 1] == (gint64) words->length)
         && (rank == 2 || dims[0] <= 1);
}

gint64
sl_word_inputs_dim (const SlWordVectors *words, SlDtype dtype, const gint64 *dims, guint rank,
                    guint i)
{
  if (!takes_embeddings (words, dtype, dims, rank))
    return -1;
  return dims[i] > 0     ? dims[i]
         : i == rank - 1 ? (gint64) words->length
         : i + 2 == rank ? (gint64) words->n
                         : 1;
}

/* The input of embeddings; -1 = none. The only input is that of pictures. */
static gint
find_input (const SlWordVectors *words, const SlGraph *graph)
{
  for (guint i = 0; i < sl_graph_n_inputs (graph) && sl_graph_n_inputs (graph) > 1; i++) {
    const SlTensor *tensor = sl_graph_input_tensor (graph, i);
    gint64 dims[SL_MAX_RANK];
    for (guint d = 0; d < tensor->rank; d++)
      dims[d] = tensor->dims[d];
    if (takes_embeddings (words, tensor->dtype, dims, tensor->rank))
      return (gint) i;
  }
  return -1;
}

gboolean
sl_word_inputs_exist (const SlWordVectors *words, const SlGraph *graph)
{
  return find_input (words, graph) >= 0;
}

/* The mask of @rows classes, 1 for those that there are; -1 = the model has none. */
static gint
find_mask (const SlGraph *graph, guint rows)
{
  for (guint i = 0; i < sl_graph_n_inputs (graph) && sl_graph_n_inputs (graph) > 1; i++) {
    const SlTensor *tensor = sl_graph_input_tensor (graph, i);
    if (tensor->name != NULL && strstr (tensor->name, "mask") != NULL && tensor->rank >= 1
        && tensor->rank <= 2 && tensor->dims[tensor->rank - 1] == (gint32) rows
        && (tensor->rank == 1 || tensor->dims[0] == 1))
      return (gint) i;
  }
  return -1;
}

static void
fix_mask (SlGraph *graph, guint input, guint n, guint rows)
{
  const SlDtype dtype = sl_graph_input_tensor (graph, input)->dtype;
  const gsize size = sl_dtype_size (dtype);
  guint8 *data = sl_arena_alloc (sl_graph_arena (graph), rows * size + SL_TENSOR_PADDING);
  const gfloat one = 1;
  memset (data, 0, rows * size);
  for (guint i = 0; i < n; i++)
    if (dtype == SL_DTYPE_F32)
      memcpy (data + i * size, &one, size);
    else
      data[i * size] = 1; /* little-endian */
  sl_graph_fix_input (graph, input, data);
}

gboolean
sl_word_inputs_apply (const SlWordVectors *words, SlGraph *graph, GHashTable **files, guint *rows,
                      GError **error)
{
  const gint input = find_input (words, graph);
  *rows = 0;
  if (input < 0)
    return TRUE;
  const SlTensor *tensor = sl_graph_input_tensor (graph, (guint) input);
  const guint room = (guint) tensor->dims[tensor->rank - 2];
  if (room < words->n)
    return sl_fail (error, SL_ERROR_SHAPE,
                    "prompts: %u classes are stated, and input '%s' has room for %u; expected no "
                    "more, or a model that leaves their number open",
                    words->n, tensor->name, room);
  const gsize row = words->length * sizeof (gfloat);
  guint8 *data = sl_arena_alloc (sl_graph_arena (graph), room * row + SL_TENSOR_PADDING);
  memcpy (data, words->numbers, words->n * row);
  for (guint i = words->n; i < room; i++)
    memcpy (data + i * row, words->numbers + (gsize) (words->n - 1) * words->length, row);
  sl_data_files_note (files, SL_DATA_FIXED_INPUTS, (guint64) input, data, room * row);
  sl_graph_fix_input (graph, (guint) input, data);
  const gint mask = find_mask (graph, room);
  if (mask >= 0)
    fix_mask (graph, (guint) mask, words->n, room);
  *rows = room;
  return TRUE;
}

guint64
sl_word_inputs_hash (const SlWordVectors *words)
{
  return sl_xxh64 (words->numbers, (gsize) words->n * words->length * sizeof *words->numbers,
                   words->n);
}
