/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Variables of TensorFlow Lite: sums that go on from run to run, first values, and what is refused.
 */
#include <string.h>

#include "core/runtime/session.h"
#include "models/state.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

#define MUTANTS 600
#define RESOURCE 13
#define CALL_ONCE 129
#define VAR_HANDLE 142
#define READ_VARIABLE 143
#define ASSIGN_VARIABLE 144

/* What is wrong with a model. */
typedef enum
{
  NOTHING,
  NO_HANDLE,
  NO_VALUE,
  OTHER_SIZE,
  COMPUTED,
  NO_SUBGRAPH
} Wrong;

static gint32
add (SlTfliteWriter *writer, const char *name, const gfloat *data)
{
  return sl_tflite_writer_tensor (
    writer, &(SlTfliteTensor){
              .name = name, .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 1, 4 }, .data = data });
}

static gint32
handle (SlTfliteWriter *writer, const char *name)
{
  return sl_tflite_writer_tensor (
    writer,
    &(SlTfliteTensor){ .name = name, .dtype = SL_DTYPE_F32, .rank = 0, .raw_type = RESOURCE });
}

static void
op (SlTfliteWriter *writer, gint32 builtin, const char *variable, gint32 a, gint32 b, gint32 out)
{
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .builtin = builtin,
                                              .variable = variable,
                                              .n_inputs = (a >= 0) + (b >= 0),
                                              .inputs = { a, b },
                                              .n_outputs = out >= 0,
                                              .outputs = { out } });
}

/* y = x + sum; sum = y; z = y + count, where count began as @first (nullable) and becomes count +
 * count. */
static SlTfliteWriter *
sum_model (const gfloat *first, Wrong wrong)
{
  SlTfliteWriter *writer = sl_tflite_writer_new ();
  const gint32 x = add (writer, "x", NULL), before = add (writer, "before", NULL),
               y = add (writer, "y", NULL), z = add (writer, "z", NULL);
  const gint32 count = add (writer, "read", NULL), twice = add (writer, "twice", NULL);
  const gint32 sum_handle = handle (writer, "sum"), count_handle = handle (writer, "count"),
               other = handle (writer, "other");
  const gint32 start = first != NULL ? add (writer, "first", first) : -1;
  const gint32 wide =
    sl_tflite_writer_tensor (writer, &(SlTfliteTensor){ .name = "wide",
                                                        .dtype = SL_DTYPE_F32,
                                                        .rank = 1,
                                                        .dims = { 2 },
                                                        .data = (const gfloat[]){ 1, 2 } });
  if (first != NULL)
    sl_tflite_writer_op (
      writer, &(SlTfliteOp){ .builtin = CALL_ONCE, .subgraph = wrong == NO_SUBGRAPH ? 9 : 1 });
  op (writer, VAR_HANDLE, "sum", -1, -1, sum_handle);
  op (writer, VAR_HANDLE, "count", -1, -1, count_handle);
  op (writer, READ_VARIABLE, NULL, wrong == NO_HANDLE ? other : sum_handle, -1, before);
  op (writer, READ_VARIABLE, NULL, count_handle, -1, count);
  sl_tflite_writer_op (
    writer,
    &(SlTfliteOp){
      .op = SL_OP_ADD, .n_inputs = 2, .inputs = { x, before }, .n_outputs = 1, .outputs = { y } });
  op (writer, ASSIGN_VARIABLE, NULL, sum_handle, wrong == NO_VALUE ? -1 : y, -1);
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_ADD,
                                              .n_inputs = 2,
                                              .inputs = { count, count },
                                              .n_outputs = 1,
                                              .outputs = { twice } });
  op (writer, ASSIGN_VARIABLE, NULL, count_handle, twice, -1);
  sl_tflite_writer_op (
    writer,
    &(SlTfliteOp){
      .op = SL_OP_ADD, .n_inputs = 2, .inputs = { y, count }, .n_outputs = 1, .outputs = { z } });
  sl_tflite_writer_io (writer, 1, &x, 2, (const gint32[]){ y, z });
  if (first == NULL)
    return writer;
  op (writer, VAR_HANDLE, "count", -1, -1, other);
  op (writer, ASSIGN_VARIABLE, NULL, other,
      wrong == OTHER_SIZE ? wide
      : wrong == COMPUTED ? twice
                          : start,
      -1);
  sl_tflite_writer_set_quirks (writer, &(SlTfliteQuirks){ .once = 2 });
  return writer;
}

static void
test_runs (void)
{
  const gfloat first[4] = { 1, 2, 3, 4 };
  for (guint with = 0; with < 2; with++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlTfliteWriter) writer = sum_model (with > 0 ? first : NULL, NOTHING);
    g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
    g_assert_no_error (error);
    const SlGraph *graph = sl_model_graph (model);
    g_autofree char *names = sl_state_describe (graph, TRUE),
                    *numbers = sl_state_describe (graph, FALSE);
    g_assert_cmpstr (names, ==, with > 0 ? "count=count,sum=sum" : "sum=sum,count=count");
    g_assert_cmpstr (numbers, ==, "#1=#2,#2=#3");
    g_assert_cmpuint (sl_graph_n_inputs (graph), ==, 1);
    g_assert_cmpuint (sl_graph_n_outputs (graph), ==, 2);
    g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
    for (guint round = 0; round < 2; round++) {
      for (guint run = 0; run < 4; run++) {
        gfloat x[4 + SL_TENSOR_PADDING] = { 1, 2, 3, 4 }, y[4 + SL_TENSOR_PADDING],
                     z[4 + SL_TENSOR_PADDING];
        g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y, z }), ==,
                         SL_STATUS_OK);
        for (guint i = 0; i < 4; i++) {
          g_assert_cmpfloat (y[i], ==, x[i] * (run + 1));
          g_assert_cmpfloat (z[i], ==, y[i] + (with > 0 ? first[i] * (1 << run) : 0));
        }
      }
      sl_session_forget (session);
    }
  }
}

static void
test_refused (void)
{
  static const struct
  {
    Wrong wrong;
    SlError code;
    const char *message;
  } rows[] = {
    { NO_HANDLE, SL_ERROR_FORMAT, "variables: a node reads or assigns what no VAR_HANDLE names" },
    { NO_VALUE, SL_ERROR_FORMAT,
      "variables: a node has another number of inputs or outputs than its operator" },
    { OTHER_SIZE, SL_ERROR_FORMAT,
      "variables: 'count' is float32[1,4], but its first value has 8 bytes" },
    { COMPUTED, SL_ERROR_FORMAT, "variables: a first value is computed; expected a constant" },
    { NO_SUBGRAPH, SL_ERROR_FORMAT, "variables: CALL_ONCE names a subgraph that does not exist" },
  };
  const gfloat first[4] = { 1, 2, 3, 4 };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlTfliteWriter) writer = sum_model (first, rows[i].wrong);
    g_assert_null (load_with_info (writer, NULL, NULL, &error));
    expect_error (&error, rows[i].code, rows[i].message, NULL);
  }
}

/* Damaged files are refused with a sentence, or run. */
static void
test_damaged (void)
{
  const gfloat first[4] = { 1, 2, 3, 4 };
  g_autoptr (SlTfliteWriter) writer = sum_model (first, NOTHING);
  g_autoptr (GBytes) bytes = sl_tflite_writer_finish (writer);
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  g_autofree guint8 *mutant = g_memdup2 (data, size);
  g_autofree char *path = write_temp ("mutant.tflite", "", 0);
  guint ran = 0;
  for (guint i = 0; i < MUTANTS; i++) {
    g_autoptr (GError) error = NULL;
    memcpy (mutant, data, size);
    for (gint n = g_rand_int_range (rand, 1, 4); n > 0; n--)
      mutant[g_rand_int_range (rand, 0, (gint32) size)] =
        (guint8) (g_rand_boolean (rand) ? g_rand_int_range (rand, 0, 24)
                                        : g_rand_int_range (rand, 0, 256));
    g_assert_true (g_file_set_contents_full (path, (const char *) mutant, (gssize) size,
                                             G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    g_autoptr (SlModel) model =
      sl_model_load_with (path, NULL, &(SlModelLoadOptions){ .tensor_limit = 1 << 20 }, &error);
    g_autoptr (SlSession) session =
      model != NULL ? sl_session_new (sl_model_graph (model), 1, &error) : NULL;
    if (session == NULL) {
      g_assert_nonnull (error);
      g_assert_cmpuint (strlen (error->message), >, 20);
      continue;
    }
    const SlGraph *graph = sl_model_graph (model);
    void *inputs[SL_MAX_IO] = { NULL }, *outputs[SL_MAX_IO] = { NULL };
    for (guint k = 0; k < sl_graph_n_inputs (graph); k++)
      inputs[k] = sl_tensor_buffer_new (sl_graph_input_tensor (graph, k)->bytes);
    for (guint k = 0; k < sl_graph_n_outputs (graph); k++)
      outputs[k] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, k)->bytes);
    for (guint run = 0; run < 3; run++)
      ran += sl_session_run (session, (const void *const *) inputs, outputs) == SL_STATUS_OK;
    for (guint k = 0; k < SL_MAX_IO; k++) {
      sl_tensor_buffer_free (inputs[k]);
      sl_tensor_buffer_free (outputs[k]);
    }
  }
  g_test_message ("%u runs of %u mutants", ran, MUTANTS);
  g_assert_cmpuint (ran, >, MUTANTS / 10);
  sl_tflite_remove_temp (path);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tflite_variables/runs", test_runs);
  g_test_add_func ("/tflite_variables/refused", test_refused);
  g_test_add_func ("/tflite_variables/damaged", test_damaged);
  return g_test_run ();
}
