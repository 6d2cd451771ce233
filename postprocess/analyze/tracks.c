/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames with their boxes in a queue, each allocated once and shared by copies. */
#include "postprocess/analyze/tracks.h"

#include <math.h>

/* Nanoseconds between two frames that are kept; the second of them may come a little early. */
#define INTERVAL G_GUINT64_CONSTANT (200000000)
#define EARLY G_GUINT64_CONSTANT (10000000)

typedef struct
{
  const char *label; /* interned */
  gint32 id;
  gfloat corners[4];
} Sighting;

/* @of: frames that this one stands for */
typedef struct
{
  guint64 time;
  guint of, n;
  Sighting sightings[];
} Frame;

struct _SlTracks
{
  GQueue frames; /* of Frame, reference-counted */
  guint64 length, last;
  guint n_sightings, waiting; /* frames since the last one that was kept */
  gint width, height;
};

SlTracks *
sl_tracks_new (guint seconds)
{
  SlTracks *tracks = g_new0 (SlTracks, 1);
  g_queue_init (&tracks->frames);
  tracks->length = seconds * G_GUINT64_CONSTANT (1000000000);
  return tracks;
}

void
sl_tracks_clear (SlTracks *tracks)
{
  g_queue_clear_full (&tracks->frames, g_atomic_rc_box_release);
  tracks->n_sightings = tracks->waiting = 0;
  tracks->last = 0;
}

void
sl_tracks_free (SlTracks *tracks)
{
  if (tracks == NULL)
    return;
  sl_tracks_clear (tracks);
  g_free (tracks);
}

SlTracks *
sl_tracks_copy (const SlTracks *tracks)
{
  SlTracks *copy = g_new0 (SlTracks, 1);
  *copy = *tracks;
  g_queue_init (&copy->frames);
  for (const GList *at = tracks->frames.head; at != NULL; at = at->next)
    g_queue_push_tail (&copy->frames, g_atomic_rc_box_acquire (at->data));
  return copy;
}

static void
drop_oldest (SlTracks *tracks, guint64 now)
{
  const Frame *oldest;
  while ((oldest = g_queue_peek_head (&tracks->frames)) != NULL
         && (now - oldest->time > tracks->length || tracks->n_sightings > SL_TRACKS_MOST)) {
    tracks->n_sightings -= oldest->n;
    g_atomic_rc_box_release (g_queue_pop_head (&tracks->frames));
  }
}

void
sl_tracks_add (SlTracks *tracks, const SlObjectView *objects, guint n, guint64 time, gint width,
               gint height)
{
  if (time < tracks->last || width != tracks->width || height != tracks->height)
    sl_tracks_clear (tracks);
  tracks->width = width;
  tracks->height = height;
  tracks->waiting++;
  if (!g_queue_is_empty (&tracks->frames) && time - tracks->last < INTERVAL - EARLY)
    return;
  n = MIN (n, SL_ANALYZE_MOST);
  Frame *frame = g_atomic_rc_box_alloc (sizeof *frame + n * sizeof frame->sightings[0]);
  *frame = (Frame){ .time = time, .of = tracks->waiting };
  for (guint i = 0; i < n; i++) {
    const SlObjectView *object = &objects[i];
    if (object->object_id > 0)
      frame->sightings[frame->n++] =
        (Sighting){ g_intern_string (object->label),
                    object->object_id,
                    { (gfloat) object->x_min, (gfloat) object->y_min, (gfloat) object->x_max,
                      (gfloat) object->y_max } };
  }
  tracks->waiting = 0;
  tracks->last = time;
  tracks->n_sightings += frame->n;
  g_queue_push_tail (&tracks->frames, frame);
  drop_oldest (tracks, time);
}

gdouble
sl_tracks_seconds (const SlTracks *tracks)
{
  const Frame *first = g_queue_peek_head ((GQueue *) &tracks->frames);
  return first != NULL ? (gdouble) (tracks->last - first->time) / 1e9 : 0;
}

/* How many kept frames take as long as @confirm of all frames. */
static gint
confirm_of (const SlTracks *tracks, gint confirm)
{
  guint all = 0;
  for (const GList *at = tracks->frames.head; at != NULL; at = at->next)
    all += ((const Frame *) at->data)->of;
  return all > 0 ? MAX ((gint) ceil ((gdouble) confirm * tracks->frames.length / all - 0.01), 1)
                 : confirm;
}

SlAnalyzer *
sl_tracks_replay (const SlTracks *tracks, SlRegions *regions, const SlAnalyzerSettings *settings)
{
  SlAnalyzerSettings how = *settings;
  g_autofree SlObjectView *objects = g_new0 (SlObjectView, SL_ANALYZE_MOST);
  how.interval = how.heat_columns = 0;
  how.confirm = confirm_of (tracks, settings->confirm);
  SlAnalyzer *analyzer = sl_analyzer_new (regions, &how);
  sl_analyzer_set_size (analyzer, MAX (tracks->width, 1), MAX (tracks->height, 1));
  for (const GList *at = tracks->frames.head; at != NULL; at = at->next) {
    const Frame *frame = at->data;
    for (guint i = 0; i < frame->n; i++) {
      const Sighting *sighting = &frame->sightings[i];
      objects[i] = (SlObjectView){ .x_min = sighting->corners[0],
                                   .y_min = sighting->corners[1],
                                   .x_max = sighting->corners[2],
                                   .y_max = sighting->corners[3],
                                   .label = sighting->label,
                                   .object_id = sighting->id };
    }
    sl_analyzer_update (analyzer, objects, frame->n, frame->time);
  }
  return analyzer;
}
