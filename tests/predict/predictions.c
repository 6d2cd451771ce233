/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPredictions: every getter against the values put in, after the memory they came from is gone.
 */
#include "everything.h"
#include "tests/support/program.h"

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
  g_assert_cmpuint (sl_predictions_get_n_objects (p), ==, 2);
  g_assert_cmpstr (sl_object_get_label (sl_predictions_get_object (p, 0)), ==, "cat");
  g_assert_cmpint (sl_object_get_label_id (sl_predictions_get_object (p, 0)), ==, 17);
  g_assert_cmpfloat (sl_object_get_confidence (sl_predictions_get_object (p, 0)), ==, 0.75);
  const SlBox *box = sl_object_get_box (sl_predictions_get_object (p, 0));
  g_assert_cmpfloat_with_epsilon (box->x, 10, 1e-9);
  g_assert_cmpfloat_with_epsilon (box->y, 20, 1e-9);
  g_assert_cmpfloat_with_epsilon (box->width, 30, 1e-9);
  g_assert_cmpfloat_with_epsilon (box->height, 40, 1e-9);
  const SlBox *relative = sl_object_get_relative_box (sl_predictions_get_object (p, 0));
  g_assert_cmpfloat (relative->x, ==, 0.1);
  g_assert_cmpfloat (relative->y, ==, 0.2);
  g_assert_cmpfloat_with_epsilon (relative->width, 0.3, 1e-9);
  g_assert_cmpfloat_with_epsilon (relative->height, 0.4, 1e-9);
  g_assert_cmpstr (sl_object_get_label (sl_predictions_get_object (p, 1)), ==, "unknown");
  g_assert_cmpint (sl_object_get_label_id (sl_predictions_get_object (p, 1)), ==, -1);
}

static void
test_tracked (void)
{
  g_autoptr (SlPredictions) p = everything ();
  const guint8 expected[] = { 0, 255, 130, 7 };
  g_assert_cmpint (sl_object_get_track_id (sl_predictions_get_object (p, 0)), ==, 12);
  g_assert_cmpint (sl_object_get_track_id (sl_predictions_get_object (p, 1)), ==, 0);
  const SlMask *mask = sl_object_get_mask (sl_predictions_get_object (p, 0));
  const SlBox *box = sl_mask_get_box (mask);
  g_assert_true (box->x == 10 && box->y == 20 && box->width == 30 && box->height == 40);
  g_assert_true (sl_mask_get_width (mask) == 2 && sl_mask_get_height (mask) == 2);
  gsize n;
  const guint8 *cells = sl_mask_get_cells (mask, &n);
  g_assert_cmpmem (cells, n, expected, sizeof expected);
  g_assert_null (sl_object_get_mask (sl_predictions_get_object (p, 1)));
}

static void
test_nested (void)
{
  g_autoptr (SlPredictions) p = everything ();
  SlObject *const *objects = sl_predictions_get_objects (p);
  SlLabel *const *attributes = sl_object_get_attributes (objects[0]);
  g_assert_null (sl_object_get_parent (objects[0]));
  g_assert_true (sl_object_get_parent (objects[1]) == objects[0]);
  g_assert_cmpuint (sl_test_length (attributes), ==, 1);
  g_assert_cmpuint (sl_test_length (sl_object_get_attributes (objects[1])), ==, 0);
  g_assert_cmpstr (sl_label_get_name (attributes[0]), ==, "tabby");
  g_assert_cmpint (sl_label_get_id (attributes[0]), ==, 5);
  g_assert_cmpfloat (sl_label_get_confidence (attributes[0]), ==, 0.625);
  g_assert_cmpstr (sl_label_get_model (attributes[0]), ==, "breeds.tflite");
}

static void
test_keypoints (void)
{
  g_autoptr (SlPredictions) p = everything ();
  guint from, to;
  g_assert_cmpuint (sl_test_length (sl_object_get_keypoints (sl_predictions_get_object (p, 0))), ==,
                    2);
  g_assert_cmpuint (sl_test_length (sl_object_get_keypoints (sl_predictions_get_object (p, 1))), ==,
                    0);
  SlKeypoint *const *points = sl_object_get_keypoints (sl_predictions_get_object (p, 0));
  g_assert_cmpfloat (sl_keypoint_get_x (points[1]), ==, 50);
  g_assert_cmpfloat (sl_keypoint_get_y (points[1]), ==, -12.5);
  g_assert_cmpfloat (sl_keypoint_get_confidence (points[1]), ==, 0.1);
  g_assert_cmpstr (sl_keypoint_get_name (points[0]), ==, "nose");
  g_assert_null (sl_keypoint_get_name (points[1]));
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
  gint id;
  gsize n;
  gdouble fraction;
  g_assert_cmpuint (sl_test_length (sl_predictions_get_labels (p)), ==, 1);
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (p)[0]), ==, "indoor");
  g_assert_cmpint (sl_label_get_id (sl_predictions_get_labels (p)[0]), ==, 3);
  g_assert_cmpfloat (sl_label_get_confidence (sl_predictions_get_labels (p)[0]), ==, 0.875);
  g_assert_cmpuint (sl_predictions_get_n_mask_classes (p), ==, 2);
  g_assert_cmpstr (sl_predictions_get_mask_class (p, 0, &id, &fraction), ==, "sky");
  g_assert_cmpint (id, ==, 1);
  g_assert_cmpfloat (fraction, ==, 0.5);
  g_assert_cmpstr (sl_predictions_get_mask_class (p, 1, NULL, NULL), ==, "background");
  g_autoptr (SlMask) mask = sl_mask_ref (sl_predictions_get_class_mask (p));
  sl_predictions_unref (p);
  g_assert_cmpuint (sl_mask_get_width (mask), ==, 3);
  g_assert_cmpuint (sl_mask_get_height (mask), ==, 2);
  const guint8 *cells = sl_mask_get_cells (mask, &n);
  g_assert_cmpmem (cells, n, expected, sizeof expected);
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
  g_assert_true (
    g_str_has_prefix (json, "{\"source\":\"camera 1\",\"frame\":7,\"timestamp\":40000000,"));
  g_assert_nonnull (strstr (json, "\"runs\":[0,1,1,2,255,1,1,1,0,1]"));
  g_assert_nonnull (
    strstr (json, "\"latency\":{\"age\":100,\"preprocess\":20,\"inference\":60,\"decode\":5}"));
  g_assert_cmpstr (
    text, ==,
    "sky 0.5\nyaw -12.5 degrees\ncat 0.75 10 20 30 40 12\n  qr-code hello + 52495\n  tabby 0.625\n"
    "  unknown 0.5 0 0 100 100\n");
}

static void
test_nothing (void)
{
  const SlPredictionView none = { .timestamp = G_MAXUINT64, .width = 4, .height = 4 };
  g_autoptr (SlPredictions) p = sl_predictions_new (&none);
  gint64 age;
  g_assert_null (sl_predictions_get_source (p));
  g_assert_cmpuint (sl_predictions_get_n_objects (p) + sl_predictions_get_n_mask_classes (p), ==,
                    0);
  g_assert_cmpuint (sl_predictions_get_n_bones (p), ==, 0);
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

/* Predictions that are filled again are what was put in last, after more and after less. */
static void
test_refill (void)
{
  g_autoptr (SlPredictions) all = everything (), p = everything ();
  g_autofree SlObjectView *objects = g_new0 (SlObjectView, 2000);
  for (guint i = 0; i < 2000; i++)
    objects[i] = (SlObjectView){ .x = (gint) i, .label = "thing", .confidence = 0.5 };
  const SlPredictionView many = { .width = 4, .height = 4, .n_objects = 2000, .objects = objects };
  g_autofree char *expected = sl_predictions_to_json (all);
  for (guint round = 0; round < 3; round++) {
    sl_predictions_refill (p, &many);
    g_assert_cmpuint (sl_predictions_get_n_objects (p), ==, 2000);
    g_assert_cmpstr (sl_object_get_label (sl_predictions_get_object (p, 1999)), ==, "thing");
    g_assert_null (sl_predictions_get_class_mask (p));
    sl_predictions_refill (p, sl_predictions_view (all));
    g_autofree char *json = sl_predictions_to_json (p);
    g_assert_cmpstr (json, ==, expected);
    g_assert_cmpstr (sl_object_get_label (sl_predictions_get_objects (p)[0]), ==, "cat");
  }
}

static void
test_out_of_range (void)
{
  g_autoptr (SlPredictions) p = everything ();
  g_test_expect_message (NULL, G_LOG_LEVEL_CRITICAL, "*sl_predictions_get_mask_class:*mask_class*");
  g_assert_null (sl_predictions_get_mask_class (p, 2, NULL, NULL));
  g_test_expect_message (NULL, G_LOG_LEVEL_CRITICAL, "*sl_predictions_get_value_name:*value*");
  g_assert_null (sl_predictions_get_value_name (p, 1, NULL));
  g_test_expect_message (NULL, G_LOG_LEVEL_CRITICAL, "*sl_predictions_get_object:*index*");
  g_assert_null (sl_predictions_get_object (p, 2));
  g_test_assert_expected_messages ();
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictions/frame", test_frame);
  g_test_add_func ("/predictions/refill", test_refill);
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
