/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that torch.export's decompositions leave, as TorchScript programs: what torch 2.6
 * computed of the same calls. */
#include "tests/models/helpers.h"
#include "tests/models/torchscript_run.h"
#include "tests/support/program.h"

static const ProgramRow rows[] = {
  /* Computed in double precision with Python. */
  { "rms-norm",
    "a = torch.rms_norm(x, [4])\n"
    "b = torch.rms_norm(x, [3, 4], None, 0.5)\n"
    "c, _0, = torch._fused_rms_norm(x, [4], torch.tensor([1., 2., 3., -4.]), 0.001)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c)])",
    72,
    { -1.31306424f,
      0.525225697f,
      -0.525225697f,
      1.31306424f,
      0.392232213f,
      -1.17669664f,
      1.56892885f,
      0,
      -1.12022398f,
      0.840167988f,
      -0.280055996f,
      -1.40027998f,
      0.685994264f,
      -0.685994264f,
      1.71498566f,
      0.342997132f,
      -0.937042484f,
      1.24938998f,
      0,
      -1.24938998f,
      0.960768829f,
      -0.320256276f,
      -1.60128138f,
      0.640512553f,
      -1.13960576f,
      0.455842306f,
      -0.455842306f,
      1.13960576f,
      0.227921153f,
      -0.683763459f,
      0.911684612f,
      0,
      -0.911684612f,
      0.683763459f,
      -0.227921153f,
      -1.13960576f,
      0.478091444f,
      -0.478091444f,
      1.19522861f,
      0.239045722f,
      -0.717137166f,
      0.956182887f,
      0,
      -0.956182887f,
      0.717137166f,
      -0.239045722f,
      -1.19522861f,
      0.478091444f,
      -1.31234048f,
      1.04987238f,
      -1.57480857f,
      -5.24936191f,
      0.391750412f,
      -2.35050247f,
      4.70100495f,
      -0,
      -1.11952184f,
      1.67928276f,
      -0.839641382f,
      5.59760921f,
      0.685349609f,
      -1.37069922f,
      5.14012207f,
      -1.37069922f,
      -0.936312076f,
      2.4968322f,
      0,
      4.99366441f,
      0.959981569f,
      -0.639987712f,
      -4.79990784f,
      -2.55995085f } },
  { "norms",
    "w = torch.tensor([1.5, 0.5])\n"
    "b = torch.tensor([0.25, -1.])\n"
    "m = torch.tensor([0.125, -0.5])\n"
    "v = torch.tensor([0.75, 2.])\n"
    "a, _0, _1, = torch._native_batch_norm_legit_no_training(x, w, b, m, v, 0.1, 0.001)\n"
    "c, _2, _3, = torch._native_batch_norm_legit(torch.reshape(x, [3, 2, 4]), w, b, training=True, "
    "momentum=0.1, eps=0.001)\n"
    "d, _4, _5, = torch.native_group_norm(x, w, b, 1, 2, 12, 2, 0.001)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(c), torch.flatten(d)])",
    72,
    { -2.129984f,  0.8990865f,  -0.8318107f,  2.197259f,   0.4663621f,  -1.264535f,  1.764535f,
      0.03363785f, -1.697259f,  1.331811f,    -0.3990864f, -2.129984f,  -0.6465349f, -1,
      -0.3814361f, -0.7349012f, -1.088366f,   -0.4698024f, -0.8232675f, -1.176733f,  -0.5581686f,
      -0.9116337f, -1.265099f,  -0.6465349f,  -1.567786f,  1.486094f,   -0.25898f,   2.7949f,
      -0.9259987f, -1.636411f,  -0.3931893f,  -1.103602f,  -1.131517f,  1.922363f,   0.1772885f,
      -1.567786f,  -0.7483956f, -1.458808f,   -0.2155862f, -0.9259987f, -0.6952486f, 2.358631f,
      0.6135571f,  -1.131517f,  -0.5707924f,  -1.281205f,  -1.991617f,  -0.7483956f, -1.81424f,
      1.338417f,   -0.463101f,  2.689556f,    0.8880378f,  -0.9134806f, 2.239177f,   0.4376582f,
      -1.36386f,   1.788797f,   -0.01272142f, -1.81424f,   -0.7024096f, -1.351698f,  -0.2154434f,
      -0.8647317f, -1.51402f,   -0.3777654f,  -1.027054f,  -1.676342f,  -0.5400875f, -1.189376f,
      -1.838664f,  -0.7024096f } },
  { "layer-norm",
    "a, _0, _1, = torch.native_layer_norm(x, [4], torch.tensor([1., 2., 3., 4.]), None, 0.001)\n"
    "b, _2, = torch.native_dropout(x, 0.5, False)\n"
    "c = torch._to_copy(torch.mul(x, 4), dtype=3)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.to(torch.flatten(c), 6)])",
    72,
    { -1.31234f,  1.049872f,   -1.574809f,  5.249362f,   0.1997445f,  -2.796423f,
      4.194634f,  -0.7989779f, -0.7223012f, 3.049716f,   0.7223012f,  -4.173296f,
      0.1997445f, -2.796423f,  4.194634f,   -0.798978f,  -0.7223012f, 3.049716f,
      0.7223012f, -4.173296f,  1.043324f,   -0.4815341f, -4.574574f,  2.889205f,
      -1.25f,     0.5f,        -0.5f,       1.25f,       0.25f,       -0.75f,
      1,          0,           -1,          0.75f,       -0.25f,      -1.25f,
      0.5f,       -0.5f,       1.25f,       0.25f,       -0.75f,      1,
      0,          -1,          0.75f,       -0.25f,      -1.25f,      0.5f,
      -5,         2,           -2,          5,           1,           -3,
      4,          0,           -4,          3,           -1,          -5,
      2,          -2,          5,           1,           -3,          4,
      0,          -4,          3,           -1,          -5,          2 } },
  { "written-parts",
    "s = torch.arange(12, dtype=6)\n"
    "a = torch.slice_scatter(x, torch.reshape(s, [1, 2, 3, 2]), 3, 0, 9223372036854775807, 2)\n"
    "b = torch.select_scatter(x, torch.reshape(s, [1, 3, 4]), 1, -1)\n"
    "c = torch.diagonal_scatter(x, torch.reshape(torch.slice(s, 0, 0, 6), [1, 2, 3]), 1, 2, 3)\n"
    "d = torch.fill(x, 2)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c), torch.flatten(d)])",
    96,
    { 0,      0.5f,  1,     1.25f, 2,      -0.75f, 3, 0,  4,     0.75f,  5,      -1.25f,
      6,      -0.5f, 7,     0.25f, 8,      1,      9, -1, 10,    -0.25f, 11,     0.5f,
      -1.25f, 0.5f,  -0.5f, 1.25f, 0.25f,  -0.75f, 1, 0,  -1,    0.75f,  -0.25f, -1.25f,
      0,      1,     2,     3,     4,      5,      6, 7,  8,     9,      10,     11,
      -1.25f, 0,     -0.5f, 1.25f, 0.25f,  -0.75f, 1, 0,  -1,    0.75f,  -0.25f, 2,
      0.5f,   3,     1.25f, 0.25f, -0.75f, 1,      4, -1, 0.75f, -0.25f, -1.25f, 5,
      2,      2,     2,     2,     2,      2,      2, 2,  2,     2,      2,      2,
      2,      2,     2,     2,     2,      2,      2, 2,  2,     2,      2,      2 } },
  { "strides",
    "a = torch.as_strided(x, [1, 24, 1, 1], [24, 1, 24, 24])\n"
    "b = torch.as_strided(x, [2, 3], [3, 2], 1)\n"
    "d = torch.squeeze(torch._unsafe_view(x, [1, 2, 1, 12]), [0, 2])\n"
    "e = torch.select_copy(torch.expand_copy(x, [2, 2, 3, 4]), 1, 1)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(d), torch.flatten(e)])",
    78,
    { -1.25f, 0.5f,  -0.5f,  1.25f,  0.25f,  -0.75f, 1,      0,     -1,    0.75f,  -0.25f, -1.25f,
      0.5f,   -0.5f, 1.25f,  0.25f,  -0.75f, 1,      0,      -1,    0.75f, -0.25f, -1.25f, 0.5f,
      0.5f,   1.25f, -0.75f, 0.25f,  1,      -1,     -1.25f, 0.5f,  -0.5f, 1.25f,  0.25f,  -0.75f,
      1,      0,     -1,     0.75f,  -0.25f, -1.25f, 0.5f,   -0.5f, 1.25f, 0.25f,  -0.75f, 1,
      0,      -1,    0.75f,  -0.25f, -1.25f, 0.5f,   0.5f,   -0.5f, 1.25f, 0.25f,  -0.75f, 1,
      0,      -1,    0.75f,  -0.25f, -1.25f, 0.5f,   0.5f,   -0.5f, 1.25f, 0.25f,  -0.75f, 1,
      0,      -1,    0.75f,  -0.25f, -1.25f, 0.5f } },
  { "scatter-reduce",
    "i = torch.reshape(torch.remainder(torch.arange(24), 2), [1, 2, 3, 4])\n"
    "a = torch.scatter_reduce(x, 2, i, torch.mul(x, 3.), \"sum\")\n"
    "b = torch.scatter_reduce(x, 2, i, torch.mul(x, 3.), \"mean\", include_self=False)\n"
    "c = torch.scatter_reduce(x, 2, i, torch.mul(x, 3.), \"amax\", include_self=False)\n"
    "d = torch.scatter_reduce(x, 2, i, x, \"prod\")\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c), torch.flatten(d)])",
    96,
    { -7.25f, 0.5f,   0.25f,      1.25f,  0.25f,      0.75f,  1,      0,          -1,     0.75f,
      -0.25f, -1.25f, 2,          -0.5f,  1.25f,      0.25f,  -0.75f, 1.75f,      0,      -1.75f,
      0.75f,  -0.25f, -1.25f,     0.5f,   -2,         0.5f,   0.25f,  1.25f,      0.25f,  0.5f,
      1,      0,      -1,         0.75f,  -0.25f,     -1.25f, 0.5f,   -0.5f,      0,      0.25f,
      -0.75f, 0.25f,  0,          -0.25f, 0.75f,      -0.25f, -1.25f, 0.5f,       0.75f,  0.5f,
      3,      1.25f,  0.25f,      2.25f,  1,          3.75f,  -1,     0.75f,      -0.25f, -1.25f,
      2.25f,  -0.5f,  3.75f,      0.25f,  -0.75f,     3,      0,      1.5f,       0.75f,  -0.25f,
      -1.25f, 0.5f,   -0.390625f, 0.5f,   -0.0625f,   1.25f,  0.25f,  0.2109375f, 1,      0,
      -1,     0.75f,  -0.25f,     -1.25f, -0.140625f, -0.5f,  0,      0.25f,      -0.75f, 0.125f,
      0,      0.125f, 0.75f,      -0.25f, -1.25f,     0.5f } },
  { "masks",
    "m = torch.gt(torch.reshape(x, [6, 4]), 0)\n"
    "a = torch.masked_scatter(torch.reshape(x, [6, 4]), m, torch.arange(24, dtype=6))\n"
    "b = torch._unsafe_masked_index(torch.reshape(x, [24]), torch.tensor([True, False, True]), "
    "[torch.tensor([3, 40, 5])], 7.)\n"
    "c = torch.mul(m, torch.lt(torch.reshape(x, [6, 4]), 1))\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.to(torch.flatten(c), 6)])",
    51,
    { -1.25f, 0, -0.5f, 1,      2, -0.75f, 3,  0, -1,     4,      -0.25f, -1.25f, 5,
      -0.5f,  6, 7,     -0.75f, 8, 0,      -1, 9, -0.25f, -1.25f, 10,     1.25f,  7,
      -0.75f, 0, 1,     0,      0, 1,      0,  0, 0,      0,      1,      0,      0,
      1,      0, 0,     1,      0, 0,      0,  0, 1,      0,      0,      1 } },
  { "index-put",
    "i = torch.tensor([[0, 1], [2, 1]])\n"
    "j = torch.tensor([3, 0])\n"
    "v = torch.arange(8, dtype=6)\n"
    "a = torch.index_put(x, [None, None, i, j], torch.reshape(v, [1, 2, 2, 2]), True)\n"
    "b = torch.index_put(x, [None, torch.tensor([1, 0]), None, j], torch.reshape(torch.slice(v, 0, "
    "0, 6), [2, 1, 3]))\n"
    "c = torch.index(x, [None, torch.tensor([1, 0]), None, j])\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c)])",
    54,
    { -1.25f, 0.5f,   -0.5f,  1.25f, 4.25f, -0.75f, 1,    0,      -1,    0.75f, -0.25f,
      0.75f,  0.5f,   -0.5f,  1.25f, 4.25f, 11.25f, 1,    0,      -1,    0.75f, -0.25f,
      -1.25f, 6.5f,   3,      0.5f,  -0.5f, 1.25f,  4,    -0.75f, 1,     0,     5,
      0.75f,  -0.25f, -1.25f, 0.5f,  -0.5f, 1.25f,  0,    -0.75f, 1,     0,     1,
      0.75f,  -0.25f, -1.25f, 2,     0.25f, -1,     0.5f, -1.25f, 0.25f, -1 } },
  { "bags",
    "w = torch.reshape(x, [6, 4])\n"
    "i = torch.tensor([1, 5, 2, 2, 0, 3])\n"
    "o = torch.tensor([0, 2, 2, 5])\n"
    "a, _0, _1, _2, = torch.embedding_bag(w, i, o, False, 0, False, None, False, None)\n"
    "b, _3, _4, _5, = torch._embedding_bag(w, i, o, False, 1, False, None, False, 2)\n"
    "c, _6, _7, _8, = torch._embedding_bag(w, i, o, False, 2)\n"
    "d, _9, _10, _11, = torch._embedding_bag(w, i, o, False, 0, False, torch.tensor([1., 2., 3., "
    "4., 5., 6.]), True)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c), torch.flatten(d)])",
    60,
    {
      1,      -1,     -0.25f, 0.5f,  0,    0,     0,       0,     -3.25f,  2,      -1,     -1.25f,
      0.5f,   -0.5f,  1.25f,  0.25f, 0.5f, -0.5f, -0.125f, 0.25f, 0,       0,      0,      0,
      -1.25f, 0.5f,   -0.5f,  1.25f, 0.5f, -0.5f, 1.25f,   0.25f, 0.75f,   -0.25f, 1,      0.5f,
      0,      0,      0,      0,     -1,   0.75f, -0.25f,  1.25f, 0.5f,    -0.5f,  1.25f,  0.25f,
      1.75f,  -1.25f, -1.5f,  1,     0,    0,     0,       0,     -13.25f, 7.75f,  -4.25f, -2.5f,
    } },
  { "attention",
    "q = torch.reshape(x, [1, 2, 3, 4])\n"
    "k = torch.mul(q, 0.5)\n"
    "a, _0, = torch._scaled_dot_product_flash_attention_for_cpu(q, k, q, 0., True)\n"
    "b = torch.scaled_dot_product_attention(q, torch.narrow(k, 1, 0, 1), torch.narrow(q, 1, 1, 1), "
    "None, 0., False, enable_gqa=True)\n"
    "c, _1, = torch._scaled_dot_product_attention_math(q, k, q, None, 0., False, None, "
    "scale=0.25)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c)])",
    72,
    { -1.25f,        0.5f,          -0.5f,        1.25f,        -0.2466796f,   -0.3361003f,
      0.5033204f,    0.4138997f,    -0.8273354f,  0.399894f,    -0.07733544f,  -0.3627928f,
      0.5f,          -0.5f,         1.25f,        0.25f,        -0.39428f,     0.573136f,
      0.35572f,      -0.64428f,     0.3685256f,   -0.04031492f, -0.3910532f,   0.1185256f,
      0.343671f,     -0.1772963f,   0.4181265f,   0.09367096f,  -0.05953752f,  0.3114961f,
      -0.009793043f, -0.3095375f,   0.399894f,    -0.07733543f, -0.3627928f,   0.149894f,
      -0.09216638f,  0.33748f,      0.02343187f,  -0.3421664f,  0.3715586f,    -0.06011681f,
      -0.307209f,    0.1215586f,    0.1819751f,   0.03740547f,  0.153097f,     -0.06802486f,
      -0.8021785f,   0.2624627f,    -0.05217857f, 0.1985791f,   -0.5558356f,   0.05698106f,
      0.1941644f,    -0.005727232f, -0.7525383f,  0.2868997f,   -0.002538286f, -0.1718071f,
      0.2179853f,    -0.001848981f, 0.1693184f,   -0.03201471f, 0.01219867f,   0.2361757f,
      0.008128285f,  -0.2378013f,   0.2667295f,   0.02098352f,  -0.188565f,    0.01672949f } },
  { "triangles",
    "a = torch.tril_indices(3, 4, 1)\n"
    "b = torch.triu_indices(4, 3, -1)\n"
    "c = torch.mul(torch.sum(x), 0.)\n"
    "y = torch.to(torch.cat([torch.flatten(a), torch.flatten(b)]), 6)\n"
    "return torch.add(y, c)",
    36,
    { 0, 0, 1, 1, 1, 2, 2, 2, 2, 0, 1, 0, 1, 2, 0, 1, 2, 3,
      0, 0, 0, 1, 1, 1, 2, 2, 3, 0, 1, 2, 0, 1, 2, 1, 2, 2 } },
  { "variance",
    "a, b, = torch.var_mean(x, [2, 3], correction=0)\n"
    "c = torch.var(x, [3], correction=2, keepdim=True)\n"
    "d, e, = torch.std_mean(x, [1], correction=0)\n"
    "f = torch.sum(torch.gt(x, 0), dtype=6)\n"
    "g = torch.count_nonzero(torch.gt(x, 0), 2)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c), torch.flatten(d), "
    "torch.flatten(e), torch.flatten(f), torch.to(torch.flatten(g), 6)])",
    43,
    { 0.6922743f, 0.5920139f, -0.1041667f, 0.04166667f, 1.8125f, 0.78125f, 1.210938f,
      0.78125f,   1.210938f,  1.210938f,   0.875f,      0.5f,    0.875f,   0.5f,
      0.5f,       0.875f,     0.5f,        0.5f,        0.875f,  0.5f,     0.5f,
      0.875f,     -0.375f,    0,           0.375f,      0.75f,   -0.25f,   0.125f,
      0.5f,       -0.5f,      -0.125f,     0.25f,       -0.75f,  -0.375f,  11,
      1,          2,          1,           1,           2,       1,        1,
      2 } },
  { "volumes",
    "v = torch.reshape(torch.cat([x, torch.neg(x)], 3), [1, 2, 2, 3, 4])\n"
    "w = torch.reshape(torch.sin(torch.arange(48, dtype=6)), [2, 2, 2, 2, 3])\n"
    "a = torch.conv3d(v, w, torch.tensor([0.5, -0.5]), [1, 1, 2], [1, 0, 1], [1, 1, 1], 1)\n"
    "b = torch.max_pool3d(v, [2, 2, 2], [1, 1, 2])\n"
    "c = torch.avg_pool3d(v, [2, 2, 2], [1, 1, 1], [1, 0, 0], False, False)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c)])",
    68,
    { -0.8068041f, 3.472438f,  0.9824936f,  -0.2298072f,
      -1.409518f,  5.803356f,  1.137192f,   -2.735496f,
      0.3581544f,  2.396013f,  0.3459443f,  -1.953056f,
      0.3423591f,  -1.112609f, -0.9553825f, 0.1862249f,
      -0.5363783f, 0.3810673f, -0.3346484f, -0.08241645f,
      -0.8441561f, 0.4687618f, -0.1823344f, -1.126188f,
      1.25f,       1.25f,      1.25f,       1.25f,
      0.75f,       1.25f,      1,           1.25f,
      0,           0,          0,           0.0625f,
      0.0625f,     0.0625f,    0.03125f,    0.03125f,
      -0.3125f,    0.03125f,   0.03125f,    0.03125f,
      0.0625f,     0.0625f,    -0.625f,     0,
      0,           0,          0,           0,
      0,           0.0625f,    0.0625f,     -0.625f,
      0.03125f,    -0.3125f,   0.03125f,    0.03125f,
      0.03125f,    -0.3125f,   0.0625f,     -0.625f,
      0.0625f,     0,          0,           0 } },
  { "volume-pools",
    "v = torch.reshape(torch.cat([x, torch.neg(x)], 3), [1, 2, 2, 3, 4])\n"
    "a = torch.adaptive_avg_pool3d(v, [1, 1, 1])\n"
    "b = torch._adaptive_avg_pool3d(v, [2, 2, 3])\n"
    "c, _0, = torch.max_pool3d_with_indices(v, [1, 2, 2])\n"
    "d = torch._adaptive_avg_pool2d(x, [2, 2])\n"
    "e = torch.replication_pad3d(torch.narrow(v, 4, 0, 1), [0, 0, 1, 0, 0, 1])\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c), torch.flatten(d), "
    "torch.flatten(e)])",
    66,
    { 0,       0,        0,       0,      0,        0.0625f, 0.0625f,  0.0625f, 0.0625f, 0.0625f,
      -0.625f, 0,        0,       0,      0,        0,       0,        0.0625f, 0.0625f, -0.625f,
      0.0625f, -0.625f,  0.0625f, 0,      0,        0,       1.25f,    1.25f,   0.75f,   0,
      0.5f,    1.25f,    0.75f,   1,      -0.3125f, 0.4375f, -0.1875f, -0.125f, 0.0625f, 0.125f,
      0.1875f, -0.4375f, -1.25f,  -1.25f, 1.25f,    0.25f,   -0.25f,   -0.25f,  -1,      1,
      -0.25f,  -0.25f,   -1,      1,      0.5f,     0.5f,    -0.5f,    -0.75f,  0.75f,   0.75f,
      0.75f,   -0.75f,   0.75f,   0.75f,  0.75f,    -0.75f } },
  { "transposed-volumes",
    "v = torch.reshape(torch.cat([x, torch.neg(x)], 3), [1, 2, 2, 3, 4])\n"
    "w = torch.reshape(torch.sin(torch.arange(16, dtype=6)), [2, 1, 2, 2, 2])\n"
    "a = torch.conv_transpose3d(torch.narrow(v, 3, 0, 2), w, torch.tensor([0.5, -0.5]), [2, 1, 1], "
    "[1, 0, 1], [1, 0, 0], 2, [1, 1, 1])\n"
    "b = torch.convolution(torch.narrow(torch.narrow(v, 3, 0, 1), 4, 0, 2), w, None, [1, 2, 1], "
    "[0, 0, 0], [1, 1, 2], True, [0, 1, 0], 1)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b)])",
    90,
    { 1.320254f,   0.3989391f,
      0.03345901f, -1.281195f,
      1.069262f,   0.2887784f,
      1.460941f,   0.03179896f,
      1.177763f,   0.2896323f,
      1.131103f,   -0.341471f,
      0.3052221f,  0.3276458f,
      0.1485122f,  1.040853f,
      0.3785157f,  -0.6719017f,
      0.1721292f,  0.5376093f,
      1.458924f,   0.5175142f,
      0.7421628f,  1.028748f,
      -0.3665482f, 1.062594f,
      0.6850227f,  -0.02163002f,
      -1.3808f,    -0.1089345f,
      -1.14853f,   1.293915f,
      0.1694462f,  -0.3298402f,
      -1.413115f,  -1.560512f,
      -1.180269f,  -0.9121185f,
      0.4893582f,  -0.6442222f,
      -0.8397372f, -1.06449f,
      -1.113987f,  0.430024f,
      0.4779773f,  0.3516982f,
      -0.920167f,  -1.036573f,
      -0.553623f,  -0.5846134f,
      -0.3028879f, -0.2599359f,
      -1.900831f,  -0.8175561f,
      0.4946791f,  -0.4946791f,
      -0.8457794f, 0.2146762f,
      -1.408632f,  0.7266593f,
      -0.6763951f, 0.5705551f,
      0,           0,
      0,           0,
      1.419735f,   -1.099473f,
      1.50746f,    -0.4705609f,
      0.2092328f,  0.5909827f,
      -1.281362f,  1.109179f,
      0,           0,
      0,           0,
      -0.2132291f, -0.03102893f,
      0.5548564f,  -1.13936f,
      0.8128095f,  -1.200169f,
      0.3234693f,  -0.1575479f,
      0,           0,
      0,           0 } },
  { "larger-volumes",
    "v = torch.reshape(torch.narrow(torch.flatten(x), 0, 0, 8), [1, 1, 2, 2, 2])\n"
    "a = torch.upsample_nearest3d(v, [2, 4, 3])\n"
    "b = torch.upsample_trilinear3d(v, [3, 3, 4], False)\n"
    "c = torch.upsample_trilinear3d(v, [2, 3, 3], True)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c)])",
    78,
    { -1.25f,   -1.25f,    0.5f,      -1.25f,  -1.25f,  0.5f,      -0.5f,    -0.5f,    1.25f,
      -0.5f,    -0.5f,     1.25f,     0.25f,   0.25f,   -0.75f,    0.25f,    0.25f,    -0.75f,
      1,        1,         0,         1,       1,       0,         -1.25f,   -0.8125f, 0.0625f,
      0.5f,     -0.875f,   -0.4375f,  0.4375f, 0.875f,  -0.5f,     -0.0625f, 0.8125f,  1.25f,
      -0.5f,    -0.40625f, -0.21875f, -0.125f, -0.125f, -0.03125f, 0.15625f, 0.25f,    0.25f,
      0.34375f, 0.53125f,  0.625f,    0.25f,   0,       -0.5f,     -0.75f,   0.625f,   0.375f,
      -0.125f,  -0.375f,   1,         0.75f,   0.25f,   0,         -1.25f,   -0.375f,  0.5f,
      -0.875f,  0,         0.875f,    -0.5f,   0.375f,  1.25f,     0.25f,    -0.25f,   -0.75f,
      0.625f,   0.125f,    -0.375f,   1,       0.5f,    0 } },
  { "projected-lstm",
    "s = torch.reshape(x, [3, 2, 4])\n"
    "w = torch.sin(torch.reshape(torch.arange(48, dtype=6), [12, 4]))\n"
    "u = torch.cos(torch.reshape(torch.arange(24, dtype=6), [12, 2]))\n"
    "b = torch.sin(torch.arange(12, dtype=6))\n"
    "r = torch.cos(torch.reshape(torch.arange(6, dtype=6), [2, 3]))\n"
    "h = torch.mul(torch.ones([2, 2, 2], dtype=6), 0.25)\n"
    "c = torch.mul(torch.ones([2, 2, 3], dtype=6), -0.5)\n"
    "y, a, d, = torch.lstm(s, [h, c], [w, u, b, b, r, torch.neg(w), u, b, torch.select(w, 1, 0), "
    "torch.neg(r)], True, 1, 0., False, True, False)\n"
    "return torch.cat([torch.flatten(y), torch.flatten(a), torch.flatten(d)])",
    44,
    { 0.1507709f,   -0.1543651f, -0.02230716f, 0.08146589f, -0.05650754f, 0.04041514f, 0.03753221f,
      0.02494532f,  -0.1058136f, 0.06491346f,  0.10244f,    -0.0542262f,  0.03298436f, -0.05741103f,
      -0.04375655f, 0.09508239f, -0.3211434f,  0.2795405f,  0.1380091f,   -0.1138052f, 0.1236772f,
      -0.178194f,   0.1799238f,  -0.1571501f,  -0.3211434f, 0.2795405f,   0.1236772f,  -0.178194f,
      -0.02230716f, 0.08146589f, 0.03753221f,  0.02494532f, -0.7280164f,  0.4822851f,  1.215625f,
      -0.1811396f,  1.027182f,   0.9000642f,   -0.5543714f, 0.3251299f,   1.403718f,   -0.5096349f,
      0.4924561f,   1.44093f } },
  { "rolled-and-pooled",
    "a = torch.roll(x, [5])\n"
    "b = torch.avg_pool2d(x, [2, 2], [1, 1], [1, 0], False, False, 3)\n"
    "return torch.cat([torch.flatten(a), torch.flatten(b)])",
    48,
    { -1,     0.75f,       -0.25f,      -1.25f,       0.5f,        -1.25f,
      0.5f,   -0.5f,       1.25f,       0.25f,        -0.75f,      1,
      0,      -1,          0.75f,       -0.25f,       -1.25f,      0.5f,
      -0.5f,  1.25f,       0.25f,       -0.75f,       1,           0,
      -0.25f, 0,           0.25f,       -0.4166667f,  0.08333334f, 0.5833333f,
      -0.25f, 0.25f,       -0.1666667f, -0.08333334f, 0.1666667f,  -0.5f,
      0,      0.25f,       0.5f,        0.08333334f,  0.5833333f,  0.1666667f,
      0.25f,  -0.1666667f, -0.5833333f, 0.1666667f,   -0.5f,       -0.25f } },
};

static const struct
{
  const char *body, *text;
  SlError code;
} refusals[] = {
  { "return torch.as_strided(torch.transpose(x, 2, 3), [24], [1])",
    "aten::as_strided: of a tensor that is part of another, or has its dimensions in another order",
    SL_ERROR_UNSUPPORTED },
  { "return torch.as_strided([x], [24], [1])", "aten::as_strided: of a value of type List",
    SL_ERROR_FORMAT },
  { "return torch.as_strided(x, [24], [2])", "sizes and strides reach beyond the tensor",
    SL_ERROR_SHAPE },
  { "a, b, c, = torch._native_batch_norm_legit(x, None, None, torch.zeros([2]), torch.ones([2]), "
    "True, 0.1, 0.001)\n"
    "return a",
    "the model is in training; call model.eval() before it is exported", SL_ERROR_SHAPE },
  { "return torch.scatter(x, 3, torch.zeros([1, 2, 3, 4], dtype=4), x, \"most\")",
    "aten::scatter: reduction 'most'; expected sum, prod, mean, amax, amin, add or multiply",
    SL_ERROR_UNSUPPORTED },
  { "return torch.tril_indices(100000, 2)",
    "a matrix of 100000 by 2 elements; expected at most 65536 elements", SL_ERROR_LIMIT },
  { "a, b, c, = torch.lstm(torch.reshape(x, [3, 2, 4]), [x, x], [x], True, 1, 0., False, False, "
    "False)\n"
    "return a",
    "aten::lstm: 1 tensors of weights for 1 layers; expected 4", SL_ERROR_UNSUPPORTED },
  { "return torch.index_put(x, [], x)",
    "aten::index_put: no indices, or elements of more than 8 dimensions", SL_ERROR_UNSUPPORTED },
  { "return torch.convolution(x, torch.ones([1, 1, 1, 1, 1, 1]), None, [1], [0], [1], False, [0], "
    "1)",
    "weights of 6 dimensions; only convolutions along 1, 2 or 3 dimensions are supported",
    SL_ERROR_UNSUPPORTED },
  { "return torch.roll(x, [1, 2])", "aten::roll: 2 shifts for 0 dimensions", SL_ERROR_UNSUPPORTED },
  { "return torch.avg_pool2d(x, [2, 2], [1, 1], [0, 0], True, True, 3)",
    "aten::avg_pool2d: divisor_override is supported without ceil_mode, and not as 0",
    SL_ERROR_UNSUPPORTED },
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

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_program_rows ("/models/torchscript-core", rows, G_N_ELEMENTS (rows));
  g_test_add_func ("/models/torchscript-core/refusals", test_refusals);
  return g_test_run ();
}
