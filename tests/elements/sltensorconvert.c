/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sltensorconvert: what lands on frames under which names, what comes off them, and what is
 * refused. Beside GStreamer's own elements it is tested in meta/neighbours.c.
 */
#include <gst/analytics/analytics.h>
#include <gst/video/gstvideometa.h>
#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define CAPS "video/x-raw,format=RGB,width=8,height=4,framerate=25/1"
#define ROWS 2

static const guint8 colour[3] = { 10, 20, 30 };

static GstTensorMeta *
only_meta (GstBuffer *frame)
{
  g_assert_cmpuint (gst_buffer_get_n_meta (frame, GST_TENSOR_META_API_TYPE), ==, 1);
  return gst_buffer_get_tensor_meta (frame);
}

/* The frame that went in comes out, with the model's outputs under the ids that are asked for, else
 * under their names. */
static void
test_to_frames (void)
{
  static const struct
  {
    const char *settings, *ids[2];
  } cases[] = { { "", { "mean", "max" } }, { "ids=first,second", { "first", "second" } } };
  g_autofree char *model = test_pair_model ();
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autofree char *launch = g_strdup_printf (
      "slnormalize ! slinfer model=%s ! sltensorconvert %s", model, cases[c].settings);
    g_autoptr (GstBuffer) out =
      test_line_run (launch, CAPS, CAPS, test_frame (CAPS, colour, GST_SECOND));
    g_assert_cmpuint (gst_buffer_get_size (out), ==, 8 * 4 * 3);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, GST_SECOND);
    g_assert_cmpint (sl_buffer_get_frame_meta (out)->inferred, >, 0);
    const GstTensorMeta *meta = only_meta (out);
    g_assert_cmpuint (meta->num_tensors, ==, 2);
    for (guint i = 0; i < 2; i++) {
      const GstTensor *tensor = gst_tensor_meta_get ((GstTensorMeta *) meta, i);
      g_assert_cmpstr (g_quark_to_string (tensor->id), ==, cases[c].ids[i]);
      g_assert_cmpint (tensor->data_type, ==, GST_TENSOR_DATA_TYPE_UINT8);
      g_assert_cmpuint (tensor->num_dims, ==, 4);
      g_assert_cmpuint (tensor->dims[3], ==, 3);
      g_assert_cmpint (gst_buffer_memcmp (tensor->data, 0, colour, 3), ==, 0);
      g_assert_cmpuint (gst_buffer_get_size (tensor->data), ==, 3);
    }
  }
  test_remove_file (model);
}

/* The ids of a description file win over names. */
static void
test_ids (void)
{
  g_autofree char *model = test_pair_model (),
                  *description = g_strconcat (model, ".modelinfo", NULL);
  g_autofree char *launch =
    g_strdup_printf ("slnormalize ! slinfer model=%s ! sltensorconvert", model);
  g_assert_true (g_file_set_contents (
    description, "[modelinfo]\nversion=1.0\n[max]\ndir=output\nid=brightest\n", -1, NULL));
  g_autoptr (GstBuffer) out = test_line_run (launch, CAPS, CAPS, test_frame (CAPS, colour, 0));
  g_assert_cmpint (
    gst_tensor_meta_get_index_from_id (only_meta (out), g_quark_from_string ("brightest")), ==, 1);
  g_assert_cmpint (
    gst_tensor_meta_get_index_from_id (only_meta (out), g_quark_from_string ("mean")), ==, 0);
  test_remove_file (description);
  test_remove_file (model);
}

/* Memory of tensors goes back to its pool when frames are gone. */
static void
test_pool (void)
{
  g_autofree char *model = test_pair_model ();
  g_autofree char *launch =
    g_strdup_printf ("slnormalize ! slinfer model=%s ! sltensorconvert", model);
  TestLine line = test_line_open (launch, CAPS, CAPS);
  GHashTable *seen = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < 20; i++) {
    g_assert_cmpint (gst_harness_push (line.harness, test_frame (CAPS, colour, i * GST_SECOND)), ==,
                     GST_FLOW_OK);
    GstBuffer *out = gst_harness_pull (line.harness);
    g_hash_table_add (seen,
                      gst_buffer_peek_memory (gst_tensor_meta_get (only_meta (out), 0)->data, 0));
    gst_buffer_unref (out);
  }
  g_assert_cmpuint (g_hash_table_size (seen), <=, 5);
  g_hash_table_unref (seen);
  test_line_close (line.harness, line.bus);
  test_remove_file (model);
}

static GstTensor *
float_tensor (const gfloat *values, gsize rank, const gsize *dims)
{
  GstTensor *tensor = gst_tensor_alloc (rank);
  gsize n = 1;
  for (gsize d = 0; d < rank; d++)
    n *= tensor->dims[d] = dims[d];
  tensor->id = 0;
  tensor->layout = GST_TENSOR_LAYOUT_CONTIGUOUS;
  tensor->dims_order = GST_TENSOR_DIM_ORDER_ROW_MAJOR;
  tensor->data_type = GST_TENSOR_DATA_TYPE_FLOAT32;
  tensor->data = n > 0 ? test_tensor_buffer (values, n * sizeof *values) : gst_buffer_new ();
  return tensor;
}

/* A frame with what a detector of @rows rows leaves: boxes, classes, scores, count. */
static GstBuffer *
detected (gsize rows)
{
  static const gfloat boxes[ROWS * 4] = { 0.25f, 0.5f, 0.75f, 1, 0, 0, 0.5f, 0.25f };
  static const gfloat classes[ROWS] = { 1, 0 }, scores[ROWS] = { 0.9f, 0.1f }, count[1] = { ROWS };
  GstBuffer *frame = test_frame (CAPS, colour, GST_SECOND);
  GstTensor **tensors = g_new (GstTensor *, 4);
  tensors[0] = float_tensor (boxes, 3, (const gsize[]){ 1, rows, 4 });
  tensors[1] = float_tensor (classes, 2, (const gsize[]){ 1, rows });
  tensors[2] = float_tensor (scores, 2, (const gsize[]){ 1, rows });
  tensors[3] = float_tensor (count, 1, (const gsize[]){ 1 });
  gst_tensor_meta_set (gst_buffer_add_tensor_meta (frame), 4, tensors);
  return frame;
}

/* Tensors on frames are decoded; frames in between that have none, or empty ones, pass. */
static void
test_from_frames (void)
{
  TestLine line =
    test_line_open ("sltensorconvert ! slpostprocess decoder=ssd", "application/x-json", CAPS);
  g_assert_cmpint (gst_harness_push (line.harness, test_frame (CAPS, colour, 0)), ==,
                   GST_FLOW_OK); /* nothing is known yet */
  g_assert_cmpint (gst_harness_push (line.harness, detected (ROWS)), ==, GST_FLOW_OK);
  g_autofree char *found = test_take_text (gst_harness_pull (line.harness));
  g_test_message ("%s", found);
  g_assert_nonnull (strstr (found, "\"objects\":[{\"x\":4,\"y\":1,\"w\":4,\"h\":2,"));
  g_assert_nonnull (strstr (found, "\"label_id\":1"));
  g_assert_null (strstr (found, "\"label_id\":0"));
  g_assert_cmpint (gst_harness_push (line.harness, test_frame (CAPS, colour, 2 * GST_SECOND)), ==,
                   GST_FLOW_OK);
  g_assert_cmpint (gst_harness_push (line.harness, detected (0)), ==, GST_FLOW_OK);
  g_autofree char *none = test_take_text (gst_harness_pull (line.harness));
  g_assert_nonnull (strstr (none, "\"objects\":[]"));
  g_assert_cmpint (gst_harness_push (line.harness, detected (1)), ==,
                   GST_FLOW_OK); /* other dimensions */
  g_autofree char *fewer = test_take_text (gst_harness_pull (line.harness));
  g_assert_nonnull (strstr (fewer, "\"x\":4"));
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
}

/* The frame goes on in video mode, and keeps the others' tensors. */
static void
test_video (void)
{
  g_autoptr (GstBuffer) out =
    test_line_run ("sltensorconvert ! slpostprocess decoder=ssd", CAPS, CAPS, detected (ROWS));
  g_assert_cmpuint (only_meta (out)->num_tensors, ==, 4);
  g_assert_cmpuint (gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), ==, 1);
}

typedef struct
{
  const char *name;
  void (*spoil) (GstTensorMeta *meta);
  const char *message;
} Hostile;

static void
wide (GstTensorMeta *meta)
{
  meta->tensors[0]->dims[1] = G_MAXSIZE / 2;
}

static void
short_data (GstTensorMeta *meta)
{
  meta->tensors[2]->dims[1] = 3;
}

static void
odd_type (GstTensorMeta *meta)
{
  meta->tensors[1]->data_type = GST_TENSOR_DATA_TYPE_INT4;
}

static void
columns (GstTensorMeta *meta)
{
  meta->tensors[1]->dims_order = GST_TENSOR_DIM_ORDER_COL_MAJOR;
}

static void
no_data (GstTensorMeta *meta)
{
  gst_clear_buffer (&meta->tensors[3]->data);
}

static const Hostile hostile[] = {
  { "wide", wide, "tensor 0: expected a dimension of at most 2147483647" },
  { "short", short_data, "tensor 2: expected 12 bytes, as type and dimensions say, got 8" },
  { "type", odd_type, "tensor 1: expected a type of whole bytes but bfloat16" },
  { "order", columns, "tensor 1: expected dimensions in the order row-major (0), got 1" },
  { "no-data", no_data, "tensor 3: expected 4 bytes, as type and dimensions say, got 0" },
};

static void
test_hostile (gconstpointer data)
{
  const Hostile *test = data;
  TestLine line =
    test_line_open ("sltensorconvert ! slpostprocess decoder=ssd", "application/x-json", CAPS);
  GstBuffer *frame = detected (ROWS);
  test->spoil (gst_buffer_get_tensor_meta (frame));
  g_assert_cmpint (gst_harness_push (line.harness, frame), ==, GST_FLOW_ERROR);
  test_assert_error (line.bus, "GstTensorMeta: ", test->message, NULL);
  test_line_close (line.harness, line.bus);
}

/* A model that made other tensors than the frame has. */
static void
test_other_model (void)
{
  g_autofree char *model = test_pair_model ();
  g_autofree char *launch =
    g_strdup_printf ("sltensorconvert model=%s ! slpostprocess decoder=ssd", model);
  TestLine line = test_line_open (launch, "application/x-json", CAPS);
  g_assert_cmpint (gst_harness_push (line.harness, detected (ROWS)), ==, GST_FLOW_ERROR);
  test_assert_error (
    line.bus,
    "gives uint8[1,1,1,3], uint8[1,1,1,3], but the tensors on the frame are float32[1,2,4]",
    "let model= name the model that made them", NULL);
  test_line_close (line.harness, line.bus);
  test_remove_file (model);
}

static void
test_errors (void)
{
  g_autofree char *model = test_pair_model ();
  static const char tensors[] =
    "other/tensors,format=static,num_tensors=1,dimensions=(string)3,types=(string)uint8,"
    "framerate=25/1";
  TestLine line = test_line_open ("sltensorconvert", CAPS, tensors);
  g_assert_cmpint (gst_harness_push (line.harness, test_tensor_buffer (colour, 3)), ==,
                   GST_FLOW_ERROR);
  test_assert_error (line.bus, "the tensors bring no frame to be put on", "slnormalize before",
                     NULL);
  test_line_close (line.harness, line.bus);

  g_autofree char *launch =
    g_strdup_printf ("slnormalize ! slinfer model=%s ! sltensorconvert ids=one", model);
  line = test_line_open (launch, CAPS, CAPS);
  g_assert_cmpint (gst_harness_push (line.harness, test_frame (CAPS, colour, 0)), !=, GST_FLOW_OK);
  test_assert_error (line.bus, "ids: expected 2 with ',' between", "got 1 in 'one'", NULL);
  test_line_close (line.harness, line.bus);

  g_autofree char *open =
    g_strdup_printf ("slnormalize ! slinfer model=%s ! sltensorconvert", model);
  line = test_line_open (open, "other/tensors", CAPS);
  g_assert_cmpint (gst_harness_push (line.harness, test_frame (CAPS, colour, 0)), ==,
                   GST_FLOW_NOT_NEGOTIATED);
  test_assert_error (
    line.bus,
    "the element after sltensorconvert wants other/tensors, but what comes out is video/x-raw",
    NULL);
  test_line_close (line.harness, line.bus);

  g_autoptr (GstElement) element = gst_element_factory_make ("sltensorconvert", NULL);
  g_autoptr (GstBus) bus = test_watch (element);
  g_object_set (element, "model", "/nonexistent.onnx", NULL);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (bus, "/nonexistent.onnx", NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  test_remove_file (model);
}

/* Others know nothing of letterboxes. */
static void
test_letterbox (void)
{
  g_autofree char *model = test_pair_model ();
  g_autofree char *launch =
    g_strdup_printf ("slnormalize fit=letterbox ! slinfer model=%s ! sltensorconvert", model);
  TestLine line = test_line_open (launch, CAPS, CAPS);
  g_assert_cmpint (gst_harness_push (line.harness, test_frame (CAPS, colour, 0)), ==, GST_FLOW_OK);
  g_assert_cmpint (gst_harness_push (line.harness, test_frame (CAPS, colour, GST_SECOND)), ==,
                   GST_FLOW_OK);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (line.bus, GST_MESSAGE_WARNING);
  g_autoptr (GError) error = NULL;
  g_assert_nonnull (message);
  gst_message_parse_warning (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, "the model sees 0,-2 to 8,6 of frames of 8x4"));
  g_assert_nonnull (strstr (error->message, "expected fit=stretch"));
  g_assert_null (gst_bus_pop_filtered (line.bus, GST_MESSAGE_WARNING));
  test_line_close (line.harness, line.bus);
  test_remove_file (model);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/sltensorconvert/to-frames", test_to_frames);
  g_test_add_func ("/sltensorconvert/ids", test_ids);
  g_test_add_func ("/sltensorconvert/pool", test_pool);
  g_test_add_func ("/sltensorconvert/from-frames", test_from_frames);
  g_test_add_func ("/sltensorconvert/video", test_video);
  TEST_ADD_CASES ("/sltensorconvert/hostile", hostile, test_hostile);
  g_test_add_func ("/sltensorconvert/other-model", test_other_model);
  g_test_add_func ("/sltensorconvert/errors", test_errors);
  g_test_add_func ("/sltensorconvert/letterbox", test_letterbox);
  return test_elements_run ();
}
