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
  int low_bits; /* of 16-bit words: below the code; 8-bit formats have 0 */
  int bits;     /* 0 stands for 8 */
} patterns[SL_PIXEL_COUNT] = {
  [SL_PIXEL_NV12] = { "YUV", TRUE, TRUE, { "Y", "UV" } },
  [SL_PIXEL_NV21] = { "YUV", TRUE, TRUE, { "Y", "VU" } },
  [SL_PIXEL_I420] = { "YUV", TRUE, TRUE, { "Y", "U", "V" } },
  [SL_PIXEL_YV12] = { "YUV", TRUE, TRUE, { "Y", "V", "U" } },
  [SL_PIXEL_YUY2] = { "YUV", TRUE, FALSE, { "YUYV" } },
  [SL_PIXEL_UYVY] = { "YUV", TRUE, FALSE, { "UYVY" } },
  [SL_PIXEL_Y42B] = { "YUV", TRUE, FALSE, { "Y", "U", "V" } },
  [SL_PIXEL_Y444] = { "YUV", FALSE, FALSE, { "Y", "U", "V" } },
  [SL_PIXEL_GRAY8] = { "G", FALSE, FALSE, { "G" } },
  [SL_PIXEL_RGB] = { "RGB", FALSE, FALSE, { "RGB" } },
  [SL_PIXEL_BGR] = { "RGB", FALSE, FALSE, { "BGR" } },
  [SL_PIXEL_RGBX] = { "RGB", FALSE, FALSE, { "RGBx" } },
  [SL_PIXEL_BGRX] = { "RGB", FALSE, FALSE, { "BGRx" } },
  [SL_PIXEL_XRGB] = { "RGB", FALSE, FALSE, { "xRGB" } },
  [SL_PIXEL_XBGR] = { "RGB", FALSE, FALSE, { "xBGR" } },
  [SL_PIXEL_RGBP] = { "RGB", FALSE, FALSE, { "R", "G", "B" } },
  [SL_PIXEL_P010] = { "YUV", TRUE, TRUE, { "Y", "UV" }, 6, 10 },
  [SL_PIXEL_I420_10] = { "YUV", TRUE, TRUE, { "Y", "U", "V" }, 0, 10 },
};

static void
fill_samples (TestFrame *frame, GRand *rand)
{
  for (int c = 0; c < frame->components; c++) {
    frame->width[c] = c > 0 && frame->halved_w ? (frame->info.width + 1) / 2 : frame->info.width;
    frame->height[c] = c > 0 && frame->halved_h ? (frame->info.height + 1) / 2 : frame->info.height;
    gsize n = (gsize) frame->width[c] * (gsize) frame->height[c];
    frame->sample[c] = g_new (guint16, n);
    for (gsize i = 0; i < n; i++)
      frame->sample[c][i] = (guint16) (g_rand_int (rand) & ((1U << frame->bits) - 1));
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
    *bytes = (gsize) frame->width[component] * strlen (pattern) * (frame->bits > 8 ? 2 : 1);
}

/* A code as @bytes bytes; the bits of a word that it leaves free are random. */
static void
pack_code (guint8 *to, gsize bytes, GRand *rand, guint code, int low_bits, int bits)
{
  const guint mask = ((1U << bits) - 1) << low_bits;
  const guint word = bytes == 1 ? code : (code << low_bits) | (g_rand_int (rand) & 0xffff & ~mask);
  for (gsize i = 0; i < bytes; i++)
    to[i] = (guint8) (word >> 8 * i);
}

static void
pack_row (const TestFrame *frame, GRand *rand, const char *pattern, guint8 *row, gsize bytes, int y)
{
  const char *names = patterns[frame->info.format].components;
  const gsize size = frame->bits > 8 ? 2 : 1;
  int taken[3] = { 0 };
  for (gsize i = 0; i < bytes / size; i++) {
    const char *found = strchr (names, pattern[i % strlen (pattern)]);
    int c = found != NULL ? (int) (found - names) : -1;
    guint code = g_rand_int (rand) & ((1U << frame->bits) - 1);
    if (c >= 0 && taken[c] < frame->width[c])
      code = frame->sample[c][(gsize) y * (gsize) frame->width[c] + (gsize) taken[c]++];
    pack_code (row + i * size, size, rand, code, patterns[frame->info.format].low_bits,
               frame->bits);
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
  test_guard_init (&frame->memory[plane], total, g_rand_boolean (rand));
  guint8 *memory = frame->memory[plane].data;
  memset (memory, 0xa5, total);
  for (int y = 0; y < rows; y++) {
    gsize line = (gsize) (layout == TEST_STRIDE_NEGATIVE ? rows - 1 - y : y);
    pack_row (frame, rand, pattern, memory + line * stride, bytes, y);
  }
  frame->image.plane[plane] =
    layout == TEST_STRIDE_NEGATIVE ? memory + (gsize) (rows - 1) * stride : memory;
  frame->image.stride[plane] =
    layout == TEST_STRIDE_NEGATIVE ? -(ptrdiff_t) stride : (ptrdiff_t) stride;
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
  frame->bits = patterns[info->format].bits > 0 ? patterns[info->format].bits : 8;
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
    if (frame->memory[i].map != NULL)
      test_guard_clear (&frame->memory[i]);
  }
  g_free (frame);
}
