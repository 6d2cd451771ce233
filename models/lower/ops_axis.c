/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators along dimensions: the dimension is found in whatever layout the operand is in. */
#include <string.h>

#include "models/lower/ops.h"

static void
lower_concat (Lower *o)
{
  LowerValue *values[SL_MAX_OPERANDS];
  gint32 inputs[SL_MAX_OPERANDS];
  guint n = 0;
  gboolean last = FALSE;
  for (guint i = 0; i < o->node->n_inputs && o->error == NULL; i++) {
    values[n] = lower_required (o, i);
    if (values[n] != NULL && !values[n]->empty)
      last |= lower_is_last (values[n++]);
  }
  if (o->error != NULL)
    return;
  if (n == 0) {
    lower_set_value (o, 0, lower_required (o, 0));
    return;
  }
  const guint rank = values[0]->rank,
              axis = lower_norm_axis (o, lower_attr_int (o, "axis", 1), rank);
  for (guint i = 0; i < n; i++) {
    if (values[i]->rank != rank)
      lower_fail (o, SL_ERROR_SHAPE, "its inputs have %u and %u dimensions; expected as many", rank,
                  values[i]->rank);
    inputs[i] = last ? lower_last (o, values[i]) : lower_plain (o, values[i]);
  }
  const SlOpParams params = { .concat = { .axis = (gint32) lower_axis (axis, rank, last) } };
  lower_set (o, 0,
             n == 1 ? inputs[0]
                    : lower_emit (o, SL_OP_CONCATENATION, inputs, n, &params,
                                  lower_tensor_type (o, inputs[0])),
             last);
}

/* The sizes of Split's outputs: stated, or as even as possible. */
static gboolean
split_sizes (Lower *o, gint32 whole, gint32 *sizes, guint n)
{
  guint stated = 0;
  gint64 sum = 0;
  if (lower_list (o, "split", 1, 13, sizes, SL_MAX_OPERANDS, &stated) && stated > 0) {
    for (guint i = 0; i < stated; i++)
      sum += sizes[i] < 0 ? G_MAXINT32 : sizes[i];
    if (o->error == NULL && (stated != n || sum != whole))
      lower_fail (o, SL_ERROR_SHAPE,
                  "%u sizes with the sum %" G_GINT64_FORMAT " for %u outputs of a dimension of %d",
                  stated, sum, n, whole);
    return o->error == NULL;
  }
  const gint32 part = (gint32) (((gint64) whole + n - 1) / n);
  for (guint i = 0; i < n; i++)
    sizes[i] = MAX (MIN (part, whole - (gint32) i * part), 0);
  return o->error == NULL;
}

static void
lower_split (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 sizes[SL_MAX_OPERANDS], at = 0;
  gboolean last = FALSE;
  const guint n = o->node->n_outputs;
  const gint32 input = lower_any (o, x, &last);
  if (o->error != NULL || n == 0)
    return;
  const guint axis = lower_norm_axis (o, lower_attr_int (o, "axis", 0), x->rank);
  if (o->error != NULL || !split_sizes (o, x->dims[axis], sizes, n))
    return;
  for (guint i = 0; i < n; at += sizes[i++])
    if (lower_has_output (o, i))
      lower_set (o, i, lower_cut (o, input, lower_axis (axis, x->rank, last), at, at + sizes[i]),
                 last);
}

static void
lower_slice (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 begins[SL_MAX_RANK], ends[SL_MAX_RANK], axes[SL_MAX_RANK], steps[SL_MAX_RANK],
    all[3][SL_MAX_RANK];
  guint n = 0, n_ends = 0, n_axes = 0, n_steps = 0, touched = 0;
  gboolean last = FALSE, whole = TRUE;
  SlOpParams params = { 0 };
  lower_list (o, "starts", 1, 10, begins, SL_MAX_RANK, &n);
  lower_list (o, "ends", 2, 10, ends, SL_MAX_RANK, &n_ends);
  lower_list (o, "axes", 3, 10, axes, SL_MAX_RANK, &n_axes);
  lower_input_ints (o, 4, "steps", steps, SL_MAX_RANK, &n_steps);
  const gint32 input = lower_any (o, x, &last);
  if (o->error != NULL)
    return;
  const guint rank = x->rank;
  if (n != n_ends || (n_axes != 0 && n_axes != n) || (n_steps != 0 && n_steps != n) || n > rank) {
    lower_fail (o, SL_ERROR_SHAPE,
                "%u starts, %u ends, %u axes and %u steps do not fit %u dimensions", n, n_ends,
                n_axes, n_steps, rank);
    return;
  }
  for (guint i = 0; i < rank; i++) {
    all[0][i] = all[1][i] = 0;
    all[2][i] = 1;
  }
  for (guint i = 0; i < n; i++) {
    const guint logical = n_axes > 0 ? lower_norm_axis (o, axes[i], rank) : i,
                axis = lower_axis (logical, rank, last);
    const gint32 step = n_steps > 0 ? steps[i] : 1, dim = x->dims[logical];
    if (lower_fail_if (o, step == 0 || o->error != NULL, SL_ERROR_FORMAT, "step %u is 0", i))
      return;
    gint64 begin = begins[i] < 0 ? (gint64) begins[i] + dim : begins[i],
           end = ends[i] < 0 ? (gint64) ends[i] + dim : ends[i];
    begin = CLAMP (begin, 0, step > 0 ? dim : dim - 1);
    end = CLAMP (end, step > 0 ? 0 : -1, dim);
    touched |= 1u << axis;
    all[0][axis] = (gint32) begin;
    all[1][axis] = (gint32) end;
    all[2][axis] = step;
    if (end == -1)
      params.slice.end_mask |= 1u << axis;
    whole &= step == 1 && begin == 0 && end == dim;
    if (step > 0 ? end <= begin : end >= begin) {
      gint32 dims[SL_MAX_RANK];
      memcpy (dims, x->dims, sizeof dims);
      dims[logical] = 0;
      lower_set_value (o, 0, lower_value_empty (o, rank, dims));
      return;
    }
  }
  for (guint i = 0; i < rank; i++)
    if (!(touched >> i & 1))
      all[1][i] = lower_t (o, input)->dims[i];
  if (whole) {
    lower_set_value (o, 0, x);
    return;
  }
  const gint32 inputs[4] = { input, lower_ints_constant (o, all[0], rank),
                             lower_ints_constant (o, all[1], rank),
                             lower_ints_constant (o, all[2], rank) };
  lower_set (o, 0,
             lower_emit (o, SL_OP_STRIDED_SLICE, inputs, 4, &params, lower_tensor_type (o, input)),
             last);
}

/* What negative @indices mean: rows left open, or a count from the end. */
static SlIndexing
indexing (const Lower *o, gint32 indices)
{
  return lower_is_open (o, indices) ? SL_INDEX_OPEN : SL_INDEX_FROM_END;
}

static void
lower_gather (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *indices = lower_required (o, 1);
  gboolean last = FALSE;
  if (o->error != NULL)
    return;
  const guint axis = lower_norm_axis (o, lower_attr_int (o, "axis", 0), x->rank);
  const gboolean keeps =
    indices->rank == 1; /* one dimension stays one, so the layout may stay, too */
  const gint32 input = keeps ? lower_any (o, x, &last) : lower_plain (o, x);
  const gint32 places = lower_plain (o, indices);
  const SlOpParams params = { .axis = { .axis = (gint32) lower_axis (axis, x->rank, last),
                                        .indexing = indexing (o, places) } };
  lower_set (o, 0,
             lower_emit (o, SL_OP_GATHER, (const gint32[]){ input, places }, 2, &params,
                         lower_tensor_type (o, input)),
             last);
}

static void
lower_gather_nd (Lower *o)
{
  const gint32 x = lower_plain (o, lower_required (o, 0)),
               places = lower_plain (o, lower_required (o, 1));
  const SlOpParams params = { .axis = { .batch_dims =
                                          (gint32) CLAMP (lower_attr_int (o, "batch_dims", 0),
                                                          G_MININT32, G_MAXINT32),
                                        .indexing = indexing (o, places) } };
  lower_set (o, 0,
             lower_emit (o, SL_OP_GATHER_ND, (const gint32[]){ x, places }, 2, &params,
                         lower_tensor_type (o, x)),
             FALSE);
}

/* Slices along one dimension, of all elements where none is named, that a constant condition
 * chooses. */
static void
lower_compress (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *condition = lower_required (o, 1);
  const gboolean flat = lower_attribute (o, "axis") == NULL;
  gsize n = 0;
  guint kept = 0;
  gboolean last = FALSE;
  const guint8 *set = lower_data (o, condition, &n);
  const gint32 input = flat ? lower_plain (o, x) : lower_any (o, x, &last);
  if (o->error != NULL)
    return;
  const guint axis = flat ? 0 : lower_norm_axis (o, lower_attr_int (o, "axis", 0), x->rank);
  const gsize dim = flat ? lower_elements (x) : (gsize) x->dims[axis];
  if (lower_fail_if (o, set == NULL || lower_dtype (o, condition) != SL_DTYPE_BOOL || n > dim,
                     SL_ERROR_UNSUPPORTED,
                     "its condition, input 1, must be a constant of at most %" G_GSIZE_FORMAT
                     " elements of bool",
                     dim))
    return;
  g_autofree gint32 *places = g_new (gint32, MAX (n, 1));
  for (gsize i = 0; i < n; i++)
    if (set[i] != 0)
      places[kept++] = (gint32) i;
  if (kept == 0) {
    gint32 dims[SL_MAX_RANK];
    memcpy (dims, x->dims, sizeof dims);
    dims[axis] = 0;
    lower_set_value (o, 0, lower_value_empty (o, flat ? 1 : x->rank, dims));
    return;
  }
  const gint32 whole[1] = { (gint32) MIN (dim, (gsize) G_MAXINT32) },
               data = flat ? lower_reshape (o, input, whole, 1) : input;
  const SlOpParams params = { .axis = { .axis =
                                          flat ? 0 : (gint32) lower_axis (axis, x->rank, last) } };
  const gint32 inputs[2] = { data, lower_ints_constant (o, places, kept) };
  lower_set (o, 0, lower_emit (o, SL_OP_GATHER, inputs, 2, &params, lower_tensor_type (o, data)),
             last);
}

/* The value that a constant padding has: an attribute before opset 11, an input since. */
static gfloat
pad_value (Lower *o)
{
  gfloat value = 0;
  gint32 whole = 0;
  guint n = 0;
  if (o->opset < 11)
    return lower_attr_float (o, "value", 0);
  LowerValue *input = lower_input (o, 2);
  if (input == NULL || input->empty)
    return 0;
  if (lower_dtype (o, input) == SL_DTYPE_I32) {
    lower_input_ints (o, 2, "value", &whole, 1, &n);
    return (gfloat) whole;
  }
  lower_input_floats (o, 2, "value", &value, 1, &n);
  return value;
}

/* The edge repeated, or the picture repeated: elements along one dimension are gathered. */
static gint32
pad_by_gather (Lower *o, gint32 x, guint axis, gint32 before, gint32 after, gboolean wrap)
{
  const gint32 dim = lower_t (o, x)->dims[axis], n = dim + before + after;
  if (o->error != NULL || (before == 0 && after == 0))
    return x;
  g_autofree gint32 *places = g_new (gint32, (gsize) n);
  for (gint32 i = 0; i < n; i++)
    places[i] = wrap ? ((i - before) % dim + dim) % dim : CLAMP (i - before, 0, dim - 1);
  const SlOpParams params = { .axis = { .axis = (gint32) axis } };
  return lower_emit (o, SL_OP_GATHER,
                     (const gint32[]){ x, lower_ints_constant (o, places, (guint) n) }, 2, &params,
                     lower_tensor_type (o, x));
}

static gint32
pad_as (Lower *o, const char *mode, gint32 x, const gint32 *amounts)
{
  const guint rank = lower_t (o, x)->rank;
  const gint32 dims[2] = { (gint32) rank, 2 };
  if (strcmp (mode, "constant") == 0)
    return lower_pad (o, x, amounts, pad_value (o));
  if (strcmp (mode, "reflect") == 0) {
    const SlOpParams params = { .mirror = { .symmetric = FALSE } };
    return lower_emit (o, SL_OP_MIRROR_PAD,
                       (const gint32[]){ x, lower_constant (o, SL_DTYPE_I32, 2, dims, amounts) }, 2,
                       &params, lower_tensor_type (o, x));
  }
  if (strcmp (mode, "edge") != 0 && strcmp (mode, "wrap") != 0)
    return lower_fail (o, SL_ERROR_UNSUPPORTED,
                       "attribute mode is %s; expected constant, reflect, edge or wrap", mode);
  for (guint i = 0; i < rank; i++)
    x = pad_by_gather (o, x, i, amounts[2 * i], amounts[2 * i + 1], strcmp (mode, "wrap") == 0);
  return x;
}

static void
lower_pad_op (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 pads[2 * SL_MAX_RANK], axes[SL_MAX_RANK], amounts[2 * SL_MAX_RANK] = { 0 };
  guint n = 0, n_axes = 0;
  gboolean last = FALSE;
  if (!lower_list (o, o->opset < 2 ? "paddings" : "pads", 1, 11, pads, 2 * SL_MAX_RANK, &n)
      && o->error == NULL)
    lower_fail (o, SL_ERROR_FORMAT, "its pads are missing");
  lower_input_ints (o, 3, "axes", axes, SL_MAX_RANK, &n_axes);
  gint32 input = lower_any (o, x, &last);
  if (o->error != NULL)
    return;
  const guint named = n_axes > 0 ? n_axes : x->rank;
  if (lower_fail_if (o, n != 2 * named, SL_ERROR_SHAPE, "%u pads for %u dimensions; expected %u", n,
                     named, 2 * named))
    return;
  for (guint i = 0; i < named; i++) {
    const guint logical = n_axes > 0 ? lower_norm_axis (o, axes[i], x->rank) : i,
                axis = lower_axis (logical, x->rank, last);
    const gint32 before = pads[i], after = pads[i + named];
    if (before < -x->dims[logical] || after < -x->dims[logical] || before > G_MAXINT16
        || after > G_MAXINT16) {
      lower_fail (o, SL_ERROR_FORMAT, "pads %d and %d of dimension %u are out of range", before,
                  after, logical);
      return;
    }
    amounts[2 * axis] = MAX (before, 0);
    amounts[2 * axis + 1] = MAX (after, 0);
    input = lower_cut (o, input, axis, MAX (-before, 0), x->dims[logical] - MAX (-after, 0));
  }
  lower_set (o, 0, pad_as (o, lower_attr_text (o, "mode", "constant"), input, amounts), last);
}

/* Each dimension brought to a size: what is too much is cut, what lacks is 0, as evenly on both
 * sides as can be. */
static void
lower_center_crop_pad (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 sizes[SL_MAX_RANK], axes[SL_MAX_RANK], amounts[2 * SL_MAX_RANK] = { 0 };
  guint n = 0, n_axes = 0;
  gboolean last = FALSE;
  lower_required (o, 1);
  lower_input_ints (o, 1, "shape", sizes, SL_MAX_RANK, &n);
  const gboolean named = lower_attr_ints (o, "axes", axes, SL_MAX_RANK, &n_axes);
  gint32 input = lower_any (o, x, &last);
  if (o->error != NULL)
    return;
  if (lower_fail_if (o, n != (named ? n_axes : x->rank), SL_ERROR_SHAPE,
                     "a shape of %u dimensions; expected %u", n, named ? n_axes : x->rank))
    return;
  for (guint i = 0; i < n && o->error == NULL; i++) {
    const guint logical = named ? lower_norm_axis (o, axes[i], x->rank) : i,
                axis = lower_axis (logical, x->rank, last);
    const gint32 dim = x->dims[logical], cut = (dim - sizes[i]) / 2, pad = (sizes[i] - dim) / 2;
    if (sizes[i] < 1 || sizes[i] > G_MAXINT32 / 2) {
      lower_fail (o, SL_ERROR_SHAPE, "dimension %u of the shape is %d", i, sizes[i]);
    } else if (sizes[i] <= dim) {
      input = lower_cut (o, input, axis, cut, cut + sizes[i]);
    } else {
      amounts[2 * axis] = pad;
      amounts[2 * axis + 1] = sizes[i] - dim - pad;
    }
  }
  lower_set (o, 0, lower_pad (o, input, amounts, 0), last);
}

/* Crop, of opset 6 and before: borders left, top, right, bottom; with a size, that much from the
 * left and the top on. */
static void
lower_crop (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 border[4], scale[2];
  guint n = 0, n_scale = 0;
  gboolean last = FALSE;
  lower_attr_ints (o, "border", border, 4, &n);
  lower_attr_ints (o, "scale", scale, 2, &n_scale);
  const gint32 input = lower_any (o, x, &last);
  if (o->error != NULL)
    return;
  gboolean fits = x->rank == 4 && n == 4 && (n_scale == 0 || n_scale == 2);
  gint64 ends[2] = { 0 };
  for (guint i = 0; fits && i < 2; i++) {
    const gint64 first = border[1 - i], dim = x->dims[2 + i];
    ends[i] = n_scale > 0 ? first + scale[i] : dim - border[3 - i];
    fits = first >= 0 && ends[i] > first && ends[i] <= dim;
  }
  if (!fits) {
    lower_fail (
      o, SL_ERROR_SHAPE,
      "its border and scale do not lie in an input of %u dimensions; expected [N,C,H,W], 4 borders "
      "and 0 or 2 sizes",
      x->rank);
    return;
  }
  const gint32 rows = lower_cut (o, input, lower_axis (2, 4, last), border[1], (gint32) ends[0]);
  lower_set (o, 0, lower_cut (o, rows, lower_axis (3, 4, last), border[0], (gint32) ends[1]), last);
}

/* What a reduction does before its sum. */
static gint32
before_sum (Lower *o, gint32 x)
{
  const char *op = o->node->op;
  if (strcmp (op, "ReduceL1") == 0)
    return lower_unary (o, SL_OP_ABS, x);
  return strcmp (op, "ReduceL2") == 0 || strcmp (op, "ReduceSumSquare") == 0
           ? lower_unary (o, SL_OP_SQUARE, x)
           : x;
}

static gint32
behind_sum (Lower *o, gint32 x)
{
  const char *op = o->node->op;
  if (strcmp (op, "ReduceL2") == 0)
    return lower_unary (o, SL_OP_SQRT, x);
  return strcmp (op, "ReduceLogSum") == 0 ? lower_unary (o, SL_OP_LOG, x) : x;
}

static gint32
reduce_as (Lower *o, gint32 x, const gint32 *axes, guint n, gboolean keep)
{
  const SlOpType type = o->row->type;
  if (lower_tensor_type (o, x) == SL_DTYPE_BOOL)
    return lower_cast (o, lower_reduce (o, type, lower_cast (o, x, SL_DTYPE_I32), axes, n, keep),
                       SL_DTYPE_BOOL);
  if (strcmp (o->node->op, "ReduceLogSumExp") == 0) {
    const gint32 top = lower_reduce (o, SL_OP_REDUCE_MAX, x, axes, n, TRUE);
    const gint32 sum = lower_reduce (
      o, type, lower_unary (o, SL_OP_EXP, lower_binary (o, SL_OP_SUB, x, top)), axes, n, keep);
    return lower_binary (o, SL_OP_ADD, lower_unary (o, SL_OP_LOG, sum),
                         keep ? top : lower_reduce (o, SL_OP_REDUCE_MAX, x, axes, n, FALSE));
  }
  return behind_sum (o, lower_reduce (o, type, before_sum (o, x), axes, n, keep));
}

static void
lower_reduce_op (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gboolean keep = lower_attr_int (o, "keepdims", 1) != 0;
  const gint64 since = strcmp (o->node->op, "ReduceSum") == 0 ? 13 : 18;
  gint32 axes[SL_MAX_RANK];
  guint n = 0;
  gboolean last = FALSE;
  lower_list (o, "axes", 1, since, axes, SL_MAX_RANK, &n);
  if (o->error != NULL)
    return;
  if (n == 0 && lower_attr_int (o, "noop_with_empty_axes", 0) != 0) {
    /* Each element is a sum of its own. */
    const gint32 alone = behind_sum (o, before_sum (o, lower_any (o, x, &last)));
    lower_set (o, 0, alone, last);
    return;
  }
  const gint32 input = keep                ? lower_any (o, x, &last)
                       : lower_is_last (x) ? x->last
                                           : lower_plain (o, x);
  const gboolean moved = last || lower_is_last (x);
  guint reduced = 0;
  if (n == 0)
    for (n = 0; n < x->rank; n++)
      axes[n] = (gint32) n;
  for (guint i = 0; i < n; i++) {
    const guint axis = lower_norm_axis (o, axes[i], x->rank);
    reduced |= 1u << axis;
    axes[i] = (gint32) lower_axis (axis, x->rank, moved);
  }
  /* Without the reduced dimensions, the rest is in ONNX's order when the channels are gone, or all
   * behind them. */
  gboolean ordered = !moved || keep || reduced >> 1 & 1, behind = TRUE;
  for (guint i = 2; i < x->rank; i++)
    behind &= (reduced >> i & 1) != 0;
  if (!ordered && !behind) {
    for (guint i = 0; i < n; i++)
      axes[i] = axes[i] == (gint32) x->rank - 1 ? 1 : axes[i] == 0 ? 0 : axes[i] + 1;
    lower_set (o, 0, reduce_as (o, lower_plain (o, x), axes, n, keep), FALSE);
    return;
  }
  lower_set (o, 0, reduce_as (o, input, axes, n, keep), last && keep);
}

/* The elements along @axis from the last to the first. */
static gint32
turned (Lower *o, gint32 x, guint axis)
{
  const SlTensor *t = lower_t (o, x);
  const guint rank = t->rank;
  gint32 begins[SL_MAX_RANK] = { 0 }, ends[SL_MAX_RANK], steps[SL_MAX_RANK];
  if (o->error != NULL)
    return -1;
  for (guint i = 0; i < rank; i++) {
    ends[i] = t->dims[i];
    steps[i] = i == axis ? -1 : 1;
  }
  begins[axis] = ends[axis] - 1;
  const SlOpParams params = { .slice = { .end_mask = 1u << axis } };
  const gint32 inputs[4] = { x, lower_ints_constant (o, begins, rank),
                             lower_ints_constant (o, ends, rank),
                             lower_ints_constant (o, steps, rank) };
  return lower_emit (o, SL_OP_STRIDED_SLICE, inputs, 4, &params, lower_tensor_type (o, x));
}

static void
lower_arg (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gint32 input = lower_is_last (x) ? x->last : lower_plain (o, x);
  const gboolean moved = lower_is_last (x), keep = lower_attr_int (o, "keepdims", 1) != 0;
  gint32 dims[SL_MAX_RANK];
  if (o->error != NULL)
    return;
  const gboolean from_end = lower_attr_int (o, "select_last_index", 0) != 0;
  const guint axis = lower_norm_axis (o, lower_attr_int (o, "axis", 0), x->rank);
  const gint32 stated = moved && axis != 1 ? lower_plain (o, x) : input;
  const guint at = moved && axis == 1 ? x->rank - 1 : axis;
  const gint32 tensor = from_end ? turned (o, stated, at) : stated;
  gint32 y =
    lower_emit (o, o->row->type, (const gint32[]){ tensor, lower_int_scalar (o, (gint32) at) }, 2,
                NULL, SL_DTYPE_I32);
  if (from_end)
    y = lower_binary (o, SL_OP_SUB, lower_int_scalar (o, x->dims[axis] - 1), y);
  memcpy (dims, x->dims, sizeof dims);
  dims[axis] = 1;
  lower_set (o, 0, keep ? lower_reshape (o, y, dims, x->rank) : y, FALSE);
}

/* Along the last dimension, where the core has it. */
static void
order_with_last (guint rank, guint axis, gint32 order[SL_MAX_RANK])
{
  for (guint i = 0; i < rank; i++)
    order[i] = (gint32) i;
  order[axis] = (gint32) rank - 1;
  order[rank - 1] = (gint32) axis;
}

static void
lower_top_k (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gboolean largest = lower_attr_int (o, "largest", 1) != 0;
  const SlDtype types[2] = { lower_dtype (o, x), SL_DTYPE_I32 };
  const SlOpParams params = { .topk = { .unstable = o->is_foreign
                                                    && lower_attr_int (o, "unstable", 0) != 0 } };
  gint32 k = 0, outputs[2], order[SL_MAX_RANK];
  guint n = 0;
  if (o->opset < 10)
    k = (gint32) CLAMP (lower_attr_int (o, "k", 0), 0, G_MAXINT32);
  else
    lower_input_ints (o, 1, "k", &k, 1, &n);
  gint32 input = lower_plain (o, x);
  const guint axis =
    o->error == NULL ? lower_norm_axis (o, lower_attr_int (o, "axis", -1), x->rank) : 0;
  if (o->error != NULL)
    return;
  order_with_last (x->rank, axis, order);
  input = lower_transpose (o, input, order);
  if (!largest)
    input = lower_unary (o, SL_OP_NEG, input);
  if (!lower_emit_all (o, SL_OP_TOPK_V2, (const gint32[]){ input, lower_int_scalar (o, k) }, 2,
                       &params, types, outputs, 2))
    return;
  if (!largest)
    outputs[0] = lower_unary (o, SL_OP_NEG, outputs[0]);
  for (guint i = 0; i < 2; i++)
    if (lower_has_output (o, i))
      lower_set (o, i, lower_transpose (o, outputs[i], order), FALSE);
}

/* One at the first greatest element. */
static gint32
hardmax (Lower *o, gint32 x)
{
  const SlTensor *t = lower_t (o, x);
  const guint rank = t->rank;
  gint32 dims[SL_MAX_RANK], column[1];
  if (o->error != NULL)
    return -1;
  memcpy (dims, t->dims, sizeof dims);
  const gint32 n = dims[rank - 1];
  g_autofree gint32 *count = g_new (gint32, (gsize) n);
  for (gint32 i = 0; i < n; i++)
    count[i] = i;
  dims[rank - 1] = 1;
  column[0] = n;
  const gint32 top =
    lower_emit (o, SL_OP_ARG_MAX, (const gint32[]){ x, lower_int_scalar (o, (gint32) rank - 1) }, 2,
                NULL, SL_DTYPE_I32);
  const gint32 places = lower_constant (o, SL_DTYPE_I32, 1, column, count);
  const gint32 same =
    lower_emit (o, SL_OP_EQUAL, (const gint32[]){ lower_reshape (o, top, dims, rank), places }, 2,
                NULL, SL_DTYPE_BOOL);
  return lower_cast (o, same, SL_DTYPE_F32);
}

static gint32
softmax (Lower *o, gint32 x)
{
  const SlOpType type = o->row->type;
  const SlOpParams params = { .softmax = { .beta = 1 } };
  return type == SL_OP_INVALID ? hardmax (o, x)
                               : lower_emit (o, type, &x, 1, &params, SL_DTYPE_F32);
}

/* Before opset 13 everything from the axis on is one row, and the axis is 1 where nothing states
 * it. */
static void
lower_softmax (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 order[SL_MAX_RANK], rows[2] = { 1, 1 };
  if (o->error != NULL)
    return;
  if (lower_fail_if (o, x->rank == 0, SL_ERROR_SHAPE, "its input is a scalar"))
    return;
  const gboolean flat = o->opset < 13;
  const guint axis = lower_norm_axis (o, lower_attr_int (o, "axis", flat ? 1 : -1), x->rank);
  guint behind = 0;
  for (guint i = axis + 1; i < x->rank; i++)
    behind += x->dims[i] > 1;
  if (flat && behind > 0) {
    for (guint i = 0; i < x->rank; i++)
      rows[i >= axis] *= x->dims[i];
    const gint32 y = softmax (o, lower_reshape (o, lower_plain (o, x), rows, 2));
    lower_set (o, 0, lower_reshape (o, y, x->dims, x->rank), FALSE);
    return;
  }
  if (axis == 1 && x->rank > 2 && (lower_is_last (x) || x->last >= 0)) {
    lower_set (o, 0, softmax (o, x->last), TRUE);
    return;
  }
  order_with_last (x->rank, axis, order);
  lower_set (
    o, 0, lower_transpose (o, softmax (o, lower_transpose (o, lower_plain (o, x), order)), order),
    FALSE);
}

static void
lower_cum_sum (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const SlOpParams params = { .cumsum = { .exclusive = lower_attr_int (o, "exclusive", 0) != 0,
                                          .reverse = lower_attr_int (o, "reverse", 0) != 0 } };
  gint32 stated = 0;
  guint n = 0;
  gboolean last = FALSE;
  lower_required (o, 1);
  if (lower_input_ints (o, 1, "axis", &stated, 1, &n) && n != 1)
    lower_fail (o, SL_ERROR_FORMAT, "the axis, input 1, has no elements");
  const gint32 input = lower_any (o, x, &last);
  if (o->error != NULL)
    return;
  const gint32 axis =
    lower_int_scalar (o, (gint32) lower_axis (lower_norm_axis (o, stated, x->rank), x->rank, last));
  lower_set (o, 0,
             lower_emit (o, SL_OP_CUMSUM, (const gint32[]){ input, axis }, 2, &params,
                         lower_tensor_type (o, input)),
             last);
}

/* Matrices above or below diagonal k: the rest is 0. */
static void
lower_trilu (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const SlOpType op = lower_attr_int (o, "upper", 1) != 0 ? SL_OP_GREATER_EQUAL : SL_OP_LESS_EQUAL;
  gint32 k = 0;
  guint n = 0;
  lower_input_ints (o, 1, "diagonal", &k, 1, &n);
  const gint32 input = lower_plain (o, x);
  if (o->error != NULL)
    return;
  if (lower_fail_if (o, x->rank < 2, SL_ERROR_SHAPE,
                     "its input has %u dimensions; expected matrices", x->rank))
    return;
  const gint32 height = x->dims[x->rank - 2], width = x->dims[x->rank - 1];
  const gint64 diagonal = CLAMP (k, -MAX_DIAGONAL, MAX_DIAGONAL);
  const gint32 columns = lower_count (o, 0, width),
               rows = lower_reshape (o, lower_count (o, diagonal, diagonal + height),
                                     (const gint32[]){ height, 1 }, 2);
  const gint32 kept = lower_emit (o, op, (const gint32[]){ columns, rows }, 2, NULL, SL_DTYPE_BOOL);
  const gint32 none = lower_cast (o, lower_float (o, 0), lower_tensor_type (o, input));
  lower_set (o, 0,
             lower_emit (o, SL_OP_SELECT, (const gint32[]){ kept, input, none }, 3, NULL,
                         lower_tensor_type (o, input)),
             FALSE);
}

static void
lower_depth_to_space (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gint32 b = (gint32) CLAMP (lower_attr_int (o, "blocksize", 0), 0, G_MAXINT16);
  const SlOpParams params = { .block = { .size = b } };
  const gboolean to_space = o->row->type == SL_OP_DEPTH_TO_SPACE;
  gint32 input = lower_last (o, x);
  if (o->error != NULL)
    return;
  if (lower_fail_if (o, x->rank != 4 || b < 1 || (to_space && x->dims[1] % (b * b) != 0),
                     SL_ERROR_SHAPE, "blocks of %d do not fit its input", b))
    return;
  if (to_space && strcmp (lower_attr_text (o, "mode", "DCR"), "CRD") == 0) {
    /* Depth is stored column, row, depth here: bring the depth of a place behind the place. */
    const gint32 apart[5] = { x->dims[0], x->dims[2], x->dims[3], x->dims[1] / (b * b), b * b },
                 order[5] = { 0, 1, 2, 4, 3 };
    const gint32 whole[4] = { x->dims[0], x->dims[2], x->dims[3], x->dims[1] };
    input =
      lower_reshape (o, lower_transpose (o, lower_reshape (o, input, apart, 5), order), whole, 4);
  }
  lower_set (o, 0, lower_emit (o, o->row->type, &input, 1, &params, lower_tensor_type (o, input)),
             TRUE);
}

/* Global pools: reductions over all pixels. */
gint32
lower_global_pool_of (Lower *o, LowerValue *x)
{
  gint32 axes[SL_MAX_RANK];
  if (o->error != NULL || x->rank < 3)
    return lower_fail (o, SL_ERROR_SHAPE, "its input has fewer than 3 dimensions");
  for (guint i = 0; i + 2 < x->rank; i++)
    axes[i] = (gint32) i + 1;
  return lower_reduce (o, o->row->type, lower_last (o, x), axes, x->rank - 2, TRUE);
}

/* The root of a sum of powers. */
static void
lower_global_lp_pool (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gint64 p = lower_attr_int (o, "p", 2);
  gint32 axes[SL_MAX_RANK], input = lower_last (o, x);
  if (o->error != NULL)
    return;
  if (lower_fail_if (o, x->rank < 3 || p < 1 || p > G_MAXINT8, SL_ERROR_UNSUPPORTED,
                     "attribute p is %" G_GINT64_FORMAT
                     " and its input has %u dimensions; expected 1 to %d, and at least 3",
                     p, x->rank, G_MAXINT8))
    return;
  for (guint i = 0; i + 2 < x->rank; i++)
    axes[i] = (gint32) i + 1;
  input = lower_unary (o, SL_OP_ABS, input);
  if (p > 1)
    input = lower_binary (o, SL_OP_POW, input, lower_float (o, (gfloat) p));
  const gint32 sum = lower_reduce (o, SL_OP_SUM, input, axes, x->rank - 2, TRUE);
  lower_set (o, 0, p > 1 ? lower_binary (o, SL_OP_POW, sum, lower_float (o, 1 / (gfloat) p)) : sum,
             TRUE);
}

static void
lower_global_pool (Lower *o)
{
  lower_set (o, 0, lower_global_pool_of (o, lower_required (o, 0)), TRUE);
}

const LowerOp lower_ops_axis[] = {
  { LOWER_ROW (ArgMax, lower_arg), SL_OP_ARG_MAX },
  { LOWER_ROW (ArgMin, lower_arg), SL_OP_ARG_MIN },
  { LOWER_ROW (CenterCropPad, lower_center_crop_pad), 0 },
  { LOWER_ROW (Compress, lower_compress), 0 },
  { LOWER_ROW (Concat, lower_concat), 0 },
  { LOWER_ROW (Crop, lower_crop), 0 },
  { LOWER_ROW (CumSum, lower_cum_sum), 0 },
  { LOWER_ROW (DepthToSpace, lower_depth_to_space), SL_OP_DEPTH_TO_SPACE },
  { LOWER_ROW (Gather, lower_gather), 0 },
  { LOWER_ROW (GatherND, lower_gather_nd), 0 },
  { LOWER_ROW (GlobalAveragePool, lower_global_pool), SL_OP_MEAN },
  { LOWER_ROW (GlobalLpPool, lower_global_lp_pool), 0 },
  { LOWER_ROW (GlobalMaxPool, lower_global_pool), SL_OP_REDUCE_MAX },
  { LOWER_ROW (Hardmax, lower_softmax), 0 },
  { LOWER_ROW (LogSoftmax, lower_softmax), SL_OP_LOG_SOFTMAX },
  { LOWER_ROW (Pad, lower_pad_op), 0 },
  { LOWER_ROW (ReduceL1, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (ReduceL2, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (ReduceLogSum, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (ReduceLogSumExp, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (ReduceMax, lower_reduce_op), SL_OP_REDUCE_MAX },
  { LOWER_ROW (ReduceMean, lower_reduce_op), SL_OP_MEAN },
  { LOWER_ROW (ReduceMin, lower_reduce_op), SL_OP_REDUCE_MIN },
  { LOWER_ROW (ReduceProd, lower_reduce_op), SL_OP_REDUCE_PROD },
  { LOWER_ROW (ReduceSum, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (ReduceSumSquare, lower_reduce_op), SL_OP_SUM },
  { LOWER_ROW (Slice, lower_slice), 0 },
  { LOWER_ROW (Softmax, lower_softmax), SL_OP_SOFTMAX },
  { LOWER_ROW (SpaceToDepth, lower_depth_to_space), SL_OP_SPACE_TO_DEPTH },
  { LOWER_ROW (Split, lower_split), 0 },
  { LOWER_ROW (TopK, lower_top_k), 0 },
  { LOWER_ROW (Trilu, lower_trilu), 0 },
  { NULL },
};
