/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/quantize/weights_graph.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "models/quantize/constant.h"

/* Smaller constants save nothing; TensorFlow Lite's converter has the first of these bars. */
#define MIN_I8 1024
#define MIN_F16 64
#define MAX_VALUE 127

typedef struct
{
  SlGraph *from, *to;
  SlArena *arena;
  SlWeights how;
  gboolean decoded;
  gint32 *other; /* by tensor: its stored form; -1 = not made yet */
  GError **error;
} Rewrite;

static gsize
count_of (const SlTensor *tensor)
{
  return tensor->bytes / sizeof (gfloat);
}

static gint32
add_tensor (Rewrite *c, const SlTensor *like, const char *suffix)
{
  SlTensor tensor = *like;
  g_autofree char *name = g_strconcat (like->name, suffix, NULL);
  tensor.name = sl_arena_strdup (c->arena, name);
  return sl_graph_add_tensor (c->to, &tensor, c->error);
}

/* A constant of values that halves have. */
static gint32
add_rounded (Rewrite *c, gint32 constant)
{
  const SlTensor *from = sl_graph_tensor (c->from, constant);
  SlTensor rounded = *from;
  gfloat *values = sl_tensor_alloc (c->arena, from->bytes);
  for (gsize i = 0; i < count_of (from); i++)
    values[i] = sl_half_to_float (sl_half_from_float (((const gfloat *) from->data)[i]));
  rounded.data = values;
  return add_tensor (c, &rounded, "/float16");
}

/* A DEQUANTIZE of the constant's halves. */
static gint32
add_halves (Rewrite *c, const SlNode *node, gint32 constant)
{
  const SlTensor *from = sl_graph_tensor (c->from, constant);
  const gsize n = count_of (from);
  SlTensor stored = *from, floats = *from;
  guint16 *halves = sl_tensor_alloc (c->arena, n * sizeof halves[0]);
  for (gsize i = 0; i < n; i++)
    halves[i] = sl_half_from_float (((const gfloat *) from->data)[i]);
  stored.dtype = SL_DTYPE_F16;
  stored.bytes = n * sizeof halves[0];
  stored.data = halves;
  floats.data = NULL;
  const gint32 input = add_tensor (c, &stored, "/float16"),
               output = input >= 0 ? add_tensor (c, &floats, "/float") : -1;
  if (output < 0
      || !sl_graph_add_node (c->to, SL_OP_DEQUANTIZE, node->index, &input, 1, &output, 1, NULL,
                             c->error))
    return -1;
  return output;
}

/* Symmetric codes of a layer's weights; a layer with one scale is one of a single channel. */
static gint32
add_codes (Rewrite *c, const SlNode *node, gint32 constant)
{
  const SlTensor *from = sl_graph_tensor (c->from, constant);
  const gboolean depthwise = node->op == SL_OP_DEPTHWISE_CONV_2D;
  const gint axis = depthwise ? 3 : 0;
  const gsize n = count_of (from),
              channels = node->op == SL_OP_FULLY_CONNECTED ? 1 : (gsize) from->dims[axis],
              inner = n / channels;
  const gfloat *values = from->data;
  gfloat *scales = sl_arena_alloc (c->arena, channels * sizeof scales[0]);
  gint32 *zero_points = sl_arena_alloc (c->arena, channels * sizeof zero_points[0]);
  gint8 *codes = sl_tensor_alloc (c->arena, n);
  memset (scales, 0, channels * sizeof scales[0]);
  memset (zero_points, 0, channels * sizeof zero_points[0]);
  for (gsize i = 0; i < n; i++) {
    gfloat *scale = &scales[depthwise ? i % channels : i / inner];
    *scale = MAX (*scale, fabsf (values[i]) / MAX_VALUE);
  }
  for (gsize o = 0; o < channels; o++)
    scales[o] = MAX (scales[o], 1e-30f);
  for (gsize i = 0; i < n; i++)
    codes[i] = (gint8) CLAMP (nearbyintf (values[i] / scales[depthwise ? i % channels : i / inner]),
                              -MAX_VALUE, MAX_VALUE);
  SlTensor stored = *from;
  stored.dtype = SL_DTYPE_I8;
  stored.bytes = n;
  stored.data = codes;
  stored.quant = (SlQuant){ (guint) channels, channels > 1 ? axis : 0, scales, zero_points };
  return add_tensor (c, &stored, "/int8");
}

/* Whether TensorFlow Lite takes operand @i of @node stored so. */
static gboolean
can_store (const Rewrite *c, const SlNode *node, guint i)
{
  const SlTensor *tensor = sl_node_input (c->from, node, i),
                 *first = sl_node_input (c->from, node, 0);
  if (tensor == NULL || tensor->data == NULL || tensor->dtype != SL_DTYPE_F32)
    return FALSE;
  if (c->how == SL_WEIGHTS_F16)
    return count_of (tensor) >= MIN_F16 && sl_constant_is_within (tensor, SL_HALF_MOST);
  const gboolean whole = node->op == SL_OP_CONV_2D && tensor->dims[3] == first->dims[3];
  return i == 1 && count_of (tensor) >= MIN_I8
         && (whole || node->op == SL_OP_DEPTHWISE_CONV_2D || node->op == SL_OP_FULLY_CONNECTED)
         && sl_constant_is_within (tensor, FLT_MAX);
}

static gboolean
add_node (Rewrite *c, const SlNode *node, guint *n)
{
  gint32 inputs[SL_MAX_OPERANDS];
  gboolean stored = FALSE;
  for (guint i = 0; i < node->n_inputs; i++) {
    inputs[i] = node->inputs[i];
    if (!can_store (c, node, i))
      continue;
    gint32 *other = &c->other[inputs[i]];
    if (*other < 0)
      *other = c->how == SL_WEIGHTS_I8 ? add_codes (c, node, inputs[i])
               : c->decoded            ? add_rounded (c, inputs[i])
                                       : add_halves (c, node, inputs[i]);
    if ((inputs[i] = *other) < 0)
      return FALSE;
    stored = TRUE;
  }
  *n += stored;
  return sl_graph_add_node (c->to, node->op, node->index, inputs, node->n_inputs, node->outputs,
                            node->n_outputs, &node->params, c->error);
}

static void
drop_reference (gpointer graph)
{
  sl_graph_unref (graph);
}

SlGraph *
sl_weights_graph_new (SlGraph *graph, SlWeights how, gboolean decoded, guint *n, GError **error)
{
  const guint tensors = sl_graph_n_tensors (graph), n_outputs = sl_graph_n_outputs (graph);
  gint32 outputs[SL_MAX_IO];
  const gint32 input = sl_graph_input (graph, 0);
  g_autoptr (SlGraph) to = sl_graph_new (NULL);
  g_autofree gint32 *other = g_new (gint32, MAX (tensors, 1));
  Rewrite c = { .from = graph,
                .to = to,
                .arena = sl_graph_arena (to),
                .how = how,
                .decoded = decoded,
                .other = other,
                .error = error };
  *n = 0;
  sl_graph_set_source (to, sl_graph_ref (graph), drop_reference);
  memset (other, 0xff, tensors * sizeof other[0]);
  for (guint i = 0; i < tensors; i++)
    if (sl_graph_add_tensor (to, sl_graph_tensor (graph, (gint32) i), error) < 0)
      return NULL;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    if (!add_node (&c, sl_graph_node (graph, i), n))
      return NULL;
  for (guint i = 0; i < n_outputs; i++)
    outputs[i] = sl_graph_output (graph, i);
  return sl_graph_set_io (to, &input, 1, outputs, n_outputs, error) ? g_steal_pointer (&to) : NULL;
}
