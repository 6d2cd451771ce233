/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slinfer with tiny models whose answers follow from arithmetic: channel means, maxima and sums.
 */
#include <gst/base/gstbasetransform.h>
#include <string.h>

#include "core/graph/tensor.h"
#include "plugins/elements.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/tensor/caps.h"
#include "plugins/tensor/stage_latency.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"
#include "tests/support/tflite_writer.h"

#define PICTURE_BYTES 48
#define PICTURE_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=3:4:4:1,types=uint8,framerate=25/1"
#define SUM_CAPS                                                                                \
  "other/tensors,format=static,num_tensors=2,dimensions=\"4:1,4:1\",types=\"float32,float32\"," \
  "framerate=25/1"

typedef struct
{
  char *path;
  GstHarness *harness;
  GstBus *bus;
} Fixture;

/* Takes @path. */
static Fixture
setup (char *path)
{
  Fixture fixture = { .path = path };
  GstElement *element = gst_element_factory_make ("slinfer", NULL);
  g_object_set (element, "model", path, NULL);
  fixture.bus = test_watch (element);
  fixture.harness = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  return fixture;
}

static void
teardown (Fixture *fixture)
{
  test_line_close (fixture->harness, fixture->bus);
  test_remove_file (fixture->path);
  g_free (fixture->path);
}

static void
assert_bytes (GstBuffer *buffer, guint memory, const guint8 *expected, gsize bytes)
{
  GstMapInfo map;
  GstMemory *peeked = gst_buffer_peek_memory (buffer, memory);
  g_assert_true (gst_memory_map (peeked, &map, GST_MAP_READ));
  g_assert_cmpmem (map.data, map.size, expected, bytes);
  gst_memory_unmap (peeked, &map);
}

/* 16 pixels, one of which has @odd in every channel and the others @even: mean even + (odd - even)
 * / 16. */
static void
fill_picture (guint8 picture[PICTURE_BYTES], const guint8 even[3], guint8 odd)
{
  for (guint i = 0; i < PICTURE_BYTES; i++)
    picture[i] = i < 3 ? odd : even[i % 3];
}

static const guint8 even[3] = { 16, 32, 64 };
static const guint8 mean_of_160[3] = { 25, 40, 70 }; /* 16+144/16, 32+128/16, 64+96/16 */

static void
push_and_check (Fixture *fixture)
{
  guint8 picture[PICTURE_BYTES];
  fill_picture (picture, even, 160);
  GstBuffer *in = test_tensor_buffer (picture, sizeof picture);
  GST_BUFFER_PTS (in) = 3 * GST_SECOND;
  GST_BUFFER_DURATION (in) = GST_SECOND;
  GST_BUFFER_OFFSET (in) = 9;
  g_assert_cmpint (gst_harness_push (fixture->harness, in), ==, GST_FLOW_OK);
  test_assert_no_error (fixture->bus);
  g_autoptr (GstBuffer) out = gst_harness_pull (fixture->harness);
  g_assert_cmpuint (GST_BUFFER_PTS (out), ==, 3 * GST_SECOND);
  g_assert_cmpuint (GST_BUFFER_DURATION (out), ==, GST_SECOND);
  g_assert_cmpuint (GST_BUFFER_OFFSET (out), ==, 9);
  g_assert_cmpuint (gst_buffer_n_memory (out), ==, 1);
  assert_bytes (out, 0, mean_of_160, 3);
}

static void
test_run (void)
{
  Fixture fixture = setup (test_colour_model (SL_DTYPE_U8));
  gst_harness_set_src_caps_str (fixture.harness, PICTURE_CAPS);
  for (guint i = 0; i < 5; i++)
    push_and_check (&fixture);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (fixture.harness->sinkpad);
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint n = 0, numerator = 0, denominator = 0;
  g_assert_true (gst_structure_get_int (structure, "num_tensors", &n));
  g_assert_cmpint (n, ==, 1);
  g_assert_cmpstr (gst_structure_get_string (structure, "dimensions"), ==, "3:1");
  g_assert_cmpstr (gst_structure_get_string (structure, "types"), ==, "uint8");
  g_assert_true (gst_structure_get_fraction (structure, "framerate", &numerator, &denominator));
  g_assert_cmpint (numerator, ==, 25);
  g_assert_nonnull (sl_tensor_caps_contract (caps));
  teardown (&fixture);
}

static const char *const accepted_caps[] = {
  "other/tensors,format=static,num_tensors=1,dimensions=3:4:4,types=uint8,framerate=25/1",
  "other/tensors,format=static,num_tensors=1,dimensions=3:4:4:1:1:1:1:1,types=uint8,framerate=25/1",
  "other/tensor,dimension=3:4:4:1,type=uint8,framerate=25/1",
  "other/tensors,num_tensors=1,dimensions=3:4:4:1,types=uint8",
};

static void
test_spelling (gconstpointer data)
{
  Fixture fixture = setup (test_colour_model (SL_DTYPE_U8));
  gst_harness_set_src_caps_str (fixture.harness, data);
  push_and_check (&fixture);
  teardown (&fixture);
}

static void
test_two_outputs (void)
{
  static const guint8 maxima[3] = { 160, 160, 160 };
  guint8 picture[PICTURE_BYTES];
  Fixture fixture = setup (test_pair_model ());
  gst_harness_set_src_caps_str (fixture.harness, PICTURE_CAPS);
  fill_picture (picture, even, 160);
  g_autoptr (GstBuffer) out =
    gst_harness_push_and_pull (fixture.harness, test_tensor_buffer (picture, sizeof picture));
  test_assert_no_error (fixture.bus);
  g_assert_nonnull (out);
  g_assert_cmpuint (gst_buffer_n_memory (out), ==, 2);
  assert_bytes (out, 0, mean_of_160, 3);
  assert_bytes (out, 1, maxima, 3);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (fixture.harness->sinkpad);
  SlTensorInfo tensors[SL_MAX_IO];
  const guint n = sl_tensor_caps_parse (caps, tensors, NULL);
  g_autofree char *text = sl_tensor_infos_describe (tensors, n);
  g_assert_cmpstr (text, ==, "uint8[1,1,1,3], uint8[1,1,1,3]");
  sl_tensor_infos_clear (tensors, n);
  teardown (&fixture);
}

/* The same two inputs as two memories, as one, cut anywhere, and off their alignment. */
static void
test_two_inputs (gconstpointer data)
{
  static const gfloat values[8] = { 1, 2, 3, 4, 10, 20, 30, 40 };
  static const gfloat sums[4] = { 11, 22, 33, 44 };
  gsize cut = GPOINTER_TO_SIZE (data);
  guint8 shifted[1 + sizeof values];
  memcpy (shifted + 1, values, sizeof values);
  Fixture fixture = setup (test_sum_model ());
  gst_harness_set_src_caps_str (fixture.harness, SUM_CAPS);
  GstBuffer *in = gst_buffer_new ();
  if (cut > 0)
    gst_buffer_append_memory (in, gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, shifted,
                                                          sizeof shifted, 1, cut, NULL, NULL));
  gst_buffer_append_memory (in, gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, shifted,
                                                        sizeof shifted, 1 + cut,
                                                        sizeof values - cut, NULL, NULL));
  g_autoptr (GstBuffer) out = NULL;
  GstFlowReturn flow = gst_harness_push (fixture.harness, in);
  if (cut == 7) {
    g_assert_cmpint (flow, ==, GST_FLOW_ERROR); /* two memories, but not the two tensors */
    test_assert_error (fixture.bus, "expected 16 + 16 bytes", "got 7 + 25", NULL);
  } else {
    g_assert_cmpint (flow, ==, GST_FLOW_OK);
    out = gst_harness_pull (fixture.harness);
    assert_bytes (out, 0, (const guint8 *) sums, sizeof sums);
  }
  teardown (&fixture);
}

static void
test_pool (void)
{
  Fixture fixture = setup (test_sum_model ());
  gst_harness_set_src_caps_str (fixture.harness, SUM_CAPS);
  g_autoptr (GstCaps) caps = gst_caps_from_string (SUM_CAPS);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  g_assert_true (gst_pad_peer_query (fixture.harness->srcpad, query));
  GstAllocationParams params;
  gst_query_parse_nth_allocation_param (query, 0, NULL, &params);
  g_assert_cmpuint (params.align & (SL_TENSOR_ALIGN - 1), ==, SL_TENSOR_ALIGN - 1);
  g_assert_cmpuint (params.padding, >=, SL_TENSOR_PADDING);
  GstBufferPool *pool = NULL;
  guint size = 0;
  gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, NULL, NULL);
  g_assert_cmpuint (size, ==, 32);
  g_assert_true (gst_buffer_pool_set_active (pool, TRUE));
  GstBuffer *buffer = NULL;
  for (guint round = 0; round < 4; round++) {
    g_assert_cmpint (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), ==, GST_FLOW_OK);
    g_assert_cmpuint (gst_buffer_n_memory (buffer), ==, 2);
    for (guint i = 0; i < 2; i++) {
      GstMapInfo map;
      GstMemory *memory = gst_buffer_peek_memory (buffer, i);
      g_assert_true (gst_memory_map (memory, &map, GST_MAP_WRITE));
      g_assert_cmpuint (map.size, ==, 16);
      g_assert_cmpuint (map.maxsize - map.size, >=, SL_TENSOR_PADDING);
      g_assert_cmpuint (GPOINTER_TO_SIZE (map.data) % SL_TENSOR_ALIGN, ==, 0);
      memset (map.data, 0xff, map.size);
      gst_memory_unmap (memory, &map);
    }
    gst_buffer_unref (buffer);
  }
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  gst_query_unref (query);
  teardown (&fixture);
}

static void
test_caps_query (void)
{
  Fixture fixture = setup (test_colour_model (SL_DTYPE_U8));
  g_autoptr (GstCaps) all = gst_pad_peer_query_caps (fixture.harness->srcpad, NULL);
  g_autoptr (GstCaps) fitting = gst_caps_from_string (PICTURE_CAPS);
  g_autoptr (GstCaps) other = gst_caps_from_string (
    "other/tensors,format=static,num_tensors=1,dimensions=3:5:5:1,types=uint8,framerate=5/1");
  g_assert_true (gst_caps_can_intersect (all, fitting));
  g_assert_false (gst_caps_can_intersect (all, other));
  g_assert_nonnull (sl_tensor_caps_contract (all));
  g_autoptr (GstCaps) answer = gst_pad_peer_query_caps (fixture.harness->srcpad, other);
  g_assert_true (gst_caps_is_equal (
    answer, other)); /* let through to the CAPS event, which can be refused with a reason */
  teardown (&fixture);
}

typedef struct
{
  const char *name, *caps;
  gssize bytes; /* pushed when the caps are fine, else -1 */
  const char *has[4];
} BadInput;

static const BadInput bad_inputs[] = {
  { "type",
    "other/tensors,format=static,num_tensors=1,dimensions=3:4:4:1,types=float32,framerate=25/1",
    -1,
    { "expected uint8[1,4,4,3]", "got float32[1,4,4,3]", "slnormalize" } },
  { "int8",
    "other/tensors,format=static,num_tensors=1,dimensions=3:4:4:1,types=int8,framerate=25/1",
    -1,
    { "expected uint8[1,4,4,3]", "got int8[1,4,4,3]" } },
  { "dimensions",
    "other/tensors,format=static,num_tensors=1,dimensions=3:5:4:1,types=uint8,framerate=25/1",
    -1,
    { "expected uint8[1,4,4,3]", "got uint8[1,4,5,3]" } },
  { "layout",
    "other/tensors,format=static,num_tensors=1,dimensions=4:4:3:1,types=uint8,framerate=25/1",
    -1,
    { "expected uint8[1,4,4,3]", "got uint8[1,3,4,4]" } },
  { "two",
    "other/tensors,format=static,num_tensors=2,dimensions=\"3:4:4:1,1\",types=\"uint8,uint8\","
    "framerate=25/1",
    -1,
    { "expected uint8[1,4,4,3]", "got uint8[1,4,4,3], uint8[1]" } },
  { "legacy",
    "other/tensor,dimension=3:4:5:1,type=uint8,framerate=25/1",
    -1,
    { "expected uint8[1,4,4,3]", "got uint8[1,5,4,3]" } },
  { "nonsense",
    "other/tensors,format=static,num_tensors=1,dimensions=3:zwei,types=uint8,framerate=25/1",
    -1,
    { "dimensions \"3:zwei\"" } },
  { "empty-buffer",
    PICTURE_CAPS,
    0,
    { "expected 48 bytes in 1 memory", "got 0 bytes in 0 memories" } },
  { "short-buffer", PICTURE_CAPS, 47, { "expected 48 bytes", "got 47 bytes" } },
  { "long-buffer", PICTURE_CAPS, 49, { "expected 48 bytes", "got 49 bytes" } },
};

static void
test_bad_input (gconstpointer data)
{
  const BadInput *test = data;
  Fixture fixture = setup (test_colour_model (SL_DTYPE_U8));
  gst_harness_set_src_caps_str (fixture.harness, test->caps);
  for (guint i = 0; i < (test->bytes < 0 ? 3 : 1);
       i++) { /* a refusal is told once, however often upstream tries */
    GstBuffer *buffer = test->bytes > 0 ? gst_buffer_new_allocate (NULL, (gsize) test->bytes, NULL)
                                        : gst_buffer_new ();
    g_assert_cmpint (gst_harness_push (fixture.harness, buffer), !=, GST_FLOW_OK);
  }
  test_assert_error (fixture.bus, test->has[0], test->has[1], test->has[2], test->has[3], NULL);
  teardown (&fixture);
}

/* int8 model, float tensor: the pair that the caps must never let pass. */
static void
test_float_to_int8 (void)
{
  Fixture fixture = setup (test_colour_model (SL_DTYPE_I8));
  gst_harness_set_src_caps_str (
    fixture.harness,
    "other/tensors,format=static,num_tensors=1,dimensions=3:4:4:1,types=float32,framerate=25/1");
  g_assert_cmpint (gst_harness_push (fixture.harness, gst_buffer_new_allocate (NULL, 192, NULL)),
                   !=, GST_FLOW_OK);
  test_assert_error (fixture.bus, "expected int8[1,4,4,3]", "got float32[1,4,4,3]", NULL);
  teardown (&fixture);
}

static void
test_recover (void)
{
  Fixture fixture = setup (test_colour_model (SL_DTYPE_U8));
  gst_harness_set_src_caps_str (fixture.harness, bad_inputs[0].caps);
  test_assert_error (fixture.bus, bad_inputs[0].has[0], NULL);
  gst_harness_set_src_caps_str (fixture.harness, PICTURE_CAPS);
  push_and_check (&fixture);
  gst_harness_set_src_caps_str (fixture.harness, bad_inputs[2].caps);
  test_assert_error (fixture.bus, bad_inputs[2].has[1], NULL);
  teardown (&fixture);
}

static void
test_flush (void)
{
  Fixture fixture = setup (test_colour_model (SL_DTYPE_U8));
  gst_harness_set_src_caps_str (fixture.harness, PICTURE_CAPS);
  push_and_check (&fixture);
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_flush_start ()));
  g_assert_cmpint (gst_harness_push (fixture.harness, gst_buffer_new ()), ==, GST_FLOW_FLUSHING);
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_flush_stop (TRUE)));
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_segment (&segment)));
  push_and_check (&fixture);
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_eos ()));
  teardown (&fixture);
}

static void
test_states (void)
{
  g_autofree char *path = test_colour_model (SL_DTYPE_U8);
  g_autofree char *sum = test_sum_model ();
  GstElement *element = gst_object_ref_sink (gst_element_factory_make ("slinfer", NULL));
  GstPad *sink = gst_element_get_static_pad (element, "sink");
  g_object_set (element, "model", path, "threads", "auto", NULL);
  for (guint i = 0; i < 3; i++) {
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==,
                     GST_STATE_CHANGE_SUCCESS);
    GstCaps *caps = gst_pad_query_caps (sink, NULL);
    g_assert_nonnull (sl_tensor_caps_contract (caps));
    gst_caps_unref (caps);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PLAYING), ==,
                     GST_STATE_CHANGE_SUCCESS);
    g_assert_cmpint (gst_element_set_state (element, i == 1 ? GST_STATE_NULL : GST_STATE_READY), ==,
                     GST_STATE_CHANGE_SUCCESS);
  }
  g_object_set (element, "model", sum, NULL); /* in READY: taken at the next start */
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_SUCCESS);
  GstCaps *caps = gst_pad_query_caps (sink, NULL);
  gint n = 0;
  g_assert_true (gst_structure_get_int (gst_caps_get_structure (caps, 0), "num_tensors", &n));
  g_assert_cmpint (n, ==, 2);
  gst_caps_unref (caps);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_NULL), ==, GST_STATE_CHANGE_SUCCESS);
  gst_object_unref (sink);
  gst_object_unref (element);
  test_remove_file (path);
  test_remove_file (sum);
}

typedef struct
{
  const char *name;
  const char *model; /* NULL = unset, "" = a good one, else a path */
  const char *property, *value;
  const char *has[3];
} BadSetting;

static const BadSetting bad_settings[] = {
  { "missing", "/nonexistent/model.tflite", NULL, NULL, { "/nonexistent/model.tflite" } },
  { "directory", "/", NULL, NULL, { "/", "directory" } },
  { "threads-65", "", "threads", "65", { "threads=65", "1..64" } },
  { "threads-10000", "", "threads", "10000", { "threads=10000", "1..64" } },
  { "threads-negative", "", "threads", "-1", { "threads=-1", "1..64" } },
  { "threads-many", "", "threads", "many", { "threads=many", "1..64", "auto" } },
  { "precision", "", "precision", "half", { "precision=half: expected float, bf16 or fp16" } },
  { "labels", "", "labels", "/nonexistent/labels.txt", { "/nonexistent/labels.txt" } },
  { "mean", "", "mean", "grey", { "mean", "grey" } },
};

static void
test_bad_setting (gconstpointer data)
{
  const BadSetting *test = data;
  g_autofree char *good = test_colour_model (SL_DTYPE_U8);
  GstElement *element = gst_object_ref_sink (gst_element_factory_make ("slinfer", NULL));
  GstBus *bus = test_watch (element);
  if (test->model != NULL)
    g_object_set (element, "model", *test->model != '\0' ? test->model : good, NULL);
  if (test->property != NULL)
    gst_util_set_object_arg (G_OBJECT (element), test->property, test->value);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (bus, test->has[0], test->has[1], test->has[2], NULL);
  gst_element_set_bus (element, NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  test_remove_file (good);
}

/* 1.2 MB to itself. */
/* A query that is on its way while the element stops finds no model. */
static void
test_no_model (void)
{
  GstElement *element = gst_element_factory_make ("slinfer", NULL);
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("other/tensors");
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  g_assert_false (GST_BASE_TRANSFORM_GET_CLASS (element)->propose_allocation (
    GST_BASE_TRANSFORM (element), NULL, query));
  gst_query_unref (query);
  gst_object_unref (element);
}

static void
test_tensor_limit (void)
{
  const SlTfliteTensor large = {
    .name = "large", .dtype = SL_DTYPE_U8, .scale = 1, .rank = 2, .dims = { 1, 1200000 }
  };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const gint32 in = sl_tflite_writer_tensor (writer, &large),
               out = sl_tflite_writer_tensor (writer, &large);
  sl_tflite_writer_op (
    writer,
    &(SlTfliteOp){
      .op = SL_OP_RELU, .n_inputs = 1, .inputs = { in }, .n_outputs = 1, .outputs = { out } });
  sl_tflite_writer_io (writer, 1, &in, 1, &out);
  g_autofree char *path = sl_tflite_writer_save_temp (writer, "large.tflite", NULL);
  GstElement *element = gst_object_ref_sink (gst_element_factory_make ("slinfer", NULL));
  GstBus *bus = test_watch (element);
  g_object_set (element, "model", path, "tensor-limit", 1, NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (
    bus, path,
    "'large' is uint8[1,1200000]: over the limit of 1048576 bytes; set tensor-limit (MiB) higher",
    NULL);
  g_object_set (element, "tensor-limit", 3, NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  test_remove_file (path);
}

static void
test_meta (void)
{
  guint8 picture[PICTURE_BYTES] = { 0 };
  Fixture fixture = setup (test_colour_model (SL_DTYPE_U8));
  gst_harness_set_src_caps_str (fixture.harness, PICTURE_CAPS);
  GstBuffer *frame = gst_buffer_new ();
  GstBuffer *in = test_tensor_buffer (picture, sizeof picture);
  SlFrameMeta *meta = sl_buffer_add_frame_meta (in, frame, NULL, NULL);
  meta->tensor_width = 4;
  meta->preprocessed = 5;
  GstBuffer *out = gst_harness_push_and_pull (fixture.harness, in);
  SlFrameMeta *carried = sl_buffer_get_frame_meta (out);
  g_assert_nonnull (carried);
  g_assert_true (carried->frame == frame);
  g_assert_cmpint (carried->tensor_width, ==, 4);
  g_assert_cmpint (carried->preprocessed, ==, 5);
  g_assert_cmpint (carried->inferred, >, 5);
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (frame), ==, 2);
  gst_buffer_unref (out);
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (frame), ==, 1);
  gst_buffer_unref (frame);
  teardown (&fixture);
}

static void
test_latency (void)
{
  Fixture fixture = setup (test_colour_model (SL_DTYPE_U8));
  gst_harness_set_src_caps_str (fixture.harness, PICTURE_CAPS);
  gst_harness_set_upstream_latency (fixture.harness, 30 * GST_MSECOND);
  g_assert_cmpuint (gst_harness_query_latency (fixture.harness), >=, 30 * GST_MSECOND);
  g_assert_cmpuint (gst_harness_query_latency (fixture.harness), <, GST_SECOND);
  push_and_check (&fixture);
  g_assert_cmpuint (gst_harness_query_latency (fixture.harness), >=, 30 * GST_MSECOND);
  teardown (&fixture);
}

/* A sink waits for the last tensor of a frame: nothing is announced before it, and then the time of
 * them all. */
static void
test_latency_of_parts (void)
{
  GstHarness *harness = gst_harness_new_parse ("slinfer"); /* the finder of codes: not a toy */
  g_autoptr (GstPad) sink = gst_element_get_static_pad (harness->element, "sink");
  g_autoptr (GstCaps) caps = gst_caps_fixate (gst_pad_query_caps (sink, NULL));
  g_autoptr (GstBuffer) frame = gst_buffer_new ();
  SlTensorInfo tensors[SL_MAX_IO];
  const guint n = sl_tensor_caps_parse (caps, tensors, NULL);
  g_assert_cmpuint (n, ==, 1);
  gst_harness_set_src_caps (harness, gst_caps_ref (caps));
  gst_harness_set_upstream_latency (harness, 0);
  g_assert_cmpuint (gst_harness_query_latency (harness), ==, 0);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *in = gst_buffer_new_allocate (NULL, tensors[0].bytes, NULL);
    gst_buffer_memset (in, 0, 0, tensors[0].bytes);
    sl_buffer_add_frame_meta (in, frame, NULL, NULL)->content =
      i < 3 ? SL_FRAME_TILE : SL_FRAME_AFTER_TILES;
    gst_buffer_unref (gst_harness_push_and_pull (harness, in));
    if (i < 3)
      g_assert_cmpuint (gst_harness_query_latency (harness), ==, 0);
  }
  g_assert_cmpuint (gst_harness_query_latency (harness), >, 0);
  sl_tensor_infos_clear (tensors, n);
  gst_harness_teardown (harness);
}

/* What parts took is their frame's, once. */
static void
test_latency_sum (void)
{
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_element_factory_make ("slinfer", NULL));
  SlStageLatency latency;
  GstClockTime least = 0;
  sl_stage_latency_start (&latency, element);
  latency.live = TRUE;
  for (guint frame = 0; frame < 3; frame++) {
    for (guint i = 0; i < 36; i++)
      sl_stage_latency_note_part (&latency, 10000);
    sl_stage_latency_note (&latency, element, 10000);
    g_autoptr (GstQuery) query = gst_query_new_latency ();
    gst_query_set_latency (query, TRUE, 30 * GST_MSECOND, GST_CLOCK_TIME_NONE);
    sl_stage_latency_add (&latency, element, 0, query);
    gst_query_parse_latency (query, NULL, &least, NULL);
    g_assert_cmpuint (least, ==, 400 * GST_MSECOND);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slinfer/run", test_run);
  for (guint i = 0; i < G_N_ELEMENTS (accepted_caps); i++) {
    g_autofree char *path = g_strdup_printf ("/slinfer/spelling/%u", i);
    g_test_add_data_func (path, accepted_caps[i], test_spelling);
  }
  g_test_add_func ("/slinfer/two-outputs", test_two_outputs);
  g_test_add_data_func ("/slinfer/two-inputs/two-memories", GSIZE_TO_POINTER (16), test_two_inputs);
  g_test_add_data_func ("/slinfer/two-inputs/one-memory", GSIZE_TO_POINTER (0), test_two_inputs);
  g_test_add_data_func ("/slinfer/two-inputs/wrong-cut", GSIZE_TO_POINTER (7), test_two_inputs);
  g_test_add_func ("/slinfer/pool", test_pool);
  g_test_add_func ("/slinfer/caps-query", test_caps_query);
  TEST_ADD_CASES ("/slinfer/bad-input", bad_inputs, test_bad_input);
  g_test_add_func ("/slinfer/bad-input/float-to-int8", test_float_to_int8);
  g_test_add_func ("/slinfer/recover", test_recover);
  g_test_add_func ("/slinfer/flush", test_flush);
  g_test_add_func ("/slinfer/states", test_states);
  TEST_ADD_CASES ("/slinfer/bad-setting", bad_settings, test_bad_setting);
  g_test_add_func ("/slinfer/no-model", test_no_model);
  g_test_add_func ("/slinfer/tensor-limit", test_tensor_limit);
  g_test_add_func ("/slinfer/meta", test_meta);
  g_test_add_func ("/slinfer/latency", test_latency);
  g_test_add_func ("/slinfer/latency/parts", test_latency_of_parts);
  g_test_add_func ("/slinfer/latency/sum", test_latency_sum);
  return test_elements_run ();
}
