/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of backends, and which of them runs each node. The choice follows from the graph and
 * the processor alone. */
#include "core/backends/backend.h"

#include <string.h>

#include "core/base/build_selection.h"

/* The preferred first; the last one supports every node. */
static const SlBackend *const rows[] = {
#if SL_KEEPS(backend, int8)
  &sl_backend_int8,
#endif
#if SL_KEEPS(backend, float)
  &sl_backend_float,
#endif
#if SL_KEEPS(backend, xnnpack)
  &sl_backend_xnnpack,
#endif
  &sl_backend_plain,
};

G_STATIC_ASSERT (G_N_ELEMENTS (rows) <= SL_MAX_BACKENDS);

void
sl_host_need_scratch (SlHost *host, gsize bytes)
{
  host->scratch.bytes =
    MAX (host->scratch.bytes, (bytes + SL_TENSOR_ALIGN - 1) / SL_TENSOR_ALIGN * SL_TENSOR_ALIGN);
}

const SlBackend *
sl_backends_get (guint i)
{
  return i < G_N_ELEMENTS (rows) ? rows[i] : NULL;
}

const char **
sl_backends_for (const SlGraph *graph)
{
  const char **names = g_new0 (const char *, G_N_ELEMENTS (rows) + 1);
  guint n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = 0; k < sl_graph_n_nodes (graph); k++)
      if (rows[i]->supports (graph, sl_graph_node (graph, k))) {
        names[n++] = rows[i]->name;
        break;
      }
  return names;
}

static guint
position_of (const SlBackend *backend)
{
  guint i = 0;
  while (rows[i] != backend)
    i++;
  return i;
}

/* (nullable): the row that SIGHTLINE_BACKEND names. */
static const SlBackend *
forced_backend (void)
{
  static gint warned;
  const char *name = g_getenv ("SIGHTLINE_BACKEND");
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (rows); i++)
    if (strcmp (name, rows[i]->name) == 0)
      return rows[i];
  if (name != NULL && *name != '\0' && g_atomic_int_compare_and_exchange (&warned, 0, 1)) {
    g_autoptr (GString) names = g_string_new (rows[0]->name);
    for (guint i = 1; i < G_N_ELEMENTS (rows); i++)
      g_string_append_printf (names, "%s%s", i + 1 < G_N_ELEMENTS (rows) ? ", " : " or ",
                              rows[i]->name);
    g_warning ("SIGHTLINE_BACKEND is '%s', expected %s: the backends are chosen as without it",
               name, names->str);
  }
  return NULL;
}

static gboolean
is_layer (const SlNode *node)
{
  return node->op == SL_OP_CONV_2D || node->op == SL_OP_DEPTHWISE_CONV_2D
         || node->op == SL_OP_FULLY_CONNECTED;
}

/* A row that is not faster is so in comparison with the next ones. The last row is slow at layers,
 * so that one goes back to the first row that supports it. */
static const SlBackend *
choose (const SlGraph *graph, const SlNode *node, const SlBackend *forced)
{
  guint first = forced != NULL ? position_of (forced) : 0;
  while (!rows[first]->supports (graph, node))
    first++;
  guint i = first;
  while (!rows[i]->supports (graph, node)
         || (rows[i] != forced && rows[i]->faster != NULL && !rows[i]->faster (graph, node)))
    i++;
  return i + 1 == G_N_ELEMENTS (rows) && is_layer (node) ? rows[first] : rows[i];
}

const SlBackend **
sl_backends_choose (const SlGraph *graph)
{
  const guint n = sl_graph_n_nodes (graph);
  const SlBackend *forced = forced_backend ();
  const SlBackend **backends = g_new0 (const SlBackend *, n + 1);
  for (guint i = 0; i < n; i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (!sl_op_get (node->op)->is_view)
      backends[i] = choose (graph, node, forced);
  }
  return backends;
}

const SlBackend *
sl_backends_next (const SlBackend *backend, const SlGraph *graph, const SlNode *node)
{
  guint i = position_of (backend) + 1;
  while (!rows[i]->supports (graph, node))
    i++;
  return rows[i];
}

gboolean
sl_backends_heavy (const SlHost *host, const SlBackend *backend)
{
  const guint position = position_of (backend);
  gboolean before = FALSE, heavy = FALSE, any = FALSE;
  for (guint i = 0; i < sl_graph_n_nodes (host->graph); i++) {
    const SlNode *node = sl_graph_node (host->graph, i);
    gboolean taken = FALSE;
    for (guint k = 0; k < position; k++) {
      before |= host->backends[i] == rows[k];
      taken |=
        host->backends[i] == backend && is_layer (node) && rows[k]->supports (host->graph, node);
    }
    any |= host->backends[i] == backend;
    heavy |= host->backends[i] == backend && is_layer (node) && !taken;
  }
  return before ? heavy : any;
}
