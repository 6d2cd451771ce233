/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs of torch.export against outputs of torch 2.6, in both forms of the archive: networks of
 * torchvision, two of them quantised, open sizes, several inputs and outputs, attention, a
 * condition, a recurrent layer, weights in bfloat16, state. Files that are missing are skipped.
 */
#include <math.h>
#include <string.h>

#include "core/runtime/session.h"
#include "models/model.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

/* Of the largest magnitude: how far floats may be off. */
#define MAX_SHARE 1e-4

/* @padded: outputs have more rows than the reference, with zeros after its last. */
typedef struct
{
  const char *name, *shape;
  guint n_inputs;
  gboolean padded;
} Program;

static const Program programs[] = {
  { "mobilenet_v2_035", NULL, 1 },
  { "shufflenet_v2_x05", NULL, 1 },
  { "resnet18_thin.dynamic", "2,3,96,96", 1 },
  { "vit_tiny", NULL, 1 },
  { "sdpa_causal", NULL, 1 },
  { "unet_dict", NULL, 1 },
  { "pixels", NULL, 1 },
  { "nms", NULL, 1, TRUE },
  { "cond", NULL, 1 },
  { "lstm_ctc", NULL, 1 },
  { "grid", NULL, 1 },
  { "text", NULL, 2 },
  { "mobilenet_v3_half.bf16", NULL, 1 },
  { "mobilenet_v2_035_q.pt2e", NULL, 1 },
  { "resnet18_thin_q.pt2e", NULL, 1 },
};

static char *
read_file (gsize *bytes, const char *format, const char *name, guint i)
{
  g_autofree char *file = g_strdup_printf (format, name, i);
  g_autofree char *path = sl_test_data (file);
  char *data = NULL;
  g_assert_nonnull (path);
  g_assert_true (g_file_get_contents (path, &data, bytes, NULL));
  return data;
}

static double
element (SlDtype dtype, const void *data, gsize i)
{
  return dtype == SL_DTYPE_F32 ? (double) ((const gfloat *) data)[i]
                               : (double) ((const gint64 *) data)[i];
}

static void
compare (const Program *program, const SlTensor *tensor, const void *got, const void *expected,
         gsize bytes)
{
  const gsize size = sl_dtype_size (tensor->dtype), n = bytes / size;
  double top = 0, worst = 0;
  g_assert_true (tensor->dtype == SL_DTYPE_F32 || tensor->dtype == SL_DTYPE_I64);
  if (!program->padded)
    g_assert_cmpuint (bytes, ==, tensor->bytes);
  for (gsize i = 0; i < tensor->bytes / size; i++) {
    const double x = element (tensor->dtype, got, i),
                 y = i < n ? element (tensor->dtype, expected, i) : 0;
    top = fmax (top, fabs (y));
    worst = fmax (worst, fabs (x - y));
    g_assert_true (isfinite (x));
  }
  g_test_message ("%s: off by %g of %g", tensor->name, worst, top);
  g_assert_cmpfloat (worst, <=, tensor->dtype == SL_DTYPE_F32 ? MAX_SHARE * top : 0);
}

static void
run (const Program *program, const char *path)
{
  const SlModelLoadOptions options = { .input_shape = program->shape };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = sl_model_load_with (path, NULL, &options, &error);
  g_assert_no_error (error);
  const SlGraph *graph = sl_model_graph (model);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 2, &error);
  g_assert_no_error (error);
  void *in[SL_MAX_IO], *out[SL_MAX_IO];
  gsize bytes = 0;
  g_assert_cmpuint (sl_graph_n_inputs (graph), ==, program->n_inputs);
  for (guint i = 0; i < program->n_inputs; i++) {
    g_autofree char *stored = read_file (&bytes, "pytorch2/golden/in.%s.%u.bin", program->name, i);
    in[i] = sl_tensor_buffer_new (bytes);
    g_assert_cmpuint (bytes, ==, sl_graph_input_tensor (graph, i)->bytes);
    memcpy (in[i], stored, bytes);
  }
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    out[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  g_assert_cmpint (sl_session_run (session, (const void *const *) in, out), ==, SL_STATUS_OK);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++) {
    g_autofree char *expected =
      read_file (&bytes, "pytorch2/golden/%s.torch.out%u.bin", program->name, i);
    compare (program, sl_graph_output_tensor (graph, i), out[i], expected, bytes);
    sl_tensor_buffer_free (out[i]);
  }
  for (guint i = 0; i < program->n_inputs; i++)
    sl_tensor_buffer_free (in[i]);
}

static void
test_program (gconstpointer data)
{
  const Program *program = data;
  static const char *const endings[] = { "", ".v0" };
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autofree char *file = g_strdup_printf ("pytorch2/models/%s%s.pt2", program->name, endings[i]);
    g_autofree char *path = sl_test_data (file);
    if (path != NULL)
      run (program, path);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++) {
    g_autofree char *path = g_strdup_printf ("/pytorch2/%s", programs[i].name);
    g_test_add_data_func (path, &programs[i], test_program);
  }
  return g_test_run ();
}
