/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models of one operator each against what ONNX Runtime 1.30 made of the same inputs; those of
 * ../shared/bugs/missing-operators, where it is. */
#include <math.h>
#include <string.h>

#include "core/runtime/session.h"
#include "models/model.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

#define MAX_EDGES 8

/** @tolerance: of 1 or of the value, whichever is more; 0 = exact. @refusal: (nullable): what is
 * said instead */
typedef struct
{
  const char *name;
  double tolerance;
  const char *refusal;
} Case;

/* ONNX Runtime rounds activations beside weights of 4 bits to 8 bits, and sums of 8-bit products
 * stop at 16 bits: the last three have wide limits, and their right values, in double precision,
 * are in onnx_codes.c. */
static const Case cases[] = {
  { "attention23", 2e-6, NULL },
  { "attention23_3d_causal", 2e-6, NULL },
  { "conv3d", 1e-5, NULL },
  { "conv_rt_weights", 1e-5, NULL },
  { "deformconv19", 1e-5, NULL },
  { "det", 1e-5, NULL },
  { "dft17", 1e-5, NULL },
  { "dft20", 1e-5, NULL },
  { "fp8_dq19", 1e-5, NULL },
  { "hann", 1e-6, NULL },
  { "if_rt", 0, NULL },
  { "int16_qdq21", 1e-6, NULL },
  { "loop_rt_trip", 0, "the trip count, input 0, depends on the picture; expected a constant" },
  { "loop_while", 0,
    "the number of its iterations depends on the picture; expected a constant trip count of at "
    "most 64" },
  { "matmulnbits4", 1e-5, NULL },
  { "matmulnbits8", 1e-5, NULL },
  { "maxpool3d", 0, NULL },
  { "maxroipool", 0, NULL },
  { "mel", 1e-6, NULL },
  { "ms_attention", 2e-5, NULL },
  { "ms_biasgelu", 2e-6, NULL },
  { "ms_dynquantmatmul", 1e-5, NULL },
  { "ms_fastgelu", 2e-6, NULL },
  { "ms_fusedconv", 1e-5, NULL },
  { "ms_fusedgemm", 1e-5, NULL },
  { "ms_fusedmatmul", 1e-5, NULL },
  { "ms_gridsample", 1e-5, NULL },
  { "ms_mha", 2e-6, NULL },
  { "ms_qdq", 1e-6, NULL },
  { "ms_qlinearsoftmax", 1e-6, NULL },
  { "ms_quickgelu", 2e-6, NULL },
  { "ms_rotary", 2e-6, NULL },
  { "ms_simplified", 1e-5, NULL },
  { "ms_skiplayernorm", 1e-5, NULL },
  { "optional18", 0, NULL },
  { "reverseseq", 0, NULL },
  { "rotary23", 2e-6, NULL },
  { "scan11", 1e-6, NULL },
  { "seqmap17", 0, NULL },
  { "stft17", 1e-5, NULL },
  { "unique11", 0, NULL },
  { "int4_dq21_block", 0.05, NULL },
  { "uint4_dq21_axis", 0.05, NULL },
  { "ms_qgemm", 0.2, NULL },
};

static void *
read_input (const char *folder, const char *name, const SlTensor *tensor)
{
  g_autofree char *file = g_strdup_printf ("%s/%s.%s.bin", folder, name, tensor->name),
                  *data = NULL;
  g_autoptr (GError) error = NULL;
  gsize bytes = 0;
  g_file_get_contents (file, &data, &bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (bytes, ==, tensor->bytes);
  void *buffer = sl_tensor_buffer_new (tensor->bytes);
  memcpy (buffer, data, bytes);
  return buffer;
}

static double
element (const SlTensor *tensor, const void *data, gsize i)
{
  if (tensor->dtype == SL_DTYPE_I64)
    return (double) ((const gint64 *) data)[i];
  g_assert_cmpint (tensor->dtype, ==, SL_DTYPE_F32);
  return (double) ((const gfloat *) data)[i];
}

/* Rows whose number depends on the picture are as many as there can be: the reference's come first.
 */
static void
compare (const char *folder, const Case *c, guint output, const SlTensor *tensor, const void *got)
{
  g_autofree char *file = g_strdup_printf ("%s/%s.r.out.y%u.bin", folder, c->name, output),
                  *want = NULL;
  g_autoptr (GError) error = NULL;
  gsize bytes = 0;
  g_file_get_contents (file, &want, &bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (bytes, <=, tensor->bytes);
  for (gsize i = 0; i < bytes / sl_dtype_size (tensor->dtype); i++) {
    const double a = element (tensor, got, i), b = element (tensor, want, i);
    if (!(fabs (a - b) <= c->tolerance * fmax (1, fabs (b))))
      g_error ("%s, output %u, element %" G_GSIZE_FORMAT " is %.9g; expected %.9g", c->name, output,
               i, a, b);
  }
}

static void
run_case (const char *folder, const Case *c, SlModel *model)
{
  const SlGraph *graph = sl_model_graph (model);
  g_autoptr (GError) error = NULL;
  void *inputs[MAX_EDGES], *outputs[MAX_EDGES];
  g_autoptr (SlSession) session = sl_session_new ((SlGraph *) graph, 1, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    inputs[i] = read_input (folder, c->name, sl_graph_input_tensor (graph, i));
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  for (guint times = 0; times < 2; times++)
    g_assert_cmpint (sl_session_run (session, (const void *const *) inputs, outputs), ==,
                     SL_STATUS_OK);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    compare (folder, c, i, sl_graph_output_tensor (graph, i), outputs[i]);
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    sl_tensor_buffer_free (inputs[i]);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    sl_tensor_buffer_free (outputs[i]);
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *folder = sl_test_data ("bugs/missing-operators");
  g_autoptr (GError) error = NULL;
  if (folder == NULL)
    return;
  if (strcmp (c->name, "deformconv19")
      == 0) { /* its offsets are not there; onnx_windows.c has the operator */
    g_autofree char *offsets = g_build_filename (folder, "deformconv19.o.bin", NULL);
    if (!g_file_test (offsets, G_FILE_TEST_EXISTS)) {
      g_test_skip ("deformconv19.o.bin is missing");
      return;
    }
  }
  g_autofree char *file = g_strdup_printf ("%s/%s.onnx", folder, c->name);
  SlModel *model = sl_model_load (file, NULL, &error);
  if (c->refusal != NULL) {
    g_assert_null (model);
    g_assert_nonnull (strstr (error->message, c->refusal));
    return;
  }
  g_assert_no_error (error);
  run_case (folder, c, model);
  sl_model_unref (model);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strconcat ("/onnx/references/", cases[i].name, NULL);
    g_test_add_data_func (path, &cases[i], test_case);
  }
  return g_test_run ();
}
