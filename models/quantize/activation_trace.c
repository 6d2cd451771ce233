/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session gives back a graph's outputs only, and a graph has few of them. So the graph is cut
 * into pieces of neighbouring nodes, each a graph of its own whose outputs are all that its nodes
 * make.
 */
#include "models/quantize/activation_trace.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/passes/prepare.h"
#include "core/runtime/session.h"

/* Results of a piece, and tensors that it reads. */
#define MAX_RESULTS 32
#define MAX_READ 48

typedef struct
{
  SlGraph *graph;
  SlSession *session;
  const void *inputs[SL_MAX_IO];
  void *outputs[SL_MAX_IO];
} Piece;

struct _SlActivationTrace
{
  SlGraph *graph;
  GArray *pieces; /* of Piece */
  void **buffers; /* by tensor; NULL for constants and for what nobody makes */
  guint n_tensors;
};

/* A piece in the making: numbers of its tensors, in the whole graph and in its own. */
typedef struct
{
  SlActivationTrace *tape;
  SlGraph *graph;
  gint32 *own; /* by tensor of the whole graph, -1 = not in the piece */
  gint32 inputs[SL_MAX_IO], outputs[SL_MAX_IO];
  guint n_inputs, n_outputs;
} Draft;

static void
piece_clear (gpointer data)
{
  Piece *piece = data;
  sl_session_free (piece->session);
  sl_graph_unref (piece->graph);
}

static gint32
take (Draft *draft, gint32 tensor, gboolean made, GError **error)
{
  if (tensor < 0 || draft->own[tensor] >= 0)
    return tensor < 0 ? -1 : draft->own[tensor];
  const SlTensor *info = sl_graph_tensor (draft->tape->graph, tensor);
  draft->own[tensor] = sl_graph_add_tensor (draft->graph, info, error);
  if (info->data == NULL && made)
    draft->outputs[draft->n_outputs++] = tensor;
  else if (info->data == NULL)
    draft->inputs[draft->n_inputs++] = tensor;
  return draft->own[tensor];
}

static gboolean
add (Draft *draft, const SlNode *node, GError **error)
{
  gint32 inputs[SL_MAX_OPERANDS], outputs[SL_MAX_OUTPUTS];
  for (guint i = 0; i < node->n_inputs; i++)
    inputs[i] = take (draft, node->inputs[i], FALSE, error);
  for (guint i = 0; i < node->n_outputs; i++)
    outputs[i] = take (draft, node->outputs[i], TRUE, error);
  return sl_graph_add_node (draft->graph, node->op, node->index, inputs, node->n_inputs, outputs,
                            node->n_outputs, &node->params, error);
}

static gboolean
finish (Draft *draft, guint threads, GError **error)
{
  gint32 inputs[SL_MAX_IO], outputs[SL_MAX_IO];
  Piece piece = { .graph = draft->graph };
  for (guint i = 0; i < draft->n_inputs; i++) {
    inputs[i] = draft->own[draft->inputs[i]];
    piece.inputs[i] = draft->tape->buffers[draft->inputs[i]];
  }
  for (guint i = 0; i < draft->n_outputs; i++) {
    outputs[i] = draft->own[draft->outputs[i]];
    piece.outputs[i] = draft->tape->buffers[draft->outputs[i]];
  }
  g_array_append_val (draft->tape->pieces, piece);
  draft->graph = NULL;
  Piece *added = &g_array_index (draft->tape->pieces, Piece, draft->tape->pieces->len - 1);
  if (!sl_graph_set_io (added->graph, inputs, draft->n_inputs, outputs, draft->n_outputs, error)
      || !sl_graph_prepare (added->graph, error))
    return FALSE;
  added->session = sl_session_new (added->graph, threads, error);
  return added->session != NULL;
}

/* Whether @node fits into a piece that has nodes already. */
static gboolean
fits (const Draft *draft, const SlNode *node)
{
  return draft->n_outputs + node->n_outputs <= MAX_RESULTS
         && draft->n_inputs + node->n_inputs <= MAX_READ;
}

static gboolean
cut (SlActivationTrace *tape, guint n_nodes, guint threads, GError **error)
{
  g_autofree gint32 *own = g_new (gint32, tape->n_tensors);
  Draft draft = { .tape = tape, .own = own };
  gboolean good = TRUE;
  for (guint i = 0; i < n_nodes && good; i++) {
    const SlNode *node = sl_graph_node (tape->graph, i);
    if (draft.graph != NULL && !fits (&draft, node))
      good = finish (&draft, threads, error);
    if (draft.graph == NULL && good) {
      memset (own, 0xff, tape->n_tensors * sizeof own[0]);
      draft.n_inputs = draft.n_outputs = 0;
      draft.graph = sl_graph_new (NULL);
    }
    good = good && add (&draft, node, error);
  }
  good = good && (draft.graph == NULL || finish (&draft, threads, error));
  sl_graph_unref (draft.graph);
  return good;
}

static gboolean
allocate (SlActivationTrace *tape, gint32 tensor, GError **error)
{
  tape->buffers[tensor] = sl_tensor_buffer_new (sl_graph_tensor (tape->graph, tensor)->bytes);
  if (tape->buffers[tensor] != NULL)
    return TRUE;
  return sl_fail (error, SL_ERROR_LIMIT, "not enough memory for what the model's nodes make");
}

SlActivationTrace *
sl_activation_trace_new (SlGraph *graph, guint threads, GError **error)
{
  return sl_activation_trace_new_part (graph, sl_graph_n_nodes (graph), threads, error);
}

SlActivationTrace *
sl_activation_trace_new_part (SlGraph *graph, guint n_nodes, guint threads, GError **error)
{
  g_autoptr (SlActivationTrace) tape = g_new0 (SlActivationTrace, 1);
  tape->graph = graph;
  tape->n_tensors = sl_graph_n_tensors (graph);
  tape->buffers = g_new0 (void *, tape->n_tensors);
  tape->pieces = g_array_new (FALSE, TRUE, sizeof (Piece));
  g_array_set_clear_func (tape->pieces, piece_clear);
  if (!allocate (tape, sl_graph_input (graph, 0), error))
    return NULL;
  for (guint i = 0; i < n_nodes; i++)
    for (guint k = 0; k < sl_graph_node (graph, i)->n_outputs; k++)
      if (!allocate (tape, sl_graph_node (graph, i)->outputs[k], error))
        return NULL;
  return cut (tape, n_nodes, threads, error) ? g_steal_pointer (&tape) : NULL;
}

void
sl_activation_trace_free (SlActivationTrace *tape)
{
  if (tape == NULL)
    return;
  g_array_unref (tape->pieces);
  for (guint i = 0; i < tape->n_tensors; i++)
    sl_tensor_buffer_free (tape->buffers[i]);
  g_free (tape->buffers);
  g_free (tape);
}

gboolean
sl_activation_trace_run (SlActivationTrace *tape, const void *input, GError **error)
{
  const gint32 first = sl_graph_input (tape->graph, 0);
  memcpy (tape->buffers[first], input, sl_graph_tensor (tape->graph, first)->bytes);
  for (guint i = 0; i < tape->pieces->len; i++) {
    const Piece *piece = &g_array_index (tape->pieces, Piece, i);
    const SlStatus status = sl_session_run (piece->session, piece->inputs, piece->outputs);
    if (status == SL_STATUS_OK)
      continue;
    return sl_fail (error, SL_ERROR_BACKEND, "%s", sl_session_status_text (piece->session, status));
  }
  return TRUE;
}

const void *
sl_activation_trace_data (const SlActivationTrace *tape, gint32 tensor)
{
  return tape->buffers[tensor];
}
