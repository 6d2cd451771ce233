/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scripted objects, 20 at a time, at a line and in a zone: boxes with 3 pixels of noise, of which 5
 * % are missing. What each did is known from its script; where a line was passed and how long a
 * zone was home, from the path without noise, step by small step.
 */
#include "postprocess/analyze/analyzer.h"

#include <math.h>
#include <string.h>

#include "postprocess/predictions/track.h"
#include "tests/support/program.h"

#define WIDTH 640
#define HEIGHT 480
#define FRAME (G_GUINT64_CONSTANT (1000000000) / 25)
#define AT_ONCE 20
#define MARGIN (0.02 * HEIGHT)
#define STATIONS 4

/* A walk from station to station, in pixels, at @speed pixels a frame, with a rest of so many
 * frames at each; it begins at @begin. */
typedef struct
{
  SlRegionPoint stations[STATIONS];
  guint rests[STATIONS];
  guint n_stations, begin, end;
  gdouble speed;
  gint in, out;   /* expected */
  gint ins, outs; /* told */
  gint entered, left;
  gdouble seconds;
} Walk;

static gdouble
between (gdouble low, gdouble high)
{
  return g_test_rand_double_range (low, high);
}

static gdouble
gauss (void)
{
  return sqrt (-2 * log (between (1e-12, 1))) * cos (between (0, 2 * G_PI));
}

/* Where the walk is @frames after its beginning; FALSE when it is over. */
static gboolean
walk_at (const Walk *walk, gdouble frames, SlRegionPoint *point)
{
  for (guint i = 0; i < walk->n_stations; i++) {
    if (frames < walk->rests[i]) {
      *point = walk->stations[i];
      return TRUE;
    }
    frames -= walk->rests[i];
    if (i + 1 == walk->n_stations)
      break;
    const SlRegionPoint a = walk->stations[i], b = walk->stations[i + 1];
    const gdouble length = hypot (b.x - a.x, b.y - a.y), needed = length / walk->speed;
    if (frames < needed) {
      *point =
        (SlRegionPoint){ a.x + (b.x - a.x) * frames / needed, a.y + (b.y - a.y) * frames / needed };
      return TRUE;
    }
    frames -= needed;
  }
  return FALSE;
}

static void
finish (Walk *walk)
{
  SlRegionPoint point;
  for (walk->end = walk->begin; walk_at (walk, walk->end - walk->begin, &point);)
    walk->end++;
}

static SlObjectView
box_at (SlRegionPoint point, gint32 id, gboolean gaussian)
{
  gdouble edges[4] = { point.x - 20, point.y - 100, point.x + 20, point.y };
  for (guint i = 0; i < 4; i++)
    edges[i] += gaussian ? 3 * gauss () : between (-3, 3);
  return (SlObjectView){ .x_min = edges[0] / WIDTH,
                         .y_min = edges[1] / HEIGHT,
                         .x_max = edges[2] / WIDTH,
                         .y_max = edges[3] / HEIGHT,
                         .confidence = 1,
                         .label = "person",
                         .object_id = id };
}

static void
take_events (const SlAnalysis *analysis, Walk *walks)
{
  for (guint i = 0; i < analysis->n_events; i++) {
    const SlAnalysisEvent *event = &analysis->events[i];
    Walk *walk = &walks[event->object_id - 1];
    walk->ins += event->kind == SL_EVENT_IN;
    walk->outs += event->kind == SL_EVENT_OUT;
    walk->entered += event->kind == SL_EVENT_ENTERED;
    walk->left += event->kind == SL_EVENT_LEFT;
    if (event->kind == SL_EVENT_LEFT)
      walk->seconds = event->seconds;
  }
}

/* All walks through one analyzer of @regions, and its last state. @relink: an object may go on as
 * one that begins where it was lost, so that only sums are as scripted. */
static SlAnalyzer *
run (const char *regions, Walk *walks, guint n, gboolean gaussian, gboolean relink)
{
  g_autoptr (GError) error = NULL;
  SlRegions *specs = sl_regions_parse (regions, &error);
  SlAnalyzerSettings settings = sl_analyzer_defaults;
  settings.relink = relink ? settings.relink : -1;
  g_assert_no_error (error);
  SlAnalyzer *analyzer = sl_analyzer_new (specs, &settings);
  guint end = 0;
  sl_analyzer_set_size (analyzer, WIDTH, HEIGHT);
  for (guint i = 0; i < n; i++)
    end = MAX (end, walks[i].end);
  for (guint frame = 0; frame < end + 100; frame++) {
    SlObjectView objects[2 * AT_ONCE];
    guint n_objects = 0;
    for (guint i = 0; i < n; i++) {
      SlRegionPoint point;
      if (frame < walks[i].begin || frame >= walks[i].end || between (0, 1) < 0.05)
        continue;
      g_assert_true (walk_at (&walks[i], frame - walks[i].begin, &point));
      g_assert_cmpuint (n_objects, <, G_N_ELEMENTS (objects));
      objects[n_objects++] = box_at (point, (gint32) i + 1, gaussian);
    }
    take_events (sl_analyzer_update (analyzer, objects, n_objects, frame * FRAME), walks);
  }
  return analyzer;
}

/* Passes through the segment from @a to @b of the path without noise, those to its right counted
 * up, those to its left down. */
static gint
passes (const Walk *walk, SlRegionPoint a, SlRegionPoint b)
{
  SlRegionPoint point, before = walk->stations[0];
  gint sum = 0;
  for (gdouble at = 0; walk_at (walk, at, &point); at += 0.02) {
    const gdouble side = (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x);
    const gdouble other = (b.x - a.x) * (before.y - a.y) - (b.y - a.y) * (before.x - a.x);
    const gdouble along = ((point.x - a.x) * (b.x - a.x) + (point.y - a.y) * (b.y - a.y))
                          / pow (hypot (b.x - a.x, b.y - a.y), 2);
    if ((side > 0) != (other > 0) && along >= 0 && along <= 1)
      sum += side > 0 ? 1 : -1;
    before = point;
  }
  return sum;
}

/* A point beside the line from @a to @b: @along it, 0..1, and @away from it, above 0 on its right.
 */
static SlRegionPoint
beside (SlRegionPoint a, SlRegionPoint b, gdouble along, gdouble away)
{
  const gdouble dx = b.x - a.x, dy = b.y - a.y, length = hypot (dx, dy);
  return (SlRegionPoint){ a.x + along * dx - away * dy / length,
                          a.y + along * dy + away * dx / length };
}

enum
{
  CROSS,    /* straight through */
  HESITATE, /* stands on the line for a while, then goes on */
  TURN,     /* comes to the line, stands there, and goes back */
  AROUND,   /* passes the line's end */
  BACK,     /* through it and around its end to where it came from */
  KINDS
};

static void
script (Walk *walk, guint kind, SlRegionPoint a, SlRegionPoint b, gboolean gaussian)
{
  const gdouble from = g_test_rand_bit () ? 1 : -1, at = between (0.15, 0.85),
                near = gaussian ? 0 : between (-5, 5);
  const gdouble far = 3 * MARGIN + between (0, 40);
  walk->speed = between (1, 12);
  walk->stations[0] = beside (a, b, at + between (-0.1, 0.1), from * far);
  walk->n_stations = 3;
  walk->rests[0] = 3;
  walk->rests[2] = 3;
  if (kind == CROSS || kind == HESITATE) {
    walk->stations[1] = beside (a, b, at, near);
    walk->stations[2] = beside (a, b, at + between (-0.1, 0.1), -from * far);
  } else if (kind == TURN) {
    walk->stations[1] = beside (a, b, at, gaussian ? from * 2 * MARGIN : near);
    walk->stations[2] = beside (a, b, at + between (-0.1, 0.1), from * far);
  } else if (kind == AROUND) {
    walk->stations[1] = beside (a, b, 1.2, from * far);
    walk->stations[2] = beside (a, b, 1.2, -from * far);
  } else {
    walk->n_stations = 4;
    walk->stations[1] = beside (a, b, at, -from * far);
    walk->stations[2] = beside (a, b, 1.3, -from * far);
    walk->stations[3] = beside (a, b, 1.3, from * far);
    walk->rests[3] = 3;
  }
  walk->rests[1] = kind == HESITATE || kind == TURN ? (guint) g_test_rand_int_range (10, 60) : 0;
  finish (walk);
  const gint sum = kind == TURN ? 0 : passes (walk, a, b);
  walk->in = sum > 0;
  walk->out = sum < 0;
  g_assert_cmpint (ABS (sum), ==, kind == TURN || kind == AROUND ? 0 : 1);
}

/* 1,000 crossings, and half as many paths that do not cross. */
static void
cross_lines (gboolean gaussian)
{
  static const char *const lines[] = { "0.3,0.5 0.7,0.5", "0.5,0.75 0.5,0.25", "0.35,0.3 0.6,0.7",
                                       "0.7,0.6 0.3,0.45" };
  guint crossings = 0, in = 0;
  for (guint round = 0; crossings < 1000; round++) {
    const char *line = lines[round % G_N_ELEMENTS (lines)];
    g_autofree char *text = g_strdup_printf ("[line way] points=%s", line);
    Walk walks[5 * AT_ONCE] = { 0 };
    SlRegionPoint a, b;
    char *end;
    a.x = g_ascii_strtod (line, &end) * WIDTH;
    a.y = g_ascii_strtod (end + 1, &end) * HEIGHT;
    b.x = g_ascii_strtod (end + 1, &end) * WIDTH;
    b.y = g_ascii_strtod (end + 1, &end) * HEIGHT;
    for (guint i = 0; i < G_N_ELEMENTS (walks); i++) {
      walks[i].begin =
        i < AT_ONCE ? (guint) g_test_rand_int_range (0, 20) : walks[i - AT_ONCE].end + 3;
      script (&walks[i], (guint) g_test_rand_int_range (0, KINDS), a, b, gaussian);
      crossings += (guint) (walks[i].in + walks[i].out);
      in += (guint) walks[i].in;
    }
    const gboolean relink = round % 3 == 2;
    g_autoptr (SlAnalyzer) analyzer = run (text, walks, G_N_ELEMENTS (walks), gaussian, relink);
    guint64 ins = 0, outs = 0;
    for (guint i = 0; i < G_N_ELEMENTS (walks); i++) {
      g_assert_true (relink || (walks[i].ins == walks[i].in && walks[i].outs == walks[i].out));
      ins += (guint) walks[i].in;
      outs += (guint) walks[i].out;
    }
    const SlRegionView *view = &sl_analyzer_last (analyzer)->regions[0];
    g_assert_cmpuint (view->entered, ==, ins);
    g_assert_cmpuint (view->left, ==, outs);
    g_assert_cmpuint (view->n_classes, ==, 1);
    g_assert_cmpuint (view->classes[0].entered, ==, ins);
  }
  g_test_message ("%u crossings, %u of them in", crossings, in);
}

static void
test_lines (void)
{
  cross_lines (FALSE);
}

static void
test_lines_gaussian (void)
{
  cross_lines (TRUE);
}

/* Frames for which the path without noise is inside, whose angles the corners tell. */
static gdouble
frames_inside (const Walk *walk, const SlRegionPoint *corners, guint n)
{
  SlRegionPoint point;
  gdouble frames = 0;
  for (gdouble at = 0; walk_at (walk, at, &point); at += 0.05) {
    gdouble sum = 0;
    for (guint i = 0; i < n; i++) {
      const SlRegionPoint a = corners[i], b = corners[(i + 1) % n];
      sum += remainder (atan2 (b.y - point.y, b.x - point.x) - atan2 (a.y - point.y, a.x - point.x),
                        2 * G_PI);
    }
    frames += fabs (sum) > G_PI ? 0.05 : 0;
  }
  return frames;
}

/* Into a zone and out of it, straight from and to its middle, round which its corners lie at any
 * distance. */
static void
test_zones (void)
{
  guint visits = 0;
  while (visits < 1000) {
    g_autoptr (GString) text = g_string_new ("[zone room] points=");
    const SlRegionPoint middle = { between (250, 390), between (200, 280) };
    const guint n = (guint) g_test_rand_int_range (4, 10);
    SlRegionPoint corners[10];
    Walk walks[2 * AT_ONCE] = { 0 };
    for (guint i = 0; i < n; i++) {
      const gdouble angle = (i + between (0, 0.6)) * 2 * G_PI / n, radius = between (60, 150);
      corners[i] =
        (SlRegionPoint){ middle.x + radius * cos (angle), middle.y + radius * sin (angle) };
      g_string_append_printf (text, "%.6f,%.6f ", corners[i].x / WIDTH, corners[i].y / HEIGHT);
    }
    for (guint i = 0; i < G_N_ELEMENTS (walks); i++) {
      Walk *walk = &walks[i];
      const gdouble angles[] = { between (0, 2 * G_PI), between (0, 2 * G_PI) };
      walk->speed = between (2, 10);
      walk->n_stations = 3;
      walk->rests[0] = walk->rests[2] = 5;
      walk->rests[1] = (guint) g_test_rand_int_range (5, 100);
      walk->stations[0] =
        (SlRegionPoint){ middle.x + 190 * cos (angles[0]), middle.y + 190 * sin (angles[0]) };
      walk->stations[1] = middle;
      walk->stations[2] =
        (SlRegionPoint){ middle.x + 190 * cos (angles[1]), middle.y + 190 * sin (angles[1]) };
      walk->begin =
        i < AT_ONCE ? (guint) g_test_rand_int_range (0, 20) : walks[i - AT_ONCE].end + 3;
      finish (walk);
    }
    g_autoptr (SlAnalyzer) analyzer = run (text->str, walks, G_N_ELEMENTS (walks), FALSE, FALSE);
    for (guint i = 0; i < G_N_ELEMENTS (walks); i++) {
      g_assert_cmpint (walks[i].entered, ==, 1);
      g_assert_cmpint (walks[i].left, ==, 1);
      /* Late by the margin on the way in, as late on the way out; with a slanting edge further. */
      g_assert_cmpfloat_with_epsilon (walks[i].seconds * 25, frames_inside (&walks[i], corners, n),
                                      8 * MARGIN / walks[i].speed + 6);
    }
    const SlRegionView *view = &sl_analyzer_last (analyzer)->regions[0];
    g_assert_cmpuint (view->inside, ==, 0);
    g_assert_cmpuint (view->entered, ==, G_N_ELEMENTS (walks));
    g_assert_cmpuint (view->left, ==, G_N_ELEMENTS (walks));
    visits += G_N_ELEMENTS (walks);
  }
}

/* The ids that the tracker gives to the boxes of @walks at @frame, which become objects. Returns
 * how many. */
static guint
follow (SlTracker *tracker, const Walk *walks, guint n, guint frame, SlObjectView *objects)
{
  SlTrackBox boxes[AT_ONCE];
  SlTrackMatch matches[AT_ONCE];
  guint found = 0;
  for (guint i = 0; i < n; i++) {
    SlRegionPoint point;
    if (frame < walks[i].begin || frame >= walks[i].end || between (0, 1) < 0.05)
      continue;
    walk_at (&walks[i], frame - walks[i].begin, &point);
    g_assert_cmpuint (found, <, AT_ONCE);
    objects[found] = box_at (point, 0, FALSE);
    const SlObjectView *object = &objects[found];
    boxes[found++] = (SlTrackBox){ { object->x_min * WIDTH, object->y_min * HEIGHT,
                                     object->x_max * WIDTH, object->y_max * HEIGHT },
                                   0.9,
                                   0,
                                   0 };
  }
  sl_tracker_update (tracker, boxes, found, 1, frame, matches);
  for (guint i = 0; i < found; i++)
    objects[i].object_id = MAX (matches[i].id, 0);
  return found;
}

/* 1,000 crossings of boxes that have no ids of their own: the tracker gives them some, four rows of
 * walkers at a time. */
static void
test_tracked (void)
{
  g_autoptr (SlTracker) tracker = sl_tracker_new ();
  g_autoptr (SlAnalyzer) analyzer = sl_analyzer_new (
    sl_regions_parse ("[line way] points=0.5,1 0.5,0", NULL), &sl_analyzer_defaults);
  guint in = 0, out = 0, start = 0;
  sl_analyzer_set_size (analyzer, WIDTH, HEIGHT);
  sl_tracker_configure (tracker, &sl_track_defaults);
  while (in + out < 1000) {
    Walk walks[4] = { 0 };
    guint end = start;
    for (guint i = 0; i < 4; i++) {
      const gboolean right = g_test_rand_bit ();
      const gdouble row = 110 + 115 * i;
      walks[i] = (Walk){ .n_stations = 3,
                         .begin = start + (guint) g_test_rand_int_range (0, 30),
                         .speed = between (1, 5) };
      walks[i].stations[0] = (SlRegionPoint){ right ? 60 : 580, row };
      walks[i].stations[1] = (SlRegionPoint){ between (200, 440), row + between (-5, 5) };
      walks[i].stations[2] = (SlRegionPoint){ right ? 580 : 60, row };
      walks[i].rests[1] = (guint) g_test_rand_int_range (0, 20);
      finish (&walks[i]);
      end = MAX (end, walks[i].end);
      *(right ? &in : &out) += 1;
    }
    for (end += 60; start < end; start++) {
      SlObjectView objects[AT_ONCE];
      sl_analyzer_update (analyzer, objects, follow (tracker, walks, 4, start, objects),
                          start * FRAME);
    }
  }
  g_assert_cmpuint (sl_analyzer_last (analyzer)->regions[0].entered, ==, in);
  g_assert_cmpuint (sl_analyzer_last (analyzer)->regions[0].left, ==, out);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/crossings/lines", test_lines);
  g_test_add_func ("/crossings/lines-gaussian", test_lines_gaussian);
  g_test_add_func ("/crossings/zones", test_zones);
  g_test_add_func ("/crossings/tracked", test_tracked);
  return g_test_run ();
}
