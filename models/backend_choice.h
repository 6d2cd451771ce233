/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The backend of a model that is left to Sightline. */
#pragma once

#include "models/loader.h"

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
