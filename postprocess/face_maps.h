/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What decoders of faces share whose model gives maps: one with a score for each cell, and others
 * with boxes and points.
 */
#pragma once

#include "postprocess/detector.h"
#include "postprocess/picture_shape.h"

#define SL_FACE_MAPS 4
/** The map of scores. */
#define SL_FACE_HEAT 0

/**
 * SlFaceMapsForm: of a decoder.
 * @name: its name
 * @n, @channels: its maps, that of scores first
 * @stride: pixels of the input to a cell
 * @iou: the default of iou-threshold
 * @expected: the tensors, for messages
 */
typedef struct
{
  const char *name;
  guint n, channels[SL_FACE_MAPS];
  gint32 stride;
  double iou;
  const char *expected;
} SlFaceMapsForm;

/** SlFaceMaps: an open decoder. Map m is tensor @at[m]. */
typedef struct
{
  SlDetector detector;
  guint at[SL_FACE_MAPS];
  SlPictureShape maps[SL_FACE_MAPS];
  SlValues values[SL_FACE_MAPS];
  gfloat threshold;
} SlFaceMaps;

/** sl_face_map_params: (transfer none): "activation" none, sigmoid; unstated, sigmoid where the
 * model's last operators leave logits. Suppression. */
extern const SlDecoderParam sl_face_map_params[];
extern const char *const sl_face_map_names[];

/** sl_face_maps_match: whether there are such maps, for each pixel of the input by its stride. */
gboolean sl_face_maps_match (const SlDecoderConfig *config, const SlFaceMapsForm *form);
/** sl_face_maps_open: (nullable): of maps of one shape the first is that of the lower number. Close
 * it by sl_detector_close(). */
SlFaceMaps *sl_face_maps_open (const SlDecoderConfig *config, const SlFaceMapsForm *form,
                               GError **error);
/** sl_face_maps_number: channel @c of map @m at cell @cell. */
gfloat sl_face_maps_number (const SlFaceMaps *self, const void *const *data, guint m, guint cell,
                            guint c);
