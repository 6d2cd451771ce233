/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes and constants of the graph being built, settled one by one. */
#include "models/lower/build.h"

#include <string.h>

#include "core/graph/constants.h"

/* What may be made of shapes alone, beside what may be copied. */
#define MADE_ALLOWANCE ((guint64) 32 << 20)
#define MAX_NAME 4096
/* What codes of few bits may become, in units of what may be copied: a byte is up to four floats.
 */
#define GRANTS 4

static const SlTensor nothing = { .name = "", .dtype = SL_DTYPE_F32 };

static void
fail (Lower *o, SlError code, const char *format, va_list args)
{
  if (o->error != NULL)
    return;
  g_autofree char *text = g_strdup_vprintf (format, args);
  const LowerNode *node = o->caller != NULL ? o->caller : o->node;
  if (node == NULL || o->is_foreign)
    g_set_error (&o->error, SL_ERROR, code, "%s", text);
  else
    g_set_error (&o->error, SL_ERROR, code, "node %u %s '%s' (opset %" G_GINT64_FORMAT "): %s",
                 node->index, node->op,
                 node->name[0] != '\0' || node->n_outputs == 0 ? node->name : node->outputs[0],
                 o->opset, text);
}

gint32
lower_fail (Lower *o, SlError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  fail (o, code, format, args);
  va_end (args);
  return -1;
}

gboolean
lower_refuse (Lower *o, SlError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  fail (o, code, format, args);
  va_end (args);
  return FALSE;
}

gpointer
lower_fail_null (Lower *o, SlError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  fail (o, code, format, args);
  va_end (args);
  return NULL;
}

gboolean
lower_fail_if (Lower *o, gboolean bad, SlError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  if (bad)
    fail (o, code, format, args);
  va_end (args);
  return bad;
}

const SlTensor *
lower_t (const Lower *o, gint32 index)
{
  return o->error == NULL && index >= 0 ? sl_graph_tensor (o->graph, index) : &nothing;
}

const void *
lower_constant_data (Lower *o, gint32 index)
{
  const SlTensor *tensor = lower_t (o, index);
  return tensor->data != NULL
             && sl_graph_need_constant (o->graph, tensor->data, tensor->bytes, &o->error)
           ? tensor->data
           : NULL;
}

SlDtype
lower_tensor_type (const Lower *o, gint32 index)
{
  return lower_t (o, index)->dtype;
}

SlTensor *
lower_change_tensor (Lower *o, gint32 index)
{
  static SlTensor scratch;
  scratch = nothing;
  return o->error == NULL && index >= 0 ? (SlTensor *) sl_graph_tensor (o->graph, index) : &scratch;
}

/* The name of the node or tensor that is being made, printable. */
static const char *
current_name (Lower *o)
{
  if (o->node == NULL || o->node->n_outputs == 0)
    return "";
  const char *text = o->node->outputs[0];
  g_autofree char *name = g_utf8_make_valid (text, (gssize) MIN (strlen (text), MAX_NAME));
  for (char *p = name; *p != '\0'; p++)
    if (g_ascii_iscntrl (*p))
      *p = '?';
  return g_string_chunk_insert_const (o->names, name);
}

gint32
lower_new_tensor (Lower *o, const SlTensor *like)
{
  SlTensor tensor = *like;
  if (o->error != NULL)
    return -1;
  if (tensor.name == NULL)
    tensor.name = current_name (o);
  tensor.name = sl_arena_strdup (o->arena, tensor.name);
  return sl_graph_add_tensor (o->graph, &tensor, &o->error);
}

/* Passes on what the core says of a node, less the node's number and name, which lower_fail() says.
 */
static void
fail_node (Lower *o, const GError *error)
{
  const char *op =
    g_str_has_prefix (error->message, "node ") ? strchr (error->message + 5, ' ') : NULL;
  const char *end = op != NULL ? strchr (op + 1, ' ') : NULL,
             *text = end != NULL ? strstr (end, "': ") : NULL;
  if (text != NULL)
    lower_fail (o, (SlError) error->code, "%.*s: %s", (gint) (end - op - 1), op + 1, text + 3);
  else
    lower_fail (o, (SlError) error->code, "%s", error->message);
}

gboolean
lower_is_open (const Lower *o, gint32 index)
{
  return index >= 0 && g_hash_table_contains (o->open, GINT_TO_POINTER (index));
}

/* Numbers computed of open rows are open; an operator that gathers or scatters gives its data,
 * whatever its indices are. */
static void
note_open (Lower *o, SlOpType op, const gint32 *inputs, guint n, const gint32 *outputs,
           guint n_outputs)
{
  const gboolean of_data =
    op == SL_OP_GATHER || op == SL_OP_GATHER_ND || op == SL_OP_GATHER_ELEMENTS;
  gboolean open =
    op == SL_OP_NON_MAX_SUPPRESSION_BATCH || op == SL_OP_NON_ZERO || op == SL_OP_UNIQUE;
  for (guint i = 0; i < (of_data ? 1 : n); i++)
    open |= lower_is_open (o, inputs[i]);
  for (guint i = 0; i < n_outputs && open; i++)
    g_hash_table_add (o->open, GINT_TO_POINTER (outputs[i]));
}

gboolean
lower_emit_all (Lower *o, SlOpType op, const gint32 *inputs, guint n, const SlOpParams *params,
                const SlDtype *dtypes, gint32 *outputs, guint n_outputs)
{
  GError *error = NULL;
  const SlTensor *first = lower_t (o, n > 0 ? inputs[0] : -1);
  for (guint i = 0; i < n_outputs; i++) {
    SlTensor output = { .dtype = dtypes[i] };
    if (first->dtype == dtypes[i]) /* what keeps codes keeps their meaning */
      output.quant = first->quant;
    outputs[i] = lower_new_tensor (o, &output);
    first = lower_t (o, n > 0 ? inputs[0] : -1);
    if (outputs[i] < 0)
      return FALSE;
  }
  const guint index = o->node != NULL ? o->node->index : 0;
  note_open (o, op, inputs, n, outputs, n_outputs);
  if (sl_graph_add_node (o->graph, op, index, inputs, n, outputs, n_outputs, params, &error)
      && sl_graph_settle_node (o->graph, &error))
    return TRUE;
  fail_node (o, error);
  g_error_free (error);
  return FALSE;
}

gint32
lower_emit (Lower *o, SlOpType op, const gint32 *inputs, guint n, const SlOpParams *params,
            SlDtype dtype)
{
  gint32 output = -1;
  return lower_emit_all (o, op, inputs, n, params, &dtype, &output, 1) ? output : -1;
}

gint32
lower_settled (Lower *o, SlOpType op, const gint32 *inputs, guint n, const SlOpParams *params,
               const SlTensor *like)
{
  GError *error = NULL;
  const gint32 output = lower_new_tensor (o, like);
  const guint index = o->node != NULL ? o->node->index : 0;
  if (output < 0)
    return -1;
  if (sl_graph_add_node (o->graph, op, index, inputs, n, &output, 1, params, &error)
      && sl_graph_settle_node (o->graph, &error))
    return output;
  fail_node (o, error);
  g_error_free (error);
  return -1;
}

gint32
lower_unary (Lower *o, SlOpType op, gint32 input)
{
  return lower_emit (o, op, &input, 1, NULL, lower_tensor_type (o, input));
}

gint32
lower_binary (Lower *o, SlOpType op, gint32 a, gint32 b)
{
  return lower_emit (o, op, (const gint32[]){ a, b }, 2, NULL, lower_tensor_type (o, a));
}

gint32
lower_reshape (Lower *o, gint32 input, const gint32 *dims, guint rank)
{
  SlOpParams params = { .reshape = { .count = rank } };
  const SlTensor *tensor = lower_t (o, input);
  if (o->error != NULL)
    return -1;
  if (tensor->rank == rank
      && (rank == 0 || memcmp (tensor->dims, dims, rank * sizeof dims[0]) == 0))
    return input;
  if (rank > 0)
    memcpy (params.reshape.dims, dims, rank * sizeof dims[0]);
  return lower_emit (o, SL_OP_RESHAPE, &input, 1, &params, lower_tensor_type (o, input));
}

gint32
lower_transpose (Lower *o, gint32 input, const gint32 *order)
{
  const SlTensor *tensor = lower_t (o, input);
  gint32 last = -1, dims[SL_MAX_RANK];
  gboolean moves = FALSE;
  if (o->error != NULL)
    return -1;
  for (guint i = 0; i < tensor->rank; i++) {
    dims[i] = tensor->dims[order[i]];
    moves |= dims[i] > 1 && order[i] < last;
    last = dims[i] > 1 ? order[i] : last;
  }
  const SlQuant quant = tensor->quant;
  const guint rank = tensor->rank;
  const gint32 y =
    moves ? lower_binary (o, SL_OP_TRANSPOSE, input, lower_ints_constant (o, order, rank))
          : lower_reshape (o, input, dims, rank);
  for (guint i = 0; i < rank && quant.count > 1; i++)
    if (order[i] == quant.axis)
      lower_change_tensor (o, y)->quant.axis = (gint) i;
  return y;
}

gint32
lower_cast (Lower *o, gint32 input, SlDtype dtype)
{
  return lower_tensor_type (o, input) == dtype ? input
                                               : lower_emit (o, SL_OP_CAST, &input, 1, NULL, dtype);
}

gint32
lower_reduce (Lower *o, SlOpType op, gint32 input, const gint32 *axes, guint n, gboolean keep_dims)
{
  const SlOpParams params = { .reduce = { .keep_dims = keep_dims } };
  return lower_emit (o, op, (const gint32[]){ input, lower_ints_constant (o, axes, n) }, 2, &params,
                     lower_tensor_type (o, input));
}

gint32
lower_cut (Lower *o, gint32 input, guint axis, gint32 first, gint32 end)
{
  const SlTensor *tensor = lower_t (o, input);
  gint32 begins[SL_MAX_RANK] = { 0 }, sizes[SL_MAX_RANK];
  if (o->error != NULL || (first == 0 && end == tensor->dims[axis]))
    return input;
  memcpy (sizes, tensor->dims, sizeof sizes);
  begins[axis] = first;
  sizes[axis] = end - first;
  const guint rank = tensor->rank;
  return lower_emit (o, SL_OP_SLICE,
                     (const gint32[]){ input, lower_ints_constant (o, begins, rank),
                                       lower_ints_constant (o, sizes, rank) },
                     3, NULL, lower_tensor_type (o, input));
}

gint32
lower_pad (Lower *o, gint32 input, const gint32 *amounts, gfloat value)
{
  const guint rank = lower_t (o, input)->rank;
  const gint32 dims[2] = { (gint32) rank, 2 };
  gboolean any = FALSE;
  for (guint i = 0; i < 2 * rank; i++)
    any |= amounts[i] != 0;
  if (!any)
    return input;
  const gint32 pads = lower_constant (o, SL_DTYPE_I32, 2, dims, amounts);
  if (value == 0)
    return lower_binary (o, SL_OP_PAD, input, pads);
  return lower_emit (o, SL_OP_PADV2,
                     (const gint32[]){ input, pads, lower_float_like (o, input, value) }, 3, NULL,
                     lower_tensor_type (o, input));
}

void
lower_grant (Lower *o, guint64 bytes)
{
  const guint64 most = GRANTS * o->may_copy;
  o->granted += MIN (bytes, most - MIN (o->granted, most));
}

gboolean
lower_may_make (Lower *o, guint64 bytes)
{
  if (o->error != NULL)
    return FALSE;
  o->made += bytes;
  if (o->made <= o->may_copy + o->granted + MADE_ALLOWANCE)
    return TRUE;
  return lower_refuse (o, SL_ERROR_LIMIT,
                       "what is made of the shapes of the model's nodes takes %" G_GUINT64_FORMAT
                       " bytes, over %" G_GUINT64_FORMAT,
                       o->made, o->may_copy + o->granted + MADE_ALLOWANCE);
}

gint32
lower_constant (Lower *o, SlDtype dtype, guint rank, const gint32 *dims, const void *data)
{
  SlTensor tensor = { .dtype = dtype, .rank = rank };
  gsize elements = 0;
  if (o->error != NULL)
    return -1;
  if (rank > 0)
    memcpy (tensor.dims, dims, rank * sizeof dims[0]);
  if (!sl_tensor_elements (&tensor, &elements))
    return lower_fail (o, SL_ERROR_LIMIT, "a constant's dimensions overflow");
  tensor.bytes = elements * sl_dtype_size (dtype);
  if (!lower_may_make (o, tensor.bytes))
    return -1;
  guint8 *copy = sl_arena_alloc (o->arena, tensor.bytes + SL_TENSOR_PADDING);
  memcpy (copy, data, tensor.bytes);
  tensor.data = copy;
  return lower_new_tensor (o, &tensor);
}

gint32
lower_ints_constant (Lower *o, const gint32 *values, guint n)
{
  return lower_constant (o, SL_DTYPE_I32, 1, (const gint32[]){ (gint32) n }, values);
}

gint32
lower_int_scalar (Lower *o, gint32 value)
{
  return lower_constant (o, SL_DTYPE_I32, 0, NULL, &value);
}

gint32
lower_count (Lower *o, gint64 first, gint64 end)
{
  const gint32 ends[2] = { (gint32) CLAMP (first, G_MININT32, G_MAXINT32),
                           (gint32) CLAMP (end, G_MININT32, G_MAXINT32) };
  const gint32 inputs[3] = { lower_int_scalar (o, ends[0]), lower_int_scalar (o, ends[1]),
                             lower_int_scalar (o, 1) };
  return lower_emit (o, SL_OP_RANGE, inputs, 3, NULL, SL_DTYPE_I32);
}

gint32
lower_float (Lower *o, gfloat value)
{
  return lower_constant (o, SL_DTYPE_F32, 0, NULL, &value);
}

gint32
lower_float_like (Lower *o, gint32 like, gfloat value)
{
  const SlDtype dtype = lower_tensor_type (o, like);
  const gint32 constant = lower_float (o, value);
  return dtype == SL_DTYPE_F32 ? constant : lower_cast (o, constant, dtype);
}

gint32
lower_unsigned (Lower *o, gint32 tensor)
{
  const SlTensor t = *lower_t (o, tensor);
  if (o->error != NULL || t.dtype != SL_DTYPE_I8 || t.quant.count != 1)
    return tensor;
  gint32 *zero = sl_arena_memdup (o->arena, t.quant.zero_point, sizeof zero[0]);
  zero[0] += 128;
  const SlQuant quant = { .count = 1, .scale = t.quant.scale, .zero_point = zero };
  return lower_settled (o, SL_OP_QUANTIZE, &tensor, 1, NULL,
                        &(SlTensor){ .dtype = SL_DTYPE_U8, .quant = quant });
}

static gboolean
is_taken (gint32 tensor, const gint32 *a, guint n_a, const gint32 *b, guint n_b)
{
  for (guint i = 0; i < n_a; i++)
    if (a[i] == tensor)
      return TRUE;
  for (guint i = 0; i < n_b; i++)
    if (b[i] == tensor)
      return TRUE;
  return FALSE;
}

/* A tensor of its own for what is a constant, an input or another output, too. */
static gint32
copy_output (Lower *o, gint32 tensor)
{
  const gint32 copy = lower_new_tensor (o, &(SlTensor){ .dtype = lower_tensor_type (o, tensor) });
  if (o->error != NULL
      || !sl_graph_add_node (o->graph, SL_OP_CAST, 0, &tensor, 1, &copy, 1, NULL, &o->error))
    return -1;
  return lower_t (o, tensor)->data != NULL || sl_graph_settle_node (o->graph, &o->error) ? copy
                                                                                         : -1;
}

gint32
lower_own_output (Lower *o, gint32 tensor, const gint32 *inputs, guint n_inputs,
                  const gint32 *outputs, guint n_outputs)
{
  if (o->error != NULL)
    return tensor;
  return lower_t (o, tensor)->data != NULL
             || is_taken (tensor, inputs, n_inputs, outputs, n_outputs)
           ? copy_output (o, tensor)
           : tensor;
}
