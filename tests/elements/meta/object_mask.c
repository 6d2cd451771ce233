/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks of objects from the model's grid to the frame and into metas and back: discs whose edges
 * are known, metas of strangers, and a segmentation model's tensors through slpostprocess and
 * sloverlay.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/meta/regions/mask.h"
#include "postprocess/predictions/object_mask_map.h"
#include "postprocess/predictions/mapper.h"
#include "plugins/meta/predictions.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"
#ifdef SL_HAVE_SEGMENTATION_MTD
#include <gst/analytics/analytics.h>
#endif

#define GRID 64
#define CAPS "video/x-raw,format=RGB,width=320,height=160,framerate=25/1"

/* A disc on the model's map: its edge is where the share is one half, and it is soft for four
 * cells. */
static void
fill_disc (guint8 *cells, guint width, guint height, double cx, double cy, double radius)
{
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      cells[y * width + x] =
        (guint8) lrint (255 / (1 + exp (hypot (x + 0.5 - cx, y + 0.5 - cy) - radius)));
}

static SlFrameGeometry
geometry_of (guint round)
{
  SlFrameGeometry g = {
    .tensor_width = 256, .tensor_height = 256, .frame_width = 640, .frame_height = 480
  };
  if (round < 3)
    sl_affine_fit (&g.affine, (SlFit) round, g.frame_width, g.frame_height, g.tensor_width,
                   g.tensor_height);
  else /* a quarter turn, and one by 30 degrees */
    g.affine =
      round == 3 ? (SlAffine){ 0, 2, 64, -2, 0, 500 } : (SlAffine){ 1.7, -1, 250, 1, 1.7, -80 };
  return g;
}

/* A disc of the tensor is, in the frame, where the map takes it: every cell farther than a fifth of
 * one from the edge says so. */
static void
test_disc (void)
{
  g_autofree SlResult *result = g_new0 (SlResult, 1);
  g_autofree guint8 *cells = g_malloc (GRID * GRID);
  SlPredictionMapper *mapper = sl_prediction_mapper_new ();
  const SlInstanceMask mask = { 0, 0, 1, 1, GRID, GRID, cells };
  fill_disc (cells, GRID, GRID, 36, 30, 14);
  result->n_detections = 1;
  result->masks = &mask;
  result->detections[0] =
    (SlDetection){ 20 / 64.0f, 14 / 64.0f, 52 / 64.0f, 46 / 64.0f, 0.9f, 0, 0, 0 };
  for (guint round = 0; round < 5; round++) {
    const SlFrameGeometry g = geometry_of (round);
    SlPredictionView prediction = { 0 };
    guint inside = 0, outside = 0;
    sl_prediction_mapper_fill (mapper, result, NULL, NULL, &g, 1, &prediction);
    g_assert_cmpuint (prediction.n_objects, ==, 1);
    const SlObjectView *object = &prediction.objects[0];
    g_assert_cmpuint (object->mask.width, >=, 10);
    g_assert_cmpuint (object->mask.height, >=, 10);
    for (guint y = 0; y < object->mask.height; y++)
      for (guint x = 0; x < object->mask.width; x++) {
        const double fx = object->x + (x + 0.5) * object->w / object->mask.width - g.affine.x0;
        const double fy = object->y + (y + 0.5) * object->h / object->mask.height - g.affine.y0;
        const double det = g.affine.xx * g.affine.yy - g.affine.xy * g.affine.yx;
        const double tx = (g.affine.yy * fx - g.affine.xy * fy) / det * GRID / 256,
                     ty = (g.affine.xx * fy - g.affine.yx * fx) / det * GRID / 256;
        const double distance = hypot (tx - 36, ty - 30) - 14;
        const gboolean in_box = tx >= 20 && tx <= 52 && ty >= 14 && ty <= 46;
        const guint8 share = object->mask.cells[y * object->mask.width + x];
        if (!in_box && fabs (distance) > 0.01) {
          g_assert_cmpuint (share, ==, 0);
        } else if (distance < -0.2) {
          g_assert_cmpuint (share, >=, SL_OBJECT_CELL);
          inside++;
        } else if (distance > 0.2) {
          g_assert_cmpuint (share, <, SL_OBJECT_CELL);
          outside++;
        }
      }
    g_assert_cmpuint (inside, >, 100);
    g_assert_cmpuint (outside, >, 20);
  }
  sl_prediction_mapper_free (mapper);
}

/* Cells beyond the box are the object's where the mask is cut to it, as far as the box's pixels go;
 * beyond the mask there is nothing. */
static void
test_cut (void)
{
  static const guint8 cells[4] = { 255, 255, 255, 255 };
  g_autofree SlResult *result = g_new0 (SlResult, 1);
  SlInstanceMask mask = { 0.2f, 0.2f, 0.8f, 0.75f, 2, 2, cells };
  SlPredictionMapper *mapper = sl_prediction_mapper_new ();
  SlFrameGeometry g = {
    .tensor_width = 10, .tensor_height = 10, .frame_width = 10, .frame_height = 10
  };
  sl_affine_fit (&g.affine, SL_FIT_STRETCH, 10, 10, 10, 10);
  result->n_detections = 1;
  result->masks = &mask;
  result->detections[0] = (SlDetection){ 0.26f, 0.26f, 0.74f, 0.86f, 0.9f, 0, 0, 0 };
  for (guint cut = 0; cut < 2; cut++) {
    SlPredictionView prediction = { 0 };
    guint inside = 0;
    mask.is_cut = cut == 1;
    sl_prediction_mapper_fill (mapper, result, NULL, NULL, &g, 1, &prediction);
    const SlObjectView *object = &prediction.objects[0];
    g_assert_cmpint (object->w, ==, 6);
    g_assert_cmpint (object->h, ==, 7);
    for (guint i = 0; i < object->mask.width * object->mask.height; i++)
      inside += object->mask.cells[i] >= 128;
    g_assert_cmpuint (object->mask.width * object->mask.height, ==, 2 * 3);
    g_assert_cmpuint (inside, ==, cut == 1 ? 4 : 6);
  }
  sl_prediction_mapper_free (mapper);
}

/* More than there is room for: those that come first have masks. */
static void
test_room (void)
{
  g_autofree SlResult *result = g_new0 (SlResult, 1);
  g_autofree guint8 *cells = g_malloc0 (512 * 512);
  g_autofree SlInstanceMask *masks = g_new (SlInstanceMask, 10);
  SlPredictionMapper *mapper = sl_prediction_mapper_new ();
  SlFrameGeometry g = {
    .tensor_width = 512, .tensor_height = 512, .frame_width = 1920, .frame_height = 1080
  };
  sl_affine_fit (&g.affine, SL_FIT_STRETCH, 1920, 1080, 512, 512);
  result->n_detections = 10;
  result->masks = masks;
  for (guint i = 0; i < 10; i++) {
    masks[i] = (SlInstanceMask){ 0, 0, 1, 1, 512, 512, cells };
    result->detections[i] = (SlDetection){ 0, 0, 1, 1, 0.9f, (gint32) i, 0, 0 };
  }
  for (guint frame = 0; frame < 2; frame++) {
    SlPredictionView prediction = { 0 };
    sl_prediction_mapper_fill (mapper, result, NULL, NULL, &g, 1, &prediction);
    for (guint i = 0; i < 10; i++)
      g_assert_cmpuint (prediction.objects[i].mask.width, ==, i < 2 ? 512 : 0);
  }
  sl_prediction_mapper_free (mapper);
}

static GstBuffer *
new_frame (void)
{
  static const guint8 gray[3] = { 128, 128, 128 };
  return test_frame (CAPS, gray, 0);
}

static void
test_meta (void)
{
  guint8 cells[2][12];
  SlObjectView objects[3] = { { 10, 20, 40, 30, 0, 0, 0.5, 0.5, 0.9, 1, "cat", 0, NULL, 7 },
                              { 0, 0, 9, 9, 0, 0, 1, 1, 0.8, 2, "dog" },
                              { 5, 5, 3, 4, 0, 0, 1, 1, 0.7, 3, "cow" } };
  SlPredictionView prediction = { .width = 320, .height = 160, .n_objects = 3, .objects = objects },
                   back = { .width = 320, .height = 160 };
  SlPredictionReader reader = { 0 };
  for (guint i = 0; i < 24; i++)
    cells[i / 12][i % 12] = (guint8) (i * 11);
  objects[0].mask = (SlObjectMask){ 4, 3, cells[0] };
  objects[2].mask = (SlObjectMask){ 2, 6, cells[1] };
  GstBuffer *frame = new_frame ();
  sl_buffer_add_prediction (frame, &prediction, NULL);
  GstVideoRegionOfInterestMeta *region = gst_buffer_get_video_region_of_interest_meta_id (frame, 7);
  g_assert_nonnull (region);
  const GstStructure *mask = gst_video_region_of_interest_meta_get_param (region, "mask");
  g_assert_cmpstr (gst_structure_get_string (mask, "format"), ==, "segmentation_mask");
  sl_prediction_reader_init (&reader);
  for (guint round = 0; round < 2; round++) {
    sl_prediction_reader_read (&reader, frame, &back);
    g_assert_cmpuint (back.n_objects, ==, 3);
    g_assert_cmpmem (back.objects[0].mask.cells, 12, cells[0], 12);
    g_assert_cmpuint (back.objects[0].mask.width, ==, 4);
    g_assert_cmpuint (back.objects[1].mask.width, ==, 0);
    g_assert_cmpmem (back.objects[2].mask.cells, 12, cells[1], 12);
    g_assert_cmpuint (back.objects[2].mask.height, ==, 6);
  }
  sl_prediction_reader_clear (&reader);
  gst_buffer_unref (frame);
}

/* Malformed structures of other elements have no mask; NaN and infinite values count as 0. */
static void
test_strangers (void)
{
  static const char *const structures[] = {
    "mask,format=segmentation_mask",
    "mask,format=segmentation_mask,data_buffer=(int)5",
    "mask,format=segmentation_mask,dims=<(uint)2,(uint)2>,data_buffer=(string)x",
    "mask,format=(int)3,dims=<(uint)2,(uint)2>",
  };
  static const char *const sizes[] = { "<(uint)2,(uint)3>",
                                       "<(uint)0,(uint)4>",
                                       "<(int)-2,(int)-2>",
                                       "<(uint)4>",
                                       "<(uint)4294967295,(uint)4294967295>",
                                       "<(string)2,(string)2>",
                                       "<(int)2,(int)2>" };
  static const gfloat shares[4] = { NAN, 2, -INFINITY, 0.5f };
  GstBuffer *frame = new_frame ();
  SlPredictionView prediction = { .width = 320, .height = 160 };
  SlPredictionReader reader = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS (structures) + G_N_ELEMENTS (sizes); i++) {
    GstVideoRegionOfInterestMeta *region =
      gst_buffer_add_video_region_of_interest_meta (frame, "thing", 10, 20, 100, 50);
    g_autofree char *text =
      i < G_N_ELEMENTS (structures)
        ? g_strdup (structures[i])
        : g_strdup_printf ("mask_yolov8,format=segmentation_mask,precision=10,dims=%s",
                           sizes[i - G_N_ELEMENTS (structures)]);
    GstStructure *structure = gst_structure_from_string (text, NULL);
    if (i >= G_N_ELEMENTS (structures))
      gst_structure_set (structure, "data_buffer", G_TYPE_VARIANT,
                         g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, shares, sizeof shares, 1),
                         NULL);
    gst_video_region_of_interest_meta_add_param (region, structure);
  }
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, frame, &prediction);
  const guint last = prediction.n_objects - 1;
  for (guint i = 0; i < last; i++)
    g_assert_cmpuint (prediction.objects[i].mask.width, ==, 0);
  g_assert_cmpuint (prediction.objects[last].mask.width, ==, 2);
  g_assert_cmpmem (prediction.objects[last].mask.cells, 4, ((const guint8[]){ 0, 255, 0, 128 }), 4);
  sl_prediction_reader_clear (&reader);
  gst_buffer_unref (frame);
}

/* yolov8-seg of an input of 128x128 on a frame of 320x160: one object whose prototype is a disc,
 * three classes. */
#define SIDE 32
#define K 4
#define TENSORS                                                                                \
  "other/tensors,format=static,num_tensors=2,dimensions=\"1:11:1,4:32:32:1\",types=\"float32," \
  "float32\",framerate=25/1"

/* @radius of the disc, in cells of the prototypes. */
static GstBuffer *
segmentation_tensors (double radius)
{
  gfloat row[4 + 3 + K] = { 0.5f, 0.5f, 0.5f, 0.5f, 0.1f, 0.9f, 0, 1, 0, 0, 0 };
  g_autofree gfloat *prototypes = g_new0 (gfloat, SIDE * SIDE * K);
  for (guint i = 0; i < SIDE * SIDE; i++)
    prototypes[i * K] = (gfloat) (radius - hypot (i % SIDE + 0.5 - 16, i / SIDE + 0.5 - 16));
  GstBuffer *buffer = test_tensor_buffer (row, sizeof row);
  GstBuffer *second = test_tensor_buffer (prototypes, SIDE * SIDE * K * sizeof *prototypes);
  gst_buffer_append_memory (buffer, gst_buffer_get_memory (second, 0));
  gst_buffer_unref (second);
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  GstBuffer *frame = new_frame ();
  SlFrameMeta *meta = sl_buffer_add_frame_meta (buffer, frame, caps, &info);
  sl_affine_fit (&meta->affine, SL_FIT_STRETCH, 320, 160, 128, 128);
  meta->tensor_width = meta->tensor_height = 128;
  gst_buffer_unref (frame);
  return buffer;
}

#define POSTPROCESS "slpostprocess decoder=yolo,preset=v8,units=normalised "

static GstBuffer *
run (const char *launch, const char *sink)
{
  return test_line_run (launch, sink, TENSORS, segmentation_tensors (6));
}

/* The runs of the JSON line, set against the disc's rows: centre 80,40 of the region, radii 60 and
 * 30 pixels. */
static void
test_json (void)
{
  g_autofree char *line = test_take_text (run (POSTPROCESS, "application/x-json"));
  g_assert_nonnull (strstr (line, "\"x\":80,\"y\":40,\"w\":160,\"h\":80,"));
  const char *mask = strstr (line, "\"mask\":{\"width\":16,\"height\":16,\"runs\":[");
  g_assert_nonnull (mask);
  g_auto (GStrv) runs = g_strsplit (strchr (mask, '[') + 1, ",", -1);
  guint at = 0;
  gboolean inside = FALSE;
  for (guint i = 0; runs[i] != NULL && at < 256; i++, inside = !inside)
    for (gint64 left = g_ascii_strtoll (runs[i], NULL, 10); left > 0; left--, at++) {
      const double distance = hypot (at % 16 + 0.5 - 8, at / 16 + 0.5 - 8) - 6;
      if (fabs (distance) > 0.1)
        g_assert_true (inside == (distance < 0));
    }
  g_assert_cmpuint (at, ==, 256);
}

/* Of the parts of two objects each has its own mask: discs of two sizes. */
static void
test_parts (void)
{
  static const double radii[2] = { 6, 3 };
  GstHarness *harness = gst_harness_new_parse (POSTPROCESS);
  gst_harness_set_sink_caps_str (harness, CAPS);
  gst_harness_set_src_caps_str (harness, TENSORS);
  g_autoptr (GstBuffer) frame = new_frame ();
  for (guint i = 0; i < 2; i++)
    gst_buffer_add_video_region_of_interest_meta (frame, "thing", 100 * i, 0, 100, 100);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *tensors = segmentation_tensors (radii[i]);
    SlFrameMeta *meta = sl_buffer_get_frame_meta (tensors);
    gst_buffer_replace (&meta->frame, frame);
    meta->region = i;
    meta->content = i == 0 ? SL_FRAME_OBJECT : SL_FRAME_LAST_OBJECT;
    g_assert_cmpint (gst_harness_push (harness, tensors), ==, GST_FLOW_OK);
  }
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  SlPredictionView prediction = { .width = 320, .height = 160 };
  SlPredictionReader reader;
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, out, &prediction);
  g_assert_cmpuint (prediction.n_objects, ==, 4);
  for (guint part = 0; part < 2; part++) {
    const SlObjectView *object = &prediction.objects[2 + part];
    g_assert_cmpuint (object->parent, ==, part + 1);
    g_assert_cmpuint (object->mask.width, ==, 16);
    g_assert_cmpuint (object->mask.height, ==, 16);
    for (guint i = 0; i < 256; i++) {
      const double distance = hypot (i % 16 + 0.5 - 8, i / 16 + 0.5 - 8) - radii[part];
      if (fabs (distance) > 0.1)
        g_assert_true ((object->mask.cells[i] >= SL_OBJECT_CELL) == (distance < 0));
    }
  }
  sl_prediction_reader_clear (&reader);
  gst_harness_teardown (harness);
}

#ifdef SL_HAVE_OVERLAY
/* The ellipse is coloured, its surroundings are not. */
static void
test_drawn (void)
{
  GstBuffer *out =
    run (POSTPROCESS "! sloverlay boxes=false labels=false scores=false mask-opacity=1", CAPS);
  GstMapInfo map;
  guint wrong = 0;
  g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
  for (guint y = 0; y < 160; y++)
    for (guint x = 0; x < 320; x++) {
      const guint8 *pixel = map.data + y * 960 + x * 3;
      const double distance = hypot ((x + 0.5 - 160) / 60, (y + 0.5 - 80) / 30) - 1;
      const gboolean gray = pixel[0] == 128 && pixel[1] == 128 && pixel[2] == 128;
      wrong += fabs (distance) > 0.04 && gray == (distance < 0);
    }
  g_assert_cmpuint (wrong, ==, 0);
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
}
#endif

#ifdef SL_HAVE_SEGMENTATION_MTD
/* The segmentation of the one object, and its pixels against the disc. */
static void
test_relations (void)
{
  GstBuffer *out = run (POSTPROCESS, CAPS);
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (out);
  GstAnalyticsODMtd object;
  GstAnalyticsSegmentationMtd segmentation;
  gpointer state = NULL, inner = NULL;
  gint x, y;
  guint w, h;
  gsize index;
  GstMapInfo map;
  g_assert_nonnull (relations);
  g_assert_true (gst_analytics_relation_meta_iterate (
    relations, &state, gst_analytics_od_mtd_get_mtd_type (), (GstAnalyticsMtd *) &object));
  g_assert_true (gst_analytics_relation_meta_get_direct_related (
    relations, object.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
    gst_analytics_segmentation_mtd_get_mtd_type (), &inner, (GstAnalyticsMtd *) &segmentation));
  g_assert_cmpuint (gst_analytics_segmentation_mtd_get_region_count (&segmentation), ==, 2);
  g_assert_true (gst_analytics_segmentation_mtd_get_region_index (&segmentation, &index, 1)
                 && index == 1);
  GstBuffer *mask = gst_analytics_segmentation_mtd_get_mask (&segmentation, &x, &y, &w, &h);
  g_assert_cmpint (x, ==, 80);
  g_assert_cmpint (y, ==, 40);
  g_assert_cmpuint (w, ==, 160);
  g_assert_cmpuint (h, ==, 80);
  const GstVideoMeta *video = gst_buffer_get_video_meta (mask);
  g_assert_cmpuint (video->width, ==, 16);
  g_assert_cmpuint (video->height, ==, 16);
  g_assert_true (gst_buffer_map (mask, &map, GST_MAP_READ));
  for (guint i = 0; i < 256; i++) {
    const double distance = hypot (i % 16 + 0.5 - 8, i / 16 + 0.5 - 8) - 6;
    if (fabs (distance) > 0.1)
      g_assert_cmpuint (map.data[i], ==, distance < 0);
  }
  gst_buffer_unmap (mask, &map);
  gst_buffer_unref (mask);
  gst_buffer_unref (out);
}

/* A mask of classes becomes a picture of them over the whole frame. */
static void
test_semantic (void)
{
  static const guint8 cells[6] = { 0, 1, 2, 255, 254, 7 };
  static const SlMaskClass classes[2] = { { 7, "road", 0.17 }, { 1, "sky", 0.17 } };
  const SlPredictionView prediction = { .width = 320,
                                        .height = 160,
                                        .mask = { 3, 2, cells },
                                        .mask_classes = classes,
                                        .n_mask_classes = G_N_ELEMENTS (classes) };
  GstBuffer *frame = new_frame ();
  sl_buffer_add_prediction (frame, &prediction, NULL);
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  GstAnalyticsSegmentationMtd segmentation;
  GstAnalyticsClsMtd names;
  gpointer state = NULL, inner = NULL;
  gint x, y;
  guint w, h;
  g_assert_nonnull (relations);
  g_assert_true (gst_analytics_relation_meta_iterate (
    relations, &state, gst_analytics_segmentation_mtd_get_mtd_type (),
    (GstAnalyticsMtd *) &segmentation));
  g_assert_cmpuint (gst_analytics_segmentation_mtd_get_region_id (&segmentation, 254), ==, 254);
  GstBuffer *mask = gst_analytics_segmentation_mtd_get_mask (&segmentation, &x, &y, &w, &h);
  g_assert_cmpint (gst_buffer_memcmp (mask, 0, cells, sizeof cells), ==, 0);
  g_assert_true (x == 0 && y == 0 && w == 320 && h == 160);
  gst_buffer_unref (mask);
  g_assert_true (gst_analytics_relation_meta_get_direct_related (
    relations, segmentation.id, GST_ANALYTICS_REL_TYPE_N_TO_N,
    gst_analytics_cls_mtd_get_mtd_type (), &inner, &names));
  g_assert_cmpuint (gst_analytics_cls_mtd_get_length (&names), ==,
                    gst_analytics_segmentation_mtd_get_region_count (&segmentation));
  g_assert_true (gst_analytics_cls_mtd_get_quark (&names, 7) == g_quark_from_string ("road"));
  g_assert_true (gst_analytics_cls_mtd_get_quark (&names, 1) == g_quark_from_string ("sky"));
  g_assert_true (gst_analytics_cls_mtd_get_quark (&names, 2) == 0);
  gst_buffer_unref (frame);
}
#endif

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
#ifdef SL_HAVE_OVERLAY
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
  g_test_add_func ("/objectmask/drawn", test_drawn);
#endif
  g_test_add_func ("/objectmask/disc", test_disc);
  g_test_add_func ("/objectmask/room", test_room);
  g_test_add_func ("/objectmask/cut", test_cut);
  g_test_add_func ("/objectmask/meta", test_meta);
  g_test_add_func ("/objectmask/strangers", test_strangers);
  g_test_add_func ("/objectmask/json", test_json);
  g_test_add_func ("/objectmask/parts", test_parts);
#ifdef SL_HAVE_SEGMENTATION_MTD
  g_test_add_func ("/objectmask/relations", test_relations);
  g_test_add_func ("/objectmask/semantic", test_semantic);
#endif
  return test_elements_run ();
}
