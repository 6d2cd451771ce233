/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of a feed, with what was found on them drawn, as small JPEG pictures.
 */
#ifndef SL_TOOLS_RUN_HTTP_PICTURE_H
#define SL_TOOLS_RUN_HTTP_PICTURE_H

#include "plugins/record/picture.h"
#include "tools/run/http/feed.h"

/** sl_picture_make: (transfer full): as sl_picture_maker_make() does, with the predictions of
 * @frame. */
GBytes *sl_picture_make (SlPictureMaker *maker, const SlFeedFrame *frame, GError **error);

#endif
