/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sloverlay on every format it takes, converted to RGB by GStreamer and looked at: what is drawn
 * where, what is left alone, and what metas of strangers do.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "plugins/elements.h"
#include "plugins/base/byte_pool.h"
#include "plugins/overlay/canvas.h"
#include "plugins/overlay/draw.h"
#include "plugins/meta/mask_meta.h"
#include "plugins/meta/predictions.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define WIDTH 96
#define HEIGHT 80

static const char *const formats[] = { "I420", "YV12", "NV12", "NV21", "Y42B", "Y444",
                                       "NV16", "NV24", "YUY2", "UYVY", "YVYU", "RGB",
                                       "BGR",  "RGBA", "BGRA", "RGBx", "BGRx", "ARGB",
                                       "ABGR", "xRGB", "xBGR", "GRAY8" };

/* A frame of middle gray. */
static GstBuffer *
gray_frame (const char *format, gint width, gint height, char **caps)
{
  *caps = g_strdup_printf ("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1", format, width,
                           height);
  g_autoptr (GstCaps) parsed = gst_caps_from_string (*caps);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, parsed));
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (buffer, 0, 128, info.size);
  return buffer;
}

static void
add_region (GstBuffer *buffer, const char *label, gint label_id, guint x, guint y, guint w, guint h)
{
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (buffer, label, x, y, w, h);
  gst_video_region_of_interest_meta_add_param (
    region, gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, 0.87, "label_id",
                               G_TYPE_INT, label_id, NULL));
}

/* @frame through sloverlay with @properties, as packed RGB. */
static guint8 *
draw (GstBuffer *frame, const char *caps, const char *properties, gint width, gint height)
{
  g_autofree char *launch = g_strdup_printf (
    "sloverlay %s ! videoconvert dither=none chroma-resampler=nearest", properties);
  g_autofree char *rgb =
    g_strdup_printf ("video/x-raw,format=RGB,width=%d,height=%d,framerate=25/1", width, height);
  GstBuffer *out = test_line_run (launch, rgb, caps, frame);
  g_autoptr (GstCaps) parsed = gst_caps_from_string (rgb);
  GstVideoInfo info;
  GstVideoFrame mapped;
  gst_video_info_from_caps (&info, parsed);
  g_assert_true (gst_video_frame_map (&mapped, &info, out, GST_MAP_READ));
  guint8 *pixels = g_malloc ((gsize) width * (gsize) height * 3);
  for (gint y = 0; y < height; y++)
    memcpy (pixels + (gsize) y * (gsize) width * 3,
            (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&mapped, 0)
              + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&mapped, 0),
            (gsize) width * 3);
  gst_video_frame_unmap (&mapped);
  gst_buffer_unref (out);
  return pixels;
}

static gboolean
near (const guint8 *pixel, guint32 rgb, gint slack)
{
  return abs (pixel[0] - (gint) (rgb >> 16 & 0xff)) <= slack
         && abs (pixel[1] - (gint) (rgb >> 8 & 0xff)) <= slack
         && abs (pixel[2] - (gint) (rgb & 0xff)) <= slack;
}

static const guint8 *
at (const guint8 *pixels, gint x, gint y)
{
  return pixels + (y * WIDTH + x) * 3;
}

/* What @rgb looks like in @format: gray keeps its luma. */
static guint32
seen (const char *format, guint32 rgb)
{
  if (strcmp (format, "GRAY8") != 0)
    return rgb;
  const guint luma =
    (guint) lrint (0.299 * (rgb >> 16 & 0xff) + 0.587 * (rgb >> 8 & 0xff) + 0.114 * (rgb & 0xff));
  return luma << 16 | luma << 8 | luma;
}

/* GStreamer interpolates chroma, so colours of subsampled formats bleed over edges when it converts
 * them. */
static gboolean
bleeds (const char *format, gint distance)
{
  static const char *const subsampled[] = { "I420", "YV12", "NV12", "NV21", "Y42B",
                                            "NV16", "YUY2", "UYVY", "YVYU", NULL };
  return g_strv_contains (subsampled, format) && distance < 3;
}

/* Pixels between (x, y) and the nearest edge of the rectangle, inside or outside. */
static gint
edge_distance (gint x, gint y, gint left, gint top, gint right, gint bottom)
{
  const gint dx = MIN (ABS (x - left), ABS (x + 1 - right)),
             dy = MIN (ABS (y - top), ABS (y + 1 - bottom));
  const gboolean in_x = x >= left && x < right, in_y = y >= top && y < bottom;
  return in_x && in_y ? MIN (dx, dy) : MAX (in_x ? 0 : dx, in_y ? 0 : dy);
}

static void
test_box (gconstpointer data)
{
  const char *format = data;
  g_autofree char *caps = NULL;
  GstBuffer *plain = gray_frame (format, WIDTH, HEIGHT, &caps);
  GstBuffer *frame = gst_buffer_copy_deep (plain);
  add_region (frame, "cat", 5, 16, 8, 64, 48);
  g_autofree guint8 *before = draw (plain, caps, "", WIDTH, HEIGHT);
  g_autofree guint8 *after =
    draw (frame, caps, "labels=false scores=false thickness=8", WIDTH, HEIGHT);
  const guint32 colour = seen (format, sl_draw_colour (5, "cat"));
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++) {
      const gboolean outer = x >= 16 && x < 80 && y >= 8 && y < 56,
                     inner = x >= 24 && x < 72 && y >= 16 && y < 48;
      if (bleeds (format,
                  MIN (edge_distance (x, y, 16, 8, 80, 56), edge_distance (x, y, 24, 16, 72, 48))))
        continue;
      if (outer && !inner)
        g_assert_true (near (at (after, x, y), colour, 5));
      else
        g_assert_true (
          near (at (after, x, y),
                at (before, x, y)[0] << 16 | at (before, x, y)[1] << 8 | at (before, x, y)[2], 0));
    }
}

/* Half of the frame has class 3, the rest the background or nothing. */
static void
test_mask (gconstpointer data)
{
  static const guint8 cells[4] = { 0, 3, SL_MASK_VOID, 3 };
  const char *format = data;
  g_autofree char *caps = NULL;
  GstBuffer *plain = gray_frame (format, WIDTH, HEIGHT, &caps);
  GstBuffer *frame = gst_buffer_copy_deep (plain);
  g_autoptr (GstBuffer) classes = sl_byte_pool_take (NULL, cells, sizeof cells);
  sl_buffer_add_mask_meta (frame, 2, 2, classes);
  g_autofree guint8 *before = draw (plain, caps, "", WIDTH, HEIGHT);
  g_autofree guint8 *after = draw (frame, caps, "labels=false mask-opacity=0.25", WIDTH, HEIGHT);
  const guint32 colour = seen (format, sl_draw_colour (3, NULL));
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++) {
      const guint8 *was = at (before, x, y);
      guint32 mixed = 0;
      for (guint c = 0; c < 3; c++)
        mixed =
          mixed << 8 | (guint32) lrint (0.75 * was[c] + 0.25 * (colour >> (16 - 8 * c) & 0xff));
      if (bleeds (format, ABS (x - WIDTH / 2)))
        continue;
      if (x < WIDTH / 2)
        g_assert_cmpmem (at (after, x, y), 3, was, 3);
      else
        g_assert_true (near (at (after, x, y), mixed, 6));
    }
}

static void
test_untouched (void)
{
  GstHarness *harness = gst_harness_new ("sloverlay");
  g_autofree char *caps = NULL;
  GstBuffer *in = gray_frame ("NV12", WIDTH, HEIGHT, &caps);
  GstBuffer *held = gst_buffer_ref (in); /* not writable */
  gst_harness_set_src_caps_str (harness, caps);
  g_assert_cmpint (gst_harness_push (harness, in), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (harness);
  g_assert_true (out == held);
  gst_buffer_unref (out);
  add_region (gst_buffer_make_writable (held), "x", 1, 0, 0, 10, 10);
  gst_buffer_unref (held);
  gst_harness_teardown (harness);
}

/* A shared frame is copied before it is drawn on. */
static void
test_shared (void)
{
  GstHarness *harness = gst_harness_new ("sloverlay");
  g_autofree char *caps = NULL;
  GstBuffer *in = gray_frame ("NV12", WIDTH, HEIGHT, &caps);
  guint8 first = 0;
  add_region (in, "x", 0, 0, 0, 40, 40);
  g_autoptr (GstBuffer) held = gst_buffer_ref (in);
  gst_harness_set_src_caps_str (harness, caps);
  g_assert_cmpint (gst_harness_push (harness, in), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  g_assert_true (out != held);
  gst_buffer_extract (held, 0, &first, 1);
  g_assert_cmpuint (first, ==, 128);
  gst_buffer_extract (out, 0, &first, 1);
  g_assert_cmpuint (first, !=, 128);
  gst_harness_teardown (harness);
}

/* Colours of tracked objects have the numbers of their ids; that of another has its class's. */
static void
test_by_id (void)
{
  static const gint ids[] = { 1, 12, 0 };
  for (guint by_id = 0; by_id < 2; by_id++) {
    g_autofree char *caps = NULL;
    GstBuffer *frame = gray_frame ("RGB", WIDTH, HEIGHT, &caps);
    for (guint i = 0; i < G_N_ELEMENTS (ids); i++) {
      const SlObjectView object = { .x = 30 * (gint) i,
                                    .y = 8,
                                    .w = 24,
                                    .h = 48,
                                    .x_min = 30.0 * i / WIDTH,
                                    .y_min = 8.0 / HEIGHT,
                                    .x_max = (30.0 * i + 24) / WIDTH,
                                    .y_max = 56.0 / HEIGHT,
                                    .confidence = 0.9,
                                    .label_id = 5,
                                    .label = "cat",
                                    .object_id = ids[i] };
      const SlPredictionView prediction = {
        .width = WIDTH, .height = HEIGHT, .n_objects = 1, .objects = &object
      };
      sl_buffer_add_prediction (frame, &prediction, NULL);
    }
    g_autofree guint8 *pixels =
      draw (frame, caps,
            by_id ? "colour-by-id=true labels=false scores=false ids=false thickness=4"
                  : "labels=false scores=false ids=false thickness=4",
            WIDTH, HEIGHT);
    for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
      g_assert_true (near (at (pixels, 30 * (gint) i + 2, 30),
                           sl_draw_colour (by_id && ids[i] > 0 ? ids[i] : 5, "cat"), 0));
  }
}

/* Letters above the box: a field of the class's colour with black or white in it, as high as the
 * frame asks for. */
static void
test_label (void)
{
  static const struct
  {
    gint width, height, least, most;
  } sizes[] = { { 320, 240, 12, 30 }, { 1920, 1080, 20, 60 }, { 3840, 2160, 36, 100 } };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const gint w = sizes[i].width, h = sizes[i].height;
    g_autofree char *caps = NULL;
    GstBuffer *frame = gray_frame ("I420", w, h, &caps);
    add_region (frame, "cat", 0, (guint) w / 4, (guint) h / 2, (guint) w / 2, (guint) h / 4);
    g_autofree guint8 *pixels = draw (frame, caps, "boxes=false", w, h);
    gint top = h, bottom = -1, letters = 0;
    for (gint y = 0; y < h; y++)
      for (gint x = 0; x < w; x++) {
        const guint8 *pixel = pixels + (y * w + x) * 3;
        if (near (pixel, sl_draw_colour (0, "cat"), 12)) {
          top = MIN (top, y);
          bottom = MAX (bottom, y);
        }
        letters += near (pixel, 0x000000, 24) || near (pixel, 0xffffff, 24);
      }
    g_assert_cmpint (bottom - top + 1, >=, sizes[i].least);
    g_assert_cmpint (bottom - top + 1, <=, sizes[i].most);
    g_assert_cmpint (ABS (bottom + 1 - h / 2), <=, 1);
    g_assert_cmpint (letters, >, sizes[i].least * 4);
  }
}

static void
test_skeleton (void)
{
  static const SlPoint points[] = { { 0.25, 0.5, 0.9 }, { 0.75, 0.5, 0.9 }, { 0.5, 0.1, 0.05 } };
  static const char *const names[] = { "a", "b", "c" };
  static const guint8 bones[][2] = { { 0, 1 }, { 0, 2 } };
  static const SlSkeleton skeleton = { 3, 2, names, bones };
  const SlObjectView object = { 0, 0, WIDTH, HEIGHT, 0, 0, 1, 1, 0.9, 4, "person", 3, points };
  const SlPredictionView prediction = {
    .width = WIDTH, .height = HEIGHT, .n_objects = 1, .objects = &object, .skeleton = &skeleton
  };
  g_autofree char *caps = NULL;
  GstBuffer *frame = gray_frame ("RGB", WIDTH, HEIGHT, &caps);
  sl_buffer_add_prediction (frame, &prediction, NULL);
  g_autofree guint8 *pixels =
    draw (frame, caps, "boxes=false labels=false scores=false thickness=4", WIDTH, HEIGHT);
  const guint32 colour = sl_draw_colour (4, "person");
  for (gint x = 32; x < 64; x++) /* between the joints */
    g_assert_true (near (at (pixels, x, 40), colour, 0));
  g_assert_true (near (at (pixels, 48, 30), 0x808080, 0));
  g_assert_true (near (at (pixels, 48, 8), 0x808080, 0)); /* too unsure */
  g_assert_true (near (at (pixels, 36, 24), 0x808080, 0));
}

/* A line segment has neither a box nor a label, unless its points are not drawn. */
static void
test_segment (void)
{
  static const SlPoint points[] = { { 0.25, 0.25, 0.9 }, { 0.75, 0.75, 0.9 } };
  static const char *const names[] = { "start", "end" };
  static const guint8 bones[][2] = { { 0, 1 } };
  static const SlSkeleton skeleton = { 2, 1, names, bones };
  const SlObjectView object = { WIDTH / 4, HEIGHT / 4, WIDTH / 2, HEIGHT / 2, 0.25, 0.25,  0.75,
                                0.75,      0.9,        0,         "line",     2,    points };
  const SlPredictionView prediction = {
    .width = WIDTH, .height = HEIGHT, .n_objects = 1, .objects = &object, .skeleton = &skeleton
  };
  const guint32 colour = sl_draw_colour (0, "line");
  for (guint with_points = 0; with_points < 2; with_points++) {
    g_autofree char *caps = NULL;
    GstBuffer *frame = gray_frame ("RGB", WIDTH, HEIGHT, &caps);
    sl_buffer_add_prediction (frame, &prediction, NULL);
    g_autofree guint8 *pixels = draw (
      frame, caps, with_points ? "thickness=4" : "thickness=4 keypoints=false", WIDTH, HEIGHT);
    g_assert_true (near (at (pixels, WIDTH / 2, HEIGHT / 2), with_points ? colour : 0x808080, 0));
    g_assert_true (
      near (at (pixels, 3 * WIDTH / 4 - 1, HEIGHT / 2), with_points ? 0x808080 : colour, 0));
  }
}

/* Metas that nobody should write, on frames of any size: nothing is written outside, nothing
 * crashes. */
static void
test_strangers (void)
{
  static const gint sizes[][2] = { { 1, 1 }, { 3, 5 }, { 2, 1 }, { 33, 17 } };
  static const guint8 cells[6] = { 1, 2, 3, 255, 0, 7 };
  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
      const SlPoint points[2] = { { -1e300, 1e300, 1 }, { 1e6, -3, 1 } };
      const SlSkeleton skeleton = { 2, 1, (const char *const[]){ "a", "b" },
                                    (const guint8[][2]){ { 0, 1 } } };
      const SlObjectView object = { 0, 0,     1, 1, -1e9, -1e9, 1e9, 1e9, NAN, -5, "\xc3\xa9\t\"",
                                    2, points };
      const SlPredictionView prediction = { .width = sizes[s][0],
                                            .height = sizes[s][1],
                                            .n_objects = 1,
                                            .objects = &object,
                                            .skeleton = &skeleton };
      g_autofree char *caps = NULL;
      g_autofree char *longest = g_strnfill (5000, 'W');
      GstBuffer *frame = gray_frame (formats[f], sizes[s][0], sizes[s][1], &caps);
      g_autoptr (GstBuffer) classes = sl_byte_pool_take (NULL, cells, sizeof cells);
      sl_buffer_add_prediction (frame, &prediction, NULL);
      sl_buffer_add_mask_meta (frame, 3, 2, classes);
      add_region (frame, longest, G_MAXINT, G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT);
      add_region (frame, "line\nbreak", G_MININT, 0, 0, 0, 0);
      add_region (frame, "", 1, 0, 0, G_MAXUINT, 1);
      gst_buffer_add_video_region_of_interest_meta (frame, "\xff\xfe bare", 1, 1, 1, 1);
      g_autofree guint8 *pixels =
        draw (frame, caps, "stats=true thickness=64 mask-opacity=1", sizes[s][0], sizes[s][1]);
      g_assert_nonnull (pixels);
    }
}

/* Twenty classes can be told apart, and a class looks the same each time. */
static void
test_colours (void)
{
  for (gint a = 0; a < 20; a++)
    for (gint b = 0; b < a; b++) {
      const guint32 x = sl_draw_colour (a, NULL), y = sl_draw_colour (b, NULL);
      gint distance = 0;
      for (guint shift = 0; shift < 24; shift += 8)
        distance += abs ((gint) (x >> shift & 0xff) - (gint) (y >> shift & 0xff));
      g_assert_cmpint (distance, >, 20);
    }
  g_assert_cmphex (sl_draw_colour (7, "a"), ==, sl_draw_colour (7, "b"));
  g_assert_cmphex (sl_draw_colour (-1, "a"), ==, sl_draw_colour (-1, "a"));
}

/* Printed: what twenty boxes cost at 1080p, in processor time. Only one that no machine needs
 * fails. */
static void
test_time (void)
{
  g_autofree char *caps = NULL;
  GstHarness *harness = gst_harness_new ("sloverlay");
  g_autoptr (GstBuffer) frame = gray_frame ("NV12", 1920, 1080, &caps);
  clock_t best = G_MAXINT32;
  for (guint i = 0; i < 20; i++)
    add_region (frame, "traffic light", (gint) i, 90 * i, 40 + 37 * i, 300, 260);
  gst_harness_set_src_caps_str (harness, caps);
  for (guint round = 0; round < 50; round++) {
    GstBuffer *in = gst_buffer_copy_deep (frame);
    const clock_t start = clock ();
    g_assert_cmpint (gst_harness_push (harness, in), ==, GST_FLOW_OK);
    best = MIN (best, clock () - start);
    gst_buffer_unref (gst_harness_pull (harness));
  }
  g_test_message ("20 boxes on 1920x1080 NV12 in %ld us", (long) best);
  g_assert_cmpint (best, <, CLOCKS_PER_SEC / 10);
  gst_harness_teardown (harness);
}

/* Objects of confidence 0.87 are hidden above it; the one without a confidence never is. */
static void
test_threshold (void)
{
  g_autofree char *caps = NULL;
  GstBuffer *plain = gray_frame ("RGB", WIDTH, HEIGHT, &caps);
  GstBuffer *unknown = gst_buffer_copy_deep (plain), *both[2];
  gst_buffer_add_video_region_of_interest_meta (unknown, "dog", 60, 30, 30, 24);
  g_autofree guint8 *all = NULL, *hidden = NULL, *expected = NULL;
  for (guint i = 0; i < 2; i++) {
    both[i] = gst_buffer_copy_deep (unknown);
    add_region (both[i], "cat", 5, 10, 8, 40, 36);
  }
  all = draw (both[0], caps, "threshold=0.87", WIDTH, HEIGHT);
  hidden = draw (both[1], caps, "threshold=0.88", WIDTH, HEIGHT);
  expected = draw (unknown, caps, "", WIDTH, HEIGHT);
  g_assert_true (near (at (all, 10, 20), sl_draw_colour (5, "cat"), 0));
  g_assert_cmpmem (hidden, WIDTH * HEIGHT * 3, expected, WIDTH * HEIGHT * 3);
  g_assert_true (near (at (hidden, 60, 40), sl_draw_colour (-1, "dog"), 0));
  gst_buffer_unref (plain);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree char *box = g_strdup_printf ("/sloverlay/box/%s", formats[i]);
    g_autofree char *mask = g_strdup_printf ("/sloverlay/mask/%s", formats[i]);
    g_test_add_data_func (box, formats[i], test_box);
    g_test_add_data_func (mask, formats[i], test_mask);
  }
  g_test_add_func ("/sloverlay/untouched", test_untouched);
  g_test_add_func ("/sloverlay/shared", test_shared);
  g_test_add_func ("/sloverlay/label", test_label);
  g_test_add_func ("/sloverlay/by-id", test_by_id);
  g_test_add_func ("/sloverlay/threshold", test_threshold);
  g_test_add_func ("/sloverlay/skeleton", test_skeleton);
  g_test_add_func ("/sloverlay/segment", test_segment);
  g_test_add_func ("/sloverlay/strangers", test_strangers);
  g_test_add_func ("/sloverlay/colours", test_colours);
  g_test_add_func ("/sloverlay/time", test_time);
  return test_elements_run ();
}
