/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/elements/people.h"

#include <gst/video/video.h>
#include <string.h>

#include "tests/elements/support.h"
#include "tests/support/looks_model.h"

#define FRAME (40 * GST_MSECOND)
#define BYTES (TEST_PEOPLE_WIDTH * TEST_PEOPLE_HEIGHT * 3)

char *
test_looks_file (gfloat factor)
{
  return test_bytes_file ("looks.onnx", looks_model (factor));
}

GstBuffer *
test_people_frame (guint i)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, BYTES, NULL);
  gst_buffer_memset (buffer, 0, 90, BYTES);
  GST_BUFFER_PTS (buffer) = i * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  return buffer;
}

void
test_people_add_region (GstBuffer *buffer, guint x, guint y, guint w, guint h)
{
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (buffer, "person", x, y, w, h);
  gst_video_region_of_interest_meta_add_param (
    region, gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, 0.9, NULL));
}

void
test_people_add (GstBuffer *buffer, guint x, guint y, const TestClothes clothes)
{
  const guint w = 30, h = 60;
  GstMapInfo map;
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (guint row = 0; row < h; row++)
    for (guint column = 0; column < w; column++)
      memcpy (map.data + ((y + row) * TEST_PEOPLE_WIDTH + x + column) * 3, clothes[row >= h / 2],
              3);
  gst_buffer_unmap (buffer, &map);
  test_people_add_region (buffer, x, y, w, h);
}
