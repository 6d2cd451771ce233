/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shifts of drawn pictures that are known to the pixel, noise, light, and things that move. */
#include "plugins/motion/shift.h"

#include <math.h>

#include "tests/support/program.h"
#include "tests/support/texture.h"

#define WIDTH 640
#define HEIGHT 360

/* @at: what the picture shows lies there on the plane; @light: levels that are added; @thing: a
 * bright thing that stands there in the picture, x, y, width and height */
typedef struct
{
  gint at[2], light, noise, thing[4];
} View;

typedef struct
{
  SlShift shift;
  guint8 pixels[HEIGHT * WIDTH * 3];
  gint step;
} Camera;

static gboolean
see (Camera *camera, const View *view, gdouble moved[2])
{
  const gint step = MAX (camera->step, 1);
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++) {
      const gboolean inside = x >= view->thing[0] && x < view->thing[0] + view->thing[2]
                              && y >= view->thing[1] && y < view->thing[1] + view->thing[3];
      const gint value = inside ? 230 : texture_at (x - view->at[0], y - view->at[1]),
                 noise =
                   view->noise > 0 ? g_test_rand_int_range (-view->noise, view->noise + 1) : 0;
      camera->pixels[(y * WIDTH + x) * step] = (guint8) CLAMP (value + view->light + noise, 0, 255);
    }
  const SlLuma luma = { camera->pixels, WIDTH, HEIGHT, step, WIDTH * step };
  return sl_shift_see (&camera->shift, &luma, moved);
}

/* Within two pixels, quarter of a small one. */
static void
assert_moved (Camera *camera, const View *from, const View *to)
{
  gdouble moved[2];
  sl_shift_forget (&camera->shift);
  g_assert_false (see (camera, from, moved));
  g_assert_cmpfloat (hypot (moved[0], moved[1]), ==, 0);
  const gboolean seen = see (camera, to, moved);
  g_test_message ("%.2f %.2f", moved[0], moved[1]);
  g_assert_true (seen);
  for (guint k = 0; k < 2; k++)
    g_assert_cmpfloat_with_epsilon (moved[k], to->at[k] - from->at[k], 2);
}

static void
assert_still (Camera *camera, const View *from, const View *to)
{
  gdouble moved[2];
  sl_shift_forget (&camera->shift);
  see (camera, from, moved);
  g_assert_false (see (camera, to, moved));
  g_assert_cmpfloat (hypot (moved[0], moved[1]), ==, 0);
}

static void
test_known (Camera *camera, gconstpointer data)
{
  static const gint shifts[][2] = { { 8, 0 },    { 0, -8 },    { 16, 24 }, { -40, 13 }, { 3, 0 },
                                    { 70, -60 }, { -72, -76 }, { 5, -3 },  { 30, 61 } };
  camera->step = GPOINTER_TO_INT (data);
  for (guint i = 0; i < G_N_ELEMENTS (shifts); i++) {
    const View from = { .noise = 4 }, to = { .at = { shifts[i][0], shifts[i][1] }, .noise = 4 };
    assert_moved (camera, &from, &to);
  }
}

/* Frame after frame, as a camera turns. */
static void
test_on_and_on (Camera *camera, gconstpointer data)
{
  View view = { .noise = 3 };
  gdouble moved[2], sum = 0;
  see (camera, &view, moved);
  for (guint i = 0; i < 20; i++) {
    view.at[0] += 9;
    g_assert_true (see (camera, &view, moved));
    sum += moved[0];
  }
  g_assert_cmpfloat_with_epsilon (sum, 180, 10);
}

static void
test_light (Camera *camera, gconstpointer data)
{
  const View from = { .noise = 2 }, to = { .at = { 24, -16 }, .light = 25, .noise = 2 };
  assert_moved (camera, &from, &to);
}

/* A thing that covers a quarter of the picture goes its own way. */
static void
test_thing (Camera *camera, gconstpointer data)
{
  const View from = { .thing = { 100, 60, 320, 180 } },
             to = { .at = { -24, 8 }, .thing = { 140, 60, 320, 180 } },
             stays = { .thing = { 140, 70, 320, 180 } };
  assert_moved (camera, &from, &to);
  assert_still (camera, &from, &stays);
}

/* Noise alone, another scene, a picture without texture, and a light are no motion. */
static void
test_still (Camera *camera, gconstpointer data)
{
  const View from = { .noise = 8 }, cut = { .at = { 5000, 7000 } }, light = { .light = 40 },
             plain = { .noise = 3, .thing = { 0, 0, WIDTH, HEIGHT } };
  for (guint i = 0; i < 5; i++)
    assert_still (camera, &from, &from);
  assert_still (camera, &from, &cut);
  assert_still (camera, &from, &light);
  assert_still (camera, &plain, &plain);
  assert_still (camera, &plain, &from);
}

/* Noise of a wall, in pictures of which the best shift is far. */
static void
test_wall (Camera *camera, gconstpointer data)
{
  static const guint32 seeds[] = { 645, 1266, 1294, 2078, 3266 };
  for (guint i = 0; i < G_N_ELEMENTS (seeds); i++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (seeds[i]);
    sl_shift_forget (&camera->shift);
    for (guint n = 0; n < 2; n++) {
      gdouble moved[2];
      for (gsize k = 0; k < sizeof camera->pixels / 3; k++)
        camera->pixels[k] = (guint8) g_rand_int_range (rand, 227, 234);
      const SlLuma luma = { camera->pixels, WIDTH, HEIGHT, 1, WIDTH };
      g_assert_false (sl_shift_see (&camera->shift, &luma, moved));
    }
  }
}

/* Frames of another size are first frames; tiny ones say nothing. */
static void
test_sizes (Camera *camera, gconstpointer data)
{
  static const gint sizes[][2] = { { 1, 1 },   { 7, 300 },  { 63, 64 },  { 64, 64 },
                                   { 65, 80 }, { 640, 17 }, { 333, 211 } };
  gdouble moved[2];
  const View view = { 0 };
  see (camera, &view, moved);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    /* Only as many bytes as the picture has: nothing behind them is read. */
    const gsize bytes = (gsize) (sizes[i][0] * sizes[i][1]);
    g_autofree guint8 *pixels = g_memdup2 (camera->pixels, bytes);
    const SlLuma luma = { pixels, sizes[i][0], sizes[i][1], 1, sizes[i][0] };
    for (guint n = 0; n < 2; n++)
      g_assert_false (sl_shift_see (&camera->shift, &luma, moved));
  }
  g_assert_false (see (camera, &view, moved));
}

static void
teardown (Camera *camera, gconstpointer data)
{
  sl_shift_clear (&camera->shift);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/shift/known", Camera, GINT_TO_POINTER (1), NULL, test_known, teardown);
  g_test_add ("/shift/known-packed", Camera, GINT_TO_POINTER (3), NULL, test_known, teardown);
  g_test_add ("/shift/on-and-on", Camera, NULL, NULL, test_on_and_on, teardown);
  g_test_add ("/shift/light", Camera, NULL, NULL, test_light, teardown);
  g_test_add ("/shift/thing", Camera, NULL, NULL, test_thing, teardown);
  g_test_add ("/shift/still", Camera, NULL, NULL, test_still, teardown);
  g_test_add ("/shift/wall", Camera, NULL, NULL, test_wall, teardown);
  g_test_add ("/shift/sizes", Camera, NULL, NULL, test_sizes, teardown);
  return g_test_run ();
}
