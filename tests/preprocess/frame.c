/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random pictures for tests; see frame.h.
 */
#include "tests/preprocess/frame.h"

#include <string.h>

/* One string a plane: what its bytes are, repeated along a row. x is filler. */
static const struct
{
  const char *components;
  gboolean halved_w, halved_h;
  const char *planes[3];
} patterns[SL_PIXEL_COUNT] = {
  [SL_PIXEL_NV12] = { "YUV", TRUE, TRUE, { "Y", "UV" } },      [SL_PIXEL_NV21] = { "YUV", TRUE, TRUE, { "Y", "VU" } },
  [SL_PIXEL_I420] = { "YUV", TRUE, TRUE, { "Y", "U", "V" } },  [SL_PIXEL_YV12] = { "YUV", TRUE, TRUE, { "Y", "V", "U" } },
  [SL_PIXEL_YUY2] = { "YUV", TRUE, FALSE, { "YUYV" } },        [SL_PIXEL_UYVY] = { "YUV", TRUE, FALSE, { "UYVY" } },
  [SL_PIXEL_Y42B] = { "YUV", TRUE, FALSE, { "Y", "U", "V" } }, [SL_PIXEL_Y444] = { "YUV", FALSE, FALSE, { "Y", "U", "V" } },
  [SL_PIXEL_GRAY8] = { "G", FALSE, FALSE, { "G" } },           [SL_PIXEL_RGB] = { "RGB", FALSE, FALSE, { "RGB" } },
  [SL_PIXEL_BGR] = { "RGB", FALSE, FALSE, { "BGR" } },         [SL_PIXEL_RGBX] = { "RGB", FALSE, FALSE, { "RGBx" } },
  [SL_PIXEL_BGRX] = { "RGB", FALSE, FALSE, { "BGRx" } },       [SL_PIXEL_XRGB] = { "RGB", FALSE, FALSE, { "xRGB" } },
  [SL_PIXEL_XBGR] = { "RGB", FALSE, FALSE, { "xBGR" } },
};

static void
fill_samples (TestFrame *frame, GRand *rand)
{
  for (int c = 0; c < frame->components; c++) {
    frame->width[c] = c > 0 && frame->halved_w ? (frame->info.width + 1) / 2 : frame->info.width;
    frame->height[c] = c > 0 && frame->halved_h ? (frame->info.height + 1) / 2 : frame->info.height;
    gsize n = (gsize) frame->width[c] * (gsize) frame->height[c];
    frame->sample[c] = g_malloc (n);
    for (gsize i = 0; i < n; i++)
      frame->sample[c][i] = (guint8) g_rand_int (rand);
  }
}

/* The size of a plane's row in bytes, and its number of rows. */
static void
plane_size (const TestFrame *frame, const char *pattern, gsize *bytes, int *rows)
{
  const char *names = patterns[frame->info.format].components;
  int component = (int) (strchr (names, pattern[0] == 'x' ? pattern[1] : pattern[0]) - names);
  *rows = frame->height[component];
  if (strlen (pattern) == 4 && frame->yuv)
    *bytes = (gsize) (frame->info.width + 1) / 2 * 4;
  else
    *bytes = (gsize) frame->width[component] * strlen (pattern);
}

static void
pack_row (const TestFrame *frame, GRand *rand, const char *pattern, guint8 *row, gsize bytes, int y)
{
  const char *names = patterns[frame->info.format].components;
  int taken[3] = { 0 };
  for (gsize i = 0; i < bytes; i++) {
    const char *found = strchr (names, pattern[i % strlen (pattern)]);
    int c = found != NULL ? (int) (found - names) : -1;
    if (c >= 0 && taken[c] < frame->width[c])
      row[i] = frame->sample[c][(gsize) y * (gsize) frame->width[c] + (gsize) taken[c]++];
    else
      row[i] = (guint8) g_rand_int (rand);
  }
}

static void
pack_plane (TestFrame *frame, GRand *rand, int plane, const char *pattern, TestStride layout)
{
  gsize bytes;
  int rows;
  plane_size (frame, pattern, &bytes, &rows);
  gsize stride = bytes + (layout == TEST_STRIDE_TIGHT ? 0 : (gsize) g_rand_int_range (rand, 0, 41));
  gsize total = stride * (gsize) (rows - 1) + bytes;
  guint8 *memory = g_malloc (total);
  memset (memory, 0xa5, total);
  frame->memory[plane] = memory;
  for (int y = 0; y < rows; y++) {
    gsize line = (gsize) (layout == TEST_STRIDE_NEGATIVE ? rows - 1 - y : y);
    pack_row (frame, rand, pattern, memory + line * stride, bytes, y);
  }
  frame->image.plane[plane] = layout == TEST_STRIDE_NEGATIVE ? memory + (gsize) (rows - 1) * stride : memory;
  frame->image.stride[plane] = layout == TEST_STRIDE_NEGATIVE ? -(ptrdiff_t) stride : (ptrdiff_t) stride;
}

TestFrame *
test_frame_new (GRand *rand, const SlImageInfo *info, TestStride stride)
{
  TestFrame *frame = g_new0 (TestFrame, 1);
  frame->info = *info;
  frame->components = (int) strlen (patterns[info->format].components);
  frame->yuv = patterns[info->format].components[0] == 'Y';
  frame->halved_w = patterns[info->format].halved_w;
  frame->halved_h = patterns[info->format].halved_h;
  fill_samples (frame, rand);
  for (int p = 0; p < 3 && patterns[info->format].planes[p] != NULL; p++)
    pack_plane (frame, rand, p, patterns[info->format].planes[p], stride);
  return frame;
}

void
test_frame_free (TestFrame *frame)
{
  for (int i = 0; i < 3; i++) {
    g_free (frame->sample[i]);
    g_free (frame->memory[i]);
  }
  g_free (frame);
}
