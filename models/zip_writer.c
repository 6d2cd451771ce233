/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PKZIP local headers, central directory and end record, without zip64, comments or timestamps. */
#include "models/zip_writer.h"

#include <gio/gio.h>
#include <string.h>

/* Where torch puts members, and the bytes of an extra field's head. */
#define ALIGN 64
#define EXTRA_HEAD 4

static void
put16 (GByteArray *out, guint value)
{
  guint16 le = GUINT16_TO_LE ((guint16) value);
  g_byte_array_append (out, (const guint8 *) &le, sizeof le);
}

static void
put32 (GByteArray *out, guint32 value)
{
  guint32 le = GUINT32_TO_LE (value);
  g_byte_array_append (out, (const guint8 *) &le, sizeof le);
}

/* CRC-32 of ISO 3309, a byte at a time. */
static guint32
crc32_of (const guint8 *data, gsize length)
{
  static guint32 table[256];
  guint32 crc = 0xffffffffu;
  for (guint32 i = 0; table[255] == 0 && i < 256; i++) {
    table[i] = i;
    for (guint bit = 0; bit < 8; bit++)
      table[i] = (table[i] >> 1) ^ (0xedb88320u & (0u - (table[i] & 1u)));
  }
  for (gsize i = 0; i < length; i++)
    crc = (crc >> 8) ^ table[(crc ^ data[i]) & 0xff];
  return ~crc;
}

static GBytes *
packed (const ZipMember *member)
{
  if (!member->deflate)
    return g_bytes_ref (member->data);
  g_autoptr (GZlibCompressor) compressor = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW, 9);
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GOutputStream) stream = g_converter_output_stream_new (memory, G_CONVERTER (compressor));
  gsize length;
  const void *data = g_bytes_get_data (member->data, &length);
  g_assert_true (g_output_stream_write_all (stream, data, length, NULL, NULL, NULL));
  g_assert_true (g_output_stream_close (stream, NULL, NULL));
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (memory));
}

/* The fields local header and central directory share: from "version needed" to "extra length". */
static void
put_common (GByteArray *out, const ZipMember *member, GBytes *body)
{
  gsize length;
  const guint8 *data = g_bytes_get_data (member->data, &length);
  put16 (out, 20);
  put16 (out, 0);
  put16 (out, member->deflate ? 8 : 0);
  put16 (out, 0);
  put16 (out, 0x21);
  put32 (out, crc32_of (data, length));
  put32 (out, (guint32) g_bytes_get_size (body));
  put32 (out, (guint32) length);
  put16 (out, (guint) strlen (member->name));
}

/* An extra field that moves what follows it to a multiple of ALIGN, as torch's archives have it. */
static void
put_padding (GByteArray *out)
{
  const guint padding = (ALIGN - (out->len + EXTRA_HEAD) % ALIGN) % ALIGN;
  put16 (out, 'F' | 'B' << 8);
  put16 (out, padding);
  for (guint i = 0; i < padding; i++)
    g_byte_array_append (out, (const guint8 *) "Z", 1);
}

void
zip_append (GByteArray *out, const ZipMember *members, guint n)
{
  g_autoptr (GByteArray) directory = g_byte_array_new ();
  for (guint i = 0; i < n; i++) {
    g_autoptr (GBytes) body = packed (&members[i]);
    guint32 at = out->len;
    gsize length;
    const guint8 *data = g_bytes_get_data (body, &length);

    put32 (out, 0x04034b50u);
    put_common (out, &members[i], body);
    const guint extra = out->len, name = (guint) strlen (members[i].name);
    put16 (out, members[i].align ? EXTRA_HEAD + (2 * ALIGN - (extra + 2 + name + EXTRA_HEAD) % ALIGN) % ALIGN : 0);
    g_byte_array_append (out, (const guint8 *) members[i].name, name);
    if (members[i].align)
      put_padding (out);
    g_byte_array_append (out, data, (guint) length);

    put32 (directory, 0x02014b50u);
    put16 (directory, 20);
    put_common (directory, &members[i], body);
    put16 (directory, 0);
    put16 (directory, 0);
    put16 (directory, 0);
    put16 (directory, 0);
    put32 (directory, 0);
    put32 (directory, at);
    g_byte_array_append (directory, (const guint8 *) members[i].name, (guint) strlen (members[i].name));
  }
  guint32 start = out->len;
  g_byte_array_append (out, directory->data, directory->len);
  put32 (out, 0x06054b50u);
  put16 (out, 0);
  put16 (out, 0);
  put16 (out, n);
  put16 (out, n);
  put32 (out, directory->len);
  put32 (out, start);
  put16 (out, 0);
}
