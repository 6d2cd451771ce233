/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sightline bench model --backends: a model in every backend that is here; --batch: several inputs
 * at once. */
#pragma once

#include "models/model.h"

/** sl_bench_backends: a row for Sightline and one for each runtime that takes the model's format,
 * in turns with Sightline for about a second: time and processor time of a run, energy where the
 * system tells it, how far the results are apart, or why it does not run. */
gboolean sl_bench_backends (const char *path, guint threads, const SlModelLoadOptions *how,
                            gboolean json, GError **error);

/** sl_bench_batch: how long @batch inputs take at once, and one by itself; @batch 1: of the size
 * that gains most. FALSE with why there are no batches. */
gboolean sl_bench_batch (const char *path, guint threads, guint batch,
                         const SlModelLoadOptions *how, gboolean json, GError **error);
