/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Picture -> tensor: crop, turn, scale, colour matrix, normalisation or quantisation and channel order, one pass over
 * the pixels it needs. Everything that depends on sizes is computed in sl_normalizer_new(); running allocates nothing,
 * locks nothing and divides nothing. libc only.
 */
#ifndef SL_PREPROCESS_NORMALIZE_H
#define SL_PREPROCESS_NORMALIZE_H

#include <stddef.h>

#include "core/base/affine.h"
#include "preprocess/image.h"

typedef enum
{
  SL_OUT_U8,
  SL_OUT_I8,
  SL_OUT_F32,
  SL_OUT_F16 /* IEEE 754 binary16, native byte order */
} SlOutType;

/** How a tensor pixel is made of the frame's pixels. Nothing outside the fitted part is read. */
typedef enum
{
  SL_FILTER_NEAREST,  /* the pixel its centre falls on, with the chroma sample that covers that pixel */
  SL_FILTER_BILINEAR, /* between the four samples around its centre; aliases when reducing beyond 2 */
  SL_FILTER_AREA,     /* mean of the area it covers, samples counting by the fraction covered; an axis that is not reduced is bilinear */
  SL_FILTER_AUTO      /* area when either axis is reduced beyond 2, else bilinear */
} SlFilter;

/**
 * SlNormalizeSpec: the tensor wanted.
 * @fit: with letterbox, a tensor pixel is border when its centre falls outside the frame; a frame so thin that it holds
 *   no pixel centre leaves borders only
 * @filter: chroma is placed by its site for all but nearest
 * @gain, @offset: stored = byte * gain + offset per output channel (in the order stored: [0] is blue for SL_COLOUR_BGR),
 *   byte in 0..255 and not rounded after the colour matrix; rounded half to even and clamped for integer types, clamped to
 *   +-65504 for float16; finite, at most 1e30 in size
 * @pad_value: 0..255, colour of letterbox borders before gain and offset
 * @orientation: how the frame, or its part, is turned before it is fitted
 * @crop: the part of the frame to fit, inside the frame; all zero for the whole
 * @share: with stretch and crop, the central share of each side that fills the tensor, above 0 and at most 1; 0 stands for 1
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
  SL_NORMALIZE_BAD_SIZE,   /* a size outside 1..SL_MAX_SIDE, or a tensor larger than the address space */
  SL_NORMALIZE_BAD_FORMAT, /* not an SlPixelFormat */
  SL_NORMALIZE_BAD_RANGE,  /* gain or offset not finite or beyond 1e30, pad outside 0..255 */
  SL_NORMALIZE_BAD_ENUM,   /* another field holds no value of its enum */
  SL_NORMALIZE_BAD_CROP,   /* crop empty or not inside the frame */
} SlNormalizeStatus;

typedef struct SlNormalizer SlNormalizer;

/** sl_normalizer_new: *@out is NULL unless SL_NORMALIZE_OK is returned. */
SlNormalizeStatus sl_normalizer_new (SlNormalizer **out, const SlImageInfo *image, const SlNormalizeSpec *spec);
/** sl_normalizer_set: makes of @normalizer what sl_normalizer_new() would make, in the memory that it has as far as that is enough: for
 *  crops that change with each picture. It must not run meanwhile. After any error it must be set again before it runs. */
SlNormalizeStatus sl_normalizer_set (SlNormalizer *normalizer, const SlImageInfo *image, const SlNormalizeSpec *spec);
/** sl_normalizer_free: NULL is legal. */
void sl_normalizer_free (SlNormalizer *normalizer);
/** sl_normalizer_run: fills @tensor (width * height * channels elements, aligned to its element). One thread at a time. */
void sl_normalizer_run (SlNormalizer *normalizer, const SlImage *image, void *tensor);
/** sl_normalizer_map: tensor -> frame, as fitted. */
const SlAffine *sl_normalizer_map (const SlNormalizer *normalizer);

/** sl_normalizer_slices: into how many slices the tensor can be divided at most, at least 1: its rows, or groups of 32
 *  columns when the orientation exchanges them. */
int sl_normalizer_slices (const SlNormalizer *normalizer);
/** sl_normalizer_scratch_bytes: what sl_normalizer_run_slices() needs of @scratch. */
size_t sl_normalizer_scratch_bytes (const SlNormalizer *normalizer);
/** sl_normalizer_run_slices: fills slices @first to @first + @count - 1 (0 <= @first, @first + @count <= slices) of @tensor. Any
 *  number of threads may run with the same @normalizer and @tensor, each with a @scratch of its own, 64-byte aligned and zero
 *  before its first use. What several calls make is the same, bit by bit, as what one call makes. */
void sl_normalizer_run_slices (const SlNormalizer *normalizer, const SlImage *image, void *tensor, int first, int count, void *scratch);

/** sl_normalizer_cpu: name of the kernels in use: "c", "avx2", "avx512" or "neon". The environment's SIGHTLINE_CPU keeps them at or below
 *  what it names. */
const char *sl_normalizer_cpu (void);
/** sl_normalize_status_text: what is wrong and what was expected, without a full stop. */
const char *sl_normalize_status_text (SlNormalizeStatus status);

#endif
