/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Four filters of two states against the textbook's one of eight: dense matrices in double
 * precision, written out here. */
#include <math.h>
#include <string.h>

#include "postprocess/predictions/kalman.h"
#include "tests/support/program.h"

typedef double Matrix[8][8];

typedef struct
{
  double x[8]; /* four positions, four velocities */
  Matrix p;
} Dense;

static void
multiply (Matrix a, Matrix b, Matrix out, gboolean transposed)
{
  Matrix sum;
  for (guint i = 0; i < 8; i++)
    for (guint k = 0; k < 8; k++) {
      sum[i][k] = 0;
      for (guint m = 0; m < 8; m++)
        sum[i][k] += a[i][m] * (transposed ? b[k][m] : b[m][k]);
    }
  memcpy (out, sum, sizeof sum);
}

static void
dense_init (Dense *d, const double box[4])
{
  memset (d, 0, sizeof *d);
  for (guint i = 0; i < 4; i++) {
    d->x[i] = box[i];
    d->p[i][i] = pow (2 * box[2 + i % 2] / 20, 2);
    d->p[4 + i][4 + i] = pow (10 * box[2 + i % 2] / 160, 2);
  }
}

/* x = F x, P = F P F' + Q */
static void
dense_predict (Dense *d)
{
  Matrix f = { { 0 } };
  const double w = d->x[2], h = d->x[3];
  for (guint i = 0; i < 8; i++)
    f[i][i] = 1;
  for (guint i = 0; i < 4; i++) {
    f[i][4 + i] = 1;
    d->x[i] += d->x[4 + i];
  }
  multiply (f, d->p, d->p, FALSE);
  multiply (d->p, f, d->p, TRUE);
  for (guint i = 0; i < 4; i++) {
    d->p[i][i] += pow ((i % 2 ? h : w) / 20, 2);
    d->p[4 + i][4 + i] += pow ((i % 2 ? h : w) / 160, 2);
  }
}

/* The inverse of a symmetric positive 4x4 by Gauss and Jordan. */
static void
invert (double a[4][4], double out[4][4])
{
  double m[4][8] = { { 0 } };
  for (guint i = 0; i < 4; i++) {
    memcpy (m[i], a[i], 4 * sizeof (double));
    m[i][4 + i] = 1;
  }
  for (guint i = 0; i < 4; i++) {
    const double pivot = m[i][i];
    for (guint k = 0; k < 8; k++)
      m[i][k] /= pivot;
    for (guint r = 0; r < 4; r++) {
      const double factor = m[r][i];
      for (guint k = 0; k < 8 && r != i; k++)
        m[r][k] -= factor * m[i][k];
    }
  }
  for (guint i = 0; i < 4; i++)
    memcpy (out[i], m[i] + 4, 4 * sizeof (double));
}

/* S = H P H' + R, K = P H' S^-1, x = x + K (z - H x), P = P - K S K' */
static void
dense_update (Dense *d, const double z[4])
{
  double s[4][4], inverse[4][4], k[8][4], y[4];
  const double w = d->x[2], h = d->x[3];
  for (guint i = 0; i < 4; i++)
    for (guint j = 0; j < 4; j++)
      s[i][j] = d->p[i][j] + (i == j ? pow ((i % 2 ? h : w) / 20, 2) : 0);
  invert (s, inverse);
  for (guint i = 0; i < 8; i++)
    for (guint j = 0; j < 4; j++) {
      k[i][j] = 0;
      for (guint m = 0; m < 4; m++)
        k[i][j] += d->p[i][m] * inverse[m][j];
    }
  for (guint i = 0; i < 4; i++)
    y[i] = z[i] - d->x[i];
  for (guint i = 0; i < 8; i++)
    for (guint j = 0; j < 4; j++)
      d->x[i] += k[i][j] * y[j];
  for (guint i = 0; i < 8; i++)
    for (guint j = 0; j < 8; j++)
      for (guint a = 0; a < 4; a++)
        for (guint b = 0; b < 4; b++)
          d->p[i][j] -= k[i][a] * s[a][b] * k[j][b];
}

static void
assert_same (const SlKalmanBox *box, const Dense *d, double scale)
{
  for (guint i = 0; i < 4; i++) {
    const SlKalmanAxis *axis = &box->axis[i];
    g_assert_cmpfloat_with_epsilon (axis->position, d->x[i], 1e-9 * scale);
    g_assert_cmpfloat_with_epsilon (axis->velocity, d->x[4 + i], 1e-9 * scale);
    g_assert_cmpfloat_with_epsilon (axis->pp, d->p[i][i], 1e-9 * scale * scale);
    g_assert_cmpfloat_with_epsilon (axis->pv, d->p[i][4 + i], 1e-9 * scale * scale);
    g_assert_cmpfloat_with_epsilon (axis->vv, d->p[4 + i][4 + i], 1e-9 * scale * scale);
    for (guint k = 0; k < 4; k++)
      g_assert_true (k == i || (fabs (d->p[i][k]) < 1e-9 && fabs (d->p[i][4 + k]) < 1e-9));
  }
}

static void
test_dense (void)
{
  for (guint round = 0; round < 50; round++) {
    const double size = g_test_rand_double_range (5, 500);
    double box[4] = { g_test_rand_double_range (0, 1000), g_test_rand_double_range (0, 1000), size,
                      size * 1.5 };
    SlKalmanBox filter;
    Dense dense;
    sl_kalman_box_init (&filter, box);
    dense_init (&dense, box);
    for (guint frame = 0; frame < 100; frame++) {
      sl_kalman_box_predict (&filter, FALSE);
      dense_predict (&dense);
      assert_same (&filter, &dense, 1000);
      for (guint i = 0; i < 4; i++)
        box[i] += g_test_rand_double_range (-0.01, 0.011) * size;
      if (frame % 7 == 6)
        continue;
      sl_kalman_box_update (&filter, box);
      dense_update (&dense, box);
      assert_same (&filter, &dense, 1000);
    }
  }
}

/* What moves straight is found out: velocity and the next place. */
static void
test_straight (void)
{
  SlKalmanBox filter;
  double corners[4];
  sl_kalman_box_init (&filter, (double[]){ 100, 50, 40, 80 });
  for (guint frame = 1; frame <= 60; frame++) {
    sl_kalman_box_predict (&filter, FALSE);
    sl_kalman_box_update (&filter, (double[]){ 100 + 3.0 * frame, 50.0 - frame, 40, 80 });
  }
  g_assert_cmpfloat_with_epsilon (filter.axis[0].velocity, 3, 0.01);
  g_assert_cmpfloat_with_epsilon (filter.axis[1].velocity, -1, 0.01);
  for (guint frame = 0; frame < 10; frame++)
    sl_kalman_box_predict (&filter, TRUE);
  sl_kalman_box_corners (&filter, corners);
  g_assert_cmpfloat_with_epsilon (corners[0], 100 + 3 * 70 - 20, 0.2);
  g_assert_cmpfloat_with_epsilon (corners[3], 50 - 70 + 40, 0.2);
}

/* Boxes that jump and shrink as no object does. */
static void
test_wild (void)
{
  SlKalmanBox filter;
  double corners[4];
  sl_kalman_box_init (&filter, (double[]){ 0, 0, SL_KALMAN_SMALLEST, 2e6 });
  for (guint frame = 0; frame < 100000; frame++) {
    sl_kalman_box_predict (&filter, frame % 1000 > 500);
    if (frame % 50 == 0)
      sl_kalman_box_update (&filter, (double[]){ g_test_rand_double_range (-1e6, 1e6),
                                                 g_test_rand_double_range (-1e6, 1e6),
                                                 frame % 100 ? SL_KALMAN_SMALLEST : 2e6,
                                                 g_test_rand_double_range (1, 2e6) });
    sl_kalman_box_corners (&filter, corners);
    for (guint i = 0; i < 4; i++)
      g_assert_true (isfinite (corners[i]) && filter.axis[i].pp >= 0);
    g_assert_cmpfloat (corners[2], >, corners[0]);
    g_assert_cmpfloat (corners[3], >, corners[1]);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kalman/dense", test_dense);
  g_test_add_func ("/kalman/straight", test_straight);
  g_test_add_func ("/kalman/wild", test_wild);
  return g_test_run ();
}
