/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shapes: what asks for them, what changes them, and constants made of them. */
#include <string.h>

#include "models/lower/ops.h"

static void
lower_shape (Lower *o)
{
  const LowerValue *x = lower_required (o, 0);
  if (o->error != NULL)
    return;
  const gint64 rank = x->rank;
  gint64 start = lower_attr_int (o, "start", 0), end = lower_attr_int (o, "end", rank);
  start = CLAMP (start < 0 ? start + rank : start, 0, rank);
  end = CLAMP (end < 0 ? end + rank : end, 0, rank);
  if (end > start)
    lower_set (o, 0, lower_ints_constant (o, x->dims + start, (guint) (end - start)), FALSE);
  else
    lower_set_value (o, 0, lower_value_empty (o, 1, (const gint32[]){ 0 }));
}

static void
lower_size (Lower *o)
{
  const LowerValue *x = lower_required (o, 0);
  if (o->error == NULL)
    lower_set (o, 0, lower_int_scalar (o, (gint32) MIN (lower_elements (x), (gsize) G_MAXINT32)),
               FALSE);
}

/* Whether @dims are those of @x with its channels split in two dimensions. */
static gboolean
splits_channels (const LowerValue *x, const gint32 *dims, guint rank)
{
  gboolean splits = lower_is_last (x) && rank == x->rank + 1 && rank > 3 && dims[0] == x->dims[0]
                    && dims[1] * (gint64) dims[2] == x->dims[1];
  for (guint i = 3; splits && i < rank; i++)
    splits = dims[i] == x->dims[i - 1];
  return splits;
}

/* Channels that were split in parts, exchanged with these and joined again, which shuffles them,
 * stay channels last. */
static gint32
shuffled (Lower *o, const LowerValue *x, gint32 parts)
{
  gint32 dims[SL_MAX_RANK], order[SL_MAX_RANK];
  const guint rank = x->rank;
  for (guint i = 0; i < rank; i++)
    dims[lower_axis (i, rank, TRUE)] = x->dims[i];
  for (guint i = 0; i <= rank; i++)
    order[i] = (gint32) (i == rank - 1 ? rank : i == rank ? rank - 1 : i);
  dims[rank - 1] = parts;
  dims[rank] = x->dims[1] / parts;
  const gint32 turned = lower_transpose (o, lower_reshape (o, x->last, dims, rank + 1), order);
  dims[rank - 1] = x->dims[1];
  return lower_reshape (o, turned, dims, rank);
}

/* @x under other dimensions. Where batch and channels stay, it stays channels last. */
static void
set_reshaped (Lower *o, LowerValue *x, const gint32 *dims, guint rank)
{
  gint32 moved[SL_MAX_RANK];
  if (o->error != NULL)
    return;
  if (x->empty) {
    lower_set_value (o, 0, lower_value_empty (o, rank, dims));
    return;
  }
  if (lower_is_last (x) && rank > 2 && dims[0] == x->dims[0] && dims[1] == x->dims[1]) {
    for (guint i = 0; i < rank; i++)
      moved[lower_axis (i, rank, TRUE)] = dims[i];
    lower_set (o, 0, lower_reshape (o, x->last, moved, rank), TRUE);
    return;
  }
  if (x->split != NULL && x->exchanged && rank == x->split->rank
      && memcmp (dims, x->split->dims, rank * sizeof dims[0]) == 0) {
    lower_set (o, 0, shuffled (o, x->split, x->parts), TRUE);
    return;
  }
  const gboolean splits = splits_channels (x, dims, rank);
  LowerValue *value = lower_value_new (o, lower_reshape (o, lower_plain (o, x), dims, rank), FALSE);
  if (o->error == NULL && splits) {
    value->split = x;
    value->parts = dims[1];
  }
  lower_set_value (o, 0, value);
}

/* The one -1 is filled in here, because the layout depends on it. */
static void
fill_open (Lower *o, const LowerValue *x, gint32 *dims, guint rank)
{
  gsize known = 1;
  guint open = rank;
  for (guint i = 0; i < rank; i++) {
    if (dims[i] == -1 && open == rank)
      open = i;
    else if (dims[i] < 0 || !g_size_checked_mul (&known, known, (gsize) dims[i]))
      lower_fail (o, SL_ERROR_SHAPE, "dimension %u of the new shape is %d", i, dims[i]);
  }
  if (o->error != NULL || open == rank)
    return;
  const gsize elements = lower_elements (x);
  if (known == 0 || elements % known != 0 || elements / known > G_MAXINT32)
    lower_fail (o, SL_ERROR_SHAPE,
                "%" G_GSIZE_FORMAT
                " elements do not fit the new shape, whose other dimensions have %" G_GSIZE_FORMAT,
                elements, known);
  else
    dims[open] = (gint32) (elements / known);
}

static void
lower_reshape_op (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 dims[SL_MAX_RANK];
  guint rank = 0;
  if (!lower_list (o, "shape", 1, 5, dims, SL_MAX_RANK, &rank) && o->error == NULL)
    lower_fail (o, SL_ERROR_FORMAT, "the new shape is missing");
  for (guint i = 0; i < rank && o->error == NULL; i++)
    if (dims[i] == 0 && lower_attr_int (o, "allowzero", 0) == 0) {
      if (i < x->rank)
        dims[i] = x->dims[i];
      else
        lower_fail (o, SL_ERROR_SHAPE,
                    "dimension %u of the new shape copies one that the input does not have", i);
    }
  if (o->error == NULL && x->rank > 0 && !x->empty
      && lower_t (o, x->plain >= 0 ? x->plain : x->last)->data == NULL)
    sl_graph_batch_shape (o->graph, lower_elements (x), x->dims[0], dims, rank);
  if (o->error == NULL)
    fill_open (o, x, dims, rank);
  set_reshaped (o, x, dims, rank);
}

static void
lower_flatten (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 dims[2] = { 1, 1 };
  if (o->error != NULL)
    return;
  const gint64 stated = lower_attr_int (o, "axis", 1);
  const guint axis = stated == (gint64) x->rank ? x->rank : lower_norm_axis (o, stated, x->rank);
  for (guint i = 0; i < x->rank; i++)
    dims[i >= axis] = (gint32) MIN ((gint64) dims[i >= axis] * x->dims[i], G_MAXINT32);
  set_reshaped (o, x, dims, 2);
}

static void
lower_squeeze (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 axes[SL_MAX_RANK], dims[SL_MAX_RANK];
  guint n = 0, rank = 0, dropped = 0;
  const gboolean stated = lower_list (o, "axes", 1, 13, axes, SL_MAX_RANK, &n);
  if (o->error != NULL)
    return;
  for (guint i = 0; i < n; i++)
    dropped |= 1u << lower_norm_axis (o, axes[i], x->rank);
  for (guint i = 0; i < x->rank; i++) {
    const gboolean drop = stated ? (dropped >> i & 1) != 0 : x->dims[i] == 1;
    if (!drop)
      dims[rank++] = x->dims[i];
    else if (x->dims[i] != 1)
      lower_fail (o, SL_ERROR_SHAPE, "dimension %u of size %d cannot be dropped", i, x->dims[i]);
  }
  set_reshaped (o, x, dims, rank);
}

static void
lower_unsqueeze (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 axes[SL_MAX_RANK], dims[SL_MAX_RANK];
  guint n = 0, added = 0, from = 0;
  lower_list (o, "axes", 1, 13, axes, SL_MAX_RANK, &n);
  if (o->error != NULL)
    return;
  const guint rank = x->rank + n;
  if (lower_fail_if (o, rank > SL_MAX_RANK, SL_ERROR_LIMIT,
                     "the result has %u dimensions; at most %d are supported", rank, SL_MAX_RANK))
    return;
  for (guint i = 0; i < n; i++)
    added |= 1u << lower_norm_axis (o, axes[i], rank);
  for (guint i = 0; i < rank; i++) {
    if (!(added >> i & 1) && from >= x->rank)
      lower_fail (o, SL_ERROR_FORMAT, "axes name a dimension twice");
    dims[i] = added >> i & 1 ? 1 : from < x->rank ? x->dims[from++] : 1;
  }
  set_reshaped (o, x, dims, rank);
}

static gboolean
in_order (const gint32 *order, guint rank)
{
  for (guint i = 0; i < rank; i++)
    if (order[i] != (gint32) i)
      return FALSE;
  return TRUE;
}

/* What turns between channels second and channels last is only another name for the same tensor. */
/* Whether @perm exchanges the two dimensions behind the batch alone. */
static gboolean
exchanges_parts (const gint32 *perm, guint n)
{
  for (guint i = 0; i < n; i++)
    if (perm[i] != (gint32) (i == 1 ? 2 : i == 2 ? 1 : i))
      return FALSE;
  return n > 2;
}

static void
lower_transpose_op (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 perm[SL_MAX_RANK], plain[SL_MAX_RANK], moved[SL_MAX_RANK];
  guint n = 0, seen = 0;
  gboolean last = FALSE;
  if (o->error != NULL)
    return;
  if (!lower_attr_ints (o, "perm", perm, SL_MAX_RANK, &n))
    for (n = 0; n < x->rank; n++)
      perm[n] = (gint32) (x->rank - 1 - n);
  for (guint i = 0; i < n; i++)
    seen |= perm[i] >= 0 && perm[i] < (gint32) x->rank ? 1u << perm[i] : 0;
  if (lower_fail_if (o, n != x->rank || seen != (1u << n) - 1, SL_ERROR_FORMAT,
                     "attribute perm does not name each of %u dimensions once", x->rank))
    return;
  if (x->codes >= 0 && x->plain < 0 && x->last < 0) { /* weights stay codes */
    LowerValue *turned = lower_value_new (o, lower_transpose (o, x->codes, perm), FALSE);
    if (turned != NULL) {
      turned->codes = turned->plain;
      turned->plain = -1;
    }
    lower_set_value (o, 0, turned);
    return;
  }
  const gint32 tensor = x->plain >= 0 && x->last >= 0 ? x->plain : lower_any (o, x, &last);
  for (guint i = 0; i < n; i++)
    plain[i] = (gint32) lower_axis ((guint) perm[i], n, last);
  for (guint i = 0; i < n; i++)
    moved[lower_axis (i, n, TRUE)] = plain[i];
  if (n > 2 && in_order (moved, n)) {
    lower_set (o, 0, tensor, TRUE);
    return;
  }
  LowerValue *value =
    lower_value_new (o, in_order (plain, n) ? tensor : lower_transpose (o, tensor, plain), FALSE);
  if (o->error == NULL && x->split != NULL && !x->exchanged && exchanges_parts (perm, n)) {
    value->split = x->split;
    value->parts = x->parts;
    value->exchanged = TRUE;
  }
  lower_set_value (o, 0, value);
}

static void
lower_expand (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 dims[SL_MAX_RANK], wanted[SL_MAX_RANK];
  guint n = 0;
  if (!lower_input_ints (o, 1, "shape", wanted, SL_MAX_RANK, &n) || o->error != NULL)
    return;
  const guint rank = MAX (n, x->rank);
  for (guint i = 0; i < rank; i++) {
    const gint32 a = i + x->rank >= rank ? x->dims[i + x->rank - rank] : 1,
                 b = i + n >= rank ? wanted[i + n - rank] : 1;
    dims[i] = a == 1 ? b : a;
    if (a != 1 && b != 1 && a != b)
      lower_fail (o, SL_ERROR_SHAPE, "dimension of size %d cannot be expanded to %d", a, b);
  }
  if (o->error == NULL && rank == x->rank && memcmp (dims, x->dims, rank * sizeof dims[0]) == 0) {
    lower_set_value (o, 0, x);
    return;
  }
  const gint32 input = lower_plain (o, x);
  lower_set (o, 0, lower_binary (o, SL_OP_BROADCAST_TO, input, lower_ints_constant (o, dims, rank)),
             FALSE);
}

static void
lower_tile (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 repeats[SL_MAX_RANK];
  guint n = 0;
  if (!lower_input_ints (o, 1, "repeats", repeats, SL_MAX_RANK, &n) || o->error != NULL)
    return;
  const gint32 input = lower_plain (o, x);
  lower_set (o, 0, lower_binary (o, SL_OP_TILE, input, lower_ints_constant (o, repeats, n)), FALSE);
}

static void
lower_range (Lower *o)
{
  gint32 inputs[3];
  for (guint i = 0; i < 3; i++) {
    inputs[i] = lower_plain (o, lower_required (o, i));
    if (lower_t (o, inputs[i])->data == NULL)
      lower_fail (
        o, SL_ERROR_UNSUPPORTED,
        "input %u is computed from the picture; expected what follows from constants and shapes",
        i);
  }
  lower_set (o, 0, lower_emit (o, SL_OP_RANGE, inputs, 3, NULL, lower_tensor_type (o, inputs[0])),
             FALSE);
}

/* Which elements are not zero, as a matrix of coordinates: of a constant exactly, else with open
 * columns behind the last. */
static void
lower_non_zero (Lower *o)
{
  const gint32 input = lower_plain (o, lower_required (o, 0)), order[2] = { 1, 0 };
  if (lower_t (o, input)->data == NULL) {
    lower_set (o, 0, lower_emit (o, SL_OP_NON_ZERO, &input, 1, NULL, SL_DTYPE_I32), FALSE);
    return;
  }
  const gint32 none = lower_float_like (o, input, 0);
  const gint32 set =
    lower_tensor_type (o, input) == SL_DTYPE_BOOL
      ? input
      : lower_emit (o, SL_OP_NOT_EQUAL, (const gint32[]){ input, none }, 2, NULL, SL_DTYPE_BOOL);
  const gint32 places = lower_emit (o, SL_OP_WHERE, &set, 1, NULL, SL_DTYPE_I64);
  lower_set (o, 0, lower_transpose (o, lower_cast (o, places, SL_DTYPE_I32), order), FALSE);
}

const LowerOp lower_ops_shape[] = {
  { LOWER_ROW (Expand, lower_expand), 0 },       { LOWER_ROW (Flatten, lower_flatten), 0 },
  { LOWER_ROW (NonZero, lower_non_zero), 0 },    { LOWER_ROW (Range, lower_range), 0 },
  { LOWER_ROW (Reshape, lower_reshape_op), 0 },  { LOWER_ROW (Shape, lower_shape), 0 },
  { LOWER_ROW (Size, lower_size), 0 },           { LOWER_ROW (Squeeze, lower_squeeze), 0 },
  { LOWER_ROW (Tile, lower_tile), 0 },           { LOWER_ROW (Transpose, lower_transpose_op), 0 },
  { LOWER_ROW (Unsqueeze, lower_unsqueeze), 0 }, { NULL },
};
