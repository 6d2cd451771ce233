/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice is static: instruction sets say whether their loops beat XNNPACK's, as measured on whole models. */
#include "core/backends/backend.h"

#include "core/backends/int8/int8.h"
#include "core/backends/xnnpack/xnn.h"

static gboolean
forced (const char *name)
{
  return g_strcmp0 (g_getenv ("SIGHTLINE_BACKEND"), name) == 0;
}

guint8 *
sl_backends_choose (const SlGraph *graph)
{
  const guint n = sl_graph_n_nodes (graph);
  const gboolean reference = forced ("reference"), xnnpack = forced ("xnnpack"), own = forced ("sightline");
  const SlInt8Isa *isa = sl_int8_isa ();
  guint8 *backends = g_new0 (guint8, n + 1);
  for (guint i = 0; i < n; i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (sl_op_get (node->op)->is_view)
      backends[i] = SL_BACKEND_VIEW;
    else if (reference)
      backends[i] = SL_BACKEND_PLAIN;
    else if (!xnnpack && sl_int8_supports (graph, node) && (own || sl_int8_faster (isa, graph, node)))
      backends[i] = SL_BACKEND_INT8;
    else
      backends[i] = sl_xnn_supports (graph, node) ? SL_BACKEND_XNNPACK : SL_BACKEND_PLAIN;
  }
  return backends;
}

/* Beside layers of our own, whose pool sleeps between frames, XNNPACK gets threads only for what is as large: its pool spins. Layers that
 * could run here and do not are small. */
gboolean
sl_backends_need_threads (const SlGraph *graph, const guint8 *backends)
{
  gboolean int8 = FALSE, heavy = FALSE, any = FALSE;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    const SlOpType op = node->op;
    const gboolean here = backends[i] == SL_BACKEND_XNNPACK;
    int8 |= backends[i] == SL_BACKEND_INT8;
    any |= here;
    heavy |=
      here && (op == SL_OP_CONV_2D || op == SL_OP_DEPTHWISE_CONV_2D || op == SL_OP_FULLY_CONNECTED) && !sl_int8_supports (graph, node);
  }
  return int8 ? heavy : any;
}

const char *
sl_backend_name (SlBackend backend)
{
  static const char *const names[] = { "sightline", "view", "xnnpack", "int8" };
  return names[backend];
}
