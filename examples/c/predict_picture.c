/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * predict_picture MODEL PICTURE.ppm: what a model sees in a picture that the program holds in
 * memory. No GStreamer.
 *
 *   cc predict_picture.c -o predict_picture $(pkg-config --cflags --libs sightline-1.0)
 */
#include <sightline.h>
#include <stdio.h>

/* Reads a binary PPM ("P6 WIDTH HEIGHT 255", then R, G, B bytes). */
static SlFrame *
read_ppm (const char *path, GError **error)
{
  guint width, height;
  int header = 0;
  gsize size;
  char *bytes;
  if (!g_file_get_contents (path, &bytes, &size, error))
    return NULL;
  g_autoptr (GBytes) file = g_bytes_new_take (bytes, size);
  if (sscanf (bytes, "P6 %u %u 255%n", &width, &height, &header) != 2 || header == 0
      || (gsize) header >= size) {
    g_set_error (error, SL_ERROR, SL_ERROR_FORMAT,
                 "%s: expected a binary PPM picture that begins with P6", path);
    return NULL;
  }
  g_autoptr (GBytes) pixels =
    g_bytes_new_from_bytes (file, (gsize) header + 1, size - (gsize) header - 1);
  return sl_frame_new ("RGB", width, height, pixels, error);
}

static void
print (const SlPredictions *predictions)
{
  SlLabel *const *labels = sl_predictions_get_labels (predictions);
  for (guint i = 0; labels[i] != NULL; i++)
    printf ("%.3f %s\n", sl_label_get_confidence (labels[i]), sl_label_get_name (labels[i]));
  SlObject *const *objects = sl_predictions_get_objects (predictions);
  for (guint i = 0; objects[i] != NULL; i++) {
    const SlBox *box = sl_object_get_box (objects[i]);
    printf ("%.3f %s at %.1f,%.1f, %.1f x %.1f\n", sl_object_get_confidence (objects[i]),
            sl_object_get_label (objects[i]), box->x, box->y, box->width, box->height);
  }
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  if (argc != 3) {
    fprintf (stderr, "usage: predict_picture MODEL PICTURE.ppm\n");
    return 2;
  }
  g_autoptr (SlPredictor) predictor = sl_predictor_new (argv[1], &error);
  g_autoptr (SlFrame) frame = predictor != NULL ? read_ppm (argv[2], &error) : NULL;
  g_autoptr (SlPredictions) predictions =
    frame != NULL ? sl_predictor_predict (predictor, frame, &error) : NULL;
  if (predictions == NULL) {
    fprintf (stderr, "predict_picture: %s\n", error->message);
    return 1;
  }
  print (predictions);
  return 0;
}
