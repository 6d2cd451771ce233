/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slpublish on video frames that carry predictions: its lines are, character for character except
 * for the latency, those that slpostprocess writes of the same frames. The models make their
 * results of the frames' own pixels.
 */
#include "config.h"

#include <gst/app/gstappsrc.h>
#include <stdio.h>
#include <string.h>

#include "plugins/elements.h"
#include "tests/elements/publish/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define SIZE 64
#define CAPS "video/x-raw,format=RGB,width=64,height=64,framerate=25/1"
#define FRAME (40 * GST_MSECOND)
#define N_FRAMES 12
/* Frames from which on a second object is there, and from which on there is none. */
#define SECOND_FROM 4
#define NOTHING_FROM 10

/* Four squares of one colour each: what the model of boxes reads as two rows of an object. */
static GstBuffer *
frame_at (guint i)
{
  const guint8 x = (guint8) (20 + 3 * i), y = (guint8) (200 - 2 * i),
               first = i < NOTHING_FROM ? 230 : 0,
               second = i < SECOND_FROM || i >= NOTHING_FROM ? 0 : 200;
  const guint8 colours[2][6] = { { x, 30, (guint8) (x + 60), 110, first, 0 },
                                 { 120, y, 180, (guint8) (y + 50), second, 0 } };
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, SIZE * SIZE * 3, NULL);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (guint row = 0; row < SIZE; row++)
    for (guint column = 0; column < SIZE; column++)
      memcpy (map.data + (row * SIZE + column) * 3,
              colours[row / (SIZE / 2)] + column / (SIZE / 2) * 3, 3);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = i * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  return buffer;
}

/* (transfer full): @line with @value in the place of each @word. */
static char *
replace (const char *line, const char *word, const char *value)
{
  g_auto (GStrv) parts = g_strsplit (line, word, -1);
  return g_strjoinv (value, parts);
}

typedef struct
{
  char *boxes, *colours, *classes, *labels;
} Models;

static Models
make_models (void)
{
  static const gint32 classes[] = { 1, 4, 4, 3 };
  return (Models){ test_boxes_model (), test_colour_model (SL_DTYPE_F32),
                   test_reshape_model (4, classes, G_N_ELEMENTS (classes)),
                   test_text_file ("labels.txt", "red\ngreen\nblue\n") };
}

static void
remove_models (Models *models)
{
  char *paths[] = { models->boxes, models->colours, models->classes, models->labels };
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    test_remove_file (paths[i]);
    g_free (paths[i]);
  }
}

/* (transfer full): @template with its BOXES, COLOURS and CLASSES, models with their settings, and
 * the files LINES and FRAMES filled in. */
static char *
fill (const char *template, const Models *models, const char *lines, const char *frames)
{
  g_autofree char *boxes =
    g_strdup_printf ("model=%s labels=%s " TEST_BOXES_DECODER, models->boxes, models->labels);
  g_autofree char *colours =
    g_strdup_printf ("model=%s labels=%s mean=0 std=255", models->colours, models->labels);
  g_autofree char *classes = g_strdup_printf (
    "model=%s labels=%s mean=0 std=255 decoder=segmentation", models->classes, models->labels);
  g_autofree char *a = replace (template, "BOXES", boxes), *b = replace (a, "COLOURS", colours),
                  *c = replace (b, "CLASSES", classes), *d = replace (c, "LINES", lines);
  return replace (d, "FRAMES", frames);
}

/* Feeds N_FRAMES frames to "appsrc name=source" of @launch and waits for the end. */
static void
run (const char *launch)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < N_FRAMES; i++)
    g_assert_cmpint (gst_app_src_push_buffer (GST_APP_SRC (source), frame_at (i)), ==, GST_FLOW_OK);
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  g_assert_nonnull (message);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    g_autoptr (GError) posted = NULL;
    gst_message_parse_error (message, &posted, NULL);
    g_error ("%s: %s", launch, posted->message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

/* (transfer full): the lines in the file @path, each without its latency and its time of the day.
 */
static char *
read_lines (const char *path)
{
  char *text = NULL;
  g_autoptr (GRegex) latency =
    g_regex_new (",\"latency\":\\{[^}]*\\}|,\"utc\":\"[^\"]*\"", 0, 0, NULL);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  char *without = g_regex_replace_literal (latency, text, -1, 0, "", 0, NULL);
  g_free (text);
  return without;
}

typedef struct
{
  const char *name;
  const char *launch; /* behind the source */
  guint lines;
  const char *has; /* what some line has, so that the case is about it */
} Case;

#define JSON "application/x-json ! slpublish location=LINES "
#define VIDEO "slpublish location=FRAMES "

static const Case cases[] = {
  { "objects",
    "slnormalize ! slinfer BOXES ! tee name=t t. ! queue ! slpostprocess source=door ! " JSON
    "t. ! queue ! slpostprocess ! video/x-raw ! " VIDEO "source=door",
    N_FRAMES,
    "{\"source\":\"door\",\"frame\":5,\"timestamp\":200000000,\"resolution\":{\"width\":64,"
    "\"height\":64},\"objects\":[{\"x\":" },
  { "nothing",
    "slnormalize ! slinfer BOXES ! tee name=t t. ! queue ! slpostprocess ! " JSON
    "t. ! queue ! slpostprocess ! video/x-raw ! " VIDEO,
    N_FRAMES,
    "\"frame\":11,\"timestamp\":440000000,\"resolution\":{\"width\":64,\"height\":64},"
    "\"objects\":[],\"labels\":[]" },
  { "track",
    "slnormalize ! slinfer BOXES ! tee name=t t. ! queue ! slpostprocess track=true ! " JSON
    "t. ! queue ! slpostprocess track=true ! video/x-raw ! sloverlay ! " VIDEO,
    N_FRAMES, "\"id\":2" },
  { "sltrack",
    "slnormalize ! slinfer BOXES ! tee name=t t. ! queue ! slpostprocess track=true ! " JSON
    "t. ! queue ! slpostprocess threshold=0.1 ! sltrack ! sloverlay ! tee name=u u. ! queue ! "
    "fakesink u. ! queue ! " VIDEO,
    N_FRAMES, "\"id\":2" },
  { "classes",
    "slnormalize ! slinfer BOXES ! tee name=t t. ! queue ! slpostprocess classes=red ! " JSON
    "t. ! queue ! slpostprocess ! video/x-raw ! " VIDEO "classes=red",
    N_FRAMES, "\"roi_type\":\"red\"" },
  { "no-classes",
    "slnormalize ! slinfer BOXES ! tee name=t t. ! queue ! slpostprocess classes=!red ! " JSON
    "t. ! queue ! slpostprocess ! video/x-raw ! " VIDEO "classes=!red",
    N_FRAMES,
    "\"frame\":0,\"timestamp\":0,\"resolution\":{\"width\":64,\"height\":64},\"objects\":[]," },
  { "labels",
    "slnormalize ! slinfer COLOURS ! tee name=t t. ! queue ! slpostprocess top-k=3 ! " JSON
    "t. ! queue ! slpostprocess top-k=3 ! video/x-raw ! " VIDEO,
    N_FRAMES, "\"labels\":[{\"label\":\"red\"" },
  { "masks",
    "slnormalize ! slinfer CLASSES ! tee name=t t. ! queue ! slpostprocess ! " JSON
    "t. ! queue ! slpostprocess ! video/x-raw ! " VIDEO,
    N_FRAMES, "\"mask\":{\"width\":4,\"height\":4,\"classes\":[{\"label\":" },
  { "two-stages",
    "slpredict BOXES ! tee name=t t. ! queue ! slpredict COLOURS inference-region=roi-list ! " JSON
    "t. ! queue ! slpredict COLOURS inference-region=roi-list ! sloverlay ! " VIDEO,
    N_FRAMES, "\"model\":" },
  { "interval",
    "tee name=t t. ! queue ! slpredict BOXES inference-interval=3 ! " JSON
    "t. ! queue ! slpredict BOXES inference-interval=3 ! video/x-raw ! sloverlay ! " VIDEO,
    N_FRAMES / 3, "\"frame\":9," },
  { "text",
    "slnormalize ! slinfer BOXES ! tee name=t t. ! queue ! slpostprocess ! text/x-raw ! slpublish "
    "location=LINES t. ! queue ! slpostprocess ! video/x-raw ! " VIDEO "format=text",
    2 * NOTHING_FROM - SECOND_FROM, "red 0.9" },
  /* Without caps before it, slpublish gets what its settings need, through a tee, too. */
  { "video-for-classes",
    "slnormalize ! slinfer BOXES ! tee name=t t. ! queue ! slpostprocess classes=red ! " JSON
    "t. ! queue ! slpostprocess ! " VIDEO "classes=red",
    N_FRAMES, "\"roi_type\":\"red\"" },
  { "video-for-tee",
    "slpredict BOXES ! tee name=t t. ! queue ! slpublish location=LINES t. ! queue ! " VIDEO
    "classes=red,green,blue",
    N_FRAMES, "\"roi_type\":\"red\"" },
  { "json-for-counts",
    "slnormalize ! slinfer BOXES ! tee name=t t. ! queue ! slpostprocess ! " JSON
    "t. ! queue ! slpostprocess ! " VIDEO "counts=true format=text",
    N_FRAMES, "\"roi_type\":\"red\"" },
};

static void
test_same (gconstpointer data)
{
  const Case *test = data;
  g_autoptr (GstElementFactory) overlay = gst_element_factory_find ("sloverlay");
  if (strstr (test->launch, "sloverlay") != NULL && overlay == NULL) {
    g_test_skip ("no sloverlay here");
    return;
  }
  Models models = make_models ();
  g_autofree char *json = g_strconcat (test->name, "-lines", NULL),
                  *video = g_strconcat (test->name, "-frames", NULL);
  g_autofree char *lines = publish_path (json), *frames = publish_path (video);
  g_autofree char *rest = fill (test->launch, &models, lines, frames);
  g_autofree char *launch =
    g_strconcat ("appsrc name=source format=time caps=" CAPS " ! ", rest, NULL);
  run (launch);
  g_autofree char *expected = read_lines (lines), *got = read_lines (frames);
  g_assert_nonnull (strstr (expected, test->has));
  g_assert_cmpstr (got, ==, expected);
  g_auto (GStrv) each = g_strsplit (got, "\n", -1);
  g_assert_cmpuint (g_strv_length (each) - 1, ==, test->lines);
  remove_models (&models);
}

/* Lines of frames behind slanalyze tell of its zones. */
static void
test_analysis (void)
{
  Models models = make_models ();
  g_autofree char *path = publish_path ("analysis"), *text = NULL;
  g_autofree char *launch = fill (
    "appsrc name=source format=time caps=" CAPS " ! slpredict BOXES threshold=0.1 ! sltrack ! "
    "slanalyze confirm=1 regions=\"[zone all] points=0,0 1,0 1,1 0,1\" ! " VIDEO,
    &models, "", path);
  run (launch);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) each = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (each) - 1, ==, N_FRAMES);
  for (guint i = 0; i < N_FRAMES; i++)
    g_assert_nonnull (strstr (each[i], "Z\",\"zones\":[{\"name\":\"all\",\"inside\":"));
  g_assert_nonnull (strstr (
    each[0], "\"events\":[{\"event\":\"entered\",\"zone\":\"all\",\"id\":1,\"label\":\"red\"}]},"
             "\"utc\":\""));
  remove_models (&models);
}

/* A name that the model inside slpredict does not have is refused where it is stated. */
static void
test_unknown_class (void)
{
  static const struct
  {
    const char *rest, *message;
  } cases_of_names[] = {
    { "sltrack classes=gren ! fakesink",
      "classes: the model before has no class 'gren'; did you mean 'green'?" },
    { "slpublish location=FRAMES classes=gren",
      "classes: the model before has no class 'gren'; did you mean 'green'?" },
    { "sltrack ! slanalyze regions=\"[line a] points=0,0 1,1;classes=!gren\" ! fakesink",
      "regions: [line a] classes: the model before has no class 'gren'; did you mean 'green'?" },
  };
  Models models = make_models ();
  g_autofree char *path = publish_path ("unknown");
  for (guint i = 0; i < G_N_ELEMENTS (cases_of_names); i++) {
    g_autofree char *template = g_strconcat ("appsrc name=source format=time caps=" CAPS
                                             " ! slpredict BOXES ! video/x-raw ! queue ! ",
                                             cases_of_names[i].rest, NULL);
    g_autofree char *launch = fill (template, &models, "", path);
    GstElement *pipeline = gst_parse_launch (launch, NULL);
    g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
    g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    gst_app_src_push_buffer (GST_APP_SRC (source), frame_at (0));
    g_autofree char *said = publish_wait_for_text (bus, GST_MESSAGE_ERROR);
    g_assert_cmpstr (said, ==, cases_of_names[i].message);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
  }
  remove_models (&models);
}

/* The latency that the stages left on the frame is in its line. */
static void
test_latency (void)
{
  Models models = make_models ();
  g_autofree char *path = publish_path ("latency"), *text = NULL;
  g_autofree char *launch =
    fill ("appsrc name=source format=time caps=" CAPS " ! slpredict BOXES ! video/x-raw ! " VIDEO,
          &models, "", path);
  run (launch);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_true (g_regex_match_simple (
    "\"latency\":\\{\"age\":\\d+,\"preprocess\":\\d+,\"inference\":\\d+,\"decode\":\\d+\\}\\}\n",
    text, 0, 0));
  remove_models (&models);
}

/* Frames that only sltrack has written to are published, with their own number. */
static void
test_interpolated (void)
{
  Models models = make_models ();
  g_autofree char *path = publish_path ("interpolated"), *text = NULL;
  g_autofree char *launch = fill ("appsrc name=source format=time caps=" CAPS
                                  " ! slpredict BOXES threshold=0.1 inference-interval=3 "
                                  "! sltrack interpolate=true ! " VIDEO,
                                  &models, "", path);
  run (launch);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) each = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (each) - 1, >, N_FRAMES / 3);
  for (guint i = 0; i < 6; i++) {
    g_autofree char *number = g_strdup_printf ("{\"source\":null,\"frame\":%u,", i);
    g_assert_true (g_str_has_prefix (each[i], number));
    g_assert_nonnull (strstr (each[i], "\"id\":1"));
  }
  remove_models (&models);
}

/* Frames that only the second model left out have the first one's objects. */
static void
test_second_interval (void)
{
  Models models = make_models ();
  g_autofree char *path = publish_path ("second"), *text = NULL;
  g_autofree char *launch =
    fill ("appsrc name=source format=time caps=" CAPS " ! slpredict BOXES ! slpredict COLOURS "
          "inference-region=roi-list inference-interval=3 ! video/x-raw ! " VIDEO,
          &models, "", path);
  run (launch);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) each = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (each) - 1, ==, N_FRAMES);
  for (guint i = 0; i < NOTHING_FROM; i++) {
    g_assert_nonnull (strstr (each[i], "\"roi_type\":\"red\""));
    g_assert_cmpint (strstr (each[i], "\"model\":") != NULL, ==, i % 3 == 0);
  }
  remove_models (&models);
}

/* Frames that get lost on the way leave gaps in the numbers. */
static void
test_lost_frames (void)
{
  Models models = make_models ();
  g_autofree char *path = publish_path ("lost"), *text = NULL;
  g_autofree char *launch =
    fill ("appsrc name=source format=time caps=" CAPS
          " ! slpredict BOXES ! video/x-raw ! identity drop-probability=0.5 ! " VIDEO "format=json",
          &models, "", path);
  run (launch);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) each = g_strsplit (text, "\n", -1);
  for (guint i = 0; each[i] != NULL && *each[i] != '\0'; i++) {
    guint64 number = 0, timestamp = 0;
    g_assert_cmpint (sscanf (each[i],
                             "{\"source\":null,\"frame\":%" G_GUINT64_FORMAT
                             ",\"timestamp\":%" G_GUINT64_FORMAT,
                             &number, &timestamp),
                     ==, 2);
    g_assert_cmpuint (timestamp, ==, number * FRAME);
  }
  remove_models (&models);
}

/* Regions that another element wrote onto frames whose pixels nobody can map, in a memory that is
 * not the system's. */
static void
test_others (void)
{
  GstBus *bus;
  g_autofree char *path = publish_path ("others"), *text = NULL;
  GstHarness *harness = publish_start (path, "", &bus);
  gst_harness_set_src_caps_str (
    harness, "video/x-raw(memory:DMABuf),format=NV12,width=640,height=480,framerate=25/1");
  for (guint i = 0; i < 3; i++) {
    GstBuffer *frame = gst_buffer_new ();
    gpointer bytes = g_malloc0 (64);
    gst_buffer_append_memory (frame, gst_memory_new_wrapped (GST_MEMORY_FLAG_NOT_MAPPABLE, bytes,
                                                             64, 0, 64, bytes, g_free));
    GST_BUFFER_PTS (frame) = i * FRAME;
    if (i != 1)
      gst_buffer_add_video_region_of_interest_meta (frame, "cat", 64, 48, 320, 240);
    g_assert_cmpint (gst_harness_push (harness, gst_buffer_ref (frame)), ==, GST_FLOW_OK);
    g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (frame), ==, 1); /* none is kept */
    gst_buffer_unref (frame);
  }
  g_autofree char *warning = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_assert_cmpstr (
    warning, ==,
    "a frame came that no model has looked at: nothing is published for such frames; expected "
    "slpredict (or slpostprocess) before slpublish");
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  publish_finish (harness, bus);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
#define LINE(frame, time)                                                                        \
  "{\"source\":null,\"frame\":" frame ",\"timestamp\":" time                                     \
  ",\"resolution\":{\"width\":640,\"height\":480},\"objects\":[{\"x\":64,"                       \
  "\"y\":48,\"w\":320,\"h\":240,\"roi_type\":\"cat\",\"detection\":{\"bounding_box\":{"          \
  "\"x_min\":0.1,\"x_max\":0.6,\"y_min\":0.1,\"y_max\":0.6},\"confidence\":1,\"label\":\"cat\"," \
  "\"label_id\":-1}}],\"labels\":[]}\n"
  g_autofree char *timeless = read_lines (path);
  g_assert_cmpuint (strlen (text) - strlen (timeless), ==,
                    2 * strlen (",\"utc\":\"2026-03-01T16:04:05.678Z\""));
  g_assert_cmpstr (timeless, ==, LINE ("0", "0") LINE ("2", "80000000"));
}

/* Frames that nobody can map make no picture, which is said once; lines go on. */
static void
test_no_picture (void)
{
  GstBus *bus;
  GstHarness *harness = publish_start_with (
    "mqtt://127.0.0.1:1/a", "picture-interval=0.001 retry-min=60000 retry-max=60000",
    "video/x-raw(memory:DMABuf),format=NV12,width=640,height=480,framerate=25/1", &bus);
  g_free (publish_wait_for_text (bus, GST_MESSAGE_WARNING)); /* nobody listens there */
  for (guint i = 0; i < 3; i++) {
    GstBuffer *frame = gst_buffer_new ();
    gpointer bytes = g_malloc0 (64);
    gst_buffer_append_memory (frame, gst_memory_new_wrapped (GST_MEMORY_FLAG_NOT_MAPPABLE, bytes,
                                                             64, 0, 64, bytes, g_free));
    GST_BUFFER_PTS (frame) = i * FRAME;
    gst_buffer_add_video_region_of_interest_meta (frame, "cat", 64, 48, 320, 240);
    g_assert_cmpint (gst_harness_push (harness, frame), ==, GST_FLOW_OK);
  }
  g_autofree char *warning = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_assert_true (g_str_has_prefix (warning, "picture-interval: ")
                 && g_str_has_suffix (warning, "; lines go on without pictures"));
  g_autoptr (GstMessage) another =
    gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
  g_assert_null (another);
  publish_finish (harness, bus);
}

/* Upstream hears that frames of any layout are taken, through a tee, too. */
static void
test_layouts (void)
{
  GstBus *bus;
  g_autofree char *path = publish_path ("layouts");
  GstHarness *harness = publish_start (path, "", &bus);
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS);
  g_autoptr (GstQuery) query = gst_query_new_allocation (caps, FALSE);
  gst_harness_set_src_caps_str (harness, CAPS);
  g_assert_true (gst_pad_peer_query (harness->srcpad, query));
  g_assert_true (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  publish_finish (harness, bus);
}

typedef struct
{
  const char *name, *settings, *caps, *complaint;
} RefusalCase;

static const RefusalCase refusal_cases[] = {
  { "jpeg", "", "image/jpeg,width=64,height=64",
    "the input is image/jpeg, width=(int)64, height=(int)64: expected video/x-raw with width and "
    "height and predictions on its frames, application/x-json or text/x-raw: encoded video carries "
    "no predictions; take the frames after slpredict and before the encoder" },
  { "h264", "", "video/x-h264",
    "the input is video/x-h264: expected video/x-raw with width and height" },
  { "no-size", "", "video/x-raw,format=RGB",
    "the input is video/x-raw, format=(string)RGB: expected video/x-raw with width and height" },
  { "classes-of-lines", "classes=cat", "application/x-json",
    "classes=cat: the input is lines, which go out as they are; expected video, or classes= of "
    "slpredict or slpostprocess" },
  { "counts", "counts=true format=text", CAPS,
    "counts and discovery-prefix need predictions as JSON, and format is text: expected "
    "format=json" },
};

static void
test_refusal (gconstpointer data)
{
  const RefusalCase *test = data;
  GstBus *bus;
  g_autofree char *path = publish_path ("refused");
  GstHarness *harness = publish_start (path, test->settings, &bus);
  gst_harness_set_src_caps_str (harness, test->caps);
  g_assert_cmpint (gst_harness_push (harness, frame_at (0)), ==, GST_FLOW_NOT_NEGOTIATED);
  g_autofree char *said = publish_wait_for_text (bus, GST_MESSAGE_ERROR);
  g_assert_true (g_str_has_prefix (said, test->complaint));
  publish_finish (harness, bus);
}

/* Properties that go with video, or with JSON, and not with what comes. */
static void
test_wrong_input (void)
{
  static const struct
  {
    const char *properties, *caps, *said;
  } rows[] = {
    { "on-change=true", "text/x-raw,format=utf8",
      "on-change needs predictions as JSON, and the input is text: ask for application/x-json "
      "before slpublish" },
    { "events=entered", "application/x-json",
      "events=entered: the input is lines: expected video with slanalyze upstream" },
    { "picture-interval=2.5", "application/x-json",
      "picture-interval=2.5: the input is lines, which have no pictures: expected video with "
      "slpredict upstream" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstBus *bus;
    g_autofree char *path = publish_path ("input");
    GstHarness *harness = publish_start (path, rows[i].properties, &bus);
    gst_harness_set_src_caps_str (harness, rows[i].caps);
    g_assert_cmpint (publish_push_text (harness, "cat"), ==, GST_FLOW_NOT_NEGOTIATED);
    g_autofree char *said = publish_wait_for_text (bus, GST_MESSAGE_ERROR);
    g_assert_cmpstr (said, ==, rows[i].said);
    publish_finish (harness, bus);
  }
}

/* Caps before the element that bring nothing but lines are refused at its start. */
static void
test_refused_at_start (void)
{
  g_autofree char *path = publish_path ("start");
  g_autofree char *launch = g_strdup_printf (
    "appsrc ! capsfilter caps=\"application/x-json; text/x-raw,format=utf8\" ! slpublish "
    "location=%s classes=cat",
    path);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_PAUSED), ==,
                   GST_STATE_CHANGE_FAILURE);
  g_autofree char *said = publish_wait_for_text (bus, GST_MESSAGE_ERROR);
  g_assert_cmpstr (said, ==,
                   "classes=cat: the input is lines, which go out as they are; expected video, or "
                   "classes= of slpredict or slpostprocess");
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

TEST_MAIN (int argc, char **argv)
{
  publish_init (&argc, &argv);
#ifdef SL_HAVE_OVERLAY
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
#endif
  TEST_ADD_CASES ("/slpublish-video/same", cases, test_same);
  g_test_add_func ("/slpublish-video/analysis", test_analysis);
  g_test_add_func ("/slpublish-video/wrong-input", test_wrong_input);
  g_test_add_func ("/slpublish-video/refused-at-start", test_refused_at_start);
  g_test_add_func ("/slpublish-video/unknown-class", test_unknown_class);
  g_test_add_func ("/slpublish-video/latency", test_latency);
  g_test_add_func ("/slpublish-video/interpolated", test_interpolated);
  g_test_add_func ("/slpublish-video/second-interval", test_second_interval);
  g_test_add_func ("/slpublish-video/lost-frames", test_lost_frames);
  g_test_add_func ("/slpublish-video/others", test_others);
  g_test_add_func ("/slpublish-video/no-picture", test_no_picture);
  g_test_add_func ("/slpublish-video/layouts", test_layouts);
  TEST_ADD_CASES ("/slpublish-video/refusal", refusal_cases, test_refusal);
  return publish_run ();
}
