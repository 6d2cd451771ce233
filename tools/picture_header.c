/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A reader a kind; each stops where the bytes end. A number behind the end is 0. */
#include "tools/picture_header.h"

#include <string.h>

#include "core/base/fail.h"

/* Of a folder of a TIFF file; libtiff refuses more. */
#define MAX_ENTRIES 4096

typedef struct
{
  const guint8 *bytes;
  gsize n;
  gboolean little; /* the order of bytes */
} Bytes;

/* @size: 1 to 8 bytes */
static guint64
number (const Bytes *file, gsize at, guint size)
{
  guint64 value = 0;
  if (at > file->n || size > file->n - at)
    return 0;
  for (guint i = 0; i < size; i++)
    value = value << 8 | file->bytes[at + (file->little ? size - 1 - i : i)];
  return value;
}

static gboolean
starts_with (const Bytes *file, gsize at, const char *text)
{
  const gsize n = strlen (text);
  return at <= file->n && n <= file->n - at && memcmp (file->bytes + at, text, n) == 0;
}

static void
read_png (Bytes *file, SlPictureHeader *header)
{
  static const guint channels[] = { 1, 0, 3, 1, 2, 0, 4 };
  const guint64 colour = number (file, 25, 1);
  header->width = number (file, 16, 4);
  header->height = number (file, 20, 4);
  header->bits = (guint) number (file, 24, 1);
  header->channels = colour < G_N_ELEMENTS (channels) ? channels[colour] : 0;
}

/* Behind the sub-blocks of a GIF that begin at @at. */
static gsize
skip_blocks (const Bytes *file, gsize at)
{
  while (number (file, at, 1) != 0)
    at += 1 + (gsize) number (file, at, 1);
  return at + 1;
}

/* Bytes of the table of colours that @flags announce. */
static gsize
colours_of (guint64 flags)
{
  return (flags & 0x80) != 0 ? (gsize) 3 << ((flags & 7) + 1) : 0;
}

/* The screen, then the frames: blocks that begin with ','. Those that begin with '!' say more of
 * the next one. Memory is allocated for each frame as it is, so one that is larger than the screen
 * counts. */
static void
read_gif (Bytes *file, SlPictureHeader *header)
{
  file->little = TRUE;
  header->width = number (file, 6, 2);
  header->height = number (file, 8, 2);
  gsize at = 13 + colours_of (number (file, 10, 1));
  for (guint64 kind; (kind = number (file, at, 1)) == '!' || kind == ',';) {
    if (kind == ',') {
      if (file->n - at < 11)
        return;
      header->frames++;
      header->width = MAX (header->width, number (file, at + 5, 2));
      header->height = MAX (header->height, number (file, at + 7, 2));
    }
    at = skip_blocks (file, kind == ',' ? at + 11 + colours_of (number (file, at + 9, 1)) : at + 2);
  }
}

/* The frame header, SOF0 to SOF15; 0xc4, 0xc8 and 0xcc are other segments. */
static void
read_jpeg (Bytes *file, SlPictureHeader *header)
{
  gsize at = 2;
  while (number (file, at, 1) == 0xff) {
    const guint marker = (guint) number (file, at + 1, 1);
    if (marker == 0xda || marker == 0xd9 || marker == 0)
      return;
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) {
      header->bits = (guint) number (file, at + 4, 1);
      header->height = number (file, at + 5, 2);
      header->width = number (file, at + 7, 2);
      header->channels = (guint) number (file, at + 9, 1);
      return;
    }
    header->is_adobe |= marker == 0xee && starts_with (file, at + 4, "Adobe");
    at += marker == 0xff ? 1 : 2 + (gsize) number (file, at + 2, 2);
  }
}

/* The first value of an entry of a TIFF folder of @entry: type, count, and the value or where
 * values are. */
static guint64
tiff_value (const Bytes *file, gsize entry, gboolean is_big)
{
  static const guint sizes[] = { 0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8 };
  const guint64 type = number (file, entry + 2, 2),
                count = number (file, entry + 4, is_big ? 8 : 4);
  const guint size = type < G_N_ELEMENTS (sizes) ? sizes[type] : 0;
  const gsize field = entry + (is_big ? 12 : 8);
  const guint room = is_big ? 8 : 4;
  if (size == 0 || count == 0)
    return 0;
  return number (file, count <= room / size ? field : (gsize) number (file, field, room), size);
}

/* As libtiff reads it: of several entries of one tag the first counts, and a folder has MAX_ENTRIES
 * at most. */
static void
read_tiff (Bytes *file, SlPictureHeader *header)
{
  static const guint64 tags[] = { 256, 257, 258, 339 };
  gboolean seen[G_N_ELEMENTS (tags)] = { FALSE };
  file->little = file->bytes[0] == 'I';
  const gboolean is_big = number (file, 2, 2) == 43;
  const gsize folder = (gsize) number (file, is_big ? 8 : 4, is_big ? 8 : 4);
  if (folder >= file->n)
    return;
  const guint64 n = number (file, folder, is_big ? 8 : 2);
  const gsize first = folder + (is_big ? 8 : 2), size = is_big ? 20 : 12;
  header->bits = 1;
  for (gsize i = 0; i < MIN (n, MAX_ENTRIES); i++) {
    const gsize entry = first + i * size;
    const guint64 tag = number (file, entry, 2), value = tiff_value (file, entry, is_big);
    guint t = 0;
    while (t < G_N_ELEMENTS (tags) && tags[t] != tag)
      t++;
    if (t == G_N_ELEMENTS (tags) || seen[t])
      continue;
    seen[t] = TRUE;
    if (tag == 256)
      header->width = value;
    else if (tag == 257)
      header->height = value;
    else if (tag == 258)
      header->bits = (guint) MIN (value, G_MAXUINT16);
    else
      header->is_float = value == 3 || value == 6;
  }
}

/* A still picture of VP8 or VP8L alone, or the extended form, whose bit 1 says that it moves. */
static void
read_webp (Bytes *file, SlPictureHeader *header)
{
  file->little = TRUE;
  if (starts_with (file, 12, "VP8X")) {
    header->moves = (number (file, 20, 1) & 2) != 0;
    header->width = number (file, 24, 3) + 1;
    header->height = number (file, 27, 3) + 1;
  } else if (starts_with (file, 12, "VP8L")) {
    header->width = (number (file, 21, 4) & 0x3fff) + 1;
    header->height = (number (file, 21, 4) >> 14 & 0x3fff) + 1;
  } else if (starts_with (file, 12, "VP8 ")) {
    header->width = number (file, 26, 2) & 0x3fff;
    header->height = number (file, 28, 2) & 0x3fff;
  }
}

/* Heights below 0 are of pictures that begin at the top. */
static void
read_bmp (Bytes *file, SlPictureHeader *header)
{
  file->little = TRUE;
  const gboolean is_old = number (file, 14, 4) == 12;
  const gint32 height = (gint32) number (file, 22, 4);
  header->width = number (file, 18, is_old ? 2 : 4);
  header->height = is_old ? number (file, 20, 2) : (guint64) ABS ((gint64) height);
}

/* A number of digits at *@at, behind spaces and comments. */
static guint64
digits (const Bytes *file, gsize *at)
{
  guint64 value = 0;
  gboolean is_comment = FALSE;
  for (; *at < file->n
         && (is_comment || file->bytes[*at] == '#' || g_ascii_isspace (file->bytes[*at]));
       ++*at)
    is_comment = file->bytes[*at] != '\n' && (is_comment || file->bytes[*at] == '#');
  for (; *at < file->n && g_ascii_isdigit (file->bytes[*at]); ++*at)
    value = MIN (10 * value + (guint64) (file->bytes[*at] - '0'), G_MAXUINT32);
  return value;
}

static void
read_pnm (Bytes *file, SlPictureHeader *header)
{
  gsize at = 2;
  header->width = digits (file, &at);
  header->height = digits (file, &at);
}

static SlPictureKind
find_kind (const Bytes *file)
{
  if (starts_with (file, 0, "\x89PNG\r\n\x1a\n"))
    return SL_PICTURE_PNG;
  if (starts_with (file, 0, "\xff\xd8\xff"))
    return SL_PICTURE_JPEG;
  if (starts_with (file, 0, "GIF8"))
    return SL_PICTURE_GIF;
  if (starts_with (file, 0, "RIFF") && starts_with (file, 8, "WEBP"))
    return SL_PICTURE_WEBP;
  if (starts_with (file, 0, "BM"))
    return SL_PICTURE_BMP;
  if (file->n > 2 && file->bytes[0] == 'P' && file->bytes[1] >= '1' && file->bytes[1] <= '6'
      && g_ascii_isspace (file->bytes[2]))
    return SL_PICTURE_PNM;
  const gboolean little = starts_with (file, 0, "II"), big = starts_with (file, 0, "MM");
  const guint64 version = number (&(Bytes){ file->bytes, file->n, little }, 2, 2);
  return (little || big) && (version == 42 || version == 43) ? SL_PICTURE_TIFF : SL_PICTURE_OTHER;
}

SlPictureHeader
sl_picture_header_read (const guint8 *bytes, gsize n)
{
  static void (*const readers[]) (Bytes *, SlPictureHeader *) = {
    [SL_PICTURE_PNG] = read_png,   [SL_PICTURE_JPEG] = read_jpeg, [SL_PICTURE_GIF] = read_gif,
    [SL_PICTURE_TIFF] = read_tiff, [SL_PICTURE_WEBP] = read_webp, [SL_PICTURE_BMP] = read_bmp,
    [SL_PICTURE_PNM] = read_pnm,
  };
  Bytes file = { bytes, n, FALSE };
  SlPictureHeader header = { .kind = find_kind (&file) };
  if (header.kind != SL_PICTURE_OTHER)
    readers[header.kind](&file, &header);
  return header;
}

gboolean
sl_picture_header_check (const SlPictureHeader *header, GError **error)
{
  if (header->width > 0 && header->height > SL_PICTURE_MAX_PIXELS / header->width)
    sl_fail (error, SL_ERROR_LIMIT,
             "the picture has %" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT
             " pixels; expected %d million at most: reduce it, or cut it into parts",
             header->width, header->height, SL_PICTURE_MAX_PIXELS / 1000000);
  else if (header->moves)
    sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "animated WebP is not supported: take out a frame (webpmux -get frame 1 FILE -o frame.webp), "
      "or make it a GIF or a video");
  else if (header->kind == SL_PICTURE_JPEG && header->channels == 4 && !header->is_adobe)
    sl_fail (error, SL_ERROR_UNSUPPORTED,
             "CMYK JPEG without Adobe's marker is not supported: convert it to RGB (convert FILE "
             "-colorspace sRGB picture.png)");
  else if (header->kind == SL_PICTURE_TIFF && (header->is_float || header->bits > 16))
    sl_fail (error, SL_ERROR_UNSUPPORTED,
             "TIFF with samples of %s is not supported; expected 1 to 16 bits: convert it to PNG",
             header->is_float ? "floating-point numbers" : "more than 16 bits");
  else
    return TRUE;
  return FALSE;
}
