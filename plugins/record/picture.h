/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Makes JPEG pictures of frames, with their predictions drawn or not. Without sloverlay nothing is
 * drawn.
 * For one thread.
 */
#pragma once

#include <gst/gst.h>

typedef struct _SlPictureMaker SlPictureMaker;

/** SlPictureLook: @width: most pixels in a row; @draws: the predictions, too */
typedef struct
{
  guint width;
  gboolean draws;
} SlPictureLook;

/** sl_picture_maker_new: NULL with @error set when a needed element is not installed. */
SlPictureMaker *sl_picture_maker_new (SlPictureLook look, GError **error);
void sl_picture_maker_free (SlPictureMaker *maker);
/** sl_picture_maker_make: (transfer full): the JPEG picture of @frame with @caps, with its metas
 * drawn. Blocks for some milliseconds, 5 seconds at most. NULL with @error set when the frame
 * cannot be drawn; then the maker cannot be used again. */
GBytes *sl_picture_maker_make (SlPictureMaker *maker, GstBuffer *frame, GstCaps *caps,
                               GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPictureMaker, sl_picture_maker_free)
