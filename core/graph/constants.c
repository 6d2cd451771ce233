/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/graph/constants.h"

#include <string.h>

#include "core/graph/graph_private.h"
#include "core/graph/product.h"

void
sl_graph_use_constants (SlGraph *graph)
{
  if (graph->file != NULL)
    sl_file_image_use (graph->file);
  sl_made_constants_use (graph->made);
}

void
sl_graph_done_constants (SlGraph *graph)
{
  sl_made_constants_done (graph->made);
  if (graph->file != NULL)
    sl_file_image_done (graph->file);
}

static gboolean
is_of_file (const SlGraph *graph, const void *data)
{
  return graph->file != NULL && sl_file_image_holds (graph->file, data);
}

gboolean
sl_graph_need_constant (SlGraph *graph, const void *data, gsize bytes, GError **error)
{
  return is_of_file (graph, data) ? sl_file_image_need (graph->file, data, bytes, error)
                                  : sl_made_constants_need (graph->made, data, error);
}

gboolean
sl_graph_need_inputs (SlGraph *graph, const SlNode *node, GError **error)
{
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    if (input != NULL && input->data != NULL
        && !sl_graph_need_constant (graph, input->data, input->bytes, error))
      return FALSE;
  }
  return TRUE;
}

/* Transposing moves values and looks at none. A layer's weights are packed by a session, and no
 * operator looks at them before. */
static gboolean
passes_by (const SlNode *node, guint input)
{
  return (node->op == SL_OP_TRANSPOSE && input == 0)
         || (node->op == SL_OP_FULLY_CONNECTED && input == 1);
}

gboolean
sl_graph_need_values (SlGraph *graph, const SlNode *node, GError **error)
{
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    if (input != NULL && input->data != NULL
        && !(input->dtype == SL_DTYPE_F32 && passes_by (node, i)
             && sl_made_constants_is_pending (graph->made, input->data))
        && !sl_graph_need_constant (graph, input->data, input->bytes, error))
      return FALSE;
  }
  return TRUE;
}

/* What pending copies lead to. */
static const void *
follow_copies (SlGraph *graph, const void *data)
{
  SlMadeOf of;
  while (sl_made_constants_of (graph->made, data, TRUE, &of) && of.rows == 0 && of.few_bits == NULL
         && !of.halves)
    data = of.data;
  return data;
}

void
sl_graph_keep_constant (SlGraph *graph, const void *data, gsize bytes)
{
  if (is_of_file (graph, data))
    sl_file_image_keep (graph->file, data, bytes);
  else
    sl_made_constants_keep (graph->made, data);
}

void
sl_graph_spare_constant (SlGraph *graph, const void *data, gsize bytes)
{
  if (is_of_file (graph, data))
    sl_file_image_spare (graph->file, data, bytes);
  else
    sl_made_constants_spare (graph->made, data);
}

/* The constants of a matrix of few bits, its integers first. */
typedef struct
{
  struct
  {
    const void *data;
    gsize bytes;
  } all[4];
  guint n;
} Parts;

static void
add_part (Parts *parts, const void *data, gsize bytes)
{
  if (data == NULL)
    return;
  parts->all[parts->n].data = data;
  parts->all[parts->n++].bytes = bytes;
}

static Parts
parts_of (const SlFewBits *matrix)
{
  Parts parts = { .n = 0 };
  add_part (&parts, matrix->values, matrix->value_bytes);
  add_part (&parts, matrix->scales, matrix->scale_bytes);
  add_part (&parts, matrix->zeros, matrix->zero_bytes);
  add_part (&parts, matrix->reals, matrix->real_bytes);
  return parts;
}

void
sl_graph_spare_weights (SlGraph *graph, const void *data, gsize bytes)
{
  SlMadeOf of;
  sl_graph_spare_constant (graph, data, bytes);
  if (!sl_made_constants_of (graph->made, data, FALSE, &of))
    return;
  sl_graph_spare_weights (graph, of.data, of.bytes);
  if (of.few_bits == NULL)
    return;
  const Parts parts = parts_of (of.few_bits);
  for (guint i = 1; i < parts.n; i++)
    sl_graph_spare_weights (graph, parts.all[i].data, parts.all[i].bytes);
}

/* The constant may be made of @data again. */
static void
note_source (SlGraph *graph, const void *constant, const void *data, gsize bytes)
{
  const SlConstantSource source = { (guintptr) data, (guintptr) data + bytes };
  g_array_append_val (graph->sources, source);
  sl_made_constants_derive (graph->made, constant, data);
}

void *
sl_graph_make_constant (SlGraph *graph, gsize bytes, SlMakeFunc make, gpointer data,
                        GDestroyNotify destroy, GError **error)
{
  if (bytes >= SL_LARGE_CONSTANT)
    return sl_made_constants_add (graph->made, bytes, make, data, destroy, error);
  void *memory = sl_tensor_alloc (graph->arena, bytes);
  const gboolean good = make (memory, data, error);
  if (destroy != NULL)
    destroy (data);
  return good ? memory : NULL;
}

void
sl_graph_read_beside (SlGraph *graph, gsize bytes)
{
  graph->beside += bytes;
}

void
sl_graph_set_later (SlGraph *graph)
{
  graph->later = TRUE;
}

void *
sl_graph_make_later (SlGraph *graph, gsize bytes, const SlMadeOf *of, SlMakeFunc make,
                     gpointer data, GDestroyNotify destroy, GError **error)
{
  if (bytes < SL_LARGE_CONSTANT || !graph->later) {
    void *now = sl_graph_make_constant (graph, bytes, make, data, destroy, error);
    if (now != NULL)
      sl_graph_used_source (graph, now, bytes, of->data, of->bytes);
    return now;
  }
  void *memory = sl_made_constants_add_later (graph->made, bytes, of, make, data, destroy, error);
  if (memory != NULL)
    note_source (graph, memory, of->data, of->bytes);
  return memory;
}

gboolean
sl_graph_is_pending (SlGraph *graph, const void *data, SlMadeOf *of)
{
  if (!sl_made_constants_of (graph->made, data, TRUE, of))
    return FALSE;
  of->data = follow_copies (graph, of->data);
  return TRUE;
}

typedef struct
{
  SlGraph *graph;
  const void *data;
  gsize bytes;
} Copy;

static gboolean
copy (void *memory, gpointer data, GError **error)
{
  const Copy *from = data;
  gboolean came;
  if (!sl_graph_take_source (from->graph, from->data, from->bytes, &came, error))
    return FALSE;
  memcpy (memory, from->data, from->bytes);
  sl_graph_return_source (from->graph, from->data, from->bytes, came);
  return TRUE;
}

void *
sl_graph_copy_constant (SlGraph *graph, const void *data, gsize bytes, GError **error)
{
  const Copy from = { graph, data, bytes };
  void *made =
    sl_graph_make_constant (graph, bytes, copy, g_memdup2 (&from, sizeof from), g_free, error);
  if (made != NULL)
    sl_graph_used_source (graph, made, bytes, data, bytes);
  return made;
}

void *
sl_graph_copy_later (SlGraph *graph, const void *data, gsize bytes, GError **error)
{
  const Copy from = { graph, data, bytes };
  const SlMadeOf of = { .data = data, .bytes = bytes };
  return sl_graph_make_later (graph, bytes, &of, copy, g_memdup2 (&from, sizeof from), g_free,
                              error);
}

void
sl_graph_used_source (SlGraph *graph, const void *constant, gsize made, const void *data,
                      gsize bytes)
{
  if (made >= SL_LARGE_CONSTANT)
    note_source (graph, constant, data, bytes);
  if (bytes >= SL_LARGE_CONSTANT)
    sl_graph_spare_weights (graph, data, bytes);
}

/* What was there is still read by the session that is being made, or by another. */
gboolean
sl_graph_take_source (SlGraph *graph, const void *data, gsize bytes, gboolean *came, GError **error)
{
  *came = !(is_of_file (graph, data) ? sl_file_image_is_there (graph->file, data, bytes)
                                     : sl_made_constants_is_there (graph->made, data));
  return sl_graph_need_constant (graph, data, bytes, error);
}

gboolean
sl_graph_take_values (SlGraph *graph, const void *data, gsize bytes, const void **where,
                      gboolean *came, GError **error)
{
  *where = follow_copies (graph, data);
  return sl_graph_take_source (graph, *where, bytes, came, error);
}

void
sl_graph_return_source (SlGraph *graph, const void *data, gsize bytes, gboolean came)
{
  if (came)
    sl_graph_spare_constant (graph, data, bytes);
}

gboolean
sl_graph_take_few_bits (SlGraph *graph, const SlFewBits *matrix, guint *came, GError **error)
{
  const Parts parts = parts_of (matrix);
  *came = 0;
  for (guint i = 0; i < parts.n; i++) {
    gboolean part_came;
    if (!sl_graph_take_source (graph, parts.all[i].data, parts.all[i].bytes, &part_came, error))
      return FALSE;
    *came |= (guint) part_came << i;
  }
  return TRUE;
}

void
sl_graph_return_few_bits (SlGraph *graph, const SlFewBits *matrix, guint came)
{
  const Parts parts = parts_of (matrix);
  for (guint i = 0; i < parts.n; i++)
    sl_graph_return_source (graph, parts.all[i].data, parts.all[i].bytes, (came >> i & 1) != 0);
}

gboolean
sl_graph_few_bits_of (const SlGraph *graph, const void *data, SlFewBits *matrix)
{
  SlMadeOf of;
  if (!sl_made_constants_of (graph->made, data, FALSE, &of) || of.few_bits == NULL)
    return FALSE;
  *matrix = *of.few_bits;
  return TRUE;
}

typedef struct
{
  SlGraph *graph;
  const SlFewBits *matrix;
} Widened;

static gboolean
widen (void *memory, gpointer data, GError **error)
{
  const Widened *from = data;
  guint came;
  if (!sl_graph_take_few_bits (from->graph, from->matrix, &came, error))
    return FALSE;
  if (from->matrix->scales != NULL)
    sl_few_bits_fill (from->matrix, memory);
  else
    sl_few_bits_spread (from->matrix, memory);
  sl_graph_return_few_bits (from->graph, from->matrix, came);
  return TRUE;
}

void *
sl_graph_widen_later (SlGraph *graph, const SlFewBits *matrix, GError **error)
{
  const SlFewBits *kept = sl_arena_memdup (graph->arena, matrix, sizeof *matrix);
  const Widened from = { graph, kept };
  const SlMadeOf of = { .data = kept->values, .bytes = kept->value_bytes, .few_bits = kept };
  const gsize bytes = kept->rows * kept->columns * (kept->scales != NULL ? sizeof (gfloat) : 1);
  void *memory =
    sl_graph_make_later (graph, bytes, &of, widen, g_memdup2 (&from, sizeof from), g_free, error);
  const Parts parts = parts_of (kept);
  for (guint i = 1; memory != NULL && bytes >= SL_LARGE_CONSTANT && i < parts.n; i++)
    note_source (graph, memory, parts.all[i].data, parts.all[i].bytes);
  return memory;
}

gboolean
sl_graph_owns_constant (const SlGraph *graph, const void *data, gsize bytes)
{
  const guintptr start = (guintptr) data, end = start + bytes;
  for (guint i = 0; i < graph->sources->len; i++) {
    const SlConstantSource *source = &g_array_index (graph->sources, SlConstantSource, i);
    if (source->start < end && start < source->end)
      return FALSE;
  }
  return is_of_file (graph, data) || sl_made_constants_holds (graph->made, data)
         || sl_arena_holds (graph->arena, data);
}

gboolean
sl_graph_multiply_constant (SlGraph *graph, const gfloat *data, gsize n, const gfloat *by,
                            gsize n_by, gsize window)
{
  if (!sl_graph_owns_constant (graph, data, n * sizeof *data))
    return FALSE;
  if (is_of_file (graph, data))
    return sl_file_image_multiply (graph->file, data, n, by, n_by, window);
  if (sl_made_constants_holds (graph->made, data))
    return sl_made_constants_multiply (graph->made, data, by, n_by, window);
  const SlProduct product = { 0, n, window, n_by, (gfloat *) by };
  sl_product_apply (&product, (gfloat *) (gpointer) data, 0, n);
  return TRUE;
}

gsize
sl_graph_resident_constants (const SlGraph *graph)
{
  return sl_made_constants_resident (graph->made)
         + (graph->file != NULL ? sl_file_image_resident (graph->file) : 0);
}
