/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The int8 kernels against XNNPACK on whole models: a bare XNNPACK loop, a session left to XNNPACK,
 * and a session that chooses. They take turns in blocks, with a pause after each so that no pool
 * still spins when the next one starts. The first run of a block is not counted. Then each runs
 * once every 25 ms, and what matters is processor time.
 *   bench-int8 MODEL [BLOCKS [THREADS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "core/base/percentile.h"
#include "tests/bench/bare_xnnpack.h"
#include "core/runtime/session.h"
#include "models/model.h"
#include "tools/bench/timing.h"

#define RUNS 8
#define PACED_RUNS 40
#define PACE_US 25000
/* pthreadpool spins for some 30 ms. */
#define PAUSE_US 80000

typedef struct
{
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
} Buffers;

typedef struct
{
  const char *name;
  BareLoop *loop;
  SlSession *session;
  Buffers *buffers;
  double cpu;
} Row;

static double
cpu_us (void)
{
  struct rusage r;
  getrusage (RUSAGE_SELF, &r);
  return (double) (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6
         + (double) (r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static void
run (gpointer data)
{
  const Row *row = data;
  if (row->loop != NULL)
    bare_loop_run (row->loop);
  else
    sl_session_run (row->session, (const void *const *) row->buffers->inputs,
                    row->buffers->outputs);
}

static gboolean
run_block (gpointer data, guint n, double *ms, GError **error)
{
  run (data);
  sl_timing_each (run, data, n, ms);
  return TRUE;
}

static void
run_paced (Row *row)
{
  g_usleep (PAUSE_US);
  const double start = cpu_us ();
  for (guint i = 0; i < PACED_RUNS; i++) {
    g_usleep (PACE_US);
    run (row);
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
print (const Row *row, const double *ms, const double *base, guint n)
{
  const double median = ms[sl_percentile_index (n, 50)],
               base_median = base[sl_percentile_index (n, 50)];
  printf ("%-18s min %8.1f (%.3f)  median %8.1f (%.3f)  p95 %8.1f  processor time paced %8.1f\n",
          row->name, ms[0] * 1e3, ms[0] / base[0], median * 1e3, median / base_median,
          ms[sl_percentile_index (n, 95)] * 1e3, row->cpu);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  const guint blocks = argc > 2 ? (guint) atoi (argv[2]) : 30,
              threads = argc > 3 ? (guint) atoi (argv[3]) : 1;
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
  Row rows[] = { { "bare XNNPACK loop", bare_loop_new (graph, threads), NULL, &buffers, 0 },
                 { "session, XNNPACK", NULL, session_new (graph, threads, "xnnpack"), &buffers, 0 },
                 { "session", NULL, session_new (graph, threads, NULL), &buffers, 0 } };
  SlTimed timed[G_N_ELEMENTS (rows)];
  const guint first = rows[0].loop == NULL, n = blocks * RUNS;
  for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
    timed[k] = (SlTimed){ rows[k].name, run_block, &rows[k], g_new (double, n) };
  sl_timing_in_turn (timed + first, G_N_ELEMENTS (rows) - first, n, RUNS, PAUSE_US, NULL, NULL);
  for (guint k = first; k < G_N_ELEMENTS (rows); k++)
    run_paced (&rows[k]);
  printf ("%s, %u thread%s, microseconds (ratio to the first row)\n", argv[1], threads,
          threads > 1 ? "s" : "");
  for (guint k = first; k < G_N_ELEMENTS (rows); k++)
    print (&rows[k], timed[k].ms, timed[first].ms, n);
  for (guint k = 0; k < G_N_ELEMENTS (rows); k++) {
    g_clear_pointer (&rows[k].loop, bare_loop_free);
    sl_session_free (rows[k].session);
    g_free (timed[k].ms);
  }
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (buffers.inputs[i]);
    sl_tensor_buffer_free (buffers.outputs[i]);
  }
  return 0;
}
