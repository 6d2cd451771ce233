/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions: partition -> steps prepared by their backends -> memory plan at creation; session_run.c
 * runs them. Each tensor has one memory: the arena, a constant, or the caller's buffer; views share
 * that of their root.
 */
#include "core/runtime/session_private.h"

#include "core/base/printable.h"
#include "core/base/fail.h"
#include "core/base/pages.h"
#include "core/graph/constants.h"
#include "core/graph/lifetimes.h"
#include "core/ops/ops.h"

/* Blocks from this size on are pages of the system. */
#define PAGES_BYTES ((gsize) 256 << 10)

const char *
sl_session_status_text (const SlSession *session, SlStatus status)
{
  switch (status) {
    case SL_STATUS_OK:
      return "ok";
    case SL_STATUS_BACKEND_FAILED:
      return session->instead != NULL    ? sl_session_status_text (session->instead, status)
             : session->external != NULL ? sl_external_session_failure (session->external)
                                         : session->failed->failure;
    case SL_STATUS_CANCELLED:
      return "the run was cancelled";
  }
  return "unknown status";
}

static gpointer
threads_of (const SlSession *session, const SlBackend *backend)
{
  guint i = 0;
  while (sl_backends_get (i) != backend)
    i++;
  return session->threads[i];
}

static gpointer
prepare (SlSession *session, const SlStep *step, GError **error)
{
  gboolean (*need) (SlGraph *, const SlNode *, GError **) =
    step->backend->asks_weights ? sl_graph_need_values : sl_graph_need_inputs;
  for (guint i = 0; i < step->nodes->len; i++)
    if (!need (session->graph,
               sl_graph_node (session->graph, g_array_index (step->nodes, guint, i)), error))
      return NULL;
  return step->backend->prepare (&session->host, step, threads_of (session, step->backend), error);
}

static void
free_prepared (const SlBackend *backend, gpointer prepared)
{
  if (prepared != NULL && backend->free != NULL)
    backend->free (prepared);
}

/* Finds the nodes that the step's backend supports by definition but refuses to run, each in a step
 * of its own. */
static guint
drop_refused_nodes (SlSession *session, const SlStep *step)
{
  guint dropped = 0;
  for (guint i = 0; i < step->nodes->len; i++) {
    const guint node = g_array_index (step->nodes, guint, i);
    g_autoptr (SlStep) alone = sl_step_new_alone (session->graph, step->backend, node);
    gpointer prepared = prepare (session, alone, NULL);
    if (prepared == NULL) {
      session->host.backends[node] =
        sl_backends_next (step->backend, session->graph, sl_graph_node (session->graph, node));
      dropped++;
    }
    free_prepared (step->backend, prepared);
  }
  return dropped;
}

static void
clear_steps (SlSession *session)
{
  for (guint i = 0; i < session->n_steps; i++)
    free_prepared (session->steps[i].backend, session->steps[i].prepared);
  g_clear_pointer (&session->steps, g_free);
  g_clear_pointer (&session->partition, g_ptr_array_unref);
  session->n_steps = 0;
}

/* Prepares each step that may be refused. *@dropped counts the nodes of refused ones, which now
 * have another backend. */
static gboolean
try_steps (SlSession *session, guint *dropped, GError **error)
{
  *dropped = 0;
  session->partition = sl_partition (session->graph, session->host.backends,
                                     session->node_ns != NULL ? 0 : MAX (session->host.threads, 1));
  session->n_steps = session->partition->len;
  session->steps = g_new0 (ReadyStep, session->n_steps + 1);
  for (guint i = 0; i < session->n_steps; i++) {
    const SlStep *step = g_ptr_array_index (session->partition, i);
    g_autoptr (GError) refused = NULL;
    session->steps[i].backend = step->backend;
    if (!step->backend->may_refuse)
      continue;
    session->steps[i].prepared = prepare (session, step, &refused);
    const guint refused_nodes =
      session->steps[i].prepared == NULL ? drop_refused_nodes (session, step) : 0;
    *dropped += refused_nodes;
    if (session->steps[i].prepared == NULL && refused_nodes == 0) {
      g_propagate_error (error, g_steal_pointer (&refused));
      return FALSE;
    }
  }
  return TRUE;
}

/* Every node that is refused is found in a round, and the next one does without them. */
static gboolean
make_steps (SlSession *session, GError **error)
{
  guint dropped;
  while (try_steps (session, &dropped, error)) {
    if (dropped == 0)
      return TRUE;
    clear_steps (session);
  }
  return FALSE;
}

/* (nullable): the weights of node @index, when it reads a packed copy of them and not the model
 * file's. */
static const SlTensor *
packed_weights (const SlSession *session, guint index)
{
  const SlNode *node = sl_graph_node (session->graph, index);
  const gboolean layer = sl_op_is_layer (node->op);
  const SlBackend *backend = session->host.backends[index];
  const gboolean packs = backend != NULL && backend->packs_weights;
  const SlTensor *weights = layer && packs ? sl_node_input (session->graph, node, 1) : NULL;
  return weights != NULL && weights->data != NULL ? weights : NULL;
}

static gboolean
keep (const SlSession *session, const SlTensor *tensor, GError **error)
{
  sl_graph_keep_constant (session->graph, tensor->data, tensor->bytes);
  return sl_graph_need_constant (session->graph, tensor->data, tensor->bytes, error);
}

/* Constants that runs of this session read where they are. */
static gboolean
keep_constants (const SlSession *session, GError **error)
{
  for (guint i = 0; i < sl_graph_n_nodes (session->graph); i++) {
    const SlNode *node = sl_graph_node (session->graph, i);
    const SlTensor *weights = packed_weights (session, i);
    for (guint k = 0; k < node->n_inputs; k++) {
      const SlTensor *input = sl_node_input (session->graph, node, k);
      if (input != NULL && input->data != NULL && (k != 1 || weights == NULL)
          && !keep (session, input, error))
        return FALSE;
    }
  }
  for (guint i = 0; i < session->n_outputs; i++) {
    const SlTensor *root =
      sl_graph_tensor (session->graph, session->parts.roots[session->outputs[i]]);
    if (root->data != NULL && !keep (session, root, error))
      return FALSE;
  }
  for (guint i = 0; i < session->n_held; i++) {
    const SlHeldInput *held = sl_graph_held (session->graph, i);
    sl_graph_keep_constant (session->graph, held->first,
                            sl_graph_tensor (session->graph, held->input)->bytes);
  }
  return TRUE;
}

/* Scales of these tensors that lie in the model file. */
static void
keep_scales (const SlSession *session)
{
  for (guint i = 0; i < sl_graph_n_tensors (session->graph); i++) {
    const SlQuant *quant = &sl_graph_tensor (session->graph, (gint32) i)->quant;
    sl_graph_keep_constant (session->graph, quant->scale, quant->count * sizeof quant->scale[0]);
    sl_graph_keep_constant (session->graph, quant->zero_point,
                            quant->count * sizeof quant->zero_point[0]);
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
spare_weights (const SlSession *session, GHashTable *last, guint i)
{
  const SlStep *step = g_ptr_array_index (session->partition, i);
  for (guint k = 0; k < step->nodes->len; k++) {
    const SlTensor *weights = packed_weights (session, g_array_index (step->nodes, guint, k));
    if (weights != NULL && GPOINTER_TO_UINT (g_hash_table_lookup (last, weights->data)) == i + 1)
      sl_graph_spare_weights (session->graph, weights->data, weights->bytes);
  }
}

static void
bind_operands (SlSession *session, ReadyStep *ready, const SlStep *step)
{
  ready->n_operands = step->operands->len;
  ready->memory = sl_arena_alloc (session->host.arena, ready->n_operands * sizeof ready->memory[0]);
  ready->roots = sl_arena_alloc (session->host.arena, ready->n_operands * sizeof ready->roots[0]);
  ready->shifts = sl_arena_alloc (session->host.arena, ready->n_operands * sizeof ready->shifts[0]);
  for (guint i = 0; i < ready->n_operands; i++) {
    const gint32 tensor = g_array_index (step->operands, gint32, i);
    const gboolean reads = !g_array_index (step->is_output, gboolean, i);
    /* Only its concatenation reads a part, and has nothing to do for it. */
    ready->roots[i] = tensor < 0 || (reads && session->parts.strides[tensor] > 0)
                        ? -1
                        : session->parts.roots[tensor];
    ready->shifts[i] = tensor < 0 ? 0 : session->parts.shifts[tensor];
  }
}

/* Prepares what is not yet, and gives back the memory of weights that are packed. */
static gboolean
ready_steps (SlSession *session, GError **error)
{
  g_autoptr (GHashTable) last = find_last_packers (session);
  if (!keep_constants (session, error))
    return FALSE;
  for (guint i = 0; i < session->n_steps; i++) {
    const SlStep *step = g_ptr_array_index (session->partition, i);
    ReadyStep *ready = &session->steps[i];
    if (ready->prepared == NULL)
      ready->prepared = prepare (session, step, error);
    if (ready->prepared == NULL)
      return FALSE;
    bind_operands (session, ready, step);
    spare_weights (session, last, i);
  }
  if (sl_graph_file (session->graph) != NULL && sl_graph_is_copied (session->graph)) {
    keep_scales (session);
    sl_file_image_spare_rest (sl_graph_file (session->graph));
  }
  session->host.scratch.memory =
    sl_tensor_alloc (session->host.arena, session->host.scratch.bytes * session->host.threads);
  return TRUE;
}

/* Which outputs are written where the caller wants them, and which are copied there: those that
 * show an input, a constant, or bytes that another output already shows. */
static void
bind_outputs (SlSession *session, guint8 *bound)
{
  for (guint i = 0; i < session->n_inputs; i++)
    bound[session->parts.roots[session->inputs[i]]] = 1;
  for (guint i = 0; i < session->n_outputs; i++) {
    const gint32 root = session->parts.roots[session->outputs[i]];
    session->output_root[i] = root;
    if (!bound[root] && sl_graph_tensor (session->graph, root)->data == NULL) {
      bound[root] = 1;
      continue;
    }
    session->output_root[i] = -1;
    session->copies[session->n_copies++] =
      (CopyOut){ i, root, sl_graph_tensor (session->graph, session->outputs[i])->bytes };
  }
}

static gboolean
keeps_halves (const SlSession *session)
{
  gboolean keeps = FALSE;
  for (guint i = 0; i < sl_graph_n_nodes (session->graph); i++)
    keeps |= session->host.backends[i] != NULL && session->host.backends[i]->keeps_halves;
  return keeps && session->host.pool != NULL && session->host.threads > 1;
}

/* The heap of a thread keeps what is freed: each thread that makes a session would leave a block.
 */
static gboolean
allocate_block (SlSession *session, gsize bytes)
{
  if (bytes >= PAGES_BYTES) {
    session->block_pages = sl_pages_round (bytes + SL_TENSOR_PADDING);
    session->block = sl_pages_new (session->block_pages);
  } else
    session->block = sl_tensor_buffer_new (bytes);
  return session->block != NULL;
}

static void
free_block (SlSession *session)
{
  if (session->block_pages > 0)
    sl_pages_free (session->block, session->block_pages);
  else
    sl_tensor_buffer_free (session->block);
}

/* Nodes of one step that run row by row: (transfer full): for each node the last one of them.
 * Tensors between them have no memory. */
static guint *
bind_neighbours (const SlSession *session, guint8 *bound)
{
  guint *ends = g_new (guint, sl_graph_n_nodes (session->graph) + 1);
  for (guint i = 0; i < sl_graph_n_nodes (session->graph); i++)
    ends[i] = i;
  for (guint s = 0; s < session->n_steps; s++) {
    const SlStep *step = g_ptr_array_index (session->partition, s);
    const guint last = g_array_index (step->nodes, guint, step->nodes->len - 1);
    for (guint k = 0; step->backend->neighbours != NULL && k + 1 < step->nodes->len; k++) {
      const guint at = g_array_index (step->nodes, guint, k);
      ends[at] = last;
      bound[session->parts.roots[sl_graph_node (session->graph, at)->outputs[0]]] = 1;
    }
  }
  return ends;
}

/* @offsets: (out): by root tensor */
static void
plan_memory (SlSession *session, gssize *offsets)
{
  g_autofree guint8 *bound = g_new0 (guint8, sl_graph_n_tensors (session->graph));
  SlMemoryPlan plan;
  bind_outputs (session, bound);
  g_autofree guint *ends = bind_neighbours (session, bound);
  sl_parts_find (&session->parts, session->graph, session->host.backends, bound, ends);
  session->host.strides = session->parts.strides;
  sl_memory_plan (session->graph, session->parts.roots, bound, ends, keeps_halves (session),
                  offsets, &plan);
  session->stats.arena_bytes = plan.bytes;
  session->stats.arena_lower_bound = plan.lower_bound;
  session->stats.in_place_nodes = plan.in_place;
  for (guint i = 0; i < sl_graph_n_tensors (session->graph); i++)
    session->stats.parts += session->parts.strides[i] > 0;
}

static gboolean
take_memory (SlSession *session, const gssize *offsets, GError **error)
{
  const gsize bytes = session->stats.arena_bytes;
  if (!allocate_block (session, bytes))
    return sl_fail (error, SL_ERROR_LIMIT,
                    "no memory for %" G_GSIZE_FORMAT " bytes of intermediate tensors", bytes);
  for (guint i = 0; i < sl_graph_n_tensors (session->graph); i++) {
    const SlTensor *tensor = sl_graph_tensor (session->graph, (gint32) i);
    session->memory[i] = tensor->data != NULL ? (void *) tensor->data
                         : offsets[i] < 0     ? NULL
                                              : (guint8 *) session->block + offsets[i];
  }
  return TRUE;
}

static void
count_nodes (SlSession *session)
{
  session->stats.weight_bytes = sl_graph_constant_bytes (session->graph);
  session->stats.packed_bytes = sl_weight_cache_bytes (session->host.weights);
  session->stats.steps = session->n_steps;
  for (guint i = 0; i < session->n_steps; i++)
    session->stats.nodes +=
      ((const SlStep *) g_ptr_array_index (session->partition, i))->nodes->len;
}

static guint
nodes_on (const SlSession *session, const SlBackend *backend)
{
  guint n = 0;
  for (guint i = 0; i < sl_graph_n_nodes (session->graph); i++)
    n += session->host.backends[i] == backend;
  return n;
}

static gboolean
start_threads (SlSession *session, GError **error)
{
  GError *failed = NULL;
  const SlBackend *backend;
  for (guint i = 0; failed == NULL && (backend = sl_backends_get (i)) != NULL; i++) {
    if (nodes_on (session, backend) == 0)
      continue;
    if (backend->start_threads != NULL)
      session->threads[i] = backend->start_threads (&session->host, &failed);
    else if (backend->uses_pool && session->host.threads > 1 && session->host.pool == NULL)
      session->host.pool = sl_pool_new (session->host.threads, &failed);
  }
  if (failed == NULL)
    return TRUE;
  g_propagate_error (error, failed);
  return FALSE;
}

/* Backends look at small constants to see what they support. */
static gboolean
need_small (const SlSession *session, GError **error)
{
  for (guint i = 0; i < sl_graph_n_tensors (session->graph); i++) {
    const SlTensor *tensor = sl_graph_tensor (session->graph, (gint32) i);
    if (tensor->data != NULL && tensor->bytes < SL_LARGE_CONSTANT
        && !sl_graph_need_constant (session->graph, tensor->data, tensor->bytes, error))
      return FALSE;
  }
  return TRUE;
}

/* Layers are prepared for their places in memory. Intermediate tensors get it once weights that are
 * packed have given theirs back. */
static gboolean
make (SlSession *session, GError **error)
{
  g_autofree gssize *offsets = g_new (gssize, sl_graph_n_tensors (session->graph));
  if (!need_small (session, error))
    return FALSE;
  session->host.backends = sl_backends_choose (session->graph);
  if (!start_threads (session, error) || !make_steps (session, error))
    return FALSE;
  plan_memory (session, offsets);
  if (!ready_steps (session, error) || !take_memory (session, offsets, error))
    return FALSE;
  count_nodes (session);
  return TRUE;
}

/* What every session has: the graph, and memory for its held inputs. */
static SlSession *
start (SlGraph *graph, GError **error)
{
  g_autoptr (SlSession) session = g_new0 (SlSession, 1);
  gboolean memory = TRUE;
  session->graph = sl_graph_ref (graph);
  session->inputs = sl_graph_all_inputs (graph, &session->n_inputs, NULL);
  session->outputs = sl_graph_all_outputs (graph, &session->n_outputs, NULL);
  session->n_held = sl_graph_n_held (graph);
  session->held = g_new0 (Held, session->n_held);
  for (guint i = 0; i < session->n_held; i++) {
    const SlHeldInput *held = sl_graph_held (graph, i);
    const gsize bytes = sl_graph_tensor (graph, held->input)->bytes;
    memory &= (session->held[i].now = sl_tensor_buffer_new (bytes)) != NULL;
    if (held->output >= 0 && held->at < 0)
      memory &= (session->held[i].next = sl_tensor_buffer_new (bytes)) != NULL;
  }
  if (memory) {
    sl_session_reset (session);
    return g_steal_pointer (&session);
  }
  return sl_fail_null (error, SL_ERROR_LIMIT, "no memory for the model's state");
}

SlSession *
sl_session_new_full (SlGraph *graph, guint threads, gboolean profile, GError **error)
{
  if (threads < 1 || threads > SL_MAX_THREADS)
    return sl_fail_null (error, SL_ERROR_ARGUMENT, "threads is %u; expected 1..%d", threads,
                         SL_MAX_THREADS);
  if (sl_graph_whole (graph) != NULL)
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED, "only %s runs it, see backend",
                         sl_graph_whole (graph));
  const SlBackend *backend;
  for (guint i = 0; (backend = sl_backends_get (i)) != NULL; i++)
    if (backend->open != NULL && !backend->open (error))
      return NULL;
  g_autoptr (SlSession) session = start (graph, error);
  if (session == NULL)
    return NULL;
  session->host = (SlHost){ .graph = graph, .threads = threads, .arena = sl_arena_new () };
  session->host.weights = sl_graph_attach (graph, sl_weight_cache_new, sl_weight_cache_free);
  sl_parts_init (&session->parts, graph);
  session->memory = g_new0 (void *, sl_graph_n_tensors (graph));
  session->node_ns = profile ? g_new0 (guint64, sl_graph_n_nodes (graph) + 1) : NULL;
  sl_graph_use_constants (graph);
  const gboolean made = make (session, error);
  sl_graph_done_constants (graph);
  if (!made)
    sl_printable_error (error);
  return made ? g_steal_pointer (&session) : NULL;
}

SlSession *
sl_session_new_external (SlGraph *graph, SlExternalModel *model, guint threads, GError **error)
{
  g_autoptr (SlSession) session = start (graph, error);
  if (session == NULL)
    return NULL;
  session->host = (SlHost){ .graph = graph, .threads = sl_threads_resolve (threads) };
  session->stats = (SlSessionStats){ .nodes = sl_graph_n_nodes (graph),
                                     .steps = 1,
                                     .weight_bytes = sl_graph_constant_bytes (graph) };
  session->external = sl_external_session_new (model, graph, error);
  return session->external != NULL ? g_steal_pointer (&session) : NULL;
}

void
sl_session_set_fallback (SlSession *session, gboolean fallback)
{
  session->fallback = fallback && sl_graph_whole (session->graph) == NULL;
}

void
sl_session_free (SlSession *session)
{
  if (session == NULL)
    return;
  sl_external_session_free (session->external);
  sl_session_free (session->instead);
  for (guint i = 0; i < session->n_held; i++) {
    sl_tensor_buffer_free (session->held[i].now);
    sl_tensor_buffer_free (session->held[i].next);
  }
  g_free (session->held);
  g_free (session->notice);
  clear_steps (session);
  for (guint i = 0; i < SL_MAX_BACKENDS; i++)
    if (session->threads[i] != NULL)
      sl_backends_get (i)->stop_threads (session->threads[i]);
  sl_pool_free (session->host.pool);
  free_block (session);
  sl_arena_free (session->host.arena);
  g_free (session->memory);
  g_free (session->host.backends);
  g_free (session->node_ns);
  sl_parts_clear (&session->parts);
  sl_graph_unref (session->graph);
  g_free (session);
}

SlExternalModel *
sl_session_external (const SlSession *session)
{
  return session->external != NULL && session->instead == NULL
           ? sl_external_session_model (session->external)
           : NULL;
}

char *
sl_session_take_notice (SlSession *session)
{
  return g_steal_pointer (&session->notice);
}

guint64
sl_session_node_ns (const SlSession *session, guint node)
{
  return session->node_ns != NULL ? session->node_ns[node] : 0;
}

guint
sl_session_threads (const SlSession *session)
{
  return session->host.threads;
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
  if (session->instead != NULL)
    return sl_session_backend (session->instead, node);
  if (session->external != NULL)
    return sl_external_model_name (sl_external_session_model (session->external));
  const SlBackend *backend = session->host.backends[node];
  return backend != NULL ? backend->name : "view";
}

gboolean
sl_session_backend_use (const SlSession *session, guint i, SlBackendUse *use)
{
  if (session->instead != NULL)
    return sl_session_backend_use (session->instead, i, use);
  if (session->external != NULL) {
    const SlExternalModel *model = sl_external_session_model (session->external);
    *use = (SlBackendUse){ sl_external_model_name (model), sl_external_model_title (model), NULL,
                           MAX (session->stats.nodes, 1) };
    return i == 0;
  }
  const SlBackend *backend = sl_backends_get (i);
  if (backend == NULL)
    return FALSE;
  *use =
    (SlBackendUse){ backend->name, backend->title, backend->cpu != NULL ? backend->cpu () : NULL,
                    nodes_on (session, backend) };
  return TRUE;
}
