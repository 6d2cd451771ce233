/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A picture in memory as the preprocessor takes it: format, size, planes, colorimetry. libc only;
 * names and memory layouts are GStreamer's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/affine.h"
#include "core/base/picture.h"

typedef enum
{
  SL_PIXEL_NV12,
  SL_PIXEL_NV21,
  SL_PIXEL_I420,
  SL_PIXEL_YV12,
  SL_PIXEL_YUY2,
  SL_PIXEL_UYVY,
  SL_PIXEL_Y42B,
  SL_PIXEL_Y444,
  SL_PIXEL_P010,    /* P010_10LE: 10 bits in the high bits of 16-bit little-endian words */
  SL_PIXEL_I420_10, /* I420_10LE: 10 bits in the low bits */
  SL_PIXEL_GRAY8,
  SL_PIXEL_RGB,
  SL_PIXEL_BGR,
  SL_PIXEL_RGBX, /* RGBx, RGBA */
  SL_PIXEL_BGRX, /* BGRx, BGRA */
  SL_PIXEL_XRGB, /* xRGB, ARGB */
  SL_PIXEL_XBGR, /* xBGR, ABGR */
  SL_PIXEL_RGBP, /* three planes */
  SL_PIXEL_COUNT
} SlPixelFormat;

/** Where chroma samples lie relative to luma: horizontally co-sited with even luma columns (MPEG-2)
 * or centred between two (JPEG); likewise vertically. */
typedef enum
{
  SL_SITE_CENTRE,
  SL_SITE_COSITED
} SlSite;

/** What the three components of a format are. */
typedef enum
{
  SL_COMPONENTS_YUV,
  SL_COMPONENTS_RGB,
  SL_COMPONENTS_GRAY /* one component */
} SlComponents;

/** How the samples of a plane are grouped. */
typedef enum
{
  SL_PACKING_PLANAR, /* one component */
  SL_PACKING_PAIR,   /* two components in turn */
  SL_PACKING_TRIPLE,
  SL_PACKING_QUAD,  /* three components and one sample of padding or alpha */
  SL_PACKING_YUV422 /* four samples for two pixels: Y every second, U and V each once */
} SlPacking;

/** Where one component lies: sample @lane of every group of @plane, and every second from there for
 * Y of YUV422. */
typedef struct
{
  uint8_t plane, lane;
} SlComponent;

/**
 * SlPixelLayout: one row of the format table.
 * @bits: of a sample, 8 in a byte or 10 in a 16-bit little-endian word
 * @shift: by which a word must be shifted left to have its highest bit in bit 15
 * @chroma_shift_w, @chroma_shift_h: components 1 and 2 have ceil (size / 2^shift) samples
 * @packing: of plane 0, and of all others
 * @component: Y U V, R G B, or gray alone
 */
typedef struct
{
  const char *name;
  uint8_t planes, bits, shift;
  SlComponents components;
  uint8_t chroma_shift_w, chroma_shift_h;
  SlPacking packing[2];
  SlComponent component[3];
} SlPixelLayout;

/** What a stream of pictures has in common. RGB formats are full range whatever @full_range says.
 */
typedef struct
{
  SlPixelFormat format;
  int width, height; /* 1..SL_MAX_SIDE */
  SlMatrix matrix;
  int full_range; /* 0: luma 16..235, chroma 16..240; 1: 0..255 */
  SlSite site_h, site_v;
} SlImageInfo;

/** sl_image_info_same: whether a normaliser for pictures of @a takes those of @b. */
static inline bool
sl_image_info_same (const SlImageInfo *a, const SlImageInfo *b)
{
  return a->format == b->format && a->width == b->width && a->height == b->height
         && a->matrix == b->matrix && a->full_range == b->full_range && a->site_h == b->site_h
         && a->site_v == b->site_v;
}

/** One picture: planes in GStreamer's order of its format (I420: Y U V, YV12: Y V U); strides in
 * bytes, negative allowed. Only the bytes of the picture's own samples are read, at any alignment;
 * a row of YUY2 or UYVY holds ceil (width / 2) * 4 bytes. */
typedef struct
{
  const uint8_t *plane[3];
  ptrdiff_t stride[3];
} SlImage;

typedef enum
{
  SL_IMAGE_OK,
  SL_IMAGE_BAD_INFO,        /* no SlPixelFormat, or a size outside 1..SL_MAX_SIDE */
  SL_IMAGE_STRIDE_OVERFLOW, /* rows times stride does not fit in ptrdiff_t */
  SL_IMAGE_TOO_SMALL        /* some row of a plane lies outside the memory given for it */
} SlImageStatus;

/** The memory that a plane must lie in. */
typedef struct
{
  const void *data;
  size_t size;
} SlMemory;

/** sl_image_plane_rows: rows of plane @plane, 0 when @info is bad or has no such plane. */
int sl_image_plane_rows (const SlImageInfo *info, int plane);
/** sl_image_row_bytes: bytes that the samples of one row of plane @plane take, 0 when @info is bad
 * or has no such plane. */
size_t sl_image_row_bytes (const SlImageInfo *info, int plane);
/** sl_image_check_plane: whether @rows (from 1) rows of @row_bytes, the first one at @first,
 * @stride bytes from one to the next (negative allowed), all lie in @memory. Nothing is read. */
SlImageStatus sl_image_check_plane (int rows, size_t row_bytes, const void *first, ptrdiff_t stride,
                                    SlMemory memory);
/** sl_image_check: whether every byte that sl_normalizer_run() may read lies in the plane's
 * @memory. Call it for each picture whose planes and strides come from elsewhere. Nothing is read.
 */
SlImageStatus sl_image_check (const SlImageInfo *info, const SlImage *image,
                              const SlMemory memory[3]);
/** sl_image_has_crop: whether @crop lies inside of the picture; all 0 is the whole of it. */
static inline bool
sl_image_has_crop (const SlImageInfo *info, const SlRect *crop)
{
  return (crop->x == 0 && crop->y == 0 && crop->width == 0 && crop->height == 0)
         || (crop->x >= 0 && crop->y >= 0 && crop->width >= 1 && crop->height >= 1
             && crop->width <= info->width && crop->height <= info->height
             && crop->x <= info->width - crop->width && crop->y <= info->height - crop->height);
}
/** sl_image_status_text: what is wrong and what was expected, without a full stop. */
const char *sl_image_status_text (SlImageStatus status);

/** sl_pixel_layout: (nullable): NULL when @format is not an SlPixelFormat. */
const SlPixelLayout *sl_pixel_layout (SlPixelFormat format);
/** sl_pixel_format_name: GStreamer's name, "NV12"; "unknown" when @format is not an SlPixelFormat.
 */
const char *sl_pixel_format_name (SlPixelFormat format);
/** sl_pixel_format_planes: number of planes, 1..3; 0 when @format is not an SlPixelFormat. */
int sl_pixel_format_planes (SlPixelFormat format);
