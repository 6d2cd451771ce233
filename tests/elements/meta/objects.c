/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A model that looks at objects which someone found before: patches of colour under regions that
 * this test lays out, means of noise in double precision, tensors written by hand.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"
#ifdef SL_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define WIDTH 32
#define HEIGHT 16
#define RGB_CAPS "video/x-raw,format=RGB,width=32,height=16,framerate=25/1"
#define SSD_CAPS                                                                              \
  "other/tensors,format=static,num_tensors=4,dimensions=\"4:1:1,1:1,1:1,1\",types=\"float32," \
  "float32,float32,float32\",framerate=25/1"

typedef struct
{
  GstHarness *harness;
  GstElement *element;
  GstBus *bus;
  char *model, *labels;
} Fixture;

static Fixture
setup (const char *classes, gint most, guint labels, const char *sink)
{
  Fixture fixture = { .model = test_colour_model (SL_DTYPE_U8),
                      .labels = test_text_file ("labels.txt", "red\ngreen\nblue\n") };
  fixture.element = gst_element_factory_make ("slpredict", NULL);
  g_object_set (fixture.element, "model", fixture.model, "labels", fixture.labels,
                "inference-region", "roi-list", "object-class", classes, "max-objects", most,
                "top-k", (gint) labels, NULL);
  fixture.bus = test_watch (fixture.element);
  fixture.harness = gst_harness_new_with_element (fixture.element, "sink", "src");
  gst_object_unref (fixture.element);
  gst_harness_set_live (fixture.harness, FALSE);
  gst_harness_set_sink_caps_str (fixture.harness, sink);
  gst_harness_set_src_caps_str (fixture.harness, RGB_CAPS);
  return fixture;
}

static void
teardown (Fixture *fixture)
{
  test_line_close (fixture->harness, fixture->bus);
  test_remove_file (fixture->model);
  test_remove_file (fixture->labels);
  g_free (fixture->model);
  g_free (fixture->labels);
}

static void
paint (guint8 *pixels, guint left, guint top, guint w, guint h, const guint8 colour[3])
{
  for (guint y = top; y < MIN (top + h, HEIGHT); y++)
    for (guint x = left; x < MIN (left + w, WIDTH); x++)
      memcpy (pixels + (y * WIDTH + x) * 3, colour, 3);
}

static void
add_region (GstBuffer *frame, const char *type, const char *param, guint x, guint y, guint w,
            guint h)
{
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (frame, type, x, y, w, h);
  if (param != NULL)
    gst_video_region_of_interest_meta_add_param (
      region, gst_structure_new (param, "confidence", G_TYPE_DOUBLE, 0.5, "label", G_TYPE_STRING,
                                 type, "label_id", G_TYPE_INT, 7, NULL));
}

#define N_REGIONS 7

/* Blue, with a red face, a green person that someone else found, a face that sticks out, regions
 * without pixels, and a label. */
static GstBuffer *
patched_frame (GstClockTime pts)
{
  static const guint8 red[3] = { 255, 0, 0 }, green[3] = { 0, 255, 0 }, blue[3] = { 0, 0, 255 };
  GstBuffer *frame = test_frame (RGB_CAPS, blue, pts);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  paint (map.data, 4, 2, 8, 8, red);
  paint (map.data, 20, 4, 8, 8, green);
  gst_buffer_unmap (frame, &map);
  add_region (frame, "face", "detection", 4, 2, 8, 8);
  add_region (frame, "person", NULL, 20, 4, 8, 8);
  add_region (frame, "face", "detection", 30, 14, 5000, G_MAXUINT);
  add_region (frame, "face", "detection", 3, 3, 0, 4);
  add_region (frame, "face", "detection", 40, 0, 5, 5);
  add_region (frame, "outdoors", "classification", 0, 0, WIDTH, HEIGHT);
  add_region (frame, "all of it", "detection", 0, 0, WIDTH, HEIGHT);
  return frame;
}

typedef struct
{
  const char *name, *classes;
  gint most;
  const char *answers[N_REGIONS]; /* for each region, NULL = not looked at */
} ChoiceCase;

static const ChoiceCase choice_cases[] = {
  { "all", NULL, 16, { "red", "green", "blue", NULL, NULL, NULL, "blue" } },
  { "empty", "", 16, { "red", "green", "blue", NULL, NULL, NULL, "blue" } },
  { "face", "face", 16, { "red", NULL, "blue" } },
  { "spaces", " person , face", 16, { "red", "green", "blue" } },
  { "phrase", "all of it", 16, { NULL, NULL, NULL, NULL, NULL, NULL, "blue" } },
  { "most", NULL, 2, { "red", "green" } },
  { "nobody", "dog,fac,faces", 16, { NULL } },
};

/* The label that the second model gave region @n, NULL when none; it is the only one. */
static const char *
said_of (GstBuffer *frame, guint n)
{
  gpointer state = NULL;
  GstMeta *meta = NULL;
  const char *label = NULL;
  for (guint i = 0; i <= n; i++)
    g_assert_nonnull (meta = gst_buffer_iterate_meta_filtered (
                        frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  for (GList *l = ((GstVideoRegionOfInterestMeta *) meta)->params; l != NULL; l = l->next) {
    double confidence = 0;
    gint id = -1;
    if (!gst_structure_has_name (l->data, "classification")
        || !gst_structure_has_field (l->data, "model_name"))
      continue;
    g_assert_null (label);
    label = gst_structure_get_string (l->data, "label");
    g_assert_cmpstr (gst_structure_get_string (l->data, "model_name"), ==, "colour.tflite");
    g_assert_true (gst_structure_get_double (l->data, "confidence", &confidence));
    g_assert_true (gst_structure_get_int (l->data, "label_id", &id));
    g_assert_cmpfloat_with_epsilon (confidence, n == N_REGIONS - 1 ? 0.75 : 1,
                                    1 / 255.0); /* a quarter of the frame is patches */
    g_assert_cmpint (id, ==, *label == 'r' ? 0 : *label == 'g' ? 1 : 2);
  }
  return label;
}

static void
test_choice (gconstpointer data)
{
  const ChoiceCase *test = data;
  Fixture fixture = setup (test->classes, test->most, 1, RGB_CAPS);
  for (guint round = 0; round < 3; round++) {
    GstBuffer *frame = patched_frame (round * GST_SECOND);
    GstMemory *pixels = gst_buffer_peek_memory (frame, 0);
    g_assert_cmpint (gst_harness_push (fixture.harness, frame), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_assert_true (gst_buffer_peek_memory (out, 0) == pixels);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, round * GST_SECOND);
    g_assert_cmpuint (gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), ==,
                      N_REGIONS);
    for (guint i = 0; i < N_REGIONS; i++)
      g_assert_cmpstr (said_of (out, i), ==, test->answers[i]);
  }
  test_assert_no_error (fixture.bus);
  teardown (&fixture);
}

/* A line a frame, with all objects on it, and what is said of those that were looked at inside
 * them. */
static void
test_json (void)
{
  static const guint8 blue[3] = { 0, 0, 255 };
  Fixture fixture = setup ("person", 16, 1, "application/x-json");
  g_assert_cmpint (gst_harness_push (fixture.harness, patched_frame (0)), ==, GST_FLOW_OK);
  g_assert_cmpint (gst_harness_push (fixture.harness, test_frame (RGB_CAPS, blue, GST_SECOND)), ==,
                   GST_FLOW_OK);
  g_autofree char *line = test_take_text (gst_harness_pull (fixture.harness));
  g_assert_true (g_str_has_prefix (
    line,
    "{\"source\":null,\"frame\":0,\"timestamp\":0,\"resolution\":{\"width\":32,\"height\":16},"
    "\"objects\":[{\"x\":4,\"y\":2,\"w\":8,\"h\":8,\"roi_type\":\"face\",\"detection\":{"));
  g_assert_nonnull (strstr (
    line,
    "{\"x\":20,\"y\":4,\"w\":8,\"h\":8,\"roi_type\":\"person\",\"detection\":{\"bounding_box\":"
    "{\"x_min\":0.625,\"x_max\":0.875,\"y_min\":0.25,\"y_max\":0.75},\"confidence\":1,"
    "\"label\":\"person\",\"label_id\":-1},\"labels\":[{\"label\":\"green\",\"label_id\":1,"
    "\"confidence\":1,\"model\":\"colour.tflite\"}]}"));
  g_assert_nonnull (strstr (
    line, "\"labels\":[{\"label\":\"outdoors\",\"label_id\":7,\"confidence\":0.5}],\"utc\":\""));
  g_assert_null (strstr (line, "red"));
  g_autofree char *empty = test_take_text (gst_harness_pull (fixture.harness));
  g_assert_true (g_str_has_prefix (
    empty, "{\"source\":null,\"frame\":1,\"timestamp\":1000000000,\"resolution\":{\"width\":32,"
           "\"height\":16},\"objects\":[],\"labels\":[]"));
  teardown (&fixture);
}

static void
test_text (void)
{
  Fixture fixture = setup ("face", 1, 1, "text/x-raw,format=utf8");
  g_assert_cmpint (gst_harness_push (fixture.harness, patched_frame (0)), ==, GST_FLOW_OK);
  g_autofree char *text = test_take_text (gst_harness_pull (fixture.harness));
  g_assert_true (
    g_str_has_prefix (text, "face 0.5 4 2 8 8\n  red 1\nperson 1 20 4 8 8\nface 0.5 30 14 "));
  teardown (&fixture);
}

/* Mean of a channel over a rectangle of 8-bit RGB. */
static double
mean_of (const guint8 *pixels, const guint box[4], guint channel)
{
  double sum = 0;
  for (guint y = box[1]; y < box[1] + box[3]; y++)
    for (guint x = box[0]; x < box[0] + box[2]; x++)
      sum += pixels[(y * WIDTH + x) * 3 + channel];
  return sum / (box[2] * box[3]);
}

/* Noise: what the model says of an object is what it says of a picture of that object alone, and
 * the mean of its pixels. */
static void
test_means (void)
{
  static const guint8 black[3] = { 0, 0, 0 };
  Fixture fixture = setup (NULL, 16, 3, RGB_CAPS);
  for (guint round = 0; round < 100; round++) {
    const guint w = (guint) g_test_rand_int_range (8, WIDTH + 1),
                h = (guint) g_test_rand_int_range (8, HEIGHT + 1);
    const guint box[4] = { (guint) g_test_rand_int_range (0, (gint) (WIDTH - w + 1)),
                           (guint) g_test_rand_int_range (0, (gint) (HEIGHT - h + 1)), w, h };
    double means[3];
    GstMapInfo map;
    GstBuffer *frame = test_frame (RGB_CAPS, black, 0);
    g_assert_true (gst_buffer_map (frame, &map, GST_MAP_WRITE));
    for (gsize i = 0; i < map.size; i++)
      map.data[i] = (guint8) g_test_rand_int_range (0, 256);
    for (guint c = 0; c < 3; c++)
      means[c] = mean_of (map.data, box, c);
    gst_buffer_unmap (frame, &map);
    add_region (frame, "thing", "detection", box[0], box[1], w, h);
    g_assert_cmpint (gst_harness_push (fixture.harness, frame), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    GstVideoRegionOfInterestMeta *region = gst_buffer_get_video_region_of_interest_meta_id (out, 0);
    guint seen = 0;
    for (GList *l = region->params; l != NULL; l = l->next) {
      double confidence;
      gint id;
      if (!gst_structure_has_name (l->data, "classification"))
        continue;
      g_assert_true (gst_structure_get (l->data, "confidence", G_TYPE_DOUBLE, &confidence,
                                        "label_id", G_TYPE_INT, &id, NULL));
      /* Rounded to codes twice: as pixels of the tensor, as the mean of these. */
      g_assert_cmpfloat_with_epsilon (confidence * 255, means[id],
                                      w % 4 == 0 && h % 4 == 0 ? 1.01 : 3);
      seen++;
    }
    g_assert_cmpuint (seen, ==, 3);
  }
  teardown (&fixture);
}

/* Every other frame: those in between keep the regions that they had, and nothing is said of them.
 */
static void
test_interval (void)
{
  Fixture fixture = setup (NULL, 16, 1, RGB_CAPS);
  g_object_set (fixture.element, "inference-interval", 2, NULL);
  for (guint i = 0; i < 6; i++) {
    g_assert_cmpint (gst_harness_push (fixture.harness, patched_frame (i)), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i);
    g_assert_cmpstr (said_of (out, 0), ==, i % 2 == 0 ? "red" : NULL);
  }
  teardown (&fixture);
}

/* A tensor buffer about region @region of @frame, with a box over the lower right quarter of what
 * the model saw; @unsure: below the threshold. */
static GstBuffer *
box_buffer_of (GstBuffer *frame, guint region, SlFrameContent content, const SlRect *part,
               gboolean unsure)
{
  static const gfloat sure_tensors[4][4] = { { 0.5f, 0.5f, 1, 1 }, { 3 }, { 0.75f }, { 1 } };
  static const gfloat unsure_tensors[4][4] = { { 0.5f, 0.5f, 1, 1 }, { 3 }, { 0.3f }, { 1 } };
  const gfloat (*tensors)[4] = unsure ? unsure_tensors : sure_tensors;
  static const gsize bytes[4] = { 16, 4, 4, 4 };
  g_autoptr (GstCaps) caps = gst_caps_from_string (RGB_CAPS);
  GstVideoInfo info;
  GstBuffer *buffer = gst_buffer_new ();
  g_assert_true (gst_video_info_from_caps (&info, caps));
  for (guint i = 0; i < 4; i++)
    gst_buffer_append_memory (
      buffer, gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, (gpointer) tensors[i],
                                      sizeof tensors[i], 0, bytes[i], NULL, NULL));
  SlFrameMeta *meta = sl_buffer_add_frame_meta (buffer, frame, caps, &info);
  sl_affine_view (&meta->affine, SL_FIT_STRETCH, SL_ORIENTATION_IDENTITY, part, 100, 100);
  meta->tensor_width = meta->tensor_height = 100;
  meta->content = content;
  meta->region = region;
  return buffer;
}

static GstBuffer *
box_buffer (GstBuffer *frame, guint region, SlFrameContent content, const SlRect *part)
{
  return box_buffer_of (frame, region, content, part, FALSE);
}

/* Tracking wants unsure boxes, too, but those inside objects are not followed: an unsure one is not
 * reported. */
static void
test_unsure (void)
{
  const SlRect face = { 4, 2, 8, 8 }, person = { 20, 4, 8, 8 };
  GstHarness *harness = gst_harness_new_parse ("slpostprocess track=true");
  gst_harness_set_sink_caps_str (harness, RGB_CAPS);
  gst_harness_set_src_caps_str (harness, SSD_CAPS);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *frame = patched_frame (i);
    g_assert_cmpint (
      gst_harness_push (harness, box_buffer_of (frame, 0, SL_FRAME_OBJECT, &face, TRUE)), ==,
      GST_FLOW_OK);
    GstBuffer *last = box_buffer_of (frame, 1, SL_FRAME_LAST_OBJECT, &person, FALSE);
    gst_buffer_unref (frame);
    g_assert_cmpint (gst_harness_push (harness, last), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (harness);
    g_assert_cmpuint (gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), ==,
                      N_REGIONS + 1);
  }
  gst_harness_teardown (harness);
}

#ifdef SL_HAVE_ANALYTICS
/* The detection of type @type, which is the only one. */
static GstAnalyticsODMtd
detection_of (GstAnalyticsRelationMeta *relations, const char *type)
{
  GstAnalyticsODMtd object, found = { 0 };
  gpointer state = NULL;
  guint n = 0;
  while (gst_analytics_relation_meta_iterate (
    relations, &state, gst_analytics_od_mtd_get_mtd_type (), (GstAnalyticsMtd *) &object))
    if (gst_analytics_od_mtd_get_obj_type (&object) == g_quark_from_string (type)) {
      found = object;
      n++;
    }
  g_assert_cmpuint (n, ==, 1);
  return found;
}

/* Labels of an object are a classification that its detection, added where there was none, is
 * related to. */
static void
test_label_relations (void)
{
  Fixture fixture = setup ("person,all of it", 16, 2, RGB_CAPS);
  g_assert_cmpint (gst_harness_push (fixture.harness, patched_frame (0)), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (out);
  g_assert_nonnull (relations);
  for (guint i = 0; i < 2; i++) {
    const GstAnalyticsODMtd object = detection_of (relations, i == 0 ? "person" : "all of it");
    GstAnalyticsClsMtd labels;
    gpointer state = NULL;
    g_assert_true (gst_analytics_relation_meta_get_direct_related (
      relations, object.id, GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_cls_mtd_get_mtd_type (),
      &state, (GstAnalyticsMtd *) &labels));
    g_assert_cmpuint (gst_analytics_cls_mtd_get_length (&labels), ==, 2);
    g_assert_cmpstr (g_quark_to_string (gst_analytics_cls_mtd_get_quark (&labels, 0)), ==,
                     i == 0 ? "green" : "blue");
    g_assert_cmpfloat_with_epsilon (gst_analytics_cls_mtd_get_level (&labels, 0), i == 0 ? 1 : 0.75,
                                    1 / 255.0);
  }
  teardown (&fixture);
}

/* A box inside an object is a detection that the object's contains. */
static void
test_part_relations (void)
{
  const SlRect person = { 20, 4, 8, 8 };
  GstHarness *harness = gst_harness_new ("slpostprocess");
  gst_harness_set_sink_caps_str (harness, RGB_CAPS);
  gst_harness_set_src_caps_str (harness, SSD_CAPS);
  GstBuffer *frame = patched_frame (0);
  GstBuffer *tensors = box_buffer (frame, 1, SL_FRAME_LAST_OBJECT, &person);
  gst_buffer_unref (frame);
  g_assert_cmpint (gst_harness_push (harness, tensors), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (out);
  g_assert_nonnull (relations);
  const GstAnalyticsODMtd whole = detection_of (relations, "person"),
                          part = detection_of (relations, "3");
  gint x, y, w, h;
  gfloat confidence;
  g_assert_true (gst_analytics_od_mtd_get_location (&part, &x, &y, &w, &h, &confidence));
  g_assert_true (x == 24 && y == 8 && w == 4 && h == 4 && confidence == 0.75f);
  g_assert_cmpint (gst_analytics_relation_meta_get_relation (relations, whole.id, part.id), ==,
                   GST_ANALYTICS_REL_TYPE_CONTAIN);
  g_assert_cmpint (gst_analytics_relation_meta_get_relation (relations, part.id, whole.id), ==,
                   GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  gst_harness_teardown (harness);
}
#endif

/* Boxes inside boxes: regions of their own, in pixels of the frame, that name their parent; a frame
 * whose last object was lost on the way leaves nothing behind. */
static void
test_boxes (void)
{
  const SlRect face = { 4, 2, 8, 8 }, person = { 20, 4, 8, 8 };
  GstHarness *harness = gst_harness_new ("slpostprocess");
  GstBus *bus = test_watch (harness->element);
  gst_harness_set_sink_caps_str (harness, RGB_CAPS);
  gst_harness_set_src_caps_str (harness, SSD_CAPS);
  g_autoptr (GstBuffer) lost = patched_frame (0);
  g_assert_cmpint (gst_harness_push (harness, box_buffer (lost, 0, SL_FRAME_OBJECT, &face)), ==,
                   GST_FLOW_OK);
  GstBuffer *frame = patched_frame (1);
  g_assert_cmpint (gst_harness_push (harness, box_buffer (frame, 0, SL_FRAME_OBJECT, &face)), ==,
                   GST_FLOW_OK);
  GstBuffer *last = box_buffer (frame, 1, SL_FRAME_LAST_OBJECT, &person);
  gst_buffer_unref (frame);
  g_assert_cmpint (gst_harness_push (harness, last), ==, GST_FLOW_OK);
  test_assert_no_error (bus);
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  const SlRect expected[2] = { { 8, 6, 4, 4 }, { 24, 8, 4, 4 } };
  GstVideoRegionOfInterestMeta *regions[N_REGIONS + 3] = { NULL };
  gpointer state = NULL;
  guint n = 0;
  for (GstMeta *meta; n < G_N_ELEMENTS (regions);
       regions[n++] = (GstVideoRegionOfInterestMeta *) meta)
    if ((meta = gst_buffer_iterate_meta_filtered (out, &state,
                                                  GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
        == NULL)
      break;
  g_assert_cmpuint (n, ==, N_REGIONS + 2);
  for (guint i = 0; i < 2; i++) {
    const GstVideoRegionOfInterestMeta *child = regions[N_REGIONS + i];
    g_assert_cmpstr (g_quark_to_string (child->roi_type), ==, "3");
    g_assert_cmpuint (child->x, ==, expected[i].x);
    g_assert_cmpuint (child->y, ==, expected[i].y);
    g_assert_cmpuint (child->w, ==, expected[i].width);
    g_assert_cmpuint (child->h, ==, expected[i].height);
    g_assert_cmpint (regions[i]->id, >, 0);
    g_assert_cmpint (child->parent_id, ==, regions[i]->id);
    g_assert_cmpint (child->id, !=, regions[1 - i]->id);
  }
  gst_element_set_bus (harness->element, NULL);
  gst_harness_teardown (harness);
  gst_object_unref (bus);
}

/* The same as text: what is inside stands below and further in. A meta that is its own parent, or
 * names one that is not there, lies flat. */
static void
test_boxes_text (void)
{
  const SlRect face = { 4, 2, 8, 8 };
  GstHarness *harness = gst_harness_new ("slpostprocess");
  gst_harness_set_sink_caps_str (harness, "text/x-raw,format=utf8");
  gst_harness_set_src_caps_str (harness, SSD_CAPS);
  GstBuffer *frame = patched_frame (0);
  GstVideoRegionOfInterestMeta *odd =
    gst_buffer_add_video_region_of_interest_meta (frame, "self", 1, 1, 1, 1);
  odd->id = odd->parent_id = 5;
  odd = gst_buffer_add_video_region_of_interest_meta (frame, "orphan", 1, 1, 1, 1);
  odd->parent_id = 77;
  GstBuffer *tensors = box_buffer (frame, 0, SL_FRAME_LAST_OBJECT, &face);
  gst_buffer_unref (frame);
  g_assert_cmpint (gst_harness_push (harness, tensors), ==, GST_FLOW_OK);
  g_autofree char *text = test_take_text (gst_harness_pull (harness));
  g_assert_true (
    g_str_has_prefix (text, "face 0.5 4 2 8 8\n  3 0.75 8 6 4 4\nperson 1 20 4 8 8\n"));
  g_assert_nonnull (strstr (text, "\nself 1 1 1 1 1\norphan 1 1 1 1 1\n"));
  gst_harness_teardown (harness);
}

/* What @launch, which ends in JSON, writes. */
static char *
json_of_pipeline (const char *launch)
{
  g_autofree char *path = test_text_file ("lines.json", "");
  g_autofree char *line =
    g_strdup_printf ("%s ! application/x-json ! filesink location=%s", launch, path);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  char *json = NULL;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_assert_true (g_file_get_contents (path, &json, NULL, NULL));
  test_remove_file (path);
  return json;
}

/* Real models: the bus in a photograph is, to the last digit, what it is in that part of the
 * photograph cut out by GStreamer. */
static void
test_real (void)
{
  g_autofree char *photo = sl_test_data ("images/bus.jpg"),
                  *detector = sl_test_data ("models/ssd_mobilenet_v1.tflite");
  g_autofree char *classifier = sl_test_data ("models/mobilenet_v2_1.0_224_quant.tflite");
  g_autoptr (GstElementFactory) crop = gst_element_factory_find ("videocrop");
  g_autoptr (GstElementFactory) decode = gst_element_factory_find ("jpegdec");
  guint x, y, w, h;
  if (photo == NULL || detector == NULL || classifier == NULL)
    return;
  if (crop == NULL || decode == NULL) {
    g_test_skip ("GStreamer has no videocrop or no jpegdec");
    return;
  }
  g_autofree char *source = g_strdup_printf (
    "filesrc location=%s ! jpegdec ! videoconvert ! video/x-raw,format=RGB", photo);
  g_autofree char *both =
    g_strdup_printf ("%s ! slpredict model=%s ! slpredict object-class=bus top-k=3 model=%s",
                     source, detector, classifier);
  g_autofree char *json = json_of_pipeline (both);
  const char *bus = strstr (json, "\"roi_type\":\"bus\"");
  g_assert_nonnull (bus);
  const char *start = g_strrstr_len (json, bus - json, "{\"x\":");
  g_assert_cmpint (sscanf (start, "{\"x\":%u,\"y\":%u,\"w\":%u,\"h\":%u", &x, &y, &w, &h), ==, 4);
  g_autofree char *alone = g_strdup_printf (
    "%s ! videocrop left=%u top=%u right=%u bottom=%u ! slnormalize ! slinfer model=%s ! "
    "slpostprocess top-k=3",
    source, x, y, 810 - x - w, 1080 - y - h, classifier);
  g_autofree char *expected = json_of_pipeline (alone);
  const char *labels = strstr (expected, "\"labels\":["), *said = strstr (bus, "\"labels\":[");
  for (guint i = 0; i < 3; i++) {
    const char *end = strstr (labels = strstr (labels, "{\"label\":"), "}");
    said = strstr (said, "{\"label\":");
    g_assert_cmpmem (said, (gsize) (end - labels), labels, (gsize) (end - labels));
    g_assert_true (g_str_has_prefix (said + (end - labels),
                                     ",\"model\":\"mobilenet_v2_1.0_224_quant.tflite\"}"));
    labels++;
    said++;
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/objects/choice", choice_cases, test_choice);
#ifdef SL_HAVE_ANALYTICS
  g_test_add_func ("/objects/relations/labels", test_label_relations);
  g_test_add_func ("/objects/relations/part", test_part_relations);
#endif
  g_test_add_func ("/objects/unsure", test_unsure);
  g_test_add_func ("/objects/json", test_json);
  g_test_add_func ("/objects/text", test_text);
  g_test_add_func ("/objects/means", test_means);
  g_test_add_func ("/objects/interval", test_interval);
  g_test_add_func ("/objects/boxes", test_boxes);
  g_test_add_func ("/objects/boxes-text", test_boxes_text);
  g_test_add_func ("/objects/real", test_real);
  return test_elements_run ();
}
