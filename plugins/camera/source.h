/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The inner pipelines of slcamera, from the camera to decoded frames: one kind for each URI scheme.
 */
#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include "plugins/camera/intact.h"
#include "plugins/camera/quiet.h"
#include "plugins/camera/request.h"
#include "plugins/camera/sockets.h"
#include "plugins/camera/tap.h"
#include "plugins/camera/uri.h"

/** Which transports rtspsrc may use. */
typedef enum
{
  SL_CAMERA_TCP,
  SL_CAMERA_UDP,
  SL_CAMERA_UDP_MULTICAST,
  SL_CAMERA_ANY_TRANSPORT
} SlCameraProtocols;
GType sl_camera_protocols_get_type (void);

/** What is decoded while nothing moves. */
typedef enum
{
  SL_CAMERA_QUIET_ALL,
  SL_CAMERA_QUIET_KEY_FRAMES
} SlCameraQuiet;
GType sl_camera_quiet_get_type (void);

/** SlCameraSettings: values of slcamera's properties; times in ms. */
typedef struct
{
  char *uri, *user, *password, *password_file;
  gint width, height;
  gdouble framerate;
  gint latency, protocols;
  gboolean drop_on_latency, tls_verify, loop, realtime;
  gint connect_timeout, stall_timeout, reconnect_min, reconnect_max, max_attempts;
  gint max_part_bytes, max_pixels;
  gint quiet, quiet_after;
  char *quiet_ignore;
} SlCameraSettings;

/**
 * SlCameraPlan: the input for building a pipeline; does not change while the pipeline exists.
 * @downstream: caps that frames must have
 * @model_width, @model_height: pixels of the model's input, 0 = no known model
 * @sockets: (nullable): counts the packets of the connections that it watches
 * @request: (nullable): cancels the request of the source, where that is HTTP
 * @tap: (nullable): takes the encoded frames at the input of decoders
 * @intact: counts damaged frames that are dropped
 * @quiet: (nullable): holds frames while nothing moves
 */
typedef struct
{
  const SlCameraUri *uri;
  const SlCameraSettings *settings;
  GstCaps *downstream;
  gint model_width, model_height;
  SlCameraSockets *sockets;
  SlCameraRequest *request;
  SlCameraTap *tap;
  SlIntact *intact;
  SlQuiet *quiet;
} SlCameraPlan;

/** sl_camera_is_live: whether the source sets the pace of the frames. Then late frames are dropped,
 * and a source without frames is an error. */
gboolean sl_camera_is_live (const SlCameraUri *uri, const SlCameraSettings *settings);
/** sl_camera_may_end: whether an end of stream or a failure of @uri is final. If not, slcamera
 * connects again. */
gboolean sl_camera_may_end (const SlCameraUri *uri);
/** sl_camera_check: FALSE with @error set, in a GStreamer domain, when an element for @uri is not
 * installed, or when the elements lack a feature that @uri needs. The message names the element and
 * its Debian package. */
gboolean sl_camera_check (const SlCameraUri *uri, GError **error);
/** sl_camera_probe: whether the target exists: a device node, a listening port or a file. Blocks
 * until @cancel or connect-timeout. FALSE with @error set to the system's reason. */
gboolean sl_camera_probe (const SlCameraPlan *plan, GCancellable *cancel, GError **error);
/** sl_camera_build: (transfer floating) (nullable): puts the source into @pipeline and links it to
 * @sink, which @pipeline owns. May block on a device. Errors of elements are messages of @pipeline.
 */
gboolean sl_camera_build (const SlCameraPlan *plan, GstBin *pipeline, GstElement *sink,
                          GError **error);
/** sl_camera_has_chosen: whether @source, an rtspsrc, has found a stream of pictures. */
gboolean sl_camera_has_chosen (GstElement *source);
/** sl_camera_content_type: (transfer none) (nullable): the content type that a web server sent,
 * where @event holds it. */
const char *sl_camera_content_type (GstEvent *event);
/** sl_camera_type_is_mjpeg: whether @type (nullable) is the type of an endless stream of pictures
 * (multipart). */
gboolean sl_camera_type_is_mjpeg (const char *type);
