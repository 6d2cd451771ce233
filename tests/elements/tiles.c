/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tiles: where they lie, what is merged of them, and the code finder in the box on a code that is
 * too small on the whole frame.
 */
#include "plugins/video/tiles.h"

#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "plugins/meta/predictions.h"
#include "tests/elements/support.h"
#include "tests/read/symbols.h"
#include "tests/support/program.h"

static void
test_parse (void)
{
  static const char *const wrong[] = { "2",    "2x",   "x2",   "0x2", "2x9",           "2x2x2",
                                       "-1x2", " 2x2", "2x 2", "2X2", "99999999999x2", "2x2 " };
  guint columns = 9, rows = 9;
  g_assert_true (sl_tiles_parse ("3x8", &columns, &rows, NULL) && columns == 3 && rows == 8);
  g_assert_true (sl_tiles_parse (NULL, &columns, &rows, NULL) && columns == 1 && rows == 1);
  g_assert_true (sl_tiles_parse ("", &columns, &rows, NULL) && columns == 1 && rows == 1);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *expected =
      g_strdup_printf ("tiles=%s: expected COLUMNSxROWS, each 1..8, such as tiles=2x2", wrong[i]);
    g_assert_false (sl_tiles_parse (wrong[i], &columns, &rows, &error));
    g_assert_cmpstr (error->message, ==, expected);
    g_assert_true (columns == 1 && rows == 1);
  }
}

/* Every pixel is in a tile, none is outside, and neighbours have a fifth of a tile in common. */
static void
test_place (void)
{
  const SlRect whole = { 10, 20, 1000, 701 }, tiny = { 0, 0, 3, 1 };
  gint end = 10;
  for (guint i = 0; i < 4; i++) {
    const SlRect tile = sl_tiles_place (&whole, 4, 1, i);
    const double side = 1000 / (4 - 3 * 0.2);
    g_assert_cmpint (tile.y, ==, 20);
    g_assert_cmpint (tile.height, ==, 701);
    g_assert_cmpfloat_with_epsilon (tile.width, side, 2);
    g_assert_cmpfloat_with_epsilon (end - tile.x, i > 0 ? 0.2 * side : 0, 2);
    end = tile.x + tile.width;
  }
  g_assert_cmpint (end, ==, 1010);
  for (guint i = 0; i < 64; i++) {
    const SlRect tile = sl_tiles_place (&tiny, 8, 8, i);
    g_assert_true (tile.x >= 0 && tile.y >= 0 && tile.width >= 1 && tile.height >= 1);
    g_assert_true (tile.x + tile.width <= 3 && tile.y + tile.height <= 1);
  }
}

/* A tensor that is cropped shows the middle of a tile; one that is stretched, or has bars, all of
 * it. */
static void
test_seen (void)
{
  static const struct
  {
    SlFit fit;
    SlOrientation orientation;
    SlRect seen;
  } cases[] = {
    { SL_FIT_STRETCH, SL_ORIENTATION_IDENTITY, { 100, 50, 200, 100 } },
    { SL_FIT_LETTERBOX, SL_ORIENTATION_IDENTITY, { 100, 50, 200, 100 } },
    { SL_FIT_CROP, SL_ORIENTATION_IDENTITY, { 150, 50, 100, 100 } },
    { SL_FIT_CROP, SL_ORIENTATION_90R, { 150, 50, 100, 100 } },
  };
  const SlRect tile = { 100, 50, 200, 100 };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlAffine affine;
    sl_affine_view (&affine, cases[i].fit, cases[i].orientation, &tile, 64, 64);
    const SlRect seen = sl_tiles_seen (&tile, &affine, 64, 64);
    g_assert_cmpmem (&seen, sizeof seen, &cases[i].seen, sizeof seen);
  }
}

static void
test_described (void)
{
  static const char *const caps = "video/x-raw,format=RGB,width=100,height=20,framerate=25/1";
  static const SlRect parts[] = { { 29, 0, 10, 10 }, { 51, 0, 10, 10 } },
                      divided = { 20, 0, 50, 10 };
  const guint8 colour[3] = { 1, 2, 3 };
  TestLine line = test_line_open (
    "slnormalize tiles=2x1 fit=crop width=8 height=8 type=uint8 crop-x=20 crop-width=50 "
    "crop-height=10",
    NULL, caps);
  g_assert_cmpint (gst_harness_push (line.harness, test_frame (caps, colour, 0)), ==, GST_FLOW_OK);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
    const SlFrameMeta *meta = sl_buffer_get_frame_meta (out);
    g_assert_cmpint (meta->content, ==, i < 2 ? SL_FRAME_TILE : SL_FRAME_AFTER_TILES);
    if (i < 2) {
      g_assert_cmpmem (&meta->part, sizeof meta->part, &parts[i], sizeof parts[i]);
      g_assert_cmpmem (&meta->divided, sizeof meta->divided, &divided, sizeof divided);
    }
  }
  test_line_close (line.harness, line.bus);
}

/* Tensors of tiles, and then one of the whole frame, are the same to the bit with any number of
 * threads. */
static void
test_threads (void)
{
  static const char *const caps = "video/x-raw,format=RGB,width=300,height=200,framerate=25/1";
  static const char *const directions[] = { "identity", "90r" };
  const guint n = 3 * 300 * 200;
  g_autofree guint8 *pixels = g_malloc (n);
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  for (guint i = 0; i < n; i++)
    pixels[i] = (guint8) g_rand_int (rand);
  for (guint d = 0; d < G_N_ELEMENTS (directions); d++) {
    TestLine lines[2];
    for (guint k = 0; k < 2; k++) {
      g_autofree char *launch = g_strdup_printf (
        "slnormalize tiles=3x2 crop-width=299 width=96 height=64 std=255 type=float32 "
        "video-direction=%s threads=%u",
        directions[d], 1 + 3 * k);
      lines[k] = test_line_open (launch, NULL, caps);
      for (guint frame = 0; frame < 2; frame++) {
        GstBuffer *in = test_tensor_buffer (pixels, n);
        GST_BUFFER_PTS (in) = frame;
        g_assert_cmpint (gst_harness_push (lines[k].harness, in), ==, GST_FLOW_OK);
      }
    }
    for (guint i = 0; i < 14; i++) {
      GstMapInfo maps[2];
      GstBuffer *out[2] = { gst_harness_pull (lines[0].harness),
                            gst_harness_pull (lines[1].harness) };
      g_assert_true (gst_buffer_map (out[0], &maps[0], GST_MAP_READ)
                     && gst_buffer_map (out[1], &maps[1], GST_MAP_READ));
      g_assert_cmpmem (maps[0].data, maps[0].size, maps[1].data, maps[1].size);
      for (guint k = 0; k < 2; k++) {
        gst_buffer_unmap (out[k], &maps[k]);
        gst_buffer_unref (out[k]);
      }
    }
    for (guint k = 0; k < 2; k++)
      test_line_close (lines[k].harness, lines[k].bus);
  }
}

static SlObjectView
box (double x0, double y0, double x1, double y1, double confidence, gint32 label_id)
{
  return (SlObjectView){ .x_min = x0,
                         .y_min = y0,
                         .x_max = x1,
                         .y_max = y1,
                         .confidence = confidence,
                         .label_id = label_id,
                         .label = "thing" };
}

/* A frame of 100x100 in tiles of 0..56 and 44..100: what is cut goes, what two saw is there once,
 * and the best come first. */
static void
test_merge (void)
{
  const SlObjectView first[] = { box (0.1, 0.1, 0.3, 0.3, 0.6, 0),
                                 box (0.3, 0.3, 0.56, 0.5, 0.9, 0),
                                 box (0.46, 0, 0.54, 0.2, 0.5, 1) };
  const SlObjectView second[] = { box (0.46, 0, 0.54, 0.2, 0.7, 1),
                                  box (0.44, 0.3, 0.7, 0.5, 0.9, 0), box (0.8, 0.8, 1, 1, 0.4, 2) };
  const SlObjectView last[] = { box (0.3, 0.3, 0.7, 0.5, 0.8, 0),
                                box (0.1, 0.1, 0.29, 0.3, 0.65, 5), box (0.8, 0.7, 1, 1, 0.3, 3) };
  const SlRect left = { 0, 0, 56, 100 }, right = { 44, 0, 56, 100 }, whole = { 0, 0, 100, 100 };
  SlPredictionView view = { .width = 100, .height = 100, .n_objects = 3, .objects = first };
  SlTiles *tiles = sl_tiles_new ();
  for (guint round = 0; round < 2; round++) {
    const guint most = round == 0 ? 1000 : 2;
    view.objects = first;
    view.n_objects = 3;
    sl_tiles_add (tiles, &view, &left, &whole);
    view.objects = second;
    sl_tiles_add (tiles, &view, &right, &whole);
    view.objects = last;
    sl_tiles_merge (tiles, &view, 0.45, most);
    const double expected[] = { 0.8, 0.7, 0.65, 0.4, 0.3 };
    g_assert_cmpuint (view.n_objects, ==, MIN (most, 5));
    for (guint i = 0; i < view.n_objects; i++) {
      g_assert_cmpfloat (view.objects[i].confidence, ==, expected[i]);
      g_assert_cmpstr (view.objects[i].label, ==, "thing");
    }
    sl_tiles_clear (tiles);
  }
  sl_tiles_free (tiles);
  sl_tiles_free (NULL);
}

/* Where a part of the frame is divided, its edges cut nothing: the model alone would see no more.
 */
static void
test_part (void)
{
  const SlObjectView objects[] = { box (0.2, 0.2, 0.3, 0.4, 0.9, 0),
                                   box (0.4, 0.3, 0.5, 0.4, 0.8, 0),
                                   box (0.3, 0.75, 0.35, 0.8, 0.7, 0) };
  const SlRect divided = { 20, 20, 60, 60 }, tile = { 20, 20, 30, 60 },
               cropped = { 20, 30, 30, 30 };
  SlPredictionView view = { .width = 100, .height = 100, .n_objects = 3, .objects = objects };
  SlTiles *tiles = sl_tiles_new ();
  sl_tiles_add (tiles, &view, &tile, &divided);
  view.n_objects = 0;
  sl_tiles_merge (tiles, &view, 0.45, 1000);
  g_assert_cmpuint (view.n_objects, ==, 2);
  g_assert_true (view.objects[0].confidence == 0.9 && view.objects[1].confidence == 0.7);
  sl_tiles_clear (tiles);
  view.objects =
    (const SlObjectView[]){ box (0.2, 0.3, 0.3, 0.4, 0.9, 0), box (0.25, 0.4, 0.3, 0.5, 0.8, 0) };
  view.n_objects = 2;
  sl_tiles_add (tiles, &view, &cropped, &divided);
  view.n_objects = 0;
  sl_tiles_merge (tiles, &view, 0.45, 1000);
  g_assert_cmpuint (view.n_objects, ==, 1);
  g_assert_true (view.objects[0].confidence == 0.8);
  sl_tiles_free (tiles);
}

/* A code of 60 pixels on a frame of 2000x1500. */
static GstBuffer *
new_frame (TestSymbol *symbol)
{
  GstMapInfo map;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 2000 * 1500, NULL);
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  memset (map.data, 150, map.size);
  test_draw_symbol (map.data + 900 * 2000 + 1300, 140, 140, 2000, symbol);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

static void
test_small_code (void)
{
  static const char *const launches[] = { "slpredict", "slpredict tiles=3x3" };
  TestSymbol symbol = { 70, 70, 2.4, 0 };
  for (guint i = 0; i < 2; i++) {
    SlPredictionView view = { .width = 2000, .height = 1500 };
    SlPredictionReader reader;
    g_autoptr (GstBuffer) out = test_line_run (
      launches[i], NULL, "video/x-raw,format=GRAY8,width=2000,height=1500,framerate=25/1",
      new_frame (&symbol));
    sl_prediction_reader_init (&reader);
    sl_prediction_reader_read (&reader, out, &view);
    g_assert_cmpuint (view.n_objects, ==, i);
    if (i == 1) {
      g_assert_cmpstr (view.objects[0].label, ==, "qr");
      g_assert_cmpint (ABS (view.objects[0].x + view.objects[0].w / 2 - 1370), <, 20);
      g_assert_cmpint (ABS (view.objects[0].y + view.objects[0].h / 2 - 970), <, 20);
    }
    sl_prediction_reader_clear (&reader);
  }
}

static void
test_refused (void)
{
  static const struct
  {
    const char *launch, *message;
  } cases[] = {
    { "slpredict tiles=2by2",
      "tiles=2by2: expected COLUMNSxROWS, each 1..8, such as tiles=2x2, or tiles=motion behind "
      "slmotion" },
    { "slpredict tiles=2x2 object-class=qr",
      "tiles=2x2 and objects=true, as object-class and object-alignment of slpredict set it: "
      "expected one of them: unset the other" },
    { "slpredict tiles=motion object-class=qr",
      "tiles=motion and objects=true, as object-class and object-alignment of slpredict set it: "
      "expected one of them: unset the other" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    TestLine line = test_line_open (cases[i].launch, NULL,
                                    "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1");
    GstBuffer *in = gst_buffer_new_allocate (NULL, 64 * 48, NULL);
    g_assert_cmpint (gst_harness_push (line.harness, in), !=, GST_FLOW_OK);
    test_assert_error (line.bus, cases[i].message, NULL);
    test_line_close (line.harness, line.bus);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/tiles/parse", test_parse);
  g_test_add_func ("/tiles/place", test_place);
  g_test_add_func ("/tiles/seen", test_seen);
  g_test_add_func ("/tiles/described", test_described);
  g_test_add_func ("/tiles/threads", test_threads);
  g_test_add_func ("/tiles/merge", test_merge);
  g_test_add_func ("/tiles/part", test_part);
  g_test_add_func ("/tiles/small-code", test_small_code);
  g_test_add_func ("/tiles/refused", test_refused);
  return test_elements_run ();
}
