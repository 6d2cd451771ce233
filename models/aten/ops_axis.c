/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators along dimensions: sums, extremes, orders, softmax, elements by their indices; products
 * of matrices. */
#include <math.h>
#include <string.h>

#include "models/lower/ops.h"
#include "models/aten/dynamic_rows.h"
#include "models/aten/shape.h"

/* Dimensions as an argument gives them; None and an empty list are all of them. */
static gboolean
read_axes (TsProgram *program, TsValue value, guint rank, gint64 *axes, guint *n)
{
  *n = 0;
  if (value.kind != TS_NONE && !ts_to_ints (program, value, axes, SL_MAX_RANK, n))
    return FALSE;
  for (guint i = 0; i < *n; i++)
    axes[i] = ts_axis_of (program, axes[i], rank);
  for (guint i = 0; *n == 0 && i < rank; i++)
    axes[i] = i;
  *n = *n == 0 ? rank : *n;
  return !ts_failed (program);
}

static LowerValue *
reduced (TsProgram *program, const char *onnx, LowerValue *x, const gint64 *axes, guint n,
         gboolean keep)
{
  LowerAttribute attributes[2] = { ts_attr_int ("keepdims", keep) };
  if (ts_failed (program) || x == NULL || n == 0)
    return x;
  if (strcmp (onnx, "ReduceSum") == 0)
    return ts_onnx (program, onnx, (LowerValue *[]){ x, ts_constant_ints (program, axes, n) }, 2,
                    attributes, 1);
  attributes[1] = ts_attr_ints (program, "axes", axes, n);
  return ts_onnx (program, onnx, &x, 1, attributes, 2);
}

/* Of a list of numbers only the sum is an operator. */
static TsValue
sum_of_list (TsProgram *program, const TsCall *call)
{
  TsCall add = { .op = &(TsOp){ .name = "aten::add" }, .args = { ts_int (0) } };
  const TsList *list = call->args[0].list;
  if (strcmp (call->op->name, "aten::sum") != 0)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "of a list");
  for (guint i = 0; i < list->n && !ts_failed (program); i++) {
    add.args[1] = list->items[i];
    add.args[0] = ts_binary_scalar (program, &add);
  }
  return add.args[0];
}

/* mean, sum, amax, amin, logsumexp: with dimensions, or with a type in their place. */
static TsValue
reduce (TsProgram *program, const TsCall *call)
{
  gint64 axes[SL_MAX_RANK];
  guint n = 0;
  if (call->args[0].kind == TS_LIST)
    return sum_of_list (program, call);
  LowerValue *x = ts_read (program, call->args[0]);
  const gboolean has_list =
    call->args[1].kind == TS_LIST || (call->args[1].kind == TS_INT && call->op->type != 0);
  if (x == NULL || !read_axes (program, has_list ? call->args[1] : ts_none (), x->rank, axes, &n))
    return ts_none ();
  TsDtype dtype = call->args[0].tensor->dtype;
  if (call->op->type == 0 && call->args[3].kind == TS_INT)
    dtype = (TsDtype) CLAMP (call->args[3].number, 0, TS_N_DTYPES);
  else if (strcmp (call->op->name, "aten::sum") == 0 && dtype == TS_BOOLEAN)
    dtype = TS_INT64;
  if (!ts_is_quantized (dtype))
    x = ts_cast (program, x, dtype);
  return ts_new (program,
                 reduced (program, call->op->onnx, x, axes, n, ts_truth (program, call->args[2])),
                 dtype);
}

static LowerValue *
arg_of (TsProgram *program, const char *onnx, LowerValue *x, gint64 axis, gboolean keep)
{
  const LowerAttribute attributes[2] = { ts_attr_int ("axis", axis),
                                         ts_attr_int ("keepdims", keep) };
  return ts_onnx (program, onnx, &x, 1, attributes, 2);
}

/* max and min: of all elements, along a dimension (with places), or of two tensors. */
static TsValue
extreme (TsProgram *program, const TsCall *call)
{
  const gboolean max = strcmp (call->op->name, "aten::max") == 0;
  gint64 axes[SL_MAX_RANK];
  guint n = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  const TsDtype dtype = call->args[0].tensor->dtype;
  if (call->args[1].kind == TS_TENSOR) {
    const TsValue pair[] = { call->args[0], call->args[1] };
    return ts_run_op (program, max ? "aten::maximum" : "aten::minimum", pair, NULL, 2);
  }
  if (!read_axes (program, call->args[1], x->rank, axes, &n))
    return ts_none ();
  const gboolean keep = ts_truth (program, call->args[2]);
  if (call->args[1].kind == TS_NONE)
    x = ts_filled_rows (program, call->args[0], max ? -1e30 : 1e30);
  const TsValue value =
    ts_new (program, reduced (program, max ? "ReduceMax" : "ReduceMin", x, axes, n, keep), dtype);
  if (call->args[1].kind == TS_NONE)
    return value;
  LowerValue *places = x->rank > 0 ? arg_of (program, max ? "ArgMax" : "ArgMin", x, axes[0], keep)
                                   : ts_scalar (program, ts_int (0), TS_INT64);
  const TsValue pair[] = { value, ts_new (program, places, TS_INT64) };
  return ts_tuple (program->heap, pair, 2);
}

static TsValue
arg (TsProgram *program, const TsCall *call)
{
  const gint64 flat = -1;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  if (call->args[1].kind == TS_NONE)
    x = ts_onnx_pair (program, "Reshape", x, ts_constant_ints (program, &flat, 1));
  const guint axis =
    call->args[1].kind == TS_NONE ? 0 : ts_axis (program, call->args[1], x != NULL ? x->rank : 0);
  return ts_failed (program)
           ? ts_none ()
           : ts_new (program,
                     arg_of (program, call->op->onnx, x, axis, ts_truth (program, call->args[2])),
                     TS_INT64);
}

/* any and all: of truth values as numbers. */
static TsValue
any (TsProgram *program, const TsCall *call)
{
  gint64 axes[SL_MAX_RANK];
  guint n = 0;
  const gboolean all = strcmp (call->op->name, "aten::all") == 0;
  if (call->args[0].kind == TS_LIST) {
    for (guint i = 0; i < call->args[0].list->n; i++)
      if (ts_truth (program, call->args[0].list->items[i]) != all)
        return ts_bool (!all);
    return ts_bool (all);
  }
  const TsValue truth = ts_run_op (
    program, "aten::to", (const TsValue[]){ call->args[0], ts_int (TS_BOOLEAN) }, NULL, 2);
  LowerValue *x = ts_read (program, truth);
  if (x == NULL || !read_axes (program, call->args[1], x->rank, axes, &n))
    return ts_none ();
  if (x->empty)
    return ts_new (program, ts_scalar (program, ts_bool (all), TS_BOOLEAN), TS_BOOLEAN);
  x = reduced (program, all ? "ReduceMin" : "ReduceMax", ts_cast (program, x, TS_INT32), axes, n,
               ts_truth (program, call->args[2]));
  return ts_new (program, ts_cast (program, x, TS_BOOLEAN), TS_BOOLEAN);
}

static TsValue
softmax (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  const LowerAttribute attribute = ts_attr_int ("axis", ts_axis (program, call->args[1], x->rank));
  x = ts_cast (program, x, TS_FLOAT32);
  return ts_new (program, ts_onnx (program, call->op->onnx, &x, 1, &attribute, 1), TS_FLOAT32);
}

static TsValue
cumsum (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  const TsDtype dtype =
    call->args[0].tensor->dtype == TS_BOOLEAN ? TS_INT64 : call->args[0].tensor->dtype;
  const gint64 axis = ts_axis (program, call->args[1], x->rank);
  return ts_new (
    program,
    ts_onnx (program, "CumSum",
             (LowerValue *[]){ ts_cast (program, x, dtype), ts_constant_ints (program, &axis, 1) },
             2, NULL, 0),
    dtype);
}

/* topk, and sort as the topk of all. */
static TsValue
top (TsProgram *program, TsValue tensor, gint64 k, guint axis, gboolean largest, gboolean unstable)
{
  const LowerAttribute attributes[4] = { ts_attr_int ("axis", axis),
                                         ts_attr_int ("largest", largest),
                                         ts_attr_int ("sorted", 1),
                                         ts_attr_int ("unstable", unstable) };
  LowerValue *outputs[2] = { NULL }, *valid = tensor.tensor->valid;
  if (valid != NULL && tensor.tensor->rank != 1)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "of a tensor of several dimensions whose rows depend on the picture");
  LowerValue *const inputs[2] = { ts_filled_rows (program, tensor, largest ? -1e30 : 1e30),
                                  ts_constant_ints (program, &k, 1) };
  if (!ts_onnx_all (program, "TopK", inputs, 2, attributes, 4, outputs, 2))
    return ts_none ();
  const TsValue pair[] = { ts_new (program, outputs[0], tensor.tensor->dtype),
                           ts_new (program, outputs[1], TS_INT64) };
  if (valid != NULL)
    valid = ts_onnx_pair (program, "Gather", valid, outputs[1]);
  for (guint i = 0; i < 2 && !ts_failed (program); i++)
    pair[i].tensor->valid = valid;
  return ts_tuple (program->heap, pair, 2);
}

static TsValue
topk (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL)
    return ts_none ();
  return top (program, call->args[0], ts_to_int (program, call->args[1]),
              ts_axis (program, call->args[2], x->rank), ts_truth (program, call->args[3]), FALSE);
}

static TsValue
sort (TsProgram *program, const TsCall *call)
{
  TsValue pair;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || x->rank == 0)
    return ts_refuse (program, SL_ERROR_SHAPE, "a tensor without dimensions");
  const guint axis = ts_axis (program, call->args[1], x->rank);
  pair = top (program, call->args[0], x->dims[axis], axis, ts_truth (program, call->args[2]),
              !ts_truth (program, call->args[3]));
  return pair.kind == TS_TUPLE && strcmp (call->op->name, "aten::argsort") == 0
           ? pair.list->items[1]
           : pair;
}

/* std and var: of the sample, unless told otherwise. */
static TsValue
variance (TsProgram *program, const TsCall *call)
{
  gint64 axes[SL_MAX_RANK], count = 1;
  guint n = 0;
  const gboolean has_list = call->args[1].kind == TS_LIST,
                 keep = call->args[1].kind != TS_BOOL && ts_truth (program, call->args[3]);
  const TsValue stated = call->args[4].kind != TS_NONE               ? call->args[4]
                         : has_list || call->args[1].kind == TS_NONE ? call->args[2]
                                                                     : call->args[1];
  const gdouble fewer = ts_to_float (program, stated);
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || !read_axes (program, has_list ? call->args[1] : ts_none (), x->rank, axes, &n))
    return ts_none ();
  for (guint i = 0; i < n; i++)
    count *= x->dims[axes[i]];
  LowerValue *mean = reduced (program, "ReduceMean", x, axes, n, TRUE);
  LowerValue *apart = ts_onnx_pair (program, "Sub", x, mean);
  LowerValue *y =
    reduced (program, "ReduceMean", ts_onnx_pair (program, "Mul", apart, apart), axes, n, keep);
  if (fewer != 0 && (gdouble) count > fewer)
    y = ts_onnx_pair (
      program, "Mul", y,
      ts_scalar (program, ts_float ((gdouble) count / ((gdouble) count - fewer)), TS_FLOAT32));
  if (strcmp (call->op->name, "aten::std") == 0)
    y = ts_onnx (program, "Sqrt", &y, 1, NULL, 0);
  return ts_new (program, y, TS_FLOAT32);
}

/* norm and linalg_vector_norm: orders 1 and 2 are operators of ONNX. */
static TsValue
norm (TsProgram *program, const TsCall *call)
{
  gint64 axes[SL_MAX_RANK];
  guint n = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  const gdouble p = call->args[1].kind == TS_NONE ? 2 : ts_to_float (program, call->args[1]);
  if (x == NULL || !read_axes (program, call->args[2], x->rank, axes, &n))
    return ts_none ();
  if (p != 1 && p != 2) {
    const TsValue args[] = { call->args[0], ts_float (p), ts_int_list (program->heap, axes, n),
                             call->args[3] };
    return ts_run_op (program, TS_NORM, args, NULL, G_N_ELEMENTS (args));
  }
  return ts_new (program,
                 reduced (program, p == 1 ? "ReduceL1" : "ReduceL2", x, axes, n,
                          ts_truth (program, call->args[3])),
                 TS_FLOAT32);
}

static TsValue
frobenius_norm (TsProgram *program, const TsCall *call)
{
  const TsValue args[] = { call->args[0], ts_int (2), call->args[1], call->args[2] };
  return ts_run_op (program, "aten::norm", args, NULL, 4);
}

static LowerValue *
product (TsProgram *program, LowerValue *a, LowerValue *b)
{
  return ts_onnx_pair (program, "MatMul", a, b);
}

static TsValue
matmul (TsProgram *program, const TsCall *call)
{
  return ts_new (
    program, product (program, ts_read (program, call->args[0]), ts_read (program, call->args[1])),
    TS_FLOAT32);
}

/* beta * self + alpha * a b */
static TsValue
addmm (TsProgram *program, const TsCall *call)
{
  LowerValue *a = ts_read (program, call->args[1]), *b = ts_read (program, call->args[2]),
             *c = ts_read (program, call->args[0]);
  const gdouble beta = ts_to_float (program, call->args[3]),
                alpha = ts_to_float (program, call->args[4]);
  if (!ts_failed (program) && alpha == 1 && beta == 1 && !a->empty && !b->empty)
    return ts_new (program, ts_onnx (program, "Gemm", (LowerValue *[]){ a, b, c }, 3, NULL, 0),
                   TS_FLOAT32);
  LowerValue *y = product (program, a, b);
  if (alpha != 1)
    y = ts_onnx_pair (program, "Mul", y, ts_scalar (program, ts_float (alpha), TS_FLOAT32));
  if (beta == 0)
    return ts_new (program, y, TS_FLOAT32);
  if (beta != 1)
    c = ts_onnx_pair (program, "Mul", c, ts_scalar (program, ts_float (beta), TS_FLOAT32));
  return ts_new (program, ts_onnx_pair (program, "Add", y, c), TS_FLOAT32);
}

static TsValue
linear (TsProgram *program, const TsCall *call)
{
  static const gint64 order[2] = { 1, 0 };
  const LowerAttribute transposed = ts_attr_int ("transB", 1);
  LowerValue *x = ts_read (program, call->args[0]), *w = ts_read (program, call->args[1]);
  LowerValue *bias = call->args[2].kind != TS_NONE ? ts_read (program, call->args[2]) : NULL;
  if (x == NULL || w == NULL || w->rank != 2)
    return ts_refuse (program, SL_ERROR_SHAPE, "weights of %u dimensions; expected 2",
                      w != NULL ? w->rank : 0);
  if (x->rank == 2)
    return ts_new (program,
                   ts_onnx (program, "Gemm", (LowerValue *[]){ x, w, bias }, 3, &transposed, 1),
                   TS_FLOAT32);
  LowerValue *y = product (program, x, ts_permuted (program, w, order, 2));
  if (bias != NULL)
    y = ts_onnx_pair (program, "Add", y, bias);
  return ts_new (program, y, TS_FLOAT32);
}

/* Keys or values, argument @i: where groups of the query's heads share them, one for each. */
static TsValue
heads_of (TsProgram *program, const TsCall *call, guint i)
{
  const TsValue q = call->args[0], x = call->args[i];
  if (!ts_truth (program, call->args[7]) || q.kind != TS_TENSOR || x.kind != TS_TENSOR
      || q.tensor->rank < 3 || x.tensor->rank != q.tensor->rank)
    return x;
  const guint axis = q.tensor->rank - 3;
  const gint32 shared = x.tensor->dims[axis] > 0 ? q.tensor->dims[axis] / x.tensor->dims[axis] : 0;
  const TsValue args[] = { x, ts_int (shared), ts_int (axis) };
  return shared > 1 ? ts_run_op (program, "aten::repeat_interleave", args, NULL, 3) : x;
}

static TsValue
attention (TsProgram *program, const TsCall *call)
{
  Lower *o = &program->lower;
  LowerValue *q = ts_read (program, call->args[0]),
             *k = ts_read (program, heads_of (program, call, 1)),
             *v = ts_read (program, heads_of (program, call, 2));
  LowerValue *mask = call->args[3].kind == TS_TENSOR ? ts_read (program, call->args[3]) : NULL;
  if (ts_to_float (program, call->args[4]) != 0)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "dropout is not supported; export the module after eval()");
  if (call->args[6].kind != TS_NONE && ts_to_float (program, call->args[6]) == 0)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "a scale of 0; expected another number, or None");
  const LowerAttention a = { .q = lower_plain (o, q),
                             .k = lower_plain (o, k),
                             .v = lower_plain (o, v),
                             .mask = mask != NULL ? lower_plain (o, mask) : -1,
                             .scale = call->args[6].kind != TS_NONE
                                        ? (gfloat) ts_to_float (program, call->args[6])
                                        : 0,
                             .causal = ts_truth (program, call->args[5]) };
  return ts_new_plain (program, ts_failed (program) ? -1 : lower_attend (o, &a), TS_FLOAT32);
}

static TsValue
einsum (TsProgram *program, const TsCall *call)
{
  LowerValue *values[8];
  const TsValue list = call->args[1];
  if (call->args[0].kind != TS_STRING || list.kind != TS_LIST
      || list.list->n > G_N_ELEMENTS (values))
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "expected an equation and a few tensors");
  for (guint i = 0; i < list.list->n; i++)
    values[i] = ts_read (program, list.list->items[i]);
  const LowerAttribute equation = ts_attr_text ("equation", call->args[0].text);
  return ts_new (program, ts_onnx (program, "Einsum", values, list.list->n, &equation, 1),
                 TS_FLOAT32);
}

const TsOp ts_ops_axis[] = {
  { "aten::mean", "self,dim=None,keepdim=False,dtype=None", reduce, "ReduceMean" },
  { "aten::sum", "self,dim=None,keepdim=False,dtype=None", reduce, "ReduceSum" },
  { "aten::prod", "self,dim=None,keepdim=False,dtype=None", reduce, "ReduceProd", 1 },
  { "aten::amax", "self,dim=[],keepdim=False", reduce, "ReduceMax", 1 },
  { "aten::amin", "self,dim=[],keepdim=False", reduce, "ReduceMin", 1 },
  { "aten::logsumexp", "self,dim,keepdim=False", reduce, "ReduceLogSumExp", 1 },
  { "aten::max", "self,dim=None,keepdim=False", extreme },
  { "aten::min", "self,dim=None,keepdim=False", extreme },
  { "aten::argmax", "self,dim=None,keepdim=False", arg, "ArgMax" },
  { "aten::argmin", "self,dim=None,keepdim=False", arg, "ArgMin" },
  { "aten::any", "self,dim=None,keepdim=False", any },
  { "aten::all", "self,dim=None,keepdim=False", any },
  { "aten::softmax", "self,dim,dtype=None", softmax, "Softmax" },
  { "aten::_softmax", "self,dim,half_to_float=False", softmax, "Softmax" },
  { "aten::log_softmax", "self,dim,dtype=None", softmax, "LogSoftmax" },
  { "aten::_log_softmax", "self,dim,half_to_float=False", softmax, "LogSoftmax" },
  { "aten::cumsum", "self,dim,dtype=None", cumsum },
  { "aten::topk", "self,k,dim=-1,largest=True,sorted=True", topk },
  { "aten::sort", "self,dim=-1,descending=False,stable=False", sort },
  { "aten::argsort", "self,dim=-1,descending=False,stable=False", sort },
  { "aten::std", "self,dim=None,unbiased=True,keepdim=False,correction=None", variance },
  { "aten::var", "self,dim=None,unbiased=True,keepdim=False,correction=None", variance },
  { "aten::norm", "self,p=2,dim=None,keepdim=False,dtype=None", norm },
  { "aten::frobenius_norm", "self,dim=None,keepdim=False", frobenius_norm },
  { "aten::linalg_vector_norm", "self,ord=2,dim=None,keepdim=False,dtype=None", norm },
  { "aten::matmul", "self,other", matmul },
  { "aten::mm", "self,mat2", matmul },
  { "aten::bmm", "self,mat2", matmul },
  { "aten::addmm", "self,mat1,mat2,beta=1,alpha=1", addmm },
  { "aten::baddbmm", "self,batch1,batch2,beta=1,alpha=1", addmm },
  { "aten::linear", "input,weight,bias=None", linear },
  { "aten::scaled_dot_product_attention",
    "query,key,value,attn_mask=None,dropout_p=0,is_causal=False,scale=None,enable_gqa=False",
    attention },
  { "aten::einsum", "equation,tensors,path=None", einsum },
  { NULL },
};
