/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Running extremes and sums, windows of signals, bits and functions of a number that are a few
 * other operators, and convolutions of volumes that are transposed; written as TorchScript has
 * them, see ops_composite.c. */
#include "models/aten/ops.h"

#define NUMBERS "sightline::number_of"

/* RUNNING: each place takes the one @s before it into account, for @s of 1, 2, 4...: so all before
 * it after a few steps. */
#define RUNNING(start, step)          \
  start "n = torch.size(self, dim)\n" \
        "s = 1\n"                     \
        "for i in range(24):\n"       \
        "  if torch.lt(s, n):\n"      \
        "    m = torch.sub(n, s)\n" step "    s = torch.mul(s, 2)\n"

/* Of equal ones the last counts. */
#define EXTREME(compare, worst)                                                              \
  RUNNING (                                                                                  \
    "y = self\n"                                                                             \
    "z = torch.reshape(torch.arange(torch.size(self, dim)), torch.add([-1], torch.mul([1], " \
    "torch.sub(torch.sub(torch.dim(self), torch.remainder(dim, torch.dim(self))), 1))))\n"   \
    "z = torch.expand_as(z, self)\n",                                                        \
    "    f = torch.full_like(torch.narrow(y, dim, 0, s), " worst ")\n"                       \
    "    a = torch.cat([f, torch.narrow(y, dim, 0, m)], dim)\n"                              \
    "    b = torch.cat([torch.narrow(z, dim, 0, s), torch.narrow(z, dim, 0, m)], dim)\n"     \
    "    c = torch." compare "(a, y)\n"                                                      \
    "    y = torch.where(c, a, y)\n"                                                         \
    "    z = torch.where(c, b, z)\n")                                                        \
  "return (y, z)"

#define LOGCUMSUMEXP                                                                        \
  RUNNING ("y = self\n",                                                                    \
           "    f = torch.full_like(torch.narrow(y, dim, 0, s), torch.neg(torch.inf))\n"    \
           "    y = torch.logaddexp(y, torch.cat([f, torch.narrow(y, dim, 0, m)], dim))\n") \
  "return y"

/* A sum of cosines over the window, @periodic: of which the next one begins with the first number.
 */
#define WINDOW(value)                                          \
  "n = window_length\n"                                        \
  "if torch.__not__(periodic):\n"                              \
  "  n = torch.sub(n, 1)\n"                                    \
  "if torch.lt(window_length, 2):\n"                           \
  "  y = torch.ones([window_length], dtype=6)\n"               \
  "else:\n"                                                    \
  "  t = torch.div(torch.arange(window_length, dtype=6), n)\n" \
  "  a = torch.cos(torch.mul(t, 6.283185307179586))\n"         \
  "  y = " value "\n"                                          \
  "return y"
#define HANN "torch.rsub(torch.mul(a, 0.5), 0.5)"
#define HAMMING "torch.rsub(torch.mul(a, beta), alpha)"
#define BLACKMAN "torch.add(torch.rsub(torch.mul(a, 0.5), 0.34), torch.mul(torch.mul(a, a), 0.16))"
#define BARTLETT "torch.rsub(torch.abs(torch.sub(torch.mul(t, 2.), 1.)), 1.)"

/* A first guess by elementary functions, then Newton's steps. */
#define ERFINV                                                                          \
  "x = torch.to(self, 6)\n"                                                             \
  "l = torch.log(torch.clamp(torch.mul(torch.rsub(x, 1.), torch.add(x, 1.)), 1e-30))\n" \
  "b = torch.add(torch.mul(l, 0.5), 4.3307467508)\n"                                    \
  "y = torch.sub(torch.sqrt(torch.sub(torch.mul(b, b), torch.div(l, 0.147))), b)\n"     \
  "y = torch.mul(torch.sign(x), torch.sqrt(torch.clamp(y, 0.)))\n"                      \
  "for i in range(3):\n"                                                                \
  "  d = torch.mul(torch.exp(torch.neg(torch.mul(y, y))), 1.1283791670955126)\n"        \
  "  y = torch.sub(y, torch.div(torch.sub(torch.erf(y), x), torch.clamp(d, 1e-30)))\n"  \
  "y = torch.where(torch.eq(torch.abs(x), 1.), torch.mul(x, torch.inf), y)\n"           \
  "return torch.where(torch.gt(torch.abs(x), 1.), torch.full_like(y, torch.nan), y)"

#define TAKE                                                                         \
  "x = torch.flatten(self)\n"                                                        \
  "i = torch.where(torch.lt(index, 0), torch.add(index, torch.size(x, 0)), index)\n" \
  "return torch.reshape(torch.index_select(x, 0, torch.flatten(i)), torch.size(index))"

/* Zeros between the elements of the input; then a convolution with the weights turned around. */
#define CONV_TRANSPOSE3D                                                                  \
  "x = input\n"                                                                           \
  "if torch.eq(torch.dim(input), 4):\n"                                                   \
  "  x = torch.unsqueeze(input, 0)\n"                                                     \
  "t = [1, 1, 1]\n"                                                                       \
  "e = [0, 0, 0]\n"                                                                       \
  "f = [0, 0, 0]\n"                                                                       \
  "l = [1, 1, 1]\n"                                                                       \
  "a = annotate(List[int], [])\n"                                                         \
  "for i in range(3):\n"                                                                  \
  "  _0 = torch._set_item(t, i, ops.sightline.number_of(stride, i))\n"                    \
  "  _1 = torch._set_item(l, i, ops.sightline.number_of(dilation, i))\n"                  \
  "  _2 = torch._set_item(e, i, ops.sightline.number_of(padding, i))\n"                   \
  "  _3 = torch._set_item(f, i, ops.sightline.number_of(output_padding, i))\n"            \
  "for i in range(3):\n"                                                                  \
  "  d = torch.add(i, 2)\n"                                                               \
  "  n = torch.size(x, d)\n"                                                              \
  "  if torch.gt(t[i], 1):\n"                                                             \
  "    z = [0, torch.sub(t[i], 1)]\n"                                                     \
  "    for j in range(torch.sub(2, i)):\n"                                                \
  "      z = torch.add([0, 0], z)\n"                                                      \
  "    x = torch.constant_pad_nd(torch.unsqueeze(x, torch.add(d, 1)), z)\n"               \
  "    x = torch.narrow(torch.flatten(x, d, torch.add(d, 1)), d, 0, "                     \
  "torch.add(torch.mul(torch.sub(n, 1), t[i]), 1))\n"                                     \
  "  k = torch.sub(torch.mul(l[i], torch.sub(torch.size(weight, d), 1)), e[i])\n"         \
  "  a = torch.add([k, torch.add(k, f[i])], a)\n"                                         \
  "x = torch.constant_pad_nd(x, a)\n"                                                     \
  "w = torch.flip(weight, [2, 3, 4])\n"                                                   \
  "w = torch.flatten(torch.transpose(torch.unflatten(w, 0, [groups, -1]), 1, 2), 0, 1)\n" \
  "y = torch.conv3d(x, w, bias, 1, 0, l, groups)\n"                                       \
  "if torch.eq(torch.dim(input), 4):\n"                                                   \
  "  y = torch.squeeze(y, 0)\n"                                                           \
  "return y"

#define NUMBER_OF                                           \
  "if isinstance(numbers, int):\n"                          \
  "  y = numbers\n"                                         \
  "else:\n"                                                 \
  "  y = numbers[torch.remainder(i, torch.len(numbers))]\n" \
  "return y"

#define SEARCH                        \
  "r = right\n"                       \
  "if torch.__isnot__(side, None):\n" \
  "  r = torch.eq(side, \"right\")\n" \
  "x = torch.unsqueeze(self, -1)\n"   \
  "s = sorted_sequence\n"             \
  "if torch.gt(torch.dim(s), 1):\n"   \
  "  s = torch.unsqueeze(s, -2)\n"    \
  "if r:\n"                           \
  "  y = torch.le(s, x)\n"            \
  "else:\n"                           \
  "  y = torch.lt(s, x)\n"            \
  "return torch.sum(torch.to(y, 4), [-1])"

/* Numbers times a power of two. */
#define LEFT_SHIFT                                                 \
  "p = torch.pow(2, other)\n"                                      \
  "if torch.__not__(isinstance(other, int)):\n"                    \
  "  p = torch.type_as(torch.round(torch.pow(2., other)), self)\n" \
  "return torch.mul(self, p)"

const TsOp ts_ops_series[] = {
  { "aten::cummax", "self,dim", ts_composite, EXTREME ("gt", "torch.neg(torch.inf)") },
  { "aten::cummin", "self,dim", ts_composite, EXTREME ("lt", "torch.inf") },
  { "aten::logcumsumexp", "self,dim", ts_composite, LOGCUMSUMEXP },
  { "aten::hann_window",
    "window_length,periodic=True,dtype=None,layout=None,device=None,pin_memory=None", ts_composite,
    WINDOW (HANN) },
  { "aten::hamming_window",
    "window_length,periodic=True,alpha=0.54,beta=0.46,dtype=None,layout=None,device=None,"
    "pin_memory=None",
    ts_composite, WINDOW (HAMMING) },
  { "aten::blackman_window",
    "window_length,periodic=True,dtype=None,layout=None,device=None,pin_memory=None", ts_composite,
    WINDOW (BLACKMAN) },
  { "aten::bartlett_window",
    "window_length,periodic=True,dtype=None,layout=None,device=None,pin_memory=None", ts_composite,
    WINDOW (BARTLETT) },
  { "aten::logspace", "start,end,steps,base=10,dtype=None,layout=None,device=None,pin_memory=None",
    ts_composite, "return torch.pow(float(base), torch.linspace(start, end, steps))" },
  { "aten::erfinv", "self", ts_composite, ERFINV },
  { "aten::special_erfinv", "self", ts_composite, ERFINV },
  { "aten::take", "self,index", ts_composite, TAKE },
  { "aten::heaviside", "self,values", ts_composite,
    "return torch.where(torch.eq(self, 0), torch.type_as(values, self), "
    "torch.type_as(torch.gt(self, 0), self))" },
  { "aten::bitwise_left_shift", "self,other", ts_composite, LEFT_SHIFT },
  { "aten::__lshift__", "self,other", ts_composite, LEFT_SHIFT },
  { NUMBERS, "numbers,i", ts_composite, NUMBER_OF },
  { "aten::conv_transpose3d",
    "input,weight,bias=None,stride=1,padding=0,output_padding=0,groups=1,dilation=1", ts_composite,
    CONV_TRANSPOSE3D },
  { "aten::float_power", "self,exponent", ts_composite,
    "return torch.pow(torch.to(self, 6), exponent)" },
  { "aten::sinc", "self", ts_composite,
    "t = torch.mul(self, 3.141592653589793)\n"
    "d = torch.where(torch.eq(t, 0), torch.ones_like(t), t)\n"
    "return torch.where(torch.eq(t, 0), torch.ones_like(t), torch.div(torch.sin(d), d))" },
  { "aten::logaddexp2", "self,other", ts_composite,
    "a = torch.mul(self, 0.6931471805599453)\n"
    "b = torch.mul(other, 0.6931471805599453)\n"
    "return torch.div(torch.logaddexp(a, b), 0.6931471805599453)" },
  { "aten::isposinf", "self", ts_composite, "return torch.eq(self, torch.inf)" },
  { "aten::isneginf", "self", ts_composite, "return torch.eq(self, torch.neg(torch.inf))" },
  { "aten::signbit", "self", ts_composite, "return torch.lt(self, 0)" },
  { "aten::isclose", "self,other,rtol=0.00001,atol=0.00000001,equal_nan=False", ts_composite,
    "d = torch.le(torch.abs(torch.sub(self, other)), torch.add(torch.mul(torch.abs(other), rtol), "
    "atol))\n"
    "return torch.logical_or(torch.eq(self, other), d)" },
  { "aten::nansum", "self,dim=None,keepdim=False,dtype=None", ts_composite,
    "return torch.sum(torch.masked_fill(self, torch.ne(self, self), 0.), dim, keepdim)" },
  { "aten::nanmean", "self,dim=None,keepdim=False,dtype=None", ts_composite,
    "n = torch.sum(torch.to(torch.eq(self, self), 6), dim, keepdim)\n"
    "return torch.div(torch.nansum(self, dim, keepdim), n)" },
  { "aten::isin", "elements,test_elements,assume_unique=False,invert=False", ts_composite,
    "y = torch.any(torch.eq(torch.unsqueeze(elements, -1), torch.flatten(test_elements)), -1)\n"
    "if invert:\n"
    "  y = torch.logical_not(y)\n"
    "return y" },
  { "aten::searchsorted", "sorted_sequence,self,out_int32=False,right=False,side=None,sorter=None",
    ts_composite, SEARCH },
  { "aten::special_logit", "self,eps=None", ts_composite, "return torch.logit(self, eps)" },
  { "aten::special_xlog1py", "self,other", ts_composite,
    "return torch.xlogy(self, torch.add(other, 1.))" },
  { "aten::special_entr", "self", ts_composite, "return torch.neg(torch.xlogy(self, self))" },
  { "aten::special_ndtr", "self", ts_composite,
    "return torch.mul(torch.erfc(torch.mul(self, -0.7071067811865476)), 0.5)" },
  { "aten::special_erf", "self", ts_composite, "return torch.erf(self)" },
  { "aten::special_erfc", "self", ts_composite, "return torch.erfc(self)" },
  { "aten::special_exp2", "self", ts_composite, "return torch.exp2(self)" },
  { "aten::special_expm1", "self", ts_composite, "return torch.expm1(self)" },
  { "aten::special_log1p", "self", ts_composite, "return torch.log1p(self)" },
  { "aten::special_sinc", "self", ts_composite, "return torch.sinc(self)" },
  { "aten::special_round", "self", ts_composite, "return torch.round(self)" },
  { "aten::special_xlogy", "self,other", ts_composite, "return torch.xlogy(self, other)" },
  { "aten::special_softmax", "self,dim,dtype=None", ts_composite,
    "return torch.softmax(self, dim)" },
  { "aten::special_log_softmax", "self,dim,dtype=None", ts_composite,
    "return torch.log_softmax(self, dim)" },
  { "aten::special_logsumexp", "self,dim,keepdim=False", ts_composite,
    "return torch.logsumexp(self, dim, keepdim)" },
  { NULL },
};
