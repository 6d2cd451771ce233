/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Checks JPEG pictures from cameras before a decoder gets them: their stated size, and whether they
 * are valid.
 */
#pragma once

#include <glib.h>

/** Scans of a progressive picture: encoders make about ten; a decoder goes over all pixels for
 * each. */
#define SL_CAMERA_JPEG_SCANS 100

/**
 * sl_camera_jpeg_take:
 * @bytes: a picture as it came, with anything before and behind it
 * @max_pixels: most pixels, width times height, that it may have
 * @error: SL_ERROR_LIMIT, naming the bound, what came and the property
 *
 * The first JPEG picture in @bytes from SOI to EOI, without bytes between its segments that belong
 * to none, and with an EOI where it was cut off: decoders that look for the limits of pictures
 * themselves find these and no others.
 *
 * Returns: (transfer full) (nullable): NULL with @error set where the picture is too large, and
 * without where there is none. No copy is made of a well-formed picture.
 */
GBytes *sl_camera_jpeg_take (GBytes *bytes, guint max_pixels, GError **error);
/** sl_camera_jpeg_size: of the picture with which the @n bytes at @data begin, as its first frame
 * header says; FALSE where there is none, or it says 0. */
gboolean sl_camera_jpeg_size (const guint8 *data, gsize n, guint *width, guint *height);
