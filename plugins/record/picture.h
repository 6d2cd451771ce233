/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Frames with what is on them drawn, as JPEG pictures. Without sloverlay nothing is drawn. One thread.
 */
#ifndef SL_PLUGINS_RECORD_PICTURE_H
#define SL_PLUGINS_RECORD_PICTURE_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _SlPictureMaker SlPictureMaker;

/** sl_picture_maker_new: for pictures of at most @width pixels a row. NULL with @error set where GStreamer lacks an element. */
SlPictureMaker *sl_picture_maker_new (guint width, GError **error);
void sl_picture_maker_free (SlPictureMaker *maker);
/** sl_picture_maker_make: (transfer full): of @frame of @caps, whose metas are drawn. Waits some milliseconds, 5 seconds at most. NULL with @error set
 *  when the frame cannot be drawn; the maker is then of no more use. */
GBytes *sl_picture_maker_make (SlPictureMaker *maker, GstBuffer *frame, GstCaps *caps, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPictureMaker, sl_picture_maker_free)

G_END_DECLS

#endif
