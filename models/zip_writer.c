/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PKZIP local headers, central directory and end record, without zip64, comments or timestamps. */
#include "models/zip_writer.h"

#define ZLIB_CONST
#include <string.h>
#include <zlib.h>

/* Where torch puts members, and the bytes of an extra field's head. */
#define ALIGN 64
#define EXTRA_HEAD 4
/* Of deflating; zlib's own. */
#define MEMORY_LEVEL 8

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

static GBytes *
packed (const ZipMember *member)
{
  if (!member->deflate)
    return g_bytes_ref (member->data);
  gsize length;
  z_stream stream = { .next_in = g_bytes_get_data (member->data, &length) };
  const int began = deflateInit2 (&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MEMORY_LEVEL,
                                  Z_DEFAULT_STRATEGY);
  g_assert (length <= G_MAXUINT32 && began == Z_OK);
  const gsize most = deflateBound (&stream, length);
  guint8 *out = g_malloc (most);
  stream.avail_in = (uInt) length;
  stream.next_out = out;
  stream.avail_out = (uInt) most;
  const int ended = deflate (&stream, Z_FINISH);
  g_assert (most <= G_MAXUINT32 && ended == Z_STREAM_END);
  const gsize size = stream.total_out;
  deflateEnd (&stream);
  return g_bytes_new_take (out, size);
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
  put32 (out, (guint32) crc32_z (0, data, length));
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
    put16 (out, members[i].align
                  ? EXTRA_HEAD + (2 * ALIGN - (extra + 2 + name + EXTRA_HEAD) % ALIGN) % ALIGN
                  : 0);
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
    g_byte_array_append (directory, (const guint8 *) members[i].name,
                         (guint) strlen (members[i].name));
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
