/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames turned upright, as their tag says.
 */
#ifndef SL_TOOLS_PREDICT_TURNER_H
#define SL_TOOLS_PREDICT_TURNER_H

#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

typedef struct _SlTurner SlTurner;

/** sl_turner_new: it makes its pipeline when the first frame has to be turned. */
SlTurner *sl_turner_new (void);
void sl_turner_free (SlTurner *turner);
/** sl_turner_run: (transfer full): @frame turned by @method, in a format that slnormalize takes; @frame itself where nothing is to do. */
GstSample *sl_turner_run (SlTurner *turner, GstSample *frame, GstVideoOrientationMethod method, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTurner, sl_turner_free)

G_END_DECLS

#endif
