/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Parses the property uri of slcamera. User name and password are kept out of all texts that are
 * shown.
 */
#pragma once

#include <glib.h>

typedef enum
{
  SL_CAMERA_V4L2,
  SL_CAMERA_RTSP,
  SL_CAMERA_HTTP,
  SL_CAMERA_FILE,
  SL_CAMERA_TEST,
  SL_CAMERA_LIBCAMERA,
  SL_CAMERA_PIPEWIRE,
  SL_CAMERA_CSI,
} SlCameraKind;

/**
 * SlCameraUri:
 * @location: for the GStreamer element: device, path of the file, the URI without user name and
 * password, the camera's name (empty: the
 *   first), the PipeWire node (empty: the default), or the number of the sensor
 * @display: for messages: the URI as sl_redact_uri() shows it
 * @user, @password: (nullable): decoded
 * @pattern, @test_live, @test_frames: test:// only; 0 frames = for ever
 * @width, @height, @framerate, @exposure: what the query of a camera of this machine asks for,
 * exposure in us; 0 = nothing
 * @port: the scheme's where the URI names none
 */
typedef struct
{
  SlCameraKind kind;
  char *location, *display;
  char *user, *password;
  char *pattern;
  gboolean test_live;
  gint test_frames;
  gint width, height, exposure;
  gdouble framerate;
  guint16 port;
  GPtrArray
    *secrets; /* of char *, as they are spelt in the URI or decoded: for sl_redact_secrets() */
} SlCameraUri;

/** sl_camera_uri_parse: (nullable): NULL with SL_ERROR_ARGUMENT, whose message shows no secret. A
 * path without a scheme is a device below /dev, else a file. User name and password may hold '@',
 * ':', '#' and '?' unescaped. */
SlCameraUri *sl_camera_uri_parse (const char *text, GError **error);
/** sl_camera_uri_set_credentials: each overrides the URI's unless NULL or empty. */
void sl_camera_uri_set_credentials (SlCameraUri *uri, const char *user, const char *password);
void sl_camera_uri_free (SlCameraUri *uri);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlCameraUri, sl_camera_uri_free)
