/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera as a source of `sightline predict`: what it says in the program's words.
 */
#ifndef SL_TOOLS_PREDICT_CAMERA_H
#define SL_TOOLS_PREDICT_CAMERA_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** sl_camera_new: (transfer floating): an slcamera; @connect_ms: its connect-timeout. */
GstElement *sl_camera_new (const char *uri, guint connect_ms);
/** sl_camera_read_message: FALSE with @error set when @message ends the source: an error, and before the first frame, until which
 *  @playing is FALSE, a failed attempt. @note: (out) (transfer full): set when there is something to be told. */
gboolean sl_camera_read_message (GstMessage *message, const char *uri, gboolean playing, char **note, GError **error);

G_END_DECLS

#endif
