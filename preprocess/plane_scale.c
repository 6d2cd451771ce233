/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Planes scaled and turned, by whichever does what the filter's name says in the least time:
 *  - bytes: the normaliser's row functions, a plane being a gray picture. libyuv's ScalePlane() is
 * slower for area and wrong at
 *    its edges: its box is a box only beyond 2x on both axes, has its own edges on whole samples,
 *    darkens large boxes (its weight is
 *    65536 / samples cut to a whole number) and overflows beyond 257 rows; enlarging, it puts the
 *    first and last samples on
 *    the edges, so that a position would depend on both sizes;
 *  - bytes, bilinear, 2x or more on both axes: ScalePlane(), which then reads only the samples it
 * needs, and is right but for
 *    3/8 on both axes, where it averages;
 *  - 16-bit samples, which libyuv scales one by one: the row functions again, into words;
 *  - bytes, nearest: ScalePlane(), but for 3/8 again, where it is a pixel off.
 */
#include "preprocess/plane_scale.h"

#include <libyuv.h>
#include <stdlib.h>
#include <string.h>

static bool
positions_nearest (int32_t **positions, int src, int dst)
{
  *positions = calloc ((size_t) dst, sizeof **positions);
  for (int i = 0; *positions != NULL && i < dst; i++)
    (*positions)[i] = (int32_t) ((2 * (int64_t) i + 1) * src / (2 * (int64_t) dst));
  return *positions != NULL;
}

static SlPlaneMethod
choose_method (const SlPlaneScaler *s, SlFilter filter)
{
  if (s->src_w == s->dst_w && s->src_h == s->dst_h)
    return SL_PLANE_COPY;
  const bool special = 8 * s->dst_w == 3 * s->src_w && 8 * s->dst_h == 3 * s->src_h;
  if (filter == SL_FILTER_NEAREST)
    return s->bytes == 2 || special ? SL_PLANE_NEAREST : SL_PLANE_LIBYUV;
  if (s->bytes == 2)
    return SL_PLANE_SCALER10;
  if (filter == SL_FILTER_BILINEAR && !special && s->src_w >= 2 * s->dst_w
      && s->src_h >= 2 * s->dst_h)
    return SL_PLANE_LIBYUV;
  return SL_PLANE_NORMALIZER;
}

static bool
init_normalizer (SlPlaneScaler *s, SlFilter filter)
{
  const SlImageInfo gray = {
    .format = SL_PIXEL_GRAY8, .width = s->src_w, .height = s->src_h, .full_range = 1
  };
  const SlNormalizeSpec same = {
    .width = s->dst_w,
    .height = s->dst_h,
    .type = SL_OUT_U8,
    .layout = SL_LAYOUT_NHWC,
    .colour = SL_COLOUR_GRAY,
    .fit = SL_FIT_STRETCH,
    .filter = filter,
    .gain = { 1, 1, 1 },
  };
  s->tight = malloc ((size_t) s->dst_w * (size_t) s->dst_h);
  return s->tight != NULL && sl_normalizer_new (&s->normalizer, &gray, &same) == SL_NORMALIZE_OK;
}

static bool
init_scaler10 (SlPlaneScaler *s, const SlPixelLayout *layout, bool pairs, SlFilter filter)
{
  SlPlaneScale10Spec spec = { s->src_w, s->src_h, s->dst_w, s->dst_h, 1, layout->shift, filter };
  s->scaler10 = sl_plane_scaler10_new (&spec);
  spec.lanes = 2;
  s->pairs10 = s->scaler10 != NULL && pairs ? sl_plane_scaler10_new (&spec) : NULL;
  return s->scaler10 != NULL && (!pairs || s->pairs10 != NULL);
}

bool
sl_plane_scaler_init (SlPlaneScaler *scaler, int src_w, int src_h, int dst_w, int dst_h,
                      const SlPixelLayout *layout, bool pairs, SlFilter filter)
{
  const int bytes = layout->bits > 8 ? 2 : 1;
  *scaler = (SlPlaneScaler){
    .src_w = src_w, .src_h = src_h, .dst_w = dst_w, .dst_h = dst_h, .bytes = bytes
  };
  scaler->method = choose_method (scaler, filter);
  scaler->nearest = filter == SL_FILTER_NEAREST;
  bool good = true;
  if (scaler->method == SL_PLANE_NEAREST)
    good =
      positions_nearest (&scaler->x, src_w, dst_w) && positions_nearest (&scaler->y, src_h, dst_h);
  else if (scaler->method == SL_PLANE_NORMALIZER)
    good = init_normalizer (scaler, filter);
  else if (scaler->method == SL_PLANE_SCALER10)
    good = init_scaler10 (scaler, layout, pairs, filter);
  if (!good)
    sl_plane_scaler_clear (scaler);
  return good;
}

void
sl_plane_scaler_clear (SlPlaneScaler *scaler)
{
  free (scaler->x);
  free (scaler->y);
  sl_normalizer_free (scaler->normalizer);
  free (scaler->tight);
  sl_plane_scaler10_free (scaler->scaler10);
  sl_plane_scaler10_free (scaler->pairs10);
  *scaler = (SlPlaneScaler){ 0 };
}

static const uint8_t *
row_at (SlPlane plane, int y)
{
  return plane.data + y * plane.stride;
}

void
sl_plane_copy (SlPlane src, SlPlane dst, size_t row_bytes, int rows)
{
  for (int y = 0; y < rows; y++)
    memcpy (dst.data + y * dst.stride, row_at (src, y), row_bytes);
}

static void
run_nearest (const SlPlaneScaler *s, SlPlane src, SlPlane dst)
{
  for (int y = 0; y < s->dst_h; y++) {
    const uint8_t *from = row_at (src, s->y[y]);
    uint8_t *to = dst.data + y * dst.stride;
    if (s->bytes == 1)
      for (int x = 0; x < s->dst_w; x++)
        to[x] = from[s->x[x]];
    else
      for (int x = 0; x < s->dst_w; x++)
        ((uint16_t *) (void *) to)[x] = ((const uint16_t *) (const void *) from)[s->x[x]];
  }
}

/* The normaliser's pictures have no gaps between rows. */
static void
run_normalizer (SlPlaneScaler *s, SlPlane src, SlPlane dst)
{
  const SlImage gray = { .plane = { src.data }, .stride = { src.stride } };
  const bool direct = dst.stride == s->dst_w;
  sl_normalizer_run (s->normalizer, &gray, direct ? dst.data : s->tight);
  if (!direct)
    sl_plane_copy ((SlPlane){ s->tight, s->dst_w }, dst, (size_t) s->dst_w, s->dst_h);
}

void
sl_plane_scaler_run (SlPlaneScaler *s, SlPlane src, SlPlane dst)
{
  switch (s->method) {
    case SL_PLANE_COPY:
      sl_plane_copy (src, dst, (size_t) s->src_w * (size_t) s->bytes, s->src_h);
      break;
    case SL_PLANE_NEAREST:
      run_nearest (s, src, dst);
      break;
    case SL_PLANE_LIBYUV:
      ScalePlane (src.data, (int) src.stride, s->src_w, s->src_h, dst.data, (int) dst.stride,
                  s->dst_w, s->dst_h, kFilterBilinear);
      break;
    case SL_PLANE_NORMALIZER:
      run_normalizer (s, src, dst);
      break;
    case SL_PLANE_SCALER10:
      sl_plane_scaler10_run (s->scaler10, src.data, src.stride, dst.data, dst.stride);
      break;
  }
}

void
sl_plane_mirror (SlPlane src, SlPlane dst, int width, int height, int bytes)
{
  if (bytes == 1) {
    MirrorPlane (src.data, (int) src.stride, dst.data, (int) dst.stride, width, height);
    return;
  }
  for (int y = 0; y < height; y++) {
    const uint16_t *from = (const uint16_t *) (const void *) row_at (src, y);
    uint16_t *to = (uint16_t *) (void *) (dst.data + y * dst.stride);
    for (int x = 0; x < width; x++)
      to[x] = from[width - 1 - x];
  }
}

void
sl_plane_transpose (SlPlane src, SlPlane dst, int width, int height, int bytes)
{
  if (bytes == 1) {
    TransposePlane (src.data, (int) src.stride, dst.data, (int) dst.stride, width, height);
    return;
  }
  for (int y = 0; y < height; y++) {
    const uint16_t *from = (const uint16_t *) (const void *) row_at (src, y);
    for (int x = 0; x < width; x++)
      memcpy (dst.data + x * dst.stride + 2 * y, &from[x], 2);
  }
}

void
sl_plane_split (SlPlane src, SlPlane u, SlPlane v, int width, int height, int bytes)
{
  if (bytes == 1) {
    SplitUVPlane (src.data, (int) src.stride, u.data, (int) u.stride, v.data, (int) v.stride, width,
                  height);
    return;
  }
  for (int y = 0; y < height; y++) {
    const uint16_t *from = (const uint16_t *) (const void *) (src.data + y * src.stride);
    uint16_t *to_u = (uint16_t *) (void *) (u.data + y * u.stride),
             *to_v = (uint16_t *) (void *) (v.data + y * v.stride);
    for (int x = 0; x < width; x++) {
      to_u[x] = from[2 * x];
      to_v[x] = from[2 * x + 1];
    }
  }
}

void
sl_plane_merge (SlPlane u, SlPlane v, SlPlane dst, int width, int height, int bytes)
{
  if (bytes == 1) {
    MergeUVPlane (u.data, (int) u.stride, v.data, (int) v.stride, dst.data, (int) dst.stride, width,
                  height);
    return;
  }
  for (int y = 0; y < height; y++) {
    const uint16_t *from_u = (const uint16_t *) (const void *) (u.data + y * u.stride);
    const uint16_t *from_v = (const uint16_t *) (const void *) (v.data + y * v.stride);
    uint16_t *to = (uint16_t *) (void *) (dst.data + y * dst.stride);
    for (int x = 0; x < width; x++) {
      to[2 * x] = from_u[x];
      to[2 * x + 1] = from_v[x];
    }
  }
}
