/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every operator refuses, and how it says so: what, where, expected and got. */
#include "tests/ops/opmodel.h"

typedef enum
{
  END,
  VARIABLE,
  INTS /* a constant int32 of rank 1: @rank values in @dims */
} Kind;

typedef struct
{
  SlOpType op;
  struct
  {
    Kind kind;
    SlDtype dtype;
    guint rank;
    gint32 dims[8];
    gfloat scale;
  } in[18];
  SlDtype out;
  gfloat out_scale;
  guint n_out;
  const char *text;
  SlOpParams params;
} Row;

#define F32(...)                                                   \
  {                                                                \
    VARIABLE, SL_DTYPE_F32, RANK (__VA_ARGS__), { __VA_ARGS__ }, 0 \
  }
#define I32(...)                                                   \
  {                                                                \
    VARIABLE, SL_DTYPE_I32, RANK (__VA_ARGS__), { __VA_ARGS__ }, 0 \
  }
#define U8(...)                                                      \
  {                                                                  \
    VARIABLE, SL_DTYPE_U8, RANK (__VA_ARGS__), { __VA_ARGS__ }, 0.5f \
  }
#define BYTES(...)                                                \
  {                                                               \
    VARIABLE, SL_DTYPE_U8, RANK (__VA_ARGS__), { __VA_ARGS__ }, 0 \
  }
#define CONSTANT(...)                                          \
  {                                                            \
    INTS, SL_DTYPE_I32, RANK (__VA_ARGS__), { __VA_ARGS__ }, 0 \
  }

static const Row rows[] = {
  { SL_OP_DIV, { F32 (2, 3), F32 (3, 2) }, SL_DTYPE_F32, 0, 1, "float32[2,3] and float32[3,2] do not broadcast", { { 0 } } },
  { SL_OP_DIV, { F32 (2), I32 (2) }, SL_DTYPE_F32, 0, 1, "is float32 but 't' is int32; expected the same type", { { 0 } } },
  { SL_OP_MAXIMUM, { BYTES (2), BYTES (2) }, SL_DTYPE_U8, 0, 1, "is uint8 with 0 scales; expected one scale", { { 0 } } },
  { SL_OP_EQUAL, { F32 (2), F32 (2) }, SL_DTYPE_F32, 0, 1, "output 't' is float32; supported: bool", { { 0 } } },
  { SL_OP_LOGICAL_AND, { F32 (2), F32 (2) }, SL_DTYPE_BOOL, 0, 1, "input 't' is float32; supported: bool", { { 0 } } },
  { SL_OP_SELECT, { F32 (2), F32 (2), F32 (2) }, SL_DTYPE_F32, 0, 1, "condition 't' is float32; supported: bool", { { 0 } } },
  { SL_OP_WHERE,
    { { VARIABLE, SL_DTYPE_BOOL, 1, { 4 }, 0 } },
    SL_DTYPE_I64,
    0,
    1,
    "so the number of results is not known before",
    { { 0 } } },
  { SL_OP_EXP, { I32 (2) }, SL_DTYPE_I32, 0, 1, "input 't' is int32; supported: float32, int8, uint8, int16", { { 0 } } },
  { SL_OP_LEAKY_RELU, { F32 (2) }, SL_DTYPE_F32, 0, 1, "alpha is not a finite number", { .leaky_relu = { (gfloat) G_MAXDOUBLE } } },
  { SL_OP_LOCAL_RESPONSE_NORMALIZATION,
    { F32 (2) },
    SL_DTYPE_F32,
    0,
    1,
    "radius is -1; expected 0 or more",
    { .local_response = { -1, -1 } } },
  { SL_OP_LOCAL_RESPONSE_NORMALIZATION,
    { F32 (2) },
    SL_DTYPE_F32,
    0,
    1,
    "bias, alpha or beta is not a finite number",
    { .local_response = { 1, 1, (gfloat) G_MAXDOUBLE } } },
  { SL_OP_LOCAL_RESPONSE_NORMALIZATION, { F32 () }, SL_DTYPE_F32, 0, 1, "input is a scalar; expected at least one dimension" },
  { SL_OP_SUM, { F32 (2, 3), CONSTANT (2) }, SL_DTYPE_F32, 0, 1, "axis 2 is outside a tensor of 2 dimensions", { { 0 } } },
  { SL_OP_SUM, { F32 (2, 3), I32 (1) }, SL_DTYPE_F32, 0, 1, "the axes must be a constant", { { 0 } } },
  { SL_OP_ARG_MAX, { F32 (2, 3), CONSTANT (-3) }, SL_DTYPE_I32, 0, 1, "axis -3 is outside a tensor of 2 dimensions", { { 0 } } },
  { SL_OP_ARG_MAX, { F32 (2, 3), CONSTANT (0, 1) }, SL_DTYPE_I32, 0, 1, "at most 1 int32 or int64; got int32[2]", { { 0 } } },
  { SL_OP_ARG_MAX, { F32 (2, 3), CONSTANT (0) }, SL_DTYPE_F32, 0, 1, "output 't' is float32; supported: int32, int64", { { 0 } } },
  { SL_OP_CUMSUM, { F32 (2, 3), CONSTANT (2) }, SL_DTYPE_F32, 0, 1, "axis 2 is outside a tensor of 2 dimensions", { { 0 } } },
  { SL_OP_CUMSUM, { F32 (2, 3), CONSTANT (0, 1) }, SL_DTYPE_F32, 0, 1, "at most 1 int32 or int64; got int32[2]", { { 0 } } },
  { SL_OP_CUMSUM, { F32 (2, 3), CONSTANT (0) }, SL_DTYPE_I32, 0, 1, "'t' is float32 but 't' is int32; expected the same type", { { 0 } } },
  { SL_OP_TOPK_V2,
    { I32 (2, 3), CONSTANT (4) },
    SL_DTYPE_I32,
    0,
    2,
    "k is 4 for int32[2,3]; expected 1 up to the last dimension",
    { { 0 } } },
  { SL_OP_TRANSPOSE, { F32 (2, 3), CONSTANT (0, 0) }, SL_DTYPE_F32, 0, 1, "the permutation names dimension 0 twice", { { 0 } } },
  { SL_OP_TRANSPOSE, { F32 (2, 3), CONSTANT (0) }, SL_DTYPE_F32, 0, 1, "the permutation has 1 entries; expected 2", { { 0 } } },
  { SL_OP_TRANSPOSE,
    { F32 (2, 3), I32 (2) },
    SL_DTYPE_F32,
    0,
    1,
    "the permutation, input 1, must be a constant of at most 8 int32 or int64; got variable int32[2]",
    { { 0 } } },
  { SL_OP_TRANSPOSE,
    { U8 (2, 3), CONSTANT (1, 0) },
    SL_DTYPE_U8,
    0.25f,
    1,
    "quantised differently (scale 0.5, zero point 0 and 0.25, 0)",
    { { 0 } } },
  { SL_OP_TILE, { F32 (2, 3), CONSTANT (1) }, SL_DTYPE_F32, 0, 1, "1 multiples are given; expected 2", { { 0 } } },
  { SL_OP_TILE, { F32 (2, 3), CONSTANT (1, 0) }, SL_DTYPE_F32, 0, 1, "dimension 1 of output 0 would be 0; expected at least 1", { { 0 } } },
  { SL_OP_TILE, { F32 (2, 3), CONSTANT (1, G_MAXINT32) }, SL_DTYPE_F32, 0, 1, "dimension 1 overflows", { { 0 } } },
  { SL_OP_BROADCAST_TO, { F32 (2, 3), CONSTANT (4, 3) }, SL_DTYPE_F32, 0, 1, "float32[2,3] does not broadcast", { { 0 } } },
  { SL_OP_SLICE,
    { F32 (4), CONSTANT (2), CONSTANT (3) },
    SL_DTYPE_F32,
    0,
    1,
    "3 elements from 2 are outside dimension 0 of size 4",
    { { 0 } } },
  { SL_OP_SLICE,
    { F32 (4), CONSTANT (2, 1), CONSTANT (3) },
    SL_DTYPE_F32,
    0,
    1,
    "2 begins and 1 sizes are given; expected 1 of each",
    { { 0 } } },
  { SL_OP_STRIDED_SLICE, { F32 (4), CONSTANT (0), CONSTANT (4), CONSTANT (0) }, SL_DTYPE_F32, 0, 1, "stride 0 is 0", { { 0 } } },
  { SL_OP_STRIDED_SLICE,
    { F32 (4), CONSTANT (0, 0), CONSTANT (4, 4), CONSTANT (1, 1) },
    SL_DTYPE_F32,
    0,
    1,
    "more than the 1 dimensions",
    { { 0 } } },
  { SL_OP_STRIDED_SLICE,
    { F32 (4), CONSTANT (3), CONSTANT (1), CONSTANT (1) },
    SL_DTYPE_F32,
    0,
    1,
    "dimension 0 of output 0 would be 0",
    { { 0 } } },
  { SL_OP_STRIDED_SLICE,
    { F32 (4), CONSTANT (4), CONSTANT (5), CONSTANT (1) },
    SL_DTYPE_F32,
    0,
    1,
    "element 4 is outside dimension 0 of size 4",
    { .slice = { .shrink_axis_mask = 1 } } },
  { SL_OP_SPLIT, { CONSTANT (0), F32 (5) }, SL_DTYPE_F32, 0, 2, "dimension 0 of size 5 does not divide into 2", { { 0 } } },
  { SL_OP_SPLIT_V,
    { F32 (5), CONSTANT (2, 2), CONSTANT (0) },
    SL_DTYPE_F32,
    0,
    2,
    "the sizes do not add up to dimension 0 of size 5",
    { { 0 } } },
  { SL_OP_UNPACK, { F32 (3, 2) }, SL_DTYPE_F32, 0, 2, "dimension 0 has size 3; expected 2, one for each output", { { 0 } } },
  { SL_OP_PACK, { F32 (3), F32 (2) }, SL_DTYPE_F32, 0, 1, "input 1 is float32[2]; expected float32[3]", { { 0 } } },
  { SL_OP_GATHER, { F32 (3), CONSTANT (3) }, SL_DTYPE_F32, 0, 1, "index 3 is outside 0..2", { { 0 } } },
  { SL_OP_GATHER, { F32 (3), F32 (3) }, SL_DTYPE_F32, 0, 1, "indices 't' is float32; supported: int32, int64", { { 0 } } },
  { SL_OP_GATHER_ND,
    { F32 (3), I32 (2, 2) },
    SL_DTYPE_F32,
    0,
    1,
    "indices int32[2,2] do not address float32[3]; expected at most 1 coordinates",
    { { 0 } } },
  { SL_OP_RESIZE_BILINEAR, { F32 (1, 2, 2, 1), CONSTANT (0, 4) }, SL_DTYPE_F32, 0, 1, "dimension 1 of output 0 would be 0", { { 0 } } },
  { SL_OP_RESIZE_BILINEAR,
    { F32 (2, 2), CONSTANT (4, 4) },
    SL_DTYPE_F32,
    0,
    1,
    "is float32[2,2]; expected 4 dimensions (NHWC)",
    { { 0 } } },
  { SL_OP_RESIZE_BILINEAR,
    { F32 (1, 2, 2, 1), CONSTANT (4, 4) },
    SL_DTYPE_F32,
    0,
    1,
    "align_corners and half_pixel_centers exclude each other",
    { .resize = { TRUE, TRUE } } },
  { SL_OP_SPACE_TO_DEPTH, { F32 (1, 3, 2, 1) }, SL_DTYPE_F32, 0, 1, "does not divide into blocks of 2", { .block = { 2 } } },
  { SL_OP_DEPTH_TO_SPACE, { F32 (1, 3, 2, 3) }, SL_DTYPE_F32, 0, 1, "does not divide into blocks of 2", { .block = { 2 } } },
  { SL_OP_DEPTH_TO_SPACE, { F32 (1, 3, 2, 3) }, SL_DTYPE_F32, 0, 1, "block_size is 0; expected 1 or more", { .block = { 0 } } },
  { SL_OP_SPACE_TO_BATCH_ND,
    { F32 (1, 3, 4, 1), CONSTANT (2, 2), CONSTANT (0, 0, 0, 0) },
    SL_DTYPE_F32,
    0,
    1,
    "dimension 1 of size 3 does not divide into blocks of 2",
    { { 0 } } },
  { SL_OP_BATCH_TO_SPACE_ND,
    { F32 (2, 3, 4, 1), CONSTANT (5000, 1), CONSTANT (0, 0, 0, 0) },
    SL_DTYPE_F32,
    0,
    1,
    "block size 0 is 5000; expected 1..1024",
    { { 0 } } },
  { SL_OP_BATCH_TO_SPACE_ND,
    { F32 (2, 3, 4, 1), CONSTANT (2, 1), CONSTANT (0, -1, 0, 0) },
    SL_DTYPE_F32,
    0,
    1,
    "padding or crop 1 is -1; expected 0..32767",
    { { 0 } } },
  { SL_OP_MIRROR_PAD,
    { F32 (3), CONSTANT (3, 0) },
    SL_DTYPE_F32,
    0,
    1,
    "dimension 0 of size 3 cannot be mirrored by 3 and 0; at most 2",
    { { 0 } } },
  { SL_OP_PADV2,
    { F32 (3), CONSTANT (1, 1), F32 (1) },
    SL_DTYPE_F32,
    0,
    1,
    "the value is variable float32[1]; expected a constant of one float32",
    { { 0 } } },
  { SL_OP_BATCH_MATMUL, { F32 (2, 3), F32 (2, 3) }, SL_DTYPE_F32, 0, 1, "matrices of 2x3 and 2x3 do not multiply", { { 0 } } },
  { SL_OP_BATCH_MATMUL,
    { F32 (3), F32 (3) },
    SL_DTYPE_F32,
    0,
    1,
    "float32[3] times float32[3]; expected at least 2 dimensions each",
    { { 0 } } },
  { SL_OP_FILL, { I32 (2), F32 (1) }, SL_DTYPE_F32, 0, 1, "the shape, input 0, must be a constant", { { 0 } } },
  { SL_OP_RANGE,
    { CONSTANT (0), CONSTANT (9), CONSTANT (0) },
    SL_DTYPE_I32,
    0,
    1,
    "the range from 0 to 9 in steps of 0 has no end",
    { { 0 } } },
  { SL_OP_QUANTIZE, { I32 (2) }, SL_DTYPE_I16, 0.5f, 1, "input 't' is int32 with 0 scales; expected one scale and zero point", { { 0 } } },
  { SL_OP_QUANTIZE, { F32 (2) }, SL_DTYPE_I32, 0.5f, 1, "output 't' is int32; supported: int8, uint8, int16", { { 0 } } },
  { SL_OP_NON_MAX_SUPPRESSION_V4,
    { F32 (5, 4), F32 (4), CONSTANT (3), F32 (1), F32 (1) },
    SL_DTYPE_I32,
    0,
    2,
    "input 3 is variable float32[1]; expected a constant of one float32",
    { { 0 } } },
  { SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM,
    { F32 (1, 2, 3) },
    SL_DTYPE_F32,
    0,
    1,
    "expected 18 to 24 inputs and 1 outputs, got 1 and 1",
    { { 0 } } },
  { SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM,
    { U8 (1, 2, 3), CONSTANT (1), CONSTANT (1), CONSTANT (1), CONSTANT (1), CONSTANT (1), CONSTANT (1), CONSTANT (1), CONSTANT (1),
      CONSTANT (1), CONSTANT (1), CONSTANT (1), CONSTANT (1), CONSTANT (1), CONSTANT (1), CONSTANT (1), CONSTANT (1), CONSTANT (1) },
    SL_DTYPE_U8,
    0.5f,
    1,
    "is uint8[1,2,3]; expected float32 or int8: convert the model with dynamic range quantisation, which keeps weights of 8 bits, or "
    "without any",
    { { 0 } } },
  { SL_OP_CONV_2D,
    { F32 (1, 4, 4, 2), F32 (3, 1, 1, 2) },
    SL_DTYPE_F32,
    0,
    1,
    "weights 't' is float32[3,1,1,2] that is computed or given for each run; expected a constant in the file: export the model for inference, with "
    "its weights frozen",
    { .window = { .stride_w = 1, .stride_h = 1, .dilation_w = 1, .dilation_h = 1 } } },
};

static void
test_refused (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    const Row *row = &rows[r];
    OpModel m;
    om_init (&m, row->op, &row->params, r);
    g_test_message ("%s: %s", sl_op_name (row->op), row->text);
    for (guint i = 0; i < G_N_ELEMENTS (row->in) && row->in[i].kind != END; i++) {
      if (row->in[i].kind == INTS)
        om_ints (&m, row->in[i].rank, row->in[i].dims);
      else
        om_input (&m, row->in[i].dtype, row->in[i].rank, row->in[i].dims, row->in[i].scale, 0);
    }
    if (m.n_inputs == 0) { /* a model has at least one input */
      const SlTfliteTensor x = { .name = "x", .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 1 } };
      m.inputs[m.n_inputs] = sl_tflite_writer_tensor (m.writer, &x);
      m.data[m.n_inputs++] = sl_tensor_buffer_new (4);
    }
    for (guint i = 0; i < row->n_out; i++)
      om_output (&m, row->out, 1, DIMS (1), row->out_scale, 0);
    om_refuse (&m, row->text);
    om_clear (&m);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/refused", test_refused);
  return g_test_run ();
}
