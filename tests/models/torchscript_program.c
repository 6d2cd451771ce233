/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs of TorchScript archives: what forward() computes, compared with what torch 1.13 computed
 * of the same programs, and what is refused, with the file and the line.
 */
#include "core/graph/file_image.h"
#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/models/torchscript_run.h"
#include "tests/support/program.h"

static const ProgramRow rows[] = {
  { "arithmetic",
    "return torch.add(torch.mul(x, 2), torch.sub(x, 1.5, 2), alpha=3)",
    24,
    {
      -15.25f, -6.5f,  -11.5f, -2.75f, -7.75f,  -12.75f, -4, -9,  -14,    -5.25f,  -10.25f, -15.25f,
      -6.5f,   -11.5f, -2.75f, -7.75f, -12.75f, -4,      -9, -14, -5.25f, -10.25f, -15.25f, -6.5f,
    } },
  { "whole-numbers",
    "a = torch.to(torch.mul(x, 4), 4)\n"
    "b = torch.floor_divide(a, 3)\n"
    "return torch.to(torch.add(b, torch.remainder(a, 3)), 6)",
    24,
    { -1, 2, 0, 3, 1, -1, 2, 0, 0, 1, 1, -1, 2, 0, 3, 1, -1, 2, 0, 0, 1, 1, -1, 2 } },
  { "choices",
    "y = torch.where(torch.gt(x, 0.25), x, torch.neg(x))\n"
    "return torch.masked_fill(y, torch.le(y, 0.3), 9.)",
    24,
    { 1.25f, 0.5f, 0.5f,  1.25f, 9,     0.75f, 1, 9, 1,     0.75f, 9,     1.25f,
      0.5f,  0.5f, 1.25f, 9,     0.75f, 1,     9, 1, 0.75f, 9,     1.25f, 0.5f } },
  { "functions",
    "a = torch.stack([torch.sigmoid(x), torch.tanh(x), torch.exp(x), "
    "torch.rsqrt(torch.add(torch.abs(x), 1))])\n"
    "return torch.select(torch.sum(a, [2, 4]), 1, 0)",
    12,
    { 4.3394766f, 3.9348776f, 3.5708055f, 1.0932024f, -0.26378506f, -1.2155837f, 13.06172f,
      10.033201f, 8.3812122f, 6.1604137f, 6.5276055f, 6.157649f } },
  { "clamps",
    "return torch.cat([torch.hardtanh(x, -1., 0.5), torch.clamp(x, -0.59999999999999998, None)], "
    "1)",
    48,
    { -1,
      0.5f,
      -0.5f,
      0.5f,
      0.25f,
      -0.75f,
      0.5f,
      0,
      -1,
      0.5f,
      -0.25f,
      -1,
      0.5f,
      -0.5f,
      0.5f,
      0.25f,
      -0.75f,
      0.5f,
      0,
      -1,
      0.5f,
      -0.25f,
      -1,
      0.5f,
      -0.60000002f,
      0.5f,
      -0.5f,
      1.25f,
      0.25f,
      -0.60000002f,
      1,
      0,
      -0.60000002f,
      0.75f,
      -0.25f,
      -0.60000002f,
      0.5f,
      -0.5f,
      1.25f,
      0.25f,
      -0.60000002f,
      1,
      0,
      -0.60000002f,
      0.75f,
      -0.25f,
      -0.60000002f,
      0.5f } },
  { "in-place",
    "y = torch.clone(x)\n"
    "z = torch.add_(y, 1)\n"
    "w = torch.relu_(torch.select(y, 1, 0))\n"
    "return torch.add(y, z)",
    24,
    { 0, 3, 1,    4.5f, 2.5f, 0.5f, 4, 2, 0,    3.5f, 1.5f,  0,
      3, 1, 4.5f, 2.5f, 0.5f, 4,    2, 0, 3.5f, 1.5f, -0.5f, 3 } },
  { "written-views",
    "y = torch.clone(x)\n"
    "a = torch.select(y, 0, 0)\n"
    "b = torch.select(a, 0, 1)\n"
    "c = torch.slice(b, 1, 1, 3)\n"
    "d = torch.fill_(c, 7)\n"
    "e = torch.zero_(torch.select(torch.slice(y, 1), 2, 0))\n"
    "return torch.add(b, torch.select(a, 0, 0))",
    12,
    { 0, 0, 0, 0, -0.5f, 6.25f, 8, -1, -0.25f, 7.75f, 6.75f, -0.75f } },
  { "changed-base",
    "y = torch.clone(x)\n"
    "v = torch.permute(y, [0, 2, 3, 1])\n"
    "w = torch.view(y, [4, 6])\n"
    "z = torch.mul_(y, 3)\n"
    "return torch.add(torch.reshape(v, [4, 6]), w)",
    24,
    { -7.5f, 3,     0,     2.25f,  -0.75f, 1.5f,  6.75f, 0.75f,  -2.25f, 0,     -3,    -0.75f,
      4.5f,  -1.5f, 3.75f, -2.25f, -5.25f, 5.25f, 2.25f, -3.75f, 1.5f,   -4.5f, -7.5f, 3 } },
  { "written-order",
    "y = torch.clone(x)\n"
    "v = torch.transpose(y, 1, 3)\n"
    "u = torch.add_(torch.select(torch.unsqueeze(v, 0), 2, 3), 5)\n"
    "return y",
    24,
    { -1.25f, 0.5f,  -0.5f, 6.25f, 0.25f,  -0.75f, 1, 5, -1,    0.75f,  -0.25f, 3.75f,
      0.5f,   -0.5f, 1.25f, 5.25f, -0.75f, 1,      0, 4, 0.75f, -0.25f, -1.25f, 5.5f } },
  { "pools",
    "a = torch.flatten(torch.avg_pool2d(x, [2, 2], [1, 1], [1, 1]))\n"
    "b = torch.flatten(torch.adaptive_avg_pool2d(x, [2, 3]))\n"
    "return torch.cat([a, b])",
    52,
    { -0.3125f, -0.1875f, 0,        0.1875f, 0.3125f,  -0.25f,   -0.3125f, 0.0625f,  0.4375f,
      0.3125f,  -0.1875f, -0.1875f, 0.1875f, -0.125f,  -0.3125f, -0.25f,   -0.0625f, 0.125f,
      -0.375f,  -0.3125f, 0.125f,   0,       0.1875f,  0.375f,   0.0625f,  -0.0625f, 0.0625f,
      0.4375f,  0.125f,   -0.1875f, 0,       0.1875f,  -0.125f,  -0.4375f, -0.125f,  0.1875f,
      0.125f,   -0.375f,  -0.1875f, 0.125f,  -0.3125f, 0.0625f,  0.4375f,  -0.1875f, 0.1875f,
      -0.125f,  0.0625f,  0.4375f,  0.125f,  0.1875f,  -0.125f,  -0.4375f } },
  { "reductions",
    "return torch.cat([torch.mean(x, [2, 3]), torch.amax(x, [2, 3]), torch.std(x, [2, 3], True)])",
    6,
    { -0.10416666f, 0.041666668f, 1.25f, 1.25f, 0.86902726f, 0.80363756f } },
  { "orders",
    "a, b, = torch.topk(torch.flatten(x, 1), 5)\n"
    "return torch.mul(a, 10)",
    5,
    { 12.5f, 12.5f, 10, 10, 7.5f } },
  { "softmax",
    "return torch.softmax(x, 1)",
    24,
    { 0.14804719f, 0.7310586f,  0.14804719f, 0.7310586f,  0.7310586f,  0.14804719f,
      0.7310586f,  0.7310586f,  0.14804719f, 0.7310586f,  0.7310586f,  0.14804719f,
      0.85195273f, 0.26894143f, 0.85195273f, 0.26894143f, 0.26894143f, 0.85195273f,
      0.26894143f, 0.26894143f, 0.85195273f, 0.26894143f, 0.26894143f, 0.85195273f } },
  { "products",
    "return torch.matmul(x, torch.transpose(x, 2, 3))",
    18,
    { 3.625f, -1.1875f, 0.1875f, -1.1875f, 1.625f, -1.0625f, 0.1875f, -1.0625f, 3.1875f, 2.125f,
      -1.125f, -0.9375f, -1.125f, 2.5625f, -1.3125f, -0.9375f, -1.3125f, 2.4375f } },
  { "shuffles",
    "return torch.roll(torch.flip(x, [3]), [1], [2])",
    24,
    { -1.25f, -0.25f, 0.75f,  -1,    1.25f, -0.5f, 0.5f,  -1.25f, 0,  1, -0.75f, 0.25f,
      0.5f,   -1.25f, -0.25f, 0.75f, 0.25f, 1.25f, -0.5f, 0.5f,   -1, 0, 1,      -0.75f } },
  { "parts",
    "a, b, = torch.split_with_sizes(x, [1, 3], 3)\n"
    "c, d, = torch.chunk(b, 2, 3)\n"
    "return torch.cat([d, a, c], 3)",
    24,
    { 1.25f, -1.25f, 0.5f,  -0.5f, 0,  0.25f,  -0.75f, 1, -1.25f, -1,    0.75f,  -0.25f,
      0.25f, 0.5f,   -0.5f, 1.25f, -1, -0.75f, 1,      0, 0.5f,   0.75f, -0.25f, -1.25f } },
  { "resized",
    "return torch.upsample_bilinear2d(x, [2, 5], False, None)",
    20,
    { -0.875f,  -0.13124995f, 0.03125f,    0.19375005f, 0.9375f,       -0.6875f, 0.056250051f,
      0.21875f, -0.23750007f, -0.9375f,    0.1875f,     -0.031250015f, 0.40625f, 0.63749993f,
      -0.0625f, 0.375f,       0.15624999f, -0.4375f,    -0.61874992f,  0.125f } },
  { "padded",
    "return torch.pad(x, [1, 0, 0, 1], \"reflect\")",
    40,
    { 0.5f,   -1.25f, 0.5f,   -0.5f,  1.25f,  -0.75f, 0.25f,  -0.75f, 1, 0,
      0.75f,  -1,     0.75f,  -0.25f, -1.25f, -0.75f, 0.25f,  -0.75f, 1, 0,
      -0.5f,  0.5f,   -0.5f,  1.25f,  0.25f,  1,      -0.75f, 1,      0, -1,
      -0.25f, 0.75f,  -0.25f, -1.25f, 0.5f,   1,      -0.75f, 1,      0, -1 } },
  { "made",
    "a = torch.arange(0, 4, dtype=6, layout=0, device=torch.device(\"cpu\"), pin_memory=False)\n"
    "b = torch.mul(torch.ones([3, 1], dtype=6), a)\n"
    "return torch.add(x, torch.add(b, torch.tensor([[1], [2], [3]])))",
    24,
    { -0.25f, 2.5f, 2.5f,  5.25f, 2.25f, 2.25f, 5, 5, 2,     4.75f, 4.75f, 4.75f,
      1.5f,   1.5f, 4.25f, 4.25f, 1.25f, 4,     4, 4, 3.75f, 3.75f, 3.75f, 6.5f } },
  { "loops",
    "y = x\n"
    "n = 0\n"
    "for i in range(3):\n"
    "  if torch.eq(torch.remainder(i, 2), 0):\n"
    "    y = torch.add(y, i)\n"
    "  else:\n"
    "    n = torch.add(n, 1)\n"
    "return torch.mul(y, n)",
    24,
    { 0.75f, 2.5f, 1.5f,  3.25f, 2.25f, 1.25f, 3, 2, 1,     2.75f, 1.75f, 0.75f,
      2.5f,  1.5f, 3.25f, 2.25f, 1.25f, 3,     2, 1, 2.75f, 1.75f, 0.75f, 2.5f } },
  { "lists",
    "sizes = annotate(List[int], [])\n"
    "for i in range(torch.dim(x)):\n"
    "  _0 = torch.append(sizes, torch.size(x, i))\n"
    "_1 = torch.add(sizes, [7])\n"
    "d = {\"a\": torch.len(_1), \"b\": torch.floordiv(-7, 2)}\n"
    "c = torch.add(d[\"a\"], d[\"b\"])\n"
    "return torch.mul(x, torch.add(c, torch.mul(sizes[-1], 0.5)))",
    24,
    { -3.75f, 1.5f,  -1.5f, 3.75f, 0.75f,  -2.25f, 3, 0,  -3,    2.25f,  -0.75f, -3.75f,
      1.5f,   -1.5f, 3.75f, 0.75f, -2.25f, 3,      0, -3, 2.25f, -0.75f, -3.75f, 1.5f } },
  { "numbers",
    "n = torch.floor(torch.mul(float(torch.size(x, 3)), 0.80000000000000004))\n"
    "m = ops.prim.min([n, 9, torch.__range_length(2, 11, 4)])\n"
    "y = int(ops.prim.NumToTensor(torch.size(x, 2)))\n"
    "return torch.add(x, torch.add(torch.mul(m, 10), y))",
    24,
    { 31.75f, 33.5f, 32.5f,  34.25f, 33.25f, 32.25f, 34, 33, 32,     33.75f, 32.75f, 31.75f,
      33.5f,  32.5f, 34.25f, 33.25f, 32.25f, 34,     33, 32, 33.75f, 32.75f, 31.75f, 33.5f } },
  { "texts",
    "s = torch.format(\"{}-{}\", torch.len(torch.size(x)), \"b\")\n"
    "if torch.eq(s, \"4-b\"):\n"
    "  y = torch.neg(x)\n"
    "else:\n"
    "  y = x\n"
    "if isinstance(y, Tensor):\n"
    "  z = torch.mul(y, 2)\n"
    "else:\n"
    "  z = y\n"
    "return z",
    24,
    { 2.5f, -1, 1,     -2.5f, -0.5f, 1.5f, -2, -0, 2,     -1.5f, 0.5f, 2.5f,
      -1,   1,  -2.5f, -0.5f, 1.5f,  -2,   -0, 2,  -1.5f, 0.5f,  2.5f, -1 } },
  { "quantised",
    "a = torch.quantize_per_tensor(x, 0.02, 130, 13)\n"
    "b = torch.quantize_per_tensor(torch.neg(x), 0.014999999999999999, 120, 13)\n"
    "c = ops.quantized.add(a, b, 0.0050000000000000001, 128)\n"
    "return torch.dequantize(torch.relu(c))",
    24,
    { 0.0049999999f, 0.0049999999f, 0, 0, 0, 0, 0, 0, 0.0049999999f, 0.0099999998f, 0.015f,
      0.0049999999f, 0.0049999999f, 0, 0, 0, 0, 0, 0, 0.0049999999f, 0.0099999998f, 0.015f,
      0.0049999999f, 0.0049999999f } },
  { "quantised-clamps",
    "a = torch.quantize_per_tensor(torch.mul(x, 8), 0.070000000000000007, 100, 13)\n"
    "b = torch.dequantize(torch.hardtanh(a, 0., 6.))\n"
    "c = torch.mul(torch.dequantize(torch.hardtanh(a)), torch.dequantize(torch.clamp(a, "
    "-0.29999999999999999, 0.69999999999999996)))\n"
    "return torch.add(b, c)",
    24,
    { 0.274399996f,
      4.67600012f,
      0.274399996f,
      6.70599985f,
      2.71600008f,
      0.274399996f,
      6.70599985f,
      0,
      0.274399996f,
      6.70599985f,
      0.274399996f,
      0.274399996f,
      4.67600012f,
      0.274399996f,
      6.70599985f,
      2.71600008f,
      0.274399996f,
      6.70599985f,
      0,
      0.274399996f,
      6.70599985f,
      0.274399996f,
      0.274399996f,
      4.67600012f } },
  { "quantised-tables",
    "a = torch.quantize_per_tensor(x, 0.02, 130, 13)\n"
    "b = torch.dequantize(ops.quantized.hardswish(a, 0.01, 40))\n"
    "return torch.add(b, torch.dequantize(torch.sigmoid(a)))",
    24,
    { -0.13734373f, 0.91109371f,   0.16890626f,   1.6573437f,  0.68859375f,  0.040312499f,
      1.4004687f,   0.5f,          -0.060468733f, 1.1596875f,  0.33140624f,  -0.13734373f,
      0.91109371f,  0.16890626f,   1.6573437f,    0.68859375f, 0.040312499f, 1.4004687f,
      0.5f,         -0.060468733f, 1.1596875f,    0.33140624f, -0.13734373f, 0.91109371f } },
  { "normalised",
    "w = torch.view(torch.linspace(-1., 1., 12, dtype=6), [2, 2, 1, 3])\n"
    "m = torch.tensor([0.5, -0.25])\n"
    "v = torch.tensor([2., 0.5])\n"
    "y = torch.batch_norm(torch.conv2d(x, w, m, [1, 1], [0, 1]), v, m, m, v, False, 0.1, 0.001, "
    "True)\n"
    "d = torch.batch_norm(torch.conv2d(y, torch.view(torch.slice(torch.flatten(w), 0, 0, 6), [2, "
    "1, 1, 3]), None, [1, 1], [0, 0], [1, 1], 2), None, None, m, v, False, 0.1, 0.001, True)\n"
    "return torch.cat([torch.flatten(y), torch.flatten(d), torch.flatten(torch.sub(torch.conv2d(x, "
    "w, m, [1, 1], [0, 1]), y))])",
    60,
    { 1.367596f,     1.8495939f,   -0.94599324f,  -1.1387925f,  1.0462642f,   0.21080135f,
      -0.11053055f,  -0.52826202f, 0.72493219f,   1.0462641f,   1.4318624f,   2.9099891f,
      -0.39449105f,  0.42429167f,  0.76143742f,   0.66511005f,  -0.16972718f, 0.18347317f,
      -0.36238196f,  -0.76374602f, 0.055036694f,  -0.94034618f, -1.133001f,   -0.77980047f,
      -1.9644912f,   -0.60153621f, -1.1653038f,   -0.20090991f, -2.115242f,   -3.2303872f,
      0.3452557f,    -0.29808575f, 0.43804529f,   0.47309917f,  0.82569969f,  1.493785f,
      -0.25395966f,  -0.39504838f, 0.42326605f,   0.47970164f,  -0.15990055f, 0.084653214f,
      0.17871237f,   0.30098927f,  -0.065841377f, -0.15990049f, -0.27277148f, -0.70544362f,
      -0.060054392f, 0.28025383f,  0.42038071f,   0.38034445f,  0.033363551f, 0.18016317f,
      -0.046708971f, -0.21352673f, 0.12678149f,   -0.28692657f, -0.36699903f, -0.22019941f } },
  { "groups",
    "a = torch.group_norm(x, 2, torch.tensor([1.5, 2.]), None, 0.001)\n"
    "b = torch.layer_norm(x, [3, 4], None, None, 0.001)\n"
    "return torch.add(a, torch.mul(torch.instance_norm(x, None, torch.tensor([3., 4.]), None, "
    "None, True, 0.1, 0.001, True), b))",
    24,
    { -4.2989035f,  3.7917643f,  -1.9132973f, 9.9637508f,  2.0950432f,   -2.888803f,
      7.7261181f,   0.57862592f, -3.6840053f, 5.6687889f,  -0.75748754f, -4.2989035f,
      3.9253259f,   -3.7256083f, 11.876797f,  1.6964109f,  -5.1113729f,  9.0155191f,
      -0.32171658f, -6.2863493f, 6.3650289f,  -2.1290565f, -7.2505388f,  3.9253259f } },
  { "transposed",
    "w = torch.view(torch.linspace(-1., 1., 8, dtype=6), [2, 1, 2, 2])\n"
    "return torch.prelu(torch.conv_transpose2d(x, w, None, [1, 2], [1, 0], [0, 1], 2), "
    "torch.tensor([0.25, 0.5]))",
    36,
    { 0.28571427f,   -1.4901161e-08f, 0.53571427f,
      0.46428573f,   -0.19642857f,    -0.1607143f,
      -0.13392857f,  -0.044642843f,   0,
      0.89285713f,   0.67857146f,     -0.10714287f,
      -0.10714286f,  -0.044642851f,   0.035714328f,
      1.25f,         0.89285719f,     0,
      0.25000003f,   0.17857146f,     -0.10714288f,
      -0.035714298f, 0.89285719f,     1.25f,
      0.035714328f,  -0.089285702f,   0,
      -0.21428572f,  -0.21428573f,    0.67857146f,
      0.89285713f,   -0.089285687f,   -0.26785713f,
      -0.3214286f,   -0.39285713f,    0 } },
  { "indices",
    "a = torch.tensor([1, 0, 1])\n"
    "b = torch.tensor([[2], [0]])\n"
    "c = torch.index(x, [None, None, b, a])\n"
    "d = torch.index(x, [None, a])\n"
    "return torch.cat([torch.flatten(c), torch.flatten(torch.mean(d, [3]))])",
    21,
    { 0.75f, -1,     0.75f,    0.5f,     -1.25f, 0.5f,   -0.25f,   0.75f,  -0.25f,   -0.5f,   0.5f,
      -0.5f, 0.375f, -0.1875f, -0.0625f, 0,      0.125f, -0.4375f, 0.375f, -0.1875f, -0.0625f } },
  { "written-indices",
    "y = torch.clone(x)\n"
    "a = torch.index_put_(y, [None, None, None, torch.tensor([0, 3])], torch.tensor(5.))\n"
    "b = torch.index_put(y, [torch.tensor([0]), torch.tensor([1])], torch.tensor([[2.]]))\n"
    "return torch.scatter(b, 3, torch.argmax(x, 3, True), 9.)",
    24,
    { 5, 0.5f, -0.5f, 9, 5, -0.75f, 9, 5, 5, 9, -0.25f, 5, 2, 2, 9, 2, 2, 9, 2, 2, 9, 2, 2, 2 } },
  { "halves",
    "return torch.add(torch.glu(x, 3), torch.mean(torch.lerp(x, torch.trunc(x), 0.25)))",
    12,
    { -0.50578004f, 0.35479578f, 0.14891048f, -0.40885416f, -0.47167766f, 0.13317093f, 0.35479578f,
      -0.31494242f, -0.40885416f, 0.23508726f, 0.13317093f, -0.18946901f } },
  { "windows",
    "return torch.im2col(x, [2, 2], [1, 1], [0, 1], [2, 2])",
    24,
    { 0, 0.5f,  1.25f, -1.25f, -0.5f, 0, 0, -0.75f, 0,  0.25f,  1, 0,
      0, -0.5f, 0.25f, 0.5f,   1.25f, 0, 0, 1,      -1, -0.75f, 0, 0 } },
  { "triangles",
    "return torch.movedim(torch.triu(x, 1), 1, 3)",
    24,
    { 0, 0, 0.5f, -0.5f, -0.5f, 1.25f, 1.25f, 0.25f, 0, 0, 0,      0,
      1, 0, 0,    -1,    0,     0,     0,     0,     0, 0, -1.25f, 0.5f } },
  { "axes",
    "a = torch.pixel_unshuffle(torch.pad(x, [0, 0, 0, 1]), 2)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(torch.frobenius_norm(x, [1], True))])",
    44,
    { -1.25f,      -0.5f,  -1,    -0.25f, 0.5f,   1.25f,       0.75f,       -1.25f,     0.25f,
      1,           0,      0,     -0.75f, 0,      0,           0,           0.5f,       1.25f,
      0.75f,       -1.25f, -0.5f, 0.25f,  -0.25f, 0.5f,        -0.75f,      0,          0,
      0,           1,      -1,    0,      0,      1.3462912f,  0.70710677f, 1.3462912f, 1.2747549f,
      0.79056942f, 1.25f,  1,     1,      1.25f,  0.79056942f, 1.2747549f,  1.3462912f } },
  { "kept-boxes",
    "b = torch.reshape(x, [6, 4])\n"
    "a = torch.slice(b, 1, 0, 2)\n"
    "c = torch.add(torch.abs(torch.slice(b, 1, 2, 4)), 0.5)\n"
    "boxes = torch.cat([a, torch.add(a, c)], 1)\n"
    "s = torch.select(boxes, 1, 0)\n"
    "mask = torch.gt(s, -1.1)\n"
    "bb = torch.index(boxes, [mask])\n"
    "ss = torch.index(s, [mask])\n"
    "keep = torch.slice(ops.torchvision.nms(bb, ss, 0.1), 0, 0, 4)\n"
    "return torch.cat([torch.index(bb, [keep]), torch.unsqueeze(torch.index(ss, [keep]), 1)], 1)",
    20,
    { 0.75f,  -0.25f, 2.5f,   0.75f, 0.75f,  0.25f, -0.75f, 1.75f, -0.25f, 0.25f,
      -0.75f, 1,      -0.25f, 2.5f,  -0.75f, 0,     0,      0,     0,      0 } },
  { "written-rows",
    "b = torch.reshape(x, [6, 4])\n"
    "a = torch.slice(b, 1, 0, 2)\n"
    "c = torch.add(torch.abs(torch.slice(b, 1, 2, 4)), 0.5)\n"
    "boxes = torch.cat([a, torch.add(a, c)], 1)\n"
    "s = torch.select(boxes, 1, 0)\n"
    "mask = torch.gt(s, -1.1)\n"
    "bb = torch.index(boxes, [mask])\n"
    "ss = torch.index(s, [mask])\n"
    "y = torch.zeros([6, 4])\n"
    "d = torch.index_put_(y, [(torch.where(mask))[0]], torch.mul(bb, 2))\n"
    "return y",
    24,
    { 0, 0,  0,    0,    0.5f,  -1.5f, 3.5f,  -0.5f, -2,   1.5f,  -0.5f, 5,
      1, -1, 4.5f, 0.5f, -1.5f, 2,     -0.5f, 5,     1.5f, -0.5f, 5,     1.5f } },
  { "long-range",
    "a = torch.arange(10, 400010, 2, dtype=6, layout=0, device=torch.device(\"cpu\"), "
    "pin_memory=False)\n"
    "return torch.add(torch.mul(torch.sum(x), 0), torch.slice(a, 0, 199998, 200000))",
    2,
    { 400006, 400008 } },
  { "top-rows",
    "b = torch.reshape(x, [6, 4])\n"
    "a = torch.slice(b, 1, 0, 2)\n"
    "c = torch.add(torch.abs(torch.slice(b, 1, 2, 4)), 0.5)\n"
    "boxes = torch.cat([a, torch.add(a, c)], 1)\n"
    "s = torch.select(boxes, 1, 0)\n"
    "mask = torch.gt(s, -1.1)\n"
    "bb = torch.index(boxes, [mask])\n"
    "ss = torch.index(s, [mask])\n"
    "t, i, = torch.topk(ss, 4)\n"
    "w = torch.index(torch.select(torch.nonzero(mask), 1, 0), [i])\n"
    "return torch.add(torch.mul(t, 100), torch.to(w, 6))",
    4,
    { 80, 53, 26, -71 } },
};

static void
expect_outputs (const char *signature, const char *body, const char *more, const char *shape,
                const char *const *names)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = load_program (signature, body, more, shape, &error);
  g_assert_no_error (error);
  const SlGraph *graph = sl_model_graph (model);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++) {
    g_autofree char *text = sl_tensor_describe (sl_graph_output_tensor (graph, i));
    g_autofree char *both =
      g_strdup_printf ("%s %s", sl_graph_output_tensor (graph, i)->name, text);
    g_assert_cmpstr (both, ==, names[i]);
  }
  g_assert_null (names[sl_graph_n_outputs (graph)]);
}

/* Tuples and lists are numbered, dictionaries have names; an input that is returned, and one tensor
 * twice, are outputs of their own. */
static void
test_outputs (void)
{
  static const char more[] = "class Head(Module):\n"
                             "  def __init__(self: __torch__.Head, n: int) -> NoneType:\n"
                             "    self.n = n\n"
                             "    return None\n"
                             "  def forward(self: __torch__.Head, x: Tensor, k: int=2) -> Tensor:\n"
                             "    return torch.mul(x, torch.add(self.n, k))\n";
  expect_outputs ("x: Tensor) -> Tensor", "return x", NULL, "1,4",
                  (const char *[]){ "output float32[1,4]", NULL });
  expect_outputs ("x: Tensor) -> Tuple[Tensor, List[Tensor]]",
                  "y = torch.argmax(x, 1)\nreturn (y, [x, x], None, 3)", NULL, "1,4",
                  (const char *[]){ "output.0 int64[1]", "output.1.0 float32[1,4]",
                                    "output.1.1 float32[1,4]", NULL });
  expect_outputs ("x: Tensor) -> Dict[str, Tensor]",
                  "return {\"out\": torch.relu(x), \"aux\": torch.sum(x)}", NULL, "1,4",
                  (const char *[]){ "out float32[1,4]", "aux float32[]", NULL });
  expect_outputs (
    "images: List[Tensor]) -> List[Dict[str, Tensor]]",
    "a = images[0]\nb = images[1]\nreturn [{\"boxes\": a}, {\"boxes\": torch.unsqueeze(b, 0)}]",
    NULL, "3,4,5;1,3,6,7",
    (const char *[]){ "boxes float32[3,4,5]", "boxes.1 float32[1,3,6,7]", NULL });
  expect_outputs (
    "x: Tensor,\n    y: Optional[Tensor]=None) -> Tensor",
    "head = __torch__.Head(self.factor)\nif torch.__is__(y, None):\n  z = (head).forward(x, )\n"
    "else:\n  z = x\nreturn z",
    more, "2,2", (const char *[]){ "output float32[2,2]", NULL });
  expect_outputs (
    "x: Tensor) -> Tensor",
    "m = __torch__.Mode.LOUD\nif torch.eq(m.value, \"loud\"):\n  y = torch.flatten(x)\nelse:\n"
    "  y = x\nreturn y",
    "class Mode(Enum):\n  QUIET = \"quiet\"\n  LOUD = \"loud\"\n", "2,2",
    (const char *[]){ "output float32[4]", NULL });
  expect_outputs ("x: Tensor) -> Tensor", "a = torch.quantize_per_tensor(x, 0.5, 3, 13)\nreturn a",
                  NULL, "2,2", (const char *[]){ "output uint8[2,2]", NULL });
}

/* A normalisation behind a convolution is part of its weights: no other node is left. */
static void
test_folded (void)
{
  static const char body[] =
    "w = torch.view(torch.linspace(-1., 1., 12, dtype=6), [2, 2, 1, 3])\n"
    "m = torch.tensor([0.5, -0.25])\n"
    "return torch.relu_(torch.batch_norm(torch.conv2d(x, w), m, m, m, torch.tensor([1., 2.]), "
    "False, 0.1, 0.001))";
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model =
    load_program ("x: Tensor) -> Tensor", body, NULL, PROGRAM_SHAPE, &error);
  g_assert_no_error (error);
  const SlGraph *graph = sl_model_graph (model);
  guint n = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    n += sl_graph_node (graph, i)->op == SL_OP_MUL || sl_graph_node (graph, i)->op == SL_OP_ADD;
  g_assert_cmpuint (n, ==, 0);
}

/* What torchvision's functions do for each found object is done without their steps: masks stay
 * over their boxes, points are what torch's heatmaps_to_keypoints() made of the same maps. */
static void
test_two_stage (void)
{
  static const char signature[] = "x: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]";
  static const char body[] =
    "r = torch.tensor([[1.5, 2.25, 9.75, 13.5]])\n"
    "m = __torch__.torchvision.models.detection.roi_heads.paste_masks_in_image(torch.slice(x, 1, "
    "0, 1), r, [40, 60], )\n"
    "e = __torch__.torchvision.models.detection.roi_heads._onnx_paste_masks_in_image_loop(torch.pad"
    "(m, [1, 1, 1, 1]), r, 40, 60, )\n"
    "a, b, = __torch__.torchvision.models.detection.roi_heads.heatmaps_to_keypoints(x, r, )\n"
    "c, d, = __torch__.torchvision.models.detection.roi_heads._onnx_heatmaps_to_keypoints_loop(x, "
    "r, r, r, r, r, r, r, 2, )\n"
    "return (m, e, a, b, torch.permute(c, [0, 2, 1]))";
  static const char more[] =
    "def paste_masks_in_image(masks: Tensor,\n    boxes: Tensor,\n    img_shape: Tuple[int, int],\n"
    "    padding: int=1) -> Tensor:\n"
    "  return ops.prim.RaiseException(\"steps\")\n"
    "def _onnx_paste_masks_in_image_loop(masks: Tensor,\n    boxes: Tensor,\n    im_h: Tensor,\n"
    "    im_w: Tensor) -> Tensor:\n"
    "  return ops.prim.RaiseException(\"steps\")\n"
    "def heatmaps_to_keypoints(maps: Tensor,\n    rois: Tensor) -> Tuple[Tensor, Tensor]:\n"
    "  return ops.prim.RaiseException(\"steps\")\n"
    "def _onnx_heatmaps_to_keypoints_loop(maps: Tensor,\n    rois: Tensor,\n    a: Tensor,\n"
    "    b: Tensor,\n    c: Tensor,\n"
    "    d: Tensor,\n    e: Tensor,\n    f: Tensor,\n    g: int) -> Tuple[Tensor, Tensor]:\n"
    "  return ops.prim.RaiseException(\"steps\")\n";
  static const gfloat points[6] = { 9.291667f, 2.71875f, 1, 6.541667f, 2.71875f, 1 },
                      values[2] = { 1.6103283f, 1.3315687f };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = load_program (signature, body, more, PROGRAM_SHAPE, &error);
  g_assert_no_error (error);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  gfloat *x = sl_tensor_buffer_new (24 * sizeof x[0]), *y[5];
  for (guint i = 0; i < 5; i++)
    y[i] = sl_tensor_buffer_new (12 * sizeof x[0]);
  for (gint i = 0; i < 24; i++)
    x[i] = (gfloat) (i * 7 % 11 - 5) / 4;
  g_assert_cmpint (
    sl_session_run (session, (const void *[]){ x }, (void *[]){ y[0], y[1], y[2], y[3], y[4] }), ==,
    SL_STATUS_OK);
  g_assert_cmpmem (y[0], 12 * sizeof x[0], x, 12 * sizeof x[0]);
  g_assert_cmpmem (y[1], 12 * sizeof x[0], x, 12 * sizeof x[0]);
  for (guint i = 0; i < 6; i++) {
    g_assert_cmpfloat_with_epsilon (y[2][i], points[i], 1e-5f);
    g_assert_cmpfloat (y[4][i], ==, y[2][i]);
    g_assert_cmpfloat_with_epsilon (y[3][i / 3], values[i / 3], 1e-5f);
  }
  sl_tensor_buffer_free (x);
  for (guint i = 0; i < 5; i++)
    sl_tensor_buffer_free (y[i]);
}

/* A user's own function with the name of one of torchvision's does what it says; a pool over a
 * whole picture whose places nobody reads is a pool. */
static void
test_own_names (void)
{
  static const char *const bodies[] = {
    "return __torch__.heatmaps_to_keypoints(x, x, )",
    "y, i, = torch.max_pool2d_with_indices(torch.upsample_nearest2d(x, [56, 56]), [56, 56])\n"
    "return y"
  };
  static const char more[] =
    "def heatmaps_to_keypoints(maps: Tensor,\n    rois: Tensor) -> Tensor:\n"
    "  return torch.add(maps, rois)\n";
  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model =
      load_program ("x: Tensor) -> Tensor", bodies[i], more, PROGRAM_SHAPE, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_graph_n_nodes (sl_model_graph (model)), <=, 4);
    g_assert_cmpuint (sl_graph_output_tensor (sl_model_graph (model), 0)->bytes, ==,
                      (i == 0 ? 24 : 2) * sizeof (gfloat));
  }
}

/** Refusal: of a program whose forward() has that body. */
typedef struct
{
  const char *body;
  SlError code;
  const char *text;
} Refusal;

static const Refusal refusals[] = {
  { "return torch.fft_fft(x)", SL_ERROR_UNSUPPORTED,
    "code/__torch__.py:5: 'return torch.fft_fft(x)': aten::fft_fft: this operator is not "
    "supported" },
  { "y = x\nreturn torch.relu(z)", SL_ERROR_FORMAT,
    "code/__torch__.py:6: 'return torch.relu(z)': nothing is called 'z' here" },
  { "return self.weight", SL_ERROR_FORMAT, "an object of __torch__.Net has no attribute 'weight'" },
  { "return torch.eq(__torch__.Net.LOUD, x)", SL_ERROR_FORMAT,
    "the archive has nothing called __torch__.Net.LOUD" },
  { "y, h, = torch.gru(x, x, x, [x], True, 1, 0., False, False)\nreturn y", SL_ERROR_UNSUPPORTED,
    "aten::gru: sequences of different lengths, packed, are not supported" },
  { "y, h, = torch.gru(x, x, [x, x, x, x], True, 1, 0., False, False)\nreturn y",
    SL_ERROR_UNSUPPORTED, "an input of 4 dimensions" },
  { "y, h, = torch.gru(torch.select(x, 0, 0), x, [x, x], True, 1, 0., False, False)\nreturn y",
    SL_ERROR_UNSUPPORTED, "2 tensors of weights for 1 layers" },
  { "return torch.gru_cell(x, x, x, x)", SL_ERROR_SHAPE,
    "aten::gru_cell: expected an input and states of two dimensions" },
  { "return torch.one_hot(torch.argmax(x, 1))", SL_ERROR_SHAPE,
    "aten::one_hot: one_hot() without a number of classes depends on the picture" },
  { "return CONSTANTS.c0", SL_ERROR_FORMAT, "CONSTANTS.c0 is not among the 0 constants" },
  { "return __torch__.other.f(x)", SL_ERROR_FORMAT,
    "the archive has nothing called __torch__.other.f" },
  { "return torch.relu()", SL_ERROR_FORMAT, "aten::relu: argument 'self' is missing" },
  { "return torch.relu(x, 1)", SL_ERROR_UNSUPPORTED,
    "aten::relu: 2 arguments; expected at most 1: self" },
  { "return torch.relu(x, way=1)", SL_ERROR_UNSUPPORTED,
    "an argument that is not supported; expected self" },
  { "return torch.conv2d(x, 3)", SL_ERROR_UNSUPPORTED,
    "aten::conv2d: an argument is of type int; expected Tensor" },
  { "if torch.gt(torch.sum(x), 0):\n  y = x\nelse:\n  y = torch.neg(x)\nreturn y",
    SL_ERROR_UNSUPPORTED,
    "code/__torch__.py:5: 'if torch.gt(torch.sum(x), 0):': a number is needed that depends on the "
    "picture" },
  { "ops.prim.RaiseException(torch.format(\"expected {}D\", 3), \"builtins.ValueError\")\nreturn x",
    SL_ERROR_SHAPE, "the model's own code refuses this input: expected 3D" },
  { "return torch.view(x, [5, -1])", SL_ERROR_SHAPE,
    "aten::view: 24 elements do not fit the shape [5,-1]" },
  { "return torch.select(x, 3, 4)", SL_ERROR_SHAPE, "index 4 of a dimension of 4" },
  { "return torch.softmax(x, 4)", SL_ERROR_FORMAT, "dimension 4 of a tensor of 4 dimensions" },
  { "return torch.permute(x, [0, 1, 2, 2])", SL_ERROR_FORMAT,
    "an order that does not name each of 4 dimensions once" },
  { "return torch.split(x, 0, 1)", SL_ERROR_SHAPE, "parts that do not make up a dimension of 2" },
  { "y = torch.index(x, [torch.gt(x, 0)])\nreturn torch.sum(y)", SL_ERROR_UNSUPPORTED,
    "aten::sum: the number of its rows depends on the picture" },
  { "y = torch.index(x, [torch.gt(x, 0)])\nreturn torch.unsqueeze(y, 0)", SL_ERROR_UNSUPPORTED,
    "only operators that treat each row alike" },
  { "return torch.index(x, [torch.gt(torch.select(x, 3, 0), 0), torch.gt(x, 0)])",
    SL_ERROR_UNSUPPORTED, "elements chosen by truth values: their number depends on the picture" },
  { "return ops.torchvision.nms(x, x, 0.5)", SL_ERROR_SHAPE,
    "expected boxes of four edges and a score for each" },
  { "return torch.dropout(x, 0.5, True)", SL_ERROR_UNSUPPORTED,
    "call model.eval() before it is exported" },
  { "return torch.rand([1, 2])", SL_ERROR_UNSUPPORTED, "random numbers are not supported" },
  { "y = torch.expand(x, [2, 2, 3, 4])\nz = torch.add_(y, 1)\nreturn x", SL_ERROR_UNSUPPORTED,
    "its operand shares elements with another tensor in a way that cannot be written in place" },
  { "return [1, 2][3]", SL_ERROR_FORMAT, "index 3 is outside a list of 2 elements" },
  { "return {\"a\": x}[\"b\"]", SL_ERROR_FORMAT, "a dictionary has no entry 'b'" },
  { "a, b = [x]\nreturn a", SL_ERROR_FORMAT, "2 names for a value of type List with 1 elements" },
  { "return torch.mul(x, torch.floordiv(1, 0))", SL_ERROR_FORMAT,
    "aten::floordiv: 1 divided by 0" },
  { "return torch.mul(x, torch.mul(9223372036854775807, 2))", SL_ERROR_LIMIT,
    "a whole number beyond 64 bits" },
  { "return (x).relu()", SL_ERROR_UNSUPPORTED, "attribute 'relu' of a value of type Tensor" },
  { "return ops.prepacked.conv2d_clamp_run(x, x)", SL_ERROR_FORMAT,
    "a value of type Tensor; expected packed parameters" },
  { "return ops.quantized.add(x, x, 1., 0)", SL_ERROR_UNSUPPORTED,
    "its input is float32; expected a quantised tensor" },
  { "return torch.quantize_per_tensor(x, 0., 0, 13)", SL_ERROR_UNSUPPORTED,
    "codes of quint8 with scale 0 and zero point 0" },
  { "return None", SL_ERROR_UNSUPPORTED,
    "forward() returns a value of type None; expected tensors" },
  { "y = x\nwhile True:\n  y = x\nreturn y", SL_ERROR_LIMIT,
    "its code takes more than 10000000 steps; loops must have an end" },
  { "return (self).forward(x, )", SL_ERROR_LIMIT,
    "its functions call each other more than 200 deep" },
  { "l = [x]\nfor i in range(100000000):\n  _0 = torch.append(l, x)\nreturn x", SL_ERROR_LIMIT,
    "the program's values take more than" },
  { "return torch.upsample_nearest2d(x, [0, 5])", SL_ERROR_SHAPE, "a size of 0 by a factor of 1" },
  { "return torch.upsample_nearest2d(x, None, None)", SL_ERROR_FORMAT,
    "aten::upsample_nearest2d: neither a size nor factors" },
  { "return torch.pad(x, [1, 1], \"mirror\")", SL_ERROR_UNSUPPORTED,
    "mode 'mirror'; expected constant, reflect, replicate or circular" },
  { "return torch.expand(x, [2, 3])", SL_ERROR_SHAPE,
    "aten::expand: 2 dimensions for a tensor of 4" },
  { "return torch.narrow(x, 3, 2, 9)", SL_ERROR_SHAPE, "aten::narrow: 9 elements from 2 of 4" },
  { "y = ops.quantized.linear_prepack(None, None)\nreturn x", SL_ERROR_FORMAT,
    "expected a weight and a bias" },
  { "return torch.einsum(3, [x])", SL_ERROR_UNSUPPORTED,
    "aten::einsum: expected an equation and a few tensors" },
  { "i = torch.zeros([1, 1, 1, 1, 1, 1, 1], dtype=4)\nreturn torch.index(x, [i, i])",
    SL_ERROR_UNSUPPORTED, "aten::index: a result of more than 8 dimensions" },
  { "for 3 in range(2):\n  y = x\nreturn x", SL_ERROR_FORMAT, "expected 'for NAME in ...'" },
  { "if True:\n    y = x\n  z = x\nreturn x", SL_ERROR_FORMAT, "its indentation fits no block" },
  { "return ops.torchvision._onnx_paste_masks_in_image_loop(torch.select(x, 0, 0), x, 3, 4)",
    SL_ERROR_SHAPE, "masks without a ring of a pixel" },
  { "for i in range():\n  y = x\nreturn x", SL_ERROR_FORMAT, "range() with 0 arguments" },
  { "return torch.upsample_nearest2d(x, [3])", SL_ERROR_FORMAT,
    "aten::upsample_nearest2d: 1 sizes for 2 dimensions" },
  { "return torch.pad(x, [1, 1, 1])", SL_ERROR_FORMAT, "aten::pad: 3 amounts for 4 dimensions" },
  { "return x[0, 1]", SL_ERROR_FORMAT, "2 indices; expected 1" },
  { "x.bias = x\nreturn x", SL_ERROR_FORMAT, "a value of type Tensor has no attributes to set" },
  { "for i in x:\n  y = x\nreturn x", SL_ERROR_UNSUPPORTED, "a loop over a value of type Tensor" },
  { "return getattr(self, 3)", SL_ERROR_FORMAT, "getattr() needs a name" },
  { "return torch.movedim(x, [0, 1], [2])", SL_ERROR_FORMAT,
    "aten::movedim: 2 dimensions to 1 places" },
};

static void
test_refusals (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (
      load_program ("x: Tensor) -> Tensor", refusals[i].body, NULL, PROGRAM_SHAPE, &error));
    expect_error (&error, refusals[i].code, refusals[i].text, NULL);
  }
}

static void
test_inputs (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (load_program ("x: Tensor) -> Tensor", "return x", NULL, "1,2;3,4", &error));
  expect_error (&error, SL_ERROR_ARGUMENT,
                "2 shapes are stated for the inputs of forward(), which takes 1 tensors", NULL);
  g_assert_null (
    load_program ("x: Tensor,\n    n: int) -> Tensor", "return x", NULL, "1,2;3,4", &error));
  expect_error (&error, SL_ERROR_UNSUPPORTED,
                "argument 'n' of forward() is neither a tensor nor a list of tensors", NULL);
  g_assert_null (
    load_program ("x: Tensor,\n    y: Tensor) -> Tensor", "return x", NULL, "1,2", &error));
  expect_error (&error, SL_ERROR_FORMAT, "forward() gets no 'y'", NULL);
  g_assert_null (load_program ("x: Tensor) -> Tensor", "return torch.matmul(x, torch.ones([3, 3]))",
                               NULL, "2,4", &error));
  expect_error (&error, SL_ERROR_SHAPE,
                "; input-shape is '2,4': state the size that the model was made for", NULL);
}

/* Nothing of the program's text stays in memory, and a second session starts from what does. */
static void
test_memory (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new ("def unused() -> str:\n  return \"");
  guint32 digits = 1;
  for (guint i = 0; i < 1 << 15; i++) /* text that does not become small when it is packed */
    g_string_append_printf (text, "%08x", digits = digits * 1664525 + 1013904223);
  g_string_append (text, "\"\n");
  g_autoptr (SlModel) model =
    load_program ("x: Tensor) -> Tensor", "return torch.mul(x, 3)", text->str, "4", &error);
  g_assert_no_error (error);
  SlFileImage *file = sl_graph_file (sl_model_graph (model));
  g_assert_cmpuint (sl_file_image_resident (file), >, 1 << 17);
  for (guint i = 0; i < 2; i++) {
    const gfloat x[4] = { 1, -2, 0.5f, 7 };
    gfloat y[4] = { 0 };
    g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_file_image_resident (file), <, 1 << 15);
    g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                     SL_STATUS_OK);
    for (guint k = 0; k < 4; k++)
      g_assert_cmpfloat (y[k], ==, 3 * x[k]);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_program_rows ("/models/torchscript-program", rows, G_N_ELEMENTS (rows));
  g_test_add_func ("/models/torchscript-program/outputs", test_outputs);
  g_test_add_func ("/models/torchscript-program/folded", test_folded);
  g_test_add_func ("/models/torchscript-program/two-stage", test_two_stage);
  g_test_add_func ("/models/torchscript-program/own-names", test_own_names);
  g_test_add_func ("/models/torchscript-program/refusals", test_refusals);
  g_test_add_func ("/models/torchscript-program/inputs", test_inputs);
  g_test_add_func ("/models/torchscript-program/memory", test_memory);
  return g_test_run ();
}
