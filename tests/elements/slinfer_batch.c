/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slinfer with batch: streams of one process whose frames a runtime, played by
 * tests/support/fake_runtime.c, gets together. Each gets its own results; none is held up by one
 * that ends, flushes, stops or fails. What is expected is -x.
 */
#include <string.h>

#include "tests/elements/fake.h"
#include "tests/elements/support.h"
#include "tests/support/clock.h"
#include "tests/support/program.h"

#define VALUES 48
#define BYTES (VALUES * sizeof (gfloat))
#define CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=4:4:3:1,types=float32,framerate=25/1"
#define STREAMS 2
/* Longer than a test may take. */
#define LONG "batch-timeout=10000"

static char *onnx, *foreign; /* the latter with an operator that Sightline refuses */

typedef struct
{
  TestLine line;
  GstElement *infer;
  guint frames, first;
  GstFlowReturn last;
} Stream;

static void
open_stream_of (Stream *stream, guint i, const char *model, const char *more)
{
  g_autofree char *launch =
    g_strdup_printf ("slinfer name=i model=%s backend=onnxruntime batch=2 %s", model, more);
  *stream = (Stream){ .line = test_line_open (launch, NULL, CAPS), .first = 1000 * i };
  stream->infer = gst_harness_find_element (stream->line.harness, "slinfer");
}

static void
open_stream (Stream *stream, guint i, const char *more)
{
  open_stream_of (stream, i, onnx, more);
}

static void
close_stream (Stream *stream)
{
  gst_object_unref (stream->infer);
  test_line_close (stream->line.harness, stream->line.bus);
}

/* One frame, and what comes of it where it passes. */
static void
push_frame (Stream *stream, guint i)
{
  gfloat x[VALUES], y[VALUES];
  for (guint k = 0; k < VALUES; k++)
    x[k] = (gfloat) (stream->first + i) + (gfloat) k / 64;
  stream->last = gst_harness_push (stream->line.harness, test_tensor_buffer (x, BYTES));
  if (stream->last != GST_FLOW_OK)
    return;
  g_autoptr (GstBuffer) out = gst_harness_pull (stream->line.harness);
  g_assert_cmpuint (gst_buffer_extract (out, 0, y, BYTES), ==, BYTES);
  for (guint k = 0; k < VALUES; k++)
    g_assert_cmpfloat (y[k], ==, -x[k]);
}

/* @frames frames, each of its own number, until one does not pass. Then the stream ends, so that
 * the other does not wait. */
static gpointer
push (gpointer data)
{
  Stream *stream = data;
  stream->last = GST_FLOW_OK;
  for (guint i = 0; i < stream->frames && stream->last == GST_FLOW_OK; i++)
    push_frame (stream, i);
  if (stream->last == GST_FLOW_OK)
    g_assert_true (gst_harness_push_event (stream->line.harness, gst_event_new_eos ()));
  return NULL;
}

/* Both at once; @words are the fake's from then on. The first one has had a frame, so the other
 * waits for it, and their first run is a batch. No time passes, so nothing but an end or an error
 * of one lets the other go on without it. Returns how many batches were run. */
static gint
push_both (Stream streams[STREAMS], guint more, const char *words)
{
  GThread *threads[STREAMS];
  const int *batches = fake ("fake_batches");
  push_frame (&streams[0], 0);
  g_assert_cmpint (streams[0].last, ==, GST_FLOW_OK);
  const gint before = g_atomic_int_get (batches);
  set_fake (words);
  sl_clock_set (SL_CLOCK_STANDS);
  for (gint i = STREAMS - 1; i >= 0; i--) {
    streams[i].frames = 10 + (guint) i * more;
    threads[i] = g_thread_new ("stream", push, &streams[i]);
    if (i > 0)
      sl_clock_await (threads[i]);
  }
  for (guint i = 0; i < STREAMS; i++)
    g_thread_join (threads[i]);
  sl_clock_set (SL_CLOCK_RUNS);
  return g_atomic_int_get (batches) - before;
}

static guint
count_warnings (const Stream *stream, const char *text)
{
  guint n = 0;
  GstMessage *message;
  while ((message = gst_bus_pop_filtered (stream->line.bus, GST_MESSAGE_WARNING)) != NULL) {
    g_autoptr (GError) warning = NULL;
    gst_message_parse_warning (message, &warning, NULL);
    g_test_message ("%s", warning->message);
    g_assert_nonnull (strstr (warning->message, text));
    gst_message_unref (message);
    n++;
  }
  return n;
}

static void
open_streams (Stream streams[STREAMS], const char *more)
{
  set_fake ("batch");
  for (guint i = 0; i < STREAMS; i++)
    open_stream (&streams[i], i, more);
}

/* One ends long before the other. */
static void
test_together (void)
{
  Stream streams[STREAMS];
  open_streams (streams, LONG);
  g_assert_cmpint (push_both (streams, 40, "batch"), >, 0);
  for (guint i = 0; i < STREAMS; i++) {
    g_assert_cmpint (streams[i].last, ==, GST_FLOW_OK);
    g_assert_cmpuint (count_warnings (&streams[i], ""), ==, 0);
    close_stream (&streams[i]);
  }
}

/* @frames frames, and more until there was a batch. */
static gpointer
push_until_batch (gpointer data)
{
  Stream *stream = data;
  const int *batches = fake ("fake_batches");
  for (guint i = 0; i < stream->frames || g_atomic_int_get (batches) == 0; i++) {
    push_frame (stream, i);
    g_assert_cmpint (stream->last, ==, GST_FLOW_OK);
  }
  g_assert_true (gst_harness_push_event (stream->line.harness, gst_event_new_eos ()));
  return NULL;
}

/* With a part in the budget they have their turns together. Frames are those that were sent. The
 * budget needs a clock that runs. */
static void
test_budget (void)
{
  Stream streams[STREAMS];
  GThread *threads[STREAMS];
  open_streams (streams, LONG " promised-rate=100");
  g_atomic_int_set ((int *) fake ("fake_batches"), 0);
  for (guint i = 0; i < STREAMS; i++) {
    streams[i].frames = 10 + i * 40;
    threads[i] = g_thread_new ("stream", push_until_batch, &streams[i]);
  }
  for (guint i = 0; i < STREAMS; i++)
    g_thread_join (threads[i]);
  for (guint i = 0; i < STREAMS; i++) {
    g_autoptr (GstStructure) figures = NULL;
    guint64 ran = 0;
    g_object_get (streams[i].infer, "budget", &figures, NULL);
    g_assert_true (gst_structure_get_uint64 (figures, "frames", &ran));
    g_assert_cmpuint (ran, >=, streams[i].frames);
    close_stream (&streams[i]);
  }
}

/* Streams of a model that the runtime alone takes share one, too, and its batches. */
static void
test_foreign (void)
{
  Stream streams[STREAMS];
  int *loads = fake ("fake_loads");
  set_fake ("batch");
  *loads = 0;
  for (guint i = 0; i < STREAMS; i++)
    open_stream_of (&streams[i], i, foreign, LONG);
  g_assert_cmpint (*loads, ==, 1);
  g_assert_cmpint (push_both (streams, 10, "batch"), >, 0);
  for (guint i = 0; i < STREAMS; i++) {
    g_assert_cmpint (streams[i].last, ==, GST_FLOW_OK);
    close_stream (&streams[i]);
  }
}

/* What fell back before the first frame runs single ones, and says no more than that. */
static void
test_fell_back (void)
{
  Stream stream;
  set_fake ("batch run");
  open_stream (&stream, 0, "fallback=true");
  stream.frames = 3;
  push (&stream);
  g_assert_cmpint (stream.last, ==, GST_FLOW_OK);
  g_assert_cmpuint (count_warnings (&stream, ""), ==, 0);
  gst_element_set_state (stream.infer, GST_STATE_NULL);
  g_assert_cmpint (gst_element_set_state (stream.infer, GST_STATE_READY), ==,
                   GST_STATE_CHANGE_SUCCESS);
  g_assert_cmpuint (count_warnings (&stream, "Sightline runs the model on the CPU instead: "), ==,
                    1);
  close_stream (&stream);
}

/* An element that stops while a batch is proven, by itself or by another stream that it waits for,
 * does not wait for that: no batch is run any more, which comes after 64 single runs. */
static void
test_stop_proof (void)
{
  Stream streams[STREAMS];
  const int *runs = fake ("fake_runs"), *batches = fake ("fake_batches");
  open_streams (streams, "");
  const gint ran = g_atomic_int_get (runs), before = g_atomic_int_get (batches);
  set_fake ("batch late=250");
  for (guint i = 0; i < STREAMS; i++)
    g_object_set (streams[i].infer, "batch", 64, NULL);
  while (g_atomic_int_get (runs) == ran)
    g_usleep (1000);
  for (guint i = 0; i < STREAMS; i++)
    gst_element_set_state (streams[i].infer, GST_STATE_NULL);
  g_assert_cmpint (g_atomic_int_get (batches), ==, before);
  set_fake ("batch");
  for (guint i = 0; i < STREAMS; i++) {
    test_assert_no_error (streams[i].line.bus);
    close_stream (&streams[i]);
  }
}

/* What runs no batches any more runs single frames, and each stream says so once. */
static void
test_batch_fails (void)
{
  Stream streams[STREAMS];
  open_streams (streams, LONG);
  g_assert_cmpint (push_both (streams, 10, "batch alone"), ==, 1);
  for (guint i = 0; i < STREAMS; i++) {
    g_assert_cmpint (streams[i].last, ==, GST_FLOW_OK);
    g_assert_cmpuint (
      count_warnings (
        &streams[i],
        "running 2 inputs at once failed, so each is run by itself from here on: the fake runs no "
        "batches"),
      ==, 1);
    close_stream (&streams[i]);
  }
}

/* A lost device is an error of each stream, or each falls back. */
static void
test_device_lost (void)
{
  Stream streams[STREAMS];
  open_streams (streams, LONG);
  push_both (streams, 0, "batch run");
  for (guint i = 0; i < STREAMS; i++) {
    g_assert_cmpint (streams[i].last, ==, GST_FLOW_ERROR);
    test_assert_error (streams[i].line.bus, onnx, "the fake device is gone", NULL);
    close_stream (&streams[i]);
  }
  open_streams (streams, LONG " fallback=true");
  for (guint i = 0; i < STREAMS; i++) {
    set_fake ("batch run");
    streams[i].frames = 3;
    push (&streams[i]);
    g_assert_cmpint (streams[i].last, ==, GST_FLOW_OK);
    g_assert_cmpuint (
      count_warnings (
        &streams[i],
        "so Sightline runs the model on the CPU from here on: the fake device is gone"),
      ==, 1);
    close_stream (&streams[i]);
  }
}

/* A frame that waits for another stream's, which has had one just now, is given up at a flush and
 * where the element stops. The other goes on without waiting: no time passes. */
static void
test_give_up (gconstpointer stops)
{
  Stream streams[STREAMS];
  open_streams (streams, LONG);
  sl_clock_set (SL_CLOCK_STANDS);
  push_frame (&streams[1], 0);
  streams[0].frames = 1;
  GThread *thread = g_thread_new ("stream", push, &streams[0]);
  sl_clock_await (thread);
  if (GPOINTER_TO_INT (stops))
    gst_element_set_state (streams[0].infer, GST_STATE_NULL);
  else
    gst_harness_push_event (streams[0].line.harness, gst_event_new_flush_start ());
  g_thread_join (thread);
  g_assert_cmpint (streams[0].last, ==, GST_FLOW_FLUSHING);
  push_frame (&streams[1], 1);
  g_assert_cmpint (streams[1].last, ==, GST_FLOW_OK);
  sl_clock_set (SL_CLOCK_RUNS);
  for (guint i = 0; i < STREAMS; i++) {
    test_assert_no_error (streams[i].line.bus);
    close_stream (&streams[i]);
  }
}

static void
test_latency (void)
{
  Stream stream;
  const gfloat x[VALUES] = { 0 };
  set_fake ("batch");
  open_stream (&stream, 0, "batch-timeout=70");
  gst_harness_set_live (stream.line.harness, TRUE);
  gst_harness_set_upstream_latency (stream.line.harness, 100 * GST_MSECOND);
  const gint64 start = g_get_monotonic_time ();
  g_assert_cmpint (gst_harness_push (stream.line.harness, test_tensor_buffer (x, BYTES)), ==,
                   GST_FLOW_OK);
  const GstClockTime took = (GstClockTime) (g_get_monotonic_time () - start) * GST_USECOND,
                     latency = gst_harness_query_latency (stream.line.harness);
  g_assert_cmpuint (latency, >=, 170 * GST_MSECOND);
  g_assert_cmpuint (latency, <=, 170 * GST_MSECOND + took);
  close_stream (&stream);
}

static void
test_refused (void)
{
  g_autofree char *launch = g_strdup_printf ("slinfer model=%s backend=onnxruntime batch=4", onnx);
  set_fake ("");
  GstElement *infer = gst_parse_launch (launch, NULL);
  GstBus *bus = test_watch (infer);
  g_assert_cmpint (gst_element_set_state (infer, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (
    bus, onnx,
    "batch=4: the model cannot be run in batches of 4: the file states 1 as the first dimension of "
    "input 'x'",
    "ONNX Runtime 1.99.0, CPU takes no other: export it with that one open", NULL);
  gst_element_set_state (infer, GST_STATE_NULL);
  gst_element_set_bus (infer, NULL);
  gst_object_unref (bus);
  gst_object_unref (infer);
}

TEST_MAIN (int argc, char **argv)
{
  g_setenv ("SIGHTLINE_ONNXRUNTIME", FAKE_RUNTIME_LIBRARY, TRUE);
  test_elements_init (&argc, &argv);
  onnx = fake_model ("neg.onnx", "Neg");
  foreign = fake_model ("foreign.onnx", "Frobnicate");
  g_usleep (100000);
  g_test_add_func ("/slinfer-batch/refused", test_refused);
  g_test_add_func ("/slinfer-batch/together", test_together);
  g_test_add_func ("/slinfer-batch/budget", test_budget);
  g_test_add_func ("/slinfer-batch/foreign", test_foreign);
  g_test_add_func ("/slinfer-batch/fell-back", test_fell_back);
  g_test_add_func ("/slinfer-batch/stop-proof", test_stop_proof);
  g_test_add_func ("/slinfer-batch/batch-fails", test_batch_fails);
  g_test_add_func ("/slinfer-batch/device-lost", test_device_lost);
  g_test_add_data_func ("/slinfer-batch/flush", GINT_TO_POINTER (FALSE), test_give_up);
  g_test_add_data_func ("/slinfer-batch/stop", GINT_TO_POINTER (TRUE), test_give_up);
  g_test_add_func ("/slinfer-batch/latency", test_latency);
  const int result = test_elements_run ();
  test_remove_file (onnx);
  test_remove_file (foreign);
  g_free (onnx);
  g_free (foreign);
  return result;
}
