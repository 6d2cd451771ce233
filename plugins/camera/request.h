/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The HTTP request of a souphttpsrc, cancelled in the thread that handles its answer. */
#pragma once

#include <gst/gst.h>

typedef struct _SlCameraRequest SlCameraRequest;

SlCameraRequest *sl_camera_request_new (void);
/** sl_camera_request_watch: once. @source: a souphttpsrc that is not started. */
void sl_camera_request_watch (SlCameraRequest *request, GstElement *source);
/** sl_camera_request_cancel: to be called before @source is stopped, in any thread but those of
 * @source. A request that is sent is cancelled before this returns, one that is not cannot be sent
 * any more. */
void sl_camera_request_cancel (SlCameraRequest *request);
/** sl_camera_request_free: @source is stopped. */
void sl_camera_request_free (SlCameraRequest *request);
