/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The orientation in the EXIF chunk of PNG and WebP pictures, read from bytes as they pass, in
 * pieces of any size.
 */
#pragma once

#include <glib.h>

/** SlExifFile: the kind of file whose chunks are read. */
typedef enum
{
  SL_EXIF_PNG,
  SL_EXIF_WEBP
} SlExifFile;

/**
 * SlExifChunks: where in a stream of pictures of one kind the next byte lies; all zero but for
 * @file at its beginning, sl_exif_chunks_clear() at its end.
 */
typedef struct
{
  SlExifFile file;
  gboolean inside;   /* behind the file's header */
  GByteArray *part;  /* (nullable): the header or the chunk at hand as far as it came */
  guint64 left;      /* bytes of the chunk still to come */
  guint64 file_left; /* of a WebP file */
  gboolean is_exif, is_last, ended;
  guint orientation; /* of the picture at hand, 0 = not stated so far */
} SlExifChunks;

/** sl_exif_chunks_read: takes the next @n bytes. Returns the orientation of a picture that ended in
 * them, the last one's where there are several; 0 where none did. */
guint sl_exif_chunks_read (SlExifChunks *chunks, const guint8 *bytes, gsize n);
void sl_exif_chunks_clear (SlExifChunks *chunks);
