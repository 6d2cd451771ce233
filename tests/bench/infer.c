/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a session and slinfer add to bare XNNPACK: the three run in turn, frame by frame, in one
 * process, and the medians are set against each other.
 *   bench-infer MODEL [RUNS [THREADS]]
 */
#include <gst/check/gstharness.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/percentile.h"
#include "tests/bench/bare_xnnpack.h"
#include "core/runtime/session.h"
#include "models/model.h"
#include "plugins/elements.h"
#include "tools/bench/timing.h"

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

static void
run_bare (gpointer data)
{
  Bench *bench = data;
  bare_loop_run (bench->loop);
}

static void
run_session (gpointer data)
{
  Bench *bench = data;
  sl_session_run (bench->session, (const void *const *) bench->inputs, bench->outputs);
}

static void
run_element (gpointer data)
{
  Bench *bench = data;
  gst_harness_push (bench->harness, gst_buffer_ref (bench->frame));
  gst_buffer_unref (gst_harness_pull (bench->harness));
}

typedef struct
{
  Bench *bench;
  void (*run) (gpointer bench);
} Runner;

static gboolean
turn (gpointer data, guint n, double *ms, GError **error)
{
  const Runner *runner = data;
  sl_timing_each (runner->run, runner->bench, n, ms);
  return TRUE;
}

static void
element_init (Bench *bench, const char *model, guint threads)
{
  g_autofree char *threads_text = g_strdup_printf ("%u", threads);
  GstElement *element =
    g_object_new (sl_infer_get_type (), "model", model, "threads", threads_text, NULL);
  bench->harness = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  GstCaps *caps = gst_pad_peer_query_caps (bench->harness->srcpad, NULL);
  gst_harness_set_src_caps (bench->harness, gst_caps_fixate (caps));
  GstAllocationParams params = { .align = SL_TENSOR_ALIGN - 1, .padding = SL_TENSOR_PADDING };
  bench->frame =
    gst_buffer_new_allocate (NULL, sl_graph_input_tensor (bench->graph, 0)->bytes, &params);
  gst_buffer_memset (bench->frame, 0, 0, gst_buffer_get_size (bench->frame));
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  Bench bench = { 0 };
  const guint runs = argc > 2 ? (guint) atoi (argv[2]) : 400,
              threads = argc > 3 ? (guint) atoi (argv[3]) : 1;
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

  const guint first = bench.loop == NULL;
  Runner runners[] = { { &bench, run_bare }, { &bench, run_session }, { &bench, run_element } };
  SlTimed rows[] = { { "bare XNNPACK loop", turn, &runners[0], NULL },
                     { "sl_session_run", turn, &runners[1], NULL },
                     { "slinfer", turn, &runners[2], NULL } };
  for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
    rows[k].ms = g_new (double, MAX (runs, WARM_UP));
  sl_timing_in_turn (rows + first, G_N_ELEMENTS (rows) - first, WARM_UP, 1, 0, NULL, NULL);
  sl_timing_in_turn (rows + first, G_N_ELEMENTS (rows) - first, runs, 1, 0, NULL, NULL);
  printf ("%s, %u thread%s, %u runs, microseconds\n", argv[1], threads, threads > 1 ? "s" : "",
          runs);
  const gsize median = sl_percentile_index (runs, 50);
  for (guint k = first; k < G_N_ELEMENTS (rows); k++)
    printf ("%-18s min %8.1f  median %8.1f  p95 %8.1f  ratio of medians %.3f\n", rows[k].name,
            rows[k].ms[0] * 1e3, rows[k].ms[median] * 1e3,
            rows[k].ms[sl_percentile_index (runs, 95)] * 1e3,
            rows[k].ms[median] / rows[first].ms[median]);

  gst_buffer_unref (bench.frame);
  gst_harness_teardown (bench.harness);
  sl_session_free (bench.session);
  g_clear_pointer (&bench.loop, bare_loop_free);
  for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
    g_free (rows[k].ms);
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (bench.inputs[i]);
    sl_tensor_buffer_free (bench.outputs[i]);
  }
  return 0;
}
