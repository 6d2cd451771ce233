/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A picture in memory as the preprocessor takes it: format, size, planes, colorimetry. libc only; names and
 * memory layouts are GStreamer's.
 */
#ifndef SL_PREPROCESS_IMAGE_H
#define SL_PREPROCESS_IMAGE_H

#include <stddef.h>
#include <stdint.h>

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
  SL_PIXEL_GRAY8,
  SL_PIXEL_RGB,
  SL_PIXEL_BGR,
  SL_PIXEL_RGBX, /* RGBx, RGBA */
  SL_PIXEL_BGRX, /* BGRx, BGRA */
  SL_PIXEL_XRGB, /* xRGB, ARGB */
  SL_PIXEL_XBGR, /* xBGR, ABGR */
  SL_PIXEL_COUNT
} SlPixelFormat;

/** Kr and Kb of the luma equation: BT.601 (0.299, 0.114), BT.709 (0.2126, 0.0722), BT.2020 (0.2627, 0.0593). */
typedef enum
{
  SL_MATRIX_BT601,
  SL_MATRIX_BT709,
  SL_MATRIX_BT2020
} SlMatrix;

/** Where chroma samples lie relative to luma: horizontally co-sited with even luma columns (MPEG-2) or centred
 *  between two (JPEG); likewise vertically. */
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

/** Where one component of a format lies: byte @offset + sample * @step of a row of @plane. */
typedef struct
{
  uint8_t plane, offset, step;
} SlComponent;

/**
 * SlPixelLayout: one row of the format table.
 * @chroma_shift_w, @chroma_shift_h: components 1 and 2 have ceil (size / 2^shift) samples
 * @component: Y U V, R G B, or gray alone
 */
typedef struct
{
  const char *name;
  uint8_t planes;
  SlComponents components;
  uint8_t chroma_shift_w, chroma_shift_h;
  SlComponent component[3];
} SlPixelLayout;

/** What a stream of pictures has in common. RGB formats are full range whatever @full_range says. */
typedef struct
{
  SlPixelFormat format;
  int width, height; /* 1..32768 */
  SlMatrix matrix;
  int full_range; /* 0: luma 16..235, chroma 16..240; 1: 0..255 */
  SlSite site_h, site_v;
} SlImageInfo;

/** One picture: planes in GStreamer's order of its format (I420: Y U V, YV12: Y V U); strides in bytes, negative allowed.
 *  Only the bytes of the picture's own samples are read; a row of YUY2 or UYVY holds ceil (width / 2) * 4 bytes. */
typedef struct
{
  const uint8_t *plane[3];
  ptrdiff_t stride[3];
} SlImage;

/** sl_pixel_layout: (nullable): NULL when @format is not an SlPixelFormat. */
const SlPixelLayout *sl_pixel_layout (SlPixelFormat format);
/** sl_pixel_format_name: GStreamer's name, "NV12"; "unknown" when @format is not an SlPixelFormat. */
const char *sl_pixel_format_name (SlPixelFormat format);
/** sl_pixel_format_planes: number of planes, 1..3; 0 when @format is not an SlPixelFormat. */
int sl_pixel_format_planes (SlPixelFormat format);

#endif
