/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators of TorchScript programs whose order of operations counts, and layers with a memory: compared with what torch 1.13 computed. */
#include "tests/models/torchscript_run.h"

static const ProgramRow rows[] = {
  { "picture-bits",
    "y = torch.mul(torch.upsample_bilinear2d(x, [5, 7], False, None), 65536.)\n"
    "return torch.sub(y, torch.floor(y))",
    70,
    { 0, 0.0078125f, 0.00390625f, 0.9921875f, 0.01171875f, 0.01953125f, 0, 0.6015625f, 0.318359375f, 0.255859375f, 0.801025391f, 0.3515625f, 0.29296875f, 0.99609375f, 0.995117188f, 0.282226562f, 0.14453125f, 0.013671875f, 0.84765625f, 0.69921875f, 0.995117188f, 0.9921875f, 0.71484375f, 0.666015625f, 0.201171875f, 0.84375f, 0.697265625f, 0.9921875f, 0, 0.005859375f, 0.00390625f, 0.9921875f, 0.849609375f, 0.703125f, 0, 0, 0.282226562f, 0.140625f, 0.01171875f, 0.8515625f, 0.703125f, 0, 0.998046875f, 0.571044922f, 0.488769531f, 0.8046875f, 0.84765625f, 0.69921875f, 0.99609375f, 0.0078125f, 0.0078125f, 0, 0.98828125f, 0.845703125f, 0.70703125f, 0.0078125f, 0.407226562f, 0.973632812f, 0.879882812f, 0.984375f, 0.73828125f, 0.6953125f, 0.408203125f, 0, 0.28125f, 0.140625f, 0.9921875f, 0.0078125f, 0.01953125f, 0 } },
  { "picture-corner-bits",
    "y = torch.mul(torch.upsample_bilinear2d(x, [5, 6], True, None), 65536.)\n"
    "return torch.sub(y, torch.floor(y))",
    60,
    { 0, 0.802734375f, 0.796875f, 0.1953125f, 0.2109375f, 0, 0, 0.6015625f, 0.201171875f, 0.80078125f, 0.40234375f, 0, 0, 0.3984375f, 0.60546875f, 0.40625f, 0.59375f, 0, 0, 0.600585938f, 0.201171875f, 0.80078125f, 0.59375f, 0, 0, 0.802734375f, 0.796875f, 0.1953125f, 0.59375f, 0, 0, 0.3984375f, 0.60546875f, 0.41015625f, 0.59375f, 0, 0, 0.600585938f, 0.201171875f, 0.8046875f, 0.59375f, 0, 0, 0.802734375f, 0.796875f, 0.1953125f, 0.59375f, 0, 0, 0.600585938f, 0.796875f, 0.1953125f, 0.40234375f, 0, 0, 0.3984375f, 0.796875f, 0.1953125f, 0.2109375f, 0 } },
  { "sorted-ties",
    "y = torch.remainder(torch.arange(40, dtype=6), 3.)\n"
    "a, b, = torch.sort(y, 0, True)\n"
    "c, d, = torch.sort(y, -1)\n"
    "return torch.cat([torch.unsqueeze(torch.mul(torch.sum(x), 0), 0), torch.to(b, 6), torch.to(d, 6)])",
    81,
    { 0, 29, 20, 17, 23, 14, 26, 11, 8, 32, 5, 35, 2, 38, 31, 1, 34, 28, 25, 37, 22, 16, 13, 4, 10, 19, 7, 30, 39, 0, 3, 36, 6, 33, 9, 12, 27, 15, 24, 18, 21, 0, 21, 18, 24, 15, 27, 12, 30, 9, 33, 6, 36, 3, 39, 31, 34, 28, 37, 25, 22, 1, 19, 16, 4, 13, 7, 10, 2, 20, 38, 5, 35, 8, 32, 11, 29, 14, 26, 17, 23 } },
  { "sorted-stable",
    "y = torch.remainder(torch.arange(40, dtype=6), 3.)\n"
    "a, b, = torch.sort(y, stable=True, dim=0, descending=True)\n"
    "return torch.add(torch.mul(torch.sum(x), 0), torch.to(b, 6))",
    40,
    { 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39 } },
  { "rows-apart",
    "b = torch.reshape(x, [12, 2])\n"
    "k = torch.index(b, [torch.gt(torch.select(b, 1, 0), -9.)])\n"
    "w = torch.reshape(k, [-1, 1])\n"
    "v = torch.view(torch.slice(w, 0, 0, 9223372036854775807), [-1, 2])\n"
    "t, i, = torch.topk(torch.select(v, 1, 1), 4)\n"
    "return t",
    4,
    { 1.25f, 1, 0.75f, 0.5f } },
};

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_program_rows ("/models/torchscript-operators", rows, G_N_ELEMENTS (rows));
  return g_test_run ();
}
