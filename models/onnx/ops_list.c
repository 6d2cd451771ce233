/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sequences of tensors: lists of names that are known while the model is loaded; nothing of them is
 * left in the graph. */
#include <string.h>

#include "models/onnx/ops.h"

LowerValue *
onnx_list_new (Lower *o, guint n)
{
  if (o->error != NULL)
    return NULL;
  o->copied += n * sizeof (LowerValue *);
  if (n > SL_MAX_OPERANDS || o->copied > o->may_copy)
    return lower_fail_null (
      o, SL_ERROR_LIMIT,
      "a sequence of %u tensors; at most %d are supported, and fewer where a small file makes many",
      n, SL_MAX_OPERANDS);
  LowerValue *list = lower_value_empty (o, 0, NULL);
  list->is_list = TRUE;
  list->n_items = n;
  list->items = sl_arena_alloc (o->scratch, MAX (n, 1) * sizeof (LowerValue *));
  return list;
}

/* (nullable): the sequence that is the first input. */
static const LowerValue *
first_list (Lower *o)
{
  const LowerValue *list = lower_required (o, 0);
  if (o->error == NULL && !list->is_list)
    lower_fail (o, SL_ERROR_FORMAT, "input 0 is a tensor; expected a sequence");
  return o->error == NULL ? list : NULL;
}

/* (nullable): input @i, which is one of a sequence's tensors. */
static LowerValue *
item_input (Lower *o, guint i)
{
  LowerValue *value = lower_required (o, i);
  if (o->error == NULL && value->is_list)
    lower_fail (o, SL_ERROR_UNSUPPORTED, "input %u is a sequence; expected a tensor", i);
  return o->error == NULL ? value : NULL;
}

/* A place in a sequence of @n, counted from the end when negative; the last where none is stated.
 */
static guint
place_input (Lower *o, guint i, guint n, guint last)
{
  gint32 place = 0;
  guint stated = 0;
  lower_input_ints (o, i, "position", &place, 1, &stated);
  const gint64 at = stated == 0 ? last : place < 0 ? (gint64) place + n : place;
  if (o->error == NULL && (at < 0 || at > last))
    lower_fail (o, SL_ERROR_FORMAT, "position %d is outside a sequence of %u", place, n);
  return o->error == NULL ? (guint) at : 0;
}

static void
onnx_sequence_construct (Lower *o)
{
  LowerValue *list = onnx_list_new (o, o->node->n_inputs);
  for (guint i = 0; i < o->node->n_inputs && o->error == NULL; i++)
    list->items[i] = item_input (o, i);
  lower_set_value (o, 0, list);
}

static void
onnx_sequence_empty (Lower *o)
{
  lower_set_value (o, 0, onnx_list_new (o, 0));
}

static void
onnx_sequence_insert (Lower *o)
{
  const LowerValue *from = first_list (o);
  LowerValue *item = item_input (o, 1),
             *list = onnx_list_new (o, from != NULL ? from->n_items + 1 : 0);
  const guint at = o->error == NULL ? place_input (o, 2, from->n_items, from->n_items) : 0;
  if (o->error != NULL)
    return;
  memcpy (list->items, from->items, at * sizeof list->items[0]);
  memcpy (list->items + at + 1, from->items + at, (from->n_items - at) * sizeof list->items[0]);
  list->items[at] = item;
  lower_set_value (o, 0, list);
}

/* (nullable): the place of an item that there is, and its sequence. */
static const LowerValue *
list_and_place (Lower *o, guint *at)
{
  const LowerValue *list = first_list (o);
  if (list != NULL && list->n_items == 0)
    lower_fail (o, SL_ERROR_FORMAT, "its sequence is empty");
  *at = o->error == NULL ? place_input (o, 1, list->n_items, list->n_items - 1) : 0;
  return o->error == NULL ? list : NULL;
}

static void
onnx_sequence_erase (Lower *o)
{
  guint at = 0;
  const LowerValue *from = list_and_place (o, &at);
  LowerValue *list = onnx_list_new (o, from != NULL ? from->n_items - 1 : 0);
  if (o->error != NULL)
    return;
  memcpy (list->items, from->items, at * sizeof list->items[0]);
  memcpy (list->items + at, from->items + at + 1, (from->n_items - at - 1) * sizeof list->items[0]);
  lower_set_value (o, 0, list);
}

static void
onnx_sequence_at (Lower *o)
{
  guint at = 0;
  lower_required (o, 1);
  const LowerValue *list = list_and_place (o, &at);
  if (list != NULL)
    lower_set_value (o, 0, list->items[at]);
}

static void
onnx_sequence_length (Lower *o)
{
  const LowerValue *list = first_list (o);
  if (list != NULL)
    lower_set (o, 0, lower_int_scalar (o, (gint32) list->n_items), FALSE);
}

/* Along a dimension, or a new one. */
static void
onnx_concat_from_sequence (Lower *o)
{
  const LowerValue *list = first_list (o);
  const gboolean fresh = lower_attr_int (o, "new_axis", 0) != 0;
  gint32 inputs[SL_MAX_OPERANDS];
  if (list == NULL)
    return;
  if (lower_fail_if (o, list->n_items == 0 || lower_attribute (o, "axis") == NULL, SL_ERROR_FORMAT,
                     "a sequence of %u tensors, and %s attribute axis; expected at least 1 and one",
                     list->n_items, lower_attribute (o, "axis") != NULL ? "an" : "no"))
    return;
  const guint rank = list->items[0]->rank + (fresh ? 1 : 0);
  const gint32 axis = (gint32) lower_norm_axis (o, lower_attr_int (o, "axis", 0), rank);
  for (guint i = 0; i < list->n_items; i++)
    inputs[i] = lower_plain (o, list->items[i]);
  SlOpParams params = { .concat = { .axis = axis } };
  if (fresh)
    params = (SlOpParams){ .axis = { .axis = axis, .count = (gint32) list->n_items } };
  const SlOpType op = fresh ? SL_OP_PACK : SL_OP_CONCATENATION;
  lower_set (o, 0,
             lower_emit (o, op, inputs, list->n_items, &params, lower_tensor_type (o, inputs[0])),
             FALSE);
}

/* Parts of one size, the last with the remainder, or of stated sizes; of one element, whose
 * dimension may go, where nothing is stated. */
static void
onnx_split_to_sequence (Lower *o)
{
  LowerValue *x = item_input (o, 0), *split = lower_input (o, 1);
  gint32 sizes[SL_MAX_OPERANDS] = { 1 }, at = 0;
  guint n = 0;
  gboolean last = FALSE;
  lower_input_ints (o, 1, "split", sizes, SL_MAX_OPERANDS, &n);
  const gint32 input = lower_any (o, x, &last);
  if (o->error != NULL)
    return;
  const guint axis = lower_norm_axis (o, lower_attr_int (o, "axis", 0), x->rank);
  const gboolean drops = split == NULL && lower_attr_int (o, "keepdims", 1) == 0;
  const gint32 dim = o->error == NULL ? x->dims[axis] : 0;
  if (split == NULL || split->rank == 0) {
    const gint32 size = sizes[0];
    n = size < 1 ? 0 : (guint) ((dim - 1) / size) + 1;
    for (guint i = 0; i < MIN (n, SL_MAX_OPERANDS); i++)
      sizes[i] = MIN (size, dim - (gint32) i * size);
  }
  LowerValue *list = onnx_list_new (o, n);
  for (guint i = 0; i < n && o->error == NULL; i++) {
    if (lower_fail_if (o, sizes[i] < 1 || sizes[i] > dim - at, SL_ERROR_SHAPE,
                       "part %u of %d elements does not fit a dimension of %d", i, sizes[i], dim))
      return;
    const gint32 part = lower_cut (o, input, lower_axis (axis, x->rank, last), at, at + sizes[i]);
    list->items[i] = lower_value_new (o, part, last);
    at += sizes[i];
    if (drops && o->error == NULL) {
      gint32 dims[SL_MAX_RANK];
      memcpy (dims, x->dims, sizeof dims);
      memmove (dims + axis, dims + axis + 1, (x->rank - 1 - axis) * sizeof dims[0]);
      list->items[i] = lower_value_new (
        o, lower_reshape (o, lower_plain (o, list->items[i]), dims, x->rank - 1), FALSE);
    }
  }
  if (o->error == NULL && at != dim)
    lower_fail (o, SL_ERROR_SHAPE, "its parts have %d elements of a dimension of %d", at, dim);
  lower_set_value (o, 0, list);
}

const LowerOp onnx_ops_list[] = {
  { LOWER_ROW (ConcatFromSequence, onnx_concat_from_sequence), 0 },
  { LOWER_ROW (SequenceAt, onnx_sequence_at), 0 },
  { LOWER_ROW (SequenceConstruct, onnx_sequence_construct), 0 },
  { LOWER_ROW (SequenceEmpty, onnx_sequence_empty), 0 },
  { LOWER_ROW (SequenceErase, onnx_sequence_erase), 0 },
  { LOWER_ROW (SequenceInsert, onnx_sequence_insert), 0 },
  { LOWER_ROW (SequenceLength, onnx_sequence_length), 0 },
  { LOWER_ROW (SplitToSequence, onnx_split_to_sequence), 0 },
  { NULL },
};
