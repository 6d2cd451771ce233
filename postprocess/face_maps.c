/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds and reads the maps of a face detector. */
#include "postprocess/face_maps.h"

#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/peaks.h"

#define MAX_CELLS (1u << 24)

static const char *const activations[] = { "none", "sigmoid", NULL };
const SlDecoderParam sl_face_map_params[] = { SL_PARAM_CHOICE ("activation", activations),
                                              SL_DETECTOR_PARAMS,
                                              { NULL } };
const char *const sl_face_map_names[] = { "face", NULL };

/* Map @m of @channels: the first tensor of that shape that no map before has. */
static gboolean
find_map (const SlDecoderConfig *config, SlFaceMaps *self, guint m, guint channels)
{
  SlPictureShape *map = &self->maps[m];
  const SlPictureShape *heat = &self->maps[SL_FACE_HEAT];
  for (guint t = 0; t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    gboolean taken = FALSE;
    for (guint i = 0; i < m; i++)
      taken |= self->at[i] == t;
    self->at[m] = t;
    if (!taken && tensor->rank == 4 && sl_values_readable (tensor->dtype)
        && sl_picture_shape_find (map, tensor, channels) && map->channels == channels
        && map->width == heat->width && map->height == heat->height)
      return TRUE;
  }
  return FALSE;
}

static gboolean
find_maps (const SlDecoderConfig *config, const SlFaceMapsForm *form, SlFaceMaps *self)
{
  if (config->n_tensors != form->n)
    return FALSE;
  for (guint m = 0; m < form->n; m++)
    if (!find_map (config, self, m, form->channels[m]))
      return FALSE;
  return (guint64) self->maps[SL_FACE_HEAT].width * self->maps[SL_FACE_HEAT].height <= MAX_CELLS;
}

gboolean
sl_face_maps_match (const SlDecoderConfig *config, const SlFaceMapsForm *form)
{
  SlFaceMaps self = { 0 };
  return find_maps (config, form, &self)
         && (gint64) self.maps[SL_FACE_HEAT].width * form->stride == config->input_width
         && (gint64) self.maps[SL_FACE_HEAT].height * form->stride == config->input_height;
}

SlFaceMaps *
sl_face_maps_open (const SlDecoderConfig *config, const SlFaceMapsForm *form, GError **error)
{
  SlFaceMaps *self = g_new0 (SlFaceMaps, 1);
  guint activation;
  if (!find_maps (config, form, self)) {
    g_free (self);
    return sl_decoder_refuse (config, form->name, form->expected, error);
  }
  const SlPictureShape *heat = &self->maps[SL_FACE_HEAT];
  if (!sl_decoder_param_choice (config, sl_face_map_params, "activation", &activation, error)
      || !sl_detector_init (&self->detector, config, heat->width * heat->height, NULL, form->iou,
                            error)) {
    sl_detector_close (self);
    return NULL;
  }
  const gboolean sigmoid = sl_decoder_param (config, "activation") != NULL
                             ? activation == 1
                             : config->tensors[self->at[SL_FACE_HEAT]].values == SL_VALUES_LOGITS;
  for (guint m = 0; m < form->n; m++)
    sl_values_init (&self->values[m], &config->tensors[self->at[m]],
                    m == SL_FACE_HEAT && sigmoid ? SL_SCORES_SIGMOID : SL_SCORES_PLAIN);
  self->threshold = config->threshold;
  return self;
}

gfloat
sl_face_maps_number (const SlFaceMaps *self, const void *const *data, guint m, guint cell, guint c)
{
  const guint width = self->maps[SL_FACE_HEAT].width;
  return sl_map_number (&self->maps[m], &self->values[m], data[self->at[m]], cell % width,
                        cell / width, c);
}
