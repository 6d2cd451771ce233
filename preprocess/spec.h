/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlNormalizeSpec: the output tensor of a normaliser, and how its pixels are computed from the
 * frame's pixels. */
#pragma once

#include <stddef.h>

#include "core/base/affine.h"
#include "preprocess/image.h"

typedef enum
{
  SL_OUT_U8,
  SL_OUT_I8,
  SL_OUT_F32,
  SL_OUT_F16, /* IEEE 754 binary16, native byte order */
  SL_OUT_I32, /* this and the next one: as bytes, with wider bounds */
  SL_OUT_I64
} SlOutType;
#define SL_OUT_COUNT (SL_OUT_I64 + 1)

/** How a tensor pixel is made of the frame's pixels. Nothing outside the fitted part is read. */
typedef enum
{
  SL_FILTER_NEAREST, /* the pixel its centre falls on, with the chroma sample that covers that pixel
                      */
  SL_FILTER_BILINEAR, /* between the four samples around its centre; aliases when reducing beyond 2
                       */
  SL_FILTER_AREA, /* mean of the area it covers, samples counting by the fraction covered; an axis
                     that is not reduced is bilinear */
  SL_FILTER_AUTO  /* area when either axis is reduced beyond 2, else bilinear */
} SlFilter;

/**
 * SlNormalizeSpec: the tensor wanted.
 * @fit: with letterbox, a tensor pixel is border when its centre falls outside the frame; a frame
 * so thin that it holds no pixel centre leaves borders only
 * @filter: chroma is placed by its site for all but nearest
 * @gain, @offset: stored = byte * gain + offset per output channel (in the order stored: [0] is
 * blue for SL_COLOUR_BGR), byte in 0..255 and not rounded after the colour matrix; rounded half to
 * even and clamped for integer types, clamped to +-65504 for float16; finite, at most 1e30 in size
 * @pad_value: 0..255, colour of letterbox borders before gain and offset
 * @orientation: how the frame, or its part, is turned before it is fitted
 * @crop: the part of the frame to fit, inside the frame; all zero for the whole
 * @share: with stretch and crop, the central share of each side that fills the tensor, above 0 and
 * at most 1; 0 stands for 1
 */
typedef struct
{
  int width, height; /* 1..SL_MAX_SIDE */
  SlOutType type;
  SlLayout layout;
  SlColour colour;
  SlFit fit;
  SlFilter filter;
  int pad_value;
  double gain[3], offset[3];
  SlOrientation orientation;
  SlRect crop;
  double share;
} SlNormalizeSpec;

typedef enum
{
  SL_NORMALIZE_OK,
  SL_NORMALIZE_NO_MEMORY,
  SL_NORMALIZE_BAD_SIZE, /* a size outside 1..SL_MAX_SIDE, or a tensor larger than the address space
                          */
  SL_NORMALIZE_BAD_FORMAT, /* not an SlPixelFormat */
  SL_NORMALIZE_BAD_RANGE,  /* gain or offset not finite or beyond 1e30, pad outside 0..255 */
  SL_NORMALIZE_BAD_ENUM,   /* another field holds no value of its enum */
  SL_NORMALIZE_BAD_CROP,   /* crop empty or not inside the frame */
} SlNormalizeStatus;
