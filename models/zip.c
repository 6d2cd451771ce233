/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Zip: the end record, found from the back, leads to the central directory, whose entries lead to the members.
 * Offsets may count from the start of the file or from the start of an archive appended to it; where the
 * directory lies tells which.
 */
#include "models/zip.h"

#include <gio/gio.h>
#include <string.h>

#include "sightline/error.h"

#define END_MAGIC 0x06054b50u
#define END_SIZE 22
#define DIRECTORY_MAGIC 0x02014b50u
#define DIRECTORY_SIZE 46
#define LOCAL_MAGIC 0x04034b50u
#define LOCAL_SIZE 30
#define METHOD_STORED 0
#define METHOD_DEFLATED 8
#define FLAG_ENCRYPTED 1

typedef struct
{
  char *name;
  guint16 flags, method;
  guint32 crc, packed, unpacked;
  guint64 local; /* position of the local header */
} Member;

struct _SlZip
{
  GBytes *bytes;
  const guint8 *data;
  gsize size;
  GArray *members;
};

static guint16
load_u16 (const guint8 *p)
{
  return (guint16) (p[0] | p[1] << 8);
}

static guint32
load_u32 (const guint8 *p)
{
  return (guint32) p[0] | (guint32) p[1] << 8 | (guint32) p[2] << 16 | (guint32) p[3] << 24;
}

static gboolean
inside (const SlZip *zip, guint64 at, guint64 bytes)
{
  return at <= zip->size && bytes <= zip->size - at;
}

static gboolean
damaged (GError **error, const char *what, guint64 at)
{
  g_set_error (error, SL_ERROR, SL_ERROR_FORMAT, "the zip archive in the file is damaged: %s at byte %" G_GUINT64_FORMAT, what, at);
  return FALSE;
}

static void
member_clear (gpointer data)
{
  g_free (((Member *) data)->name);
}

/* The end record is the last thing but a comment of at most 65535 bytes, whose length it tells. */
static gboolean
find_end (const SlZip *zip, gsize *end)
{
  if (zip->size < END_SIZE)
    return FALSE;
  for (gsize comment = 0; comment <= G_MAXUINT16 && comment <= zip->size - END_SIZE; comment++) {
    const gsize at = zip->size - END_SIZE - comment;
    if (load_u32 (zip->data + at) == END_MAGIC && load_u16 (zip->data + at + 20) == comment) {
      *end = at;
      return TRUE;
    }
  }
  return FALSE;
}

static gboolean
read_directory (SlZip *zip, gsize end, GError **error)
{
  const guint count = load_u16 (zip->data + end + 10);
  const guint64 size = load_u32 (zip->data + end + 12), offset = load_u32 (zip->data + end + 16);
  if (count > SL_ZIP_MAX_MEMBERS) {
    g_set_error (error, SL_ERROR, SL_ERROR_LIMIT, "the zip archive in the file has %u members; at most %d are read", count,
                 SL_ZIP_MAX_MEMBERS);
    return FALSE;
  }
  if (size > end || offset > end - size)
    return damaged (error, "the directory does not lie before the end record", end);
  const guint64 base = end - size - offset;
  guint64 at = end - size;
  for (guint i = 0; i < count; i++) {
    if (at > end || end - at < DIRECTORY_SIZE || load_u32 (zip->data + at) != DIRECTORY_MAGIC)
      return damaged (error, "no directory entry", at);
    const guint8 *p = zip->data + at;
    const guint name = load_u16 (p + 28), extra = load_u16 (p + 30), comment = load_u16 (p + 32);
    if (end - at - DIRECTORY_SIZE < (guint64) name + extra + comment)
      return damaged (error, "a directory entry is longer than the directory", at);
    Member member = { .flags = load_u16 (p + 8),
                      .method = load_u16 (p + 10),
                      .crc = load_u32 (p + 16),
                      .packed = load_u32 (p + 20),
                      .unpacked = load_u32 (p + 24),
                      .local = base + load_u32 (p + 42) };
    member.name = g_utf8_make_valid ((const char *) p + DIRECTORY_SIZE, name);
    g_array_append_val (zip->members, member);
    at += (guint64) DIRECTORY_SIZE + name + extra + comment;
  }
  return TRUE;
}

static guint32
crc32_of (const guint8 *data, gsize length)
{
  static const guint32 nibble[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                      0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
  guint32 crc = 0xffffffffu;
  for (gsize i = 0; i < length; i++) {
    crc = (crc >> 4) ^ nibble[(crc ^ data[i]) & 15];
    crc = (crc >> 4) ^ nibble[(crc ^ (data[i] >> 4)) & 15];
  }
  return ~crc;
}

/* Inflates into exactly @unpacked bytes; FALSE when the stream is damaged, shorter or longer. */
static gboolean
inflate (const guint8 *data, gsize packed, guint8 *out, gsize unpacked)
{
  g_autoptr (GZlibDecompressor) inflater = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW);
  gsize in = 0, done = 0;
  for (;;) {
    gsize read = 0, written = 0;
    guint8 spare;
    const gboolean full = done == unpacked;
    const GConverterResult result = g_converter_convert (G_CONVERTER (inflater), data + in, packed - in, full ? &spare : out + done,
                                                         full ? 1 : unpacked - done, G_CONVERTER_INPUT_AT_END, &read, &written, NULL);
    if (result == G_CONVERTER_ERROR || (full && written > 0))
      return FALSE;
    in += read;
    done += written;
    if (result == G_CONVERTER_FINISHED)
      return done == unpacked;
    if (read == 0 && written == 0)
      return FALSE;
  }
}

/* The packed bytes of @member, NULL with @error set when they do not lie inside the file. */
static const guint8 *
locate (const SlZip *zip, const Member *member, GError **error)
{
  if (!inside (zip, member->local, LOCAL_SIZE) || load_u32 (zip->data + member->local) != LOCAL_MAGIC) {
    damaged (error, "no member header", member->local);
    return NULL;
  }
  const guint8 *p = zip->data + member->local;
  const guint64 start = member->local + LOCAL_SIZE + load_u16 (p + 26) + load_u16 (p + 28);
  if (!inside (zip, start, member->packed)) {
    damaged (error, "a member is longer than the file", start);
    return NULL;
  }
  return zip->data + start;
}

SlZip *
sl_zip_open (GBytes *bytes, GError **error)
{
  g_autoptr (SlZip) zip = g_new0 (SlZip, 1);
  gsize end;
  zip->bytes = g_bytes_ref (bytes);
  zip->data = g_bytes_get_data (bytes, &zip->size);
  zip->members = g_array_new (FALSE, FALSE, sizeof (Member));
  g_array_set_clear_func (zip->members, member_clear);
  if (!find_end (zip, &end) || !read_directory (zip, end, error))
    return NULL;
  return g_steal_pointer (&zip);
}

void
sl_zip_free (SlZip *zip)
{
  if (zip == NULL)
    return;
  g_array_unref (zip->members);
  g_bytes_unref (zip->bytes);
  g_free (zip);
}

guint
sl_zip_count (const SlZip *zip)
{
  return zip->members->len;
}

const char *
sl_zip_name (const SlZip *zip, guint index)
{
  g_return_val_if_fail (index < zip->members->len, "");
  return g_array_index (zip->members, Member, index).name;
}

gint
sl_zip_find (const SlZip *zip, const char *name)
{
  for (guint i = 0; i < zip->members->len; i++)
    if (strcmp (g_array_index (zip->members, Member, i).name, name) == 0)
      return (gint) i;
  return -1;
}

GBytes *
sl_zip_read (const SlZip *zip, guint index, GError **error)
{
  g_return_val_if_fail (index < zip->members->len, NULL);
  const Member *member = &g_array_index (zip->members, Member, index);
  const guint8 *packed = locate (zip, member, error);

  if (packed == NULL) {
    g_prefix_error (error, "member '%s': ", member->name);
    return NULL;
  }
  const gsize most = MIN (SL_ZIP_MAX_MEMBER_BYTES, 4 * zip->size + SL_ZIP_SMALL_BYTES);
  if (member->unpacked > most) {
    g_set_error (error, SL_ERROR, SL_ERROR_LIMIT,
                 "member '%s' has %u bytes; of a file of %" G_GSIZE_FORMAT " bytes at most %" G_GSIZE_FORMAT " are read", member->name,
                 member->unpacked, zip->size, most);
    return NULL;
  }
  if ((member->method != METHOD_STORED && member->method != METHOD_DEFLATED) || (member->flags & FLAG_ENCRYPTED) != 0) {
    g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED, "member '%s' is packed with method %u%s; expected stored (0) or deflated (8)",
                 member->name, member->method, (member->flags & FLAG_ENCRYPTED) != 0 ? ", encrypted" : "");
    return NULL;
  }
  g_autofree guint8 *out = g_malloc (MAX (member->unpacked, 1));
  gboolean good;
  if (member->method == METHOD_DEFLATED) {
    good = inflate (packed, member->packed, out, member->unpacked);
  } else {
    good = member->packed == member->unpacked;
    if (good && member->unpacked > 0)
      memcpy (out, packed, member->unpacked);
  }
  if (!good || crc32_of (out, member->unpacked) != member->crc) {
    damaged (error, "the contents differ from their checksum or size", member->local);
    g_prefix_error (error, "member '%s': ", member->name);
    return NULL;
  }
  return g_bytes_new_take (g_steal_pointer (&out), member->unpacked);
}
