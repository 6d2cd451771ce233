/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* outputs MODEL INPUT [DECODER]: the first output of a model for 224 x 224 RGB pixels, as bytes to
 * stdout; by the public API alone. */
#include <sightline.h>
#include <stdio.h>

#define SIZE 224

static gboolean
run (const char *model, const char *input, const char *decoder, GError **error)
{
  char *pixels;
  gsize size;
  if (!g_file_get_contents (input, &pixels, &size, error))
    return FALSE;
  g_autoptr (GBytes) bytes = g_bytes_new_take (pixels, size);
  g_autoptr (SlFrame) frame = sl_frame_new ("RGB", SIZE, SIZE, bytes, error);
  g_autoptr (SlPredictor) predictor = sl_predictor_new (model, error);
  if (frame == NULL || predictor == NULL)
    return FALSE;
  g_object_set (predictor, "decoder", decoder, NULL);
  g_autoptr (SlPredictions) predictions = sl_predictor_predict (predictor, frame, error);
  if (predictions == NULL)
    return FALSE;
  const guint8 *output = sl_output_get_data (sl_predictions_get_outputs (predictions)[0], &size);
  fwrite (output, 1, size, stdout);
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  if (argc < 3)
    return 2;
  if (run (argv[1], argv[2], argc > 3 ? argv[3] : "none", &error))
    return 0;
  fprintf (stderr, "%s\n", error->message);
  return 1;
}
