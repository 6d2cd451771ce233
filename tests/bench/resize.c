/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-resize [FORMAT WxH WxH [FILTER [ROUNDS]]]: microseconds a frame of the resizer, min and
 * median, one thread, and those of libyuv's NV12Scale for NV12, alternating. Without arguments a
 * table of common cases.
 */
#include <glib.h>
#include <libyuv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/resize.h"

typedef struct
{
  SlPixelFormat format;
  int from_w, from_h, to_w, to_h;
  SlFilter filter;
  SlOrientation orientation;
} Case;

static const char *const filter_names[] = { "nearest", "bilinear", "area", "auto" };

static const Case cases[] = {
  { SL_PIXEL_NV12, 1920, 1080, 640, 360, SL_FILTER_AUTO },
  { SL_PIXEL_NV12, 1920, 1080, 640, 360, SL_FILTER_BILINEAR },
  { SL_PIXEL_NV12, 1920, 1080, 640, 360, SL_FILTER_NEAREST },
  { SL_PIXEL_NV12, 1920, 1080, 640, 360, SL_FILTER_AUTO, SL_ORIENTATION_HORIZ },
  { SL_PIXEL_NV12, 1920, 1080, 360, 640, SL_FILTER_AUTO, SL_ORIENTATION_90R },
  { SL_PIXEL_NV12, 1920, 1080, 1280, 720, SL_FILTER_AUTO },
  { SL_PIXEL_NV12, 1920, 1080, 224, 126, SL_FILTER_AUTO },
  { SL_PIXEL_NV12, 1920, 1080, 160, 90, SL_FILTER_AUTO },
  { SL_PIXEL_I420, 1920, 1080, 640, 360, SL_FILTER_AUTO },
  { SL_PIXEL_YUY2, 1920, 1080, 640, 360, SL_FILTER_AUTO },
  { SL_PIXEL_P010, 1920, 1080, 640, 360, SL_FILTER_AUTO },
  { SL_PIXEL_I420_10, 1920, 1080, 640, 360, SL_FILTER_AUTO },
};

static gsize
layout (const SlImageInfo *info, ptrdiff_t stride[3], gsize offset[3])
{
  gsize total = 0;
  for (int p = 0; p < sl_pixel_format_planes (info->format); p++) {
    offset[p] = total;
    stride[p] = (ptrdiff_t) (sl_image_row_bytes (info, p) + 3) / 4 * 4;
    total += (gsize) stride[p] * (gsize) sl_image_plane_rows (info, p);
  }
  return total;
}

static int
compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static double
now (void)
{
  return (double) g_get_monotonic_time ();
}

static void
report (const char *name, double *times, guint rounds)
{
  qsort (times, rounds, sizeof *times, compare);
  printf ("  %-10s min %8.1f  median %8.1f us", name, times[0], times[rounds / 2]);
}

static void
libyuv_once (const Case *test, const SlImage *from, const SlImageTarget *to)
{
  NV12Scale (from->plane[0], (int) from->stride[0], from->plane[1], (int) from->stride[1],
             test->from_w, test->from_h, to->plane[0], (int) to->stride[0], to->plane[1],
             (int) to->stride[1], test->to_w, test->to_h,
             test->filter == SL_FILTER_NEAREST    ? kFilterNone
             : test->filter == SL_FILTER_BILINEAR ? kFilterBilinear
                                                  : kFilterBox);
}

static void
run_case (const Case *test, guint rounds)
{
  const SlImageInfo in = { .format = test->format, .width = test->from_w, .height = test->from_h };
  const SlImageInfo out = { .format = test->format, .width = test->to_w, .height = test->to_h };
  const SlResizeSpec spec = { .width = test->to_w,
                              .height = test->to_h,
                              .orientation = test->orientation,
                              .filter = test->filter,
                              .pad_value = 114 };
  SlImage from = { 0 };
  SlImageTarget to = { 0 };
  gsize offset[3];
  const gsize in_bytes = layout (&in, from.stride, offset);
  guint8 *data = g_aligned_alloc0 (1, in_bytes, 64);
  for (gsize i = 0; i < in_bytes; i++)
    data[i] = (guint8) (i * 2654435761u >> 13);
  for (int p = 0; p < 3; p++)
    from.plane[p] = data + offset[p];
  guint8 *result = g_aligned_alloc0 (1, layout (&out, to.stride, offset), 64);
  for (int p = 0; p < 3; p++)
    to.plane[p] = result + offset[p];
  SlResizer *resizer;
  const SlResizeStatus status = sl_resizer_new (&resizer, &in, &spec);
  if (status != SL_RESIZE_OK)
    g_error ("%s", sl_resize_status_text (status));
  g_autofree double *ours = g_new (double, rounds), *peer = g_new (double, rounds);
  const gboolean compared =
    test->format == SL_PIXEL_NV12 && test->orientation == SL_ORIENTATION_IDENTITY;
  for (guint i = 0; i < rounds; i++) {
    double start = now ();
    for (int k = 0; k < 10; k++)
      sl_resizer_run (resizer, &from, &to);
    ours[i] = (now () - start) / 10;
    start = now ();
    for (int k = 0; compared && k < 10; k++)
      libyuv_once (test, &from, &to);
    peer[i] = (now () - start) / 10;
  }
  printf ("%-9s %dx%d -> %dx%d %-8s turn %d", sl_pixel_format_name (test->format), test->from_w,
          test->from_h, test->to_w, test->to_h, filter_names[test->filter], test->orientation);
  report ("resize", ours, rounds);
  if (compared)
    report ("NV12Scale", peer, rounds);
  printf ("\n");
  sl_resizer_free (resizer);
  g_aligned_free (data);
  g_aligned_free (result);
}

static gboolean
read_case (char **argv, int argc, Case *test)
{
  for (int f = 0; f < SL_PIXEL_COUNT; f++)
    if (strcmp (sl_pixel_format_name ((SlPixelFormat) f), argv[1]) == 0)
      test->format = (SlPixelFormat) f;
  test->filter = SL_FILTER_AUTO;
  for (guint i = 0; argc > 4 && i < G_N_ELEMENTS (filter_names); i++)
    if (strcmp (filter_names[i], argv[4]) == 0)
      test->filter = (SlFilter) i;
  return sscanf (argv[2], "%dx%d", &test->from_w, &test->from_h) == 2
         && sscanf (argv[3], "%dx%d", &test->to_w, &test->to_h) == 2;
}

int
main (int argc, char **argv)
{
  const guint rounds = argc > 5 ? (guint) CLAMP (atoi (argv[5]), 1, 100000) : 100;
  Case test = { 0 };
  if (argc == 1) {
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
      run_case (&cases[i], rounds);
    return 0;
  }
  if (argc < 4 || !read_case (argv, argc, &test)) {
    fprintf (stderr,
             "usage: %s [FORMAT WxH WxH [FILTER [ROUNDS]]], such as NV12 1920x1080 640x360 area\n",
             argv[0]);
    return 2;
  }
  run_case (&test, rounds);
  return 0;
}
