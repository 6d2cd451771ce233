/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Activations written out with constants of 16 bits, in models of ONNX, torch.export and TensorFlow
 * Lite: they are one node, as in files of float32. Results are those of the activation in double
 * precision, and those of the file's nodes within the rounding of its type.
 */
#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/models/pt2_run.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define N 281
#define MOST_NODES 9

typedef enum
{
  FLOATS,
  HALVES,
  BFLOATS,
  TYPES
} Type;

static const struct
{
  guint onnx, pt2;
  gsize size;
  double rounding;
} types[TYPES] = { { 1, SL_PT2_FLOAT, 4, 0x1p-24 },
                   { 10, SL_PT2_HALF, 2, 0x1p-11 },
                   { 16, SL_PT2_BFLOAT16, 2, 0x1p-8 } };

/* From FIRST_ROUNDED on, 16 bits do not hold them. */
#define FIRST_ROUNDED 5
static const struct
{
  const char *name;
  double value;
} constants[] = { { "half", 0.5 },      { "one", 1 },
                  { "three", 3 },       { "zero", 0 },
                  { "six", 6 },         { "sixth", 1 / 6.0 },
                  { "bend", 0.044715 }, { "slope", 0.7978845608 },
                  { "root", G_SQRT2 },  { "inverse", G_SQRT2 / 2 } };

/** An operator in each format. TensorFlow Lite has none for some. */
static const struct
{
  const char *onnx, *pt2;
  SlOpType tflite;
} operators[] = {
  { "Add", "add.Tensor", SL_OP_ADD },      { "Mul", "mul.Tensor", SL_OP_MUL },
  { "Div", "div.Tensor", SL_OP_DIV },      { "Pow", "pow.Tensor_Tensor", SL_OP_POW },
  { "Erf", "erf.default", SL_OP_INVALID }, { "Tanh", "tanh.default", SL_OP_TANH },
  { "Clip", "relu6.default", SL_OP_RELU6 }
};

/** @a, @b (nullable), @to: names of x, y, constants and results between. */
typedef struct
{
  const char *op, *a, *b, *to;
} Step;

typedef struct
{
  double (*curve) (double x);
  gboolean in_tflite;
  Step steps[MOST_NODES + 1];
} Spelling;

static double
gelu (double x)
{
  return 0.5 * x * (1 + erf (x / G_SQRT2));
}

static double
gelu_tanh (double x)
{
  return 0.5 * x * (1 + tanh (sqrt (2 / G_PI) * (x + 0.044715 * x * x * x)));
}

static double
hard_swish (double x)
{
  return x * CLAMP (x + 3, 0, 6) / 6;
}

static const Spelling spellings[] = { { gelu,
                                        FALSE,
                                        { { "Div", "x", "root", "a" },
                                          { "Erf", "a", NULL, "b" },
                                          { "Add", "b", "one", "c" },
                                          { "Mul", "x", "c", "d" },
                                          { "Mul", "d", "half", "y" } } },
                                      { gelu,
                                        FALSE,
                                        { { "Mul", "x", "inverse", "a" },
                                          { "Erf", "a", NULL, "b" },
                                          { "Add", "one", "b", "c" },
                                          { "Mul", "half", "x", "d" },
                                          { "Mul", "d", "c", "y" } } },
                                      { gelu_tanh,
                                        TRUE,
                                        { { "Pow", "x", "three", "a" },
                                          { "Mul", "a", "bend", "b" },
                                          { "Add", "x", "b", "c" },
                                          { "Mul", "c", "slope", "d" },
                                          { "Tanh", "d", NULL, "e" },
                                          { "Add", "e", "one", "f" },
                                          { "Mul", "x", "half", "g" },
                                          { "Mul", "g", "f", "y" } } },
                                      { gelu_tanh,
                                        TRUE,
                                        { { "Mul", "x", "x", "a" },
                                          { "Mul", "bend", "a", "b" },
                                          { "Add", "one", "b", "c" },
                                          { "Mul", "slope", "x", "d" },
                                          { "Mul", "d", "c", "e" },
                                          { "Tanh", "e", NULL, "f" },
                                          { "Add", "one", "f", "g" },
                                          { "Mul", "x", "g", "h" },
                                          { "Mul", "h", "half", "y" } } },
                                      { hard_swish,
                                        TRUE,
                                        { { "Add", "x", "three", "a" },
                                          { "Clip", "a", NULL, "b" },
                                          { "Mul", "b", "sixth", "c" },
                                          { "Mul", "x", "c", "y" } } } };

static double
rounded (double value, Type type)
{
  const gfloat real = (gfloat) value;
  return (double) (type == HALVES    ? sl_half_to_float (sl_half_from_float (real))
                   : type == BFLOATS ? sl_bfloat_to_float (sl_bfloat_from_float (real))
                                     : real);
}

/* The bytes of @value as @type; @wrong: the next larger one. */
static gsize
store (double value, Type type, gboolean wrong, guint8 bytes[4])
{
  const gfloat real = (gfloat) value;
  const guint16 code =
    (guint16) ((type == HALVES ? sl_half_from_float (real) : sl_bfloat_from_float (real))
               + (wrong ? 1 : 0));
  memcpy (bytes, type == FLOATS ? (const void *) &real : &code, types[type].size);
  return types[type].size;
}

static guint
find_operator (const char *op)
{
  guint i = 0;
  while (strcmp (operators[i].onnx, op) != 0)
    i++;
  return i;
}

static SlModel *
load_onnx (const Spelling *spelling, Type type, gboolean wrong)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  g_autofree char *there = g_strdup_printf ("to i %u", types[type].onnx);
  guint8 bytes[4];
  sl_onnx_writer_input (w, "in", SL_ONNX_FLOAT, 1, (gint64[]){ N });
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++) {
    const gsize size = store (constants[i].value, type, wrong && i >= FIRST_ROUNDED, bytes);
    sl_onnx_message (w->graph, 5,
                     sl_onnx_tensor (constants[i].name, types[type].onnx, 0, NULL, bytes, size));
  }
  sl_onnx_writer_node (w, "Cast", "in", "x", there, NULL);
  for (const Step *step = spelling->steps; step->op != NULL; step++) {
    const gboolean clips = strcmp (step->op, "Clip") == 0;
    const char *b = clips ? "zero,six" : step->b;
    g_autofree char *inputs = g_strjoin (",", step->a, b, NULL);
    sl_onnx_writer_node (w, step->op, inputs, step->to, NULL);
  }
  sl_onnx_writer_node (w, "Cast", "y", "out", "to i 1", NULL);
  sl_onnx_writer_output (w, "out", SL_ONNX_FLOAT);
  g_autoptr (GBytes) model = sl_onnx_writer_finish (w);
  g_autofree char *path =
    write_temp ("model.onnx", g_bytes_get_data (model, NULL), (gssize) g_bytes_get_size (model));
  SlModel *loaded = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  sl_tflite_remove_temp (path);
  return loaded;
}

/* Types of constants without dimensions do not change that of the other operand. */
static SlModel *
load_torch (const Spelling *spelling, Type type)
{
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  guint8 bytes[4];
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++) {
    const char *name = constants[i].name;
    const gsize size = store (constants[i].value, type, FALSE, bytes);
    sl_pt2_weight (w, "tensor_constant", name, name);
    sl_pt2_storage (w, name, types[type].pt2, bytes, size);
    sl_pt2_tensor (w, name, name, 0, 0, NULL, NULL);
  }
  sl_pt2_input (w, "x", SL_PT2_FLOAT, G_STRINGIFY (N));
  for (const Step *step = spelling->steps; step->op != NULL; step++) {
    const char *name = operators[find_operator (step->op)].pt2;
    g_autofree char *target = g_strconcat ("torch.ops.aten.", name, NULL);
    g_autofree char *a = g_strdup_printf (PT2_TENSOR_ARG ("self", "%s"), step->a);
    g_autofree char *b =
      step->b != NULL ? g_strdup_printf ("," PT2_TENSOR_ARG ("other", "%s"), step->b) : NULL;
    g_autofree char *args = g_strconcat (a, b, NULL);
    sl_pt2_node (w, target, args, step->to);
  }
  sl_pt2_output (w, "y", NULL);
  return load_good_pt2 (w, NULL);
}

/** Tensors of a TensorFlow Lite file by name. */
typedef struct
{
  SlTfliteWriter *writer;
  GHashTable *tensors;
  gboolean halves;
} Tflite;

static gint32
tflite_tensor (Tflite *t, const char *name, guint rank, const void *data, SlDtype dtype)
{
  const gint32 index = sl_tflite_writer_tensor (
    t->writer,
    &(SlTfliteTensor){ .name = name, .dtype = dtype, .rank = rank, .dims = { N }, .data = data });
  g_hash_table_insert (t->tensors, (gpointer) name, GINT_TO_POINTER (index));
  return index;
}

static void
tflite_op (Tflite *t, SlOpType op, gint32 a, gint32 b, gint32 y)
{
  sl_tflite_writer_op (
    t->writer,
    &(SlTfliteOp){
      .op = op, .n_inputs = b >= 0 ? 2 : 1, .inputs = { a, b }, .n_outputs = 1, .outputs = { y } });
}

static gint32
tflite_named (const Tflite *t, const char *name)
{
  return name != NULL ? GPOINTER_TO_INT (g_hash_table_lookup (t->tensors, name)) : -1;
}

/* With a DEQUANTIZE behind each constant of float16, as the converter writes them. */
static SlModel *
load_tflite (const Spelling *spelling, Type type)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  g_autoptr (GHashTable) tensors = g_hash_table_new (g_str_hash, g_str_equal);
  Tflite t = { w, tensors, type == HALVES };
  guint8 bytes[4];
  const gint32 x = tflite_tensor (&t, "x", 1, NULL, SL_DTYPE_F32);
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++) {
    store (constants[i].value, type, FALSE, bytes);
    const gint32 stored =
      tflite_tensor (&t, constants[i].name, 0, bytes, t.halves ? SL_DTYPE_F16 : SL_DTYPE_F32);
    if (t.halves)
      tflite_op (&t, SL_OP_DEQUANTIZE, stored, -1,
                 tflite_tensor (&t, constants[i].name, 0, NULL, SL_DTYPE_F32));
  }
  for (const Step *step = spelling->steps; step->op != NULL; step++)
    tflite_op (&t, operators[find_operator (step->op)].tflite, tflite_named (&t, step->a),
               tflite_named (&t, step->b), tflite_tensor (&t, step->to, 1, NULL, SL_DTYPE_F32));
  const gint32 y = tflite_named (&t, "y");
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  g_autofree char *path = sl_tflite_writer_save_temp (w, "model.tflite", NULL);
  SlModel *model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  sl_tflite_remove_temp (path);
  return model;
}

/* What the nodes of the file make of @x: of constants of @type, with exact results between. */
static double
follow (const Spelling *spelling, Type type, double x)
{
  g_autoptr (GHashTable) values = g_hash_table_new (g_str_hash, g_str_equal);
  double results[G_N_ELEMENTS (constants) + MOST_NODES];
  guint n = 0;
  g_hash_table_insert (values, (gpointer) "x", &x);
  for (; n < G_N_ELEMENTS (constants); n++) {
    results[n] = rounded (constants[n].value, type);
    g_hash_table_insert (values, (gpointer) constants[n].name, &results[n]);
  }
  for (const Step *step = spelling->steps; step->op != NULL; step++, n++) {
    const double a = *(const double *) g_hash_table_lookup (values, step->a),
                 b = step->b != NULL ? *(const double *) g_hash_table_lookup (values, step->b) : 0;
    const double all[] = { a + b, a * b, a / b, pow (a, b), erf (a), tanh (a), CLAMP (a, 0, 6) };
    results[n] = all[find_operator (step->op)];
    g_hash_table_insert (values, (gpointer) step->to, &results[n]);
  }
  return *(const double *) g_hash_table_lookup (values, "y");
}

static void
check (SlModel *model, const Spelling *spelling, Type type)
{
  g_autoptr (GError) error = NULL;
  gfloat x[N], y[N];
  g_assert_cmpuint (sl_graph_n_nodes (sl_model_graph (model)), ==, 1);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < N; i++)
    x[i] = (gfloat) i / 20 - 7;
  g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                   SL_STATUS_OK);
  for (guint i = 0; i < N; i++) {
    const double in = (double) x[i], most = 2e-6 * (1 + fabs (in));
    g_assert_cmpfloat_with_epsilon ((double) y[i], spelling->curve (in), most);
    g_assert_cmpfloat_with_epsilon ((double) y[i], follow (spelling, type, in),
                                    types[type].rounding * fabs (in) + most);
  }
  sl_model_unref (model);
}

static void
test_onnx (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++)
    for (Type type = FLOATS; type < TYPES; type++)
      check (load_onnx (&spellings[i], type, FALSE), &spellings[i], type);
}

static void
test_torch (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++)
    for (Type type = FLOATS; type < TYPES; type++)
      check (load_torch (&spellings[i], type), &spellings[i], type);
}

static void
test_tflite (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++)
    for (Type type = FLOATS; spellings[i].in_tflite && type <= HALVES; type++)
      check (load_tflite (&spellings[i], type), &spellings[i], type);
}

/* Other numbers of 16 bits than the nearest ones are meant as they are. */
static void
test_others (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++)
    for (Type type = HALVES; type < TYPES; type++) {
      SlModel *model = load_onnx (&spellings[i], type, TRUE);
      g_assert_cmpuint (sl_graph_n_nodes (sl_model_graph (model)), >, 1);
      sl_model_unref (model);
    }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/rounded-curves/onnx", test_onnx);
  g_test_add_func ("/models/rounded-curves/torch", test_torch);
  g_test_add_func ("/models/rounded-curves/tflite", test_tflite);
  g_test_add_func ("/models/rounded-curves/others", test_others);
  return g_test_run ();
}
