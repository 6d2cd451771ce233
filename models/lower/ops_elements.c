/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements by their indices: read, written, or made of an index. Indices count along ONNX's
 * dimensions, so all of it is in that order. */
#include "models/lower/ops.h"

static void
lower_gather_elements (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gint32 inputs[2] = { lower_plain (o, x), lower_plain (o, lower_required (o, 1)) };
  if (o->error != NULL)
    return;
  const SlOpParams params = { .elements = { .axis = (gint32) lower_norm_axis (
                                              o, lower_attr_int (o, "axis", 0), x->rank),
                                            .open = lower_is_open (o, inputs[1]) } };
  lower_set (
    o, 0,
    lower_emit (o, SL_OP_GATHER_ELEMENTS, inputs, 2, &params, lower_tensor_type (o, inputs[0])),
    FALSE);
}

/* Scatter, ScatterElements and ScatterND, which has no axis. */
static void
lower_scatter (Lower *o)
{
  static const char *const words[] = { "none", "add", "mul", "max", "min", NULL };
  static const SlScatter scatters[] = { SL_SCATTER_REPLACE, SL_SCATTER_ADD, SL_SCATTER_MUL,
                                        SL_SCATTER_MAX, SL_SCATTER_MIN };
  const SlOpType op = o->row->type;
  LowerValue *values[3] = { lower_required (o, 0), lower_required (o, 1), lower_required (o, 2) };
  SlOpParams params = { .elements = { .scatter =
                                        scatters[lower_attr_choice (o, "reduction", words)] } };
  gint32 inputs[3];
  if (o->error != NULL)
    return;
  if (values[2]->empty) {
    lower_set_value (o, 0, values[0]);
    return;
  }
  if (op == SL_OP_SCATTER_ELEMENTS)
    params.elements.axis =
      (gint32) lower_norm_axis (o, lower_attr_int (o, "axis", 0), values[0]->rank);
  for (guint i = 0; i < 3; i++)
    inputs[i] = lower_plain (o, values[i]);
  params.elements.open = lower_is_open (o, inputs[1]);
  lower_set (o, 0, lower_emit (o, op, inputs, 3, &params, lower_tensor_type (o, inputs[0])), FALSE);
}

static void
lower_one_hot (Lower *o)
{
  LowerValue *indices = lower_required (o, 0), *values = lower_required (o, 2);
  gint32 depth = 0;
  guint n = 0;
  lower_input_ints (o, 1, "depth", &depth, 1, &n);
  if (o->error != NULL)
    return;
  const guint rank = indices->rank + 1;
  const SlOpParams params = { .one_hot = { .axis = (gint32) lower_norm_axis (
                                             o, lower_attr_int (o, "axis", -1), rank),
                                           .from_end = TRUE } };
  if (o->error != NULL)
    return;
  if (depth < 1 || rank > SL_MAX_RANK || values->rank != 1 || values->dims[0] != 2) {
    lower_fail (
      o, SL_ERROR_SHAPE,
      "indices of %u dimensions, a depth of %d and values of %u dimensions; expected at most %d, "
      "at least 1 and [2]",
      indices->rank, depth, values->rank, SL_MAX_RANK - 1);
    return;
  }
  const gint32 pair = lower_plain (o, values);
  const gint32 inputs[] = { lower_cast (o, lower_plain (o, indices), SL_DTYPE_I32),
                            lower_ints_constant (o, &depth, 1), lower_cut (o, pair, 0, 1, 2),
                            lower_cut (o, pair, 0, 0, 1) };
  lower_set (o, 0, lower_emit (o, SL_OP_ONE_HOT, inputs, 4, &params, lower_tensor_type (o, pair)),
             FALSE);
}

/* Of a vector, or of all elements. The number of results depends on the picture: there is a place
 * for each that can be. */
static void
lower_unique (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const SlOpParams params = { .unique = { .sorted = lower_attr_int (o, "sorted", 1) != 0 } };
  const gint32 input = lower_plain (o, x);
  gint32 outputs[4];
  if (o->error != NULL)
    return;
  const SlDtype types[4] = { lower_tensor_type (o, input), SL_DTYPE_I32, SL_DTYPE_I32,
                             SL_DTYPE_I32 };
  const gsize n = lower_elements (x);
  if (lower_fail_if (o, n > G_MAXINT32 || (lower_attribute (o, "axis") != NULL && x->rank != 1),
                     SL_ERROR_UNSUPPORTED,
                     "attribute axis of an input of %u dimensions and %" G_GSIZE_FORMAT
                     " elements; expected a vector, or no axis",
                     x->rank, n))
    return;
  const gint32 flat = lower_reshape (o, input, (const gint32[]){ (gint32) n }, 1);
  if (lower_emit_all (o, SL_OP_UNIQUE, &flat, 1, &params, types, outputs, 4))
    for (guint i = 0; i < 4; i++)
      lower_set (o, i, outputs[i], FALSE);
}

/* Element t of a sequence of length n is n - 1 - t of it; what lies behind stays. */
static void
lower_reverse_sequence (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *lengths = lower_required (o, 1);
  const gint64 time = lower_attr_int (o, "time_axis", 0),
               batch = lower_attr_int (o, "batch_axis", 1);
  if (o->error != NULL)
    return;
  if (x->rank < 2 || !((time == 0 && batch == 1) || (time == 1 && batch == 0)) || lengths->rank != 1
      || lengths->dims[0] != x->dims[batch]) {
    lower_fail (o, SL_ERROR_SHAPE,
                "time_axis %" G_GINT64_FORMAT " and batch_axis %" G_GINT64_FORMAT
                " of %u dimensions; expected 0 and 1, and a length for each sequence",
                time, batch, x->rank);
    return;
  }
  gint32 swap[SL_MAX_RANK] = { 1, 0, 2, 3, 4, 5, 6, 7 };
  const gint32 input =
                 time == 0 ? lower_transpose (o, lower_plain (o, x), swap) : lower_plain (o, x),
               sequences = x->dims[batch], steps = x->dims[time];
  const gint32 n = lower_reshape (o, lower_plain (o, lengths), (const gint32[]){ sequences, 1 }, 2);
  const gint32 t = lower_reshape (o, lower_count (o, 0, steps), (const gint32[]){ 1, steps }, 2);
  const gint32 whole = lower_binary (o, SL_OP_MINIMUM, n, lower_int_scalar (o, steps));
  const gint32 mirrored =
    lower_binary (o, SL_OP_SUB, lower_binary (o, SL_OP_SUB, whole, lower_int_scalar (o, 1)), t);
  const gint32 inside =
    lower_emit (o, SL_OP_LESS, (const gint32[]){ t, whole }, 2, NULL, SL_DTYPE_BOOL);
  const gint32 places =
    lower_emit (o, SL_OP_SELECT, (const gint32[]){ inside, mirrored, t }, 3, NULL, SL_DTYPE_I32);
  const SlOpParams params = { .axis = { .axis = 1, .batch_dims = 1 } };
  const gint32 y = lower_emit (o, SL_OP_GATHER, (const gint32[]){ input, places }, 2, &params,
                               lower_tensor_type (o, input));
  lower_set (o, 0, time == 0 ? lower_transpose (o, y, swap) : y, FALSE);
}

/* Places that are computed: each place of the cache takes the update's element that is written to
 * it, where there is one. */
static gint32
scattered_update (Lower *o, const LowerValue *cache, const LowerValue *update, gint32 axis,
                  const gint32 inputs[3], gboolean circular)
{
  const gint32 batch = cache->dims[0], n = cache->dims[axis];
  gint32 dims[SL_MAX_RANK];
  for (guint i = 0; i < cache->rank; i++)
    dims[i] = i == 0 ? batch : i == (guint) axis ? n : 1;
  const gint32 place = lower_reshape (o, lower_count (o, 0, n), (const gint32[]){ 1, n }, 2),
               first = lower_reshape (o, inputs[2], (const gint32[]){ batch, 1 }, 2),
               zero = lower_int_scalar (o, 0);
  gint32 at = lower_binary (o, SL_OP_SUB, place, first);
  if (circular)
    at = lower_binary (o, SL_OP_FLOOR_MOD, at, lower_int_scalar (o, n));
  const gint32 ends[2][2] = { { zero, at }, { at, lower_int_scalar (o, update->dims[axis] - 1) } };
  gint32 inside[2];
  for (guint i = 0; i < 2; i++)
    inside[i] = lower_emit (o, SL_OP_LESS_EQUAL, ends[i], 2, NULL, SL_DTYPE_BOOL);
  const gint32 written = lower_reshape (
    o, lower_emit (o, SL_OP_LOGICAL_AND, inside, 2, NULL, SL_DTYPE_BOOL), dims, cache->rank);
  const SlOpParams params = { .axis = { .axis = axis, .batch_dims = 1 } };
  const SlDtype type = lower_tensor_type (o, inputs[0]);
  const gint32 moved =
    lower_emit (o, SL_OP_GATHER, (const gint32[]){ inputs[1], at }, 2, &params, type);
  return lower_emit (o, SL_OP_SELECT, (const gint32[]){ written, moved, inputs[0] }, 3, NULL, type);
}

/* A cache of keys or values with an update from the place of each sample on. */
static void
lower_tensor_scatter (Lower *o)
{
  static const char *const words[] = { "linear", "circular", NULL };
  LowerValue *cache = lower_required (o, 0), *update = lower_required (o, 1),
             *places = lower_input (o, 2);
  const gboolean circular = lower_attr_choice (o, "mode", words) == 1;
  if (o->error != NULL)
    return;
  const gint32 axis = (gint32) lower_norm_axis (o, lower_attr_int (o, "axis", -2), cache->rank);
  gboolean fits = o->error == NULL && axis > 0 && update->rank == cache->rank;
  for (guint i = 0; fits && i < cache->rank; i++)
    fits =
      i == (guint) axis ? update->dims[i] <= cache->dims[i] : update->dims[i] == cache->dims[i];
  if (lower_fail_if (
        o, !fits || (places != NULL && (places->rank != 1 || places->dims[0] != cache->dims[0])),
        SL_ERROR_SHAPE,
        "an update of %u dimensions at axis %d of a cache of %u; expected equal "
        "dimensions but for that axis, which is not 0, and a place for each sample",
        update->rank, axis, cache->rank))
    return;
  gint32 inputs[3] = { lower_plain (o, cache), lower_plain (o, update),
                       places != NULL ? lower_cast (o, lower_plain (o, places), SL_DTYPE_I32)
                                      : -1 };
  if (places != NULL && (circular || cache->dims[0] != 1)) {
    lower_set (o, 0, scattered_update (o, cache, update, axis, inputs, circular), FALSE);
    return;
  }
  const gint32 zeros[SL_MAX_RANK] = { 0 };
  inputs[2] =
    places == NULL
      ? lower_ints_constant (o, zeros, cache->rank)
      : lower_pad (o, inputs[2], (const gint32[]){ axis, (gint32) cache->rank - axis - 1 }, 0);
  lower_set (
    o, 0,
    lower_emit (o, SL_OP_DYNAMIC_UPDATE_SLICE, inputs, 3, NULL, lower_tensor_type (o, inputs[0])),
    FALSE);
}

const LowerOp lower_ops_elements[] = {
  { LOWER_ROW (GatherElements, lower_gather_elements), 0 },
  { LOWER_ROW (OneHot, lower_one_hot), 0 },
  { LOWER_ROW (ReverseSequence, lower_reverse_sequence), 0 },
  { LOWER_ROW (Scatter, lower_scatter), SL_OP_SCATTER_ELEMENTS },
  { LOWER_ROW (ScatterElements, lower_scatter), SL_OP_SCATTER_ELEMENTS },
  { LOWER_ROW (ScatterND, lower_scatter), SL_OP_SCATTER_ND },
  { LOWER_ROW (TensorScatter, lower_tensor_scatter), 0 },
  { LOWER_ROW (Unique, lower_unique), 0 },
  { NULL },
};
