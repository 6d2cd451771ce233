/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory files, sealed so that they cannot shrink under the reader, who believes nothing but what
 * it has checked: the process that writes has just read a file which may have been made to break
 * it.
 */
#include "tools/predict/slots.h"

#include <errno.h>
#include <fcntl.h>
#include <gst/video/video.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "tools/predict/wire.h"

static gboolean
make_slot (SlSlots *slots, guint number, gsize size)
{
  const int file = memfd_create ("sightline-frame", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void *bytes = MAP_FAILED;
  if (file >= 0 && ftruncate (file, (off_t) size) == 0
      && fcntl (file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
    bytes = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes != MAP_FAILED) {
    slots->slot[number].file = file;
    slots->slot[number].bytes = bytes;
    slots->slot[number].size = size;
    slots->slot[number].told = FALSE;
    return TRUE;
  }
  const int reason = errno;
  if (file >= 0)
    close (file);
  errno = reason;
  return FALSE;
}

/* A free slot of @size bytes; SL_MAX_SLOTS with @error set when there is none. */
static guint
take_slot (SlSlots *slots, gsize size, GError **error)
{
  guint number = slots->n;
  for (guint i = 0; i < slots->n; i++)
    if (!slots->slot[i].used && (number == slots->n || slots->slot[i].size == size))
      number = i;
  const gboolean fits =
    number < slots->n && slots->slot[number].bytes != NULL && slots->slot[number].size == size;
  if (number < slots->n && !fits && slots->slot[number].bytes != NULL) {
    munmap (slots->slot[number].bytes, slots->slot[number].size);
    close (slots->slot[number].file);
    slots->slot[number].bytes = NULL;
  }
  if (number < SL_MAX_SLOTS && (fits || make_slot (slots, number, size))) {
    slots->n = MAX (slots->n, number + 1);
    slots->slot[number].used = TRUE;
    return number;
  }
  sl_fail (error, SL_ERROR_LIMIT, "no memory for a frame of %" G_GSIZE_FORMAT " bytes: %s", size,
           number < SL_MAX_SLOTS ? g_strerror (errno) : "too many are held");
  return SL_MAX_SLOTS;
}

static gboolean
copy_frame (const GstVideoInfo *info, GstBuffer *from, void *to)
{
  GstVideoFrame source, target;
  gboolean copied = FALSE;
  GstBuffer *wrapped = gst_buffer_new_wrapped_full (0, to, GST_VIDEO_INFO_SIZE (info), 0,
                                                    GST_VIDEO_INFO_SIZE (info), NULL, NULL);
  if (gst_video_frame_map (&source, info, from, GST_MAP_READ)) {
    if (gst_video_frame_map (&target, info, wrapped, GST_MAP_WRITE)) {
      copied = gst_video_frame_copy (&target, &source);
      gst_video_frame_unmap (&target);
    }
    gst_video_frame_unmap (&source);
  }
  gst_buffer_unref (wrapped);
  return copied;
}

gboolean
sl_slots_write (SlSlots *slots, GstSample *frame, guint *number, int *file, GError **error)
{
  GstVideoInfo info;
  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (frame)))
    return sl_fail (error, SL_ERROR_FORMAT, "the decoder made something else than video");
  *number = take_slot (slots, GST_VIDEO_INFO_SIZE (&info), error);
  if (*number == SL_MAX_SLOTS)
    return FALSE;
  *file = slots->slot[*number].told ? -1 : slots->slot[*number].file;
  slots->slot[*number].told = TRUE;
  if (copy_frame (&info, gst_sample_get_buffer (frame), slots->slot[*number].bytes))
    return TRUE;
  sl_slots_release (slots, *number);
  return sl_fail (error, SL_ERROR_FORMAT,
                  "the decoder made a frame that is not of the size it says");
}

void
sl_slots_release (SlSlots *slots, guint number)
{
  if (number < slots->n)
    slots->slot[number].used = FALSE;
}

typedef struct
{
  gatomicrefcount refs; /* of the reader, while it is in the table, and of each frame in it */
  SlSlotReader *reader; /* one reference */
  guint number;
  void *bytes;
  gsize size;
} Slot;

struct _SlSlotReader
{
  gatomicrefcount refs;
  int socket;
  Slot *slot[SL_MAX_SLOTS]; /* (nullable) */
};

SlSlotReader *
sl_slot_reader_new (int socket)
{
  SlSlotReader *reader = g_new0 (SlSlotReader, 1);
  g_atomic_ref_count_init (&reader->refs);
  reader->socket = socket;
  return reader;
}

static void
slot_unref (Slot *slot)
{
  if (!g_atomic_ref_count_dec (&slot->refs))
    return;
  munmap (slot->bytes, slot->size);
  g_free (slot);
}

static void
reader_unref (SlSlotReader *reader)
{
  if (!g_atomic_ref_count_dec (&reader->refs))
    return;
  close (reader->socket);
  g_free (reader);
}

void
sl_slot_reader_unref (SlSlotReader *reader)
{
  for (guint i = 0; i < SL_MAX_SLOTS; i++)
    if (reader->slot[i] != NULL)
      slot_unref (g_steal_pointer (&reader->slot[i]));
  reader_unref (reader);
}

static void
frame_gone (gpointer data)
{
  Slot *slot = data;
  SlSlotReader *reader = slot->reader;
  sl_wire_send (reader->socket, &(SlWire){ .kind = SL_WIRE_RELEASE, .number = slot->number }, NULL,
                -1);
  slot_unref (slot);
  reader_unref (reader);
}

static gboolean
map_slot (SlSlotReader *reader, guint number, int file)
{
  struct stat status;
  const int seals = fcntl (file, F_GET_SEALS);
  if (number >= SL_MAX_SLOTS || seals < 0 || (seals & F_SEAL_SHRINK) == 0
      || fstat (file, &status) != 0 || status.st_size <= 0)
    return FALSE;
  void *bytes = mmap (NULL, (gsize) status.st_size, PROT_READ, MAP_SHARED, file, 0);
  if (bytes == MAP_FAILED)
    return FALSE;
  Slot *slot = g_new0 (Slot, 1);
  g_atomic_ref_count_init (&slot->refs);
  slot->reader = reader;
  slot->number = number;
  slot->bytes = bytes;
  slot->size = (gsize) status.st_size;
  if (reader->slot[number] != NULL)
    slot_unref (reader->slot[number]);
  reader->slot[number] = slot;
  return TRUE;
}

GstBuffer *
sl_slot_reader_read (SlSlotReader *reader, guint number, int file, GstCaps *caps, GError **error)
{
  GstVideoInfo info;
  const gboolean mapped = file < 0 || map_slot (reader, number, file);
  if (file >= 0)
    close (file);
  Slot *slot = mapped && number < SL_MAX_SLOTS ? reader->slot[number] : NULL;
  if (slot == NULL || caps == NULL || !gst_video_info_from_caps (&info, caps)
      || GST_VIDEO_INFO_SIZE (&info) > slot->size)
    return sl_fail_null (error, SL_ERROR_BACKEND,
                         "the process that decodes sent something else than a frame");
  g_atomic_ref_count_inc (&slot->refs);
  g_atomic_ref_count_inc (&reader->refs);
  return gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY, slot->bytes, slot->size, 0,
                                      GST_VIDEO_INFO_SIZE (&info), slot, frame_gone);
}
