/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Whether a pipeline without frames waits for its camera. */
#ifndef SL_PIPELINES_SUPERVISE_CAMERAS_H
#define SL_PIPELINES_SUPERVISE_CAMERAS_H

#include <gst/gst.h>

/** sl_camera_is_away: whether an slcamera of @pipeline is connecting, stalled or reconnecting. It connects again by itself. Until then no
 *  frame is due, and a restarted pipeline would wait for the same camera. */
gboolean sl_camera_is_away (GstElement *pipeline);

#endif
