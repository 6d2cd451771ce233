/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the TFLite reader says about models it refuses: what is wrong, where, and what to do. */
#include <math.h>
#include <string.h>

#include "models/tflite/flatbuffer.h"
#include "models/tflite/schema.h"
#include "tests/models/helpers.h"
#include "tests/models/tiny.h"
#include "models/tflite/flatbuffer_writer.h"
#include "tests/support/program.h"

static SlGraph *
read_bytes (GBytes *bytes, GError **error)
{
  SlModelMetadata metadata = { 0 };
  g_autoptr (SlGraph) graph = sl_graph_new (bytes);
  const gboolean good =
    sl_reader_tflite.read (bytes, &(SlReaderSource){ .path = "memory" }, graph, &metadata, error);
  g_assert_true (good == (*error == NULL));
  sl_model_metadata_clear (&metadata);
  return good ? g_steal_pointer (&graph) : NULL;
}

static gint32
add_edge (SlTfliteWriter *writer, const char *name)
{
  return sl_tflite_writer_tensor (
    writer, &(SlTfliteTensor){ .name = name, .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 4 } });
}

/* A model of @n nodes RELU between "x" and "y", the last of them replaced by @last when not NULL.
 */
static SlTfliteWriter *
chain (guint n, const SlTfliteOp *last)
{
  SlTfliteWriter *writer = sl_tflite_writer_new ();
  const gint32 x = add_edge (writer, "x");
  gint32 from = x;
  for (guint i = 0; i < n; i++) {
    const gint32 to = add_edge (writer, i + 1 == n ? "y" : "between");
    SlTfliteOp op = { .op = SL_OP_RELU };
    if (i + 1 == n && last != NULL)
      op = *last;
    op.n_inputs = op.n_outputs = 1;
    op.inputs[0] = from;
    op.outputs[0] = to;
    sl_tflite_writer_op (writer, &op);
    from = to;
  }
  sl_tflite_writer_io (writer, 1, &x, 1, &from);
  return writer;
}

static void
test_operators (void)
{
  static const struct
  {
    SlTfliteOp op;
    const char *text;
  } rows[] = {
    { { .builtin = 33 },
      "op 33 EMBEDDING_LOOKUP_SPARSE at node 12 'y': not supported; convert the model without it: "
      "'sightline inspect --operators' lists what runs" },
    { { .builtin = 9999 },
      "op 9999 UNKNOWN at node 12 'y': not supported; convert the model without it" },
    { { .builtin = 131 }, "op 131 RFFT2D at node 12 'y': not supported; " },
    { { .custom = "FlexErf" },
      "custom op 'FlexErf' at node 12 'y': it is TensorFlow's own operator Erf (SELECT_TF_OPS), "
      "which needs TensorFlow to run; convert the model with TFLITE_BUILTINS alone, and replace in "
      "it what the converter then refuses" },
    { { .custom = "Unpool" },
      "custom op 'Unpool' at node 12 'y': not supported: custom operators belong to the program "
      "that the model was made for; convert the model to built-in ones" },
    { { .custom = "bad\x01\xffname" },
      "custom op 'bad?\xef\xbf\xbdname' at node 12 'y': not supported" },
    { { .custom = "edgetpu-custom-op" },
      "custom op 'edgetpu-custom-op' at node 12 'y': the file was compiled for the Edge TPU and "
      "runs only there; take the file that edgetpu_compiler was given, whose name usually lacks "
      "_edgetpu" },
    { { .custom = "ethos-u" },
      "custom op 'ethos-u' at node 12 'y': the file was compiled for Ethos-U and runs only there; "
      "take the file that Vela was given, whose name usually lacks _vela" },
    { { .builtin = 118 },
      "op 118 IF at node 12 'y': control flow, which runs further subgraphs, is not supported; "
      "export the model without loops, conditions and calls" },
    { { .builtin = 119 }, "op 119 WHILE at node 12 'y': control flow, " },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlTfliteWriter) writer = chain (13, &rows[i].op);
    g_autoptr (GError) error = NULL;
    g_assert_null (read_graph (writer, NULL, &error));
    expect_error (&error, SL_ERROR_UNSUPPORTED, rows[i].text, NULL);
  }
}

/* A row of operators that do not run. */
static void
refuse_all (const SlTfliteOp *others, guint n, const char *text)
{
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  g_autoptr (GError) error = NULL;
  const gint32 x = add_edge (writer, "x");
  gint32 from = x;
  for (guint i = 0; i < n; i++) {
    SlTfliteOp op = others[i];
    op.n_inputs = op.n_outputs = 1;
    op.inputs[0] = from;
    from = op.outputs[0] = add_edge (writer, "t");
    sl_tflite_writer_op (writer, &op);
  }
  sl_tflite_writer_io (writer, 1, &x, 1, &from);
  g_assert_null (read_graph (writer, NULL, &error));
  expect_error (&error, SL_ERROR_UNSUPPORTED, text, NULL);
}

/* The first is told with its place, the others with their names, each once; what a compiler left
 * stands for the whole file. */
static void
test_several_operators (void)
{
  static const SlTfliteOp some[] = {
    { .builtin = 27 }, { .builtin = 7 }, { .builtin = 27 }, { .custom = "Mine" }
  };
  static const SlTfliteOp rest[] = { { .builtin = 27 }, { .custom = "ethos-u" } };
  refuse_all (some, G_N_ELEMENTS (some),
              "op 27 SVDF at node 0 't' (nor EMBEDDING_LOOKUP, Mine): not supported; convert");
  refuse_all (rest, G_N_ELEMENTS (rest),
              "custom op 'ethos-u' at node 1 't' (nor SVDF): the file was compiled for Ethos-U");
  g_autofree SlTfliteOp *many = g_new0 (SlTfliteOp, 40);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < 40; i++) {
    g_ptr_array_add (names, g_strdup_printf ("an_operator_with_a_long_name_%02u", i));
    many[i].custom = names->pdata[i];
  }
  refuse_all (many, 40,
              "an_operator_with_a_long_name_13, ...): not supported: custom operators belong");
}

static void
test_structure (void)
{
  static const struct
  {
    SlTfliteQuirks quirks;
    SlError code;
    const char *text;
  } rows[] = {
    { { .version = 2 }, SL_ERROR_UNSUPPORTED, "TensorFlow Lite schema version 2; expected 3" },
    { { .version = 0x80000000 }, SL_ERROR_UNSUPPORTED, "schema version -2147483648; expected 3" },
    { { .no_subgraph = TRUE }, SL_ERROR_FORMAT, "the model has no subgraph; expected at least 1" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlTfliteWriter) writer = chain (1, NULL);
    g_autoptr (GError) error = NULL;
    sl_tflite_writer_set_quirks (writer, &rows[i].quirks);
    g_assert_null (read_graph (writer, NULL, &error));
    expect_error (&error, rows[i].code, rows[i].text, NULL);
  }
}

/* Reads a model with the tensor as an operand of an ADD. */
static void
expect_bad_tensor (const SlTfliteTensor *tensor, SlError code, const char *text, const char *more)
{
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  g_autoptr (GError) error = NULL;
  const gint32 x = add_edge (writer, "x"), t = sl_tflite_writer_tensor (writer, tensor),
               y = add_edge (writer, "y");
  sl_tflite_writer_op (
    writer,
    &(SlTfliteOp){
      .op = SL_OP_ADD, .n_inputs = 2, .inputs = { x, t }, .n_outputs = 1, .outputs = { y } });
  sl_tflite_writer_io (writer, 1, &x, 1, &y);
  g_assert_null (read_graph (writer, NULL, &error));
  expect_error (&error, code, "tensor 1 'bad': ", text, more, NULL);
}

static void
test_types (void)
{
  static const struct
  {
    SlTfliteTensor tensor;
    const char *text;
  } rows[] = {
    { { .raw_type = SL_TFLITE_TYPE_STRING }, "element type 5 STRING is not supported" },
    { { .raw_type = SL_TFLITE_TYPE_COMPLEX64 }, "element type 8 COMPLEX64 is not supported" },
    { { .raw_type = SL_TFLITE_TYPE_INT4 }, "element type 17 INT4 is not supported" },
    { { .raw_type = 200 }, "element type 200 UNKNOWN is not supported" },
    { { .dtype = SL_DTYPE_F32, .variable = TRUE },
      "variable tensors (state kept between frames) are not supported" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlTfliteTensor tensor = rows[i].tensor;
    tensor.name = "bad";
    tensor.rank = 1;
    tensor.dims[0] = 4;
    expect_bad_tensor (&tensor, SL_ERROR_UNSUPPORTED, rows[i].text, NULL);
  }
}

static void
test_quantisation (void)
{
  static const gfloat scales[] = { 0.5f, 0.25f, 2.0f, 1.0f }, negative[] = { 0.5f, -1.0f },
                      zero[] = { 0.5f, 0.0f };
  static const gfloat infinite[] = { 0.5f, INFINITY }, nan[] = { NAN, 1.0f };
  static const gint64 far[] = { 0, G_MAXINT64 };
  static const struct
  {
    SlTfliteTensor tensor;
    const char *text;
  } rows[] = {
    { { .dtype = SL_DTYPE_I8, .n_scales = 2, .scales = negative },
      "scale 1 is -1; expected a finite number above 0" },
    { { .dtype = SL_DTYPE_I8, .n_scales = 2, .scales = zero },
      "scale 1 is 0; expected a finite number above 0" },
    { { .dtype = SL_DTYPE_I8, .n_scales = 2, .scales = infinite },
      "scale 1 is inf; expected a finite number above 0" },
    { { .dtype = SL_DTYPE_I8, .n_scales = 2, .scales = nan },
      "nan; expected a finite number above 0" },
    { { .dtype = SL_DTYPE_I8, .scale = 1, .zero_point = 128 },
      "zero point 0 is 128; expected -128..127 for int8" },
    { { .dtype = SL_DTYPE_U8, .scale = 1, .zero_point = -1 },
      "zero point 0 is -1; expected 0..255 for uint8" },
    { { .dtype = SL_DTYPE_U8, .n_scales = 2, .scales = scales, .zero_points = far },
      "zero point 1 is 9223372036854775807; expected 0..255 for uint8" },
    { { .dtype = SL_DTYPE_I8, .n_scales = 3, .scales = scales },
      "3 scales and 3 zero points do not fit int8[2,4,4]; expected 1 or one a channel" },
    { { .dtype = SL_DTYPE_I8, .n_scales = 4, .scales = scales, .axis = 7 },
      "4 scales and 4 zero points do not fit int8[2,4,4]" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlTfliteTensor tensor = rows[i].tensor;
    tensor.name = "bad";
    tensor.rank = 3;
    tensor.dims[0] = 2;
    tensor.dims[1] = tensor.dims[2] = 4;
    expect_bad_tensor (&tensor, SL_ERROR_FORMAT, rows[i].text, NULL);
  }
}

static void
test_constants (void)
{
  static const gfloat data[32] = { 1 };
  expect_bad_tensor (&(SlTfliteTensor){ .name = "bad",
                                        .dtype = SL_DTYPE_F32,
                                        .rank = 2,
                                        .dims = { 2, 4 },
                                        .data = data,
                                        .bytes = 31 },
                     SL_ERROR_FORMAT, "the file has 31 bytes of data for float32[2,4]", NULL);
  expect_bad_tensor (&(SlTfliteTensor){ .name = "bad",
                                        .dtype = SL_DTYPE_F32,
                                        .rank = 2,
                                        .dims = { 2, -1 },
                                        .data = data,
                                        .bytes = 32 },
                     SL_ERROR_FORMAT, "the file has 32 bytes of data for float32[2,-1]", NULL);
  expect_bad_tensor (
    &(SlTfliteTensor){
      .name = "bad", .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 0 }, .data = data, .bytes = 4 },
    SL_ERROR_FORMAT, "the file has 4 bytes of data for float32[0]", NULL);
  expect_bad_tensor (&(SlTfliteTensor){ .name = "bad",
                                        .dtype = SL_DTYPE_F32,
                                        .rank = 5,
                                        .data = data,
                                        .bytes = 4,
                                        .dims = { 65536, 65536, 65536, 65536, 65536 } },
                     SL_ERROR_FORMAT,
                     "the file has 4 bytes of data for float32[65536,65536,65536,65536,65536]",
                     NULL);
}

/* Shapes that no frame can have, through to the prepared graph. */
static void
test_shapes (void)
{
  static const gint32 dynamic[] = { -1, -1, -1, 3 };
  static const struct
  {
    SlTfliteTensor tensor;
    SlError code;
    const char *text;
  } rows[] = {
    { { .dims = { 1, -1, 4, 3 } },
      SL_ERROR_UNSUPPORTED,
      "input 'image' is float32[1,-1,4,3]: dynamic or empty shapes are not supported" },
    { { .dims = { 1, 0, 4, 3 } },
      SL_ERROR_UNSUPPORTED,
      "float32[1,0,4,3]: dynamic or empty shapes are not supported; export the model" },
    { { .dims = { 1, 40000, 40000, 3 } },
      SL_ERROR_LIMIT,
      "float32[1,40000,40000,3]: over the limit of 1073741824 bytes" },
    { { .dims = { 65536, 65536, 256, 1 } }, SL_ERROR_LIMIT, "over the limit of 1073741824 bytes" },
    { { .dims = { G_MAXINT32, G_MAXINT32, G_MAXINT32, 3 } },
      SL_ERROR_LIMIT,
      "over the limit of 1073741824 bytes" },
    { { .dims = { 1, 1, 1, 3 }, .signature = dynamic },
      SL_ERROR_SHAPE,
      "tensor 0 'image': its size is not fixed, float32[?,?,?,3]; state it, for example as "
      "input-shape=1,224,224,3: property of slinfer, option --input-shape of the program, or line "
      "under [sightline] of the model's .modelinfo" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
    g_autoptr (GError) error = NULL;
    SlTfliteTensor tensor = rows[i].tensor;
    tensor.name = "image";
    tensor.dtype = SL_DTYPE_F32;
    tensor.rank = 4;
    const gint32 x = sl_tflite_writer_tensor (writer, &tensor), y = add_edge (writer, "y");
    sl_tflite_writer_op (
      writer,
      &(SlTfliteOp){
        .op = SL_OP_RELU, .n_inputs = 1, .inputs = { x }, .n_outputs = 1, .outputs = { y } });
    sl_tflite_writer_io (writer, 1, &x, 1, &y);
    g_assert_null (load_with_info (writer, NULL, NULL, &error));
    expect_error (&error, rows[i].code, rows[i].text, NULL);
  }
}

/* A batch that may vary is fine: it is 1 where the shape says so. */
static void
test_dynamic_batch (void)
{
  static const gint32 dims[] = { 1, 4, 4, 3 }, signature[] = { -1, 4, 4, 3 };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  g_autoptr (GError) error = NULL;
  SlTfliteTensor tensor = {
    .name = "image", .dtype = SL_DTYPE_F32, .rank = 4, .signature = signature
  };
  memcpy (tensor.dims, dims, sizeof dims);
  const gint32 x = sl_tflite_writer_tensor (writer, &tensor), y = add_edge (writer, "y");
  sl_tflite_writer_op (
    writer, &(SlTfliteOp){
              .op = SL_OP_RELU, .n_inputs = 1, .inputs = { x }, .n_outputs = 1, .outputs = { y } });
  sl_tflite_writer_io (writer, 1, &x, 1, &y);
  g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sl_model_contract (model)->image.width, ==, 4);
}

/* A picture's size that is open is that of the .modelinfo, as stated by an option; a stored one
 * serves where nothing is stated. */
static void
test_open_shape (void)
{
  static const struct
  {
    gint32 stored[4], signature[4];
    const char *stated; /* in the .modelinfo; NULL = nowhere */
    gint32 height;      /* of the picture; 0 = refused */
    const char *text;
  } rows[] = {
    { { 1, 1, 1, 3 }, { -1, -1, -1, 3 }, "1,6,8,3", 6, NULL },
    { { 1, 5, 8, 3 }, { -1, -1, 8, 3 }, "1,6,8,3", 6, NULL },
    { { 1, 5, 8, 3 }, { -1, -1, 8, 3 }, NULL, 5, NULL },
    { { 1, 1, 8, 3 },
      { 1, -1, 8, 3 },
      "1,6,9,3",
      0,
      "input-shape is '1,6,9,3', but it is float32[1,?,8,3]: expected as many whole numbers that "
      "fit" },
    { { 1, 1, 1, 3 },
      { 1, -1, -1, 3 },
      "6,8",
      0,
      "input-shape is '6,8', but it is float32[1,?,?,3]" },
    { { 1, 1, 1, 3 },
      { 1, -1, -1, 3 },
      "1,0,8,3",
      0,
      "input-shape is '1,0,8,3', but it is float32[1,?,?,3]" },
    { { 1, 1, 1, 3 },
      { 1, -1, -1, 3 },
      "1,1.5,8,3",
      0,
      "input-shape is '1,1.5,8,3', but it is float32[1,?,?,3]" },
    { { 1, 1, 1, 3 },
      { 1, -1, -1, 3 },
      "1,50000,50000,3",
      0,
      "over the limit of 1073741824 bytes" },
    { { 1, 4, 4, 3 }, { 1, 4, 4, 3 }, "1,6,8,3", 6, NULL },
    { { 1, 4, 4, 3 },
      { 1, 4, 4, 3 },
      "2,6,8,3",
      0,
      "a model of this format has the size that it was exported with" },
    { { 1, 4, 4, 3 },
      { 1, 4, 4, 3 },
      "1,6,8,4",
      0,
      "a model of this format has the size that it was exported with" },
    { { 1, 4, 4, 3 },
      { 1, 4, 4, 3 },
      "1,6.5,8,3",
      0,
      "a model of this format has the size that it was exported with" },
    { { 1, 4, 4, 3 },
      { 1, 4, 4, 3 },
      "1,50000,50000,3",
      0,
      "with input-shape=1,50000,50000,3: input 'image' is" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
    g_autoptr (GError) error = NULL;
    g_autofree char *info =
      rows[i].stated == NULL
        ? NULL
        : g_strdup_printf ("[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\ninput-shape=%s\n",
                           rows[i].stated);
    SlTfliteTensor tensor = {
      .name = "image", .dtype = SL_DTYPE_F32, .rank = 4, .signature = rows[i].signature
    };
    memcpy (tensor.dims, rows[i].stored, sizeof rows[i].stored);
    const gint32 x = sl_tflite_writer_tensor (writer, &tensor),
                 y = sl_tflite_writer_tensor (writer, &tensor);
    sl_tflite_writer_op (
      writer,
      &(SlTfliteOp){
        .op = SL_OP_RELU, .n_inputs = 1, .inputs = { x }, .n_outputs = 1, .outputs = { y } });
    sl_tflite_writer_io (writer, 1, &x, 1, &y);
    g_autoptr (SlModel) model = load_with_info (writer, info, NULL, &error);
    if (rows[i].height == 0) {
      g_assert_null (model);
      g_assert_nonnull (strstr (error->message, rows[i].text));
      continue;
    }
    g_assert_no_error (error);
    g_assert_cmpint (sl_model_contract (model)->image.height, ==, rows[i].height);
    g_assert_cmpint (sl_graph_output_tensor (sl_model_graph (model), 0)->dims[1], ==,
                     rows[i].height);
  }
}

/* A model made by hand of tables, for what the writer cannot write: one RELU of code 19. */
typedef struct
{
  gint32 input, output, model_input, model_output, code, buffer, rank, options_type;
  guint n_model_inputs, n_inputs, n_scales, n_zeros;
  guint8 details;
  guint64 offset, size;
} Raw;

static const Raw plain = {
  .output = 1, .model_output = 1, .n_model_inputs = 1, .n_inputs = 1, .rank = 1
};

static FbNode *
repeat (FbWriter *fb, gint32 value, guint n)
{
  gint32 values[512];
  for (guint i = 0; i < n; i++)
    values[i] = value;
  return fb_vector (fb, values, n, 4, 4, 0);
}

/* Scales of 1 for an int8 tensor, and as many zero points as asked for. */
static FbNode *
raw_quantisation (FbWriter *fb, const Raw *raw)
{
  static const gint64 zeros[8] = { 0 };
  FbNode *quantisation = fb_table (fb);
  fb_ref (quantisation, TFL_QUANT_SCALE, repeat (fb, 0x3f800000, raw->n_scales));
  fb_ref (quantisation, TFL_QUANT_ZERO_POINT, fb_vector (fb, zeros, raw->n_zeros, 8, 8, 0));
  if (raw->details != 0)
    fb_u8 (quantisation, TFL_QUANT_DETAILS_TYPE, raw->details);
  return quantisation;
}

static FbNode *
raw_subgraph (FbWriter *fb, const Raw *raw)
{
  FbNode *tensors = fb_refs (fb), *operators = fb_refs (fb), *subgraph = fb_table (fb),
         *node = fb_table (fb);
  for (guint i = 0; i < 2; i++) {
    FbNode *tensor = fb_table (fb);
    fb_ref (tensor, TFL_TENSOR_SHAPE, repeat (fb, 4, i == 0 ? (guint) raw->rank : 1));
    fb_ref (tensor, TFL_TENSOR_NAME, fb_string (fb, i == 0 ? "x" : "y"));
    fb_i32 (tensor, TFL_TENSOR_BUFFER, i == 0 ? raw->buffer : 0);
    if (raw->n_scales > 0) {
      fb_u8 (tensor, TFL_TENSOR_TYPE, 9);
      fb_ref (tensor, TFL_TENSOR_QUANTISATION, raw_quantisation (fb, raw));
    }
    fb_push (tensors, tensor);
  }
  fb_i32 (node, TFL_OPERATOR_CODE, raw->code);
  fb_ref (node, TFL_OPERATOR_INPUTS, repeat (fb, raw->input, raw->n_inputs));
  fb_ref (node, TFL_OPERATOR_OUTPUTS, repeat (fb, raw->output, 1));
  if (raw->options_type != 0) {
    fb_u8 (node, TFL_OPERATOR_OPTIONS_TYPE, (guint8) raw->options_type);
    fb_ref (node, TFL_OPERATOR_OPTIONS, fb_table (fb));
  }
  fb_push (operators, node);
  fb_ref (subgraph, TFL_SUBGRAPH_TENSORS, tensors);
  fb_ref (subgraph, TFL_SUBGRAPH_INPUTS, repeat (fb, raw->model_input, raw->n_model_inputs));
  fb_ref (subgraph, TFL_SUBGRAPH_OUTPUTS, repeat (fb, raw->model_output, 1));
  fb_ref (subgraph, TFL_SUBGRAPH_OPERATORS, operators);
  return subgraph;
}

static GBytes *
raw_model (const Raw *raw)
{
  g_autoptr (FbWriter) fb = fb_writer_new ();
  FbNode *model = fb_table (fb), *codes = fb_refs (fb), *subgraphs = fb_refs (fb),
         *buffers = fb_refs (fb);
  static const gint32 builtins[] = { 19, 25 };
  for (guint i = 0; i < G_N_ELEMENTS (builtins); i++) {
    FbNode *code = fb_table (fb);
    fb_i32 (code, TFL_CODE_BUILTIN, builtins[i]);
    fb_push (codes, code);
  }
  fb_push (subgraphs, raw_subgraph (fb, raw));
  fb_push (buffers, fb_table (fb));
  FbNode *outside = fb_table (fb);
  fb_u64 (outside, TFL_BUFFER_OFFSET, raw->offset);
  fb_u64 (outside, TFL_BUFFER_SIZE, raw->size);
  fb_push (buffers, outside);
  fb_i32 (model, TFL_MODEL_VERSION, TFL_VERSION);
  fb_ref (model, TFL_MODEL_OPERATOR_CODES, codes);
  fb_ref (model, TFL_MODEL_SUBGRAPHS, subgraphs);
  fb_ref (model, TFL_MODEL_BUFFERS, buffers);
  g_autoptr (GByteArray) bytes = fb_finish (fb, model, TFL_IDENTIFIER);
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

static void
expect_bad_raw (Raw raw, SlError code, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = raw_model (&raw);
  g_assert_null (read_bytes (bytes, &error));
  expect_error (&error, code, text, NULL);
}

static void
test_raw (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = raw_model (&plain);
  g_autoptr (SlGraph) graph = read_bytes (bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_graph_n_nodes (graph), ==, 1);
  Raw raw = plain;
  raw.input = 2;
  expect_bad_raw (raw, SL_ERROR_FORMAT, "node 0: input 0 is tensor 2; the model has 2 tensors");
  raw.input = -2;
  expect_bad_raw (raw, SL_ERROR_FORMAT, "node 0: input 0 is tensor -2; the model has 2 tensors");
  raw = plain, raw.output = -1;
  expect_bad_raw (raw, SL_ERROR_FORMAT, "node 0: output 0 is tensor -1; the model has 2 tensors");
  raw = plain, raw.model_input = 7;
  expect_bad_raw (raw, SL_ERROR_FORMAT, "model input 0 is tensor 7; the model has 2 tensors");
  raw = plain, raw.model_output = -1;
  expect_bad_raw (raw, SL_ERROR_FORMAT, "model output 0 is tensor -1; the model has 2 tensors");
  raw = plain, raw.n_model_inputs = SL_MAX_IO + 1;
  expect_bad_raw (raw, SL_ERROR_LIMIT,
                  "the model has 65 inputs and 1 outputs; expected 1 to 64 of each");
  raw = plain, raw.n_model_inputs = 0;
  expect_bad_raw (raw, SL_ERROR_LIMIT,
                  "the model has 0 inputs and 1 outputs; expected 1 to 64 of each");
  raw = plain, raw.code = 2;
  expect_bad_raw (
    raw, SL_ERROR_FORMAT,
    "node 0 has operator code 2, 1 inputs and 1 outputs; expected a code below 2 and at most 256");
  raw = plain, raw.n_inputs = 257;
  expect_bad_raw (
    raw, SL_ERROR_FORMAT,
    "node 0 has operator code 0, 257 inputs and 1 outputs; expected a code below 2 and at most "
    "256");
  raw = plain, raw.n_inputs = 3;
  expect_bad_raw (raw, SL_ERROR_FORMAT,
                  "node 0 RELU: expected 1 to 1 inputs and 1 outputs, got 3 and 1");
  raw = plain, raw.rank = 9;
  expect_bad_raw (raw, SL_ERROR_LIMIT, "tensor 0 'x': 9 dimensions; at most 8 are supported");
  raw = plain, raw.buffer = 2;
  expect_bad_raw (raw, SL_ERROR_FORMAT, "tensor 0 'x': buffer 2 does not exist; the file has 2");
  raw = plain, raw.buffer = 1, raw.offset = 1000000, raw.size = 16;
  expect_bad_raw (raw, SL_ERROR_FORMAT,
                  "tensor 0 'x': buffer 1 lies at byte 1000000 with 16 bytes; the file ends at");
  raw = plain, raw.buffer = 1, raw.offset = 16, raw.size = G_MAXUINT64;
  expect_bad_raw (raw, SL_ERROR_FORMAT,
                  "buffer 1 lies at byte 16 with 18446744073709551615 bytes; the file ends at");
  raw = plain, raw.n_scales = 1, raw.details = 1;
  expect_bad_raw (
    raw, SL_ERROR_UNSUPPORTED,
    "tensor 0 'x': custom quantisation is not supported; expected scales and zero points");
  raw = plain, raw.n_scales = 4, raw.n_zeros = 3;
  expect_bad_raw (
    raw, SL_ERROR_FORMAT,
    "tensor 0 'x': 4 scales and 3 zero points do not fit int8[4]; expected 1 or one a channel");
  raw = plain, raw.code = 1, raw.options_type = 3;
  expect_bad_raw (raw, SL_ERROR_FORMAT,
                  "node 0 SOFTMAX 'y': its options are of type 3; expected 9");
}

/* Options outside the schema, told with the node they are in. */
static void
test_options (void)
{
  g_autoptr (SlTfliteWriter) writer =
    chain (2, &(SlTfliteOp){ .op = SL_OP_SOFTMAX, .params.softmax.beta = INFINITY });
  g_autoptr (GError) error = NULL;
  g_assert_null (read_graph (writer, NULL, &error));
  expect_error (&error, SL_ERROR_FORMAT, "node 1 SOFTMAX 'y': option beta is not finite", NULL);
  g_autoptr (SlTfliteWriter) detector = tiny_detector (0);
  g_assert_null (read_graph (detector, NULL, &error));
  expect_error (
    &error, SL_ERROR_FORMAT,
    "node 1 TFLite_Detection_PostProcess 'locations': custom option num_classes is 0; expected a "
    "whole",
    NULL);
}

/* Many tensors that share one long name, which the file holds once. */
static void
test_amplification (void)
{
  enum
  {
    TENSORS = 20000
  };
  g_autoptr (FbWriter) fb = fb_writer_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strnfill (3000, 'n');
  FbNode *model = fb_table (fb), *subgraphs = fb_refs (fb), *subgraph = fb_table (fb),
         *tensors = fb_refs (fb), *shared = fb_table (fb);
  fb_ref (shared, TFL_TENSOR_NAME, fb_string (fb, text));
  fb_push (tensors, shared);
  for (guint i = 1; i < TENSORS; i++)
    fb_push (tensors, fb_table (fb));
  fb_ref (subgraph, TFL_SUBGRAPH_TENSORS, tensors);
  fb_push (subgraphs, subgraph);
  fb_i32 (model, TFL_MODEL_VERSION, TFL_VERSION);
  fb_ref (model, TFL_MODEL_SUBGRAPHS, subgraphs);
  g_autoptr (GByteArray) bytes = fb_finish (fb, model, TFL_IDENTIFIER);
  /* Every entry of the list is made to lead to the first table. */
  SlFlatBuffer cursor;
  sl_fb_init (&cursor, bytes->data, bytes->len);
  const SlFbTable root = sl_fb_root (&cursor);
  const SlFbVector list = sl_fb_vector (&root, TFL_MODEL_SUBGRAPHS, 4);
  const SlFbTable first = sl_fb_vector_table (&list, 0);
  const SlFbVector entries = sl_fb_vector (&first, TFL_SUBGRAPH_TENSORS, 4);
  const SlFbTable table = sl_fb_vector_table (&entries, 0);
  for (guint i = 0; i < TENSORS; i++) {
    const guint32 offset = GUINT32_TO_LE ((guint32) (table.at - (entries.at + (gsize) i * 4)));
    memcpy (bytes->data + entries.at + (gsize) i * 4, &offset, sizeof offset);
  }
  g_autoptr (GBytes) file = g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
  g_assert_null (read_bytes (file, &error));
  expect_error (&error, SL_ERROR_LIMIT,
                "names and quantisation of the tensors are larger than the file that holds them",
                NULL);
}

/* A list whose length is beyond every limit costs nothing but a message. */
static void
test_counts (void)
{
  static const struct
  {
    guint tensors, codes;
    const char *text;
  } rows[] = { { 65537, 0,
                 "the model has 65537 tensors and 0 nodes; at most 65536 and 65536 are read" },
               { 0, 4097, "the model has 4097 operator codes; at most 4096 are read" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FbWriter) fb = fb_writer_new ();
    g_autoptr (GError) error = NULL;
    FbNode *model = fb_table (fb), *subgraphs = fb_refs (fb), *subgraph = fb_table (fb);
    g_autofree guint32 *zeros = g_new0 (guint32, 70000);
    fb_ref (subgraph, TFL_SUBGRAPH_TENSORS, fb_vector (fb, zeros, rows[i].tensors, 4, 4, 0));
    fb_push (subgraphs, subgraph);
    fb_i32 (model, TFL_MODEL_VERSION, TFL_VERSION);
    fb_ref (model, TFL_MODEL_SUBGRAPHS, subgraphs);
    fb_ref (model, TFL_MODEL_OPERATOR_CODES, fb_vector (fb, zeros, rows[i].codes, 4, 4, 0));
    g_autoptr (GByteArray) bytes = fb_finish (fb, model, TFL_IDENTIFIER);
    g_autoptr (GBytes) file = g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
    g_assert_null (read_bytes (file, &error));
    expect_error (&error, SL_ERROR_LIMIT, rows[i].text, NULL);
  }
}

/* Every prefix of a model is refused as damaged, or, where only trailing weights are gone, still
 * read. */
static void
test_truncation (void)
{
  SlTfliteWriter *const writers[] = { tiny_classifier (), tiny_channels (), tiny_float (),
                                      tiny_detector (2) };
  for (guint i = 0; i < G_N_ELEMENTS (writers); i++) {
    g_autoptr (GBytes) bytes = sl_tflite_writer_finish (writers[i]);
    const gsize size = g_bytes_get_size (bytes);
    guint refused = 0;
    for (gsize length = 0; length < size; length++) {
      g_autoptr (GError) error = NULL;
      /* An exact copy, so that a sanitizer sees reads behind its end. */
      g_autoptr (GBytes) part = g_bytes_new (g_bytes_get_data (bytes, NULL), length);
      g_autoptr (SlGraph) graph = read_bytes (part, &error);
      if (graph != NULL)
        continue;
      refused++;
      g_assert_true (error->code == SL_ERROR_FORMAT || error->code == SL_ERROR_UNSUPPORTED);
      if (length < 8)
        expect_error (&error, SL_ERROR_FORMAT,
                      "the FlatBuffer is damaged or truncated: at byte 0 of ",
                      "the file ends before its first table; get a new copy of the file", NULL);
    }
    g_assert_cmpuint (refused, >, size / 2);
    sl_tflite_writer_free (writers[i]);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tflite-errors/operators", test_operators);
  g_test_add_func ("/tflite-errors/several-operators", test_several_operators);
  g_test_add_func ("/tflite-errors/structure", test_structure);
  g_test_add_func ("/tflite-errors/types", test_types);
  g_test_add_func ("/tflite-errors/quantisation", test_quantisation);
  g_test_add_func ("/tflite-errors/constants", test_constants);
  g_test_add_func ("/tflite-errors/shapes", test_shapes);
  g_test_add_func ("/tflite-errors/dynamic-batch", test_dynamic_batch);
  g_test_add_func ("/tflite-errors/open-shape", test_open_shape);
  g_test_add_func ("/tflite-errors/raw", test_raw);
  g_test_add_func ("/tflite-errors/options", test_options);
  g_test_add_func ("/tflite-errors/amplification", test_amplification);
  g_test_add_func ("/tflite-errors/counts", test_counts);
  g_test_add_func ("/tflite-errors/truncation", test_truncation);
  return g_test_run ();
}
