/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The backend of a model that is left to Sightline. */
#pragma once

#include "models/backend.h"
#include "models/loader.h"

/** SL_BACKEND_GAIN: another runtime or device has to be faster by this factor: what is measured
 * varies by as much. */
#define SL_BACKEND_GAIN 1.05

/**
 * sl_backend_choose: what backend=auto means for a model on this machine: the runtime for its
 * format where that is installed, gives the same results and is faster, or where Sightline refuses
 * the model; else Sightline. Measures, and remembers that in the user's cache until the model, the
 * runtime or Sightline is another one.
 *
 * @request: the backend that it names does not count
 *
 * Returns: (transfer none): the backend's name
 */
const char *sl_backend_choose (const char *path, const SlLoadRequest *request);
/** sl_backend_load_ours: (transfer full): the model as @request has it, but in Sightline. */
SlModel *sl_backend_load_ours (const char *path, const SlLoadRequest *request, GError **error);
/** sl_backend_measure: runs @ours of sl_backend_load_ours() and the same model in @backend, for
 * about a second. FALSE with @error set where that does not run it. */
gboolean sl_backend_measure (SlModel *ours, const SlBackendSettings *backend,
                             const SlLoadRequest *request, SlBackendTrial *trial, GError **error);
