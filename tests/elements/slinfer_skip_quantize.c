/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Models that start by quantising their input, between slnormalize and slinfer: the quantised
 * values behind that step are made directly, with the results of the whole model bit by bit, which
 * is what tensors of the declared type get.
 */
#include <string.h>

#include "plugins/tensor/caps.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"
#include "tests/support/tflite_writer.h"

#define FRAME_CAPS "video/x-raw,format=NV12,width=322,height=182,framerate=25/1,colorimetry=bt709"
#define FRAMES 4
#define WHOLE " ! other/tensors,types=uint8"

/* uint8 [1,9,16,3] -> QUANTIZE to int8 -> RESHAPE: the output is the quantised values. */
static char *
quantized_model (void)
{
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  SlTfliteTensor picture = { .name = "picture",
                             .dtype = SL_DTYPE_U8,
                             .rank = 4,
                             .dims = { 1, 9, 16, 3 },
                             .scale = 1 / 127.5f,
                             .zero_point = 127 };
  SlTfliteTensor quantized = picture;
  quantized.name = "quantized";
  quantized.dtype = SL_DTYPE_I8;
  quantized.zero_point = -1;
  SlTfliteTensor flat = quantized;
  flat.name = "flat";
  flat.rank = 2;
  flat.dims[1] = 9 * 16 * 3;
  const gint32 x = sl_tflite_writer_tensor (w, &picture),
               q = sl_tflite_writer_tensor (w, &quantized), y = sl_tflite_writer_tensor (w, &flat);
  sl_tflite_writer_op (
    w, &(SlTfliteOp){
         .op = SL_OP_QUANTIZE, .n_inputs = 1, .inputs = { x }, .n_outputs = 1, .outputs = { q } });
  sl_tflite_writer_op (w, &(SlTfliteOp){ .op = SL_OP_RESHAPE,
                                         .params.reshape = { .count = 2, .dims = { 1, -1 } },
                                         .n_inputs = 1,
                                         .inputs = { q },
                                         .n_outputs = 1,
                                         .outputs = { y } });
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  return sl_tflite_writer_save_temp (w, "quantized.tflite", NULL);
}

/* Type of the tensors that slinfer takes in @harness, a bin. */
static char *
negotiated_type (GstHarness *harness)
{
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (harness->element), "infer");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  SlTensorInfo tensors[SL_MAX_IO];
  const guint n = sl_tensor_caps_parse (caps, tensors, NULL);
  g_assert_cmpuint (n, ==, 1);
  const char *type = sl_dtype_name (tensors[0].dtype);
  sl_tensor_infos_clear (tensors, n);
  return g_strdup (type);
}

/* The outputs for FRAMES random frames, one after another, from tensors of @type. */
static GByteArray *
run (const char *path, const char *between, const char *type)
{
  g_autofree char *text =
    g_strdup_printf ("slnormalize filter=bilinear%s ! slinfer name=infer model=%s", between, path);
  GstHarness *harness = gst_harness_new_parse (text);
  g_autoptr (GstBus) bus = test_watch (harness->element);
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME_CAPS);
  GByteArray *outputs = g_byte_array_new ();
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  gst_harness_set_live (harness, FALSE);
  gst_harness_set_src_caps_str (harness, FRAME_CAPS);
  for (guint i = 0; i < FRAMES; i++) {
    g_autofree guint8 *bytes = g_malloc (GST_VIDEO_INFO_SIZE (&info));
    for (gsize k = 0; k < GST_VIDEO_INFO_SIZE (&info); k++)
      bytes[k] = (guint8) g_rand_int (rand);
    g_autoptr (GstBuffer) out =
      gst_harness_push_and_pull (harness, test_tensor_buffer (bytes, GST_VIDEO_INFO_SIZE (&info)));
    test_assert_no_error (bus);
    g_assert_nonnull (out);
    GstMapInfo map;
    g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
    g_byte_array_append (outputs, map.data, (guint) map.size);
    gst_buffer_unmap (out, &map);
  }
  g_autofree char *got = negotiated_type (harness);
  g_assert_cmpstr (got, ==, type);
  gst_element_set_bus (harness->element, NULL);
  gst_harness_teardown (harness);
  return outputs;
}

static void
compare (const char *path)
{
  g_autoptr (GByteArray) skipping = run (path, "", "int8");
  g_autoptr (GByteArray) whole = run (path, WHOLE, "uint8");
  g_assert_cmpuint (skipping->len, >, 0);
  g_assert_cmpmem (skipping->data, skipping->len, whole->data, whole->len);
}

static void
test_values (void)
{
  g_autofree char *path = quantized_model ();
  compare (path);
  g_autoptr (GByteArray) skipping = run (path, "", "int8");
  guint high = 0;
  for (guint i = 0; i < skipping->len; i++)
    high += (gint8) skipping->data[i] < 0;
  g_assert_cmpuint (high, >, skipping->len / 4);
  g_assert_cmpuint (high, <, skipping->len * 3 / 4);
  test_remove_file (path);
}

/* uint8 [1,9,16,3] -> QUANTIZE to int8 -> MAX_POOL_2D -> QUANTIZE to uint8: the output's caps are
 * those that the model declares for its input. */
static char *
mirror_model (void)
{
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  SlTfliteTensor picture = { .name = "picture",
                             .dtype = SL_DTYPE_U8,
                             .rank = 4,
                             .dims = { 1, 9, 16, 3 },
                             .scale = 1 / 127.5f,
                             .zero_point = 127 };
  SlTfliteTensor quantized = picture, between = picture, mirrored = picture;
  quantized.name = "quantized";
  quantized.dtype = SL_DTYPE_I8;
  quantized.zero_point = -1;
  between.name = "between";
  between.dtype = SL_DTYPE_I8;
  between.zero_point = -1;
  mirrored.name = "mirrored";
  const gint32 x = sl_tflite_writer_tensor (w, &picture),
               q = sl_tflite_writer_tensor (w, &quantized),
               b = sl_tflite_writer_tensor (w, &between),
               y = sl_tflite_writer_tensor (w, &mirrored);
  sl_tflite_writer_op (
    w, &(SlTfliteOp){
         .op = SL_OP_QUANTIZE, .n_inputs = 1, .inputs = { x }, .n_outputs = 1, .outputs = { q } });
  sl_tflite_writer_op (w, &(SlTfliteOp){ .op = SL_OP_MAX_POOL_2D,
                                         .params.window = { .padding = SL_PADDING_SAME,
                                                            .stride_h = 1,
                                                            .stride_w = 1,
                                                            .filter_h = 3,
                                                            .filter_w = 3 },
                                         .n_inputs = 1,
                                         .inputs = { q },
                                         .n_outputs = 1,
                                         .outputs = { b } });
  sl_tflite_writer_op (
    w, &(SlTfliteOp){
         .op = SL_OP_QUANTIZE, .n_inputs = 1, .inputs = { b }, .n_outputs = 1, .outputs = { y } });
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  return sl_tflite_writer_save_temp (w, "mirror.tflite", NULL);
}

/* Nothing between slnormalize and slinfer: the caps of the outputs are not offered to slnormalize
 * for inputs. */
static void
test_mirror (void)
{
  g_autofree char *path = mirror_model ();
  compare (path);
  test_remove_file (path);
}

static void
test_real (void)
{
  g_autofree char *path = sl_test_data ("models/tf2_mobilenet_v2_1.0_224_ptq.tflite");
  if (path != NULL)
    compare (path);
}

/* Tensors by another element, of the type that the model declares, and of one that it takes
 * nowhere. */
static void
test_declared (void)
{
  g_autofree char *path = quantized_model ();
  g_autofree char *text = g_strdup_printf ("slinfer name=infer model=%s", path);
  GstHarness *harness = gst_harness_new_parse (text);
  g_autoptr (GstBus) bus = test_watch (harness->element);
  guint8 bytes[9 * 16 * 3];
  for (guint i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8) i;
  for (guint round = 0; round < 2; round++) {
    gst_harness_set_src_caps_str (
      harness,
      "other/tensors,format=static,num_tensors=1,dimensions=3:16:9:1,types=uint8,framerate=25/1");
    g_autoptr (GstBuffer) out =
      gst_harness_push_and_pull (harness, test_tensor_buffer (bytes, sizeof bytes));
    test_assert_no_error (bus);
    GstMapInfo map;
    g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
    g_assert_cmpuint (map.size, ==, sizeof bytes);
    for (guint i = 0; i < sizeof bytes; i++)
      g_assert_cmpint ((gint8) map.data[i], ==, bytes[i] - 128);
    gst_buffer_unmap (out, &map);
  }
  gst_harness_set_src_caps_str (
    harness,
    "other/tensors,format=static,num_tensors=1,dimensions=3:16:9:1,types=float32,framerate=25/1");
  g_assert_cmpint (gst_harness_push (harness, test_tensor_buffer (bytes, sizeof bytes)), !=,
                   GST_FLOW_OK);
  test_assert_error (bus, "expected uint8[1,9,16,3]", "got float32[1,9,16,3]", NULL);
  gst_element_set_bus (harness->element, NULL);
  gst_harness_teardown (harness);
  test_remove_file (path);
}

/* The file is gone when the whole model is wanted: an error, and the element stays usable. */
static void
test_gone (void)
{
  g_autofree char *path = quantized_model ();
  g_autofree char *text = g_strdup_printf ("slinfer name=infer model=%s", path);
  GstHarness *harness = gst_harness_new_parse (text);
  g_autoptr (GstBus) bus = test_watch (harness->element);
  const guint8 bytes[9 * 16 * 3] = { 0 };
  test_remove_file (path);
  gst_harness_set_src_caps_str (
    harness,
    "other/tensors,format=static,num_tensors=1,dimensions=3:16:9:1,types=uint8,framerate=25/1");
  g_assert_cmpint (gst_harness_push (harness, test_tensor_buffer (bytes, sizeof bytes)), !=,
                   GST_FLOW_OK);
  test_assert_error (bus, path, "no such file", NULL);
  gst_harness_set_src_caps_str (
    harness,
    "other/tensors,format=static,num_tensors=1,dimensions=3:16:9:1,types=int8,framerate=25/1");
  g_assert_cmpint (gst_harness_push (harness, test_tensor_buffer (bytes, sizeof bytes)), ==,
                   GST_FLOW_OK);
  gst_element_set_bus (harness->element, NULL);
  gst_harness_teardown (harness);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slinfer-skip-quantize/values", test_values);
  g_test_add_func ("/slinfer-skip-quantize/mirror", test_mirror);
  g_test_add_func ("/slinfer-skip-quantize/real", test_real);
  g_test_add_func ("/slinfer-skip-quantize/declared", test_declared);
  g_test_add_func ("/slinfer-skip-quantize/gone", test_gone);
  return test_elements_run ();
}
