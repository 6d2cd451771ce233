/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* decoder_client.h decodes, the preprocessor's normaliser makes the tensor, as in a pipeline. */
#include "tools/quantize/pictures.h"

#include <gst/video/video.h>

#include "core/graph/tensor.h"
#include "plugins/video/input.h"
#include "plugins/video/part.h"
#include "core/base/fail.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/predict/decoder_client.h"

/* Seconds that a decoder may be without progress. */
#define TIMEOUT 10

struct _SlPictures
{
  const char *command;
  SlNormalizeSpec spec;
  SlDecoderClient *frames;
  SlNormalizer *normalizer;
  void *tensor;
  gint width, height; /* of the picture that was loaded last */
};

SlPictures *
sl_pictures_new (const char *command, SlSpawner *spawner, const SlNormalizeSpec *spec,
                 gsize tensor_bytes)
{
  SlPictures *pictures = g_new0 (SlPictures, 1);
  pictures->command = command;
  pictures->spec = *spec;
  pictures->frames = sl_decoder_client_new (spawner, TIMEOUT, "", NULL);
  pictures->tensor = sl_tensor_buffer_new (tensor_bytes);
  return pictures;
}

void
sl_pictures_free (SlPictures *pictures)
{
  if (pictures == NULL)
    return;
  sl_decoder_client_free (pictures->frames);
  sl_normalizer_free (pictures->normalizer);
  sl_tensor_buffer_free (pictures->tensor);
  g_free (pictures);
}

void
sl_pictures_set_spec (SlPictures *pictures, const SlNormalizeSpec *spec)
{
  pictures->spec = *spec;
}

static gboolean
normalize (SlPictures *pictures, GstSample *sample, GError **error)
{
  GstVideoInfo video;
  GstVideoFrame frame;
  SlImageInfo info;
  SlImage image;
  SlNormalizeSpec spec = pictures->spec;
  if (!sl_video_input_read (gst_sample_get_caps (sample), "the picture", SL_VIDEO_INPUT_FORMATS,
                            &video, &info, error)
      || !sl_video_part_crop (&pictures->spec.crop, GST_VIDEO_INFO_WIDTH (&video),
                              GST_VIDEO_INFO_HEIGHT (&video), "", &spec.crop, error))
    return FALSE;
  const SlNormalizeStatus status = pictures->normalizer == NULL
                                     ? sl_normalizer_new (&pictures->normalizer, &info, &spec)
                                     : sl_normalizer_set (pictures->normalizer, &info, &spec);
  if (status != SL_NORMALIZE_OK || pictures->tensor == NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT, "cannot be made a tensor: %s",
                    pictures->tensor != NULL ? sl_normalize_status_text (status)
                                             : "not enough memory");
  if (!sl_video_input_map (&frame, &image, &video, gst_sample_get_buffer (sample), error))
    return FALSE;
  sl_normalizer_run (pictures->normalizer, &image, pictures->tensor);
  pictures->width = GST_VIDEO_INFO_WIDTH (&video);
  pictures->height = GST_VIDEO_INFO_HEIGHT (&video);
  gst_video_frame_unmap (&frame);
  return TRUE;
}

const void *
sl_pictures_load (SlPictures *pictures, const SlInput *input)
{
  g_autoptr (GError) error = NULL;
  gboolean good = FALSE;
  if (sl_decoder_client_open (pictures->frames, input, &error)) {
    GstSample *sample = sl_decoder_client_next (pictures->frames, &error);
    good = sample != NULL && normalize (pictures, sample, &error);
    g_clear_pointer (&sample, gst_sample_unref);
    sl_decoder_client_close (pictures->frames);
  }
  if (!good && !sl_interrupted ())
    sl_complain (pictures->command, "%s: %s", input->name,
                 error != NULL ? error->message : "has no picture in it");
  return good ? pictures->tensor : NULL;
}

const void *
sl_pictures_load_frame (SlPictures *pictures, GstSample *frame, GError **error)
{
  return normalize (pictures, frame, error) ? pictures->tensor : NULL;
}

void
sl_pictures_map (const SlPictures *pictures, SlAffine *map, gint *width, gint *height)
{
  *map = *sl_normalizer_map (pictures->normalizer);
  *width = pictures->width;
  *height = pictures->height;
}
