/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See pt2_run.h. */
#include "tests/models/pt2_run.h"

#include <math.h>
#include <string.h>

#include "tests/models/helpers.h"

SlModel *
load_pt2 (SlPt2Writer *writer, const char *shape, GError **error)
{
  const SlModelLoadOptions options = { .input_shape = shape };
  g_autoptr (GBytes) bytes = sl_pt2_writer_finish (writer);
  g_autofree char *path =
    write_temp ("net.pt2", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  SlModel *model = sl_model_load_with (path, NULL, &options, error);
  sl_tflite_remove_temp (path);
  return model;
}

SlModel *
load_good_pt2 (SlPt2Writer *writer, const char *shape)
{
  g_autoptr (GError) error = NULL;
  SlModel *model = load_pt2 (writer, shape, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_model_format (model), ==, "pt2");
  return model;
}

void
refuse_pt2 (SlPt2Writer *writer, const char *shape, SlError code, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = load_pt2 (writer, shape, &error);
  g_assert_null (model);
  expect_error (&error, code, "net.pt2: ", text, NULL);
}

void
run_pt2 (SlSession *session, const SlModel *model, const gfloat *x, guint index,
         const gfloat *expected, guint n)
{
  const SlGraph *graph = sl_model_graph (model);
  void *outputs[SL_MAX_IO], *input = sl_tensor_buffer_new (sl_graph_input_tensor (graph, 0)->bytes);
  const void *inputs[] = { input };
  memcpy (input, x, sl_graph_input_tensor (graph, 0)->bytes);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  g_assert_cmpint (sl_session_run (session, inputs, outputs), ==, SL_STATUS_OK);
  g_assert_cmpuint (sl_graph_output_tensor (graph, index)->bytes, ==, n * sizeof (gfloat));
  for (guint i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (((gfloat *) outputs[index])[i], expected[i],
                                    1e-5f + 1e-5f * fabsf (expected[i]));
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    sl_tensor_buffer_free (outputs[i]);
  sl_tensor_buffer_free (input);
}

void
expect_pt2 (SlPt2Writer *writer, const gfloat *x, const gfloat *expected, guint n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = load_good_pt2 (writer, NULL);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  run_pt2 (session, model, x, 0, expected, n);
}
