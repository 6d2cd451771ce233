/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames turned upright, as their tag says.
 */
#ifndef SL_TOOLS_PREDICT_ORIENT_H
#define SL_TOOLS_PREDICT_ORIENT_H

#include <gst/gst.h>
#include <gst/video/video.h>

typedef struct _SlOrient SlOrient;

/** sl_orient_new: it makes its pipeline when the first frame has to be turned. */
SlOrient *sl_orient_new (void);
void sl_orient_free (SlOrient *turner);
/** sl_orient_run: (transfer full): @frame turned by @method, in a format that slnormalize takes;
 * @frame itself where nothing is to do. */
GstSample *sl_orient_run (SlOrient *turner, GstSample *frame, GstVideoOrientationMethod method,
                          GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlOrient, sl_orient_free)

#endif
