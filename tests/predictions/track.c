/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scenes whose objects are known by number: what each does is written down here, and the tracker
 * must give each one id for the whole scene. Then input that is not a scene: broken boxes, crowds,
 * a hundred thousand frames.
 */
#include <math.h>
#include <string.h>

#include "postprocess/predictions/track.h"
#include "tests/support/program.h"

#define MOST 128

/* One object: where its box is in a frame, and how confident a detector is. */
typedef struct
{
  double x, y, dx, dy; /* centre in frame 0 and its way a frame */
  double w, h;
  guint enter, leave;  /* frames it is there */
  guint hidden, shown; /* frames nobody sees it */
  guint unsure, sure;  /* frames its confidence is 0.25 */
  guint32 key;
} Actor;

typedef struct
{
  const char *name;
  guint frames, n;
  double noise; /* share of the size by which boxes are wrong */
  Actor actors[4];
} Scene;

static const Scene scenes[] = {
  { "two-cross",
    80,
    2,
    0.02,
    { { 50, 200, 6, 0, 60, 120, 0, 80 }, { 530, 210, -6, 0, 60, 120, 0, 80 } } },
  { "two-cross-diagonal",
    80,
    2,
    0.02,
    { { 50, 50, 6, 4, 60, 60, 0, 80 }, { 75, 370, 6, -4, 60, 60, 0, 80 } } },
  /* Where boxes cover each other the detector finds one of them only. */
  { "cross-behind",
    90,
    2,
    0.02,
    { { 50, 200, 6, 0, 60, 120, 0, 90 }, { 530, 205, -6, 0, 60, 120, 0, 90, 35, 48 } } },
  { "three-cross",
    100,
    3,
    0.02,
    { { 50, 200, 5, 0, 60, 120, 0, 100 },
      { 550, 240, -5, 0, 70, 130, 0, 100 },
      { 300, 20, 0, 4, 50, 90, 0, 100 } } },
  /* The overtaken one is unsure while it is behind: the second round keeps it. */
  { "unsure",
    90,
    2,
    0.02,
    { { 50, 200, 6, 0, 60, 120, 0, 90, 0, 0, 30, 55 }, { 500, 230, -3, 0, 60, 120, 0, 90 } } },
  { "gap", 100, 1, 0.02, { { 50, 200, 4, 1, 60, 120, 0, 100, 40, 60 } } },
  { "enter-leave",
    120,
    4,
    0.02,
    { { 0, 100, 5, 0, 60, 60, 0, 60 },
      { 640, 200, -5, 0, 60, 60, 20, 80 },
      { 100, 300, 3, 0, 60, 60, 50, 120 },
      { 300, 400, 0, -2, 60, 60, 90, 120 } } },
  /* Same place, other class. */
  { "classes",
    60,
    2,
    0.0,
    { { 100, 100, 2, 0, 60, 60, 0, 60, 0, 0, 0, 0, 1 },
      { 100, 100, 2, 0, 60, 60, 0, 60, 0, 0, 0, 0, 2 } } },
  { "fast-small",
    60,
    2,
    0.02,
    { { 20, 100, 9, 0, 20, 20, 0, 60 }, { 20, 200, 9, 1, 20, 20, 0, 60 } } },
};

static gboolean
within (guint frame, guint from, guint to)
{
  return frame >= from && frame < to;
}

/* The box of @actor; FALSE when there is none in this frame. */
static gboolean
show (const Actor *actor, guint frame, double noise, SlTrackBox *box)
{
  if (!within (frame, actor->enter, actor->leave) || within (frame, actor->hidden, actor->shown))
    return FALSE;
  const double age = frame - actor->enter;
  const double cx =
    actor->x + actor->dx * age + noise * actor->w * g_test_rand_double_range (-1, 1);
  const double cy =
    actor->y + actor->dy * age + noise * actor->h * g_test_rand_double_range (-1, 1);
  const double w = actor->w * (1 + noise * g_test_rand_double_range (-1, 1)),
               h = actor->h * (1 + noise * g_test_rand_double_range (-1, 1));
  *box = (SlTrackBox){ { cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2 },
                       within (frame, actor->unsure, actor->sure) ? 0.25 : 0.9,
                       actor->key,
                       0 };
  return TRUE;
}

/* Ids of each actor must never change, and no two may share one. @returns how many frames actors
 * were without an id. */
static guint
play (const Actor *actors, guint n, guint frames, double noise, SlTracker *tracker)
{
  gint32 ids[MOST] = { 0 };
  guint without = 0;
  for (guint frame = 0; frame < frames; frame++) {
    SlTrackBox boxes[MOST];
    SlTrackMatch matches[MOST];
    guint who[MOST], n_boxes = 0;
    /* In another order each time. */
    for (guint k = 0; k < n; k++) {
      const guint a = (k + frame * 7) % n;
      if (show (&actors[a], frame, noise, &boxes[n_boxes]))
        who[n_boxes++] = a;
    }
    sl_tracker_update (tracker, boxes, n_boxes, 1, frame * 40, matches);
    for (guint b = 0; b < n_boxes; b++) {
      const guint a = who[b];
      without += matches[b].id <= 0;
      if (matches[b].id <= 0)
        continue;
      if (ids[a] != 0 && ids[a] != matches[b].id)
        g_error ("frame %u: object %u changes its id from %d to %d", frame, a, ids[a],
                 matches[b].id);
      ids[a] = matches[b].id;
      g_assert_cmpuint (matches[b].since, ==, actors[a].enter * 40);
    }
  }
  for (guint a = 0; a < n; a++)
    for (guint b = 0; b < a; b++)
      g_assert_true (ids[a] == 0 || ids[a] != ids[b]);
  return without;
}

static void
test_scene (gconstpointer data)
{
  const Scene *scene = data;
  guint late = 0;
  for (guint a = 0; a < scene->n; a++)
    late += scene->actors[a].enter > 0;
  for (guint round = 0; round < 20; round++) {
    g_autoptr (SlTracker) tracker = sl_tracker_new ();
    /* Those that come later wait one frame for their id. */
    g_assert_cmpuint (play (scene->actors, scene->n, scene->frames, scene->noise, tracker), ==,
                      late);
  }
}

/* A hundred people walk through one another. */
static void
test_crowd (void)
{
  Actor actors[100];
  g_autoptr (SlTracker) tracker = sl_tracker_new ();
  for (guint i = 0; i < 100; i++) {
    const gboolean right = i % 2;
    actors[i] = (Actor){ .x = right ? 50.0 * (i / 2) : 2500 - 50.0 * (i / 2),
                         .y = 20 + 50.0 * i,
                         .dx = right ? 5 : -5,
                         .w = 40,
                         .h = 80,
                         .leave = 200 };
  }
  g_assert_cmpuint (play (actors, 100, 200, 0.02, tracker), ==, 0);
  g_assert_cmpuint (sl_tracker_size (tracker), ==, 100);
}

/* Every third frame looked at; in between objects go on, and are where they really are. */
static void
test_skipped (void)
{
  g_autoptr (SlTracker) tracker = sl_tracker_new ();
  const Actor actor = { 50, 200, 6, 1, 60, 120, 0, 200 };
  gint32 id = 0;
  for (guint frame = 0; frame < 90; frame++) {
    SlTrackBox box;
    SlTrackMatch match;
    SlTracked expected[2];
    g_assert_true (show (&actor, frame, 0, &box));
    if (frame % 3 == 0) {
      sl_tracker_update (tracker, &box, 1, 1, 0, &match);
      g_assert_true (id == 0 || id == match.id);
      id = match.id;
      continue;
    }
    sl_tracker_skip (tracker, 1);
    g_assert_cmpuint (sl_tracker_expect (tracker, expected, 2), ==, 1);
    g_assert_cmpint (expected[0].match.id, ==, id);
    for (guint i = 0; i < 4 && frame > 30; i++)
      g_assert_cmpfloat_with_epsilon (expected[0].box.corners[i], box.corners[i], 2.0);
  }
  /* Frames lost on the way count. */
  SlTrackBox box;
  SlTrackMatch match;
  g_assert_true (show (&actor, 99, 0, &box));
  sl_tracker_update (tracker, &box, 1, 99 - 89, 0, &match);
  g_assert_cmpint (match.id, ==, id);
  sl_tracker_skip (tracker, 31);
  g_assert_cmpuint (sl_tracker_size (tracker), ==, 0);
}

/* What each setting does, frame by frame. */
static void
test_settings (void)
{
  SlTrackSettings settings = sl_track_defaults;
  g_autoptr (SlTracker) tracker = sl_tracker_new ();
  SlTrackBox boxes[2] = { { { 0, 0, 10, 10 }, 0.9, 1, 0 }, { { 100, 0, 110, 10 }, 0.9, 1, 0 } };
  SlTrackMatch matches[2];
  settings.min_hits = 3;
  settings.max_age = 2;
  settings.fresh = 0.6;
  sl_tracker_configure (tracker, &settings);
  sl_tracker_update (tracker, boxes, 1, 1, 0, matches);
  g_assert_cmpint (matches[0].id, ==, 1); /* the first frame's */
  for (guint i = 0; i < 3; i++) {
    sl_tracker_update (tracker, boxes, 2, 1, 0, matches);
    g_assert_cmpint (matches[0].id, ==, 1);
    g_assert_cmpint (matches[1].id, ==, i == 2 ? 2 : 0);
  }
  /* Below fresh: no new object; below high: unsure. */
  boxes[1] = (SlTrackBox){ { 50, 50, 60, 60 }, 0.55, 1, 0 };
  sl_tracker_update (tracker, boxes, 2, 1, 0, matches);
  g_assert_cmpint (matches[1].id, ==, 0);
  boxes[1].confidence = 0.3;
  sl_tracker_update (tracker, boxes, 2, 1, 0, matches);
  g_assert_cmpint (matches[1].id, ==, SL_TRACK_UNSURE);
  g_assert_cmpuint (sl_tracker_size (tracker), ==, 2);
  sl_tracker_update (tracker, boxes, 1, 1, 0, matches);
  g_assert_cmpuint (sl_tracker_size (tracker), ==, 1); /* unseen for three frames */
  boxes[0].key = 2;
  sl_tracker_update (tracker, boxes, 1, 1, 0, matches);
  g_assert_cmpint (matches[0].id, ==, 0);
  settings.per_class = FALSE;
  boxes[0].key = 3;
  sl_tracker_configure (tracker, &settings);
  sl_tracker_update (tracker, boxes, 1, 1, 0, matches);
  g_assert_cmpint (matches[0].id, ==, 1);
  sl_tracker_reset (tracker);
  sl_tracker_update (tracker, boxes, 1, 1, 0, matches);
  g_assert_cmpint (matches[0].id, ==, 3); /* ids go on */
}

static void
test_broken (void)
{
  static const double odd[] = { NAN, INFINITY, -INFINITY, 0, -1, 1e300, -1e300, 1e6, 1e-300, 5 };
  g_autoptr (SlTracker) tracker = sl_tracker_new ();
  for (guint frame = 0; frame < 3000; frame++) {
    SlTrackBox boxes[20];
    SlTrackMatch matches[20];
    for (guint b = 0; b < 20; b++) {
      for (guint i = 0; i < 4; i++)
        boxes[b].corners[i] = odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))];
      boxes[b].confidence = odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))];
      boxes[b].key = boxes[b].label_id = 0;
    }
    sl_tracker_update (tracker, boxes, 20, frame % 100 == 0 ? G_MAXUINT : 1, 0, matches);
    for (guint b = 0; b < 20; b++) {
      const double *c = boxes[b].corners;
      if (!(c[2] - c[0] >= 1e-3) || !(c[3] - c[1] >= 1e-3) || isnan (boxes[b].confidence))
        g_assert_cmpint (matches[b].id, ==, 0);
    }
    SlTracked expected[30];
    const guint n = sl_tracker_expect (tracker, expected, 30);
    for (guint t = 0; t < n; t++)
      for (guint i = 0; i < 4; i++)
        g_assert_true (isfinite (expected[t].box.corners[i]));
  }
}

/* More boxes than there is room, all new, all over one another; and what memory does over many
 * frames. */
static void
test_bounded (void)
{
  const guint n = SL_TRACK_MOST + 50;
  g_autofree SlTrackBox *boxes = g_new0 (SlTrackBox, n);
  g_autofree SlTrackMatch *matches = g_new (SlTrackMatch, n);
  g_autoptr (SlTracker) tracker = sl_tracker_new ();
  for (guint frame = 0; frame < 5; frame++) {
    for (guint b = 0; b < n; b++)
      boxes[b] = (SlTrackBox){ { 1000 * frame, 0, 1000 * frame + 100 + b, 100 }, 0.9, 0, 0 };
    sl_tracker_update (tracker, boxes, n, 1, 0, matches);
    g_assert_cmpuint (sl_tracker_size (tracker), <=, 2 * SL_TRACK_MOST);
    g_assert_cmpint (matches[n - 1].id, ==, 0);
  }
  sl_tracker_reset (tracker);
  guint largest = 0;
  for (guint frame = 0; frame < 100000; frame++) {
    for (guint b = 0; b < 4; b++) {
      const double x = g_test_rand_int_range (0, 2000);
      boxes[b] = (SlTrackBox){ { x, 0, x + 20, 20 }, 0.9, 0, 0 };
    }
    sl_tracker_update (tracker, boxes, 4, 1, frame, matches);
    largest = MAX (largest, sl_tracker_size (tracker));
  }
  /* Four a frame that are forgotten after 30. */
  g_assert_cmpuint (largest, <=, 4 * 32);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (scenes); i++) {
    g_autofree char *path = g_strdup_printf ("/track/scene/%s", scenes[i].name);
    g_test_add_data_func (path, &scenes[i], test_scene);
  }
  g_test_add_func ("/track/crowd", test_crowd);
  g_test_add_func ("/track/skipped", test_skipped);
  g_test_add_func ("/track/settings", test_settings);
  g_test_add_func ("/track/broken", test_broken);
  g_test_add_func ("/track/bounded", test_bounded);
  return g_test_run ();
}
