/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slpredict with the tiny model whose classes are the primary colours: what comes out, in which
 * order and how old, for files and for live sources with a model that is slower than they are;
 * parts of frames, every how many frames, and errors.
 */
#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "sightline/predictions.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define TEXT_CAPS "text/x-raw,format=utf8"
#define JSON_CAPS "application/x-json"
#define RGB_CAPS "video/x-raw,format=RGB,width=32,height=16,framerate=25/1"
#define WIDTH 32
#define HEIGHT 16

static const guint8 red[3] = { 255, 0, 0 }, green[3] = { 0, 255, 0 }, blue[3] = { 0, 0, 255 };

typedef struct
{
  GstHarness *harness;
  GstElement *element;
  GstBus *bus;
  char *model, *labels;
} Fixture;

static Fixture
setup (gboolean live, const char *sink)
{
  Fixture fixture = { .model = test_colour_model (SL_DTYPE_U8),
                      .labels = test_text_file ("labels.txt", "red\ngreen\nblue\n") };
  fixture.element = gst_element_factory_make ("slpredict", NULL);
  g_object_set (fixture.element, "model", fixture.model, "labels", fixture.labels, NULL);
  fixture.bus = test_watch (fixture.element);
  fixture.harness = gst_harness_new_with_element (fixture.element, "sink", "src");
  gst_harness_set_live (fixture.harness, live);
  gst_harness_set_sink_caps_str (fixture.harness, sink);
  return fixture;
}

static void
teardown (Fixture *fixture)
{
  gst_object_unref (fixture->element);
  test_line_close (fixture->harness, fixture->bus);
  test_remove_file (fixture->model);
  test_remove_file (fixture->labels);
  g_free (fixture->model);
  g_free (fixture->labels);
}

/* The model waits at a gate until it is let through. */
typedef struct
{
  GMutex lock;
  GCond changed;
  guint arrived, allowed;
  GstClockTime last; /* timestamp of the frame that arrived last */
} Gate;

static GstPadProbeReturn
wait_at_gate (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Gate *gate = data;
  g_mutex_lock (&gate->lock);
  gate->arrived++;
  gate->last = GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info));
  g_cond_broadcast (&gate->changed);
  while (gate->allowed < gate->arrived)
    g_cond_wait (&gate->changed, &gate->lock);
  g_mutex_unlock (&gate->lock);
  return GST_PAD_PROBE_OK;
}

/* A pad of an element inside. */
static GstPad *
inner_pad (Fixture *fixture, const char *element, const char *pad)
{
  g_autoptr (GstElement) inner = gst_bin_get_by_name (GST_BIN (fixture->element), element);
  return gst_element_get_static_pad (inner, pad);
}

static void
close_gate (Fixture *fixture, Gate *gate)
{
  g_autoptr (GstPad) pad = inner_pad (fixture, "infer", "sink");
  g_mutex_init (&gate->lock);
  g_cond_init (&gate->changed);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, wait_at_gate, gate, NULL);
}

/* Waits until frame @n, counted from 1, has come to the gate, and returns its timestamp. */
static GstClockTime
await_frame (Gate *gate, guint n)
{
  g_mutex_lock (&gate->lock);
  while (gate->arrived < n)
    g_cond_wait (&gate->changed, &gate->lock);
  const GstClockTime last = gate->last;
  g_mutex_unlock (&gate->lock);
  return last;
}

static void
allow_frames (Gate *gate, guint n)
{
  g_mutex_lock (&gate->lock);
  gate->allowed = n;
  g_cond_broadcast (&gate->changed);
  g_mutex_unlock (&gate->lock);
}

static void
clear_gate (Gate *gate)
{
  g_mutex_clear (&gate->lock);
  g_cond_clear (&gate->changed);
}

static void
push_frame (Fixture *fixture, const guint8 colour[3], GstClockTime pts)
{
  g_assert_cmpint (gst_harness_push (fixture->harness, test_frame (RGB_CAPS, colour, pts)), ==,
                   GST_FLOW_OK);
}

static guint64
dropped (Fixture *fixture)
{
  guint64 count;
  g_object_get (fixture->element, "dropped", &count, NULL);
  return count;
}

static const guint8 *const colours[] = { red, green, blue };
static const char *const answers[] = { "red\n", "green\n", "blue\n" };

/* From a file, every frame comes out in order, with its own answer, however many. */
static void
test_file (void)
{
  Fixture fixture = setup (FALSE, TEXT_CAPS);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  for (guint i = 0; i < 60; i++)
    push_frame (&fixture, colours[i * i % 3], i * GST_SECOND);
  for (guint i = 0; i < 60; i++) {
    g_autofree char *text = test_take_text (gst_harness_pull (fixture.harness));
    g_assert_cmpstr (text, ==, answers[i * i % 3]);
  }
  g_assert_cmpuint (dropped (&fixture), ==, 0);
  test_assert_no_error (fixture.bus);
  teardown (&fixture);
}

/* Frames of another size and format in the middle: each is its own, in order, and nothing is lost.
 */
static void
test_caps_change (void)
{
  static const char *const caps[] = {
    RGB_CAPS, "video/x-raw,format=BGRx,width=640,height=480,framerate=25/1"
  };
  Fixture fixture = setup (FALSE, TEXT_CAPS);
  for (guint i = 0; i < 24; i++) {
    const char *now = caps[i / 4 % 2];
    if (i % 4 == 0)
      gst_harness_set_src_caps_str (fixture.harness, now);
    g_assert_cmpint (
      gst_harness_push (fixture.harness, test_frame (now, colours[i * i % 3], i * GST_SECOND)), ==,
      GST_FLOW_OK);
  }
  for (guint i = 0; i < 24; i++) {
    g_autofree char *text = test_take_text (gst_harness_pull (fixture.harness));
    g_assert_cmpstr (text, ==, answers[i * i % 3]);
  }
  test_assert_no_error (fixture.bus);
  teardown (&fixture);
}

/* The next QoS message, and what it says. */
static void
assert_qos (Fixture *fixture, GstClockTime pts, guint64 processed, guint64 gone)
{
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (fixture->bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_QOS);
  g_assert_nonnull (message);
  g_assert_true (GST_MESSAGE_SRC (message) == GST_OBJECT (fixture->element));
  gboolean live;
  guint64 running, stream, timestamp, duration, told_processed, told_dropped;
  GstFormat format;
  gst_message_parse_qos (message, &live, &running, &stream, &timestamp, &duration);
  gst_message_parse_qos_stats (message, &format, &told_processed, &told_dropped);
  g_assert_true (live);
  g_assert_cmpuint (timestamp, ==, pts);
  g_assert_cmpuint (running, ==, pts);
  g_assert_cmpint (format, ==, GST_FORMAT_BUFFERS);
  g_assert_cmpuint (told_processed, ==, processed);
  g_assert_cmpuint (told_dropped, ==, gone);
}

/* A live source brings ten frames while the model looks at one: whenever it is done it gets the
 * newest, for as long as this goes on; so the age of a prediction does not grow. All others are
 * dropped and counted. */
static void
test_newest_first (void)
{
  Fixture fixture = setup (TRUE, TEXT_CAPS);
  Gate gate = { 0 };
  guint64 pushed = 0, gone = 0;
  close_gate (&fixture, &gate);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  push_frame (&fixture, red, pushed++ * GST_MSECOND);
  for (guint round = 1; round <= 20; round++) {
    const GstClockTime newest = (pushed - 1) * GST_MSECOND;
    g_assert_cmpuint (await_frame (&gate, round), ==, newest);
    g_assert_cmpuint (dropped (&fixture), ==, gone);
    if (round > 1)
      assert_qos (&fixture, newest, round, gone);
    for (guint i = 0; i < 10; i++)
      push_frame (&fixture, colours[round % 3], pushed++ * GST_MSECOND);
    gone += 9;
    allow_frames (&gate, round);
    g_autofree char *text = test_take_text (gst_harness_pull (fixture.harness));
    g_assert_cmpstr (text, ==, answers[(round - 1) % 3]);
  }
  allow_frames (&gate, G_MAXUINT);
  g_assert_cmpuint (await_frame (&gate, 21), ==, 200 * GST_MSECOND);
  g_free (test_take_text (gst_harness_pull (fixture.harness)));
  g_assert_cmpuint (dropped (&fixture), ==, 20 * 9);
  test_assert_no_error (fixture.bus);
  teardown (&fixture);
  clear_gate (&gate);
}

static GstPadProbeReturn
wait_with_segment (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Gate *gate = data;
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_SEGMENT) {
    g_mutex_lock (&gate->lock);
    gate->arrived++;
    g_cond_broadcast (&gate->changed);
    while (gate->allowed < gate->arrived)
      g_cond_wait (&gate->changed, &gate->lock);
    g_mutex_unlock (&gate->lock);
  }
  return GST_PAD_PROBE_OK;
}

/* The model's thread comes to its first frame when four have been dropped before it: they count,
 * too. It is at the segment before they come: a full queue leaks events with the frames, and a
 * segment that was leaked goes with the first frame that is not. */
static void
test_first_dropped (void)
{
  Fixture fixture = setup (TRUE, TEXT_CAPS);
  g_autoptr (GstPad) pad = inner_pad (&fixture, "queue", "src");
  Gate gate = { .allowed = 0 };
  g_mutex_init (&gate.lock);
  g_cond_init (&gate.changed);
  const gulong probe =
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, wait_with_segment, &gate, NULL);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  await_frame (&gate, 1);
  for (guint i = 0; i < 5; i++)
    push_frame (&fixture, colours[i % 3], i * GST_MSECOND);
  allow_frames (&gate, G_MAXUINT);
  g_autofree char *text = test_take_text (gst_harness_pull (fixture.harness));
  g_assert_cmpstr (text, ==, answers[4 % 3]);
  g_assert_cmpuint (dropped (&fixture), ==, 4);
  assert_qos (&fixture, 4 * GST_MSECOND, 1, 4);
  gst_pad_remove_probe (pad, probe);
  clear_gate (&gate);
  test_assert_no_error (fixture.bus);
  teardown (&fixture);
}

#define PUSHED 200
#define SLOW_US 10000

static GstPadProbeReturn
take_time (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_usleep (SLOW_US);
  return GST_PAD_PROBE_OK;
}

/* On the clock on the wall: a frame goes to the model before the next one is in, and is then alone
 * with it. So its age, when it has been decoded, is at most the time until the next one had been
 * pushed, and that since the prediction before it. This holds on a machine of any load; were frames
 * to wait in a row, ages would grow past it after a few. */
static void
test_age (void)
{
  Fixture fixture = setup (TRUE, TEXT_CAPS);
  g_autoptr (GstPad) pad = inner_pad (&fixture, "infer", "sink");
  gint64 before[PUSHED], after[PUSHED], last = 0;
  guint predictions = 0;
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, take_time, NULL, NULL);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  for (guint i = 0; i < PUSHED; i++) {
    before[i] = g_get_monotonic_time ();
    push_frame (&fixture, green, i * GST_MSECOND);
    after[i] = g_get_monotonic_time ();
    g_usleep (SLOW_US / 10);
  }
  for (guint i = 0; i + 1 < PUSHED; predictions++) {
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_assert_nonnull (out);
    i = (guint) (GST_BUFFER_PTS (out) / GST_MSECOND);
    const SlFrameMeta *meta = sl_buffer_get_frame_meta (out);
    g_assert_cmpint (meta->captured, >=, before[i]);
    g_assert_cmpint (meta->captured, <=, after[i]);
    if (last > 0 && i + 1 < PUSHED)
      g_assert_cmpint (meta->decoded - meta->captured, <=,
                       after[i + 1] - before[i] + meta->decoded - last);
    last = meta->decoded;
  }
  g_test_message ("%u predictions of %u frames", predictions, PUSHED);
  g_assert_cmpuint (predictions + dropped (&fixture), ==, PUSHED);
  test_assert_no_error (fixture.bus);
  teardown (&fixture);
}

#define OBJECTS 3

/* How many of the objects of @frame have a label from the model. */
static guint
count_looked_at (GstBuffer *frame)
{
  gpointer state = NULL;
  guint n = 0;
  GstMeta *meta;
  while ((meta = gst_buffer_iterate_meta_filtered (frame, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
         != NULL)
    n += gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) meta,
                                                      "classification")
         != NULL;
  return n;
}

/* Of a frame with objects, all of them give way to those of a newer one, or none. */
static void
test_newest_objects (void)
{
  Fixture fixture = setup (TRUE, RGB_CAPS);
  Gate gate = { 0 };
  gst_element_set_state (fixture.element, GST_STATE_READY);
  g_object_set (fixture.element, "object-class", "face", NULL);
  gst_element_set_state (fixture.element, GST_STATE_PLAYING);
  close_gate (&fixture, &gate);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  for (guint i = 0; i < 6; i++) {
    GstBuffer *frame = test_frame (RGB_CAPS, red, i * GST_SECOND);
    for (guint k = 0; k < OBJECTS; k++)
      gst_buffer_add_video_region_of_interest_meta (frame, "face", 4 * k, 2, 4, 8);
    g_assert_cmpint (gst_harness_push (fixture.harness, frame), ==, GST_FLOW_OK);
    if (i == 0)
      await_frame (&gate, 1);
  }
  allow_frames (&gate, G_MAXUINT);
  for (guint i = 0; i < 6; i += 5) {
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i * GST_SECOND);
    g_assert_cmpuint (count_looked_at (out), ==, OBJECTS);
  }
  g_assert_cmpuint (dropped (&fixture), ==, 4);
  assert_qos (&fixture, 5 * GST_SECOND, 2, 4);
  teardown (&fixture);
  clear_gate (&gate);
}

/* What is seen of a flush is not counted as dropped. */
static void
test_flush (void)
{
  Fixture fixture = setup (TRUE, TEXT_CAPS);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (guint round = 0; round < 5; round++) {
    push_frame (&fixture, green, 0);
    g_autofree char *text = test_take_text (gst_harness_pull (fixture.harness));
    g_assert_cmpstr (text, ==, "green\n");
    push_frame (&fixture, red, GST_SECOND); /* may or may not get through */
    g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_flush_start ()));
    g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_flush_stop (TRUE)));
    g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_segment (&segment)));
    while (gst_harness_buffers_in_queue (fixture.harness) > 0)
      gst_buffer_unref (gst_harness_pull (fixture.harness));
  }
  g_assert_cmpuint (dropped (&fixture), ==, 0);
  test_assert_no_error (fixture.bus);
  teardown (&fixture);
}

/* "drop" overrules what the source says. */
static void
test_drop (gconstpointer data)
{
  const gboolean always = GPOINTER_TO_INT (data);
  Fixture fixture = setup (!always, TEXT_CAPS);
  Gate gate = { 0 };
  gst_util_set_object_arg (G_OBJECT (fixture.element), "drop", always ? "always" : "never");
  close_gate (&fixture, &gate);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  push_frame (&fixture, red, 0);
  await_frame (&gate, 1);
  push_frame (&fixture, green, 1);
  if (always) {
    push_frame (&fixture, blue, 2);
    allow_frames (&gate, G_MAXUINT);
    g_assert_cmpuint (await_frame (&gate, 2), ==, 2);
  } else {
    allow_frames (&gate, G_MAXUINT);
    push_frame (&fixture, blue, 2); /* waits for a place */
    g_assert_cmpuint (await_frame (&gate, 3), ==, 2);
  }
  for (guint i = 0; i < (always ? 2 : 3); i++)
    g_free (test_take_text (gst_harness_pull (fixture.harness)));
  g_assert_cmpuint (dropped (&fixture), ==, always ? 1 : 0);
  teardown (&fixture);
  clear_gate (&gate);
}

/* What is held back is upstream's latency and the model's time, which is far below one frame of an
 * hour. */
static void
test_latency (void)
{
  Fixture fixture = setup (TRUE, TEXT_CAPS);
  gst_harness_set_upstream_latency (fixture.harness, 7 * GST_MSECOND);
  gst_harness_set_src_caps_str (fixture.harness,
                                "video/x-raw,format=RGB,width=32,height=16,framerate=1/3600");
  g_assert_cmpuint (gst_harness_query_latency (fixture.harness), ==, 7 * GST_MSECOND);
  push_frame (&fixture, red, 0);
  g_free (test_take_text (gst_harness_pull (fixture.harness)));
  const GstClockTime latency = gst_harness_query_latency (fixture.harness);
  g_assert_cmpuint (latency, >=, 7 * GST_MSECOND);
  g_assert_cmpuint (latency, <, 3600 * GST_SECOND);
  teardown (&fixture);
}

/* Video: frames that it is not the turn of come out untouched and in order, those that it is with a
 * prediction. */
static void
test_interval_video (void)
{
  Fixture fixture = setup (FALSE, RGB_CAPS);
  g_object_set (fixture.element, "inference-interval", 3, NULL);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  for (guint i = 0; i < 10; i++) {
    GstBuffer *frame = test_frame (RGB_CAPS, red, i * GST_SECOND);
    GstMemory *pixels = gst_buffer_peek_memory (frame, 0);
    g_assert_cmpint (gst_harness_push (fixture.harness, frame), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i * GST_SECOND);
    g_assert_true (gst_buffer_peek_memory (out, 0) == pixels);
    g_assert_cmpuint (gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), ==,
                      i % 3 == 0 ? 1 : 0);
  }
  teardown (&fixture);
}

/* JSON: a line for those that it is the turn of, with their own numbers. */
static void
test_interval_json (void)
{
  Fixture fixture = setup (FALSE, JSON_CAPS);
  g_object_set (fixture.element, "inference-interval", 4, NULL);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  for (guint i = 0; i < 9; i++)
    push_frame (&fixture, blue, i * GST_SECOND);
  for (guint i = 0; i < 9; i += 4) {
    g_autofree char *line = test_take_text (gst_harness_pull (fixture.harness));
    g_autofree char *start = g_strdup_printf (
      "{\"source\":null,\"frame\":%u,\"timestamp\":%" G_GUINT64_FORMAT ",", i, i * GST_SECOND);
    g_assert_true (g_str_has_prefix (line, start));
    g_assert_nonnull (strstr (line, "\"label\":\"blue\""));
  }
  teardown (&fixture);
}

static void
note_predictions (GstElement *element, SlPredictions *predictions, gpointer lines)
{
  g_autofree char *json = sl_predictions_to_json (predictions);
  g_ptr_array_add (lines, g_strconcat (json, "\n", NULL));
}

/* The signal has what the line of the same frame says, and is what slpostprocess inside emits. */
static void
test_signal (void)
{
  Fixture fixture = setup (FALSE, JSON_CAPS);
  g_autoptr (GPtrArray) told = g_ptr_array_new_with_free_func (g_free),
                        inside = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GstElement) postprocess =
    gst_bin_get_by_name (GST_BIN (fixture.element), "postprocess");
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  const gulong id =
    g_signal_connect (fixture.element, "predictions", G_CALLBACK (note_predictions), told);
  for (guint i = 0; i < 6; i++) {
    if (i == 2)
      g_signal_connect (postprocess, "predictions", G_CALLBACK (note_predictions), inside);
    if (i == 4)
      g_signal_handler_disconnect (fixture.element, id);
    push_frame (&fixture, colours[i % 3], i * GST_SECOND);
    g_autofree char *line = test_take_text (gst_harness_pull (fixture.harness));
    g_assert_cmpuint (told->len, ==, MIN (i + 1, 4));
    if (i < 4)
      g_assert_cmpstr (g_ptr_array_index (told, i), ==, line);
    if (i >= 2)
      g_assert_cmpstr (g_ptr_array_index (inside, i - 2), ==, line);
  }
  teardown (&fixture);
}

/* Left half red, right half green, the lowest four rows blue. */
static GstBuffer *
striped_frame (GstClockTime pts)
{
  GstBuffer *frame = test_frame (RGB_CAPS, red, pts);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++)
      memcpy (map.data + (y * WIDTH + x) * 3, y >= 12 ? blue : x >= 16 ? green : red, 3);
  gst_buffer_unmap (frame, &map);
  return frame;
}

typedef struct
{
  const char *name, *region, *answer;
} RegionCase;

static const RegionCase region_cases[] = {
  { "left", "0,0,16,12", "red\n" },
  { "right", "17,1,15,11", "green\n" },
  { "bottom", "0,12,32,4", "blue\n" },
  { "pixel", "31,11,1,1", "green\n" },
};

static void
test_region (gconstpointer data)
{
  const RegionCase *test = data;
  Fixture fixture = setup (FALSE, TEXT_CAPS);
  gst_element_set_state (fixture.element, GST_STATE_READY);
  g_object_set (fixture.element, "inference-region", test->region, NULL);
  gst_element_set_state (fixture.element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  g_assert_cmpint (gst_harness_push (fixture.harness, striped_frame (0)), ==, GST_FLOW_OK);
  g_autofree char *text = test_take_text (gst_harness_pull (fixture.harness));
  g_assert_cmpstr (text, ==, test->answer);
  teardown (&fixture);
}

/* Red from row 4 to 11 and from column 12 to 19, a quarter of the central square; blue around. */
static GstBuffer *
framed_frame (void)
{
  GstBuffer *frame = test_frame (RGB_CAPS, blue, 0);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  for (guint y = 4; y < 12; y++)
    for (guint x = 12; x < 20; x++)
      memcpy (map.data + (y * WIDTH + x) * 3, red, 3);
  gst_buffer_unmap (frame, &map);
  return frame;
}

static void
test_crop_share (void)
{
  static const struct
  {
    const char *fit, *share, *answer;
  } rows[] = { { "crop", NULL, "blue\n" },
               { "crop", "0.5", "red\n" },
               { "stretch", "0.75", "blue\n" },
               { "stretch", "0.25", "red\n" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Fixture fixture = setup (FALSE, TEXT_CAPS);
    gst_element_set_state (fixture.element, GST_STATE_READY);
    gst_util_set_object_arg (G_OBJECT (fixture.element), "fit", rows[i].fit);
    g_object_set (fixture.element, "crop-share", rows[i].share, NULL);
    gst_element_set_state (fixture.element, GST_STATE_PLAYING);
    gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
    g_assert_cmpint (gst_harness_push (fixture.harness, framed_frame ()), ==, GST_FLOW_OK);
    g_autofree char *text = test_take_text (gst_harness_pull (fixture.harness));
    g_assert_cmpstr (text, ==, rows[i].answer);
    teardown (&fixture);
  }
}

static const struct
{
  const char *name, *property, *value, *has[3];
} bad_settings[] = {
  { "no-such-model", "model", "/nowhere/a.tflite", { "/nowhere/a.tflite" } },
  { "region-words",
    "inference-region",
    "left half",
    { "inference-region=left half: expected full-frame, roi-list", "0,120,640,360" } },
  { "region-more", "inference-region", "1,2,3,4,5", { "inference-region=1,2,3,4,5" } },
  { "region-empty", "inference-region", "1,2,0,4", { "X,Y,WIDTH,HEIGHT" } },
  { "region-negative", "inference-region", "-1,2,3,4", { "X,Y,WIDTH,HEIGHT" } },
  { "region-huge", "inference-region", "0,0,99999,4", { "X,Y,WIDTH,HEIGHT" } },
  { "threads", "threads", "-3", { "threads=-3", "1..64" } },
  { "crop-share",
    "crop-share",
    "0.5",
    { "crop-share: expected fit=crop or fit=stretch beside it", "got '0.5'" } },
  { "precision", "precision", "int8", { "precision=int8: expected float, bf16 or fp16" } },
};

static void
test_bad_setting (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autofree char *model = test_colour_model (SL_DTYPE_U8);
  g_autoptr (GstElement) element =
    gst_object_ref_sink (gst_element_factory_make ("slpredict", NULL));
  g_autoptr (GstBus) bus = test_watch (element);
  g_object_set (element, "model", model, NULL);
  gst_util_set_object_arg (G_OBJECT (element), bad_settings[i].property, bad_settings[i].value);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (bus, bad_settings[i].has[0], bad_settings[i].has[1], bad_settings[i].has[2],
                     NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  test_remove_file (model);
}

/* Every property is that of the element inside, both ways. */
static void
test_properties (void)
{
  g_autoptr (GstElement) element =
    gst_object_ref_sink (gst_element_factory_make ("slpredict", NULL));
  g_autoptr (GstElement) normalize = gst_bin_get_by_name (GST_BIN (element), "normalize");
  g_autoptr (GstElement) infer = gst_bin_get_by_name (GST_BIN (element), "infer");
  g_autoptr (GstElement) postprocess = gst_bin_get_by_name (GST_BIN (element), "postprocess");
  g_autofree char *model = NULL, *region = NULL;
  gint most = 0, filter = -1, pad = -1;
  double threshold = 0;
  g_object_set (element, "model", "a.tflite", "max-results", 7, "filter", 1, NULL);
  g_object_get (infer, "model", &model, NULL);
  g_object_get (postprocess, "max-results", &most, NULL);
  g_object_get (normalize, "filter", &filter, NULL);
  g_assert_cmpstr (model, ==, "a.tflite");
  g_assert_cmpint (most, ==, 7);
  g_assert_cmpint (filter, ==, 1);
  g_object_set (postprocess, "threshold", 0.25, NULL);
  g_object_set (normalize, "pad-value", 9, NULL);
  g_object_get (element, "threshold", &threshold, "pad-value", &pad, "inference-region", &region,
                NULL);
  g_assert_cmpfloat (threshold, ==, 0.25);
  g_assert_cmpint (pad, ==, 9);
  g_assert_cmpstr (region, ==, "full-frame");
}

/* What slinfer inside is to record. */
static void
test_black_box (void)
{
  g_autoptr (GstElement) element =
    gst_object_ref_sink (gst_element_factory_make ("slpredict", NULL));
  g_autoptr (GstElement) infer = gst_bin_get_by_name (GST_BIN (element), "infer");
  g_autofree char *folder = NULL;
  gint seconds = 0, limit = 0, files = 0;
  g_object_set (element, "black-box", "/boxes", "black-box-seconds", 3, "black-box-limit", 5,
                "black-box-files", 7, NULL);
  g_object_get (infer, "black-box", &folder, "black-box-seconds", &seconds, "black-box-limit",
                &limit, "black-box-files", &files, NULL);
  g_assert_cmpstr (folder, ==, "/boxes");
  g_assert_cmpint (seconds, ==, 3);
  g_assert_cmpint (limit, ==, 5);
  g_assert_cmpint (files, ==, 7);
}

/* A rectangle and objects cannot both be looked at. */
static void
test_contradiction (void)
{
  static const char *const properties[] = { "object-class", "object-alignment" };
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    g_autofree char *stated = g_strconcat (properties[i], "=face", NULL);
    Fixture fixture = setup (FALSE, TEXT_CAPS);
    gst_element_set_state (fixture.element, GST_STATE_READY);
    g_object_set (fixture.element, "inference-region", "1,2,3,4", properties[i], "face", NULL);
    g_assert_cmpint (gst_element_set_state (fixture.element, GST_STATE_PAUSED), ==,
                     GST_STATE_CHANGE_FAILURE);
    test_assert_error (fixture.bus, "inference-region=1,2,3,4", stated, "expected one of them",
                       NULL);
    teardown (&fixture);
  }
}

static void
test_bad_alignment (void)
{
  Fixture fixture = setup (FALSE, TEXT_CAPS);
  gst_element_set_state (fixture.element, GST_STATE_READY);
  g_object_set (fixture.element, "object-alignment", "hand,scale=0", NULL);
  g_assert_cmpint (gst_element_set_state (fixture.element, GST_STATE_PAUSED), ==,
                   GST_STATE_CHANGE_FAILURE);
  test_assert_error (
    fixture.bus, "object-alignment=hand,scale=0: scale=0: expected a number from 0.1 to 10", NULL);
  teardown (&fixture);
}

/* A model of two inputs that are no pictures. */
static void
test_no_picture (void)
{
  Fixture fixture = setup (FALSE, TEXT_CAPS);
  g_autofree char *model = test_sum_model ();
  gst_element_set_state (fixture.element, GST_STATE_READY);
  g_object_set (fixture.element, "model", model, "labels", NULL, NULL);
  gst_element_set_state (fixture.element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  test_assert_error (
    fixture.bus, ": expected float32[1,4], float32[1,4], got uint8[1,",
    ": input 'a' is no picture, so slpredict and slnormalize cannot make it: use an "
    "element that makes the model's tensors before slinfer",
    NULL);
  test_remove_file (model);
  teardown (&fixture);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slpredict/file", test_file);
  g_test_add_func ("/slpredict/caps-change", test_caps_change);
  g_test_add_func ("/slpredict/newest-first", test_newest_first);
  g_test_add_func ("/slpredict/first-dropped", test_first_dropped);
  g_test_add_func ("/slpredict/age", test_age);
  g_test_add_func ("/slpredict/newest-objects", test_newest_objects);
  g_test_add_func ("/slpredict/flush", test_flush);
  g_test_add_func ("/slpredict/bad-alignment", test_bad_alignment);
  g_test_add_func ("/slpredict/no-picture", test_no_picture);
  g_test_add_data_func ("/slpredict/drop/always", GINT_TO_POINTER (TRUE), test_drop);
  g_test_add_data_func ("/slpredict/drop/never", GINT_TO_POINTER (FALSE), test_drop);
  g_test_add_func ("/slpredict/latency", test_latency);
  g_test_add_func ("/slpredict/signal", test_signal);
  g_test_add_func ("/slpredict/interval/video", test_interval_video);
  g_test_add_func ("/slpredict/interval/json", test_interval_json);
  TEST_ADD_CASES ("/slpredict/region", region_cases, test_region);
  for (guint i = 0; i < G_N_ELEMENTS (bad_settings); i++) {
    g_autofree char *name = g_strdup_printf ("/slpredict/bad/%s", bad_settings[i].name);
    g_test_add_data_func (name, GUINT_TO_POINTER (i), test_bad_setting);
  }
  g_test_add_func ("/slpredict/crop-share", test_crop_share);
  g_test_add_func ("/slpredict/contradiction", test_contradiction);
  g_test_add_func ("/slpredict/properties", test_properties);
  g_test_add_func ("/slpredict/black-box", test_black_box);
  return test_elements_run ();
}
