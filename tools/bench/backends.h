/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sightline bench model --backends: a model in every backend that is here. */
#ifndef SL_TOOLS_BENCH_BACKENDS_H
#define SL_TOOLS_BENCH_BACKENDS_H

#include "models/model.h"

G_BEGIN_DECLS

/** sl_bench_backends: a row for Sightline and one for each runtime that takes the model's format, in turns with Sightline for about a second: time and
 *  processor time of a run, how far the results are apart, or why it does not run. */
gboolean sl_bench_backends (const char *path, guint threads, const SlModelLoadOptions *how, gboolean json, GError **error);

G_END_DECLS

#endif
