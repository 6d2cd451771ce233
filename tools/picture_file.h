/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures of the kinds that GStreamer's plug-ins decode wrongly or not at all: GIF, TIFF, JPEG of
 * four colours, PNG of 16 bits. GdkPixbuf decodes them.
 */
#pragma once

#include <gst/gst.h>

#include "tools/picture_header.h"

typedef struct _SlPictureFile SlPictureFile;

/** sl_picture_file_takes: whether a picture of @header is decoded here. */
gboolean sl_picture_file_takes (const SlPictureHeader *header);
/** sl_picture_file_check_stream: FALSE with @error set where @header is of a picture that is
 * decoded here, which takes a file. */
gboolean sl_picture_file_check_stream (const SlPictureHeader *header, GError **error);
/** sl_picture_file_open: decodes the picture at @path, whose @bytes sl_picture_header_check() found
 * good; of what moves, the first frame. */
SlPictureFile *sl_picture_file_open (const SlPictureHeader *header, const char *path,
                                     const guint8 *bytes, gsize n, GError **error);
void sl_picture_file_close (SlPictureFile *file);
/** sl_picture_file_next: (transfer full) (nullable): the next frame, upright, RGB or RGBA; NULL
 * behind the last one. Frames of a picture that moves have times and a rate, that of its first
 * frame. */
GstSample *sl_picture_file_next (SlPictureFile *file);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPictureFile, sl_picture_file_close)
