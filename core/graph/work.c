/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums saturate: a shape that a file made up must not come out cheap. */
#include "core/graph/work.h"

#include "core/graph/attention.h"

static guint64
times (guint64 a, guint64 b)
{
  guint64 product;
  return g_uint64_checked_mul (&product, a, b) ? product : G_MAXUINT64;
}

static guint64
plus (guint64 a, guint64 b)
{
  guint64 sum;
  return g_uint64_checked_add (&sum, a, b) ? sum : G_MAXUINT64;
}

static guint64
elements_of (const SlTensor *tensor)
{
  gsize elements = 0;
  return tensor == NULL || sl_tensor_elements (tensor, &elements) ? elements : G_MAXUINT64;
}

/* The product of @tensor's dimensions @first..@end-1. */
static guint64
span (const SlTensor *tensor, guint first, guint end)
{
  guint64 product = 1;
  for (guint i = first; i < MIN (end, tensor->rank); i++)
    product = times (product, (guint64) tensor->dims[i]);
  return product;
}

/* A sample takes up to four pixels. Where their number is not stated, those of a region that lie in
 * the picture are at most as many in each direction as the picture has pixels, the region cells,
 * and two. */
static guint64
roi_align (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  const guint64 samples = (guint64) node->params.roi_align.samples;
  if (samples > 0)
    return times (times (elements_of (output), 4), times (samples, samples));
  const guint64 rows = plus (span (input, 1, 2), span (output, 1, 2)) + 2,
                columns = plus (span (input, 2, 3), span (output, 2, 3)) + 2;
  return times (times (span (output, 0, 1), span (output, 3, 4)), times (4, times (rows, columns)));
}

static guint64
lstm (const SlGraph *graph, const SlNode *node)
{
  guint64 weights = 0;
  for (guint i = 1; i < node->n_inputs; i++) {
    const SlTensor *tensor = sl_node_input (graph, node, i);
    weights =
      plus (weights,
            tensor != NULL && tensor->rank == 2 && tensor->data != NULL ? elements_of (tensor) : 0);
  }
  return times (weights, span (sl_node_input (graph, node, 0), 0, 2));
}

static guint64
attention (const SlAttention *a)
{
  return times (
    times ((guint64) a->q.dims[0], (guint64) a->q.dims[1]),
    times ((guint64) a->k.dims[1], plus ((guint64) a->q.dims[2], (guint64) a->v.dims[2])));
}

guint64
sl_node_multiply_adds (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *output = sl_node_output (graph, node, 0), *input = sl_node_input (graph, node, 0);
  const SlTensor *weights = node->n_inputs > 1 ? sl_node_input (graph, node, 1) : NULL;
  switch (node->op) {
    case SL_OP_CONV_2D:
      return times (elements_of (output), span (weights, 1, 4));
    case SL_OP_DEPTHWISE_CONV_2D:
      return times (elements_of (output), span (weights, 1, 3));
    case SL_OP_TRANSPOSE_CONV:
      return times (elements_of (sl_node_input (graph, node, 2)), span (weights, 0, 3));
    case SL_OP_FULLY_CONNECTED:
      return times (elements_of (output), span (weights, 1, 2));
    case SL_OP_BATCH_MATMUL:
      return times (elements_of (output),
                    (guint64) input->dims[input->rank - (node->params.matmul.transpose_a ? 2 : 1)]);
    case SL_OP_ATTENTION:
      return attention (node->params.attention);
    case SL_OP_GRID_SAMPLE:   /* one tap, two or four along each of two or three dimensions */
      if (node->n_inputs > 2) /* for each weight */
        return times (elements_of (sl_node_input (graph, node, 2)),
                      4 * (guint64) input->dims[input->rank - 1]);
      return times (elements_of (output), node->params.grid_sample.mode == SL_SAMPLE_CUBIC ? 16
                                          : input->rank == 5                               ? 8
                                                                                           : 4);
    case SL_OP_HEAT_MAP_PEAKS: /* four taps a place, and the others once for each column */
      return times (elements_of (input), 4 * SL_HEAT_MAP_STEPS * SL_HEAT_MAP_STEPS);
    case SL_OP_ROI_ALIGN:
      return roi_align (graph, node);
    case SL_OP_DEFORM_COLUMNS: /* four pixels an element */
      return times (elements_of (output), 4);
    case SL_OP_LOCAL_RESPONSE_NORMALIZATION: /* at most, the sum over its window and the power */
      return times (elements_of (output), (guint64) MIN ((gint64) node->params.local_response.before
                                                           + node->params.local_response.after,
                                                         input->dims[input->rank - 1])
                                            + 32);
    case SL_OP_DETERMINANT:
      return times (elements_of (input), (guint64) input->dims[input->rank - 1]);
    case SL_OP_RESAMPLE:
      return times (elements_of (output), (guint64) weights->dims[1]);
    case SL_OP_RECURRENT:
      return times (elements_of (input), (guint64) weights->dims[0]);
    case SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM:
      return lstm (graph, node);
    default:
      return 0;
  }
}

/* What an element of the output takes, in multiply-adds: functions of the C library take as long as
 * several. */
static guint64
per_element (const SlNode *node)
{
  const SlWindow *window = &node->params.window;
  switch (node->op) {
    case SL_OP_AVERAGE_POOL_2D:
    case SL_OP_MAX_POOL_2D:
    case SL_OP_L2_POOL_2D:
    case SL_OP_MAX_POOL_WITH_ARGMAX:
      return times ((guint64) MAX (window->filter_h, 1), (guint64) MAX (window->filter_w, 1));
    case SL_OP_POW:
    case SL_OP_FLOOR_DIV:
    case SL_OP_FLOOR_MOD:
    case SL_OP_FMOD:
    case SL_OP_ATAN2:
    case SL_OP_LOGISTIC:
    case SL_OP_ELU:
    case SL_OP_GELU:
    case SL_OP_MISH:
    case SL_OP_TANH:
    case SL_OP_EXP:
    case SL_OP_LOG:
    case SL_OP_SIN:
    case SL_OP_COS:
    case SL_OP_ERF:
    case SL_OP_ASIN:
    case SL_OP_ACOS:
    case SL_OP_ATAN:
    case SL_OP_SINH:
    case SL_OP_COSH:
    case SL_OP_ASINH:
    case SL_OP_ACOSH:
    case SL_OP_ATANH:
    case SL_OP_SOFTMAX:
    case SL_OP_LOG_SOFTMAX:
      return 32;
    default:
      return 4;
  }
}

/* For operators that compare elements with each other, or take each of what comes, however often it
 * is for the same place. */
static guint64
comparisons (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  switch (node->op) {
    case SL_OP_SCATTER_ELEMENTS:
    case SL_OP_SCATTER_ND:
      return times (8, plus (elements_of (sl_node_input (graph, node, 1)),
                             elements_of (sl_node_input (graph, node, 2))));
    case SL_OP_ROI_POOL: /* cells share pixels at their edges */
      return times (
        times (span (output, 0, 1), span (output, 3, 4)),
        times (plus (span (sl_node_input (graph, node, 0), 1, 2), 2 * span (output, 1, 2)),
               plus (span (sl_node_input (graph, node, 0), 2, 3), 2 * span (output, 2, 3))));
    case SL_OP_UNIQUE: /* sorts */
      return times (elements_of (sl_node_input (graph, node, 0)), 128);
    case SL_OP_TOPK_V2: /* moves up to k entries for each element */
      return times (elements_of (sl_node_input (graph, node, 0)),
                    (guint64) output->dims[output->rank - 1] / 4);
    case SL_OP_NON_MAX_SUPPRESSION_V4:
    case SL_OP_NON_MAX_SUPPRESSION_V5:
      return times (elements_of (sl_node_input (graph, node, 1)), times (8, elements_of (output)));
    case SL_OP_NON_MAX_SUPPRESSION_BATCH: /* each box of a class with those kept before it */
      return times (
        elements_of (sl_node_input (graph, node, 1)),
        times (4, (guint64) MIN (node->params.nms.most, sl_node_input (graph, node, 1)->dims[2])));
    case SL_OP_POSENET_DECODER: /* each score may start a person of 17 points, 13 samples of 4
                                   places each, and is compared with all before */
      return times (elements_of (sl_node_input (graph, node, 0)),
                    plus (1024, elements_of (sl_node_output (graph, node, 2))));
    case SL_OP_DETECTION_POSTPROCESS:
      return times (elements_of (sl_node_input (graph, node, 1)),
                    times (8, elements_of (sl_node_output (graph, node, 2))));
    default:
      return 0;
  }
}

/* Operators of which an element of the output takes many of the input. */
static gboolean
reads_all (SlOpType op)
{
  switch (op) {
    case SL_OP_MEAN:
    case SL_OP_SUM:
    case SL_OP_REDUCE_MAX:
    case SL_OP_REDUCE_MIN:
    case SL_OP_REDUCE_PROD:
    case SL_OP_ARG_MAX:
    case SL_OP_ARG_MIN:
    case SL_OP_TOPK_V2:
    case SL_OP_RESIZE_ARG_MAX:
    case SL_OP_DETECTION_POSTPROCESS:
      return TRUE;
    default:
      return FALSE;
  }
}

guint64
sl_node_work (const SlGraph *graph, const SlNode *node)
{
  if (sl_op_get (node->op)->is_view)
    return 0;
  guint64 work = plus (sl_node_multiply_adds (graph, node), comparisons (graph, node));
  for (guint i = 0; i < node->n_outputs; i++)
    work = plus (work, times (elements_of (sl_node_output (graph, node, i)), per_element (node)));
  if (reads_all (node->op))
    work = plus (work, times (elements_of (sl_node_input (graph, node, 0)), per_element (node)));
  return work;
}

guint64
sl_graph_multiply_adds (const SlGraph *graph)
{
  guint64 total = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    total = plus (total, sl_node_multiply_adds (graph, sl_graph_node (graph, i)));
  return total;
}

guint64
sl_graph_work (const SlGraph *graph)
{
  guint64 total = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    total = plus (total, sl_node_work (graph, sl_graph_node (graph, i)));
  return total;
}
