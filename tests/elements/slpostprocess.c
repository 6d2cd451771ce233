/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slpostprocess fed with tensors written out by hand: what it says in text, JSON and metas, where
 * the boxes land, and what happens around caps, flushes and ends of streams.
 */
#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "plugins/meta/predictions.h"
#include "plugins/tensor/caps.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define SSD_CAPS                                                                              \
  "other/tensors,format=static,num_tensors=4,dimensions=\"4:2:1,2:1,2:1,1\",types=\"float32," \
  "float32,float32,float32\",framerate=25/1"
#define LABEL_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=(string)3:1,types=uint8,framerate=25/1"
#define PICTURE_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=(string)3:4:4:1,types=uint8,framerate=25/1"
#define FRAME_CAPS "video/x-raw,format=RGB,width=400,height=200,framerate=25/1"
#define TEXT_CAPS "text/x-raw,format=utf8"
#define JSON_CAPS "application/x-json"

/* Two detections: @box (y_min x_min y_max x_max, in 0..1 of the input) of class 1 with 0.9, and
 * one below the threshold. */
static GstBuffer *
ssd_buffer (const gfloat box[4], GstClockTime pts)
{
  gfloat boxes[8] = { box[0], box[1], box[2], box[3], 0.1f, 0.1f, 0.2f, 0.2f };
  static const gfloat classes[2] = { 1, 2 }, scores[2] = { 0.9f, 0.3f }, count[1] = { 2 };
  const struct
  {
    const gfloat *data;
    gsize bytes;
  } tensors[4] = { { boxes, sizeof boxes },
                   { classes, sizeof classes },
                   { scores, sizeof scores },
                   { count, sizeof count } };
  GstBuffer *buffer = gst_buffer_new ();
  for (guint i = 0; i < 4; i++) {
    gpointer copy = g_memdup2 (tensors[i].data, tensors[i].bytes);
    gst_buffer_append_memory (buffer, gst_memory_new_wrapped (0, copy, tensors[i].bytes, 0,
                                                              tensors[i].bytes, copy, g_free));
  }
  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  return buffer;
}

static GstBuffer *
label_buffer (guint8 a, guint8 b, guint8 c)
{
  const guint8 scores[3] = { a, b, c };
  GstBuffer *buffer = test_tensor_buffer (scores, sizeof scores);
  GST_BUFFER_PTS (buffer) = GST_SECOND;
  return buffer;
}

static GstBuffer *
add_frame (GstBuffer *buffer, const char *frame_caps, SlFit fit, gint tensor_w, gint tensor_h)
{
  static const guint8 values[3] = { 1, 2, 3 };
  g_autoptr (GstCaps) caps = gst_caps_from_string (frame_caps);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  GstBuffer *frame = test_frame (frame_caps, values, 5 * GST_SECOND);
  SlFrameMeta *meta = sl_buffer_add_frame_meta (buffer, frame, caps, &info);
  sl_affine_fit (&meta->affine, fit, info.width, info.height, tensor_w, tensor_h);
  meta->tensor_width = tensor_w;
  meta->tensor_height = tensor_h;
  meta->captured = 1;
  gst_buffer_unref (frame);
  return buffer;
}

/* The next buffer as text. */
static char *
pull_text (TestLine *fixture)
{
  test_assert_no_error (fixture->bus);
  return test_take_text (gst_harness_pull (fixture->harness));
}

typedef struct
{
  const char *name;
  SlFit fit;
  gint tensor_w, tensor_h;
  gfloat box[4];   /* y_min x_min y_max x_max */
  gint x, y, w, h; /* w 0 = nothing is reported */
} MapCase;

/* Frames are 400x200. Letterboxed into 100x100 they are scaled by 1/4 and lie in rows 25..75;
 * cropped, the middle 200x200 pixels fill the tensor. */
static const MapCase map_cases[] = {
  { "stretch", SL_FIT_STRETCH, 300, 300, { 0.25f, 0.125f, 0.75f, 0.5f }, 50, 50, 150, 100 },
  { "stretch-whole", SL_FIT_STRETCH, 1, 1, { 0, 0, 1, 1 }, 0, 0, 400, 200 },
  { "stretch-outside", SL_FIT_STRETCH, 64, 32, { -0.5f, -1, 0.5f, 0.25f }, 0, 0, 100, 100 },
  { "rounding", SL_FIT_STRETCH, 64, 32, { 0.001f, 0.001f, 0.002f, 0.002f }, 0, 0, 1, 1 },
  { "letterbox", SL_FIT_LETTERBOX, 100, 100, { 0.25f, 0.25f, 0.75f, 0.5f }, 100, 0, 100, 200 },
  { "letterbox-half", SL_FIT_LETTERBOX, 100, 100, { 0.5f, 0, 0.625f, 1 }, 0, 100, 400, 50 },
  { "letterbox-border", SL_FIT_LETTERBOX, 100, 100, { 0.0f, 0.25f, 0.25f, 0.5f }, 0, 0, 0, 0 },
  { "crop", SL_FIT_CROP, 100, 100, { 0, 0, 1, 0.5f }, 100, 0, 100, 200 },
  { "infinite", SL_FIT_STRETCH, 64, 64, { 0, 0, 1, 1e38f * 10 }, 0, 0, 0, 0 },
  { "empty", SL_FIT_STRETCH, 64, 64, { 0.5f, 0.5f, 0.5f, 0.75f }, 0, 0, 0, 0 },
  { "outside", SL_FIT_STRETCH, 64, 64, { 1.25f, 0.5f, 1.5f, 0.75f }, 0, 0, 0, 0 },
};

static void
test_map (gconstpointer data)
{
  const MapCase *test = data;
  TestLine fixture = test_line_open ("slpostprocess", "video/x-raw", SSD_CAPS);
  GstBuffer *in =
    add_frame (ssd_buffer (test->box, 0), FRAME_CAPS, test->fit, test->tensor_w, test->tensor_h);
  GstBuffer *frame = sl_buffer_get_frame_meta (in)->frame;
  GstMemory *memory = gst_buffer_peek_memory (frame, 0);
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
  test_assert_no_error (fixture.bus);
  g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
  g_assert_true (out == frame); /* the frame itself, not a copy */
  g_assert_true (gst_buffer_peek_memory (out, 0) == memory);
  g_assert_cmpuint (GST_BUFFER_PTS (out), ==, 5 * GST_SECOND);
  GstVideoRegionOfInterestMeta *region = gst_buffer_get_video_region_of_interest_meta_id (out, 0);
  if (test->w == 0) {
    g_assert_null (region);
  } else {
    g_assert_nonnull (region);
    g_assert_cmpint (region->x, ==, test->x);
    g_assert_cmpint (region->y, ==, test->y);
    g_assert_cmpint (region->w, ==, test->w);
    g_assert_cmpint (region->h, ==, test->h);
    g_assert_cmpstr (g_quark_to_string (region->roi_type), ==, "1");
    gdouble confidence = 0;
    GstStructure *detection = gst_video_region_of_interest_meta_get_param (region, "detection");
    g_assert_true (gst_structure_get_double (detection, "confidence", &confidence));
    g_assert_cmpfloat_with_epsilon (confidence, 0.9, 1e-6);
  }
  SlFrameMeta *meta = sl_buffer_get_frame_meta (out);
  g_assert_null (meta->frame);
  g_assert_cmpint (meta->captured, ==, 1);
  g_assert_cmpint (meta->decoded, >, 1);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (fixture.harness->sinkpad);
  g_autoptr (GstCaps) expected = gst_caps_from_string (FRAME_CAPS);
  g_assert_true (gst_caps_is_equal (caps, expected));
  test_line_close (fixture.harness, fixture.bus);
}

static const gfloat half_box[4] = { 0.25f, 0.125f, 0.75f, 0.5f };

static void
test_text (void)
{
  g_autofree char *labels = test_text_file ("labels.txt", "nothing\ncat\ndog\n");
  g_autofree char *launch = g_strdup_printf ("slpostprocess labels=%s", labels);
  TestLine fixture = test_line_open (launch, TEXT_CAPS, SSD_CAPS);
  gst_harness_push (fixture.harness,
                    add_frame (ssd_buffer (half_box, 0), FRAME_CAPS, SL_FIT_STRETCH, 300, 300));
  g_autofree char *text = pull_text (&fixture);
  g_assert_cmpstr (text, ==, "cat 0.9 50 50 150 100\n");
  test_line_close (fixture.harness, fixture.bus);
  test_remove_file (labels);
}

static void
test_json (void)
{
  TestLine fixture =
    test_line_open ("slpostprocess source=door threshold=0.2 max-results=2", JSON_CAPS, SSD_CAPS);
  for (guint i = 0; i < 2; i++)
    gst_harness_push (fixture.harness, add_frame (ssd_buffer (half_box, i * GST_SECOND), FRAME_CAPS,
                                                  SL_FIT_STRETCH, 300, 300));
  g_autofree char *first = pull_text (&fixture);
  g_autofree char *second = pull_text (&fixture);
  g_assert_true (g_str_has_prefix (
    first, "{\"source\":\"door\",\"frame\":0,\"timestamp\":0,\"resolution\":{\"width\":400,"
           "\"height\":200},"));
  g_assert_nonnull (strstr (first, "{\"x\":50,\"y\":50,\"w\":150,\"h\":100,\"roi_type\":\"1\""));
  g_assert_nonnull (strstr (first, "\"roi_type\":\"2\""));
  g_assert_nonnull (strstr (first, "\"labels\":[],\"utc\":\""));
  g_assert_nonnull (strstr (second, "\"frame\":1,\"timestamp\":1000000000,"));
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_labels (void)
{
  g_autofree char *labels = test_text_file ("labels.txt", "red\ngreen\nblue\n");
  g_autofree char *launch = g_strdup_printf ("slpostprocess top-k=2 labels=%s", labels);
  TestLine text = test_line_open ("slpostprocess", TEXT_CAPS, LABEL_CAPS),
           json = test_line_open (launch, JSON_CAPS, LABEL_CAPS);
  gst_harness_push (text.harness, label_buffer (10, 30, 20));
  gst_harness_push (json.harness, label_buffer (10, 30, 20));
  g_autofree char *line = pull_text (&text);
  g_autofree char *object = pull_text (&json);
  g_assert_cmpstr (line, ==, "1\n");
  g_assert_nonnull (strstr (object, "\"labels\":[{\"label\":\"green\",\"label_id\":1,"));
  g_assert_nonnull (strstr (object, "{\"label\":\"blue\",\"label_id\":2,"));
  g_assert_null (strstr (object, "red"));
  test_line_close (text.harness, text.bus);
  test_line_close (json.harness, json.bus);
  test_remove_file (labels);
}

/* A text that a model read is a label, of the frame or of an object of it, and is never interned:
 * there is no end of them. */
static void
test_read_text (void)
{
  static const guint8 scores[] = { 0, 9, 0, 0, 9, 0, 9, 0, 0, 0, 0, 9 };
  static const char *const steps =
    "other/tensors,format=static,num_tensors=1,dimensions=(string)3:1:4:1,types=uint8,"
    "framerate=25/1";
  const char *launch = "slpostprocess decoder=text,blank=0,alphabet=\xc3\xa4\xc3\xb6";
  for (guint i = 0; i < 2; i++) {
    TestLine fixture = test_line_open (launch, i == 0 ? JSON_CAPS : "video/x-raw", steps);
    GstBuffer *in =
      add_frame (test_tensor_buffer (scores, sizeof scores), FRAME_CAPS, SL_FIT_STRETCH, 4, 4);
    SlFrameMeta *meta = sl_buffer_get_frame_meta (in);
    if (i == 1) {
      gst_buffer_add_video_region_of_interest_meta (meta->frame, "plate", 40, 20, 40, 20);
      meta->content = SL_FRAME_LAST_OBJECT;
    }
    g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_autofree char *json = i == 0 ? test_take_text (gst_buffer_ref (out)) : NULL;
    SlPredictionReader reader;
    SlPredictionView prediction = { .width = 400, .height = 200 };
    sl_prediction_reader_init (&reader);
    if (json != NULL) {
      g_assert_nonnull (strstr (
        json, "\"labels\":[{\"label\":\"\xc3\xa4\xc3\xb6\",\"label_id\":-1,\"confidence\":"));
    } else {
      sl_prediction_reader_read (&reader, out, &prediction);
      g_assert_cmpuint (prediction.n_objects, ==, 1);
      g_assert_cmpuint (prediction.objects[0].n_labels, ==, 1);
      g_assert_cmpstr (prediction.objects[0].labels[0].label, ==, "\xc3\xa4\xc3\xb6");
    }
    g_assert_cmpuint (g_quark_try_string ("\xc3\xa4\xc3\xb6"), ==, 0);
    sl_prediction_reader_clear (&reader);
    test_line_close (fixture.harness, fixture.bus);
  }
}

/* What is left out does not count as a result, and the list may change while frames come. */
static void
test_classes (void)
{
  static const struct
  {
    const char *classes, *text;
  } steps[] = {
    { "dog", "dog 0.3 40 20 40 20\n" },
    { "!cat", "dog 0.3 40 20 40 20\n" },
    { "cat,dog", "cat 0.9 50 50 150 100\n" },
    { "", "cat 0.9 50 50 150 100\n" },
  };
  g_autofree char *labels = test_text_file ("labels.txt", "nothing\ncat\ndog\n");
  g_autofree char *launch =
    g_strdup_printf ("slpostprocess threshold=0.2 max-results=1 labels=%s", labels);
  TestLine fixture = test_line_open (launch, TEXT_CAPS, SSD_CAPS);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    gst_harness_set (fixture.harness, "slpostprocess", "classes", steps[i].classes, NULL);
    gst_harness_push (fixture.harness,
                      add_frame (ssd_buffer (half_box, 0), FRAME_CAPS, SL_FIT_STRETCH, 300, 300));
    g_autofree char *text = pull_text (&fixture);
    g_assert_cmpstr (text, ==, steps[i].text);
  }
  gst_harness_set (fixture.harness, "slpostprocess", "classes", "cta", NULL);
  g_assert_cmpint (gst_harness_push (fixture.harness, ssd_buffer (half_box, 0)), ==,
                   GST_FLOW_NOT_NEGOTIATED);
  test_assert_error (fixture.bus, "classes: ", "labels.txt has no class 'cta'; did you mean 'cat'?",
                     NULL);
  test_line_close (fixture.harness, fixture.bus);
  test_remove_file (labels);
}

static void
test_classes_of_labels (void)
{
  g_autofree char *labels = test_text_file ("labels.txt", "red\ngreen\nblue\n");
  g_autofree char *launch =
    g_strdup_printf ("slpostprocess classes=!green top-k=1 labels=%s", labels);
  TestLine fixture = test_line_open (launch, TEXT_CAPS, LABEL_CAPS);
  gst_harness_push (fixture.harness, label_buffer (10, 30, 20));
  g_autofree char *line = pull_text (&fixture);
  g_assert_cmpstr (line, ==, "blue\n");
  test_line_close (fixture.harness, fixture.bus);
  test_remove_file (labels);
}

/* A value of a playing pipeline's property changes what comes next. */
static void
test_threshold (void)
{
  TestLine fixture = test_line_open ("slpostprocess name=p threshold=0.5", TEXT_CAPS, LABEL_CAPS);
  gst_harness_push (fixture.harness, label_buffer (10, 200, 20));
  g_autofree char *line = pull_text (&fixture);
  g_assert_cmpstr (line, ==, "1\n");
  gst_harness_set (fixture.harness, "slpostprocess", "threshold", 0.9, NULL);
  g_assert_cmpint (gst_harness_push (fixture.harness, label_buffer (10, 200, 20)), ==, GST_FLOW_OK);
  g_assert_null (gst_harness_try_pull (fixture.harness));
  gboolean gap = FALSE;
  GstEvent *event;
  while ((event = gst_harness_try_pull_event (fixture.harness)) != NULL) {
    GstClockTime at = 0;
    if (GST_EVENT_TYPE (event) == GST_EVENT_GAP) {
      gst_event_parse_gap (event, &at, NULL);
      g_assert_cmpuint (at, ==, GST_SECOND);
      gap = TRUE;
    }
    gst_event_unref (event);
  }
  g_assert_true (gap); /* nothing to say is said as a gap */
  test_line_close (fixture.harness, fixture.bus);
}

/* The next message of @type, GST_MESSAGE_WARNING or GST_MESSAGE_INFO, has @words in it. */
static void
assert_told (GstBus *bus, GstMessageType type, const char *words)
{
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, type);
  g_autoptr (GError) error = NULL;
  g_assert_nonnull (message);
  if (type == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, NULL);
  else
    gst_message_parse_info (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, words));
}

static void
assert_warning (GstBus *bus, const char *words)
{
  assert_told (bus, GST_MESSAGE_WARNING, words);
}

static void
test_no_frame (void)
{
  TestLine fixture = test_line_open ("slpostprocess", NULL, SSD_CAPS);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (gst_harness_push (fixture.harness, ssd_buffer (half_box, 0)), ==, GST_FLOW_OK);
  assert_warning (fixture.bus, "bring no frame");
  g_assert_null (gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING)); /* said once */
  g_autofree char *text = pull_text (&fixture);
  g_assert_cmpstr (text, ==, "1 0.9 0 0 1 1\n"); /* nothing states the input's size: 1x1 */
  test_line_close (fixture.harness, fixture.bus);
}

/* Pictures made of tensors without a frame, then of one object of a frame: each has a warning of
 * its own, once a start. */
static void
test_two_warnings (void)
{
  static const guint8 pixels[4 * 4 * 3] = { 0 };
  TestLine fixture = test_line_open ("slpostprocess decoder=image", JSON_CAPS, PICTURE_CAPS);
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpint (gst_harness_push (fixture.harness, test_tensor_buffer (pixels, sizeof pixels)),
                     ==, GST_FLOW_OK);
    GstBuffer *object =
      add_frame (test_tensor_buffer (pixels, sizeof pixels), FRAME_CAPS, SL_FIT_STRETCH, 4, 4);
    sl_buffer_get_frame_meta (object)->content = SL_FRAME_LAST_OBJECT;
    g_assert_cmpint (gst_harness_push (fixture.harness, object), ==, GST_FLOW_OK);
  }
  assert_warning (fixture.bus, "bring no frame");
  assert_warning (fixture.bus, "pictures made of single objects are left out");
  g_assert_null (gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING));
  test_line_close (fixture.harness, fixture.bus);
}

/* Values without a decoder are reported once as a vector; the vector of a single object has no
 * place. */
static void
test_vector_is_told (void)
{
  static const gfloat numbers[4] = { 1, 2, 3, 4 };
  const char *caps =
    "other/tensors,format=static,num_tensors=1,dimensions=(string)4:1,types=float32,framerate=25/1";
  for (guint named = 0; named < 2; named++) {
    TestLine fixture =
      test_line_open (named ? "slpostprocess decoder=vector" : "slpostprocess", JSON_CAPS, caps);
    for (guint i = 0; i < 2; i++) {
      GstBuffer *object =
        add_frame (test_tensor_buffer (numbers, sizeof numbers), FRAME_CAPS, SL_FIT_STRETCH, 4, 4);
      sl_buffer_get_frame_meta (object)->content = SL_FRAME_LAST_OBJECT;
      g_assert_cmpint (gst_harness_push (fixture.harness, object), ==, GST_FLOW_OK);
    }
    if (!named)
      assert_told (fixture.bus, GST_MESSAGE_INFO, "nothing says what the numbers mean");
    assert_warning (fixture.bus, "vectors made of single objects are left out");
    g_assert_null (gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING | GST_MESSAGE_INFO));
    test_line_close (fixture.harness, fixture.bus);
  }
}

/* Tiles are for objects: what else is made of them is left out, which is said once. */
static void
test_tiles_left_out (void)
{
  static const gfloat numbers[4 * 4 * 3] = { 1, 2, 3, 4 };
  static const struct
  {
    const char *decoder, *dimensions;
    guint n;
    const char *words;
  } cases[] = {
    { "labels", "4:1", 4,
      "labels made of tiles are left out; expected a model that gives objects: unset tiles" },
    { "vector", "4:1", 4,
      "vectors made of tiles are left out; expected a model that gives objects: unset tiles" },
    { "segmentation", "4:1:1:1", 4,
      "masks of classes made of tiles are left out; expected a model that gives objects: unset "
      "tiles" },
    { "none", "4:1", 4,
      "tensors made of tiles are left out; expected a model that gives objects: unset tiles" },
    { "image,range=0,255", "3:4:4:1", 48,
      "pictures made of tiles are left out; expected a model that gives objects: unset tiles" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *launch = g_strdup_printf ("slpostprocess decoder=%s", cases[i].decoder),
                    *caps = g_strdup_printf (
                      "other/tensors,format=static,num_tensors=1,dimensions=(string)%s,"
                      "types=float32,framerate=25/1",
                      cases[i].dimensions);
    TestLine fixture = test_line_open (launch, JSON_CAPS, caps);
    for (guint k = 0; k < 2; k++) {
      GstBuffer *tile = add_frame (test_tensor_buffer (numbers, cases[i].n * sizeof *numbers),
                                   FRAME_CAPS, SL_FIT_STRETCH, 4, 4);
      sl_buffer_get_frame_meta (tile)->content = k == 0 ? SL_FRAME_TILE : SL_FRAME_LAST_TILE;
      g_assert_cmpint (gst_harness_push (fixture.harness, tile), ==, GST_FLOW_OK);
    }
    assert_warning (fixture.bus, cases[i].words);
    g_assert_null (gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING));
    test_line_close (fixture.harness, fixture.bus);
  }
}

/* Rows "x1 y1 x2 y2 score class" behind the number of the picture: what nothing states the numbers
 * decide, and the element says so; what is stated otherwise stops it. */
static void
test_evidence (void)
{
  static const gfloat rows[2][7] = { { 0, 0.25f, 0.25f, 0.5f, 0.75f, 0.9f, 1 },
                                     { 0, 0.5f, 0.5f, 0.75f, 1, 0.75f, 0 } };
  const char *caps =
    "other/tensors,format=static,num_tensors=1,dimensions=(string)7:2:1,types=float32,"
    "framerate=25/1";
  TestLine fixture = test_line_open ("slpostprocess decoder=yolo", TEXT_CAPS, caps);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *in =
      add_frame (test_tensor_buffer (rows, sizeof rows), FRAME_CAPS, SL_FIT_STRETCH, 100, 100);
    g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
    if (i == 0)
      assert_told (fixture.bus, GST_MESSAGE_INFO,
                   "taken for decoder=yolo,columns=image,x1y1x2y2,score,class");
    g_assert_null (gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING | GST_MESSAGE_INFO));
    g_autofree char *text = pull_text (&fixture);
    g_assert_cmpstr (text, ==, "1 0.9 100 50 100 100\n0 0.75 200 100 100 100\n");
  }
  test_line_close (fixture.harness, fixture.bus);
  fixture =
    test_line_open ("slpostprocess decoder=yolo,objectness=no,transposed=no", TEXT_CAPS, caps);
  GstBuffer *in =
    add_frame (test_tensor_buffer (rows, sizeof rows), FRAME_CAPS, SL_FIT_STRETCH, 100, 100);
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_ERROR);
  test_assert_error (fixture.bus, "column 6 holds whole numbers 0..1",
                     "state decoder=yolo,columns=image,x1y1x2y2,score,class", NULL);
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_video_without_frame (void)
{
  TestLine fixture = test_line_open ("slpostprocess", "video/x-raw", SSD_CAPS);
  g_assert_cmpint (gst_harness_push (fixture.harness, ssd_buffer (half_box, 0)), ==,
                   GST_FLOW_NOT_NEGOTIATED);
  test_assert_error (
    fixture.bus,
    "the element after slpostprocess wants video/x-raw, but the tensors bring no frame: expected "
    "frames from slnormalize, or ask for text/x-raw or application/x-json after slpostprocess",
    NULL);
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_wrong_video (void)
{
  TestLine fixture = test_line_open ("slpostprocess", "video/x-raw,format=NV12", SSD_CAPS);
  GstBuffer *in = add_frame (ssd_buffer (half_box, 0), FRAME_CAPS, SL_FIT_STRETCH, 300, 300);
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_NOT_NEGOTIATED);
  test_assert_error (fixture.bus, "NV12", "frame is video/x-raw", "videoconvert", NULL);
  test_line_close (fixture.harness, fixture.bus);
}

/* Whatever downstream lists first is what it gets. */
static void
test_preference (void)
{
  TestLine fixture =
    test_line_open ("slpostprocess", JSON_CAPS ";" TEXT_CAPS ";video/x-raw", SSD_CAPS);
  gst_harness_push (fixture.harness,
                    add_frame (ssd_buffer (half_box, 0), FRAME_CAPS, SL_FIT_STRETCH, 300, 300));
  g_autofree char *text = pull_text (&fixture);
  g_assert_true (g_str_has_prefix (text, "{\"source\":null,"));
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_frame_caps_change (void)
{
  static const char *const caps[] = { FRAME_CAPS,
                                      "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1",
                                      FRAME_CAPS };
  TestLine fixture = test_line_open ("slpostprocess", NULL, SSD_CAPS);
  for (guint i = 0; i < G_N_ELEMENTS (caps); i++) {
    gst_harness_push (fixture.harness,
                      add_frame (ssd_buffer (half_box, 0), caps[i], SL_FIT_STRETCH, 300, 300));
    test_assert_no_error (fixture.bus);
    gst_buffer_unref (gst_harness_pull (fixture.harness));
    g_autoptr (GstCaps) expected = gst_caps_from_string (caps[i]);
    g_autoptr (GstCaps) got = gst_pad_get_current_caps (fixture.harness->sinkpad);
    g_assert_true (gst_caps_is_equal (got, expected));
  }
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_tensor_caps_change (void)
{
  TestLine fixture = test_line_open ("slpostprocess", TEXT_CAPS, SSD_CAPS);
  gst_harness_push (fixture.harness,
                    add_frame (ssd_buffer (half_box, 0), FRAME_CAPS, SL_FIT_STRETCH, 300, 300));
  g_autofree char *first = pull_text (&fixture);
  gst_harness_set_src_caps_str (fixture.harness, LABEL_CAPS);
  gst_harness_push (fixture.harness, label_buffer (0, 0, 9));
  g_autofree char *second = pull_text (&fixture);
  g_assert_cmpstr (first, ==, "1 0.9 50 50 150 100\n");
  g_assert_cmpstr (second, ==, "2\n");
  test_line_close (fixture.harness, fixture.bus);
}

typedef struct
{
  const char *name, *element, *caps;
  gssize bytes;       /* -1 = the caps are refused */
  const char *labels; /* written to a file for the labels property */
  const char *has[4];
} ErrorCase;

static const ErrorCase error_cases[] = {
  { "labels-short",
    "slpostprocess",
    LABEL_CAPS,
    -1,
    "red\ngreen\n",
    { "labels.txt", "2 names for the 3 classes" } },
  { "labels-missing",
    "slpostprocess labels=/nonexistent/names.txt",
    LABEL_CAPS,
    -1,
    NULL,
    { "/nonexistent/names.txt" } },
  { "labels-empty", "slpostprocess", LABEL_CAPS, -1, "", { "labels.txt", "empty" } },
  { "decoder",
    "slpostprocess decoder=horoscope",
    LABEL_CAPS,
    -1,
    NULL,
    { "horoscope", "labels", "ssd" } },
  { "classes",
    "slpostprocess classes=rde",
    LABEL_CAPS,
    -1,
    "red\ngreen\nblue\n",
    { "labels.txt has no class 'rde'; did you mean 'red'?" } },
  { "classes-unnamed",
    "slpostprocess classes=red",
    LABEL_CAPS,
    -1,
    NULL,
    { "the model has no class 'red'", "numbers from 0 to 2" } },
  { "classes-list",
    "slpostprocess classes=red,",
    LABEL_CAPS,
    -1,
    NULL,
    { "classes=red,: a name is empty" } },
  { "shape",
    "slpostprocess",
    "other/tensors,format=static,num_tensors=1,dimensions=3:4:5,types=uint8,framerate=5/1",
    -1,
    NULL,
    { "no decoder", "uint8" } },
  { "mismatch", "slpostprocess decoder=ssd", LABEL_CAPS, -1, NULL, { "ssd", "expected" } },
  { "caps",
    "slpostprocess",
    "other/tensors,format=static,num_tensors=1,dimensions=3:x,types=uint8,framerate=5/1",
    -1,
    NULL,
    { "\"3:x\"" } },
  { "empty-buffer", "slpostprocess", LABEL_CAPS, 0, NULL, { "expected 3 bytes", "got 0 bytes" } },
  { "short-buffer", "slpostprocess", LABEL_CAPS, 2, NULL, { "expected 3 bytes", "got 2 bytes" } },
};

static void
test_error (gconstpointer data)
{
  const ErrorCase *test = data;
  g_autofree char *labels =
    test->labels != NULL ? test_text_file ("labels.txt", test->labels) : NULL;
  g_autofree char *launch = labels != NULL ? g_strdup_printf ("%s labels=%s", test->element, labels)
                                           : g_strdup (test->element);
  TestLine fixture = test_line_open (launch, TEXT_CAPS, test->caps);
  GstBuffer *buffer =
    test->bytes > 0 ? gst_buffer_new_allocate (NULL, (gsize) test->bytes, NULL) : gst_buffer_new ();
  g_assert_cmpint (gst_harness_push (fixture.harness, buffer), !=, GST_FLOW_OK);
  test_assert_error (fixture.bus, test->has[0], test->has[1], test->has[2], test->has[3], NULL);
  test_line_close (fixture.harness, fixture.bus);
  if (labels != NULL)
    test_remove_file (labels);
}

/* Types of all events that came out so far, in order. */
static char *
event_types (GstHarness *harness)
{
  GString *types = g_string_new (NULL);
  GstEvent *event;
  while ((event = gst_harness_try_pull_event (harness)) != NULL) {
    g_string_append_printf (types, "%s ", GST_EVENT_TYPE_NAME (event));
    gst_event_unref (event);
  }
  return g_string_free (types, FALSE);
}

static void
test_event_order (void)
{
  TestLine fixture = test_line_open ("slpostprocess", TEXT_CAPS, LABEL_CAPS);
  gst_harness_push_event (fixture.harness,
                          gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "x", NULL)));
  g_autofree char *before = event_types (fixture.harness);
  g_assert_cmpstr (before, ==, "stream-start ");
  gst_harness_push (fixture.harness, label_buffer (1, 2, 3));
  gst_harness_push_event (fixture.harness, gst_event_new_eos ());
  g_autofree char *after = event_types (fixture.harness);
  g_assert_cmpstr (after, ==, "caps segment tag eos ");
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_eos_first (void)
{
  TestLine fixture = test_line_open ("slpostprocess", NULL, LABEL_CAPS);
  gst_harness_push_event (fixture.harness, gst_event_new_eos ());
  g_autofree char *types = event_types (fixture.harness);
  g_assert_cmpstr (types, ==, "stream-start segment eos ");
  test_assert_no_error (fixture.bus);
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_gap_first (void)
{
  static const struct
  {
    const char *sink, *types;
  } lines[] = {
    { TEXT_CAPS, "stream-start caps segment gap " },
    { NULL, "stream-start " },
    { "application/x-json; video/x-raw(ANY)",
      "stream-start caps segment gap " }, /* JSON is what it would get of a frame, too */
    { "video/x-raw(ANY); application/x-json", "stream-start " },
  };
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    TestLine line = test_line_open ("slpostprocess", lines[i].sink, LABEL_CAPS);
    gst_harness_push_event (line.harness, gst_event_new_gap (0, GST_SECOND));
    g_autofree char *types = event_types (line.harness);
    g_assert_cmpstr (types, ==, lines[i].types);
    test_line_close (line.harness, line.bus);
  }
}

static void
test_flush (void)
{
  TestLine fixture = test_line_open ("slpostprocess", TEXT_CAPS, LABEL_CAPS);
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (guint i = 0; i < 2; i++) { /* before anything came out, and after */
    gst_harness_push_event (fixture.harness, gst_event_new_flush_start ());
    gst_harness_push_event (fixture.harness, gst_event_new_flush_stop (TRUE));
    segment.start = (i + 1) * GST_MSECOND;
    gst_harness_push_event (fixture.harness, gst_event_new_segment (&segment));
    g_assert_cmpint (gst_harness_push (fixture.harness, label_buffer (1, 2, 3)), ==, GST_FLOW_OK);
    g_autofree char *line = pull_text (&fixture);
    g_assert_cmpstr (line, ==, "2\n");
    GstEvent *sticky = gst_pad_get_sticky_event (fixture.harness->sinkpad, GST_EVENT_SEGMENT, 0);
    const GstSegment *got;
    gst_event_parse_segment (sticky, &got);
    g_assert_cmpuint (got->start, ==, (i + 1) * GST_MSECOND);
    gst_event_unref (sticky);
  }
  test_line_close (fixture.harness, fixture.bus);
}

/* Tensors with numbers no decoder should trust. */
static void
test_hostile (void)
{
  const gfloat nan = 0.0f / 0.0f * 1.0f, inf = 1e38f * 10;
  const gfloat boxes[][4] = { { nan, nan, nan, nan },
                              { -inf, -inf, inf, inf },
                              { 1e30f, 1e30f, -1e30f, -1e30f },
                              { -1e30f, -1e30f, 1e30f, 1e30f } };
  TestLine fixture = test_line_open ("slpostprocess decoder=ssd,check=no", "video/x-raw", SSD_CAPS);
  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++) {
    gst_harness_push (fixture.harness,
                      add_frame (ssd_buffer (boxes[i], 0), FRAME_CAPS, SL_FIT_LETTERBOX, 300, 300));
    test_assert_no_error (fixture.bus);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    GstVideoRegionOfInterestMeta *region = gst_buffer_get_video_region_of_interest_meta_id (out, 0);
    if (region != NULL) {
      g_assert_cmpuint (region->x + region->w, <=, 400);
      g_assert_cmpuint (region->y + region->h, <=, 200);
    }
  }
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_cycle (void)
{
  TestLine fixture = test_line_open ("slpostprocess", TEXT_CAPS, LABEL_CAPS);
  for (guint i = 0; i < 3; i++) {
    gst_harness_push (fixture.harness, label_buffer (1, 2, 3));
    g_autofree char *line = pull_text (&fixture);
    g_assert_cmpstr (line, ==, "2\n");
    g_assert_cmpint (gst_element_set_state (fixture.harness->element, GST_STATE_READY), ==,
                     GST_STATE_CHANGE_SUCCESS);
    g_assert_cmpint (gst_element_set_state (fixture.harness->element, GST_STATE_PLAYING), ==,
                     GST_STATE_CHANGE_SUCCESS);
    gst_harness_push_event (fixture.harness, gst_event_new_stream_start ("again"));
    g_autoptr (GstCaps) caps = gst_caps_from_string (LABEL_CAPS);
    gst_harness_push_event (fixture.harness, gst_event_new_caps (caps));
    GstSegment segment;
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (fixture.harness, gst_event_new_segment (&segment));
  }
  test_line_close (fixture.harness, fixture.bus);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/slpostprocess/map", map_cases, test_map);
  TEST_ADD_CASES ("/slpostprocess/error", error_cases, test_error);
  g_test_add_func ("/slpostprocess/text", test_text);
  g_test_add_func ("/slpostprocess/json", test_json);
  g_test_add_func ("/slpostprocess/labels", test_labels);
  g_test_add_func ("/slpostprocess/classes", test_classes);
  g_test_add_func ("/slpostprocess/classes-of-labels", test_classes_of_labels);
  g_test_add_func ("/slpostprocess/threshold", test_threshold);
  g_test_add_func ("/slpostprocess/no-frame", test_no_frame);
  g_test_add_func ("/slpostprocess/two-warnings", test_two_warnings);
  g_test_add_func ("/slpostprocess/read-text", test_read_text);
  g_test_add_func ("/slpostprocess/vector-is-told", test_vector_is_told);
  g_test_add_func ("/slpostprocess/tiles-left-out", test_tiles_left_out);
  g_test_add_func ("/slpostprocess/evidence", test_evidence);
  g_test_add_func ("/slpostprocess/video-without-frame", test_video_without_frame);
  g_test_add_func ("/slpostprocess/wrong-video", test_wrong_video);
  g_test_add_func ("/slpostprocess/preference", test_preference);
  g_test_add_func ("/slpostprocess/frame-caps-change", test_frame_caps_change);
  g_test_add_func ("/slpostprocess/tensor-caps-change", test_tensor_caps_change);
  g_test_add_func ("/slpostprocess/event-order", test_event_order);
  g_test_add_func ("/slpostprocess/eos-first", test_eos_first);
  g_test_add_func ("/slpostprocess/gap-first", test_gap_first);
  g_test_add_func ("/slpostprocess/flush", test_flush);
  g_test_add_func ("/slpostprocess/hostile", test_hostile);
  g_test_add_func ("/slpostprocess/cycle", test_cycle);
  return test_elements_run ();
}
