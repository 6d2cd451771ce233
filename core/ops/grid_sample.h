/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The samples of GRID_SAMPLE over any loop (internal to core). */
#pragma once

#include "core/ops/ops.h"

/** Most samples that are added to one pixel of the output. */
#define SL_MAX_SAMPLES 64

/** SlWeighFunc: @out is the sum of @n_rows rows of @n floats, each times its factor. */
typedef void (*SlWeighFunc) (const gfloat *const *rows, const gfloat *factors, gsize n_rows,
                             gfloat *out, gsize n);

/** sl_grid_sample_run: the node of @call, whose samples are sums by @weigh. */
void sl_grid_sample_run (const SlKernelCall *call, SlWeighFunc weigh);
/** sl_samples_fit: whether GRID_SAMPLE @node, of more than two inputs, adds up samples as its file
 * says. */
gboolean sl_samples_fit (const SlGraph *graph, const SlNode *node);
