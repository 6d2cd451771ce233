/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Remembers the codes of tracked objects by their track ids, so that each object is read only once.
 */
#pragma once

#include "postprocess/read/reader.h"

/** @tries: failed tries after which an object is tried rarely; @interval: frames between the rare
 * tries, 0 = no more tries;
 *  @again: frames after which an object that was read is read again, 0 = never. */
typedef struct
{
  guint tries, interval, again;
} SlReadPatience;

/** A track. @code: (nullable): the code that was read last, its corners in 0..1 of the object's
 * box; @counts, @repeats: for the caller. */
typedef struct
{
  guint64 seen,
    next;      /* frame numbers: the last frame with the track, and the frame of the next try */
  guint tries; /* since the last successful read */
  SlReadCode *code;
  gboolean counts, repeats;
} SlReadTrack;

typedef struct _SlReadMemory SlReadMemory;

SlReadMemory *sl_read_memory_new (void);
/** sl_read_memory_free: NULL is legal. */
void sl_read_memory_free (SlReadMemory *memory);
/** sl_read_memory_reset: forgets all tracks, as after a seek. */
void sl_read_memory_reset (SlReadMemory *memory);
/** sl_read_memory_next: begins the next frame. Tracks that were not seen for a long time are
 * forgotten. */
void sl_read_memory_next (SlReadMemory *memory);
/** sl_read_memory_track: (transfer none): the track of @id, which is in this frame; valid until the
 * next one. */
SlReadTrack *sl_read_memory_track (SlReadMemory *memory, gint32 id);
/** sl_read_memory_is_due: whether @track is to be tried in this frame. */
gboolean sl_read_memory_is_due (const SlReadMemory *memory, const SlReadTrack *track);
/** sl_read_memory_note: a try of @track has ended, with @code (nullable), which is copied. */
void sl_read_memory_note (SlReadMemory *memory, SlReadTrack *track, const SlReadCode *code,
                          const SlReadPatience *patience);
/** sl_read_memory_note_late: a try of @track used all the time of the frame. Other tracks come
 * first for one interval. */
void sl_read_memory_note_late (SlReadMemory *memory, SlReadTrack *track,
                               const SlReadPatience *patience);
