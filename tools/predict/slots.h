/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames in memory that two processes share: who decodes writes a frame into a slot, who predicts
 * reads it there and gives the slot back.
 */
#pragma once

#include <gst/gst.h>

/** More frames than this are never on their way at once. */
#define SL_MAX_SLOTS 256

/** SlSlots: of the writer; all zero before the first frame. */
typedef struct
{
  struct
  {
    int file;
    void *bytes;
    gsize size;
    gboolean used, told;
  } slot[SL_MAX_SLOTS];
  guint n;
} SlSlots;

/** sl_slots_write: copies @frame, raw video in system memory, into a free slot, its planes as its
 * caps alone imply. @number: (out): the slot; @file: (out) (transfer none): its memory, -1 where
 * the reader has it. FALSE with @error set. */
gboolean sl_slots_write (SlSlots *slots, GstSample *frame, guint *number, int *file,
                         GError **error);
void sl_slots_release (SlSlots *slots, guint number);

/** SlSlotReader: the reader's side; any thread. */
typedef struct _SlSlotReader SlSlotReader;

/** sl_slot_reader_new: @socket: (transfer full): where slots are given back; it is closed when the
 * last frame is gone. */
SlSlotReader *sl_slot_reader_new (int socket);
void sl_slot_reader_unref (SlSlotReader *reader);
/** sl_slot_reader_read: (transfer full): the frame of @caps (nullable) in the slot @number. @file:
 * (transfer full): its memory, -1 for what it was. NULL with @error set when no such frame can be
 * in it. */
GstBuffer *sl_slot_reader_read (SlSlotReader *reader, guint number, int file, GstCaps *caps,
                                GError **error);
