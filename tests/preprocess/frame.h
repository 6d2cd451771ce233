/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random pictures for tests: components as plain arrays, and the same samples packed into planes of
 * exactly the bytes a format has, against an inaccessible page on one side, so that a read beyond
 * them is seen. Packing goes by byte patterns
 * ("YUYV"), not by the library's table.
 */
#ifndef SL_TESTS_FRAME_H
#define SL_TESTS_FRAME_H

#include <glib.h>

#include "preprocess/image.h"
#include "tests/preprocess/guard.h"

/**
 * TestFrame:
 * @components: 1 or 3: Y U V, R G B, or gray
 * @yuv: whether they are Y U V
 * @halved_w, @halved_h: whether components 1 and 2 have half the columns, rows
 * @width, @height: samples of each component
 * @bits: of a sample
 * @sample: rows of @width without gaps
 * @image: the packed picture
 */
typedef struct
{
  SlImageInfo info;
  int components;
  gboolean yuv, halved_w, halved_h;
  int bits;
  int width[3], height[3];
  guint16 *sample[3];
  TestGuard memory[3];
  SlImage image;
} TestFrame;

typedef enum
{
  TEST_STRIDE_TIGHT,
  TEST_STRIDE_RANDOM,  /* up to 40 bytes between rows, any alignment */
  TEST_STRIDE_NEGATIVE /* the same, last row first in memory */
} TestStride;

/** test_frame_new: (transfer full): random samples; planes packed with @stride. */
TestFrame *test_frame_new (GRand *rand, const SlImageInfo *info, TestStride stride);
void test_frame_free (TestFrame *frame);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TestFrame, test_frame_free)

#endif
