/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the models of a pipeline are promised of the budget, and what they will get of it. */
#pragma once

#include <gst/gst.h>

/** sl_check_promises_new: (transfer full): none yet. */
GArray *sl_check_promises_new (void);
/** sl_check_promises_add: notes what @infer is promised. @ms: the time of a run; @fps: frames a
 * second that come, 0 = unknown. FALSE when it has no part in the budget. */
gboolean sl_check_promises_add (GArray *promises, GstElement *infer, gdouble ms, gdouble fps);
/** sl_check_promises: adds what @promises come to. */
void sl_check_promises (const GArray *promises, GArray *findings);
/** sl_check_promises_join: adds @promises of the pipeline @name to those of @all pipelines. */
void sl_check_promises_join (GArray *all, const GArray *promises, const char *name);
/** sl_check_promises_together: adds what the promises of @all pipelines come to. */
void sl_check_promises_together (const GArray *all, GArray *findings);
