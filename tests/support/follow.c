/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/follow.h"

#include "postprocess/predictions/track.h"

typedef struct
{
  GArray *truth, *found;
  gint64 spent;
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
follow (Sequence *self, Walk *walk, SlTracker *tracker)
{
  while (walk_next (walk)) {
    SlTrackBox boxes[2 * WALKS_MOST];
    SlTrackMatch matches[2 * WALKS_MOST];
    for (guint i = 0; i < walk->n_found; i++) {
      boxes[i] = (SlTrackBox){ .confidence = walk->found[i].confidence };
      for (guint k = 0; k < 4; k++)
        boxes[i].corners[k] = walk->found[i].corners[k];
    }
    const gint64 start = g_get_monotonic_time ();
    sl_tracker_update (tracker, boxes, walk->n_found, 1, walk->frame, matches);
    self->spent += g_get_monotonic_time () - start;
    for (guint i = 0; i < walk->n_truth; i++)
      add (self->truth, walk->frame, walk->truth[i].id, walk->truth[i].corners);
    for (guint i = 0; i < walk->n_found; i++)
      if (matches[i].id > 0)
        add (self->found, walk->frame, matches[i].id, boxes[i].corners);
  }
}

SlTrackFigures
follow_scene (const WalkScene *scene, guint32 seed, double *us)
{
  Walk walk;
  SlTrackFigures figures;
  Sequence self = { g_array_new (FALSE, FALSE, sizeof (SlTrackedBox)),
                    g_array_new (FALSE, FALSE, sizeof (SlTrackedBox)), 0 };
  g_autoptr (SlTracker) tracker = sl_tracker_new ();
  walk_init (&walk, scene, seed);
  follow (&self, &walk, tracker);
  walk_clear (&walk);
  *us = MIN (*us, (double) self.spent / scene->frames);
  sl_track_figures (self.truth, self.found, &figures);
  g_array_unref (self.truth);
  g_array_unref (self.found);
  return figures;
}
