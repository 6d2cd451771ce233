/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In one line with NNStreamer's elements, which are stood for by the caps that they negotiate, as
 * its pages and its own tests have them
 * ("other/tensors", static, one memory a tensor, dimensions innermost first, the rank filled up
 * with ones): what comes out of tensor_converter and tensor_filter goes into ours, what comes out
 * of ours into tensor_filter and tensor_sink, and the bytes are right.
 */
#include <string.h>

#include "tests/elements/support.h"
#include "tests/support/program.h"

#define RGB_CAPS "video/x-raw,format=RGB,width=4,height=4,framerate=30/1"

/* Pixels of which no two bytes are alike. */
static void
fill (guint8 pixels[48])
{
  for (guint i = 0; i < 48; i++)
    pixels[i] = (guint8) (5 * i);
}

typedef struct
{
  const char *name, *caps;
} CapsCase;

/* Of a picture of 4 x 4 RGB pixels: tensor_converter's, with the rank limit of 4 and that of 16,
 * and those of versions before other/tensors. */
static const CapsCase pictures[] = {
  { "rank-4", "other/tensors,format=(string)static,num_tensors=(int)1,dimensions=(string)3:4:4:1,"
              "types=(string)uint8,framerate=(fraction)30/1" },
  { "rank-3", "other/tensors,format=(string)static,num_tensors=(int)1,dimensions=(string)3:4:4,"
              "types=(string)uint8,framerate=(fraction)30/1" },
  { "rank-16",
    "other/tensors,format=(string)static,num_tensors=(int)1,dimensions=(string)3:4:4:1:1:1:1:1:1:1:"
    "1:1:1:1:1:1,types=(string)uint8,framerate=(fraction)30/1" },
  { "tensor",
    "other/tensor,dimension=(string)3:4:4:1,type=(string)uint8,framerate=(fraction)30/1" },
};

/* tensor_converter ! slinfer ! tensor_sink */
static void
test_into_model (gconstpointer data)
{
  const CapsCase *test = data;
  guint8 pixels[48];
  fill (pixels);
  g_autofree char *model = test_pair_model (),
                  *launch = g_strdup_printf ("slinfer model=%s", model);
  TestLine line = test_line_open (
    launch,
    "other/tensors,format=(string)static,num_tensors=(int)2,dimensions=(string)\"3:1:1:1,3:1:1:1\","
    "types=(string)\"uint8,uint8\",framerate=(fraction)30/1",
    test->caps);
  g_assert_cmpint (gst_harness_push (line.harness, test_tensor_buffer (pixels, sizeof pixels)), ==,
                   GST_FLOW_OK);
  test_assert_no_error (line.bus);
  g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
  g_assert_cmpuint (gst_buffer_n_memory (out), ==, 2);
  guint8 values[6];
  g_assert_cmpuint (gst_buffer_extract (out, 0, values, sizeof values), ==, 6);
  for (guint c = 0; c < 3; c++) {
    guint sum = 0;
    for (guint i = 0; i < 16; i++)
      sum += pixels[3 * i + c];
    g_assert_cmpint (ABS (16 * values[c] - (gint) sum), <=, 8); /* the mean, rounded */
    g_assert_cmpint (values[3 + c], ==, pixels[45 + c]);        /* the largest */
  }
  test_line_close (line.harness, line.bus);
  test_remove_file (model);
}

/* slnormalize ! tensor_filter */
static void
test_out_of_picture (gconstpointer data)
{
  const CapsCase *test = data;
  guint8 pixels[48];
  fill (pixels);
  TestLine line = test_line_open ("slnormalize", test->caps, RGB_CAPS);
  g_assert_cmpint (gst_harness_push (line.harness, test_tensor_buffer (pixels, sizeof pixels)), ==,
                   GST_FLOW_OK);
  test_assert_no_error (line.bus);
  g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
  g_assert_cmpuint (gst_buffer_n_memory (out), ==, 1);
  g_assert_cmpuint (gst_buffer_get_size (out), ==, sizeof pixels);
  g_assert_cmpint (gst_buffer_memcmp (out, 0, pixels, sizeof pixels), ==, 0);
  test_line_close (line.harness, line.bus);
}

/* tensor_filter ! slpostprocess */
static void
test_into_decoder (void)
{
  static const gfloat scores[] = { 0.125f, 0.75f, 0.125f };
  g_autofree char *labels = test_text_file ("labels.txt", "red\ngreen\nblue\n");
  g_autofree char *launch = g_strdup_printf ("slpostprocess decoder=labels labels=%s", labels);
  TestLine line = test_line_open (
    launch, "text/x-raw,format=utf8",
    "other/tensors,format=(string)static,num_tensors=(int)1,dimensions=(string)3:1:1:1,"
    "types=(string)float32,framerate=(fraction)30/1");
  g_assert_cmpint (gst_harness_push (line.harness, test_tensor_buffer (scores, sizeof scores)), ==,
                   GST_FLOW_OK);
  test_assert_no_error (line.bus);
  g_autofree char *text = test_take_text (gst_harness_pull (line.harness));
  g_assert_true (g_str_has_prefix (text, "green"));
  test_line_close (line.harness, line.bus);
  test_remove_file (labels);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/nnstreamer/into-model", pictures, test_into_model);
  TEST_ADD_CASES ("/nnstreamer/out-of-picture", pictures, test_out_of_picture);
  g_test_add_func ("/nnstreamer/into-decoder", test_into_decoder);
  return test_elements_run ();
}
