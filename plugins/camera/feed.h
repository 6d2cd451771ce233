/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread that runs a camera: it connects, watches the stream, stops it, waits and connects
 * again. It owns the inner pipeline and is the only thread that changes its state. So a blocking
 * inner element blocks no other thread.
 */
#pragma once

#include <gst/app/gstappsrc.h>

#include "plugins/camera/source.h"

typedef struct _SlCameraFeed SlCameraFeed;

/** sl_camera_feed_start: frames go to @output, what the camera encoded to @encoded (nullable),
 * messages come from @camera, whose clock and base time stamp them and whose "src" pad tells what
 * is wanted. @uri (transfer full); of @settings numbers are copied. */
SlCameraFeed *sl_camera_feed_start (GstElement *camera, GstAppSrc *output, GstAppSrc *encoded,
                                    SlCameraUri *uri, const SlCameraSettings *settings);
/** sl_camera_feed_stop: (transfer full): returns when the inner pipeline is down, at the latest
 * after 1.5 s: what is stuck then is left to end by itself, without its camera. No message and no
 * frame comes after it. @output and @encoded must be flushing. */
void sl_camera_feed_stop (SlCameraFeed *feed);
/** sl_camera_feed_age: ms since the last frame, -1 before the first. Any thread. */
gint64 sl_camera_feed_age (SlCameraFeed *feed);
/** sl_camera_feed_state: SlCameraStatus.state of the last message; "stopped" before the first. Any
 * thread. */
const char *sl_camera_feed_state (SlCameraFeed *feed);

/** sl_camera_feed_damaged: frames that were left out since the start, being damaged or before the
 * first key frame. Any thread. */
guint64 sl_camera_feed_damaged (SlCameraFeed *feed);
/** sl_camera_feed_quiet: figures of quiet=keyframes; FALSE without it. Any thread. */
gboolean sl_camera_feed_quiet (SlCameraFeed *feed, SlQuietFigures *figures);
