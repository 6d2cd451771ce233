/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures beside clips: the colour of an object in one, and small ones for lists. */
#pragma once

#include <glib.h>

/** Bytes of a picture, and pixels of its sides. */
#define SL_PICTURE_BYTES (16 << 20)
#define SL_PICTURE_SIDE 16384
/** Pixels of a small picture's longer side. */
#define SL_THUMBNAIL 320

/** sl_color_names: names that sl_color_of() gives, ended by NULL. */
extern const char *const sl_color_names[];
/** sl_color_of_pixels: (transfer none): the name of the colour that most of @n pixels, RGB, have.
 */
const char *sl_color_of_pixels (const guint8 *pixels, gsize n);
/** sl_color_of: (transfer none): the colour inside @box (x, y, width, height in 0..1) of a JPEG
 * picture. NULL with @error set. */
const char *sl_color_of (GBytes *jpeg, const gdouble box[4], GError **error);
/** sl_thumbnail: (transfer full): a JPEG picture as a small one. NULL with @error set. */
GBytes *sl_thumbnail (GBytes *jpeg, GError **error);
