/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The threads of a worker that compute, each with sessions of its own that share the models'
 * weights.
 */
#pragma once

#include "tools/serve/serving.h"

/** sl_serve_jobs_start: of @worker, whose models, queue and n_jobs are set. NULL with @error set.
 */
SlServeJobs *sl_serve_jobs_start (SlServeWorker *worker, const SlServeSettings *settings,
                                  GError **error);
/** sl_serve_jobs_join: once the worker is stopping. */
void sl_serve_jobs_join (SlServeJobs *jobs);
