/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Real models against the outputs of LiteRT with XNNPACK, on one thread, on two (XNNPACK itself: a
 * picture each), and, a picture each, on the loops in C: byte for byte where a model computes in
 * integers, within 1e-4 of the tensor's largest magnitude where it computes in floats. The
 * activations of a hybrid model (int8 weights under float activations) are rounded for each run
 * anew, and that is chaotic: two runs of it that differ by one bit in the first layer end far
 * apart; there the mean must be within 1e-4. A model that starts by quantising its input is also
 * given the codes behind that. meson runs the program once for each backend and instruction set, by
 * SIGHTLINE_BACKEND and SIGHTLINE_CPU, and every session is asked whether it runs on these. Models,
 * inputs and outputs are not part of the project; each case is skipped where they are missing.
 */
#include <math.h>
#include <string.h>

#include "core/backends/int8/isa.h"
#include "core/ops/ops.h"
#include "core/runtime/session.h"
#include "models/model.h"
#include "tests/support/cpu.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

typedef struct
{
  const char *model, *picture;
  enum
  {
    EXACT,
    FLOATS,
    HYBRID
  } kind;
} Case;

static const Case cases[] = {
  { "mobilenet_v2_1.0_224_quant", "grace_hopper" },
  { "mobilenet_v2_1.0_224_quant", "cat" },
  { "mobilenet_v2_1.0_224_quant", "prng" },
  { "mobilenet_v1_0.25_128_quant", "grace_hopper" },
  { "mobilenet_v1_0.25_128_quant", "cat" },
  { "mobilenet_v1_0.25_128_quant", "prng" },
  { "tf2_mobilenet_v2_1.0_224_ptq", "grace_hopper" },
  { "tf2_mobilenet_v2_1.0_224_ptq", "cat" },
  { "tf2_mobilenet_v2_1.0_224_ptq", "prng" },
  { "person_detect", "grace_hopper" },
  { "person_detect", "cat" },
  { "person_detect", "prng" },
  { "ssd_mobilenet_v1", "bus" },
  { "ssd_mobilenet_v1", "dog" },
  { "ssd_mobilenet_v1", "cat" },
  { "deeplabv3_mnv2_dm05_pascal_quant", "dog_segmentation" },
  { "movenet_single_pose_lightning_ptq", "person" },
  { "movenet_single_pose_lightning_ptq", "prng" },
  { "yolov8n_full_integer_quant_224", "bus" },
  { "yolov8n_full_integer_quant_224", "dog" },
  { "yolov8n_full_integer_quant_416", "bus" },
  { "yolov8n_full_integer_quant_416", "dog" },
  { "version-RFB-320_without_postprocessing", "face", FLOATS },
  { "yolov8n_int8_224", "bus", HYBRID },
  { "yolov8n_int8_224", "dog", HYBRID },
};

static void
compare_output (const Case *c, guint i, const SlTensor *tensor, const void *data)
{
  g_autofree char *name = g_strdup_printf ("golden/%s.%s.xnn.out%u.bin", c->model, c->picture, i);
  g_autofree char *path = sl_test_data (name);
  g_autofree char *expected = NULL;
  gsize bytes = 0;
  g_assert_nonnull (path);
  g_assert_true (g_file_get_contents (path, &expected, &bytes, NULL));
  if (c->kind == EXACT) {
    g_assert_cmpmem (data, tensor->bytes, expected, bytes);
    return;
  }
  g_assert_cmpuint (tensor->bytes, ==, bytes);
  const gfloat *got = data, *want = (const gfloat *) (gconstpointer) expected;
  double most = 0, worst = 0, sum = 0;
  for (gsize k = 0; k < bytes / sizeof (gfloat); k++) {
    most = fmax (most, fabs ((double) want[k]));
    worst = fmax (worst, fabs ((double) got[k] - (double) want[k]));
    sum += fabs ((double) got[k] - (double) want[k]);
  }
  if (c->kind == FLOATS)
    g_assert_cmpfloat (worst, <=, 1e-4 * most);
  else
    g_assert_cmpfloat (sum / (double) (bytes / sizeof (gfloat)), <=, 1e-4 * most);
}

/* What SIGHTLINE_BACKEND was when the program started: it then runs layers of 8-bit weights and
 * activations. */
static const char *asked_backend;
/* The loops in C: a picture of each model, and a run of each session. */
static gboolean is_slow;

static gboolean
is_8_bit (const SlTensor *tensor)
{
  return tensor->dtype == SL_DTYPE_U8 || tensor->dtype == SL_DTYPE_I8;
}

/* The session runs on @backend (nullable), and on the instruction set that SIGHTLINE_CPU names or
 * else the best. */
static void
check_runner (const SlSession *session, SlGraph *graph, const char *backend)
{
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  const char *cpu = g_getenv ("SIGHTLINE_CPU");
  SlBackendUse use;
  g_assert_true (sl_session_backend_use (session, 0, &use));
  g_assert_cmpstr (use.name, ==, "int8");
  g_assert_cmpstr (use.cpu, ==, cpu != NULL ? cpu : isas[sl_int8_isas (isas) - 1]->name);
  for (guint i = 0; backend != NULL && i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if ((node->op == SL_OP_CONV_2D || node->op == SL_OP_DEPTHWISE_CONV_2D
         || node->op == SL_OP_FULLY_CONNECTED)
        && is_8_bit (sl_node_input (graph, node, 0)) && is_8_bit (sl_node_output (graph, node, 0)))
      g_assert_cmpstr (sl_session_backend (session, i), ==, backend);
  }
}

static void
run (const Case *c, SlGraph *graph, const char *input, gsize bytes, guint threads, gboolean plain)
{
  g_autoptr (GError) error = NULL;
  const char *backend = plain ? "plain" : asked_backend;
  if (backend != NULL)
    g_setenv ("SIGHTLINE_BACKEND", backend, TRUE);
  else
    g_unsetenv ("SIGHTLINE_BACKEND");
  g_autoptr (SlSession) session = sl_session_new (graph, threads, &error);
  g_assert_no_error (error);
  check_runner (session, graph, backend);
  g_assert_cmpuint (sl_graph_input_tensor (graph, 0)->bytes, ==, bytes);
  void *in = sl_tensor_buffer_new (bytes), *out[SL_MAX_IO];
  memcpy (in, input, bytes);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    out[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  /* XNNPACK leaves the layers of a hybrid model to plain kernels. */
  const gboolean once =
    plain || is_slow || (c->kind == HYBRID && g_strcmp0 (backend, "xnnpack") == 0);
  for (guint k = 0; k < (once ? 1 : 2); k++)
    g_assert_cmpint (sl_session_run (session, (const void *const *) &in, out), ==, SL_STATUS_OK);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++) {
    compare_output (c, i, sl_graph_output_tensor (graph, i), out[i]);
    sl_tensor_buffer_free (out[i]);
  }
  sl_tensor_buffer_free (in);
}

/* The same without the model's first QUANTIZE, which here moves quantised values by the distance of
 * the zero points. */
static void
run_skipping (const Case *c, const char *path, const char *input, gsize bytes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model =
    sl_model_load_with (path, NULL, &(SlModelLoadOptions){ .skip_input_quantize = TRUE }, &error);
  g_assert_no_error (error);
  const SlContract *contract = sl_model_contract (model);
  if (!contract->skips_input_quantize)
    return;
  g_autofree guint8 *moved = g_malloc (bytes);
  g_assert_cmpfloat (contract->inputs[0].scale, ==, contract->declared.scale);
  for (gsize i = 0; i < bytes; i++)
    moved[i] =
      (guint8) ((guint8) input[i] - contract->declared.zero_point + contract->inputs[0].zero_point);
  run (c, sl_model_graph (model), (const char *) moved, bytes, 1, FALSE);
}

static gboolean
is_first_picture (const Case *c)
{
  return c == cases || strcmp (c->model, c[-1].model) != 0;
}

/* XNNPACK's threads wait busily, which on busy cores takes longer than the models: a picture of
 * each model. */
static guint
max_threads (const Case *c)
{
  return g_strcmp0 (asked_backend, "xnnpack") == 0 && !is_first_picture (c) ? 1 : 2;
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *model_name = g_strdup_printf ("models/%s.tflite", c->model);
  g_autofree char *input_name = g_strdup_printf ("golden/%s.%s.in", c->model, c->picture);
  g_autofree char *model_path = sl_test_data (model_name),
                  *input_path = model_path != NULL ? sl_test_data (input_name) : NULL;
  g_autofree char *input = NULL;
  gsize bytes = 0;
  if (input_path == NULL)
    return;
  g_autoptr (SlModel) model = sl_model_load (model_path, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (input_path, &input, &bytes, NULL));
  for (guint threads = 1; threads <= max_threads (c); threads++)
    run (c, sl_model_graph (model), input, bytes, threads, FALSE);
  run_skipping (c, model_path, input, bytes);
  if (asked_backend == NULL && is_first_picture (c))
    run (c, sl_model_graph (model), input, bytes, 2, TRUE);
}

TEST_MAIN (int argc, char **argv)
{
  if (sl_test_lacks_cpu ())
    return 0;
  g_autofree char *backend = g_strdup (g_getenv ("SIGHTLINE_BACKEND"));
  asked_backend = backend;
  g_test_init (&argc, &argv, NULL);
  is_slow = g_strcmp0 (asked_backend, "int8") == 0 && sl_int8_isa () == &sl_int8_isa_c;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    if (is_slow && !is_first_picture (&cases[i]))
      continue;
    g_autofree char *path = g_strdup_printf ("/golden/%s/%s", cases[i].model, cases[i].picture);
    g_test_add_data_func (path, &cases[i], test_case);
  }
  return g_test_run ();
}
