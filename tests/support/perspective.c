/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/perspective.h"

#include <math.h>
#include <string.h>

#define N 8

static void
swap_rows (double a[N][N + 1], int i, int k)
{
  for (int j = 0; j <= N; j++) {
    const double kept = a[i][j];
    a[i][j] = a[k][j];
    a[k][j] = kept;
  }
}

void
perspective_solve (const double from[4][2], const double to[4][2], double m[8])
{
  double a[N][N + 1];
  for (int i = 0; i < 4; i++) {
    const double x = from[i][0], y = from[i][1], u = to[i][0], v = to[i][1];
    const double rows[2][N + 1] = { { x, y, 1, 0, 0, 0, -u * x, -u * y, u },
                                    { 0, 0, 0, x, y, 1, -v * x, -v * y, v } };
    memcpy (a[2 * i], rows, sizeof rows);
  }
  for (int k = 0; k < N; k++) {
    int best = k;
    for (int i = k; i < N; i++)
      best = fabs (a[i][k]) > fabs (a[best][k]) ? i : best;
    swap_rows (a, k, best);
    for (int i = 0; i < N; i++)
      for (int j = N; i != k && j >= k; j--)
        a[i][j] -= a[k][j] * a[i][k] / a[k][k];
  }
  for (int k = 0; k < N; k++)
    m[k] = a[k][N] / a[k][k];
}

void
perspective_apply (const double m[8], double x, double y, double *to_x, double *to_y)
{
  const double depth = m[6] * x + m[7] * y + 1;
  *to_x = (m[0] * x + m[1] * y + m[2]) / depth;
  *to_y = (m[3] * x + m[4] * y + m[5]) / depth;
}
