/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The feed of `sightline run --http`: it holds no frame that nobody wants, hands out the frame
 * itself and no copy, with its own predictions, and frees everything with its pipeline.
 */
#include "tools/run/http/feed.h"

#include <gst/app/gstappsrc.h>

#include "pipelines/supervise/bus.h"
#include "plugins/elements.h"
#include "plugins/meta/analysis_meta.h"
#include "plugins/meta/regions/object.h"

typedef struct
{
  GstElement *pipeline, *source;
  SlFeed *feed;
  gint notified;
  GAsyncQueue *counts; /* references to each buffer at the sink, as pointers */
} Fixture;

static void
on_notify (gpointer data)
{
  g_atomic_int_inc (&((Fixture *) data)->notified);
}

static void
on_handoff (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer counts)
{
  g_async_queue_push (counts, GINT_TO_POINTER (GST_MINI_OBJECT_REFCOUNT_VALUE (buffer)));
}

static void
fixture_init (Fixture *f, const char *middle)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *launch = g_strdup_printf (
    "appsrc name=source format=time caps=video/x-raw,format=GRAY8,width=8,height=8,framerate=0/1 ! "
    "%s fakesink name=sink sync=false async=false enable-last-sample=false signal-handoffs=true",
    middle);
  *f = (Fixture){ .pipeline = gst_parse_launch (launch, &error), .counts = g_async_queue_new () };
  g_assert_no_error (error);
  gst_object_ref_sink (f->pipeline);
  f->source = gst_bin_get_by_name (GST_BIN (f->pipeline), "source");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (f->pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (on_handoff), f->counts);
  f->feed = sl_feed_new ("door", on_notify, f);
  sl_feed_attach (f->feed, f->pipeline);
  if (gst_element_set_state (f->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    sl_bus_take_refusal (f->pipeline, "the pipeline", NULL, &error);
  g_assert_no_error (error);
}

static void
fixture_clear (Fixture *f)
{
  gst_element_set_state (f->pipeline, GST_STATE_NULL);
  sl_feed_detach (f->feed);
  sl_feed_free (f->feed);
  gst_object_unref (f->source);
  g_assert_cmpint (GST_OBJECT_REFCOUNT_VALUE (f->pipeline), ==, 1);
  gst_object_unref (f->pipeline);
  g_async_queue_unref (f->counts);
}

/* An object that begins at column @x. Returns the references that the frame has at the sink. */
static int
push (Fixture *f, gint x)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64, NULL);
  const SlObjectView object = { .x = x,
                                .y = 1,
                                .w = 2,
                                .h = 3,
                                .x_min = x / 8.0,
                                .y_min = 1 / 8.0,
                                .x_max = (x + 2) / 8.0,
                                .y_max = 4 / 8.0,
                                .confidence = 0.5,
                                .label = "cup" };
  GST_BUFFER_PTS (buffer) = (GstClockTime) x * GST_SECOND;
  gst_buffer_memset (buffer, 0, (guint8) x, 64);
  sl_buffer_add_object (buffer, &object, NULL);
  gst_app_src_push_buffer (GST_APP_SRC (f->source), buffer);
  return GPOINTER_TO_INT (g_async_queue_pop (f->counts));
}

static guint8
first_byte (const SlFeedFrame *frame)
{
  guint8 byte = 0;
  gst_buffer_extract (frame->buffer, 0, &byte, 1);
  return byte;
}

static void
test_unwanted (void)
{
  Fixture f;
  SlFeedFrame frame;
  guint64 serial;
  fixture_init (&f, "");
  const int alone = push (&f, 1);
  g_assert_cmpint (push (&f, 2), ==, alone);
  g_assert_false (sl_feed_take_frame (f.feed, &frame));
  g_assert_null (sl_feed_newest (f.feed, 60000, &serial));
  g_assert_cmpuint (serial, ==, 0);
  sl_feed_want_frame (f.feed);
  g_assert_cmpint (push (&f, 3), ==, alone + 1); /* one reference, and no copy */
  g_assert_cmpint (push (&f, 4), ==, alone);
  g_assert_cmpint (g_atomic_int_get (&f.notified), ==, 1);
  g_assert_true (sl_feed_take_frame (f.feed, &frame));
  g_assert_cmpuint (first_byte (&frame), ==, 3);
  g_assert_null (frame.predictions);
  sl_feed_frame_clear (&frame);
  g_assert_false (sl_feed_take_frame (f.feed, &frame));
  fixture_clear (&f);
}

static void
test_predictions (void)
{
  Fixture f;
  g_auto (SlFeedFrame) frame = { 0 };
  guint64 serial;
  gint x = 0;
  fixture_init (&f, "sltrack !");
  const int alone = push (&f, ++x);
  g_assert_cmpint (push (&f, ++x), ==, alone);
  g_assert_cmpint (g_atomic_int_get (&f.notified), ==, 0);
  g_autoptr (SlPredictions) newest = sl_feed_newest (f.feed, 60000, &serial);
  g_assert_nonnull (newest);
  g_assert_cmpuint (serial, ==, 2);
  sl_feed_set_watched (f.feed, TRUE);
  push (&f, ++x);
  g_assert_cmpint (g_atomic_int_get (&f.notified), ==, 1);
  sl_feed_want_frame (f.feed);
  push (&f, ++x);
  push (&f, ++x);
  g_assert_true (sl_feed_take_frame (f.feed, &frame));
  g_assert_cmpuint (first_byte (&frame), ==, 4);
  g_assert_nonnull (frame.predictions);
  g_assert_cmpfloat (sl_object_get_box (sl_predictions_get_object (frame.predictions, 0))->x, ==,
                     4);
  g_assert_cmpstr (sl_object_get_label (sl_predictions_get_object (frame.predictions, 0)), ==,
                   "cup");
  fixture_clear (&f);
}

/* What is found in tiles is found on their frame, which is told once. */
static void
test_tiles (void)
{
  Fixture f;
  g_auto (SlFeedFrame) frame = { 0 };
  fixture_init (&f, "slpredict tiles=2x2 !");
  push (&f, 1);
  sl_feed_want_frame (f.feed);
  push (&f, 2);
  g_assert_cmpint (g_atomic_int_get (&f.notified), ==, 1);
  g_assert_true (sl_feed_take_frame (f.feed, &frame));
  g_assert_cmpuint (first_byte (&frame), ==, 2);
  g_assert_nonnull (frame.predictions);
  fixture_clear (&f);
}

/* Behind an slanalyze: the frame has its zones, and what was found is told all the same. */
static void
test_analysed (void)
{
  Fixture f;
  g_auto (SlFeedFrame) frame = { 0 };
  guint64 serial;
  fixture_init (&f, "sltrack ! slanalyze regions=\"[zone all] points=0,0 1,0 1,1 0,1\" !");
  push (&f, 1);
  g_autoptr (SlPredictions) newest = sl_feed_newest (f.feed, 60000, &serial);
  g_assert_nonnull (newest);
  sl_feed_want_frame (f.feed);
  push (&f, 2);
  g_assert_cmpint (g_atomic_int_get (&f.notified), ==, 1);
  g_assert_true (sl_feed_take_frame (f.feed, &frame));
  g_assert_cmpuint (first_byte (&frame), ==, 2);
  const SlAnalysis *analysis = sl_buffer_get_analysis (frame.buffer);
  g_assert_nonnull (analysis);
  g_assert_cmpstr (analysis->regions[0].name, ==, "all");
  g_assert_cmpuint (analysis->regions[0].inside, ==, 1);
  fixture_clear (&f);
}

/* Predictions are told while they are new, and while their pipeline is there. */
static void
test_old (void)
{
  Fixture f;
  guint64 serial;
  fixture_init (&f, "sltrack !");
  push (&f, 1);
  g_usleep (3000);
  g_assert_null (sl_feed_newest (f.feed, 1, &serial));
  g_assert_cmpuint (serial, ==, 1);
  SlPredictions *newest = sl_feed_newest (f.feed, 60000, &serial);
  g_assert_nonnull (newest);
  sl_predictions_unref (newest);
  gst_element_set_state (f.pipeline, GST_STATE_NULL);
  sl_feed_detach (f.feed);
  g_assert_null (sl_feed_newest (f.feed, 60000, &serial));
  g_assert_cmpuint (serial, ==, 1);
  fixture_clear (&f);
}

/* A frame that nobody took before its pipeline went is owed by the next. */
static void
test_owed (void)
{
  Fixture f;
  SlFeedFrame frame;
  fixture_init (&f, "");
  sl_feed_want_frame (f.feed);
  push (&f, 1);
  gst_element_set_state (f.pipeline, GST_STATE_NULL);
  sl_feed_detach (f.feed);
  g_assert_false (sl_feed_take_frame (f.feed, &frame));
  sl_feed_attach (f.feed, f.pipeline);
  gst_element_set_state (f.pipeline, GST_STATE_PLAYING);
  push (&f, 2);
  g_assert_true (sl_feed_take_frame (f.feed, &frame));
  g_assert_cmpuint (first_byte (&frame), ==, 2);
  sl_feed_frame_clear (&frame);
  fixture_clear (&f);
}

int
main (int argc, char **argv)
{
  sl_elements_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  sl_elements_register_static ();
  g_test_add_func ("/feed/unwanted", test_unwanted);
  g_test_add_func ("/feed/predictions", test_predictions);
  g_test_add_func ("/feed/tiles", test_tiles);
  g_test_add_func ("/feed/analysed", test_analysed);
  g_test_add_func ("/feed/old", test_old);
  g_test_add_func ("/feed/owed", test_owed);
  return g_test_run ();
}
