/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading black boxes, which anyone may have written. Every section's length is checked against the
 * rest of the file, and every checksum is compared, before any value is used; then positions of
 * inferences are kept, and nothing is copied.
 */
#include "models/replay/black_box.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/byte_order.h"
#include "core/base/xxh64.h"
#include "models/file.h"
#include "models/replay/layout.h"
#include "core/base/fail.h"

#define EXPECTED "a black box of Sightline (a .slbox file)"
#define INFO_LARGEST 65536

struct _SlBlackBox
{
  GBytes *bytes;
  SlBlackBoxInfo *info;
  GPtrArray *inferences; /* of const guint8 *: contents */
};

/* A section's place; @content is @length bytes long; @tag has dots for what cannot be printed. */
typedef struct
{
  guint number; /* from 0 */
  char tag[5];
  const guint8 *content;
  gsize length;
} Section;

static gboolean
read_header (const guint8 *data, gsize size, guint32 *sections, GError **error)
{
  if (size < SL_BLACK_BOX_HEADER
      || memcmp (data, SL_BLACK_BOX_MAGIC, strlen (SL_BLACK_BOX_MAGIC)) != 0)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "expected " EXPECTED ", got %" G_GSIZE_FORMAT " bytes of something else", size);
  if (sl_le32 (data + 8) != SL_BLACK_BOX_VERSION)
    return sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "expected a black box of version %u, got version %u: read it with the Sightline that wrote "
      "it",
      SL_BLACK_BOX_VERSION, sl_le32 (data + 8));
  if (sl_le64 (data + 24) != sl_xxh64 (data, 24, 0))
    return sl_fail (
      error, SL_ERROR_FORMAT,
      "the header is damaged: its checksum is not the one that it states; copy the file again");
  if (sl_le64 (data + 16) != size)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "expected %" G_GUINT64_FORMAT " bytes, as its header says, got %" G_GSIZE_FORMAT
                    ": copy the file again",
                    sl_le64 (data + 16), size);
  *sections = sl_le32 (data + 12);
  return TRUE;
}

/* The section at *@at, which moves behind it. */
static gboolean
read_section (const guint8 *data, gsize size, gsize *at, Section *section, GError **error)
{
  const gsize left = size - *at;
  const guint8 *head = data + *at;
  const guint64 length = left >= SL_BLACK_BOX_SECTION ? sl_le64 (head + 8) : 0;
  if (left < SL_BLACK_BOX_SECTION || length > left - SL_BLACK_BOX_SECTION)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "section %u ends behind the file's end: expected at most %" G_GSIZE_FORMAT
                    " bytes, got %" G_GUINT64_FORMAT,
                    section->number, left,
                    left < SL_BLACK_BOX_SECTION ? SL_BLACK_BOX_SECTION : length);
  section->content = head + SL_BLACK_BOX_SECTION;
  section->length = (gsize) length;
  for (guint i = 0; i < 4; i++)
    section->tag[i] = g_ascii_isprint ((char) head[i]) ? (char) head[i] : '.';
  if (sl_le64 (head + 16) != sl_xxh64 (section->content, section->length, sl_xxh64 (head, 16, 0)))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "section %u, at byte %" G_GSIZE_FORMAT
                    ", is damaged: its checksum is not the one that it states; copy the file again",
                    section->number, *at);
  *at += SL_BLACK_BOX_SECTION + section->length;
  return TRUE;
}

static gboolean
read_info (SlBlackBox *box, const Section *section, GError **error)
{
  if (strcmp (section->tag, SL_BLACK_BOX_INFO) != 0 || section->length > INFO_LARGEST)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "section 0: expected '" SL_BLACK_BOX_INFO
                    "' of at most %u bytes, got '%s' of %" G_GSIZE_FORMAT,
                    INFO_LARGEST, section->tag, section->length);
  box->info = sl_black_box_info_from_text ((const char *) section->content, section->length, error);
  g_prefix_error (error, box->info == NULL ? "section 0: " : "");
  return box->info != NULL;
}

/* Bytes of an inference with what its rows say of outputs; 0 when a row says what cannot be. */
static gsize
inference_bytes (const SlBlackBoxInfo *info, const guint8 *rows)
{
  gsize total = SL_BLACK_BOX_FIXED + info->n_outputs * (gsize) SL_BLACK_BOX_ROW;
  for (guint i = 0; i < info->n_inputs; i++)
    total += info->inputs[i].bytes;
  for (guint i = 0; i < info->n_outputs; i++) {
    const guint64 stored = sl_le64 (rows + i * SL_BLACK_BOX_ROW + 8);
    if (stored != 0 && stored != info->outputs[i].bytes)
      return 0;
    total += (gsize) stored;
  }
  return total;
}

static gboolean
read_inference (SlBlackBox *box, const Section *section, GError **error)
{
  const gsize rows = SL_BLACK_BOX_FIXED + box->info->n_outputs * (gsize) SL_BLACK_BOX_ROW;
  if (strcmp (section->tag, SL_BLACK_BOX_INFERENCE) != 0)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "section %u: expected '" SL_BLACK_BOX_INFERENCE "', got '%s'", section->number,
                    section->tag);
  const gsize expected = section->length >= rows
                           ? inference_bytes (box->info, section->content + SL_BLACK_BOX_FIXED)
                           : rows;
  if (expected == 0)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "section %u: expected all or nothing of each output, got a part",
                    section->number);
  if (expected != section->length)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "section %u: expected the %" G_GSIZE_FORMAT
                    " bytes of an inference, got %" G_GSIZE_FORMAT,
                    section->number, expected, section->length);
  g_ptr_array_add (box->inferences, (gpointer) section->content);
  return TRUE;
}

static gboolean
read_box (SlBlackBox *box, GError **error)
{
  gsize size, at = SL_BLACK_BOX_HEADER;
  const guint8 *data = g_bytes_get_data (box->bytes, &size);
  guint32 sections = 0;
  if (!read_header (data, size, &sections, error))
    return FALSE;
  if (sections == 0)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "expected a section '" SL_BLACK_BOX_INFO "', got no section");
  for (guint i = 0; i < sections; i++) {
    Section section = { .number = i };
    if (!read_section (data, size, &at, &section, error)
        || !(i == 0 ? read_info (box, &section, error) : read_inference (box, &section, error)))
      return FALSE;
  }
  if (at != size)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "expected the end of the file behind %u sections, at byte %" G_GSIZE_FORMAT
                    ", got %" G_GSIZE_FORMAT " more",
                    sections, at, size - at);
  return TRUE;
}

SlBlackBox *
sl_black_box_new (GBytes *bytes, GError **error)
{
  g_autoptr (SlBlackBox) box = g_new0 (SlBlackBox, 1);
  box->bytes = g_bytes_ref (bytes);
  box->inferences = g_ptr_array_new ();
  return read_box (box, error) ? g_steal_pointer (&box) : NULL;
}

/* Before all of a large file is read. */
static gboolean
check_start (const char *path, GError **error)
{
  SlFileStamp stamp;
  struct stat info;
  guint8 head[SL_BLACK_BOX_HEADER] = { 0 };
  guint32 sections;
  const int fd = sl_file_open (path, EXPECTED, &stamp, error);
  if (fd < 0)
    return FALSE;
  const gboolean got = fstat (fd, &info) == 0 && pread (fd, head, sizeof head, 0) >= 0;
  const int code = errno;
  close (fd);
  if (!got)
    return sl_fail (error, SL_ERROR_OPEN, "%s", g_strerror (code));
  if ((guint64) info.st_size > SL_BLACK_BOX_LARGEST)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "expected at most %" G_GSIZE_FORMAT " bytes, got %" G_GUINT64_FORMAT,
                    SL_BLACK_BOX_LARGEST, (guint64) info.st_size);
  return read_header (head, (gsize) info.st_size, &sections, error);
}

SlBlackBox *
sl_black_box_open (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes =
    check_start (path, error) ? sl_file_read (path, EXPECTED, SL_BLACK_BOX_LARGEST, error) : NULL;
  SlBlackBox *box = bytes != NULL ? sl_black_box_new (bytes, error) : NULL;
  if (box == NULL)
    g_prefix_error (error, "%s: ", path);
  return box;
}

void
sl_black_box_free (SlBlackBox *box)
{
  if (box == NULL)
    return;
  g_bytes_unref (box->bytes);
  g_clear_pointer (&box->info, sl_black_box_info_free);
  g_ptr_array_unref (box->inferences);
  g_free (box);
}

const SlBlackBoxInfo *
sl_black_box_info (const SlBlackBox *box)
{
  return box->info;
}

guint
sl_black_box_n_inferences (const SlBlackBox *box)
{
  return box->inferences->len;
}

void
sl_black_box_inference (const SlBlackBox *box, guint i, SlBlackBoxInference *inference)
{
  const SlBlackBoxInfo *info = box->info;
  const guint8 *content = box->inferences->pdata[i], *rows = content + SL_BLACK_BOX_FIXED;
  const guint8 *at = rows + info->n_outputs * (gsize) SL_BLACK_BOX_ROW;
  *inference = (SlBlackBoxInference){ .number = sl_le64 (content),
                                      .pts = sl_le64 (content + 8),
                                      .time = (gint64) sl_le64 (content + 16),
                                      .finished = (sl_le32 (content + 24) & 1) != 0 };
  for (guint k = 0; k < info->n_inputs; k++, at += info->inputs[k - 1].bytes)
    inference->inputs[k] = at;
  for (guint k = 0; k < info->n_outputs; k++) {
    const gsize stored = (gsize) sl_le64 (rows + k * SL_BLACK_BOX_ROW + 8);
    inference->hashes[k] = sl_le64 (rows + k * SL_BLACK_BOX_ROW);
    inference->outputs[k] = stored > 0 ? at : NULL;
    at += stored;
  }
}
