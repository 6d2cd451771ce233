/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turns with a clock and models of the test: cameras send frames at their rates, models take a
 * stated time, and counts are compared with shares that the test computes by itself.
 */
#include <glib.h>
#include <math.h>

#include "predict/turns.h"
#include "tests/support/program.h"

#define MOST 8
#define SECOND G_TIME_SPAN_SECOND

/* Camera @fps sends its frames from @begin to @end; its model takes @cost us with @threads. */
typedef struct
{
  gdouble promised;
  guint priority;
  gdouble fps;
  gint64 cost;
  guint threads;
  gboolean need;
  const char *group;
  gint64 begin, end;
  gint64 fetch; /* from the end of a turn to its next frame, if there is one */
  gint64 need_from, need_until;
  /* Of the run. */
  SlTurnStream *stream;
  gint64 next, until; /* the next frame; the end of its turn, 0 = none */
  gint64 back;        /* it fetches a frame until then */
  gboolean held, waits;
  guint64 ran, late_ran;
  gint64 last, gap; /* the longest time between two runs */
} Camera;

typedef struct
{
  guint most;   /* streams in one run */
  gint64 since; /* late_ran counts from here on */
  guint64 runs;
  gint64 busy;
} Course;

static gint64
next_event (const Camera *cameras, guint n, gint64 now, gint64 look)
{
  gint64 at = look;
  for (guint i = 0; i < n; i++) {
    if (cameras[i].next < cameras[i].end)
      at = MIN (at, cameras[i].next);
    if (cameras[i].until > 0)
      at = MIN (at, cameras[i].until);
    if (cameras[i].held && cameras[i].back > now)
      at = MIN (at, cameras[i].back);
  }
  return at;
}

static void
end_turns (Camera *cameras, guint n, const Course *course, gint64 now)
{
  for (guint i = 0; i < n; i++) {
    Camera *camera = &cameras[i];
    if (camera->until == 0 || camera->until > now)
      continue;
    sl_turn_stream_done (camera->stream, TRUE, camera->held, G_MAXINT64, now);
    camera->until = 0;
    camera->back = now + camera->fetch;
    camera->ran++;
    camera->late_ran += now > course->since;
    camera->gap = MAX (camera->gap, camera->last > 0 ? now - camera->last : 0);
    camera->last = now;
  }
}

static gboolean
has_need (const Camera *camera, gint64 now)
{
  return camera->need || (now >= camera->need_from && now < camera->need_until);
}

/* Each camera holds its newest frame while its model is busy. */
static void
send_frames (Camera *cameras, guint n, gint64 now)
{
  for (guint i = 0; i < n; i++) {
    Camera *camera = &cameras[i];
    if (camera->next <= now && camera->next < camera->end) {
      camera->held = TRUE;
      camera->next += (gint64) (SECOND / camera->fps);
    }
    if (camera->held && camera->until == 0 && camera->back <= now && !camera->waits) {
      sl_turn_stream_arrive (camera->stream, 1, now);
      sl_turn_stream_wait (camera->stream, has_need (camera, now), now);
      camera->waits = TRUE;
    }
  }
}

static Camera *
find (Camera *cameras, guint n, const SlTurnStream *stream)
{
  for (guint i = 0; i < n; i++)
    if (cameras[i].stream == stream)
      return &cameras[i];
  g_assert_not_reached ();
}

static gint64
give_turns (SlTurns *turns, Camera *cameras, guint n, Course *course, gint64 now)
{
  SlTurnStream *given[MOST];
  gint64 look;
  guint k;
  while ((k = sl_turns_give (turns, now, given, MOST, &look)) > 0) {
    gint64 cost = 0;
    for (guint i = 0; i < k; i++)
      cost = MAX (cost, find (cameras, n, given[i])->cost);
    for (guint i = 0; i < k; i++) {
      Camera *camera = find (cameras, n, given[i]);
      camera->until = now + cost;
      camera->held = camera->waits = FALSE;
    }
    course->runs++;
    course->busy += cost * find (cameras, n, given[0])->threads;
    course->most = MAX (course->most, k);
  }
  return look;
}

static void
play (Camera *cameras, guint n, gdouble cores, gint64 length, Course *course)
{
  SlTurns *turns = sl_turns_new (cores);
  for (guint i = 0; i < n; i++) {
    cameras[i].stream = sl_turn_stream_new (turns, &cameras[i]);
    g_assert_true (sl_turn_stream_user (cameras[i].stream) == &cameras[i]);
    sl_turn_stream_set (cameras[i].stream, cameras[i].promised, cameras[i].priority,
                        cameras[i].threads, cameras[i].group, 4);
    cameras[i].next = MAX (cameras[i].begin, 1 + (gint64) i * 777);
    if (cameras[i].end == 0)
      cameras[i].end = length;
  }
  gint64 now = 1, look = G_MAXINT64;
  while (now < length) {
    end_turns (cameras, n, course, now);
    send_frames (cameras, n, now);
    look = give_turns (turns, cameras, n, course, now);
    g_assert_cmpint (look, >, now);
    now = MIN (next_event (cameras, n, now, look), length);
  }
  for (guint i = 0; i < n; i++) {
    if (cameras[i].until > 0)
      sl_turn_stream_done (cameras[i].stream, TRUE, FALSE, G_MAXINT64, now);
    sl_turn_stream_free (cameras[i].stream);
  }
  sl_turns_free (turns);
}

/* Weighted max-min shares by bisection of the level, frames a second. */
static void
share (const Camera *cameras, guint n, gdouble cores, gdouble *shares)
{
  gdouble low = 0, high = 1e6;
  for (guint step = 0; step < 200; step++) {
    const gdouble level = (low + high) / 2;
    gdouble used = 0;
    for (guint i = 0; i < n; i++) {
      const gdouble wanted = MIN (cameras[i].promised, cameras[i].fps);
      shares[i] = MIN (wanted, level * cameras[i].promised * cameras[i].priority);
      used += shares[i] * (gdouble) cameras[i].cost * cameras[i].threads / SECOND;
    }
    *(used > cores ? &high : &low) = level;
  }
}

static void
check_shares (Camera *cameras, guint n, gdouble cores, gint64 length)
{
  gdouble shares[MOST];
  Course course = { 0 };
  share (cameras, n, cores, shares);
  play (cameras, n, cores, length, &course);
  for (guint i = 0; i < n; i++) {
    const gdouble rate = (gdouble) cameras[i].ran * SECOND / (gdouble) length;
    g_test_message ("camera %u: %.2f frames a second, share %.2f", i, rate, shares[i]);
    g_assert_cmpfloat (rate, >=, 0.95 * shares[i]);
  }
  g_assert_cmpfloat ((gdouble) course.busy, <=, cores * (gdouble) length * 1.02 + SECOND / 5);
}

/* All promises can be kept: all are, at every utilisation up to 95 %. */
static void
test_kept (void)
{
  Camera few[] = { { 5, 1, 30, 40000, 1 }, { 10, 1, 25, 30000, 1 }, { 1, 1, 60, 100000, 1 } };
  check_shares (few, G_N_ELEMENTS (few), 1, 100 * SECOND);
  Camera full[] = { { 5, 1, 30, 100000, 1 }, { 4, 1, 30, 100000, 1 }, { 0.5, 1, 15, 100000, 1 } };
  check_shares (full, G_N_ELEMENTS (full), 1, 200 * SECOND);
  /* The camera sends no more than what is promised. */
  Camera exact[] = { { 5, 1, 5, 50000, 1 }, { 5, 1, 30, 50000, 1 }, { 8, 1, 8, 50000, 1 } };
  check_shares (exact, G_N_ELEMENTS (exact), 1, 200 * SECOND);
  Camera half[] = { { 5, 1, 30, 40000, 1 }, { 5, 1, 30, 40000, 1 } };
  check_shares (half, G_N_ELEMENTS (half), 0.45, 200 * SECOND);
  Camera two[] = { { 6, 1, 30, 100000, 1 }, { 4, 1, 30, 100000, 2 }, { 1, 1, 30, 50000, 1 } };
  check_shares (two, G_N_ELEMENTS (two), 2, 200 * SECOND);
}

/* More is promised than can be kept: shares by rate and priority, and none starves. */
static void
test_too_much (void)
{
  Camera same[] = { { 10, 1, 30, 100000, 1 }, { 10, 1, 30, 100000, 1 }, { 10, 1, 15, 100000, 1 } };
  check_shares (same, G_N_ELEMENTS (same), 1, 100 * SECOND);
  Camera first[] = { { 10, 4, 30, 100000, 1 }, { 10, 1, 30, 100000, 1 }, { 2, 1, 30, 100000, 1 } };
  check_shares (first, G_N_ELEMENTS (first), 1, 200 * SECOND);
  g_assert_cmpuint (first[0].ran, >, first[1].ran * 3);
  Camera least[] = { { 30, 10, 30, 100000, 1 }, { 1, 1, 30, 100000, 1 } };
  check_shares (least, G_N_ELEMENTS (least), 1, 1000 * SECOND);
  g_assert_cmpuint (least[1].ran, >, 0);
  Camera costs[] = { { 10, 1, 30, 20000, 1 }, { 10, 1, 30, 200000, 1 }, { 3, 2, 30, 50000, 1 } };
  check_shares (costs, G_N_ELEMENTS (costs), 0.8, 200 * SECOND);
}

/* Two cameras, of which one fetches its next frame while the other waits: the one that is late gets
 * the turn all the same, unless it is slow. */
static void
test_fetch (void)
{
  Camera two[] = { { 8, 1, 30, 100000, 1, .fetch = 3000 },
                   { 1.5, 1, 30, 100000, 1, .fetch = 3000 } };
  check_shares (two, G_N_ELEMENTS (two), 1, 200 * SECOND);
  Camera over[] = { { 10, 3, 30, 50000, 1, .fetch = 500 }, { 20, 1, 30, 50000, 1, .fetch = 500 } };
  check_shares (over, G_N_ELEMENTS (over), 0.98, 200 * SECOND);
  Camera need[] = { { 1, 1, 30, 50000, 1, .fetch = 500, .need = TRUE },
                    { 1, 1, 30, 50000, 1, .fetch = 500 } };
  Course course = { 0 };
  play (need, 2, 1, 100 * SECOND, &course);
  g_assert_cmpuint (need[0].ran, >=, 3 * need[1].ran);
  Camera slow[] = { { 20, 1, 30, 50000, 1, .fetch = 45000 }, { 1, 1, 30, 50000, 1 } };
  Course full = { 0 };
  play (slow, 2, 1, 100 * SECOND, &full);
  g_assert_cmpuint (slow[0].ran + slow[1].ran, >=, 1900);
}

/* Without turns the camera that comes last in time may get nothing; with them gaps are bounded. */
static void
test_no_gaps (void)
{
  Camera cameras[] = { { 5, 1, 30, 60000, 1 }, { 5, 1, 10, 60000, 1 }, { 2, 1, 7, 60000, 1 } };
  Course course = { 0 };
  play (cameras, G_N_ELEMENTS (cameras), 1, 100 * SECOND, &course);
  for (guint i = 0; i < G_N_ELEMENTS (cameras); i++)
    g_assert_cmpint (cameras[i].gap, <=,
                     (gint64) (SECOND / cameras[i].promised + SECOND / cameras[i].fps) + 3 * 60000);
}

/* What a dead camera does not take goes to the others, and comes back with it. */
static void
test_dead_camera (void)
{
  Camera cameras[] = { { 8, 1, 30, 100000, 1 }, { 8, 1, 30, 100000, 1, .end = 50 * SECOND } };
  Course course = { .since = 50 * SECOND };
  play (cameras, 2, 1, 100 * SECOND, &course);
  g_assert_cmpuint (cameras[1].ran, >=, 237); /* 95 % of 5 a second */
  g_assert_cmpuint (cameras[1].late_ran, <=, 2);
  g_assert_cmpuint (cameras[0].late_ran, >=, 380); /* 95 % of 8 a second */
  Camera again[] = { { 8, 1, 30, 100000, 1 }, { 8, 1, 30, 100000, 1, .begin = 50 * SECOND } };
  Course later = { .since = 50 * SECOND };
  play (again, 2, 1, 100 * SECOND, &later);
  /* It gets its half, not what it did not take before. */
  g_assert_cmpuint (again[0].late_ran, >=, 237);
  g_assert_cmpuint (again[1].late_ran, >=, 237);
}

/* What is left goes first to cameras where something happens, and takes nothing from promises. */
static void
test_need (void)
{
  Camera cameras[] = { { 2, 1, 30, 100000, 1 },
                       { 2, 1, 30, 100000, 1, .need = TRUE },
                       { 2, 1, 30, 100000, 1 } };
  Course course = { 0 };
  play (cameras, 3, 1, 100 * SECOND, &course);
  g_test_message ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, cameras[0].ran,
                  cameras[1].ran, cameras[2].ran);
  g_assert_cmpuint (cameras[0].ran, >=, 190);
  g_assert_cmpuint (cameras[2].ran, >=, 190);
  g_assert_cmpuint (cameras[1].ran, >=, 2 * cameras[0].ran);
  g_assert_cmpuint (cameras[0].ran + cameras[1].ran + cameras[2].ran, >=, 980);
}

/* What is left follows a need that goes from one camera to another, as an object does that walks
 * from zone to zone; promises are kept all the time. */
static void
test_need_moves (void)
{
  Camera cameras[] = { { 2, 1, 30, 100000, 1, .need_until = 50 * SECOND },
                       { 2, 1, 30, 100000, 1, .need_from = 50 * SECOND, .need_until = G_MAXINT64 },
                       { 2, 10, 30, 100000, 1 } };
  Course course = { .since = 50 * SECOND };
  play (cameras, 3, 1, 100 * SECOND, &course);
  for (guint i = 0; i < 3; i++) {
    const guint64 early = cameras[i].ran - cameras[i].late_ran, late = cameras[i].late_ran;
    g_test_message ("camera %u: %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT, i, early, late);
    g_assert_cmpuint (early, >=, 95); /* 95 % of 2 a second */
    g_assert_cmpuint (late, >=, 95);
    g_assert_cmpint (cameras[i].gap, <=, SECOND / 2 + SECOND / 30 + 3 * 100000);
  }
  g_assert_cmpuint (cameras[0].ran - cameras[0].late_ran, >=, 12 * cameras[0].late_ran / 10);
  g_assert_cmpuint (cameras[1].late_ran * 10, >=, 12 * (cameras[1].ran - cameras[1].late_ran));
}

/* Streams of a group run together, others do not join them, and the time counts once. */
static void
test_group (void)
{
  Camera cameras[] = { { 8, 1, 30, 100000, 1, .group = "a" },
                       { 8, 1, 30, 100000, 1, .group = "a" },
                       { 8, 1, 30, 100000, 1, .group = "a" },
                       { 4, 1, 30, 100000, 1 } };
  Course course = { 0 };
  play (cameras, 4, 1, 100 * SECOND, &course);
  g_assert_cmpuint (course.most, ==, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (cameras[i].ran, >=, 450);
  g_assert_cmpuint (cameras[3].ran, >=, 300);
  g_assert_cmpint (course.busy, <=, 102 * SECOND);
  /* Two that fetch their frames one after the other run together all the same. */
  Camera two[] = { { 8, 1, 30, 100000, 1, .group = "a", .fetch = 500 },
                   { 8, 1, 30, 100000, 1, .group = "a", .fetch = 800 } };
  Course both = { 0 };
  play (two, 2, 1, 100 * SECOND, &both);
  g_assert_cmpuint (two[0].ran + two[1].ran, >=, both.runs * 19 / 10);
}

/* Processor time that a run does not use, since other programs do or a device works, is not taken
 * from the budget. */
static void
test_unused (void)
{
  SlTurnStream *given[1];
  gint64 look, now = SECOND;
  guint ran[2] = { 0 };
  for (guint used = 0; used < 2; used++) {
    SlTurns *turns = sl_turns_new (0.1);
    SlTurnStream *stream = sl_turn_stream_new (turns, NULL);
    sl_turn_stream_set (stream, 1000, 1, 1, NULL, 1);
    for (const gint64 end = now + 10 * SECOND; now < end; now += 10000) {
      sl_turn_stream_wait (stream, FALSE, now);
      if (sl_turns_give (turns, now, given, 1, &look) == 0)
        continue;
      sl_turn_stream_done (stream, TRUE, FALSE, used == 0 ? 1000 : G_MAXINT64, now + 10000);
      ran[used]++;
    }
    sl_turn_stream_give_up (stream);
    sl_turn_stream_free (stream);
    sl_turns_free (turns);
  }
  g_test_message ("%u and %u", ran[0], ran[1]);
  g_assert_cmpuint (ran[0], >=, 990);
  g_assert_cmpuint (ran[1], <=, 105);
  g_assert_cmpuint (ran[1], >=, 95);
}

static void
test_figures (void)
{
  SlTurnStream *given[1];
  SlTurnFigures figures;
  gint64 look;
  SlTurns *turns = sl_turns_new (1);
  SlTurnStream *stream = sl_turn_stream_new (turns, NULL);
  sl_turn_stream_set (stream, 5, 1, 1, NULL, 1);
  sl_turn_stream_figures (stream, 1, &figures);
  g_assert_cmpuint (figures.frames, ==, 0);
  g_assert_cmpint (figures.cost, ==, 0);
  /* A frame each tenth of a second with three that were replaced; each runs 20 ms. */
  for (gint64 now = SECOND; now < 31 * SECOND; now += SECOND / 10) {
    sl_turn_stream_arrive (stream, 4, now);
    sl_turn_stream_wait (stream, FALSE, now);
    g_assert_true (sl_turns_waiting (turns) == stream);
    g_assert_cmpuint (sl_turns_give (turns, now + 5000, given, 1, &look), ==, 1);
    g_assert_true (sl_turn_stream_has_turn (stream));
    sl_turn_stream_done (stream, TRUE, FALSE, G_MAXINT64, now + 25000);
  }
  g_assert_null (sl_turns_waiting (turns));
  sl_turn_stream_figures (stream, 31 * SECOND, &figures);
  g_assert_cmpfloat (figures.promised, ==, 5);
  g_assert_cmpfloat_with_epsilon (figures.delivered, 10, 0.5);
  g_assert_cmpfloat_with_epsilon (figures.offered, 40, 2);
  g_assert_cmpuint (figures.frames, ==, 300);
  g_assert_cmpuint (figures.skipped, ==, 900);
  g_assert_cmpint (figures.cost, ==, 20000);
  g_assert_cmpint (figures.waited_p50, ==, 5000);
  g_assert_cmpint (figures.waited_p99, ==, 5000);
  /* After ten seconds without a frame nothing is delivered. */
  sl_turn_stream_figures (stream, 42 * SECOND, &figures);
  g_assert_cmpfloat (figures.delivered, ==, 0);
  sl_turn_stream_free (stream);
  sl_turns_free (turns);
}

/* The prediction agrees with shares by bisection. */
static void
test_prediction (void)
{
  GRand *random = g_rand_new_with_seed (7);
  for (guint trial = 0; trial < 500; trial++) {
    Camera cameras[MOST] = { 0 };
    gdouble rates[MOST], costs[MOST], most[MOST], shares[MOST], got[MOST];
    guint priorities[MOST];
    const guint n = (guint) g_rand_int_range (random, 1, MOST + 1);
    const gdouble cores = g_rand_double_range (random, 0.2, 4);
    gboolean all = TRUE;
    for (guint i = 0; i < n; i++) {
      cameras[i] = (Camera){ .promised = rates[i] = g_rand_double_range (random, 0.1, 20),
                             .priority = priorities[i] = (guint) g_rand_int_range (random, 1, 10),
                             .fps = most[i] = g_rand_double_range (random, 1, 30),
                             .cost = g_rand_int_range (random, 1000, 300000),
                             .threads = 1 };
      costs[i] = (gdouble) cameras[i].cost / SECOND;
    }
    share (cameras, n, cores, shares);
    const gboolean kept = sl_turns_predict (rates, priorities, costs, most, n, cores, got);
    for (guint i = 0; i < n; i++) {
      g_assert_cmpfloat_with_epsilon (got[i], shares[i], 1e-3);
      all = all && shares[i] >= rates[i] - 1e-3;
    }
    g_assert_cmpint (kept, ==, all);
  }
  g_rand_free (random);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predict/turns/kept", test_kept);
  g_test_add_func ("/predict/turns/too-much", test_too_much);
  g_test_add_func ("/predict/turns/fetch", test_fetch);
  g_test_add_func ("/predict/turns/no-gaps", test_no_gaps);
  g_test_add_func ("/predict/turns/dead-camera", test_dead_camera);
  g_test_add_func ("/predict/turns/need", test_need);
  g_test_add_func ("/predict/turns/need-moves", test_need_moves);
  g_test_add_func ("/predict/turns/group", test_group);
  g_test_add_func ("/predict/turns/unused", test_unused);
  g_test_add_func ("/predict/turns/figures", test_figures);
  g_test_add_func ("/predict/turns/prediction", test_prediction);
  return g_test_run ();
}
