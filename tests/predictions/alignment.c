/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which part of a frame shows an object upright: by geometry worked out by hand, and what is
 * refused. */
#include "postprocess/predictions/alignment.h"

#include <math.h>
#include <string.h>

#include "sightline/error.h"
#include "tests/support/program.h"

static const char *const two_names[] = { "a", "b" };
static const SlSkeleton two = { 2, 0, two_names, NULL };

static void
assert_part (const SlTurnedRect *part, double x, double y, double width, double height,
             double degrees)
{
  g_assert_cmpfloat_with_epsilon (part->x, x, 1e-9);
  g_assert_cmpfloat_with_epsilon (part->y, y, 1e-9);
  g_assert_cmpfloat_with_epsilon (part->width, width, 1e-9);
  g_assert_cmpfloat_with_epsilon (part->height, height, 1e-9);
  g_assert_cmpfloat_with_epsilon (remainder (part->angle - degrees * G_PI / 180, 2 * G_PI), 0,
                                  1e-9);
}

/* A box of 100x40 around (200, 100) in a frame of 400x200; the second point lies to the given side
 * of the first. */
static SlTurnedRect
place (const char *text, double across, double down, double aspect)
{
  const SlPoint points[] = { { 0.5, 0.5, 1 }, { 0.5 + across / 400, 0.5 + down / 200, 1 } };
  const SlObjectView object = {
    .x_min = 0.375, .x_max = 0.625, .y_min = 0.4, .y_max = 0.6, .n_points = 2, .points = points
  };
  SlAlignment alignment;
  SlTurnedRect part;
  g_autoptr (GError) error = NULL;
  g_assert_true (sl_alignment_parse (text, &alignment, &error));
  g_assert_no_error (error);
  g_assert_true (sl_alignment_place (&alignment, &object, &two, 400, 200, aspect, &part));
  return part;
}

static void
test_placed (void)
{
  SlTurnedRect part = place ("box", 1, 0, 1);
  assert_part (&part, 200, 100, 100, 100, 0);
  part = place ("box,scale=1.5,shift-x=0.1,shift-y=-0.5", 1, 0, 2);
  assert_part (&part, 210, 80, 300, 150, 0);
  /* The line from a to b points down: a picture in which it shall point right is turned by a
   * quarter. */
  part = place ("from=a,to=b", 0, 7, 1);
  assert_part (&part, 200, 100, 100, 100, 90);
  /* It shall point up and does. */
  part = place ("from=0,to=1,angle=90", 0, -7, 0.5);
  assert_part (&part, 200, 100, 100, 200, 0);
  /* It points right where up is wanted: up is to the right, so the shift against its y axis goes
   * right. */
  part = place ("from=a,to=b,angle=90,shift-y=-1,scale=2", 5, 0, 1);
  assert_part (&part, 240, 100, 200, 200, 90);
  /* The circle around a has a radius of 5. */
  part = place ("from=a,to=b,circle=yes,scale=3", 3, 4, 1);
  assert_part (&part, 200, 100, 30, 30, atan2 (4, 3) * 180 / G_PI);
  /* Points that the object has not. */
  part = place ("face,scale=1", 3, 4, 1);
  assert_part (&part, 200, 100, 100, 100, 0);
  part = place ("from=0,to=2", 3, 4, 1);
  assert_part (&part, 200, 100, 100, 100, 0);
  part = place ("from=a,to=b", 0, 0, 1);
  assert_part (&part, 200, 100, 100, 100, 0);
}

static void
test_unseen (void)
{
  const SlPoint points[] = { { 0.5, 0.5, 1 }, { 0.5, 0.9, 0 } };
  SlObjectView object = { .x_max = 0.5, .y_max = 0.5, .n_points = 2, .points = points };
  SlAlignment alignment;
  SlTurnedRect part;
  g_assert_true (sl_alignment_parse ("from=a,to=b", &alignment, NULL));
  g_assert_true (sl_alignment_place (&alignment, &object, &two, 100, 100, 1, &part));
  assert_part (&part, 25, 25, 50, 50, 0);
  object.x_max = object.y_max = 0;
  g_assert_false (sl_alignment_place (&alignment, &object, &two, 100, 100, 1, &part));
}

/* Keypoints and landmarks may be anyone's: a part that is too far away, too large or no number is
 * none. */
static void
test_far (void)
{
  static const double wrong[] = { 1e6, -1e6, 1e200, NAN, INFINITY };
  SlPoint points[39] = { { 0 } };
  SlObjectView object = { .x_max = 0.5, .y_max = 0.5, .n_points = 2, .points = points };
  SlAlignment alignment;
  SlTurnedRect part;
  g_assert_true (sl_alignment_parse ("from=a,to=b,circle=yes", &alignment, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    for (guint k = 0; k < 4; k++) {
      for (guint at = 0; at < 39; at++)
        points[at] = (SlPoint){ 0.5, 0.5, 1 };
      points[1].x = points[34].x = 0.6;
      object.n_points = 2;
      g_assert_true (sl_alignment_place (&alignment, &object, &two, 400, 200, 1, &part));
      *(k % 2 == 0 ? &points[k / 2].x : &points[k / 2].y) = wrong[i];
      g_assert_false (sl_alignment_place (&alignment, &object, &two, 400, 200, 1, &part));
      object.n_points = 39;
      g_assert_true (sl_alignment_follow (&object, 400, 200, 1, &part));
      *(k % 2 == 0 ? &points[33 + k / 2].x : &points[33 + k / 2].y) = wrong[i];
      g_assert_false (sl_alignment_follow (&object, 400, 200, 1, &part));
    }
  object = (SlObjectView){ .x_min = 1e6, .x_max = 1e6 + 1, .y_max = 1 };
  g_assert_false (sl_alignment_place (&alignment, &object, NULL, 400, 200, 1, &part));
}

/* Points on a line of 40 pixels straight up in the middle of a frame of 400x200, for what does not
 * count 100 pixels to the right. */
static void
set_points (SlPoint *points, guint n, guint from, guint to, guint64 counted)
{
  for (guint i = 0; i < n; i++)
    points[i] = (SlPoint){ counted == 0 || (counted >> i & 1) != 0 ? 0.5 : 0.75, 0.5, 1 };
  points[from].y = 0.6;
  points[to].y = 0.4;
}

static void
test_followed (void)
{
  SlPoint points[478];
  SlObjectView object = { .points = points, .n_points = 21 };
  SlTurnedRect part;
  set_points (points, 21, 0, 9, 0x6666f);
  g_assert_true (sl_alignment_follow (&object, 400, 200, 1, &part));
  assert_part (&part, 200, 100 - 4, 80, 80, 0);
  object.n_points = 39;
  set_points (points, 39, 33, 34, 0);
  g_assert_true (sl_alignment_follow (&object, 400, 200, 2, &part));
  assert_part (&part, 200, 120, 200, 100, 0);
  /* The eyes are above each other: the face lies on its side. */
  for (guint n = 468; n <= 478; n += 10) {
    object.n_points = n;
    set_points (points, n, 33, 263, 0);
    g_assert_true (sl_alignment_follow (&object, 400, 200, 1, &part));
    assert_part (&part, 200, 100, 60, 60, -90);
  }
  points[33].confidence = 0;
  g_assert_false (sl_alignment_follow (&object, 400, 200, 1, &part));
  object.n_points = 17;
  g_assert_false (sl_alignment_follow (&object, 400, 200, 1, &part));
}

static void
test_refused (void)
{
  static const char *const cases[][2] = {
    { "fase",
      "object-alignment=fase: 'fase': expected face, hand, person, box or corners, then parameters "
      "such as "
      "from=right_eye,to=left_eye,angle=0,scale=1.5,shift-y=0,circle=no; did you mean 'face'?" },
    { "scale=2,face", "'face': expected face" },
    { "face,scale=0", "object-alignment=face,scale=0: scale=0: expected a number from 0.1 to 10" },
    { "face,scale=nan", "expected a number from 0.1 to 10" },
    { "face,shift-y=", "shift-y=: expected a number from -10 to 10" },
    { "face,circle=maybe", "'circle=maybe': expected" },
    { "face,size=2", "'size=2': expected" },
    { "from=a", "expected both from= and to=, the two keypoints" },
    { "circle=yes", "expected both from= and to=" },
    { "from=,to=b", "'from=': expected" },
    { "from=0123456789012345678901234567890123456789,to=b", "expected" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    SlAlignment alignment;
    g_assert_false (sl_alignment_parse (cases[i][0], &alignment, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
    if (strstr (error->message, cases[i][1]) == NULL)
      g_error ("expected '%s' in: %s", cases[i][1], error->message);
  }
}

/* The published places of five points in a square of 112 pixels, on a face that is turned by 30
 * degrees and twice as large, around (210, 90) of a frame of 400x200. */
static void
test_face (void)
{
  static const char *const names[] = { "left_eye",   "nose",  "right_eye",
                                       "left_mouth", "mouth", "right_mouth" };
  static const double published[][2] = { { 73.5318, 51.5014 }, { 56.0252, 71.7366 },
                                         { 38.2946, 51.6963 }, { 70.7299, 92.2041 },
                                         { 56.1396, 92.2848 }, { 41.5493, 92.3655 } };
  const SlSkeleton skeleton = { G_N_ELEMENTS (names), 0, names, NULL };
  SlPoint points[G_N_ELEMENTS (names)];
  const double c = cos (G_PI / 6), s = sin (G_PI / 6);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const double x = 2 * (published[i][0] - 56), y = 2 * (published[i][1] - 56);
    points[i] = (SlPoint){ (210 + c * x - s * y) / 400, (90 + s * x + c * y) / 200, 1 };
  }
  SlObjectView object = { .x_max = 1, .y_max = 1, .n_points = 6, .points = points };
  SlTurnedRect part;
  g_assert_true (sl_alignment_place_face (&object, &skeleton, 400, 200, 1, &part));
  assert_part (&part, 210, 90, 224, 224, 30);
  points[1].confidence = points[3].confidence = points[4].confidence = points[5].confidence = 0;
  g_assert_true (sl_alignment_place_face (&object, &skeleton, 400, 200, 2, &part));
  assert_part (&part, 210, 90, 448, 224, 30);
  points[2] = points[0];
  g_assert_false (sl_alignment_place_face (&object, &skeleton, 400, 200, 1, &part));
  points[2].confidence = 0;
  g_assert_false (sl_alignment_place_face (&object, &skeleton, 400, 200, 1, &part));
}

static void
assert_corners (const SlCorners *corners, const double expected[4][2])
{
  for (guint i = 0; i < 4; i++)
    for (guint k = 0; k < 2; k++)
      g_assert_cmpfloat_with_epsilon (corners->at[i][k], expected[i][k], 1e-9);
}

/* Four points give the part between them, in whatever order; others, and points that are not
 * corners, the box. */
static void
test_corners (void)
{
  SlPoint points[] = { { 0.5, 0.7, 1 }, { 0.3, 0.4, 1 }, { 0.3, 0.6, 1 }, { 0.5, 0.5, 1 } };
  SlObjectView object = {
    .x_min = 0.25, .x_max = 0.5, .y_min = 0.4, .y_max = 0.7, .n_points = 4, .points = points
  };
  static const double between[4][2] = { { 120, 80 }, { 200, 100 }, { 200, 140 }, { 120, 120 } },
                      grown[4][2] = { { 80, 50 }, { 240, 90 }, { 240, 170 }, { 80, 130 } },
                      box[4][2] = { { 100, 80 }, { 200, 80 }, { 200, 140 }, { 100, 140 } };
  SlAlignment alignment;
  SlCorners corners;
  g_assert_true (sl_alignment_parse ("corners", &alignment, NULL));
  g_assert_true (sl_alignment_find_corners (&alignment, &object, 400, 200, &corners));
  assert_corners (&corners, between);
  g_assert_true (sl_alignment_parse ("corners,scale=2", &alignment, NULL));
  g_assert_true (sl_alignment_find_corners (&alignment, &object, 400, 200, &corners));
  assert_corners (&corners, grown);
  alignment.scale = 1;
  for (guint i = 0; i < 4; i++) {
    const SlPoint kept = points[i];
    points[i] = i == 0   ? (SlPoint){ NAN, 0, 1 }
                : i == 1 ? (SlPoint){ 0.3, 0.4, 0 }
                : i == 2 ? (SlPoint){ 0.5, 0.6, 1 }
                         : (SlPoint){ 1e9, 0, 1 };
    g_assert_true (sl_alignment_find_corners (&alignment, &object, 400, 200, &corners));
    assert_corners (&corners, box);
    points[i] = kept;
  }
  object.n_points = 3;
  g_assert_true (sl_alignment_find_corners (&alignment, &object, 400, 200, &corners));
  assert_corners (&corners, box);
  object.x_max = object.x_min;
  g_assert_false (sl_alignment_find_corners (&alignment, &object, 400, 200, &corners));
}

static void
test_corners_refused (void)
{
  static const char *const texts[] = { "corners,angle=3", "corners,from=a,to=b",
                                       "corners,shift-x=1", "corners,shift-y=1",
                                       "corners,circle=yes" };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    SlAlignment alignment;
    g_autoptr (GError) error = NULL;
    g_autofree char *message = g_strdup_printf (
      "object-alignment=%s: expected no parameter but scale= behind corners", texts[i]);
    g_assert_false (sl_alignment_parse (texts[i], &alignment, &error));
    g_assert_cmpstr (error->message, ==, message);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/alignment/placed", test_placed);
  g_test_add_func ("/alignment/unseen", test_unseen);
  g_test_add_func ("/alignment/far", test_far);
  g_test_add_func ("/alignment/followed", test_followed);
  g_test_add_func ("/alignment/face", test_face);
  g_test_add_func ("/alignment/refused", test_refused);
  g_test_add_func ("/alignment/corners", test_corners);
  g_test_add_func ("/alignment/corners_refused", test_corners_refused);
  return g_test_run ();
}
