/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every instruction set of the wide loops this machine has, against loops of the test's own, byte for byte. */
#include <string.h>

#include "core/kernels/wide/wide.h"

#define LONGEST 300
#define GUARD 16

static void
random_bytes (guint8 *bytes, gsize n)
{
  for (gsize i = 0; i < n; i++)
    bytes[i] = (guint8) g_test_rand_int_range (0, 256);
}

static void
check_look_up (const SlWide *wide, gsize n, gsize offset)
{
  guint8 table[256], in[LONGEST + GUARD], out[LONGEST + 2 * GUARD];
  random_bytes (table, sizeof table);
  random_bytes (in, sizeof in);
  memset (out, 0xa5, sizeof out);
  wide->look_up (table, in + offset, out + offset, n);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpuint (out[offset + i], ==, table[in[offset + i]]);
  for (gsize i = 0; i < GUARD; i++)
    g_assert_cmpuint (out[offset + n + i], ==, 0xa5);
}

/* @n pixels of a few channels, with many equal codes, or with a channel above most others. */
static void
check_search (const SlWide *wide, gsize n, gsize rows)
{
  enum
  {
    CHANNELS = 9,
    STRIDE = SL_SEARCHED
  };
  gint32 lines[2][CHANNELS * STRIDE] = { 0 }, found[SL_SEARCH_ROWS * SL_SEARCHED], weights[SL_SEARCH_ROWS];
  const gint32 above = g_test_rand_int_range (0, 5) * 2048, best_of = g_test_rand_int_range (0, CHANNELS);
  for (gsize r = 0; r < rows; r++)
    weights[r] = g_test_rand_int_range (0, 2049);
  for (guint k = 0; k < 2; k++)
    for (gint32 i = 0; i < CHANNELS * STRIDE; i++)
      lines[k][i] = g_test_rand_int_range (-3 * 2048, 3 * 2048) + (i / STRIDE == best_of ? above : 0);
  wide->search (lines[0], lines[1], STRIDE, CHANNELS, weights, rows, found, n);
  for (gsize i = 0; i < rows * n; i++) {
    const gint32 x = (gint32) (i % n);
    gint64 best = G_MININT64;
    gint32 where = 0;
    for (gint32 c = 0; c < CHANNELS; c++) {
      const gint64 t = lines[0][c * STRIDE + x], b = lines[1][c * STRIDE + x],
                   sum = t * (2048 - weights[i / n]) + b * weights[i / n] + (1 << 21);
      const gint64 code = sum >= 0 ? sum / (1 << 22) : -((-sum + (1 << 22) - 1) / (1 << 22));
      where = code > best ? c : where;
      best = MAX (best, code);
    }
    g_assert_cmpint (found[i / n * SL_SEARCHED + (gsize) x], ==, where);
  }
}

static void
check_blend (const SlWide *wide, gsize n)
{
  guint8 left[LONGEST], right[LONGEST], out[LONGEST + GUARD];
  gint32 top[LONGEST], bottom[LONGEST];
  const gint32 weight = g_test_rand_int_range (0, 2049), down = g_test_rand_int_range (0, 2049);
  const gboolean is_signed = n % 2;
  random_bytes (left, n);
  random_bytes (right, n);
  memset (out, 0xa5, sizeof out);
  if (is_signed) {
    wide->across_i8 ((const gint8 *) left, (const gint8 *) right, weight, top, n);
    wide->across_i8 ((const gint8 *) right, (const gint8 *) left, weight, bottom, n);
  } else {
    wide->across_u8 (left, right, weight, top, n);
    wide->across_u8 (right, left, weight, bottom, n);
  }
  wide->down (top, bottom, down, out, n);
  for (gsize i = 0; i < n; i++) {
    const gint64 l = is_signed ? (gint8) left[i] : left[i], r = is_signed ? (gint8) right[i] : right[i];
    const gint64 t = l * (2048 - weight) + r * weight, b = r * (2048 - weight) + l * weight;
    const gint64 sum = t * (2048 - down) + b * down + (1 << 21);
    g_assert_cmpint (top[i], ==, t);
    g_assert_cmpuint (out[i], ==, (guint8) (sum >= 0 ? sum / (1 << 22) : -((-sum + (1 << 22) - 1) / (1 << 22))));
  }
  for (gsize i = 0; i < GUARD; i++)
    g_assert_cmpuint (out[n + i], ==, 0xa5);
}

static void
check_arg_max (const SlWide *wide, gsize n, guint8 flip)
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
  wide->arg_max (in, n, ROWS, flip, out);
  for (gsize r = 0; r < ROWS; r++) {
    gsize best = 0;
    for (gsize i = 1; i < n; i++)
      best = (guint8) (in[r * n + i] ^ flip) > (guint8) (in[r * n + best] ^ flip) ? i : best;
    g_assert_cmpint (out[r], ==, (gint32) best);
  }
  g_assert_cmpint (out[ROWS], ==, 77);
}

static void
test_all (void)
{
  const SlWide *sets[3];
  const guint n_sets = sl_wide_all (sets);
  g_assert_true (sl_wide () == sets[n_sets - 1]);
  for (guint s = 0; s < n_sets; s++) {
    g_test_message ("%s", sets[s]->name);
    for (gsize n = 1; n < LONGEST - GUARD; n += n < 70 ? 1 : 13) {
      check_look_up (sets[s], n, n % 7);
      check_blend (sets[s], n);
      check_search (sets[s], MIN (n, SL_SEARCHED), 1 + n % SL_SEARCH_ROWS);
      check_arg_max (sets[s], n, 0);
      check_arg_max (sets[s], n, 0x80);
      check_arg_max (sets[s], n, 0x7f);
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/wide", test_all);
  return g_test_run ();
}
