/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pools: every piece is done once and by a thread that exists, whether the threads spin, sleep or
 * outnumber processors. */
#include "core/base/thread_pool.h"
#include "tests/support/program.h"

#define PIECES 500

typedef struct
{
  gint *done; /* by piece */
  guint threads;
  guint spin; /* work of a piece */
} Work;

static void
piece (const void *data, guint item, guint thread)
{
  const Work *work = data;
  g_assert_cmpuint (item, <, PIECES);
  g_assert_cmpuint (thread, <, work->threads);
  for (guint i = 0; i < work->spin; i++)
    g_atomic_int_get (&work->done[item]);
  g_atomic_int_inc (&work->done[item]);
}

static void
run (SlPool *pool, guint threads, guint items, guint spin, guint cost_us)
{
  gint done[PIECES] = { 0 };
  const Work work = { done, threads, spin };
  sl_pool_run (pool, piece, &work, items, cost_us);
  for (guint i = 0; i < PIECES; i++)
    g_assert_cmpint (done[i], ==, i < items);
}

static void
test_pieces (gconstpointer data)
{
  const guint threads = GPOINTER_TO_UINT (data);
  static const guint items[] = { 0, 1, 2, 3, 7, 64, PIECES };
  static const guint costs[] = {
    0, 4, 7, 1000
  }; /* not shared; shared with awake threads; with few, woken; with all */
  g_autoptr (GError) error = NULL;
  SlPool *pool = threads > 1 ? sl_pool_new (threads, &error) : NULL;
  g_assert_no_error (error);
  g_assert_cmpuint (sl_pool_threads (pool), ==, threads);
  for (guint round = 0; round < 200; round++)
    for (guint i = 0; i < G_N_ELEMENTS (items); i++) {
      run (pool, threads, items[i], round % 3 * 50, costs[round % G_N_ELEMENTS (costs)]);
      if (round % 8 > 5)
        sl_pool_rest (pool); /* the next work follows at once */
      if (round % 40 == 39)
        g_usleep (1000); /* long enough to fall asleep */
    }
  sl_pool_free (pool);
}

/* Freed at once, asleep, and while still spinning. */
static void
test_free (void)
{
  for (guint round = 0; round < 30; round++) {
    g_autoptr (GError) error = NULL;
    SlPool *pool = sl_pool_new (3, &error);
    g_assert_no_error (error);
    if (round % 3 > 0)
      run (pool, 3, 20, 100, 1000);
    if (round % 3 > 1)
      g_usleep (500);
    sl_pool_free (pool);
  }
  sl_pool_free (NULL);
}

/* Rows of works with a pause after each, and before any work. */
static void
test_rest (void)
{
  g_autoptr (GError) error = NULL;
  SlPool *pool = sl_pool_new (3, &error);
  g_assert_no_error (error);
  sl_pool_rest (NULL);
  sl_pool_rest (pool);
  for (guint row = 0; row < 60; row++) {
    for (guint work = 0; work < 20; work++)
      run (pool, 3, 9, row % 4 * 40, work % 3 > 0 ? 50 : 4);
    sl_pool_rest (pool);
    sl_pool_rest (pool);
    g_usleep (row % 3 * 300);
  }
  sl_pool_free (pool);
}

/** Two threads, of which one takes as long for a piece as the other for @slower. The unit of time
 * is a piece of the fast thread, so nothing depends on real time. */
typedef struct
{
  gint items, slower;
  gint claimed; /* atomic: pieces begun */
  gint now;     /* atomic: pieces that the fast thread has done */
  gint slow;    /* atomic: pieces that the slow thread has begun */
  gint end;     /* atomic: when its last one is done */
} Race;

static void
race_piece (const void *data, guint item, guint thread)
{
  Race *race = (Race *) data;
  if (thread == 1) {
    g_atomic_int_set (&race->end, g_atomic_int_get (&race->now) + race->slower);
    g_atomic_int_inc (&race->slow);
  }
  g_atomic_int_inc (&race->claimed);
  const gint *const now = &race->now, *const end = &race->end;
  /* The slow thread is within a piece until it is done, and then takes another one at once. */
  while (g_atomic_int_get (&race->claimed) < race->items
         && (thread == 1 ? g_atomic_int_get (now) < g_atomic_int_get (end)
                         : g_atomic_int_get (end) <= g_atomic_int_get (now)))
    g_thread_yield ();
  if (thread == 0)
    g_atomic_int_inc (&race->now);
}

/* A slow processor does not hold up a fast one: together they take no longer than the fast one
 * takes alone, though each begins with half of the pieces. */
static void
test_slow (void)
{
  static const gint items[] = { 8, 16, 32, 100 }, slower[] = { 2, 4, 8 };
  g_autoptr (GError) error = NULL;
  SlPool *pool = sl_pool_new (2, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (items); i++)
    for (guint k = 0; k < G_N_ELEMENTS (slower); k++) {
      Race race = { .items = items[i], .slower = slower[k] };
      sl_pool_run (pool, race_piece, &race, (guint) items[i], 1000);
      g_assert_cmpint (race.now + race.slow, ==, items[i]);
      g_assert_cmpint (race.slow, >, 0);
      g_assert_cmpint (MAX (race.now, race.end), <=, items[i]);
      /* The pieces of both at their rates, and one of the slow thread's at the end. */
      g_assert_cmpint (MAX (race.now, race.end) * (slower[k] + 1), <=,
                       items[i] * slower[k] + slower[k] * (slower[k] + 1));
    }
  sl_pool_free (pool);
}

TEST_MAIN (int argc, char **argv)
{
  static const guint threads[] = { 1, 2, 3, 8, 64 };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++) {
    g_autofree char *path = g_strdup_printf ("/base/thread_pool/%u", threads[i]);
    g_test_add_data_func (path, GUINT_TO_POINTER (threads[i]), test_pieces);
  }
  g_test_add_func ("/base/thread_pool/rest", test_rest);
  g_test_add_func ("/base/thread_pool/free", test_free);
  g_test_add_func ("/base/thread_pool/slow", test_slow);
  return g_test_run ();
}
