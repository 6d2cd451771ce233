/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predictions on frames that GStreamer's own elements convert and scale: what they say of objects is still there. */
#include <string.h>

#include "plugins/meta/region_predictions.h"
#include "tests/elements/support.h"

#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=25/1"

static GstBuffer *
frame_with (guint n_objects)
{
  static const SlPoint points[] = { { 8, 12, 0.75 }, { 16, 24, 0.5 } };
  SlObjectView objects[] = {
    { .x = 4,
      .y = 6,
      .w = 16,
      .h = 24,
      .x_min = 4,
      .y_min = 6,
      .x_max = 20,
      .y_max = 30,
      .confidence = 0.625,
      .label = "cup",
      .label_id = 3,
      .object_id = 7,
      .n_points = 2,
      .points = points },
    { .x = 40, .y = 20, .w = 8, .h = 8, .x_min = 40, .y_min = 20, .x_max = 48, .y_max = 28, .confidence = 0.25, .label = "cat" },
  };
  const SlLabelled label = { .label = "indoors", .label_id = 1, .confidence = 0.875 };
  const SlPredictionView prediction = {
    .width = 64, .height = 48, .n_objects = n_objects, .objects = objects, .n_labels = 1, .labels = &label
  };
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 64 * 48 * 3, NULL);
  gst_buffer_memset (frame, 0, 0x80, 64 * 48 * 3);
  sl_buffer_add_prediction (frame, &prediction, NULL);
  return frame;
}

/* Frames of @scale times the size. */
static void
expect_predictions (GstBuffer *frame, guint n_objects, double scale)
{
  SlPredictionReader reader;
  SlPredictionView seen = { .width = (gint) (64 * scale), .height = (gint) (48 * scale) };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, frame, &seen);
  g_assert_cmpuint (seen.n_objects, ==, n_objects);
  g_assert_cmpuint (seen.n_labels, ==, 1);
  g_assert_cmpstr (seen.labels[0].label, ==, "indoors");
  g_assert_cmpfloat (seen.labels[0].confidence, ==, 0.875);
  g_assert_cmpstr (seen.objects[0].label, ==, "cup");
  g_assert_cmpfloat (seen.objects[0].confidence, ==, 0.625);
  g_assert_cmpint (seen.objects[0].label_id, ==, 3);
  g_assert_cmpint (seen.objects[0].object_id, ==, 7);
  g_assert_cmpuint (seen.objects[0].n_points, ==, 2);
  g_assert_cmpfloat (seen.objects[0].points[0].confidence, ==, 0.75);
  if (n_objects > 1)
    g_assert_cmpfloat (seen.objects[1].confidence, ==, 0.25);
  sl_prediction_reader_clear (&reader);
}

static const struct
{
  const char *name, *launch;
  double scale;
} lines[] = {
  { "format", "videoconvert ! video/x-raw,format=NV12 ! identity", 1 },
  { "smaller", "videoscale ! video/x-raw,width=32,height=24 ! identity", 0.5 },
  { "twice",
    "videoconvert ! video/x-raw,format=I420 ! videoscale ! video/x-raw,width=128,height=96 ! videoconvert ! video/x-raw,format=BGRx ! identity",
    2 },
  { "copied", "tee ! queue ! identity", 1 },
};

static void
test_line (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  for (guint n = 1; n <= 2; n++) {
    g_autoptr (GstBuffer) out = test_line_run (lines[i].launch, "video/x-raw", CAPS, frame_with (n));
    expect_predictions (out, n, lines[i].scale);
  }
}

/* Objects that come later are kept, too, and those of before not twice. */
static void
test_more (void)
{
  GstBuffer *frame = frame_with (1);
  const SlObjectView object = {
    .x = 1, .y = 1, .w = 5, .h = 5, .x_min = 1, .y_min = 1, .x_max = 6, .y_max = 6, .confidence = 0.125, .label = "dog"
  };
  const SlPredictionView more = { .width = 64, .height = 48, .n_objects = 1, .objects = &object };
  SlPredictionReader reader;
  SlPredictionView seen = { .width = 64, .height = 48 };
  sl_buffer_add_prediction (frame, &more, NULL);
  g_autoptr (GstBuffer) out = test_line_run ("videoconvert ! video/x-raw,format=GRAY8 ! identity", "video/x-raw", CAPS, frame);
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, out, &seen);
  g_assert_cmpuint (seen.n_objects, ==, 2);
  g_assert_cmpfloat (seen.objects[0].confidence, ==, 0.625);
  g_assert_cmpfloat (seen.objects[1].confidence, ==, 0.125);
  sl_prediction_reader_clear (&reader);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autofree char *name = g_strdup_printf ("/converted/%s", lines[i].name);
    g_test_add_data_func (name, GUINT_TO_POINTER (i), test_line);
  }
  g_test_add_func ("/converted/more", test_more);
  return g_test_run ();
}
