/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-track: microseconds that the tracker takes for a frame, min and median of 300: objects
 * spread over a frame, all of them crowded into one corner, and all in the very same place with
 * random sizes.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

#include "postprocess/predictions/track.h"

#define FRAMES 300

static const struct
{
  const char *name;
  guint n;
  double spread, jitter;
} cases[] = {
  { "20 objects, spread", 20, 1920, 4 },    { "100 objects, spread", 100, 1920, 4 },
  { "100 objects, crowded", 100, 100, 4 },  { "256 objects, crowded", 256, 200, 4 },
  { "256 objects, one place", 256, 0, 60 },
};

static int
compare (const void *a, const void *b)
{
  const gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;
  return x < y ? -1 : x > y;
}

static void
fill (GRand *random, SlTrackBox *boxes, const double *places, guint n, double jitter)
{
  for (guint i = 0; i < n; i++) {
    const double x = places[2 * i] + g_rand_double (random) * jitter,
                 y = places[2 * i + 1] + g_rand_double (random) * jitter;
    boxes[i] = (SlTrackBox){ { x, y, x + 60 + g_rand_double (random) * jitter,
                               y + 90 + g_rand_double (random) * jitter },
                             0.9,
                             0,
                             0 };
  }
}

int
main (void)
{
  static SlTrackBox boxes[SL_TRACK_MOST];
  static SlTrackMatch matches[SL_TRACK_MOST];
  static double places[2 * SL_TRACK_MOST];
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    GRand *random = g_rand_new_with_seed (1);
    SlTracker *tracker = sl_tracker_new ();
    gint64 times[FRAMES];
    for (guint i = 0; i < 2 * cases[c].n; i++)
      places[i] = g_rand_double (random) * cases[c].spread;
    for (guint frame = 0; frame < FRAMES; frame++) {
      fill (random, boxes, places, cases[c].n, cases[c].jitter);
      const gint64 start = g_get_monotonic_time ();
      sl_tracker_update (tracker, boxes, cases[c].n, 1, frame, matches);
      times[frame] = g_get_monotonic_time () - start;
    }
    qsort (times, FRAMES, sizeof *times, compare);
    printf ("%-26s min %6d us  median %6d us  max %6d us\n", cases[c].name, (int) times[0],
            (int) times[FRAMES / 2], (int) times[FRAMES - 1]);
    sl_tracker_free (tracker);
    g_rand_free (random);
  }
  return 0;
}
