/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conversion to tensor elements, for every reader of pictures: which specs are legal, and how
 * component bytes become elements.
 */
#pragma once

#include "preprocess/kernels.h"
#include "preprocess/spec.h"

/** sl_output_check: SL_NORMALIZE_OK when tensors can be made as @spec says of pictures of @image.
 */
SlNormalizeStatus sl_output_check (const SlImageInfo *image, const SlNormalizeSpec *spec);
/** sl_output_bytes: of an element. */
size_t sl_output_bytes (SlOutType type);
/** sl_output_store: of the fastest kernels that have one. */
SlStore sl_output_store (SlOutType type, SlStoreLayout layout);
/** sl_output_bias: mixes produce values that are this much above the stored ones (SlStore). */
double sl_output_bias (SlOutType type);
/** sl_output_mix: makes @mix of 32-bit rows of components of @bits: row[0..2] are their factors and
 * row[3] what is added, in bytes of 0..255; then @gain and @stored_offset. */
void sl_output_mix (SlMix *mix, const double row[4], int bits, double gain, double stored_offset,
                    SlOutType type);
