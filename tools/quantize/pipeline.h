/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the model of a pipeline description sees: its camera, the part of the frames that the model
 * gets, and what the description says of the model.
 */
#pragma once

#include <gst/gst.h>

#include "preprocess/normalize.h"
#include "tools/options.h"
#include "tools/run/settings.h"

/** sl_pipeline_is_description: whether @argument is named like a description and not like a model.
 */
gboolean sl_pipeline_is_description (const char *argument);

/**
 * sl_pipeline_watch:
 * @path: a description, which is built and does not run; after sl_run_register_elements()
 * @set: checked
 * @camera: (out) (transfer full) (nullable): its slcamera, in state NULL and in no bin; NULL = none
 * is wanted
 * @model: gets the model's path and the texts about it, as far as it has none
 * @spec: filter, orientation, pad value (below 0 = the model's) and crop become those of its
 * slnormalize; a size of 0 of the crop is up to the frame's edge
 *
 * FALSE with @error set, which begins with the path, unless there is one model that sees frames,
 * and one camera if that is wanted.
 */
gboolean sl_pipeline_watch (const char *path, SlRunOptions *set, GstElement **camera,
                            SlModelOptions *model, SlNormalizeSpec *spec, GError **error);
