/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a frame costs in elements of a pipeline: for `sightline check` and `sightline advise`. */
#pragma once

#include <gst/gst.h>

#include "tools/run/flow.h"

/** sl_frame_cost: feeds @frames test frames of @caps through elements with the properties of
 * @normalize, @infer and @results (nullable). Frames that are not @assumed are cropped as by the
 * slpredict of @normalize. @ms: the median milliseconds of each SlStage. Nothing of the pipeline
 * that they are in runs. FALSE with @error set where an element fails. */
gboolean sl_frame_cost (GstElement *normalize, GstElement *infer, GstElement *results,
                        GstCaps *caps, gboolean assumed, guint frames, gdouble *ms, GError **error);
