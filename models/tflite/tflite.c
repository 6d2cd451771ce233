/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorFlow Lite reader: schema version 3 -> graph. The first subgraph's operators are resolved
 * first, so that an unsupported model is refused for its operators; then its tensors are read,
 * constants in place; then nodes, inputs and outputs; then metadata. What the graph means is
 * checked later by sl_graph_prepare().
 *
 * Invariant: everything copied out of the file is counted against the file's size, so a small file
 * that refers to the same bytes many times cannot make the graph large.
 */
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "models/tflite/find_sample.h"
#include "models/tflite/flatbuffer.h"
#include "models/numbers.h"
#include "models/reader.h"
#include "models/tflite/hybrid.h"
#include "models/tflite/metadata.h"
#include "models/tflite/missing.h"
#include "models/tflite/options.h"
#include "models/tflite/schema.h"
#include "models/tflite/sparse.h"
#include "models/tflite/types.h"
#include "models/tflite/variables.h"

#define MAX_CODES 4096
#define MAX_NAME 4096
#define MAX_METADATA 4096
/* Fixed bytes that may be copied beside four times the file's size. */
#define COPY_ALLOWANCE 65536
/* Sparse tensors may become this many times as large as the file. */
#define DENSE_GROWTH 32
/* Of a picture, in examples. */
#define EXAMPLE_SIDE 224

typedef struct
{
  gint32 builtin;
  char *custom; /* NULL for a builtin operator */
  const TflOp *op;
  gboolean reported;
} Code;

typedef struct
{
  SlFlatBuffer fb;
  SlGraph *graph;
  SlArena *arena;
  SlFbVector subgraphs, buffers, tensors, operators, inputs, outputs;
  TflVariables *variables;
  guint64 copied, dense;
  GArray *codes;
  GStrv given; /* shapes that the user states for the inputs */
  gboolean keep_activations;
  gint32 *signed_copies; /* of each tensor: the tensor that reads its bytes as int8, 0 = none */
  guint8 *used;          /* one flag a tensor: some operator, input or output refers to it */
} Reader;

static void
code_clear (gpointer data)
{
  g_free (((Code *) data)->custom);
}

static void
reader_clear (Reader *reader)
{
  g_clear_pointer (&reader->codes, g_array_unref);
  g_clear_pointer (&reader->variables, tfl_variables_free);
  g_clear_pointer (&reader->signed_copies, g_free);
  g_clear_pointer (&reader->used, g_free);
  g_clear_pointer (&reader->given, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reader, reader_clear)

static gboolean
may_copy (gpointer data, guint64 bytes, GError **error)
{
  Reader *reader = data;
  reader->copied += bytes;
  if (reader->copied <= (guint64) reader->fb.size * 4 + COPY_ALLOWANCE)
    return TRUE;
  return sl_fail (error, SL_ERROR_LIMIT,
                  "names and quantisation of the tensors are larger than the file that holds them");
}

/* The bytes of buffer @index: NULL with *bytes 0 for an empty one. */
static gboolean
find_buffer (gpointer file, guint32 index, const guint8 **data, gsize *bytes, GError **error)
{
  Reader *reader = file;
  *data = NULL;
  *bytes = 0;
  if (index >= reader->buffers.count)
    return sl_fail (error, SL_ERROR_FORMAT, "buffer %u does not exist; the file has %u", index,
                    reader->buffers.count);
  const SlFbTable table = sl_fb_vector_table (&reader->buffers, index);
  const SlFbVector inline_data = sl_fb_vector (&table, TFL_BUFFER_DATA, 1);
  const guint64 offset = sl_fb_u64 (&table, TFL_BUFFER_OFFSET, 0),
                size = sl_fb_u64 (&table, TFL_BUFFER_SIZE, 0);
  if (inline_data.count > 0) {
    *data = sl_fb_vector_data (&inline_data);
    *bytes = inline_data.count;
  } else if (offset > 1 && size > 0) {
    if (offset > reader->fb.size || size > reader->fb.size - offset)
      return sl_fail (error, SL_ERROR_FORMAT,
                      "buffer %u lies at byte %" G_GUINT64_FORMAT " with %" G_GUINT64_FORMAT
                      " bytes; the file ends at %" G_GSIZE_FORMAT,
                      index, offset, size, reader->fb.size);
    *data = reader->fb.data + (gsize) offset;
    *bytes = (gsize) size;
  }
  return TRUE;
}

static gboolean
open_model (Reader *reader, SlFbTable *model, GError **error)
{
  *model = sl_fb_root (&reader->fb);
  const SlFbVector subgraphs = sl_fb_vector (model, TFL_MODEL_SUBGRAPHS, 4);
  const gint32 version = sl_fb_i32 (model, TFL_MODEL_VERSION, 0);
  if (!sl_fb_check (&reader->fb, error))
    return FALSE;
  if (version != TFL_VERSION)
    return sl_fail (error, SL_ERROR_UNSUPPORTED, "TensorFlow Lite schema version %d; expected %d",
                    version, TFL_VERSION);
  if (subgraphs.count == 0)
    return sl_fail (error, SL_ERROR_FORMAT, "the model has no subgraph; expected at least 1");
  const SlFbTable subgraph = sl_fb_vector_table (&subgraphs, 0);
  reader->subgraphs = subgraphs;
  reader->buffers = sl_fb_vector (model, TFL_MODEL_BUFFERS, 4);
  reader->tensors = sl_fb_vector (&subgraph, TFL_SUBGRAPH_TENSORS, 4);
  reader->operators = sl_fb_vector (&subgraph, TFL_SUBGRAPH_OPERATORS, 4);
  reader->inputs = sl_fb_vector (&subgraph, TFL_SUBGRAPH_INPUTS, 4);
  reader->outputs = sl_fb_vector (&subgraph, TFL_SUBGRAPH_OUTPUTS, 4);
  if (!sl_fb_check (&reader->fb, error))
    return FALSE;
  if (reader->tensors.count > SL_MAX_TENSORS || reader->operators.count > SL_MAX_NODES)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "the model has %u tensors and %u nodes; at most %d and %d are read",
                    reader->tensors.count, reader->operators.count, SL_MAX_TENSORS, SL_MAX_NODES);
  return TRUE;
}

/* Operator codes: before 2020 an 8-bit number, since then a 32-bit one beside it; the larger
 * counts. */
static gboolean
read_codes (Reader *reader, const SlFbTable *model, GError **error)
{
  const SlFbVector codes = sl_fb_vector (model, TFL_MODEL_OPERATOR_CODES, 4);
  if (codes.count > MAX_CODES)
    return sl_fail (error, SL_ERROR_LIMIT, "the model has %u operator codes; at most %d are read",
                    codes.count, MAX_CODES);
  for (guint i = 0; i < codes.count; i++) {
    const SlFbTable table = sl_fb_vector_table (&codes, i);
    const gint8 old = (gint8) sl_fb_u8 (&table, TFL_CODE_DEPRECATED, 0);
    Code code = { .builtin = MAX (old, sl_fb_i32 (&table, TFL_CODE_BUILTIN, 0)) };
    if (code.builtin == TFL_BUILTIN_CUSTOM)
      code.custom = sl_fb_dup_name (&table, TFL_CODE_CUSTOM, MAX_NAME);
    code.op = tfl_op_find (code.builtin, code.custom);
    g_array_append_val (reader->codes, code);
    if (!may_copy (reader, code.custom != NULL ? strlen (code.custom) : 0, error))
      return FALSE;
  }
  return sl_fb_check (&reader->fb, error);
}

static gint32
builtin_of (gpointer data, guint32 code)
{
  const Reader *reader = data;
  return code < reader->codes->len && g_array_index (reader->codes, Code, code).custom == NULL
           ? g_array_index (reader->codes, Code, code).builtin
           : -1;
}

/* @variable: number of an operator of variables, whose handles are no tensors; -1 = another. */
static gboolean
mark_used (Reader *reader, const SlFbVector *indices, const TflOp *op, gint32 variable,
           const char *what, gint32 lowest, GError **error)
{
  for (guint32 i = 0; i < indices->count; i++) {
    const gint32 index = sl_fb_vector_i32 (indices, i);
    if (index < lowest || index >= (gint64) reader->tensors.count)
      return sl_fail (error, SL_ERROR_FORMAT, "%s %u is tensor %d; the model has %u tensors", what,
                      i, index, reader->tensors.count);
    if (index >= 0 && !tfl_op_is_state (op, i)
        && (variable < 0 || tfl_variables_is_value (variable, lowest == 0, i)))
      reader->used[index] = 1;
  }
  return TRUE;
}

static char *
node_name (Reader *reader, const SlFbTable *node)
{
  const SlFbVector outputs = sl_fb_vector (node, TFL_OPERATOR_OUTPUTS, 4);
  const gint32 first = outputs.count > 0 ? sl_fb_vector_i32 (&outputs, 0) : -1;
  if (first < 0 || first >= (gint64) reader->tensors.count)
    return g_strdup ("");
  const SlFbTable tensor = sl_fb_vector_table (&reader->tensors, (guint32) first);
  return sl_fb_dup_name (&tensor, TFL_TENSOR_NAME, MAX_NAME);
}

/* One sentence for all operators that are missing. */
static void
report_missing (Reader *reader, const GArray *missing, GError **error)
{
  const TflMissing *all = (const TflMissing *) (gconstpointer) missing->data;
  const guint chosen = tfl_missing_choose (all, missing->len);
  const SlFbTable node = sl_fb_vector_table (&reader->operators, all[chosen].node);
  g_autofree char *name = node_name (reader, &node);
  tfl_missing_report (all, missing->len, chosen, name, error);
}

/* Looks at every operator before any is built: codes, operands, and whether all of them are
 * supported. */
static gboolean
scan_operators (Reader *reader, GError **error)
{
  g_autoptr (GArray) missing = g_array_new (FALSE, FALSE, sizeof (TflMissing));
  for (guint i = 0; i < reader->operators.count; i++) {
    const SlFbTable node = sl_fb_vector_table (&reader->operators, i);
    const guint32 index = sl_fb_u32 (&node, TFL_OPERATOR_CODE, 0);
    const SlFbVector inputs = sl_fb_vector (&node, TFL_OPERATOR_INPUTS, 4);
    const SlFbVector outputs = sl_fb_vector (&node, TFL_OPERATOR_OUTPUTS, 4);
    if (!sl_fb_check (&reader->fb, error))
      return FALSE;
    if (index >= reader->codes->len || inputs.count > SL_MAX_OPERANDS
        || outputs.count > SL_MAX_OPERANDS)
      return sl_fail (
        error, SL_ERROR_FORMAT,
        "node %u has operator code %u, %u inputs and %u outputs; expected a code below %u and at "
        "most %d of each",
        i, index, inputs.count, outputs.count, reader->codes->len, SL_MAX_OPERANDS);
    const TflOp *op = g_array_index (reader->codes, Code, index).op;
    Code *code = &g_array_index (reader->codes, Code, index);
    const gint32 variable =
      code->custom == NULL && tfl_variables_is_op (code->builtin) ? code->builtin : -1;
    if (!mark_used (reader, &inputs, op, variable, "input", -1, error)
        || !mark_used (reader, &outputs, NULL, variable, "output", 0, error))
      return sl_fail_prefix (error, "node %u: ", i);
    if (code->op != NULL || code->reported || variable >= 0)
      continue;
    code->reported = TRUE;
    const TflMissing entry = { i, code->builtin, code->custom };
    g_array_append_val (missing, entry);
  }
  if (missing->len > 0) {
    report_missing (reader, missing, error);
    return FALSE;
  }
  return mark_used (reader, &reader->inputs, NULL, -1, "model input", 0, error)
         && mark_used (reader, &reader->outputs, NULL, -1, "model output", 0, error);
}

static gboolean
read_type (const SlFbTable *table, SlTensor *tensor, GError **error)
{
  const guint8 type = sl_fb_u8 (table, TFL_TENSOR_TYPE, 0);
  tensor->dtype = tfl_type_dtype (type);
  if (tensor->dtype == SL_DTYPE_INVALID)
    return sl_fail (error, SL_ERROR_UNSUPPORTED, "element type %u %s is not supported", type,
                    tfl_type_name (type));
  if (sl_fb_u8 (table, TFL_TENSOR_IS_VARIABLE, 0) != 0)
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "variable tensors (state kept between frames) are not supported");
  return TRUE;
}

static gboolean
read_shape (const SlFbTable *table, SlTensor *tensor, GError **error)
{
  const SlFbVector shape = sl_fb_vector (table, TFL_TENSOR_SHAPE, 4);
  if (shape.count > SL_MAX_RANK)
    return sl_fail (error, SL_ERROR_LIMIT, "%u dimensions; at most %d are supported", shape.count,
                    SL_MAX_RANK);
  tensor->rank = shape.count;
  for (guint i = 0; i < tensor->rank; i++)
    tensor->dims[i] = sl_fb_vector_i32 (&shape, i);
  return TRUE;
}

/* Dimensions that the file leaves open: -1 in shape_signature, which becomes a placeholder of 1 in
 * the shape. A batch may stay that. */
static guint32
open_dims (const SlFbVector *signature, const SlTensor *tensor)
{
  guint32 open = 0;
  for (guint i = 0; i < MIN (signature->count, tensor->rank); i++)
    open |= sl_fb_vector_i32 (signature, i) < 0 ? 1u << i : 0;
  return open;
}

/* "float32[1,?,?,3]" */
static char *
describe_open (const SlTensor *tensor, guint32 open)
{
  GString *text = g_string_new (sl_dtype_name (tensor->dtype));
  for (guint i = 0; i < tensor->rank; i++)
    if (open & 1u << i)
      g_string_append (text, i > 0 ? ",?" : "[?");
    else
      g_string_append_printf (text, "%s%d", i > 0 ? "," : "[", tensor->dims[i]);
  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

static gboolean
refuse_open_shape (const SlTensor *tensor, guint32 open, GError **error)
{
  g_autofree char *text = describe_open (tensor, open);
  g_autoptr (GString) example = g_string_new (NULL);
  for (guint i = 0; i < tensor->rank; i++)
    g_string_append_printf (example, "%s%d", i > 0 ? "," : "",
                            (open & 1u << i) == 0 || i == 0 ? tensor->dims[i] : EXAMPLE_SIDE);
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "its size is not fixed, %s; state it, for example as input-shape=%s: property of slinfer, "
    "option --input-shape of the program, or line under [sightline] of the model's .modelinfo",
    text, example->str);
}

/* The height and the width of a picture that the file does not leave open become those that are
 * stated, where all else is the same, and of several pictures there may be one: a model of
 * convolutions takes any; whether the others do, shape inference finds out. */
static void
resize_picture (const char *given, SlTensor *tensor)
{
  gdouble numbers[SL_MAX_RANK];
  if (given == NULL || tensor->rank != 4 || sl_numbers_parse (given, numbers, SL_MAX_RANK) != 4
      || (numbers[0] != (gdouble) tensor->dims[0] && numbers[0] != 1)
      || numbers[3] != (gdouble) tensor->dims[3])
    return;
  for (guint i = 1; i <= 2; i++)
    if (!(numbers[i] >= 1 && numbers[i] <= G_MAXINT32 && numbers[i] == floor (numbers[i])))
      return;
  for (guint i = 0; i <= 2; i++)
    tensor->dims[i] = (gint32) numbers[i];
}

/* The shape of an input of the model: the stored one, or, where the file leaves dimensions open,
 * what @given (nullable) states. */
static gboolean
settle_input (const SlFbTable *table, const char *given, SlTensor *tensor, GError **error)
{
  const SlFbVector signature = sl_fb_vector (table, TFL_TENSOR_SIGNATURE, 4);
  const guint32 open = open_dims (&signature, tensor);
  gdouble numbers[SL_MAX_RANK];
  gboolean placeholder = FALSE;
  for (guint i = 1; i < tensor->rank; i++)
    placeholder |= (open & 1u << i) != 0 && tensor->dims[i] <= 1;
  if (open == 0)
    resize_picture (given, tensor);
  if (open == 0 || (!placeholder && (given == NULL || given[0] == '\0')))
    return TRUE;
  if (given == NULL || given[0] == '\0')
    return refuse_open_shape (tensor, open, error);
  const guint n = sl_numbers_parse (given, numbers, SL_MAX_RANK);
  gboolean fits = n == tensor->rank;
  for (guint i = 0; i < n && fits; i++)
    fits = numbers[i] >= 1 && numbers[i] <= G_MAXINT32 && numbers[i] == floor (numbers[i])
           && ((open & 1u << i) != 0 || numbers[i] == (gdouble) tensor->dims[i]);
  if (!fits) {
    g_autofree char *text = describe_open (tensor, open);
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "input-shape is '%s', but it is %s: expected as many whole numbers that fit",
                    given, text);
  }
  for (guint i = 0; i < n; i++)
    tensor->dims[i] = (gint32) numbers[i];
  return TRUE;
}

/* Nothing for a tensor that is no input of the model. */
static gboolean
settle_shape (Reader *reader, guint index, const SlFbTable *table, SlTensor *tensor, GError **error)
{
  const guint n = g_strv_length (reader->given);
  const gint32 of_file = tensor->rank > 0 ? tensor->dims[0] : 1;
  for (guint i = 0; i < MIN (reader->inputs.count, SL_MAX_IO); i++) {
    if (sl_fb_vector_i32 (&reader->inputs, i) != (gint32) index)
      continue;
    if (!settle_input (table, i < n ? reader->given[i] : NULL, tensor, error))
      return FALSE;
    if (of_file > 1 && tensor->dims[0] == 1)
      sl_graph_set_file_batch (reader->graph, (guint) of_file);
    return sl_graph_batch_input (reader->graph, tensor, error);
  }
  return TRUE;
}

/* The channel dimension of @n scales. A wrong number in the file is forgiven where one dimension
 * only fits. */
static gint
find_axis (const SlTensor *tensor, gint32 stated, guint n)
{
  gint axis = -1;
  if (stated >= 0 && stated < (gint32) tensor->rank && tensor->dims[stated] == (gint64) n)
    return stated;
  for (guint i = 0; i < tensor->rank; i++) {
    if (tensor->dims[i] != (gint64) n)
      continue;
    if (axis >= 0)
      return -1;
    axis = (gint) i;
  }
  return axis;
}

static gboolean
fill_quantisation (const SlFbVector *scales, const SlFbVector *zeros, const SlTensor *tensor,
                   gfloat *scale, gint32 *zero_point, GError **error)
{
  gint32 lo = 0, hi = 0;
  sl_dtype_range (tensor->dtype, &lo, &hi);
  for (guint i = 0; i < scales->count; i++) {
    const gint64 zero = zeros->count == 0 ? 0 : sl_fb_vector_i64 (zeros, zeros->count == 1 ? 0 : i);
    scale[i] = sl_fb_vector_f32 (scales, i);
    zero_point[i] = (gint32) zero;
    if (!isfinite (scale[i]) || scale[i] <= 0.0f)
      return sl_fail (error, SL_ERROR_FORMAT, "scale %u is %g; expected a finite number above 0", i,
                      (gdouble) scale[i]);
    if (zero < lo || zero > hi)
      return sl_fail (error, SL_ERROR_FORMAT,
                      "zero point %u is %" G_GINT64_FORMAT "; expected %d..%d for %s", i, zero, lo,
                      hi, sl_dtype_name (tensor->dtype));
  }
  return TRUE;
}

static gboolean
read_quantisation (Reader *reader, const SlFbTable *table, SlTensor *tensor, GError **error)
{
  const SlFbTable quant = sl_fb_table (table, TFL_TENSOR_QUANTISATION);
  const SlFbVector scales = sl_fb_vector (&quant, TFL_QUANT_SCALE, 4);
  const SlFbVector zeros = sl_fb_vector (&quant, TFL_QUANT_ZERO_POINT, 8);
  const guint n = scales.count;
  gint32 lo, hi;
  if (n == 0 || !sl_dtype_range (tensor->dtype, &lo, &hi) || tensor->dtype == SL_DTYPE_BOOL)
    return TRUE;
  if (sl_fb_u8 (&quant, TFL_QUANT_DETAILS_TYPE, 0) != 0)
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "custom quantisation is not supported; expected scales and zero points");
  const gint axis = n > 1 ? find_axis (tensor, sl_fb_i32 (&quant, TFL_QUANT_DIMENSION, 0), n) : 0;
  if (axis < 0 || (zeros.count > 1 && zeros.count != n)) {
    g_autofree char *text = sl_tensor_describe (tensor);
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%u scales and %u zero points do not fit %s; expected 1 or one a channel", n,
                    zeros.count, text);
  }
  if (!may_copy (reader, (guint64) n * (sizeof (gfloat) + sizeof (gint32)), error))
    return FALSE;
  gfloat *scale = sl_arena_alloc (reader->arena, n * sizeof *scale);
  gint32 *zero_point = sl_arena_alloc (reader->arena, n * sizeof *zero_point);
  tensor->quant = (SlQuant){ .count = n, .axis = axis, .scale = scale, .zero_point = zero_point };
  return fill_quantisation (&scales, &zeros, tensor, scale, zero_point, error);
}

/* Sparse constants take the memory of dense ones, which may be much more than the file has. */
static gboolean
read_sparse (Reader *reader, const SlFbTable *sparsity, SlTensor *tensor, const guint8 *data,
             gsize bytes, gsize dense, GError **error)
{
  const gsize size = sl_dtype_size (tensor->dtype);
  if (bytes % size != 0)
    return sl_fail (error, SL_ERROR_FORMAT, "a sparse tensor has %" G_GSIZE_FORMAT " bytes of %s",
                    bytes, sl_dtype_name (tensor->dtype));
  reader->dense += dense;
  const guint64 most =
    MIN ((guint64) reader->fb.size * DENSE_GROWTH + COPY_ALLOWANCE, sl_graph_limit (reader->graph));
  if (reader->dense > most)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "sparse tensors of %" G_GUINT64_FORMAT " bytes, over %" G_GUINT64_FORMAT
                    "; export the model with dense weights",
                    reader->dense, most);
  guint8 *copy = sl_arena_alloc (reader->arena, dense + SL_TENSOR_PADDING);
  memset (copy, 0, dense);
  tensor->bytes = dense;
  tensor->data = copy;
  return tfl_sparse_read (sparsity, tensor, data, bytes / size, copy, error);
}

/* Constants stay where they are in the file, unless that is off the alignment of their elements. */
static gboolean
read_constant (Reader *reader, const SlFbTable *table, SlTensor *tensor, GError **error)
{
  const guint8 *data;
  gsize bytes, elements, expected;
  if (!find_buffer (reader, sl_fb_u32 (table, TFL_TENSOR_BUFFER, 0), &data, &bytes, error))
    return FALSE;
  const SlFbTable sparsity = sl_fb_table (table, TFL_TENSOR_SPARSITY);
  const gboolean is_sparse = sl_fb_present (&sparsity);
  if (data == NULL && !is_sparse)
    return TRUE;
  if (!sl_tensor_elements (tensor, &elements)
      || !g_size_checked_mul (&expected, elements, sl_dtype_size (tensor->dtype))
      || (!is_sparse && expected != bytes)) {
    g_autofree char *text = sl_tensor_describe (tensor);
    return sl_fail (error, SL_ERROR_FORMAT, "the file has %" G_GSIZE_FORMAT " bytes of data for %s",
                    bytes, text);
  }
  if (is_sparse)
    return read_sparse (reader, &sparsity, tensor, data, bytes, expected, error);
  tensor->bytes = bytes;
  tensor->data = data;
  if ((guintptr) data % sl_dtype_size (tensor->dtype) != 0) {
    if (!may_copy (reader, bytes, error))
      return FALSE;
    tensor->data = sl_arena_memdup (reader->arena, data, bytes);
  }
  return TRUE;
}

static gboolean
read_tensor (Reader *reader, guint index, GError **error)
{
  const SlFbTable table = sl_fb_vector_table (&reader->tensors, index);
  g_autofree char *name = sl_fb_dup_name (&table, TFL_TENSOR_NAME, MAX_NAME);
  SlTensor tensor = { 0 };
  if (!may_copy (reader, strlen (name), error))
    return FALSE;
  tensor.name = sl_arena_strdup (reader->arena, name);
  if (reader->used[index]
      && (!read_type (&table, &tensor, error) || !read_shape (&table, &tensor, error)
          || !settle_shape (reader, index, &table, &tensor, error)
          || !read_quantisation (reader, &table, &tensor, error)
          || !read_constant (reader, &table, &tensor, error)))
    return sl_fail_prefix (error, "tensor %u '%s': ", index, name);
  return sl_fb_check (&reader->fb, error)
         && sl_graph_add_tensor (reader->graph, &tensor, error) >= 0;
}

static gboolean
read_options (Reader *reader, const SlFbTable *node, const TflOp *op, TflOptions *options,
              GError **error)
{
  const guint8 type = sl_fb_u8 (node, TFL_OPERATOR_OPTIONS_TYPE, 0);
  const SlFbVector custom = sl_fb_vector (node, TFL_OPERATOR_CUSTOM_OPTIONS, 1);
  const guint64 offset = sl_fb_u64 (node, TFL_OPERATOR_LARGE_OFFSET, 0),
                size = sl_fb_u64 (node, TFL_OPERATOR_LARGE_SIZE, 0);
  if (op->options_type != 0 && type != 0 && type != op->options_type)
    return sl_fail (error, SL_ERROR_FORMAT, "its options are of type %u; expected %u", type,
                    op->options_type);
  if (op->options_type != 0 && type != 0)
    options->options = sl_fb_table (node, TFL_OPERATOR_OPTIONS);
  options->custom = sl_fb_vector_data (&custom);
  options->custom_size = custom.count;
  if (custom.count == 0 && offset > 1 && offset <= reader->fb.size
      && size <= reader->fb.size - offset) {
    options->custom = reader->fb.data + (gsize) offset;
    options->custom_size = (gsize) size;
  }
  return TRUE;
}

/* Whether converters of the time before TensorType INT8 wrote symmetric int8 weights of this
 * operator as UINT8 with zero point 0. */
static gboolean
had_signed_weights (SlOpType op)
{
  return op == SL_OP_CONV_2D || op == SL_OP_FULLY_CONNECTED
         || op == SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM;
}

/* Such weights as int8. Only under float activations: there TensorFlow Lite reads them so, and no
 * other meaning was ever written. */
static gboolean
read_signed_weights (Reader *reader, SlOpType op, gint32 *inputs, guint n, GError **error)
{
  if (!had_signed_weights (op) || n < 2 || inputs[0] < 0
      || sl_graph_tensor (reader->graph, inputs[0])->dtype != SL_DTYPE_F32)
    return TRUE;
  for (guint i = 1; i < n; i++) {
    const SlTensor *tensor = inputs[i] < 0 ? NULL : sl_graph_tensor (reader->graph, inputs[i]);
    if (tensor == NULL || tensor->dtype != SL_DTYPE_U8 || tensor->data == NULL
        || tensor->quant.count != 1 || tensor->quant.zero_point[0] != 0)
      continue;
    gint32 *copy = &reader->signed_copies[inputs[i]];
    if (*copy == 0) {
      SlTensor codes = *tensor;
      codes.dtype = SL_DTYPE_I8;
      *copy = sl_graph_add_tensor (reader->graph, &codes, error);
      if (*copy < 0)
        return FALSE;
    }
    inputs[i] = *copy;
  }
  return TRUE;
}

/* MediaPipe's transposed convolution has data, weights and a bias, and no shape of the output,
 * which follows from its window. */
static gboolean
add_output_shape (Reader *reader, const SlWindow *window, gint32 *inputs, guint *n, GError **error)
{
  const SlTensor *x = *n == 3 && inputs[0] >= 0 ? sl_graph_tensor (reader->graph, inputs[0]) : NULL;
  const SlTensor *weights =
    x != NULL && inputs[1] >= 0 ? sl_graph_tensor (reader->graph, inputs[1]) : NULL;
  if (weights == NULL || x->rank != 4 || weights->rank != 4)
    return sl_fail (error, SL_ERROR_SHAPE, "expected data and weights of 4 dimensions and a bias");
  const gboolean same = window->padding == SL_PADDING_SAME;
  const gint64 h = ((gint64) x->dims[1] - !same) * window->stride_h + (same ? 0 : weights->dims[1]);
  const gint64 w = ((gint64) x->dims[2] - !same) * window->stride_w + (same ? 0 : weights->dims[2]);
  const gint32 shape[4] = { x->dims[0], (gint32) CLAMP (h, 0, G_MAXINT32),
                            (gint32) CLAMP (w, 0, G_MAXINT32), weights->dims[0] };
  const SlTensor constant = { .name = "shape",
                              .dtype = SL_DTYPE_I32,
                              .rank = 1,
                              .dims = { 4 },
                              .bytes = sizeof shape,
                              .data = sl_arena_memdup (reader->arena, shape, sizeof shape) };
  const gint32 index = sl_graph_add_tensor (reader->graph, &constant, error);
  if (index < 0)
    return FALSE;
  inputs[3] = inputs[2];
  inputs[2] = inputs[0];
  inputs[0] = index;
  *n = 4;
  return TRUE;
}

/* The scale of tensor @i of @indices, 0 = none. */
static gfloat
scale_of (const Reader *reader, const SlFbVector *indices, guint i)
{
  const gint32 index = i < indices->count ? sl_fb_vector_i32 (indices, i) : -1;
  if (index < 0 || index >= (gint64) reader->tensors.count)
    return 0;
  const SlFbTable tensor = sl_fb_vector_table (&reader->tensors, (guint32) index);
  const SlFbTable quant = sl_fb_table (&tensor, TFL_TENSOR_QUANTISATION);
  const SlFbVector scales = sl_fb_vector (&quant, TFL_QUANT_SCALE, 4);
  return scales.count == 1 ? sl_fb_vector_f32 (&scales, 0) : 0;
}

static gboolean
read_operator (Reader *reader, guint index, GError **error)
{
  const SlFbTable node = sl_fb_vector_table (&reader->operators, index);
  const Code *code = &g_array_index (reader->codes, Code, sl_fb_u32 (&node, TFL_OPERATOR_CODE, 0));
  const SlFbVector in = sl_fb_vector (&node, TFL_OPERATOR_INPUTS, 4),
                   out = sl_fb_vector (&node, TFL_OPERATOR_OUTPUTS, 4);
  if (code->op == NULL)
    return tfl_variables_read_node (reader->variables, &reader->subgraphs, &node, index, error);
  gint32 inputs[SL_MAX_OPERANDS], outputs[SL_MAX_OPERANDS];
  SlOpParams params = { 0 };
  TflOptions options = { 0 };
  guint n_inputs = in.count;

  for (guint i = 0; i < in.count; i++) {
    inputs[i] = tfl_op_is_state (code->op, i) ? -1 : sl_fb_vector_i32 (&in, i);
    options.n_inputs += inputs[i] >= 0;
  }
  for (guint i = 0; i < out.count; i++)
    outputs[i] = sl_fb_vector_i32 (&out, i);
  if (code->builtin == TFL_BUILTIN_DENSIFY && in.count > 0
      && inputs[0] >= 0) { /* sparse constants are dense by now */
    const SlTensor *constant = sl_graph_tensor (reader->graph, inputs[0]);
    params.reshape.count = constant->rank;
    memcpy (params.reshape.dims, constant->dims, sizeof params.reshape.dims);
  }
  if (!read_options (reader, &node, code->op, &options, error)
      || !tfl_read_options (code->op, &options, &params, error)
      || (code->op->op == SL_OP_TRANSPOSE_CONV && code->custom != NULL
          && !add_output_shape (reader, &params.window, inputs, &n_inputs, error))) {
    g_autofree char *name = node_name (reader, &node);
    return sl_fail_prefix (error, "node %u %s '%s': ", index, sl_op_name (code->op->op), name);
  }
  if (code->op->op == SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM) /* states are no operands here, but the
                                                             cell's scale is said there */
    params.lstm.cell_scale = scale_of (reader, &in, TFL_LSTM_CELL_STATE);
  if (code->op->op == SL_OP_FULLY_CONNECTED)
    params.fully_connected.dynamic = params.fully_connected.dynamic && !reader->keep_activations
                                     && tfl_rounds_rows (reader->graph, inputs, n_inputs);
  const gboolean samples = code->op->op == SL_OP_ADD && !reader->keep_activations && n_inputs == 2
                           && out.count == 1 && params.binary.activation == SL_ACTIVATION_NONE
                           && tfl_find_sample (reader->graph, inputs, outputs[0], inputs, &params);
  return sl_fb_check (&reader->fb, error)
         && (code->op->op != SL_OP_CONV_2D || reader->keep_activations
             || tfl_round_activations (reader->graph, index, &params.window, inputs, n_inputs,
                                       error))
         && read_signed_weights (reader, code->op->op, inputs, n_inputs, error)
         && sl_graph_add_node (reader->graph, samples ? SL_OP_GRID_SAMPLE : code->op->op, index,
                               inputs, n_inputs, outputs, out.count, &params, error);
}

static gboolean
read_io (Reader *reader, SlModelMetadata *metadata, GError **error)
{
  guint n_inputs = reader->inputs.count, n_outputs = reader->outputs.count;
  gint32 inputs[SL_MAX_IO], outputs[SL_MAX_IO];
  if (reader->inputs.count > SL_MAX_IO || reader->outputs.count > SL_MAX_IO)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "the model has %u inputs and %u outputs; expected 1 to %d of each",
                    reader->inputs.count, reader->outputs.count, SL_MAX_IO);
  for (guint i = 0; i < reader->inputs.count; i++)
    inputs[i] = sl_fb_vector_i32 (&reader->inputs, i);
  for (guint i = 0; i < reader->outputs.count; i++)
    outputs[i] = sl_fb_vector_i32 (&reader->outputs, i);
  return sl_fb_check (&reader->fb, error)
         && tfl_variables_finish (reader->variables, reader->operators.count, inputs, &n_inputs,
                                  outputs, &n_outputs, metadata, error)
         && sl_graph_set_io (reader->graph, inputs, n_inputs, outputs, n_outputs, error);
}

static gboolean
read_metadata (Reader *reader, const SlFbTable *model, GBytes *bytes, SlModelMetadata *metadata,
               GError **error)
{
  const SlFbVector entries = sl_fb_vector (model, TFL_MODEL_METADATA, 4);
  const guint8 *buffer = NULL;
  gsize size = 0, said;
  const char *producer = sl_fb_string (model, TFL_MODEL_DESCRIPTION, &said);
  sl_model_metadata_state (metadata, "producer", producer, said);
  for (guint i = 0; i < MIN (entries.count, MAX_METADATA); i++) {
    const SlFbTable entry = sl_fb_vector_table (&entries, i);
    gsize length;
    const char *name = sl_fb_string (&entry, TFL_METADATA_ENTRY_NAME, &length);
    if (length != strlen (TFL_METADATA_NAME) || memcmp (name, TFL_METADATA_NAME, length) != 0)
      continue;
    if (!find_buffer (reader, sl_fb_u32 (&entry, TFL_METADATA_ENTRY_BUFFER, 0), &buffer, &size,
                      error))
      return sl_fail_prefix (error, "metadata: ");
    break;
  }
  return sl_fb_check (&reader->fb, error)
         && tfl_metadata_read (bytes, buffer, size, metadata, error);
}

static gboolean
probe (GBytes *bytes)
{
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  return sl_fb_has_identifier (data, size, TFL_IDENTIFIER);
}

static gboolean
read_model (GBytes *bytes, const SlReaderSource *source, SlGraph *graph, SlModelMetadata *metadata,
            GError **error)
{
  g_auto (Reader) reader = { .graph = graph,
                             .arena = sl_graph_arena (graph),
                             .keep_activations = source->keep_activations };
  SlFbTable model;
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);

  sl_fb_init (&reader.fb, data, size);
  reader.given =
    g_strsplit (source->input_shape != NULL ? source->input_shape : "", ";", SL_MAX_IO + 1);
  reader.codes = g_array_new (FALSE, TRUE, sizeof (Code));
  g_array_set_clear_func (reader.codes, code_clear);
  if (!open_model (&reader, &model, error) || !read_codes (&reader, &model, error))
    return FALSE;
  reader.variables = tfl_variables_new (
    &(TflVariableFile){ &reader, &reader.fb, graph, find_buffer, builtin_of, may_copy });
  reader.used = g_new0 (guint8, MAX (reader.tensors.count, 1));
  reader.signed_copies = g_new0 (gint32, MAX (reader.tensors.count, 1));
  if (!scan_operators (&reader, error))
    return FALSE;
  for (guint i = 0; i < reader.tensors.count; i++)
    if (!read_tensor (&reader, i, error))
      return FALSE;
  for (guint i = 0; i < reader.operators.count; i++)
    if (!read_operator (&reader, i, error))
      return FALSE;
  return read_io (&reader, metadata, error)
         && read_metadata (&reader, &model, bytes, metadata, error);
}

static gboolean
describe (GBytes *bytes, SlModelMetadata *metadata, GError **error)
{
  g_auto (Reader) reader = { 0 };
  SlFbTable model;
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  sl_fb_init (&reader.fb, data, size);
  return open_model (&reader, &model, error)
         && read_metadata (&reader, &model, bytes, metadata, error);
}

const SlModelReader sl_reader_tflite = {
  .name = "tflite", .endings = ".tflite", .probe = probe, .read = read_model, .describe = describe
};
