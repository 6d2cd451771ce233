/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators that are a few others, written as TorchScript itself has them: a row has the body of a
 * function with the operator's arguments. A reader that has TorchScript runs it.
 */
#include "models/aten/ops.h"

TsValue
ts_composite (TsProgram *program, const TsCall *call)
{
  if (program->run_body == NULL)
    return ts_refuse (
      program, SL_ERROR_UNSUPPORTED,
      "this operator is not supported in this format; export the model to TorchScript or ONNX");
  return program->run_body (program, call);
}

/* Distances by products would lose digits where points are close. */
#define CDIST                                                                    \
  "d = torch.abs(torch.sub(torch.unsqueeze(x1, -2), torch.unsqueeze(x2, -3)))\n" \
  "if torch.eq(p, 2):\n"                                                         \
  "  y = torch.sqrt(torch.sum(torch.mul(d, d), [-1]))\n"                         \
  "else:\n"                                                                      \
  "  if torch.eq(p, 1):\n"                                                       \
  "    y = torch.sum(d, [-1])\n"                                                 \
  "  else:\n"                                                                    \
  "    y = ops.sightline.norm(d, p, [-1], False)\n"                              \
  "return y"

/* The lower of two in the middle, as torch has it. */
#define MEDIAN                                                                    \
  "if torch.__is__(dim, None):\n"                                                 \
  "  x = torch.flatten(self)\n"                                                   \
  "  a, b, = torch.sort(x, 0)\n"                                                  \
  "  r = torch.select(a, 0, torch.floordiv(torch.sub(torch.size(x, 0), 1), 2))\n" \
  "else:\n"                                                                       \
  "  a, b, = torch.sort(self, dim)\n"                                             \
  "  k = torch.floordiv(torch.sub(torch.size(self, dim), 1), 2)\n"                \
  "  if keepdim:\n"                                                               \
  "    r = (torch.narrow(a, dim, k, 1), torch.narrow(b, dim, k, 1))\n"            \
  "  else:\n"                                                                     \
  "    r = (torch.select(a, dim, k), torch.select(b, dim, k))\n"                  \
  "return r"

#define WEIGHT_NORM                 \
  "d = annotate(List[int], [])\n"   \
  "for i in range(torch.dim(v)):\n" \
  "  if torch.ne(i, dim):\n"        \
  "    _0 = torch.append(d, i)\n"   \
  "return torch.mul(v, torch.div(g, torch.sqrt(torch.sum(torch.mul(v, v), d, True))))"

/* What the pictures of a batch have in common is taken from the corners, as the module is used with
 * pictures. */
#define AFFINE_GRID                                                                             \
  "h = size[2]\n"                                                                               \
  "w = size[3]\n"                                                                               \
  "if align_corners:\n"                                                                         \
  "  ey = 1.\n"                                                                                 \
  "  ex = 1.\n"                                                                                 \
  "else:\n"                                                                                     \
  "  ey = torch.sub(1., torch.div(1., h))\n"                                                    \
  "  ex = torch.sub(1., torch.div(1., w))\n"                                                    \
  "ys = torch.expand(torch.unsqueeze(torch.linspace(torch.neg(ey), ey, h), 1), [h, w])\n"       \
  "xs = torch.expand(torch.unsqueeze(torch.linspace(torch.neg(ex), ex, w), 0), [h, w])\n"       \
  "b = torch.reshape(torch.stack([xs, ys, torch.ones([h, w], dtype=6)], -1), [1, torch.mul(h, " \
  "w), 3])\n"                                                                                   \
  "return torch.reshape(torch.matmul(b, torch.transpose(theta, 1, 2)), [size[0], h, w, 2])"

#define BILINEAR                                                                               \
  "t = torch.matmul(input1, torch.flatten(torch.permute(weight, [1, 0, 2]), 1))\n"             \
  "y = torch.sum(torch.mul(torch.unflatten(t, -1, [torch.size(weight, 0), torch.size(weight, " \
  "2)]), torch.unsqueeze(input2, -2)), [-1])\n"                                                \
  "if torch.__isnot__(bias, None):\n"                                                          \
  "  y = torch.add(y, bias)\n"                                                                 \
  "return y"

#define REPEAT                                        \
  "if torch.__is__(dim, None):\n"                     \
  "  x = torch.flatten(self)\n"                       \
  "  d = 0\n"                                         \
  "else:\n"                                           \
  "  x = self\n"                                      \
  "  d = dim\n"                                       \
  "if torch.lt(d, 0):\n"                              \
  "  d = torch.add(d, torch.dim(x))\n"                \
  "s = annotate(List[int], [])\n"                     \
  "e = annotate(List[int], [])\n"                     \
  "for i in range(torch.dim(x)):\n"                   \
  "  n = torch.size(x, i)\n"                          \
  "  _0 = torch.append(e, n)\n"                       \
  "  if torch.eq(i, d):\n"                            \
  "    _1 = torch.append(e, repeats)\n"               \
  "    _2 = torch.append(s, torch.mul(n, repeats))\n" \
  "  else:\n"                                         \
  "    _3 = torch.append(s, n)\n"                     \
  "return torch.reshape(torch.expand(torch.unsqueeze(x, torch.add(d, 1)), e), s)"

#define DIAGONAL                                      \
  "x = torch.movedim(self, [dim1, dim2], [-2, -1])\n" \
  "return torch.index_select(torch.flatten(x, -2), -1, ops.sightline.diagonal_places(x, diagonal))"

/* Of the last two dimensions, one after the other. */
#define DIAGONAL_PLACES                                                       \
  "down = ops.prim.max(torch.neg(diagonal), 0)\n"                             \
  "right = ops.prim.max(diagonal, 0)\n"                                       \
  "h = torch.size(self, -2)\n"                                                \
  "w = torch.size(self, -1)\n"                                                \
  "i = torch.arange(ops.prim.min(torch.sub(h, down), torch.sub(w, right)))\n" \
  "return torch.add(torch.mul(torch.add(i, down), w), torch.add(i, right))"

#define DIAG                                                                          \
  "if torch.eq(torch.dim(self), 1):\n"                                                \
  "  if torch.ne(diagonal, 0):\n"                                                     \
  "    ops.prim.RaiseException(\"only the main diagonal can be made of a vector\")\n" \
  "  n = torch.arange(torch.size(self, 0))\n"                                         \
  "  r = torch.where(torch.eq(torch.unsqueeze(n, 0), torch.unsqueeze(n, 1)), self, "  \
  "torch.zeros_like(self))\n"                                                         \
  "else:\n"                                                                           \
  "  r = torch.diagonal(self, diagonal)\n"                                            \
  "return r"

#define HEADS                                                                                     \
  "b = torch.size(query, 0)\n"                                                                    \
  "n = torch.size(query, 1)\n"                                                                    \
  "m = torch.size(key, 1)\n"                                                                      \
  "d = torch.floordiv(embed_dim, num_head)\n"                                                     \
  "w = torch.chunk(qkv_weight, 3)\n"                                                              \
  "c = torch.chunk(qkv_bias, 3)\n"                                                                \
  "q = torch.transpose(torch.view(torch.linear(query, w[0], c[0]), [b, n, num_head, d]), 1, 2)\n" \
  "k = torch.transpose(torch.view(torch.linear(key, w[1], c[1]), [b, m, num_head, d]), 1, 2)\n"   \
  "v = torch.transpose(torch.view(torch.linear(value, w[2], c[2]), [b, m, num_head, d]), 1, 2)\n" \
  "a = torch.matmul(torch.div(q, torch.sqrt(d)), torch.transpose(k, 2, 3))\n"                     \
  "if torch.__isnot__(mask, None):\n"                                                             \
  "  ops.prim.RaiseException(\"a mask of attention in this form is not supported\")\n"            \
  "p = torch.softmax(a, -1)\n"                                                                    \
  "y = torch.reshape(torch.transpose(torch.matmul(p, v), 1, 2), [b, n, embed_dim])\n"             \
  "z = torch.linear(y, proj_weight, proj_bias)\n"                                                 \
  "if need_weights:\n"                                                                            \
  "  if average_attn_weights:\n"                                                                  \
  "    r = (z, torch.mean(p, [1]))\n"                                                             \
  "  else:\n"                                                                                     \
  "    r = (z, p)\n"                                                                              \
  "else:\n"                                                                                       \
  "  r = (z, None)\n"                                                                             \
  "return r"

#define ENCODER_LAYER                                                                      \
  "x = src\n"                                                                              \
  "if norm_first:\n"                                                                       \
  "  x = torch.layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)\n"              \
  "a, b, = torch._native_multi_head_attention(x, x, x, embed_dim, num_heads, qkv_weight, " \
  "qkv_bias, proj_weight, proj_bias, mask, False)\n"                                       \
  "x = torch.add(a, src)\n"                                                                \
  "y = x\n"                                                                                \
  "if norm_first:\n"                                                                       \
  "  y = torch.layer_norm(y, [embed_dim], norm_weight_2, norm_bias_2, eps)\n"              \
  "else:\n"                                                                                \
  "  x = torch.layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)\n"              \
  "  y = x\n"                                                                              \
  "y = torch.linear(y, ffn_weight_1, ffn_bias_1)\n"                                        \
  "if use_gelu:\n"                                                                         \
  "  y = torch.gelu(y)\n"                                                                  \
  "else:\n"                                                                                \
  "  y = torch.relu(y)\n"                                                                  \
  "x = torch.add(x, torch.linear(y, ffn_weight_2, ffn_bias_2))\n"                          \
  "if torch.__not__(norm_first):\n"                                                        \
  "  x = torch.layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps)\n"              \
  "return x"

/* The codes stay what they are and the zero point moves, as far as there is room for it. */
#define ADD_NUMBER                                                  \
  "s = torch.q_scale(qa)\n"                                         \
  "z = torch.q_zero_point(qa)\n"                                    \
  "c = int(torch.round(torch.div(float(b), s)))\n"                  \
  "n = torch.sub(z, c)\n"                                           \
  "t = s\n"                                                         \
  "m = n\n"                                                         \
  "if torch.lt(n, 0):\n"                                            \
  "  t = torch.mul(torch.div(float(torch.sub(255, n)), 255.), s)\n" \
  "  m = 0\n"                                                       \
  "if torch.gt(n, 255):\n"                                          \
  "  t = torch.mul(torch.div(float(n), 255.), s)\n"                 \
  "  m = 255\n"                                                     \
  "return torch.quantize_per_tensor(torch.add(torch.dequantize(qa), torch.mul(c, s)), t, m, 13)"

#define QUANTIZED_NORM                                                                           \
  "y = torch.batch_norm(torch.dequantize(qx), weight, bias, mean, var, False, 0., eps, False)\n" \
  "return torch.quantize_per_tensor(y, output_scale, output_zero_point, 13)"

#define QUANTIZED_NORM_RELU                                                                      \
  "y = torch.batch_norm(torch.dequantize(qx), weight, bias, mean, var, False, 0., eps, False)\n" \
  "return torch.quantize_per_tensor(torch.relu(y), output_scale, output_zero_point, 13)"

#define EYE                                                        \
  "k = n\n"                                                        \
  "if torch.__isnot__(m, None):\n"                                 \
  "  k = m\n"                                                      \
  "t = 6\n"                                                        \
  "if torch.__isnot__(dtype, None):\n"                             \
  "  t = dtype\n"                                                  \
  "return torch.to(torch.eq(torch.unsqueeze(torch.arange(n), 1), " \
  "torch.unsqueeze(torch.arange(k), 0)), t)"

#define LOGIT                                          \
  "x = self\n"                                         \
  "if torch.__isnot__(eps, None):\n"                   \
  "  x = torch.clamp(self, eps, torch.sub(1., eps))\n" \
  "return torch.log(torch.div(x, torch.rsub(x, 1.)))"

#define NAN_TO_NUM                                                         \
  "a = 0.\n"                                                               \
  "if torch.__isnot__(nan, None):\n"                                       \
  "  a = nan\n"                                                            \
  "b = 3.4028234663852886e+38\n"                                           \
  "if torch.__isnot__(posinf, None):\n"                                    \
  "  b = posinf\n"                                                         \
  "c = -3.4028234663852886e+38\n"                                          \
  "if torch.__isnot__(neginf, None):\n"                                    \
  "  c = neginf\n"                                                         \
  "x = torch.where(torch.isnan(self), torch.full_like(self, a), self)\n"   \
  "x = torch.where(torch.eq(x, torch.inf), torch.full_like(self, b), x)\n" \
  "return torch.where(torch.eq(x, torch.neg(torch.inf)), torch.full_like(self, c), x)"

#define BUCKETIZE                   \
  "x = torch.unsqueeze(self, -1)\n" \
  "if right:\n"                     \
  "  y = torch.le(boundaries, x)\n" \
  "else:\n"                         \
  "  y = torch.lt(boundaries, x)\n" \
  "return torch.sum(torch.to(y, 4), [-1])"

#define LINALG_NORM                                                        \
  "p = 2\n"                                                                \
  "if torch.__isnot__(ord, None):\n"                                       \
  "  p = ord\n"                                                            \
  "  if torch.__is__(dim, None):\n"                                        \
  "    ops.prim.RaiseException(\"norms of matrices are not supported\")\n" \
  "  if torch.gt(torch.len(dim), 1):\n"                                    \
  "    ops.prim.RaiseException(\"norms of matrices are not supported\")\n" \
  "return torch.linalg_vector_norm(self, p, dim, keepdim)"

/* What is not a number gives way to what is one. */
#define NUMBER_OF(extreme)                                 \
  "a = torch.where(torch.ne(self, self), other, self)\n"   \
  "b = torch.where(torch.ne(other, other), self, other)\n" \
  "return torch." extreme "(a, b)"

/* Equal infinities have no difference. */
#define LOGADDEXP                                                                          \
  "m = torch.maximum(self, other)\n"                                                       \
  "d = torch.where(torch.eq(self, other), torch.zeros_like(m), torch.abs(torch.sub(self, " \
  "other)))\n"                                                                             \
  "return torch.add(m, torch.log1p(torch.exp(torch.neg(d))))"

/* Nothing times infinity is nothing here, but not what is not a number. */
#define XLOGY                                                    \
  "p = torch.mul(self, torch.log(other))\n"                      \
  "y = torch.where(torch.eq(self, 0), torch.zeros_like(p), p)\n" \
  "return torch.where(torch.ne(other, other), other, y)"

const TsOp ts_ops_composite[] = {
  { "aten::cdist", "x1,x2,p=2,compute_mode=None", ts_composite, CDIST },
  { "aten::median", "self,dim=None,keepdim=False", ts_composite, MEDIAN },
  { "aten::_weight_norm", "v,g,dim=0", ts_composite, WEIGHT_NORM },
  { "aten::affine_grid_generator", "theta,size,align_corners", ts_composite, AFFINE_GRID },
  { "aten::bilinear", "input1,input2,weight,bias=None", ts_composite, BILINEAR },
  { "aten::_native_multi_head_attention",
    "query,key,value,embed_dim,num_head,qkv_weight,qkv_bias,proj_weight,proj_bias,mask=None,"
    "need_weights=True,average_attn_weights=True,mask_type=None",
    ts_composite, HEADS },
  { "aten::_transformer_encoder_layer_fwd",
    "src,embed_dim,num_heads,qkv_weight,qkv_bias,proj_weight,proj_bias,use_gelu,norm_first,eps,"
    "norm_weight_1,norm_bias_1,norm_weight_2,norm_bias_2,ffn_weight_1,ffn_bias_1,ffn_weight_2,"
    "ffn_bias_2,mask=None,mask_type=None",
    ts_composite, ENCODER_LAYER },
  { "aten::repeat_interleave", "self,repeats,dim=None,output_size=None", ts_composite, REPEAT },
  { TS_DIAGONAL_PLACES, "self,diagonal", ts_composite, DIAGONAL_PLACES },
  { "aten::diagonal", "self,diagonal=0,dim1=0,dim2=1", ts_composite, DIAGONAL },
  { "aten::diag", "self,diagonal=0", ts_composite, DIAG },
  { "quantized::add_scalar", "qa,b", ts_composite, ADD_NUMBER },
  { "quantized::batch_norm2d", "qx,weight,bias,mean,var,eps,output_scale,output_zero_point",
    ts_composite, QUANTIZED_NORM },
  { "quantized::batch_norm2d_relu", "qx,weight,bias,mean,var,eps,output_scale,output_zero_point",
    ts_composite, QUANTIZED_NORM_RELU },
  { "aten::eye", "n,m=None,dtype=None,layout=None,device=None,pin_memory=None", ts_composite, EYE },
  { "aten::exp2", "self", ts_composite, "return torch.pow(2., self)" },
  { "aten::cosine_similarity", "x1,x2,dim=1,eps=0.00000001", ts_composite,
    "a = torch.sqrt(torch.clamp(torch.mul(torch.sum(torch.mul(x1, x1), [dim]), "
    "torch.sum(torch.mul(x2, x2), [dim])), torch.mul(eps, eps)))\n"
    "return torch.div(torch.sum(torch.mul(x1, x2), [dim]), a)" },
  { "aten::pairwise_distance", "x1,x2,p=2,eps=0.000001,keepdim=False", ts_composite,
    "return torch.norm(torch.add(torch.sub(x1, x2), eps), p, [-1], keepdim)" },
  { "aten::softshrink", "self,lambd=0.5", ts_composite,
    "return torch.sub(self, torch.clamp(self, torch.neg(lambd), lambd))" },
  { "aten::hardshrink", "self,lambd=0.5", ts_composite,
    "return torch.where(torch.gt(torch.abs(self), lambd), self, torch.zeros_like(self))" },
  { "aten::outer", "self,vec2", ts_composite,
    "return torch.mul(torch.unsqueeze(self, 1), torch.unsqueeze(vec2, 0))" },
  { "aten::mv", "self,vec", ts_composite, "return torch.matmul(self, vec)" },
  { "aten::dot", "self,tensor", ts_composite, "return torch.sum(torch.mul(self, tensor))" },
  { "aten::count_nonzero", "self,dim=None", ts_composite,
    "d = dim\n"
    "if isinstance(dim, int):\n"
    "  d = [dim]\n"
    "return torch.sum(torch.to(torch.ne(self, 0), 4), d)" },
  { "aten::aminmax", "self,dim=None,keepdim=False", ts_composite,
    "if torch.__is__(dim, None):\n"
    "  r = (torch.min(self), torch.max(self))\n"
    "else:\n"
    "  r = (torch.amin(self, [dim], keepdim), torch.amax(self, [dim], keepdim))\n"
    "return r" },
  { "aten::var_mean", "self,dim=None,unbiased=True,keepdim=False,correction=None", ts_composite,
    "if torch.__is__(dim, None):\n"
    "  r = (torch.var(self, None, unbiased, False, correction), torch.mean(self))\n"
    "else:\n"
    "  r = (torch.var(self, dim, unbiased, keepdim, correction), torch.mean(self, dim, "
    "keepdim))\n"
    "return r" },
  { "aten::std_mean", "self,dim=None,unbiased=True,keepdim=False,correction=None", ts_composite,
    "if torch.__is__(dim, None):\n"
    "  r = (torch.std(self, None, unbiased, False, correction), torch.mean(self))\n"
    "else:\n"
    "  r = (torch.std(self, dim, unbiased, keepdim, correction), torch.mean(self, dim, "
    "keepdim))\n"
    "return r" },
  { "aten::rrelu", "self,lower=0.125,upper=0.33333333333333331,training=False,generator=None",
    ts_composite, "return torch.leaky_relu(self, torch.div(torch.add(lower, upper), 2.))" },
  { "aten::fmax", "self,other", ts_composite, NUMBER_OF ("maximum") },
  { "aten::fmin", "self,other", ts_composite, NUMBER_OF ("minimum") },
  { "aten::hypot", "self,other", ts_composite,
    "return torch.sqrt(torch.add(torch.mul(self, self), torch.mul(other, other)))" },
  { "aten::logaddexp", "self,other", ts_composite, LOGADDEXP },
  { "aten::addbmm", "self,batch1,batch2,beta=1,alpha=1", ts_composite,
    "return torch.add(torch.mul(self, beta), torch.mul(torch.sum(torch.bmm(batch1, batch2), "
    "[0]), alpha))" },
  { "aten::xlogy", "self,other", ts_composite, XLOGY },
  { "aten::special_expit", "self", ts_composite, "return torch.sigmoid(self)" },
  { "aten::erfc", "self", ts_composite, "return torch.rsub(torch.erf(self), 1.)" },
  { "aten::sgn", "self", ts_composite, "return torch.sign(self)" },
  { "aten::deg2rad", "self", ts_composite, "return torch.mul(self, 0.017453292519943295)" },
  { "aten::rad2deg", "self", ts_composite, "return torch.mul(self, 57.295779513082323)" },
  { "aten::logit", "self,eps=None", ts_composite, LOGIT },
  { "aten::isinf", "self", ts_composite, "return torch.eq(torch.abs(self), torch.inf)" },
  { "aten::isfinite", "self", ts_composite, "return torch.lt(torch.abs(self), torch.inf)" },
  { "aten::nan_to_num", "self,nan=None,posinf=None,neginf=None", ts_composite, NAN_TO_NUM },
  { "aten::bucketize", "self,boundaries,out_int32=False,right=False", ts_composite, BUCKETIZE },
  { "aten::linalg_norm", "self,ord=None,dim=None,keepdim=False,dtype=None", ts_composite,
    LINALG_NORM },
  { "quantized::instance_norm", "input,weight,bias,eps,output_scale,output_zero_point",
    ts_composite,
    "x = torch.dequantize(input)\n"
    "return torch.quantize_per_tensor(torch.instance_norm(x, weight, bias, None, None, True, 0., "
    "eps, False), output_scale, output_zero_point, 13)" },
  { "quantized::layer_norm",
    "input,normalized_shape,weight,bias,eps,output_scale,output_zero_point", ts_composite,
    "x = torch.dequantize(input)\n"
    "return torch.quantize_per_tensor(torch.layer_norm(x, normalized_shape, weight, bias, eps, "
    "False), output_scale, output_zero_point, 13)" },
  { "quantized::group_norm", "input,num_groups,weight,bias,eps,output_scale,output_zero_point",
    ts_composite,
    "x = torch.dequantize(input)\n"
    "return torch.quantize_per_tensor(torch.group_norm(x, num_groups, weight, bias, eps, False), "
    "output_scale, output_zero_point, 13)" },
  { "quantized::prelu", "qx,weight,output_scale,output_zero_point", ts_composite,
    "y = torch.prelu(torch.dequantize(qx), torch.dequantize(weight))\n"
    "return torch.quantize_per_tensor(y, output_scale, output_zero_point, 13)" },
  { "quantized::softmax", "qx,dim,output_scale,output_zero_point", ts_composite,
    "y = torch.softmax(torch.dequantize(qx), dim)\n"
    "return torch.quantize_per_tensor(y, output_scale, output_zero_point, 13)" },
  { NULL },
};
