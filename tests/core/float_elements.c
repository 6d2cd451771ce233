/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums, products and slopes of single floats, on every instruction set of this machine: each equals
 * what C computes here.
 */
#include <math.h>

#include "core/backends/float/float_layers.h"
#include "core/ops/ops.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

static void
test_elements (gconstpointer data)
{
  const SlOpType op = (SlOpType) GPOINTER_TO_INT (data);
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint k = 0; k < n_isas; k++)
    for (gint32 n = 1; n < 60; n += 7) {
      Check check;
      const gint32 dims[] = { 1, 3, n };
      check_init (&check, (guint32) n);
      const gint32 a = check_input (&check, SL_DTYPE_F32, 3, dims, 0, 0),
                   b = check_input (&check, SL_DTYPE_F32, 3, dims, 0, 0);
      const SlOpParams params = { .binary = { .activation = SL_ACTIVATION_RELU6 } };
      check_node (&check, op, (gint32[]){ a, b }, 2, check_output (&check, SL_DTYPE_F32, 0, 0),
                  &params);
      check_prepare (&check);
      check_random (&check, SL_DTYPE_F32, 3 * (gsize) n, check.input_data[0]);
      check_random (&check, SL_DTYPE_F32, 3 * (gsize) n, check.input_data[1]);
      sl_float_isa_force (isas[k]);
      gfloat *got = check_run (&check, FALSE, 1);
      sl_float_isa_force (NULL);
      for (gint32 i = 0; i < 3 * n; i++) {
        const gfloat x = ((const gfloat *) check.input_data[0])[i],
                     y = ((const gfloat *) check.input_data[1])[i];
        g_assert_cmpfloat (got[i], ==, CLAMP (op == SL_OP_ADD ? x + y : x * y, 0, 6));
      }
      sl_tensor_buffer_free (got);
      check_clear (&check);
    }
}

/* Slopes of a channel, or one for all: products of two floats, which are exact in double precision,
 * rounded once. */
static void
test_prelu (void)
{
  static const gint32 sizes[] = { 1, 3, 10, 16, 28, 32, 33, 64, 1001 };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint k = 0; k < n_isas; k++)
    for (guint i = 0; i < 2 * G_N_ELEMENTS (sizes); i++) {
      Check check;
      const gint32 channels = sizes[i / 2], dims[] = { 1, 7, 23, channels },
                   slopes_dims[] = { 1, 1, i % 2 ? channels : 1 };
      gfloat slopes[1001];
      check_init (&check, i);
      check_random (&check, SL_DTYPE_F32, G_N_ELEMENTS (slopes), slopes);
      const gint32 x = check_input (&check, SL_DTYPE_F32, 4, dims, 0, 0);
      const gint32 a = check_constant (&check, SL_DTYPE_F32, 3, slopes_dims, NULL, 0, 0, 0, slopes);
      check_node (&check, SL_OP_PRELU, (gint32[]){ x, a }, 2,
                  check_output (&check, SL_DTYPE_F32, 0, 0), &(SlOpParams){ 0 });
      check_prepare (&check);
      const gsize n = 7 * 23 * (gsize) channels;
      gfloat *values = check.input_data[0];
      check_random (&check, SL_DTYPE_F32, n, values);
      values[0] = NAN;
      values[1] = -INFINITY;
      values[2] = INFINITY;
      for (guint threads = 1; threads <= 2; threads++) {
        sl_float_isa_force (isas[k]);
        gfloat *got = check_run (&check, FALSE, threads);
        sl_float_isa_force (NULL);
        g_assert_true (isnan (got[0]));
        for (gsize j = 1; j < n; j++) {
          const gdouble v = (gdouble) values[j],
                        slope = (gdouble) slopes[i % 2 ? j % (gsize) channels : 0];
          g_assert_cmpfloat (got[j], ==, (gfloat) (v < 0 ? v * slope : v));
        }
        sl_tensor_buffer_free (got);
      }
      check_clear (&check);
    }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("SIGHTLINE_BACKEND", "float", TRUE);
  g_test_add_func ("/float/prelu", test_prelu);
  g_test_add_data_func ("/float/add", GINT_TO_POINTER (SL_OP_ADD), test_elements);
  g_test_add_data_func ("/float/multiply", GINT_TO_POINTER (SL_OP_MUL), test_elements);
  return g_test_run ();
}
