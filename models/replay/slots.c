/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slots of a ring's file. Data that is read back is used only if its hashes are right. */
#include "models/replay/slots.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/xxh64.h"
#include "core/base/fail.h"

#define MAGIC "SLRING\r\n"
#define TEXT_LARGEST 65536
#define PAGE 4096

typedef struct
{
  char magic[8];
  guint64 version, seconds, text_bytes, text_hash;
} FileHead;

static gsize
round_up (gsize bytes, gsize to)
{
  return (bytes + to - 1) / to * to;
}

static gboolean
is_small (const SlTensorInfo *output)
{
  return output->bytes <= SL_BLACK_BOX_SMALL;
}

void
sl_slots_init (SlSlots *slots, const SlBlackBoxInfo *info, int fd)
{
  *slots =
    (SlSlots){ .info = info, .fd = fd, .first = round_up (sizeof (FileHead) + TEXT_LARGEST, PAGE) };
  slots->inputs = sizeof (SlSlotHead) + info->n_outputs * sizeof (guint64);
  for (guint i = 0; i < info->n_outputs; i++)
    slots->inputs += is_small (&info->outputs[i]) ? info->outputs[i].bytes : 0;
  slots->bytes = slots->inputs;
  for (guint i = 0; i < info->n_inputs; i++)
    slots->bytes += info->inputs[i].bytes;
  slots->size = round_up (slots->bytes, sizeof (guint64));
}

/* All pieces, which it changes, from @at on. */
static gboolean
write_at (int fd, struct iovec *pieces, guint n, gsize at)
{
  while (n > 0) {
    gssize done = pwritev (fd, pieces, (int) n, (off_t) at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done == 0)
      errno = ENOSPC;
    if (done <= 0)
      return FALSE;
    at += (gsize) done;
    for (; n > 0 && (gsize) done >= pieces->iov_len; pieces++, n--)
      done -= (gssize) pieces->iov_len;
    if (n > 0)
      *pieces =
        (struct iovec){ (guint8 *) pieces->iov_base + done, pieces->iov_len - (gsize) done };
  }
  return TRUE;
}

static gboolean
read_at (int fd, void *data, gsize size, gsize at)
{
  for (gsize got = 0; got < size;) {
    const gssize n = pread (fd, (guint8 *) data + got, size - got, (off_t) (at + got));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return FALSE;
    got += (gsize) n;
  }
  return TRUE;
}

gboolean
sl_slots_write_head (const SlSlots *slots, guint seconds)
{
  g_autofree char *text = sl_black_box_info_to_text (slots->info);
  const gsize size = strlen (text);
  FileHead head = {
    .magic = MAGIC, .version = SL_BLACK_BOX_VERSION, .seconds = seconds, .text_bytes = size
  };
  head.text_hash = sl_xxh64 (text, size, 0);
  struct iovec pieces[] = { { &head, sizeof head }, { text, size } };
  if (size <= TEXT_LARGEST)
    return write_at (slots->fd, pieces, G_N_ELEMENTS (pieces), 0);
  errno = EFBIG;
  return FALSE;
}

SlBlackBoxInfo *
sl_slots_read_head (int fd, guint *seconds, GError **error)
{
  FileHead head;
  errno = 0;
  if (!read_at (fd, &head, sizeof head, 0)) {
    if (errno != 0)
      sl_fail (error, SL_ERROR_OPEN, "what another process recorded cannot be read: %s",
               g_strerror (errno));
    return NULL;
  }
  if (memcmp (head.magic, MAGIC, sizeof head.magic) != 0)
    return NULL;
  if (head.version != SL_BLACK_BOX_VERSION)
    return sl_fail_null (
      error, SL_ERROR_UNSUPPORTED,
      "what another process recorded: expected version %u, got %" G_GUINT64_FORMAT
      ": start the Sightline that recorded it once, or delete the file",
      SL_BLACK_BOX_VERSION, (guint64) head.version);
  if (head.text_bytes > TEXT_LARGEST)
    return NULL;
  g_autofree char *text = g_malloc (head.text_bytes + 1);
  if (!read_at (fd, text, head.text_bytes, sizeof head)
      || sl_xxh64 (text, head.text_bytes, 0) != head.text_hash)
    return NULL;
  *seconds = (guint) MIN (head.seconds, G_MAXUINT / 2);
  return sl_black_box_info_from_text (text, head.text_bytes, NULL);
}

static guint64
hash_head (const SlSlotHead *head, const guint64 *hashes, guint n)
{
  return sl_xxh64 (hashes, n * sizeof *hashes,
                   sl_xxh64 (head, G_STRUCT_OFFSET (SlSlotHead, check), 0));
}

static guint64
hash_inputs (const SlBlackBoxInfo *info, const void *const *inputs)
{
  guint64 hash = 0;
  for (guint i = 0; i < info->n_inputs; i++)
    hash = sl_xxh64 (inputs[i], info->inputs[i].bytes, hash);
  return hash;
}

static gsize
place_of (const SlSlots *slots, guint slot)
{
  return slots->first + slot * slots->size;
}

gboolean
sl_slots_begin (const SlSlots *slots, guint slot, SlSlotHead *head, const void *const *inputs)
{
  static const guint64 none[SL_MAX_IO];
  const SlBlackBoxInfo *info = slots->info;
  struct iovec pieces[SL_MAX_IO],
    begin[] = { { head, sizeof *head }, { (void *) none, info->n_outputs * sizeof *none } };
  for (guint i = 0; i < info->n_inputs; i++)
    pieces[i] = (struct iovec){ (void *) inputs[i], info->inputs[i].bytes };
  head->finished = 0;
  head->input_hash = hash_inputs (info, inputs);
  head->check = hash_head (head, none, info->n_outputs);
  return write_at (slots->fd, begin, G_N_ELEMENTS (begin), place_of (slots, slot))
         && write_at (slots->fd, pieces, info->n_inputs, place_of (slots, slot) + slots->inputs);
}

gboolean
sl_slots_end (const SlSlots *slots, guint slot, SlSlotHead *head, const void *const *outputs)
{
  const SlBlackBoxInfo *info = slots->info;
  guint64 hashes[SL_MAX_IO];
  struct iovec pieces[SL_MAX_IO + 2];
  guint n = 2;
  for (guint i = 0; i < info->n_outputs; i++) {
    hashes[i] = sl_xxh64 (outputs[i], info->outputs[i].bytes, 0);
    if (is_small (&info->outputs[i]))
      pieces[n++] = (struct iovec){ (void *) outputs[i], info->outputs[i].bytes };
  }
  head->finished = 1;
  head->check = hash_head (head, hashes, info->n_outputs);
  pieces[0] = (struct iovec){ head, sizeof *head };
  pieces[1] = (struct iovec){ hashes, info->n_outputs * sizeof *hashes };
  return write_at (slots->fd, pieces, n, place_of (slots, slot));
}

gboolean
sl_slots_peek (const SlSlots *slots, guint slot, SlSlotHead *head)
{
  guint64 hashes[SL_MAX_IO];
  return read_at (slots->fd, head, sizeof *head, place_of (slots, slot))
         && read_at (slots->fd, hashes, slots->info->n_outputs * sizeof *hashes,
                     place_of (slots, slot) + sizeof *head)
         && head->number > 0 && head->check == hash_head (head, hashes, slots->info->n_outputs);
}

/* Where outputs are not what their hashes say, the process ended while it wrote them. */
static gboolean
take_outputs (const SlBlackBoxInfo *info, const guint8 *at, SlBlackBoxInference *inference)
{
  for (guint i = 0; i < info->n_outputs; i++) {
    if (!is_small (&info->outputs[i]))
      continue;
    if (sl_xxh64 (at, info->outputs[i].bytes, 0) != inference->hashes[i])
      return FALSE;
    inference->outputs[i] = at;
    at += info->outputs[i].bytes;
  }
  return TRUE;
}

gboolean
sl_slots_read (const SlSlots *slots, guint slot, guint8 *buffer, SlBlackBoxInference *inference)
{
  const SlBlackBoxInfo *info = slots->info;
  SlSlotHead head;
  if (!read_at (slots->fd, buffer, slots->bytes, place_of (slots, slot)))
    return FALSE;
  memcpy (&head, buffer, sizeof head);
  *inference = (SlBlackBoxInference){ .number = head.number, .pts = head.pts, .time = head.time };
  memcpy (inference->hashes, buffer + sizeof head, info->n_outputs * sizeof *inference->hashes);
  const guint8 *at = buffer + slots->inputs;
  for (guint i = 0; i < info->n_inputs; at += info->inputs[i++].bytes)
    inference->inputs[i] = at;
  if (head.number == 0 || head.check != hash_head (&head, inference->hashes, info->n_outputs)
      || head.input_hash != hash_inputs (info, inference->inputs))
    return FALSE;
  inference->finished =
    head.finished == 1
    && take_outputs (info, buffer + sizeof head + info->n_outputs * sizeof *inference->hashes,
                     inference);
  return TRUE;
}
