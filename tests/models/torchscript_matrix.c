/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products and arrangements of matrices, and distances, as TorchScript programs: what torch 2.6
 * computed of the same calls. */
#include "tests/models/torchscript_run.h"
#include "tests/support/program.h"

static const ProgramRow
  rows[] = {
    { "matrices",
      "a = torch.reshape(x, [2, 3, 4])\n"
      "b = torch.tensordot(a, a, [1, -1], [1, 2])\n"
      "c = torch.inner(torch.reshape(x, [6, 4]), torch.tensor([1., 2., -1., 3.]))\n"
      "m = torch.reshape(x, [6, 4])\n"
      "d = torch.linalg_multi_dot([torch.mT(m), m, torch.mT(torch.narrow(m, 0, 0, 2))])\n"
      "e = torch.matrix_exp(torch.narrow(m, 0, 0, 4))\n"
      "f = torch.kron(torch.tensor([[1., -2.]]), torch.narrow(m, 0, 0, 2))\n"
      "g = torch.vdot(torch.select(m, 0, 0), torch.select(m, 0, 1))\n"
      "h = torch.chain_matmul([torch.mH(m), m])\n"
      "return torch.cat([torch.flatten(b), torch.flatten(c), torch.flatten(d), torch.flatten(e), "
      "torch.flatten(f), torch.flatten(g), torch.flatten(h)])",
      67,
      { 8.4375f,    -3.375f,     -3.375f,     7.125f,
        4,          -2.25f,      -3,          -1,
        -1.75f,     3,           -5.609375f,  3.875f,
        3.578125f,  -4.203125f,  -4.765625f,  5.765625f,
        3.90625f,   0.78125f,    0.3976477f,  0.07051891f,
        0.3561336f, 0.8315018f,  -0.1758714f, 0.7209381f,
        0.5193926f, -0.5128609f, -0.607065f,  0.5404096f,
        0.3384607f, -1.589817f,  -0.1106796f, -0.00386548f,
        0.9413916f, 0.6085341f,  -1.25f,      0.5f,
        -0.5f,      1.25f,       2.5f,        -1,
        1,          -2.5f,       0.25f,       -0.75f,
        1,          0,           -0.5f,       1.5f,
        -2,         0,           -1.1875f,    4,
        -2.75f,     0.8125f,     0.9375f,     -2.75f,
        2.6875f,    -1.5f,       -1.5625f,    0.8125f,
        -1.5f,      4.4375f,     -0.625f,     0.9375f,
        -1.5625f,   -0.625f,     4.4375f } },
    { "more-matrices",
      "m = torch.reshape(x, [6, 4])\n"
      "v = torch.tensor([1., -2., 0.5, 4.])\n"
      "u = torch.tensor([1., 2., 3., 4., 5., 6.])\n"
      "a = torch.addmv(u, m, v, beta=0.5, alpha=2)\n"
      "a = torch.add(a, torch.sum(torch.addr(m, u, v, beta=2, alpha=0.5), [1]))\n"
      "c = torch.trace(m)\n"
      "d = torch.diag_embed(torch.narrow(m, 0, 0, 2), 1)\n"
      "e = torch.linalg_vecdot(m, torch.mul(m, 2.))\n"
      "f = torch.linalg_cross(torch.narrow(m, 1, 0, 3), torch.narrow(m, 1, 1, 3))\n"
      "return torch.cat([torch.flatten(a), torch.flatten(c), torch.flatten(d), torch.flatten(e), "
      "torch.flatten(f)])",
      81,
      { 7.25f,    10,      -12,    18.25f, -3.75f, 18.25f,   -2,       0,        -1.25f,
        0,        0,       0,      0,      0,      0.5f,     0,        0,        0,
        0,        0,       -0.5f,  0,      0,      0,        0,        0,        1.25f,
        0,        0,       0,      0,      0,      0,        0.25f,    0,        0,
        0,        0,       0,      -0.75f, 0,      0,        0,        0,        0,
        1,        0,       0,      0,      0,      0,        0,        0,        0,
        0,        0,       0,      7.25f,  3.25f,  6.375f,   4.25f,    5.125f,   4.875f,
        0.375f,   1.3125f, 0.375f, -1,     -0.75f, -0.3125f, -1,       -1.4375f, -0.3125f,
        -1.6875f, -0.75f,  0.375f, -1,     -0.75f, -1,       -1.6875f, -0.0625f, -1 } },
    { "joined",
      "v = torch.tensor([1., -2.])\n"
      "a = torch.block_diag([v, torch.reshape(torch.slice(torch.flatten(x), 0, 0, 6), [2, 3]), "
      "torch.tensor(3.)])\n"
      "b = torch.cartesian_prod([v, torch.tensor([4., 5., 6.])])\n"
      "c = torch.atleast_3d(torch.tensor([[1., 2.]]))\n"
      "d = torch.atleast_2d(v)\n"
      "e = torch.flipud(torch.fliplr(torch.tensor([[1., 2.], [3., 4.]])))\n"
      "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c), torch.flatten(d), "
      "torch.flatten(e)])",
      44,
      { 1,     -2,     0,  0, 0,  0, 0, 0, -1.25f, 0.5f, -0.5f, 0, 0, 0, 1.25f,
        0.25f, -0.75f, 0,  0, 0,  0, 0, 0, 3,      1,    4,     1, 5, 1, 6,
        -2,    4,      -2, 5, -2, 6, 1, 2, 1,      -2,   4,     3, 2, 1 } },
    { "trilinear",
      "a = torch.reshape(torch.narrow(torch.flatten(x), 0, 0, 8), [4, 2])\n"
      "b = torch.reshape(x, [4, 2, 3])\n"
      "c = torch.reshape(torch.narrow(torch.flatten(x), 0, 3, 12), [4, 3])\n"
      "y = torch._trilinear(a, b, c, [2], [], [1], [1, 2])\n"
      "return torch.cat([torch.flatten(y)])",
      4,
      { 2.421875f, 1.5f, 0.390625f, 1.4375f } },
    { "distances",
      "m = torch.reshape(x, [6, 4])\n"
      "a = torch.dist(m, torch.flip(m, [0]), 2)\n"
      "b = torch.dist(m, torch.flip(m, [0]), 3.5)\n"
      "c = torch._cdist_forward(m, torch.narrow(m, 0, 1, 2), 2., None)\n"
      "d = torch._pdist_forward(m, 2.)\n"
      "e = torch.linalg_vector_norm(m, torch.inf, [1])\n"
      "f = torch.linalg_vector_norm(m, torch.neg(torch.inf), [1])\n"
      "g = torch.linalg_vector_norm(m, 0, [1])\n"
      "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c), torch.flatten(d), "
      "torch.flatten(e), torch.flatten(f), torch.flatten(g)])",
      47,
      { 6.33443f,  3.422527f, 2.76134f,  2.537223f, 0,         2.633914f, 2.633914f, 0,
        0.5f,      2.883141f, 2.462214f, 0.5f,      2.410913f, 2.850439f, 2.76134f,  2.537223f,
        2.850439f, 2.410913f, 2.384848f, 2.633914f, 0.5f,      2.462214f, 2.410913f, 2.883141f,
        0.5f,      2.850439f, 2.633914f, 2.537223f, 2.76134f,  1.25f,     1,         1.25f,
        1.25f,     1,         1.25f,     0.5f,      0,         0.25f,     0.25f,     0,
        0.25f,     4,         3,         4,         4,         3,         4 } },
    { "limits",
      "m = torch.reshape(x, [6, 4])\n"
      "a = torch._cdist_forward(m, torch.narrow(m, 0, 1, 2), torch.inf, None)\n"
      "b = torch.cdist(m, torch.narrow(m, 0, 1, 2), 3.)\n"
      "c = torch.softplus(x, 2, 1)\n"
      "return torch.cat([torch.flatten(a), torch.flatten(b), torch.flatten(c)])",
      48,
      { 1.5f,        2.5f,        0,          1.5f,        1.5f,        0,          0.25f,
        1.5f,        1.75f,       0.25f,      2.25f,       1.75f,       2.200568f,  2.502497f,
        0,           2.097986f,   2.097986f,  0,           0.3968503f,  2.294386f,  2.02951f,
        0.3968503f,  2.274425f,   2.334254f,  0.03944487f, 0.6566308f,  0.1566308f, 1.25f,
        0.4870385f,  0.1007066f,  1,          0.3465736f,  0.06346401f, 0.75f,      0.2370385f,
        0.03944487f, 0.6566308f,  0.1566308f, 1.25f,       0.4870385f,  0.1007066f, 1,
        0.3465736f,  0.06346401f, 0.75f,      0.2370385f,  0.03944487f, 0.6566308f } },
    { "turned",
      "a = torch.rot90(x, dims=[2, 3])\n"
      "return torch.cat([torch.flatten(a)])",
      24,
      { 1.25f, 0,  -1.25f, -0.5f, 1, -0.25f, 0.5f,  -0.75f, 0.75f,  -1.25f, 0.25f,  -1,
        0.25f, -1, 0.5f,   1.25f, 0, -1.25f, -0.5f, 1,      -0.25f, 0.5f,   -0.75f, 0.75f } },
  };

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_program_rows ("/models/torchscript-matrix", rows, G_N_ELEMENTS (rows));
  return g_test_run ();
}
