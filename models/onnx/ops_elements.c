/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements by their indices: read, written, or made of an index. Indices count along ONNX's dimensions, so all of it is in that order. */
#include "models/onnx/build.h"
#include "models/onnx/ops.h"

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
  const SlOpType op = onnx_current (o)->type;
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
