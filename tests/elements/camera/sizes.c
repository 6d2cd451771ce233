/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes with known means and deviations: what counts as large, and when. */
#include "plugins/camera/sizes.h"

#include <math.h>

#include "tests/support/program.h"

#define GROUP 60
#define USUAL 10000.0

typedef struct
{
  SlSizes sizes;
  GRand *random;
  guint n;
} Stream;

static void
setup (Stream *stream, gconstpointer data)
{
  *stream = (Stream){ .random = g_rand_new_with_seed (7) };
}

static void
teardown (Stream *stream, gconstpointer data)
{
  g_rand_free (stream->random);
}

/* @n pictures of a mean size and an even deviation, in groups; the second kind is smaller. Returns
 * the number of the first that is large, from 1 on, 0 = none. */
static guint
see (Stream *stream, guint n, double mean, double deviation)
{
  for (guint i = 1; i <= n; i++, stream->n++) {
    const gboolean referred = stream->n % 3 == 0;
    const double size =
      mean * (referred ? 1 : 0.3) * (1 + deviation * g_rand_double_range (stream->random, -1, 1));
    if (stream->n % GROUP == 0)
      sl_sizes_key (&stream->sizes);
    /* Behind a key frame encoders repair what it lost. */
    const double repair = 1 + 2 * exp (-(double) (stream->n % GROUP) / 12);
    if (sl_sizes_see (&stream->sizes, (gsize) (size * repair), referred, TRUE))
      return i;
  }
  return 0;
}

/* An hour of noise. */
static void
test_noise (Stream *stream, gconstpointer data)
{
  g_assert_cmpuint (see (stream, 15 * 3600, USUAL, 0.3), ==, 0);
}

static void
test_larger (Stream *stream, gconstpointer data)
{
  g_assert_cmpuint (see (stream, 5 * GROUP + 10, USUAL, 0.1), ==, 0);
  const guint seen = see (stream, 20, 1.6 * USUAL, 0.1);
  g_assert_cmpuint (seen, >, 1);
  g_assert_cmpuint (seen, <, 12);
}

/* A camera's new rate is usual after a while. */
static void
test_usual (Stream *stream, gconstpointer data)
{
  g_assert_cmpuint (see (stream, 5 * GROUP, USUAL, 0.1), ==, 0);
  guint alarms = 0;
  for (guint i = 0; i < 4 * SL_SIZES_MOST; i++)
    alarms += see (stream, 1, 2 * USUAL, 0.1);
  g_assert_cmpuint (alarms, >, 0);
  g_assert_cmpuint (see (stream, 5 * GROUP, 2 * USUAL, 0.1), ==, 0);
}

/* Nothing is known of the first pictures. */
static void
test_first (Stream *stream, gconstpointer data)
{
  g_assert_cmpuint (see (stream, 10, USUAL, 0), ==, 0);
  g_assert_cmpuint (see (stream, 5, 9 * USUAL, 0), ==, 0);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/camera/sizes/noise", Stream, NULL, setup, test_noise, teardown);
  g_test_add ("/camera/sizes/larger", Stream, NULL, setup, test_larger, teardown);
  g_test_add ("/camera/sizes/usual", Stream, NULL, setup, test_usual, teardown);
  g_test_add ("/camera/sizes/first", Stream, NULL, setup, test_first, teardown);
  return g_test_run ();
}
