/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Maps of classes that a model makes of single objects: each class is a part of its object, at its
 * place in the frame. Which class a pixel has is computed here, from the map's cells and the
 * object's pixels alone.
 */
#include <math.h>
#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "plugins/meta/regions/mask.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define FRAME_CAPS "video/x-raw,format=RGB,width=96,height=64,framerate=25/1"
#define MAP_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=\"4:4:1\",types=\"uint8\",framerate=25/1"
#define CELLS 4

/* Two classes, a third one, background and a cell of no class. */
static const guint8 map_cells[CELLS * CELLS] = { 0, 1, 1, 0, 0, 1, 2, 2, 255, 1, 2, 2, 7, 7, 7, 7 };

typedef struct
{
  const char *name;
  SlFit fit;
  SlOrientation orientation;
  SlRect object;
} PartCase;

static const PartCase part_cases[] = {
  { "stretch", SL_FIT_STRETCH, SL_ORIENTATION_IDENTITY, { 24, 16, 32, 24 } },
  { "letterbox", SL_FIT_LETTERBOX, SL_ORIENTATION_IDENTITY, { 24, 16, 32, 16 } },
  { "letterbox-high", SL_FIT_LETTERBOX, SL_ORIENTATION_IDENTITY, { 8, 0, 32, 64 } },
  { "half-turn", SL_FIT_STRETCH, SL_ORIENTATION_180, { 56, 40, 40, 24 } },
  { "odd", SL_FIT_STRETCH, SL_ORIENTATION_IDENTITY, { 25, 17, 31, 23 } },
};

/* The class of the pixel with its centre at @px, @py, by the plain rule of each fit. */
static guint8
class_at (const PartCase *test, double px, double py)
{
  const SlRect *object = &test->object;
  double u = (px - object->x) / object->width, v = (py - object->y) / object->height;
  if (u < 0 || u >= 1 || v < 0 || v >= 1)
    return 0;
  if (test->orientation == SL_ORIENTATION_180) {
    u = 1 - u;
    v = 1 - v;
  }
  if (test->fit == SL_FIT_LETTERBOX && object->width > object->height)
    v = 0.5 + (v - 0.5) * object->height / object->width;
  if (test->fit == SL_FIT_LETTERBOX && object->width < object->height)
    u = 0.5 + (u - 0.5) * object->width / object->height;
  return map_cells[(guint) floor (v * CELLS) * CELLS + (guint) floor (u * CELLS)];
}

static GstBuffer *
map_buffer (const PartCase *test, guint region)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
  static const guint8 black[3] = { 0, 0, 0 };
  GstBuffer *frame = test_frame (FRAME_CAPS, black, 0);
  GstBuffer *buffer = gst_buffer_new_memdup (map_cells, sizeof map_cells);
  const SlRect *object = &test->object;
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  gst_buffer_add_video_region_of_interest_meta (frame, "dog", 0, 0, 5, 5);
  gst_buffer_add_video_region_of_interest_meta (frame, "person", (guint) object->x,
                                                (guint) object->y, (guint) object->width,
                                                (guint) object->height);
  SlFrameMeta *meta = sl_buffer_add_frame_meta (buffer, frame, caps, &info);
  sl_affine_view (&meta->affine, test->fit, test->orientation, object, CELLS * 8, CELLS * 8);
  meta->tensor_width = meta->tensor_height = CELLS * 8;
  meta->content = SL_FRAME_LAST_OBJECT;
  meta->region = region;
  gst_buffer_unref (frame);
  return buffer;
}

/* Marks the pixels of @region in @classes; returns how many were marked already. */
static guint
draw_part (GstVideoRegionOfInterestMeta *region, guint8 *classes)
{
  g_autoptr (GByteArray) cells = g_byte_array_new ();
  SlObjectMask mask = { 0 };
  gint id = -1;
  guint twice = 0;
  double confidence = 0;
  const GstStructure *detection = gst_video_region_of_interest_meta_get_param (region, "detection");
  g_assert_nonnull (detection);
  g_assert_true (gst_structure_get_int (detection, "label_id", &id)
                 && gst_structure_get_double (detection, "confidence", &confidence));
  g_assert_cmpint (id, ==, g_ascii_strtoll (g_quark_to_string (region->roi_type), NULL, 10));
  g_assert_cmpfloat (confidence, ==, 1);
  sl_region_read_mask (region, cells, &mask);
  g_assert_cmpuint (mask.width * mask.height, >, 0);
  for (guint y = 0; y < region->h; y++)
    for (guint x = 0; x < region->w; x++) {
      const guint column = (guint) ((x + 0.5) * mask.width / region->w),
                  row = (guint) ((y + 0.5) * mask.height / region->h);
      guint8 *class = &classes[(region->y + y) * 96 + region->x + x];
      if (cells->data[row * mask.width + column] < SL_OBJECT_CELL)
        continue;
      twice += *class != 0;
      *class = (guint8) id;
    }
  return twice;
}

static void
test_place (gconstpointer data)
{
  const PartCase *test = data;
  guint8 classes[96 * 64] = { 0 };
  guint wrong = 0, n = 0;
  GstHarness *harness = gst_harness_new_parse ("slpostprocess decoder=segmentation");
  GstBus *bus = test_watch (harness->element);
  gst_harness_set_sink_caps_str (harness, FRAME_CAPS);
  gst_harness_set_src_caps_str (harness, MAP_CAPS);
  g_assert_cmpint (gst_harness_push (harness, map_buffer (test, 1)), ==, GST_FLOW_OK);
  test_assert_no_error (bus);
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  GstVideoRegionOfInterestMeta *person = NULL;
  gpointer state = NULL;
  for (GstMeta *meta; (meta = gst_buffer_iterate_meta_filtered (
                         out, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
                      != NULL;
       n++) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    if (n == 1)
      person = region;
    if (n < 2)
      continue;
    g_assert_cmpint (region->parent_id, ==, person->id);
    wrong += draw_part (region, classes);
  }
  for (gint y = 0; y < 64; y++)
    for (gint x = 0; x < 96; x++) {
      const guint8 class = class_at (test, x + 0.5, y + 0.5);
      wrong += classes[y * 96 + x] != (class == 255 ? 0 : class);
    }
  g_assert_cmpuint (n, >, 3);
  /* An odd size puts edges of cells inside pixels: one row or column each may fall on either side,
   * or both. */
  g_assert_cmpuint (wrong, <=, g_str_equal (test->name, "odd") ? 120 : 0);
  gst_element_set_bus (harness->element, NULL);
  gst_harness_teardown (harness);
  gst_object_unref (bus);
}

/* Parts stand under their object, the largest first; names come from labels; max-results bounds
 * them. */
static void
test_text (void)
{
  g_autofree char *labels =
    test_text_file ("labels.txt", "nothing\nsleeve\nhat\n3\n4\n5\n6\ncoat\n");
  for (guint most = 1; most <= 100; most += 99) {
    g_autofree char *launch =
      g_strdup_printf ("slpostprocess decoder=segmentation labels=%s max-results=%u", labels, most);
    GstHarness *harness = gst_harness_new_parse (launch);
    gst_harness_set_sink_caps_str (harness, "text/x-raw,format=utf8");
    gst_harness_set_src_caps_str (harness, MAP_CAPS);
    g_assert_cmpint (gst_harness_push (harness, map_buffer (&part_cases[0], 1)), ==, GST_FLOW_OK);
    g_autofree char *text = test_take_text (gst_harness_pull (harness));
    if (most == 1)
      g_assert_cmpstr (text, ==, "dog 1 0 0 5 5\nperson 1 24 16 32 24\n  sleeve 1 32 16 16 18\n");
    else
      g_assert_cmpstr (
        text, ==,
        "dog 1 0 0 5 5\nperson 1 24 16 32 24\n  sleeve 1 32 16 16 18\n  hat 1 40 22 16 12\n"
        "  coat 1 24 34 32 6\n");
    gst_harness_teardown (harness);
  }
  test_remove_file (labels);
}

/* A region that is no longer on the frame: nothing is said, nothing breaks. */
static void
test_gone (void)
{
  GstHarness *harness = gst_harness_new_parse ("slpostprocess decoder=segmentation");
  gst_harness_set_sink_caps_str (harness, "text/x-raw,format=utf8");
  gst_harness_set_src_caps_str (harness, MAP_CAPS);
  g_assert_cmpint (gst_harness_push (harness, map_buffer (&part_cases[0], 77)), ==, GST_FLOW_OK);
  g_autofree char *text = test_take_text (gst_harness_pull (harness));
  g_assert_cmpstr (text, ==, "dog 1 0 0 5 5\nperson 1 24 16 32 24\n");
  gst_harness_teardown (harness);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/objectparts/place", part_cases, test_place);
  g_test_add_func ("/objectparts/text", test_text);
  g_test_add_func ("/objectparts/gone", test_gone);
  return test_elements_run ();
}
