/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlObject and its parts: every getter against the values put in, and parts that outlive the
 * predictions they were taken from.
 */
#include "everything.h"
#include "tests/support/program.h"

static void
test_object_handles (void)
{
  g_autoptr (SlPredictions) p = everything ();
  SlObject *const *objects = sl_predictions_get_objects (p);
  g_assert_nonnull (objects[0]);
  g_assert_nonnull (objects[1]);
  g_assert_null (objects[2]);
  for (guint i = 0; i < 2; i++) {
    g_assert_true (sl_predictions_get_object (p, i) == objects[i]);
    g_assert_cmpuint (sl_object_get_index (objects[i]), ==, i);
    g_assert_true (sl_object_get_predictions (objects[i]) == p);
  }
  g_assert_cmpstr (sl_object_get_label (objects[0]), ==, "cat");
  g_assert_cmpint (sl_object_get_label_id (objects[0]), ==, 17);
  g_assert_cmpint (sl_object_get_label_id (objects[1]), ==, -1);
  g_assert_cmpfloat (sl_object_get_confidence (objects[0]), ==, 0.75);
  g_assert_cmpuint (sl_object_get_track_id (objects[0]), ==, 12);
  g_assert_cmpuint (sl_object_get_track_id (objects[1]), ==, 0);
  g_assert_null (sl_object_get_parent (objects[0]));
  g_assert_true (sl_object_get_parent (objects[1]) == objects[0]);
}

static void
assert_box (const SlBox *box, gdouble x, gdouble y, gdouble width, gdouble height)
{
  g_assert_cmpfloat_with_epsilon (box->x, x, 1e-9);
  g_assert_cmpfloat_with_epsilon (box->y, y, 1e-9);
  g_assert_cmpfloat_with_epsilon (box->width, width, 1e-9);
  g_assert_cmpfloat_with_epsilon (box->height, height, 1e-9);
}

static void
test_boxes (void)
{
  g_autoptr (SlPredictions) p = everything ();
  const SlObject *object = sl_predictions_get_object (p, 0);
  assert_box (sl_object_get_box (object), 10, 20, 30, 40);
  assert_box (sl_object_get_relative_box (object), 0.1, 0.2, 0.3, 0.4);
  g_autoptr (SlBox) copy = sl_box_copy (sl_object_get_box (object));
  assert_box (copy, 10, 20, 30, 40);
  sl_box_free (NULL);
}

static void
test_masks (void)
{
  g_autoptr (SlPredictions) p = everything ();
  const guint8 expected[] = { 0, 255, 130, 7 }, classes[] = { 0, 1, 1, 255, 1, 0 };
  gsize n;
  const SlMask *mask = sl_object_get_mask (sl_predictions_get_object (p, 0));
  const guint8 *cells = sl_mask_get_cells (mask, &n);
  g_assert_cmpmem (cells, n, expected, sizeof expected);
  g_assert_cmpuint (sl_mask_get_width (mask), ==, 2);
  g_assert_cmpuint (sl_mask_get_height (mask), ==, 2);
  assert_box (sl_mask_get_box (mask), 10, 20, 30, 40);
  g_assert_null (sl_object_get_mask (sl_predictions_get_object (p, 1)));
  mask = sl_predictions_get_class_mask (p);
  cells = sl_mask_get_cells (mask, &n);
  g_assert_cmpmem (cells, n, classes, sizeof classes);
  g_assert_true (sl_mask_get_width (mask) == 3 && sl_mask_get_height (mask) == 2
                 && sl_mask_get_cells (mask, NULL) == cells);
  assert_box (sl_mask_get_box (mask), 0, 0, 100, 100);
}

static void
test_lists (void)
{
  g_autoptr (SlPredictions) p = everything ();
  SlObject *const *objects = sl_predictions_get_objects (p);
  SlKeypoint *const *points = sl_object_get_keypoints (objects[0]);
  g_assert_true (points[0] != NULL && points[1] != NULL && points[2] == NULL);
  g_assert_cmpstr (sl_keypoint_get_name (points[0]), ==, "nose");
  g_assert_null (sl_keypoint_get_name (points[1]));
  g_assert_cmpfloat (sl_keypoint_get_x (points[1]), ==, 50);
  g_assert_cmpfloat (sl_keypoint_get_y (points[1]), ==, -12.5);
  g_assert_cmpfloat (sl_keypoint_get_confidence (points[1]), ==, 0.1);
  g_assert_null (sl_object_get_keypoints (objects[1])[0]);
  SlLabel *const *attributes = sl_object_get_attributes (objects[0]);
  g_assert_true (attributes[0] != NULL && attributes[1] == NULL);
  g_assert_cmpstr (sl_label_get_name (attributes[0]), ==, "tabby");
  g_assert_cmpstr (sl_label_get_model (attributes[0]), ==, "breeds.tflite");
  g_assert_cmpint (sl_label_get_id (attributes[0]), ==, 5);
  g_assert_cmpfloat (sl_label_get_confidence (attributes[0]), ==, 0.625);
  g_assert_null (sl_object_get_attributes (objects[1])[0]);
  SlLabel *const *labels = sl_predictions_get_labels (p);
  g_assert_true (labels[0] != NULL && labels[1] == NULL);
  g_assert_cmpstr (sl_label_get_name (labels[0]), ==, "indoor");
  g_assert_null (sl_label_get_model (labels[0]));
  const char *const keypoints[] = { "nose", "", NULL }, *const classes[] = { "sky", "background",
                                                                             NULL };
  g_assert_cmpstrv (sl_predictions_get_keypoint_names (p), keypoints);
  g_assert_cmpstrv (sl_predictions_get_mask_class_names (p), classes);
}

static void
test_codes (void)
{
  g_autoptr (SlPredictions) p = everything ();
  const SlObject *read = sl_predictions_get_object (p, 0),
                 *unread = sl_predictions_get_object (p, 1);
  gsize n;
  g_assert_cmpstr (sl_object_get_symbology (read), ==, "qr-code");
  g_assert_cmpstr (sl_object_get_text (read), ==, "hello");
  g_assert_cmpstr (sl_object_get_add_on (read), ==, "52495");
  const guint8 *bytes = sl_object_get_payload (read, &n);
  g_assert_cmpmem (bytes, n, "hello", 5);
  g_assert_true (sl_object_get_payload (read, NULL) == bytes);
  SlKeypoint *const *corners = sl_object_get_corners (read);
  for (guint i = 0; i < 4; i++)
    g_assert_nonnull (corners[i]);
  g_assert_null (corners[4]);
  g_assert_null (sl_keypoint_get_name (corners[0]));
  g_assert_cmpfloat_with_epsilon (sl_keypoint_get_x (corners[2]), 40, 1e-9);
  g_assert_cmpfloat_with_epsilon (sl_keypoint_get_y (corners[2]), 80, 1e-9);
  g_assert_null (sl_object_get_symbology (unread));
  g_assert_null (sl_object_get_text (unread));
  g_assert_null (sl_object_get_add_on (unread));
  g_assert_null (sl_object_get_payload (unread, &n));
  g_assert_cmpuint (n, ==, 0);
  g_assert_null (sl_object_get_corners (unread)[0]);
}

/* A reference to any part keeps the whole. */
static void
test_parts_keep (void)
{
  SlPredictions *p = everything ();
  SlObject *first = sl_predictions_get_object (p, 0);
  g_autoptr (SlObject) object = sl_object_ref (sl_predictions_get_object (p, 1));
  g_autoptr (SlMask) mask = sl_mask_ref (sl_object_get_mask (first));
  g_autoptr (SlKeypoint) point = sl_keypoint_ref (sl_object_get_keypoints (first)[0]);
  g_autoptr (SlLabel) label = sl_label_ref (sl_predictions_get_labels (p)[0]);
  sl_predictions_unref (p);
  g_assert_cmpstr (sl_object_get_label (sl_object_get_parent (object)), ==, "cat");
  g_clear_pointer (&object, sl_object_unref);
  g_assert_cmpuint (sl_mask_get_cells (mask, NULL)[1], ==, 255);
  g_clear_pointer (&mask, sl_mask_unref);
  g_assert_cmpstr (sl_keypoint_get_name (point), ==, "nose");
  g_clear_pointer (&point, sl_keypoint_unref);
  g_assert_cmpstr (sl_label_get_name (label), ==, "indoor");
}

static gpointer
take_objects (gpointer predictions)
{
  return (gpointer) sl_predictions_get_objects (predictions);
}

/* Lists are made when they are first asked for, once, for all callers. */
static void
test_lists_of_threads (void)
{
  for (guint round = 0; round < 200; round++) {
    g_autoptr (SlPredictions) p = everything ();
    GThread *threads[4];
    for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
      threads[i] = g_thread_new ("reader", take_objects, p);
    for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
      g_assert_true (g_thread_join (threads[i]) == (gpointer) sl_predictions_get_objects (p));
  }
}

static void
test_boxed (void)
{
  g_autoptr (SlPredictions) p = everything ();
  SlObject *object = sl_predictions_get_object (p, 0);
  const struct
  {
    GType type;
    gpointer value;
  } handles[] = { { SL_TYPE_OBJECT, object },
                  { SL_TYPE_MASK, sl_object_get_mask (object) },
                  { SL_TYPE_KEYPOINT, sl_object_get_keypoints (object)[0] },
                  { SL_TYPE_LABEL, sl_predictions_get_labels (p)[0] } };
  for (guint i = 0; i < G_N_ELEMENTS (handles); i++) {
    g_auto (GValue) value = G_VALUE_INIT;
    g_value_init (&value, handles[i].type);
    g_value_set_boxed (&value, handles[i].value);
    g_assert_true (g_value_get_boxed (&value) == handles[i].value);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/object/objects", test_object_handles);
  g_test_add_func ("/object/boxes", test_boxes);
  g_test_add_func ("/object/masks", test_masks);
  g_test_add_func ("/object/lists", test_lists);
  g_test_add_func ("/object/codes", test_codes);
  g_test_add_func ("/object/parts-keep", test_parts_keep);
  g_test_add_func ("/object/lists-of-threads", test_lists_of_threads);
  g_test_add_func ("/object/boxed", test_boxed);
  return g_test_run ();
}
