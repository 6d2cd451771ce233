/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing black boxes: beside the name that the file is to have, and renamed to it once it is whole
 * and on the disk. The header, which counts sections and bytes, is written last. A lock on the open
 * file says that somebody is writing it (models/replay/folder.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/xxh64.h"
#include "models/replay/black_box.h"
#include "models/replay/folder.h"
#include "models/replay/layout.h"
#include "core/base/fail.h"

/* Header of a section, fixed part and rows, and a piece for each tensor. */
#define MAX_PIECES (3 + 2 * SL_MAX_IO)
#define ATTEMPTS 10

struct _SlBlackBoxWriter
{
  char *path, *part;
  const SlBlackBoxInfo *info;
  int fd;
  guint32 sections;
  guint64 size;
};

static gboolean
refuse (const SlBlackBoxWriter *writer, const char *what, int code, GError **error)
{
  return sl_fail (error, SL_ERROR_OPEN, "%s: %s: %s", writer->part, what, g_strerror (code));
}

static void
put32 (guint8 *at, guint32 value)
{
  value = GUINT32_TO_LE (value);
  memcpy (at, &value, sizeof value);
}

static void
put64 (guint8 *at, guint64 value)
{
  value = GUINT64_TO_LE (value);
  memcpy (at, &value, sizeof value);
}

static gboolean
write_all (SlBlackBoxWriter *writer, const void *data, gsize size, GError **error)
{
  for (gsize done = 0; done < size;) {
    const gssize n = write (writer->fd, (const guint8 *) data + done, size - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return refuse (writer, "cannot be written", n == 0 ? ENOSPC : errno, error);
    done += (gsize) n;
  }
  writer->size += size;
  return TRUE;
}

/* The pieces of a section's content are hashed as one. */
static gboolean
write_section (SlBlackBoxWriter *writer, const char *tag, const struct iovec *pieces, guint n,
               GError **error)
{
  guint8 head[SL_BLACK_BOX_SECTION] = { 0 };
  guint64 length = 0;
  for (guint i = 0; i < n; i++)
    length += pieces[i].iov_len;
  g_autofree guint8 *content = g_try_malloc (MAX (length, 1));
  if (content == NULL)
    return refuse (writer, "no memory for a section", ENOMEM, error);
  guint8 *at = content;
  for (guint i = 0; i < n; at += pieces[i++].iov_len)
    memcpy (at, pieces[i].iov_base, pieces[i].iov_len);
  memcpy (head, tag, 4);
  put64 (head + 8, length);
  put64 (head + 16, sl_xxh64 (content, length, sl_xxh64 (head, 16, 0)));
  writer->sections++;
  return write_all (writer, head, sizeof head, error) && write_all (writer, content, length, error);
}

static gboolean
write_info (SlBlackBoxWriter *writer, GError **error)
{
  static const guint8 room[SL_BLACK_BOX_HEADER];
  g_autofree char *text = sl_black_box_info_to_text (writer->info);
  const struct iovec piece = { text, strlen (text) };
  return write_all (writer, room, sizeof room, error)
         && write_section (writer, SL_BLACK_BOX_INFO, &piece, 1, error);
}

/* Another process that tidies the folder may delete the file before it is locked. Where there are
 * no locks none does. */
static int
create (const char *part)
{
  int fd = -1;
  for (guint i = 0; i < ATTEMPTS; i++) {
    fd = open (part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || sl_black_box_lock (fd, part, TRUE) || g_access (part, F_OK) == 0)
      break;
    close (fd);
  }
  return fd;
}

SlBlackBoxWriter *
sl_black_box_writer_new (const char *path, const SlBlackBoxInfo *info, GError **error)
{
  g_autoptr (SlBlackBoxWriter) writer = g_new0 (SlBlackBoxWriter, 1);
  writer->part = g_strconcat (path, ".part", NULL);
  writer->info = info;
  writer->fd = create (writer->part);
  if (writer->fd < 0) {
    refuse (writer, "cannot be written", errno, error);
    return NULL;
  }
  writer->path = g_strdup (path); /* from here on the file is ours */
  return write_info (writer, error) ? g_steal_pointer (&writer) : NULL;
}

gboolean
sl_black_box_writer_add (SlBlackBoxWriter *writer, const SlBlackBoxInference *inference,
                         GError **error)
{
  const SlBlackBoxInfo *info = writer->info;
  guint8 fixed[SL_BLACK_BOX_FIXED + SL_MAX_IO * SL_BLACK_BOX_ROW] = { 0 };
  struct iovec pieces[MAX_PIECES];
  guint n = 0;
  put64 (fixed, inference->number);
  put64 (fixed + 8, inference->pts);
  put64 (fixed + 16, (guint64) inference->time);
  put32 (fixed + 24, inference->finished ? 1 : 0);
  pieces[n++] =
    (struct iovec){ fixed, SL_BLACK_BOX_FIXED + info->n_outputs * (gsize) SL_BLACK_BOX_ROW };
  for (guint i = 0; i < info->n_inputs; i++)
    pieces[n++] = (struct iovec){ (void *) inference->inputs[i], info->inputs[i].bytes };
  for (guint i = 0; inference->finished && i < info->n_outputs; i++) {
    guint8 *row = fixed + SL_BLACK_BOX_FIXED + i * SL_BLACK_BOX_ROW;
    put64 (row, inference->hashes[i]);
    if (inference->outputs[i] == NULL)
      continue;
    put64 (row + 8, info->outputs[i].bytes);
    pieces[n++] = (struct iovec){ (void *) inference->outputs[i], info->outputs[i].bytes };
  }
  return write_section (writer, SL_BLACK_BOX_INFERENCE, pieces, n, error);
}

/* The name is on the disk once its folder is. */
static void
sync_folder (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  const int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync (fd);
  close (fd);
}

gboolean
sl_black_box_writer_finish (SlBlackBoxWriter *writer, GError **error)
{
  guint8 header[SL_BLACK_BOX_HEADER] = SL_BLACK_BOX_MAGIC;
  put32 (header + 8, SL_BLACK_BOX_VERSION);
  put32 (header + 12, writer->sections);
  put64 (header + 16, writer->size);
  put64 (header + 24, sl_xxh64 (header, 24, 0));
  if (pwrite (writer->fd, header, sizeof header, 0) != sizeof header || fsync (writer->fd) != 0)
    return refuse (writer, "cannot be written", errno, error);
  if (g_rename (writer->part, writer->path) != 0)
    return refuse (writer, "cannot be renamed", errno, error);
  sync_folder (writer->path);
  g_clear_pointer (&writer->path, g_free);
  return TRUE;
}

void
sl_black_box_writer_free (SlBlackBoxWriter *writer)
{
  if (writer == NULL)
    return;
  if (writer->path != NULL)
    g_unlink (writer->part);
  if (writer->fd >= 0)
    close (writer->fd);
  g_free (writer->path);
  g_free (writer->part);
  g_free (writer);
}
