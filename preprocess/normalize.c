/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser: checks a spec, builds its tables once, then makes each tensor row from the
 * component rows that source.c reads: colour matrix, gain, offset, clamp and store in one kernel,
 * borders copied from a row made before.
 *
 * Work goes by rows of the frame. Where the orientation exchanges rows and columns, thirty-two of
 * them are collected and stored as thirty-two columns of the tensor.
 */
#include "preprocess/normalize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/colour.h"
#include "preprocess/output.h"
#include "preprocess/source.h"

#define COLUMNS 32 /* of the tensor, stored together when rows and columns are exchanged */

struct SlNormalizer
{
  SlNormalizeSpec spec;
  SlAffine map;
  SlTurn turn;
  SlSource source;
  int channels, input[3]; /* input[i]: the component that is the i-th argument of the mixes */
  SlMix mix[3];
  SlStore store;
  size_t element; /* bytes */
  bool copies;    /* the tensor has the frame's bytes as they are */
  size_t row_ints;
  uint8_t *pad; /* a row of border: channels in turn, or one after another for NCHW */
  void *scratch;
};

/* The mix of each output channel, in the order stored; returns how many components it takes. */
static int
init_colours (SlNormalizer *self, const SlImageInfo *image)
{
  const SlPixelLayout *layout = sl_pixel_layout (image->format);
  const SlNormalizeSpec *spec = &self->spec;
  const bool gray = spec->colour == SL_COLOUR_GRAY;
  SlColourRow rows[3] = { { 1.0, 0.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0, 0.0 }, { 0.0, 0.0, 1.0, 0.0 } };
  int components = 3;
  if (layout->components == SL_COMPONENTS_YUV && !gray) {
    sl_colour_yuv_to_rgb (image->matrix, image->full_range != 0, layout->bits, rows);
  } else if (layout->components == SL_COMPONENTS_RGB && gray) {
    sl_colour_rgb_to_gray (rows[0]);
  } else if (layout->components != SL_COMPONENTS_RGB) {
    components = 1;
    for (int i = 0; i < 3; i++)
      sl_colour_luma_to_gray (image->full_range != 0, layout->bits, rows[i]);
  }
  self->channels = gray ? 1 : 3;
  for (int i = 0; i < 3; i++) {
    const int from = spec->colour == SL_COLOUR_BGR ? 2 - i : i;
    self->input[i] = components == 3 ? i : 0;
    sl_output_mix (&self->mix[i], rows[from], layout->bits, spec->gain[i], spec->offset[i],
                   spec->type);
  }
  return components;
}

static bool
interleaved (const SlNormalizer *self)
{
  return self->spec.layout == SL_LAYOUT_NHWC && self->channels == 3;
}

/* Whether each byte of the tensor is one of the frame, in the same order. */
static bool
is_copy (const SlNormalizer *self, const SlImageInfo *image)
{
  const SlNormalizeSpec *spec = &self->spec;
  bool same = spec->type == SL_OUT_U8 && interleaved (self) && !self->turn.transpose
              && !self->turn.flip_x && !self->turn.flip_y && spec->crop.width == spec->width
              && spec->crop.height == spec->height && (spec->share == 0 || spec->share == 1)
              && image->format == (spec->colour == SL_COLOUR_RGB ? SL_PIXEL_RGB : SL_PIXEL_BGR);
  for (int i = 0; i < 3; i++)
    same = same && spec->gain[i] == 1 && spec->offset[i] == 0;
  return same;
}

/* The border goes through the same kernel: a row of pictures whose mix is the pad value whatever
 * they hold. */
static bool
init_pad (SlNormalizer *self)
{
  const size_t width = (size_t) self->spec.width;
  const int32_t *zeros = sl_tables_take (&self->source.tables, width, sizeof *zeros);
  self->pad = sl_tables_take (&self->source.tables, width * (size_t) self->channels, self->element);
  if (zeros == NULL || self->pad == NULL)
    return false;
  SlMix mix[3] = { { { 0.0f } } };
  for (int i = 0; i < self->channels; i++) {
    mix[i] = (SlMix){ .low = self->mix[i].low, .high = self->mix[i].high };
    mix[i].constant = (float) (self->spec.pad_value * self->spec.gain[i]
                               + (self->spec.offset[i] + sl_output_bias (self->spec.type)));
  }
  const size_t plane = width * self->element;
  const int32_t *const src[3] = { zeros, zeros, zeros };
  void *const dst[3] = { self->pad, self->pad + (self->channels > 1 ? plane : 0),
                         self->pad + (self->channels > 1 ? 2 * plane : 0) };
  self->store (dst, src, mix, self->spec.width);
  return true;
}

static bool
init_source (SlNormalizer *self, const SlImageInfo *image, int components)
{
  const SlNormalizeSpec *spec = &self->spec;
  SlSourceSpec wanted = {
    .components = components,
    .crop = spec->crop,
    .columns = self->turn.transpose ? spec->height : spec->width,
    .rows = self->turn.transpose ? spec->width : spec->height,
    .flip_x = self->turn.flip_x,
    .flip_y = self->turn.flip_y,
    .filter = spec->filter,
  };
  sl_affine_scale (spec->fit, spec->crop.width, spec->crop.height, wanted.columns, wanted.rows,
                   &wanted.x, &wanted.y);
  wanted.x = sl_affine_share (wanted.x, spec->share);
  wanted.y = sl_affine_share (wanted.y, spec->share);
  const bool reduces = wanted.x.num > 2 * wanted.x.den || wanted.y.num > 2 * wanted.y.den;
  if (spec->filter == SL_FILTER_AUTO)
    wanted.filter = reduces ? SL_FILTER_AREA : SL_FILTER_BILINEAR;
  return sl_source_init (&self->source, sl_kernels_get (), sl_pixel_layout (image->format), image,
                         &wanted);
}

static bool
init_memory (SlNormalizer *self)
{
  const SlStoreLayout layout = self->channels == 1  ? SL_STORE_ONE
                               : interleaved (self) ? SL_STORE_INTERLEAVED
                                                    : SL_STORE_PLANES;
  const size_t columns = (size_t) self->source.grid[0].columns.count;
  self->store = sl_output_store (self->spec.type, layout);
  self->element = sl_output_bytes (self->spec.type);
  self->row_ints = (columns + SL_AXIS_GROUP) / SL_AXIS_GROUP * SL_AXIS_GROUP;
  self->scratch = sl_tables_take (&self->source.tables, sl_normalizer_scratch_bytes (self), 1);
  return self->scratch != NULL && init_pad (self);
}

SlNormalizeStatus
sl_normalizer_set (SlNormalizer *self, const SlImageInfo *image, const SlNormalizeSpec *spec)
{
  const SlNormalizeStatus status = sl_output_check (image, spec);
  if (status != SL_NORMALIZE_OK)
    return status;
  sl_tables_reset (&self->source.tables);
  self->spec = *spec;
  if (spec->crop.width == 0)
    self->spec.crop = (SlRect){ 0, 0, image->width, image->height };
  self->turn = sl_affine_turn (spec->orientation);
  if (spec->fit == SL_FIT_LETTERBOX)
    self->spec.share = 1;
  sl_affine_view (&self->map, spec->fit, spec->orientation, &self->spec.crop, spec->width,
                  spec->height);
  sl_affine_zoom (&self->map, self->spec.share, spec->width, spec->height);
  const int components = init_colours (self, image);
  self->copies = is_copy (self, image);
  return init_source (self, image, components) && init_memory (self) ? SL_NORMALIZE_OK
                                                                     : SL_NORMALIZE_NO_MEMORY;
}

SlNormalizeStatus
sl_normalizer_new (SlNormalizer **out, const SlImageInfo *image, const SlNormalizeSpec *spec)
{
  SlNormalizer *self = calloc (1, sizeof *self);
  const SlNormalizeStatus status =
    self != NULL ? sl_normalizer_set (self, image, spec) : SL_NORMALIZE_NO_MEMORY;
  *out = status == SL_NORMALIZE_OK ? self : NULL;
  if (status != SL_NORMALIZE_OK)
    sl_normalizer_free (self);
  return status;
}

void
sl_normalizer_free (SlNormalizer *normalizer)
{
  if (normalizer == NULL)
    return;
  sl_source_clear (&normalizer->source);
  free (normalizer);
}

/* Where pixel (x, y) of the tensor starts, for each channel. */
static void
locate (const SlNormalizer *self, uint8_t *tensor, int x, int y, uint8_t *at[3])
{
  const size_t pixel = (size_t) y * (size_t) self->spec.width + (size_t) x;
  const size_t plane = (size_t) self->spec.width * (size_t) self->spec.height;
  for (int c = 0; c < 3; c++) {
    if (interleaved (self))
      at[c] = tensor + (pixel * 3 + (size_t) c) * self->element;
    else
      at[c] = tensor + (pixel + (c < self->channels ? (size_t) c * plane : 0)) * self->element;
  }
}

/* @n pixels of border from (x, y) to the right. */
static void
fill_border (const SlNormalizer *self, uint8_t *tensor, int x, int y, int n)
{
  const size_t bytes = (size_t) n * self->element;
  uint8_t *at[3];
  if (n == 0)
    return;
  locate (self, tensor, x, y, at);
  if (interleaved (self)) {
    memcpy (at[0], self->pad, 3 * bytes);
    return;
  }
  for (int c = 0; c < self->channels; c++)
    memcpy (at[c], self->pad + (size_t) c * (size_t) self->spec.width * self->element, bytes);
}

static void
store_pixels (const SlNormalizer *self, uint8_t *tensor, int x, int y, int32_t *const rows[3],
              int n)
{
  const int32_t *const src[3] = { rows[self->input[0]], rows[self->input[1]],
                                  rows[self->input[2]] };
  uint8_t *at[3];
  locate (self, tensor, x, y, at);
  self->store ((void *const[3]){ at[0], at[1], at[2] }, src, self->mix, n);
}

/* The 32-bit rows in the scratch memory, after what the source needs of it. */
static void
find_rows (const SlNormalizer *self, void *scratch, int32_t *rows[3])
{
  int32_t *first = (int32_t *) ((uint8_t *) scratch + sl_source_scratch_bytes (&self->source));
  for (int c = 0; c < 3; c++)
    rows[c] = first + (size_t) c * self->row_ints;
}

static bool
has_content (const SlNormalizer *self, int y)
{
  const SlAxis *rows = &self->source.grid[0].rows;
  return y >= rows->first && y < rows->first + rows->count
         && self->source.grid[0].columns.count > 0;
}

/* At once where nothing lies between the rows. */
static void
copy_rows (const SlNormalizer *self, const SlImage *image, uint8_t *tensor, int first, int count)
{
  const SlRect *crop = &self->spec.crop;
  const ptrdiff_t stride = image->stride[0];
  const size_t bytes = (size_t) crop->width * 3;
  const uint8_t *from =
    image->plane[0] + (ptrdiff_t) (crop->y + first) * stride + (ptrdiff_t) crop->x * 3;
  uint8_t *to = tensor + (size_t) first * bytes;
  if (stride == (ptrdiff_t) bytes)
    memcpy (to, from, bytes * (size_t) count);
  else
    for (int i = 0; i < count; i++)
      memcpy (to + (size_t) i * bytes, from + i * stride, bytes);
}

static void
make_row (const SlNormalizer *self, const SlImage *image, uint8_t *tensor, int y, void *scratch)
{
  const SlAxis *columns = &self->source.grid[0].columns;
  const int right = columns->first + columns->count;
  int32_t *rows[3];
  if (!has_content (self, y)) {
    fill_border (self, tensor, 0, y, self->spec.width);
    return;
  }
  find_rows (self, scratch, rows);
  sl_source_row (&self->source, image, y - self->source.grid[0].rows.first, scratch, rows);
  fill_border (self, tensor, 0, y, columns->first);
  store_pixels (self, tensor, columns->first, y, rows, columns->count);
  fill_border (self, tensor, right, y, self->spec.width - right);
}

/* Rows of the frame become the tensor's columns @x to @x + @n - 1, all of them content or all
 * border. */
static void
make_columns (const SlNormalizer *self, const SlImage *image, uint8_t *tensor, int x, int n,
              void *scratch)
{
  const SlAxis *columns = &self->source.grid[0].columns;
  const bool content = has_content (self, x);
  int32_t *rows[3];
  find_rows (self, scratch, rows);
  int32_t *turned = rows[2] + self->row_ints;
  const size_t plane = self->row_ints * COLUMNS;
  for (int i = 0; content && i < n; i++) {
    sl_source_row (&self->source, image, x + i - self->source.grid[0].rows.first, scratch, rows);
    for (int c = 0; c < self->source.components; c++) {
      int32_t *to = turned + (size_t) c * plane + i;
      for (int k = 0; k < columns->count; k++)
        to[k * COLUMNS] = rows[c][k];
    }
  }
  for (int y = 0; y < self->spec.height; y++) {
    const int k = y - columns->first;
    if (!content || k < 0 || k >= columns->count) {
      fill_border (self, tensor, x, y, n);
      continue;
    }
    int32_t *at = turned + (size_t) k * COLUMNS;
    store_pixels (self, tensor, x, y, (int32_t *const[3]){ at, at + plane, at + 2 * plane }, n);
  }
}

int
sl_normalizer_slices (const SlNormalizer *normalizer)
{
  const SlNormalizeSpec *spec = &normalizer->spec;
  return normalizer->turn.transpose ? (spec->width + COLUMNS - 1) / COLUMNS : spec->height;
}

size_t
sl_normalizer_scratch_bytes (const SlNormalizer *normalizer)
{
  const size_t rows = 3 + (normalizer->turn.transpose ? 3 * COLUMNS : 0);
  return sl_source_scratch_bytes (&normalizer->source)
         + rows * normalizer->row_ints * sizeof (int32_t);
}

void
sl_normalizer_run_slices (const SlNormalizer *normalizer, const SlImage *image, void *tensor,
                          int first, int count, void *scratch)
{
  if (normalizer->copies) {
    copy_rows (normalizer, image, tensor, first, count);
    return;
  }
  if (!normalizer->turn.transpose) {
    for (int y = first; y < first + count; y++)
      make_row (normalizer, image, tensor, y, scratch);
    return;
  }
  const int end = (first + count) * COLUMNS < normalizer->spec.width ? (first + count) * COLUMNS
                                                                     : normalizer->spec.width;
  for (int x = first * COLUMNS; x < end;) {
    int n = 1;
    while (n < COLUMNS && x + n < end
           && has_content (normalizer, x + n) == has_content (normalizer, x))
      n++;
    make_columns (normalizer, image, tensor, x, n, scratch);
    x += n;
  }
}

void
sl_normalizer_run (SlNormalizer *normalizer, const SlImage *image, void *tensor)
{
  sl_normalizer_run_slices (normalizer, image, tensor, 0, sl_normalizer_slices (normalizer),
                            normalizer->scratch);
}

bool
sl_normalizer_copies (const SlNormalizer *normalizer)
{
  return normalizer->copies;
}

const SlAffine *
sl_normalizer_map (const SlNormalizer *normalizer)
{
  return &normalizer->map;
}

const char *
sl_normalize_status_text (SlNormalizeStatus status)
{
  static const char *const texts[] = {
    [SL_NORMALIZE_OK] = "success",
    [SL_NORMALIZE_NO_MEMORY] = "not enough memory for the tables of this picture and tensor size",
    [SL_NORMALIZE_BAD_SIZE] =
      "width and height of picture and tensor must be 1 to " SL_MAX_SIDE_TEXT
      " each, and the tensor must fit in memory",
    [SL_NORMALIZE_BAD_FORMAT] = "the pixel format is none that the normaliser reads",
    [SL_NORMALIZE_BAD_RANGE] =
      "gain and offset must be finite and at most 1e30 in size, the pad value 0 to 255, the share "
      "0.01 to 1",
    [SL_NORMALIZE_BAD_ENUM] =
      "colour matrix, chroma site, tensor type, layout, colour, fit, filter or orientation is not "
      "a value of its enum",
    [SL_NORMALIZE_BAD_CROP] =
      "the crop rectangle must be at least 1x1 and lie inside the picture; all zero takes the "
      "whole picture",
  };
  return (unsigned int) status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown status";
}
