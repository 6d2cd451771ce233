/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sightline bench model --precision: what it does to results. */
#pragma once

#include "models/model.h"

/** sl_bench_precision: runs the model as @how has it and in floats on the same noise, and prints
 * how far results are apart; nothing where @how asks for floats. @words: classes as sentences are
 * in them. */
gboolean sl_bench_precision (const char *path, guint threads, const SlModelSettings *words,
                             const SlModelLoadOptions *how, gboolean json, GError **error);
