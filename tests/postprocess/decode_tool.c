/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes tensors from files and prints the result, one item a line, for golden.py to compare; with
 * --time, how long a frame takes.
 *
 *   decode_tool [--time] DECODER WIDTHxHEIGHT THRESHOLD MAX LABELS TENSOR...
 *
 * DECODER may be "auto"; a TENSOR is DTYPE:SCALE:ZERO_POINT:DIMS:PATH.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postprocess/decoder.h"

static gboolean
read_tensor (const char *text, SlTensorInfo *tensor, void **data)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", 5);
  gsize bytes = 0, expected = 1;
  if (g_strv_length (parts) != 5)
    return FALSE;
  g_auto (GStrv) dims = g_strsplit (parts[3], "x", SL_MAX_RANK);
  tensor->dtype = sl_dtype_from_name (parts[0]);
  tensor->scale = (gfloat) g_ascii_strtod (parts[1], NULL);
  tensor->zero_point = atoi (parts[2]);
  for (tensor->rank = 0; dims[tensor->rank] != NULL; tensor->rank++) {
    tensor->dims[tensor->rank] = atoi (dims[tensor->rank]);
    expected *= (gsize) tensor->dims[tensor->rank];
  }
  return g_file_get_contents (parts[4], (char **) data, &bytes, NULL)
         && bytes == expected * sl_dtype_size (tensor->dtype);
}

static void
print_mask (const SlClassMask *mask)
{
  g_autofree char *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, mask->classes,
                                                      (gsize) mask->width * mask->height);
  printf ("mask %u %u %s\n", mask->width, mask->height, sum);
}

/* Corners, cells and their shares as hexadecimal digits; 0 x 0 where there is none. */
static void
print_instance (const SlInstanceMask *mask)
{
  printf ("instance %.9g %.9g %.9g %.9g %u %u ", mask->x_min, mask->y_min, mask->x_max, mask->y_max,
          mask->width, mask->height);
  for (guint i = 0; i < mask->width * mask->height; i++)
    printf ("%02x", mask->cells[i]);
  printf ("\n");
}

static void
print_result (const SlResult *result)
{
  for (guint i = 0; i < result->n_detections; i++) {
    const SlDetection *d = &result->detections[i];
    printf ("box %.9g %.9g %.9g %.9g %.9g %d", d->x_min, d->y_min, d->x_max, d->y_max,
            d->confidence, d->label_id);
    for (guint k = 0; k < d->n_keypoints; k++) {
      const SlDetectedPoint *point = &result->keypoints[d->first_keypoint + k];
      printf (" %.9g %.9g %.9g", point->x, point->y, point->confidence);
    }
    printf ("\n");
  }
  for (guint i = 0; i < result->n_detections && result->masks != NULL; i++)
    print_instance (&result->masks[i]);
  for (guint i = 0; i < result->n_classes; i++)
    printf ("class %.9g %d\n", result->classes[i].confidence, result->classes[i].label_id);
  if (result->mask.width > 0)
    print_mask (&result->mask);
}

static void
print_time (SlDecoding *decoding, const void *const *data)
{
  gint64 best = G_MAXINT64;
  for (guint i = 0; i < 200; i++) {
    gint64 start = g_get_monotonic_time ();
    for (guint k = 0; k < 5; k++)
      sl_decoding_run (decoding, data);
    best = MIN (best, g_get_monotonic_time () - start);
  }
  printf ("time %.1f us\n", (double) best / 5);
}

int
main (int argc, char **argv)
{
  const gboolean timed = argc > 1 && strcmp (argv[1], "--time") == 0;
  char **args = argv + (timed ? 2 : 1);
  const int n = argc - (timed ? 2 : 1);
  SlDecoderConfig config = { 0 };
  void *data[SL_MAX_IO] = { NULL };
  g_autoptr (GError) error = NULL;
  if (n < 6 || n > 5 + SL_MAX_IO) {
    fprintf (stderr, "usage: decode_tool [--time] DECODER WIDTHxHEIGHT THRESHOLD MAX LABELS "
                     "DTYPE:SCALE:ZERO_POINT:DIMS:PATH...\n");
    return 2;
  }
  sscanf (args[1], "%dx%d", &config.input_width, &config.input_height);
  config.threshold = (gfloat) g_ascii_strtod (args[2], NULL);
  config.max_results = (guint) atoi (args[3]);
  config.n_labels = (guint) atoi (args[4]);
  for (int i = 5; i < n; i++)
    if (!read_tensor (args[i], &config.tensors[config.n_tensors], &data[config.n_tensors])) {
      fprintf (stderr, "cannot read %s\n", args[i]);
      return 1;
    } else {
      config.n_tensors++;
    }
  SlDecoding *decoding =
    sl_decoding_new (strcmp (args[0], "auto") == 0 ? NULL : args[0], &config, &error);
  if (decoding == NULL) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  printf ("decoder %s\n", sl_decoding_decoder (decoding)->name);
  print_result (sl_decoding_run (decoding, (const void *const *) data));
  if (timed)
    print_time (decoding, (const void *const *) data);
  sl_decoding_free (decoding);
  for (guint t = 0; t < config.n_tensors; t++)
    g_free (data[t]);
  return 0;
}
