/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators that torch.export's decompositions leave in place of others: norms and attention with
 * more results, parts that are written into a copy, tensors described by strides. Most are written
 * as TorchScript has them; see ops_composite.c. Results that only training reads hold no tensor.
 */
#include "models/aten/ops.h"
#include "models/aten/view.h"

#define STRIDED "sightline::strided"
#define MEASURED "sightline::measured_norm"

/* Over batch and places: channels as those of one picture. */
#define MEASURED_NORM                                                                          \
  "b = torch.size(input, 0)\n"                                                                 \
  "x = input\n"                                                                                \
  "if torch.ne(b, 1):\n"                                                                       \
  "  x = torch.transpose(input, 0, 1)\n"                                                       \
  "s = torch.size(x)\n"                                                                        \
  "c = torch.size(input, 1)\n"                                                                 \
  "x = torch.instance_norm(torch.reshape(x, [1, c, -1]), weight, bias, None, None, True, 0., " \
  "eps, False)\n"                                                                              \
  "x = torch.reshape(x, s)\n"                                                                  \
  "if torch.ne(b, 1):\n"                                                                       \
  "  x = torch.transpose(x, 0, 1)\n"                                                           \
  "return (x, None, None)"

#define LEGIT_NORM                                                                                 \
  "if training:\n"                                                                                 \
  "  if torch.__isnot__(running_mean, None):\n"                                                    \
  "    ops.prim.RaiseException(\"the model is in training; call model.eval() before it is "        \
  "exported\")\n"                                                                                  \
  "  r = ops.sightline.measured_norm(input, weight, bias, eps)\n"                                  \
  "else:\n"                                                                                        \
  "  r = (torch.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, " \
  "False), None, None)\n"                                                                          \
  "return r"

/* A view of the tensor where sizes and strides are those of its elements one after the other, else
 * elements by their places. */
#define STRIDES                                                                               \
  "o = 0\n"                                                                                   \
  "if torch.__isnot__(storage_offset, None):\n"                                               \
  "  o = storage_offset\n"                                                                    \
  "n = 1\n"                                                                                   \
  "last = o\n"                                                                                \
  "whole = torch.eq(o, 0)\n"                                                                  \
  "r = torch.len(size)\n"                                                                     \
  "for i in range(r):\n"                                                                      \
  "  j = torch.sub(torch.sub(r, 1), i)\n"                                                     \
  "  last = torch.add(last, torch.mul(torch.sub(size[j], 1), stride[j]))\n"                   \
  "  if torch.ne(size[j], 1):\n"                                                              \
  "    if torch.ne(stride[j], n):\n"                                                          \
  "      whole = False\n"                                                                     \
  "  n = torch.mul(n, size[j])\n"                                                             \
  "if torch.ne(n, torch.numel(self)):\n"                                                      \
  "  whole = False\n"                                                                         \
  "if torch.ge(last, torch.numel(self)):\n"                                                   \
  "  ops.prim.RaiseException(\"sizes and strides reach beyond the tensor\")\n"                \
  "if whole:\n"                                                                               \
  "  y = torch.reshape(self, size)\n"                                                         \
  "else:\n"                                                                                   \
  "  k = torch.tensor(o)\n"                                                                   \
  "  for i in range(r):\n"                                                                    \
  "    k = torch.add(torch.unsqueeze(k, -1), torch.mul(torch.arange(size[i]), stride[i]))\n"  \
  "  y = torch.reshape(torch.index_select(torch.flatten(self), 0, torch.flatten(k)), size)\n" \
  "return y"

/* Strides count elements in memory, which are in the tensor's order unless it is a view. */
static TsValue
as_strided (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0];
  if (x.kind != TS_TENSOR)
    return ts_refuse (program, SL_ERROR_FORMAT, "of a value of type %s", ts_kind_name (x.kind));
  if (!ts_is_whole (program, x.tensor))
    return ts_refuse (
      program, SL_ERROR_UNSUPPORTED,
      "of a tensor that is part of another, or has its dimensions in another order");
  return ts_run_op (program, STRIDED, call->args, NULL, 4);
}

#define DIAGONAL_SCATTER                                                             \
  "x = torch.movedim(self, [dim1, dim2], [-2, -1])\n"                                \
  "i = ops.sightline.diagonal_places(x, offset)\n"                                   \
  "y = torch.index_copy(torch.flatten(x, -2), torch.sub(torch.dim(x), 2), i, src)\n" \
  "return torch.movedim(torch.reshape(y, torch.size(x)), [-2, -1], [dim1, dim2])"

/* Elements that are scattered to are left out of the reduction where they are not to count. */
#define SCATTER_REDUCE                                                                  \
  "x = self\n"                                                                          \
  "how = reduce\n"                                                                      \
  "if torch.eq(reduce, \"mean\"):\n"                                                    \
  "  how = \"sum\"\n"                                                                   \
  "if torch.__not__(include_self):\n"                                                   \
  "  z = 0.\n"                                                                          \
  "  if torch.eq(reduce, \"prod\"):\n"                                                  \
  "    z = 1.\n"                                                                        \
  "  if torch.eq(reduce, \"amax\"):\n"                                                  \
  "    z = torch.neg(torch.inf)\n"                                                      \
  "  if torch.eq(reduce, \"amin\"):\n"                                                  \
  "    z = torch.inf\n"                                                                 \
  "  x = torch.scatter(x, dim, index, torch.expand_as(torch.full_like(src, z), src))\n" \
  "y = torch.scatter(x, dim, index, src, how)\n"                                        \
  "if torch.eq(reduce, \"mean\"):\n"                                                    \
  "  n = torch.ones_like(self)\n"                                                       \
  "  if torch.__not__(include_self):\n"                                                 \
  "    n = torch.scatter(n, dim, index, torch.zeros_like(src))\n"                       \
  "  n = torch.clamp(torch.scatter(n, dim, index, torch.ones_like(src), \"sum\"), 1)\n" \
  "  if torch.is_floating_point(self):\n"                                               \
  "    y = torch.div(y, n)\n"                                                           \
  "  else:\n"                                                                           \
  "    y = torch.floor_divide(y, n)\n"                                                  \
  "return y"

/* The source's elements one after the other where the mask is true. */
#define MASKED_SCATTER                                                                  \
  "x, m, = torch.broadcast_tensors([self, mask])\n"                                     \
  "i = torch.clamp(torch.sub(torch.cumsum(torch.to(torch.flatten(m), 4), 0), 1), 0)\n"  \
  "y = torch.reshape(torch.index_select(torch.flatten(source), 0, i), torch.size(x))\n" \
  "return torch.where(m, y, x)"

/* Bags are the rows of a matrix that says which index is in which. */
#define EMBEDDING_BAG                                                                         \
  "n = torch.size(indices, 0)\n"                                                              \
  "k = torch.size(offsets, 0)\n"                                                              \
  "if include_last_offset:\n"                                                                 \
  "  k = torch.sub(k, 1)\n"                                                                   \
  "t = torch.unsqueeze(offsets, 1)\n"                                                         \
  "b = torch.sub(torch.sum(torch.to(torch.le(t, torch.arange(n)), 4), [0]), 1)\n"             \
  "m = torch.eq(torch.unsqueeze(torch.arange(k), 1), b)\n"                                    \
  "skipped = -1\n"                                                                            \
  "if torch.__isnot__(padding_idx, None):\n"                                                  \
  "  skipped = padding_idx\n"                                                                 \
  "if torch.ge(skipped, 0):\n"                                                                \
  "  m = torch.logical_and(m, torch.ne(indices, skipped))\n"                                  \
  "e = torch.embedding(weight, indices)\n"                                                    \
  "f = torch.to(m, 6)\n"                                                                      \
  "if torch.eq(mode, 2):\n"                                                                   \
  "  y = torch.masked_fill(torch.unsqueeze(e, 0), torch.logical_not(torch.unsqueeze(m, 2)), " \
  "torch.neg(torch.inf))\n"                                                                   \
  "  y = torch.amax(y, [1])\n"                                                                \
  "  y = torch.masked_fill(y, torch.eq(torch.sum(f, [1], True), 0), 0.)\n"                    \
  "else:\n"                                                                                   \
  "  if torch.__isnot__(per_sample_weights, None):\n"                                         \
  "    e = torch.mul(e, torch.unsqueeze(per_sample_weights, 1))\n"                            \
  "  y = torch.matmul(f, e)\n"                                                                \
  "  if torch.eq(mode, 1):\n"                                                                 \
  "    y = torch.div(y, torch.clamp(torch.sum(f, [1], True), 1.))\n"                          \
  "return (y, None, None, None)"

#define MASKED_INDEX                                                                 \
  "l = annotate(List[Optional[Tensor]], [])\n"                                       \
  "for i in range(torch.len(indices)):\n"                                            \
  "  t = indices[i]\n"                                                               \
  "  if torch.__is__(t, None):\n"                                                    \
  "    _0 = torch.append(l, None)\n"                                                 \
  "  else:\n"                                                                        \
  "    _1 = torch.append(l, torch.clamp(t, 0, torch.sub(torch.size(self, i), 1)))\n" \
  "return torch.where(mask, torch.index(self, l), torch.to(torch.tensor(fill), self))"

const TsOp ts_ops_core[] = {
  { "aten::_native_batch_norm_legit_no_training",
    "input,weight,bias,running_mean,running_var,momentum,eps", ts_composite,
    "return (torch.batch_norm(input, weight, bias, running_mean, running_var, False, momentum, "
    "eps, False), None, None)" },
  { MEASURED, "input,weight,bias,eps", ts_composite, MEASURED_NORM },
  { "aten::_native_batch_norm_legit",
    "input,weight=None,bias=None,running_mean=None,running_var=None,training=False,momentum=0.1,"
    "eps=1e-05",
    ts_composite, LEGIT_NORM },
  { "aten::native_batch_norm", "input,weight,bias,running_mean,running_var,training,momentum,eps",
    ts_composite, LEGIT_NORM },
  { "aten::native_layer_norm", "input,normalized_shape,weight,bias,eps", ts_composite,
    "return (torch.layer_norm(input, normalized_shape, weight, bias, eps), None, None)" },
  { "aten::_fused_rms_norm", "input,normalized_shape,weight,eps", ts_composite,
    "return (torch.rms_norm(input, normalized_shape, weight, eps), None)" },
  { "aten::native_group_norm", "input,weight,bias,N,C,HxW,group,eps", ts_composite,
    "return (torch.group_norm(input, group, weight, bias, eps), None, None)" },
  { "aten::native_dropout", "input,p,train", ts_composite,
    "return (torch.dropout(input, p, train), None)" },
  { "aten::_to_copy",
    "self,dtype=None,layout=None,device=None,pin_memory=None,non_blocking=None,memory_format=None",
    ts_composite, "return torch.clone(torch.to(self, dtype=dtype))" },
  { "aten::fill", "self,value", ts_composite, "return torch.fill_(torch.clone(self), value)" },
  { "aten::slice_scatter", "self,src,dim=0,start=None,end=None,step=1", ts_composite,
    "y = torch.clone(self)\n"
    "_0 = torch.copy_(torch.slice(y, dim, start, end, step), src)\n"
    "return y" },
  { "aten::select_scatter", "self,src,dim,index", ts_composite,
    "y = torch.clone(self)\n"
    "_0 = torch.copy_(torch.select(y, dim, index), src)\n"
    "return y" },
  { "aten::diagonal_scatter", "self,src,offset=0,dim1=0,dim2=1", ts_composite, DIAGONAL_SCATTER },
  { "aten::as_strided", "self,size,stride,storage_offset=None", as_strided },
  { STRIDED, "self,size,stride,storage_offset", ts_composite, STRIDES },
  { "aten::scatter_reduce", "self,dim,index,src,reduce,include_self=True", ts_composite,
    SCATTER_REDUCE },
  { "aten::masked_scatter", "self,mask,source", ts_composite, MASKED_SCATTER },
  { "aten::_unsafe_masked_index", "self,mask,indices,fill", ts_composite, MASKED_INDEX },
  { "aten::_embedding_bag",
    "weight,indices,offsets,scale_grad_by_freq=False,mode=0,sparse=False,per_sample_weights=None,"
    "include_last_offset=False,padding_idx=-1",
    ts_composite, EMBEDDING_BAG },
  { "aten::_embedding_bag_forward_only",
    "weight,indices,offsets,scale_grad_by_freq=False,mode=0,sparse=False,per_sample_weights=None,"
    "include_last_offset=False,padding_idx=-1",
    ts_composite, EMBEDDING_BAG },
  { "aten::embedding_bag",
    "weight,indices,offsets,scale_grad_by_freq=False,mode=0,sparse=False,per_sample_weights=None,"
    "include_last_offset=False,padding_idx=-1",
    ts_composite, EMBEDDING_BAG },
  { "aten::_scaled_dot_product_flash_attention_for_cpu",
    "query,key,value,dropout_p=0,is_causal=False,attn_mask=None,scale=None", ts_composite,
    "return (torch.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, "
    "is_causal, scale), None)" },
  { "aten::_scaled_dot_product_flash_attention",
    "query,key,value,dropout_p=0,is_causal=False,return_debug_mask=False,scale=None", ts_composite,
    "y = torch.scaled_dot_product_attention(query, key, value, None, dropout_p, is_causal, scale)\n"
    "return (y, None, None, None, None, None, None, None, None)" },
  { "aten::_scaled_dot_product_efficient_attention",
    "query,key,value,attn_bias,compute_log_sumexp=False,dropout_p=0,is_causal=False,scale=None",
    ts_composite,
    "return (torch.scaled_dot_product_attention(query, key, value, attn_bias, dropout_p, "
    "is_causal, scale), None, None, None)" },
  { "aten::_scaled_dot_product_attention_math",
    "query,key,value,attn_mask=None,dropout_p=0,is_causal=False,dropout_mask=None,scale=None,"
    "enable_gqa=False",
    ts_composite,
    "return (torch.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, "
    "is_causal, scale, enable_gqa), None)" },
  { "aten::rrelu_with_noise_functional",
    "self,noise,lower=0.125,upper=0.33333333333333331,training=False,generator=None", ts_composite,
    "return (torch.rrelu(self, lower, upper), noise)" },
  { "aten::rrelu_with_noise",
    "self,noise,lower=0.125,upper=0.33333333333333331,training=False,generator=None", ts_composite,
    "return torch.rrelu(self, lower, upper)" },
  { NULL },
};
