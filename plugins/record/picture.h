/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One frame with what is on it drawn, as a JPEG picture. Without sloverlay nothing is drawn.
 */
#ifndef SL_PLUGINS_RECORD_PICTURE_H
#define SL_PLUGINS_RECORD_PICTURE_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** sl_record_picture: (transfer full): of @frame, whose metas are drawn, at most @width pixels wide. Waits some milliseconds, 5 seconds at most. NULL with
 *  @error set. */
GBytes *sl_record_picture (GstSample *frame, gint width, GError **error);

G_END_DECLS

#endif
