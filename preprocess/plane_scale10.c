/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See plane_scale10.h: a plane is a picture of one or two components whose 32-bit rows become words
 * again.
 */
#include "preprocess/plane_scale10.h"

#include <stdlib.h>
#include <string.h>

#include "preprocess/source.h"

#define BITS 10
/* Of a 32-bit row, below a code's last bit. */
#define BELOW (SL_ROW_BITS + SL_TAP_BITS - BITS)
#define HALF (1U << (BELOW - 1))

struct SlPlaneScaler10
{
  SlPlaneScale10Spec spec;
  SlPixelLayout layout;
  SlSource source;
  void *scratch;
  int32_t *row[3];
};

static bool
init_memory (SlPlaneScaler10 *self)
{
  const size_t ints = ((size_t) self->spec.dst_w + SL_AXIS_GROUP) / SL_AXIS_GROUP * SL_AXIS_GROUP;
  const size_t source = sl_source_scratch_bytes (&self->source),
               bytes = source + 2 * ints * sizeof (int32_t);
  self->scratch = sl_tables_take (&self->source.tables, bytes, 1);
  if (self->scratch == NULL)
    return false;
  self->row[0] = (int32_t *) (void *) ((uint8_t *) self->scratch + source);
  self->row[1] = self->row[0] + ints;
  return true;
}

SlPlaneScaler10 *
sl_plane_scaler10_new (const SlPlaneScale10Spec *spec)
{
  SlPlaneScaler10 *self = calloc (1, sizeof *self);
  if (self == NULL)
    return NULL;
  self->spec = *spec;
  self->layout =
    (SlPixelLayout){ .name = "words",
                     .planes = 1,
                     .bits = BITS,
                     .shift = (uint8_t) spec->shift,
                     .components = SL_COMPONENTS_RGB,
                     .packing = { spec->lanes == 2 ? SL_PACKING_PAIR : SL_PACKING_PLANAR },
                     .component = { { 0, 0 }, { 0, 1 } } };
  const SlImageInfo plane = { .width = spec->src_w, .height = spec->src_h };
  const SlSourceSpec wanted = { .components = spec->lanes,
                                .crop = { 0, 0, spec->src_w, spec->src_h },
                                .columns = spec->dst_w,
                                .rows = spec->dst_h,
                                .x = { spec->src_w, spec->dst_w },
                                .y = { spec->src_h, spec->dst_h },
                                .filter = spec->filter };
  if (sl_source_init (&self->source, sl_kernels_get (), &self->layout, &plane, &wanted)
      && init_memory (self))
    return self;
  sl_plane_scaler10_free (self);
  return NULL;
}

void
sl_plane_scaler10_free (SlPlaneScaler10 *scaler)
{
  if (scaler == NULL)
    return;
  sl_source_clear (&scaler->source);
  free (scaler);
}

static inline uint16_t
to_word (int32_t value, int up)
{
  return (uint16_t) (((uint32_t) value + HALF) >> BELOW << up);
}

static void
store_two (uint16_t *restrict dst, const int32_t *restrict even, const int32_t *restrict odd, int n,
           int up)
{
  for (int x = 0; x < n; x++) {
    dst[2 * x] = to_word (even[x], up);
    dst[2 * x + 1] = to_word (odd[x], up);
  }
}

void
sl_plane_scaler10_run (SlPlaneScaler10 *scaler, const uint8_t *src, ptrdiff_t src_stride,
                       uint8_t *dst, ptrdiff_t dst_stride)
{
  const SlPlaneScale10Spec *spec = &scaler->spec;
  const SlImage image = { .plane = { src }, .stride = { src_stride } };
  const int up = 16 - BITS - spec->shift;
  for (int y = 0; y < spec->dst_h; y++) {
    uint16_t *to = (uint16_t *) (void *) (dst + y * dst_stride);
    sl_source_row (&scaler->source, &image, y, scaler->scratch, scaler->row);
    if (spec->lanes == 2)
      store_two (to, scaler->row[0], scaler->row[1], spec->dst_w, up);
    else
      for (int x = 0; x < spec->dst_w; x++)
        to[x] = to_word (scaler->row[0][x], up);
  }
}
