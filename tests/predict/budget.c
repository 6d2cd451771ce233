/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The budget with threads: no turn is lost, none is given twice, and cancelled streams return. */
#include <glib.h>
#include <time.h>

#include "predict/budget.h"
#include "tests/support/program.h"

#define STREAMS 4
#define TURNS 60

static gint running, most_running, total;

typedef struct
{
  SlBudgetStream *stream;
  guint turns; /* 0 = until it is cancelled */
  gint ran;
  GThread *thread;
} Worker;

/* 500 us of a processor. */
static void
run_model (void)
{
  struct timespec now, end;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &end);
  end.tv_nsec += 500000;
  do
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - end.tv_sec) * 1000000000 + now.tv_nsec - end.tv_nsec < 0);
}

static gpointer
work (gpointer data)
{
  Worker *worker = data;
  for (guint i = 0; worker->turns == 0 || i < worker->turns; i++) {
    if (!sl_budget_stream_enter (worker->stream, 1, FALSE))
      return NULL;
    const gint now = g_atomic_int_add (&running, 1) + 1;
    if (now > g_atomic_int_get (&most_running))
      g_atomic_int_set (&most_running, now);
    run_model ();
    g_atomic_int_add (&running, -1);
    g_atomic_int_inc (&worker->ran);
    g_atomic_int_inc (&total);
    sl_budget_stream_leave (worker->stream, TRUE, TRUE);
  }
  return NULL;
}

static void
start (Worker *worker, gdouble rate, guint priority, guint turns)
{
  worker->stream = sl_budget_stream_new ();
  worker->turns = turns;
  sl_budget_stream_set (worker->stream, rate, priority, 1, NULL);
}

static void
go (Worker *workers, guint n)
{
  g_atomic_int_set (&most_running, 0);
  g_atomic_int_set (&total, 0);
  for (guint i = 0; i < n; i++)
    workers[i].thread = g_thread_new ("stream", work, &workers[i]);
}

static void
end (Worker *workers, guint n)
{
  for (guint i = 0; i < n; i++)
    g_thread_join (workers[i].thread);
  for (guint i = 0; i < n; i++)
    sl_budget_stream_free (workers[i].stream);
}

/* One core: one model at a time, and each stream comes to its end. */
static void
test_one_core (void)
{
  Worker workers[STREAMS] = { 0 };
  sl_budget_set_cores (1);
  g_assert_cmpfloat (sl_budget_cores (), ==, 1);
  for (guint i = 0; i < STREAMS; i++)
    start (&workers[i], 200, 1, TURNS);
  go (workers, STREAMS);
  end (workers, STREAMS);
  g_assert_cmpint (most_running, ==, 1);
  g_assert_cmpint (total, ==, STREAMS * TURNS);
}

/* A part of a core: turns come with time alone, which a thread that waits has to look at. */
static void
test_part_of_a_core (void)
{
  Worker workers[STREAMS] = { 0 };
  SlTurnFigures figures;
  sl_budget_set_cores (0.4);
  for (guint i = 0; i < STREAMS; i++)
    start (&workers[i], 1000, 1, TURNS);
  const gint64 begin = g_get_monotonic_time ();
  go (workers, STREAMS);
  for (guint i = 0; i < STREAMS; i++)
    g_thread_join (workers[i].thread);
  const gint64 took = g_get_monotonic_time () - begin;
  for (guint i = 0; i < STREAMS; i++) {
    g_assert_true (sl_budget_stream_figures (workers[i].stream, &figures));
    g_assert_cmpuint (figures.frames, ==, TURNS);
    g_assert_cmpint (figures.cost, >=, 500);
    sl_budget_stream_free (workers[i].stream);
  }
  /* 0.1 s of a core may be saved up. */
  g_assert_cmpint (took, >=, (gint64) (STREAMS * TURNS * 500 / 0.4) - 2 * 100000);
}

/* Both are always behind their promises: turns are as the weights. */
static void
test_weights (void)
{
  Worker workers[2] = { 0 };
  sl_budget_set_cores (1);
  start (&workers[0], 5000, 3, 300);
  start (&workers[1], 5000, 1, 0);
  go (workers, 2);
  g_thread_join (workers[0].thread);
  const gint other = g_atomic_int_get (&workers[1].ran);
  sl_budget_stream_cancel (workers[1].stream, TRUE);
  g_thread_join (workers[1].thread);
  for (guint i = 0; i < 2; i++)
    sl_budget_stream_free (workers[i].stream);
  g_test_message ("300 and %d", other);
  g_assert_cmpint (other, >=, 80);
  g_assert_cmpint (other, <=, 200);
}

/* A stream that waits returns when it is cancelled, and works again after that. */
static void
test_cancel (void)
{
  Worker waiting = { 0 }, has = { 0 };
  sl_budget_set_cores (1);
  start (&has, 10, 1, 1);
  start (&waiting, 10, 1, 0);
  g_assert_true (sl_budget_stream_enter (has.stream, 1, FALSE));
  /* It has its turn until it leaves, also for a newer frame. */
  sl_budget_stream_skip (has.stream);
  g_assert_true (sl_budget_stream_enter (has.stream, 1, FALSE));
  waiting.thread = g_thread_new ("stream", work, &waiting);
  sl_budget_stream_cancel (waiting.stream, TRUE);
  g_thread_join (waiting.thread);
  g_assert_cmpint (waiting.ran, ==, 0);
  sl_budget_stream_cancel (waiting.stream, FALSE);
  sl_budget_stream_leave (has.stream, FALSE, FALSE);
  sl_budget_stream_leave (has.stream, FALSE, FALSE);
  g_assert_true (sl_budget_stream_enter (waiting.stream, 1, FALSE));
  sl_budget_stream_free (waiting.stream);
  sl_budget_stream_free (has.stream);
  sl_budget_stream_free (NULL);
}

/* Without a promise a stream never waits. */
static void
test_outside (void)
{
  Worker has = { 0 }, outside = { 0 };
  SlTurnFigures figures;
  sl_budget_set_cores (1);
  start (&has, 10, 1, 1);
  start (&outside, 0, 1, 1);
  g_assert_true (sl_budget_stream_enter (has.stream, 1, FALSE));
  g_assert_true (sl_budget_stream_enter (outside.stream, 1, FALSE));
  sl_budget_stream_leave (outside.stream, TRUE, FALSE);
  g_assert_false (sl_budget_stream_figures (outside.stream, &figures));
  sl_budget_stream_free (outside.stream);
  sl_budget_stream_free (has.stream);
  sl_budget_set_cores (0);
  g_assert_cmpfloat (sl_budget_cores (), ==, g_get_num_processors ());
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predict/budget/one-core", test_one_core);
  g_test_add_func ("/predict/budget/part-of-a-core", test_part_of_a_core);
  g_test_add_func ("/predict/budget/weights", test_weights);
  g_test_add_func ("/predict/budget/cancel", test_cancel);
  g_test_add_func ("/predict/budget/outside", test_outside);
  return g_test_run ();
}
