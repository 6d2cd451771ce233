/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UNIQUE: the distinct elements of a vector, sorted or in order of appearance; the index of each
 * one's first appearance; for each input element the index of its value; the count of each. The
 * number of distinct elements is known only at run time, so outputs are as long as the input. The
 * rest of elements and counts is 0, that of indices -1. NaNs count as distinct.
 */
#include <stdlib.h>
#include <string.h>

#include "core/ops/ops.h"

#define TYPES (SL_DTYPE_BIT (SL_DTYPE_F32) | SL_DTYPE_BIT (SL_DTYPE_I32))

/* What is sorted takes four times the memory. */
#define MAX_ELEMENTS (1 << 22)

/** An element, exact in double precision, and its place. */
typedef struct
{
  gdouble value;
  gint32 at;
} Element;

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  if (!sl_node_check_dtype (node, "input", input, TYPES, error)
      || !sl_node_check_same_dtype (node, input, sl_node_output (graph, node, 0), error))
    return FALSE;
  for (guint i = 1; i < node->n_outputs; i++)
    if (!sl_node_check_dtype (node, "output", sl_node_output (graph, node, i),
                              SL_DTYPE_BIT (SL_DTYPE_I32), error))
      return FALSE;
  if (input->rank == 1 && input->dims[0] <= MAX_ELEMENTS)
    return TRUE;
  g_autofree char *text = sl_tensor_describe (input);
  return sl_node_error (error, node, SL_ERROR_LIMIT,
                        "the input is %s; expected a vector of at most %d elements", text,
                        MAX_ELEMENTS);
}

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  return sl_arena_alloc (arena, (gsize) input->dims[0] * sizeof (Element));
}

/* Equal values keep their order; NaN comes last. */
static int
compare (const void *a, const void *b)
{
  const Element *x = a, *y = b;
  if (x->value < y->value || x->value > y->value)
    return x->value < y->value ? -1 : 1;
  if (x->value != y->value && (x->value == x->value) != (y->value == y->value))
    return x->value == x->value ? -1 : 1;
  return x->at - y->at;
}

static int
compare_places (const void *a, const void *b)
{
  return ((const Element *) a)->at - ((const Element *) b)->at;
}

static void
put (const SlTensor *tensor, void *data, gsize i, gdouble value)
{
  if (tensor->dtype == SL_DTYPE_F32)
    ((gfloat *) data)[i] = (gfloat) value;
  else
    ((gint32 *) data)[i] = (gint32) value;
}

/* Sorts @e and keeps the first of equal ones: their number. @inverse gets which of them each
 * element is, @counts how many each stands for. */
static gsize
gather (Element *e, gsize n, gint32 *inverse, gint32 *counts)
{
  gsize found = 0;
  qsort (e, n, sizeof e[0], compare);
  for (gsize i = 0; i < n; i++) {
    if (found == 0 || e[i].value != e[found - 1].value) {
      counts[found] = 0;
      e[found++] = e[i];
    }
    counts[found - 1]++;
    inverse[e[i].at] = (gint32) found - 1;
  }
  return found;
}

/* By first places, with @counts and @inverse to match; @order gets which sorted one comes where. */
static void
in_order_of_coming (Element *e, gsize found, gint32 *inverse, gint32 *counts, gint32 *order,
                    gsize n)
{
  qsort (e, found, sizeof e[0], compare_places);
  for (gsize i = 0; i < found; i++)
    order[inverse[e[i].at]] = (gint32) i;
  for (gsize i = 0; i < n; i++)
    inverse[i] = order[inverse[i]];
  memset (counts, 0, found * sizeof counts[0]);
  for (gsize i = 0; i < n; i++)
    counts[inverse[i]]++;
}

static void
run (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  const gsize n = (gsize) input->dims[0];
  Element *e = call->state;
  gint32 *first = call->outputs[1], *inverse = call->outputs[2], *counts = call->outputs[3];
  for (gsize i = 0; i < n; i++)
    e[i] =
      (Element){ input->dtype == SL_DTYPE_F32 ? (gdouble) ((const gfloat *) call->inputs[0])[i]
                                              : (gdouble) ((const gint32 *) call->inputs[0])[i],
                 (gint32) i };
  const gsize found = gather (e, n, inverse, counts);
  if (!call->node->params.unique.sorted)
    in_order_of_coming (e, found, inverse, counts, first, n);
  for (gsize i = 0; i < n; i++) {
    put (input, call->outputs[0], i, i < found ? e[i].value : 0);
    first[i] = i < found ? e[i].at : -1;
    counts[i] = i < found ? counts[i] : 0;
  }
}

const SlOp sl_op_unique = { SL_OP_ROW (UNIQUE, 1, 1, 4, check, sl_node_same_shape_infer, prepare,
                                       run) };
