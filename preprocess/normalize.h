/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Picture -> tensor: scale, colour matrix, normalisation or quantisation and channel order, one pass over the
 * output. Everything that depends on sizes is computed in sl_normalizer_new(); sl_normalizer_run() allocates
 * nothing. libc only.
 */
#ifndef SL_PREPROCESS_NORMALIZE_H
#define SL_PREPROCESS_NORMALIZE_H

#include "preprocess/affine.h"
#include "preprocess/image.h"

typedef enum
{
  SL_OUT_U8,
  SL_OUT_I8,
  SL_OUT_F32
} SlOutType;

typedef enum
{
  SL_OUT_NHWC,
  SL_OUT_NCHW
} SlOutLayout;

typedef enum
{
  SL_OUT_RGB,
  SL_OUT_BGR,
  SL_OUT_GRAY
} SlOutColour;

typedef enum
{
  SL_FILTER_NEAREST,
  SL_FILTER_BILINEAR
} SlFilter;

/**
 * SlNormalizeSpec: the tensor wanted.
 * @fit: with letterbox, a tensor pixel is border when its centre falls outside the frame; a frame so thin that it holds
 *   no pixel centre leaves borders only
 * @filter: nearest takes the chroma sample that covers the luma pixel; bilinear places chroma by its site, and reads
 *   no pixel outside the fitted rectangle
 * @gain, @offset: stored = byte * gain + offset per output channel (in the order stored: [0] is blue for SL_OUT_BGR),
 *   byte in 0..255 and not rounded after the colour matrix; rounded half to even and clamped for integer types;
 *   finite, at most 1e30 in size
 * @pad_value: 0..255, colour of letterbox borders before gain and offset
 */
typedef struct
{
  int width, height; /* 1..32768 */
  SlOutType type;
  SlOutLayout layout;
  SlOutColour colour;
  SlAffineFit fit;
  SlFilter filter;
  int pad_value;
  double gain[3], offset[3];
} SlNormalizeSpec;

typedef enum
{
  SL_NORMALIZE_OK,
  SL_NORMALIZE_NO_MEMORY,
  SL_NORMALIZE_BAD_SIZE,   /* a size outside 1..32768, or a tensor larger than the address space */
  SL_NORMALIZE_BAD_FORMAT, /* not an SlPixelFormat */
  SL_NORMALIZE_BAD_RANGE,  /* gain or offset not finite or beyond 1e30, pad outside 0..255 */
  SL_NORMALIZE_BAD_ENUM,   /* another field holds no value of its enum */
} SlNormalizeStatus;

typedef struct SlNormalizer SlNormalizer;

/** sl_normalizer_new: *@out is NULL unless SL_NORMALIZE_OK is returned. */
SlNormalizeStatus sl_normalizer_new (SlNormalizer **out, const SlImageInfo *image, const SlNormalizeSpec *spec);
/** sl_normalizer_free: NULL is legal. */
void sl_normalizer_free (SlNormalizer *normalizer);
/** sl_normalizer_run: fills @tensor (width * height * channels elements, aligned to its element). One thread at a time. */
void sl_normalizer_run (SlNormalizer *normalizer, const SlImage *image, void *tensor);
/** sl_normalizer_map: tensor -> frame, as fitted. */
const SlAffine *sl_normalizer_map (const SlNormalizer *normalizer);
/** sl_normalize_status_text: what is wrong and what was expected, without a full stop. */
const char *sl_normalize_status_text (SlNormalizeStatus status);

#endif
