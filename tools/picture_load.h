/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes a picture in memory with GdkPixbuf, for `sightline predict` and for pictures that come by
 * HTTP. Only in builds with GdkPixbuf.
 */
#pragma once

#include <gdk-pixbuf/gdk-pixbuf.h>

#include "tools/picture_header.h"

/** sl_picture_load: (transfer full): decodes @bytes of @header's kind. A picture that turns out to
 * have more than @most pixels is refused before memory is allocated for them. NULL with @error set,
 * a cause without the picture's name. Any thread. */
GdkPixbufAnimation *sl_picture_load (const SlPictureHeader *header, const guint8 *bytes, gsize n,
                                     guint64 most, GError **error);
/** sl_picture_load_upright: (transfer full): the same for a picture that does not move, turned as
 * its EXIF states: RGB or RGBA. A picture without its last rows is refused. */
GdkPixbuf *sl_picture_load_upright (const SlPictureHeader *header, const guint8 *bytes, gsize n,
                                    guint64 most, GError **error);
