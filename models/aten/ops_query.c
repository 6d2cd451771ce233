/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What programs ask of tensors: sizes, types, places. All of it is known while the model is loaded.
 */
#include <string.h>

#include "models/aten/ops.h"

/* (nullable): anything but a tensor is an error. */
static const TsTensor *
tensor_of (TsProgram *program, const TsCall *call)
{
  if (call->args[0].kind == TS_TENSOR)
    return call->args[0].tensor;
  ts_refuse (program, SL_ERROR_FORMAT, "of a value of type %s", ts_kind_name (call->args[0].kind));
  return NULL;
}

static TsValue
size (TsProgram *program, const TsCall *call)
{
  const TsTensor *t = tensor_of (program, call);
  const TsValue list = ts_list (program->heap);
  if (t == NULL)
    return list;
  if (call->args[1].kind != TS_NONE) {
    const guint axis = ts_axis (program, call->args[1], t->rank);
    return t->rank == 0 ? ts_refuse (program, SL_ERROR_SHAPE, "of a tensor without dimensions")
                        : ts_int (t->dims[axis]);
  }
  for (guint i = 0; i < t->rank; i++)
    ts_list_append (program->heap, list.list, ts_int (t->dims[i]));
  return list;
}

/* Of elements that follow each other. */
static TsValue
stride (TsProgram *program, const TsCall *call)
{
  const TsTensor *t = tensor_of (program, call);
  const TsValue list = ts_list (program->heap);
  for (guint i = 0; t != NULL && i < t->rank && !ts_failed (program); i++) {
    gint64 step = 1;
    for (guint k = i + 1; k < t->rank; k++)
      step *= t->dims[k];
    ts_list_append (program->heap, list.list, ts_int (step));
  }
  return call->args[1].kind == TS_NONE || t == NULL ? list
                                                    : ts_index (program, list, call->args[1]);
}

static TsValue
dim (TsProgram *program, const TsCall *call)
{
  const TsTensor *t = tensor_of (program, call);
  return t != NULL ? ts_int (t->rank) : ts_none ();
}

static TsValue
numel (TsProgram *program, const TsCall *call)
{
  const TsTensor *t = tensor_of (program, call);
  return t != NULL ? ts_int ((gint64) ts_tensor_elements (t)) : ts_none ();
}

static TsValue
dtype (TsProgram *program, const TsCall *call)
{
  const TsTensor *t = tensor_of (program, call);
  return t != NULL ? ts_int (t->dtype) : ts_none ();
}

static TsValue
is_floating_point (TsProgram *program, const TsCall *call)
{
  const TsTensor *t = tensor_of (program, call);
  return ts_bool (t != NULL && ts_dtype_graph (t->dtype) == SL_DTYPE_F32);
}

static TsValue
is_quantized (TsProgram *program, const TsCall *call)
{
  const TsTensor *t = tensor_of (program, call);
  return ts_bool (t != NULL && ts_is_quantized (t->dtype));
}

static TsValue
device (TsProgram *program, const TsCall *call)
{
  (void) program;
  (void) call;
  return (TsValue){ .kind = TS_DEVICE, .text = "cpu" };
}

/* Questions with one answer here: graphics processors, tracing; layout 0 is strided. Gradients are
 * said to be wanted, so that programs take their plain way instead of an operator that fuses many.
 */
static TsValue
no (TsProgram *program, const TsCall *call)
{
  (void) program;
  return call->op->type != 0 ? ts_int (0) : ts_bool (FALSE);
}

static TsValue
yes (TsProgram *program, const TsCall *call)
{
  (void) program;
  (void) call;
  return ts_bool (TRUE);
}

static TsValue
device_type (TsProgram *program, const TsCall *call)
{
  (void) call;
  return ts_string (program->heap, "cpu");
}

static TsValue
same (TsProgram *program, const TsCall *call)
{
  (void) program;
  return call->args[0];
}

const TsOp ts_ops_query[] = {
  { "aten::size", "self,dim=None", size, NULL, 0 },
  { "prim::shape", "self,dim=None", size, NULL, 0 },
  { "aten::stride", "self,dim=None", stride, NULL, 0 },
  { "aten::dim", "self", dim, NULL, 0 },
  { "aten::ndimension", "self", dim, NULL, 0 },
  { "prim::ndim", "self", dim, NULL, 0 },
  { "aten::numel", "self", numel, NULL, 0 },
  { "prim::dtype", "self", dtype, NULL, 0 },
  { "aten::is_floating_point", "self", is_floating_point, NULL, 0 },
  { "prim::is_quantized", "self", is_quantized, NULL, 0 },
  { "prim::device", "self", device, NULL, 0 },
  { "aten::device", "...", device, NULL, 0 },
  { "prim::type", "self", device_type, NULL, 0 },
  { "prim::layout", "self", no, NULL, 1 },
  { "prim::is_cuda", "self", no, NULL, 0 },
  { "prim::is_mkldnn", "self", no, NULL, 0 },
  { "prim::is_sparse", "self", no, NULL, 0 },
  { "prim::is_meta", "self", no, NULL, 0 },
  { "prim::is_nested", "self", no, NULL, 0 },
  { "prim::is_ort", "self", no, NULL, 0 },
  { "prim::is_mps", "self", no, NULL, 0 },
  { "prim::is_xpu", "self", no, NULL, 0 },
  { "prim::is_vulkan", "self", no, NULL, 0 },
  { "prim::requires_grad", "self", yes, NULL, 0 },
  { "aten::requires_grad", "self", yes, NULL, 0 },
  { "aten::is_complex", "self", no, NULL, 0 },
  { "aten::is_grad_enabled", "", yes, NULL, 0 },
  { "aten::is_scripting", "", yes, NULL, 0 },
  { "aten::is_tracing", "", no, NULL, 0 },
  { "aten::is_autocast_enabled", "", no, NULL, 0 },
  { "aten::_assert", "...", no, NULL, 0 },
  { "aten::is_contiguous", "self,memory_format=None", yes, NULL, 0 },
  { "aten::unchecked_unwrap_optional", "self", same, NULL, 0 },
  { "aten::_unwrap_optional", "self", same, NULL, 0 },
  { "prim::unchecked_unwrap_optional", "self", same, NULL, 0 },
  { NULL, NULL, NULL, NULL, 0 },
};
