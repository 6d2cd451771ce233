/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tar archive is blocks of 512 bytes: a header, then the member's bytes, filled up to a block. A
 * name of over 100 bytes is in a prefix field, or in a member before: type L of GNU tar, or the
 * record "path" of type x of pax.
 */
#include "tools/zoo/tar.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/printable.h"

#define BLOCK 512
#define MAX_NAME 65536
#define MAX_MEMBERS 200000

struct _SlTar
{
  GInputStream *stream;
  guint64 at, most;
  guint64 left, padding; /* of the member */
  guint members;
};

/* A member's header. */
typedef struct
{
  char *name;
  guint64 size;
  char type;
} Member;

static void
member_clear (Member *member)
{
  g_clear_pointer (&member->name, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Member, member_clear)

SlTar *
sl_tar_new (GInputStream *stream, guint64 most)
{
  SlTar *tar = g_new0 (SlTar, 1);
  tar->stream = g_object_ref (stream);
  tar->most = most;
  return tar;
}

void
sl_tar_free (SlTar *tar)
{
  if (tar == NULL)
    return;
  g_object_unref (tar->stream);
  g_free (tar);
}

/* All of @n bytes. */
static gboolean
read_bytes (SlTar *tar, void *bytes, gsize n, GError **error)
{
  g_autoptr (GError) cause = NULL;
  gsize got = 0;
  if (n > tar->most - tar->at)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "the archive unpacks to more than %" G_GUINT64_FORMAT
                    " bytes: it is not what the row describes",
                    tar->most);
  if (!g_input_stream_read_all (tar->stream, bytes, n, &got, NULL, &cause)
      && !g_error_matches (cause, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "the archive is damaged after %" G_GUINT64_FORMAT " unpacked bytes: %s",
                    tar->at + got, cause->message);
  if (got < n)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "the archive is truncated: it ends after %" G_GUINT64_FORMAT " unpacked bytes",
                    tar->at + got);
  tar->at += n;
  return TRUE;
}

static gboolean
skip_bytes (SlTar *tar, guint64 n, GError **error)
{
  guint8 bytes[16384];
  while (n > 0) {
    const gsize piece = MIN (n, sizeof bytes);
    if (!read_bytes (tar, bytes, piece, error))
      return FALSE;
    n -= piece;
  }
  return TRUE;
}

/* From the end of @size bytes to that of their last block. */
static guint64
padding_of (guint64 size)
{
  return (BLOCK - size % BLOCK) % BLOCK;
}

/* An octal number of a header. Spaces and zero bytes may end it. */
static gboolean
read_octal (const char *field, gsize n, guint64 *value)
{
  gsize i = 0;
  *value = 0;
  while (i < n && field[i] == ' ')
    i++;
  for (; i < n && field[i] >= '0' && field[i] <= '7'; i++)
    *value = *value << 3 | (guint64) (field[i] - '0');
  return i == n || field[i] == ' ' || field[i] == '\0';
}

/* The sum of the header's bytes, its own field as spaces. */
static guint64
checksum (const guint8 *header)
{
  guint64 sum = 0;
  for (guint i = 0; i < BLOCK; i++)
    sum += i >= 148 && i < 156 ? ' ' : header[i];
  return sum;
}

static gboolean
parse_header (const char *header, Member *member, GError **error)
{
  guint64 stated;
  if (!read_octal (header + 148, 8, &stated) || stated != checksum ((const guint8 *) header)
      || !read_octal (header + 124, 12, &member->size))
    return sl_fail (error, SL_ERROR_FORMAT, "the archive is damaged: a header's checksum is wrong");
  member->type = header[156];
  const gboolean has_prefix = memcmp (header + 257, "ustar\0", 6) == 0 && header[345] != '\0';
  g_autofree char *name = g_strndup (header, 100), *prefix = g_strndup (header + 345, 155);
  member->name = has_prefix ? g_strconcat (prefix, "/", name, NULL) : g_steal_pointer (&name);
  return TRUE;
}

/* The record "path" of a pax header: "LENGTH path=NAME\n", LENGTH of all of the record. */
static char *
pax_path (const char *text, gsize n)
{
  char *name = NULL;
  for (gsize at = 0; at < n;) {
    char *end;
    const guint64 length = g_ascii_strtoull (text + at, &end, 10);
    const gsize head = (gsize) (end - (text + at));
    if (length > n - at || length < head + 2 || *end != ' ' || text[at + length - 1] != '\n')
      break;
    const gsize rest = (gsize) length - head - 2;
    if (rest > 5 && memcmp (end + 1, "path=", 5) == 0) {
      g_free (name);
      name = g_strndup (end + 6, rest - 5);
    }
    at += (gsize) length;
  }
  return name;
}

/* The name in the bytes of a member of type L or x becomes *@stated; one without a name changes
 * nothing. */
static gboolean
read_name (SlTar *tar, const Member *member, char **stated, GError **error)
{
  if (member->size > MAX_NAME)
    return sl_fail (error, SL_ERROR_LIMIT, "the archive has a name of over %d bytes", MAX_NAME);
  g_autofree char *text = g_malloc0 (member->size + 1);
  if (!read_bytes (tar, text, member->size, error)
      || !skip_bytes (tar, padding_of (member->size), error))
    return FALSE;
  char *name = member->type == 'L' ? g_strdup (text) : pax_path (text, member->size);
  if (name != NULL) {
    g_free (*stated);
    *stated = name;
  }
  return TRUE;
}

static gboolean
check_name (const Member *member, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (member->name, "/", -1);
  gboolean good = member->name[0] != '/';
  for (guint i = 0; good && parts[i] != NULL; i++)
    good = strcmp (parts[i], "..") != 0;
  g_autofree char *shown = good ? NULL : sl_printable (member->name, SL_PRINTABLE_NAME);
  return good
         || sl_fail (error, SL_ERROR_FORMAT,
                     "the archive has a file '%s' outside of its folder: it is refused", shown);
}

/* Whether @member says something of others; *@stated: the name that it has for the next one. */
static gboolean
read_notes (SlTar *tar, const Member *member, gboolean *notes, char **stated, GError **error)
{
  const char type = member->type;
  *notes = TRUE;
  if (type == 'L' || type == 'x')
    return read_name (tar, member, stated, error);
  if (type == 'K' || type == 'g')
    return skip_bytes (tar, member->size + padding_of (member->size), error);
  *notes = FALSE;
  return TRUE;
}

/* The next file, link or folder; name NULL at the end. */
static gboolean
next_member (SlTar *tar, Member *member, GError **error)
{
  char header[BLOCK];
  g_autofree char *stated = NULL;
  gboolean notes;
  if (!skip_bytes (tar, tar->left, error) || !skip_bytes (tar, tar->padding, error))
    return FALSE;
  tar->left = tar->padding = 0;
  do {
    member_clear (member);
    if (++tar->members > MAX_MEMBERS)
      return sl_fail (error, SL_ERROR_LIMIT, "the archive has over %d files", MAX_MEMBERS);
    if (!read_bytes (tar, header, BLOCK, error))
      return FALSE;
    if (header[0] == '\0')
      return TRUE;
    if (!parse_header (header, member, error) || !read_notes (tar, member, &notes, &stated, error))
      return FALSE;
  } while (notes);
  tar->left = member->size;
  tar->padding = padding_of (member->size);
  if (stated != NULL) {
    g_free (member->name);
    member->name = g_steal_pointer (&stated);
  }
  return check_name (member, error);
}

/* "package/PATH" is PATH: npm leaves the first folder out, whatever its name is. */
static gboolean
is_wanted (const Member *member, const char *path)
{
  const char *slash = strchr (member->name, '/');
  return slash != NULL && strcmp (slash + 1, path) == 0;
}

gboolean
sl_tar_find (SlTar *tar, const char *path, guint64 *size, GError **error)
{
  for (;;) {
    g_auto (Member) member = { NULL };
    if (!next_member (tar, &member, error))
      return FALSE;
    if (member.name == NULL)
      return sl_fail (error, SL_ERROR_FORMAT, "the archive has no file %s", path);
    if (!is_wanted (&member, path))
      continue;
    if (member.type != '0' && member.type != '\0')
      return sl_fail (error, SL_ERROR_FORMAT,
                      "%s in the archive is a link or a folder; expected a file", path);
    *size = member.size;
    return TRUE;
  }
}

gboolean
sl_tar_read (SlTar *tar, void *bytes, gsize n, GError **error)
{
  if (n > tar->left)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "the file in the archive ends %" G_GUINT64_FORMAT " bytes too early",
                    n - tar->left);
  tar->left -= n;
  return read_bytes (tar, bytes, n, error);
}
