/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One XNNPACK subgraph for a whole convolutional model; see the header. */
#include "tests/bench/bare_xnnpack.h"

#include <math.h>
#include <pthreadpool.h>
#include <stdlib.h>
#include <xnnpack.h>

struct _BareLoop
{
  xnn_runtime_t runtime;
  pthreadpool_t pool;
  GPtrArray *memory; /* buffers and scales */
};

typedef struct
{
  const SlGraph *graph;
  BareLoop *loop;
  xnn_subgraph_t subgraph;
  uint32_t *ids; /* by tensor */
  GArray *externals;
} Build;

static enum xnn_datatype
type_of (const SlTensor *tensor)
{
  return tensor->dtype == SL_DTYPE_U8   ? xnn_datatype_quint8
         : tensor->dtype == SL_DTYPE_I8 ? xnn_datatype_qint8
                                        : xnn_datatype_fp32;
}

static uint32_t
define (Build *build, gint32 index, uint32_t flags)
{
  const SlTensor *t = sl_graph_tensor (build->graph, index);
  size_t dims[SL_MAX_RANK];
  uint32_t id = XNN_INVALID_VALUE_ID;
  const uint32_t external = flags != 0 ? (uint32_t) build->externals->len : XNN_INVALID_VALUE_ID;
  for (guint i = 0; i < t->rank; i++)
    dims[i] = (size_t) t->dims[i];
  if (t->dtype == SL_DTYPE_F32)
    xnn_define_tensor_value (build->subgraph, xnn_datatype_fp32, t->rank, dims, t->data, external,
                             flags, &id);
  else if (t->dtype == SL_DTYPE_I32)
    xnn_define_quantized_tensor_value (build->subgraph, xnn_datatype_qint32, 0, 1.0f, t->rank, dims,
                                       t->data, external, flags, &id);
  else if (t->quant.count > 1)
    xnn_define_channelwise_quantized_tensor_value (build->subgraph, xnn_datatype_qcint8,
                                                   t->quant.scale, t->rank, (size_t) t->quant.axis,
                                                   dims, t->data, external, flags, &id);
  else
    xnn_define_quantized_tensor_value (build->subgraph, type_of (t), sl_tensor_zero_point (t),
                                       sl_tensor_scale (t), t->rank, dims, t->data, external, flags,
                                       &id);
  if (flags != 0) {
    const struct xnn_external_value value = { id, aligned_alloc (64, (t->bytes + 127) / 64 * 64) };
    g_ptr_array_add (build->loop->memory, value.data);
    g_array_append_val (build->externals, value);
  }
  return id;
}

static uint32_t
value (Build *build, gint32 index)
{
  if (build->ids[index] == XNN_INVALID_VALUE_ID)
    build->ids[index] = define (build, index, 0);
  return build->ids[index];
}

/* The bias of per-channel weights is quantised per channel too. */
static uint32_t
bias_value (Build *build, const SlNode *node)
{
  const SlTensor *weights = sl_graph_tensor (build->graph, node->inputs[1]),
                 *bias = sl_graph_tensor (build->graph, node->inputs[2]);
  const size_t n = bias->bytes / 4;
  uint32_t id = XNN_INVALID_VALUE_ID;
  if (weights->quant.count <= 1)
    return value (build, node->inputs[2]);
  xnn_define_channelwise_quantized_tensor_value (build->subgraph, xnn_datatype_qcint32,
                                                 weights->quant.scale, 1, 0, &n, bias->data,
                                                 XNN_INVALID_VALUE_ID, 0, &id);
  return id;
}

static gboolean
add_node (Build *build, const SlNode *node)
{
  const SlWindow *w = &node->params.window;
  const SlTensor *x = sl_graph_tensor (build->graph, node->inputs[0]),
                 *y = sl_graph_tensor (build->graph, node->outputs[0]);
  const SlTensor *f = node->n_inputs > 1 ? sl_graph_tensor (build->graph, node->inputs[1]) : NULL;
  const float lo = w->activation == SL_ACTIVATION_NONE ? -INFINITY : 0,
              hi = w->activation == SL_ACTIVATION_RELU6 ? 6 : INFINITY;
  switch (node->op) {
    case SL_OP_CONV_2D:
      return xnn_define_convolution_2d (
               build->subgraph, (uint32_t) w->pad_top, (uint32_t) w->pad_right,
               (uint32_t) w->pad_bottom, (uint32_t) w->pad_left, (uint32_t) f->dims[1],
               (uint32_t) f->dims[2], (uint32_t) w->stride_h, (uint32_t) w->stride_w,
               (uint32_t) w->dilation_h, (uint32_t) w->dilation_w, 1, (size_t) f->dims[3],
               (size_t) f->dims[0], lo, hi, value (build, node->inputs[0]),
               value (build, node->inputs[1]), bias_value (build, node),
               value (build, node->outputs[0]), 0)
             == xnn_status_success;
    case SL_OP_DEPTHWISE_CONV_2D:
      return xnn_define_depthwise_convolution_2d (
               build->subgraph, (uint32_t) w->pad_top, (uint32_t) w->pad_right,
               (uint32_t) w->pad_bottom, (uint32_t) w->pad_left, (uint32_t) f->dims[1],
               (uint32_t) f->dims[2], (uint32_t) w->stride_h, (uint32_t) w->stride_w,
               (uint32_t) w->dilation_h, (uint32_t) w->dilation_w, (uint32_t) w->depth_multiplier,
               (size_t) x->dims[3], lo, hi, value (build, node->inputs[0]),
               value (build, node->inputs[1]), bias_value (build, node),
               value (build, node->outputs[0]), 0)
             == xnn_status_success;
    case SL_OP_ADD:
      return xnn_define_add2 (build->subgraph, -INFINITY, INFINITY, value (build, node->inputs[0]),
                              value (build, node->inputs[1]), value (build, node->outputs[0]), 0)
             == xnn_status_success;
    case SL_OP_AVERAGE_POOL_2D:
    case SL_OP_MEAN:
      return y->rank == 4 && y->dims[1] * y->dims[2] == 1
             && xnn_define_global_average_pooling_2d (build->subgraph, -INFINITY, INFINITY,
                                                      value (build, node->inputs[0]),
                                                      value (build, node->outputs[0]), 0)
                  == xnn_status_success;
    default:
      return FALSE;
  }
}

/* Nodes from the first convolution to the last that a later convolution needs; the classifier's
 * output ends it. */
static gboolean
add_nodes (Build *build)
{
  guint last = 0, first = 0;
  for (guint i = 0; i < sl_graph_n_nodes (build->graph); i++)
    if (sl_graph_node (build->graph, i)->op == SL_OP_CONV_2D)
      last = i;
  while (first < last && sl_graph_node (build->graph, first)->op == SL_OP_QUANTIZE)
    first++;
  const SlNode *start = sl_graph_node (build->graph, first),
               *end = sl_graph_node (build->graph, last);
  build->ids[start->inputs[0]] = define (build, start->inputs[0], XNN_VALUE_FLAG_EXTERNAL_INPUT);
  build->ids[end->outputs[0]] = define (build, end->outputs[0], XNN_VALUE_FLAG_EXTERNAL_OUTPUT);
  for (guint i = first; i <= last; i++)
    if (!add_node (build, sl_graph_node (build->graph, i)))
      return FALSE;
  return TRUE;
}

BareLoop *
bare_loop_new (const SlGraph *graph, guint threads)
{
  BareLoop *loop = g_new0 (BareLoop, 1);
  Build build = { .graph = graph, .loop = loop };
  loop->memory = g_ptr_array_new_with_free_func (free);
  build.ids = g_new (uint32_t, sl_graph_n_tensors (graph));
  build.externals = g_array_new (FALSE, FALSE, sizeof (struct xnn_external_value));
  for (guint i = 0; i < sl_graph_n_tensors (graph); i++)
    build.ids[i] = XNN_INVALID_VALUE_ID;
  loop->pool = threads > 1 ? pthreadpool_create (threads) : NULL;
  gboolean ok =
    xnn_initialize (NULL) == xnn_status_success
    && xnn_create_subgraph (2, 0, &build.subgraph) == xnn_status_success && add_nodes (&build)
    && xnn_create_runtime_v2 (build.subgraph, loop->pool, 0, &loop->runtime) == xnn_status_success;
  ok = ok
       && xnn_setup_runtime (loop->runtime, build.externals->len, (void *) build.externals->data)
            == xnn_status_success;
  if (build.subgraph != NULL)
    xnn_delete_subgraph (build.subgraph);
  g_array_unref (build.externals);
  g_free (build.ids);
  if (!ok)
    g_clear_pointer (&loop, bare_loop_free);
  return loop;
}

void
bare_loop_run (BareLoop *loop)
{
  xnn_invoke_runtime (loop->runtime);
}

void
bare_loop_free (BareLoop *loop)
{
  if (loop->runtime != NULL)
    xnn_delete_runtime (loop->runtime);
  if (loop->pool != NULL)
    pthreadpool_destroy (loop->pool);
  g_ptr_array_unref (loop->memory);
  g_free (loop);
}
