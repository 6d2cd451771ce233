/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Running extremes and sums, windows of signals, layers with a memory, bits and functions of
 * numbers, as TorchScript programs: what torch 2.6 computed of the same calls, of layers
 * torch 1.13. */
#include "tests/models/torchscript_run.h"
#include "tests/support/program.h"

static const ProgramRow rows[] = {
  { "running",
    "a, b, = torch.cummax(x, 3)\n"
    "c, d, = torch.cummin(x, -2)\n"
    "return torch.cat([torch.flatten(a), torch.to(torch.flatten(b), 6), torch.flatten(c), "
    "torch.to(torch.flatten(d), 6)])",
    96,
    { -1.25f, 0.5f,  0.5f,  1.25f, 0.25f,  0.25f,  1,     1,  -1,     0.75f,  0.75f,  0.75f,
      0.5f,   0.5f,  1.25f, 1.25f, -0.75f, 1,      1,     1,  0.75f,  0.75f,  0.75f,  0.75f,
      0,      1,     1,     3,     0,      0,      2,     2,  0,      1,      1,      1,
      0,      0,     2,     2,     0,      1,      1,     1,  0,      0,      0,      0,
      -1.25f, 0.5f,  -0.5f, 1.25f, -1.25f, -0.75f, -0.5f, 0,  -1.25f, -0.75f, -0.5f,  -1.25f,
      0.5f,   -0.5f, 1.25f, 0.25f, -0.75f, -0.5f,  0,     -1, -0.75f, -0.5f,  -1.25f, -1,
      0,      0,     0,     0,     0,      1,      0,     1,  0,      1,      0,      2,
      0,      0,     0,     0,     1,      0,      1,     1,  1,      0,      2,      1 } },
  { "log-sums",
    "a = torch.logcumsumexp(x, 2)\n"
    "b = torch.logaddexp2(x, torch.neg(x))\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b)])",
    48,
    {
      -1.25f,     0.5f,      -0.5f,     1.25f,      0.4514133f, 0.7519291f, 1.201413f, 1.501929f,
      0.6618679f, 1.444112f, 1.411868f, 1.563781f,  0.5f,       -0.5f,      1.25f,     0.25f,
      0.7519291f, 1.201413f, 1.501929f, 0.5019291f, 1.444112f,  1.411868f,  1.563781f, 1.194112f,
      1.484841f,  1.084962f, 1.084962f, 1.484841f,  1.021553f,  1.186752f,  1.321928f, 1,
      1.321928f,  1.186752f, 1.021553f, 1.484841f,  1.084962f,  1.084962f,  1.484841f, 1.021553f,
      1.186752f,  1.321928f, 1,         1.321928f,  1.186752f,  1.021553f,  1.484841f, 1.084962f,
    } },
  { "windows",
    "a = torch.hann_window(7)\n"
    "b = torch.hann_window(6, False)\n"
    "c = torch.hamming_window(5, True, 0.6, 0.4)\n"
    "d = torch.blackman_window(6)\n"
    "e = torch.bartlett_window(7, False)\n"
    "f = torch.logspace(-1, 2, 5, 3.)\n"
    "g = torch.hann_window(1)\n"
    "h = torch.mul(torch.sum(x), 0.)\n"
    "i = torch.add(torch.cat([a, b, c, d, e, f, g]), h)\n"
    "return i",
    37,
    { 0,          0.1882551f, 0.6112605f, 0.9504845f, 0.9504844f,     0.6112605f,    0.188255f,
      0,          0.3454915f, 0.9045085f, 0.9045085f, 0.3454914f,     2.980232e-08f, 0.2f,
      0.4763933f, 0.9236069f, 0.9236068f, 0.4763932f, -2.980232e-08f, 0.13f,         0.63f,
      1,          0.6299999f, 0.13f,      0,          0.3333333f,     0.6666667f,    1,
      0.6666666f, 0.3333333f, 0,          0.3333333f, 0.7598357f,     1.732051f,     3.948222f,
      9,          1 } },
  { "bits",
    "i = torch.to(torch.mul(x, 16.), 4)\n"
    "a = torch.__lshift__(i, 2)\n"
    "b = torch.__rshift__(i, 1)\n"
    "c = torch.bitwise_xor(i, 21)\n"
    "d = torch.bitwise_and(torch.bitwise_not(i), torch.bitwise_or(i, 3))\n"
    "return torch.cat([torch.to(torch.flatten(a), 6), torch.to(torch.flatten(b), 6), "
    "torch.to(torch.flatten(c), 6), torch.to(torch.flatten(d), 6)])",
    96,
    { -80, 32, -32, 80,  16, -48, 64,  0,  -64, 48, -16, -80, 32, -32, 80,  16,
      -48, 64, 0,   -64, 48, -16, -80, 32, -10, 4,  -4,  10,  2,  -6,  8,   0,
      -8,  6,  -2,  -10, 4,  -4,  10,  2,  -6,  8,  0,   -8,  6,  -2,  -10, 4,
      -7,  29, -19, 1,   17, -31, 5,   21, -27, 25, -23, -7,  29, -19, 1,   17,
      -31, 5,  21,  -27, 25, -23, -7,  29, 3,   3,  3,   3,   3,  3,   3,   3,
      3,   3,  3,   3,   3,  3,   3,   3,  3,   3,  3,   3,   3,  3,   3,   3 } },
  { "shifts",
    "i = torch.reshape(torch.to(torch.mul(x, 16.), 4), [6, 4])\n"
    "n = torch.tensor([0, 1, 2, 3])\n"
    "a = torch.bitwise_left_shift(i, n)\n"
    "b = torch.bitwise_right_shift(i, n)\n"
    "return torch.cat([torch.to(torch.flatten(a), 6), torch.to(torch.flatten(b), 6)])",
    48,
    { -20, 16, -32, 160,  4,  -24, 64,  0,  -16, 24, -16, -160, 8,  -16, 80, 32,
      -12, 32, 0,   -128, 12, -8,  -80, 64, -20, 4,  -2,  2,    4,  -6,  4,  0,
      -16, 6,  -1,  -3,   8,  -4,  5,   0,  -12, 8,  0,   -2,   12, -2,  -5, 1 } },
  { "far-shifts",
    "i = torch.reshape(torch.to(torch.mul(x, 16.), 4), [6, 4])\n"
    "n = torch.tensor([0, 1, 63, -1])\n"
    "return torch.to(torch.flatten(torch.bitwise_right_shift(i, n)), 6)",
    24,
    { -20, 4, -1, 0, 4, -6, 0, 0, -16, 6, -1, -1, 8, -4, 0, 0, -12, 8, 0, -1, 12, -2, -1, 0 } },
  { "inverse-error",
    "a = torch.erfinv(torch.div(x, 1.5078125))\n"
    "b = torch.special_ndtr(x)\n"
    "c = torch.sinc(x)\n"
    "d = torch.special_entr(torch.abs(torch.add(x, 2.)))\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c), torch.flatten(d)])",
    96,
    { -0.9680628f,
      0.3028916f,
      -0.3028916f,
      0.9680628f,
      0.148013f,
      -0.4740579f,
      0.6791986f,
      0,
      -0.6791986f,
      0.4740579f,
      -0.148013f,
      -0.9680628f,
      0.3028916f,
      -0.3028916f,
      0.9680628f,
      0.148013f,
      -0.4740579f,
      0.6791986f,
      0,
      -0.6791986f,
      0.4740579f,
      -0.148013f,
      -0.9680628f,
      0.3028916f,
      0.1056499f,
      0.6914624f,
      0.3085376f,
      0.8943502f,
      0.5987062f,
      0.2266273f,
      0.8413447f,
      0.5f,
      0.1586553f,
      0.7733727f,
      0.4012937f,
      0.1056499f,
      0.6914624f,
      0.3085376f,
      0.8943502f,
      0.5987062f,
      0.2266273f,
      0.8413447f,
      0.5f,
      0.1586553f,
      0.7733727f,
      0.4012937f,
      0.1056499f,
      0.6914624f,
      -0.1800633f,
      0.6366197f,
      0.6366197f,
      -0.1800633f,
      0.9003163f,
      0.3001054f,
      -2.782753e-08f,
      1,
      -2.782753e-08f,
      0.3001054f,
      0.9003163f,
      -0.1800633f,
      0.6366197f,
      0.6366197f,
      -0.1800633f,
      0.9003163f,
      0.3001054f,
      -2.782753e-08f,
      1,
      -2.782753e-08f,
      0.3001054f,
      0.9003163f,
      -0.1800633f,
      0.6366197f,
      0.2157616f,
      -2.290727f,
      -0.6081976f,
      -3.830629f,
      -1.824593f,
      -0.2789294f,
      -3.295837f,
      -1.386294f,
      0,
      -2.781903f,
      -0.9793276f,
      0.2157616f,
      -2.290727f,
      -0.6081976f,
      -3.830629f,
      -1.824593f,
      -0.2789294f,
      -3.295837f,
      -1.386294f,
      0,
      -2.781903f,
      -0.9793276f,
      0.2157616f,
      -2.290727f } },
  { "functions",
    "a = torch.heaviside(x, torch.tensor(0.25))\n"
    "b = torch.float_power(torch.abs(x), 1.5)\n"
    "c = torch.round(torch.div(x, 3.), decimals=2)\n"
    "d = torch.div(x, 0.75, rounding_mode=\"trunc\")\n"
    "return torch.cat([torch.flatten(a), torch.to(torch.flatten(b), 6), torch.flatten(c), "
    "torch.flatten(d)])",
    96,
    { 0,         1,          0,          1,         1,          0,          1,         0.25f,
      0,         1,          0,          0,         1,          0,          1,         1,
      0,         1,          0.25f,      0,         1,          0,          0,         1,
      1.397542f, 0.3535534f, 0.3535534f, 1.397542f, 0.125f,     0.649519f,  1,         0,
      1,         0.649519f,  0.125f,     1.397542f, 0.3535534f, 0.3535534f, 1.397542f, 0.125f,
      0.649519f, 1,          0,          1,         0.649519f,  0.125f,     1.397542f, 0.3535534f,
      -0.42f,    0.17f,      -0.17f,     0.42f,     0.08f,      -0.25f,     0.33f,     0,
      -0.33f,    0.25f,      -0.08f,     -0.42f,    0.17f,      -0.17f,     0.42f,     0.08f,
      -0.25f,    0.33f,      0,          -0.33f,    0.25f,      -0.08f,     -0.42f,    0.17f,
      -1,        0,          0,          1,         0,          -1,         1,         0,
      -1,        1,          0,          -1,        0,          0,          1,         0,
      -1,        1,          0,          -1,        1,          0,          -1,        0 } },
  { "chosen",
    "a = torch.take(x, torch.tensor([[0, -1], [7, 3]]))\n"
    "b = torch.isin(x, torch.tensor([0.25, 1.]))\n"
    "c = torch.searchsorted(torch.tensor([-1., 0., 0.25, 1.]), x, side=\"right\")\n"
    "d = torch.isclose(x, torch.tensor(0.25), 0.5, 0.125)\n"
    "return torch.cat([torch.flatten(a), torch.to(torch.flatten(b), 6), torch.to(torch.flatten(c), "
    "6), torch.to(torch.flatten(d), 6)])",
    76,
    { -1.25f, 0.5f, 0, 1.25f, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0,
      0,      0,    0, 3,     1, 4, 3, 1, 4, 2, 1, 3, 1, 0, 3, 1, 4, 3, 1, 4, 2, 1, 3, 1, 0, 3,
      0,      1,    0, 0,     1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1 } },
  { "special",
    "p = torch.div(torch.add(x, 2.), 4.)\n"
    "a = torch.special_logit(p, 0.0625)\n"
    "b = torch.special_erfc(x)\n"
    "c = torch.special_exp2(x)\n"
    "d = torch.special_xlog1py(p, p)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c), torch.flatten(d)])",
    96,
    { -1.466337f,  0.5108256f, -0.5108256f, 1.466337f,   0.2513144f,  -0.7884573f, 1.098612f,
      0,           -1.098612f, 0.7884574f,  -0.2513144f, -1.466337f,  0.5108256f,  -0.5108256f,
      1.466337f,   0.2513144f, -0.7884573f, 1.098612f,   0,           -1.098612f,  0.7884574f,
      -0.2513144f, -1.466337f, 0.5108256f,  1.9229f,     0.4795001f,  1.5205f,     0.07709987f,
      0.7236736f,  1.711156f,  0.1572992f,  1,           1.842701f,   0.2888444f,  1.276326f,
      1.9229f,     0.4795001f, 1.5205f,     0.07709987f, 0.7236736f,  1.711156f,   0.1572992f,
      1,           1.842701f,  0.2888444f,  1.276326f,   1.9229f,     0.4795001f,  0.4204482f,
      1.414214f,   0.7071068f, 2.378414f,   1.189207f,   0.5946035f,  2,           1,
      0.5f,        1.681793f,  0.8408964f,  0.4204482f,  1.414214f,   0.7071068f,  2.378414f,
      1.189207f,   0.5946035f, 2,           1,           0.5f,        1.681793f,   0.8408964f,
      0.4204482f,  1.414214f,  0.03222192f, 0.3034424f,  0.1194201f,  0.4831995f,  0.2510365f,
      0.08497928f, 0.4197118f, 0.2027325f,  0.05578589f, 0.3597331f,  0.1587712f,  0.03222192f,
      0.3034424f,  0.1194201f, 0.4831995f,  0.2510365f,  0.08497928f, 0.4197118f,  0.2027325f,
      0.05578589f, 0.3597331f, 0.1587712f,  0.03222192f, 0.3034424f } },
  { "more-special",
    "a = torch.add(torch.special_log1p(torch.abs(x)), torch.special_expm1(x))\n"
    "c = torch.special_softmax(x, 3, None)\n"
    "d = torch.special_logsumexp(x, [3])\n"
    "e = torch.rsub(x, 1.5, 2)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(c), torch.flatten(d), torch.flatten(e)])",
    78,
    { 0.097435f,
      1.054186f,
      0.01199576f,
      3.301273f,
      0.507169f,
      0.03198236f,
      2.411429f,
      0,
      0.06102663f,
      1.676616f,
      0.001944333f,
      0.097435f,
      1.054186f,
      0.01199576f,
      3.301273f,
      0.507169f,
      0.03198236f,
      2.411429f,
      0,
      0.06102663f,
      1.676616f,
      0.001944333f,
      0.097435f,
      1.054186f,
      0.0474967f,
      0.2733246f,
      0.1005505f,
      0.5786282f,
      0.2345392f,
      0.08628213f,
      0.4965194f,
      0.1826593f,
      0.1036226f,
      0.5963069f,
      0.2193691f,
      0.08070137f,
      0.2345392f,
      0.08628213f,
      0.4965194f,
      0.1826593f,
      0.1036226f,
      0.5963069f,
      0.2193691f,
      0.08070137f,
      0.4382091f,
      0.1612081f,
      0.05930515f,
      0.3412776f,
      1.797095f,
      1.700133f,
      1.267f,
      1.950133f,
      1.517f,
      1.575059f,
      4,
      0.5f,
      2.5f,
      -1,
      1,
      3,
      -0.5f,
      1.5f,
      3.5f,
      0,
      2,
      4,
      0.5f,
      2.5f,
      -1,
      1,
      3,
      -0.5f,
      1.5f,
      3.5f,
      0,
      2,
      4,
      0.5f } },
  { "facts",
    "a = torch.isposinf(x)\n"
    "b = torch.isneginf(torch.div(x, torch.sub(x, x)))\n"
    "c = torch.signbit(x)\n"
    "d = torch.nansum(torch.where(torch.gt(x, 0), x, torch.full_like(x, torch.nan)), [3])\n"
    "e = torch.nanmean(torch.where(torch.gt(x, -1), x, torch.full_like(x, torch.nan)), [3])\n"
    "return torch.cat([torch.to(torch.flatten(a), 6), torch.to(torch.flatten(c), 6), "
    "torch.flatten(d), torch.flatten(e)])",
    60,
    {
      0,     0,     0,     0, 0, 0,     0,          0,      0,     0,      0,           0,
      0,     0,     0,     0, 0, 0,     0,          0,      0,     0,      0,           0,
      1,     0,     1,     0, 0, 1,     0,          0,      1,     0,      1,           1,
      0,     1,     0,     0, 1, 0,     0,          1,      0,     1,      1,           0,
      1.75f, 1.25f, 0.75f, 2, 1, 1.25f, 0.4166667f, 0.125f, 0.25f, 0.375f, 0.08333334f, 0.3333333f,
    } },
  { "lstm-both-ways",
    "s = torch.reshape(x, [2, 3, 4])\n"
    "w = torch.sin(torch.reshape(torch.arange(48, dtype=6), [12, 4]))\n"
    "u = torch.cos(torch.reshape(torch.arange(36, dtype=6), [12, 3]))\n"
    "b = torch.sin(torch.arange(12, dtype=6))\n"
    "h = torch.mul(torch.ones([2, 2, 3], dtype=6), 0.25)\n"
    "c = torch.mul(torch.ones([2, 2, 3], dtype=6), -0.5)\n"
    "y, a, d, = torch.lstm(s, [h, c], [w, u, b, b, torch.neg(w), u, b, torch.select(w, 1, 0)], "
    "True, 1, 0., False, True, True)\n"
    "return torch.cat([torch.flatten(y), torch.flatten(a), torch.flatten(d)])",
    60,
    {
      0.183284044f,  -0.00713382242f, 0.0401969813f, -0.0242991f,    0.232738316f,   0.177257478f,
      0.198262945f,  0.0801179335f,   0.0977201834f, -0.100141369f,  0.285388112f,   0.175614446f,
      -0.139539734f, 0.207479104f,    0.102214009f,  -0.0920181572f, 0.00730933622f, 0.0897804797f,
      0.0891818777f, -0.0254073925f,  0.1014807f,    -0.0703690052f, 0.486634523f,   0.0950193852f,
      -0.18011722f,  0.111275926f,    0.166428953f,  -0.0997155383f, 0.265702695f,   0.0704587996f,
      -0.146595553f, 0.476074547f,    0.0218303781f, 0.00958621316f, -0.115681961f,  0.257124186f,
      -0.139539734f, 0.207479104f,    0.102214009f,  -0.146595553f,  0.476074547f,   0.0218303781f,
      -0.0242991f,   0.232738316f,    0.177257478f,  -0.0703690052f, 0.486634523f,   0.0950193852f,
      -0.311993122f, 0.616707027f,    1.09379399f,   -0.276661694f,  1.04207563f,    0.973091006f,
      -0.522752464f, 0.264936149f,    1.98245001f,   -0.340157926f,  0.705634713f,   1.11361921f,
    } },
  { "gru-two-layers",
    "s = torch.reshape(x, [2, 3, 4])\n"
    "w = torch.sin(torch.reshape(torch.arange(36, dtype=6), [9, 4]))\n"
    "u = torch.cos(torch.reshape(torch.arange(27, dtype=6), [9, 3]))\n"
    "b = torch.sin(torch.arange(9, dtype=6))\n"
    "h = torch.mul(torch.ones([2, 3, 3], dtype=6), 0.25)\n"
    "v = torch.narrow(w, 1, 0, 3)\n"
    "y, a, = torch.gru(s, h, [w, u, b, b, v, u, b, torch.select(w, 1, 0)], True, 2, 0., False, "
    "False, False)\n"
    "return torch.cat([torch.flatten(y), torch.flatten(a)])",
    36,
    {
      -0.147429138f,  -0.00115843862f, 0.625744104f, 0.0178168565f, -0.312687814f,  0.618781447f,
      0.238838464f,   -0.481298029f,   0.680902421f, -0.2473239f,   -0.0217073951f, 0.786428213f,
      -0.0344927236f, -0.221337557f,   0.782492042f, 0.248700202f,  -0.687366426f,  0.830163062f,
      0.515835822f,   -0.196707368f,   0.9735021f,   0.0308052003f, 0.04328271f,    0.989333987f,
      -0.743722975f,  0.760268688f,    0.964885294f, -0.2473239f,   -0.0217073951f, 0.786428213f,
      -0.0344927236f, -0.221337557f,   0.782492042f, 0.248700202f,  -0.687366426f,  0.830163062f,
    } },
  { "rnn-without-biases",
    "s = torch.reshape(x, [2, 3, 4])\n"
    "w = torch.sin(torch.reshape(torch.arange(12, dtype=6), [3, 4]))\n"
    "u = torch.cos(torch.reshape(torch.arange(9, dtype=6), [3, 3]))\n"
    "b = torch.sin(torch.arange(3, dtype=6))\n"
    "h = torch.zeros([1, 3, 3], dtype=6)\n"
    "y, a, = torch.rnn_tanh(s, h, [w, u], False, 1, 0., False, False, False)\n"
    "t, e, = torch.rnn_relu(s, h, [w, u, b, b], True, 1, 0., False, False, False)\n"
    "return torch.cat([torch.flatten(y), torch.flatten(a), torch.flatten(t), torch.flatten(e)])",
    54,
    { 0.141530275f,
      0.891149402f,
      -0.964631259f,
      0.271232933f,
      0.245461062f,
      -0.541143f,
      0.223539636f,
      -0.61303556f,
      0.607988298f,
      0.944221556f,
      -0.793272972f,
      0.297416061f,
      0.869103074f,
      -0.92617166f,
      0.831910729f,
      -0.927069843f,
      0.605483294f,
      0.448663175f,
      0.944221556f,
      -0.793272972f,
      0.297416061f,
      0.869103074f,
      -0.92617166f,
      0.831910729f,
      -0.927069843f,
      0.605483294f,
      0.448663175f,
      0.142486781f,
      3.1104238f,
      0,
      0.278194189f,
      1.93351901f,
      1.21282434f,
      0.227378845f,
      0.969171762f,
      2.5243187f,
      2.57422233f,
      0,
      3.65895772f,
      1.51851702f,
      0,
      4.03701687f,
      0,
      1.89029121f,
      3.21930981f,
      2.57422233f,
      0,
      3.65895772f,
      1.51851702f,
      0,
      4.03701687f,
      0,
      1.89029121f,
      3.21930981f } },
  { "cells",
    "s = torch.reshape(x, [2, 3, 4])\n"
    "w = torch.sin(torch.reshape(torch.arange(48, dtype=6), [12, 4]))\n"
    "u = torch.cos(torch.reshape(torch.arange(36, dtype=6), [12, 3]))\n"
    "b = torch.sin(torch.arange(12, dtype=6))\n"
    "h = torch.select(s, 0, 1)\n"
    "i = torch.select(s, 0, 0)\n"
    "k = torch.narrow(h, 1, 0, 3)\n"
    "a, d, = torch.lstm_cell(i, [k, torch.neg(k)], w, u, b, b)\n"
    "g = torch.gru_cell(i, k, torch.narrow(w, 0, 0, 9), torch.narrow(u, 0, 0, 9))\n"
    "r = torch.rnn_tanh_cell(i, k, torch.narrow(w, 0, 0, 3), torch.narrow(u, 0, 0, 3), "
    "torch.narrow(b, 0, 0, 3), torch.narrow(b, 0, 1, 3))\n"
    "return torch.stack([a, d, g, r])",
    36,
    { 0.0235960856f, 0.036816299f,   0.0243228916f, 0.416519135f,  0.0149320392f, 0.0458716378f,
      -0.559956074f, 0.0655438974f,  0.331445634f,  0.0262194574f, 0.324647635f,  0.369390666f,
      0.762292504f,  0.0517147034f,  0.767642319f,  -1.00495982f,  0.520196497f,  1.2203275f,
      0.61073494f,   -0.600845695f,  -0.499344945f, -0.158345222f, 0.248324931f,  0.109215215f,
      -0.186708301f, -0.0770383105f, -0.857114434f, 0.600304484f,  0.997612119f,  -0.776676655f,
      0.721116662f,  0.969875634f,   0.444978565f,  0.975932062f,  0.102970727f,  0.9857831f } },
};

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_program_rows ("/models/torchscript-series", rows, G_N_ELEMENTS (rows));
  return g_test_run ();
}
