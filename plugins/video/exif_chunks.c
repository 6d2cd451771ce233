/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A PNG picture is a signature and chunks of a length, a type, the data and a checksum, up to IEND
 * (PNG 3, 5.3); the chunk eXIf holds a TIFF file. A WebP picture is a RIFF file of chunks of a
 * type, a length and the data, padded to an even number of bytes; the chunk EXIF, behind the
 * pixels, holds the same, with or without the name that JPEG's segment has. Every length is checked
 * against what is there. A file that makes no sense states nothing, and the next one begins with
 * its stream.
 */
#include "plugins/video/exif_chunks.h"

#include <string.h>

#include "plugins/video/exif.h"

#define PNG_SIGNATURE "\x89PNG\r\n\x1a\n"
#define PNG_SIGNATURE_BYTES 8
#define PNG_CHECKSUM_BYTES 4
#define RIFF_HEADER_BYTES 12
#define CHUNK_HEADER_BYTES 8
/* A first directory lies at the beginning of its chunk. */
#define MAX_KEPT 65536

static guint32
read_number (const guint8 *bytes, gboolean big)
{
  return big ? (guint32) bytes[0] << 24 | (guint32) bytes[1] << 16 | (guint32) bytes[2] << 8
                 | bytes[3]
             : (guint32) bytes[3] << 24 | (guint32) bytes[2] << 16 | (guint32) bytes[1] << 8
                 | bytes[0];
}

/* Whether @bytes begin a file. Sources of pictures give each file a buffer of its own, so a damaged
 * file does not hide the next one. */
static gboolean
begins_file (const SlExifChunks *chunks, const guint8 *bytes, gsize n)
{
  if (chunks->file == SL_EXIF_PNG)
    return n >= PNG_SIGNATURE_BYTES && memcmp (bytes, PNG_SIGNATURE, PNG_SIGNATURE_BYTES) == 0;
  return n >= RIFF_HEADER_BYTES && memcmp (bytes, "RIFF", 4) == 0
         && memcmp (bytes + 8, "WEBP", 4) == 0;
}

/* The file's header is complete. */
static void
begin_file (SlExifChunks *chunks)
{
  const guint8 *header = chunks->part->data;
  chunks->orientation = 0;
  chunks->inside = TRUE;
  chunks->ended = !begins_file (chunks, header, chunks->part->len);
  if (chunks->file == SL_EXIF_WEBP) {
    chunks->file_left = read_number (header + 4, FALSE);
    chunks->file_left -= MIN (chunks->file_left, 4);
  }
  g_byte_array_set_size (chunks->part, 0);
}

/* The chunk's header is complete. */
static void
begin_chunk (SlExifChunks *chunks)
{
  const guint8 *header = chunks->part->data;
  if (chunks->file == SL_EXIF_PNG) {
    chunks->left = (guint64) read_number (header, TRUE) + PNG_CHECKSUM_BYTES;
    chunks->is_exif = memcmp (header + 4, "eXIf", 4) == 0;
    chunks->is_last = memcmp (header + 4, "IEND", 4) == 0;
  } else {
    const guint64 size = read_number (header + 4, FALSE);
    chunks->is_exif = memcmp (header, "EXIF", 4) == 0;
    chunks->is_last = chunks->file_left < 2 * CHUNK_HEADER_BYTES + size + size % 2;
    /* Files exist whose last chunk has no pad byte. */
    chunks->left =
      chunks->is_last && chunks->file_left <= CHUNK_HEADER_BYTES + size ? size : size + size % 2;
    chunks->file_left -= MIN (chunks->file_left, CHUNK_HEADER_BYTES + chunks->left);
  }
  g_byte_array_set_size (chunks->part, 0);
}

/* The orientation when the picture ends with the chunk, else 0. */
static guint
end_chunk (SlExifChunks *chunks)
{
  if (chunks->is_exif && chunks->orientation == 0)
    chunks->orientation = sl_exif_orientation (chunks->part->data, chunks->part->len);
  g_byte_array_set_size (chunks->part, 0);
  chunks->is_exif = FALSE;
  if (!chunks->is_last)
    return 0;
  chunks->inside = chunks->is_last = FALSE;
  return chunks->orientation != 0 ? chunks->orientation : SL_EXIF_UPRIGHT;
}

guint
sl_exif_chunks_read (SlExifChunks *chunks, const guint8 *bytes, gsize n)
{
  const gsize header = chunks->file == SL_EXIF_PNG ? PNG_SIGNATURE_BYTES : RIFF_HEADER_BYTES;
  guint stated = 0;
  if (chunks->part == NULL)
    chunks->part = g_byte_array_new ();
  if (begins_file (chunks, bytes, n)) {
    g_byte_array_set_size (chunks->part, 0);
    *chunks = (SlExifChunks){ .file = chunks->file, .part = chunks->part };
  }
  for (gsize i = 0; i < n && !chunks->ended;) {
    if (chunks->left > 0) {
      const gsize take = (gsize) MIN (chunks->left, n - i);
      if (chunks->is_exif && chunks->part->len < MAX_KEPT)
        g_byte_array_append (chunks->part, bytes + i,
                             (guint) MIN (take, MAX_KEPT - chunks->part->len));
      chunks->left -= take;
      i += take;
    } else {
      const gsize wanted = chunks->inside ? CHUNK_HEADER_BYTES : header;
      const gsize take = MIN (n - i, wanted - chunks->part->len);
      g_byte_array_append (chunks->part, bytes + i, (guint) take);
      i += take;
      if (chunks->part->len < wanted)
        break;
      if (!chunks->inside) {
        begin_file (chunks);
        continue;
      }
      begin_chunk (chunks);
    }
    if (chunks->left == 0) {
      const guint orientation = end_chunk (chunks);
      stated = orientation != 0 ? orientation : stated;
    }
  }
  return stated;
}

void
sl_exif_chunks_clear (SlExifChunks *chunks)
{
  if (chunks->part != NULL)
    g_byte_array_unref (chunks->part);
  *chunks = (SlExifChunks){ .file = chunks->file };
}
