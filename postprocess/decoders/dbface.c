/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "dbface": DBFace's map of faces' middles [1,H,W,1], distances [1,H,W,4] of the box's
 * left, upper, right and lower side from its cell's corner in cells, and five points [1,H,W,10], x
 * of all, then y of all; channels last or first. A face is a cell that is as high as its eight
 * neighbours. A point's number n is e * n cells from the corner within -1..1 of 4n, and beyond it
 * grows like e^|4n|.
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
#include "postprocess/peaks.h"

/* What numbers of points are multiplied by; from LINEAR on they are exponents, and never above
 * LARGEST_LOG. */
#define POINT_SCALE 4
#define LINEAR 1
#define LARGEST_LOG 12

enum
{
  HEAT = SL_FACE_HEAT,
  BOX,
  LANDMARKS,
  N_MAPS
};

static const SlFaceMapsForm form = {
  .name = "dbface",
  .n = N_MAPS,
  .channels = { 1, 4, 2 * SL_FACE_POINTS },
  .stride = 4,
  .iou = 0.5,
  .expected = "maps of middles [1,H,W,1], boxes [1,H,W,4] and points [1,H,W,10], or channels "
              "first, of uint8, int8 or float32",
};

static gboolean
matches (const SlDecoderConfig *config)
{
  return sl_face_maps_match (config, &form);
}

static gpointer
open_dbface (const SlDecoderConfig *config, GError **error)
{
  return sl_face_maps_open (config, &form, error);
}

static void
score_peaks (SlFaceMaps *state, const void *data)
{
  const SlPictureShape *heat = &state->maps[HEAT];
  guint i = 0;
  for (guint y = 0; y < heat->height; y++)
    for (guint x = 0; x < heat->width; x++, i++) {
      const gfloat score = sl_map_number (heat, &state->values[HEAT], data, x, y, 0);
      const gboolean counts =
        score >= state->threshold && sl_map_is_peak (heat, &state->values[HEAT], data, x, y, 0);
      state->detector.scores[i] = counts ? MIN (score, 1) : -1;
    }
}

static void
box_of (gconstpointer opened, const void *const *data, guint row, gfloat corners[4])
{
  const SlFaceMaps *state = opened;
  const gfloat width = (gfloat) state->maps[HEAT].width, height = (gfloat) state->maps[HEAT].height;
  const gfloat x = (gfloat) (row % state->maps[HEAT].width),
               y = (gfloat) (row / state->maps[HEAT].width);
  gfloat sides[4];
  for (guint k = 0; k < 4; k++)
    sides[k] = sl_face_maps_number (state, data, BOX, row, k);
  corners[0] = (x - sides[0]) / width;
  corners[1] = (y - sides[1]) / height;
  corners[2] = (x + sides[2]) / width;
  corners[3] = (y + sides[3]) / height;
}

/* Cells from a cell's corner to a point along one axis. */
static gfloat
find_distance (gfloat number)
{
  const gfloat n = number * POINT_SCALE;
  if (!isfinite (n))
    return NAN;
  return fabsf (n) < LINEAR ? n * (gfloat) G_E
                            : copysignf (expf (fminf (fabsf (n), LARGEST_LOG)), n);
}

static void
point_of (gconstpointer opened, const void *const *data, guint row, guint k, gfloat *x, gfloat *y)
{
  const SlFaceMaps *state = opened;
  const guint width = state->maps[HEAT].width;
  const gfloat dx = find_distance (sl_face_maps_number (state, data, LANDMARKS, row, k)),
               dy = find_distance (
                 sl_face_maps_number (state, data, LANDMARKS, row, SL_FACE_POINTS + k));
  *x = ((gfloat) (row % width) + dx) / (gfloat) width;
  *y = ((gfloat) (row / width) + dy) / (gfloat) state->maps[HEAT].height;
}

static void
decode_dbface (gpointer opened, const void *const *data, SlResult *result)
{
  SlFaceMaps *state = opened;
  score_peaks (state, data[state->at[HEAT]]);
  sl_detector_finish_faces (state, data, box_of, point_of, result);
}

const SlDecoder sl_decoder_dbface = {
  .name = "dbface",
  .description =
    "maps of faces' middles [1,H,W,1], boxes [1,H,W,4] and points [1,H,W,10] of DBFace",
  .params = sl_face_map_params,
  .names = sl_face_map_names,
  .threshold = 0.4f,
  .matches = matches,
  .open = open_dbface,
  .decode = decode_dbface,
  .close = sl_detector_close,
  .classes = sl_decoder_one_class,
};
