/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every instruction set of the SIMD loops this machine has, against loops of the test's own, byte
 * for byte. */
#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "core/ops/kernels/simd/loops.h"
#include "tests/support/program.h"

#define LONGEST 300
#define GUARD 16

static void
random_bytes (guint8 *bytes, gsize n)
{
  for (gsize i = 0; i < n; i++)
    bytes[i] = (guint8) g_test_rand_int_range (0, 256);
}

static void
check_look_up (const SlSimdLoops *loops, gsize n, gsize offset)
{
  guint8 table[256], in[LONGEST + GUARD], out[LONGEST + 2 * GUARD];
  random_bytes (table, sizeof table);
  random_bytes (in, sizeof in);
  memset (out, 0xa5, sizeof out);
  loops->look_up (table, in + offset, out + offset, n);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpuint (out[offset + i], ==, table[in[offset + i]]);
  for (gsize i = 0; i < GUARD; i++)
    g_assert_cmpuint (out[offset + n + i], ==, 0xa5);
}

/* Quantised values of @channels, with many equal ones, or one channel above most others, between
 * two rows of a few pixels. */
static void
check_search (const SlSimdLoops *loops, gsize channels, gsize rows)
{
  enum
  {
    PIXELS = 12
  };
  const gsize row = PIXELS * channels + SL_SEARCH_OVER,
              best_of = (gsize) g_test_rand_int_range (0, (gint32) channels);
  g_autofree guint8 *codes = g_new (guint8, 2 * row);
  const guint8 flip = channels % 2 ? 0x80 : 0, above = (guint8) (g_test_rand_int_range (0, 5) * 40);
  gint32 found[SL_SEARCH_ROWS * SL_SEARCHED], weights[SL_SEARCH_ROWS],
    across[SL_SEARCHED + SL_SEARCH_OVER], pixel[SL_SEARCHED];
  SlSearchRun runs[SL_SEARCHED];
  SlSearchTile tile = { codes, codes + row, channels, flip, runs, 0, across };
  for (gsize i = 0; i < 2 * row; i++)
    codes[i] = (guint8) (100 + g_test_rand_int_range (0, channels % 3 ? 4 : 60)
                         + (i % row % channels == best_of ? above : 0))
               ^ flip;
  for (gsize r = 0; r < rows; r++)
    weights[r] = g_test_rand_int_range (0, 2049);
  for (gint32 x = 0; x < SL_SEARCHED + SL_SEARCH_OVER; x++) {
    across[x] = g_test_rand_int_range (0, 2049);
    if (x >= SL_SEARCHED)
      continue;
    pixel[x] = x == 0 ? 0 : MIN (pixel[x - 1] + (g_test_rand_int_range (0, 4) == 0), PIXELS - 2);
    if (x == 0 || pixel[x] != pixel[x - 1])
      runs[tile.n_runs++] =
        (SlSearchRun){ x, pixel[x] * (gint32) channels, (pixel[x] + 1) * (gint32) channels };
  }
  loops->search (&tile, weights, rows, found);
  for (gsize i = 0; i < rows * SL_SEARCHED; i++) {
    const gsize x = i % SL_SEARCHED, at = (gsize) pixel[x] * channels;
    gint32 best = -1, where = 0;
    for (gsize c = 0; c < channels; c++) {
      gint64 sum = 1 << 21;
      for (gsize k = 0; k < 4; k++)
        sum += (gint64) (codes[k / 2 * row + at + k % 2 * channels + c] ^ flip)
               * (k % 2 ? across[x] : 2048 - across[x])
               * (k / 2 ? weights[i / SL_SEARCHED] : 2048 - weights[i / SL_SEARCHED]);
      where = (gint32) (sum / (1 << 22)) > best ? (gint32) c : where;
      best = MAX (best, (gint32) (sum / (1 << 22)));
    }
    g_assert_cmpint (found[i], ==, where);
  }
}

static void
check_blend (const SlSimdLoops *loops, gsize n)
{
  guint8 left[LONGEST], right[LONGEST], out[LONGEST + GUARD];
  gint32 top[LONGEST], bottom[LONGEST];
  const gint32 weight = g_test_rand_int_range (0, 2049), down = g_test_rand_int_range (0, 2049);
  const gboolean is_signed = n % 2;
  random_bytes (left, n);
  random_bytes (right, n);
  memset (out, 0xa5, sizeof out);
  if (is_signed) {
    loops->across_i8 ((const gint8 *) left, (const gint8 *) right, weight, top, n);
    loops->across_i8 ((const gint8 *) right, (const gint8 *) left, weight, bottom, n);
  } else {
    loops->across_u8 (left, right, weight, top, n);
    loops->across_u8 (right, left, weight, bottom, n);
  }
  loops->down (top, bottom, down, out, n);
  for (gsize i = 0; i < n; i++) {
    const gint64 l = is_signed ? (gint8) left[i] : left[i],
                 r = is_signed ? (gint8) right[i] : right[i];
    const gint64 t = l * (2048 - weight) + r * weight, b = r * (2048 - weight) + l * weight;
    const gint64 sum = t * (2048 - down) + b * down + (1 << 21);
    g_assert_cmpint (top[i], ==, t);
    g_assert_cmpuint (
      out[i], ==, (guint8) (sum >= 0 ? sum / (1 << 22) : -((-sum + (1 << 22) - 1) / (1 << 22))));
  }
  for (gsize i = 0; i < GUARD; i++)
    g_assert_cmpuint (out[n + i], ==, 0xa5);
}

/* Pixels of @n floats: within the rounding of three steps of the exact value. */
static void
check_blend_floats (const SlSimdLoops *loops, gsize n)
{
  enum
  {
    PIXELS = 3
  };
  static const SlBlendPlace columns[] = { { 0, 1, 0, 0.25f }, { 1, 2, 0, 0.7f }, { 2, 2, 0, 0 } };
  g_autofree gfloat *rows = g_new (gfloat, 2 * PIXELS * n), *out = g_new (gfloat, PIXELS * n + 1);
  const gfloat down = (gfloat) g_test_rand_double_range (0, 1);
  for (gsize i = 0; i < 2 * PIXELS * n; i++)
    rows[i] = (gfloat) g_test_rand_double_range (-2, 2);
  out[PIXELS * n] = 77;
  loops->blend (rows, rows + PIXELS * n, down, columns, PIXELS, n, out);
  for (gsize i = 0; i < PIXELS * n; i++) {
    const SlBlendPlace *at = &columns[i / n];
    gdouble line[2];
    for (gsize k = 0; k < 2; k++) {
      const gfloat *row = rows + k * PIXELS * n + i % n;
      const gdouble left = (gdouble) row[(gsize) at->low * n],
                    right = (gdouble) row[(gsize) at->high * n];
      line[k] = left + (right - left) * (gdouble) at->weight;
    }
    g_assert_cmpfloat (fabs ((gdouble) out[i] - (line[0] + (line[1] - line[0]) * (gdouble) down)),
                       <=, 1e-6);
  }
  g_assert_true (out[PIXELS * n] == 77);
}

static void
check_arg_max (const SlSimdLoops *loops, gsize n, guint8 flip)
{
  enum
  {
    ROWS = 9
  };
  guint8 in[ROWS * LONGEST];
  gint32 out[ROWS + 1] = { 0 };
  random_bytes (in, ROWS * n);
  for (gsize i = 0; i < ROWS * n && n % 3 == 0; i++)
    in[i] &= 3; /* many equals */
  out[ROWS] = 77;
  loops->arg_max (in, n, ROWS, flip, out);
  for (gsize r = 0; r < ROWS; r++) {
    gsize best = 0;
    for (gsize i = 1; i < n; i++)
      best = (guint8) (in[r * n + i] ^ flip) > (guint8) (in[r * n + best] ^ flip) ? i : best;
    g_assert_cmpint (out[r], ==, (gint32) best);
  }
  g_assert_cmpint (out[ROWS], ==, 77);
}

/* Rows as TensorFlow Lite's kernel makes them: a table of exponentials, a sum in order, rounded
 * half up. */
static void
check_softmax (const SlSimdLoops *loops, gsize n, gsize rows)
{
  gfloat table[256];
  const guint8 flip = n % 2 ? 0x80 : 0;
  const SlSoftmax softmax = { n, flip, table, 1.0f / (n % 5 ? 256.0f : 90.0f), n % 4 ? 0 : 7 };
  g_autofree guint8 *in = g_new (guint8, rows * n), *out = g_new (guint8, rows * n + 1);
  random_bytes (in, rows * n);
  for (gint i = 0; i < 256; i++)
    table[i] = expf (-0.02f * (gfloat) i);
  out[rows * n] = 0xa5;
  loops->softmax (&softmax, in, out, rows);
  for (gsize r = 0; r < rows; r++) {
    gint32 highest = 0;
    gfloat sum = 0;
    for (gsize i = 0; i < n; i++)
      highest = MAX (highest, in[r * n + i] ^ flip);
    for (gsize i = 0; i < n; i++)
      sum += table[highest - (in[r * n + i] ^ flip)];
    for (gsize i = 0; i < n; i++) {
      const gfloat scaled =
        table[highest - (in[r * n + i] ^ flip)] * (1.0f / (sum * softmax.scale));
      const gint32 code = (gint32) floorf (scaled + 0.5f) + softmax.zero_point;
      g_assert_cmpuint (out[r * n + i] ^ flip, ==, MIN (code, 255));
    }
  }
  g_assert_cmpuint (out[rows * n], ==, 0xa5);
}

static void
check_sums (const SlSimdLoops *loops, gsize n)
{
  guint8 in[LONGEST];
  gint32 sums[2][LONGEST];
  random_bytes (in, n);
  for (gsize i = 0; i < n; i++)
    sums[0][i] = sums[1][i] = (gint32) i - 9;
  loops->add_u8 (in, sums[0], n);
  loops->add_i8 ((const gint8 *) in, sums[1], n);
  for (gsize i = 0; i < n; i++) {
    g_assert_cmpint (sums[0][i], ==, (gint32) i - 9 + in[i]);
    g_assert_cmpint (sums[1][i], ==, (gint32) i - 9 + in[i] - (in[i] > 127 ? 256 : 0));
  }
}

/* Windows that overlap; what lies between their results stays as it is. */
static void
check_largest (const SlSimdLoops *loops, gsize n)
{
  const SlWindows windows = {
    .n = n, .taps = n % 4, .stride = 5, .count = 4, .step = 3, .out_step = n + 2
  };
  gfloat in[LONGEST + 30], out[4 * (LONGEST + 2)];
  for (gsize i = 0; i < G_N_ELEMENTS (in); i++)
    in[i] = i % 11 >= 8 ? NAN : i % 23 == 5 ? -INFINITY : (gfloat) (i * 7 % 13) - 6;
  for (gsize i = 0; i < G_N_ELEMENTS (out); i++)
    out[i] = 77;
  loops->largest (&windows, in, out);
  for (gsize i = 0; i < 4 * (n + 2); i++) {
    const gsize window = i / (n + 2), c = i % (n + 2);
    gfloat expected = c < n ? -INFINITY : 77;
    for (gsize tap = 0; c < n && tap < windows.taps; tap++)
      expected = fmaxf (expected, in[window * 3 + tap * 5 + c]);
    g_assert_cmpfloat (out[i], ==, expected);
  }
}

/* All halves there are, from and to; and floats between two of them. */
static void
check_halves (const SlSimdLoops *loops)
{
  static guint16 halves[65536], again[65536];
  static gfloat floats[65536];
  for (guint i = 0; i < 65536; i++)
    halves[i] = (guint16) i;
  loops->from_halves (halves, floats, 65536);
  for (guint i = 0; i < 65536; i++) {
    const gfloat expected = sl_half_to_float ((guint16) i);
    g_assert_true (isnan (expected)
                     ? isnan (floats[i])
                     : floats[i] == expected && !signbit (floats[i]) == !signbit (expected));
  }
  loops->to_halves (floats, again, 65536);
  for (guint i = 0; i < 65536; i++)
    g_assert_true (isnan (floats[i]) ? (again[i] & 0x7fff) > 0x7c00 : again[i] == i);
  for (guint i = 0; i < 65536; i++)
    floats[i] = ldexpf ((gfloat) (gint) (i * 2654435761u), (gint) (i % 80) - 60);
  again[65533] = 7;
  loops->to_halves (floats, again, 65533);
  for (guint i = 0; i < 65533; i++)
    g_assert_cmphex (again[i], ==, sl_half_from_float (floats[i]));
  g_assert_cmphex (again[65533], ==, 7);
}

/* Halves to even, limits, and NaN. */
static void
check_round (const SlSimdLoops *loops, gsize n)
{
  const gfloat scale = 0.25f, lo = -100, hi = 155, by = 0.375f;
  gfloat in[LONGEST], out[LONGEST], least = 0, most = 0;
  for (gsize i = 0; i <= n; i++) {
    in[i] = i % 17 == 5   ? NAN
            : i % 19 == 7 ? INFINITY
            : i % 23 == 9 ? -INFINITY
                          : (gfloat) ((gint32) (i * 71 % 603) - 301) / 8;
    out[i] = 7;
  }
  loops->round (in, out, n, scale, lo, hi, by);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpfloat (
      (double) out[i], ==,
      (double) by
        * (isnan (in[i]) ? (double) lo : CLAMP (nearbyint ((double) in[i] / 0.25), -100, 155)));
  g_assert_cmpfloat (out[n], ==, 7);
  loops->widen (in, &least, &most, n);
  gfloat low = 0, high = 0;
  for (gsize i = 0; i < n; i++) {
    low = fminf (low, in[i]);
    high = fmaxf (high, in[i]);
  }
  g_assert_cmpfloat (least, ==, low);
  g_assert_cmpfloat (most, ==, high);
}

/* The same bytes in every set, near what double precision gives. */
static void
check_float_sums (const SlSimdLoops *loops, gsize n)
{
  gfloat a[LONGEST], b[LONGEST];
  double sum = 0, product = 0;
  for (gsize i = 0; i < n; i++) {
    a[i] = (gfloat) (i * 37 % 101) / 7 - 6;
    b[i] = (gfloat) (i * 53 % 89) / 11 - 4;
    sum += (double) a[i];
    product += (double) a[i] * (double) b[i];
  }
  g_assert_cmpfloat (fabs (loops->sum (a, n) - sum), <, 1e-9);
  g_assert_cmpfloat (fabs ((double) loops->dot (a, b, n) - product), <, 1e-4 * (double) n);
  g_assert_true (loops->dot (a, b, n) == sl_simd_loops_base.dot (a, b, n)
                 && loops->sum (a, n) == sl_simd_loops_base.sum (a, n));
}

/* Products of rows and a vector: near double, and the same with each set. */
static void
check_dots (const SlSimdLoops *loops, gsize n)
{
  const gsize most = 6, step = 3;
  g_autofree gfloat *rows = g_new (gfloat, most * n + 1), *b = g_new (gfloat, n + 1),
                    *out = g_new (gfloat, most * step), *base = g_new (gfloat, most * step);
  for (gsize i = 0; i < most * n; i++)
    rows[i] = (gfloat) g_test_rand_double_range (-1, 1);
  for (gsize i = 0; i < n; i++)
    b[i] = (gfloat) g_test_rand_double_range (-1, 1);
  for (gsize n_rows = 1; n_rows <= most; n_rows++) {
    for (gsize i = 0; i < most * step; i++)
      out[i] = base[i] = -7;
    loops->dots (rows, n_rows, b, n, out, step);
    sl_simd_loops_base.dots (rows, n_rows, b, n, base, step);
    g_assert_cmpmem (out, most * step * sizeof *out, base, most * step * sizeof *base);
    for (gsize r = 0; r < most * step; r++) {
      double sum = 0;
      for (gsize i = 0; i < n && r % step == 0; i++)
        sum += (double) rows[r / step * n + i] * (double) b[i];
      g_assert_cmpfloat_with_epsilon (
        (double) out[r], r % step == 0 && r / step < n_rows ? sum : -7, 1e-5 * (double) (n + 1));
    }
  }
}

static void
check_tangent (const SlSimdLoops *loops, gsize n)
{
  gfloat x[LONGEST], y[LONGEST];
  for (gsize i = 0; i <= n; i++)
    x[i] = y[i] = (gfloat) ((i % 2 ? 1 : -1) * pow (10, -6 + (double) (i * 29 % 80) / 10));
  loops->tangent (y, y, n);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpfloat (fabs ((double) y[i] / tanh ((double) x[i]) - 1), <, 4e-7);
  g_assert_cmpfloat (y[n], ==, x[n]);
}

static void
check_turn (const SlSimdLoops *loops, gsize from_stride, gsize to_stride)
{
  guint8 from[SL_TURNED * 40], to[SL_TURNED * 40];
  random_bytes (from, sizeof from);
  memset (to, 0xa5, sizeof to);
  loops->turn (from, (gssize) from_stride, to, (gssize) to_stride);
  for (gsize y = 0; y < SL_TURNED; y++)
    for (gsize x = 0; x < to_stride; x++)
      g_assert_cmpuint (to[y * to_stride + x], ==,
                        x < SL_TURNED ? from[x * from_stride + y] : 0xa5);
}

static void
check_weave (const SlSimdLoops *loops, guint planes, gsize n)
{
  const gsize stride = n + 3;
  g_autofree guint32 *in = g_new (guint32, planes * stride), *out = g_new (guint32, planes * n + 1);
  for (gsize i = 0; i < planes * stride; i++)
    in[i] = (guint32) i * 2654435761u;
  out[planes * n] = 7;
  loops->weave (in, stride, planes, out, n);
  for (gsize i = 0; i < planes * n; i++)
    g_assert_cmpuint (out[i], ==, in[i % planes * stride + i / planes]);
  g_assert_cmpuint (out[planes * n], ==, 7);
  const guint16 *halves_in = (const guint16 *) (gconstpointer) in;
  guint16 *halves = (guint16 *) (gpointer) out;
  halves[planes * n] = 7;
  loops->weave_halves (halves_in, stride, planes, halves, n);
  for (gsize i = 0; i < planes * n; i++)
    g_assert_cmpuint (halves[i], ==, halves_in[i % planes * stride + i / planes]);
  g_assert_cmpuint (halves[planes * n], ==, 7);
}

static void
test_all (void)
{
  const SlSimdLoops *sets[3];
  const guint n_sets = sl_simd_loops_all (sets);
  g_assert_true (sl_simd_loops () == sets[n_sets - 1]);
  for (guint s = 0; s < n_sets; s++) {
    g_test_message ("%s", sets[s]->name);
    check_turn (sets[s], SL_TURNED, SL_TURNED);
    check_turn (sets[s], 37, 23);
    check_halves (sets[s]);
    for (gsize n = 1; n < LONGEST - GUARD; n += n < 70 ? 1 : 13) {
      check_weave (sets[s], 2, n);
      check_weave (sets[s], 3, n);
      check_look_up (sets[s], n, n % 7);
      check_blend (sets[s], n);
      check_blend_floats (sets[s], n);
      check_search (sets[s], n, 1 + n % SL_SEARCH_ROWS);
      check_arg_max (sets[s], n, 0);
      check_arg_max (sets[s], n, 0x80);
      check_arg_max (sets[s], n, 0x7f);
      check_softmax (sets[s], n, 1 + n % 11);
      check_sums (sets[s], n);
      check_largest (sets[s], n);
      check_round (sets[s], n);
      check_float_sums (sets[s], n);
      check_dots (sets[s], n);
      check_tangent (sets[s], n);
    }
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/simd_loops", test_all);
  return g_test_run ();
}
