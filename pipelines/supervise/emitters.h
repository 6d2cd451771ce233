/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Which elements of a pipeline say what was found: those with a signal "predictions" behind which none of the same kind comes, so that
 * a chain of several tells every frame once.
 */
#ifndef SL_PIPELINES_SUPERVISE_EMITTERS_H
#define SL_PIPELINES_SUPERVISE_EMITTERS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** sl_emitters_find: (transfer full) (element-type GstElement): references; before the pipeline plays. */
GPtrArray *sl_emitters_find (GstBin *pipeline);

G_END_DECLS

#endif
