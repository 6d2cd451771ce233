/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions that are replaced while objects are known, masks, and regions counted in kept tracks. */
#include <math.h>
#include <string.h>

#include "postprocess/analyze/analyzer.h"
#include "postprocess/analyze/tracks.h"
#include "tests/support/program.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
#define LEFT "[zone left] points=0,0 0.5,0 0.5,1 0,1;"
#define WAY "[line way] points=0.5,0 0.5,1;"

static SlRegions *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  SlRegions *regions = sl_regions_parse (text, &error);
  g_assert_no_error (error);
  return regions;
}

static SlAnalyzer *
open_with (const char *regions)
{
  SlAnalyzer *analyzer = sl_analyzer_new (parse (regions), &sl_analyzer_defaults);
  sl_analyzer_set_size (analyzer, 1000, 1000);
  return analyzer;
}

/* A box of a tenth of the frame whose bottom's middle is at @x, @y. */
static SlObjectView
object_at (gint32 id, const char *label, gdouble x, gdouble y)
{
  return (SlObjectView){ .x_min = x - 0.05,
                         .y_min = y - 0.1,
                         .x_max = x + 0.05,
                         .y_max = y,
                         .label = label,
                         .object_id = id,
                         .confidence = 1 };
}

/* @n objects, each on a way of its own from side to side. */
static guint
scene (SlObjectView *objects, guint n, gdouble seconds)
{
  for (guint i = 0; i < n; i++)
    objects[i] = object_at ((gint32) i + 1, i % 3 == 0 ? "car" : "person",
                            0.5 + 0.4 * sin (seconds * (0.3 + 0.05 * i) + i), 0.1 + 0.8 * i / n);
  return n;
}

/* "left 3 2 1; way 4 5 0;" */
static char *
counts_of (const SlAnalysis *analysis)
{
  GString *text = g_string_new (NULL);
  for (guint r = 0; r < analysis->n_regions; r++)
    g_string_append_printf (text, "%s %u %u %u;", analysis->regions[r].name,
                            (guint) analysis->regions[r].entered, (guint) analysis->regions[r].left,
                            analysis->regions[r].inside);
  return g_string_free (text, FALSE);
}

/* A hundred saves of other regions in between: what stays the same counts as if nobody had saved.
 */
static void
test_saves (void)
{
  g_autoptr (SlAnalyzer) plain = open_with (LEFT WAY);
  g_autoptr (SlAnalyzer) edited = open_with (LEFT WAY);
  SlObjectView objects[8];
  guint saves = 0;
  for (guint i = 0; i < 1000; i++) {
    const gdouble seconds = i * 0.1;
    const guint n = scene (objects, G_N_ELEMENTS (objects), seconds);
    if (i % 10 == 5) {
      g_autofree char *text =
        g_strdup_printf (WAY "[zone extra] points=0.%u,0 0.9,0 0.9,1;" LEFT, 1 + saves % 5);
      sl_analyzer_replace_regions (edited, parse (saves++ % 2 == 0 ? text : LEFT WAY));
    }
    const SlAnalysis *a = sl_analyzer_update (plain, objects, n, (guint64) (seconds * SECOND));
    const SlAnalysis *b = sl_analyzer_update (edited, objects, n, (guint64) (seconds * SECOND));
    for (guint r = 0; r < b->n_regions; r++)
      for (guint k = 0; k < a->n_regions; k++)
        if (strcmp (a->regions[k].name, b->regions[r].name) == 0) {
          g_assert_cmpuint (a->regions[k].entered, ==, b->regions[r].entered);
          g_assert_cmpuint (a->regions[k].left, ==, b->regions[r].left);
          g_assert_cmpuint (a->regions[k].inside, ==, b->regions[r].inside);
          g_assert_cmpfloat (a->regions[k].mean_dwell, ==, b->regions[r].mean_dwell);
        }
  }
  g_assert_cmpuint (saves, ==, 100);
  g_assert_cmpuint (sl_analyzer_last (plain)->regions[0].entered, >, 20);
}

/* What moves away below an object is left; what moves below one is entered; counts go on. */
static void
test_moved (void)
{
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT);
  const SlObjectView person = object_at (1, "person", 0.25, 0.5);
  for (guint i = 0; i < 4; i++)
    sl_analyzer_update (analyzer, &person, 1, i * SECOND / 10);
  g_autofree char *before = counts_of (sl_analyzer_last (analyzer));
  g_assert_cmpstr (before, ==, "left 1 0 1;");
  sl_analyzer_replace_regions (analyzer, parse ("[zone left] points=0.5,0 1,0 1,1 0.5,1"));
  g_autofree char *at_once = counts_of (sl_analyzer_last (analyzer));
  g_assert_cmpstr (at_once, ==, "left 1 0 1;");
  g_assert_cmpuint (sl_analyzer_last (analyzer)->n_events, ==, 0);
  for (guint i = 4; i < 8; i++)
    sl_analyzer_update (analyzer, &person, 1, i * SECOND / 10);
  g_autofree char *moved = counts_of (sl_analyzer_last (analyzer));
  g_assert_cmpstr (moved, ==, "left 1 1 0;");
  sl_analyzer_replace_regions (analyzer, parse ("[zone left] points=0,0 1,0 1,1 0,1; classes=car"));
  for (guint i = 8; i < 12; i++)
    sl_analyzer_update (analyzer, &person, 1, i * SECOND / 10);
  g_autofree char *filtered = counts_of (sl_analyzer_last (analyzer));
  g_assert_cmpstr (filtered, ==, "left 1 1 0;");
}

/* A new name in the same place keeps the counts; a copy beside it begins at 0. */
static void
test_renamed (void)
{
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT);
  const SlObjectView person = object_at (1, "person", 0.25, 0.5);
  for (guint i = 0; i < 4; i++)
    sl_analyzer_update (analyzer, &person, 1, i * SECOND / 10);
  sl_analyzer_replace_regions (analyzer, parse ("[zone door] points=0,0 0.5,0 0.5,1 0,1"));
  g_autofree char *renamed = counts_of (sl_analyzer_last (analyzer));
  g_assert_cmpstr (renamed, ==, "door 1 0 1;");
  sl_analyzer_replace_regions (
    analyzer,
    parse ("[zone copy] points=0,0 0.5,0 0.5,1 0,1; [zone door] points=0,0 0.5,0 0.5,1 0,1"));
  g_autofree char *copied = counts_of (sl_analyzer_last (analyzer));
  g_assert_cmpstr (copied, ==, "copy 0 0 0;door 1 0 1;");
}

/* An object inside whose class does not count any more is not inside any more. */
static void
test_class (void)
{
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT);
  const SlObjectView person = object_at (1, "person", 0.25, 0.5);
  for (guint i = 0; i < 4; i++)
    sl_analyzer_update (analyzer, &person, 1, i * SECOND / 10);
  sl_analyzer_replace_regions (analyzer, parse (LEFT "classes=car"));
  g_autofree char *counts = counts_of (sl_analyzer_last (analyzer));
  g_assert_cmpstr (counts, ==, "left 1 1 0;");
}

/* A line that moves across an object is not crossed by it. */
static void
test_moved_line (void)
{
  g_autoptr (SlAnalyzer) analyzer = open_with (WAY);
  SlObjectView person = object_at (1, "person", 0.25, 0.5);
  for (guint i = 0; i < 4; i++)
    sl_analyzer_update (analyzer, &person, 1, i * SECOND / 10);
  sl_analyzer_replace_regions (analyzer, parse ("[line way] points=0.1,0 0.1,1"));
  for (guint i = 4; i < 8; i++)
    sl_analyzer_update (analyzer, &person, 1, i * SECOND / 10);
  g_autofree char *moved = counts_of (sl_analyzer_last (analyzer));
  g_assert_cmpstr (moved, ==, "way 0 0 0;");
  person = object_at (1, "person", 0.05, 0.5);
  for (guint i = 8; i < 12; i++)
    sl_analyzer_update (analyzer, &person, 1, i * SECOND / 10);
  g_autofree char *crossed = counts_of (sl_analyzer_last (analyzer));
  g_assert_cmpstr (crossed, ==, "way 1 0 0;");
}

/* Who stands in a mask is not seen, there alone, and only of its classes. */
static void
test_mask (void)
{
  g_autoptr (SlAnalyzer) analyzer = open_with (
    "[zone all] points=0,0 1,0 1,1 0,1; [mask poster] points=0.1,0.1 0.4,0.1 0.4,0.9 0.1,0.9; "
    "classes=person");
  const SlObjectView objects[] = { object_at (1, "person", 0.25, 0.5),
                                   object_at (2, "car", 0.25, 0.5),
                                   object_at (3, "person", 0.75, 0.5) };
  g_assert_cmpuint (sl_analyzer_regions (analyzer)->masks->len, ==, 1);
  for (guint i = 0; i < 4; i++)
    sl_analyzer_update (analyzer, objects, 3, i * SECOND / 10);
  g_autofree char *counts = counts_of (sl_analyzer_last (analyzer));
  g_assert_cmpstr (counts, ==, "all 2 0 2;");
  sl_analyzer_replace_regions (analyzer, parse ("[zone all] points=0,0 1,0 1,1 0,1"));
  for (guint i = 4; i < 8; i++)
    sl_analyzer_update (analyzer, objects, 3, i * SECOND / 10);
  g_autofree char *without = counts_of (sl_analyzer_last (analyzer));
  g_assert_cmpstr (without, ==, "all 3 0 3;");
}

/* At five frames a second the tracks have all that the analyzer saw. */
static void
test_replay (void)
{
  g_autoptr (SlAnalyzer) live =
    open_with (LEFT WAY "[line across] points=0,0.4 1,0.6; classes=car");
  g_autoptr (SlTracks) tracks = sl_tracks_new (600);
  SlObjectView objects[8];
  for (guint i = 0; i < 500; i++) {
    const guint n = i % 50 < 45 ? scene (objects, G_N_ELEMENTS (objects), i * 0.2) : 0;
    const guint64 time = i * (SECOND / 5);
    sl_analyzer_update (live, objects, n, time);
    sl_tracks_add (tracks, objects, n, time, 1000, 1000);
  }
  g_autoptr (SlTracks) copy = sl_tracks_copy (tracks);
  g_autoptr (SlAnalyzer) replayed = sl_tracks_replay (
    copy, parse (LEFT WAY "[line across] points=0,0.4 1,0.6; classes=car"), &sl_analyzer_defaults);
  g_autofree char *expected = counts_of (sl_analyzer_last (live)),
                  *got = counts_of (sl_analyzer_last (replayed));
  g_assert_cmpstr (got, ==, expected);
  g_assert_cmpuint (sl_analyzer_last (live)->regions[0].entered, >, 20);
  g_assert_cmpfloat_with_epsilon (sl_tracks_seconds (tracks), 499 * 0.2, 1e-9);
}

/* Of 25 frames a second a fifth is kept; who walks counts as before. */
static void
test_replay_thinned (void)
{
  g_autoptr (SlAnalyzer) live = open_with (LEFT WAY);
  g_autoptr (SlTracks) tracks = sl_tracks_new (600);
  SlObjectView objects[4];
  for (guint i = 0; i < 2500; i++) {
    const guint n = scene (objects, G_N_ELEMENTS (objects), i * 0.04);
    sl_analyzer_update (live, objects, n, i * (SECOND / 25));
    sl_tracks_add (tracks, objects, n, i * (SECOND / 25), 1000, 1000);
  }
  g_autoptr (SlAnalyzer) replayed =
    sl_tracks_replay (tracks, parse (LEFT WAY), &sl_analyzer_defaults);
  g_autofree char *expected = counts_of (sl_analyzer_last (live)),
                  *got = counts_of (sl_analyzer_last (replayed));
  g_assert_cmpstr (got, ==, expected);
}

/* Old frames go; so does everything when the stream begins anew. */
static void
test_bounded (void)
{
  g_autoptr (SlTracks) tracks = sl_tracks_new (10);
  g_autofree SlObjectView *many = g_new0 (SlObjectView, 600);
  for (guint i = 0; i < 600; i++)
    many[i] = object_at ((gint32) i + 1, "person", 0.5, 0.5);
  for (guint i = 0; i < 100; i++)
    sl_tracks_add (tracks, many, 1, i * SECOND / 5, 1000, 1000);
  g_assert_cmpfloat (sl_tracks_seconds (tracks), <=, 10);
  sl_tracks_add (tracks, many, 1, SECOND, 1000, 1000);
  g_assert_cmpfloat (sl_tracks_seconds (tracks), ==, 0);
  g_autoptr (SlTracks) crowded = sl_tracks_new (3600);
  for (guint i = 0; i < 1000; i++)
    sl_tracks_add (crowded, many, 600, i * SECOND / 5, 1000, 1000);
  g_assert_cmpfloat (sl_tracks_seconds (crowded), <=,
                     (gdouble) SL_TRACKS_MOST / SL_ANALYZE_MOST / 5);
  g_assert_cmpfloat (sl_tracks_seconds (crowded), >, 100);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/replace/saves", test_saves);
  g_test_add_func ("/replace/moved", test_moved);
  g_test_add_func ("/replace/renamed", test_renamed);
  g_test_add_func ("/replace/class", test_class);
  g_test_add_func ("/replace/moved-line", test_moved_line);
  g_test_add_func ("/replace/mask", test_mask);
  g_test_add_func ("/replace/replay", test_replay);
  g_test_add_func ("/replace/replay-thinned", test_replay_thinned);
  g_test_add_func ("/replace/bounded", test_bounded);
  return g_test_run ();
}
