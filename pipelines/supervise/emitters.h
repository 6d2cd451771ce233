/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Finds the elements of a pipeline that report predictions: the elements with a signal
 * "predictions" that have no other such element downstream. So a chain of them reports each frame
 * once.
 */
#pragma once

#include <gst/gst.h>

/** sl_emitters_find: (transfer full) (element-type GstElement): references to them. Call it before
 * the pipeline plays. */
GPtrArray *sl_emitters_find (GstBin *pipeline);
