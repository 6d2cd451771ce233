/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Picture -> tensor: crop, turn, scale, colour matrix, normalisation or quantisation and channel
 * order, one pass over the pixels it needs. Everything that depends on sizes is computed in
 * sl_normalizer_new(); running allocates nothing, locks nothing and divides nothing. libc only.
 */
#pragma once

#include "preprocess/spec.h"

typedef struct SlNormalizer SlNormalizer;

/** sl_normalizer_new: *@out is NULL unless SL_NORMALIZE_OK is returned. */
SlNormalizeStatus sl_normalizer_new (SlNormalizer **out, const SlImageInfo *image,
                                     const SlNormalizeSpec *spec);
/** sl_normalizer_set: makes of @normalizer what sl_normalizer_new() would make, in the memory that
 * it has as far as that is enough: for crops that change with each picture. It must not run
 * meanwhile. After any error it must be set again before it runs. */
SlNormalizeStatus sl_normalizer_set (SlNormalizer *normalizer, const SlImageInfo *image,
                                     const SlNormalizeSpec *spec);
/** sl_normalizer_free: NULL is legal. */
void sl_normalizer_free (SlNormalizer *normalizer);
/** sl_normalizer_run: fills @tensor (width * height * channels elements, aligned to its element).
 * One thread at a time. */
void sl_normalizer_run (SlNormalizer *normalizer, const SlImage *image, void *tensor);
/** sl_normalizer_copies: whether the tensor has the bytes of its part of the image as they are. */
bool sl_normalizer_copies (const SlNormalizer *normalizer);
/** sl_normalizer_map: tensor -> frame, as fitted. */
const SlAffine *sl_normalizer_map (const SlNormalizer *normalizer);

/** sl_normalizer_slices: into how many slices the tensor can be divided at most, at least 1: its
 * rows, or groups of 32 columns when the orientation exchanges them. */
int sl_normalizer_slices (const SlNormalizer *normalizer);
/** sl_normalizer_scratch_bytes: what sl_normalizer_run_slices() needs of @scratch. */
size_t sl_normalizer_scratch_bytes (const SlNormalizer *normalizer);
/** sl_normalizer_run_slices: fills slices @first to @first + @count - 1 (0 <= @first, @first +
 * @count <= slices) of @tensor. Any number of threads may run with the same @normalizer and
 * @tensor, each with a @scratch of its own, 64-byte aligned and zero before its first use. What
 * several calls make is the same, bit by bit, as what one call makes. */
void sl_normalizer_run_slices (const SlNormalizer *normalizer, const SlImage *image, void *tensor,
                               int first, int count, void *scratch);

/** sl_normalizer_cpu: name of the kernels in use: "c", "avx2", "avx512" or "neon". The
 * environment's SIGHTLINE_CPU keeps them at or below what it names. */
const char *sl_normalizer_cpu (void);
/** sl_normalize_status_text: what is wrong and what was expected, without a full stop. */
const char *sl_normalize_status_text (SlNormalizeStatus status);
