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
  { "aten::size", "self,dim=None", size },
  { "prim::shape", "self,dim=None", size },
  { "aten::stride", "self,dim=None", stride },
  { "aten::dim", "self", dim },
  { "aten::ndimension", "self", dim },
  { "prim::ndim", "self", dim },
  { "aten::numel", "self", numel },
  { "prim::dtype", "self", dtype },
  { "aten::is_floating_point", "self", is_floating_point },
  { "prim::is_quantized", "self", is_quantized },
  { "prim::device", "self", device },
  { "aten::device", "...", device },
  { "prim::type", "self", device_type },
  { "prim::layout", "self", no, NULL, 1 },
  { "prim::is_cuda", "self", no },
  { "prim::is_mkldnn", "self", no },
  { "prim::is_sparse", "self", no },
  { "prim::is_meta", "self", no },
  { "prim::is_nested", "self", no },
  { "prim::is_ort", "self", no },
  { "prim::is_mps", "self", no },
  { "prim::is_xpu", "self", no },
  { "prim::is_vulkan", "self", no },
  { "prim::requires_grad", "self", yes },
  { "aten::requires_grad", "self", yes },
  { "aten::is_complex", "self", no },
  { "aten::is_grad_enabled", "", yes },
  { "aten::is_scripting", "", yes },
  { "aten::is_tracing", "", no },
  { "aten::is_autocast_enabled", "", no },
  { "aten::_assert", "...", no },
  { "aten::is_contiguous", "self,memory_format=None", yes },
  { "aten::unchecked_unwrap_optional", "self", same },
  { "aten::_unwrap_optional", "self", same },
  { "prim::unchecked_unwrap_optional", "self", same },
  { NULL },
};
