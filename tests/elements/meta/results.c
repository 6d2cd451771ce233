/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From results to the frame and back: boxes, points and masks through affine maps of every kind,
 * metas as slpostprocess writes and others read them, pictures, messages.
 */
#include <math.h>
#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "plugins/meta/mask_meta.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/regions/object.h"
#include "predict/predictions_private.h"
#include "postprocess/predictions/mapper.h"
#include "sightline/predictions.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define FRAME_CAPS "video/x-raw,format=RGB,width=400,height=200,framerate=25/1"
#define POSE_CAPS                                                                        \
  "other/tensors,format=static,num_tensors=1,dimensions=(string)3:17:1:1,types=float32," \
  "framerate=25/1"
#define MAP_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=(string)8:8:1,types=int32,framerate=25/1"
#define VECTOR_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=(string)3:1,types=float32,framerate=25/1"
#define PICTURE_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=(string)3:10:8:1,types=uint8,framerate=25/1"

/* A map by hand: rotation by @degrees, scale and a shift, no matter which fit makes one. */
static SlFrameGeometry
turned (double degrees, double scale, gint tensor, gint frame)
{
  const double a = degrees * G_PI / 180, c = cos (a) * scale, s = sin (a) * scale;
  return (SlFrameGeometry){
    .affine = { c, -s, frame / 2.0 - (c - s) * tensor / 2, s, c,
                frame / 2.0 - (s + c) * tensor / 2 },
    .tensor_width = tensor,
    .tensor_height = tensor,
    .frame_width = frame,
    .frame_height = frame,
  };
}

static SlFrameGeometry
random_geometry (guint round)
{
  SlFrameGeometry geometry = { .tensor_width = g_test_rand_int_range (1, 500),
                               .tensor_height = g_test_rand_int_range (1, 500),
                               .frame_width = g_test_rand_int_range (16, 2000),
                               .frame_height = g_test_rand_int_range (16, 2000) };
  if (round % 4 == 3)
    return turned (90.0 * (double) g_test_rand_int_range (0, 4),
                   g_test_rand_double_range (0.5, 2) * geometry.frame_width / geometry.tensor_width,
                   geometry.tensor_width, geometry.frame_width);
  sl_affine_fit (&geometry.affine, (SlFit) (round % 4), geometry.frame_width, geometry.frame_height,
                 geometry.tensor_width, geometry.tensor_height);
  return geometry;
}

/* The point of the tensor, in 0..1, that the map takes to (x, y): two linear equations solved here.
 */
static void
forward (const SlFrameGeometry *g, double x, double y, double *tx, double *ty)
{
  const double det = g->affine.xx * g->affine.yy - g->affine.xy * g->affine.yx,
               dx = x - g->affine.x0, dy = y - g->affine.y0;
  *tx = (g->affine.yy * dx - g->affine.xy * dy) / det / g->tensor_width;
  *ty = (g->affine.xx * dy - g->affine.yx * dx) / det / g->tensor_height;
}

/* A box of the frame taken into the tensor comes back to within what floats of its size lose. */
static void
test_property (void)
{
  g_autofree SlResult *result = g_new0 (SlResult, 1);
  SlPredictionMapper *mapper = sl_prediction_mapper_new ();
  for (guint round = 0; round < 2000; round++) {
    const SlFrameGeometry g = random_geometry (round);
    SlPredictionView prediction = { 0 };
    const double w = g_test_rand_double_range (2, g.frame_width / 2.0),
                 h = g_test_rand_double_range (2, g.frame_height / 2.0);
    const double x = g_test_rand_double_range (0, g.frame_width - w),
                 y = g_test_rand_double_range (0, g.frame_height - h);
    double a[2], b[2], c[2];
    forward (&g, x, y, &a[0], &a[1]);
    forward (&g, x + w, y + h, &b[0], &b[1]);
    forward (&g, x + w / 3, y + h / 4, &c[0], &c[1]);
    const double farthest = MAX (MAX (fabs (a[0]), fabs (a[1])), MAX (fabs (b[0]), fabs (b[1])));
    const double pixels = hypot (g.affine.xx, g.affine.xy) * g.tensor_width
                          + hypot (g.affine.yx, g.affine.yy) * g.tensor_height;
    const double slack = 1e-4 + 2.5e-7 * MAX (farthest, 1) * pixels;
    result->n_detections = result->n_keypoints = 1;
    result->detections[0] = (SlDetection){ (gfloat) MIN (a[0], b[0]),
                                           (gfloat) MIN (a[1], b[1]),
                                           (gfloat) MAX (a[0], b[0]),
                                           (gfloat) MAX (a[1], b[1]),
                                           0.5f,
                                           0,
                                           0,
                                           1 };
    result->keypoints[0] = (SlDetectedPoint){ (gfloat) c[0], (gfloat) c[1], 1 };
    sl_prediction_mapper_fill (mapper, result, NULL, NULL, &g, 1, &prediction);
    g_assert_cmpuint (prediction.n_objects, ==, 1);
    const SlObjectView *object = &prediction.objects[0];
    g_assert_cmpfloat_with_epsilon (object->x_min * g.frame_width, x, slack);
    g_assert_cmpfloat_with_epsilon (object->y_min * g.frame_height, y, slack);
    g_assert_cmpfloat_with_epsilon (object->x_max * g.frame_width, x + w, slack);
    g_assert_cmpfloat_with_epsilon (object->y_max * g.frame_height, y + h, slack);
    g_assert_cmpfloat_with_epsilon (object->points[0].x * g.frame_width, x + w / 3, slack);
    g_assert_cmpfloat_with_epsilon (object->points[0].y * g.frame_height, y + h / 4, slack);
  }
  sl_prediction_mapper_free (mapper);
}

/* Each cell of the frame's grid has the class of the model's cell under its centre, worked out
 * here. */
static void
test_mask_property (void)
{
  g_autofree SlResult *result = g_new0 (SlResult, 1);
  g_autofree guint8 *cells = g_malloc (64 * 64);
  SlPredictionMapper *mapper = sl_prediction_mapper_new ();
  for (guint i = 0; i < 64 * 64; i++)
    cells[i] = (guint8) g_test_rand_int_range (0, 5);
  for (guint round = 0; round < 200; round++) {
    const SlFrameGeometry g = round % 8 == 7 ? turned (37, 2, 100, 150) : random_geometry (round);
    SlPredictionView prediction = { 0 };
    guint unknown = 0;
    result->mask = (SlClassMask){ (guint) g_test_rand_int_range (1, 65),
                                  (guint) g_test_rand_int_range (1, 65), cells };
    sl_prediction_mapper_fill (mapper, result, NULL, NULL, &g, 1, &prediction);
    const SlClassMask *mask = &prediction.mask;
    g_assert_cmpuint (mask->width, >=, 1);
    g_assert_cmpuint (mask->width, <=, (guint) g.frame_width);
    for (guint y = 0; y < mask->height; y++)
      for (guint x = 0; x < mask->width; x++) {
        double tx, ty;
        forward (&g, (x + 0.5) * g.frame_width / mask->width,
                 (y + 0.5) * g.frame_height / mask->height, &tx, &ty);
        tx *= result->mask.width;
        ty *= result->mask.height;
        const guint8 got = mask->classes[y * mask->width + x];
        const gboolean inside =
          tx >= 0 && ty >= 0 && tx < result->mask.width && ty < result->mask.height;
        unknown += got == SL_MASK_VOID;
        const gboolean edge = fabs (tx - rint (tx)) < 1e-9 || fabs (ty - rint (ty)) < 1e-9;
        if (!edge)
          g_assert_cmpuint (
            got, ==, inside ? cells[(guint) ty * result->mask.width + (guint) tx] : SL_MASK_VOID);
      }
    double sum = unknown / ((double) mask->width * mask->height);
    for (guint i = 0; i < prediction.n_mask_classes; i++) {
      sum += prediction.mask_classes[i].fraction;
      g_assert_cmpfloat (prediction.mask_classes[i].fraction, <=,
                         prediction.mask_classes[0].fraction);
    }
    g_assert_cmpfloat_with_epsilon (sum, 1, 1e-9);
  }
  sl_prediction_mapper_free (mapper);
}

static GstBuffer *
with_frame (GstBuffer *buffer)
{
  static const guint8 values[3] = { 1, 2, 3 };
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
  GstVideoInfo info;
  gst_video_info_from_caps (&info, caps);
  GstBuffer *frame = test_frame (FRAME_CAPS, values, 0);
  SlFrameMeta *meta = sl_buffer_add_frame_meta (buffer, frame, caps, &info);
  sl_affine_fit (&meta->affine, SL_FIT_STRETCH, 400, 200, 100, 100);
  meta->tensor_width = meta->tensor_height = 100;
  meta->captured = g_get_monotonic_time () - 5000;
  meta->started = meta->captured + 400;
  meta->preprocessed = meta->started + 1000;
  meta->inferred = meta->preprocessed + 2000;
  gst_buffer_unref (frame);
  return buffer;
}

static GstBuffer *
pose_buffer (void)
{
  gfloat points[17 * 3];
  for (guint k = 0; k < 17; k++) {
    points[3 * k] = 0.25f + (gfloat) k / 32; /* y */
    points[3 * k + 1] = 0.5f + (gfloat) k / 64;
    points[3 * k + 2] = 0.75f;
  }
  return with_frame (test_tensor_buffer (points, sizeof points));
}

static void
test_points (void)
{
  GstBuffer *out = test_line_run ("slpostprocess", "video/x-raw", POSE_CAPS, pose_buffer ());
  GstVideoRegionOfInterestMeta *region = gst_buffer_get_video_region_of_interest_meta_id (out, 0);
  g_assert_nonnull (region);
  g_assert_cmpstr (g_quark_to_string (region->roi_type), ==, "person");
  const GstStructure *keypoints = gst_video_region_of_interest_meta_get_param (region, "keypoints");
  g_assert_nonnull (keypoints);
  g_assert_cmpstr (gst_structure_get_string (keypoints, "format"), ==, "keypoints");
  SlPredictionView prediction = { .width = 400, .height = 200 };
  SlPredictionReader reader;
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, out, &prediction);
  g_assert_cmpuint (prediction.n_objects, ==, 1);
  g_assert_cmpuint (prediction.objects[0].n_points, ==, 17);
  g_assert_cmpuint (prediction.skeleton->n_points, ==, 17);
  g_assert_cmpstr (prediction.skeleton->names[16], ==, "right_ankle");
  g_assert_cmpuint (prediction.skeleton->n_bones, ==, 16);
  g_assert_cmpuint (prediction.skeleton->bones[6][1], ==, 9);
  for (guint k = 0; k < 17; k++) {
    g_assert_cmpfloat_with_epsilon (prediction.objects[0].points[k].x, 0.5 + k / 64.0, 1e-6);
    g_assert_cmpfloat_with_epsilon (prediction.objects[0].points[k].y, 0.25 + k / 32.0, 1e-6);
    g_assert_cmpfloat_with_epsilon (prediction.objects[0].points[k].confidence, 0.75, 1e-6);
  }
  sl_prediction_reader_clear (&reader);
  gst_buffer_unref (out);
}

/* Objects of one frame whose points have other names, or none. */
static void
test_kinds_of_points (void)
{
  static const char *const hand[] = { "wrist", "tip" };
  static const guint8 bones[][2] = { { 0, 1 } };
  static const SlSkeleton skeleton = { 2, 1, hand, bones };
  const SlPoint points[] = { { 0.25, 0.5, 1 }, { 0.5, 0.75, 1 }, { 0.5, 0.5, 1 } };
  const SlObjectView others[] = {
    { .x = 9,
      .y = 9,
      .w = 90,
      .h = 90,
      .x_max = 1,
      .y_max = 1,
      .confidence = 1,
      .label = "hand",
      .n_points = 2,
      .points = points,
      .skeleton = &skeleton },
    { .x = 9,
      .y = 9,
      .w = 90,
      .h = 90,
      .x_max = 1,
      .y_max = 1,
      .confidence = 1,
      .label = "mesh",
      .n_points = 3,
      .points = points },
    { .x = 9,
      .y = 9,
      .w = 90,
      .h = 90,
      .x_max = 1,
      .y_max = 1,
      .confidence = 1,
      .label = "hand",
      .n_points = 2,
      .points = points,
      .skeleton = &skeleton },
  };
  GstBuffer *out = test_line_run ("slpostprocess", "video/x-raw", POSE_CAPS, pose_buffer ());
  out = gst_buffer_make_writable (out);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    sl_buffer_add_object (out, &others[i], NULL);
  SlPredictionView prediction = { .width = 400, .height = 200 };
  SlPredictionReader reader;
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, out, &prediction);
  g_assert_cmpuint (prediction.n_objects, ==, 4);
  g_autoptr (SlPredictions) kept = sl_predictions_new (&prediction);
  g_autoptr (GString) json = g_string_new (NULL);
  sl_prediction_append_json (json, &prediction);
  gst_buffer_unref (out);
  sl_prediction_reader_clear (&reader);
  g_assert_nonnull (strstr (json->str, "\"right_ankle\""));
  g_assert_nonnull (strstr (json->str, "\"roi_type\":\"hand\""));
  g_assert_nonnull (strstr (json->str, "{\"name\":\"tip\",\"x\":0.5,\"y\":0.75,"));
  g_assert_nonnull (strstr (json->str, "{\"name\":null,\"x\":0.25,\"y\":0.5,"));
  const SlPredictionView *view = sl_predictions_view (kept);
  g_assert_cmpstr (sl_object_skeleton (&view->objects[0], view->skeleton)->names[0], ==, "nose");
  g_assert_cmpstr (sl_object_skeleton (&view->objects[1], view->skeleton)->names[1], ==, "tip");
  g_assert_null (sl_object_skeleton (&view->objects[2], view->skeleton));
  g_assert_true (view->objects[3].skeleton == view->objects[1].skeleton);
}

/* Structures that others, or nobody, would write. */
static void
test_foreign_points (void)
{
  static const char *const structures[] = {
    "keypoints",
    "keypoints,data_buffer=(string)abc",
    "keypoints,data_buffer=(int)5,point_names=<(string)a>",
    "detection,confidence=(string)high,x_min=(int)7",
  };
  static const gfloat pairs[4] = { 0.5f, NAN, 0.5f, 0.25f };
  static const guint8 values[3] = { 0, 0, 0 };
  GstBuffer *frame = test_frame (FRAME_CAPS, values, 0);
  SlPredictionView prediction = { .width = 400, .height = 200 };
  SlPredictionReader reader;
  for (guint i = 0; i < G_N_ELEMENTS (structures); i++) {
    GstVideoRegionOfInterestMeta *region =
      gst_buffer_add_video_region_of_interest_meta (frame, "thing", 10, 20, 100, 50);
    gst_video_region_of_interest_meta_add_param (region,
                                                 gst_structure_from_string (structures[i], NULL));
  }
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (frame, "two", 40, 20, 100, 50);
  GstStructure *two = gst_structure_from_string (
    "keypoints,point_names=<(string)a,(string)b>,point_connections=<(string)a,(string)b,(string)c>"
    ",confidence=<(string)x,(float)0.5>",
    NULL);
  gst_structure_set (two, "data_buffer", G_TYPE_VARIANT,
                     g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, pairs, sizeof pairs, 1), NULL);
  gst_video_region_of_interest_meta_add_param (region, two);
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, frame, &prediction);
  g_assert_cmpuint (prediction.n_objects, ==, 5);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpuint (prediction.objects[i].n_points, ==, 0);
  const SlObjectView *object = &prediction.objects[4];
  g_assert_cmpuint (object->n_points, ==, 2);
  g_assert_cmpfloat (object->points[0].confidence, ==, 0);
  g_assert_cmpfloat_with_epsilon (object->points[1].x, 90 / 400.0, 1e-6);
  g_assert_cmpfloat_with_epsilon (object->points[1].y, 32.5 / 200, 1e-6);
  g_assert_cmpfloat_with_epsilon (object->points[1].confidence, 0.5, 1e-6);
  g_assert_cmpuint (prediction.skeleton->n_bones, ==, 1);
  sl_prediction_reader_clear (&reader);
  gst_buffer_unref (frame);
}

static void
test_outputs (void)
{
  static const gfloat numbers[] = { 1, 2, 2 };
  GstBuffer *out = test_line_run ("slpostprocess decoder=none", "video/x-raw", VECTOR_CAPS,
                                  with_frame (test_tensor_buffer (numbers, sizeof numbers)));
  g_autoptr (GstBuffer) copy = gst_buffer_copy (out);
  gst_buffer_unref (out);
  g_assert_true (sl_buffer_has_predictions (copy));
  SlPredictionView prediction = { .width = 400, .height = 200 };
  SlPredictionReader reader;
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, copy, &prediction);
  g_assert_cmpuint (prediction.outputs.n, ==, 1);
  g_assert_cmpuint (prediction.outputs.infos[0].rank, ==, 2);
  g_assert_cmpmem (prediction.outputs.data[0], prediction.outputs.infos[0].bytes, numbers,
                   sizeof numbers);
  sl_prediction_reader_clear (&reader);
}

static void
test_vector (void)
{
  static const gfloat numbers[] = { 1, 2, 2 };
  GstBuffer *out =
    test_line_run ("slpostprocess decoder=vector,names=a,b,c,units=m", "video/x-raw", VECTOR_CAPS,
                   with_frame (test_tensor_buffer (numbers, sizeof numbers)));
  g_autoptr (GstBuffer) copy = gst_buffer_copy (out);
  gst_buffer_unref (out);
  g_assert_true (sl_buffer_has_predictions (copy));
  SlPredictionView prediction = { .width = 400, .height = 200 };
  SlPredictionReader reader;
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, copy, &prediction);
  g_assert_cmpuint (prediction.vector.n, ==, 3);
  g_assert_cmpfloat (prediction.vector.values[1], ==, 2);
  g_assert_cmpstr (prediction.vector.names[2], ==, "c");
  g_assert_cmpstr (prediction.vector.units[0], ==, "m");
  sl_prediction_reader_clear (&reader);
}

static void
test_mask (void)
{
  gint32 classes[64];
  for (guint i = 0; i < 64; i++)
    classes[i] = i % 8 >= 4 ? 2 : 0;
  g_autofree char *labels = test_text_file ("classes.txt", "background\nsky\nroad\n");
  g_autofree char *launch = g_strdup_printf ("slpostprocess labels=%s", labels);
  GstBuffer *out = test_line_run (launch, "video/x-raw", MAP_CAPS,
                                  with_frame (test_tensor_buffer (classes, sizeof classes)));
  g_autoptr (GstBuffer) copy = gst_buffer_copy (out);
  gst_buffer_unref (out);
  const SlMaskMeta *meta = sl_buffer_get_mask_meta (copy);
  g_assert_nonnull (meta);
  g_assert_cmpuint (meta->width, ==, 8);
  for (guint i = 0; i < 64; i++)
    g_assert_cmpuint (meta->cells[i], ==, (guint) classes[i]);
  g_assert_cmpstr (meta->names[2], ==, "road");
  SlPredictionView prediction = { .width = 400, .height = 200 };
  SlPredictionReader reader;
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, copy, &prediction);
  g_assert_cmpuint (prediction.mask.width, ==, 8);
  g_assert_cmpuint (prediction.n_mask_classes, ==, 2);
  g_assert_cmpfloat (prediction.mask_classes[1].fraction, ==, 0.5);
  g_assert_cmpstr (prediction.mask_classes[1].label, ==, "road");
  sl_prediction_reader_clear (&reader);
  g_autofree char *text =
    test_take_text (test_line_run (launch, "text/x-raw,format=utf8", MAP_CAPS,
                                   with_frame (test_tensor_buffer (classes, sizeof classes))));
  g_assert_cmpstr (text, ==, "road 0.5\n");
  test_remove_file (labels);
}

/* The first class counts like any other where its name says that it is no background, also behind a
 * copy of the metas. */
static void
test_mask_without_background (void)
{
  gint32 classes[64];
  for (guint i = 0; i < 64; i++)
    classes[i] = i % 8 >= 4 ? 2 : 0;
  g_autofree char *labels = test_text_file ("classes.txt", "road\nsky\ncar\n");
  g_autofree char *launch = g_strdup_printf ("slpostprocess labels=%s", labels);
  GstBuffer *out = test_line_run (launch, "video/x-raw", MAP_CAPS,
                                  with_frame (test_tensor_buffer (classes, sizeof classes)));
  g_autoptr (GstBuffer) copy = gst_buffer_copy (out);
  gst_buffer_unref (out);
  SlPredictionView prediction = { .width = 400, .height = 200 };
  SlPredictionReader reader;
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, copy, &prediction);
  g_assert_cmpint (prediction.mask.background, ==, SL_NO_BACKGROUND);
  sl_prediction_reader_clear (&reader);
  g_autofree char *text =
    test_take_text (test_line_run (launch, "text/x-raw,format=utf8", MAP_CAPS,
                                   with_frame (test_tensor_buffer (classes, sizeof classes))));
  g_assert_cmpstr (text, ==, "road 0.5\ncar 0.5\n");
  test_remove_file (labels);
}

static void
test_picture (void)
{
  guint8 pixels[8 * 10 * 3];
  for (guint i = 0; i < sizeof pixels; i++)
    pixels[i] = (guint8) (i * 7);
  g_autoptr (GstBuffer) out =
    test_line_run ("slpostprocess", "video/x-raw", PICTURE_CAPS,
                   with_frame (test_tensor_buffer (pixels, sizeof pixels)));
  g_autoptr (GstCaps) caps =
    gst_caps_from_string ("video/x-raw,format=RGB,width=10,height=8,framerate=25/1");
  GstVideoInfo info;
  GstVideoFrame frame;
  gst_video_info_from_caps (&info, caps);
  g_assert_true (gst_video_frame_map (&frame, &info, out, GST_MAP_READ));
  for (guint y = 0; y < 8; y++)
    g_assert_cmpmem ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
                       + y * (guint) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
                     30, pixels + y * 30, 30);
  gst_video_frame_unmap (&frame);
}

static void
test_latency (void)
{
  g_autofree char *json = test_take_text (
    test_line_run ("slpostprocess", "application/x-json", POSE_CAPS, pose_buffer ()));
  g_assert_nonnull (
    strstr (json, "\"keypoints\":[{\"name\":\"nose\",\"x\":0.5,\"y\":0.25,\"confidence\":0.75},"));
  const char *latency = strstr (json, "\"latency\":{\"age\":");
  g_assert_nonnull (latency);
  const gint64 age = g_ascii_strtoll (latency + strlen ("\"latency\":{\"age\":"), NULL, 10);
  g_assert_cmpint (age, >=, 5000);
  g_assert_cmpint (age, <, 60 * G_USEC_PER_SEC);
  g_assert_nonnull (strstr (latency, ",\"preprocess\":1000,\"inference\":2000,\"decode\":"));
}

static void
on_predictions (GstElement *element, SlPredictions *predictions, gint64 *times)
{
  g_assert_true (
    sl_predictions_get_latency (predictions, &times[0], &times[1], &times[2], &times[3]));
}

/* An element behind says of the same frame the same, when its predictions come from the metas. */
static void
test_latency_of_signals (void)
{
  TestLine line =
    test_line_open ("slpostprocess name=first ! sltrack name=second", "video/x-raw", POSE_CAPS);
  gint64 first[4] = { 0 }, second[4] = { 0 };
  g_autoptr (GstElement) decoder = gst_bin_get_by_name (GST_BIN (line.harness->element), "first");
  g_autoptr (GstElement) tracker = gst_bin_get_by_name (GST_BIN (line.harness->element), "second");
  g_signal_connect (decoder, "predictions", G_CALLBACK (on_predictions), first);
  g_signal_connect (tracker, "predictions", G_CALLBACK (on_predictions), second);
  g_assert_cmpint (gst_harness_push (line.harness, pose_buffer ()), ==, GST_FLOW_OK);
  for (guint i = 1; i <= 2; i++) {
    g_assert_cmpint (first[i], ==, 1000 * (gint64) i);
    g_assert_cmpint (second[i], ==, first[i]);
  }
  g_assert_cmpint (first[0], >=, 5000);
  g_assert_cmpint (second[0], >=, first[0]);
  g_assert_cmpint (second[3], >=, first[3]);
  test_line_close (line.harness, line.bus);
}

static void
test_message (void)
{
  TestLine line = test_line_open ("slpostprocess post-messages=true", "video/x-raw", POSE_CAPS);
  g_assert_cmpint (gst_harness_push (line.harness, pose_buffer ()), ==, GST_FLOW_OK);
  GstMessage *message = gst_bus_pop_filtered (line.bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull (message);
  const GstStructure *structure = gst_message_get_structure (message);
  guint64 frame = 7;
  g_assert_true (gst_structure_has_name (structure, "prediction"));
  g_assert_true (gst_structure_get_uint64 (structure, "frame", &frame));
  g_assert_cmpuint (frame, ==, 0);
  g_assert_true (g_str_has_prefix (gst_structure_get_string (structure, "json"),
                                   "{\"source\":null,\"frame\":0,"));
  gst_message_unref (message);
  g_autoptr (GstElement) element = gst_harness_find_element (line.harness, "slpostprocess");
  g_object_set (element, "post-messages", FALSE, NULL);
  g_assert_cmpint (gst_harness_push (line.harness, pose_buffer ()), ==, GST_FLOW_OK);
  g_assert_null (gst_bus_pop_filtered (line.bus, GST_MESSAGE_ELEMENT));
  test_line_close (line.harness, line.bus);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/results/property", test_property);
  g_test_add_func ("/results/mask-property", test_mask_property);
  g_test_add_func ("/results/points", test_points);
  g_test_add_func ("/results/foreign-points", test_foreign_points);
  g_test_add_func ("/results/kinds-of-points", test_kinds_of_points);
  g_test_add_func ("/results/outputs", test_outputs);
  g_test_add_func ("/results/vector", test_vector);
  g_test_add_func ("/results/mask", test_mask);
  g_test_add_func ("/results/mask-without-background", test_mask_without_background);
  g_test_add_func ("/results/picture", test_picture);
  g_test_add_func ("/results/latency", test_latency);
  g_test_add_func ("/results/latency-of-signals", test_latency_of_signals);
  g_test_add_func ("/results/message", test_message);
  return test_elements_run ();
}
