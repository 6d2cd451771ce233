/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracks by id. slread asks for each object of a frame whether to read it. */
#include "postprocess/read/memory.h"

/* Frames without an object after which it is forgotten, how often that is looked at, and most
 * objects that are kept. */
#define LONG 600
#define SWEEP 64
#define MAX_TRACKS 4096

struct _SlReadMemory
{
  GHashTable *tracks; /* id to SlReadTrack */
  guint64 frame;
};

static void
track_free (gpointer data)
{
  g_free (((SlReadTrack *) data)->code);
  g_free (data);
}

SlReadMemory *
sl_read_memory_new (void)
{
  SlReadMemory *memory = g_new0 (SlReadMemory, 1);
  memory->tracks = g_hash_table_new_full (NULL, NULL, NULL, track_free);
  return memory;
}

void
sl_read_memory_free (SlReadMemory *memory)
{
  if (memory == NULL)
    return;
  g_hash_table_unref (memory->tracks);
  g_free (memory);
}

void
sl_read_memory_reset (SlReadMemory *memory)
{
  g_hash_table_remove_all (memory->tracks);
}

static gboolean
is_gone (gpointer id, gpointer track, gpointer memory)
{
  return ((const SlReadMemory *) memory)->frame - ((const SlReadTrack *) track)->seen > LONG;
}

void
sl_read_memory_next (SlReadMemory *memory)
{
  memory->frame++;
  if (memory->frame % SWEEP == 0)
    g_hash_table_foreach_remove (memory->tracks, is_gone, memory);
  if (g_hash_table_size (memory->tracks) > MAX_TRACKS)
    g_hash_table_remove_all (memory->tracks);
}

SlReadTrack *
sl_read_memory_track (SlReadMemory *memory, gint32 id)
{
  SlReadTrack *track = g_hash_table_lookup (memory->tracks, GINT_TO_POINTER (id));
  if (track == NULL) {
    track = g_new0 (SlReadTrack, 1);
    track->next = memory->frame;
    g_hash_table_insert (memory->tracks, GINT_TO_POINTER (id), track);
  }
  track->seen = memory->frame;
  return track;
}

gboolean
sl_read_memory_is_due (const SlReadMemory *memory, const SlReadTrack *track)
{
  return memory->frame >= track->next;
}

void
sl_read_memory_note (SlReadMemory *memory, SlReadTrack *track, const SlReadCode *code,
                     const SlReadPatience *patience)
{
  if (code != NULL) {
    if (track->code == NULL)
      track->code = g_new (SlReadCode, 1);
    *track->code = *code;
    track->tries = 0;
    track->next = patience->again > 0 ? memory->frame + patience->again : G_MAXUINT64;
    return;
  }
  track->tries++;
  if (track->tries < patience->tries)
    track->next = memory->frame + 1;
  else if (patience->interval > 0)
    track->next = memory->frame + patience->interval;
  else
    track->next =
      track->code != NULL && patience->again > 0 ? memory->frame + patience->again : G_MAXUINT64;
}

void
sl_read_memory_note_late (SlReadMemory *memory, SlReadTrack *track, const SlReadPatience *patience)
{
  sl_read_memory_note (memory, track, NULL, patience);
  if (patience->interval > 0)
    track->next = memory->frame + patience->interval;
}
