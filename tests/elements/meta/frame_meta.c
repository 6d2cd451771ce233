/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlFrameMeta and the prediction metas: what they hold, who keeps what alive, what survives a copy.
 */
#include "plugins/meta/frame_meta.h"

#include <string.h>

#include "plugins/meta/predictions.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define FRAME_CAPS "video/x-raw,format=GRAY8,width=8,height=6,framerate=25/1"

static void
test_ownership (void)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  GstBuffer *frame = gst_buffer_new ();
  GstBuffer *buffer = gst_buffer_new ();
  g_assert_null (sl_buffer_get_frame_meta (buffer));
  SlFrameMeta *meta = sl_buffer_add_frame_meta (buffer, frame, caps, &info);
  g_assert_true (sl_buffer_get_frame_meta (buffer) == meta);
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (frame), ==, 2);
  g_assert_cmpint (meta->info.width, ==, 8);
  double x, y;
  sl_affine_apply (&meta->affine, 3, 4, &x, &y);
  g_assert_cmpfloat (x, ==, 3);
  g_assert_cmpfloat (y, ==, 4);
  gst_buffer_unref (buffer);
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (frame), ==, 1);
  gst_buffer_unref (frame);
}

static void
test_copy (void)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  GstBuffer *frame = gst_buffer_new ();
  GstBuffer *buffer = gst_buffer_new ();
  SlFrameMeta *meta = sl_buffer_add_frame_meta (buffer, frame, caps, &info);
  meta->affine.x0 = 7;
  meta->tensor_width = 300;
  meta->tensor_height = 200;
  meta->captured = 1;
  meta->preprocessed = 2;
  meta->inferred = 3;
  meta->decoded = 4;
  char *worker = g_ref_string_new ("w1");
  sl_frame_meta_set_worker (meta, worker);
  g_ref_string_release (worker);
  GstBuffer *copy = gst_buffer_copy (buffer);
  gst_buffer_unref (buffer);
  SlFrameMeta *copied = sl_buffer_get_frame_meta (copy);
  g_assert_nonnull (copied);
  g_assert_true (copied->frame == frame);
  g_assert_true (gst_caps_is_equal (copied->caps, caps));
  g_assert_cmpfloat (copied->affine.x0, ==, 7);
  g_assert_cmpint (copied->tensor_width, ==, 300);
  g_assert_cmpint (copied->tensor_height, ==, 200);
  g_assert_cmpint (copied->captured, ==, 1);
  g_assert_cmpint (copied->preprocessed, ==, 2);
  g_assert_cmpint (copied->inferred, ==, 3);
  g_assert_cmpint (copied->decoded, ==, 4);
  g_assert_cmpstr (copied->worker, ==, "w1");
  gst_buffer_unref (copy);
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (frame), ==, 1);
  gst_buffer_unref (frame);
}

/* A copy has every value, also of members that come later: all bytes are set, those of references
 * and of info excepted. */
static void
test_copy_values (void)
{
  SlFrameMeta from, to;
  memset (&from, 0x5a, sizeof from);
  memset (&to, 0, sizeof to);
  from.worker = NULL;
  sl_frame_meta_copy_values (&to, &from);
  const gsize own = G_STRUCT_OFFSET (SlFrameMeta, affine);
  g_assert_null (to.frame);
  g_assert_null (to.caps);
  g_assert_cmpint (to.info.width, ==, 0);
  g_assert_cmpmem ((guint8 *) &to + own, sizeof to - own, (guint8 *) &from + own,
                   sizeof from - own);
}

static void
test_not_pooled (void)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, NULL, 16, 1, 1);
  g_assert_true (gst_buffer_pool_set_config (pool, config));
  g_assert_true (gst_buffer_pool_set_active (pool, TRUE));
  GstBuffer *frame = gst_buffer_new (), *buffer = NULL;
  g_assert_cmpint (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), ==, GST_FLOW_OK);
  sl_buffer_add_frame_meta (buffer, frame, NULL, NULL);
  gst_buffer_unref (buffer);
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (frame), ==, 1);
  g_assert_cmpint (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), ==, GST_FLOW_OK);
  g_assert_null (sl_buffer_get_frame_meta (buffer));
  gst_buffer_unref (buffer);
  gst_buffer_unref (frame);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}

static void
test_latency (void)
{
  SlLatency latency;
  SlFrameMeta meta = { .preprocessed = 500 };
  g_assert_false (sl_frame_meta_latency (NULL, 1000, &latency));
  g_assert_false (sl_frame_meta_latency (&meta, 1000, &latency));
  g_assert_cmpint (latency.age, ==, -1);
  g_assert_cmpint (latency.preprocess, ==, -1);

  meta.captured = 100;
  g_assert_true (sl_frame_meta_latency (&meta, 1000, &latency));
  g_assert_cmpint (latency.age, ==, 900);
  g_assert_cmpint (latency.preprocess, ==, 400);
  g_assert_cmpint (latency.inference, ==, -1);
  g_assert_cmpint (latency.decode, ==, -1);

  meta.started = 300; /* it waited before */
  meta.inferred = 750;
  g_assert_true (sl_frame_meta_latency (&meta, 1000, &latency));
  g_assert_cmpint (latency.preprocess, ==, 200);
  g_assert_cmpint (latency.inference, ==, 250);
  g_assert_cmpint (latency.decode, ==, 250);

  meta.decoded = 760;
  g_assert_true (sl_frame_meta_latency (&meta, 1000, &latency));
  g_assert_cmpint (latency.age, ==, 900);
  g_assert_cmpint (latency.decode, ==, 10);
}

static void
test_predictions (void)
{
  const SlObjectView object = { .x = 1,
                                .y = 2,
                                .w = 3,
                                .h = 4,
                                .x_min = 0.125,
                                .y_min = 0.25,
                                .x_max = 0.5,
                                .y_max = 0.75,
                                .confidence = 0.875,
                                .label_id = 17,
                                .label = "cat" };
  const SlLabelled label = { .label_id = 3, .confidence = 0.5, .label = "indoors" };
  SlPredictionView prediction = {
    .width = 8, .height = 8, .n_objects = 1, .n_labels = 1, .objects = &object, .labels = &label
  };
  GstBuffer *buffer = gst_buffer_new ();
  sl_buffer_add_prediction (buffer, &prediction, NULL);

  GstVideoRegionOfInterestMeta *region =
    gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
  g_assert_nonnull (region);
  g_assert_cmpstr (g_quark_to_string (region->roi_type), ==, "cat");
  g_assert_cmpuint (region->x, ==, 1);
  g_assert_cmpuint (region->h, ==, 4);
  GstStructure *detection = gst_video_region_of_interest_meta_get_param (region, "detection");
  gdouble x_max = 0;
  g_assert_true (gst_structure_get_double (detection, "x_max", &x_max));
  g_assert_cmpfloat (x_max, ==, 0.5);

  SlPredictionReader reader;
  SlPredictionView read = { .width = 8, .height = 8 };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, buffer, &read);
  gst_buffer_unref (buffer);
  g_assert_cmpuint (read.n_objects, ==, 1);
  g_assert_cmpuint (read.n_labels, ==, 1);
  g_assert_cmpstr (read.objects[0].label, ==, "cat");
  g_assert_cmpint (read.objects[0].label_id, ==, 17);
  g_assert_cmpint (read.objects[0].w, ==, 3);
  g_assert_cmpfloat (read.objects[0].y_max, ==, 0.75);
  g_assert_cmpfloat (read.objects[0].confidence, ==, 0.875);
  g_assert_cmpstr (read.labels[0].label, ==, "indoors");
  g_assert_cmpint (read.labels[0].label_id, ==, 3);
  g_assert_cmpfloat (read.labels[0].confidence, ==, 0.5);
  sl_prediction_reader_clear (&reader);
}

/* A region that another element wrote, without parameters. */
static void
test_foreign_region (void)
{
  GstBuffer *buffer = gst_buffer_new ();
  gst_buffer_add_video_region_of_interest_meta (buffer, "face", 2, 4, 6, 8);
  SlPredictionReader reader;
  SlPredictionView read = { .width = 16, .height = 16 };
  sl_prediction_reader_init (&reader);
  for (guint i = 0; i < 2; i++) {
    sl_prediction_reader_read (&reader, buffer, &read);
    g_assert_cmpuint (read.n_objects, ==, 1);
    g_assert_cmpuint (read.n_labels, ==, 0);
    g_assert_cmpstr (read.objects[0].label, ==, "face");
    g_assert_cmpint (read.objects[0].label_id, ==, -1);
    g_assert_cmpfloat (read.objects[0].x_min, ==, 0.125);
    g_assert_cmpfloat (read.objects[0].y_max, ==, 0.75);
  }
  sl_prediction_reader_clear (&reader);
  gst_buffer_unref (buffer);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/frame-meta/ownership", test_ownership);
  g_test_add_func ("/frame-meta/copy", test_copy);
  g_test_add_func ("/frame-meta/copy-values", test_copy_values);
  g_test_add_func ("/frame-meta/not-pooled", test_not_pooled);
  g_test_add_func ("/frame-meta/latency", test_latency);
  g_test_add_func ("/predictions/round-trip", test_predictions);
  g_test_add_func ("/predictions/foreign-region", test_foreign_region);
  return test_elements_run ();
}
