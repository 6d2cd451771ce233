/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The resizer against pictures whose samples are known everywhere: ramps, on which any filter
 * without bias gives the value at the position it stands for, so that a wrong position is a wrong
 * value; noise against filters in double precision; borders. Planes are packed by a table of this
 * test's own and lie against inaccessible pages.
 */
#include <math.h>
#include <string.h>

#include "preprocess/resize.h"
#include "tests/preprocess/guard.h"
#include "tests/support/program.h"

/* Where component c lies: its plane, first sample and step in samples; @half_w, @half_h of
 * components 1 and 2. */
typedef struct
{
  const char *name;
  SlPixelFormat format;
  int planes, components, bits, shift, half_w, half_h;
  int plane[3], first[3], step[3];
  int groups; /* samples of plane 0 for every two pixels, 0 for two */
} Format;

static const Format formats[] = {
  { "I420", SL_PIXEL_I420, 3, 3, 8, 0, 1, 1, { 0, 1, 2 }, { 0, 0, 0 }, { 1, 1, 1 } },
  { "YV12", SL_PIXEL_YV12, 3, 3, 8, 0, 1, 1, { 0, 2, 1 }, { 0, 0, 0 }, { 1, 1, 1 } },
  { "NV12", SL_PIXEL_NV12, 2, 3, 8, 0, 1, 1, { 0, 1, 1 }, { 0, 0, 1 }, { 1, 2, 2 } },
  { "NV21", SL_PIXEL_NV21, 2, 3, 8, 0, 1, 1, { 0, 1, 1 }, { 0, 1, 0 }, { 1, 2, 2 } },
  { "Y42B", SL_PIXEL_Y42B, 3, 3, 8, 0, 1, 0, { 0, 1, 2 }, { 0, 0, 0 }, { 1, 1, 1 } },
  { "Y444", SL_PIXEL_Y444, 3, 3, 8, 0, 0, 0, { 0, 1, 2 }, { 0, 0, 0 }, { 1, 1, 1 } },
  { "GRAY8", SL_PIXEL_GRAY8, 1, 1, 8, 0, 0, 0, { 0 }, { 0 }, { 1 } },
  { "YUY2", SL_PIXEL_YUY2, 1, 3, 8, 0, 1, 0, { 0, 0, 0 }, { 0, 1, 3 }, { 2, 4, 4 }, 4 },
  { "UYVY", SL_PIXEL_UYVY, 1, 3, 8, 0, 1, 0, { 0, 0, 0 }, { 1, 0, 2 }, { 2, 4, 4 }, 4 },
  { "I420_10LE", SL_PIXEL_I420_10, 3, 3, 10, 0, 1, 1, { 0, 1, 2 }, { 0, 0, 0 }, { 1, 1, 1 } },
  { "P010_10LE", SL_PIXEL_P010, 2, 3, 10, 6, 1, 1, { 0, 1, 1 }, { 0, 0, 1 }, { 1, 2, 2 } },
};

typedef struct
{
  const Format *format;
  int width, height;
  TestGuard memory[3];
  SlImageTarget target;
  SlImage image;
} Picture;

static int
component_width (const Picture *p, int c)
{
  return c > 0 && p->format->half_w ? (p->width + 1) / 2 : p->width;
}

static int
component_height (const Picture *p, int c)
{
  return c > 0 && p->format->half_h ? (p->height + 1) / 2 : p->height;
}

/* Strides are random and even, rows upside down for every second picture; the last row ends where
 * its samples end. */
static void
picture_init (Picture *p, GRand *rand, const Format *format, int width, int height)
{
  *p = (Picture){ .format = format, .width = width, .height = height };
  const gboolean negative = g_rand_boolean (rand), at_end = g_rand_boolean (rand);
  for (int plane = 0; plane < format->planes; plane++) {
    int c = 0;
    while (format->plane[c] != plane)
      c++;
    const int samples = format->groups != 0 ? (width + 1) / 2 * format->groups
                                            : component_width (p, c) * format->step[c];
    const int row = samples * (format->bits > 8 ? 2 : 1), rows = component_height (p, c);
    const int stride = row + 2 * g_rand_int_range (rand, 0, 20)
                       + (format->bits > 8 ? 0 : g_rand_int_range (rand, 0, 2));
    test_guard_init (&p->memory[plane], (gsize) stride * (gsize) (rows - 1) + (gsize) row, at_end);
    memset (p->memory[plane].data, 0xa5, p->memory[plane].bytes);
    p->target.plane[plane] =
      p->memory[plane].data + (negative ? (gsize) stride * (gsize) (rows - 1) : 0);
    p->target.stride[plane] = negative ? -stride : stride;
    p->image.plane[plane] = p->target.plane[plane];
    p->image.stride[plane] = p->target.stride[plane];
  }
}

static void
picture_clear (Picture *p)
{
  for (int plane = 0; plane < p->format->planes; plane++)
    test_guard_clear (&p->memory[plane]);
}

static guint8 *
place_of (const Picture *p, int c, int x, int y)
{
  const Format *f = p->format;
  guint8 *row = p->target.plane[f->plane[c]] + y * p->target.stride[f->plane[c]];
  return row + (f->first[c] + x * f->step[c]) * (f->bits > 8 ? 2 : 1);
}

/* Samples count in steps of 8 bits: one of 10 bits is a quarter. */
static double
get (const Picture *p, int c, int x, int y)
{
  const guint8 *place = place_of (p, c, x, y);
  return p->format->bits > 8 ? ((place[0] | place[1] << 8) >> p->format->shift) / 4.0 : *place;
}

static void
set (const Picture *p, int c, int x, int y, double value)
{
  guint8 *place = place_of (p, c, x, y);
  if (p->format->bits > 8) {
    const int word = (int) lrint (value * 4) << p->format->shift;
    place[0] = (guint8) word;
    place[1] = (guint8) (word >> 8);
  } else {
    *place = (guint8) lrint (value);
  }
}

static SlResizer *
resizer_for (const Picture *from, const SlResizeSpec *spec)
{
  const SlImageInfo info = { .format = from->format->format,
                             .width = from->width,
                             .height = from->height };
  SlResizer *resizer;
  g_assert_cmpint (sl_resizer_new (&resizer, &info, spec), ==, SL_RESIZE_OK);
  return resizer;
}

/* Frames are at most 100 pixels along the ramp: 2 a pixel; V runs down. */
#define SLOPE 2.0

static double
ramp (const Picture *p, int c, double position)
{
  return c == 2 ? 240 - SLOPE * position : 20 + SLOPE * position;
}

static void
fill_ramp (Picture *p, gboolean vertical)
{
  for (int c = 0; c < p->format->components; c++)
    for (int y = 0; y < component_height (p, c); y++)
      for (int x = 0; x < component_width (p, c); x++) {
        const double step = c > 0 && (vertical ? p->format->half_h : p->format->half_w) ? 2 : 1;
        set (p, c, x, y, ramp (p, c, ((vertical ? y : x) + 0.5) * step));
      }
}

/* The chroma sample's rectangle of pixels, and so its position, which ends with the picture. */
static double
centre (int i, int half, int length)
{
  return half ? (2 * i + MIN (2 * i + 2, length)) / 2.0 : i + 0.5;
}

/*
 * How far a result may be from the value at its position, beside one for rounding. Off by half a
 * sample: nearest. The fixed point of libyuv: 1/4. A chroma sample stands for one pixel instead of
 * two at odd edges, of the frame or of the picture, which stretches the chroma plane by one pixel
 * of either.
 */
static double
tolerance (const Picture *from, const Picture *to, const SlAffine *map, const SlResizeSpec *spec,
           int c, gboolean vertical)
{
  const Format *f = from->format;
  const double sample = c > 0 && (vertical ? f->half_h : f->half_w) ? 2 : 1;
  double off = (spec->filter == SL_FILTER_NEAREST ? 0.75 : 0.25) * sample;
  if (c > 0
      && (from->width | from->height | to->width | to->height | spec->crop.width
          | spec->crop.height)
           & 1)
    off += 1 + (vertical ? fabs (map->yx) + fabs (map->yy) : fabs (map->xx) + fabs (map->xy));
  return off * SLOPE + 1;
}

static void
check_ramp (const Picture *from, const Picture *to, const SlResizer *resizer,
            const SlResizeSpec *spec, gboolean vertical)
{
  const SlAffine *map = sl_resizer_map (resizer);
  const SlRect content = sl_resizer_content (resizer);
  const SlResizeSpec *s = spec;
  double part[4];
  sl_affine_box (
    map, (double[]){ content.x, content.y, content.x + content.width, content.y + content.height },
    part);
  for (int c = 0; c < to->format->components; c++) {
    const int half_w = c > 0 && to->format->half_w, half_h = c > 0 && to->format->half_h;
    /* Bilinear stays at the outermost samples, half a sample inside the part. */
    const double inset = c > 0 && (vertical ? half_h : half_w) ? 1 : 0.5;
    for (int y = 0; y < component_height (to, c); y++)
      for (int x = 0; x < component_width (to, c); x++) {
        const double px = centre (x, half_w, to->width), py = centre (y, half_h, to->height);
        double fx, fy;
        if (px < content.x || px > content.x + content.width || py < content.y
            || py > content.y + content.height) {
          g_assert_cmpfloat (get (to, c, x, y), ==, c == 0 ? spec->pad_value : 128);
          continue;
        }
        sl_affine_apply (map, px, py, &fx, &fy);
        const double low = part[vertical ? 1 : 0] + inset, high = part[vertical ? 3 : 2] - inset;
        const double position =
          low < high ? CLAMP (vertical ? fy : fx, low, high) : (low + high) / 2;
        const double expected = ramp (from, c, position), got = get (to, c, x, y);
        if (fabs (got - expected) > tolerance (from, to, map, spec, c, vertical))
          g_error (
            "%s %dx%d -> %dx%d crop %d,%d %dx%d fit %d turn %d filter %d, component %d at %d,%d: "
            "expected %.2f, got %.2f",
            to->format->name, from->width, from->height, to->width, to->height, s->crop.x,
            s->crop.y, s->crop.width, s->crop.height, s->fit, s->orientation, s->filter, c, x, y,
            expected, got);
      }
  }
}

static void
run_ramp (GRand *rand, const Picture from[2], const SlResizeSpec *spec)
{
  for (int vertical = 0; vertical < 2; vertical++) {
    Picture to;
    picture_init (&to, rand, from->format, spec->width, spec->height);
    SlResizer *resizer = resizer_for (&from[vertical], spec);
    g_assert_cmpint (sl_resizer_run (resizer, &from[vertical].image, &to.target), ==, SL_RESIZE_OK);
    check_ramp (&from[vertical], &to, resizer, spec, vertical);
    sl_resizer_free (resizer);
    picture_clear (&to);
  }
}

/* Every fit and filter of two ramps, across and down, whole and with a crop. */
static void
run_fits (GRand *rand, const Format *format, int width, int height, SlResizeSpec spec)
{
  Picture from[2];
  for (int vertical = 0; vertical < 2; vertical++) {
    picture_init (&from[vertical], rand, format, width, height);
    fill_ramp (&from[vertical], vertical);
  }
  for (int fit = SL_FIT_STRETCH; fit <= SL_FIT_CROP; fit++)
    for (int filter = SL_FILTER_NEAREST; filter <= SL_FILTER_AUTO; filter++) {
      spec.fit = (SlFit) fit;
      spec.filter = (SlFilter) filter;
      spec.crop = (SlRect){ 0 };
      run_ramp (rand, from, &spec);
      spec.crop = (SlRect){ 3, 5, width - 10, height - 8 };
      run_ramp (rand, from, &spec);
    }
  for (int vertical = 0; vertical < 2; vertical++)
    picture_clear (&from[vertical]);
}

/* Every orientation x fit x filter, at even sizes, odd ones, and with a crop, reducing and
 * enlarging. */
static void
test_geometry (gconstpointer data)
{
  static const int sizes[][4] = { { 96, 64, 32, 20 },  { 64, 96, 48, 32 },  { 97, 51, 33, 25 },
                                  { 100, 80, 80, 60 }, { 40, 30, 100, 60 }, { 96, 48, 36, 18 },
                                  { 90, 90, 7, 9 },    { 31, 17, 31, 17 },  { 64, 64, 16, 64 },
                                  { 100, 100, 50, 50 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (int turn = SL_ORIENTATION_IDENTITY; turn <= SL_ORIENTATION_UR_LL; turn++)
      run_fits (rand, data, sizes[i][0], sizes[i][1],
                (SlResizeSpec){ .width = sizes[i][2],
                                .height = sizes[i][3],
                                .orientation = (SlOrientation) turn,
                                .pad_value = 77 });
}

/* Weight of source sample @k in position @i: the overlap for area, a triangle one sample wide for
 * bilinear. */
static double
weight (SlFilter filter, int src, int dst, int i, int k)
{
  const double scale = (double) src / dst;
  if (filter == SL_FILTER_AREA && src > dst)
    return MAX (0, MIN ((i + 1) * scale, k + 1.0) - MAX (i * scale, k)) / scale;
  const double position = CLAMP ((i + 0.5) * scale - 0.5, 0, src - 1);
  return MAX (0, 1 - fabs (position - k));
}

static double
filtered (const Picture *from, const Picture *to, SlFilter filter, int c, int x, int y)
{
  const int width = component_width (from, c), height = component_height (from, c);
  double sum = 0;
  for (int j = 0; j < height; j++) {
    const double vertical = weight (filter, height, component_height (to, c), y, j);
    for (int i = 0; vertical > 0 && i < width; i++) {
      const double horizontal = weight (filter, width, component_width (to, c), x, i);
      if (horizontal > 0)
        sum += vertical * horizontal * get (from, c, i, j);
    }
  }
  return sum;
}

/* Noise: one code, rounding and the weights' 14 bits; libyuv's weights have 7 bits, which noise of
 * 255 makes 3. */
static void
test_noise (gconstpointer data)
{
  static const int sizes[][4] = { { 96, 60, 32, 20 }, { 97, 51, 40, 25 },   { 50, 40, 70, 60 },
                                  { 300, 200, 6, 4 }, { 64, 64, 32, 32 },   { 64, 48, 48, 36 },
                                  { 2000, 6, 2, 4 },  { 4, 700, 4, 2 },     { 1, 1, 5, 3 },
                                  { 5, 3, 1, 1 },     { 128, 128, 48, 48 }, { 33, 34, 70, 11 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  for (guint n = 0; n < G_N_ELEMENTS (sizes); n++)
    for (int filter = SL_FILTER_BILINEAR; filter <= SL_FILTER_AREA; filter++) {
      Picture from, to;
      picture_init (&from, rand, data, sizes[n][0], sizes[n][1]);
      picture_init (&to, rand, data, sizes[n][2], sizes[n][3]);
      for (int c = 0; c < from.format->components; c++)
        for (int y = 0; y < component_height (&from, c); y++)
          for (int x = 0; x < component_width (&from, c); x++)
            set (&from, c, x, y, g_rand_int_range (rand, 0, 256));
      const SlResizeSpec spec = { .width = to.width,
                                  .height = to.height,
                                  .filter = (SlFilter) filter };
      SlResizer *resizer = resizer_for (&from, &spec);
      g_assert_cmpint (sl_resizer_run (resizer, &from.image, &to.target), ==, SL_RESIZE_OK);
      const double limit = filter == SL_FILTER_BILINEAR ? 3 : 1;
      for (int c = 0; c < to.format->components; c++)
        for (int y = 0; y < component_height (&to, c); y++)
          for (int x = 0; x < component_width (&to, c); x++) {
            const double expected = filtered (&from, &to, spec.filter, c, x, y),
                         got = get (&to, c, x, y);
            if (fabs (got - expected) > limit)
              g_error ("%s %dx%d -> %dx%d filter %d component %d at %d,%d: expected %.2f, got %.2f",
                       to.format->name, from.width, from.height, to.width, to.height, filter, c, x,
                       y, expected, got);
          }
      sl_resizer_free (resizer);
      picture_clear (&from);
      picture_clear (&to);
    }
}

/* A point of the picture, to the frame and back, and a box of the frame through the picture: every
 * fit x orientation. */
static void
test_round_trip (void)
{
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 1919, .height = 1079 };
  for (int turn = SL_ORIENTATION_IDENTITY; turn <= SL_ORIENTATION_UR_LL; turn++)
    for (int fit = SL_FIT_STRETCH; fit <= SL_FIT_CROP; fit++) {
      const SlResizeSpec spec = {
        .width = 300, .height = 200, .fit = (SlFit) fit, .orientation = (SlOrientation) turn
      };
      SlResizer *resizer;
      g_assert_cmpint (sl_resizer_new (&resizer, &info, &spec), ==, SL_RESIZE_OK);
      const double box[4] = { 900.25, 500.5, 1000.75, 580 };
      double there[4], back[4];
      SlAffine inverse;
      g_assert_true (sl_affine_invert (sl_resizer_map (resizer), &inverse));
      sl_affine_box (&inverse, box, there);
      sl_affine_box (sl_resizer_map (resizer), there, back);
      for (int i = 0; i < 4; i++)
        g_assert_cmpfloat (fabs (back[i] - box[i]), <, 1e-6);
      /* The centre of the frame is that of the picture, but for the alignment of part and content.
       */
      double x, y;
      sl_affine_apply (&inverse, info.width / 2.0, info.height / 2.0, &x, &y);
      g_assert_cmpfloat (fabs (x - 150), <=, 1.5);
      g_assert_cmpfloat (fabs (y - 100), <=, 1.5);
      g_assert_false (sl_resizer_is_identity (resizer));
      sl_resizer_free (resizer);
    }
}

static void
test_identity (void)
{
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 33, .height = 21 };
  SlResizeSpec spec = { .width = 33, .height = 21 };
  SlResizer *resizer;
  g_assert_cmpint (sl_resizer_new (&resizer, &info, &spec), ==, SL_RESIZE_OK);
  g_assert_true (sl_resizer_is_identity (resizer));
  sl_resizer_free (resizer);
  spec.orientation = SL_ORIENTATION_VERT;
  g_assert_cmpint (sl_resizer_new (&resizer, &info, &spec), ==, SL_RESIZE_OK);
  g_assert_false (sl_resizer_is_identity (resizer));
  sl_resizer_free (resizer);
  spec.orientation = SL_ORIENTATION_IDENTITY;
  spec.crop = (SlRect){ 2, 2, 20, 10 };
  spec.width = 20;
  spec.height = 10;
  g_assert_cmpint (sl_resizer_new (&resizer, &info, &spec), ==, SL_RESIZE_OK);
  g_assert_false (sl_resizer_is_identity (resizer));
  sl_resizer_free (resizer);
}

typedef struct
{
  const char *name, *text;
  SlResizeStatus status;
  SlImageInfo info;
  SlResizeSpec spec;
} ErrorCase;

#define FRAME .info = { .format = SL_PIXEL_I420, .width = 16, .height = 8 }
#define SIZE .width = 8, .height = 4

static const ErrorCase error_cases[] = {
  { "rgb",
    "YUV or GRAY8",
    SL_RESIZE_BAD_FORMAT,
    { .format = SL_PIXEL_RGB, .width = 4, .height = 4 },
    { SIZE } },
  { "no-format",
    "YUV or GRAY8",
    SL_RESIZE_BAD_FORMAT,
    { .format = SL_PIXEL_COUNT, .width = 4, .height = 4 },
    { SIZE } },
  { "no-width",
    "1 to 16384",
    SL_RESIZE_BAD_SIZE,
    { .format = SL_PIXEL_NV12, .height = 4 },
    { SIZE } },
  { "large-frame",
    "1 to 16384",
    SL_RESIZE_BAD_SIZE,
    { .format = SL_PIXEL_NV12, .width = 16385, .height = 4 },
    { SIZE } },
  { "no-height", "1 to 16384", SL_RESIZE_BAD_SIZE, FRAME, { .width = 8 } },
  { "large", "1 to 16384", SL_RESIZE_BAD_SIZE, FRAME, { .width = G_MAXINT, .height = 1 } },
  { "crop-outside", "crop", SL_RESIZE_BAD_CROP, FRAME, { SIZE, .crop = { 16, 0, 1, 1 } } },
  { "crop-over", "crop", SL_RESIZE_BAD_CROP, FRAME, { SIZE, .crop = { 1, 0, 16, 1 } } },
  { "crop-overflow",
    "crop",
    SL_RESIZE_BAD_CROP,
    FRAME,
    { SIZE, .crop = { 1, 1, G_MAXINT, G_MAXINT } } },
  { "crop-negative", "crop", SL_RESIZE_BAD_CROP, FRAME, { SIZE, .crop = { -1, 0, 4, 4 } } },
  { "crop-empty", "crop", SL_RESIZE_BAD_CROP, FRAME, { SIZE, .crop = { 2, 0, 0, 4 } } },
  { "fit", "no such value", SL_RESIZE_BAD_CHOICE, FRAME, { SIZE, .fit = (SlFit) 3 } },
  { "orientation",
    "no such value",
    SL_RESIZE_BAD_CHOICE,
    FRAME,
    { SIZE, .orientation = (SlOrientation) 8 } },
  { "filter", "no such value", SL_RESIZE_BAD_CHOICE, FRAME, { SIZE, .filter = (SlFilter) 4 } },
  { "pad", "pad value", SL_RESIZE_BAD_CHOICE, FRAME, { SIZE, .pad_value = 256 } },
};

static void
test_error (gconstpointer data)
{
  const ErrorCase *test = data;
  SlResizer *resizer = (SlResizer *) (gpointer) test;
  const SlResizeStatus status = sl_resizer_new (&resizer, &test->info, &test->spec);
  g_assert_cmpint (status, ==, test->status);
  g_assert_null (resizer);
  g_assert_nonnull (strstr (sl_resize_status_text (status), test->text));
}

static void
test_bad_stride (void)
{
  guint16 words[64] = { 0 };
  guint8 *bytes = (guint8 *) words;
  const SlImageInfo info = { .format = SL_PIXEL_P010, .width = 4, .height = 4 };
  const SlResizeSpec spec = { .width = 2, .height = 2 };
  SlResizer *resizer;
  g_assert_cmpint (sl_resizer_new (&resizer, &info, &spec), ==, SL_RESIZE_OK);
  const SlImageTarget to = { .plane = { bytes + 64, bytes + 96 }, .stride = { 8, 8 } };
  const SlImage odd = { .plane = { bytes + 1, bytes + 32 }, .stride = { 8, 8 } };
  g_assert_cmpint (sl_resizer_run (resizer, &odd, &to), ==, SL_RESIZE_BAD_STRIDE);
  const SlImage odd_rows = { .plane = { bytes, bytes + 32 }, .stride = { 9, 8 } };
  g_assert_cmpint (sl_resizer_run (resizer, &odd_rows, &to), ==, SL_RESIZE_BAD_STRIDE);
  const SlImage far = { .plane = { bytes, bytes + 32 }, .stride = { (ptrdiff_t) 1 << 40, 8 } };
  g_assert_cmpint (sl_resizer_run (resizer, &far, &to), ==, SL_RESIZE_BAD_STRIDE);
  g_assert_nonnull (strstr (sl_resize_status_text (SL_RESIZE_BAD_STRIDE), "even addresses"));
  sl_resizer_free (resizer);
  sl_resizer_free (NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree char *geometry = g_strdup_printf ("/resize/geometry/%s", formats[i].name);
    g_autofree char *noise = g_strdup_printf ("/resize/noise/%s", formats[i].name);
    g_test_add_data_func (geometry, &formats[i], test_geometry);
    g_test_add_data_func (noise, &formats[i], test_noise);
  }
  for (guint i = 0; i < G_N_ELEMENTS (error_cases); i++) {
    g_autofree char *path = g_strdup_printf ("/resize/error/%s", error_cases[i].name);
    g_test_add_data_func (path, &error_cases[i], test_error);
  }
  g_test_add_func ("/resize/round-trip", test_round_trip);
  g_test_add_func ("/resize/identity", test_identity);
  g_test_add_func ("/resize/bad-stride", test_bad_stride);
  return g_test_run ();
}
