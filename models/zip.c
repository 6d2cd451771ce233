/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Zip: the end record, found from the back, leads to the central directory, whose entries lead to
 * the members. Offsets may count from the start of the file or from the start of an archive
 * appended to it; where the directory lies tells which. Archives of the zip64 form have a second
 * end record, with a locator behind it, before the first.
 */
#include "models/zip.h"

#define ZLIB_CONST
#include <string.h>
#include <zlib.h>

#include "core/base/fail.h"
#include "core/base/byte_order.h"
#include "core/base/name_hash.h"

#define END_MAGIC 0x06054b50u
#define END_SIZE 22
#define END64_MAGIC 0x06064b50u
#define END64_SIZE 56
#define END64_HEAD 12 /* bytes that a zip64 end record does not count in its size */
#define LOCATOR_MAGIC 0x07064b50u
#define LOCATOR_SIZE 20
#define DIRECTORY_MAGIC 0x02014b50u
#define DIRECTORY_SIZE 46
#define LOCAL_MAGIC 0x04034b50u
#define LOCAL_SIZE 30
#define METHOD_STORED 0
#define METHOD_DEFLATED 8
#define FLAG_ENCRYPTED 1
/* The extra field of directory entries with numbers of 64 bits, for those that are all ones in 32.
 */
#define EXTRA_WIDE 1

typedef struct
{
  char *name;
  guint16 flags, method;
  guint32 crc;
  guint64 packed, unpacked;
  guint64 local; /* position of the local header */
} Member;

/** What the end record says: the directory of @size bytes ends at @at, and began at @offset of what
 * was written. */
typedef struct
{
  guint64 at, count, size, offset;
} End;

struct _SlZip
{
  GBytes *bytes;
  const guint8 *data;
  gsize size;
  GArray *members;
  GHashTable *index; /* name -> number of the first member of that name, plus 1 */
};

static gboolean
inside (const SlZip *zip, guint64 at, guint64 bytes)
{
  return at <= zip->size && bytes <= zip->size - at;
}

static gboolean
damaged (GError **error, const char *what, guint64 at)
{
  return sl_fail (error, SL_ERROR_FORMAT,
                  "the zip archive in the file is damaged: %s at byte %" G_GUINT64_FORMAT, what,
                  at);
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
    if (sl_le32 (zip->data + at) == END_MAGIC && sl_le16 (zip->data + at + 20) == comment) {
      *end = at;
      return TRUE;
    }
  }
  return FALSE;
}

/* The end record, or the zip64 one that lies before it with its locator. */
static End
read_end (const SlZip *zip, gsize at)
{
  const guint8 *p = zip->data + at;
  if (at >= LOCATOR_SIZE + END64_SIZE && sl_le32 (p - LOCATOR_SIZE) == LOCATOR_MAGIC) {
    const guint8 *wide = p - LOCATOR_SIZE - END64_SIZE;
    if (sl_le32 (wide) == END64_MAGIC && sl_le64 (wide + 4) == END64_SIZE - END64_HEAD)
      return (End){ .at = at - LOCATOR_SIZE - END64_SIZE,
                    .count = sl_le64 (wide + 32),
                    .size = sl_le64 (wide + 40),
                    .offset = sl_le64 (wide + 48) };
  }
  return (End){
    .at = at, .count = sl_le16 (p + 10), .size = sl_le32 (p + 12), .offset = sl_le32 (p + 16)
  };
}

/* Numbers that are all ones stand in the wide extra field, in this order, those that are not do
 * not. */
static void
widen (Member *member, const guint8 *extra, gsize length)
{
  guint64 *const numbers[] = { &member->unpacked, &member->packed, &member->local };
  while (length >= 4) {
    const guint id = sl_le16 (extra), size = sl_le16 (extra + 2);
    gsize at = 4;
    if (size > length - 4)
      return;
    for (guint i = 0; i < G_N_ELEMENTS (numbers) && id == EXTRA_WIDE; i++) {
      if (*numbers[i] != G_MAXUINT32 || at + 8 > 4 + (gsize) size)
        continue;
      *numbers[i] = sl_le64 (extra + at);
      at += 8;
    }
    extra += 4 + size;
    length -= 4 + size;
  }
}

static void
add_member (SlZip *zip, const guint8 *entry, guint64 base)
{
  const guint name = sl_le16 (entry + 28);
  Member member = { .flags = sl_le16 (entry + 8),
                    .method = sl_le16 (entry + 10),
                    .crc = sl_le32 (entry + 16),
                    .packed = sl_le32 (entry + 20),
                    .unpacked = sl_le32 (entry + 24),
                    .local = sl_le32 (entry + 42) };
  widen (&member, entry + DIRECTORY_SIZE + name, sl_le16 (entry + 30));
  member.local += base;
  member.name = g_utf8_make_valid ((const char *) entry + DIRECTORY_SIZE, name);
  g_array_append_val (zip->members, member);
  if (!g_hash_table_contains (zip->index, member.name))
    g_hash_table_insert (zip->index, member.name, GUINT_TO_POINTER (zip->members->len));
}

static gboolean
read_directory (SlZip *zip, const End *end, GError **error)
{
  if (end->count > SL_ZIP_MAX_MEMBERS)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "the zip archive in the file has %" G_GUINT64_FORMAT
                    " members; at most %d are read",
                    end->count, SL_ZIP_MAX_MEMBERS);
  if (end->size > end->at || end->offset > end->at - end->size)
    return damaged (error, "the directory does not lie before the end record", end->at);
  const guint64 base = end->at - end->size - end->offset;
  guint64 at = end->at - end->size;
  for (guint i = 0; i < end->count; i++) {
    const guint8 *p = zip->data + at;
    if (at > end->at || end->at - at < DIRECTORY_SIZE || sl_le32 (p) != DIRECTORY_MAGIC)
      return damaged (error, "no directory entry", at);
    const guint64 more = (guint64) sl_le16 (p + 28) + sl_le16 (p + 30) + sl_le16 (p + 32);
    if (end->at - at - DIRECTORY_SIZE < more)
      return damaged (error, "a directory entry is longer than the directory", at);
    add_member (zip, p, base);
    at += DIRECTORY_SIZE + more;
  }
  return TRUE;
}

/* Inflates into exactly @unpacked bytes; FALSE when the stream is damaged, shorter or longer. */
static gboolean
inflate_whole (const guint8 *data, gsize packed, guint8 *out, gsize unpacked)
{
  z_stream stream = { .next_in = data,
                      .avail_in = (uInt) MIN (packed, G_MAXUINT32),
                      .next_out = out,
                      .avail_out = (uInt) unpacked };
  if (unpacked > G_MAXUINT32 || inflateInit2 (&stream, -MAX_WBITS) != Z_OK)
    return FALSE;
  const int status = inflate (&stream, Z_FINISH);
  inflateEnd (&stream);
  return status == Z_STREAM_END && stream.avail_out == 0;
}

/* The packed bytes of @member, NULL with @error set when they do not lie inside the file. */
static const guint8 *
locate (const SlZip *zip, const Member *member, GError **error)
{
  if (!inside (zip, member->local, LOCAL_SIZE)
      || sl_le32 (zip->data + member->local) != LOCAL_MAGIC) {
    damaged (error, "no member header", member->local);
    return NULL;
  }
  const guint8 *p = zip->data + member->local;
  const guint64 start = member->local + LOCAL_SIZE + sl_le16 (p + 26) + sl_le16 (p + 28);
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
  gsize at;
  zip->bytes = g_bytes_ref (bytes);
  zip->data = g_bytes_get_data (bytes, &zip->size);
  zip->members = g_array_new (FALSE, FALSE, sizeof (Member));
  zip->index = g_hash_table_new (sl_name_hash, g_str_equal);
  g_array_set_clear_func (zip->members, member_clear);
  if (!find_end (zip, &at))
    return NULL;
  const End end = read_end (zip, at);
  if (!read_directory (zip, &end, error))
    return NULL;
  return g_steal_pointer (&zip);
}

void
sl_zip_free (SlZip *zip)
{
  if (zip == NULL)
    return;
  g_hash_table_unref (zip->index);
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
  return (gint) GPOINTER_TO_UINT (g_hash_table_lookup (zip->index, name)) - 1;
}

/* The packed bytes of @member, for methods that are read. */
static const guint8 *
find_packed (const SlZip *zip, const Member *member, GError **error)
{
  if ((member->method != METHOD_STORED && member->method != METHOD_DEFLATED)
      || (member->flags & FLAG_ENCRYPTED) != 0)
    return sl_fail_null (
      error, SL_ERROR_UNSUPPORTED,
      "member '%s' is packed with method %u%s; expected stored (0) or deflated (8)", member->name,
      member->method, (member->flags & FLAG_ENCRYPTED) != 0 ? ", encrypted" : "");
  const guint8 *packed = locate (zip, member, error);
  if (packed == NULL)
    g_prefix_error (error, "member '%s': ", member->name);
  return packed;
}

const void *
sl_zip_peek (const SlZip *zip, guint index, gsize *size, GError **error)
{
  g_return_val_if_fail (index < zip->members->len, NULL);
  const Member *member = &g_array_index (zip->members, Member, index);
  const guint8 *packed = find_packed (zip, member, error);
  if (packed == NULL)
    return NULL;
  if (member->method != METHOD_STORED || member->packed != member->unpacked)
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "member '%s' is packed; expected it stored as it is", member->name);
  *size = (gsize) member->packed;
  return packed;
}

/* FALSE with @error set. @bytes: (nullable): of the unpacked @member, unless it is damaged. */
static gboolean
is_intact (const Member *member, const guint8 *bytes, GError **error)
{
  if (bytes != NULL && crc32_z (0, bytes, member->unpacked) == member->crc)
    return TRUE;
  damaged (error, "the contents differ from their checksum or size", member->local);
  return sl_fail_prefix (error, "member '%s': ", member->name);
}

gboolean
sl_zip_check (const SlZip *zip, guint index, GError **error)
{
  gsize size;
  const guint8 *bytes = sl_zip_peek (zip, index, &size, error);
  return bytes != NULL && is_intact (&g_array_index (zip->members, Member, index), bytes, error);
}

GBytes *
sl_zip_read (const SlZip *zip, guint index, GError **error)
{
  g_return_val_if_fail (index < zip->members->len, NULL);
  const Member *member = &g_array_index (zip->members, Member, index);
  const guint8 *packed = find_packed (zip, member, error);
  if (packed == NULL)
    return NULL;
  const guint64 most = MIN (SL_ZIP_MAX_MEMBER_BYTES, 4 * (guint64) zip->size + SL_ZIP_SMALL_BYTES);
  if (member->method == METHOD_DEFLATED && member->unpacked > most)
    return sl_fail_null (error, SL_ERROR_LIMIT,
                         "member '%s' has %" G_GUINT64_FORMAT
                         " bytes; of a file of %" G_GSIZE_FORMAT " bytes at most %" G_GUINT64_FORMAT
                         " are read",
                         member->name, member->unpacked, zip->size, most);
  gboolean good = member->method == METHOD_DEFLATED || member->packed == member->unpacked;
  g_autofree guint8 *out = good ? g_malloc (MAX (member->unpacked, 1)) : NULL;
  if (good && member->method == METHOD_DEFLATED)
    good = inflate_whole (packed, member->packed, out, member->unpacked);
  else if (good && member->unpacked > 0)
    memcpy (out, packed, member->unpacked);
  if (!is_intact (member, good ? out : NULL, error))
    return NULL;
  return g_bytes_new_take (g_steal_pointer (&out), member->unpacked);
}
