/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slinfer's inputs that do not come with each frame, of a model that adds two tensors: the sum of
 * the frames before is its state, or the second tensor comes from another branch. All answers are
 * sums.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "models/model.h"
#include "plugins/meta/frame_meta.h"
#include "models/replay/replay.h"
#include "predict/budget.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"
#include "tests/support/tflite_writer.h"

#define CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=(string)4:1,types=float32,framerate=25/1"
#define OTHER_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=(string)4:1,types=float32,framerate=5/1"
#define FRAME (GST_SECOND / 25)

typedef struct
{
  char *model;
  GstElement *element;
  GstHarness *harness;
  GstBus *bus;
  GstPad *feeder; /* (nullable): linked to input_1 */
  guint64 next;   /* frame */
} Fixture;

/* Frames are input "a". With @pad "b" comes through one, else it is the sum of before. */
static void
setup (Fixture *f, gboolean pad, gint wait)
{
  *f = (Fixture){ .model = test_sum_model () };
  f->element = gst_element_factory_make ("slinfer", NULL);
  g_object_set (f->element, "model", f->model, "state", pad ? "none" : "b=sum", "input-wait", wait,
                NULL);
  f->bus = test_watch (f->element);
  if (pad) {
    g_autoptr (GstPad) input = gst_element_request_pad_simple (f->element, "input_1");
    g_assert_nonnull (input);
    f->feeder = gst_object_ref_sink (gst_pad_new ("feeder", GST_PAD_SRC));
    g_assert_cmpint (gst_pad_link (f->feeder, input), ==, GST_PAD_LINK_OK);
    gst_pad_set_active (f->feeder, TRUE);
  }
  f->harness = gst_harness_new_with_element (f->element, "sink", "src");
  gst_harness_set_src_caps_str (f->harness, CAPS);
}

static void
teardown (Fixture *f)
{
  gst_element_set_state (f->element, GST_STATE_NULL);
  if (f->feeder != NULL)
    gst_pad_set_active (f->feeder, FALSE);
  gst_clear_object (&f->feeder);
  gst_object_unref (f->element);
  test_line_close (f->harness, f->bus);
  test_remove_file (f->model);
  g_free (f->model);
}

static GstBuffer *
tensor (gfloat value)
{
  const gfloat values[4] = { value, 2 * value, 3 * value, 4 * value };
  return test_tensor_buffer (values, sizeof values);
}

static gfloat
pull (Fixture *f)
{
  gfloat values[4];
  g_autoptr (GstBuffer) out = gst_harness_pull (f->harness);
  g_assert_nonnull (out);
  g_assert_cmpuint (gst_buffer_extract (out, 0, values, sizeof values), ==, sizeof values);
  g_assert_cmpfloat (values[3] - values[0], ==, 3 * (values[1] - values[0]));
  return values[0];
}

static gfloat
run_at (Fixture *f, gfloat value, GstClockTime pts, gboolean discont)
{
  GstBuffer *in = tensor (value);
  GST_BUFFER_PTS (in) = pts;
  if (discont)
    GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_DISCONT);
  g_assert_cmpint (gst_harness_push (f->harness, in), ==, GST_FLOW_OK);
  test_assert_no_error (f->bus);
  return pull (f);
}

static gfloat
run (Fixture *f, gfloat value)
{
  return run_at (f, value, f->next++ * FRAME, FALSE);
}

static void
test_carried (void)
{
  Fixture f;
  setup (&f, FALSE, 1);
  for (guint i = 1; i <= 5; i++)
    g_assert_cmpfloat (run (&f, 1), ==, i);
  g_signal_emit_by_name (f.element, "reset-state");
  g_assert_cmpfloat (run (&f, 1), ==, 1);
  g_assert_cmpfloat (run (&f, 2), ==, 3);
  teardown (&f);
}

/* Frames that are lost are no new beginning; time that jumps, or is not known, is. */
static void
test_discont (void)
{
  Fixture f;
  setup (&f, FALSE, 1);
  g_assert_cmpfloat (run_at (&f, 1, 0, TRUE), ==, 1);
  g_assert_cmpfloat (run_at (&f, 1, 3 * FRAME, TRUE), ==, 2);
  g_assert_cmpfloat (run_at (&f, 1, 3 * FRAME + GST_SECOND, TRUE), ==, 3);
  g_assert_cmpfloat (run_at (&f, 1, 3 * FRAME + 2 * GST_SECOND + 1, TRUE), ==, 1);
  g_assert_cmpfloat (run_at (&f, 1, 100 * GST_SECOND, FALSE), ==, 2);
  g_assert_cmpfloat (run_at (&f, 1, 99 * GST_SECOND, TRUE), ==, 1);
  g_assert_cmpfloat (run_at (&f, 1, GST_CLOCK_TIME_NONE, TRUE), ==, 1);
  g_assert_cmpfloat (run_at (&f, 1, GST_CLOCK_TIME_NONE, FALSE), ==, 2);
  teardown (&f);
}

static void
push_event (Fixture *f, GstEvent *event)
{
  g_assert_true (gst_harness_push_event (f->harness, event));
}

static void
push_segment (Fixture *f)
{
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  push_event (f, gst_event_new_segment (&segment));
}

static void
test_new_sequences (void)
{
  Fixture f;
  setup (&f, FALSE, 1);
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS), slower = gst_caps_copy (caps);
  gst_caps_set_simple (slower, "framerate", GST_TYPE_FRACTION, 5, 1, NULL);
  for (guint i = 0; i < 4; i++) {
    run (&f, 1);
    g_assert_cmpfloat (run (&f, 1), ==, 2);
    switch (i) {
      case 0:
        push_event (&f, gst_event_new_flush_start ());
        push_event (&f, gst_event_new_flush_stop (TRUE));
        push_segment (&f);
        break;
      case 1:
        push_segment (&f);
        break;
      case 2:
        gst_harness_set_src_caps (f.harness, gst_caps_ref (slower));
        break;
      default:
        gst_element_set_state (f.element, GST_STATE_READY);
        gst_element_set_state (f.element, GST_STATE_PLAYING);
        push_event (&f, gst_event_new_stream_start ("again"));
        gst_harness_set_src_caps (f.harness, gst_caps_ref (caps));
        push_segment (&f);
        break;
    }
  }
  g_assert_cmpfloat (run (&f, 1), ==, 1);
  teardown (&f);
}

/* float32[1,4,4,3] -> the mean of each channel, added to that of the frames before. */
static char *
mean_model (void)
{
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const SlTfliteTensor row = { .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 1, 3 } };
  SlTfliteTensor tensors[] = { row, row, row, row };
  static const char *const names[] = { "mean", "sum_in", "sum_out", "colours" };
  gint32 index[4];
  const gint32 picture = sl_tflite_writer_tensor (
    writer, &(SlTfliteTensor){
              .name = "picture", .dtype = SL_DTYPE_F32, .rank = 4, .dims = { 1, 4, 4, 3 } });
  const gint32 axes = sl_tflite_writer_const_i32 (writer, "axes", 2, (const gint32[]){ 1, 2 });
  for (guint i = 0; i < 4; i++) {
    tensors[i].name = names[i];
    index[i] = sl_tflite_writer_tensor (writer, &tensors[i]);
  }
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_MEAN,
                                              .n_inputs = 2,
                                              .inputs = { picture, axes },
                                              .n_outputs = 1,
                                              .outputs = { index[0] } });
  for (guint i = 0; i < 2; i++) /* sum_out = mean + sum_in; colours = 2 sum_out */
    sl_tflite_writer_op (
      writer, &(SlTfliteOp){ .op = SL_OP_ADD,
                             .n_inputs = 2,
                             .inputs = { index[2 * i], index[1 + i] }, /* 0 and 1, then 2 and 2 */
                             .n_outputs = 1,
                             .outputs = { index[2 + i] } });
  sl_tflite_writer_io (writer, 2, (const gint32[]){ picture, index[1] }, 2,
                       (const gint32[]){ index[3], index[2] });
  return sl_tflite_writer_save_temp (writer, "mean.tflite", NULL);
}

/* slpredict finds the pair by its names, and has the signal, too. */
static void
test_slpredict (void)
{
  static const char frames[] = "video/x-raw,format=RGB,width=4,height=4,framerate=25/1";
  const guint8 blue[3] = { 0, 0, 255 };
  g_autofree char *model = mean_model ();
  g_autofree char *launch =
    g_strdup_printf ("slpredict name=predict model=%s mean=0 std=255 decoder=vector", model);
  TestLine line = test_line_open (launch, "application/x-json", frames);
  g_autoptr (GstElement) predict = gst_bin_get_by_name (GST_BIN (line.harness->element), "predict");
  for (guint i = 0; i < 4; i++) {
    g_assert_cmpint (gst_harness_push (line.harness, test_frame (frames, blue, i * FRAME)), ==,
                     GST_FLOW_OK);
    g_autofree char *text = test_take_text (gst_harness_pull (line.harness));
    g_autofree char *expected =
      g_strdup_printf ("\"values\":[0,0,%u]", i < 2 ? 2 * (i + 1) : 2 * (i - 1));
    g_assert_nonnull (strstr (text, expected));
    if (i == 1)
      g_signal_emit_by_name (predict, "reset-state");
  }
  test_line_close (line.harness, line.bus);
  test_remove_file (model);
}

/* Tiles and objects follow no time. */
static void
test_parts (void)
{
  Fixture f;
  GstVideoInfo info;
  setup (&f, FALSE, 1);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGB, 4, 4);
  g_autoptr (GstBuffer) frame = gst_buffer_new ();
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  GstBuffer *in = tensor (1);
  sl_buffer_add_frame_meta (in, frame, caps, &info)->content = SL_FRAME_LAST_OBJECT;
  g_assert_cmpint (gst_harness_push (f.harness, in), ==, GST_FLOW_ERROR);
  test_assert_error (
    f.bus,
    "the model carries state from frame to frame (b=sum), and objects and tiles of a frame are no "
    "sequence",
    NULL);
  teardown (&f);
}

static void
feed_caps (Fixture *f, const char *text)
{
  GstSegment segment;
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (f->feeder, gst_event_new_stream_start ("other"));
  gst_pad_push_event (f->feeder, gst_event_new_caps (caps));
  gst_pad_push_event (f->feeder, gst_event_new_segment (&segment));
}

static void
feed (Fixture *f, gfloat value)
{
  g_assert_cmpint (gst_pad_push (f->feeder, tensor (value)), ==, GST_FLOW_OK);
}

static gpointer
push_one (gpointer data)
{
  Fixture *f = data;
  GstBuffer *in = tensor (1);
  GST_BUFFER_PTS (in) = f->next++ * FRAME;
  return GINT_TO_POINTER (gst_harness_push (f->harness, in));
}

/* The first frame waits, later ones see the newest tensor, also after its branch has ended. */
static void
test_branch (void)
{
  Fixture f;
  setup (&f, TRUE, 100);
  g_autoptr (GstPad) input = gst_pad_get_peer (f.feeder);
  g_autoptr (GstCaps) wanted = gst_pad_query_caps (input, NULL),
                      caps = gst_caps_from_string (OTHER_CAPS);
  g_assert_true (gst_caps_can_intersect (wanted, caps));
  GThread *waiting = g_thread_new ("first", push_one, &f);
  feed_caps (&f, OTHER_CAPS);
  feed (&f, 10);
  g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (waiting)), ==, GST_FLOW_OK);
  g_assert_cmpfloat (pull (&f), ==, 11);
  g_assert_cmpfloat (run (&f, 2), ==, 12);
  feed (&f, 20);
  feed (&f, 30);
  g_assert_cmpfloat (run (&f, 3), ==, 33);
  gst_pad_push_event (f.feeder, gst_event_new_eos ());
  g_assert_cmpfloat (run (&f, 4), ==, 34);
  g_assert_cmpint (gst_element_set_state (f.element, GST_STATE_READY), ==,
                   GST_STATE_CHANGE_SUCCESS);
  teardown (&f);
}

/* A value of the model's own is there until the branch has one. */
static void
test_branch_with_first (void)
{
  Fixture f = { .model = test_sum_model () };
  f.element = gst_element_factory_make ("slinfer", NULL);
  g_object_set (f.element, "model", f.model, "fixed-inputs", "b=0", NULL);
  f.bus = test_watch (f.element);
  g_autoptr (GstPad) input = gst_element_request_pad_simple (f.element, "input_%u");
  g_assert_cmpstr (GST_PAD_NAME (input), ==, "input_1");
  g_assert_null (gst_element_request_pad_simple (f.element, "input_01"));
  g_assert_null (gst_element_request_pad_simple (f.element, "input_99"));
  f.harness = gst_harness_new_with_element (f.element, "sink", "src");
  gst_harness_set_src_caps_str (f.harness, CAPS);
  g_assert_cmpfloat (run (&f, 5), ==, 5);
  g_assert_null (gst_element_request_pad_simple (f.element, "input_2"));
  gst_element_release_request_pad (f.element, input);
  g_assert_cmpfloat (run (&f, 6), ==, 6);
  teardown (&f);
}

/* y = a + b + 2 c, of inputs 0 to 2; the names of the last two are each other's numbers. */
static char *
three_model (void)
{
  static const char *const names[] = { "a", "2", "1", "twice", "first", "y" };
  static const guint nodes[3][3] = { { 2, 2, 3 }, { 0, 1, 4 }, { 4, 3, 5 } };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  gint32 index[G_N_ELEMENTS (names)];
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    index[i] = sl_tflite_writer_tensor (
      writer,
      &(SlTfliteTensor){ .name = names[i], .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 1, 4 } });
  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    sl_tflite_writer_op (writer,
                         &(SlTfliteOp){ .op = SL_OP_ADD,
                                        .n_inputs = 2,
                                        .inputs = { index[nodes[i][0]], index[nodes[i][1]] },
                                        .n_outputs = 1,
                                        .outputs = { index[nodes[i][2]] } });
  sl_tflite_writer_io (writer, 3, index, 1, &index[5]);
  return sl_tflite_writer_save_temp (writer, "three.tflite", NULL);
}

/* Loads the model anew while frames of ones flow, all of which give @expected. */
static void
reload (Fixture *f, gfloat expected)
{
  gboolean changed = FALSE;
  g_object_set (f->element, "model", f->model, NULL);
  while (!changed) {
    g_assert_cmpint (GPOINTER_TO_INT (push_one (f)), ==,
                     GST_FLOW_OK); /* run() takes every message */
    g_assert_cmpfloat (pull (f), ==, expected);
    g_autoptr (GstMessage) message = gst_bus_pop_filtered (f->bus, GST_MESSAGE_ELEMENT);
    changed = message != NULL && gst_message_has_name (message, "model-changed");
    g_usleep (2000);
  }
  g_assert_true (changed);
  g_assert_cmpfloat (run (f, 1), ==, expected);
}

/* Frames from the beginning. */
static void
start_again (Fixture *f, GstState from)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS);
  gst_element_set_state (f->element, from);
  gst_pad_set_active (f->feeder, FALSE);
  gst_element_set_state (f->element, GST_STATE_PLAYING);
  gst_pad_set_active (f->feeder, TRUE);
  push_event (f, gst_event_new_stream_start ("again"));
  gst_harness_set_src_caps (f->harness, gst_caps_ref (caps));
  push_segment (f);
}

/* Pads are the inputs of their numbers, whatever inputs are called and in whatever order pads were
 * asked for. One that is released leaves its tensor until frames stop. */
static void
test_branch_released (void)
{
  Fixture f = { .model = three_model () };
  f.element = gst_element_factory_make ("slinfer", NULL);
  g_object_set (f.element, "model", f.model, "input-wait", 100, NULL);
  f.bus = test_watch (f.element);
  GstPad *inputs[2], *feeders[2];
  for (guint i = 2; i-- > 0;) {
    inputs[i] = gst_element_request_pad_simple (f.element, i == 0 ? "input_1" : "input_2");
    feeders[i] = gst_object_ref_sink (gst_pad_new ("feeder", GST_PAD_SRC));
    g_assert_cmpint (gst_pad_link (feeders[i], inputs[i]), ==, GST_PAD_LINK_OK);
    gst_pad_set_active (feeders[i], TRUE);
  }
  f.harness = gst_harness_new_with_element (f.element, "sink", "src");
  gst_harness_set_src_caps_str (f.harness, CAPS);
  for (guint i = 0; i < 2; i++) {
    f.feeder = feeders[i];
    feed_caps (&f, OTHER_CAPS);
    feed (&f, i == 0 ? 10 : 100);
  }
  g_assert_cmpfloat (run (&f, 1), ==, 211);
  gst_pad_unlink (feeders[0], inputs[0]);
  gst_element_release_request_pad (f.element, inputs[0]);
  g_assert_cmpfloat (run (&f, 1), ==, 211);
  reload (&f, 211);
  feed (&f, 200);
  g_assert_cmpfloat (run (&f, 1), ==, 411);

  /* Its place is free again, and its tensor gone. */
  gst_element_set_state (f.element, GST_STATE_READY);
  gst_object_unref (inputs[0]);
  inputs[0] = gst_element_request_pad_simple (f.element, "input_%u");
  g_assert_cmpstr (GST_PAD_NAME (inputs[0]), ==, "input_1");
  gst_element_release_request_pad (f.element, inputs[0]);
  gst_element_set_state (f.element, GST_STATE_PLAYING);
  push_event (&f, gst_event_new_stream_start ("again"));
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS);
  gst_pad_push_event (f.harness->srcpad, gst_event_new_caps (caps));
  test_assert_error (
    f.bus, "expected float32[1,4], float32[1,4], got float32[1,4]: input 'a' is no picture", NULL);
  for (guint i = 0; i < 2; i++) {
    gst_pad_set_active (feeders[i], FALSE);
    gst_object_unref (inputs[i]);
  }
  gst_object_unref (feeders[0]);
  teardown (&f);
}

/* After a stop the first frame waits again, also where the branch had ended; and a value of the
 * model's own is there again. */
static void
test_branch_again (void)
{
  static const struct
  {
    GstState from;
    const char *fixed; /* (nullable) */
  } rows[] = { { GST_STATE_READY, NULL },
               { GST_STATE_NULL, NULL },
               { GST_STATE_READY, "b=5" },
               { GST_STATE_NULL, "b=5" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Fixture f;
    setup (&f, TRUE, 100);
    if (rows[i].fixed != NULL) {
      gst_element_set_state (f.element, GST_STATE_READY);
      g_object_set (f.element, "fixed-inputs", rows[i].fixed, NULL);
      start_again (&f, GST_STATE_READY);
      g_assert_cmpfloat (run (&f, 1), ==, 6);
      reload (&f, 6);
    }
    feed_caps (&f, OTHER_CAPS);
    feed (&f, 10);
    g_assert_cmpfloat (run (&f, 1), ==, 11);
    gst_pad_push_event (f.feeder, gst_event_new_eos ());
    start_again (&f, rows[i].from);
    if (rows[i].fixed != NULL) {
      g_assert_cmpfloat (run (&f, 1), ==, 6);
    } else {
      GThread *waiting = g_thread_new ("first", push_one, &f);
      g_usleep (20000);
      g_assert_cmpuint (gst_harness_buffers_in_queue (f.harness), ==, 0);
      feed_caps (&f, OTHER_CAPS);
      feed (&f, 20);
      g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (waiting)), ==, GST_FLOW_OK);
      g_assert_cmpfloat (pull (&f), ==, 21);
    }
    test_assert_no_error (f.bus);
    teardown (&f);
  }
}

/* What comes for too long is an error, and so are other tensors. */
static void
test_branch_refused (void)
{
  static const struct
  {
    const char *caps; /* (nullable) */
    gboolean ends, unlinked;
    const char *message;
  } rows[] = {
    { "other/tensors,format=static,num_tensors=1,dimensions=(string)3:1,types=float32,"
      "framerate=5/1",
      FALSE, FALSE,
      "input_1: expected float32[1,4], which the model's input 'b' is, got float32[1,3]" },
    { "other/tensors,format=static,num_tensors=2,dimensions=\"4:1,4:1\",types=\"float32,float32\","
      "framerate=5/1",
      FALSE, FALSE,
      "input_1: expected float32[1,4], which the model's input 'b' is, got float32[1,4], "
      "float32[1,4]" },
    { NULL, TRUE, FALSE, "input_1: its branch ended without a tensor" },
    { NULL, FALSE, TRUE,
      "input_1: nothing is linked to it; expected a branch that makes its tensor" },
    { NULL, FALSE, FALSE,
      "input_1: no tensor came for 0 s while a frame waited for the first one: see whether its "
      "branch runs, and has a queue where it begins at a tee" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Fixture f;
    setup (&f, TRUE, 0);
    if (rows[i].caps != NULL) {
      feed_caps (&f, rows[i].caps);
      g_assert_cmpint (gst_pad_push (f.feeder, tensor (1)), ==, GST_FLOW_NOT_NEGOTIATED);
    } else {
      if (rows[i].ends) {
        feed_caps (&f, OTHER_CAPS);
        gst_pad_push_event (f.feeder, gst_event_new_eos ());
      }
      if (rows[i].unlinked) {
        g_autoptr (GstPad) input = gst_pad_get_peer (f.feeder);
        gst_pad_unlink (f.feeder, input);
      }
      g_assert_cmpint (gst_harness_push (f.harness, tensor (1)), ==, GST_FLOW_ERROR);
    }
    test_assert_error (f.bus, rows[i].message, NULL);
    teardown (&f);
  }
}

/* A flush and a stop end a wait. */
static void
test_wait_ends (void)
{
  for (guint i = 0; i < 2; i++) {
    Fixture f;
    setup (&f, TRUE, 3600);
    GThread *waiting = g_thread_new ("first", push_one, &f);
    g_usleep (20000);
    if (i == 0) {
      push_event (&f, gst_event_new_flush_start ());
      g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (waiting)), ==, GST_FLOW_FLUSHING);
      push_event (&f, gst_event_new_flush_stop (TRUE));
      push_segment (&f);
      feed_caps (&f, OTHER_CAPS);
      feed (&f, 10);
      g_assert_cmpfloat (run (&f, 1), ==, 11);
    } else {
      gst_element_set_state (f.element, GST_STATE_READY);
      g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (waiting)), ==, GST_FLOW_FLUSHING);
    }
    test_assert_no_error (f.bus);
    teardown (&f);
  }
}

/* A frame that waits for another branch has no turn in the budget. */
static void
test_turn (void)
{
  Fixture f;
  SlBudgetStream *other = sl_budget_stream_new ();
  sl_budget_set_cores (1);
  sl_budget_stream_set (other, 1000, 1, 1, NULL);
  setup (&f, TRUE, 3600);
  gst_element_set_state (f.element, GST_STATE_NULL);
  g_object_set (f.element, "promised-rate", 1000.0, NULL);
  gst_element_set_state (f.element, GST_STATE_PLAYING);
  push_segment (&f);
  GThread *waiting = g_thread_new ("first", push_one, &f);
  g_usleep (20000);
  g_assert_true (sl_budget_stream_enter (other, 1, FALSE));
  feed_caps (&f, OTHER_CAPS);
  feed (&f, 10);
  sl_budget_stream_leave (other, FALSE, FALSE);
  g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (waiting)), ==, GST_FLOW_OK);
  sl_budget_stream_free (other);
  sl_budget_set_cores (0);
  teardown (&f);
}

static void
on_dumped (GstElement *element, const char *path, guint inferences, const char *message,
           gpointer data)
{
  g_assert_null (message);
  g_atomic_int_set ((gint *) data, (gint) inferences);
}

static void
found (guint64 number, const SlReplayDifference *difference, const char *failure, gpointer data)
{
  g_assert_not_reached ();
}

/* A black box has the state that each inference began with, and says how it is loaded again. */
static void
test_black_box (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("state-box-XXXXXX", NULL), *path = NULL;
  Fixture f = { .model = test_sum_model () };
  gint dumped = 0;
  f.element = gst_element_factory_make ("slinfer", NULL);
  g_object_set (f.element, "model", f.model, "state", "b=sum", "black-box", folder, NULL);
  g_signal_connect (f.element, "dumped", G_CALLBACK (on_dumped), &dumped);
  f.bus = test_watch (f.element);
  f.harness = gst_harness_new_with_element (f.element, "sink", "src");
  gst_harness_set_src_caps_str (f.harness, CAPS);
  for (guint i = 0; i < 4; i++)
    run (&f, 1);
  g_signal_emit_by_name (f.element, "dump", "test", &path);
  g_assert_nonnull (path);
  while (g_atomic_int_get (&dumped) == 0)
    g_usleep (5000);
  g_assert_cmpint (g_atomic_int_get (&dumped), ==, 4);
  g_autoptr (SlBlackBox) box = sl_black_box_open (path, &error);
  g_assert_no_error (error);
  const SlBlackBoxInfo *info = sl_black_box_info (box);
  g_assert_cmpstr (info->state, ==, "#1=#0");
  g_assert_cmpuint (info->n_inputs, ==, 2);
  for (guint i = 0; i < 4; i++) {
    SlBlackBoxInference inference;
    sl_black_box_inference (box, i, &inference);
    g_assert_cmpfloat (((const gfloat *) inference.inputs[1])[0], ==, i);
  }
  g_autoptr (SlModel) other = sl_model_load (f.model, NULL, &error);
  g_assert_false (sl_black_box_check_model (info, other, FALSE, &error)
                  && sl_graph_n_held (sl_model_graph (other)) > 0);
  g_clear_error (&error);
  g_autoptr (SlModel) model =
    sl_model_load_with (f.model, NULL, &(SlModelLoadOptions){ .state = info->state }, &error);
  g_assert_no_error (error);
  g_assert_true (sl_black_box_check_model (info, model, FALSE, &error));
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  SlReplaySum sum;
  g_assert_true (sl_replay_run (box, session, found, NULL, &sum, &error));
  g_assert_cmpuint (sum.equal, ==, 4);
  g_unlink (path);
  teardown (&f);
  g_rmdir (folder);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slinfer/state/carried", test_carried);
  g_test_add_func ("/slinfer/state/discont", test_discont);
  g_test_add_func ("/slinfer/state/new-sequences", test_new_sequences);
  g_test_add_func ("/slinfer/state/slpredict", test_slpredict);
  g_test_add_func ("/slinfer/state/parts", test_parts);
  g_test_add_func ("/slinfer/state/black-box", test_black_box);
  g_test_add_func ("/slinfer/branch/newest", test_branch);
  g_test_add_func ("/slinfer/branch/first", test_branch_with_first);
  g_test_add_func ("/slinfer/branch/released", test_branch_released);
  g_test_add_func ("/slinfer/branch/again", test_branch_again);
  g_test_add_func ("/slinfer/branch/refused", test_branch_refused);
  g_test_add_func ("/slinfer/branch/wait-ends", test_wait_ends);
  g_test_add_func ("/slinfer/branch/turn", test_turn);
  return test_elements_run ();
}
