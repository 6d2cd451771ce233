/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-analyze: microseconds that zones and lines take for a frame, min and median of 3,000:
 * tracks that walk about a frame of 1920x1080, and zones of eight corners. The last case has a heat
 * map, and objects that crowd into one corner.
 */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "postprocess/analyze/analyzer.h"

#define FRAMES 3000
#define MOST 256

static const struct
{
  const char *name;
  guint tracks, zones, lines;
  gint heat;
  double spread;
} cases[] = {
  { "20 tracks, 10 zones", 20, 10, 0, 0, 1 },
  { "20 tracks, 10 zones, 10 lines", 20, 10, 10, 0, 1 },
  { "20 tracks in 10 zones", 20, 10, 0, 0, 0.05 },
  { "100 tracks, 64 zones", 100, 64, 0, 0, 1 },
  { "256 tracks, 64 zones, heat map", 256, 64, 0, 64, 0.2 },
};

static int
compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

static SlRegions *
make_regions (GRand *random, guint zones, guint lines)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < zones; i++) {
    const double x = g_rand_double_range (random, 0.2, 0.8),
                 y = g_rand_double_range (random, 0.2, 0.8);
    g_string_append_printf (text, "[zone %u] points=", i);
    for (guint k = 0; k < 8; k++)
      g_string_append_printf (text, "%.4f,%.4f ", x + 0.15 * cos (k * G_PI / 4),
                              y + 0.15 * sin (k * G_PI / 4));
    g_string_append_c (text, '\n');
  }
  for (guint i = 0; i < lines; i++)
    g_string_append_printf (text, "[line %u] points=%.4f,%.4f %.4f,%.4f\n", i,
                            g_rand_double_range (random, 0, 0.4), g_rand_double (random),
                            g_rand_double_range (random, 0.6, 1), g_rand_double (random));
  return sl_regions_parse (text->str, NULL);
}

static double
now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec * 1e6 + (double) time.tv_nsec / 1e3;
}

static void
run (guint c)
{
  static double places[2 * MOST], times[FRAMES];
  static SlObjectView objects[MOST];
  GRand *random = g_rand_new_with_seed (1);
  SlAnalyzerSettings settings = sl_analyzer_defaults;
  settings.heat_columns = cases[c].heat;
  SlAnalyzer *analyzer =
    sl_analyzer_new (make_regions (random, cases[c].zones, cases[c].lines), &settings);
  sl_analyzer_set_size (analyzer, 1920, 1080);
  for (guint i = 0; i < 2 * cases[c].tracks; i++)
    places[i] = 0.5 + (g_rand_double (random) - 0.5) * cases[c].spread;
  for (guint frame = 0; frame < FRAMES; frame++) {
    for (guint i = 0; i < cases[c].tracks; i++) {
      for (guint k = 0; k < 2; k++)
        places[2 * i + k] =
          CLAMP (places[2 * i + k] + g_rand_double_range (random, -0.01, 0.01) * cases[c].spread,
                 0.05, 0.95);
      objects[i] = (SlObjectView){ .x_min = places[2 * i] - 0.02,
                                   .y_min = places[2 * i + 1] - 0.05,
                                   .x_max = places[2 * i] + 0.02,
                                   .y_max = places[2 * i + 1],
                                   .label = "person",
                                   .object_id = (gint32) i + 1 };
    }
    const double start = now ();
    sl_analyzer_update (analyzer, objects, cases[c].tracks, frame * G_GUINT64_CONSTANT (40000000));
    times[frame] = now () - start;
  }
  qsort (times, FRAMES, sizeof *times, compare);
  printf ("%-32s min %7.2f us  median %7.2f us  99 %% %7.2f us\n", cases[c].name, times[0],
          times[FRAMES / 2], times[FRAMES * 99 / 100]);
  sl_analyzer_free (analyzer);
  g_rand_free (random);
}

int
main (void)
{
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    run (c);
  return 0;
}
