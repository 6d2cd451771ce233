/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The inner pipelines of slcamera, one kind a scheme: from the camera to decoded frames.
 */
#ifndef SL_PLUGINS_CAMERA_SOURCE_H
#define SL_PLUGINS_CAMERA_SOURCE_H

#include <gio/gio.h>
#include <gst/gst.h>

#include "plugins/camera/intact.h"
#include "plugins/camera/sockets.h"
#include "plugins/camera/tap.h"
#include "plugins/camera/uri.h"

G_BEGIN_DECLS

/** Which transports rtspsrc may use. */
typedef enum
{
  SL_CAMERA_TCP,
  SL_CAMERA_UDP,
  SL_CAMERA_UDP_MULTICAST,
  SL_CAMERA_ANY_TRANSPORT
} SlCameraProtocols;
GType sl_camera_protocols_get_type (void);

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
} SlCameraSettings;

/**
 * SlCameraPlan: what a pipeline is built from; does not change while it exists.
 * @downstream: caps that frames must have
 * @model_width, @model_height: 0 where no model is known
 * @sockets: (nullable): told of each packet that came over the connections it watches
 * @tap: (nullable): takes what goes into decoders
 * @intact: counts frames that are left out since they are damaged
 */
typedef struct
{
  const SlCameraUri *uri;
  const SlCameraSettings *settings;
  GstCaps *downstream;
  gint model_width, model_height;
  SlCameraSockets *sockets;
  SlCameraTap *tap;
  SlIntact *intact;
} SlCameraPlan;

/** sl_camera_is_live: whether frames come at their own pace, so that late ones are dropped and a silent source is a fault. */
gboolean sl_camera_is_live (const SlCameraUri *uri, const SlCameraSettings *settings);
/** sl_camera_may_end: whether the end of its stream is the end, and a failure final; else it is a reason to connect again. */
gboolean sl_camera_may_end (const SlCameraUri *uri);
/** sl_camera_check: FALSE with @error (in a GStreamer domain) naming the element and Debian's package when the elements for
 *  @uri are not all there, or when @uri asks for what they do not have. */
gboolean sl_camera_check (const SlCameraUri *uri, GError **error);
/** sl_camera_probe: whether there is something to connect to: a device node, a listening port, a file. Blocks until @cancel or
 *  connect-timeout; @error says what is wrong as exactly as the system knows. */
gboolean sl_camera_probe (const SlCameraPlan *plan, GCancellable *cancel, GError **error);
/** sl_camera_build: (transfer floating) (nullable): puts the source into @pipeline and links it to @sink, which @pipeline owns.
 *  May block on a device. Errors of elements are messages of @pipeline. */
gboolean sl_camera_build (const SlCameraPlan *plan, GstBin *pipeline, GstElement *sink, GError **error);
/** sl_camera_content_type: (transfer none) (nullable): the type of what a web server sends, where @event tells it. */
const char *sl_camera_content_type (GstEvent *event);
/** sl_camera_type_is_mjpeg: whether @type (nullable) is that of pictures without end. */
gboolean sl_camera_type_is_mjpeg (const char *type);

G_END_DECLS

#endif
