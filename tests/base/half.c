/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers of IEEE 754's tables, ties between two of them, and, where the compiler has the type, its
 * own conversions of all. */
#include "core/base/half.h"
#include "tests/support/program.h"

#include <math.h>
#include <string.h>

static void
test_examples (void)
{
  static const struct
  {
    guint16 half;
    gfloat value;
  } known[] = { { 0x0000, 0 },
                { 0x0001, 0x1p-24f },
                { 0x03ff, 1023 * 0x1p-24f },
                { 0x0400, 0x1p-14f },
                { 0x3555, 0.333251953125f },
                { 0x3c00, 1 },
                { 0x3c01, 1.0009765625f },
                { 0x7bff, SL_HALF_MOST },
                { 0xc000, -2 },
                { 0x7c00, INFINITY },
                { 0xfc00, -INFINITY } };
  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    g_assert_cmpfloat (sl_half_to_float (known[i].half), ==, known[i].value);
    g_assert_cmphex (sl_half_from_float (known[i].value), ==, known[i].half);
  }
  g_assert_true (isnan (sl_half_to_float (0x7e00)) && isnan (sl_half_to_float (0xfc01)));
  g_assert_true (sl_half_from_float (NAN) == 0x7e00 && sl_half_from_float (-0.0f) == 0x8000);
}

/* Between two halves the even one is nearest; beyond the last one infinity begins halfway to what
 * would be next. */
static void
test_ties (void)
{
  g_assert_cmphex (sl_half_from_float (2049), ==, 0x6800);
  g_assert_cmphex (sl_half_from_float (2051), ==, 0x6802);
  g_assert_cmphex (sl_half_from_float (0x1p-25f), ==, 0x0000);
  g_assert_cmphex (sl_half_from_float (3 * 0x1p-25f), ==, 0x0002);
  g_assert_cmphex (sl_half_from_float (1023.5f * 0x1p-24f), ==, 0x0400);
  g_assert_cmphex (sl_half_from_float (65519.996f), ==, 0x7bff);
  g_assert_cmphex (sl_half_from_float (-65520), ==, 0xfc00);
}

#ifdef __FLT16_MANT_DIG__

static void
test_all (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  for (guint i = 0; i < 1 << 16; i++) {
    const guint16 half = (guint16) i;
    _Float16 own;
    memcpy (&own, &half, sizeof own);
    if (isnan ((gfloat) own))
      continue;
    g_assert_cmpfloat (sl_half_to_float (half), ==, (gfloat) own);
    g_assert_cmphex (sl_half_from_float ((gfloat) own), ==, half);
  }
  for (guint i = 0; i < 1000000; i++) {
    const gfloat value =
      (gfloat) ldexp (g_rand_double_range (random, -1, 1), g_rand_int_range (random, -30, 20));
    const _Float16 own = (_Float16) value;
    guint16 half;
    memcpy (&half, &own, sizeof half);
    g_assert_cmphex (sl_half_from_float (value), ==, half);
  }
}

#endif

/* All of them, by their definition: sign, exponent, fraction. */
static void
test_definition (void)
{
  g_autofree guint16 *halves = g_new (guint16, 65536 + 3);
  g_autofree gfloat *floats = g_new (gfloat, 65536 + 3);
  for (guint i = 0; i < 65536 + 3; i++)
    halves[i] = (guint16) i;
  sl_half_to_floats (halves, floats, 65536 + 3);
  for (guint i = 0; i < 65536 + 3; i++) {
    const guint exponent = i >> 10 & 31, fraction = i & 1023;
    const double magnitude = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                             : exponent == 0 ? ldexp (fraction, -24)
                                             : ldexp (fraction + 1024, (int) exponent - 25);
    if (isnan (magnitude))
      g_assert_true (isnan (floats[i]));
    else
      g_assert_cmpfloat ((double) floats[i], ==, i & 0x8000 ? -magnitude : magnitude);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/half/definition", test_definition);
  g_test_add_func ("/half/examples", test_examples);
  g_test_add_func ("/half/ties", test_ties);
#ifdef __FLT16_MANT_DIG__
  g_test_add_func ("/half/all", test_all);
#endif
  return g_test_run ();
}
