/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser: checks a spec, builds its tables once, then makes each tensor row from source rows:
 *
 *   sample (columns of a source row) -> blend (rows) -> mix (colour matrix, gain, offset, clamp) -> store
 *
 * Sampled rows are kept as long as the next output row may want them, so enlarging reads each source row once.
 * sl_normalizer_run() touches no memory but its own rows, the picture's samples and the tensor.
 */
#include "preprocess/normalize.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "preprocess/axis.h"
#include "preprocess/colour.h"
#include "preprocess/kernels.h"

#define MAX_SIZE 32768
#define MAX_FACTOR 1e30

/* Components with the same sampling share a grid: luma (and all of RGB) in one, chroma in the other. */
typedef struct
{
  SlAxis columns, rows;
} Grid;

/* One component of the source, and the rows of it that are sampled already: row r in slot r % taps. */
typedef struct
{
  SlComponent layout;
  const Grid *grid;
  int slot_row[SL_AXIS_MAX_TAPS];
  float *slot[SL_AXIS_MAX_TAPS];
  float *blended;
} Source;

struct SlNormalizer
{
  SlNormalizeSpec spec;
  SlAffine map;
  const SlKernels *kernels;
  Grid grids[2];
  int inputs, channels;
  Source source[3];
  SlMix mix[3];
  int mix_from[3]; /* the component that mix[i] reads when it reads one */
  float *memory;
  float *out[3]; /* the tensor row being made; its borders hold the pad value throughout */
  float *pad[3];
};

static const struct
{
  size_t bytes;
  double low, high;
} out_types[] = {
  [SL_OUT_U8] = { sizeof (uint8_t), 0.0, 255.0 },
  [SL_OUT_I8] = { sizeof (int8_t), -128.0, 127.0 },
  [SL_OUT_F32] = { sizeof (float), -INFINITY, INFINITY },
};

static bool
valid_size (int size)
{
  return size >= 1 && size <= MAX_SIZE;
}

static bool
valid_enums (const SlImageInfo *image, const SlNormalizeSpec *spec)
{
  return (unsigned int) image->matrix <= SL_MATRIX_BT2020 && (unsigned int) image->site_h <= SL_SITE_COSITED
         && (unsigned int) image->site_v <= SL_SITE_COSITED && (unsigned int) spec->type <= SL_OUT_F32
         && (unsigned int) spec->layout <= SL_OUT_NCHW && (unsigned int) spec->colour <= SL_OUT_GRAY
         && (unsigned int) spec->fit <= SL_AFFINE_CROP && (unsigned int) spec->filter <= SL_FILTER_BILINEAR;
}

static SlNormalizeStatus
check (const SlImageInfo *image, const SlNormalizeSpec *spec)
{
  if (sl_pixel_layout (image->format) == NULL)
    return SL_NORMALIZE_BAD_FORMAT;
  if (!valid_enums (image, spec))
    return SL_NORMALIZE_BAD_ENUM;
  if (!valid_size (image->width) || !valid_size (image->height) || !valid_size (spec->width) || !valid_size (spec->height))
    return SL_NORMALIZE_BAD_SIZE;
  const int channels = spec->colour == SL_OUT_GRAY ? 1 : 3;
  if ((uint64_t) spec->width * (uint64_t) spec->height * (uint64_t) channels * out_types[spec->type].bytes > PTRDIFF_MAX)
    return SL_NORMALIZE_BAD_SIZE;
  if (spec->pad_value < 0 || spec->pad_value > 255)
    return SL_NORMALIZE_BAD_RANGE;
  for (int i = 0; i < channels; i++) {
    /* NaN fails these too. */
    if (!(fabs (spec->gain[i]) <= MAX_FACTOR) || !(fabs (spec->offset[i]) <= MAX_FACTOR))
      return SL_NORMALIZE_BAD_RANGE;
  }
  return SL_NORMALIZE_OK;
}

static bool
init_grid (Grid *grid, const SlImageInfo *image, const SlNormalizeSpec *spec, int shift_w, int shift_h, int step)
{
  SlRatio x, y;
  sl_affine_scale (spec->fit, image->width, image->height, spec->width, spec->height, &x, &y);
  const SlAxisSpec columns = {
    .scale = x,
    .frame = image->width,
    .tensor = spec->width,
    .chroma_shift = shift_w,
    .site = image->site_h,
    .filter = spec->filter,
    .step = step,
  };
  const SlAxisSpec rows = {
    .scale = y,
    .frame = image->height,
    .tensor = spec->height,
    .chroma_shift = shift_h,
    .site = image->site_v,
    .filter = spec->filter,
    .step = 1,
  };
  return sl_axis_init (&grid->columns, &columns) && sl_axis_init (&grid->rows, &rows);
}

static void
init_mix (SlMix *mix, const SlColourRow row, int inputs, double gain, double offset, SlOutType type)
{
  const double bounds[2] = { offset, 255.0 * gain + offset };
  double low = fmin (bounds[0], bounds[1]);
  double high = fmax (bounds[0], bounds[1]);
  low = fmin (fmax (low, out_types[type].low), out_types[type].high);
  high = fmin (fmax (high, out_types[type].low), out_types[type].high);
  mix->inputs = inputs;
  for (int i = 0; i < 3; i++)
    mix->m[i] = (float) (row[i] * gain);
  mix->constant = (float) (row[3] * gain + offset);
  mix->low = (float) low;
  mix->high = (float) high;
}

/* The mix of each output channel, in the order stored. Channels that depend on one component read only that one. */
static void
init_colours (SlNormalizer *self, const SlImageInfo *image)
{
  const SlComponents components = sl_pixel_layout (image->format)->components;
  const SlNormalizeSpec *spec = &self->spec;
  const bool gray = spec->colour == SL_OUT_GRAY;
  SlColourRow rows[3] = { { 1.0 }, { 1.0 }, { 1.0 } };
  int inputs = 1;
  if (components == SL_COMPONENTS_YUV && !gray) {
    sl_colour_yuv_to_rgb (image->matrix, image->full_range != 0, rows);
    inputs = 3;
  } else if (components == SL_COMPONENTS_RGB && gray) {
    sl_colour_rgb_to_gray (rows[0]);
    inputs = 3;
  } else if (components != SL_COMPONENTS_RGB) {
    for (int i = 0; i < 3; i++)
      sl_colour_luma_to_gray (image->full_range != 0, rows[i]);
  }
  self->channels = gray ? 1 : 3;
  self->inputs = components == SL_COMPONENTS_RGB || inputs == 3 ? 3 : 1;
  for (int i = 0; i < self->channels; i++) {
    int from = spec->colour == SL_OUT_BGR ? 2 - i : i;
    init_mix (&self->mix[i], rows[from], inputs, spec->gain[i], spec->offset[i], spec->type);
    self->mix_from[i] = components == SL_COMPONENTS_RGB ? from : 0;
  }
}

static void
init_sources (SlNormalizer *self, const SlPixelLayout *layout)
{
  for (int i = 0; i < self->inputs; i++) {
    bool chroma = layout->components == SL_COMPONENTS_YUV && i > 0;
    self->source[i].layout = layout->component[i];
    self->source[i].grid = &self->grids[chroma];
  }
}

static bool
init_rows (SlNormalizer *self)
{
  const size_t floats_per_line = SL_ROW_ALIGN / sizeof (float);
  const size_t length = ((size_t) self->spec.width + floats_per_line - 1) / floats_per_line * floats_per_line;
  const size_t taps = (size_t) self->grids[0].rows.taps;
  const size_t rows = (size_t) self->inputs * (taps + 1) + (size_t) self->channels * 2;
  self->memory = aligned_alloc (SL_ROW_ALIGN, rows * length * sizeof (float));
  if (self->memory == NULL)
    return false;

  float *next = self->memory;
  for (int i = 0; i < self->inputs; i++) {
    for (size_t t = 0; t < taps; t++, next += length)
      self->source[i].slot[t] = next;
    self->source[i].blended = next;
    next += length;
  }
  for (int i = 0; i < self->channels; i++) {
    const SlMix *mix = &self->mix[i];
    double pad = self->spec.pad_value * self->spec.gain[i] + self->spec.offset[i];
    self->out[i] = next;
    self->pad[i] = next + length;
    next += 2 * length;
    for (size_t x = 0; x < length; x++)
      self->out[i][x] = self->pad[i][x] = (float) fmin (fmax (pad, mix->low), mix->high);
  }
  return true;
}

SlNormalizeStatus
sl_normalizer_new (SlNormalizer **out, const SlImageInfo *image, const SlNormalizeSpec *spec)
{
  *out = NULL;
  SlNormalizeStatus status = check (image, spec);
  if (status != SL_NORMALIZE_OK)
    return status;
  SlNormalizer *self = calloc (1, sizeof *self);
  if (self == NULL)
    return SL_NORMALIZE_NO_MEMORY;

  const SlPixelLayout *layout = sl_pixel_layout (image->format);
  self->spec = *spec;
  self->kernels = &sl_kernels_c;
  sl_affine_fit (&self->map, spec->fit, image->width, image->height, spec->width, spec->height);
  init_colours (self, image);
  init_sources (self, layout);
  bool chroma = self->source[self->inputs - 1].grid == &self->grids[1];
  if (!init_grid (&self->grids[0], image, spec, 0, 0, layout->component[0].step)
      || (chroma && !init_grid (&self->grids[1], image, spec, layout->chroma_shift_w, layout->chroma_shift_h, layout->component[1].step))
      || !init_rows (self)) {
    sl_normalizer_free (self);
    return SL_NORMALIZE_NO_MEMORY;
  }
  *out = self;
  return SL_NORMALIZE_OK;
}

void
sl_normalizer_free (SlNormalizer *normalizer)
{
  if (normalizer == NULL)
    return;
  for (int i = 0; i < 2; i++) {
    sl_axis_clear (&normalizer->grids[i].columns);
    sl_axis_clear (&normalizer->grids[i].rows);
  }
  free (normalizer->memory);
  free (normalizer);
}

/* One component, scaled to the columns and the row @y of the content. */
static const float *
source_row (Source *source, const SlKernels *kernels, const SlImage *image, int y)
{
  const SlAxis *rows = &source->grid->rows;
  const int32_t *number = rows->offset + y * rows->taps;
  const float *weight = rows->weight + y * rows->taps;
  int taps = rows->taps;
  while (taps > 1 && weight[taps - 1] == 0.0f)
    taps--;

  const float *sampled[SL_AXIS_MAX_TAPS];
  for (int t = 0; t < taps; t++) {
    int slot = number[t] % rows->taps;
    if (source->slot_row[slot] != number[t]) {
      const uint8_t *row = image->plane[source->layout.plane] + image->stride[source->layout.plane] * number[t];
      kernels->sample (source->slot[slot], row + source->layout.offset, &source->grid->columns);
      source->slot_row[slot] = number[t];
    }
    sampled[t] = source->slot[slot];
  }
  if (taps == 1)
    return sampled[0];
  kernels->blend (source->blended, sampled, weight, taps, source->grid->columns.count);
  return source->blended;
}

static void
make_row (SlNormalizer *self, const SlImage *image, int y)
{
  const SlAxis *columns = &self->grids[0].columns;
  const float *components[3] = { NULL };
  for (int i = 0; i < self->inputs; i++)
    components[i] = source_row (&self->source[i], self->kernels, image, y);
  for (int i = 0; i < self->channels; i++) {
    const SlMix *mix = &self->mix[i];
    const float *const one[3] = { components[self->mix_from[i]] };
    self->kernels->mix (self->out[i] + columns->first, mix->inputs == 1 ? one : components, mix, columns->count);
  }
}

static void
store_row (const SlNormalizer *self, float *const rows[3], uint8_t *tensor, int y)
{
  const SlNormalizeSpec *spec = &self->spec;
  const size_t row_bytes = (size_t) spec->width * out_types[spec->type].bytes;
  if (spec->layout == SL_OUT_NHWC || self->channels == 1) {
    const float *const all[3] = { rows[0], rows[1], rows[2] };
    self->kernels->store[spec->type](tensor + row_bytes * (size_t) self->channels * (size_t) y, all, self->channels, spec->width);
    return;
  }
  for (int i = 0; i < self->channels; i++) {
    const float *const one[3] = { rows[i] };
    const size_t line = (size_t) i * (size_t) spec->height + (size_t) y;
    self->kernels->store[spec->type](tensor + row_bytes * line, one, 1, spec->width);
  }
}

void
sl_normalizer_run (SlNormalizer *normalizer, const SlImage *image, void *tensor)
{
  const SlAxis *rows = &normalizer->grids[0].rows;
  for (int i = 0; i < normalizer->inputs; i++) {
    for (int t = 0; t < rows->taps; t++)
      normalizer->source[i].slot_row[t] = -1;
  }
  for (int y = 0; y < normalizer->spec.height; y++) {
    bool content = y >= rows->first && y < rows->first + rows->count && normalizer->grids[0].columns.count > 0;
    if (content)
      make_row (normalizer, image, y - rows->first);
    store_row (normalizer, content ? normalizer->out : normalizer->pad, tensor, y);
  }
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
    [SL_NORMALIZE_BAD_SIZE] = "width and height of picture and tensor must be 1 to 32768 each, and the tensor must fit in memory",
    [SL_NORMALIZE_BAD_FORMAT] = "the pixel format is none that the normaliser reads",
    [SL_NORMALIZE_BAD_RANGE] = "gain and offset must be finite and at most 1e30 in size, the pad value 0 to 255",
    [SL_NORMALIZE_BAD_ENUM] = "colour matrix, chroma site, tensor type, layout, colour, fit or filter is not a value of its enum",
  };
  return (unsigned int) status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown status";
}
