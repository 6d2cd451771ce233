/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model that is tried with readings on pictures. */
#pragma once

#include <gst/gst.h>

#include "models/contract.h"
#include "tools/fit/reading.h"
#include "tools/fit/weigh.h"
#include "tools/predict/spawner.h"

typedef struct _SlTrial SlTrial;

/** sl_trial_new: model @path under @options, whose pixel values need not be known; @frames:
 * (element-type GstSample): the pictures, at least one. Messages start with @path. */
SlTrial *sl_trial_new (const char *path, const SlModelOptions *options, SlSpawner *spawner,
                       GPtrArray *frames, GError **error);
void sl_trial_free (SlTrial *trial);
const SlContract *sl_trial_contract (const SlTrial *trial);
/** sl_trial_decoder: (transfer none): what is looked at: the name of the decoder, or "none" where
 * none takes the outputs. */
const char *sl_trial_decoder (const SlTrial *trial);
/** sl_trial_pictures: how many pictures the model looks at. */
guint sl_trial_pictures (const SlTrial *trial);
/** sl_trial_weighed: after a run: what all readings share. */
void sl_trial_weighed (const SlTrial *trial, SlWeighed *weighed);
/** sl_trial_run: what the model says with @reading, and what its layers tell of its values. */
gboolean sl_trial_run (SlTrial *trial, SlReading *reading, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTrial, sl_trial_free)
