/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Models and sessions of other runtimes: the mapping between the runtime's inputs and outputs and
 * those of our graph, and the check that they match. The rows of the table have the rest.
 */
#include "core/external/external.h"

#include <string.h>

#include "core/base/printable.h"
#include "core/external/library.h"
#include "core/external/runtime.h"
#include "core/base/fail.h"

struct _SlExternalModel
{
  guint refs;     /* under lock */
  char *identity; /* (nullable): that it is shared under */
  const SlRuntime *row;
  gpointer model;
  char *title;
  SlRuntimeEdges edges;
};

struct _SlExternalSession
{
  SlExternalModel *model;
  gpointer runner;
  guint n_inputs;
  gboolean resized; /* inputs have sizes that the runtime has not seen yet, so its outputs may have
                       others, too */
  gint32 from[SL_MAX_IO];         /* by input of the runtime: ours, or -1 for a constant */
  guint n_outputs, to[SL_MAX_IO]; /* by output of the runtime: ours */
  const void *data[SL_MAX_IO];    /* by input of the runtime: constants, and what is being run on */
  char failure[SL_FAILURE_SIZE];
};

static GMutex lock;
static GHashTable *shared; /* identities to living models; under lock */

SlExternalModel *
sl_external_model_new (const SlExternalRequest *request, GError **error)
{
  const SlRuntime *row = sl_runtime_find (request->runtime);
  const char *version = NULL;
  gpointer library = sl_runtime_open (&row, &version, NULL, error);
  g_autofree char *device = NULL;
  if (library == NULL)
    return NULL;
  g_autoptr (SlExternalModel) model = g_new0 (SlExternalModel, 1);
  model->refs = 1;
  model->row = row;
  model->model = row->load (library, request, &model->edges, &device, error);
  if (model->model == NULL) {
    g_prefix_error (error, "%s %s: ", row->title, version);
    return NULL;
  }
  model->title = g_strdup_printf ("%s %s, %s", row->title, version, device);
  return g_steal_pointer (&model);
}

SlExternalModel *
sl_external_model_ref (SlExternalModel *model)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  model->refs++;
  return model;
}

SlExternalModel *
sl_external_model_find_shared (const char *identity)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  SlExternalModel *model = shared != NULL ? g_hash_table_lookup (shared, identity) : NULL;
  if (model != NULL)
    model->refs++;
  return model;
}

SlExternalModel *
sl_external_model_share (SlExternalModel *model, const char *identity)
{
  SlExternalModel *other = sl_external_model_find_shared (identity);
  if (other != NULL) {
    sl_external_model_unref (model);
    return other;
  }
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  if (shared == NULL)
    shared = g_hash_table_new (g_str_hash, g_str_equal);
  if (!g_hash_table_contains (shared, identity)) {
    model->identity = g_strdup (identity);
    g_hash_table_insert (shared, model->identity, model);
  }
  return model;
}

void
sl_external_model_unref (SlExternalModel *model)
{
  if (model == NULL)
    return;
  g_mutex_lock (&lock);
  const gboolean last = --model->refs == 0;
  if (last && model->identity != NULL)
    g_hash_table_remove (shared, model->identity);
  g_mutex_unlock (&lock);
  if (!last)
    return;
  if (model->model != NULL)
    model->row->unload (model->model);
  for (guint i = 0; i < model->edges.n_inputs; i++)
    g_free ((char *) model->edges.inputs[i].name);
  for (guint i = 0; i < model->edges.n_outputs; i++)
    g_free ((char *) model->edges.outputs[i].name);
  g_free (model->identity);
  g_free (model->title);
  g_free (model);
}

const char *
sl_external_model_name (const SlExternalModel *model)
{
  return model->row->name;
}

const char *
sl_external_model_title (const SlExternalModel *model)
{
  return model->title;
}

const SlTensor *
sl_external_model_edges (const SlExternalModel *model, gboolean outputs, guint *n)
{
  *n = outputs ? model->edges.n_outputs : model->edges.n_inputs;
  return outputs ? model->edges.outputs : model->edges.inputs;
}

/* A tensor of @graph like @edge, or -1. Names and scales are copied. */
static gint32
add_edge (SlGraph *graph, const SlTensor *edge, GError **error)
{
  SlTensor tensor = *edge;
  gsize elements;
  g_autofree char *shown = sl_printable (edge->name, SL_PRINTABLE_NAME);
  if (!sl_tensor_elements (edge, &elements)
      || !g_size_checked_mul (&tensor.bytes, elements, sl_dtype_size (edge->dtype))
      || tensor.bytes == 0 || tensor.bytes > sl_graph_limit (graph)) {
    g_autofree char *text = sl_tensor_describe (edge);
    sl_fail (error, SL_ERROR_LIMIT, "tensor '%s' is %s; expected 1 to %" G_GSIZE_FORMAT " bytes",
             shown, text, sl_graph_limit (graph));
    return -1;
  }
  tensor.name = sl_arena_strndup (sl_graph_arena (graph), shown, strlen (shown));
  if (edge->quant.count > 0) {
    gfloat *scale = sl_arena_alloc (sl_graph_arena (graph), sizeof *scale);
    gint32 *zero_point = sl_arena_alloc (sl_graph_arena (graph), sizeof *zero_point);
    *scale = edge->quant.scale[0];
    *zero_point = edge->quant.zero_point[0];
    tensor.quant = (SlQuant){ .count = 1, .scale = scale, .zero_point = zero_point };
  }
  return sl_graph_add_tensor (graph, &tensor, error);
}

gboolean
sl_external_model_skeleton (SlExternalModel *model, const SlTensor *inputs, SlGraph *graph,
                            GError **error)
{
  SlRuntimeEdges edges = model->edges; /* names stay the model's */
  gint32 in[SL_MAX_IO], out[SL_MAX_IO];
  memcpy (edges.inputs, inputs, edges.n_inputs * sizeof inputs[0]);
  for (guint i = 0; i < edges.n_inputs; i++)
    if ((in[i] = add_edge (graph, &edges.inputs[i], error)) < 0)
      return FALSE;
  if (!model->row->settle (model->model, &edges, error))
    return sl_fail_prefix (error, "%s: ", model->title);
  for (guint i = 0; i < edges.n_outputs; i++)
    if ((out[i] = add_edge (graph, &edges.outputs[i], error)) < 0)
      return FALSE;
  return sl_graph_set_io (graph, in, edges.n_inputs, out, edges.n_outputs, error);
}

/* Whether the runtime's @theirs is what our graph has, where it says so. */
static gboolean
check_edge (const SlExternalModel *model, const char *what, guint i, const SlTensor *theirs,
            const SlTensor *ours, GError **error)
{
  gboolean same = theirs->dtype == ours->dtype && theirs->rank == ours->rank;
  for (guint k = 0; same && k < ours->rank; k++)
    same = theirs->dims[k] < 0 || theirs->dims[k] == ours->dims[k];
  if (same)
    return TRUE;
  g_autofree char *expected = sl_tensor_describe (ours), *got = sl_tensor_describe (theirs);
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "%s: %s %u '%s': expected %s, got %s: the two read the model differently; use " SL_BACKEND_OURS,
    model->title, what, i, ours->name, expected, got);
}

/* (nullable): the input of @graph, or the constant that one became, which the runtime calls @name.
 */
static const SlTensor *
find_by_name (const SlGraph *graph, const char *name, gint32 *index)
{
  guint n;
  const gint32 *inputs = sl_graph_all_inputs (graph, &n, NULL);
  g_autofree char *shown = sl_printable (name, SL_PRINTABLE_NAME);
  for (guint i = 0; i < n; i++)
    if (strcmp (sl_graph_tensor (graph, inputs[i])->name, shown) == 0) {
      *index = (gint32) i;
      return sl_graph_tensor (graph, inputs[i]);
    }
  *index = -1;
  for (guint i = 0; i < sl_graph_n_tensors (graph); i++) {
    const SlTensor *tensor = sl_graph_tensor (graph, (gint32) i);
    if (tensor->data != NULL && strcmp (tensor->name, shown) == 0)
      return tensor;
  }
  return NULL;
}

/* Where @places have @place. */
static guint
find_place (const guint8 *places, guint n, guint place)
{
  guint i = 0;
  while (i < n && places[i] != place)
    i++;
  return i;
}

/* As check_edge() for an input, of which the runtime may leave sizes open by 1. */
static gboolean
check_input (SlExternalSession *session, guint i, const SlTensor *ours, GError **error)
{
  SlTensor theirs = session->model->edges.inputs[i];
  for (guint k = 0; session->model->row->resizes && k < theirs.rank; k++)
    if (theirs.dims[k] == 1 && theirs.rank == ours->rank && ours->dims[k] != 1) {
      theirs.dims[k] = -1;
      session->resized = TRUE;
    }
  return check_edge (session->model, "input", i, &theirs, ours, error);
}

static gboolean
check_output (const SlExternalSession *session, guint i, const SlTensor *ours, GError **error)
{
  SlTensor theirs = session->model->edges.outputs[i];
  for (guint k = 0; session->resized && k < theirs.rank; k++)
    theirs.dims[k] = -1;
  return check_edge (session->model, "output", i, &theirs, ours, error);
}

/* Which of ours each input of the runtime is; its shape into @edges. */
static gboolean
match_inputs (SlExternalSession *session, const SlGraph *graph, SlRuntimeEdges *edges,
              GError **error)
{
  const SlRuntimeEdges *theirs = &session->model->edges;
  const guint8 *places;
  guint n, taken = 0;
  sl_graph_all_inputs (graph, &n, &places);
  const gboolean all = theirs->n_inputs == n;
  session->n_inputs = theirs->n_inputs;
  for (guint i = 0; i < theirs->n_inputs; i++) {
    gint32 index = (gint32) find_place (places, n, i);
    const SlTensor *ours = all ? sl_graph_declared_input_tensor (graph, (guint) index)
                               : find_by_name (graph, theirs->inputs[i].name, &index);
    if (ours == NULL)
      return sl_fail (error, SL_ERROR_SHAPE,
                      "%s: its input %u '%s' is none of the %u that are stated here",
                      session->model->title, i, theirs->inputs[i].name, n);
    if (!check_input (session, i, ours, error))
      return FALSE;
    taken += index >= 0;
    session->from[i] = index;
    session->data[i] = index < 0 ? ours->data : NULL;
    memcpy (edges->inputs[i].dims, ours->dims, sizeof ours->dims);
    edges->inputs[i].bytes = ours->bytes;
  }
  if (taken == n)
    return TRUE;
  return sl_fail (error, SL_ERROR_SHAPE, "%s: it takes %u of the model's %u inputs",
                  session->model->title, taken, n);
}

static gboolean
match_outputs (SlExternalSession *session, const SlGraph *graph, SlRuntimeEdges *edges,
               GError **error)
{
  const SlRuntimeEdges *theirs = &session->model->edges;
  const guint8 *places;
  const gint32 *outputs = sl_graph_all_outputs (graph, &session->n_outputs, &places);
  if (theirs->n_outputs != session->n_outputs)
    return sl_fail (error, SL_ERROR_SHAPE, "%s: expected %u outputs, got %u", session->model->title,
                    session->n_outputs, theirs->n_outputs);
  for (guint i = 0; i < theirs->n_outputs; i++) {
    session->to[i] = find_place (places, session->n_outputs, i);
    const SlTensor *ours = sl_graph_tensor (graph, outputs[session->to[i]]);
    if (theirs->outputs[i].rank > 0 && !check_output (session, i, ours, error))
      return FALSE;
    edges->outputs[i].dtype = ours->dtype;
    edges->outputs[i].rank = ours->rank;
    memcpy (edges->outputs[i].dims, ours->dims, sizeof ours->dims);
    edges->outputs[i].bytes = ours->bytes;
  }
  return TRUE;
}

SlExternalSession *
sl_external_session_new (SlExternalModel *model, const SlGraph *graph, GError **error)
{
  g_autoptr (SlExternalSession) session = g_new0 (SlExternalSession, 1);
  SlRuntimeEdges edges = model->edges;
  session->model = sl_external_model_ref (model);
  if (!match_inputs (session, graph, &edges, error)
      || !match_outputs (session, graph, &edges, error))
    return NULL;
  session->runner = model->row->start (model->model, &edges, error);
  if (session->runner != NULL)
    return g_steal_pointer (&session);
  g_prefix_error (error, "%s: ", model->title);
  return NULL;
}

void
sl_external_session_free (SlExternalSession *session)
{
  if (session == NULL)
    return;
  if (session->runner != NULL)
    session->model->row->stop (session->runner);
  sl_external_model_unref (session->model);
  g_free (session);
}

SlExternalModel *
sl_external_session_model (const SlExternalSession *session)
{
  return session->model;
}

gboolean
sl_external_session_run (SlExternalSession *session, const void *const *inputs,
                         void *const *outputs)
{
  for (guint i = 0; i < session->n_inputs; i++)
    if (session->from[i] >= 0)
      session->data[i] = inputs[session->from[i]];
  void *to[SL_MAX_IO];
  for (guint i = 0; i < session->n_outputs; i++)
    to[i] = outputs[session->to[i]];
  return session->model->row->run (session->runner, session->data, to, session->failure);
}

const char *
sl_external_session_failure (const SlExternalSession *session)
{
  return session->failure;
}

void
sl_external_session_cancel (SlExternalSession *session, gboolean cancelled)
{
  if (session->model->row->cancel != NULL)
    session->model->row->cancel (session->runner, cancelled);
}
