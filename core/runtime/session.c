/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions: partition -> runtimes and kernels -> memory plan at creation; afterwards a run binds the caller's
 * inputs and outputs and executes the steps. Each tensor has one memory: the arena, a constant, or the
 * caller's buffer; views share that of their root.
 */
#include "core/runtime/session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/show.h"
#include "core/backends/backend.h"
#include "sightline/error.h"
#include "core/backends/int8/int8.h"
#include "core/ops/ops.h"
#include "core/runtime/lifetimes.h"
#include "core/backends/weight_cache.h"
#include "core/runtime/partition.h"
#include "core/backends/xnnpack/xnn.h"

/** A step made ready: exactly one of @runtime, @layer and @call is set. */
typedef struct
{
  SlXnnRuntime *runtime;
  SlInt8Layer *layer;
  SlKernelCall *call;
  const SlOp *op;
  gint32 *roots; /* root of each external (runtime) or of each input, then each output (layer, call); -1 = omitted */
  gint32 output; /* layer: root of the output */
  void **memory; /* runtime: one per external, filled at run time */
  guint n_externals;
} ReadyStep;

/** Graph output whose bytes live elsewhere: copied after the last step. */
typedef struct
{
  guint output;
  gint32 root;
  gsize bytes;
} CopyOut;

struct _SlSession
{
  SlGraph *graph;
  SlThreadPool xnn_pool;
  SlPool *pool; /* for layers and kernels */
  guint threads;
  SlArena *arena;       /* states of kernels, layers and the arrays below */
  void *block;          /* intermediate tensors */
  void **memory;        /* by root tensor */
  guint8 *backends;     /* by node: SlBackend */
  gint32 *roots;        /* by tensor */
  GPtrArray *partition; /* of SlStep */
  ReadyStep *steps;
  guint n_steps;
  gint32 output_root[SL_MAX_IO]; /* root bound to this output's buffer, -1 = copied */
  CopyOut copies[SL_MAX_IO];
  guint n_copies;
  SlSessionStats stats;
  gint cancelled;   /* atomic */
  guint64 *node_ns; /* by node: time spent in it; NULL unless profiling */
};

void *
sl_tensor_buffer_new (gsize bytes)
{
  void *buffer = NULL;
  if (bytes > G_MAXSIZE - 2 * SL_TENSOR_PADDING || posix_memalign (&buffer, SL_TENSOR_ALIGN, bytes + SL_TENSOR_PADDING) != 0)
    return NULL;
  memset (buffer, 0, bytes + SL_TENSOR_PADDING);
  return buffer;
}

void
sl_tensor_buffer_free (void *buffer)
{
  free (buffer);
}

const char *
sl_status_text (SlStatus status)
{
  switch (status) {
    case SL_STATUS_OK:
      return "ok";
    case SL_STATUS_BACKEND_FAILED:
      return "XNNPACK failed while running the model";
    case SL_STATUS_CANCELLED:
      return "the run was cancelled";
  }
  return "unknown status";
}

static SlXnnRuntime *
runtime_for (const SlSession *session, const SlStep *step, GError **error)
{
  return sl_xnn_runtime_new (session->graph, &g_array_index (step->nodes, guint, 0), step->nodes->len,
                             &g_array_index (step->externals, gint32, 0), &g_array_index (step->is_output, gboolean, 0),
                             step->externals->len, session->xnn_pool, error);
}

/* Finds the nodes that XNNPACK accepted by definition but refuses to run, each in a runtime of its own. */
static guint
drop_refused_nodes (SlSession *session, const SlStep *step)
{
  guint dropped = 0;
  for (guint i = 0; i < step->nodes->len; i++) {
    const guint node = g_array_index (step->nodes, guint, i);
    g_autoptr (SlStep) alone = sl_step_new_alone (session->graph, node);
    SlXnnRuntime *runtime = runtime_for (session, alone, NULL);
    if (runtime == NULL) {
      session->backends[node] = SL_BACKEND_PLAIN;
      dropped++;
    }
    sl_xnn_runtime_free (runtime);
  }
  return dropped;
}

static void
clear_steps (SlSession *session)
{
  for (guint i = 0; i < session->n_steps; i++)
    sl_xnn_runtime_free (session->steps[i].runtime);
  g_clear_pointer (&session->steps, g_free);
  g_clear_pointer (&session->partition, g_ptr_array_unref);
  session->n_steps = 0;
}

/* Makes a runtime for each step of XNNPACK. *@dropped counts the nodes of refused ones that are now the plain kernels'. */
static gboolean
try_runtimes (SlSession *session, guint *dropped, GError **error)
{
  *dropped = 0;
  session->partition = sl_partition (session->graph, session->backends, session->node_ns != NULL);
  session->n_steps = session->partition->len;
  session->steps = g_new0 (ReadyStep, session->n_steps + 1);
  for (guint i = 0; i < session->n_steps; i++) {
    const SlStep *step = g_ptr_array_index (session->partition, i);
    g_autoptr (GError) refused = NULL;
    if (!step->xnnpack)
      continue;
    session->steps[i].runtime = runtime_for (session, step, &refused);
    const guint refused_nodes = session->steps[i].runtime == NULL ? drop_refused_nodes (session, step) : 0;
    *dropped += refused_nodes;
    if (session->steps[i].runtime == NULL && refused_nodes == 0) {
      g_propagate_error (error, g_steal_pointer (&refused));
      return FALSE;
    }
  }
  return TRUE;
}

/* Every node that is refused is found in the first round, and a second one does without them. */
static gboolean
make_runtimes (SlSession *session, GError **error)
{
  guint dropped;
  while (try_runtimes (session, &dropped, error)) {
    if (dropped == 0)
      return TRUE;
    clear_steps (session);
  }
  return FALSE;
}

/* (nullable): the weights of node @index, when it reads a packed copy of them and not the model file's. */
static const SlTensor *
packed_weights (const SlSession *session, guint index)
{
  const SlNode *node = sl_graph_node (session->graph, index);
  const gboolean layer = node->op == SL_OP_CONV_2D || node->op == SL_OP_DEPTHWISE_CONV_2D || node->op == SL_OP_FULLY_CONNECTED;
  const gboolean packs = session->backends[index] == SL_BACKEND_INT8 || session->backends[index] == SL_BACKEND_XNNPACK;
  const SlTensor *weights = layer && packs ? sl_node_input (session->graph, node, 1) : NULL;
  return weights != NULL && weights->data != NULL ? weights : NULL;
}

/* Constants that runs of this session read where they are in the model file. */
static void
keep_constants (const SlSession *session, SlFileImage *file)
{
  for (guint i = 0; i < sl_graph_n_nodes (session->graph); i++) {
    const SlNode *node = sl_graph_node (session->graph, i);
    const SlTensor *weights = packed_weights (session, i);
    for (guint k = 0; k < node->n_inputs; k++) {
      const SlTensor *input = sl_node_input (session->graph, node, k);
      if (input != NULL && input->data != NULL && (k != 1 || weights == NULL))
        sl_file_image_keep (file, input->data, input->bytes);
    }
  }
  for (guint i = 0; i < sl_graph_n_outputs (session->graph); i++) {
    const SlTensor *root = sl_graph_tensor (session->graph, session->roots[sl_graph_output (session->graph, i)]);
    if (root->data != NULL)
      sl_file_image_keep (file, root->data, root->bytes);
  }
}

/* (transfer full): for the data of weights, one more than the last step that packs them. */
static GHashTable *
find_last_packers (const SlSession *session)
{
  GHashTable *last = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < session->n_steps; i++) {
    const SlStep *step = g_ptr_array_index (session->partition, i);
    for (guint k = 0; k < step->nodes->len; k++) {
      const SlTensor *weights = packed_weights (session, g_array_index (step->nodes, guint, k));
      if (weights != NULL)
        g_hash_table_insert (last, (gpointer) weights->data, GUINT_TO_POINTER (i + 1));
    }
  }
  return last;
}

/* Step @i has packed its weights. */
static void
spare_weights (const SlSession *session, SlFileImage *file, GHashTable *last, guint i)
{
  const SlStep *step = g_ptr_array_index (session->partition, i);
  for (guint k = 0; k < step->nodes->len; k++) {
    const SlTensor *weights = packed_weights (session, g_array_index (step->nodes, guint, k));
    if (weights != NULL && GPOINTER_TO_UINT (g_hash_table_lookup (last, weights->data)) == i + 1)
      sl_file_image_spare (file, weights->data, weights->bytes);
  }
}

static void
ready_runtime (SlSession *session, ReadyStep *ready, const SlStep *step)
{
  ready->n_externals = step->externals->len;
  ready->memory = sl_arena_alloc (session->arena, ready->n_externals * sizeof ready->memory[0]);
  ready->roots = sl_arena_alloc (session->arena, ready->n_externals * sizeof ready->roots[0]);
  for (guint i = 0; i < ready->n_externals; i++)
    ready->roots[i] = session->roots[g_array_index (step->externals, gint32, i)];
}

static void
ready_call (SlSession *session, ReadyStep *ready, const SlNode *node)
{
  ready->op = sl_op_get (node->op);
  ready->call = sl_arena_alloc (session->arena, sizeof *ready->call);
  ready->call->graph = session->graph;
  ready->call->node = node;
  ready->call->pool = session->pool;
  if (ready->op->prepare != NULL)
    ready->call->state = ready->op->prepare (session->graph, node, session->arena);
}

static void
ready_kernel (SlSession *session, ReadyStep *ready, const SlStep *step)
{
  const guint index = g_array_index (step->nodes, guint, 0);
  const SlNode *node = sl_graph_node (session->graph, index);
  if (session->backends[index] == SL_BACKEND_INT8) {
    ready->layer = sl_int8_layer_new (sl_int8_isa (), session->graph, node, session->threads, session->arena);
  } else {
    ready_call (session, ready, node);
  }
  ready->roots = sl_arena_alloc (session->arena, (node->n_inputs + node->n_outputs) * sizeof ready->roots[0]);
  for (guint i = 0; i < node->n_inputs; i++)
    ready->roots[i] = node->inputs[i] < 0 ? -1 : session->roots[node->inputs[i]];
  for (guint i = 0; i < node->n_outputs; i++)
    ready->roots[node->n_inputs + i] = session->roots[node->outputs[i]];
  ready->output = session->roots[node->outputs[0]];
}

static void
ready_steps (SlSession *session)
{
  SlFileImage *file = sl_graph_file (session->graph);
  g_autoptr (GHashTable) last = find_last_packers (session);
  if (file != NULL)
    keep_constants (session, file);
  for (guint i = 0; i < session->n_steps; i++) {
    const SlStep *step = g_ptr_array_index (session->partition, i);
    if (step->xnnpack)
      ready_runtime (session, &session->steps[i], step);
    else
      ready_kernel (session, &session->steps[i], step);
    if (file != NULL)
      spare_weights (session, file, last, i);
  }
}

static void
share_scratch (SlSession *session)
{
  g_autofree SlInt8Layer **layers = g_new (SlInt8Layer *, session->n_steps + 1);
  for (guint i = 0; i < session->n_steps; i++)
    layers[i] = session->steps[i].layer;
  sl_int8_layers_set_scratch (layers, session->n_steps, session->threads, session->arena);
}

/* Which outputs are written where the caller wants them, and which are copied there: those that show an input, a constant, or bytes
 * that another output already shows. */
static void
bind_outputs (SlSession *session, guint8 *bound)
{
  for (guint i = 0; i < sl_graph_n_inputs (session->graph); i++)
    bound[session->roots[sl_graph_input (session->graph, i)]] = 1;
  for (guint i = 0; i < sl_graph_n_outputs (session->graph); i++) {
    const gint32 root = session->roots[sl_graph_output (session->graph, i)];
    session->output_root[i] = root;
    if (!bound[root] && sl_graph_tensor (session->graph, root)->data == NULL) {
      bound[root] = 1;
      continue;
    }
    session->output_root[i] = -1;
    session->copies[session->n_copies++] = (CopyOut){ i, root, sl_graph_output_tensor (session->graph, i)->bytes };
  }
}

static gboolean
plan_memory (SlSession *session, GError **error)
{
  const guint n = sl_graph_n_tensors (session->graph);
  g_autofree guint8 *bound = g_new0 (guint8, n);
  g_autofree gssize *offsets = g_new (gssize, n);
  SlMemoryPlan plan;
  bind_outputs (session, bound);
  sl_memory_plan (session->graph, session->roots, bound, offsets, &plan);
  session->stats.arena_bytes = plan.bytes;
  session->stats.arena_lower_bound = plan.lower_bound;
  session->stats.in_place_nodes = plan.in_place;
  session->block = sl_tensor_buffer_new (plan.bytes);
  if (session->block == NULL) {
    g_set_error (error, SL_ERROR, SL_ERROR_LIMIT, "no memory for %" G_GSIZE_FORMAT " bytes of intermediate tensors", plan.bytes);
    return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    const SlTensor *tensor = sl_graph_tensor (session->graph, (gint32) i);
    session->memory[i] = tensor->data != NULL ? (void *) tensor->data : offsets[i] < 0 ? NULL : (guint8 *) session->block + offsets[i];
  }
  return TRUE;
}

static void
count_nodes (SlSession *session)
{
  session->stats.weight_bytes = sl_graph_constant_bytes (session->graph);
  session->stats.packed_bytes =
    sl_packs_bytes (sl_graph_packs (session->graph)) + sl_xnn_weights_bytes (sl_graph_xnn_weights (session->graph));
  session->stats.steps = session->n_steps;
  session->stats.int8_cpu = sl_int8_isa ()->name;
  for (guint i = 0; i < session->n_steps; i++) {
    const SlStep *step = g_ptr_array_index (session->partition, i);
    session->stats.nodes += step->nodes->len;
    session->stats.xnnpack_nodes += step->xnnpack ? step->nodes->len : 0;
    session->stats.int8_nodes += session->steps[i].layer != NULL;
  }
}

static gboolean
start_threads (SlSession *session, GError **error)
{
  GError *failed = NULL;
  if (sl_backends_need_threads (session->graph, session->backends))
    session->xnn_pool = sl_thread_pool_new (session->threads, &failed);
  for (guint i = 0; failed == NULL && session->pool == NULL && session->threads > 1 && i < sl_graph_n_nodes (session->graph); i++)
    if (session->backends[i] == SL_BACKEND_INT8 || session->backends[i] == SL_BACKEND_PLAIN)
      session->pool = sl_pool_new (session->threads, &failed);
  if (failed == NULL)
    return TRUE;
  g_propagate_error (error, failed);
  return FALSE;
}

/* While every byte of the model file is there. */
static gboolean
make (SlSession *session, GError **error)
{
  session->backends = sl_backends_choose (session->graph);
  if (!start_threads (session, error) || !make_runtimes (session, error) || !plan_memory (session, error))
    return FALSE;
  ready_steps (session);
  share_scratch (session);
  count_nodes (session);
  return TRUE;
}

SlSession *
sl_session_new (SlGraph *graph, guint threads, GError **error)
{
  return sl_session_new_full (graph, threads, FALSE, error);
}

SlSession *
sl_session_new_full (SlGraph *graph, guint threads, gboolean profile, GError **error)
{
  if (threads < 1 || threads > SL_MAX_THREADS) {
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "threads is %u; expected 1..%d", threads, SL_MAX_THREADS);
    return NULL;
  }
  if (!sl_xnn_init (error))
    return NULL;
  g_autoptr (SlSession) session = g_new0 (SlSession, 1);
  session->graph = sl_graph_ref (graph);
  session->arena = sl_arena_new ();
  session->roots = sl_roots_new (graph);
  session->threads = threads;
  session->memory = g_new0 (void *, sl_graph_n_tensors (graph));
  session->node_ns = profile ? g_new0 (guint64, sl_graph_n_nodes (graph) + 1) : NULL;
  SlFileImage *file = sl_graph_file (graph);
  const gboolean used = file == NULL || sl_file_image_use (file, error);
  const gboolean made = used && make (session, error);
  if (file != NULL && used)
    sl_file_image_done (file);
  if (!made)
    sl_show_error (error);
  return made ? g_steal_pointer (&session) : NULL;
}

void
sl_session_free (SlSession *session)
{
  if (session == NULL)
    return;
  clear_steps (session);
  sl_thread_pool_free (session->xnn_pool);
  sl_pool_free (session->pool);
  sl_tensor_buffer_free (session->block);
  sl_arena_free (session->arena);
  g_free (session->memory);
  g_free (session->backends);
  g_free (session->node_ns);
  g_free (session->roots);
  sl_graph_unref (session->graph);
  g_free (session);
}

static void
run_layer (const SlSession *session, const ReadyStep *step)
{
  const void *inputs[2] = { session->memory[step->roots[0]], step->roots[1] < 0 ? NULL : session->memory[step->roots[1]] };
  sl_int8_layer_run (step->layer, session->pool, inputs, session->memory[step->output]);
}

static void
run_kernel (const SlSession *session, const ReadyStep *step)
{
  SlKernelCall *call = step->call;
  const guint n_inputs = call->node->n_inputs;
  for (guint i = 0; i < n_inputs; i++)
    call->inputs[i] = step->roots[i] < 0 ? NULL : session->memory[step->roots[i]];
  for (guint i = 0; i < call->node->n_outputs; i++)
    call->outputs[i] = session->memory[step->roots[n_inputs + i]];
  step->op->run (call);
}

static SlStatus
run_step (SlSession *session, const ReadyStep *step)
{
  if (step->layer != NULL) {
    run_layer (session, step);
    return SL_STATUS_OK;
  }
  if (step->runtime == NULL) {
    run_kernel (session, step);
    return SL_STATUS_OK;
  }
  for (guint k = 0; k < step->n_externals; k++)
    step->memory[k] = session->memory[step->roots[k]];
  return sl_xnn_runtime_run (step->runtime, step->memory);
}

static guint64
now_ns (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (guint64) t.tv_sec * 1000000000u + (guint64) t.tv_nsec;
}

/* Steps are single nodes while profiling. */
static SlStatus
run_timed_step (SlSession *session, guint i)
{
  const SlStep *step = g_ptr_array_index (session->partition, i);
  const guint64 start = now_ns ();
  const SlStatus status = run_step (session, &session->steps[i]);
  session->node_ns[g_array_index (step->nodes, guint, 0)] += now_ns () - start;
  return status;
}

static SlStatus
run_steps (SlSession *session)
{
  for (guint i = 0; i < session->n_steps; i++) {
    if (g_atomic_int_get (&session->cancelled))
      return SL_STATUS_CANCELLED;
    const SlStatus status = session->node_ns != NULL ? run_timed_step (session, i) : run_step (session, &session->steps[i]);
    if (status != SL_STATUS_OK)
      return status;
  }
  return SL_STATUS_OK;
}

SlStatus
sl_session_run (SlSession *session, const void *const *inputs, void *const *outputs)
{
  for (guint i = 0; i < sl_graph_n_inputs (session->graph); i++)
    session->memory[session->roots[sl_graph_input (session->graph, i)]] = (void *) inputs[i];
  for (guint i = 0; i < sl_graph_n_outputs (session->graph); i++)
    if (session->output_root[i] >= 0)
      session->memory[session->output_root[i]] = outputs[i];
  const SlStatus status = run_steps (session);
  sl_thread_pool_rest (session->xnn_pool);
  sl_pool_rest (session->pool);
  if (status != SL_STATUS_OK)
    return status;
  for (guint i = 0; i < session->n_copies; i++)
    memcpy (outputs[session->copies[i].output], session->memory[session->copies[i].root], session->copies[i].bytes);
  return SL_STATUS_OK;
}

void
sl_session_cancel (SlSession *session, gboolean cancelled)
{
  g_atomic_int_set (&session->cancelled, cancelled);
}

guint64
sl_session_node_ns (const SlSession *session, guint node)
{
  return session->node_ns != NULL ? session->node_ns[node] : 0;
}

SlGraph *
sl_session_graph (SlSession *session)
{
  return session->graph;
}

void
sl_session_stats (const SlSession *session, SlSessionStats *stats)
{
  *stats = session->stats;
}

const char *
sl_session_backend (const SlSession *session, guint node)
{
  return sl_backend_name ((SlBackend) session->backends[node]);
}
