/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators on windows, pieces and places of tensors that are a few others, written as TorchScript
 * itself has them; see ops_composite.c. */
#include "models/aten/ops.h"

/* Windows that overlap have the same highest value, so that it does not matter which is written
 * last. */
#define MAX_UNPOOL2D                                                                \
  "p = torch.slice(torch.size(self), None, -2)\n"                                   \
  "h = output_size[-2]\n"                                                           \
  "w = output_size[-1]\n"                                                           \
  "z = torch.zeros(torch.add(p, [torch.mul(h, w)]), dtype=6)\n"                     \
  "y = torch.scatter(z, -1, torch.flatten(indices, -2), torch.flatten(self, -2))\n" \
  "return torch.reshape(y, torch.add(p, [h, w]))"

/* The sum of overlapping windows is a transposed convolution whose weights put each number of a
 * column where it belongs. */
#define COL2IM                                                                                    \
  "r = torch.dim(self)\n"                                                                         \
  "x = self\n"                                                                                    \
  "if torch.eq(r, 2):\n"                                                                          \
  "  x = torch.unsqueeze(self, 0)\n"                                                              \
  "k = torch.mul(kernel_size[0], kernel_size[1])\n"                                               \
  "c = torch.floordiv(torch.size(x, 1), k)\n"                                                     \
  "e = [0, 0]\n"                                                                                  \
  "n = [0, 0]\n"                                                                                  \
  "for i in range(2):\n"                                                                          \
  "  t = torch.add(torch.mul(dilation[i], torch.sub(kernel_size[i], 1)), 1)\n"                    \
  "  s = torch.sub(torch.add(output_size[i], torch.mul(padding[i], 2)), t)\n"                     \
  "  _0 = torch._set_item(n, i, torch.add(torch.floordiv(s, stride[i]), 1))\n"                    \
  "  _1 = torch._set_item(e, i, torch.remainder(s, stride[i]))\n"                                 \
  "w = torch.repeat(torch.reshape(torch.eye(k), [k, 1, kernel_size[0], kernel_size[1]]), [c, 1, " \
  "1, 1])\n"                                                                                      \
  "x = torch.reshape(x, [torch.size(x, 0), torch.mul(c, k), n[0], n[1]])\n"                       \
  "y = torch.conv_transpose2d(x, w, None, stride, padding, e, c, dilation)\n"                     \
  "if torch.eq(r, 2):\n"                                                                          \
  "  y = torch.squeeze(y, 0)\n"                                                                   \
  "return y"

#define UNFOLD                                                                                \
  "d = dimension\n"                                                                           \
  "if torch.lt(d, 0):\n"                                                                      \
  "  d = torch.add(d, torch.dim(self))\n"                                                     \
  "n = torch.add(torch.floordiv(torch.sub(torch.size(self, d), size), step), 1)\n"            \
  "i = torch.add(torch.unsqueeze(torch.mul(torch.arange(n), step), 1), torch.arange(size))\n" \
  "y = torch.unflatten(torch.index_select(self, d, torch.flatten(i)), d, [n, size])\n"        \
  "return torch.movedim(y, torch.add(d, 1), -1)"

/* Each cell of a region has channels of its own; what says which is not needed to run a network. */
#define PS_ROI_ALIGN                                                                        \
  "k = torch.mul(pooled_height, pooled_width)\n"                                            \
  "c = torch.floordiv(torch.size(input, 1), k)\n"                                           \
  "n = torch.size(rois, 0)\n"                                                               \
  "y = ops.torchvision.roi_align(input, rois, spatial_scale, pooled_height, pooled_width, " \
  "sampling_ratio, True)\n"                                                                 \
  "y = torch.diagonal(torch.reshape(y, [n, c, k, k]), 0, 2, 3)\n"                           \
  "return (torch.reshape(y, [n, c, pooled_height, pooled_width]), None)"

#define CELL_PIXELS "sightline::cell_pixels"
/* Of regions [regions,1] from @low to @high, which are divided into @n cells, the pixels of
 * [regions,cells,size] that are in each: 1, else 0. The last pixel is in none. */
#define IN_CELLS                                                                                \
  "step = torch.div(torch.clamp_min(torch.sub(high, low), 1), n)\n"                             \
  "cell = torch.to(torch.arange(n), 6)\n"                                                       \
  "last = torch.sub(size, 1)\n"                                                                 \
  "a = torch.clamp(torch.add(torch.floor(torch.mul(step, cell)), low), 0, last)\n"              \
  "b = torch.clamp(torch.add(torch.ceil(torch.mul(step, torch.add(cell, 1))), low), 0, last)\n" \
  "p = torch.to(torch.arange(size), 6)\n"                                                       \
  "m = torch.logical_and(torch.ge(p, torch.unsqueeze(a, 2)), torch.lt(p, torch.unsqueeze(b, "   \
  "2)))\n"                                                                                      \
  "return torch.to(m, 6)"

/* The mean of each cell, of channels of its own. Edges that are exactly between two pixels go away
 * from zero, as C's round() has them. A sum of rows is a sum of columns before it. */
#define PS_ROI_POOL                                                                            \
  "k = torch.mul(pooled_height, pooled_width)\n"                                               \
  "_, ch, h, w, = torch.size(input)\n"                                                         \
  "c = torch.floordiv(ch, k)\n"                                                                \
  "n = torch.size(rois, 0)\n"                                                                  \
  "e = torch.mul(torch.slice(rois, 1, 1, 5), spatial_scale)\n"                                 \
  "e = torch.mul(torch.floor(torch.add(torch.abs(e), 0.5)), torch.sign(e))\n"                  \
  "x0, y0, x1, y1, = torch.split(e, 1, 1)\n"                                                   \
  "u = ops.sightline.cell_pixels(x0, x1, pooled_width, w)\n"                                   \
  "v = ops.sightline.cell_pixels(y0, y1, pooled_height, h)\n"                                  \
  "x = torch.index_select(input, 0, torch.to(torch.select(rois, 1, 0), 4))\n"                  \
  "x = torch.reshape(x, [n, c, pooled_height, pooled_width, h, w])\n"                          \
  "y = torch.matmul(x, torch.reshape(u, [n, 1, 1, pooled_width, w, 1]))\n"                     \
  "y = torch.matmul(torch.reshape(v, [n, 1, pooled_height, 1, 1, h]), y)\n"                    \
  "y = torch.reshape(y, [n, c, pooled_height, pooled_width])\n"                                \
  "s = torch.mul(torch.unsqueeze(torch.sum(v, [-1]), 2), torch.unsqueeze(torch.sum(u, [-1]), " \
  "1))\n"                                                                                      \
  "return (torch.div(y, torch.clamp_min(torch.unsqueeze(s, 1), 1)), None)"

#define TENSOR_SPLIT                                                                        \
  "s = torch.size(self, dim)\n"                                                             \
  "e = annotate(List[int], [])\n"                                                           \
  "if isinstance(indices_or_sections, int):\n"                                              \
  "  if torch.lt(indices_or_sections, 1):\n"                                                \
  "    ops.prim.RaiseException(\"a tensor is split into less than one section\")\n"         \
  "  for i in range(indices_or_sections):\n"                                                \
  "    a = torch.mul(torch.add(i, 1), torch.floordiv(s, indices_or_sections))\n"            \
  "    _0 = torch.append(e, torch.add(a, ops.prim.min(torch.add(i, 1), torch.remainder(s, " \
  "indices_or_sections))))\n"                                                               \
  "else:\n"                                                                                 \
  "  for i in range(torch.len(indices_or_sections)):\n"                                     \
  "    _1 = torch.append(e, indices_or_sections[i])\n"                                      \
  "  _2 = torch.append(e, s)\n"                                                             \
  "l = annotate(List[Tensor], [])\n"                                                        \
  "b = 0\n"                                                                                 \
  "for i in range(torch.len(e)):\n"                                                         \
  "  _3 = torch.append(l, torch.slice(self, dim, b, e[i]))\n"                               \
  "  b = e[i]\n"                                                                            \
  "return l"

#define INDEX_FILL                                                                               \
  "v = [1, 1, 1, 1, 1, 1, 1, 1]\n"                                                               \
  "v = torch.slice(v, 0, torch.dim(self))\n"                                                     \
  "s = torch.size(self, dim)\n"                                                                  \
  "_0 = torch._set_item(v, dim, s)\n"                                                            \
  "i = torch.where(torch.lt(index, 0), torch.add(index, s), index)\n"                            \
  "m = torch.any(torch.eq(torch.unsqueeze(torch.arange(s), 1), torch.reshape(i, [1, -1])), 1)\n" \
  "return torch.masked_fill(self, torch.reshape(m, v), value)"

#define INDEX_ADD                                          \
  "v = [1, 1, 1, 1, 1, 1, 1, 1]\n"                         \
  "v = torch.slice(v, 0, torch.dim(self))\n"               \
  "_0 = torch._set_item(v, dim, torch.size(index, 0))\n"   \
  "i = torch.expand_as(torch.reshape(index, v), source)\n" \
  "return torch.scatter_add(self, dim, i, torch.mul(source, alpha))"

#define INDEX_COPY                                         \
  "v = [1, 1, 1, 1, 1, 1, 1, 1]\n"                         \
  "v = torch.slice(v, 0, torch.dim(self))\n"               \
  "_0 = torch._set_item(v, dim, torch.size(index, 0))\n"   \
  "i = torch.expand_as(torch.reshape(index, v), source)\n" \
  "return torch.scatter(self, dim, i, source)"

#define CUMPROD                                                                         \
  "x = self\n"                                                                          \
  "if torch.__isnot__(dtype, None):\n"                                                  \
  "  x = torch.to(self, dtype)\n"                                                       \
  "l = [torch.narrow(x, dim, 0, 1)]\n"                                                  \
  "for i in range(torch.sub(torch.size(x, dim), 1)):\n"                                 \
  "  _0 = torch.append(l, torch.mul(l[i], torch.narrow(x, dim, torch.add(i, 1), 1)))\n" \
  "return torch.cat(l, dim)"

#define DIFF                                                                  \
  "y = self\n"                                                                \
  "if torch.__isnot__(prepend, None):\n"                                      \
  "  y = torch.cat([prepend, y], dim)\n"                                      \
  "if torch.__isnot__(append, None):\n"                                       \
  "  y = torch.cat([y, append], dim)\n"                                       \
  "for i in range(n):\n"                                                      \
  "  s = torch.sub(torch.size(y, dim), 1)\n"                                  \
  "  y = torch.sub(torch.narrow(y, dim, 1, s), torch.narrow(y, dim, 0, s))\n" \
  "return y"

#define ROT90                                    \
  "if torch.eq(torch.len(dims), 0):\n"           \
  "  dims = [0, 1]\n"                            \
  "t = torch.remainder(k, 4)\n"                  \
  "y = self\n"                                   \
  "if torch.eq(torch.remainder(t, 2), 1):\n"     \
  "  y = torch.transpose(y, dims[0], dims[1])\n" \
  "if torch.eq(t, 1):\n"                         \
  "  y = torch.flip(y, [dims[0]])\n"             \
  "if torch.eq(t, 2):\n"                         \
  "  y = torch.flip(y, dims)\n"                  \
  "if torch.eq(t, 3):\n"                         \
  "  y = torch.flip(y, [dims[1]])\n"             \
  "return y"

#define HSPLIT                                           \
  "d = ops.prim.min(torch.sub(torch.dim(self), 1), 1)\n" \
  "return torch.tensor_split(self, indices_or_sections, d)"

/* STACKED: lists of tensors joined after each has been given what dimensions it lacks, by @lines.
 */
#define STACKED(lines, axis)                               \
  "l = annotate(List[Tensor], [])\n"                       \
  "for i in range(torch.len(tensors)):\n"                  \
  "  t = tensors[i]\n" lines "  _0 = torch.append(l, t)\n" \
  "return torch.cat(l, " axis ")"
#define AS_LINE                       \
  "  if torch.eq(torch.dim(t), 0):\n" \
  "    t = torch.reshape(t, [1])\n"
#define AS_ROW                        \
  "  if torch.lt(torch.dim(t), 2):\n" \
  "    t = torch.reshape(t, [1, -1])\n"
#define AS_DEEP                       \
  AS_ROW                              \
  "  if torch.eq(torch.dim(t), 2):\n" \
  "    t = torch.unsqueeze(t, 2)\n"

#define KTHVALUE                                                     \
  "a, b, = torch.sort(self, dim)\n"                                  \
  "i = torch.sub(k, 1)\n"                                            \
  "if keepdim:\n"                                                    \
  "  r = (torch.narrow(a, dim, i, 1), torch.narrow(b, dim, i, 1))\n" \
  "else:\n"                                                          \
  "  r = (torch.select(a, dim, i), torch.select(b, dim, i))\n"       \
  "return r"

/* Window by window, which pixel of the picture is the highest: the first of equal ones, the last
 * that is not a number; never one outside. */
#define PLACES                                                                                     \
  "h = torch.size(self, -2)\n"                                                                     \
  "w = torch.size(self, -1)\n"                                                                     \
  "oh, ow, = size\n"                                                                               \
  "eh = torch.add(torch.mul(torch.sub(oh, 1), stride[0]), torch.add(torch.mul(torch.sub(kernel[0]" \
  ", 1), dilation[0]), 1))\n"                                                                      \
  "ew = torch.add(torch.mul(torch.sub(ow, 1), stride[1]), torch.add(torch.mul(torch.sub(kernel[1]" \
  ", 1), dilation[1]), 1))\n"                                                                      \
  "r = ops.prim.max(torch.sub(ew, torch.add(w, padding[1])), 0)\n"                                 \
  "b = ops.prim.max(torch.sub(eh, torch.add(h, padding[0])), 0)\n"                                 \
  "x = torch.constant_pad_nd(self, [padding[1], r, padding[0], b], torch.neg(torch.inf))\n"        \
  "p = torch.constant_pad_nd(torch.reshape(torch.arange(torch.mul(h, w)), [h, w]), [padding[1], "  \
  "r, padding[0], b], -1)\n"                                                                       \
  "best = torch.zeros([1])\n"                                                                      \
  "at = torch.zeros([1], dtype=4)\n"                                                               \
  "for i in range(kernel[0]):\n"                                                                   \
  "  for j in range(kernel[1]):\n"                                                                 \
  "    y0 = torch.mul(i, dilation[0])\n"                                                           \
  "    x0 = torch.mul(j, dilation[1])\n"                                                           \
  "    y1 = torch.add(torch.add(y0, torch.mul(torch.sub(oh, 1), stride[0])), 1)\n"                 \
  "    x1 = torch.add(torch.add(x0, torch.mul(torch.sub(ow, 1), stride[1])), 1)\n"                 \
  "    v = torch.slice(torch.slice(x, -2, y0, y1, stride[0]), -1, x0, x1, stride[1])\n"            \
  "    q = torch.slice(torch.slice(p, -2, y0, y1, stride[0]), -1, x0, x1, stride[1])\n"            \
  "    if torch.eq(torch.add(i, j), 0):\n"                                                         \
  "      best = v\n"                                                                               \
  "      at = torch.expand_as(q, v)\n"                                                             \
  "    else:\n"                                                                                    \
  "      m = torch.logical_or(torch.logical_or(torch.gt(v, best), torch.ne(v, v)), torch.lt(at, "  \
  "0))\n"                                                                                          \
  "      at = torch.where(m, q, at)\n"                                                             \
  "      best = torch.where(m, v, best)\n"                                                         \
  "return at"

const TsOp ts_ops_patches[] = {
  { TS_MAX_POOL_PLACES, "self,kernel,stride,padding,dilation,size", ts_composite, PLACES },
  { "aten::max_unpool2d", "self,indices,output_size", ts_composite, MAX_UNPOOL2D },
  { "aten::col2im", "self,output_size,kernel_size,dilation,padding,stride", ts_composite, COL2IM },
  { "aten::unfold", "self,dimension,size,step", ts_composite, UNFOLD },
  { "torchvision::ps_roi_align",
    "input,rois,spatial_scale,pooled_height,pooled_width,sampling_ratio", ts_composite,
    PS_ROI_ALIGN },
  { CELL_PIXELS, "low,high,n,size", ts_composite, IN_CELLS },
  { "torchvision::ps_roi_pool", "input,rois,spatial_scale,pooled_height,pooled_width", ts_composite,
    PS_ROI_POOL },
  { "aten::tensor_split", "self,indices_or_sections,dim=0", ts_composite, TENSOR_SPLIT },
  { "aten::index_fill", "self,dim,index,value", ts_composite, INDEX_FILL },
  { "aten::index_add", "self,dim,index,source,alpha=1", ts_composite, INDEX_ADD },
  { "aten::index_copy", "self,dim,index,source", ts_composite, INDEX_COPY },
  { "aten::cumprod", "self,dim,dtype=None", ts_composite, CUMPROD },
  { "aten::diff", "self,n=1,dim=-1,prepend=None,append=None", ts_composite, DIFF },
  { "aten::rot90", "self,k=1,dims=[]", ts_composite, ROT90 },
  { "aten::kthvalue", "self,k,dim=-1,keepdim=False", ts_composite, KTHVALUE },
  { "aten::take_along_dim", "self,indices,dim", ts_composite,
    "return torch.gather(self, dim, indices)" },
  { "aten::hsplit", "self,indices_or_sections", ts_composite, HSPLIT },
  { "aten::vsplit", "self,indices_or_sections", ts_composite,
    "return torch.tensor_split(self, indices_or_sections, 0)" },
  { "aten::hstack", "tensors", ts_composite,
    STACKED (AS_LINE, "ops.prim.min(torch.sub(torch.dim(l[0]), 1), 1)") },
  { "aten::dstack", "tensors", ts_composite, STACKED (AS_DEEP, "2") },
  { "aten::vstack", "tensors", ts_composite, STACKED (AS_ROW, "0") },
  { NULL },
};
