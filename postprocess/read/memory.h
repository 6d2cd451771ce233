/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * What was read of objects that are followed from frame to frame, so that each is read once: by the ids of their tracks.
 */
#ifndef SL_READ_MEMORY_H
#define SL_READ_MEMORY_H

#include "postprocess/read/reader.h"

G_BEGIN_DECLS

/** @tries: after which an object that does not read is tried rarely; @interval: then, frames from one try to the next, 0 = no more;
 *  @again: frames after which one that was read is read again, 0 = never. */
typedef struct
{
  guint tries, interval, again;
} SlReadPatience;

/** A track; @code: (nullable): what was read last, its corners in 0..1 of the object's box; @counts, @repeats: for who asks. */
typedef struct
{
  guint64 seen, next; /* frames: the last one with it, and the next one in which to try */
  guint tries;        /* since it was last read */
  SlReadCode *code;
  gboolean counts, repeats;
} SlReadTrack;

typedef struct _SlReadMemory SlReadMemory;

SlReadMemory *sl_read_memory_new (void);
/** sl_read_memory_free: NULL is legal. */
void sl_read_memory_free (SlReadMemory *memory);
/** sl_read_memory_reset: forgets all tracks, as after a seek. */
void sl_read_memory_reset (SlReadMemory *memory);
/** sl_read_memory_next: the next frame: tracks that were not seen for long are forgotten. */
void sl_read_memory_next (SlReadMemory *memory);
/** sl_read_memory_track: (transfer none): the track of @id, which is in this frame; valid until the next one. */
SlReadTrack *sl_read_memory_track (SlReadMemory *memory, gint32 id);
/** sl_read_memory_is_due: whether @track is to be tried in this frame. */
gboolean sl_read_memory_is_due (const SlReadMemory *memory, const SlReadTrack *track);
/** sl_read_memory_note: a try of @track has ended, with @code (nullable), which is copied. */
void sl_read_memory_note (SlReadMemory *memory, SlReadTrack *track, const SlReadCode *code, const SlReadPatience *patience);
/** sl_read_memory_note_late: a try of @track took all of the time that there was: others come first, for an interval. */
void sl_read_memory_note_late (SlReadMemory *memory, SlReadTrack *track, const SlReadPatience *patience);

G_END_DECLS

#endif
