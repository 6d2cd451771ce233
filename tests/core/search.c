/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Search among embeddings: sums of every instruction set, and hits against cosines in double
 * precision. */
#include "core/search/search.h"

#include <math.h>
#include <string.h>

#include "core/graph/tensor.h"
#include "core/search/products.h"
#include "tests/support/program.h"

#define ROWS 1000
#define LENGTH 100
#define MOST 20

static void
test_products (void)
{
  const SlSearchLoop *loops[3];
  const guint n = sl_search_loops (loops), strides[] = { 64, 128, 512 };
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  gint8 *numbers = sl_tensor_buffer_new (9 * 512), *query = sl_tensor_buffer_new (512);
  for (guint i = 0; i < 9 * 512; i++)
    numbers[i] = (gint8) (i < 512 ? -127 : g_rand_int_range (random, -127, 128));
  for (guint i = 0; i < 512; i++)
    query[i] = (gint8) (i < 256 ? -127 : g_rand_int_range (random, -127, 128));
  for (guint k = 0; k < n * G_N_ELEMENTS (strides); k++) {
    const gsize stride = strides[k / n];
    gint32 sums[9];
    g_test_message ("%s, %" G_GSIZE_FORMAT, loops[k % n]->name, stride);
    loops[k % n]->products (numbers, 9, stride, query, sums);
    for (gsize row = 0; row < 9; row++) {
      double sum = 0;
      for (gsize i = 0; i < stride; i++)
        sum += numbers[row * stride + i] * query[i];
      g_assert_cmpfloat ((double) sums[row], ==, sum);
    }
  }
  sl_tensor_buffer_free (numbers);
  sl_tensor_buffer_free (query);
}

static double
cosine (const gfloat *a, const gfloat *b)
{
  double product = 0, left = 0, right = 0;
  for (guint i = 0; i < LENGTH; i++) {
    product += (double) a[i] * (double) b[i];
    left += (double) a[i] * (double) a[i];
    right += (double) b[i] * (double) b[i];
  }
  return product / sqrt (left * right);
}

/* Each hit has its cosine to within a rounding step, in order, and no row is much better than the
 * last hit. Equal rows come in their order; one without a direction never. */
static void
test_hits (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (6);
  const gsize stride = sl_search_stride (LENGTH);
  g_assert_cmpuint (stride, ==, 128);
  g_autofree gfloat *vectors = g_new0 (gfloat, (ROWS + 1) * LENGTH), *scales = g_new (gfloat, ROWS);
  gint8 *numbers = sl_tensor_buffer_new (ROWS * stride), *query = sl_tensor_buffer_new (stride);
  for (guint i = LENGTH; i < (ROWS + 1) * LENGTH; i++)
    vectors[i] = (gfloat) g_rand_double_range (random, -3, 3);
  memcpy (vectors + 700 * LENGTH, vectors + 300 * LENGTH, LENGTH * sizeof *vectors);
  for (guint i = 0; i < ROWS; i++)
    scales[i] = sl_search_pack (vectors + i * LENGTH, LENGTH, numbers + i * stride);
  g_assert_cmpfloat (scales[0], ==, 0);
  const SlSearchTable table = { ROWS, stride, numbers, scales };
  const gfloat *wanted = vectors + 300 * LENGTH;
  const gfloat scale = sl_search_pack (wanted, LENGTH, query);
  SlSearchHit hits[MOST];
  gboolean found[ROWS] = { FALSE };
  g_assert_cmpuint (sl_search (&table, query, scale, MOST, hits), ==, MOST);
  g_assert_cmpuint (hits[0].row, ==, 300);
  g_assert_cmpuint (hits[1].row, ==, 700);
  for (guint i = 0; i < MOST; i++) {
    const double right = cosine (wanted, vectors + hits[i].row * LENGTH);
    g_assert_cmpfloat_with_epsilon ((double) hits[i].cosine, right, 5e-3);
    g_assert_true (i == 0 || hits[i].cosine <= hits[i - 1].cosine);
    found[hits[i].row] = TRUE;
  }
  for (guint i = 1; i < ROWS; i++)
    g_assert_true (
      found[i] || cosine (wanted, vectors + i * LENGTH) < (double) hits[MOST - 1].cosine + 5e-3);
  SlSearchHit pieces[MOST]; /* the same table in three pieces */
  guint n = 0;
  for (gsize first = 0; first < ROWS; first += 400) {
    const SlSearchTable piece = { MIN (400, ROWS - first), stride, numbers + first * stride,
                                  scales + first };
    n = sl_search_more (&piece, first, query, scale, MOST, pieces, n);
  }
  g_assert_cmpuint (n, ==, MOST);
  for (guint i = 0; i < MOST; i++) {
    g_assert_cmpuint (pieces[i].row, ==, hits[i].row);
    g_assert_cmpfloat (pieces[i].cosine, ==, hits[i].cosine);
  }
  const SlSearchTable few = { 3, stride, numbers, scales };
  g_assert_cmpuint (sl_search (&few, query, scale, MOST, hits), ==, 2);
  g_assert_cmpuint (sl_search (&few, query, scale, 0, hits), ==, 0);
  sl_tensor_buffer_free (numbers);
  sl_tensor_buffer_free (query);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/search/products", test_products);
  g_test_add_func ("/core/search/hits", test_hits);
  return g_test_run ();
}
