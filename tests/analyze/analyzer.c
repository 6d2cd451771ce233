/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the analyzer reports of objects that are moved by hand: events and times, ids that change,
 * streams that jump, hostile boxes. */
#include "postprocess/analyze/analyzer.h"

#include <math.h>
#include <string.h>

#include "sightline/error.h"
#include "tests/support/program.h"

#define SECOND G_GUINT64_CONSTANT (1000000000)
/* The left half of the frame, which is 100x100. */
#define LEFT "[zone left] points=0,0 0.5,0 0.5,1 0,1;"

/* What is seen counts at once. */
static SlAnalyzerSettings
at_once (void)
{
  SlAnalyzerSettings settings = sl_analyzer_defaults;
  settings.confirm = 1;
  return settings;
}

static SlAnalyzer *
open_with (const char *regions, const SlAnalyzerSettings *how)
{
  const SlAnalyzerSettings plain = at_once ();
  const SlAnalyzerSettings *settings = how != NULL ? how : &plain;
  g_autoptr (GError) error = NULL;
  SlRegions *specs = sl_regions_parse (regions, &error);
  g_assert_no_error (error);
  SlAnalyzer *analyzer = sl_analyzer_new (specs, settings);
  sl_analyzer_set_size (analyzer, 100, 100);
  return analyzer;
}

/* A box of 10x10 whose bottom centre is @x, @y in percent. */
static SlObjectView
object_at (gint32 id, const char *label, gdouble x, gdouble y)
{
  return (SlObjectView){ .x_min = (x - 5) / 100,
                         .y_min = (y - 10) / 100,
                         .x_max = (x + 5) / 100,
                         .y_max = y / 100,
                         .label = label,
                         .object_id = id,
                         .confidence = 1 };
}

/* "entered left 7 person 1.5;" of each event. */
static char *
events_of (const SlAnalysis *analysis)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < analysis->n_events; i++) {
    const SlAnalysisEvent *event = &analysis->events[i];
    g_string_append_printf (text, "%s %s %d %s %g;", sl_analysis_event_name (event->kind),
                            analysis->regions[event->region].name, event->object_id,
                            event->label != NULL ? event->label : "-", event->seconds);
  }
  return g_string_free (text, FALSE);
}

static const SlAnalysis *
step (SlAnalyzer *analyzer, gdouble seconds, const SlObjectView *objects, guint n,
      const char *expected)
{
  const SlAnalysis *analysis =
    sl_analyzer_update (analyzer, objects, n, (guint64) (seconds * SECOND));
  g_autofree char *events = events_of (analysis);
  g_assert_cmpstr (events, ==, expected);
  return analysis;
}

static void
test_zone (void)
{
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT, NULL);
  SlObjectView two[] = { object_at (1, "person", 80, 50), object_at (2, "car", 20, 50) };
  step (analyzer, 0, two, 2, "entered left 2 car -1;");
  two[0] = object_at (1, "person", 49, 50); /* within the margin of 2 pixels */
  step (analyzer, 1, two, 2, "");
  two[0] = object_at (1, "person", 48, 50);
  const SlAnalysis *analysis = step (analyzer, 2, two, 2, "entered left 1 person -1;");
  g_assert_cmpuint (analysis->regions[0].inside, ==, 2);
  g_assert_cmpuint (analysis->n_presences, ==, 2);
  g_assert_cmpfloat (analysis->regions[0].longest, ==, 2);
  two[0] = object_at (1, "person", 51.9, 50);
  step (analyzer, 3, two, 2, "");
  two[0] = object_at (1, "person", 52.1, 50);
  analysis = step (analyzer, 3.5, two, 2, "left left 1 person 1.5;");
  g_assert_cmpuint (analysis->regions[0].inside, ==, 1);
  g_assert_cmpfloat (analysis->regions[0].mean_dwell, ==, 1.5);
  /* The car is not seen any more; it was there until 3.5 s. */
  step (analyzer, 5.4, two, 1, "");
  analysis = step (analyzer, 5.6, two, 1, "left left 2 car 3.5;");
  g_assert_cmpuint (analysis->regions[0].inside, ==, 0);
  g_assert_cmpfloat_with_epsilon (analysis->regions[0].empty, 2.1, 1e-9);
  g_assert_cmpfloat (analysis->regions[0].mean_dwell, ==, 2.5);
  g_assert_cmpuint (analysis->regions[0].n_classes, ==, 2);
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpuint (analysis->regions[0].classes[i].entered, ==, 1);
    g_assert_cmpuint (analysis->regions[0].classes[i].left, ==, 1);
    g_assert_cmpuint (analysis->regions[0].classes[i].inside, ==, 0);
  }
  g_assert_cmpstr (analysis->regions[0].classes[0].label, ==, "car");
}

static void
test_line (void)
{
  g_autoptr (SlAnalyzer) analyzer = open_with ("[line way] points=0.2,0.5 0.8,0.5", NULL);
  static const struct
  {
    gdouble x, y;
    const char *events;
  } steps[] = {
    { 50, 40, "" },
    { 50, 51, "" },
    { 50, 53, "in way 1 person -1;" },
    { 50, 49, "" },
    { 50, 47, "out way 1 person -1;" },
    { 90, 47, "" },
    { 90, 60, "" }, /* around its end */
    { 50, 60, "" },
    { 50, 40, "out way 1 person -1;" }, /* all at once */
    { 90, 60, "in way 1 person -1;" },  /* aslant, through the segment */
    { 95, 40, "" },                     /* aslant, beyond its end */
    { 50, 51, "" },
    { 90, 51, "" },
    { 90, 60, "in way 1 person -1;" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    const SlObjectView object = object_at (1, "person", steps[i].x, steps[i].y);
    step (analyzer, i / 10.0, &object, 1, steps[i].events);
  }
}

static void
test_anchors (void)
{
  static const struct
  {
    const char *anchor;
    gdouble x, y; /* from the bottom's middle, percent */
  } cases[] = { { "bottom", 0, 0 },
                { "centre", 0, -5 },
                { "top", 0, -10 },
                { "left", -5, -5 },
                { "right", 5, -5 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint k = 0; k < 2; k++) {
      SlAnalyzerSettings settings = at_once ();
      g_autofree char *text =
        g_strdup_printf ("[zone spot] points=0.5,0.5 0.6,0.5 0.6,0.6 0.5,0.6; %s%s",
                         k == 0 ? "anchor=" : "", k == 0 ? cases[i].anchor : "");
      if (k == 1)
        g_strlcpy (strstr (text, ";"), "", 1);
      settings.anchor = k == 1 ? (gint) i : SL_ANCHOR_BOTTOM;
      g_autoptr (SlAnalyzer) analyzer = open_with (text, &settings);
      const SlObjectView object = object_at (1, "x", 55 - cases[i].x, 55 - cases[i].y);
      step (analyzer, 0, &object, 1, "entered spot 1 x -1;");
    }
}

/* Once is noise: it takes two sightings in a row, which then count from the first. */
static void
test_confirm (void)
{
  static const struct
  {
    gdouble x;
    const char *events;
  } steps[] = {
    { 80, "" }, { 20, "" },
    { 80, "" }, { 20, "" },
    { 49, "" }, /* near the edge */
    { 20, "" }, { 20, "entered left 1 a -1;in way 1 a -1;" },
    { 80, "" }, { 20, "" },
    { 80, "" }, { 80, "left left 1 a 4;out way 1 a -1;" },
  };
  g_autoptr (SlAnalyzer) analyzer =
    open_with (LEFT "[line way] points=0.5,0 0.5,1", &sl_analyzer_defaults);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    const SlObjectView object = object_at (1, "a", steps[i].x, 50);
    step (analyzer, i, &object, 1, steps[i].events);
  }
}

/* Seen once beyond an edge and then never again: that is where it went. */
static void
test_last_seen (void)
{
  g_autoptr (SlAnalyzer) analyzer =
    open_with (LEFT "[line way] points=0.5,0 0.5,1", &sl_analyzer_defaults);
  SlObjectView object = object_at (1, "a", 20, 50);
  step (analyzer, 0, &object, 1, "");
  step (analyzer, 1, &object, 1, "entered left 1 a -1;");
  step (analyzer, 2, &object, 1, "");
  object = object_at (1, "a", 80, 50);
  step (analyzer, 3, &object, 1, "");
  step (analyzer, 5, NULL, 0, "");
  step (analyzer, 5.1, NULL, 0, "left left 1 a 3;out way 1 a -1;");
}

/* Another id in the place of one that was just there is the same object; elsewhere, later or of
 * another class it is not. */
static void
test_relink (void)
{
  static const struct
  {
    gdouble later, x;
    const char *label, *events;
  } cases[] = {
    { 0.1, 21, "person", "" },
    { 0.5, 24, "person", "" },
    { 0.6, 21, "person", "entered left 9 person -1;" },
    { 0.1, 30, "person", "entered left 9 person -1;" },
    { 0.1, 21, "dog", "entered left 9 dog -1;" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (SlAnalyzer) analyzer = open_with (LEFT, NULL);
    SlObjectView object = object_at (1, "person", 20, 50);
    step (analyzer, 1, &object, 1, "entered left 1 person -1;");
    object = object_at (9, cases[i].label, cases[i].x, 50);
    step (analyzer, 1 + cases[i].later, &object, 1, cases[i].events);
    object = object_at (9, cases[i].label, 80, 50);
    for (guint k = 2; k <= 5; k++)
      sl_analyzer_update (analyzer, &object, 1, k * SECOND);
    const SlAnalysis *analysis = sl_analyzer_last (analyzer);
    g_assert_cmpuint (analysis->regions[0].left, ==, *cases[i].events == '\0' ? 1 : 2);
    g_assert_cmpuint (analysis->regions[0].inside, ==, 0);
  }
  SlAnalyzerSettings never = at_once ();
  never.relink = -1;
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT, &never);
  SlObjectView object = object_at (1, "person", 20, 50);
  step (analyzer, 1, &object, 1, "entered left 1 person -1;");
  object.object_id = 2;
  step (analyzer, 1.04, &object, 1, "entered left 2 person -1;");
}

/* The camera is away for longer than a tracker keeps its ids, and for less than the patience. What
 * is seen once in such a time is not away: there another id is another object. */
static void
test_short_gap (void)
{
  const SlObjectView before = object_at (1, "person", 20, 50),
                     after = object_at (2, "person", 22, 50);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (SlAnalyzer) analyzer = open_with (LEFT, NULL);
    const gdouble interval = i == 0 ? 0.05 : 1.6;
    step (analyzer, 0, &before, 1, "entered left 1 person -1;");
    step (analyzer, interval, &before, 1, "");
    step (analyzer, interval + 1.6, &after, 1, i == 0 ? "" : "entered left 2 person -1;");
    g_assert_cmpuint (sl_analyzer_last (analyzer)->regions[0].inside, ==, i + 1);
  }
}

static void
test_timers (void)
{
  g_autoptr (SlAnalyzer) analyzer =
    open_with (LEFT "dwell-after=3s;left-behind-after=2s;empty-after=4s", NULL);
  SlObjectView object = object_at (1, "bag", 20, 50);
  step (analyzer, 0, NULL, 0, "");
  step (analyzer, 3.9, NULL, 0, "");
  step (analyzer, 4, NULL, 0, "empty left 0 - 4;");
  step (analyzer, 9, NULL, 0, "");
  step (analyzer, 10, &object, 1, "entered left 1 bag -1;");
  object = object_at (1, "bag", 21, 50);
  step (analyzer, 11.5, &object, 1, "");
  step (analyzer, 12, &object, 1, "left-behind left 1 bag 2;");
  step (analyzer, 13, &object, 1, "dwell left 1 bag 3;");
  step (analyzer, 14, &object, 1, "");
  object = object_at (1, "bag", 30, 50); /* somebody moves it, and it stays again */
  step (analyzer, 15, &object, 1, "");
  step (analyzer, 17, &object, 1, "left-behind left 1 bag 2;");
  object = object_at (1, "bag", 90, 50);
  step (analyzer, 18, &object, 1, "left left 1 bag 8;");
  step (analyzer, 21, &object, 1, "");
  step (analyzer, 22.5, &object, 1, "empty left 0 - 4.5;");
}

static void
test_classes (void)
{
  g_autoptr (SlAnalyzer) analyzer =
    open_with (LEFT "classes=person; [zone all] points=0,0 1,0 1,1 0,1; classes=!dog", NULL);
  const SlObjectView objects[] = { object_at (1, "person", 20, 50), object_at (2, "dog", 20, 50),
                                   object_at (3, "cat", 20, 50) };
  step (analyzer, 0, objects, 3,
        "entered left 1 person -1;entered all 1 person -1;entered all 3 cat -1;");
}

/* More classes than are told apart: the rest are counted together, and whole. */
static void
test_many_classes (void)
{
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT, NULL);
  SlObjectView objects[100];
  char labels[100][8];
  for (guint i = 0; i < 100; i++) {
    g_snprintf (labels[i], sizeof labels[i], "c%u", i);
    objects[i] = object_at ((gint32) i + 1, labels[i], 20, 50);
  }
  const SlAnalysis *analysis = sl_analyzer_update (analyzer, objects, 100, 0);
  g_assert_cmpuint (analysis->regions[0].inside, ==, 100);
  g_assert_cmpuint (analysis->regions[0].n_classes, ==, 32);
  g_assert_cmpstr (analysis->regions[0].classes[30].label, ==, "c30");
  g_assert_cmpuint (analysis->regions[0].classes[30].inside, ==, 1);
  g_assert_cmpstr (analysis->regions[0].classes[31].label, ==, "others");
  g_assert_cmpuint (analysis->regions[0].classes[31].inside, ==, 69);
  for (guint k = 1; k <= 3; k++)
    analysis = sl_analyzer_update (analyzer, NULL, 0, k * SECOND);
  g_assert_cmpuint (analysis->regions[0].classes[31].left, ==, 69);
  g_assert_cmpuint (analysis->regions[0].inside, ==, 0);
}

/* Objects inside at each tenth of a second, and means by hand. */
static void
test_occupancy (void)
{
  SlAnalyzerSettings settings = at_once ();
  settings.interval = 10;
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT, &settings);
  for (guint i = 0; i <= 200; i++) {
    SlObjectView objects[] = { object_at (1, "a", i >= 50 && i < 100 ? 20 : 80, 50),
                               object_at (2, "a", i >= 75 && i < 150 ? 20 : 80, 80) };
    const SlAnalysis *analysis = sl_analyzer_update (analyzer, objects, 2, i * SECOND / 10);
    const SlOccupancy *past = &analysis->regions[0].occupancy;
    g_assert_cmpint (analysis->interval_over, ==, i == 100 || i == 200);
    if (i == 99)
      g_assert_cmpfloat (past->seconds, ==, 0);
    if (i == 100) {
      g_assert_cmpfloat_with_epsilon (past->seconds, 10, 1e-9);
      g_assert_cmpfloat_with_epsilon (past->mean, (5 + 2.5) / 10, 1e-9);
      g_assert_cmpuint (past->most, ==, 2);
      g_assert_cmpuint (past->entered, ==, 2);
      g_assert_cmpuint (past->left, ==, 0);
    }
    if (i == 200) {
      g_assert_cmpfloat_with_epsilon (past->mean, 0.5, 1e-9);
      g_assert_cmpuint (past->entered, ==, 0);
      g_assert_cmpuint (past->left, ==, 2);
    }
  }
}

/* Objects that are not seen any more count for as long as they were, also when that turns out in a
 * later interval or after an outage. */
static void
test_occupancy_of_lost (void)
{
  SlAnalyzerSettings settings = at_once ();
  settings.interval = 60;
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT, &settings);
  for (guint i = 0; i <= 600; i++) {
    const SlObjectView object = object_at (1 + (gint32) (i / 30), "a", 10 + i / 30, 50);
    const SlAnalysis *analysis =
      sl_analyzer_update (analyzer, &object, i % 30 < 10, i * SECOND / 10); /* 0.9 s of every 3 s */
    if (!analysis->interval_over)
      continue;
    g_assert_cmpfloat_with_epsilon (analysis->regions[0].occupancy.mean, 0.3, 0.001);
    g_assert_cmpuint (analysis->regions[0].occupancy.most, ==, 1);
  }
  g_autoptr (SlAnalyzer) after = open_with (LEFT, &settings);
  SlObjectView object = object_at (1, "a", 20, 50);
  for (guint i = 0; i <= 50; i++)
    sl_analyzer_update (after, &object, 1, i * SECOND / 10);
  object = object_at (2, "a", 40, 80);
  const SlAnalysis *analysis = sl_analyzer_update (after, &object, 1, 3605 * SECOND);
  g_assert_true (analysis->interval_over);
  g_assert_cmpfloat_with_epsilon (analysis->regions[0].occupancy.mean, 5.0 / 3605, 1e-9);
  g_assert_cmpuint (analysis->regions[0].occupancy.most, ==, 1);
}

/* An object that is confirmed late, or leaves late, counts from when it came to when it went. */
static void
test_occupancy_confirmed (void)
{
  SlAnalyzerSettings settings = sl_analyzer_defaults;
  settings.confirm = 5;
  settings.interval = 10;
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT, &settings);
  for (guint i = 0; i <= 100; i++) {
    const SlObjectView object = object_at (1, "a", i >= 20 && i < 70 ? 20 : 80, 50);
    const SlAnalysis *analysis = sl_analyzer_update (analyzer, &object, 1, i * SECOND / 10);
    if (i == 100)
      g_assert_cmpfloat_with_epsilon (analysis->regions[0].occupancy.mean, 0.5, 1e-9);
  }
}

/* A zone is empty since the last one left it, though another that was lost before is given up
 * later. */
static void
test_empty_since (void)
{
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT "empty-after=3s", NULL);
  SlObjectView objects[] = { object_at (2, "b", 30, 80), object_at (1, "a", 10, 20) };
  step (analyzer, 0, objects, 2, "entered left 2 b -1;entered left 1 a -1;");
  step (analyzer, 1, objects, 2, "");
  objects[0] = object_at (2, "b", 80, 80);
  step (analyzer, 2.5, objects, 1, "left left 2 b 2.5;");
  const SlAnalysis *analysis = step (analyzer, 3.5, objects, 1, "left left 1 a 1;");
  g_assert_cmpfloat_with_epsilon (analysis->regions[0].empty, 1, 1e-9);
  step (analyzer, 5.4, objects, 1, "");
  step (analyzer, 5.5, objects, 1, "empty left 0 - 3;");
}

/* A thing whose id changes now and then is still left behind, and told once. */
static void
test_left_behind_relinked (void)
{
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT "left-behind-after=10s", NULL);
  guint told = 0;
  for (guint i = 0; i < 600; i++) {
    const SlObjectView object = object_at (1 + (gint32) (i / 80), "bag", 20, 50);
    const SlAnalysis *analysis =
      sl_analyzer_update (analyzer, &object, i < 80 || i % 80 > 2, i * SECOND / 10);
    for (guint k = 0; k < analysis->n_events; k++)
      if (analysis->events[k].kind == SL_EVENT_LEFT_BEHIND) {
        g_assert_cmpfloat_with_epsilon (analysis->events[k].seconds, 10, 1);
        told++;
      }
  }
  g_assert_cmpuint (told, ==, 1);
}

/* A flush, time that runs backwards and frames of another size: who was inside has left, and counts
 * go on. */
static void
test_jumps (void)
{
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT, NULL);
  const SlObjectView object = object_at (1, "a", 20, 50);
  step (analyzer, 10, &object, 1, "entered left 1 a -1;");
  step (analyzer, 12, &object, 1, "");
  step (analyzer, 1, &object, 1, "left left 1 a 2;entered left 1 a -1;");
  sl_analyzer_forget (analyzer);
  step (analyzer, 2, NULL, 0, "left left 1 a 0;");
  step (analyzer, 3, &object, 1, "entered left 1 a -1;");
  sl_analyzer_set_size (analyzer, 200, 100);
  const SlAnalysis *analysis =
    step (analyzer, 4, &object, 1, "left left 1 a 0;entered left 1 a -1;");
  g_assert_cmpuint (analysis->regions[0].entered, ==, 4);
  g_assert_cmpuint (analysis->regions[0].left, ==, 3);
  g_assert_cmpuint (analysis->regions[0].inside, ==, 1);
}

static void
test_heat (void)
{
  SlAnalyzerSettings settings = at_once ();
  settings.heat_columns = 10;
  g_autoptr (SlAnalyzer) analyzer = open_with ("", &settings);
  const SlObjectView object = object_at (1, "a", 25, 55);
  const SlAnalysis *analysis = NULL;
  for (guint i = 0; i <= 10; i++)
    analysis = sl_analyzer_update (analyzer, &object, 1, i * SECOND / 2);
  g_assert_cmpuint (analysis->heat.width, ==, 10);
  g_assert_cmpuint (analysis->heat.height, ==, 10);
  g_assert_cmpfloat_with_epsilon (analysis->heat.most, 5, 1e-9);
  for (guint i = 0; i < 100; i++)
    g_assert_cmpuint (analysis->heat.cells[i], ==, i == 52 ? 255 : 0);
  sl_analyzer_set_size (analyzer, 200,
                        100); /* and nothing of it is left for frames of another size */
  g_assert_null (sl_analyzer_last (analyzer)->heat.cells);
  analysis = sl_analyzer_update (analyzer, &object, 1, 5 * SECOND + SECOND / 10);
  g_assert_cmpuint (analysis->heat.height, ==, 5);
}

/* Boxes of any numbers, ids that repeat, labels that change, times that jump: counts stay whole. */
static void
test_hostile (void)
{
  static const gdouble odd[] = { NAN, INFINITY, -INFINITY, 1e300, -1, 0, 0.25, 0.5, 0.75, 1, 2 };
  SlAnalyzerSettings settings = at_once ();
  settings.heat_columns = 16;
  settings.interval = 1;
  g_autoptr (SlAnalyzer) analyzer = open_with (
    LEFT "dwell-after=1;left-behind-after=1;empty-after=1;[line a] points=0.2,0.2 0.8,0.8;[zone b] "
         "points=0.3,0.3 0.7,0.3 0.5,0.9",
    &settings);
  guint64 time = 0;
  for (guint i = 0; i < 3000; i++) {
    SlObjectView objects[700];
    const guint n = (guint) g_test_rand_int_range (0, i % 100 == 0 ? 700 : 12);
    for (guint k = 0; k < n; k++) {
      objects[k] = object_at (g_test_rand_int_range (-2, i % 100 == 0 ? 2000 : 20),
                              g_test_rand_bit () ? "a" : "b", 0, 0);
      objects[k].x_min = odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))];
      objects[k].y_min = odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))];
      objects[k].x_max = odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))];
      objects[k].y_max = odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))];
    }
    time = g_test_rand_int_range (0, 50) == 0
             ? (guint64) g_test_rand_int () * (guint) g_test_rand_int ()
             : time + SECOND / 10;
    const SlAnalysis *analysis = sl_analyzer_update (analyzer, objects, n, time);
    g_assert_cmpuint (analysis->n_presences, <=, 2 * SL_ANALYZE_MOST);
    for (guint r = 0; r < 3; r++) {
      const SlRegionView *view = &analysis->regions[r];
      guint inside = 0;
      for (guint k = 0; k < view->n_classes; k++)
        inside += view->classes[k].inside;
      g_assert_cmpuint (inside, ==, view->inside);
      g_assert_true (view->kind == SL_REGION_LINE || view->entered == view->left + view->inside);
      g_assert_true (isfinite (view->longest) && isfinite (view->mean_dwell)
                     && isfinite (view->empty));
    }
    g_autofree gpointer block = g_malloc (sl_analysis_size (analysis));
    g_autoptr (GString) json = g_string_new (NULL), copied = g_string_new (NULL);
    sl_analysis_append_json (json, analysis);
    sl_analysis_append_json (copied, sl_analysis_copy (analysis, block, TRUE));
    g_assert_cmpstr (json->str, ==, copied->str);
  }
}

static void
test_json (void)
{
  SlAnalyzerSettings settings = at_once ();
  settings.heat_columns = 2;
  settings.interval = 2;
  g_autoptr (SlAnalyzer) analyzer = open_with (LEFT "[line \"way\"] points=0,0.5 1,0.5", &settings);
  g_autoptr (GString) json = g_string_new (NULL);
  SlObjectView object = object_at (7, "person", 25, 40);
  sl_analyzer_set_utc (
    analyzer, G_GINT64_CONSTANT (1772381045678901)); /* date -u -d @1772381045.678 +%FT%T.%3NZ */
  sl_analyzer_update (analyzer, &object, 1, 0);
  object = object_at (7, "person", 25, 60);
  const SlAnalysis *analysis = sl_analyzer_update (analyzer, &object, 1, 2 * SECOND);
  sl_analysis_append_json (json, analysis);
  g_assert_cmpstr (
    json->str, ==,
    "{\"since\":\"2026-03-01T16:04:05.678Z\",\"zones\":[{\"name\":\"left\",\"inside\":1,"
    "\"entered\":1,\"left\":0,\"longest\":2,\"mean_dwell\":0,\"empty\":0,"
    "\"classes\":[{\"label\":\"person\",\"inside\":1,\"entered\":1,\"left\":0}],"
    "\"occupancy\":{\"seconds\":2,\"mean\":1,\"most\":1,\"entered\":1,\"left\":0}}],"
    "\"lines\":[{\"name\":\"\\\"way\\\"\",\"in\":1,\"out\":0,\"classes\":[{\"label\":\"person\","
    "\"in\":1,\"out\":0}]}],\"inside\":[{\"id\":7,\"zone\":\"left\",\"seconds\":2}],"
    "\"events\":[{\"event\":\"in\",\"line\":\"\\\"way\\\"\",\"id\":7,\"label\":\"person\"}],"
    "\"heat\":{\"width\":2,\"height\":2,\"most\":2,\"cells\":[0,0,255,0]}}");
  g_autofree gpointer block = g_malloc (sl_analysis_size (analysis));
  g_string_truncate (json, 0);
  sl_analysis_append_json (json, sl_analysis_copy (analysis, block, FALSE));
  g_assert_nonnull (strstr (json->str, "\"events\":[]}"));
  g_assert_nonnull (strstr (json->str, "\"inside\":[{\"id\":7,"));
}

/* What @analyzer knows goes on in another one. */
static SlAnalyzer *
begin_anew (SlAnalyzer *analyzer, const char *regions)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = sl_analyzer_save (analyzer);
  sl_analyzer_free (analyzer);
  SlAnalyzer *next = open_with (regions, &sl_analyzer_defaults);
  g_assert_true (sl_analyzer_restore (next, text, &error));
  g_assert_no_error (error);
  if (strcmp (regions, LEFT) == 0) {
    g_autofree char *again = sl_analyzer_save (next);
    g_assert_cmpstr (again, ==, text);
  }
  return next;
}

/* People walk, one each 6 s and each for 5 s, from the left edge to the right one, a tenth of a
 * second a frame: into the zone, across the line, out of the zone. 20 times another analyzer goes
 * on, whose clock and ids begin at 0, after 0.5 s without frames, and 20 times the camera is away
 * for that long or for 3 s while somebody stands still. Everybody counts once. */
static void
test_kept (void)
{
  static const char regions[] = LEFT "[line way] points=0.25,1 0.25,0";
  const gint64 start = G_GINT64_CONSTANT (1780000000000000);
  SlAnalyzer *analyzer = open_with (regions, &sl_analyzer_defaults);
  guint began = 0, restarts = 0, losses = 0;
  for (guint frame = 0; frame < 60 * 60; frame++) {
    const guint phase = frame % 60;
    const guint until = phase == 14 && frame / 60 % 3 == 0   ? 20
                        : phase == 25 && frame / 60 % 3 == 1 ? 30
                        : phase == 14 && frame / 60 % 3 == 2 ? 44
                                                             : 0;
    if (until > 0 && (frame / 60 % 3 != 0 || restarts < 20)) {
      if (frame / 60 % 3 == 0) {
        analyzer = begin_anew (analyzer, regions);
        began = frame + until - phase;
        restarts++;
      } else {
        losses++;
      }
      frame += until - phase;
    }
    /* Every third stands still in the middle of the zone for a while. */
    const gboolean stands = frame / 60 % 3 == 2;
    const gdouble at = stands && frame % 60 >= 10 && frame % 60 < 45 ? 15
                       : stands && frame % 60 >= 45                  ? 15 + (frame % 60 - 44) * 15.0
                                                                     : (frame % 60) * 1.8;
    const SlObjectView object =
      object_at (1 + (gint32) (frame / 60 - began / 60), "person", at, 50);
    sl_analyzer_set_utc (analyzer, start + frame * G_GINT64_CONSTANT (100000));
    sl_analyzer_update (analyzer, &object, frame % 60 < 50,
                        (guint64) (frame - began) * SECOND / 10);
  }
  const SlAnalysis *analysis = sl_analyzer_last (analyzer);
  g_assert_cmpuint (restarts, ==, 20);
  g_assert_cmpuint (losses, ==, 40);
  g_assert_cmpint (analysis->since, ==, start);
  g_assert_cmpuint (analysis->regions[0].entered, ==, 60);
  g_assert_cmpuint (analysis->regions[0].left, ==, 60);
  g_assert_cmpuint (analysis->regions[1].entered, ==, 60);
  g_assert_cmpuint (analysis->regions[1].left, ==, 0);
  sl_analyzer_free (analyzer);
}

/* Time inside goes on over a restart; who is not seen again left when seen last; after more than a
 * minute everybody is new. */
static void
test_kept_times (void)
{
  for (guint i = 0; i < 3; i++) {
    const gdouble away[] = { 10, 10, 90 };
    SlAnalyzer *analyzer = open_with (LEFT, &sl_analyzer_defaults);
    SlObjectView object = object_at (7, "person", 20, 50);
    for (guint k = 0; k <= 8; k++) {
      sl_analyzer_set_utc (analyzer, G_USEC_PER_SEC + k * G_USEC_PER_SEC / 2);
      sl_analyzer_update (analyzer, &object, 1, 1000 * SECOND + k * SECOND / 2);
    }
    analyzer = begin_anew (analyzer, LEFT);
    sl_analyzer_set_utc (analyzer, (gint64) ((5 + away[i]) * G_USEC_PER_SEC));
    object.object_id = 1;
    const SlAnalysis *analysis = NULL;
    for (guint k = 0; k <= 5; k++)
      analysis = sl_analyzer_update (analyzer, &object, i != 1, k * SECOND / 2);
    g_assert_cmpuint (analysis->regions[0].entered, ==, i == 2 ? 2 : 1);
    g_assert_cmpuint (analysis->regions[0].left, ==, i == 0 ? 0 : 1);
    g_assert_cmpuint (analysis->regions[0].inside, ==, i == 1 ? 0 : 1);
    g_assert_cmpfloat_with_epsilon (i == 0 ? analysis->regions[0].longest
                                           : analysis->regions[0].mean_dwell,
                                    i == 0 ? 4 + 10 + 2.5 : 4, 1e-9);
    sl_analyzer_free (analyzer);
  }
}

/* A zone of another name begins at 0, one whose classes changed keeps its sums. */
static void
test_kept_regions (void)
{
  SlAnalyzer *analyzer = open_with (LEFT "[zone gone] points=0,0 1,0 1,1", &sl_analyzer_defaults);
  const SlObjectView objects[] = { object_at (1, "person", 20, 50), object_at (2, "dog", 20, 90) };
  for (guint k = 0; k <= 4; k++)
    sl_analyzer_update (analyzer, objects, 2, k * SECOND);
  analyzer = begin_anew (analyzer, "[zone new] points=0,0 1,0 1,1 0,1;" LEFT "classes=person");
  const SlAnalysis *analysis = sl_analyzer_last (analyzer);
  g_assert_cmpstr (analysis->regions[1].name, ==, "left");
  g_assert_cmpuint (analysis->regions[0].entered, ==, 0);
  g_assert_cmpuint (analysis->regions[1].entered, ==, 2);
  g_assert_cmpuint (analysis->regions[1].left, ==, 1);
  g_assert_cmpuint (analysis->regions[1].inside, ==, 1);
  sl_analyzer_free (analyzer);
}

/* A text of which bytes are missing or changed is refused, or its counts fit each other. */
static void
test_kept_damage (void)
{
  SlAnalyzer *analyzer = open_with (LEFT "[line way] points=0,0.2 1,0.2", &sl_analyzer_defaults);
  const SlObjectView objects[] = { object_at (1, "person", 20, 50), object_at (2, "dog", 20, 90) };
  for (guint k = 0; k <= 4; k++)
    sl_analyzer_update (analyzer, objects, 2, k * SECOND);
  g_autofree char *text = sl_analyzer_save (analyzer);
  const gsize length = strlen (text);
  guint refused = 0;
  sl_analyzer_free (analyzer);
  for (guint i = 0; i < 4000; i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *damaged =
      g_strndup (text, i % 2 == 0 ? length : (gsize) g_test_rand_int_range (0, (gint32) length));
    if (i % 2 == 0)
      damaged[g_test_rand_int_range (0, (gint32) length)] = (char) g_test_rand_int_range (1, 256);
    g_autoptr (SlAnalyzer) next = open_with (LEFT, NULL);
    if (!sl_analyzer_restore (next, damaged, &error)) {
      g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
      refused++;
    }
    const SlAnalysis *analysis = sl_analyzer_update (next, objects, 2, SECOND);
    g_assert_cmpuint (analysis->regions[0].entered, >=, analysis->regions[0].inside);
    g_assert_true (isfinite (analysis->regions[0].longest)
                   && isfinite (analysis->regions[0].mean_dwell));
  }
  g_assert_cmpuint (refused, >, 1000);
  g_autoptr (SlAnalyzer) next = open_with (LEFT, NULL);
  g_autoptr (GError) error = NULL;
  g_assert_false (sl_analyzer_restore (next, "[analysis]\nversion=7\n", &error));
  g_assert_cmpstr (error->message, ==, "expected counts that an analyzer of this version saved");
  g_clear_error (&error);
  g_assert_false (
    sl_analyzer_restore (next, "[analysis]\nversion=1\n[region 0]\nkind=zone\n", &error));
  g_assert_cmpstr (error->message, ==, "[region 0] name: missing, or not what an analyzer saved");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/analyzer/zone", test_zone);
  g_test_add_func ("/analyzer/line", test_line);
  g_test_add_func ("/analyzer/anchors", test_anchors);
  g_test_add_func ("/analyzer/confirm", test_confirm);
  g_test_add_func ("/analyzer/last-seen", test_last_seen);
  g_test_add_func ("/analyzer/relink", test_relink);
  g_test_add_func ("/analyzer/short-gap", test_short_gap);
  g_test_add_func ("/analyzer/timers", test_timers);
  g_test_add_func ("/analyzer/classes", test_classes);
  g_test_add_func ("/analyzer/many-classes", test_many_classes);
  g_test_add_func ("/analyzer/occupancy", test_occupancy);
  g_test_add_func ("/analyzer/occupancy-of-lost", test_occupancy_of_lost);
  g_test_add_func ("/analyzer/occupancy-confirmed", test_occupancy_confirmed);
  g_test_add_func ("/analyzer/empty-since", test_empty_since);
  g_test_add_func ("/analyzer/kept", test_kept);
  g_test_add_func ("/analyzer/kept-times", test_kept_times);
  g_test_add_func ("/analyzer/kept-regions", test_kept_regions);
  g_test_add_func ("/analyzer/kept-damage", test_kept_damage);
  g_test_add_func ("/analyzer/left-behind-relinked", test_left_behind_relinked);
  g_test_add_func ("/analyzer/jumps", test_jumps);
  g_test_add_func ("/analyzer/heat", test_heat);
  g_test_add_func ("/analyzer/hostile", test_hostile);
  g_test_add_func ("/analyzer/json", test_json);
  return g_test_run ();
}
