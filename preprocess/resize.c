/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The resizer: which rectangle becomes which, and each component along the steps unpack, scale,
 * turn, pack. Scaling comes before turning, which then moves fewer samples; reversed rows are a
 * negative stride and cost nothing.
 */
#include "preprocess/resize.h"

#include <libyuv.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/plane_scale.h"

#define STRIDE_LIMIT ((ptrdiff_t) 1 << 30)
#define NEUTRAL 128

/**
 * SlResizer:
 * @part: of the frame
 * @content: of the picture
 * @scaler: of luma, and of each chroma component
 * @unpacked, @packed: components of an interleaved plane before and after; NULL when not needed
 * @scaled: a component between scaling and turning
 * @border: one row of letterbox border of plane 0, and of the others
 * @memory: all of the above
 */
struct SlResizer
{
  SlImageInfo from, to;
  const SlPixelLayout *layout;
  SlRect part, content;
  SlTurn turn;
  SlAffine map;
  SlPlaneScaler scaler[2];
  uint8_t *unpacked[3], *packed[3], *scaled, *border[2];
  uint8_t *memory;
};

static int
shift_w (const SlPixelLayout *layout, int component)
{
  return component > 0 ? layout->chroma_shift_w : 0;
}

static int
shift_h (const SlPixelLayout *layout, int component)
{
  return component > 0 ? layout->chroma_shift_h : 0;
}

static int
sample_bytes (const SlPixelLayout *layout)
{
  return layout->bits > 8 ? 2 : 1;
}

static int
shrink (int length, int shift)
{
  return (length + (1 << shift) - 1) >> shift;
}

/* @rect in samples of @component. */
static SlRect
component_rect (const SlPixelLayout *layout, SlRect rect, int component)
{
  const int sw = shift_w (layout, component), sh = shift_h (layout, component);
  return (SlRect){ rect.x >> sw, rect.y >> sh, shrink (rect.width, sw), shrink (rect.height, sh) };
}

static int
scale_length (int length, int64_t num, int64_t den)
{
  return (int) ((2 * (int64_t) length * num + den) / (2 * den));
}

/* The middle @wanted of @whole, start and end on multiples of @step or the end. */
static void
take_middle (int whole, int wanted, int step, int *start, int *length)
{
  if (wanted >= whole) {
    *start = 0;
    *length = whole;
    return;
  }
  int aligned = (wanted + step / 2) / step * step;
  aligned = aligned < step ? step : aligned;
  *length = aligned < whole ? aligned : whole;
  *start = (whole - *length) / 2 / step * step;
}

static void
align_outward (int *start, int *length, int step, int whole)
{
  int end = (*start + *length + step - 1) / step * step;
  end = end < whole ? end : whole;
  *start = *start / step * step;
  *length = end - *start;
}

static void
place (SlResizer *self, const SlResizeSpec *spec)
{
  const int step_w = 1 << self->layout->chroma_shift_w, step_h = 1 << self->layout->chroma_shift_h;
  const bool turned = self->turn.transpose;
  SlRect *part = &self->part, *content = &self->content;
  SlRatio x, y;
  if (spec->crop.width != 0)
    *part = spec->crop;
  else
    *part = (SlRect){ 0, 0, self->from.width, self->from.height };
  *content = (SlRect){ 0, 0, spec->width, spec->height };
  align_outward (&part->x, &part->width, step_w, self->from.width);
  align_outward (&part->y, &part->height, step_h, self->from.height);
  if (spec->fit == SL_FIT_CROP) {
    const int width = turned ? spec->height : spec->width,
              height = turned ? spec->width : spec->height;
    int dx, dy;
    sl_affine_scale (SL_FIT_CROP, part->width, part->height, width, height, &x, &y);
    take_middle (part->width, scale_length (width, x.num, x.den), step_w, &dx, &part->width);
    take_middle (part->height, scale_length (height, y.num, y.den), step_h, &dy, &part->height);
    part->x += dx;
    part->y += dy;
  } else if (spec->fit == SL_FIT_LETTERBOX) {
    const int width = turned ? part->height : part->width,
              height = turned ? part->width : part->height;
    sl_affine_scale (SL_FIT_LETTERBOX, width, height, spec->width, spec->height, &x, &y);
    take_middle (spec->width, scale_length (width, x.den, x.num), step_w, &content->x,
                 &content->width);
    take_middle (spec->height, scale_length (height, y.den, y.num), step_h, &content->y,
                 &content->height);
  }
}

static void
make_map (SlResizer *self, SlOrientation orientation)
{
  SlAffine *map = &self->map;
  const SlRect *content = &self->content;
  sl_affine_view (map, SL_FIT_STRETCH, orientation, &self->part, content->width, content->height);
  map->x0 -= map->xx * content->x + map->xy * content->y;
  map->y0 -= map->yx * content->x + map->yy * content->y;
}

static SlFilter
choose_filter (const SlResizer *self, SlFilter filter)
{
  if (filter != SL_FILTER_AUTO)
    return filter;
  const int width = self->turn.transpose ? self->content.height : self->content.width;
  const int height = self->turn.transpose ? self->content.width : self->content.height;
  return self->part.width > 2 * width || self->part.height > 2 * height ? SL_FILTER_AREA
                                                                        : SL_FILTER_BILINEAR;
}

static bool
init_scalers (SlResizer *self, SlFilter filter)
{
  for (int i = 0; i < (self->layout->components == SL_COMPONENTS_GRAY ? 1 : 2); i++) {
    const SlRect part = component_rect (self->layout, self->part, i);
    const SlRect content = component_rect (self->layout, self->content, i);
    const int width = self->turn.transpose ? content.height : content.width;
    const int height = self->turn.transpose ? content.width : content.height;
    const bool pairs = i > 0 && self->layout->packing[1] == SL_PACKING_PAIR;
    if (!sl_plane_scaler_init (&self->scaler[i], part.width, part.height, width, height,
                               self->layout, pairs, filter))
      return false;
  }
  return true;
}

/* Bytes from one row to the next of a component's scratch; luma of YUV422 has whole pairs. */
static size_t
scratch_row (const SlResizer *self, SlRect rect, int component)
{
  const int width = component_rect (self->layout, rect, component).width;
  const bool pairs = component == 0 && self->layout->packing[0] == SL_PACKING_YUV422;
  return (size_t) (pairs ? shrink (width, 1) * 2 : width) * (size_t) sample_bytes (self->layout);
}

static size_t
reserve (size_t *total, size_t bytes)
{
  const size_t at = *total;
  *total += (bytes + 63) / 64 * 64;
  return at;
}

static bool
init_memory (SlResizer *self)
{
  size_t total = 0, unpacked[3] = { 0 }, packed[3] = { 0 }, border[2];
  for (int c = 0; c < (self->layout->components == SL_COMPONENTS_GRAY ? 1 : 3); c++) {
    if (self->layout->packing[self->layout->component[c].plane > 0] == SL_PACKING_PLANAR)
      continue;
    const int from_rows = component_rect (self->layout, self->part, c).height;
    const int to_rows = component_rect (self->layout, self->content, c).height;
    unpacked[c] = reserve (&total, scratch_row (self, self->part, c) * (size_t) from_rows);
    packed[c] = reserve (&total, scratch_row (self, self->content, c) * (size_t) to_rows);
  }
  for (int i = 0; i < 2; i++)
    border[i] = reserve (&total, sl_image_row_bytes (&self->to, i));
  const size_t scaled = (size_t) self->content.width * (size_t) self->content.height
                        * (size_t) sample_bytes (self->layout);
  const size_t scaled_at = reserve (&total, scaled);
  self->memory = aligned_alloc (64, total);
  if (self->memory == NULL)
    return false;
  memset (self->memory, 0, total);
  for (int c = 0; c < 3; c++) {
    self->unpacked[c] = self->memory + unpacked[c];
    self->packed[c] = self->memory + packed[c];
  }
  for (int i = 0; i < 2; i++)
    self->border[i] = self->memory + border[i];
  self->scaled = self->memory + scaled_at;
  return true;
}

/* Fills the border rows with luma @value and neutral chroma. */
static void
init_border (SlResizer *self, int value)
{
  const SlPixelLayout *layout = self->layout;
  for (int i = 0; i < 2; i++) {
    const size_t bytes = sl_image_row_bytes (&self->to, i);
    const int luma = i == 0 ? value : NEUTRAL;
    if (layout->bits > 8)
      for (size_t k = 0; k < bytes / 2; k++)
        ((uint16_t *) (void *) self->border[i])[k] = (uint16_t) ((luma << 8) >> layout->shift);
    else if (layout->packing[i] == SL_PACKING_YUV422)
      for (size_t k = 0; k < bytes; k++)
        self->border[i][k] = (uint8_t) (k % 2 == layout->component[0].lane ? value : NEUTRAL);
    else
      memset (self->border[i], luma, bytes);
  }
}

static bool
size_fits (int width, int height)
{
  return width >= 1 && width <= SL_RESIZE_MAX_SIZE && height >= 1 && height <= SL_RESIZE_MAX_SIZE;
}

static SlResizeStatus
check (const SlImageInfo *image, const SlResizeSpec *spec)
{
  const SlPixelLayout *layout = sl_pixel_layout (image->format);
  if (layout == NULL || layout->components == SL_COMPONENTS_RGB)
    return SL_RESIZE_BAD_FORMAT;
  if (!size_fits (image->width, image->height) || !size_fits (spec->width, spec->height))
    return SL_RESIZE_BAD_SIZE;
  if (!sl_image_has_crop (image, &spec->crop))
    return SL_RESIZE_BAD_CROP;
  if ((unsigned int) spec->fit > SL_FIT_CROP
      || (unsigned int) spec->orientation > SL_ORIENTATION_UR_LL
      || (unsigned int) spec->filter > SL_FILTER_AUTO || spec->pad_value < 0
      || spec->pad_value > 255)
    return SL_RESIZE_BAD_CHOICE;
  return SL_RESIZE_OK;
}

SlResizeStatus
sl_resizer_new (SlResizer **out, const SlImageInfo *image, const SlResizeSpec *spec)
{
  *out = NULL;
  const SlResizeStatus status = check (image, spec);
  if (status != SL_RESIZE_OK)
    return status;
  SlResizer *self = calloc (1, sizeof *self);
  if (self == NULL)
    return SL_RESIZE_NO_MEMORY;
  self->from = self->to = *image;
  self->to.width = spec->width;
  self->to.height = spec->height;
  self->layout = sl_pixel_layout (image->format);
  self->turn = sl_affine_turn (spec->orientation);
  place (self, spec);
  make_map (self, spec->orientation);
  if (!init_scalers (self, choose_filter (self, spec->filter)) || !init_memory (self)) {
    sl_resizer_free (self);
    return SL_RESIZE_NO_MEMORY;
  }
  init_border (self, spec->pad_value);
  *out = self;
  return SL_RESIZE_OK;
}

void
sl_resizer_free (SlResizer *self)
{
  if (self == NULL)
    return;
  sl_plane_scaler_clear (&self->scaler[0]);
  sl_plane_scaler_clear (&self->scaler[1]);
  free (self->memory);
  free (self);
}

/* Bytes of the samples that one column step of a plane holds, and of how many pixels these are. */
static int
group_bytes (const SlResizer *self, int plane, int *shift)
{
  const SlPacking packing = self->layout->packing[plane > 0];
  *shift = plane > 0 || packing == SL_PACKING_YUV422 ? self->layout->chroma_shift_w : 0;
  const int samples = packing == SL_PACKING_YUV422 ? 4 : packing == SL_PACKING_PAIR ? 2 : 1;
  return samples * sample_bytes (self->layout);
}

/* The bytes of @rect in plane @plane: x and width in bytes, y and height in rows. */
static SlRect
plane_rect (const SlResizer *self, SlRect rect, int plane)
{
  int sw;
  const int bytes = group_bytes (self, plane, &sw),
            sh = plane > 0 ? self->layout->chroma_shift_h : 0;
  return (SlRect){ (rect.x >> sw) * bytes, rect.y >> sh, shrink (rect.width, sw) * bytes,
                   shrink (rect.height, sh) };
}

static void
draw_border (const SlResizer *self, const SlImageTarget *to, int plane)
{
  const SlRect inner = plane_rect (self, self->content, plane);
  const size_t bytes = sl_image_row_bytes (&self->to, plane);
  const int rows = sl_image_plane_rows (&self->to, plane);
  const size_t after = (size_t) (inner.x + inner.width);
  const uint8_t *border = self->border[plane > 0];
  for (int y = 0; y < rows; y++) {
    uint8_t *row = to->plane[plane] + y * to->stride[plane];
    if (y < inner.y || y >= inner.y + inner.height) {
      memcpy (row, border, bytes);
    } else {
      memcpy (row, border, (size_t) inner.x);
      memcpy (row + after, border, bytes - after);
    }
  }
}

static SlPlane
plane_at (uint8_t *data, ptrdiff_t stride, SlRect rect)
{
  return (SlPlane){ data + rect.y * stride + rect.x, stride };
}

static SlPlane
upside_down (SlPlane plane, int rows)
{
  return (SlPlane){ plane.data + (rows - 1) * plane.stride, -plane.stride };
}

/* One component: scaled, then turned. */
static void
run_component (SlResizer *self, int component, SlPlane src, SlPlane dst)
{
  SlPlaneScaler *scaler = &self->scaler[component > 0];
  const int width = scaler->dst_w, height = scaler->dst_h, bytes = scaler->bytes;
  if (self->turn.flip_y)
    src = upside_down (src, scaler->src_h);
  if (!self->turn.transpose && !self->turn.flip_x) {
    sl_plane_scaler_run (scaler, src, dst);
    return;
  }
  if (scaler->method != SL_PLANE_COPY) {
    const SlPlane scaled = { self->scaled, (ptrdiff_t) width * bytes };
    sl_plane_scaler_run (scaler, src, scaled);
    src = scaled;
  }
  if (!self->turn.transpose)
    sl_plane_mirror (src, dst, width, height, bytes);
  else
    sl_plane_transpose (src, self->turn.flip_x ? upside_down (dst, width) : dst, width, height,
                        bytes);
}

static SlPlane
scratch_plane (const SlResizer *self, uint8_t *const scratch[3], SlRect rect, int component)
{
  return (SlPlane){ scratch[component], (ptrdiff_t) scratch_row (self, rect, component) };
}

/* UVScale() takes positions coarsely, except where they are the same for every sample; its nearest
 * is wrong at 2x. */
static bool
pair_scales_whole (const SlPlaneScaler *s)
{
  return s->method == SL_PLANE_LIBYUV && !s->nearest && s->src_w % s->dst_w == 0
         && s->src_h % s->dst_h == 0;
}

static void
run_pair (SlResizer *self, SlPlane src, SlPlane dst)
{
  const SlPlaneScaler *scaler = &self->scaler[1];
  const bool upright = !self->turn.transpose && !self->turn.flip_x;
  const SlPlane from = self->turn.flip_y ? upside_down (src, scaler->src_h) : src;
  if (upright && scaler->method == SL_PLANE_SCALER10) {
    sl_plane_scaler10_run (scaler->pairs10, from.data, from.stride, dst.data, dst.stride);
    return;
  }
  if (upright && pair_scales_whole (scaler)) {
    UVScale (from.data, (int) from.stride, scaler->src_w, scaler->src_h, dst.data, (int) dst.stride,
             scaler->dst_w, scaler->dst_h, kFilterBilinear);
    return;
  }
  const SlRect content = component_rect (self->layout, self->content, 1);
  SlPlane in[2], out[2];
  for (int i = 0; i < 2; i++) {
    in[i] = scratch_plane (self, self->unpacked, self->part, 1 + i);
    out[i] = scratch_plane (self, self->packed, self->content, 1 + i);
  }
  sl_plane_split (src, in[0], in[1], scaler->src_w, scaler->src_h, scaler->bytes);
  for (int i = 0; i < 2; i++)
    run_component (self, 1 + i, in[i], out[i]);
  sl_plane_merge (out[0], out[1], dst, content.width, content.height, scaler->bytes);
}

static void
run_yuv422 (SlResizer *self, SlPlane src, SlPlane dst)
{
  const bool luma_first = self->layout->component[0].lane == 0;
  SlPlane in[3], out[3];
  for (int c = 0; c < 3; c++) {
    in[c] = scratch_plane (self, self->unpacked, self->part, c);
    out[c] = scratch_plane (self, self->packed, self->content, c);
  }
  (luma_first ? YUY2ToI422 : UYVYToI422) (
    src.data, (int) src.stride, in[0].data, (int) in[0].stride, in[1].data, (int) in[1].stride,
    in[2].data, (int) in[2].stride, (int) in[0].stride, self->part.height);
  for (int c = 0; c < 3; c++)
    run_component (self, c, in[c], out[c]);
  if (self->content.width % 2 != 0)
    for (int y = 0; y < self->content.height; y++) {
      uint8_t *end = out[0].data + y * out[0].stride + self->content.width;
      end[0] = end[-1];
    }
  (luma_first ? I422ToYUY2 : I422ToUYVY) (
    out[0].data, (int) out[0].stride, out[1].data, (int) out[1].stride, out[2].data,
    (int) out[2].stride, dst.data, (int) dst.stride, (int) out[0].stride, self->content.height);
}

static bool
is_unscaled (const SlResizer *self)
{
  return self->scaler[0].method == SL_PLANE_COPY && !self->turn.transpose && !self->turn.flip_x;
}

static void
run_plane (SlResizer *self, int plane, SlPlane src, SlPlane dst)
{
  const SlRect part = plane_rect (self, self->part, plane);
  if (is_unscaled (self))
    sl_plane_copy (self->turn.flip_y ? upside_down (src, part.height) : src, dst,
                   (size_t) part.width, part.height);
  else if (self->layout->packing[plane > 0] == SL_PACKING_PAIR)
    run_pair (self, src, dst);
  else if (self->layout->packing[plane > 0] == SL_PACKING_YUV422)
    run_yuv422 (self, src, dst);
  else
    run_component (self, plane, src, dst);
}

static bool
stride_fits (const SlResizer *self, const uint8_t *data, ptrdiff_t stride)
{
  if (stride > STRIDE_LIMIT || stride < -STRIDE_LIMIT)
    return false;
  return self->layout->bits == 8 || (((uintptr_t) data | (uintptr_t) stride) & 1) == 0;
}

SlResizeStatus
sl_resizer_run (SlResizer *self, const SlImage *from, const SlImageTarget *to)
{
  const bool bordered =
    self->content.width != self->to.width || self->content.height != self->to.height;
  for (int p = 0; p < self->layout->planes; p++)
    if (!stride_fits (self, from->plane[p], from->stride[p])
        || !stride_fits (self, to->plane[p], to->stride[p]))
      return SL_RESIZE_BAD_STRIDE;
  for (int p = 0; p < self->layout->planes; p++) {
    if (bordered)
      draw_border (self, to, p);
    run_plane (self, p,
               plane_at ((uint8_t *) (uintptr_t) from->plane[p], from->stride[p],
                         plane_rect (self, self->part, p)),
               plane_at (to->plane[p], to->stride[p], plane_rect (self, self->content, p)));
  }
  return SL_RESIZE_OK;
}

const SlAffine *
sl_resizer_map (const SlResizer *self)
{
  return &self->map;
}

SlRect
sl_resizer_content (const SlResizer *self)
{
  return self->content;
}

bool
sl_resizer_is_identity (const SlResizer *self)
{
  return is_unscaled (self) && !self->turn.flip_y && self->part.width == self->from.width
         && self->part.height == self->from.height && self->to.width == self->from.width
         && self->to.height == self->from.height;
}

const char *
sl_resize_status_text (SlResizeStatus status)
{
  static const char *const texts[] = {
    [SL_RESIZE_OK] = "success",
    [SL_RESIZE_NO_MEMORY] = "out of memory",
    [SL_RESIZE_BAD_FORMAT] = "expected a YUV or GRAY8 pixel format",
    [SL_RESIZE_BAD_SIZE] = "expected widths and heights of 1 to 16384",
    [SL_RESIZE_BAD_CROP] = "the crop rectangle is empty or not inside the frame",
    [SL_RESIZE_BAD_CHOICE] =
      "fit, orientation or filter has no such value, or the pad value is outside 0 to 255",
    [SL_RESIZE_BAD_STRIDE] =
      "expected rows at most 2^30 bytes apart, and for 10-bit formats at even addresses",
  };
  return (unsigned int) status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown status";
}
