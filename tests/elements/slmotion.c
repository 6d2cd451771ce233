/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slmotion on drawn scenes: a textured background with the noise of a camera, and what moves, casts
 * a shadow or is lit on it. Where the thing is drawn is the truth.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "plugins/elements.h"
#include "plugins/meta/motion_meta.h"
#include "plugins/meta/predictions.h"
#include "plugins/video/tiles.h"
#include "tests/elements/support.h"
#include "tests/read/symbols.h"
#include "tests/support/program.h"

#define WIDTH 320
#define HEIGHT 240

/* What is on a frame. @thing: x, y, width and height of a bright thing; @shadow: of a shadow; 0
 * wide = none; @light: the factor of the whole picture, at the right edge @right times that */
typedef struct
{
  gint thing[4], shadow[4];
  gdouble light, right;
} Scene;

static gboolean
is_in (const gint box[4], gint x, gint y)
{
  return x >= box[0] && x < box[0] + box[2] && y >= box[1] && y < box[1] + box[3];
}

static gdouble
background_at (gint x, gint y)
{
  static gdouble table[HEIGHT][WIDTH];
  if (table[y][x] == 0)
    table[y][x] = 110 + 40 * sin (x * 0.11) * cos (y * 0.07) + ((x / 20 + y / 20) % 2) * 20;
  return table[y][x];
}

/* Luma of the scene without noise. */
static gdouble
luma_at (const Scene *scene, gint x, gint y)
{
  gdouble value = background_at (x, y);
  if (is_in (scene->shadow, x, y))
    value *= 0.7;
  if (is_in (scene->thing, x, y))
    value = 200 - ((x + y) % 16) * 4;
  return value * scene->light * (1 + (scene->right - 1) * x / WIDTH);
}

/* -5..5: a camera's noise, by a linear congruential generator. */
static gint
next_noise (guint32 *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (gint) ((*state >> 16) % 11) - 5;
}

/* Each component of the frame has the luma. */
static GstBuffer *
draw (const Scene *scene, const GstVideoInfo *info, guint32 *noise, guint64 number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);
  GstVideoFrame frame;
  g_assert_true (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++) {
    const gint xs = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, c),
               ys = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c);
    guint8 *data = GST_VIDEO_FRAME_COMP_DATA (&frame, c);
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c); y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++) {
        const gdouble value = luma_at (scene, x * xs, y * ys) + next_noise (noise);
        data[y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c)
             + x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c)] = (guint8) CLAMP (value, 0, 255);
      }
  }
  gst_video_frame_unmap (&frame);
  GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (number, GST_SECOND, 15);
  return buffer;
}

typedef struct
{
  TestLine line;
  GstVideoInfo info;
  guint32 noise;
  guint64 number;
} Camera;

static Camera
open_camera (const char *launch, const char *format)
{
  Camera camera = { .noise = 7 };
  g_autofree char *text = g_strdup_printf (
    "video/x-raw,format=%s,width=%d,height=%d,framerate=15/1", format, WIDTH, HEIGHT);
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);
  g_assert_true (gst_video_info_from_caps (&camera.info, caps));
  camera.line = test_line_open (launch, NULL, text);
  return camera;
}

static void
close_camera (Camera *camera)
{
  test_assert_no_error (camera->line.bus);
  test_line_close (camera->line.harness, camera->line.bus);
}

/* (transfer full): what comes out for the next frame */
static GstBuffer *
show (Camera *camera, const Scene *scene)
{
  GstBuffer *in = draw (scene, &camera->info, &camera->noise, camera->number++);
  g_assert_cmpint (gst_harness_push (camera->line.harness, in), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_try_pull (camera->line.harness);
  g_assert_nonnull (out);
  return out;
}

/* The number of regions that slmotion found. */
static guint
count_regions (Camera *camera, const Scene *scene)
{
  g_autoptr (GstBuffer) out = show (camera, scene);
  const SlMotionMeta *motion = sl_buffer_get_motion (out);
  g_assert_nonnull (motion);
  return motion->n;
}

static const Scene empty = { .light = 1, .right = 1 };

/* A thing walks through: from its third frame on one region is around it, and nothing else. */
static void
test_formats (gconstpointer data)
{
  const char *format = *(const char *const *) data;
  Camera camera = open_camera ("slmotion hold=0", format);
  for (guint i = 0; i < 10; i++)
    g_assert_cmpuint (count_regions (&camera, &empty), ==, 0);
  for (gint i = 0; i < 30; i++) {
    const gint x = 20 + 7 * i, y = 60 + 2 * i;
    const Scene scene = { .thing = { x, y, 40, 60 }, .light = 1, .right = 1 };
    g_autoptr (GstBuffer) out = show (&camera, &scene);
    const SlMotionMeta *motion = sl_buffer_get_motion (out);
    if (i < 2)
      continue;
    g_assert_cmpuint (motion->n, ==, 1);
    const SlMotionBox *box = &motion->boxes[0];
    g_assert_true (box->x_min * WIDTH <= x + 4 && box->x_max * WIDTH >= x + 36);
    g_assert_true (box->y_min * HEIGHT <= y + 4 && box->y_max * HEIGHT >= y + 56);
    g_assert_true (box->x_min * WIDTH >= x - 48 && box->x_max * WIDTH <= x + 40 + 48);
    g_assert_true (box->y_min * HEIGHT >= y - 48 && box->y_max * HEIGHT <= y + 60 + 48);
  }
  close_camera (&camera);
}

static const char *const formats[] = { "NV12", "YUY2", "UYVY", "RGB", "ARGB", "GRAY8" };

/* Noise, and an exposure that goes up and down by a third: nothing moves. */
static void
test_still (void)
{
  Camera camera = open_camera ("slmotion", "NV12");
  for (guint i = 0; i < 90; i++) {
    const Scene scene = { .light = 1 - 0.33 * sin (i * 0.05), .right = 1 };
    g_assert_cmpuint (count_regions (&camera, &scene), ==, 0);
  }
  close_camera (&camera);
}

static guint64
counter_of (Camera *camera, const char *name)
{
  g_autoptr (GstElement) element = gst_harness_find_element (camera->line.harness, "slmotion");
  GstStructure *stats = NULL;
  guint64 value;
  g_object_get (element, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, name, &value));
  gst_structure_free (stats);
  return value;
}

/* A light on one side is no motion: the background begins anew, and motion is found after that. */
static void
test_light (void)
{
  Camera camera = open_camera ("slmotion", "I420");
  for (guint i = 0; i < 40; i++) {
    const Scene scene = { .light = i < 20 ? 0.5 : 0.6, .right = i < 20 ? 1 : 3 };
    g_assert_cmpuint (count_regions (&camera, &scene), ==, 0);
  }
  g_assert_cmpuint (counter_of (&camera, "relearnt"), ==, 1);
  guint found = 0;
  for (gint i = 0; i < 10; i++) {
    const Scene scene = { .thing = { 50 + 7 * i, 90, 40, 60 }, .light = 0.6, .right = 3 };
    found += count_regions (&camera, &scene) > 0;
  }
  g_assert_cmpuint (found, >=, 8);
  close_camera (&camera);
}

/* A shadow that moves has the texture of what it falls on. */
static void
test_shadow (void)
{
  static const char *const launches[] = { "slmotion", "slmotion shadows=true" };
  for (guint k = 0; k < 2; k++) {
    Camera camera = open_camera (launches[k], "I420");
    guint found = 0;
    for (gint i = 0; i < 40; i++) {
      const Scene scene = { .shadow = { 10 + 6 * i, 80, i < 10 ? 0 : 60, 70 },
                            .light = 1,
                            .right = 1 };
      found += count_regions (&camera, &scene) > 0;
    }
    if (k == 0)
      g_assert_cmpuint (found, ==, 0);
    else
      g_assert_cmpuint (found, >=, 28);
    close_camera (&camera);
  }
}

/* What stands still is motion until it has been learnt, and an ignored zone has none. */
static void
test_learn (void)
{
  Camera camera = open_camera ("slmotion learn=2 hold=0", "I420");
  const Scene parked = { .thing = { 100, 100, 50, 50 }, .light = 1, .right = 1 };
  for (guint i = 0; i < 10; i++)
    count_regions (&camera, &empty);
  for (guint i = 0; i < 10; i++)
    g_assert_cmpuint (count_regions (&camera, &parked), ==, i > 0);
  for (guint i = 0; i < 90; i++)
    count_regions (&camera, &parked);
  g_assert_cmpuint (count_regions (&camera, &parked), ==, 0);
  close_camera (&camera);
  camera =
    open_camera ("slmotion ignore=\"[zone a] points=0.2,0.2 0.8,0.2 0.8,0.9 0.2,0.9\"", "I420");
  for (guint i = 0; i < 20; i++)
    g_assert_cmpuint (count_regions (&camera, i < 10 ? &empty : &parked), ==, 0);
  close_camera (&camera);
}

/* Motion begins with a message and ends with one. */
static void
test_messages (void)
{
  Camera camera = open_camera ("slmotion hold=200", "I420");
  guint begun = 0, ended = 0;
  for (gint i = 0; i < 60; i++) {
    const Scene scene = { .thing = { 20 + 7 * i, 90, i < 10 || i > 30 ? 0 : 40, 60 },
                          .light = 1,
                          .right = 1 };
    count_regions (&camera, &scene);
  }
  GstMessage *message;
  while ((message = gst_bus_pop_filtered (camera.line.bus, GST_MESSAGE_ELEMENT)) != NULL) {
    gboolean moving;
    g_assert_true (gst_structure_has_name (gst_message_get_structure (message), "slmotion"));
    g_assert_true (
      gst_structure_get_boolean (gst_message_get_structure (message), "moving", &moving));
    g_assert_true (begun - ended == (moving ? 0 : 1));
    begun += (guint) moving;
    ended += (guint) !moving;
    gst_message_unref (message);
  }
  g_assert_cmpuint (begun, ==, 1);
  g_assert_cmpuint (ended, ==, 1);
  close_camera (&camera);
}

/* Frames of any size pass; those with less than 4x4 pixels have no motion. */
static void
test_sizes (void)
{
  static const gint sizes[][2] = { { 1, 1 }, { 3, 300 }, { 4, 4 }, { 5, 7 }, { 4099, 5 } };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree char *caps = g_strdup_printf (
      "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=15/1", sizes[i][0], sizes[i][1]);
    TestLine line = test_line_open ("slmotion", NULL, caps);
    for (guint k = 0; k < 4; k++) {
      const guint8 values[3] = { (guint8) (k % 2 * 255), 0, 0 };
      g_assert_cmpint (gst_harness_push (line.harness, test_frame (caps, values, k * GST_SECOND)),
                       ==, GST_FLOW_OK);
      g_autoptr (GstBuffer) out = gst_harness_try_pull (line.harness);
      g_assert_cmpuint (sl_buffer_get_motion (out)->n, ==, 0);
    }
    test_assert_no_error (line.bus);
    test_line_close (line.harness, line.bus);
  }
}

static void
test_refused (void)
{
  static const struct
  {
    const char *ignore, *error;
  } cases[] = { { "[line a] points=0,0 1,1",
                  "ignore: expected zones with points alone, got 'a': it is a line" },
                { "[zone c] points=0,0 1", "ignore: " } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *element = gst_element_factory_make ("slmotion", NULL);
    g_autoptr (GstBus) bus = test_watch (element);
    g_object_set (element, "ignore", cases[i].ignore, NULL);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==,
                     GST_STATE_CHANGE_FAILURE);
    test_assert_error (bus, cases[i].error, NULL);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL); /* whose messages hold the element */
    gst_object_unref (element);
  }
}

static guint
around (const SlRect *regions, guint n, SlRect *turn, SlRect *tiles, gboolean *none)
{
  static const SlRect part = { 100, 0, 1800, 1080 };
  return sl_tiles_around (&part, regions, n, 320, 320, turn, tiles, none);
}

/* Tiles have the model's shape, at least its size, and hold each region with a margin. */
static void
test_around (void)
{
  const SlRect two[] = { { 300, 300, 60, 120 }, { 420, 380, 30, 30 } },
               apart[] = { { 1700, 980, 200, 100 }, { 300, 300, 500, 200 }, { 0, 0, 50, 50 } },
               large = { 300, 10, 900, 1000 }, outside = { 0, 10, 50, 50 };
  SlRect tiles[SL_MAX_MOTION_TILES], turn = { 0 };
  gboolean none;
  g_assert_cmpuint (around (two, 2, &turn, tiles, &none), ==, 1);
  g_assert_true (!none && tiles[0].width == 320 && tiles[0].height == 320);
  g_assert_cmpint (tiles[0].x, ==, (300 - 16 + 450 + 16) / 2 - 160);
  g_assert_cmpuint (around (apart, 3, &turn, tiles, &none), ==, 2);
  g_assert_cmpint (tiles[0].width, ==, 750);
  g_assert_true (tiles[1].x + tiles[1].width == 1900 && tiles[1].y + tiles[1].height == 1080);
  g_assert_cmpuint (around (&large, 1, &turn, tiles, &none), ==, 1);
  g_assert_true (tiles[0].height == 1080 && tiles[0].width <= 1800);
  g_assert_cmpuint (around (&outside, 1, &turn, tiles, &none), ==, 0);
  g_assert_true (none);
}

static gboolean
is_inside (const SlRect *region, const SlRect *tiles, guint n)
{
  for (guint i = 0; i < n; i++)
    if (region->x >= tiles[i].x && region->y >= tiles[i].y
        && region->x + region->width <= tiles[i].x + tiles[i].width
        && region->y + region->height <= tiles[i].y + tiles[i].height)
      return TRUE;
  return FALSE;
}

/* Regions that need more than four tiles take turns: no frame has more, and each region is in a
 * tile after as many frames as fours of regions, wherever they lie. */
static void
test_turns (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  for (guint round = 0; round < 300; round++) {
    const guint n = (guint) g_rand_int_range (rand, 5, 17);
    const gint column = g_rand_int_range (rand, 120, 1700);
    SlRect regions[16], turn = { 0 };
    gboolean seen[16] = { FALSE };
    for (guint i = 0; i < n; i++)
      regions[i] = (SlRect){ round % 2 == 0 ? g_rand_int_range (rand, 120, 1800) : column,
                             g_rand_int_range (rand, 0, 1000), g_rand_int_range (rand, 4, 60),
                             g_rand_int_range (rand, 4, 60) };
    for (guint frame = 0; frame < (n + 3) / 4; frame++) {
      SlRect tiles[SL_MAX_MOTION_TILES];
      gboolean none;
      const guint count = around (regions, n, &turn, tiles, &none);
      g_assert_true (count >= 1 && count <= SL_MAX_MOTION_TILES && !none);
      for (guint i = 0; i < n; i++)
        seen[i] |= is_inside (&regions[i], tiles, count);
    }
    for (guint i = 0; i < n; i++)
      g_assert_true (seen[i]);
  }
}

static SlObjectView
object (double x_min, double y_min, double x_max, double y_max, double confidence)
{
  return (SlObjectView){ .x_min = x_min,
                         .y_min = y_min,
                         .x_max = x_max,
                         .y_max = y_max,
                         .confidence = confidence,
                         .label = "thing" };
}

/* Objects outside of all tiles are still there; those that a tile shows as a whole are what the
 * model says of it. */
static void
test_kept (void)
{
  const SlObjectView before[] = { object (0.1, 0.1, 0.2, 0.2, 0.5),
                                  object (0.6, 0.6, 0.7, 0.7, 0.6),
                                  object (0.45, 0.7, 0.55, 0.8, 0.7) },
                     now[] = { object (0.65, 0.65, 0.75, 0.75, 0.9) };
  const SlRect tile = { 50, 50, 40, 40 }, whole = { 0, 0, 100, 100 };
  SlPredictionView view = { .width = 100, .height = 100, .n_objects = 3, .objects = before };
  SlTiles *tiles = sl_tiles_new ();
  sl_tiles_keep (tiles, &view);
  for (guint round = 0; round < 3; round++) {
    view.objects = now;
    view.n_objects = 1;
    sl_tiles_clear (tiles);
    sl_tiles_add (tiles, &view, &tile, &whole);
    sl_tiles_merge_motion (tiles, &view, 0.45, 1000);
    g_assert_cmpuint (view.n_objects, ==, 3);
    g_assert_cmpfloat (view.objects[0].confidence, ==, 0.9);
    g_assert_cmpfloat (view.objects[1].confidence, ==, 0.7); /* half of it is in the tile */
    g_assert_cmpfloat (view.objects[2].confidence, ==, 0.5);
  }
  sl_tiles_forget (tiles);
  view.objects = now;
  view.n_objects = 1;
  sl_tiles_add (tiles, &view, &tile, &whole);
  sl_tiles_merge_motion (tiles, &view, 0.45, 1000);
  g_assert_cmpuint (view.n_objects, ==, 1);
  sl_tiles_free (tiles);
}

/* A whole frame between tiles: what tiles show stays, in that frame and in the next ones. */
static void
test_whole_between (void)
{
  const SlObjectView small[] = { object (0.6, 0.6, 0.62, 0.64, 0.6) },
                     large[] = { object (0.1, 0.1, 0.3, 0.9, 0.8) };
  static const struct
  {
    SlFrameContent content;
    SlRect part;
    guint own, expected;
  } steps[] = { { SL_FRAME_TILE, { 50, 50, 40, 40 }, 1, 0 },
                { SL_FRAME_AFTER_TILES, { 0, 0, 100, 100 }, 2, 2 },
                { SL_FRAME_LAST_TILE, { 40, 0, 40, 40 }, 0, 2 },
                { SL_FRAME_WHOLE, { 0, 0, 100, 100 }, 2, 1 } };
  GstBuffer *frames[3] = { gst_buffer_new (), gst_buffer_new (), gst_buffer_new () };
  SlTiles *tiles = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    SlFrameMeta meta = { .frame = frames[i == 0 ? 0 : i - 1],
                         .content = steps[i].content,
                         .part = steps[i].part,
                         .divided = { 0, 0, 100, 100 },
                         .motion = TRUE };
    SlPredictionView view = { .width = 100,
                              .height = 100,
                              .n_objects = steps[i].own > 0,
                              .objects = steps[i].own == 1 ? small : large };
    g_assert_cmpint (sl_tiles_gather (&tiles, &meta, &view, 0.45, 1000), ==, i == 0);
    if (i > 0)
      g_assert_cmpuint (view.n_objects, ==, steps[i].expected);
  }
  for (guint i = 0; i < G_N_ELEMENTS (frames); i++)
    gst_buffer_unref (frames[i]);
  sl_tiles_free (tiles);
}

/* A code of 70 pixels on a gray frame of 2000x1500, at @x; -1 = none. */
static GstBuffer *
code_frame (TestSymbol *symbol, gint x, guint64 number)
{
  GstMapInfo map;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 2000 * 1500, NULL);
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  memset (map.data, 150, map.size);
  if (x >= 0)
    test_draw_symbol (map.data + 900 * 2000 + x, 140, 140, 2000, symbol);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * 100 * GST_MSECOND;
  return buffer;
}

/* Runs slpredict on 16 frames; a code moves from the seventh on. Returns on how many it was found;
 * @looked has a bit for each frame that the model saw. */
static guint
find_code (const char *interval, guint *looked)
{
  TestSymbol symbol = { 70, 70, 2.4, 0 };
  g_autofree char *launch =
    g_strdup_printf ("slmotion ! slpredict tiles=motion full-interval=%s", interval);
  TestLine line =
    test_line_open (launch, NULL, "video/x-raw,format=GRAY8,width=2000,height=1500,framerate=10/1");
  SlPredictionReader reader;
  guint found = 0;
  *looked = 0;
  sl_prediction_reader_init (&reader);
  for (guint i = 0; i < 16; i++) {
    const gint x = i < 6 ? -1 : 200 + 60 * (gint) (i - 6);
    g_assert_cmpint (gst_harness_push (line.harness, code_frame (&symbol, x, i)), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
    SlPredictionView view = { .width = 2000, .height = 1500 };
    sl_prediction_reader_read (&reader, out, &view);
    *looked |= (guint) sl_buffer_was_looked_at (out) << i;
    for (guint k = 0; k < view.n_objects; k++)
      found += strcmp (view.objects[k].label, "qr") == 0
               && ABS (view.objects[k].x + view.objects[k].w / 2 - (x + 70)) < 20
               && ABS (view.objects[k].y + view.objects[k].h / 2 - 970) < 20;
  }
  sl_prediction_reader_clear (&reader);
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
  return found;
}

/* The model sees a small code where it moves, and nothing runs while nothing moves. Whole frames in
 * between, on which the code is too small, take nothing away. */
static void
test_predict (void)
{
  guint looked;
  const guint found = find_code ("60", &looked);
  g_assert_cmpuint (found, >=, 8);
  g_assert_cmphex (looked, ==, 0xff81);
  g_assert_cmpuint (find_code ("0.3", &looked), ==, found);
  g_assert_cmphex (looked, ==, 0xffc9);
  g_assert_cmpuint (find_code ("0", &looked), ==, found);
  g_assert_cmphex (looked, ==, 0xffff);
}

/* More codes move than a frame has tiles: all are found, on each frame, where they are or were a
 * moment before. Nothing is ever found twice. */
static void
test_many (void)
{
  static const gint places[][2] = { { 80, 60 },    { 900, 60 },   { 1700, 60 },
                                    { 200, 1250 }, { 980, 1250 }, { 1640, 1250 } };
  TestSymbol symbol = { 70, 70, 2.4, 0 };
  TestLine line = test_line_open ("slmotion ! slpredict tiles=motion full-interval=60", NULL,
                                  "video/x-raw,format=GRAY8,width=2000,height=1500,framerate=10/1");
  SlPredictionReader reader;
  sl_prediction_reader_init (&reader);
  for (guint i = 0; i < 12; i++) {
    const gint shift = i % 2 == 0 ? 0 : 24;
    GstBuffer *frame = code_frame (&symbol, -1, i);
    GstMapInfo map;
    g_assert_true (gst_buffer_map (frame, &map, GST_MAP_WRITE));
    for (guint k = 0; k < G_N_ELEMENTS (places) && i > 2; k++)
      test_draw_symbol (map.data + places[k][1] * 2000 + places[k][0] + shift, 140, 140, 2000,
                        &symbol);
    gst_buffer_unmap (frame, &map);
    g_assert_cmpint (gst_harness_push (line.harness, frame), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
    SlPredictionView view = { .width = 2000, .height = 1500 };
    sl_prediction_reader_read (&reader, out, &view);
    guint found = 0;
    for (guint k = 0; k < view.n_objects; k++)
      for (guint place = 0; place < G_N_ELEMENTS (places); place++)
        found += strcmp (view.objects[k].label, "qr") == 0
                 && ABS (view.objects[k].x + view.objects[k].w / 2 - (places[place][0] + 82)) < 40
                 && ABS (view.objects[k].y + view.objects[k].h / 2 - (places[place][1] + 70)) < 40;
    g_assert_cmpuint (view.n_objects, <=, G_N_ELEMENTS (places));
    if (i >= 6)
      g_assert_cmpuint (found, ==, G_N_ELEMENTS (places));
  }
  sl_prediction_reader_clear (&reader);
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
}

/* Without slmotion the model looks at whole frames, which is said. */
static void
test_unseen (void)
{
  TestLine line = test_line_open ("slpredict tiles=motion", NULL,
                                  "video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1");
  for (guint i = 0; i < 3; i++) {
    const guint8 values[3] = { 90, 0, 0 };
    g_assert_cmpint (
      gst_harness_push (line.harness,
                        test_frame ("video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1",
                                    values, i * 100 * GST_MSECOND)),
      ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
    g_assert_true (sl_buffer_was_looked_at (out));
  }
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (line.bus, GST_MESSAGE_WARNING);
  g_autoptr (GError) warning = NULL;
  g_assert_nonnull (message);
  gst_message_parse_warning (message, &warning, NULL);
  g_assert_cmpstr (
    warning->message, ==,
    "tiles=motion: frames come without regions of motion; expected slmotion upstream: the model "
    "looks at whole frames");
  g_assert_null (gst_bus_pop_filtered (line.bus, GST_MESSAGE_WARNING));
  test_line_close (line.harness, line.bus);
}

/* Time of a frame of 1920x1080, printed; the processor decides. */
static void
test_time (void)
{
  static const char *const names[] = { "NV12", "YUY2", "RGB" };
  for (guint k = 0; k < G_N_ELEMENTS (names); k++) {
    g_autofree char *caps =
      g_strdup_printf ("video/x-raw,format=%s,width=1920,height=1080,framerate=15/1", names[k]);
    TestLine line = test_line_open ("slmotion", NULL, caps);
    gint64 least = G_MAXINT64;
    for (guint i = 0; i < 10; i++) {
      const guint8 values[3] = { 90, 128, 128 };
      GstBuffer *in = test_frame (caps, values, i * GST_SECOND / 15);
      const gint64 start = g_get_monotonic_time ();
      g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
      if (i > 0)
        least = MIN (least, g_get_monotonic_time () - start);
      gst_buffer_unref (gst_harness_pull (line.harness));
    }
    g_test_message ("%s 1920x1080: %.2f ms", names[k], (double) least / 1000);
    test_line_close (line.harness, line.bus);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree char *path = g_strconcat ("/slmotion/formats/", formats[i], NULL);
    g_test_add_data_func (path, &formats[i], test_formats);
  }
  g_test_add_func ("/slmotion/still", test_still);
  g_test_add_func ("/slmotion/light", test_light);
  g_test_add_func ("/slmotion/shadow", test_shadow);
  g_test_add_func ("/slmotion/learn", test_learn);
  g_test_add_func ("/slmotion/messages", test_messages);
  g_test_add_func ("/slmotion/sizes", test_sizes);
  g_test_add_func ("/slmotion/refused", test_refused);
  g_test_add_func ("/slmotion/around", test_around);
  g_test_add_func ("/slmotion/turns", test_turns);
  g_test_add_func ("/slmotion/kept", test_kept);
  g_test_add_func ("/slmotion/whole_between", test_whole_between);
  g_test_add_func ("/slmotion/predict", test_predict);
  g_test_add_func ("/slmotion/many", test_many);
  g_test_add_func ("/slmotion/unseen", test_unseen);
  g_test_add_func ("/slmotion/time", test_time);
  return test_elements_run ();
}
