/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* The groups [budget] and [budget NAME]: what the models of a pipeline are promised. */
#pragma once

#include <gst/gst.h>

#include "pipelines/description/description.h"

/** sl_promises_apply: sets promised-rate, priority and need of each slinfer of @pipeline, whose
 * slanalyze have their regions already, and the cores of the process, where @description has a
 * budget. FALSE with SL_ERROR_ARGUMENT; the message begins with FILE:LINE: [group] key */
gboolean sl_promises_apply (GstElement *pipeline, const SlDescription *description, GError **error);
/** sl_promises_same: whether both promise the same. */
gboolean sl_promises_same (const SlDescription *a, const SlDescription *b);
/** sl_promises_contradiction: (transfer full) (nullable): which of @descriptions (element-type
 * SlDescription) state different budgets of the one processor. */
char *sl_promises_contradiction (const GPtrArray *descriptions);
