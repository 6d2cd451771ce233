/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/follow.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "plugins/motion/shift.h"
#include "postprocess/predictions/track.h"
#include "tests/support/texture.h"

/* How far a camera turns each way, at most. */
#define AROUND 400

typedef struct
{
  guint8 *scenery, *picture; /* (nullable): what a camera shows; around it the whole scene */
  SlShift shift;
  GArray *truth, *found;
  double spent; /* us */
  Walk walk;
  FollowHow *how;
} Sequence;

static void
add (GArray *boxes, guint frame, gint32 id, const double corners[4])
{
  const SlTrackedBox box = {
    frame, id, { corners[0], corners[1], corners[2], corners[3] }, FALSE, FALSE
  };
  g_array_append_val (boxes, box);
}

static void
describe (gpointer data, const SlTrackBox *boxes, const guint *chosen, guint n, gfloat *embeddings)
{
  Sequence *self = data;
  for (guint i = 0; i < n; i++)
    memcpy (embeddings + (gsize) i * WALKS_LOOK, self->walk.found[chosen[i]].look,
            WALKS_LOOK * sizeof *embeddings);
  self->how->described += n;
}

/* Microseconds, with what is less than one: an update may take half of one. */
static double
now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec * 1e6 + (double) time.tv_nsec / 1e3;
}

static gint
whole (double value, gint most)
{
  return (gint) CLAMP (lround (value), 0, most);
}

/* The picture of the frame in hand: scenery that moves with the camera, and people before it. */
static void
draw (Sequence *self)
{
  const Walk *walk = &self->walk;
  const gint x = AROUND - (gint) lround (walk->camera[0]),
             y = AROUND - (gint) lround (walk->camera[1]);
  for (gint row = 0; row < WALKS_HEIGHT; row++)
    memcpy (self->picture + row * WALKS_WIDTH,
            self->scenery + (gsize) (y + row) * (WALKS_WIDTH + 2 * AROUND) + x, WALKS_WIDTH);
  for (guint i = 0; i < walk->n_truth; i++) {
    const double *box = walk->truth[i].corners;
    const gint left = whole (box[0], WALKS_WIDTH), right = whole (box[2], WALKS_WIDTH);
    for (gint row = whole (box[1], WALKS_HEIGHT); row < whole (box[3], WALKS_HEIGHT); row++)
      memset (self->picture + row * WALKS_WIDTH + left, 40 + 37 * walk->truth[i].id % 200,
              (gsize) (right - left));
  }
}

static void
open_camera (Sequence *self)
{
  const gint width = WALKS_WIDTH + 2 * AROUND, height = WALKS_HEIGHT + 2 * AROUND;
  self->picture = g_malloc (WALKS_WIDTH * WALKS_HEIGHT);
  self->scenery = g_malloc ((gsize) width * (gsize) height);
  for (gint i = 0; i < width * height; i++)
    self->scenery[i] = texture_at (i % width, i / width);
}

static void
close_camera (Sequence *self)
{
  g_free (self->picture);
  g_free (self->scenery);
  sl_shift_clear (&self->shift);
}

static void
follow_camera (Sequence *self, SlTracker *tracker)
{
  const SlLuma luma = { self->picture, WALKS_WIDTH, WALKS_HEIGHT, 1, WALKS_WIDTH };
  double moved[2];
  if (sl_shift_see (&self->shift, &luma, moved))
    sl_tracker_shift (tracker, moved[0], moved[1]);
}

static void
follow (Sequence *self, SlTracker *tracker)
{
  Walk *walk = &self->walk;
  while (walk_next (walk)) {
    SlTrackBox boxes[2 * WALKS_MOST];
    SlTrackMatch matches[2 * WALKS_MOST];
    for (guint i = 0; i < walk->n_found; i++) {
      boxes[i] = (SlTrackBox){ .confidence = walk->found[i].confidence };
      for (guint k = 0; k < 4; k++)
        boxes[i].corners[k] = walk->found[i].corners[k];
    }
    if (self->how->camera)
      draw (self);
    const double start = now ();
    if (self->how->camera)
      follow_camera (self, tracker);
    sl_tracker_update (tracker, boxes, walk->n_found, 1, walk->frame, matches);
    self->spent += now () - start;
    for (guint i = 0; i < walk->n_truth; i++)
      add (self->truth, walk->frame, walk->truth[i].id, walk->truth[i].corners);
    for (guint i = 0; i < walk->n_found; i++)
      if (matches[i].id > 0)
        add (self->found, walk->frame, matches[i].id, boxes[i].corners);
  }
}

SlTrackFigures
follow_scene (const WalkScene *scene, guint32 seed, FollowHow *how, double *us)
{
  SlTrackFigures figures;
  Sequence self = { .truth = g_array_new (FALSE, FALSE, sizeof (SlTrackedBox)),
                    .found = g_array_new (FALSE, FALSE, sizeof (SlTrackedBox)),
                    .how = how };
  SlTrackSettings settings = sl_track_defaults;
  g_autoptr (SlTracker) tracker = sl_tracker_new ();
  settings.observed = how->observed;
  sl_tracker_configure (tracker, &settings);
  if (how->appearance)
    sl_tracker_describe (tracker, WALKS_LOOK, describe, &self);
  if (how->camera)
    open_camera (&self);
  walk_init (&self.walk, scene, seed);
  follow (&self, tracker);
  close_camera (&self);
  walk_clear (&self.walk);
  *us = MIN (*us, self.spent / scene->frames);
  sl_track_figures (self.truth, self.found, &figures);
  g_array_unref (self.truth);
  g_array_unref (self.found);
  return figures;
}
