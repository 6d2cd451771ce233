/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tracker reaches on drawn sequences: bars a little below what tests/bench/people.c
 * prints, so that a change that costs ids is seen. */
#include "tests/support/follow.h"
#include "tests/support/program.h"

#define SEQUENCES 4

/* By overlap alone, then what IDF1 is at least with appearance. Before unseen objects moved with
 * the camera, IDF1 of "pan" was 0.70. */
static const struct
{
  const char *name;
  double hota, idf1, mota, by_appearance;
} bars[] = {
  { "apart", 0.88, 0.95, 0.92, 0.955 },          { "crossing", 0.85, 0.93, 0.89, 0.945 },
  { "turning", 0.85, 0.93, 0.90, 0.945 },        { "pillars", 0.71, 0.84, 0.75, 0.86 },
  { "pillars-turning", 0.66, 0.76, 0.72, 0.83 }, { "come-and-go", 0.76, 0.85, 0.81, 0.87 },
  { "crowd", 0.63, 0.72, 0.71, 0.79 },           { "pan", 0.70, 0.76, 0.81, 0.89 },
  { "shake", 0.77, 0.85, 0.82, 0.90 },           { "jerk", 0.62, 0.65, 0.75, 0.86 },
  { "about-turn", 0.85, 0.93, 0.90, 0.945 },     { "look-alikes", 0.85, 0.93, 0.89, 0.93 },
  { "out-and-back", 0.80, 0.84, 0.91, 0.94 }
};

static SlTrackFigures
mean_figures (const WalkScene *scene, FollowHow how)
{
  SlTrackFigures mean = { 0 };
  double us = G_MAXDOUBLE;
  for (guint32 seed = 1; seed <= SEQUENCES; seed++) {
    const SlTrackFigures figures = follow_scene (scene, seed, &how, &us);
    mean.hota += figures.hota / SEQUENCES;
    mean.idf1 += figures.idf1 / SEQUENCES;
    mean.mota += figures.mota / SEQUENCES;
  }
  g_test_message ("HOTA %.4f, IDF1 %.4f, MOTA %.4f", mean.hota, mean.idf1, mean.mota);
  return mean;
}

static void
test_scene (gconstpointer data)
{
  const WalkScene *scene = data;
  const SlTrackFigures overlap = mean_figures (scene, (FollowHow){ 0 }),
                       looks = mean_figures (scene, (FollowHow){ .appearance = TRUE });
  for (guint i = 0; i < G_N_ELEMENTS (bars); i++) {
    if (!g_str_equal (bars[i].name, scene->name))
      continue;
    g_assert_cmpfloat (overlap.hota, >, bars[i].hota);
    g_assert_cmpfloat (overlap.idf1, >, bars[i].idf1);
    g_assert_cmpfloat (overlap.mota, >, bars[i].mota);
    g_assert_cmpfloat (looks.hota, >, bars[i].hota);
    g_assert_cmpfloat (looks.idf1, >, bars[i].by_appearance);
    g_assert_cmpfloat (looks.mota, >, bars[i].mota);
  }
}

/* OC-SORT costs next to nothing anywhere, and wins where many cover each other. */
static void
test_observed (void)
{
  guint n;
  const WalkScene *scenes = walk_scenes (&n);
  for (guint i = 0; i < n; i++) {
    if (!g_str_equal (scenes[i].name, "crowd"))
      continue;
    const SlTrackFigures overlap = mean_figures (&scenes[i], (FollowHow){ 0 }),
                         observed = mean_figures (&scenes[i], (FollowHow){ .observed = TRUE });
    g_assert_cmpfloat (observed.hota, >, overlap.hota);
    g_assert_cmpfloat (observed.idf1, >, overlap.idf1);
  }
}

/* The camera's motion in pixels: before one that jerks, most objects keep their ids by overlap
 * alone. A standing one changes nothing: its pictures do not move. */
static void
test_camera (void)
{
  guint n;
  const WalkScene *scenes = walk_scenes (&n);
  for (guint i = 0; i < n; i++) {
    WalkScene scene = scenes[i];
    scene.frames = 40;
    if (!g_str_equal (scene.name, "jerk") && !g_str_equal (scene.name, "crossing"))
      continue;
    const SlTrackFigures without = mean_figures (&scene, (FollowHow){ 0 }),
                         with = mean_figures (&scene, (FollowHow){ .camera = TRUE });
    g_assert_cmpfloat (with.idf1, >=, without.idf1 + (scene.shake > 0 ? 0.03 : 0));
    g_assert_cmpfloat (with.hota, >=, without.hota + (scene.shake > 0 ? 0.03 : 0));
  }
}

TEST_MAIN (int argc, char **argv)
{
  guint n;
  const WalkScene *scenes = walk_scenes (&n);
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpuint (n, ==, G_N_ELEMENTS (bars));
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = g_strdup_printf ("/people/%s", scenes[i].name);
    g_test_add_data_func (path, &scenes[i], test_scene);
  }
  g_test_add_func ("/people/observed", test_observed);
  g_test_add_func ("/people/camera", test_camera);
  return g_test_run ();
}
