/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HOTA. A frame's boxes are matched once, by overlap times how well the two objects fit over the
 * whole sequence; each of the 19 overlaps then takes those matches that reach it.
 */
#include <float.h>
#include <math.h>

#include "tools/evaluate/track_frames.h"

#define STEPS 19
#define STEP 0.05
#define SMALLEST 1e-10

typedef struct
{
  guint truth, found; /* numbers of objects */
  gdouble similarity;
} Pair;

static gsize
cell_of (const SlTrackFrames *self, guint truth, guint found)
{
  return (gsize) truth * self->found.objects + found;
}

/* Adds each overlap of the frame as a share of all overlaps of its two boxes. */
static void
align (const SlTrackFrames *self, const SlTrackFrame *frame, gdouble *alignment)
{
  g_autofree gdouble *rows = g_new0 (gdouble, frame->n_truth),
                     *columns = g_new0 (gdouble, frame->n_found);
  const gdouble *similarity = self->similarity;
  for (gsize i = 0; i < (gsize) frame->n_truth * frame->n_found; i++) {
    rows[i / frame->n_found] += similarity[i];
    columns[i % frame->n_found] += similarity[i];
  }
  for (gsize i = 0; i < (gsize) frame->n_truth * frame->n_found; i++) {
    const guint t = (guint) (i / frame->n_found), f = (guint) (i % frame->n_found);
    const gdouble all = rows[t] + columns[f] - similarity[i];
    if (all > DBL_EPSILON)
      alignment[cell_of (self, self->truth.number[frame->truth + t],
                         self->found.number[frame->found + f])] += similarity[i] / all;
  }
}

/* (transfer full): for each pair of objects how well they fit over the sequence, 0..1. */
static gdouble *
align_all (SlTrackFrames *self)
{
  gdouble *alignment = g_new0 (gdouble, (gsize) self->truth.objects * self->found.objects);
  for (guint i = 0; i < self->frames->len; i++)
    align (self, sl_track_frames_compare (self, i), alignment);
  for (guint t = 0; t < self->truth.objects; t++)
    for (guint f = 0; f < self->found.objects; f++) {
      gdouble *cell = &alignment[cell_of (self, t, f)];
      *cell /= self->truth.count[t] + self->found.count[f] - *cell;
    }
  return alignment;
}

/* (transfer full): the matches of all frames. */
static GArray *
match_all (SlTrackFrames *self)
{
  g_autofree gdouble *alignment = align_all (self);
  GArray *pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  for (guint i = 0; i < self->frames->len; i++) {
    const SlTrackFrame *frame = sl_track_frames_compare (self, i);
    const guint *truth = self->truth.number + frame->truth,
                *found = self->found.number + frame->found;
    for (gsize k = 0; k < (gsize) frame->n_truth * frame->n_found; k++)
      self->gain[k] =
        self->similarity[k]
        * alignment[cell_of (self, truth[k / frame->n_found], found[k % frame->n_found])];
    sl_track_frames_match (self, frame);
    for (guint t = 0; t < frame->n_truth; t++) {
      if (self->match[t] < 0)
        continue;
      const Pair pair = { truth[t], found[self->match[t]],
                          self->similarity[(gsize) t * frame->n_found + (guint) self->match[t]] };
      g_array_append_val (pairs, pair);
    }
  }
  return pairs;
}

static gdouble
ratio (gdouble part, gdouble whole)
{
  return part / MAX (1, whole);
}

/* Adds the figures of the matches with an overlap of at least @least. @counts: zeroed, and left so.
 */
static void
add_step (const SlTrackFrames *self, const GArray *pairs, gdouble least, guint *counts,
          SlTrackFigures *sum)
{
  guint matched = 0;
  gdouble overlaps = 0, ass_a = 0, ass_re = 0, ass_pr = 0;
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index (pairs, Pair, i);
    if (pair->similarity < least - DBL_EPSILON)
      continue;
    matched++;
    overlaps += pair->similarity;
    counts[cell_of (self, pair->truth, pair->found)]++;
  }
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index (pairs, Pair, i);
    guint *both = &counts[cell_of (self, pair->truth, pair->found)];
    const gdouble n = *both, truths = self->truth.count[pair->truth],
                  found = self->found.count[pair->found];
    ass_a += n * ratio (n, truths + found - n);
    ass_re += n * ratio (n, truths);
    ass_pr += n * ratio (n, found);
    *both = 0; /* Each pair of objects counts once. */
  }
  const gdouble det_a = ratio (matched, (gdouble) self->truth.n + self->found.n - matched);
  sum->det_a += det_a;
  sum->det_re += ratio (matched, self->truth.n);
  sum->det_pr += ratio (matched, self->found.n);
  sum->ass_a += ratio (ass_a, matched);
  sum->ass_re += ratio (ass_re, matched);
  sum->ass_pr += ratio (ass_pr, matched);
  sum->loc_a += MAX (SMALLEST, overlaps) / MAX (SMALLEST, matched);
  sum->hota += sqrt (det_a * ratio (ass_a, matched));
}

void
sl_hota (SlTrackFrames *self, SlTrackFigures *figures)
{
  g_autoptr (GArray) pairs = match_all (self);
  g_autofree guint *counts = g_new0 (guint, (gsize) self->truth.objects * self->found.objects);
  for (guint i = 1; i <= STEPS; i++)
    add_step (self, pairs, i * STEP, counts, figures);
  gdouble *const means[] = {
    &figures->hota,   &figures->det_a,  &figures->ass_a,  &figures->det_re,
    &figures->det_pr, &figures->ass_re, &figures->ass_pr, &figures->loc_a
  };
  for (guint i = 0; i < G_N_ELEMENTS (means); i++)
    *means[i] /= STEPS;
}
