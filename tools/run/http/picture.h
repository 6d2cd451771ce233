/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames with what was found on them drawn, as small JPEG pictures. One thread.
 */
#ifndef SL_TOOLS_RUN_HTTP_PICTURE_H
#define SL_TOOLS_RUN_HTTP_PICTURE_H

#include "tools/run/http/feed.h"

G_BEGIN_DECLS

typedef struct _SlPictureMaker SlPictureMaker;

/** sl_picture_maker_new: for pictures of at most @width pixels a row. NULL with @error set where GStreamer lacks an element. */
SlPictureMaker *sl_picture_maker_new (guint width, GError **error);
void sl_picture_maker_free (SlPictureMaker *maker);
/** sl_picture_make: (transfer full): NULL with @error set when the frame cannot be drawn; the maker is then of no more use. */
GBytes *sl_picture_make (SlPictureMaker *maker, const SlFeedFrame *frame, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPictureMaker, sl_picture_maker_free)

G_END_DECLS

#endif
