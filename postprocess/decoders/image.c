/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "image": the tensor is a picture (style transfer, denoising, super-resolution, depth):
 * [1,H,W,C] or [1,C,H,W] with 1 or 3 channels, or [1,H,W].
 *
 * Parameters: "range" LO,HI: the numbers that are black and white, which float32 needs (0,1 or -1,1
 * or 0,255); codes of 8 bits are bytes unless it is stated; "frame": those of each frame from the
 * lowest to the highest, which are given beside the picture; "colour" RGB or BGR: the order of
 * channels. NaN is black.
 */
#include <math.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/picture_shape.h"
#include "postprocess/values.h"

#define SMALLEST_SIDE 8
#define SMALLEST_MAP 32
#define MAX_BYTES (1u << 28)

static const char *const colours[] = { "RGB", "BGR", NULL };
static const SlDecoderParam params[] = { { "range", SL_PARAM_IS_LIST, NULL, -1e6, 1e6, 2, "frame" },
                                         SL_PARAM_CHOICE ("colour", colours),
                                         { NULL } };
static const char *const range_names[] = { "lowest", "highest" };

typedef struct
{
  SlPictureShape shape;
  SlValues values;
  guint8 bytes[256];        /* of each rank */
  gfloat low, gain, offset; /* byte = (number - low) * gain + offset */
  gboolean reversed, by_frame;
  gfloat range[2]; /* of the frame, where @by_frame */
  guint8 *pixels;
} State;

static gboolean
find_shape (const SlDecoderConfig *config, SlPictureShape *shape)
{
  return config->n_tensors == 1 && sl_values_readable (config->tensors[0].dtype)
         && (config->tensors[0].rank == 4 || config->tensors[0].rank == 3)
         && sl_picture_shape_find (shape, &config->tensors[0], 3)
         && (shape->channels == 1 || shape->channels == 3)
         && (guint64) shape->width * shape->height * shape->channels <= MAX_BYTES;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  SlPictureShape shape;
  return find_shape (config, &shape) && shape.channels == 3 && shape.width >= SMALLEST_SIDE
         && shape.height >= SMALLEST_SIDE;
}

/* Whether a map has the input's proportions, to one cell; a table of rows has others. */
static gboolean
is_proportional (const SlDecoderConfig *config, const SlPictureShape *shape)
{
  const gint64 wide = (gint64) shape->width * config->input_height,
               high = (gint64) shape->height * config->input_width;
  return ABS (wide - high) <= MAX (config->input_width, config->input_height);
}

/* One number a pixel: what it may be by its size. */
static const char *
unmatched (const SlDecoderConfig *config)
{
  SlPictureShape shape;
  if (!find_shape (config, &shape) || shape.channels != 1 || shape.width < SMALLEST_MAP
      || shape.height < SMALLEST_MAP || !is_proportional (config, &shape))
    return NULL;
  const guint width = (guint) MAX (config->input_width, 1),
              height = (guint) MAX (config->input_height, 1);
  if (config->input_width > 0 && shape.width > width && shape.width % width == 0
      && shape.height % height == 0 && shape.width / width == shape.height / height)
    return "one number a pixel and a whole multiple of the input's size are a gray picture, as "
           "super resolution gives it (decoder=image,range=0,1)";
  return config->tensors[0].rank == 3
           ? "one number a pixel may be depth (decoder=image,range=frame), a mask of scores "
             "(decoder=segmentation) or a gray picture (decoder=image,range=0,1)"
           : NULL;
}

static guint8
to_byte (gfloat value)
{
  return value > 0 ? (guint8) (value < 255 ? lrintf (value) : 255) : 0;
}

static gpointer
open_image (const SlDecoderConfig *config, GError **error)
{
  const SlTensorInfo *tensor = &config->tensors[0];
  SlPictureShape shape;
  double range[2];
  guint colour, n = 0;
  if (!find_shape (config, &shape))
    return sl_decoder_refuse (
      config, "image",
      "one tensor [1,H,W,3], [1,3,H,W], [1,H,W,1], [1,1,H,W] or [1,H,W] of uint8, int8 or float32",
      error);
  const gboolean by_frame = g_strcmp0 (sl_decoder_param (config, "range"), "frame") == 0;
  if (!sl_decoder_param_choice (config, params, "colour", &colour, error)
      || (!by_frame && !sl_decoder_param_list (config, params, "range", range, &n, error)))
    return NULL;
  if (n == 1 || (n == 2 && range[0] == range[1])
      || (n == 0 && !by_frame && tensor->dtype == SL_DTYPE_F32))
    return sl_fail_null (
      error, SL_ERROR_CONTRACT,
      "decoder image: nothing says which numbers are black and white: state range=0,1 or "
      "range=-1,1 or range=0,255, or range=frame for those of each frame");
  State *state = g_new0 (State, 1);
  state->shape = shape;
  state->by_frame = by_frame;
  state->reversed = colour == 1 && shape.channels == 3;
  sl_values_init (&state->values, tensor, SL_SCORES_PLAIN);
  if (n == 2) {
    state->gain = (gfloat) (255 / (range[1] - range[0]));
    state->offset = (gfloat) (-255 * range[0] / (range[1] - range[0]));
  }
  for (guint rank = 0; rank < 256; rank++)
    state->bytes[rank] =
      n == 2 ? to_byte (state->values.table[rank] * state->gain + state->offset) : (guint8) rank;
  state->pixels = g_new (guint8, (gsize) shape.width * shape.height * shape.channels);
  return state;
}

/* Black is the lowest of the frame's numbers, white the highest, where there are two. */
static void
find_range (State *state, const void *data)
{
  const gsize n = (gsize) state->shape.width * state->shape.height * state->shape.channels;
  gfloat low = INFINITY, high = -INFINITY;
  for (gsize i = 0; i < n; i++) {
    const gfloat number = sl_values_get (&state->values, data, i);
    if (!isfinite (number))
      continue;
    low = MIN (low, number);
    high = MAX (high, number);
  }
  const double span = (double) high - (double) low;
  state->range[0] = low <= high ? low : 0;
  state->range[1] = low <= high ? high : 0;
  state->gain = span > 0 && isfinite (span) ? (gfloat) (255 / span) : 0;
  state->low = state->range[0];
  for (guint rank = 0; rank < 256; rank++)
    state->bytes[rank] = to_byte ((state->values.table[rank] - state->low) * state->gain);
}

static void
decode_image (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  const SlPictureShape *shape = &state->shape;
  const gsize n = (gsize) shape->width * shape->height;
  if (state->by_frame) {
    find_range (state, data[0]);
    result->vector = (SlVector){ .n = 2, .values = state->range, .names = range_names };
  }
  for (gsize i = 0; i < n; i++)
    for (guint c = 0; c < shape->channels; c++) {
      const gsize at = i * shape->cell_step + c * shape->channel_step;
      guint8 *pixel = &state->pixels[i * shape->channels + (state->reversed ? 2 - c : c)];
      if (state->values.quantised)
        *pixel = state->bytes[sl_values_rank (&state->values, data[0], at)];
      else
        *pixel =
          to_byte ((sl_values_float (data[0], at) - state->low) * state->gain + state->offset);
    }
  result->picture = (SlPicture){ shape->width, shape->height, shape->channels, state->pixels };
}

static void
close_image (gpointer opened)
{
  State *state = opened;
  g_free (state->pixels);
  g_free (state);
}

const SlDecoder sl_decoder_image = {
  .name = "image",
  .description = "a picture such as uint8[1,384,384,3] or float32[1,3,224,224]",
  .params = params,
  .matches = matches,
  .unmatched = unmatched,
  .open = open_image,
  .decode = decode_image,
  .close = close_image,
};
