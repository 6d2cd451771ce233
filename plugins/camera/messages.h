/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * What slcamera says: element messages for programs, warnings for people, and other elements' errors as one line
 * without secrets.
 */
#ifndef SL_PLUGINS_CAMERA_MESSAGES_H
#define SL_PLUGINS_CAMERA_MESSAGES_H

#include <gst/gst.h>

#include "plugins/camera/uri.h"

G_BEGIN_DECLS

/** Name of the element message's structure. */
#define SL_CAMERA_MESSAGE "slcamera"

/**
 * SlCameraStatus: fields of that structure.
 * @state: "connecting", "playing", "waiting" (for a key frame), "stalled", "reconnecting" or "ended"
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
void sl_camera_post_status (GstElement *camera, const SlCameraUri *uri, const SlCameraStatus *status);
/** sl_camera_post: @type is GST_MESSAGE_ERROR, GST_MESSAGE_WARNING or GST_MESSAGE_INFO; @error's domain and code where they are
 *  GStreamer's. @text (transfer none). */
void sl_camera_post (GstElement *camera, GstMessageType type, const GError *error, const char *text);
/** sl_camera_message_fault: (transfer full): the error or warning of an inner element, one line: its text, what its debug text
 *  adds, secrets of @uri hidden. */
GError *sl_camera_message_fault (GstMessage *message, const SlCameraUri *uri);
/** sl_camera_early_text: (transfer full) (nullable): for people, of @n frames before the first key frame. */
char *sl_camera_early_text (guint64 n);
/** sl_camera_damaged_text: the same of @n damaged frames, of packets that came as @protocols, an SlCameraProtocols, says. */
char *sl_camera_damaged_text (guint64 n, gint protocols);
/** sl_camera_fault_is_login: whether another attempt soon would only count as another wrong password. */
gboolean sl_camera_fault_is_login (const GError *fault);

G_END_DECLS

#endif
