/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turned parts of pictures, in two steps: the normaliser makes the upright rectangle around the
 * part, as bytes in the tensor's colours and reduced by the whole number of times that the part is;
 * from these each row of the tensor is read along a slanted line, and stored by the normaliser's
 * kernels. Of a part between corners it is read along the lines of a perspective map. Invariant:
 * once set, @normalizer makes @columns x @rows pixels in @pixels where @has_content, and @read, or
 * @to_frame and @back, map the tensor to these.
 */
#include "preprocess/warp.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "preprocess/output.h"
#include "preprocess/tables.h"

/* Largest distance from the picture's corner, and largest side, of a part. */
#define MAX_PIXELS 1e7
#define BYTE_BITS 8

struct SlWarp
{
  SlNormalizeSpec spec;
  SlAffine map, read;
  bool flat;                /* @to_frame and @back in place of @read, inside @inner */
  SlHomography to_frame;    /* tensor -> frame */
  SlAffine back;            /* frame -> pixels of the upright rectangle */
  double inner[4], box[4];  /* of the tensor, and of the frame: left, top, right, bottom */
  SlNormalizer *normalizer; /* (nullable) */
  bool has_content;
  int channels, columns, rows;
  SlMix mix[3];
  SlStore store;
  SlTables tables;
  uint8_t *pixels;
  int32_t *row[3];
};

SlWarp *
sl_warp_new (void)
{
  return calloc (1, sizeof (SlWarp));
}

void
sl_warp_free (SlWarp *warp)
{
  if (warp == NULL)
    return;
  sl_normalizer_free (warp->normalizer);
  sl_tables_clear (&warp->tables);
  free (warp);
}

static bool
valid_part (const SlTurnedRect *part)
{
  return fabs (part->x) <= MAX_PIXELS && fabs (part->y) <= MAX_PIXELS && part->width > 0
         && part->width <= MAX_PIXELS && part->height > 0 && part->height <= MAX_PIXELS
         && isfinite (part->angle);
}

/* The pixels of the picture that the part is read from: those it covers, and one for each side of
 * the lines between them. */
static bool
find_crop (const SlWarp *self, const SlImageInfo *image, int times, SlRect *crop)
{
  const double *box = self->box;
  const double left = fmax (floor (box[0]) - times, 0), top = fmax (floor (box[1]) - times, 0);
  const double right = fmin (ceil (box[2]) + times, image->width),
               bottom = fmin (ceil (box[3]) + times, image->height);
  if (!(right > left) || !(bottom > top))
    return false;
  *crop = (SlRect){ (int) left, (int) top, (int) (right - left), (int) (bottom - top) };
  return true;
}

/* Tensor -> pixels of the upright rectangle. */
static void
set_reading (SlWarp *self)
{
  SlAffine back;
  sl_affine_invert (sl_normalizer_map (self->normalizer), &back);
  self->back = back;
  const SlAffine *map = &self->map;
  self->read = (SlAffine){ .xx = back.xx * map->xx,
                           .xy = back.xx * map->xy,
                           .yx = back.yy * map->yx,
                           .yy = back.yy * map->yy };
  sl_affine_apply (&back, map->x0, map->y0, &self->read.x0, &self->read.y0);
}

/* @reduction: pixels of the picture for one of the tensor */
static SlNormalizeStatus
set_upright (SlWarp *self, const SlImageInfo *image, double reduction)
{
  const int times = reduction > 2 ? (int) fmin (reduction, SL_MAX_SIDE) : 1;
  SlNormalizeSpec upright = { .type = SL_OUT_U8,
                              .colour = self->spec.colour,
                              .fit = SL_FIT_STRETCH,
                              .filter = times > 1 ? SL_FILTER_AREA : SL_FILTER_BILINEAR,
                              .gain = { 1, 1, 1 } };
  self->has_content = find_crop (self, image, times, &upright.crop);
  if (!self->has_content)
    return SL_NORMALIZE_OK;
  self->columns = upright.width = (upright.crop.width + times - 1) / times;
  self->rows = upright.height = (upright.crop.height + times - 1) / times;
  const SlNormalizeStatus status = self->normalizer != NULL
                                     ? sl_normalizer_set (self->normalizer, image, &upright)
                                     : sl_normalizer_new (&self->normalizer, image, &upright);
  if (status == SL_NORMALIZE_OK)
    set_reading (self);
  return status;
}

static bool
take_memory (SlWarp *self)
{
  sl_tables_reset (&self->tables);
  for (int c = 0; c < 3; c++) {
    self->row[c] = c < self->channels ? sl_tables_take (
                     &self->tables, (size_t) self->spec.width + SL_AXIS_GROUP, sizeof (int32_t))
                                      : self->row[0];
    if (self->row[c] == NULL)
      return false;
  }
  const size_t pixels = self->has_content ? (size_t) self->columns * (size_t) self->rows : 1;
  self->pixels = sl_tables_take (&self->tables, pixels, (size_t) self->channels);
  return self->pixels != NULL;
}

/* What is the same for all parts of a picture. */
static void
set_output (SlWarp *self, const SlNormalizeSpec *spec)
{
  self->spec = *spec;
  self->channels = spec->colour == SL_COLOUR_GRAY ? 1 : 3;
  for (int c = 0; c < self->channels; c++) {
    const double row[4] = { c == 0, c == 1, c == 2, 0 };
    sl_output_mix (&self->mix[c], row, BYTE_BITS, spec->gain[c], spec->offset[c], spec->type);
  }
  const SlStoreLayout layout = self->channels == 1              ? SL_STORE_ONE
                               : spec->layout == SL_LAYOUT_NHWC ? SL_STORE_INTERLEAVED
                                                                : SL_STORE_PLANES;
  self->store = sl_output_store (spec->type, layout);
}

static SlNormalizeStatus
set_part (SlWarp *self, const SlImageInfo *image, double reduction)
{
  const SlNormalizeStatus status = set_upright (self, image, reduction);
  return status == SL_NORMALIZE_OK && !take_memory (self) ? SL_NORMALIZE_NO_MEMORY : status;
}

SlNormalizeStatus
sl_warp_set (SlWarp *self, const SlImageInfo *image, const SlNormalizeSpec *spec,
             const SlTurnedRect *part)
{
  const SlNormalizeStatus status = sl_output_check (image, spec);
  if (status != SL_NORMALIZE_OK)
    return status;
  if (!valid_part (part))
    return SL_NORMALIZE_BAD_CROP;
  set_output (self, spec);
  self->flat = false;
  sl_affine_turned (&self->map, part, spec->width, spec->height);
  sl_affine_box (&self->map, (const double[4]){ 0, 0, spec->width, spec->height }, self->box);
  return set_part (self, image, fmin (part->width / spec->width, part->height / spec->height));
}

/* Where in the tensor a part of @width x @height is. */
static void
place_inner (SlWarp *self, double width, double height)
{
  const double columns = self->spec.width, rows = self->spec.height,
               scale = fmin (columns / width, rows / height);
  const bool whole = self->spec.fit != SL_FIT_LETTERBOX;
  const double across = whole ? columns : fmax (width * scale, 1),
               down = whole ? rows : fmax (height * scale, 1);
  self->inner[0] = (columns - across) / 2;
  self->inner[1] = (rows - down) / 2;
  self->inner[2] = self->inner[0] + across;
  self->inner[3] = self->inner[1] + down;
}

/* The map of three corners, and the box around all four. */
static void
set_outline (SlWarp *self, const SlCorners *corners)
{
  const double (*at)[2] = corners->at;
  const double width = self->inner[2] - self->inner[0], height = self->inner[3] - self->inner[1];
  SlAffine *map = &self->map;
  *map = (SlAffine){ .xx = (at[1][0] - at[0][0]) / width,
                     .xy = (at[3][0] - at[0][0]) / height,
                     .yx = (at[1][1] - at[0][1]) / width,
                     .yy = (at[3][1] - at[0][1]) / height };
  map->x0 = at[0][0] - map->xx * self->inner[0] - map->xy * self->inner[1];
  map->y0 = at[0][1] - map->yx * self->inner[0] - map->yy * self->inner[1];
  for (int k = 0; k < 2; k++) {
    self->box[k] = fmin (fmin (at[0][k], at[1][k]), fmin (at[2][k], at[3][k]));
    self->box[k + 2] = fmax (fmax (at[0][k], at[1][k]), fmax (at[2][k], at[3][k]));
  }
}

SlNormalizeStatus
sl_warp_set_corners (SlWarp *self, const SlImageInfo *image, const SlNormalizeSpec *spec,
                     const SlCorners *corners)
{
  double width, height;
  const SlNormalizeStatus status = sl_output_check (image, spec);
  if (status != SL_NORMALIZE_OK)
    return status;
  set_output (self, spec);
  self->flat = true;
  sl_corners_size (corners, &width, &height);
  place_inner (self, width, height);
  sl_homography_set (&self->to_frame, corners, self->inner[0], self->inner[1],
                     self->inner[2] - self->inner[0], self->inner[3] - self->inner[1]);
  set_outline (self, corners);
  return set_part (
    self, image,
    fmin (width / (self->inner[2] - self->inner[0]), height / (self->inner[3] - self->inner[1])));
}

static inline int
limit (int at, int last)
{
  return at < 0 ? 0 : at > last ? last : at;
}

/* A number between four bytes, as 32-bit rows hold it. */
static inline int32_t
between (const uint8_t *upper, const uint8_t *lower, ptrdiff_t right, float fx, float fy)
{
  const float above = (float) upper[0] + fx * (float) (upper[right] - upper[0]);
  const float below = (float) lower[0] + fx * (float) (lower[right] - lower[0]);
  return (int32_t) ((above + fy * (below - above))
                    * (float) (1 << (SL_ROW_BITS - BYTE_BITS + SL_TAP_BITS)));
}

/* Pixel @x of the row: the picture at (@u, @v) of the upright rectangle, whose first pixel's centre
 * is at (0.5, 0.5). */
static inline void
read_pixel (const SlWarp *self, double u, double v, int x)
{
  const float px = (float) u - 0.5f, py = (float) v - 0.5f;
  const float left = floorf (px), top = floorf (py);
  const int x0 = limit ((int) left, self->columns - 1), y0 = limit ((int) top, self->rows - 1);
  const int x1 = limit ((int) left + 1, self->columns - 1),
            y1 = limit ((int) top + 1, self->rows - 1);
  const ptrdiff_t n = self->channels, right = (x1 - x0) * n;
  const uint8_t *upper = self->pixels + ((ptrdiff_t) y0 * self->columns + x0) * n;
  const uint8_t *lower = self->pixels + ((ptrdiff_t) y1 * self->columns + x0) * n;
  for (ptrdiff_t c = 0; c < n; c++)
    self->row[c][x] = between (upper + c, lower + c, right, px - left, py - top);
}

/* Where in the upright rectangle a point of the tensor is; both negative where it is border. */
static inline void
find_source (const SlWarp *self, double x, double y, double *u, double *v)
{
  double frame_x, frame_y;
  *u = *v = -1;
  if (!self->has_content)
    return;
  if (!self->flat)
    sl_affine_apply (&self->read, x, y, u, v);
  else if (x >= self->inner[0] && x <= self->inner[2] && y >= self->inner[1] && y <= self->inner[3]
           && sl_homography_apply (&self->to_frame, x, y, &frame_x, &frame_y))
    sl_affine_apply (&self->back, frame_x, frame_y, u, v);
}

static void
read_row (const SlWarp *self, int y)
{
  const int32_t pad = self->spec.pad_value << (SL_ROW_BITS - BYTE_BITS + SL_TAP_BITS);
  for (int x = 0; x < self->spec.width; x++) {
    double u, v;
    find_source (self, x + 0.5, y + 0.5, &u, &v);
    if (u >= 0 && u <= self->columns && v >= 0 && v <= self->rows)
      read_pixel (self, u, v, x);
    else
      for (int c = 0; c < self->channels; c++)
        self->row[c][x] = pad;
  }
}

void
sl_warp_run (SlWarp *self, const SlImage *image, void *tensor)
{
  const size_t element = sl_output_bytes (self->spec.type),
               plane = (size_t) self->spec.width * (size_t) self->spec.height * element;
  const bool turns = self->channels == 3 && self->spec.layout == SL_LAYOUT_NHWC;
  if (self->has_content)
    sl_normalizer_run (self->normalizer, image, self->pixels);
  for (int y = 0; y < self->spec.height; y++) {
    uint8_t *at =
      (uint8_t *) tensor + (size_t) y * (size_t) self->spec.width * element * (turns ? 3 : 1);
    const size_t next = self->channels == 3 && !turns ? plane : 0;
    read_row (self, y);
    self->store ((void *const[3]){ at, at + next, at + 2 * next },
                 (const int32_t *const[3]){ self->row[0], self->row[1], self->row[2] }, self->mix,
                 self->spec.width);
  }
}

const SlAffine *
sl_warp_map (const SlWarp *warp)
{
  return &warp->map;
}
