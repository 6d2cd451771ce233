/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Converts pictures of bytes to JPEG and back. Channels are written without a colour conversion. */
#pragma once

#include <glib.h>

/** SlRemotePicture: @channels: 1 or 3, one behind the other */
typedef struct
{
  guint width, height, channels;
} SlRemotePicture;

/** sl_remote_jpeg_write: @raw, rows without gaps, as a JPEG of @quality into @out. Returns its
 * bytes; 0: they would be more than @most, or there is no memory. */
gsize sl_remote_jpeg_write (const SlRemotePicture *picture, gint quality, const void *raw,
                            void *out, gsize most);
/** sl_remote_jpeg_read: the picture of @size bytes at @data, which must be @picture's size and
 * baseline, into @out. (nullable) (transfer full): what is wrong with it. */
char *sl_remote_jpeg_read (const SlRemotePicture *picture, const void *data, gsize size, void *out);
