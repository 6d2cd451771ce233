/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames through pipelines as `sightline run` counts them: rates of a pipeline that took another's
 * place, and counts that never fall, and frames that were dropped.
 */
#include <gst/app/gstappsrc.h>
#include <gst/base/gstbasetransform.h>

#include <glib/gstdio.h>

#include "plugins/elements.h"
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
  g_autofree char *launch = g_strdup_printf (
    "appsrc name=source format=time ! %s fakesink name=sink sync=false async=false", behind);
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
    g_assert_cmpint (
      gst_app_src_push_buffer (GST_APP_SRC (f->source), gst_buffer_new_allocate (NULL, 4, NULL)),
      ==, GST_FLOW_OK);
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

static void
decoder_class_init (gpointer klass, gpointer data)
{
  static GstStaticPadTemplate templates[] = {
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY),
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY)
  };
  gst_element_class_set_static_metadata (klass, "Decoder", "Codec/Decoder/Video",
                                         "Hands on what it gets", "The project");
  for (guint i = 0; i < G_N_ELEMENTS (templates); i++)
    gst_element_class_add_static_pad_template (klass, &templates[i]);
}

/* A decoder as far as its class goes, which hands on what it gets. */
static GstElement *
decoder_new (void)
{
  static gsize once = 0;
  if (g_once_init_enter (&once)) {
    const GTypeInfo info = { .class_size = sizeof (GstBaseTransformClass),
                             .class_init = decoder_class_init,
                             .instance_size = sizeof (GstBaseTransform) };
    const GType type = g_type_register_static (GST_TYPE_BASE_TRANSFORM, "TestDecoder", &info, 0);
    gst_element_register (NULL, "testdecoder", GST_RANK_NONE, type);
    g_once_init_leave (&once, 1);
  }
  return gst_element_factory_make ("testdecoder", NULL);
}

/* Frames of sources are not reported for a pipeline with a decoder, whether or not the decoder has
 * given a frame. */
static void
test_decoder (void)
{
  Fixture f;
  SlFlowCounts counts;
  gst_object_unref (gst_object_ref_sink (decoder_new ()));
  fixture_init (&f, "identity drop-probability=1 ! testdecoder !");
  push (&f, 5);
  gst_app_src_end_of_stream (GST_APP_SRC (f.source));
  g_autoptr (GstBus) bus = gst_element_get_bus (f.pipeline);
  gst_message_unref (gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS));
  sl_flow_counts (f.flow, &counts);
  g_assert_cmpuint (counts.in, ==, 0);
  fixture_clear (&f);
}

/* A decoder that joins a pipeline that runs. */
static void
test_late_decoder (void)
{
  Fixture f;
  SlFlowCounts counts;
  fixture_init (&f, "");
  push (&f, 5);
  wait_in (&f, 5);
  gst_bin_add (GST_BIN (f.pipeline), decoder_new ());
  sl_flow_counts (f.flow, &counts);
  g_assert_cmpuint (counts.in, ==, 5);
  fixture_clear (&f);
}

static void
play_to_end (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
}

/* A camera's frames count once, also where they go to a recorder as they came. */
static void
test_encoded (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("flow-XXXXXX", NULL),
                  *path = g_build_filename (folder, "frames.avi", NULL);
  g_autofree char *make = g_strdup_printf (
    "videotestsrc num-buffers=20 ! jpegenc ! avimux ! filesink location=\"%s\"", path);
  g_autofree char *line = g_strdup_printf (
    "slcamera name=c uri=\"file://%s\" c.src ! fakesink sync=false c.encoded ! fakesink sync=false",
    path);
  g_autoptr (GstElement) writer = gst_parse_launch (make, NULL);
  g_assert_nonnull (writer);
  play_to_end (writer);
  gst_element_set_state (writer, GST_STATE_NULL);
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  SlFlow *flow = sl_flow_new (pipeline);
  SlFlowCounts counts;
  play_to_end (pipeline);
  sl_flow_counts (flow, &counts);
  g_assert_cmpuint (counts.in, ==, 20);
  g_assert_cmpuint (counts.out, ==, 20);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  sl_flow_free (flow);
  g_unlink (path);
  g_rmdir (folder);
}

/* Until so many were dropped for that reason: more are no better than fewer. */
static void
wait_dropped (Fixture *f, SlDrop drop, guint64 frames)
{
  guint64 counts[SL_N_DROPS] = { 0 };
  for (guint i = 0; i < 200000 && counts[drop] < frames; i++) {
    g_usleep (1000);
    sl_drops_read (sl_flow_drops (f->flow), counts);
  }
  for (guint d = 0; d < SL_N_DROPS; d++)
    g_assert_cmpuint (counts[d], ==, (d == drop ? frames : 0));
}

typedef struct
{
  GMutex lock;
  GCond changed;
  gboolean reached, open;
} Gate;

static void
at_gate (GstElement *element, GstBuffer *buffer, Gate *gate)
{
  g_mutex_lock (&gate->lock);
  gate->reached = TRUE;
  g_cond_broadcast (&gate->changed);
  while (!gate->open)
    g_cond_wait (&gate->changed, &gate->lock);
  g_mutex_unlock (&gate->lock);
}

static void
open_gate (Gate *gate)
{
  g_mutex_lock (&gate->lock);
  gate->open = TRUE;
  g_cond_broadcast (&gate->changed);
  g_mutex_unlock (&gate->lock);
}

static GstPadProbeReturn
open_flushed (GstPad *pad, GstPadProbeInfo *info, gpointer gate)
{
  open_gate (gate);
  return GST_PAD_PROBE_OK;
}

/* One frame is held behind @queue, from which nothing else comes until the gate opens, as a flush
 * does. */
static void
fixture_init_gated (Fixture *f, const char *queue, Gate *gate)
{
  g_autofree char *behind = g_strdup_printf ("%s identity name=gate signal-handoffs=true !", queue);
  *gate = (Gate){ .open = FALSE };
  g_mutex_init (&gate->lock);
  g_cond_init (&gate->changed);
  fixture_init (f, behind);
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (f->pipeline), "gate");
  g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink");
  g_signal_connect (element, "handoff", G_CALLBACK (at_gate), gate);
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_EVENT_FLUSH, open_flushed, gate, NULL);
  push (f, 1);
  g_mutex_lock (&gate->lock);
  while (!gate->reached)
    g_cond_wait (&gate->changed, &gate->lock);
  g_mutex_unlock (&gate->lock);
}

static void
fixture_clear_gated (Fixture *f, Gate *gate)
{
  open_gate (gate);
  fixture_clear (f);
  g_mutex_clear (&gate->lock);
  g_cond_clear (&gate->changed);
}

/* What a queue loses because it is full, not what a flush takes out of it. */
static void
test_leaky_queue (void)
{
  static const char *const leaks[] = { "upstream", "downstream" };
  for (guint i = 0; i < G_N_ELEMENTS (leaks); i++) {
    Fixture f;
    Gate gate;
    g_autofree char *queue =
      g_strdup_printf ("queue name=queue leaky=%s max-size-buffers=5 !", leaks[i]);
    fixture_init_gated (&f, queue, &gate);
    push (&f, 9);
    wait_in (&f, 10);
    wait_dropped (&f, SL_DROP_QUEUE, 4);
    g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (f.pipeline), "queue");
    g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink");
    gst_pad_send_event (sink, gst_event_new_flush_start ());
    gst_pad_send_event (sink, gst_event_new_flush_stop (FALSE));
    for (guint k = 0; k < 3; k++)
      wait_dropped (&f, SL_DROP_QUEUE, 4);
    fixture_clear_gated (&f, &gate);
  }
}

static void
test_full_queue (void)
{
  Fixture f;
  Gate gate;
  fixture_init_gated (&f, "queue max-size-buffers=5 !", &gate);
  push (&f, 9);
  wait_in (&f, 7);
  for (guint i = 0; i < 3; i++)
    wait_dropped (&f, SL_DROP_QUEUE, 0);
  fixture_clear_gated (&f, &gate);
}

/* The frame at the gate is in the source's own thread. */
static void
test_leaky_source (void)
{
  Fixture f;
  Gate gate;
  fixture_init_gated (&f, "", &gate);
  g_object_set (f.source, "leaky-type", GST_APP_LEAKY_TYPE_DOWNSTREAM, "max-buffers",
                G_GUINT64_CONSTANT (1), NULL);
  push (&f, 6);
  wait_dropped (&f, SL_DROP_QUEUE, 5);
  fixture_clear_gated (&f, &gate);
}

static void
tell_late (Fixture *f, const char *name, guint64 dropped)
{
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (f->pipeline), name);
  g_autoptr (GstMessage) message = gst_message_new_qos (GST_OBJECT (element), TRUE, 0, 0, 0, 0);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, 7, dropped);
  sl_drops_take_message (sl_flow_drops (f->flow), message);
}

/* Elements tell how many they dropped in all; a number that falls begins again. */
static void
test_late (void)
{
  Fixture f;
  fixture_init (&f, "");
  g_autoptr (GstMessage) other = gst_message_new_eos (NULL);
  sl_drops_take_message (sl_flow_drops (f.flow), other);
  tell_late (&f, "sink", G_MAXUINT64);
  tell_late (&f, "sink", 2);
  tell_late (&f, "source", 1);
  tell_late (&f, "sink", 5);
  wait_dropped (&f, SL_DROP_LATE, 6);
  tell_late (&f, "sink", 2);
  wait_dropped (&f, SL_DROP_LATE, 8);
  fixture_clear (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sl_elements_init (&argc, &argv);
  g_assert_true (sl_elements_register_static ());
  g_test_add_func ("/flow/replaced", test_replaced);
  g_test_add_func ("/flow/decoder", test_decoder);
  g_test_add_func ("/flow/late-decoder", test_late_decoder);
  g_test_add_func ("/flow/encoded", test_encoded);
  g_test_add_func ("/flow/leaky-queue", test_leaky_queue);
  g_test_add_func ("/flow/full-queue", test_full_queue);
  g_test_add_func ("/flow/leaky-source", test_leaky_source);
  g_test_add_func ("/flow/late", test_late);
  return g_test_run ();
}
