/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is ignored, CLEAR MOT and IDF1; hota.c has HOTA. */
#include "tools/evaluate/tracks.h"

#include <float.h>

#include "tools/evaluate/assign.h"
#include "tools/evaluate/track_frames.h"

#define OVERLAP 0.5
/* Above any sum of overlaps in a frame: a match of the frame before stays. */
#define STAYS 1000
#define NONE G_MAXUINT

static gdouble
share (gdouble part, gdouble whole)
{
  return part / MAX (1, whole);
}

/* Removes the boxes with a mark. */
static void
keep_unmarked (GArray *boxes, const gboolean *marked)
{
  guint kept = 0;
  for (guint i = 0; i < boxes->len; i++)
    if (!marked[i])
      g_array_index (boxes, SlTrackedBox, kept++) = g_array_index (boxes, SlTrackedBox, i);
  g_array_set_size (boxes, kept);
}

/* Tracked boxes on ignored ones that absorb, then the ignored boxes themselves. */
static void
remove_ignored (GArray *truth, GArray *found)
{
  g_autofree gboolean *ignored = g_new0 (gboolean, truth->len),
                      *absorbed = g_new0 (gboolean, found->len);
  SlTrackFrames frames;
  sl_track_frames_init (&frames, truth, found);
  for (guint i = 0; i < frames.frames->len; i++) {
    const SlTrackFrame *frame = sl_track_frames_compare (&frames, i);
    for (gsize k = 0; k < (gsize) frame->n_truth * frame->n_found; k++)
      frames.gain[k] = frames.similarity[k] >= OVERLAP - DBL_EPSILON ? frames.similarity[k] : 0;
    sl_track_frames_match (&frames, frame);
    for (guint t = 0; t < frame->n_truth; t++) {
      ignored[frame->truth + t] = frames.truth.boxes[frame->truth + t].ignored;
      if (frames.match[t] >= 0 && ignored[frame->truth + t])
        absorbed[frame->found + (guint) frames.match[t]] =
          frames.truth.boxes[frame->truth + t].absorbs;
    }
  }
  sl_track_frames_clear (&frames);
  keep_unmarked (truth, ignored);
  keep_unmarked (found, absorbed);
}

/** Of each true object, while frames go by: numbers of tracks. */
typedef struct
{
  guint last, before; /* matched last, and in the frame before */
  guint frames, runs;
} Object;

/* Matches a frame: first what was matched in the frame before. */
static void
clear_match (SlTrackFrames *self, const SlTrackFrame *frame, const Object *objects)
{
  for (gsize k = 0; k < (gsize) frame->n_truth * frame->n_found; k++) {
    const Object *object = &objects[self->truth.number[frame->truth + k / frame->n_found]];
    const guint track = self->found.number[frame->found + k % frame->n_found];
    self->gain[k] = self->similarity[k] >= OVERLAP - DBL_EPSILON
                      ? self->similarity[k] + (object->before == track ? STAYS : 0)
                      : 0;
  }
  sl_track_frames_match (self, frame);
}

static void
clear_frame (SlTrackFrames *self, const SlTrackFrame *frame, Object *objects, guint *was,
             SlTrackFigures *figures)
{
  clear_match (self, frame, objects);
  for (guint i = 0; i < self->truth.objects; i++) {
    was[i] = objects[i].before;
    objects[i].before = NONE;
  }
  for (guint t = 0; t < frame->n_truth; t++) {
    if (self->match[t] < 0)
      continue;
    const guint number = self->truth.number[frame->truth + t],
                track = self->found.number[frame->found + (guint) self->match[t]];
    Object *object = &objects[number];
    figures->matched++;
    figures->motp += self->similarity[(gsize) t * frame->n_found + (guint) self->match[t]];
    figures->switches += object->last != NONE && object->last != track;
    object->frames++;
    object->runs += was[number] == NONE;
    object->last = object->before = track;
  }
}

static void
clear_mot (SlTrackFrames *self, SlTrackFigures *figures)
{
  g_autofree Object *objects = g_new (Object, self->truth.objects);
  g_autofree guint *was = g_new (guint, self->truth.objects);
  for (guint i = 0; i < self->truth.objects; i++)
    objects[i] = (Object){ .last = NONE, .before = NONE };
  for (guint i = 0; i < self->frames->len; i++) {
    const SlTrackFrame *frame = sl_track_frames_compare (self, i);
    if (frame->n_truth > 0 && frame->n_found > 0)
      clear_frame (self, frame, objects, was, figures);
  }
  for (guint i = 0; i < self->truth.objects; i++) {
    const gdouble part = (gdouble) objects[i].frames / self->truth.count[i];
    figures->mostly_tracked += part > 0.8;
    figures->mostly_lost += part < 0.2;
    figures->fragments += objects[i].runs > 0 ? objects[i].runs - 1 : 0;
  }
  figures->motp = share (figures->motp, figures->matched);
  figures->mota =
    share ((gdouble) figures->matched - (self->found.n - figures->matched) - figures->switches,
           self->truth.n);
}

/* One track for each object over the whole sequence, so that most frames agree. */
static void
identity (SlTrackFrames *self, SlTrackFigures *figures)
{
  const guint rows = self->truth.objects, columns = self->found.objects;
  g_autofree gdouble *frames = g_new0 (gdouble, (gsize) rows * columns);
  g_autofree gint *match = g_new (gint, rows);
  gdouble agreed = 0;
  for (guint i = 0; i < self->frames->len; i++) {
    const SlTrackFrame *frame = sl_track_frames_compare (self, i);
    for (gsize k = 0; k < (gsize) frame->n_truth * frame->n_found; k++)
      if (self->similarity[k] >= OVERLAP)
        frames[(gsize) self->truth.number[frame->truth + k / frame->n_found] * columns
               + self->found.number[frame->found + k % frame->n_found]]++;
  }
  sl_assign (frames, rows, columns, match);
  for (guint i = 0; i < rows; i++)
    agreed += match[i] >= 0 ? frames[(gsize) i * columns + (guint) match[i]] : 0;
  figures->id_r = share (agreed, self->truth.n);
  figures->id_p = share (agreed, self->found.n);
  figures->idf1 = share (2 * agreed, (gdouble) self->truth.n + self->found.n);
}

gboolean
sl_track_figures (GArray *truth, GArray *found, SlTrackFigures *figures)
{
  SlTrackFrames frames;
  remove_ignored (truth, found);
  sl_track_frames_init (&frames, truth, found);
  *figures = (SlTrackFigures){ .truths = truth->len,
                               .found = found->len,
                               .objects = frames.truth.objects,
                               .tracks = frames.found.objects };
  const gboolean fits =
    (guint64) frames.truth.objects * frames.found.objects <= SL_TRACK_PAIRS_MOST;
  if (fits && truth->len > 0) {
    sl_hota (&frames, figures);
    clear_mot (&frames, figures);
    identity (&frames, figures);
  }
  sl_track_frames_clear (&frames);
  return fits;
}
