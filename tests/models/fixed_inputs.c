/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs that are always the same: numbers, arrays of NumPy, bytes; and what is refused. */
#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "core/runtime/session.h"
#include "models/data_file.h"
#include "models/fixed_inputs.h"
#include "models/npy.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

/* Inputs "picture" float32[1,2,2,3] and "other" of @dtype and @dims. */
static SlGraph *
new_graph (SlDtype dtype, guint rank, const gint32 *dims, gfloat scale, gint32 zero_point)
{
  SlGraph *graph = sl_graph_new (NULL);
  SlTensor picture = {
    .name = "picture", .dtype = SL_DTYPE_F32, .rank = 4, .dims = { 1, 2, 2, 3 }
  };
  SlTensor other = { .name = "other", .dtype = dtype, .rank = rank };
  memcpy (other.dims, dims, rank * sizeof dims[0]);
  if (scale > 0) {
    other.quant.count = 1;
    other.quant.scale = sl_arena_memdup (sl_graph_arena (graph), &scale, sizeof scale);
    other.quant.zero_point =
      sl_arena_memdup (sl_graph_arena (graph), &zero_point, sizeof zero_point);
  }
  const gint32 inputs[] = { sl_graph_add_tensor (graph, &picture, NULL),
                            sl_graph_add_tensor (graph, &other, NULL) };
  g_assert_true (sl_graph_set_io (graph, inputs, 2, inputs, 1, NULL));
  return graph;
}

static char *
write_npy (const char *header, gconstpointer data, gsize size)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  const guint8 start[10] = {
    0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (guint8) strlen (header), (guint8) (strlen (header) >> 8)
  };
  g_byte_array_append (bytes, start, sizeof start);
  g_byte_array_append (bytes, (const guint8 *) header, (guint) strlen (header));
  if (size > 0)
    g_byte_array_append (bytes, data, (guint) size);
  return write_temp ("value.npy", (const char *) bytes->data, (gssize) bytes->len);
}

static const void *
apply (const char *text, SlGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlFixedInputs) fixed = sl_fixed_inputs_read (text, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sl_fixed_inputs_apply (fixed, graph, &(SlState){ 0 }, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (sl_graph_n_inputs (graph), ==, 1);
  g_assert_cmpstr (sl_graph_input_tensor (graph, 0)->name, ==, "picture");
  return sl_graph_tensor (graph, 1)->data;
}

static void
refuse (const char *text, SlGraph *graph, SlError code, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlFixedInputs) fixed = sl_fixed_inputs_read (text, NULL, &error);
  g_assert_false (fixed != NULL
                  && sl_fixed_inputs_apply (fixed, graph, &(SlState){ 0 }, NULL, &error));
  expect_error (&error, code, message, NULL);
}

static void
test_numbers (void)
{
  static const gint32 dims[] = { 1, 3 };
  static const struct
  {
    SlDtype dtype;
    gfloat scale;
    gint32 zero_point;
    const char *text;
    double expected;
  } rows[] = {
    { SL_DTYPE_F32, 0, 0, "1=0.25", 0.25 },     { SL_DTYPE_F16, 0, 0, " other = -0.5;", -0.5 },
    { SL_DTYPE_U8, 0.5f, 10, "other=2", 14 },   { SL_DTYPE_I8, 0, 0, "1=-128", -128 },
    { SL_DTYPE_I32, 0, 0, "1=-70000", -70000 }, { SL_DTYPE_I64, 0, 0, "1=5000000000", 5e9 },
    { SL_DTYPE_BOOL, 0, 0, "1=1", 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlGraph) graph =
      new_graph (rows[i].dtype, 2, dims, rows[i].scale, rows[i].zero_point);
    const guint8 *data = apply (rows[i].text, graph);
    for (guint k = 0; k < 3; k++) {
      double got = 0;
      switch (rows[i].dtype) {
        case SL_DTYPE_F32:
          got = ((const gfloat *) (gconstpointer) data)[k];
          break;
        case SL_DTYPE_F16:
          got = sl_half_to_float (((const guint16 *) (gconstpointer) data)[k]);
          break;
        case SL_DTYPE_I32:
          got = ((const gint32 *) (gconstpointer) data)[k];
          break;
        case SL_DTYPE_I64:
          got = (double) ((const gint64 *) (gconstpointer) data)[k];
          break;
        default:
          got = rows[i].dtype == SL_DTYPE_I8 ? (gint8) data[k] : data[k];
      }
      g_assert_cmpfloat (got, ==, rows[i].expected);
    }
  }
}

/* A number an element. */
static void
test_lists (void)
{
  static const gint32 dims[] = { 1, 2 };
  static const gint64 sizes[2] = { 640, -480 };
  static const gfloat halves[2] = { 0.5f, 1e3f };
  g_autoptr (SlGraph) wide = new_graph (SL_DTYPE_I64, 2, dims, 0, 0),
                      floats = new_graph (SL_DTYPE_F32, 2, dims, 0, 0);
  g_autoptr (SlGraph) bytes = new_graph (SL_DTYPE_U8, 2, dims, 0, 0);
  g_assert_cmpmem (apply ("other=640, -480", wide), sizeof sizes, sizes, sizeof sizes);
  g_assert_cmpmem (apply ("1=0.5,1000;", floats), sizeof halves, halves, sizeof halves);
  refuse ("1=1,2,3", bytes, SL_ERROR_SHAPE,
          "1,2,3: expected uint8[1,2] for input 'other', got 3 numbers");
  refuse ("1=1,256", bytes, SL_ERROR_SHAPE, "got a number that it cannot hold");
  refuse ("1=1,x", bytes, SL_ERROR_OPEN, "1,x");
}

static void
test_files (void)
{
  static const gint32 dims[] = { 1, 1, 2, 3 };
  static const gfloat numbers[6] = { 1, 2, 3, 4, 5, 6 };
  static const char *const shapes[] = { "(2, 3)", "(1, 2, 3)", "(2,1,3,1)" };
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autofree char *header = g_strdup_printf (
      "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }      \n", shapes[i]);
    g_autofree char *path = write_npy (header, numbers, sizeof numbers);
    g_autofree char *text = g_strdup_printf ("other=%s", path);
    g_autoptr (SlGraph) graph = new_graph (SL_DTYPE_F32, 4, dims, 0, 0);
    g_assert_cmpmem (apply (text, graph), sizeof numbers, numbers, sizeof numbers);
    sl_tflite_remove_temp (path);
  }
  g_autofree char *path = write_temp ("value.raw", (const char *) numbers, sizeof numbers);
  g_autofree char *text = g_strdup_printf ("1=%s", path);
  g_autoptr (SlGraph) graph = new_graph (SL_DTYPE_F32, 4, dims, 0, 0);
  g_assert_cmpmem (apply (text, graph), sizeof numbers, numbers, sizeof numbers);
  g_autoptr (SlFixedInputs) one = sl_fixed_inputs_read (text, NULL, NULL);
  g_autoptr (SlFixedInputs) relative = sl_fixed_inputs_read ("1=value.raw", path, NULL);
  g_autoptr (SlFixedInputs) none = sl_fixed_inputs_read (NULL, NULL, NULL);
  g_assert_nonnull (relative);
  g_assert_cmpuint (sl_fixed_inputs_hash (one), !=, 0);
  g_assert_cmpuint (sl_fixed_inputs_hash (none), ==, 0);
  sl_tflite_remove_temp (path);
}

static void
test_refused (void)
{
  static const gint32 dims[] = { 1, 100 }, open_dims[] = { 1, -1 };
  static const gfloat numbers[100] = { 0 };
  g_autoptr (SlGraph) graph = new_graph (SL_DTYPE_F32, 2, dims, 0, 0),
                      bytes = new_graph (SL_DTYPE_U8, 2, dims, 0, 0);
  g_autoptr (SlGraph) open = new_graph (SL_DTYPE_F32, 2, open_dims, 0, 0);
  refuse ("style.npy", graph, SL_ERROR_ARGUMENT, "expected INPUT=VALUE with ';' between");
  refuse ("1=", graph, SL_ERROR_ARGUMENT, "expected INPUT=VALUE");
  refuse ("1=/nowhere/style.npy", graph, SL_ERROR_OPEN, "fixed-inputs: /nowhere/style.npy: ");
  refuse ("2=0", graph, SL_ERROR_ARGUMENT,
          "no input '2'; the model has 0 'picture' float32[1,2,2,3], 1 'other' float32[1,100]");
  refuse ("1=0;other=1", graph, SL_ERROR_ARGUMENT, "input 'other' is stated twice");
  refuse ("1=0;0=1", graph, SL_ERROR_ARGUMENT,
          "input '0' is the last one; expected one to be left for pictures");
  refuse ("1=0.5", bytes, SL_ERROR_SHAPE,
          "0.5: expected uint8[1,100] for input 'other', got a number that it cannot hold");
  refuse ("1=256", bytes, SL_ERROR_SHAPE, "got a number that it cannot hold");
  refuse ("1=nan", graph, SL_ERROR_OPEN, "nan");
  refuse ("1=1", open, SL_ERROR_SHAPE, "state input-shape");
  refuse ("1=1e300", graph, SL_ERROR_SHAPE, "got a number that it cannot hold");
  g_autoptr (SlGraph) halves = new_graph (SL_DTYPE_F16, 2, dims, 0, 0);
  refuse ("1=70000", halves, SL_ERROR_SHAPE, "got a number that it cannot hold");
  static const struct
  {
    const char *header;
    gsize size;
    SlError code;
    const char *message;
  } rows[] = {
    { "{'descr': '<f8', 'fortran_order': False, 'shape': (50,), }", 400, SL_ERROR_SHAPE,
      "for input 'other', got float64[50]" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (10, 10), }", 400, SL_ERROR_SHAPE,
      "expected float32[1,100] for input 'other', got float32[10,10]" },
    { "{'descr': '<f4', 'fortran_order': True, 'shape': (100,), }", 400, SL_ERROR_FORMAT,
      "fortran_order" },
    { "{'descr': '>f4', 'fortran_order': False, 'shape': (100,), }", 400, SL_ERROR_FORMAT,
      "numbers of a type that is not read" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (99,), }", 400, SL_ERROR_FORMAT,
      "expected 396 bytes for float32[99], got 400" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }", 0, SL_ERROR_FORMAT,
      "a shape that is not read" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (9,9,9,9,9,9,9,9,9), }", 0,
      SL_ERROR_FORMAT, "a shape that is not read" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2147483647,2147483647,2147483647), }", 0,
      SL_ERROR_FORMAT, "more numbers than there can be" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (100", 400, SL_ERROR_FORMAT,
      "a shape that is not read" },
    { "", 0, SL_ERROR_FORMAT, "numbers of a type that is not read" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = write_npy (rows[i].header, numbers, rows[i].size);
    g_autofree char *text = g_strdup_printf ("1=%s", path);
    refuse (text, graph, rows[i].code, rows[i].message);
    sl_tflite_remove_temp (path);
  }
  g_autofree char *path = write_temp ("short.npy", "NUMPY", 5),
                  *text = g_strdup_printf ("1=%s", path);
  refuse (text, graph, SL_ERROR_FORMAT,
          "no file of NumPy; expected an array that numpy.save() writes");
  sl_tflite_remove_temp (path);
  g_autofree char *raw = write_temp ("value.raw", "12345", 5),
                  *raw_text = g_strdup_printf ("1=%s", raw);
  refuse (raw_text, graph, SL_ERROR_SHAPE,
          "expected float32[1,100] for input 'other', got 5 bytes");
  sl_tflite_remove_temp (raw);
}

/* Metadata is of the file's first input: with that one fixed, it says nothing of the picture. */
static void
test_metadata (void)
{
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
    SlTfliteTensor picture = { "first", SL_DTYPE_F32, 4, { 1, 2, 2, 3 } };
    const gint32 first = sl_tflite_writer_tensor (writer, &picture);
    picture.name = "second";
    const gint32 inputs[2] = { first, sl_tflite_writer_tensor (writer, &picture) };
    picture.name = "y";
    const gint32 y = sl_tflite_writer_tensor (writer, &picture);
    sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_ADD,
                                                .n_inputs = 2,
                                                .inputs = { inputs[0], inputs[1] },
                                                .n_outputs = 1,
                                                .outputs = { y } });
    sl_tflite_writer_io (writer, 2, inputs, 1, &y);
    sl_tflite_writer_picture_metadata (
      writer, &(SlTfliteMetadata){ .n_mean = 1, .mean = { 127 }, .std = { 128 }, .colour = 1 });
    g_autoptr (SlModel) model =
      load_with_info (writer,
                      i == 0 ? "[modelinfo]\nversion=1.0\n[sightline]\nfixed-inputs=0=0.5\n"
                             : "[modelinfo]\nversion=1.0\n[sightline]\nfixed-inputs=1=0.5\n",
                      NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpint (sl_model_contract (model)->image.range_known, ==, i == 1);
  }
}

/* Inputs "style" float32[1,4] and "picture" float32[1,4] -> their sum. */
static SlTfliteWriter *
sum_model (void)
{
  SlTfliteWriter *writer = sl_tflite_writer_new ();
  const gint32 inputs[2] = {
    sl_tflite_writer_tensor (writer, &(SlTfliteTensor){ "style", SL_DTYPE_F32, 2, { 1, 4 } }),
    sl_tflite_writer_tensor (writer, &(SlTfliteTensor){ "picture", SL_DTYPE_F32, 2, { 1, 4 } })
  };
  const gint32 y =
    sl_tflite_writer_tensor (writer, &(SlTfliteTensor){ "y", SL_DTYPE_F32, 2, { 1, 4 } });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_ADD,
                                              .n_inputs = 2,
                                              .inputs = { inputs[0], inputs[1] },
                                              .n_outputs = 1,
                                              .outputs = { y } });
  sl_tflite_writer_io (writer, 2, inputs, 1, &y);
  return writer;
}

/* The last of four channels: the picture is the other three, wherever channels stand. */
static void
test_channel (void)
{
  static const gint32 shapes[][4] = { { 1, 2, 5, 4 }, { 1, 4, 2, 5 } };
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
    g_autoptr (GError) error = NULL;
    SlTfliteTensor tensor = { .name = "image", .dtype = SL_DTYPE_F32, .rank = 4 };
    memcpy (tensor.dims, shapes[i], sizeof shapes[i]);
    const gint32 x = sl_tflite_writer_tensor (writer, &tensor),
                 y = sl_tflite_writer_tensor (writer, &tensor);
    sl_tflite_writer_op (
      writer,
      &(SlTfliteOp){
        .op = SL_OP_NEG, .n_inputs = 1, .inputs = { x }, .n_outputs = 1, .outputs = { y } });
    sl_tflite_writer_io (writer, 1, &x, 1, &y);
    static const char *const lines[] = { "0[3]=0.25", "image[3]=0.25" };
    g_autofree char *info = g_strdup_printf (
      "[modelinfo]\nversion=1.0\n[sightline]\nfixed-inputs=%s\nmean=0\nstd=255\n", lines[i]);
    g_autoptr (SlModel) model = load_with_info (writer, info, NULL, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    g_assert_true (contract->image.valid);
    g_assert_cmpint (contract->image.width, ==, 5);
    g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
    g_assert_no_error (error);
    _Alignas(SL_TENSOR_ALIGN) gfloat numbers[30 + SL_TENSOR_PADDING / sizeof (gfloat)],
      out[40 + SL_TENSOR_PADDING / sizeof (gfloat)];
    for (guint k = 0; k < 30; k++)
      numbers[k] = (gfloat) (k + 1);
    g_assert_cmpint (
      sl_session_run (session, (const void *const[]){ numbers }, (void *const[]){ out }), ==,
      SL_STATUS_OK);
    for (guint k = 0, given = 0; k < 40; k++) {
      const gboolean fixed = i == 0 ? k % 4 == 3 : k >= 30;
      g_assert_cmpfloat (out[k], ==, fixed ? -0.25f : -numbers[given]);
      given += fixed ? 0 : 1;
    }
  }
  static const gint32 three[] = { 1, 2, 2, 3 };
  g_autoptr (SlGraph) graph = new_graph (SL_DTYPE_F32, 4, three, 0, 0);
  refuse ("0[3]=1", graph, SL_ERROR_SHAPE, "its channel [3]; expected an input of 4 channels");
  refuse ("2[3]=1", graph, SL_ERROR_ARGUMENT, "no input '2[3]'");
  static const gint32 four[] = { 1, 2, 2, 4 };
  g_autoptr (SlGraph) empty = new_graph (SL_DTYPE_F32, 4, four, 0, 0);
  refuse ("1[3]=1", empty, SL_ERROR_SHAPE, "which Sightline's own backend fixes alone");
}

/* A key file may describe every tensor, the fixed one too; its value stands among what the model
 * was made of. */
static void
test_key_file (void)
{
  static const char *const values[] = { "0=0.5", "style=0.50", "0=0.75" };
  guint64 hashes[3];
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *info = g_strdup_printf (
      "[modelinfo]\nversion=1.0\n[sightline]\nfixed-inputs=%s\n[style]\ndir=input\n[picture]\n"
      "dir=input\n"
      "[y]\ndir=output\n",
      values[i]);
    g_autoptr (SlTfliteWriter) writer = sum_model ();
    g_autoptr (SlModel) model = load_with_info (writer, info, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_graph_n_inputs (sl_model_graph (model)), ==, 1);
    g_assert_cmpstr (sl_graph_input_tensor (sl_model_graph (model), 0)->name, ==, "picture");
    const SlDataFile *file =
      g_hash_table_lookup (sl_model_data_files (model), SL_DATA_FIXED_INPUTS);
    g_assert_nonnull (file);
    hashes[i] = file->hash;
    g_assert_cmpuint (file->bytes, ==, 16);
  }
  g_assert_cmpuint (hashes[0], ==, hashes[1]);
  g_assert_cmpuint (hashes[0], !=, hashes[2]);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = sum_model ();
  g_assert_null (load_with_info (
    writer, "[modelinfo]\nversion=1.0\n[sightline]\nfixed-inputs=0=1\n[other]\ndir=input\n", NULL,
    &error));
  expect_error (
    &error, SL_ERROR_CONTRACT,
    "[other]: the model has no input of that name; it has 'picture' (input), 'y' (output)", NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fixed_inputs/numbers", test_numbers);
  g_test_add_func ("/fixed_inputs/lists", test_lists);
  g_test_add_func ("/fixed_inputs/files", test_files);
  g_test_add_func ("/fixed_inputs/refused", test_refused);
  g_test_add_func ("/fixed_inputs/metadata", test_metadata);
  g_test_add_func ("/fixed_inputs/channel", test_channel);
  g_test_add_func ("/fixed_inputs/key-file", test_key_file);
  return g_test_run ();
}
