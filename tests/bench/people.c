/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-people [SEQUENCES] [SCENE]: HOTA, DetA, AssA, IDF1, MOTA and switches of the tracker on
 * drawn sequences, means over so many of each kind, and the microseconds of a frame's update, the
 * least of a few runs of each sequence: by overlap alone, with OC-SORT's use of what was seen, with
 * appearance, and with both; by the camera's motion in drawn pictures of 1920x1080, whose
 * measurement is part of the time, and with appearance, too; and how many boxes of a frame were
 * described.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/follow.h"

#define RUNS 5

static const struct
{
  const char *name;
  gboolean observed, appearance, camera;
} ways[] = { { "overlap", FALSE, FALSE, FALSE },   { "oc-sort", TRUE, FALSE, FALSE },
             { "appearance", FALSE, TRUE, FALSE }, { "both", TRUE, TRUE, FALSE },
             { "camera", FALSE, FALSE, TRUE },     { "camera+looks", FALSE, TRUE, TRUE } };

static void
measure (const WalkScene *scene, guint by, guint sequences)
{
  FollowHow how = { ways[by].observed, ways[by].appearance, ways[by].camera, 0 };
  const guint runs = ways[by].camera ? 1 : RUNS; /* pictures take long to draw */
  double sum[6] = { 0 }, us = 0;
  for (guint32 seed = 1; seed <= sequences; seed++) {
    double least = G_MAXDOUBLE;
    for (guint run = 1; run < runs; run++)
      follow_scene (scene, seed, &how, &least);
    const SlTrackFigures f = follow_scene (scene, seed, &how, &least);
    us += least / sequences;
    const double values[] = { f.hota, f.det_a, f.ass_a, f.idf1, f.mota, f.switches };
    for (guint k = 0; k < G_N_ELEMENTS (sum); k++)
      sum[k] += values[k] / sequences;
  }
  printf ("%-16s  %-12s  %6.4f  %6.4f  %6.4f  %6.4f  %6.4f  %8.1f  %6.2f  %9.2f\n", scene->name,
          ways[by].name, sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], us,
          (double) how.described / runs / sequences / scene->frames);
}

int
main (int argc, char **argv)
{
  guint n;
  const WalkScene *scenes = walk_scenes (&n);
  const guint sequences = argc > 1 ? (guint) MAX (atoi (argv[1]), 1) : 20;
  printf ("%-16s  %-12s  %6s  %6s  %6s  %6s  %6s  %8s  %6s  %9s\n", "scene", "by", "HOTA", "DetA",
          "AssA", "IDF1", "MOTA", "switches", "us", "described");
  for (guint i = 0; i < n; i++)
    for (guint by = 0;
         by < G_N_ELEMENTS (ways) && (argc < 3 || g_str_equal (argv[2], scenes[i].name)); by++)
      measure (&scenes[i], by, sequences);
  return 0;
}
