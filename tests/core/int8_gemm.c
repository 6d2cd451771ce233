/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The multiplication of every instruction set by itself: against integer arithmetic written here,
 * and with everything it reads or writes against an inaccessible page, so that nothing outside is
 * touched but what isa.h allows.
 */
#include <math.h>
#include <string.h>

#include "core/backends/int8/isa.h"
#include "tests/preprocess/guard.h"
#include "tests/support/program.h"

#define MAX_PANELS 3
#define MAX_STEPS 40
#define MAX_EXTRA (2 * MAX_STEPS + 3)

/** A multiplication: @n panels of channels, of rows @stride bytes apart, of activations of 0 to
 * @last without their sign. */
typedef struct
{
  const SlInt8Isa *isa;
  SlInt8Gemm gemm;
  SlInt8Panel panels[MAX_PANELS];
  gint32 extra[MAX_EXTRA];
  gint32 n, rows, channels, last;
  gsize stride;
  TestGuard a, c, weights[MAX_PANELS], bias, scale, rest;
} Product;

static gint32
between (GRand *rand, gint32 lo, gint32 hi)
{
  return g_rand_int_range (rand, lo, hi + 1);
}

/* Activations, as int16 or as bytes by the instruction set; one in three is an extreme. */
static void
fill_activations (GRand *rand, Product *p)
{
  const gboolean is_signed = p->gemm.is_signed;
  const gsize n = p->isa->int16 ? p->a.bytes / 2 : p->a.bytes;
  for (gsize i = 0; i < n; i++) {
    const gint32 code =
      between (rand, 0, 2) == 0 ? 255 * between (rand, 0, 1) : between (rand, 0, 255);
    if (p->isa->int16)
      ((gint16 *) (gpointer) p->a.data)[i] = (gint16) (is_signed ? code - 128 : code);
    else
      p->a.data[i] = (guint8) (is_signed ? code - 128 : code);
  }
}

static void
fill_weights (GRand *rand, const SlInt8Isa *isa, TestGuard *weights)
{
  const gsize n = isa->int16 ? weights->bytes / 2 : weights->bytes;
  const gint32 lo = isa->int16 ? -255 : isa->symmetric ? -127 : -128, hi = isa->int16 ? 255 : 127;
  for (gsize i = 0; i < n; i++) {
    const gint32 weight =
      between (rand, 0, 2) == 0 ? (between (rand, 0, 1) ? lo : hi) : between (rand, lo, hi);
    if (isa->int16)
      ((gint16 *) (gpointer) weights->data)[i] = (gint16) weight;
    else
      ((gint8 *) weights->data)[i] = (gint8) weight;
  }
}

/* Sets with pairs: limits what weights of one sign add up to that are multiplied with a pair of
 * activations, together with those of the step before where the products of both are added. Many
 * reach the limit. */
static void
limit_weights (const Product *p, const SlInt8Panel *panel, gint8 *weights)
{
  const gint32 limit = 32767 / p->last, bytes = panel->groups * p->isa->lanes * 4;
  for (gint32 s = 0; s < panel->steps + panel->n_extra; s++) {
    const gint32 extra = s - panel->steps;
    const gboolean second = extra >= 0 && extra < 2 * panel->twos && extra % 2 == 1;
    for (gint32 i = 0; i < bytes; i += 2) {
      gint32 left[2] = { limit, limit };
      for (gint k = second ? 1 : 0; k >= 0; k--)
        for (gint j = 0; j < 2; j++) {
          gint8 *weight = weights + (s - k) * bytes + i + j;
          gint32 *room = &left[*weight < 0];
          *weight = (gint8) CLAMP (*weight, -*room, *room);
          *room -= ABS (*weight);
        }
    }
  }
}

static void
init_panels (GRand *rand, Product *p, gint32 steps)
{
  const SlInt8Isa *isa = p->isa;
  const gint32 width = isa->max_groups * isa->lanes, element = isa->int16 ? 2 : 1;
  const gint32 run = between (rand, 1, steps), n_runs = between (rand, 0, 1) * between (rand, 0, 2),
               n_extra = run * n_runs + (between (rand, 0, 1) ? between (rand, 0, 3) : 0);
  for (gint32 i = 0; i < n_extra; i++)
    p->extra[i] = i < run * n_runs && i % run > 0
                    ? p->extra[i - 1] + isa->unit
                    : between (rand, 0, (steps - (i < run * n_runs ? run : 1)) * isa->unit);
  for (gint32 i = 0; i < p->n; i++) {
    SlInt8Panel *panel = &p->panels[i];
    panel->channel = i * width;
    panel->channels = MIN (p->channels - panel->channel, width);
    panel->groups = (panel->channels + isa->lanes - 1) / isa->lanes;
    panel->steps = steps;
    panel->n_extra = n_extra;
    panel->n_runs = n_runs;
    panel->run = run;
    panel->extra = p->extra;
    panel->twos = isa->pairs ? between (rand, 0, n_extra / 2) : 0;
    test_guard_init (&p->weights[i],
                     (gsize) ((steps + n_extra) * panel->groups * isa->lanes * isa->unit * element),
                     TRUE);
    fill_weights (rand, isa, &p->weights[i]);
    if (isa->pairs)
      limit_weights (p, panel, (gint8 *) p->weights[i].data);
    panel->weights = p->weights[i].data;
  }
}

static void
product_init (GRand *rand, const SlInt8Isa *isa, gint32 last, Product *p)
{
  const gint32 width = isa->max_groups * isa->lanes, element = isa->int16 ? 2 : 1;
  const gint32 steps = between (rand, 1, between (rand, 0, 1) ? 5 : MAX_STEPS),
               row = steps * isa->unit;
  memset (p, 0, sizeof *p);
  p->isa = isa;
  p->last = last;
  p->channels = between (rand, 1, between (rand, 1, MAX_PANELS) * width);
  p->n = (p->channels + width - 1) / width;
  p->rows = between (rand, 1, 40);
  p->stride = (gsize) (between (rand, 1, 2 * row) * element);
  p->gemm.is_signed = isa->shallow == G_MAXINT32 ? isa->signed_values : between (rand, 0, 1);
  p->gemm.flip = isa->int16 || isa->either || isa->signed_values == p->gemm.is_signed ? 0 : 0x80;
  p->gemm.output.zero_point = (gint16) between (rand, 0, 255);
  p->gemm.output.lo = (guint8) (between (rand, 0, 1) ? between (rand, 0, 100) : 0);
  p->gemm.output.hi = (guint8) (between (rand, 0, 1) ? between (rand, 101, 255) : 255);
  p->gemm.output.flip = between (rand, 0, 1) ? 0x80 : 0;
  init_panels (rand, p, steps);
  test_guard_init (&p->a, (gsize) (p->rows - 1) * p->stride + (gsize) (row * element), TRUE);
  test_guard_init (&p->c, (gsize) (p->rows * p->channels), TRUE);
  test_guard_init (&p->bias, (gsize) (p->n * width) * sizeof (gint32), TRUE);
  test_guard_init (&p->scale, (gsize) (p->n * width) * sizeof (gfloat), TRUE);
  test_guard_init (&p->rest, (gsize) (p->n * width) * sizeof (gfloat), TRUE);
  fill_activations (rand, p);
  for (gint32 i = 0; i < p->n * width; i++) {
    ((gint32 *) (gpointer) p->bias.data)[i] = between (rand, -20000, 20000);
    ((gfloat *) (gpointer) p->rest.data)[i] = (gfloat) g_rand_double_range (rand, -1, 1);
    ((gfloat *) (gpointer) p->scale.data)[i] =
      (gfloat) g_rand_double_range (rand, 0.2, 2) / (gfloat) (64 * row);
  }
  p->gemm.panels = p->panels;
  p->gemm.bias = (const gint32 *) (gpointer) p->bias.data;
  p->gemm.scale = (const gfloat *) (gpointer) p->scale.data;
  p->gemm.rest = (const gfloat *) (gpointer) p->rest.data;
}

static void
product_clear (Product *p)
{
  for (gint32 i = 0; i < p->n; i++)
    test_guard_clear (&p->weights[i]);
  test_guard_clear (&p->a);
  test_guard_clear (&p->c);
  test_guard_clear (&p->bias);
  test_guard_clear (&p->scale);
  test_guard_clear (&p->rest);
}

/* u(a) of the @i-th activation from the start of row @r. */
static gint32
activation (const Product *p, gint32 r, gint32 i)
{
  const guint8 *row = p->a.data + (gsize) r * p->stride;
  if (p->isa->int16)
    return ((const gint16 *) (gconstpointer) row)[i];
  const gboolean is_signed = p->isa->either ? p->gemm.is_signed : p->isa->signed_values;
  const guint8 code = row[i] ^ p->gemm.flip;
  return is_signed ? (gint8) code : code;
}

static gint64
sum_of (const Product *p, const SlInt8Panel *panel, gint32 row, gint32 lane)
{
  const SlInt8Isa *isa = p->isa;
  gint64 sum = p->gemm.bias[panel->channel + lane];
  for (gint32 s = 0; s < panel->steps + panel->n_extra; s++) {
    const gint32 from = s < panel->steps ? s * isa->unit : panel->extra[s - panel->steps];
    for (gint32 i = 0; i < isa->unit; i++) {
      const gint32 at = (s * panel->groups * isa->lanes + lane) * isa->unit + i;
      const gint32 weight =
        isa->int16 ? ((const gint16 *) panel->weights)[at] : ((const gint8 *) panel->weights)[at];
      sum += activation (p, row, from + i) * weight;
    }
  }
  return sum;
}

static guint8
expected_code (const Product *p, const SlInt8Panel *panel, gint32 row, gint32 lane)
{
  const SlInt8Output *output = &p->gemm.output;
  const gint64 sum = sum_of (p, panel, row, lane);
  const double value = rint ((double) ((gfloat) sum * p->gemm.scale[panel->channel + lane]
                                       + p->gemm.rest[panel->channel + lane]))
                       + output->zero_point;
  return (guint8) fmin (fmax (value, output->lo), output->hi) ^ output->flip;
}

static void
test_gemm (gconstpointer data)
{
  const SlInt8Isa *isa = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  for (guint i = 0; i < 150; i++) {
    Product p;
    product_init (rand, isa, 255, &p);
    isa->gemm (&p.gemm, 0, p.n, p.a.data, p.stride, p.rows, p.c.data, (gsize) p.channels);
    for (gint32 row = 0; row < p.rows; row++)
      for (gint32 channel = 0; channel < p.channels; channel++) {
        const SlInt8Panel *panel = &p.panels[channel / (isa->max_groups * isa->lanes)];
        const guint8 got = p.c.data[row * p.channels + channel],
                     expected = expected_code (&p, panel, row, channel - panel->channel);
        if (got != expected)
          g_error (
            "%s: code %d,%d is %u; expected %u; %d rows, %d channels, %d steps and %d, signed %d",
            isa->name, row, channel, got, expected, p.rows, p.channels, panel->steps,
            panel->n_extra, p.gemm.is_signed);
      }
    product_clear (&p);
  }
}

/* What the products of a row that was rounded are, in doubles. */
static double
expected_float (const Product *p, const SlInt8Panel *panel, const SlInt8Row *of, gint32 row,
                gint32 lane)
{
  const gint32 i = panel->channel + lane;
  double sum = sum_of (p, panel, row, lane) * (double) p->gemm.scale[i];
  sum = (sum + (double) p->gemm.lean[i] * (double) of->lean) * (double) of->scale
        + (double) p->gemm.rest[i];
  return fmin (fmax (sum, (double) p->gemm.lo), (double) p->gemm.hi);
}

static void
check_floats (const Product *p, const SlInt8Row *rows, const gfloat *c)
{
  for (gint32 row = 0; row < p->rows; row++)
    for (gint32 channel = 0; channel < p->channels; channel++) {
      const SlInt8Panel *panel = &p->panels[channel / (p->isa->max_groups * p->isa->lanes)];
      const double got = (double) c[row * p->channels + channel],
                   want = expected_float (p, panel, &rows[row], row, channel - panel->channel);
      if (fabs (got - want) > 1e-4 * fmax (1, fabs (want)))
        g_error ("%s: number %d,%d is %g; expected %g; %d rows, %d channels, %d steps and %d",
                 p->isa->name, row, channel, got, want, p->rows, p->channels, panel->steps,
                 panel->n_extra);
    }
}

static void
test_floats (gconstpointer data)
{
  const SlInt8Isa *isa = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  for (guint i = 0; i < 150; i++) {
    Product p;
    TestGuard lean, rows, c;
    product_init (rand, isa, isa->last, &p);
    p.gemm.flip = 0;
    p.gemm.is_signed = isa->signed_values && !isa->either;
    fill_activations (rand, &p);
    for (gsize k = 0; isa->last < 255 && k < p.a.bytes; k++)
      p.a.data[k] &= (guint8) isa->last;
    test_guard_init (&lean, p.scale.bytes, TRUE);
    test_guard_init (&rows, (gsize) p.rows * sizeof (SlInt8Row), TRUE);
    test_guard_init (&c, (gsize) (p.rows * p.channels) * sizeof (gfloat), TRUE);
    for (gsize k = 0; k < lean.bytes / sizeof (gfloat); k++)
      ((gfloat *) (gpointer) lean.data)[k] = (gfloat) g_rand_double_range (rand, -0.1, 0.1);
    for (gint32 k = 0; k < p.rows; k++)
      ((SlInt8Row *) (gpointer) rows.data)[k] =
        (SlInt8Row){ (gfloat) g_rand_double_range (rand, 0.001, 1),
                     (gfloat) -between (rand, 0, 255) };
    p.gemm.lean = (const gfloat *) (gpointer) lean.data;
    p.gemm.lo = between (rand, 0, 1) ? -INFINITY : -1;
    p.gemm.hi = between (rand, 0, 1) ? INFINITY : 2;
    isa->gemm_floats (&p.gemm, 0, p.n, p.a.data, p.stride, p.rows,
                      (const SlInt8Row *) (gpointer) rows.data, (gfloat *) (gpointer) c.data,
                      (gsize) p.channels);
    check_floats (&p, (const SlInt8Row *) (gpointer) rows.data, (const gfloat *) (gpointer) c.data);
    test_guard_clear (&lean);
    test_guard_clear (&rows);
    test_guard_clear (&c);
    product_clear (&p);
  }
}

static double
stored (const SlInt8Isa *isa, const guint8 *codes, gsize i)
{
  if (isa->int16)
    return ((const gint16 *) (gconstpointer) codes)[i];
  return isa->signed_values && !isa->either ? (gint8) codes[i] + 128 : codes[i];
}

/* Rows of @n floats of which the first is @first. */
static void
check_round (GRand *rand, const SlInt8Isa *isa, gsize n, gfloat first)
{
  TestGuard from, to;
  SlInt8Row row;
  double least = 0, most = 0;
  test_guard_init (&from, n * sizeof (gfloat), TRUE);
  test_guard_init (&to, n * (isa->int16 ? 2 : 1), TRUE);
  gfloat *values = (gfloat *) (gpointer) from.data;
  for (gsize i = 0; i < n; i++) {
    values[i] = i == 0 ? first : (gfloat) g_rand_double_range (rand, -1, 3) * fabsf (first);
    least = fmin (least, (double) values[i]);
    most = fmax (most, (double) values[i]);
  }
  isa->round ((const gfloat *const[]){ values }, n, 1, FALSE, to.data, 0, &row);
  const double scale = most > least ? (most - least) / isa->last : 1;
  g_assert_cmpfloat_with_epsilon ((double) row.scale / scale, 1, 1e-5);
  g_assert_cmpfloat_with_epsilon ((double) -row.lean, rint (-least / scale), 1);
  for (gsize i = 0; i < n; i++) {
    const double code = stored (isa, to.data, i);
    g_assert_true (code >= 0 && code <= isa->last);
    g_assert_cmpfloat_with_epsilon ((code + (double) row.lean) * (double) row.scale,
                                    (double) values[i], 1.01 * scale);
  }
  test_guard_clear (&from);
  test_guard_clear (&to);
}

static void
test_round (gconstpointer data)
{
  static const gfloat firsts[] = { 1, -2, 0, 1e-30f, 1e30f };
  const SlInt8Isa *isa = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  for (gsize n = 1; n < 200; n += n < 70 ? 1 : 13)
    for (guint i = 0; i < G_N_ELEMENTS (firsts); i++)
      check_round (rand, isa, n, firsts[i]);
}

/* Rows that are rounded together are what they are alone. */
static void
test_round_rows (gconstpointer data)
{
  enum
  {
    LENGTH = 45,
    STRIDE = 128
  };
  const SlInt8Isa *isa = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (12);
  for (gint32 n = 1; n <= SL_INT8_MOST_ROWS; n++) {
    gfloat values[SL_INT8_MOST_ROWS][LENGTH];
    const gfloat *rows[SL_INT8_MOST_ROWS];
    SlInt8Row together[SL_INT8_MOST_ROWS], alone;
    guint8 codes[SL_INT8_MOST_ROWS * STRIDE] = { 0 }, own[STRIDE];
    for (gint32 r = 0; r < n; r++) {
      rows[r] = values[n - 1 - r];
      for (gint32 i = 0; i < LENGTH; i++)
        values[r][i] = (gfloat) g_rand_double_range (rand, -1 - r, 2);
    }
    isa->round (rows, LENGTH, n, FALSE, codes, STRIDE, together);
    for (gint32 r = 0; r < n; r++) {
      memset (own, 0, sizeof own);
      isa->round (&rows[r], LENGTH, 1, FALSE, own, 0, &alone);
      g_assert_cmpmem (&codes[r * STRIDE], STRIDE, own, STRIDE);
      g_assert_cmpmem (&together[r], sizeof alone, &alone, sizeof alone);
    }
  }
}

/* Whole numbers stay what they are, also where a row has not all of them. */
static void
test_round_whole (gconstpointer data)
{
  const SlInt8Isa *isa = data;
  gfloat values[77];
  gint16 codes[G_N_ELEMENTS (values)];
  SlInt8Row row;
  const gint32 most = isa->last;
  for (gint32 least = -most; least <= 0; least += 3) {
    for (gint32 i = 0; i < (gint32) G_N_ELEMENTS (values); i++)
      values[i] = (gfloat) (least + i * 7 % (most + 1));
    isa->round ((const gfloat *const[]){ values }, G_N_ELEMENTS (values), 1, TRUE, codes, 0, &row);
    g_assert_cmpfloat (row.scale, ==, 1);
    for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
      g_assert_cmpfloat (stored (isa, (const guint8 *) codes, i) + (double) row.lean, ==,
                         (double) values[i]);
  }
}

/* NaN and infinity make their row's scale NaN, at every place. */
static void
test_round_nan (gconstpointer data)
{
  const SlInt8Isa *isa = data;
  gfloat values[150] = { 0 };
  gint16 codes[G_N_ELEMENTS (values)];
  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    for (gint k = 0; k < 4; k++) {
      SlInt8Row row;
      values[i] = k == 0 ? NAN : k == 1 ? -NAN : k == 2 ? INFINITY : -INFINITY;
      isa->round ((const gfloat *const[]){ values }, G_N_ELEMENTS (values), 1, FALSE, codes, 0,
                  &row);
      g_assert_true (isnan (row.scale));
      values[i] = 1;
    }
}

/* Numbers from 0 to 1 as steps, and others as weights, which are limited. */
static void
test_fixed (gconstpointer data)
{
  const SlInt8Isa *isa = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (10);
  for (gsize n = 1; n < 200; n += n < 70 ? 1 : 13) {
    TestGuard from, codes, weights;
    SlInt8Row row;
    test_guard_init (&from, n * sizeof (gfloat), TRUE);
    test_guard_init (&codes, n * (isa->int16 ? 2 : 1), TRUE);
    test_guard_init (&weights, n, TRUE);
    gfloat *values = (gfloat *) (gpointer) from.data;
    for (gsize i = 0; i < n; i++)
      values[i] = i % 5 == 4 ? (gfloat) (i % 2) : (gfloat) g_rand_double (rand);
    isa->round_shares (values, n, codes.data, &row);
    g_assert_cmpfloat (row.lean, ==, 0);
    for (gsize i = 0; i < n; i++)
      g_assert_cmpfloat_with_epsilon (stored (isa, codes.data, i) * (double) row.scale,
                                      (double) values[i], 0.501 / isa->last);
    for (gsize i = 0; i < n; i++)
      values[i] = i % 7 == 3   ? (i % 2 == 0 ? 1e30f : -1e30f)
                  : i % 7 == 5 ? (i % 2 == 0 ? INFINITY : -INFINITY)
                               : (gfloat) g_rand_double_range (rand, -70, 70);
    isa->to_weights (values, n, 2, (gint8 *) weights.data);
    for (gsize i = 0; i < n; i++) {
      const double exact = CLAMP (2.0 * (double) values[i], isa->symmetric ? -127 : -128, 127);
      g_assert_cmpfloat_with_epsilon ((gint8) weights.data[i], exact, 0.5);
    }
    test_guard_clear (&from);
    test_guard_clear (&codes);
    test_guard_clear (&weights);
  }
}

static void
add_test (const char *what, guint i, const SlInt8Isa *isa, GTestDataFunc function)
{
  /* Two encodings share a name. */
  g_autofree char *path = g_strdup_printf ("/core/%s/%u-%s", what, i, isa->name);
  g_test_add_data_func (path, isa, function);
}

TEST_MAIN (int argc, char **argv)
{
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  g_test_init (&argc, &argv, NULL);
  const guint n = sl_int8_isas (isas);
  for (guint i = 0; i < n; i++) {
    for (const SlInt8Isa *isa = isas[i]; isa != NULL; isa = isa->bytes) {
      add_test ("int8-gemm", isa == isas[i] ? i : n + i, isa, test_gemm);
      add_test ("int8-floats", isa == isas[i] ? i : n + i, isa, test_floats);
      add_test ("int8-round", isa == isas[i] ? i : n + i, isa, test_round);
      add_test ("int8-round-whole", isa == isas[i] ? i : n + i, isa, test_round_whole);
      add_test ("int8-round-rows", isa == isas[i] ? i : n + i, isa, test_round_rows);
      add_test ("int8-round-nan", isa == isas[i] ? i : n + i, isa, test_round_nan);
      add_test ("int8-round-fixed", isa == isas[i] ? i : n + i, isa, test_fixed);
    }
  }
  return g_test_run ();
}
