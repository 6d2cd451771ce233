/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators of TorchScript programs whose order of operations counts: compared with what torch 1.13
 * computed. */
#include <math.h>
#include <string.h>

#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/models/torchscript_run.h"
#include "tests/support/program.h"

static const ProgramRow rows[] = {
  { "picture-bits",
    "y = torch.mul(torch.upsample_bilinear2d(x, [5, 7], False, None), 65536.)\n"
    "return torch.sub(y, torch.floor(y))",
    70,
    { 0,
      0.0078125f,
      0.00390625f,
      0.9921875f,
      0.01171875f,
      0.01953125f,
      0,
      0.6015625f,
      0.318359375f,
      0.255859375f,
      0.801025391f,
      0.3515625f,
      0.29296875f,
      0.99609375f,
      0.995117188f,
      0.282226562f,
      0.14453125f,
      0.013671875f,
      0.84765625f,
      0.69921875f,
      0.995117188f,
      0.9921875f,
      0.71484375f,
      0.666015625f,
      0.201171875f,
      0.84375f,
      0.697265625f,
      0.9921875f,
      0,
      0.005859375f,
      0.00390625f,
      0.9921875f,
      0.849609375f,
      0.703125f,
      0,
      0,
      0.282226562f,
      0.140625f,
      0.01171875f,
      0.8515625f,
      0.703125f,
      0,
      0.998046875f,
      0.571044922f,
      0.488769531f,
      0.8046875f,
      0.84765625f,
      0.69921875f,
      0.99609375f,
      0.0078125f,
      0.0078125f,
      0,
      0.98828125f,
      0.845703125f,
      0.70703125f,
      0.0078125f,
      0.407226562f,
      0.973632812f,
      0.879882812f,
      0.984375f,
      0.73828125f,
      0.6953125f,
      0.408203125f,
      0,
      0.28125f,
      0.140625f,
      0.9921875f,
      0.0078125f,
      0.01953125f,
      0 } },
  { "picture-corner-bits",
    "y = torch.mul(torch.upsample_bilinear2d(x, [5, 6], True, None), 65536.)\n"
    "return torch.sub(y, torch.floor(y))",
    60,
    { 0, 0.802734375f, 0.796875f,    0.1953125f,  0.2109375f,  0,
      0, 0.6015625f,   0.201171875f, 0.80078125f, 0.40234375f, 0,
      0, 0.3984375f,   0.60546875f,  0.40625f,    0.59375f,    0,
      0, 0.600585938f, 0.201171875f, 0.80078125f, 0.59375f,    0,
      0, 0.802734375f, 0.796875f,    0.1953125f,  0.59375f,    0,
      0, 0.3984375f,   0.60546875f,  0.41015625f, 0.59375f,    0,
      0, 0.600585938f, 0.201171875f, 0.8046875f,  0.59375f,    0,
      0, 0.802734375f, 0.796875f,    0.1953125f,  0.59375f,    0,
      0, 0.600585938f, 0.796875f,    0.1953125f,  0.40234375f, 0,
      0, 0.3984375f,   0.796875f,    0.1953125f,  0.2109375f,  0 } },
  { "sorted-ties",
    "y = torch.remainder(torch.arange(40, dtype=6), 3.)\n"
    "a, b, = torch.sort(y, 0, True)\n"
    "c, d, = torch.sort(y, -1)\n"
    "return torch.cat([torch.unsqueeze(torch.mul(torch.sum(x), 0), 0), torch.to(b, 6), torch.to(d, "
    "6)])",
    81,
    { 0,  29, 20, 17, 23, 14, 26, 11, 8,  32, 5,  35, 2,  38, 31, 1,  34, 28, 25, 37, 22,
      16, 13, 4,  10, 19, 7,  30, 39, 0,  3,  36, 6,  33, 9,  12, 27, 15, 24, 18, 21, 0,
      21, 18, 24, 15, 27, 12, 30, 9,  33, 6,  36, 3,  39, 31, 34, 28, 37, 25, 22, 1,  19,
      16, 4,  13, 7,  10, 2,  20, 38, 5,  35, 8,  32, 11, 29, 14, 26, 17, 23 } },
  { "sorted-stable",
    "y = torch.remainder(torch.arange(40, dtype=6), 3.)\n"
    "a, b, = torch.sort(y, stable=True, dim=0, descending=True)\n"
    "return torch.add(torch.mul(torch.sum(x), 0), torch.to(b, 6))",
    40,
    { 2,  5,  8,  11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 1,  4,  7,  10, 13, 16, 19,
      22, 25, 28, 31, 34, 37, 0,  3,  6,  9,  12, 15, 18, 21, 24, 27, 30, 33, 36, 39 } },
  { "rows-apart",
    "b = torch.reshape(x, [12, 2])\n"
    "k = torch.index(b, [torch.gt(torch.select(b, 1, 0), -9.)])\n"
    "w = torch.reshape(k, [-1, 1])\n"
    "v = torch.view(torch.slice(w, 0, 0, 9223372036854775807), [-1, 2])\n"
    "t, i, = torch.topk(torch.select(v, 1, 1), 4)\n"
    "return t",
    4,
    { 1.25f, 1, 0.75f, 0.5f } },
  { "written-functions",
    "a = torch.reshape(x, [4, 6])\n"
    "d = torch.cdist(a, torch.mul(torch.narrow(a, 0, 0, 2), 0.5), 2., None)\n"
    "e = torch.cdist(a, torch.narrow(a, 0, 2, 2), 1.)\n"
    "m = torch.median(a)\n"
    "v, i, = torch.median(a, 1)\n"
    "return torch.cat([torch.flatten(d), torch.flatten(e), torch.unsqueeze(m, 0), v])",
    21,
    { 1.03077638f, 2.05775976f, 2.04633808f, 1.02316904f, 2.62202215f, 2.52178001f, 2.52487612f,
      2.39465547f, 8.25f,       8.25f,       6.5f,        7.5f,        0,           3,
      3,           0,           0,           -0.5f,       -0.25f,      0.25f,       -0.25f } },
  { "one-hot",
    "i = torch.to(torch.gt(torch.narrow(torch.flatten(x), 0, 0, 3), -100.), 3)\n"
    "h = torch.one_hot(torch.add(i, 1), 4)\n"
    "return torch.to(h, 6)",
    12,
    { 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0 } },
  { "angles",
    "y = torch.flip(x, [3])\n"
    "return torch.stack([torch.atan2(x, y), torch.atan(x), torch.sinh(x)])",
    72,
    { -0.785398126f,
      2.3561945f,
      -0.785398126f,
      2.3561945f,
      1.57079637f,
      -0.643501103f,
      2.21429753f,
      0,
      -2.46685171f,
      1.89254689f,
      -0.321750551f,
      -2.24553728f,
      1.10714877f,
      -0.380506366f,
      1.95130265f,
      0.463647604f,
      -2.4980917f,
      1.57079637f,
      0,
      -2.21429753f,
      0.982793748f,
      -2.94419718f,
      -1.76819181f,
      0.588002622f,
      -0.8960554f,
      0.463647604f,
      -0.463647604f,
      0.8960554f,
      0.244978666f,
      -0.643501103f,
      0.785398126f,
      0,
      -0.785398126f,
      0.643501103f,
      -0.244978666f,
      -0.8960554f,
      0.463647604f,
      -0.463647604f,
      0.8960554f,
      0.244978666f,
      -0.643501103f,
      0.785398126f,
      0,
      -0.785398126f,
      0.643501103f,
      -0.244978666f,
      -0.8960554f,
      0.463647604f,
      -1.60191905f,
      0.521095276f,
      -0.521095276f,
      1.60191905f,
      0.252612323f,
      -0.822316706f,
      1.17520118f,
      0,
      -1.17520118f,
      0.822316706f,
      -0.252612323f,
      -1.60191905f,
      0.521095276f,
      -0.521095276f,
      1.60191905f,
      0.252612323f,
      -0.822316706f,
      1.17520118f,
      0,
      -1.17520118f,
      0.822316706f,
      -0.252612323f,
      -1.60191917f,
      0.521095276f } },
  { "attention-whole",
    "s = torch.reshape(x, [2, 3, 4])\n"
    "w = torch.sin(torch.reshape(torch.arange(48, dtype=6), [12, 4]))\n"
    "b = torch.cos(torch.arange(12, dtype=6))\n"
    "p = torch.cos(torch.reshape(torch.arange(16, dtype=6), [4, 4]))\n"
    "c = torch.narrow(b, 0, 3, 4)\n"
    "y, _0, = torch._native_multi_head_attention(s, s, s, 4, 2, w, b, p, c)\n"
    "z = torch._transformer_encoder_layer_fwd(s, 4, 2, w, b, p, c, True, False, "
    "1.0000000000000001e-05, c, c, c, c, p, c, p, c)\n"
    "return torch.cat([torch.flatten(y), torch.flatten(z)])",
    48,
    { -1.45284438f,   -1.54577923f,   1.91279149f,    -0.277434111f, -1.29308343f,  -1.49190807f,
      1.68260562f,    -0.0303860903f, -0.941345572f,  -1.78670311f,  1.71624947f,   0.220426738f,
      -1.8813982f,    -1.10836458f,   1.76951885f,    -0.52755022f,  -2.35119438f,  -1.32192016f,
      2.51849318f,    -1.29311943f,   -1.49825406f,   -2.12368917f,  2.71369553f,   -0.746535778f,
      -0.509958386f,  -0.0386609808f, 0.212080047f,   2.5714221f,    -0.100531422f, -0.272608757f,
      0.227997333f,   2.57097936f,    -0.0226213057f, -0.050052397f, 0.428550333f,  2.2946136f,
      -0.0283437986f, -0.179249465f,  0.31500262f,    2.48362803f,   0.0276018884f, -0.0294455308f,
      0.513484776f,   2.08609915f,    -0.134914756f,  -0.360140622f, 0.172973111f,  2.59530354f } },
  { "weight-norm",
    "w = torch.reshape(x, [4, 6])\n"
    "g = torch.reshape(torch.arange(4, dtype=6), [4, 1])\n"
    "return torch._weight_norm(w, g, 0)",
    24,
    { 0,
      0,
      0,
      0,
      0,
      0,
      0.4886778f,
      0,
      -0.4886778f,
      0.366508365f,
      -0.12216945f,
      -0.610847235f,
      0.520755649f,
      -0.520755649f,
      1.30188918f,
      0.260377824f,
      -0.781133473f,
      1.0415113f,
      0,
      -1.61807966f,
      1.21355975f,
      -0.404519916f,
      -2.0225997f,
      0.809039831f } },
  { "affine-grid",
    "t = torch.reshape(torch.narrow(torch.flatten(x), 0, 0, 6), [1, 2, 3])\n"
    "return torch.cat([torch.affine_grid_generator(t, [1, 1, 3, 4], False), "
    "torch.affine_grid_generator(t, [1, 1, 3, 4], True)])",
    48,
    { 0.104166627f,   -1.85416663f,
      -0.520833373f,  -1.22916663f,
      -1.14583325f,   -0.604166687f,
      -1.77083337f,   0.0208333135f,
      0.4375f,        -1.6875f,
      -0.18750003f,   -1.0625f,
      -0.8125f,       -0.43750003f,
      -1.4375f,       0.1875f,
      0.770833373f,   -1.52083325f,
      0.145833313f,   -0.895833313f,
      -0.479166627f,  -0.270833373f,
      -1.10416663f,   0.354166627f,
      0.25f,          -2.25f,
      -0.583333373f,  -1.41666663f,
      -1.41666663f,   -0.583333373f,
      -2.25f,         0.25f,
      0.75f,          -2,
      -0.0833333731f, -1.16666663f,
      -0.916666627f,  -0.333333373f,
      -1.75f,         0.5f,
      1.25f,          -1.75f,
      0.416666627f,   -0.916666627f,
      -0.416666627f,  -0.0833333731f,
      -1.25f,         0.75f } },
  { "repeated",
    "a = torch.reshape(x, [4, 6])\n"
    "b = torch.repeat_interleave(torch.narrow(a, 1, 0, 2), 2, 1)\n"
    "c = torch.diag(torch.diagonal(a, 1))\n"
    "return torch.cat([torch.flatten(b), torch.flatten(c), torch.diag(a, -1), "
    "torch.flatten(torch.fmod(x, 0.29999999999999999))])",
    59,
    { -1.25f,
      -1.25f,
      0.5f,
      0.5f,
      1,
      1,
      0,
      0,
      0.5f,
      0.5f,
      -0.5f,
      -0.5f,
      0,
      0,
      -1,
      -1,
      0.5f,
      0,
      0,
      0,
      0,
      -1,
      0,
      0,
      0,
      0,
      0.25f,
      0,
      0,
      0,
      0,
      -1.25f,
      1,
      -0.5f,
      0.75f,
      -0.0499999523f,
      0.199999988f,
      -0.199999988f,
      0.0499999523f,
      0.25f,
      -0.149999976f,
      0.0999999642f,
      0,
      -0.0999999642f,
      0.149999976f,
      -0.25f,
      -0.0499999523f,
      0.199999988f,
      -0.199999988f,
      0.0499999523f,
      0.25f,
      -0.149999976f,
      0.0999999642f,
      0,
      -0.0999999642f,
      0.149999976f,
      -0.25f,
      -0.0499999523f,
      0.199999988f } },
  { "halves-of-gates",
    "a = torch.reshape(x, [4, 6])\n"
    "y, z, = torch.unsafe_chunk(a, 2, 1)\n"
    "return torch.sub(y, z)",
    12,
    { -2.5f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f } },
  { "antialiased",
    "return torch.cat([torch.flatten(torch._upsample_bilinear2d_aa(x, [2, 2], False, None)), "
    "torch.flatten(torch._upsample_bicubic2d_aa(x, [2, 3], False, None))])",
    20,
    { -0.272321403f, 0.366071463f,  -0.116071433f, -0.214285702f, 0.151785731f,
      0.25f,         0.0624999925f, -0.330357134f, -0.511710763f, 0.0348393358f,
      0.672239125f,  -0.339158475f, 0.274205893f,  -0.584193528f, -0.0247060787f,
      0.510542929f,  0.071883969f,  0.25643158f,   -0.332756221f, -0.333238363f } },
  { "bilinear-form",
    "a = torch.reshape(x, [4, 6])\n"
    "w = torch.sin(torch.reshape(torch.arange(36, dtype=6), [2, 6, 3]))\n"
    "return torch.bilinear(a, torch.narrow(a, 1, 2, 3), w, torch.tensor([0.5, -1.]))",
    8,
    { -2.79702926f, -2.93920135f, 0.582681298f, -0.937701166f, 1.47788787f, -1.34760535f,
      0.437536538f, -2.01865721f } },
  { "quantised-addition-bits",
    "y = torch.reshape(torch.flip(torch.flatten(x), [0]), [1, 2, 3, 4])\n"
    "a0 = torch.dequantize(ops.quantized.add(torch.quantize_per_tensor(x, 0.0139, 128, 13), "
    "torch.quantize_per_tensor(y, 0.0212, 128, 13), 0.0224, 128))\n"
    "a1 = torch.dequantize(ops.quantized.add(torch.quantize_per_tensor(x, 0.0265, 128, 13), "
    "torch.quantize_per_tensor(y, 0.0254, 128, 13), 0.025, 128))\n"
    "a2 = torch.dequantize(ops.quantized.add(torch.quantize_per_tensor(x, 0.0284, 128, 13), "
    "torch.quantize_per_tensor(y, 0.0257, 128, 13), 0.0268, 128))\n"
    "return torch.cat([a0, a1, a2])",
    72,
    { -0.739199996f,
      -0.739199996f,
      -0.761599958f,
      1.99359989f,
      -0.739199996f,
      -0.761599958f,
      1.99359989f,
      -0.739199996f,
      -0.739199996f,
      1.99359989f,
      -0.761599958f,
      -0.739199996f,
      -0.739199996f,
      -0.761599958f,
      1.99359989f,
      -0.739199996f,
      -0.761599958f,
      1.99359989f,
      -0.739199996f,
      -0.739199996f,
      1.99359989f,
      -0.761599958f,
      -0.739199996f,
      -0.739199996f,
      -0.75f,
      -0.75f,
      -0.75f,
      2,
      -0.75f,
      -0.75f,
      2,
      -0.75f,
      -0.75f,
      1.97500002f,
      -0.75f,
      -0.75f,
      -0.75f,
      -0.75f,
      2,
      -0.75f,
      -0.75f,
      2,
      -0.75f,
      -0.75f,
      1.97500002f,
      -0.75f,
      -0.75f,
      -0.75f,
      -0.750399947f,
      -0.750399947f,
      -0.777199984f,
      1.98319995f,
      -0.750399947f,
      -0.750399947f,
      1.98319995f,
      -0.750399947f,
      -0.72359997f,
      2.00999999f,
      -0.750399947f,
      -0.750399947f,
      -0.750399947f,
      -0.777199984f,
      1.98319995f,
      -0.750399947f,
      -0.750399947f,
      1.98319995f,
      -0.750399947f,
      -0.72359997f,
      2.00999999f,
      -0.750399947f,
      -0.750399947f,
      -0.750399947f } },
  { "quantised-numbers-added",
    "q = torch.quantize_per_tensor(x, 0.029999999999999999, 100, 13)\n"
    "a = torch.dequantize(ops.quantized.add_scalar(q, 0.69999999999999996))\n"
    "b = torch.dequantize(ops.quantized.add_scalar(q, 5))\n"
    "c = torch.dequantize(ops.quantized.add_scalar(q, -6.2999999999999998))\n"
    "return torch.cat([a, b, c], 2)",
    72,
    { -0.569999993f, 1.19999993f,   0.179999992f,  1.94999993f,  0.930000007f,   -0.0599999987f,
      1.67999995f,   0.689999998f,  -0.299999982f, 1.43999994f,  0.449999988f,   -0.569999993f,
      3.7503531f,    5.53082371f,   4.50800037f,   6.28847075f,  5.26564741f,    4.2428236f,
      5.98541212f,   5.00047064f,   4.01552963f,   5.75811768f,  4.77317667f,    3.7503531f,
      -7.54941177f,  -5.79882336f,  -6.82000017f,  -5.03294134f, -6.05411768f,   -7.0388236f,
      -5.32470608f,  -6.309412f,    -7.29411745f,  -5.54352951f, -6.52823544f,   -7.54941177f,
      1.19999993f,   0.179999992f,  1.94999993f,   0.930000007f, -0.0599999987f, 1.67999995f,
      0.689999998f,  -0.299999982f, 1.43999994f,   0.449999988f, -0.569999993f,  1.19999993f,
      5.53082371f,   4.50800037f,   6.28847075f,   5.26564741f,  4.2428236f,     5.98541212f,
      5.00047064f,   4.01552963f,   5.75811768f,   4.77317667f,  3.7503531f,     5.53082371f,
      -5.79882336f,  -6.82000017f,  -5.03294134f,  -6.05411768f, -7.0388236f,    -5.32470608f,
      -6.309412f,    -7.29411745f,  -5.54352951f,  -6.52823544f, -7.54941177f,   -5.79882336f } },
  { "quantised-normalisation",
    "q = torch.quantize_per_tensor(x, 0.029999999999999999, 100, 13)\n"
    "w = torch.tensor([0.69999999999999996, -1.3])\n"
    "v = torch.tensor([0.5, 2.])\n"
    "r = ops.quantized.batch_norm2d(q, w, v, w, v, 1.0000000000000001e-05, 0.050000000000000003, "
    "70)\n"
    "s = ops.quantized.batch_norm2d_relu(q, w, v, v, v, 1.0000000000000001e-05, "
    "0.050000000000000003, 0)\n"
    "return torch.cat([torch.dequantize(r), torch.dequantize(s)], 2)",
    48,
    { -1.45000005f,
      0.300000012f,
      -0.699999988f,
      1.05000007f,
      0.0500000007f,
      -0.949999988f,
      0.800000012f,
      -0.200000003f,
      -1.14999998f,
      0.550000012f,
      -0.450000018f,
      -1.45000005f,
      0,
      0.5f,
      0,
      1.25f,
      0.25f,
      0,
      1,
      0,
      0,
      0.75f,
      0,
      0,
      0.349999994f,
      1.25f,
      -0.349999994f,
      0.600000024f,
      1.5f,
      -0.100000001f,
      0.800000012f,
      1.70000005f,
      0.100000001f,
      1.05000007f,
      1.95000005f,
      0.349999994f,
      3.35000014f,
      4.30000019f,
      2.70000005f,
      3.60000014f,
      4.55000019f,
      2.95000005f,
      3.85000014f,
      4.75f,
      3.1500001f,
      4.05000019f,
      5,
      3.35000014f } },
  { "eye",
    "return torch.add(torch.matmul(torch.reshape(x, [6, 4]), torch.eye(4, 5)), torch.eye(6, 5, "
    "dtype=6, layout=0, device=torch.device(\"cpu\"), pin_memory=False))",
    30,
    { -0.25f, 0.5f,  -0.5f, 1.25f, 0, 0.25f,  0.25f, 1, 0,  0, -1,    0.75f,  0.75f,  -1.25f, 0,
      0.5f,   -0.5f, 1.25f, 1.25f, 0, -0.75f, 1,     0, -1, 1, 0.75f, -0.25f, -1.25f, 0.5f,   0 } },
  { "deformable",
    "w = torch.sin(torch.reshape(torch.arange(24, dtype=6), [3, 2, 2, 2]))\n"
    "o = torch.sin(torch.reshape(torch.arange(96, dtype=6), [1, 8, 4, 3]))\n"
    "m = torch.sigmoid(torch.reshape(torch.arange(48, dtype=6), [1, 4, 4, 3]))\n"
    "y = ops.torchvision.deform_conv2d(x, w, o, m, torch.tensor([0.5, 1., -1.]), 1, 2, 1, 1, 1, 1, "
    "1, 1, True)\n"
    "return y",
    36,
    { 0.460755706f,  0.519598484f,   0.270154774f,  -1.19047701f,  0.694723845f,  0.447644949f,
      0.367365658f,  -0.190205932f,  0.390646577f,  0.23235634f,   -0.426693499f, 0.616384923f,
      1.07279718f,   1.32490706f,    1.73365176f,   0.474701047f,  -0.395637274f, 0.966071546f,
      0.654762268f,  0.161506534f,   -0.349010229f, 0.364005685f,  0.545469165f,  1.91970599f,
      -0.981939673f, -1.11414647f,   -0.983647466f, 0.843338966f,  -0.788593352f, -0.937771797f,
      -0.766901493f, -0.0657923818f, -0.498084545f, -0.547281981f, 0.0589621067f, -1.38401937f } },
};

/* Runs @model, which is unreferenced, on two inputs (the second may be NULL); the results must be
 * @n floats, in double precision. */
static void
expect_results (SlModel *model, const void *first, const void *second, const double *expected,
                gsize n)
{
  g_autoptr (GError) error = NULL;
  const SlGraph *graph = sl_model_graph (model);
  const void *given[2] = { first, second }, *inputs[2];
  g_autoptr (SlSession) session = sl_session_new ((SlGraph *) graph, 1, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++) {
    void *copy = sl_tensor_buffer_new (sl_graph_input_tensor (graph, i)->bytes);
    memcpy (copy, given[i], sl_graph_input_tensor (graph, i)->bytes);
    inputs[i] = copy;
  }
  g_assert_cmpuint (sl_graph_output_tensor (graph, 0)->bytes, ==, n * sizeof (gfloat));
  gfloat *y = sl_tensor_buffer_new (n * sizeof y[0]);
  g_assert_cmpint (sl_session_run (session, inputs, (void *[]){ y }), ==, SL_STATUS_OK);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpfloat (fabs ((double) y[i] - expected[i]), <, 1e-5);
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    sl_tensor_buffer_free ((void *) inputs[i]);
  sl_tensor_buffer_free (y);
  sl_model_unref (model);
}

/* An input of whole numbers, whose type is stated, as that of a text beside a picture. */
static void
test_whole_input (void)
{
  static const char body[] =
    "return torch.add(torch.embedding(torch.reshape(x, [4, 6]), t), torch.to(t, 6))";
  static const gint64 t[6] = { 3, 0, 2, 2, 1, 3 };
  g_autoptr (GError) error = NULL;
  gfloat x[24];
  double expected[36];
  for (guint i = 0; i < 24; i++)
    x[i] = (gfloat) i / 8;
  for (guint i = 0; i < 36; i++)
    expected[i] = (double) x[t[i / 6] * 6 + i % 6] + (double) t[i % 6];
  const char *signature = "x: Tensor,\n    t: Tensor) -> Tensor";
  SlModel *model = load_program (signature, body, NULL, "1,2,3,4;int64:6", &error);
  g_assert_no_error (error);
  g_assert_cmpint (sl_graph_input_tensor (sl_model_graph (model), 1)->dtype, ==, SL_DTYPE_I64);
  expect_results (model, x, t, expected, 36);
  g_assert_null (load_program (signature, body, NULL, "1,2,3,4;6", &error));
  expect_error (
    &error, SL_ERROR_UNSUPPORTED,
    "is float32; supported: int32, int64; state the type of an input that is no float32 before its "
    "shape",
    "as in input-shape=1,3,224,224;int64:1,77", NULL);
  g_assert_null (load_program (signature, body, NULL, "1,2,3,4", &error));
  expect_error (&error, SL_ERROR_FORMAT,
                "forward() gets no 't'; state a shape for each input, as in input-shape=", NULL);
  g_assert_null (load_program (signature, body, NULL, "1,2,3,4;int7:6", &error));
  expect_error (&error, SL_ERROR_ARGUMENT,
                "before them may be float32:, int32:, int64:, uint8: or bool:", NULL);
}

/* Lists backwards: all, a part, in steps of two; none. */
static void
test_list_backwards (void)
{
  static const char body[] =
    "l = [torch.mul(x, 1.), torch.mul(x, 2.), torch.mul(x, 3.), torch.mul(x, 4.)]\n"
    "a = torch.slice(l, None, None, -1)\n"
    "b = torch.slice(l, 2, 0, -1)\n"
    "c = torch.slice(l, -1, None, -2)\n"
    "d = torch.slice(l, 0, 2, -1)\n"
    "return torch.cat(torch.add(torch.add(torch.add(a, b), c), d), 0)";
  static const double factors[] = { 4, 3, 2, 1, 3, 2, 4, 2 };
  g_autoptr (GError) error = NULL;
  gfloat x[24];
  double expected[8 * 24];
  for (guint i = 0; i < 24; i++)
    x[i] = (gfloat) i;
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    expected[i] = factors[i / 24] * (i % 24);
  SlModel *model = load_program ("x: Tensor) -> Tensor", body, NULL, PROGRAM_SHAPE, &error);
  g_assert_no_error (error);
  expect_results (model, x, NULL, expected, G_N_ELEMENTS (expected));
}

/* Two heads of three rows and four numbers: a query sees keys up to its own, or those that a truth
 * value lets it see. */
static void
test_attention (gconstpointer data)
{
  const gboolean causal = GPOINTER_TO_INT (data);
  const char *body =
    causal ? "return torch.scaled_dot_product_attention(x, x, x, None, 0., True)"
           : "m = torch.le(torch.sub(torch.unsqueeze(torch.arange(3), 0), "
             "torch.unsqueeze(torch.arange(3), 1)), 0)\n"
             "return torch.scaled_dot_product_attention(x, x, x, m, 0., False, scale=0.5)";
  g_autoptr (GError) error = NULL;
  gfloat x[24];
  double expected[24] = { 0 };
  for (gint i = 0; i < 24; i++)
    x[i] = (gfloat) (i * 7 % 11 - 5) / 4;
  for (guint row = 0; row < 6; row++) {
    double all = 0;
    for (guint key = row / 3 * 3; key <= row; key++) {
      double score = 0;
      for (guint i = 0; i < 4; i++)
        score += (double) x[row * 4 + i] * (double) x[key * 4 + i] / 2;
      all += exp (score);
      for (guint i = 0; i < 4; i++)
        expected[row * 4 + i] += exp (score) * (double) x[key * 4 + i];
    }
    for (guint i = 0; i < 4; i++)
      expected[row * 4 + i] /= all;
  }
  SlModel *model = load_program ("x: Tensor) -> Tensor", body, NULL, PROGRAM_SHAPE, &error);
  g_assert_no_error (error);
  expect_results (model, x, NULL, expected, 24);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_program_rows ("/models/torchscript-operators", rows, G_N_ELEMENTS (rows));
  g_test_add_func ("/models/torchscript-operators/whole-input", test_whole_input);
  g_test_add_func ("/models/torchscript-operators/list-backwards", test_list_backwards);
  g_test_add_data_func ("/models/torchscript-operators/attention-causal", GINT_TO_POINTER (1),
                        test_attention);
  g_test_add_data_func ("/models/torchscript-operators/attention-masked", GINT_TO_POINTER (0),
                        test_attention);
  return g_test_run ();
}
