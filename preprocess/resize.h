/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * YUV picture -> YUV picture of the same format in another size: a part of it, turned, fitted. The
 * early and cheap step for streams that several consumers share; slresize calls it. Tables and
 * scratch memory are made in sl_resizer_new(); running allocates nothing of its own (libyuv takes a
 * few rows from malloc() inside its scalers). Needs libyuv.
 *
 * Pixels and map are consistent: part and content are whole pixels, aligned to chroma samples, and
 * sl_resizer_map() is the map between these two rectangles. Chroma is scaled as the plane it is;
 * where the caps place its samples is not changed, so with co-sited chroma it ends up at most half
 * a pixel of the result beside its luma.
 */
#pragma once

#include <stdbool.h>

#include "core/base/affine.h"
#include "preprocess/image.h"
#include "preprocess/normalize.h"

#define SL_RESIZE_MAX_SIZE 16384

/**
 * SlResizeSpec: the picture wanted.
 * @width, @height: 1..SL_RESIZE_MAX_SIZE
 * @crop: the part of the frame to take, inside the frame; all zero for the whole. Its edges are
 * moved outward to whole chroma samples
 * @fit: letterbox leaves borders, crop takes the middle of the part; both to the nearest whole
 * chroma sample, at least one
 * @filter: nearest, bilinear, area, or auto: area when either axis is reduced beyond 2, else
 * bilinear. An axis that is not reduced is bilinear with area
 * @pad_value: 0..255, stored 8-bit luma of letterbox borders (10-bit formats get it times 4);
 * chroma is neutral
 */
typedef struct
{
  int width, height;
  SlRect crop;
  SlFit fit;
  SlOrientation orientation;
  SlFilter filter;
  int pad_value;
} SlResizeSpec;

/** A picture to write; as SlImage. */
typedef struct
{
  uint8_t *plane[3];
  ptrdiff_t stride[3];
} SlImageTarget;

typedef enum
{
  SL_RESIZE_OK,
  SL_RESIZE_NO_MEMORY,
  SL_RESIZE_BAD_FORMAT, /* no SlPixelFormat, or RGB */
  SL_RESIZE_BAD_SIZE,   /* a size outside 1..SL_RESIZE_MAX_SIZE */
  SL_RESIZE_BAD_CROP,   /* crop empty or not inside the frame */
  SL_RESIZE_BAD_CHOICE, /* fit, orientation or filter holds no value of its enum, or pad_value is
                           outside 0..255 */
  SL_RESIZE_BAD_STRIDE  /* a stride beyond 2^30 bytes, or 16-bit samples at an odd address or stride
                         */
} SlResizeStatus;

typedef struct SlResizer SlResizer;

/** sl_resizer_new: *@out is NULL unless SL_RESIZE_OK is returned. Of @image, format and size count.
 */
SlResizeStatus sl_resizer_new (SlResizer **out, const SlImageInfo *image, const SlResizeSpec *spec);
/** sl_resizer_free: NULL is legal. */
void sl_resizer_free (SlResizer *resizer);
/** sl_resizer_run: writes every sample of @to, which must not overlap @from. Both must have passed
 * sl_image_check(). One thread at a time. SL_RESIZE_OK, or SL_RESIZE_BAD_STRIDE with nothing read
 * or written. */
SlResizeStatus sl_resizer_run (SlResizer *resizer, const SlImage *from, const SlImageTarget *to);
/** sl_resizer_map: picture -> frame, exactly what the pixels are. */
const SlAffine *sl_resizer_map (const SlResizer *resizer);
/** sl_resizer_content: the rectangle of the picture that is not border. */
SlRect sl_resizer_content (const SlResizer *resizer);
/** sl_resizer_is_identity: whether the picture is the frame, sample by sample. */
bool sl_resizer_is_identity (const SlResizer *resizer);
/** sl_resize_status_text: what is wrong and what was expected, without a full stop. */
const char *sl_resize_status_text (SlResizeStatus status);
