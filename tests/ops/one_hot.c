/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONE_HOT of TensorFlow Lite's files along each axis; ONNX's is in onnx.c and onnx_axes_moves.c. */
#include "tests/ops/opmodel.h"
#include "tests/support/program.h"

#define BUILTIN 85
#define OPTIONS 61

/* Indices from -1 to 4 among four places: two of the six have none. */
static void
test_axes (void)
{
  static const gint32 shapes[3][3] = { { 4, 3, 2 }, { 3, 4, 2 }, { 3, 2, 4 } };
  for (gint32 axis = -1; axis < 3; axis++) {
    const guint d = axis < 0 ? 2 : (guint) axis;
    OpModel m;
    om_init_builtin (&m, BUILTIN, OPTIONS, 1, &axis, 3);
    om_input (&m, SL_DTYPE_I32, 2, DIMS (3, 2), 0, 0);
    om_ints (&m, 1, DIMS (4));
    om_input (&m, SL_DTYPE_F32, 0, NULL, 0, 0);
    om_input (&m, SL_DTYPE_F32, 1, DIMS (1), 0, 0);
    om_output (&m, SL_DTYPE_F32, 3, shapes[d], 0, 0);
    double expected[24];
    for (gint32 i = 0; i < 6; i++)
      ((gint32 *) m.data[0])[i] = i - 1;
    for (gsize i = 0; i < 24; i++) {
      gint32 p[3];
      om_place (&m.out[0], i, p);
      const gint32 index = d == 0   ? p[1] * 2 + p[2] - 1
                           : d == 1 ? p[0] * 2 + p[2] - 1
                                    : p[0] * 2 + p[1] - 1;
      expected[i] = om_real (&m, index == p[d] ? 1 : 2, 0);
    }
    om_expect (&m, 0, expected, 0);
    om_clear (&m);
  }
}

static void
refuse (gint32 n_values, gint32 axis, const char *text)
{
  OpModel m;
  om_init_builtin (&m, BUILTIN, OPTIONS, 1, &axis, 3);
  om_input (&m, SL_DTYPE_I32, 1, DIMS (2), 0, 0);
  om_ints (&m, 1, DIMS (4));
  om_input (&m, SL_DTYPE_F32, 1, &n_values, 0, 0);
  om_input (&m, SL_DTYPE_F32, 1, DIMS (1), 0, 0);
  om_output (&m, SL_DTYPE_F32, 1, DIMS (2), 0, 0);
  om_refuse (&m, text);
  om_clear (&m);
}

static void
test_refused (void)
{
  refuse (2, 0, "input 2 is float32[2]; expected one element");
  refuse (1, 2, "axis 2 is outside a tensor of 2 dimensions");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/one-hot/axes", test_axes);
  g_test_add_func ("/ops/one-hot/refused", test_refused);
  return g_test_run ();
}
