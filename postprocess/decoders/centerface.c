/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "centerface": CenterFace's map of faces' middles [1,1,H,W], logarithms of sizes [1,2,H,W]
 * and offsets of the middles [1,2,H,W], height or y first, both in cells, and five points
 * [1,10,H,W], y and x of each in turn, in shares of the box from its upper left corner. Of the two
 * maps of one shape, the sizes come first. Channels may be last. The middle of a cell's face is its
 * offset from the cell's own middle.
 *
 * Parameters: "activation" none, sigmoid; unstated, sigmoid where the model's last operators leave
 * logits. "iou-threshold", "agnostic": suppression.
 *
 * Unnamed it is taken for maps of a quarter of the input's size.
 */
#include <math.h>

#include "postprocess/decoders.h"
#include "postprocess/face_maps.h"
#include "postprocess/params.h"

enum
{
  HEAT = SL_FACE_HEAT,
  SIZES,
  OFFSETS,
  LANDMARKS,
  N_MAPS
};

static const SlFaceMapsForm form = {
  .name = "centerface",
  .n = N_MAPS,
  .channels = { 1, 2, 2, 2 * SL_FACE_POINTS },
  .stride = 4,
  .iou = 0.3,
  .expected = "maps of middles [1,1,H,W], sizes [1,2,H,W], offsets [1,2,H,W] and points "
              "[1,10,H,W], or channels last, of uint8, int8 or float32",
};

static gboolean
matches (const SlDecoderConfig *config)
{
  return sl_face_maps_match (config, &form);
}

static gpointer
open_centerface (const SlDecoderConfig *config, GError **error)
{
  return sl_face_maps_open (config, &form, error);
}

static void
box_of (gconstpointer opened, const void *const *data, guint row, gfloat corners[4])
{
  const SlFaceMaps *state = opened;
  const guint cells[2] = { state->maps[HEAT].width, state->maps[HEAT].height };
  const guint place[2] = { row % cells[0], row / cells[0] };
  for (guint k = 0; k < 2; k++) {
    const gfloat middle = (gfloat) place[k] + 0.5f
                          + sl_face_maps_number (state, data, OFFSETS, row, 1 - k),
                 half = expf (sl_face_maps_number (state, data, SIZES, row, 1 - k)) / 2;
    corners[k] = (middle - half) / (gfloat) cells[k];
    corners[2 + k] = (middle + half) / (gfloat) cells[k];
  }
}

static void
point_of (gconstpointer opened, const void *const *data, guint row, guint k, gfloat *x, gfloat *y)
{
  gfloat corners[4];
  box_of (opened, data, row, corners);
  *x = corners[0]
       + sl_face_maps_number (opened, data, LANDMARKS, row, 2 * k + 1) * (corners[2] - corners[0]);
  *y = corners[1]
       + sl_face_maps_number (opened, data, LANDMARKS, row, 2 * k) * (corners[3] - corners[1]);
}

static void
decode_centerface (gpointer opened, const void *const *data, SlResult *result)
{
  SlFaceMaps *state = opened;
  for (guint i = 0; i < state->detector.n; i++)
    state->detector.scores[i] = sl_face_maps_number (state, data, HEAT, i, 0);
  sl_detector_finish_faces (state, data, box_of, point_of, result);
}

const SlDecoder sl_decoder_centerface = {
  .name = "centerface",
  .description = "maps of faces' middles [1,1,H,W], sizes [1,2,H,W], offsets [1,2,H,W] and points "
                 "[1,10,H,W] of CenterFace",
  .params = sl_face_map_params,
  .names = sl_face_map_names,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_centerface,
  .decode = decode_centerface,
  .close = sl_detector_close,
  .classes = sl_decoder_one_class,
};
