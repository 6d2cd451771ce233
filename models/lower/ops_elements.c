/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements by their indices: read, written, or made of an index. Indices count along ONNX's dimensions, so all of it is in that order. */
#include "models/lower/ops.h"

void
onnx_gather_elements (Onnx *o)
{
  OnnxValue *x = onnx_required (o, 0);
  const gint32 inputs[2] = { onnx_plain (o, x), onnx_plain (o, onnx_required (o, 1)) };
  if (o->error != NULL)
    return;
  const SlOpParams params = { .elements = { .axis = (gint32) onnx_norm_axis (o, onnx_attr_int (o, "axis", 0), x->rank),
                                            .open = onnx_is_open (o, inputs[1]) } };
  onnx_set (o, 0, onnx_emit (o, SL_OP_GATHER_ELEMENTS, inputs, 2, &params, onnx_tensor_type (o, inputs[0])), FALSE);
}

/* Scatter, ScatterElements and ScatterND, which has no axis. */
void
onnx_scatter (Onnx *o)
{
  static const char *const words[] = { "none", "add", "mul", "max", "min", NULL };
  static const SlScatter scatters[] = { SL_SCATTER_REPLACE, SL_SCATTER_ADD, SL_SCATTER_MUL, SL_SCATTER_MAX, SL_SCATTER_MIN };
  const SlOpType op = o->row->type;
  OnnxValue *values[3] = { onnx_required (o, 0), onnx_required (o, 1), onnx_required (o, 2) };
  SlOpParams params = { .elements = { .scatter = scatters[onnx_attr_choice (o, "reduction", words)] } };
  gint32 inputs[3];
  if (o->error != NULL)
    return;
  if (values[2]->empty) {
    onnx_set_value (o, 0, values[0]);
    return;
  }
  if (op == SL_OP_SCATTER_ELEMENTS)
    params.elements.axis = (gint32) onnx_norm_axis (o, onnx_attr_int (o, "axis", 0), values[0]->rank);
  for (guint i = 0; i < 3; i++)
    inputs[i] = onnx_plain (o, values[i]);
  params.elements.open = onnx_is_open (o, inputs[1]);
  onnx_set (o, 0, onnx_emit (o, op, inputs, 3, &params, onnx_tensor_type (o, inputs[0])), FALSE);
}

/* Whether the index is the place along the new dimension; @first = -depth for indices that count from the end. */
static gint32
is_place (Onnx *o, gint32 indices, gint64 first, gint64 end, const gint32 *dims, guint rank)
{
  const gint32 places = onnx_reshape (o, onnx_count (o, first, end), dims, rank);
  return onnx_emit (o, SL_OP_EQUAL, (const gint32[]){ indices, places }, 2, NULL, SL_DTYPE_BOOL);
}

void
onnx_one_hot (Onnx *o)
{
  OnnxValue *indices = onnx_required (o, 0), *values = onnx_required (o, 2);
  gint32 depth = 0, dims[SL_MAX_RANK + 1], places[SL_MAX_RANK + 1];
  guint n = 0, from = 0;
  onnx_input_ints (o, 1, "depth", &depth, 1, &n);
  if (o->error != NULL)
    return;
  const guint rank = indices->rank + 1, axis = onnx_norm_axis (o, onnx_attr_int (o, "axis", -1), rank);
  if (o->error != NULL)
    return;
  if (depth < 1 || rank > SL_MAX_RANK || values->rank != 1 || values->dims[0] != 2) {
    onnx_fail (o, SL_ERROR_SHAPE,
               "indices of %u dimensions, a depth of %d and values of %u dimensions; expected at most %d, at least 1 and [2]",
               indices->rank, depth, values->rank, SL_MAX_RANK - 1);
    return;
  }
  for (guint i = 0; i < rank; i++) {
    dims[i] = i == axis ? 1 : indices->dims[from++];
    places[i] = i == axis ? depth : 1;
  }
  const gint32 index = onnx_reshape (o, onnx_cast (o, onnx_plain (o, indices), SL_DTYPE_I32), dims, rank);
  const gint32 either[2] = { is_place (o, index, 0, depth, places, rank), is_place (o, index, -(gint64) depth, 0, places, rank) };
  const gint32 pair = onnx_plain (o, values), off = onnx_cut (o, pair, 0, 0, 1), on = onnx_cut (o, pair, 0, 1, 2);
  const gint32 set = onnx_emit (o, SL_OP_LOGICAL_OR, either, 2, NULL, SL_DTYPE_BOOL);
  onnx_set (o, 0, onnx_emit (o, SL_OP_SELECT, (const gint32[]){ set, on, off }, 3, NULL, onnx_tensor_type (o, pair)), FALSE);
}

/* Of a vector, or of all elements. The number of results depends on the picture: there is a place for each that can be. */
void
onnx_unique (Onnx *o)
{
  OnnxValue *x = onnx_required (o, 0);
  const SlOpParams params = { .unique = { .sorted = onnx_attr_int (o, "sorted", 1) != 0 } };
  const gint32 input = onnx_plain (o, x);
  gint32 outputs[4];
  if (o->error != NULL)
    return;
  const SlDtype types[4] = { onnx_tensor_type (o, input), SL_DTYPE_I32, SL_DTYPE_I32, SL_DTYPE_I32 };
  const gsize n = onnx_elements (x);
  if (n > G_MAXINT32 || (onnx_attribute (o, "axis") != NULL && x->rank != 1)) {
    onnx_fail (o, SL_ERROR_UNSUPPORTED,
               "attribute axis of an input of %u dimensions and %" G_GSIZE_FORMAT " elements; expected a vector, or no axis", x->rank, n);
    return;
  }
  const gint32 flat = onnx_reshape (o, input, (const gint32[]){ (gint32) n }, 1);
  if (onnx_emit_all (o, SL_OP_UNIQUE, &flat, 1, &params, types, outputs, 4))
    for (guint i = 0; i < 4; i++)
      onnx_set (o, i, outputs[i], FALSE);
}

/* Element t of a sequence of length n is n - 1 - t of it; what lies behind stays. */
void
onnx_reverse_sequence (Onnx *o)
{
  OnnxValue *x = onnx_required (o, 0), *lengths = onnx_required (o, 1);
  const gint64 time = onnx_attr_int (o, "time_axis", 0), batch = onnx_attr_int (o, "batch_axis", 1);
  if (o->error != NULL)
    return;
  if (x->rank < 2 || !((time == 0 && batch == 1) || (time == 1 && batch == 0)) || lengths->rank != 1
      || lengths->dims[0] != x->dims[batch]) {
    onnx_fail (o, SL_ERROR_SHAPE,
               "time_axis %" G_GINT64_FORMAT " and batch_axis %" G_GINT64_FORMAT
               " of %u dimensions; expected 0 and 1, and a length for each sequence",
               time, batch, x->rank);
    return;
  }
  gint32 swap[SL_MAX_RANK] = { 1, 0, 2, 3, 4, 5, 6, 7 };
  const gint32 input = time == 0 ? onnx_transpose (o, onnx_plain (o, x), swap) : onnx_plain (o, x), sequences = x->dims[batch],
               steps = x->dims[time];
  const gint32 n = onnx_reshape (o, onnx_plain (o, lengths), (const gint32[]){ sequences, 1 }, 2);
  const gint32 t = onnx_reshape (o, onnx_count (o, 0, steps), (const gint32[]){ 1, steps }, 2);
  const gint32 whole = onnx_binary (o, SL_OP_MINIMUM, n, onnx_int_scalar (o, steps));
  const gint32 mirrored = onnx_binary (o, SL_OP_SUB, onnx_binary (o, SL_OP_SUB, whole, onnx_int_scalar (o, 1)), t);
  const gint32 inside = onnx_emit (o, SL_OP_LESS, (const gint32[]){ t, whole }, 2, NULL, SL_DTYPE_BOOL);
  const gint32 places = onnx_emit (o, SL_OP_SELECT, (const gint32[]){ inside, mirrored, t }, 3, NULL, SL_DTYPE_I32);
  const SlOpParams params = { .axis = { .axis = 1, .batch_dims = 1 } };
  const gint32 y = onnx_emit (o, SL_OP_GATHER, (const gint32[]){ input, places }, 2, &params, onnx_tensor_type (o, input));
  onnx_set (o, 0, time == 0 ? onnx_transpose (o, y, swap) : y, FALSE);
}
