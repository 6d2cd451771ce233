/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights that XNNPACK packed, for all runtimes of a graph, as one entry of its weight cache: an
 * XNNPACK that asks a provider for memory gets each node's weights packed once for all runtimes.
 * What has been packed is never moved, so an offset is an address. Older ones pack for every
 * runtime; then there is nothing here to share.
 */
#include "core/backends/xnnpack/xnn.h"

#include <string.h>
#include <xnnpack.h>

#ifdef SL_XNN_WEIGHTS

typedef struct
{
  struct xnn_weights_cache_look_up_key key;
  void *data;
  gsize size;
} Packed;

typedef struct
{
  struct xnn_weights_cache_provider provider;
  const SlGraph *graph;
  SlWeightCache *cache;
  GMutex mutex; /* held while a runtime is made; runtimes that run only read what is packed */
  GArray *all;  /* of Packed */
  void *reserved;
} Weights;

/* Whether nodes share @data, which they may read with other scales or zero points: XNNPACK's key
 * does not tell these apart. */
static gboolean
is_shared (const SlGraph *graph, const void *data)
{
  guint users = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    for (guint k = 0; k < node->n_inputs; k++)
      users += node->inputs[k] >= 0 && sl_graph_tensor (graph, node->inputs[k])->data == data;
  }
  return users > 1;
}

static gboolean
same_key (const struct xnn_weights_cache_look_up_key *a,
          const struct xnn_weights_cache_look_up_key *b)
{
  return a->seed == b->seed && a->kernel == b->kernel && a->bias == b->bias;
}

static size_t
look_up (void *context, const struct xnn_weights_cache_look_up_key *key)
{
  const Weights *weights = context;
  if (key->kernel == NULL || is_shared (weights->graph, key->kernel))
    return SIZE_MAX;
  for (guint i = 0; i < weights->all->len; i++)
    if (same_key (&g_array_index (weights->all, Packed, i).key, key))
      return (size_t) g_array_index (weights->all, Packed, i).data;
  return SIZE_MAX;
}

static void *
reserve_space (void *context, size_t n)
{
  Weights *weights = context;
  sl_tensor_buffer_free (weights->reserved);
  weights->reserved = sl_tensor_buffer_new (n);
  return weights->reserved;
}

/* Some operators ask for what look_up() has found once more, without @data. */
static size_t
look_up_or_insert (void *context, const struct xnn_weights_cache_look_up_key *key, void *data,
                   size_t size)
{
  Weights *weights = context;
  for (guint i = 0; i < weights->all->len; i++) {
    const Packed *packed = &g_array_index (weights->all, Packed, i);
    if (packed->size == size && same_key (&packed->key, key)
        && (data == NULL || memcmp (packed->data, data, size) == 0))
      return (size_t) packed->data;
  }
  const Packed packed = { *key, data, size };
  g_array_append_val (weights->all, packed);
  sl_weight_cache_count (weights->cache, size);
  weights->reserved = NULL;
  return (size_t) data;
}

static bool
is_finalized (void *context)
{
  return true;
}

static void *
offset_to_addr (void *context, size_t offset)
{
  return (void *) offset;
}

static enum xnn_status
delete_cache (void *context)
{
  return xnn_status_success;
}

static void *
weights_new (SlArena *arena, gpointer data)
{
  const SlHost *host = data;
  Weights *weights = sl_arena_alloc (arena, sizeof *weights);
  weights->provider = (struct xnn_weights_cache_provider){
    weights, look_up, reserve_space, look_up_or_insert, is_finalized, offset_to_addr, delete_cache,
  };
  weights->graph = host->graph;
  weights->cache = host->weights;
  weights->all = g_array_new (FALSE, FALSE, sizeof (Packed));
  g_mutex_init (&weights->mutex);
  return weights;
}

static void
weights_clear (gpointer data)
{
  Weights *weights = data;
  for (guint i = 0; i < weights->all->len; i++)
    sl_tensor_buffer_free (g_array_index (weights->all, Packed, i).data);
  sl_tensor_buffer_free (weights->reserved);
  g_array_unref (weights->all);
  g_mutex_clear (&weights->mutex);
}

int
sl_xnn_make_runtime (const SlHost *host, struct xnn_subgraph *subgraph, SlXnnThreads threads,
                     struct xnn_runtime **runtime)
{
  Weights *weights = sl_weight_cache_get (host->weights, &sl_backend_xnnpack, NULL, weights_new,
                                          (gpointer) host, weights_clear);
  g_mutex_lock (&weights->mutex);
  const enum xnn_status status =
    xnn_create_runtime_v3 (subgraph, &weights->provider, threads, 0, runtime);
  g_mutex_unlock (&weights->mutex);
  return (int) status;
}

#else

int
sl_xnn_make_runtime (const SlHost *host, struct xnn_subgraph *subgraph, SlXnnThreads threads,
                     struct xnn_runtime **runtime)
{
  return (int) xnn_create_runtime_v2 (subgraph, threads, 0, runtime);
}

#endif
