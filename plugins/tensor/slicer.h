/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A normalizer on several threads: each fills its share of the tensor's slices. The threads wait
 * between frames without spinning; the caller is one of them.
 */
#ifndef SL_PLUGINS_TENSOR_SLICER_H
#define SL_PLUGINS_TENSOR_SLICER_H

#include <glib.h>

#include "preprocess/normalize.h"

typedef struct _SlSlicer SlSlicer;

/** sl_slicer_new: (nullable): @threads (2..64) for @normalizer, which must outlive it; NULL when
 * out of memory. */
SlSlicer *sl_slicer_new (const SlNormalizer *normalizer, guint threads);
/** sl_slicer_set: @slicer is for @normalizer from now on, another one, or the same set anew, which
 * must outlive it. FALSE when out of memory: it must be set again before it runs. */
gboolean sl_slicer_set (SlSlicer *slicer, const SlNormalizer *normalizer);
void sl_slicer_free (SlSlicer *slicer);
/** sl_slicer_run: what sl_normalizer_run() makes, bit by bit. One caller at a time. */
void sl_slicer_run (SlSlicer *slicer, const SlImage *image, void *tensor);

#endif
