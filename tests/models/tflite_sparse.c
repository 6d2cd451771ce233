/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sparse constants of TensorFlow Lite: compressed rows, columns and blocks, as the TensorFlow Lite
 * interpreter makes them dense; and lists that lie. */
#include <string.h>

#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

#define ROWS 4
#define MOST 16

/* 1 0 0 2 / 0 0 0 0 / 0 3 4 0 / 0 0 0 5, by rows and by columns. */
static const SlTfliteSparsity by_rows = { .n_levels = 2,
                                          .order = { 0, 1 },
                                          .levels = { { .size = 4 },
                                                      { .format = 1,
                                                        .type = 1,
                                                        .n_segments = 5,
                                                        .segments = { 0, 2, 2, 4, 5 },
                                                        .n_places = 5,
                                                        .places = { 0, 3, 1, 2, 3 } } } };
static const SlTfliteSparsity by_columns = { .n_levels = 2,
                                             .order = { 1, 0 },
                                             .levels = { { .size = 4 },
                                                         { .format = 1,
                                                           .type = 3,
                                                           .n_segments = 5,
                                                           .segments = { 0, 1, 2, 3, 5 },
                                                           .n_places = 5,
                                                           .places = { 0, 2, 2, 0, 3 } } } };
/* Two blocks of 2 by 2: at the right above and at the left below. */
static const SlTfliteSparsity by_blocks = { .n_levels = 4,
                                            .n_blocks = 2,
                                            .order = { 0, 1, 2, 3 },
                                            .blocks = { 0, 1 },
                                            .levels = { { .size = 2 },
                                                        { .format = 1,
                                                          .type = 2,
                                                          .n_segments = 3,
                                                          .segments = { 0, 1, 2 },
                                                          .n_places = 2,
                                                          .places = { 1, 0 } },
                                                        { .size = 2 },
                                                        { .size = 2 } } };
static const gfloat row_values[] = { 1, 2, 3, 4, 5 }, column_values[] = { 1, 3, 4, 2, 5 },
                    block_values[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

/* x[4,4] + DENSIFY (sparse constant). */
static SlTfliteWriter *
sum (const SlTfliteSparsity *sparsity, const gfloat *values, gsize bytes)
{
  SlTfliteWriter *writer = sl_tflite_writer_new ();
  const SlTfliteTensor edge = {
    .name = "edge", .dtype = SL_DTYPE_F32, .rank = 2, .dims = { ROWS, ROWS }
  };
  SlTfliteTensor weights = edge;
  weights.name = "weights";
  weights.data = values;
  weights.bytes = bytes;
  weights.sparsity = sparsity;
  const gint32 x = sl_tflite_writer_tensor (writer, &edge),
               w = sl_tflite_writer_tensor (writer, &weights);
  const gint32 dense = sl_tflite_writer_tensor (writer, &edge),
               y = sl_tflite_writer_tensor (writer, &edge);
  sl_tflite_writer_op (
    writer,
    &(SlTfliteOp){
      .builtin = 124, .n_inputs = 1, .inputs = { w }, .n_outputs = 1, .outputs = { dense } });
  sl_tflite_writer_op (
    writer,
    &(SlTfliteOp){
      .op = SL_OP_ADD, .n_inputs = 2, .inputs = { x, dense }, .n_outputs = 1, .outputs = { y } });
  sl_tflite_writer_io (writer, 1, &x, 1, &y);
  return writer;
}

static void
test_dense (void)
{
  static const struct
  {
    const SlTfliteSparsity *sparsity;
    const gfloat *values;
    gsize bytes;
    gfloat dense[MOST];
  } cases[] = {
    { &by_rows, row_values, sizeof row_values, { 1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 5 } },
    { &by_columns,
      column_values,
      sizeof column_values,
      { 1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 5 } },
    { &by_blocks,
      block_values,
      sizeof block_values,
      { 0, 0, 1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (SlTfliteWriter) writer = sum (cases[i].sparsity, cases[i].values, cases[i].bytes);
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model =
      load_with_info (writer, "[modelinfo]\nversion=1.0\ngroup-id=x\n", NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_graph_n_nodes (sl_model_graph (model)), ==, 1);
    g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
    g_assert_no_error (error);
    gfloat *x = sl_tensor_buffer_new (sizeof cases[i].dense),
           *y = sl_tensor_buffer_new (sizeof cases[i].dense);
    memset (x, 0, sizeof cases[i].dense);
    g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                     SL_STATUS_OK);
    g_assert_cmpmem (y, sizeof cases[i].dense, cases[i].dense, sizeof cases[i].dense);
    sl_tensor_buffer_free (x);
    sl_tensor_buffer_free (y);
  }
}

static void
refuse_model (SlTfliteWriter *writer, SlError code, const char *text)
{
  g_autofree char *path = sl_tflite_writer_save_temp (writer, "sparse.tflite", NULL);
  expect_file_refused (path, code, text);
  sl_tflite_remove_temp (path);
}

static void
refuse (const SlTfliteSparsity *sparsity, gsize bytes, SlError code, const char *text)
{
  g_autoptr (SlTfliteWriter) writer = sum (sparsity, block_values, bytes);
  refuse_model (writer, code, text);
}

static void
test_refused (void)
{
  SlTfliteSparsity s = by_rows;
  s.n_levels = 1;
  refuse (
    &s, 20, SL_ERROR_FORMAT,
    "tensor 1 'weights': its sparsity has 1 levels and 0 blocks; expected one level for each of 2 "
    "dimensions");
  s = by_rows;
  s.order[1] = 0;
  refuse (&s, 20, SL_ERROR_FORMAT,
          "level 1 of its sparsity is dimension 0; expected each of 2 once, blocks last");
  s = by_rows;
  s.levels[0].size = 3;
  refuse (&s, 20, SL_ERROR_FORMAT, "level 0 of its sparsity has 3 places; expected 4");
  s.levels[0].size = 0;
  refuse (
    &s, 20, SL_ERROR_FORMAT,
    "level 0 of its sparsity has format 0 and 0 places; expected 0 dense with 1 or more, or 1 "
    "sparse");
  s = by_rows;
  s.levels[1].places[4] = 4;
  refuse (&s, 20, SL_ERROR_FORMAT,
          "level 1 of its sparsity: 5 segments and 5 indices do not fit 4 rows of 4 places");
  s = by_rows;
  s.levels[1].segments[1] = -1;
  refuse (&s, 20, SL_ERROR_FORMAT, "level 1 of its sparsity: 5 segments and 5 indices do not fit");
  s = by_rows;
  s.levels[1].n_segments = 0;
  refuse (&s, 20, SL_ERROR_FORMAT, "level 1 of its sparsity: 0 segments and 5 indices do not fit");
  s = by_rows;
  s.levels[1].type = 9;
  refuse (&s, 20, SL_ERROR_FORMAT, "level 1 of its sparsity: 0 segments and 0 indices do not fit");
  refuse (&by_rows, 16, SL_ERROR_FORMAT, "its sparsity has room for 5 values; the file has 4");
  refuse (&by_rows, 18, SL_ERROR_FORMAT, "a sparse tensor has 18 bytes of float32");
  s = by_blocks;
  s.blocks[1] = 0;
  refuse (&s, 32, SL_ERROR_FORMAT,
          "block 1 of its sparsity cuts dimension 0 by 2; expected another dimension, which that "
          "divides");
  s = by_blocks;
  s.levels[2].size = 3;
  refuse (&s, 32, SL_ERROR_FORMAT,
          "block 0 of its sparsity cuts dimension 0 by 3; expected another dimension, which that "
          "divides");
}

/* A few bytes that would be dense gigabytes. */
static void
test_growth (void)
{
  SlTfliteSparsity s = by_rows;
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const SlTfliteTensor edge = { .name = "edge", .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 1 } };
  const SlTfliteTensor weights = { .name = "weights",
                                   .dtype = SL_DTYPE_F32,
                                   .rank = 2,
                                   .dims = { 32768, 32768 },
                                   .data = row_values,
                                   .bytes = 20,
                                   .sparsity = &s };
  s.levels[0].size = 32768;
  const gint32 x = sl_tflite_writer_tensor (writer, &edge),
               w = sl_tflite_writer_tensor (writer, &weights);
  const gint32 y = sl_tflite_writer_tensor (writer, &edge);
  sl_tflite_writer_op (
    writer,
    &(SlTfliteOp){
      .op = SL_OP_ADD, .n_inputs = 2, .inputs = { x, w }, .n_outputs = 1, .outputs = { y } });
  sl_tflite_writer_io (writer, 1, &x, 1, &y);
  refuse_model (writer, SL_ERROR_LIMIT, "sparse tensors of 4294967296 bytes, over ");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/tflite-sparse/dense", test_dense);
  g_test_add_func ("/models/tflite-sparse/refused", test_refused);
  g_test_add_func ("/models/tflite-sparse/growth", test_growth);
  return g_test_run ();
}
