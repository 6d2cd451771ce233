/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/follow.h"

#include <string.h>
#include <time.h>

#include "postprocess/predictions/track.h"

typedef struct
{
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
    const double start = now ();
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
  walk_init (&self.walk, scene, seed);
  follow (&self, tracker);
  walk_clear (&self.walk);
  *us = MIN (*us, self.spent / scene->frames);
  sl_track_figures (self.truth, self.found, &figures);
  g_array_unref (self.truth);
  g_array_unref (self.found);
  return figures;
}
