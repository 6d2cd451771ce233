/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Real models in the real ONNX Runtime and TensorFlow Lite, where their libraries are: both compute
 * the same as Sightline. What may go wrong is in tests/elements/slinfer_backend.c.
 */
#include "models/backend.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

#define TRIAL_MS 50

/* @limit: largest difference, as a share of an output's largest magnitude: 1e-4 of floats, 0 where
 * 8-bit results are exact in both
 * @shape: (nullable): input-shape */
typedef struct
{
  const char *runtime, *path;
  gdouble limit;
  const char *shape;
} Case;

static const Case cases[] = {
  { "onnxruntime", "formats/models/FastestDet.onnx", 1e-4, NULL },
  { "onnxruntime", "formats/models/SqueezeNet_fp16.onnx", 2e-3, NULL },
  { "onnxruntime", "formats/models/mobilenet_v2_035.ext.onnx", 1e-4,
    NULL }, /* weights in a file beside it */
  { "onnxruntime", "formats/models/modern.op21.onnx", 1e-4, NULL },
  { "onnxruntime", "formats/models/qoperator_s8.op13.onnx", 0, NULL },
  { "onnxruntime", "formats/models/qoperator_u8.op13.onnx", 0, NULL },
  { "onnxruntime", "formats/models/resize_modes.op13.onnx", 1e-4,
    NULL }, /* declares 22 of 23 columns */
  { "onnxruntime", "formats/models/shufflenet_v2_x05.op9.onnx", 1e-4, NULL },
  { "onnxruntime", "formats/models/windows.op11.onnx", 1e-4, NULL },
  { "onnxruntime", "models/mobilenet_v2_quant.onnx", 0, NULL },
  { "onnxruntime", "models/version-RFB-320.onnx", 1e-4, NULL },
  { "tflite", "models/deeplabv3_mnv2_dm05_pascal_quant.tflite", 0, NULL },
  { "tflite", "models/version-RFB-320_without_postprocessing.tflite", 1e-4,
    NULL }, /* outputs are hints before a run */
  { "tflite", "wild/models/face_blendshapes.tflite", 1e-4, NULL },
  { "tflite", "wild/models/model_lite_age_q.tflite", 1e-4, NULL },
  { "tflite", "wild/models/dilated_conv.tflite", 1e-4, "1,32,48,3" }, /* leaves its size open */
};

static void
test_same (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *path = sl_test_data (c->path), *notice = NULL;
  g_autoptr (GError) error = NULL;
  if (path == NULL)
    return;
  if (sl_external_open (c->runtime, NULL, &error) == NULL) {
    g_test_skip (error->message);
    return;
  }
  const SlModelLoadOptions how = { .backend.backend = c->runtime,
                                   .threads = 1,
                                   .input_shape = c->shape };
  const SlModelLoadOptions plain = { .input_shape = c->shape };
  g_autoptr (SlModel) ours = sl_model_load_with (path, NULL, &plain, &error),
                      theirs = sl_model_load_with (path, NULL, &how, &error);
  g_assert_no_error (error);
  g_autoptr (SlSession) first = sl_session_new (sl_model_graph (ours), 1, &error);
  g_autoptr (SlSession) second = sl_model_session_new (theirs, 1, &notice, &error);
  SlBackendTrial trial;
  g_assert_no_error (error);
  g_assert_true (sl_session_external (second) != NULL && sl_session_external (first) == NULL);
  g_assert_true (
    sl_backend_try (first, second, sl_model_contract (ours), TRIAL_MS, NULL, &trial, &error));
  g_assert_no_error (error);
  g_test_message ("%s: %g apart", sl_external_model_title (sl_session_external (second)),
                  trial.difference);
  g_assert_cmpfloat (trial.difference, <=, c->limit);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *name = g_path_get_basename (cases[i].path),
                    *test = g_strdup_printf ("/backend/%s/%s", cases[i].runtime, name);
    g_test_add_data_func (test, &cases[i], test_same);
  }
  return g_test_run ();
}
