/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects whose looks are known by number: crossings and absences that motion alone gets wrong,
 * looks that say nothing, and how seldom boxes are described.
 */
#include <math.h>
#include <string.h>

#include "postprocess/predictions/track.h"
#include "tests/support/program.h"

#define LENGTH 8
#define MOST 16

/* What every box of the frame in hand looks like: a number, or what a broken model gives. */
typedef enum
{
  SEES,
  ALL_ALIKE,
  ZEROS,
  NOT_A_NUMBER,
  INFINITE,
  NOISE
} Model;

typedef struct
{
  Model model;
  guint looks[MOST];
  guint calls, described, most;
} Eye;

static void
describe (gpointer data, const SlTrackBox *boxes, const guint *chosen, guint n, gfloat *embeddings)
{
  Eye *eye = data;
  eye->calls++;
  eye->described += n;
  eye->most = MAX (eye->most, n);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < LENGTH; k++) {
      gfloat *number = &embeddings[i * LENGTH + k];
      *number = k == eye->looks[chosen[i]] ? 3 : 0.1f;
      if (eye->model == ALL_ALIKE)
        *number = 0.25f;
      else if (eye->model == ZEROS)
        *number = 0;
      else if (eye->model == NOT_A_NUMBER)
        *number = k == 5 ? NAN : *number;
      else if (eye->model == INFINITE)
        *number = INFINITY;
      else if (eye->model == NOISE)
        *number = (gfloat) g_test_rand_double_range (-1, 1);
    }
}

static SlTracker *
tracker_new (Eye *eye)
{
  SlTracker *tracker = sl_tracker_new ();
  if (eye != NULL)
    sl_tracker_describe (tracker, LENGTH, describe, eye);
  return tracker;
}

static SlTrackBox
box_at (double x, double y)
{
  return (SlTrackBox){ { x - 30, y - 60, x + 30, y + 60 }, 0.9, 1, 1 };
}

/* Two meet and go back where they came from. For a few frames one hides the other. Fills the ids of
 * both in the last frame. */
static void
meet (SlTracker *tracker, Eye *eye, gint32 first[2], gint32 last[2])
{
  for (guint frame = 0; frame < 80; frame++) {
    const double apart = 9 * fabs (frame - 40.0);
    const gboolean hidden = frame >= 37 && frame < 44, turned = frame % 2;
    SlTrackBox boxes[2];
    SlTrackMatch matches[2];
    guint n = 0, who[2];
    for (guint i = 0; i < 2; i++) {
      const guint a = turned ? 1 - i : i;
      if (hidden && a == 1)
        continue;
      who[n] = a;
      boxes[n] = box_at (400 + (a ? apart : -apart), 200 + 5.0 * a);
      if (eye != NULL)
        eye->looks[n] = a;
      n++;
    }
    sl_tracker_update (tracker, boxes, n, 1, frame, matches);
    for (guint i = 0; i < n; i++) {
      last[who[i]] = matches[i].id;
      if (frame == 0)
        first[who[i]] = matches[i].id;
    }
  }
}

static void
test_meeting (void)
{
  gint32 first[2], last[2];
  Eye eye = { 0 };
  g_autoptr (SlTracker) blind = tracker_new (NULL), tracker = tracker_new (&eye);
  meet (tracker, &eye, first, last);
  g_assert_true (first[0] > 0 && first[1] > 0);
  g_assert_cmpint (last[0], ==, first[0]);
  g_assert_cmpint (last[1], ==, first[1]);
  /* Motion expects them to pass through each other. */
  meet (blind, NULL, first, last);
  g_assert_true (last[0] != first[0] || last[1] != first[1]);
}

typedef struct
{
  const char *name;
  guint gone; /* frames */
  double x;   /* where it is again; it was at 100 */
  guint look; /* it was 2 */
  guint32 key;
  gboolean found;
} Absence;

static const Absence absences[] = {
  { "short", 20, 100, 2, 1, TRUE },          { "long", 150, 300, 2, 1, TRUE },
  { "out-of-reach", 40, 5000, 2, 1, FALSE }, { "looks-different", 20, 300, 3, 1, FALSE },
  { "other-class", 150, 300, 2, 7, FALSE },  { "too-long", 301, 100, 2, 1, FALSE },
  { "last-moment", 300, 100, 2, 1, TRUE },
};

/* Another one stays in view all the time. */
static void
test_absence (gconstpointer data)
{
  const Absence *absence = data;
  Eye eye = { 0 };
  g_autoptr (SlTracker) tracker = tracker_new (&eye);
  SlTrackBox boxes[2];
  SlTrackMatch matches[2];
  gint32 id = 0;
  for (guint frame = 0; frame < 20; frame++) {
    boxes[0] = box_at (900, 200);
    boxes[1] = box_at (100, 200);
    eye.looks[0] = 0;
    eye.looks[1] = 2;
    sl_tracker_update (tracker, boxes, 2, 1, frame, matches);
    id = matches[1].id;
    g_assert_cmpint (id, ==, 2);
  }
  for (guint frame = 1; frame < absence->gone; frame++)
    sl_tracker_update (tracker, boxes, 1, 1, frame, matches);
  for (guint frame = 0; frame < 5; frame++) {
    boxes[1] = box_at (absence->x, 200);
    boxes[1].key = absence->key;
    eye.looks[1] = absence->look;
    sl_tracker_update (tracker, boxes, 2, 1, frame, matches);
    g_assert_cmpint (matches[0].id, ==, 1);
    if (absence->found) {
      g_assert_cmpint (matches[1].id, ==, id);
      g_assert_cmpuint (matches[1].since, ==, 0);
    } else {
      g_assert_cmpint (matches[1].id, !=, id);
    }
  }
  g_assert_cmpint (matches[1].id, ==, absence->found ? id : 3);
  sl_tracker_reset (tracker);
  sl_tracker_update (tracker, boxes, 2, 1, 0, matches);
  g_assert_cmpint (matches[0].id, >, 2); /* what was remembered is forgotten, too */
}

/* The stream itself has a gap, or no model ran: those frames count for the reach, and for the
 * memory.
 */
static void
test_gap_of_frames (void)
{
  for (guint skipped = 0; skipped < 2; skipped++)
    for (guint gap = 100; gap <= 400; gap += 300) {
      Eye eye = { .looks = { 2, 4 } };
      g_autoptr (SlTracker) tracker = tracker_new (&eye);
      SlTrackBox boxes[2] = { box_at (100, 200), box_at (400, 200) };
      SlTrackMatch matches[2];
      for (guint frame = 0; frame < 3; frame++)
        sl_tracker_update (tracker, boxes, 2, 1, frame, matches);
      for (guint frame = 1; frame < gap && skipped; frame++)
        sl_tracker_skip (tracker, 1);
      boxes[0] = box_at (700, 200);
      sl_tracker_update (tracker, boxes, 2, skipped ? 1 : gap, gap, matches);
      sl_tracker_update (tracker, boxes, 2, 1, gap, matches);
      g_assert_cmpint (matches[0].id, ==, gap < 300 ? 1 : 3);
      g_assert_cmpint (matches[1].id, ==, gap < 300 ? 2 : 4);
    }
}

/* Of two that look the same, the nearer one is found. */
static void
test_twins (void)
{
  Eye eye = { 0 };
  g_autoptr (SlTracker) tracker = tracker_new (&eye);
  SlTrackBox boxes[3] = { box_at (900, 200), box_at (100, 200), box_at (260, 200) };
  SlTrackMatch matches[3];
  memcpy (eye.looks, (const guint[]){ 0, 2, 2 }, 3 * sizeof (guint));
  for (guint frame = 0; frame < 10; frame++)
    sl_tracker_update (tracker, boxes, 3, 1, frame, matches);
  for (guint frame = 0; frame < 25; frame++)
    sl_tracker_update (tracker, boxes, 1, 1, frame, matches);
  boxes[1] = box_at (290, 210);
  boxes[2] = box_at (70, 190);
  for (guint frame = 0; frame < 2; frame++) {
    sl_tracker_update (tracker, boxes, 3, 1, frame, matches);
    g_assert_cmpint (matches[1].id, ==, 3);
    g_assert_cmpint (matches[2].id, ==, 2);
  }
}

static const struct
{
  const char *name;
  Model model;
} broken[] = {
  { "all-alike", ALL_ALIKE }, { "zeros", ZEROS }, { "nan", NOT_A_NUMBER }, { "infinite", INFINITE }
};

/* A model that says nothing changes nothing: the same ids as by overlap alone, absences included.
 */
static void
test_says_nothing (gconstpointer data)
{
  const Model *model = data;
  Eye eye = { .model = *model };
  g_autoptr (SlTracker) tracker = tracker_new (&eye), blind = tracker_new (NULL);
  for (guint frame = 0; frame < 600; frame++) {
    SlTrackBox boxes[MOST];
    SlTrackMatch matches[MOST], expected[MOST];
    guint n = 0;
    for (guint i = 0; i < MOST; i++) {
      const double place = frame * (1.5 + i * 0.3) + 90.0 * i;
      if ((frame + 37 * i) % 120 < (i == 0 ? 120u : 80u))
        boxes[n++] = box_at (fmod (place, 1900), 300 + 40.0 * (i % 5));
    }
    sl_tracker_update (tracker, boxes, n, 1, frame, matches);
    sl_tracker_update (blind, boxes, n, 1, frame, expected);
    for (guint i = 0; i < n; i++)
      g_assert_cmpint (matches[i].id, ==, expected[i].id);
  }
  g_assert_cmpuint (eye.calls, >, 0);
}

/* The same in a crowd, where most boxes overlap several objects and some overlap one or none. */
static void
test_crowded (void)
{
  Eye eye = { .model = ZEROS };
  g_autoptr (SlTracker) tracker = tracker_new (&eye), blind = tracker_new (NULL);
  double x[MOST], y[MOST];
  for (guint frame = 0; frame < 2000; frame++) {
    SlTrackBox boxes[MOST];
    SlTrackMatch matches[MOST], expected[MOST];
    guint n = 0;
    for (guint i = 0; i < MOST; i++) {
      x[i] = frame % 100 == 0 ? g_test_rand_double_range (0, 700)
                              : x[i] + g_test_rand_double_range (-12, 12);
      y[i] = frame % 100 == 0 ? g_test_rand_double_range (0, 300)
                              : y[i] + g_test_rand_double_range (-12, 12);
      boxes[n] = box_at (x[i], y[i]);
      boxes[n].key = i % 2;
      boxes[n].confidence = g_test_rand_double_range (0.3, 1);
      n += g_test_rand_int_range (0, 10) > 0;
    }
    sl_tracker_update (tracker, boxes, n, 1, frame, matches);
    sl_tracker_update (blind, boxes, n, 1, frame, expected);
    for (guint i = 0; i < n; i++)
      g_assert_cmpint (matches[i].id, ==, expected[i].id);
  }
  g_assert_cmpuint (eye.described, >, 2000);
}

/* Objects that are alone are described when they come, and then seldom. */
static void
test_seldom (void)
{
  Eye eye = { 0 };
  g_autoptr (SlTracker) tracker = tracker_new (&eye);
  SlTrackSettings settings = sl_track_defaults;
  SlTrackBox boxes[4];
  SlTrackMatch matches[4];
  settings.look_again = 10;
  sl_tracker_configure (tracker, &settings);
  for (guint frame = 0; frame < 101; frame++) {
    for (guint i = 0; i < 4; i++) {
      boxes[i] = box_at (100 + 400.0 * i + frame, 200);
      eye.looks[i] = i;
    }
    sl_tracker_update (tracker, boxes, 4, 1, frame, matches);
  }
  g_assert_cmpuint (eye.described, ==, 4 * (1 + 100 / 10));
  g_assert_cmpuint (eye.calls, ==, 1 + 100 / 10);
  /* One comes near to another: both, in each frame. */
  eye.described = 0;
  for (guint frame = 0; frame < 5; frame++) {
    boxes[1] = box_at (boxes[0].corners[0] + 45, 200);
    sl_tracker_update (tracker, boxes, 4, 1, frame, matches);
  }
  g_assert_cmpuint (eye.described, >=, 2 * 4);
  /* Most boxes of a frame. */
  settings.most_looks = 3;
  sl_tracker_configure (tracker, &settings);
  sl_tracker_reset (tracker);
  eye.most = 0;
  for (guint frame = 0; frame < 30; frame++)
    sl_tracker_update (tracker, boxes, 4, 1, frame, matches);
  g_assert_cmpuint (eye.most, ==, 3);
  /* None of an empty frame, and none without a function. */
  eye.calls = 0;
  sl_tracker_update (tracker, boxes, 0, 1, 0, matches);
  sl_tracker_describe (tracker, 0, NULL, NULL);
  sl_tracker_update (tracker, boxes, 4, 1, 0, matches);
  g_assert_cmpuint (eye.calls, ==, 0);
}

/* Many come and go, seen by a model of chance: ids are of one box each, and what is remembered has
 * an end. */
static void
test_bounded (void)
{
  Eye eye = { .model = NOISE };
  g_autoptr (SlTracker) tracker = tracker_new (&eye);
  SlTrackSettings settings = sl_track_defaults;
  settings.remember = 100000;
  settings.observed = TRUE;
  sl_tracker_configure (tracker, &settings);
  for (guint frame = 0; frame < 3000; frame++) {
    SlTrackBox boxes[MOST];
    SlTrackMatch matches[MOST];
    for (guint i = 0; i < MOST; i++)
      boxes[i] = box_at (g_test_rand_int_range (0, 4000), 40.0 * (frame / 4 % 50));
    sl_tracker_update (tracker, boxes, MOST, frame % 500 == 499 ? G_MAXUINT : 1, frame, matches);
    for (guint i = 0; i < MOST; i++)
      for (guint k = 0; k < i; k++)
        g_assert_true (matches[i].id == 0 || matches[i].id != matches[k].id);
    g_assert_cmpuint (sl_tracker_size (tracker), <=, 2 * SL_TRACK_MOST);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/track-appearance/meeting", test_meeting);
  for (guint i = 0; i < G_N_ELEMENTS (absences); i++) {
    g_autofree char *path = g_strdup_printf ("/track-appearance/absence/%s", absences[i].name);
    g_test_add_data_func (path, &absences[i], test_absence);
  }
  g_test_add_func ("/track-appearance/gap-of-frames", test_gap_of_frames);
  g_test_add_func ("/track-appearance/twins", test_twins);
  for (guint i = 0; i < G_N_ELEMENTS (broken); i++) {
    g_autofree char *path = g_strdup_printf ("/track-appearance/says-nothing/%s", broken[i].name);
    g_test_add_data_func (path, &broken[i].model, test_says_nothing);
  }
  g_test_add_func ("/track-appearance/crowded", test_crowded);
  g_test_add_func ("/track-appearance/seldom", test_seldom);
  g_test_add_func ("/track-appearance/bounded", test_bounded);
  return g_test_run ();
}
