/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products and arrangements of matrices that are a few other operators, and distances; written as
 * TorchScript has them, see ops_composite.c. */
#include "models/aten/ops.h"

#define AT_LEAST_OF "sightline::at_least"

#define TENSORDOT                                               \
  "m = torch.dim(self)\n"                                       \
  "n = torch.dim(other)\n"                                      \
  "a = annotate(List[int], [])\n"                               \
  "b = annotate(List[int], [])\n"                               \
  "p = annotate(List[int], [])\n"                               \
  "q = annotate(List[int], [])\n"                               \
  "s = annotate(List[int], [])\n"                               \
  "k = 1\n"                                                     \
  "for i in range(torch.len(dims_self)):\n"                     \
  "  _0 = torch.append(a, torch.remainder(dims_self[i], m))\n"  \
  "  _1 = torch.append(b, torch.remainder(dims_other[i], n))\n" \
  "for i in range(m):\n"                                        \
  "  if torch.__not__(torch.__contains__(a, i)):\n"             \
  "    _2 = torch.append(p, i)\n"                               \
  "    _3 = torch.append(s, torch.size(self, i))\n"             \
  "for i in range(torch.len(a)):\n"                             \
  "  _4 = torch.append(p, a[i])\n"                              \
  "  _5 = torch.append(q, b[i])\n"                              \
  "  k = torch.mul(k, torch.size(self, a[i]))\n"                \
  "for i in range(n):\n"                                        \
  "  if torch.__not__(torch.__contains__(b, i)):\n"             \
  "    _6 = torch.append(q, i)\n"                               \
  "    _7 = torch.append(s, torch.size(other, i))\n"            \
  "x = torch.reshape(torch.permute(self, p), [-1, k])\n"        \
  "y = torch.reshape(torch.permute(other, q), [k, -1])\n"       \
  "return torch.reshape(torch.matmul(x, y), s)"

#define KRON                                                                \
  "a = self\n"                                                              \
  "b = other\n"                                                             \
  "r = ops.prim.max(torch.dim(self), torch.dim(other))\n"                   \
  "for i in range(torch.sub(r, torch.dim(self))):\n"                        \
  "  a = torch.unsqueeze(a, 0)\n"                                           \
  "for i in range(torch.sub(r, torch.dim(other))):\n"                       \
  "  b = torch.unsqueeze(b, 0)\n"                                           \
  "s = annotate(List[int], [])\n"                                           \
  "x = a\n"                                                                 \
  "y = b\n"                                                                 \
  "for i in range(r):\n"                                                    \
  "  x = torch.unsqueeze(x, torch.add(torch.mul(i, 2), 1))\n"               \
  "  y = torch.unsqueeze(y, torch.mul(i, 2))\n"                             \
  "  _0 = torch.append(s, torch.mul(torch.size(a, i), torch.size(b, i)))\n" \
  "return torch.reshape(torch.mul(x, y), s)"

/* Taylor's series of a 64th, squared six times. */
#define MATRIX_EXP                                                        \
  "e = torch.eye(torch.size(self, -1))\n"                                 \
  "x = torch.div(self, 64.)\n"                                            \
  "y = torch.add(torch.mul(x, 0.), e)\n"                                  \
  "for i in range(12):\n"                                                 \
  "  y = torch.add(torch.matmul(torch.div(x, torch.sub(12, i)), y), e)\n" \
  "for i in range(6):\n"                                                  \
  "  y = torch.matmul(y, y)\n"                                            \
  "return y"

#define CHAIN                                            \
  "y = matrices[0]\n"                                    \
  "for i in range(torch.sub(torch.len(matrices), 1)):\n" \
  "  y = torch.matmul(y, matrices[torch.add(i, 1)])\n"   \
  "return y"

#define INNER                                                          \
  "if torch.eq(ops.prim.min(torch.dim(self), torch.dim(other)), 0):\n" \
  "  y = torch.mul(self, other)\n"                                     \
  "else:\n"                                                            \
  "  y = torch.tensordot(self, other, [-1], [-1])\n"                   \
  "return y"

#define DIAG_EMBED                                                                  \
  "down = ops.prim.max(torch.neg(offset), 0)\n"                                     \
  "right = ops.prim.max(offset, 0)\n"                                               \
  "v = torch.unsqueeze(torch.constant_pad_nd(self, [down, right]), -1)\n"           \
  "n = torch.arange(torch.size(v, -2))\n"                                           \
  "m = torch.eq(torch.sub(torch.unsqueeze(n, 0), torch.unsqueeze(n, 1)), offset)\n" \
  "y = torch.where(m, v, torch.zeros_like(v))\n"                                    \
  "return torch.movedim(y, [-2, -1], [dim1, dim2])"

#define BLOCK_DIAG                                                           \
  "w = 0\n"                                                                  \
  "for i in range(torch.len(tensors)):\n"                                    \
  "  w = torch.add(w, torch.size(torch.atleast_2d(tensors[i]), 1))\n"        \
  "l = annotate(List[Tensor], [])\n"                                         \
  "b = 0\n"                                                                  \
  "for i in range(torch.len(tensors)):\n"                                    \
  "  t = torch.atleast_2d(tensors[i])\n"                                     \
  "  e = torch.add(b, torch.size(t, 1))\n"                                   \
  "  _0 = torch.append(l, torch.constant_pad_nd(t, [b, torch.sub(w, e)]))\n" \
  "  b = e\n"                                                                \
  "return torch.cat(l, 0)"

#define CARTESIAN                                   \
  "if torch.eq(torch.len(tensors), 1):\n"           \
  "  y = tensors[0]\n"                              \
  "else:\n"                                         \
  "  l = annotate(List[Tensor], [])\n"              \
  "  g = torch.meshgrid(tensors)\n"                 \
  "  for i in range(torch.len(g)):\n"               \
  "    _0 = torch.append(l, torch.flatten(g[i]))\n" \
  "  y = torch.stack(l, 1)\n"                       \
  "return y"

#define TRILINEAR                          \
  "a = i1\n"                               \
  "b = i2\n"                               \
  "c = i3\n"                               \
  "for i in range(torch.len(expand1)):\n"  \
  "  a = torch.unsqueeze(a, expand1[i])\n" \
  "for i in range(torch.len(expand2)):\n"  \
  "  b = torch.unsqueeze(b, expand2[i])\n" \
  "for i in range(torch.len(expand3)):\n"  \
  "  c = torch.unsqueeze(c, expand3[i])\n" \
  "return torch.sum(torch.mul(torch.mul(a, b), c), sumdim)"

#define NORM                                                                              \
  "x = torch.abs(self)\n"                                                                 \
  "if torch.eq(ord, torch.inf):\n"                                                        \
  "  y = torch.amax(x, dim, keepdim)\n"                                                   \
  "else:\n"                                                                               \
  "  if torch.eq(ord, torch.neg(torch.inf)):\n"                                           \
  "    y = torch.amin(x, dim, keepdim)\n"                                                 \
  "  else:\n"                                                                             \
  "    if torch.eq(ord, 0):\n"                                                            \
  "      y = torch.sum(torch.to(torch.ne(x, 0), 6), dim, keepdim)\n"                      \
  "    else:\n"                                                                           \
  "      y = torch.pow(torch.sum(torch.pow(x, ord), dim, keepdim), torch.div(1., ord))\n" \
  "return y"

#define PDIST                                                                                      \
  "n = torch.size(self, 0)\n"                                                                      \
  "i = torch.triu_indices(n, n, 1)\n"                                                              \
  "d = torch.sub(torch.index_select(self, 0, torch.select(i, 0, 0)), torch.index_select(self, 0, " \
  "torch.select(i, 0, 1)))\n"                                                                      \
  "return torch.linalg_vector_norm(d, p, [1])"

#define CROSS                            \
  "a = torch.roll(self, [-1], [dim])\n"  \
  "b = torch.roll(other, [-1], [dim])\n" \
  "return torch.roll(torch.sub(torch.mul(self, b), torch.mul(a, other)), [-1], [dim])"

#define AT_LEAST                       \
  "y = self\n"                         \
  "if torch.eq(torch.dim(y), 0):\n"    \
  "  y = torch.reshape(y, [1])\n"      \
  "if torch.lt(torch.dim(y), rank):\n" \
  "  if torch.eq(torch.dim(y), 1):\n"  \
  "    y = torch.unsqueeze(y, 0)\n"    \
  "if torch.lt(torch.dim(y), rank):\n" \
  "  y = torch.unsqueeze(y, -1)\n"     \
  "return y"

const TsOp ts_ops_matrix[] = {
  { "aten::tensordot", "self,other,dims_self,dims_other", ts_composite, TENSORDOT },
  { "aten::inner", "self,other", ts_composite, INNER },
  { "aten::vdot", "self,other", ts_composite, "return torch.dot(self, other)" },
  { "aten::linalg_vecdot", "x,y,dim=-1", ts_composite, "return torch.sum(torch.mul(x, y), [dim])" },
  { "aten::linalg_matmul", "self,other", ts_composite, "return torch.matmul(self, other)" },
  { "aten::addmv", "self,mat,vec,beta=1,alpha=1", ts_composite,
    "return torch.add(torch.mul(self, beta), torch.mul(torch.matmul(mat, vec), alpha))" },
  { "aten::addr", "self,vec1,vec2,beta=1,alpha=1", ts_composite,
    "return torch.add(torch.mul(self, beta), torch.mul(torch.outer(vec1, vec2), alpha))" },
  { "aten::linalg_multi_dot", "matrices", ts_composite, CHAIN },
  { "aten::chain_matmul", "matrices", ts_composite, CHAIN },
  { "aten::kron", "self,other", ts_composite, KRON },
  { "aten::matrix_exp", "self", ts_composite, MATRIX_EXP },
  { "aten::linalg_matrix_exp", "self", ts_composite, MATRIX_EXP },
  { "aten::trace", "self", ts_composite, "return torch.sum(torch.diagonal(self))" },
  { "aten::diag_embed", "self,offset=0,dim1=-2,dim2=-1", ts_composite, DIAG_EMBED },
  { "aten::block_diag", "tensors", ts_composite, BLOCK_DIAG },
  { "aten::cartesian_prod", "tensors", ts_composite, CARTESIAN },
  { "aten::_trilinear", "i1,i2,i3,expand1,expand2,expand3,sumdim,unroll_dim=1", ts_composite,
    TRILINEAR },
  { TS_NORM, "self,ord,dim,keepdim", ts_composite, NORM },
  { "aten::dist", "self,other,p=2", ts_composite,
    "return torch.linalg_vector_norm(torch.sub(self, other), p)" },
  { "aten::_cdist_forward", "x1,x2,p,compute_mode=None", ts_composite,
    "return torch.cdist(x1, x2, p)" },
  { "aten::pdist", "self,p=2", ts_composite, PDIST },
  { "aten::_pdist_forward", "self,p=2", ts_composite, PDIST },
  { "aten::linalg_cross", "self,other,dim=-1", ts_composite, CROSS },
  { "aten::cross", "self,other,dim=-1", ts_composite, CROSS },
  { AT_LEAST_OF, "self,rank", ts_composite, AT_LEAST },
  { "aten::atleast_1d", "self", ts_composite, "return ops.sightline.at_least(self, 1)" },
  { "aten::atleast_2d", "self", ts_composite, "return ops.sightline.at_least(self, 2)" },
  { "aten::atleast_3d", "self", ts_composite, "return ops.sightline.at_least(self, 3)" },
  { "aten::fliplr", "self", ts_composite, "return torch.flip(self, [1])" },
  { "aten::flipud", "self", ts_composite, "return torch.flip(self, [0])" },
  { NULL },
};
