/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slredact on every format it takes: values against means computed here in double precision, what
 * stays as it was, what is held, and frames with injected faults, of which none may leave open.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "plugins/elements.h"
#include "plugins/base/byte_pool.h"
#include "plugins/meta/class_names.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/meta/mask_meta.h"
#include "plugins/meta/predictions.h"
#include "plugins/redact/hide.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define WIDTH 61
#define HEIGHT 47
/* In the suite; nightly, or by hand, SIGHTLINE_TEST_FRAMES=100000. */
#define FAULT_FRAMES 2000

static const char *const formats[] = { "I420", "YV12", "NV12", "NV21", "Y42B", "Y444",
                                       "NV16", "NV24", "YUY2", "UYVY", "YVYU", "RGB",
                                       "BGR",  "RGBA", "BGRA", "RGBx", "BGRx", "ARGB",
                                       "ABGR", "xRGB", "xBGR", "GRAY8" };

static char *
caps_text (const char *format, gint width, gint height)
{
  return g_strdup_printf ("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1", format, width,
                          height);
}

static void
info_of (const char *caps, GstVideoInfo *info)
{
  g_autoptr (GstCaps) parsed = gst_caps_from_string (caps);
  g_assert_true (gst_video_info_from_caps (info, parsed));
}

/* A frame of noise. */
static GstBuffer *
noise_frame (const char *caps, GRand *noise)
{
  GstVideoInfo info;
  info_of (caps, &info);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8) g_rand_int_range (noise, 0, 256);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static GstVideoRegionOfInterestMeta *
add_region (GstBuffer *buffer, const char *label, guint x, guint y, guint w, guint h)
{
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (buffer, label, x, y, w, h);
  gst_video_region_of_interest_meta_add_param (
    region, gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, 0.87, "label_id",
                               G_TYPE_INT, 0, NULL));
  return region;
}

/* As slpostprocess marks a frame that a model has looked at. */
static GstBuffer *
look (GstBuffer *buffer)
{
  sl_buffer_ensure_frame_meta (buffer, NULL)->decoded = 1;
  return buffer;
}

typedef struct
{
  gint from[9];
  gint n;
} Grid;

/* The cells of @from..@to on the documented grid: their side is the least multiple of 8 of which at
 * most 8 are touched; a first or last one of less than half belongs to its neighbour. */
static Grid
grid_of (gint from, gint to)
{
  Grid grid = { { from }, 1 };
  gint side = 8;
  while (ceil (to / (double) side) - floor (from / (double) side) > 8)
    side += 8;
  for (gint at = 0; at < to; at += side)
    if (at > from && at - from >= side / 2 && to - at >= side / 2)
      grid.from[grid.n++] = at;
  grid.from[grid.n] = to;
  return grid;
}

static gint
sample_of (GstVideoFrame *frame, guint c, gint x, gint y)
{
  return ((const guint8 *) GST_VIDEO_FRAME_COMP_DATA (
    frame, c))[(gssize) y * GST_VIDEO_FRAME_COMP_STRIDE (frame, c)
               + (gssize) x * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c)];
}

/* The means of the cells of component @c, [row][column]. */
static void
find_means (GstVideoFrame *frame, guint c, const Grid *columns, const Grid *rows,
            double means[8][8])
{
  const gint xs = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (frame->info.finfo, c),
             ys = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (frame->info.finfo, c);
  for (gint row = 0; row < rows->n; row++)
    for (gint column = 0; column < columns->n; column++) {
      double sum = 0, count = 0;
      for (gint y = rows->from[row]; y < rows->from[row + 1]; y += ys)
        for (gint x = columns->from[column]; x < columns->from[column + 1]; x += xs) {
          sum += sample_of (frame, c, x / xs, y / ys);
          count++;
        }
      means[row][column] = sum / count;
    }
}

/* Compares the component @c with the means of the cells, and with what was outside. */
static void
compare_component (GstVideoFrame *before, GstVideoFrame *after, guint c, const Grid *columns,
                   const Grid *rows)
{
  const gint xs = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (before->info.finfo, c),
             ys = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (before->info.finfo, c);
  const gint w = GST_VIDEO_FRAME_COMP_WIDTH (before, c),
             h = GST_VIDEO_FRAME_COMP_HEIGHT (before, c);
  double means[8][8];
  find_means (before, c, columns, rows, means);
  for (gint y = 0; y < h; y++)
    for (gint x = 0; x < w; x++) {
      gint column = -1, row = -1;
      for (gint i = 0; i < columns->n; i++)
        if (x * xs >= columns->from[i] && x * xs < columns->from[i + 1])
          column = i;
      for (gint i = 0; i < rows->n; i++)
        if (y * ys >= rows->from[i] && y * ys < rows->from[i + 1])
          row = i;
      if (column < 0 || row < 0) {
        g_assert_cmpint (sample_of (after, c, x, y), ==, sample_of (before, c, x, y));
        continue;
      }
      g_assert_cmpint (sample_of (after, c, x, y), ==, (gint) floor (means[row][column] + 0.5));
    }
}

static void
compare (const char *caps, GstBuffer *before, GstBuffer *after, const gint box[4])
{
  GstVideoInfo info;
  GstVideoFrame a, b;
  info_of (caps, &info);
  g_assert_true (gst_video_frame_map (&a, &info, before, GST_MAP_READ));
  g_assert_true (gst_video_frame_map (&b, &info, after, GST_MAP_READ));
  gint xs = 1, ys = 1;
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++) {
    xs = MAX (xs, 1 << GST_VIDEO_FORMAT_INFO_W_SUB (info.finfo, c));
    ys = MAX (ys, 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info.finfo, c));
  }
  const Grid columns = grid_of (box[0] / xs * xs, MIN ((box[2] + xs - 1) / xs * xs, info.width)),
             rows = grid_of (box[1] / ys * ys, MIN ((box[3] + ys - 1) / ys * ys, info.height));
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++)
    compare_component (&a, &b, c, &columns, &rows);
  gst_video_frame_unmap (&a);
  gst_video_frame_unmap (&b);
}

/* Regions inside, at odd edges and on borders, and larger than 8 cells of 8. */
static void
test_values (gconstpointer data)
{
  static const gint boxes[][4] = { { 9, 7, 30, 22 },  { 0, 0, 13, 9 },    { 51, 39, 61, 47 },
                                   { 0, 0, 61, 47 },  { 17, 11, 18, 12 }, { 60, 0, 61, 47 },
                                   { 40, 30, 61, 31 } };
  static const gint sizes[][2] = { { WIDTH, HEIGHT }, { 200, 130 } };
  g_autoptr (GRand) noise = g_rand_new_with_seed (1);
  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint i = 0; i < G_N_ELEMENTS (boxes); i++) {
      gint box[4];
      for (guint k = 0; k < 4; k++)
        box[k] = s == 0 ? boxes[i][k] : boxes[i][k] * 5 / 2;
      g_autofree char *caps = caps_text (data, sizes[s][0], sizes[s][1]);
      g_autoptr (GstBuffer) before = noise_frame (caps, noise);
      GstBuffer *in = look (gst_buffer_copy_deep (before));
      add_region (in, "face", (guint) box[0], (guint) box[1], (guint) (box[2] - box[0]),
                  (guint) (box[3] - box[1]));
      g_autoptr (GstBuffer) out = test_line_run ("slredact margin=0", NULL, caps, in);
      compare (caps, before, out, box);
    }
}

/* The cell at whose middle @pixel is, or behind which; returns how far it is to the next middle. */
static double
share_of (const Grid *grid, gint pixel, gint *cell)
{
  double middles[8];
  for (gint i = 0; i < grid->n; i++)
    middles[i] = (grid->from[i] + grid->from[i + 1]) / 2.;
  for (*cell = 0; *cell + 1 < grid->n && middles[*cell + 1] <= pixel + 0.5;)
    ++*cell;
  return *cell + 1 == grid->n
           ? 0
           : MAX (0, (pixel + 0.5 - middles[*cell]) / (middles[*cell + 1] - middles[*cell]));
}

/* Blurred samples are the means, interpolated linearly between the middles of cells. Means, weights
 * and both directions are rounded, which is three steps at most. */
static void
test_blur (gconstpointer data)
{
  static const gint from[2] = { 16, 10 }, to[2] = { 196, 130 };
  const Grid columns = grid_of (from[0], to[0]), rows = grid_of (from[1], to[1]);
  g_autofree char *caps = caps_text (data, 200, 130);
  GstVideoInfo info;
  GstVideoFrame a, b;
  info_of (caps, &info);
  g_autoptr (GstBuffer) before = gst_buffer_new_allocate (NULL, info.size, NULL);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (before, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++) /* means that differ much */
    map.data[i] = (guint8) (i % 200 * 3 + i / 200 * 2);
  gst_buffer_unmap (before, &map);
  GstBuffer *in = look (gst_buffer_copy_deep (before));
  add_region (in, "face", 16, 10, 180, 120);
  g_autoptr (GstBuffer) out = test_line_run ("slredact mode=blur margin=0", NULL, caps, in);
  g_assert_true (gst_video_frame_map (&a, &info, before, GST_MAP_READ));
  g_assert_true (gst_video_frame_map (&b, &info, out, GST_MAP_READ));
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++) {
    const gint xs = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (info.finfo, c),
               ys = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info.finfo, c);
    double means[8][8];
    find_means (&a, c, &columns, &rows, means);
    for (gint y = from[1]; y < to[1]; y += ys)
      for (gint x = from[0]; x < to[0]; x += xs) {
        gint i, k;
        const double u = share_of (&columns, x, &i), v = share_of (&rows, y, &k);
        const gint right = MIN (i + 1, columns.n - 1), under = MIN (k + 1, rows.n - 1);
        const double expected = (1 - v) * ((1 - u) * means[k][i] + u * means[k][right])
                                + v * ((1 - u) * means[under][i] + u * means[under][right]);
        g_assert_cmpfloat (fabs (sample_of (&b, c, x / xs, y / ys) - expected), <=, 3);
      }
  }
  gst_video_frame_unmap (&a);
  gst_video_frame_unmap (&b);
}

/* Every frame without a result leaves with the values of the whole frame's cells. */
static void
test_whole (gconstpointer data)
{
  static const gint box[4] = { 0, 0, WIDTH, HEIGHT };
  g_autoptr (GRand) noise = g_rand_new_with_seed (2);
  g_autofree char *caps = caps_text (data, WIDTH, HEIGHT);
  g_autoptr (GstBuffer) before = noise_frame (caps, noise);
  g_autoptr (GstBuffer) out = test_line_run ("slredact", NULL, caps, gst_buffer_copy_deep (before));
  compare (caps, before, out, box);
}

static guint
count_values (const guint8 *bytes, gsize n)
{
  gboolean has[256] = { FALSE };
  guint values = 0;
  for (gsize i = 0; i < n; i++) {
    values += !has[bytes[i]];
    has[bytes[i]] = TRUE;
  }
  return values;
}

/* A GRAY8 frame through slredact with @properties. */
static guint8 *
run_gray (GstBuffer *in, const char *properties, gint width, gint height)
{
  g_autofree char *caps = caps_text ("GRAY8", width, height);
  g_autofree char *launch = g_strdup_printf ("slredact %s", properties);
  g_autoptr (GstBuffer) out = test_line_run (launch, NULL, caps, in);
  guint8 *pixels = g_malloc (gst_buffer_get_size (out));
  gst_buffer_extract (out, 0, pixels, gst_buffer_get_size (out));
  return pixels;
}

/* Lines of one pixel, as those of letters and bar codes. */
static GstBuffer *
lines_frame (gint width, gint height)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, (gsize) width * (gsize) height, NULL);
  GstMapInfo map;
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = i % (gsize) width * 7 % 13 % 2 ? 255 : 0;
  gst_buffer_unmap (buffer, &map);
  return look (buffer);
}

/* Bars cannot be read any more: at most 8x8 values, near gray; blur adds none of its own between
 * which there was nothing. */
static void
test_text (void)
{
  static const char *const modes[] = { "mode=pixelate", "mode=blur", "mode=fill" };
  for (guint m = 0; m < G_N_ELEMENTS (modes); m++) {
    GstBuffer *in = lines_frame (128, 64);
    add_region (in, "code", 0, 0, 128, 64);
    g_autofree guint8 *pixels = run_gray (in, modes[m], 128, 64);
    g_assert_cmpuint (count_values (pixels, 128 * 64), <=, 64);
    for (gint i = 0; i < 128 * 64; i++)
      if (m == 2)
        g_assert_cmpuint (pixels[i], ==, 0);
      else
        g_assert_cmpint (ABS (pixels[i] - 119), <, 30);
    for (gint x = 0; x + 1 < 128 && m == 0; x++)
      if (x % 16 != 15)
        g_assert_cmpuint (pixels[x], ==, pixels[x + 1]);
  }
}

/* Edges of a region without an area do not take the place of its pixels. */
static void
test_no_area (void)
{
  static const gdouble edges[][4] = { { 0, 0, 0, 0 },          { 0.5, 0, 0.5, 1 },
                                      { 0, 1, 1, 1 },          { -1, 0, 0, 1 },
                                      { 1, 0, 2, 1 },          { 1, 1, 0, 0 },
                                      { NAN, 0, 1, 1 },        { 0, 0, 1, NAN },
                                      { -INFINITY, 0, -1, 1 }, { 0, INFINITY, 1, INFINITY } };
  for (guint i = 0; i < G_N_ELEMENTS (edges); i++) {
    GstBuffer *in = lines_frame (128, 64);
    GstVideoRegionOfInterestMeta *region = add_region (in, "code", 0, 0, 128, 64);
    gst_structure_set (gst_video_region_of_interest_meta_get_param (region, "detection"), "x_min",
                       G_TYPE_DOUBLE, edges[i][0], "y_min", G_TYPE_DOUBLE, edges[i][1], "x_max",
                       G_TYPE_DOUBLE, edges[i][2], "y_max", G_TYPE_DOUBLE, edges[i][3], NULL);
    g_autofree guint8 *pixels = run_gray (in, "margin=0 mode=fill", 128, 64);
    for (gint at = 0; at < 128 * 64; at++)
      g_assert_cmpuint (pixels[at], ==, 0);
  }
}

static gboolean
is_open (const guint8 *pixels, gint stride, gint x, gint y, gint w, gint h)
{
  guint changes = 0;
  for (gint v = y; v < y + h; v++)
    for (gint u = x; u + 1 < x + w; u++)
      changes += ABS (pixels[v * stride + u] - pixels[v * stride + u + 1]) == 255;
  return changes > 0;
}

static void
test_choice (void)
{
  static const struct
  {
    const char *properties;
    gboolean cat, dog;
  } cases[] = {
    { "classes=cat", FALSE, TRUE },
    { "classes=!cat", TRUE, FALSE },
    { "min-confidence=0.9", TRUE, TRUE },
    { "min-confidence=0.8", FALSE, FALSE },
    { "objects=false", TRUE, TRUE },
    { "zones=\"[zone a] points=0,0 0.5,0 0.5,1 0,1\" objects=false", FALSE, TRUE },
    { "invert=true classes=dog", FALSE, TRUE },
    { "zones=\"[zone a] points=0,0 0.5,0 0.5,1 0,1\" objects=false invert=true", TRUE, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *in = lines_frame (128, 64);
    add_region (in, "cat", 8, 8, 32, 32);
    add_region (in, "dog", 80, 8, 32, 32);
    g_autofree guint8 *pixels = run_gray (in, cases[i].properties, 128, 64);
    g_assert_cmpint (is_open (pixels, 128, 8, 8, 32, 32), ==, cases[i].cat);
    g_assert_cmpint (is_open (pixels, 128, 80, 8, 32, 32), ==, cases[i].dog);
  }
}

/* The right half of the object has a mask, with nothing around it. */
static void
test_mask (void)
{
  static const guint8 cells[4] = { 0, 255, 0, 255 };
  const SlObjectView object = { 32,   16,   64,  32, 0.25,  0.25,
                                0.75, 0.75, 0.9, 0,  "cat", .mask = { 2, 2, cells } };
  const SlPredictionView prediction = {
    .width = 128, .height = 64, .n_objects = 1, .objects = &object
  };
  for (guint masked = 0; masked < 2; masked++) {
    GstBuffer *in = lines_frame (128, 64);
    sl_buffer_add_prediction (in, &prediction, NULL);
    g_autofree guint8 *pixels = run_gray (in, masked ? "shape=mask margin=0" : "margin=0", 128, 64);
    g_assert_false (is_open (pixels, 128, 64, 16, 32, 32));
    g_assert_cmpint (is_open (pixels, 128, 36, 16, 24, 32), ==, masked);
  }
}

/* A mask of classes hides its class, and what the model did not see. */
static void
test_classes_mask (void)
{
  static const guint8 cells[4] = { 0, 3, SL_MASK_VOID, 3 };
  GstBuffer *in = lines_frame (128, 64);
  g_autoptr (GstBuffer) classes = sl_byte_pool_take (NULL, cells, sizeof cells);
  SlMaskMeta *mask = sl_buffer_add_mask_meta (in, 2, 2, classes);
  mask->background = 0;
  mask->names[0] = "ground";
  mask->names[3] = "person";
  g_autofree guint8 *pixels = run_gray (in, "classes=person", 128, 64);
  g_assert_true (is_open (pixels, 128, 0, 0, 64, 32));
  g_assert_false (is_open (pixels, 128, 64, 0, 64, 64));
  g_assert_false (is_open (pixels, 128, 0, 32, 64, 32));
}

/* Pushes a frame with an object at @x (-1: none) and says whether place @at is open. */
static gboolean
step (GstHarness *harness, guint frame, gint x, gint at, gboolean looked)
{
  GstBuffer *in = lines_frame (256, 64);
  g_autofree guint8 *pixels = g_malloc (256 * 64);
  GST_BUFFER_PTS (in) = frame * 40 * GST_MSECOND;
  if (x >= 0)
    add_region (in, "cat", (guint) x, 16, 32, 32);
  if (!looked)
    sl_buffer_get_frame_meta (in)->content = SL_FRAME_SKIPPED;
  g_assert_cmpint (gst_harness_push (harness, in), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  gst_buffer_extract (out, 0, pixels, 256 * 64);
  return is_open (pixels, 256, at, 16, 32, 32);
}

/* An object that moves by 4 pixels a frame is lost; where it goes on to stays hidden for 200 ms,
 * and no longer. */
static void
test_hold (void)
{
  GstHarness *harness = gst_harness_new_parse ("slredact hold=200 margin=0");
  g_autofree char *caps = caps_text ("GRAY8", 256, 64);
  guint frame = 0;
  gst_harness_set_src_caps_str (harness, caps);
  for (; frame < 12; frame++)
    g_assert_false (step (harness, frame, (gint) (32 + 4 * frame), (gint) (32 + 4 * frame), TRUE));
  for (; frame < 17; frame++)
    g_assert_false (step (harness, frame, -1, (gint) (32 + 4 * frame), TRUE));
  g_assert_true (step (harness, frame, -1, (gint) (32 + 4 * frame), TRUE));
  gst_harness_teardown (harness);
}

/* A result serves frames without one for max-age, not longer; with 0 it serves none. */
static void
test_max_age (void)
{
  static const guint most[] = { 0, 120 };
  g_autofree char *caps = caps_text ("GRAY8", 256, 64);
  for (guint i = 0; i < G_N_ELEMENTS (most); i++) {
    g_autofree char *launch = g_strdup_printf ("slredact max-age=%u", most[i]);
    GstHarness *harness = gst_harness_new_parse (launch);
    gst_harness_set_src_caps_str (harness, caps);
    g_assert_true (step (harness, 0, 16, 200, TRUE));
    for (guint frame = 1; frame < 6; frame++) {
      g_assert_cmpint (step (harness, frame, -1, 200, FALSE), ==, most[i] > 0 && frame <= 3);
      g_assert_false (step (harness, 7 + frame, -1, 16, FALSE));
    }
    gst_harness_teardown (harness);
  }
}

static guint64
stat_of (GstHarness *harness, const char *name)
{
  g_autoptr (GstElement) element = gst_harness_find_element (harness, "slredact");
  GstStructure *stats = NULL;
  guint64 value = 0;
  g_object_get (element, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, name, &value));
  gst_structure_free (stats);
  return value;
}

static void
test_messages (void)
{
  g_autofree char *caps = caps_text ("GRAY8", 128, 64);
  TestLine line = test_line_open ("slredact on-missing=drop", NULL, caps);
  GstBuffer *in = lines_frame (128, 64);
  sl_buffer_get_frame_meta (in)->decoded = 0;
  g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
  g_assert_null (gst_harness_try_pull (line.harness));
  in = lines_frame (128, 64);
  gst_buffer_add_video_crop_meta (in);
  g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
  g_assert_null (gst_harness_try_pull (line.harness));
  g_assert_cmpint (gst_harness_push (line.harness, lines_frame (128, 64)), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (line.harness));
  g_assert_cmpuint (stat_of (line.harness, "frames"), ==, 3);
  g_assert_cmpuint (stat_of (line.harness, "dropped"), ==, 2);
  g_assert_cmpuint (stat_of (line.harness, "unchanged"), ==, 1);
  g_autoptr (GstMessage) warning = gst_bus_pop_filtered (line.bus, GST_MESSAGE_WARNING);
  g_autoptr (GError) said = NULL;
  g_assert_nonnull (warning);
  gst_message_parse_warning (warning, &said, NULL);
  g_assert_cmpstr (said->message, ==,
                   "no frame is shown open: no model has looked at a frame; expected slpredict "
                   "upstream, with a result on each frame");
  g_autoptr (GstMessage) told = gst_bus_pop_filtered (line.bus, GST_MESSAGE_ELEMENT);
  gboolean closed = FALSE;
  g_assert_true (gst_structure_get_boolean (gst_message_get_structure (told), "closed", &closed));
  g_assert_true (closed);
  test_line_close (line.harness, line.bus);
}

/* A frame with a face, through @harness: the fate that was counted is @fate. */
static void
expect_fate (GstHarness *harness, const char *fate)
{
  const guint64 before = stat_of (harness, fate);
  GstBuffer *in = lines_frame (128, 64);
  add_region (in, "face", 8, 8, 40, 40);
  g_assert_cmpint (gst_harness_push (harness, in), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (harness));
  g_assert_cmpuint (stat_of (harness, fate), ==, before + 1);
}

/* Only switch=true allows active=false, and hiding is back with the next frame. */
static void
test_switch (void)
{
  g_autofree char *caps = caps_text ("GRAY8", 128, 64);
  TestLine fixed = test_line_open ("slredact active=false", NULL, caps);
  expect_fate (fixed.harness, "redacted");
  test_line_close (fixed.harness, fixed.bus);
  TestLine line = test_line_open ("slredact switch=true", NULL, caps);
  g_autoptr (GstElement) element = gst_harness_find_element (line.harness, "slredact");
  expect_fate (line.harness, "redacted");
  g_object_set (element, "active", FALSE, NULL);
  expect_fate (line.harness, "unchanged");
  g_object_set (element, "active", TRUE, NULL);
  expect_fate (line.harness, "redacted");
  test_line_close (line.harness, line.bus);
}

static void
offer (GstPad *pad, const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_ptr_array_add (names, (gpointer) name);
  sl_class_names_offer (pad, names);
}

/* A model that takes over without the hidden class finds none of it: nothing is shown open until
 * there is one with it. */
static void
test_other_model (void)
{
  static const char *const names[] = { "cat", "dog", "cat" };
  g_autofree char *caps = caps_text ("GRAY8", 256, 64);
  GstHarness *harness = gst_harness_new_parse ("slredact classes=cat");
  sl_class_names_install (harness->srcpad);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    offer (harness->srcpad, names[i]);
    if (i == 0)
      gst_harness_set_src_caps_str (harness, caps);
    g_assert_cmpint (step (harness, i, -1, 200, TRUE), ==, i != 1);
  }
  gst_harness_teardown (harness);
}

static void
test_caps_errors (void)
{
  static const struct
  {
    const char *caps, *error;
  } cases[] = {
    { "video/x-raw,format=P010_10LE,width=64,height=48",
      "pixel format P010_10LE is not supported; expected one of { I420" },
    { "video/x-raw(memory:DMABuf),format=NV12,width=64,height=48",
      "expected video/x-raw in system memory, got video/x-raw(memory:DMABuf)" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *element = gst_element_factory_make ("slredact", NULL);
    GstBus *bus = test_watch (element);
    GstHarness *harness = gst_harness_new_with_element (element, "sink", "src");
    g_autoptr (GstCaps) caps = gst_caps_from_string (cases[i].caps);
    GstSegment segment;
    gst_harness_play (harness);
    gst_pad_push_event (harness->srcpad, gst_event_new_stream_start ("a"));
    gst_pad_push_event (harness->srcpad, gst_event_new_caps (caps));
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_pad_push_event (harness->srcpad, gst_event_new_segment (&segment));
    g_assert_cmpint (gst_harness_push (harness, gst_buffer_new ()), !=, GST_FLOW_OK);
    test_assert_error (bus, cases[i].error, "before slredact", NULL);
    test_line_close (harness, bus);
    gst_object_unref (element);
  }
}

static void
test_zone_errors (void)
{
  static const struct
  {
    const char *zones, *error;
  } cases[] = {
    { "[line a] points=0,0 1,1", "got 'a': it is a line" },
    { "[zone b] points=0,0 1,0 1,1; classes=cat", "got 'b': it has classes" },
    { "[zone c] points=0,0 1", "zones: " },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *element = gst_element_factory_make ("slredact", NULL);
    GstBus *bus = test_watch (element);
    g_object_set (element, "zones", cases[i].zones, NULL);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==,
                     GST_STATE_CHANGE_FAILURE);
    test_assert_error (bus, cases[i].error, NULL);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL); /* whose messages hold the element */
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}

/* Zones that were refused are gone once others, or none, are stated. */
static void
test_zones_corrected (void)
{
  g_autofree char *caps = caps_text ("GRAY8", 128, 64);
  GstElement *element = gst_element_factory_make ("slredact", NULL);
  guint8 pixels[128 * 64], same[128 * 64];
  gst_object_ref_sink (element);
  g_object_set (element, "objects", FALSE, "zones", "[line a] points=0,0 1,1", NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  g_object_set (element, "zones", NULL, NULL);
  GstHarness *harness = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (harness, caps);
  GstBuffer *in = lines_frame (128, 64);
  gst_buffer_extract (in, 0, same, sizeof same);
  g_assert_cmpint (gst_harness_push (harness, in), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  gst_buffer_extract (out, 0, pixels, sizeof pixels);
  g_assert_cmpmem (pixels, sizeof pixels, same, sizeof same);
  gst_harness_teardown (harness);
  gst_object_unref (element);
}

/* A shared frame is copied, and an original picture does not travel along. */
static void
test_shared (void)
{
  g_autofree char *caps = caps_text ("GRAY8", 128, 64);
  GstHarness *harness = gst_harness_new_parse ("slredact");
  GstBuffer *in = lines_frame (128, 64);
  guint8 pixels[128 * 64];
  sl_buffer_get_frame_meta (in)->frame = gst_buffer_copy (in);
  add_region (in, "cat", 0, 0, 128, 64);
  g_autoptr (GstBuffer) held = gst_buffer_ref (in);
  gst_harness_set_src_caps_str (harness, caps);
  g_assert_cmpint (gst_harness_push (harness, in), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  g_assert_null (sl_buffer_get_frame_meta (out)->frame);
  gst_buffer_extract (held, 0, pixels, sizeof pixels);
  g_assert_true (is_open (pixels, 128, 0, 0, 128, 64));
  gst_buffer_extract (out, 0, pixels, sizeof pixels);
  g_assert_false (is_open (pixels, 128, 0, 0, 128, 64));
  gst_harness_teardown (harness);
}

/* One frame with its object, and one fault of several kinds, or none. */
static GstBuffer *
faulty_frame (GRand *chance, guint frame, gint width, gint height, gint box[4])
{
  GstBuffer *in = lines_frame (width, height);
  const gint fault = g_rand_int_range (chance, 0, 10);
  box[2] = box[3] = 16;
  box[0] = g_rand_int_range (chance, 0, width - box[2]);
  box[1] = g_rand_int_range (chance, 0, height - box[3]);
  GST_BUFFER_PTS (in) = frame * 40 * GST_MSECOND;
  SlFrameMeta *meta = sl_buffer_get_frame_meta (in);
  if (fault != 0)
    add_region (in, "face", (guint) box[0], (guint) box[1], 16, 16);
  if (fault <= 1) /* the model is dead: no result, and perhaps an old region */
    meta->decoded = 0;
  else if (fault == 2) /* the frame came too late for the model */
    meta->content = SL_FRAME_SKIPPED;
  else if (fault == 3) /* an element lost our meta */
    gst_buffer_remove_meta (in, (GstMeta *) meta);
  else if (fault == 4)
    GST_BUFFER_PTS (in) = GST_CLOCK_TIME_NONE;
  else if (fault == 5) /* time goes back */
    GST_BUFFER_PTS (in) /= 2;
  else if (fault == 6)
    GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_GAP);
  else if (fault == 7)
    gst_buffer_set_size (in, (gssize) gst_buffer_get_size (in) / 2); /* it cannot be mapped */
  return in;
}

/* In every frame an object is somewhere; not one may leave with it. */
static void
test_faults (void)
{
  static const gint sizes[][2] = { { 64, 48 }, { 61, 47 }, { 128, 32 } };
  const char *stated = g_getenv ("SIGHTLINE_TEST_FRAMES");
  const guint frames = stated != NULL ? (guint) atoi (stated) : FAULT_FRAMES;
  g_autoptr (GRand) chance = g_rand_new_with_seed (3);
  GstHarness *harness = gst_harness_new_parse ("slredact");
  guint open = 0, shown = 0, size = 0;
  for (guint frame = 0; frame < frames; frame++) {
    gint box[4];
    if (frame == 0 || g_rand_int_range (chance, 0, 50) == 0) {
      size = (guint) g_rand_int_range (chance, 0, G_N_ELEMENTS (sizes));
      g_autofree char *caps = caps_text ("GRAY8", sizes[size][0], sizes[size][1]);
      gst_harness_set_src_caps_str (harness, caps);
    }
    const gint width = sizes[size][0];
    GstBuffer *in = faulty_frame (chance, frame, width, sizes[size][1], box);
    g_autoptr (GstBuffer) held G_GNUC_UNUSED = g_rand_boolean (chance) ? gst_buffer_ref (in) : NULL;
    g_assert_cmpint (gst_harness_push (harness, in), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_try_pull (harness);
    guint8 pixels[128 * 48] = { 0 };
    if (out == NULL)
      continue;
    gst_buffer_extract (out, 0, pixels, sizeof pixels);
    shown++;
    open += is_open (pixels, GST_ROUND_UP_4 (width), box[0], box[1], box[2], box[3]);
  }
  g_test_message ("%u frames, %u left the element, %u of them open", frames, shown, open);
  g_assert_cmpuint (open, ==, 0);
  g_assert_cmpuint (shown, >, frames / 2);
  gst_harness_teardown (harness);
}

/* Printed: how long twenty regions take at 1080p. No duration fails. */
static void
test_time (void)
{
  static const char *const modes[] = { "mode=pixelate", "mode=blur", "mode=fill" };
  static const guint sides[][2] = { { 100, 130 }, { 300, 260 } };
  g_autofree char *caps = caps_text ("NV12", 1920, 1080);
  g_autoptr (GRand) noise = g_rand_new_with_seed (4);
  g_autoptr (GstBuffer) frame = noise_frame (caps, noise);
  for (guint m = 0; m < G_N_ELEMENTS (modes) * 2; m++) {
    g_autofree char *launch = g_strdup_printf ("slredact margin=0 hold=0 %s", modes[m / 2]);
    const guint *side = sides[m % 2];
    GstHarness *harness = gst_harness_new_parse (launch);
    gint64 best = G_MAXINT64;
    gst_harness_set_src_caps_str (harness, caps);
    for (guint round = 0; round < 10; round++) {
      GstBuffer *in = look (gst_buffer_copy_deep (frame));
      for (guint i = 0; i < 20; i++)
        add_region (in, "face", 80 * i, 40 * i, side[0], side[1]);
      const gint64 start = g_get_monotonic_time ();
      g_assert_cmpint (gst_harness_push (harness, in), ==, GST_FLOW_OK);
      best = MIN (best, g_get_monotonic_time () - start);
      gst_buffer_unref (gst_harness_pull (harness));
    }
    g_test_message ("20 regions of %ux%u, %s, on 1920x1080 NV12 in %ld us", side[0], side[1],
                    modes[m / 2], (long) best);
    gst_harness_teardown (harness);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree char *values = g_strdup_printf ("/slredact/values/%s", formats[i]);
    g_autofree char *blur = g_strdup_printf ("/slredact/blur/%s", formats[i]);
    g_autofree char *whole = g_strdup_printf ("/slredact/whole/%s", formats[i]);
    g_test_add_data_func (values, formats[i], test_values);
    g_test_add_data_func (blur, formats[i], test_blur);
    g_test_add_data_func (whole, formats[i], test_whole);
  }
  g_test_add_func ("/slredact/text", test_text);
  g_test_add_func ("/slredact/no-area", test_no_area);
  g_test_add_func ("/slredact/choice", test_choice);
  g_test_add_func ("/slredact/mask", test_mask);
  g_test_add_func ("/slredact/classes-mask", test_classes_mask);
  g_test_add_func ("/slredact/hold", test_hold);
  g_test_add_func ("/slredact/max-age", test_max_age);
  g_test_add_func ("/slredact/messages", test_messages);
  g_test_add_func ("/slredact/switch", test_switch);
  g_test_add_func ("/slredact/other-model", test_other_model);
  g_test_add_func ("/slredact/caps-errors", test_caps_errors);
  g_test_add_func ("/slredact/zone-errors", test_zone_errors);
  g_test_add_func ("/slredact/zones-corrected", test_zones_corrected);
  g_test_add_func ("/slredact/shared", test_shared);
  g_test_add_func ("/slredact/faults", test_faults);
  g_test_add_func ("/slredact/time", test_time);
  return test_elements_run ();
}
