/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPredictions: every getter against the values put in, after the memory they came from is gone.
 */
#include "everything.h"

static void
test_frame (void)
{
  g_autoptr (SlPredictions) p = everything ();
  gint64 age, preprocess, inference, decode;
  g_assert_cmpstr (sl_predictions_get_source (p), ==, "camera 1");
  g_assert_cmpuint (sl_predictions_get_frame_number (p), ==, 7);
  g_assert_cmpuint (sl_predictions_get_timestamp (p), ==, 40000000);
  g_assert_cmpuint (sl_predictions_get_width (p), ==, 100);
  g_assert_cmpuint (sl_predictions_get_height (p), ==, 100);
  g_assert_true (sl_predictions_get_latency (p, &age, &preprocess, &inference, &decode));
  g_assert_cmpint (age, ==, 100);
  g_assert_cmpint (preprocess, ==, 20);
  g_assert_cmpint (inference, ==, 60);
  g_assert_cmpint (decode, ==, 5);
  g_assert_cmpstr (sl_predictions_get_worker (p), ==, "w1");
}

static void
test_objects (void)
{
  g_autoptr (SlPredictions) p = everything ();
  gdouble x, y, w, h;
  g_assert_cmpuint (sl_predictions_get_n_objects (p), ==, 2);
  g_assert_cmpstr (sl_predictions_get_object_label (p, 0), ==, "cat");
  g_assert_cmpint (sl_predictions_get_object_label_id (p, 0), ==, 17);
  g_assert_cmpfloat (sl_predictions_get_object_confidence (p, 0), ==, 0.75);
  sl_predictions_get_object_box (p, 0, &x, &y, &w, &h);
  g_assert_cmpfloat_with_epsilon (x, 10, 1e-9);
  g_assert_cmpfloat_with_epsilon (y, 20, 1e-9);
  g_assert_cmpfloat_with_epsilon (w, 30, 1e-9);
  g_assert_cmpfloat_with_epsilon (h, 40, 1e-9);
  sl_predictions_get_object_relative_box (p, 0, &x, &y, &w, &h);
  g_assert_cmpfloat (x, ==, 0.1);
  g_assert_cmpfloat (y, ==, 0.2);
  g_assert_cmpfloat (w, ==, 0.4);
  g_assert_cmpfloat (h, ==, 0.6);
  g_assert_cmpstr (sl_predictions_get_object_label (p, 1), ==, "unknown");
  g_assert_cmpint (sl_predictions_get_object_label_id (p, 1), ==, -1);
}

static void
test_tracked (void)
{
  g_autoptr (SlPredictions) p = everything ();
  const guint8 expected[] = { 0, 255, 130, 7 };
  gint x, y, w, h;
  guint width, height;
  g_assert_cmpint (sl_predictions_get_object_id (p, 0), ==, 12);
  g_assert_cmpint (sl_predictions_get_object_id (p, 1), ==, 0);
  g_autoptr (GBytes) mask = sl_predictions_get_object_mask (p, 0, &x, &y, &w, &h, &width, &height);
  g_assert_true (x == 10 && y == 20 && w == 30 && h == 40 && width == 2 && height == 2);
  g_assert_cmpmem (g_bytes_get_data (mask, NULL), g_bytes_get_size (mask), expected, sizeof expected);
  g_assert_null (sl_predictions_get_object_mask (p, 1, NULL, NULL, NULL, NULL, &width, NULL));
  g_assert_cmpuint (width, ==, 0);
}

static void
test_nested (void)
{
  g_autoptr (SlPredictions) p = everything ();
  gint id;
  gdouble confidence;
  const char *model;
  g_assert_cmpint (sl_predictions_get_object_parent (p, 0), ==, -1);
  g_assert_cmpint (sl_predictions_get_object_parent (p, 1), ==, 0);
  g_assert_cmpuint (sl_predictions_get_n_object_details (p, 0), ==, 1);
  g_assert_cmpuint (sl_predictions_get_n_object_details (p, 1), ==, 0);
  g_assert_cmpstr (sl_predictions_get_object_detail (p, 0, 0, &id, &confidence, &model), ==, "tabby");
  g_assert_cmpint (id, ==, 5);
  g_assert_cmpfloat (confidence, ==, 0.625);
  g_assert_cmpstr (model, ==, "breeds.tflite");
}

static void
test_keypoints (void)
{
  g_autoptr (SlPredictions) p = everything ();
  gdouble x, y, confidence;
  guint from, to;
  g_assert_cmpuint (sl_predictions_get_n_keypoints (p, 0), ==, 2);
  g_assert_cmpuint (sl_predictions_get_n_keypoints (p, 1), ==, 0);
  sl_predictions_get_keypoint (p, 0, 1, &x, &y, &confidence);
  g_assert_cmpfloat (x, ==, 50);
  g_assert_cmpfloat (y, ==, -12.5);
  g_assert_cmpfloat (confidence, ==, 0.1);
  g_assert_cmpstr (sl_predictions_get_keypoint_name (p, 0), ==, "nose");
  g_assert_null (sl_predictions_get_keypoint_name (p, 1));
  g_assert_null (sl_predictions_get_keypoint_name (p, 2));
  g_assert_cmpuint (sl_predictions_get_n_bones (p), ==, 1);
  sl_predictions_get_bone (p, 0, &from, &to);
  g_assert_cmpuint (from, ==, 0);
  g_assert_cmpuint (to, ==, 1);
}

static void
test_labels_and_mask (void)
{
  SlPredictions *p = everything ();
  const guint8 expected[] = { 0, 1, 1, 255, 1, 0 };
  guint width, height;
  gint id;
  gdouble fraction;
  g_assert_cmpuint (sl_predictions_get_n_labels (p), ==, 1);
  g_assert_cmpstr (sl_predictions_get_label (p, 0), ==, "indoor");
  g_assert_cmpint (sl_predictions_get_label_id (p, 0), ==, 3);
  g_assert_cmpfloat (sl_predictions_get_label_confidence (p, 0), ==, 0.875);
  g_assert_cmpuint (sl_predictions_get_n_mask_classes (p), ==, 2);
  g_assert_cmpstr (sl_predictions_get_mask_class (p, 0, &id, &fraction), ==, "sky");
  g_assert_cmpint (id, ==, 1);
  g_assert_cmpfloat (fraction, ==, 0.5);
  g_assert_cmpstr (sl_predictions_get_mask_class (p, 1, NULL, NULL), ==, "background");
  g_autoptr (GBytes) mask = g_bytes_ref (sl_predictions_get_mask (p, &width, &height));
  sl_predictions_unref (p);
  g_assert_cmpuint (width, ==, 3);
  g_assert_cmpuint (height, ==, 2);
  g_assert_cmpmem (g_bytes_get_data (mask, NULL), g_bytes_get_size (mask), expected, sizeof expected);
}

static void
test_vector (void)
{
  g_autoptr (SlPredictions) p = everything ();
  const char *unit = NULL;
  guint n = 0;
  const gfloat *values = sl_predictions_get_values (p, &n);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpfloat (values[0], ==, -12.5);
  g_assert_cmpstr (sl_predictions_get_value_name (p, 0, &unit), ==, "yaw");
  g_assert_cmpstr (unit, ==, "degrees");
}

static void
test_written (void)
{
  g_autoptr (SlPredictions) p = everything ();
  g_autofree char *json = sl_predictions_to_json (p);
  g_autofree char *text = sl_predictions_to_text (p);
  g_assert_true (g_str_has_prefix (json, "{\"source\":\"camera 1\",\"frame\":7,\"timestamp\":40000000,"));
  g_assert_nonnull (strstr (json, "\"runs\":[0,1,1,2,255,1,1,1,0,1]"));
  g_assert_nonnull (strstr (json, "\"latency\":{\"age\":100,\"preprocess\":20,\"inference\":60,\"decode\":5}"));
  g_assert_cmpstr (text, ==,
                   "sky 0.5\nyaw -12.5 degrees\ncat 0.75 10 20 30 40 12\n  qr-code hello\n  tabby 0.625\n  unknown 0.5 0 0 100 100\n");
}

static void
test_nothing (void)
{
  const SlPredictionView none = { .timestamp = G_MAXUINT64, .width = 4, .height = 4 };
  g_autoptr (SlPredictions) p = sl_predictions_new (&none);
  gint64 age;
  guint width, height;
  g_assert_null (sl_predictions_get_source (p));
  g_assert_cmpuint (sl_predictions_get_n_objects (p) + sl_predictions_get_n_labels (p) + sl_predictions_get_n_mask_classes (p), ==, 0);
  g_assert_cmpuint (sl_predictions_get_n_bones (p), ==, 0);
  g_assert_null (sl_predictions_get_keypoint_name (p, 0));
  g_assert_null (sl_predictions_get_mask (p, &width, &height));
  g_assert_cmpuint (width + height, ==, 0);
  g_assert_null (sl_predictions_get_objects (p)[0]);
  g_assert_null (sl_predictions_get_labels (p)[0]);
  g_assert_null (sl_predictions_get_class_mask (p));
  g_assert_null (sl_predictions_get_keypoint_names (p)[0]);
  g_assert_null (sl_predictions_get_mask_class_names (p)[0]);
  g_assert_false (sl_predictions_get_latency (p, &age, NULL, NULL, NULL));
  g_assert_cmpint (age, ==, -1);
  g_assert_null (sl_predictions_get_worker (p));
  SlPredictions *again = g_boxed_copy (SL_TYPE_PREDICTIONS, p);
  g_assert_true (again == p);
  g_boxed_free (SL_TYPE_PREDICTIONS, again);
}

static void
test_out_of_range (void)
{
  g_autoptr (SlPredictions) p = everything ();
  g_test_expect_message (NULL, G_LOG_LEVEL_CRITICAL, "*sl_predictions_get_object_label*");
  g_assert_null (sl_predictions_get_object_label (p, 2));
  g_test_expect_message (NULL, G_LOG_LEVEL_CRITICAL, "*sl_predictions_get_label_confidence*");
  g_assert_cmpfloat (sl_predictions_get_label_confidence (p, 1), ==, 0);
  g_test_expect_message (NULL, G_LOG_LEVEL_CRITICAL, "*sl_predictions_get_keypoint*");
  sl_predictions_get_keypoint (p, 0, 2, NULL, NULL, NULL);
  g_test_expect_message (NULL, G_LOG_LEVEL_CRITICAL, "*sl_predictions_get_object:*index*");
  g_assert_null (sl_predictions_get_object (p, 2));
  g_test_assert_expected_messages ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictions/frame", test_frame);
  g_test_add_func ("/predictions/objects", test_objects);
  g_test_add_func ("/predictions/tracked", test_tracked);
  g_test_add_func ("/predictions/nested", test_nested);
  g_test_add_func ("/predictions/keypoints", test_keypoints);
  g_test_add_func ("/predictions/labels-and-mask", test_labels_and_mask);
  g_test_add_func ("/predictions/vector", test_vector);
  g_test_add_func ("/predictions/written", test_written);
  g_test_add_func ("/predictions/nothing", test_nothing);
  g_test_add_func ("/predictions/out-of-range", test_out_of_range);
  return g_test_run ();
}
