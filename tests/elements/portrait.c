/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How good a picture of a person is: each factor by itself, computed here a second time from the
 * frame's bytes. The JPEG is read by libjpeg.
 */
#include "plugins/gallery/portrait.h"

#include <math.h>
#include <string.h>

#include "pipelines/remote/jpeg.h"
#include "tests/support/program.h"

#define WIDTH 200
#define HEIGHT 160
#define SIDE 64

static guint8 pixels[HEIGHT][WIDTH][3];
static const SlImageInfo info = { .format = SL_PIXEL_RGB, .width = WIDTH, .height = HEIGHT };
static const SlImage image = { { &pixels[0][0][0] }, { 3 * WIDTH } };

/* Squares of @cell pixels in two greens, @amplitude apart. */
static void
draw (guint cell, guint amplitude)
{
  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++) {
      pixels[y][x][0] = 200;
      pixels[y][x][1] = (guint8) (100 + ((x / cell + y / cell) % 2) * amplitude);
      pixels[y][x][2] = 30;
    }
}

/* Of a part that is not made smaller: as the header says. */
static gdouble
expected_score (const SlObjectView *object)
{
  gdouble sum = 0;
  for (gint y = object->y + 1; y + 1 < object->y + object->h; y++)
    for (gint x = object->x + 1; x + 1 < object->x + object->w; x++)
      sum += fabs (
        (gdouble) pixels[y][x][1]
        - (pixels[y - 1][x][1] + pixels[y + 1][x][1] + pixels[y][x - 1][1] + pixels[y][x + 1][1])
            / 4.);
  const gdouble s = sum / ((object->w - 2) * (object->h - 2));
  return sqrt (object->w * object->h) / SIDE * s / (s + 4);
}

static gdouble
score (SlPortrait *portrait, const SlObjectView *object, gdouble covered)
{
  const SlPortraitSubject subject = { .object = object, .covered = covered };
  return sl_portrait_score (portrait, &image, &subject);
}

static void
test_factors (void)
{
  static const SlObjectView whole = { .x = 20, .y = 30, .w = 40, .h = 60 },
                            small = { .x = 20, .y = 30, .w = 20, .h = 30 },
                            cut = { .x = 0, .y = 30, .w = 40, .h = 60 },
                            outside = { .x = 180, .y = 30, .w = 40, .h = 60 },
                            none = { .x = 20, .y = 30, .w = 0, .h = 60 },
                            thin = { .x = 20, .y = 30, .w = 2, .h = 60 };
  g_autoptr (GError) error = NULL;
  SlPortrait *portrait = sl_portrait_new (&info, SIDE, &error);
  g_assert_no_error (error);
  draw (4, 80);
  g_assert_cmpfloat_with_epsilon (score (portrait, &whole, 0), expected_score (&whole), 1e-9);
  g_assert_cmpfloat_with_epsilon (score (portrait, &small, 0), expected_score (&small), 1e-9);
  g_assert_cmpfloat (score (portrait, &small, 0), <, score (portrait, &whole, 0));
  g_assert_cmpfloat_with_epsilon (score (portrait, &whole, 0.25), 0.75 * expected_score (&whole),
                                  1e-9);
  g_assert_cmpfloat_with_epsilon (score (portrait, &cut, 0), expected_score (&cut) / 2, 1e-9);
  g_assert_cmpfloat (score (portrait, &outside, 0), ==, 0);
  g_assert_cmpfloat (score (portrait, &none, 0), ==, 0);
  g_assert_cmpfloat (score (portrait, &thin, 0), ==, 0);
  const gdouble sharp = score (portrait, &whole, 0);
  draw (4, 10);
  g_assert_cmpfloat (score (portrait, &whole, 0), <, sharp);
  draw (4, 0);
  g_assert_cmpfloat (score (portrait, &whole, 0), ==, 0);
  sl_portrait_free (portrait);
}

/* The nose goes from the middle of the eyes to beyond one of them. */
static void
test_frontal (void)
{
  static const char *const names[] = { "right_eye", "left_eye", "nose" };
  static const SlSkeleton skeleton = { .n_points = 3, .names = names };
  static const SlObjectView object = { .x = 20, .y = 30, .w = 40, .h = 60 };
  SlPortrait *portrait = sl_portrait_new (&info, SIDE, NULL);
  draw (4, 80);
  const gdouble best = score (portrait, &object, 0);
  for (gint off = -12; off <= 12; off++) {
    const SlPoint points[] = { { 30. / WIDTH, 50. / HEIGHT, 1 },
                               { 50. / WIDTH, 50. / HEIGHT, 1 },
                               { (40. + off) / WIDTH, 62. / HEIGHT, 1 } };
    const SlPortraitSubject subject = { &object, points, &skeleton, 0 };
    g_assert_cmpfloat_with_epsilon (sl_portrait_score (portrait, &image, &subject),
                                    best * MAX (1 - abs (off) / 10., 0.1), 1e-9);
  }
  const SlPoint same[3] = { { 0.5, 0.5, 1 }, { 0.5, 0.5, 1 }, { 0.5, 0.5, 1 } };
  const SlPortraitSubject subject = { &object, same, &skeleton, 0 };
  g_assert_cmpfloat_with_epsilon (sl_portrait_score (portrait, &image, &subject), best * 0.1, 1e-9);
  sl_portrait_free (portrait);
}

/* At most so large, with the sides of the part; what libjpeg reads is what was drawn. */
static void
test_encode (void)
{
  static const SlObjectView object = { .x = 10, .y = 10, .w = 180, .h = 90 };
  static guint8 back[SIDE * SIDE / 2 * 3];
  const SlRemotePicture size = { SIDE, SIDE / 2, 3 };
  gsize n;
  SlPortrait *portrait = sl_portrait_new (&info, SIDE, NULL);
  draw (60, 100);
  g_assert_cmpfloat (score (portrait, &object, 0), >, 0);
  g_autoptr (GBytes) jpeg = sl_portrait_encode (portrait);
  gconstpointer data = g_bytes_get_data (jpeg, &n);
  g_autofree char *wrong = sl_remote_jpeg_read (&size, data, n, back);
  g_assert_cmpstr (wrong, ==, NULL);
  for (guint y = 4; y < SIDE / 2; y += 9)
    for (guint x = 4; x < SIDE; x += 9) {
      const guint8 *drawn = pixels[10 + (y * 90 + 45) / (SIDE / 2)][10 + (x * 180 + 90) / SIDE];
      const guint8 *got = &back[3 * (y * SIDE + x)];
      const guint phase_x = (10 + x * 180 / SIDE) % 60, phase_y = (10 + y * 180 / SIDE) % 60;
      for (guint c = 0; c < 3 && phase_x > 12 && phase_x < 48 && phase_y > 12 && phase_y < 48; c++)
        g_assert_cmpint (abs (got[c] - drawn[c]), <=, 12);
    }
  sl_portrait_free (portrait);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/portrait/factors", test_factors);
  g_test_add_func ("/portrait/frontal", test_frontal);
  g_test_add_func ("/portrait/encode", test_encode);
  return g_test_run ();
}
