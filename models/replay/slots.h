/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of a ring: a header with the info's text, then slots of one size. Only this machine
 * reads it, in native byte order.
 */
#pragma once

#include "models/replay/black_box.h"

/** SlSlotHead: @check is the hash of all before it and of the hashes of outputs that follow it.
 * @time, @clock: when it began, microseconds since 1970 and of the monotonic clock. @input_hash:
 * chained over the inputs */
typedef struct
{
  guint64 number, pts;
  gint64 time, clock;
  guint64 finished, input_hash, check;
} SlSlotHead;

/** SlSlots: @size: from one slot to the next; @bytes: of them in use; @inputs: where its inputs
 * begin, behind head, hashes and small outputs;
 *  @first: where the first slot is. */
typedef struct
{
  const SlBlackBoxInfo *info;
  int fd;
  gsize size, bytes, inputs, first;
} SlSlots;

/** sl_slots_init: sizes for @info; @fd is the caller's. */
void sl_slots_init (SlSlots *slots, const SlBlackBoxInfo *info, int fd);
/** sl_slots_write_head: the file's head, with @seconds. FALSE with errno set. */
gboolean sl_slots_write_head (const SlSlots *slots, guint seconds);
/** sl_slots_read_head: (transfer full) (nullable): the info of a file that anyone may have written;
 * NULL when it is no ring, with @error set only when it cannot be read, or is of another version.
 */
SlBlackBoxInfo *sl_slots_read_head (int fd, guint *seconds, GError **error);
/** sl_slots_begin, sl_slots_end: an inference without outputs, and its outputs; @head gets its
 * hashes. FALSE with errno set. */
gboolean sl_slots_begin (const SlSlots *slots, guint slot, SlSlotHead *head,
                         const void *const *inputs);
gboolean sl_slots_end (const SlSlots *slots, guint slot, SlSlotHead *head,
                       const void *const *outputs);
/** sl_slots_peek: FALSE when slot @slot has no whole head. */
gboolean sl_slots_peek (const SlSlots *slots, guint slot, SlSlotHead *head);
/** sl_slots_read: the slot into @buffer, of the slot's size, to which @inference then points. FALSE
 * unless it is whole. */
gboolean sl_slots_read (const SlSlots *slots, guint slot, guint8 *buffer,
                        SlBlackBoxInference *inference);
