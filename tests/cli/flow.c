/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames through pipelines as `sightline run` counts them: the rates of a pipeline that took another's place, where its counters begin again.
 */
#include <gst/app/gstappsrc.h>

#include "tools/run/figures.h"

/* The worker of the figures is its flow. */
SlFlow *
sl_worker_flow (SlWorker *worker)
{
  return (SlFlow *) worker;
}

typedef struct
{
  GstElement *pipeline, *source;
  SlFlow *flow;
} Fixture;

static void
fixture_init (Fixture *f, const char *behind)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *launch = g_strdup_printf ("appsrc name=source format=time ! %s fakesink name=sink sync=false async=false", behind);
  f->pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  gst_object_ref_sink (f->pipeline);
  f->source = gst_bin_get_by_name (GST_BIN (f->pipeline), "source");
  f->flow = sl_flow_new (f->pipeline);
  gst_element_set_state (f->pipeline, GST_STATE_PLAYING);
}

static void
fixture_clear (Fixture *f)
{
  gst_element_set_state (f->pipeline, GST_STATE_NULL);
  sl_flow_free (f->flow);
  gst_object_unref (f->source);
  gst_object_unref (f->pipeline);
}

static void
push (Fixture *f, guint frames)
{
  for (guint i = 0; i < frames; i++)
    g_assert_cmpint (gst_app_src_push_buffer (GST_APP_SRC (f->source), gst_buffer_new_allocate (NULL, 4, NULL)), ==, GST_FLOW_OK);
}

/* Until so many frames came in. */
static void
wait_in (Fixture *f, guint64 frames)
{
  SlFlowCounts counts = { 0 };
  while (counts.in < frames) {
    g_usleep (1000);
    sl_flow_counts (f->flow, &counts);
  }
}

/* Memory of a flow that is gone is often the next one's. */
static void
test_replaced (void)
{
  SlFiguresBefore before = { 0 };
  guint64 serial = 0;
  for (guint i = 0; i < 8; i++) {
    Fixture f;
    SlFigures figures;
    fixture_init (&f, "");
    g_assert_cmpuint (sl_flow_serial (f.flow), >, serial);
    serial = sl_flow_serial (f.flow);
    sl_figures_read ((SlWorker *) f.flow, &before, 0.5, &figures);
    g_assert_cmpfloat (figures.fps_in, ==, 0);
    g_assert_cmpfloat (figures.fps_out, ==, 0);
    push (&f, 10);
    wait_in (&f, 10);
    sl_figures_read ((SlWorker *) f.flow, &before, 0.5, &figures);
    g_assert_cmpfloat (figures.fps_in, ==, 20);
    fixture_clear (&f);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_test_add_func ("/flow/replaced", test_replaced);
  return g_test_run ();
}
