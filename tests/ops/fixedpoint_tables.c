/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* 8-bit operators whose bytes depend on a runtime's fixed point, against the bytes of LiteRT with
 * XNNPACK. */
#include <math.h>

#include "tests/ops/litert_values.h"
#include "tests/ops/opmodel.h"
#include "tests/support/program.h"

static guint8
slope_byte (guint i)
{
  return (guint8) (37 * i + 11);
}

static gint32
lowest_code (SlDtype dtype)
{
  return dtype == SL_DTYPE_I8 ? -128 : 0;
}

/* All codes of the type, the lowest first; with PRELU a channel for each. */
static void
run_case (const LitertCodes *c)
{
  OpModel m;
  guint8 slopes[256];
  double expected[256];
  const SlOpParams params = { .leaky_relu = { c->slope } };
  om_init (&m, c->op, &params, 0);
  om_input (&m, c->dtype, 2, DIMS (1, 256), c->scale, c->zero_point);
  for (guint i = 0; i < 256; i++) {
    const gint32 code = c->out_dtype == SL_DTYPE_I8 ? (gint8) c->bytes[i] : c->bytes[i];
    ((guint8 *) m.data[0])[i] = (guint8) (lowest_code (c->dtype) + (gint32) i);
    slopes[i] = slope_byte (i);
    expected[i] = (code - c->out_zero_point) * (double) c->out_scale;
  }
  if (c->op == SL_OP_PRELU)
    om_constant (&m, c->dtype, 1, DIMS (256), c->slope, c->slope_zero_point, slopes);
  om_output (&m, c->out_dtype, 2, DIMS (1, 256), c->out_scale, c->out_zero_point);
  om_expect (&m, 0, expected, 1e-3);
  om_clear (&m);
}

static void
test_codes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (litert_values); i++)
    run_case (&litert_values[i]);
}

/* Scales that TensorFlow Lite refuses: the nearest code. */
static void
test_hard_swish_beyond (void)
{
  OpModel m;
  double expected[256];
  om_init (&m, SL_OP_HARD_SWISH, NULL, 0);
  om_input (&m, SL_DTYPE_U8, 2, DIMS (1, 256), 1.0f, 100);
  for (guint i = 0; i < 256; i++) {
    const double x = (double) i - 100;
    ((guint8 *) m.data[0])[i] = (guint8) i;
    expected[i] = x * fmin (fmax (x + 3, 0), 6) / 6;
  }
  om_output (&m, SL_DTYPE_U8, 2, DIMS (1, 256), 0.004f, 128);
  om_expect (&m, 0, expected, 0.51);
  om_clear (&m);
}

/* Between 16 and 32 bits. */
static void
test_quantize_wide (void)
{
  static const gint32 numbers[] = { 0,      1,       -1,      77,         -3000,
                                    123456, -654321, 9999999, G_MAXINT32, G_MININT32 };
  static const gint16 codes[] = { 0, 1, -1, 77, -3000, 12345, -32768, 32767, 500, -501 };
  for (guint narrow = 0; narrow < 2; narrow++) {
    OpModel m;
    double expected[G_N_ELEMENTS (codes)];
    const gfloat scale = narrow ? 3e-6f : 0.002f, out_scale = narrow ? 1e-3f : 7e-8f;
    om_init (&m, SL_OP_QUANTIZE, NULL, 0);
    om_input (&m, narrow ? SL_DTYPE_I32 : SL_DTYPE_I16, 1, DIMS (10), scale, 0);
    for (guint i = 0; i < G_N_ELEMENTS (codes); i++) {
      if (narrow)
        ((gint32 *) m.data[0])[i] = numbers[i];
      else
        ((gint16 *) m.data[0])[i] = codes[i];
      expected[i] = (narrow ? numbers[i] : codes[i]) * (double) scale;
    }
    om_output (&m, narrow ? SL_DTYPE_I16 : SL_DTYPE_I32, 1, DIMS (10), out_scale, 0);
    om_expect (&m, 0, expected, 0.51);
    om_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/code-tables/litert", test_codes);
  g_test_add_func ("/code-tables/hard-swish-beyond", test_hard_swish_beyond);
  g_test_add_func ("/code-tables/quantize-wide", test_quantize_wide);
  return g_test_run ();
}
