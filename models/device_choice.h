/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The device of a provider's library that is left to Sightline. */
#pragma once

#include "models/backend.h"
#include "models/loader.h"

/** SlDeviceTrial: a model on a device. @title: (owned): for sentences; @failure: (owned)
 * (nullable): why it does not run there, and there is no @trial */
typedef struct
{
  char *title, *failure;
  SlBackendTrial trial;
} SlDeviceTrial;

/** sl_device_trial_clear: frees what @trial owns. */
void sl_device_trial_clear (SlDeviceTrial *trial);
/** sl_device_judge: the fastest of @n devices that is faster than Sightline, by SL_BACKEND_GAIN,
 * with results that agree; -1: none. @sentence: (out) (transfer full): which one, and why. */
gint sl_device_judge (const SlDeviceTrial *trials, guint n, char **sentence);
/** sl_device_choose: what device=auto means for the model @path: (transfer full) (nullable): the
 * number of a device of the provider's library; NULL: Sightline is to run the model. Measures each
 * device for about a second, and remembers it, as sl_backend_choose() does. @sentence: (out)
 * (transfer full): as above. */
char *sl_device_choose (const char *path, const SlLoadRequest *request, char **sentence);
