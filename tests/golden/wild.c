/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Models found in public repositories, each for an operator or a way of writing that other files do
 * not show, against outputs of LiteRT with XNNPACK: byte for byte where a model computes in
 * integers, also behind a DEQUANTIZE, within 1e-4 where it computes in floats. The activations of a
 * hybrid model (8-bit weights under float activations) are rounded for each run anew, so a last bit
 * may become a whole code: every value must be within a share of the largest magnitude that is
 * smaller than what lies between the runtime's own two ways of running the file. An integer LSTM,
 * of which the kernels without XNNPACK are the reference, is within one code. The input is made
 * here: element i is byte (i * 2654435761 mod 2^32) >> 24. Files that are missing are skipped.
 */
#include <math.h>
#include <string.h>

#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "models/model.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

/* What a byte becomes in the input: itself, less 128, or (byte / 255, (byte - 127.5) / 127.5) in
 * floats; RAW: bytes of a tensor. */
typedef enum
{
  BYTES,
  SIGNED,
  UNIT,
  CENTRED,
  RAW
} Filling;

typedef struct
{
  const char *model;
  Filling filling;
  gsize strides[2]; /* of each output: every how manieth element the reference holds */
  double share;     /* of the largest magnitude, of models of floats; 0 = to the byte */
  guint codes;      /* that a byte may be beside the reference */
} Case;

static const Case cases[] = {
  { "hard_swish_int8", SIGNED, { 7 } },
  { "leaky_relu_int8", SIGNED, { 3 } },
  { "prelu_int8", SIGNED, { 37 } },
  { "quantize0", RAW, { 1 } },
  { "quantize1", RAW, { 1 } },
  { "palm_detection_full_192", BYTES, { 1, 5 } },
  { "animeganv2_hayao_256x256_integer_quant", CENTRED, { 29 } },
  { "semanticsegmentation_frozen_person_quantized_08", UNIT, { 7 }, 0.01 },
  { "keras_lstm_mnist_ptq", BYTES, { 1 }, 0, 1 },
  { "hair_segmentation", UNIT, { 67 }, 1e-4 },
  { "zhaozhentao_ocr", UNIT, { 1 }, 0.004 },
  { "mobilenet_v2_035_96_embedder_with_metadata", UNIT, { 1 }, 0.03 },
};

static void
fill_input (const Case *c, const SlTensor *tensor, void *data)
{
  gsize n = tensor->bytes;
  if (c->filling != RAW)
    sl_tensor_elements (tensor, &n);
  for (gsize i = 0; i < n; i++) {
    const guint8 byte = (guint8) ((guint32) (i * 2654435761u) >> 24);
    if (c->filling == UNIT)
      ((gfloat *) data)[i] = byte / 255.0f;
    else if (c->filling == CENTRED)
      ((gfloat *) data)[i] = (byte - 127.5f) / 127.5f;
    else
      ((guint8 *) data)[i] = c->filling == SIGNED ? byte ^ 0x80 : byte;
  }
}

static void
compare_output (const Case *c, guint i, const SlTensor *tensor, const guint8 *got)
{
  g_autofree char *name = g_strdup_printf ("wild/golden/%s.prng.%s.out%u.bin", c->model,
                                           c->codes > 0 ? "tflite" : "litert", i);
  g_autofree char *path = sl_test_data (name);
  g_autofree char *expected = NULL;
  gsize bytes = 0, elements = 0;
  g_assert_nonnull (path);
  g_assert_true (g_file_get_contents (path, &expected, &bytes, NULL));
  const gsize size = sl_dtype_size (tensor->dtype), n = bytes / size;
  double most = 0, worst = 0;
  sl_tensor_elements (tensor, &elements);
  g_assert_cmpuint (n, ==, (elements + c->strides[i] - 1) / c->strides[i]);
  for (gsize k = 0; k < n; k++) {
    const guint8 *a = got + k * c->strides[i] * size, *b = (const guint8 *) expected + k * size;
    if (c->codes > 0) {
      g_assert_cmpuint (size, ==, 1);
      g_assert_cmpint (ABS (a[0] - b[0]), <=, c->codes);
      continue;
    }
    if (c->share <= 0) {
      g_assert_cmpmem (a, size, b, size);
      continue;
    }
    gfloat x, y;
    memcpy (&x, a, sizeof x);
    memcpy (&y, b, sizeof y);
    most = fmax (most, fabs ((double) y));
    worst = fmax (worst, fabs ((double) x - (double) y));
  }
  g_assert_cmpfloat (worst, <=, c->share * most);
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strdup_printf ("wild/models/%s.tflite", c->model);
  g_autofree char *path = sl_test_data (name);
  void *out[SL_MAX_IO];
  if (path == NULL)
    return;
  g_autoptr (SlModel) model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  SlGraph *graph = sl_model_graph (model);
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) /* a build for this model keeps it */
    g_assert_nonnull (sl_graph_may_need (graph, sl_graph_node (graph, i)->op));
  g_autoptr (SlSession) session = sl_session_new (graph, 2, &error);
  g_assert_no_error (error);
  const SlTensor *input = sl_graph_input_tensor (graph, 0);
  void *in = sl_tensor_buffer_new (input->bytes);
  fill_input (c, input, in);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    out[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  g_assert_cmpint (sl_session_run (session, (const void *const *) &in, out), ==, SL_STATUS_OK);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++) {
    compare_output (c, i, sl_graph_output_tensor (graph, i), out[i]);
    sl_tensor_buffer_free (out[i]);
  }
  sl_tensor_buffer_free (in);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strdup_printf ("/wild/%s", cases[i].model);
    g_test_add_data_func (path, &cases[i], test_case);
  }
  return g_test_run ();
}
