/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * push_frames MODEL [FRAMES]: a program that makes its frames itself, pushes them into a pipeline
 * and pulls the predictions, without a main loop. block=true waits for the model, so that no frame
 * is lost; without it the newest frame wins.
 *
 *   cc push_frames.c -o push_frames $(pkg-config --cflags --libs sightline-pipeline-1.0)
 */
#include <sightline-pipeline.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 320
#define HEIGHT 240
#define LAUNCH \
  "appsrc name=source block=true ! slnormalize ! slinfer model=${model} ! slpostprocess ! fakesink"

/* Stands for a camera: red, green and blue in turn, in the order that many cameras have. */
static SlFrame *
grab (guint number, GError **error)
{
  guint8 *pixels = g_malloc0 (WIDTH * HEIGHT * 4);
  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    pixels[4 * i + 2 - number % 3] = 200;
  g_autoptr (GBytes) data = g_bytes_new_take (pixels, WIDTH * HEIGHT * 4);
  SlFrame *frame = sl_frame_new ("BGRx", WIDTH, HEIGHT, data, error);
  if (frame != NULL)
    sl_frame_set_timestamp (frame, number * G_GUINT64_CONSTANT (33333333));
  return frame;
}

static gboolean
run (SlPipeline *pipeline, guint frames, GError **error)
{
  if (!sl_pipeline_start (pipeline, error))
    return FALSE;
  for (guint i = 0; i < frames; i++) {
    g_autoptr (SlFrame) frame = grab (i, error);
    if (frame == NULL || !sl_pipeline_push_frame (pipeline, frame, error))
      return FALSE;
    g_autoptr (SlPredictions) predictions = sl_pipeline_pull_predictions (pipeline, -1, error);
    if (predictions == NULL)
      return FALSE;
    g_autofree char *text = sl_predictions_to_text (predictions);
    printf ("%u: %s", i, text);
  }
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  if (argc < 2) {
    fprintf (stderr, "usage: push_frames MODEL [FRAMES]\n");
    return 2;
  }
  g_autoptr (GHashTable) parameters = g_hash_table_new (g_str_hash, g_str_equal);
  g_hash_table_insert (parameters, (gpointer) "model", argv[1]);
  g_autoptr (SlPipeline) pipeline = sl_pipeline_new_from_string (LAUNCH, parameters, &error);
  if (pipeline == NULL || !run (pipeline, argc > 2 ? (guint) atoi (argv[2]) : 10, &error)) {
    fprintf (stderr, "push_frames: %s\n", error != NULL ? error->message : "the pipeline ended");
    return 1;
  }
  return 0;
}
