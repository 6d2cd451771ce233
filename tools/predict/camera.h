/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slcamera as a source of `sightline predict`: converts its messages to messages of the program. */
#pragma once

#include <gst/gst.h>

/** sl_camera_new: (transfer floating): an slcamera; @connect_ms: its connect-timeout. */
GstElement *sl_camera_new (const char *uri, guint connect_ms);
/** sl_camera_error: (transfer full): @error of the camera at @uri, which the program names itself.
 */
GError *sl_camera_error (const GError *error, const char *uri);
/** sl_camera_note: (transfer full): likewise the text of a warning or of an information. */
char *sl_camera_note (const GError *said, const char *uri);
/** sl_camera_failed_attempt: (transfer full) (nullable): what went wrong, where @message tells of
 * an attempt that failed. */
GError *sl_camera_failed_attempt (GstMessage *message);
/** sl_camera_unreachable: (transfer full) (nullable): why no connection to the server of @uri comes
 * about, which GStreamer's reader has not said; NULL for other than http:// and https://, and where
 * there is a connection: sl_camera_reach(), for a second. */
char *sl_camera_unreachable (const char *uri);
