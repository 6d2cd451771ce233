/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PNG (ISO/IEC 15948): chunks, of which IHDR and IDAT count; the latter inflated by GLib; five
 * filters of rows. */
#include "tools/eval/class_map.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/byte_order.h"
#include "core/base/fail.h"
#include "tools/eval/bounded_file.h"

#define MAX_SIDE 16384
#define MAX_PIXELS (64 << 20)
#define MAX_BYTES (256u << 20)

/** What IHDR says; @row: bytes of a row without its filter. */
typedef struct
{
  guint width, height, depth, row;
} Header;

static gboolean G_GNUC_PRINTF (3, 4)
  fail (GError **error, const char *path, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s: %s", path, text);
}

static gboolean
read_header (const char *path, const guint8 *data, gsize length, Header *header, GError **error)
{
  if (length < 33 || memcmp (data, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) != 0)
    return fail (error, path, "is no PNG; expected a map of classes");
  *header = (Header){ sl_be32 (data + 16), sl_be32 (data + 20), data[24], 0 };
  if (header->width < 1 || header->height < 1 || header->width > MAX_SIDE
      || header->height > MAX_SIDE || header->width * header->height > MAX_PIXELS)
    return fail (error, path, "%ux%u pixels; expected 1..%d each way and at most %d", header->width,
                 header->height, MAX_SIDE, MAX_PIXELS);
  if ((data[25] != 0 && data[25] != 3) || header->depth > 8 || header->depth == 0
      || 8 % header->depth != 0)
    return fail (
      error, path,
      "colours of type %u with %u bits; expected a number of at most 8 bits a pixel, gray or with "
      "a palette",
      data[25], header->depth);
  if (data[28] != 0)
    return fail (error, path, "is interlaced; expected rows in their order");
  header->row = (header->width * header->depth + 7) / 8;
  return TRUE;
}

/* (transfer full): what all IDAT hold. */
static GByteArray *
collect (const guint8 *data, gsize length)
{
  GByteArray *all = g_byte_array_new ();
  for (gsize at = 8; length - at >= 12;) {
    const guint32 size = sl_be32 (data + at);
    if (size > length - at - 12)
      break;
    if (memcmp (data + at + 4, "IDAT", 4) == 0)
      g_byte_array_append (all, data + at + 8, size);
    at += 12 + (gsize) size;
  }
  return all;
}

/* Inflates exactly @wanted bytes. */
static gboolean
inflate_into (const GByteArray *from, guint8 *to, gsize wanted)
{
  g_autoptr (GZlibDecompressor) inflater = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_ZLIB);
  gsize read = 0, written = 0;
  if (from->len == 0) /* an array without bytes has no address */
    return wanted == 0;
  while (written < wanted) {
    gsize in = 0, out = 0;
    const GConverterResult result =
      g_converter_convert (G_CONVERTER (inflater), from->data + read, from->len - read,
                           to + written, wanted - written, G_CONVERTER_NO_FLAGS, &in, &out, NULL);
    read += in;
    written += out;
    if (result != G_CONVERTER_CONVERTED)
      return written == wanted;
  }
  return TRUE;
}

static guint8
nearest (gint left, gint above, gint corner)
{
  const gint guess = left + above - corner, a = abs (guess - left), b = abs (guess - above),
             c = abs (guess - corner);
  return (guint8) (a <= b && a <= c ? left : b <= c ? above : corner);
}

/* Undoes the filter of a row, whose pixels are a byte or less. @above: (nullable): the row before.
 */
static gboolean
unfilter (guint8 filter, guint8 *row, const guint8 *above, guint bytes)
{
  if (filter > 4)
    return FALSE;
  for (guint i = 0; i < bytes; i++) {
    const guint left = i > 0 ? row[i - 1] : 0, up = above != NULL ? above[i] : 0,
                corner = i > 0 && above != NULL ? above[i - 1] : 0;
    const guint more[] = { 0, left, up, (left + up) / 2,
                           nearest ((gint) left, (gint) up, (gint) corner) };
    row[i] = (guint8) (row[i] + more[filter]);
  }
  return TRUE;
}

static gboolean
decode (const char *path, const guint8 *data, gsize length, SlClassMap *map, GError **error)
{
  Header header = { 0 };
  if (!read_header (path, data, length, &header, error))
    return FALSE;
  const gsize stride = (gsize) header.row + 1;
  g_autoptr (GByteArray) packed = collect (data, length);
  g_autofree guint8 *rows = g_malloc (stride * header.height);
  if (!inflate_into (packed, rows, stride * header.height))
    return fail (error, path, "is a damaged PNG");
  g_autofree guint8 *cells = g_malloc ((gsize) header.width * header.height);
  for (guint y = 0; y < header.height; y++) {
    guint8 *row = rows + y * stride + 1;
    if (!unfilter (row[-1], row, y > 0 ? row - stride : NULL, header.row))
      return fail (error, path, "is a damaged PNG");
    for (guint x = 0; x < header.width; x++) {
      const guint bit = x * header.depth;
      cells[(gsize) y * header.width + x] =
        (guint8) (row[bit / 8] >> (8 - header.depth - bit % 8) & ((1u << header.depth) - 1));
    }
  }
  *map = (SlClassMap){ header.width, header.height, g_steal_pointer (&cells) };
  return TRUE;
}

gboolean
sl_class_map_read (const char *path, SlClassMap *map, GError **error)
{
  gsize length;
  g_autofree char *data =
    sl_bounded_file_read (path, "a map of classes", MAX_BYTES, &length, error);
  return data != NULL && decode (path, (const guint8 *) data, length, map, error);
}
