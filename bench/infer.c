/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a session and slinfer add to bare XNNPACK: the three run in turn, frame by frame, in one process, and the
 * medians are set against each other.
 *   bench-infer MODEL [RUNS [THREADS]]
 */
#include <gst/check/gstharness.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bare_xnnpack.h"
#include "core/session.h"
#include "models/model.h"
#include "plugins/elements.h"

#define WARM_UP 20

typedef struct
{
  SlGraph *graph;
  SlSession *session;
  BareLoop *loop;
  GstHarness *harness;
  GstBuffer *frame;
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
} Bench;

static double
now_us (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

static void
run_bare (Bench *bench)
{
  bare_loop_run (bench->loop);
}

static void
run_session (Bench *bench)
{
  sl_session_run (bench->session, (const void *const *) bench->inputs, bench->outputs);
}

static void
run_element (Bench *bench)
{
  gst_harness_push (bench->harness, gst_buffer_ref (bench->frame));
  gst_buffer_unref (gst_harness_pull (bench->harness));
}

static int
compare_doubles (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

static void
element_init (Bench *bench, const char *model, guint threads)
{
  g_autofree char *threads_text = g_strdup_printf ("%u", threads);
  GstElement *element = g_object_new (sl_infer_get_type (), "model", model, "threads", threads_text, NULL);
  bench->harness = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  GstCaps *caps = gst_pad_peer_query_caps (bench->harness->srcpad, NULL);
  gst_harness_set_src_caps (bench->harness, gst_caps_fixate (caps));
  GstAllocationParams params = { .align = SL_TENSOR_ALIGN - 1, .padding = SL_TENSOR_PADDING };
  bench->frame = gst_buffer_new_allocate (NULL, sl_graph_input_tensor (bench->graph, 0)->bytes, &params);
  gst_buffer_memset (bench->frame, 0, 0, gst_buffer_get_size (bench->frame));
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*run) (Bench *bench);
  } rows[] = { { "bare XNNPACK loop", run_bare }, { "sl_session_run", run_session }, { "slinfer", run_element } };
  g_autoptr (GError) error = NULL;
  Bench bench = { 0 };
  const guint runs = argc > 2 ? (guint) atoi (argv[2]) : 400, threads = argc > 3 ? (guint) atoi (argv[3]) : 1;
  gst_init (NULL, NULL);
  if (argc < 2 || runs < 1) {
    fprintf (stderr, "usage: %s MODEL [RUNS [THREADS]]\n", argv[0]);
    return 2;
  }
  g_autoptr (SlModel) model = sl_model_load (argv[1], NULL, &error);
  if (model != NULL) {
    bench.graph = sl_model_graph (model);
    bench.session = sl_session_new (bench.graph, threads, &error);
  }
  if (error != NULL) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  for (guint i = 0; i < sl_graph_n_inputs (bench.graph); i++)
    bench.inputs[i] = sl_tensor_buffer_new (sl_graph_input_tensor (bench.graph, i)->bytes);
  for (guint i = 0; i < sl_graph_n_outputs (bench.graph); i++)
    bench.outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (bench.graph, i)->bytes);
  bench.loop = bare_loop_new (bench.graph, threads);
  element_init (&bench, argv[1], threads);

  double *times[G_N_ELEMENTS (rows)];
  for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
    times[k] = g_new0 (double, runs);
  for (guint i = 0; i < runs + WARM_UP; i++)
    for (guint k = bench.loop == NULL; k < G_N_ELEMENTS (rows); k++) {
      const double start = now_us ();
      rows[k].run (&bench);
      if (i >= WARM_UP)
        times[k][i - WARM_UP] = now_us () - start;
    }
  printf ("%s, %u thread%s, %u runs, microseconds\n", argv[1], threads, threads > 1 ? "s" : "", runs);
  const guint base = bench.loop == NULL;
  for (guint k = base; k < G_N_ELEMENTS (rows); k++)
    qsort (times[k], runs, sizeof times[k][0], compare_doubles);
  for (guint k = base; k < G_N_ELEMENTS (rows); k++)
    printf ("%-18s min %8.1f  median %8.1f  p95 %8.1f  ratio of medians %.3f\n", rows[k].name, times[k][0], times[k][runs / 2],
            times[k][runs * 95 / 100], times[k][runs / 2] / times[base][runs / 2]);

  gst_buffer_unref (bench.frame);
  gst_harness_teardown (bench.harness);
  sl_session_free (bench.session);
  g_clear_pointer (&bench.loop, bare_loop_free);
  for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
    g_free (times[k]);
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (bench.inputs[i]);
    sl_tensor_buffer_free (bench.outputs[i]);
  }
  return 0;
}
