/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The int8 kernels against XNNPACK on whole models: a bare XNNPACK loop, a session left to XNNPACK, and a session that
 * chooses. They take turns in blocks, with a pause after each so that no pool still spins when the next one starts.
 * The first run of a block is not counted. Then each runs once every 25 ms, and what matters is processor time.
 *   bench-int8 MODEL [BLOCKS [THREADS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/bare_xnnpack.h"
#include "core/session.h"
#include "models/model.h"

#define RUNS 8
#define PACED_RUNS 40
#define PACE_US 25000
/* pthreadpool spins for some 30 ms. */
#define PAUSE_US 80000

typedef struct
{
  const char *name;
  BareLoop *loop;
  SlSession *session;
  GArray *times;
  double cpu;
} Row;

typedef struct
{
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
} Buffers;

static double
now_us (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

static double
cpu_us (void)
{
  struct rusage r;
  getrusage (RUSAGE_SELF, &r);
  return (double) (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6 + (double) (r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static int
compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

static void
run (const Row *row, Buffers *buffers)
{
  if (row->loop != NULL)
    bare_loop_run (row->loop);
  else
    sl_session_run (row->session, (const void *const *) buffers->inputs, buffers->outputs);
}

static void
run_block (Row *row, Buffers *buffers)
{
  g_usleep (PAUSE_US);
  for (guint i = 0; i <= RUNS; i++) {
    const double start = now_us ();
    run (row, buffers);
    const double time = now_us () - start;
    if (i > 0)
      g_array_append_val (row->times, time);
  }
}

static void
run_paced (Row *row, Buffers *buffers)
{
  g_usleep (PAUSE_US);
  const double start = cpu_us ();
  for (guint i = 0; i < PACED_RUNS; i++) {
    g_usleep (PACE_US);
    run (row, buffers);
  }
  row->cpu = (cpu_us () - start) / PACED_RUNS;
}

static SlSession *
session_new (SlGraph *graph, guint threads, const char *backend)
{
  g_autoptr (GError) error = NULL;
  if (backend != NULL)
    g_setenv ("SIGHTLINE_BACKEND", backend, TRUE);
  SlSession *session = sl_session_new (graph, threads, &error);
  g_unsetenv ("SIGHTLINE_BACKEND");
  if (session == NULL)
    g_error ("%s", error->message);
  return session;
}

static void
print (Row *row, const Row *base)
{
  double *times = (double *) (gpointer) row->times->data, *first = (double *) (gpointer) base->times->data;
  const guint n = row->times->len;
  qsort (times, n, sizeof times[0], compare);
  printf ("%-18s min %8.1f (%.3f)  median %8.1f (%.3f)  p95 %8.1f  processor time paced %8.1f\n", row->name, times[0], times[0] / first[0],
          times[n / 2], times[n / 2] / first[n / 2], times[n * 95 / 100], row->cpu);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  const guint blocks = argc > 2 ? (guint) atoi (argv[2]) : 30, threads = argc > 3 ? (guint) atoi (argv[3]) : 1;
  if (argc < 2 || blocks < 1) {
    fprintf (stderr, "usage: %s MODEL [BLOCKS [THREADS]]\n", argv[0]);
    return 2;
  }
  g_autoptr (SlModel) model = sl_model_load (argv[1], NULL, &error);
  if (model == NULL) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  SlGraph *graph = sl_model_graph (model);
  Buffers buffers = { 0 };
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    buffers.inputs[i] = sl_tensor_buffer_new (sl_graph_input_tensor (graph, i)->bytes);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    buffers.outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  Row rows[] = { { "bare XNNPACK loop", bare_loop_new (graph, threads), NULL, NULL, 0 },
                 { "session, XNNPACK", NULL, session_new (graph, threads, "xnnpack"), NULL, 0 },
                 { "session", NULL, session_new (graph, threads, NULL), NULL, 0 } };
  const guint first = rows[0].loop == NULL;
  for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
    rows[k].times = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i < blocks; i++)
    for (guint k = first; k < G_N_ELEMENTS (rows); k++)
      run_block (&rows[k], &buffers);
  for (guint k = first; k < G_N_ELEMENTS (rows); k++)
    run_paced (&rows[k], &buffers);
  printf ("%s, %u thread%s, microseconds (ratio to the first row)\n", argv[1], threads, threads > 1 ? "s" : "");
  for (guint k = first; k < G_N_ELEMENTS (rows); k++)
    print (&rows[k], &rows[first]);
  for (guint k = 0; k < G_N_ELEMENTS (rows); k++) {
    g_clear_pointer (&rows[k].loop, bare_loop_free);
    sl_session_free (rows[k].session);
    g_array_unref (rows[k].times);
  }
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (buffers.inputs[i]);
    sl_tensor_buffer_free (buffers.outputs[i]);
  }
  return 0;
}
