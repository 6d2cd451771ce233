/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the normaliser is measured against: other ways to the same tensor, and the copy of its
 * bytes.
 */
#pragma once

#include "tools/bench/test_picture.h"

typedef struct SlBenchPeer SlBenchPeer;

/** sl_bench_libyuv_new: (nullable): scale the planes, convert the small picture, loop over floats
 * or codes; NULL when this build lacks libyuv, or libyuv the conversion. Formats NV12, NV21 and
 * I420, stretch, RGB, NHWC. */
SlBenchPeer *sl_bench_libyuv_new (const SlBenchPicture *picture, const SlNormalizeSpec *spec);
/** sl_bench_libyuv_run: one picture. */
void sl_bench_libyuv_run (SlBenchPeer *peer, const SlImage *image, void *tensor);
/** sl_bench_libyuv_free: NULL is legal. */
void sl_bench_libyuv_free (SlBenchPeer *peer);

typedef struct SlBenchConverter SlBenchConverter;

/** sl_bench_converter_new: (nullable): what videoconvertscale runs, with its default filter, on one
 * thread, and the same loop. Any format it knows, stretch, RGB, NHWC. */
SlBenchConverter *sl_bench_converter_new (const SlBenchPicture *picture,
                                          const SlNormalizeSpec *spec);
/** sl_bench_converter_run: the packed picture at @memory. */
void sl_bench_converter_run (SlBenchConverter *converter, const uint8_t *memory, void *tensor);
/** sl_bench_converter_free: NULL is legal. */
void sl_bench_converter_free (SlBenchConverter *converter);
