/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sltrack appearance=MODEL at faces with points: where models that recognise faces have the eyes,
 * nose and mouth, they lie in the model's picture. A person of two colours stands for that picture,
 * so its embedding is known from a box that is exactly around it.
 */
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#include "plugins/meta/regions/keypoints.h"
#include "plugins/meta/regions/look.h"
#include "tests/elements/people.h"
#include "tests/elements/support.h"
#include "tests/support/looks_model.h"
#include "tests/support/program.h"

/* The model's picture is twice as high as wide: 30 x 60 around the square of a face. */
#define WIDTH 30
#define HEIGHT 60
#define CENTRE_X 145
#define CENTRE_Y 110

typedef struct
{
  const char *names[6];
  guint n;
} Names;

static const Names
  short_range = { { "right_eye", "left_eye", "nose", "mouth", "right_ear", "left_ear" }, 6 },
  corners = { { "right_eye", "left_eye", "nose", "right_mouth", "left_mouth" }, 5 },
  body = { { "nose", "left_eye", "right_eye", "left_shoulder", "right_shoulder" }, 5 },
  mouth = { { "nose", "mouth" }, 2 };

/* In a square of 112 pixels, as ArcFace's authors state; "mouth" is between its corners. */
static const struct
{
  const char *name;
  gdouble x, y;
} places[] = { { "right_eye", 38.2946, 51.6963 },
               { "left_eye", 73.5318, 51.5014 },
               { "nose", 56.0252, 71.7366 },
               { "right_mouth", 41.5493, 92.3655 },
               { "left_mouth", 70.7299, 92.2041 },
               { "mouth", 56.1396, 92.2848 },
               { "right_ear", 10, 60 },
               { "left_ear", 100, 60 },
               { "left_shoulder", 90, 140 },
               { "right_shoulder", 20, 140 } };

/* Red over blue, upright; or turned, with its head to the left. */
static void
draw (GstBuffer *buffer, gboolean turned)
{
  static const guint8 colours[2][3] = { { 220, 30, 30 }, { 20, 20, 210 } };
  const gint w = turned ? HEIGHT : WIDTH, h = turned ? WIDTH : HEIGHT;
  GstMapInfo map;
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gint y = 0; y < h; y++)
    for (gint x = 0; x < w; x++)
      memcpy (map.data + ((CENTRE_Y - h / 2 + y) * TEST_PEOPLE_WIDTH + CENTRE_X - w / 2 + x) * 3,
              colours[turned ? x >= w / 2 : y >= h / 2], 3);
  gst_buffer_unmap (buffer, &map);
}

static SlPoint
place (const char *name, gboolean turned)
{
  SlPoint point = { 0, 0, 0.9 };
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    const gdouble x = (places[i].x - 56) * WIDTH / 112, y = (places[i].y - 56) * WIDTH / 112;
    if (strcmp (places[i].name, name) == 0) {
      point.x = (CENTRE_X + (turned ? y : x)) / TEST_PEOPLE_WIDTH;
      point.y = (CENTRE_Y + (turned ? -x : y)) / TEST_PEOPLE_HEIGHT;
    }
  }
  return point;
}

static void
add_points (GstBuffer *buffer, const Names *names, gboolean turned)
{
  GstVideoRegionOfInterestMeta *region = gst_buffer_get_video_region_of_interest_meta (buffer);
  SlPoint points[G_N_ELEMENTS (names->names)];
  const SlSkeleton skeleton = { .n_points = names->n, .names = names->names };
  for (guint i = 0; i < names->n; i++)
    points[i] = place (names->names[i], turned);
  const SlObjectView object = { .x_min = (gdouble) region->x / TEST_PEOPLE_WIDTH,
                                .y_min = (gdouble) region->y / TEST_PEOPLE_HEIGHT,
                                .x_max = (gdouble) (region->x + region->w) / TEST_PEOPLE_WIDTH,
                                .y_max = (gdouble) (region->y + region->h) / TEST_PEOPLE_HEIGHT,
                                .n_points = names->n,
                                .points = points };
  sl_region_add_points (region, &object, &skeleton);
}

/* (transfer full): the embedding of an object with the box @box: x, y, width, height. */
static GBytes *
look_at (const guint box[4], const Names *names, gboolean turned)
{
  g_autofree char *model = test_looks_file (1);
  g_autofree char *launch = g_strdup_printf (
    "sltrack appearance=%s appearance-settings=\"mean=127.5 std=127.5\" appearance-batch=1", model);
  TestLine line = test_line_open (launch, NULL, TEST_PEOPLE_CAPS);
  g_autoptr (GstQuery) query = sl_looks_query ();
  GstBuffer *in = test_people_frame (0);
  draw (in, turned);
  test_people_add_region (in, box[0], box[1], box[2], box[3]);
  if (names != NULL)
    add_points (in, names, turned);
  g_assert_true (gst_pad_peer_query (line.harness->sinkpad, query));
  g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (line.harness);
  g_autoptr (GstBuffer) look =
    sl_region_take_look (gst_buffer_get_video_region_of_interest_meta (out), LOOKS_MODEL_LENGTH);
  gpointer numbers;
  gsize bytes;
  g_assert_nonnull (look);
  gst_buffer_extract_dup (look, 0, gst_buffer_get_size (look), &numbers, &bytes);
  gst_buffer_unref (out);
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
  test_remove_file (model);
  return g_bytes_new_take (numbers, bytes);
}

static gdouble
cosine (GBytes *a, GBytes *b)
{
  const gfloat *x = g_bytes_get_data (a, NULL), *y = g_bytes_get_data (b, NULL);
  gdouble product = 0, xx = 0, yy = 0;
  for (guint i = 0; i < LOOKS_MODEL_LENGTH; i++) {
    product += (gdouble) x[i] * y[i];
    xx += (gdouble) x[i] * x[i];
    yy += (gdouble) y[i] * y[i];
  }
  return product / sqrt (xx * yy);
}

static const guint exact[4] = { CENTRE_X - WIDTH / 2, CENTRE_Y - HEIGHT / 2, WIDTH, HEIGHT },
                   lower[4] = { CENTRE_X - 12, CENTRE_Y - 8, 40, 40 };

static void
test_places (void)
{
  static const struct
  {
    const Names *names;
    gboolean turned;
  } cases[] = {
    { &short_range, FALSE }, { &short_range, TRUE }, { &corners, FALSE }, { &corners, TRUE }
  };
  g_autoptr (GBytes) expected = look_at (exact, NULL, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GBytes) got = look_at (lower, cases[i].names, cases[i].turned);
    g_autoptr (GBytes) box = look_at (lower, NULL, cases[i].turned);
    g_assert_cmpfloat (cosine (got, expected), >, 0.99);
    g_assert_cmpfloat (cosine (box, expected), <, 0.9);
  }
}

/* Poses of bodies have eyes, too, and points without eyes say nothing: their box counts. */
static void
test_boxes (void)
{
  g_autoptr (GBytes) box = look_at (lower, NULL, FALSE);
  g_autoptr (GBytes) pose = look_at (lower, &body, FALSE);
  g_autoptr (GBytes) blind = look_at (lower, &mouth, FALSE);
  g_assert_true (g_bytes_equal (pose, box));
  g_assert_true (g_bytes_equal (blind, box));
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/sltrack/faces/places", test_places);
  g_test_add_func ("/sltrack/faces/boxes", test_boxes);
  return test_elements_run ();
}
