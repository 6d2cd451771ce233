/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The messages of slcamera: element messages for programs, warnings for users, and errors of inner
 * elements as one line without secrets.
 */
#pragma once

#include <gst/gst.h>

#include "plugins/camera/uri.h"

/** After the name of a file or an address whose type GStreamer does not find. */
#define SL_CAMERA_UNKNOWN_TYPE \
  "is no picture or video that GStreamer knows, or is damaged at its start"
/** Name of the element message's structure. */
#define SL_CAMERA_MESSAGE "slcamera"

/**
 * SlCameraStatus: fields of that structure.
 * @state: "connecting", "playing", "waiting" (for a key frame), "stalled", "reconnecting" or
 * "ended"
 * @reason: (nullable): why it is not playing
 * @attempt: connections tried since frames last came steadily, this one included
 * @next_delay: ms until the next one; reconnecting only
 * @age: ms since the last frame, -1 before the first
 * @caps: (nullable): of the frames; playing only
 */
typedef struct
{
  const char *state, *reason;
  guint attempt, next_delay;
  gint64 age;
  const GstCaps *caps;
} SlCameraStatus;

/** sl_camera_post_status: as an element message of @camera. */
void sl_camera_post_status (GstElement *camera, const SlCameraUri *uri,
                            const SlCameraStatus *status);
/** sl_camera_post: @type is GST_MESSAGE_ERROR, GST_MESSAGE_WARNING or GST_MESSAGE_INFO; @error's
 * domain and code where they are GStreamer's. @text (transfer none). */
void sl_camera_post (GstElement *camera, GstMessageType type, const GError *error,
                     const char *text);
/** sl_camera_message_fault: (transfer full): the error or warning of an inner element as one line:
 * its text and what its debug text adds. Secrets of @uri are hidden. */
GError *sl_camera_message_fault (GstMessage *message, const SlCameraUri *uri);
/** sl_camera_missing_fault: (transfer full): of a "missing-plugin" message, which decodebin posts
 * also where it tried elements for the stream and none of them could start. That may pass; only
 * where it tried none the code is GST_CORE_ERROR_MISSING_PLUGIN. @tried: (element-type
 * GstElementFactory): decoders and the like that were added */
GError *sl_camera_missing_fault (const GstStructure *structure, GPtrArray *tried);
/** sl_camera_early_text: (transfer full) (nullable): a warning about @n frames that came before the
 * first key frame. */
char *sl_camera_early_text (guint64 n);
/** sl_camera_damaged_text: (transfer full) (nullable): a warning about @n damaged frames.
 * @protocols, an SlCameraProtocols, is the transport. */
char *sl_camera_damaged_text (guint64 n, gint protocols);
/** sl_camera_fault_is_login: whether the camera refused the login, so that another attempt would
 * count as another wrong password. */
gboolean sl_camera_fault_is_login (const GError *fault);
