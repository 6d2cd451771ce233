/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session runs: the caller's inputs and outputs are bound and the steps executed, by us or by a
 * runtime that has the model whole. What held inputs carry from run to run, and who cancels a run,
 * is here, too.
 */
#include "core/runtime/session_private.h"

#include <string.h>
#include <time.h>

#include "core/base/printable.h"

/* Real zeros of @tensor. */
static void
fill_zeros (const SlTensor *tensor, void *data)
{
  const gint32 zero = sl_tensor_zero_point (tensor);
  const gsize size = sl_dtype_size (tensor->dtype);
  memset (data, 0, tensor->bytes);
  for (gsize at = 0; zero != 0 && at < tensor->bytes; at += size)
    memcpy ((guint8 *) data + at, &zero, MIN (size, sizeof zero)); /* little-endian */
}

static void
start_anew (SlSession *session, gboolean state_alone)
{
  for (guint i = 0; i < session->n_held; i++) {
    const SlHeldInput *held = sl_graph_held (session->graph, i);
    const SlTensor *tensor = sl_graph_tensor (session->graph, held->input);
    if (state_alone && held->output < 0)
      continue;
    if (held->first != NULL)
      memcpy (session->held[i].now, held->first, tensor->bytes);
    else
      fill_zeros (tensor, session->held[i].now);
  }
}

void
sl_session_reset (SlSession *session)
{
  start_anew (session, FALSE);
}

void
sl_session_forget (SlSession *session)
{
  start_anew (session, TRUE);
}

void *
sl_session_held (SlSession *session, guint i)
{
  return session->held[i].now;
}

void
sl_session_all_inputs (const SlSession *session, const void *const *inputs, const void **all)
{
  const guint n = sl_graph_n_inputs (session->graph);
  memcpy (all, inputs, n * sizeof inputs[0]);
  for (guint i = 0; i < session->n_held; i++)
    all[n + i] = session->held[i].now;
}

static SlStatus
run_step (SlSession *session, const ReadyStep *step)
{
  for (guint k = 0; k < step->n_operands; k++) {
    guint8 *root = step->roots[k] < 0 ? NULL : session->memory[step->roots[k]];
    step->memory[k] = root == NULL ? NULL : root + step->shifts[k];
  }
  if (step->backend->run (step->prepared, step->memory))
    return SL_STATUS_OK;
  session->failed = step->backend;
  return SL_STATUS_BACKEND_FAILED;
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
    const SlStatus status = session->node_ns != NULL ? run_timed_step (session, i)
                                                     : run_step (session, &session->steps[i]);
    if (status != SL_STATUS_OK)
      return status;
  }
  return SL_STATUS_OK;
}

/* With every input and output that the model has. */
static SlStatus
run_ours (SlSession *session, const void *const *inputs, void *const *outputs)
{
  for (guint i = 0; i < session->n_inputs; i++)
    session->memory[session->parts.roots[session->inputs[i]]] = (void *) inputs[i];
  for (guint i = 0; i < session->n_outputs; i++)
    if (session->output_root[i] >= 0)
      session->memory[session->output_root[i]] = outputs[i];
  const SlStatus status = run_steps (session);
  for (guint i = 0; i < SL_MAX_BACKENDS; i++)
    if (session->threads[i] != NULL)
      sl_backends_get (i)->rest_threads (session->threads[i]);
  sl_pool_rest (session->host.pool);
  if (status != SL_STATUS_OK)
    return status;
  for (guint i = 0; i < session->n_copies; i++)
    memcpy (outputs[session->copies[i].output], session->memory[session->copies[i].root],
            session->copies[i].bytes);
  return SL_STATUS_OK;
}

/* What the runtime of others failed, a session of ours repeats, if that can be made. */
static SlStatus
fall_back (SlSession *session, const void *const *inputs, void *const *outputs)
{
  g_autoptr (GError) error = NULL;
  const char *title = sl_external_model_title (sl_external_session_model (session->external));
  g_autofree char *said =
    sl_printable (sl_external_session_failure (session->external), SL_PRINTABLE_MESSAGE);
  session->instead = sl_session_new_full (session->graph, session->host.threads, FALSE, &error);
  if (session->instead == NULL)
    return SL_STATUS_BACKEND_FAILED;
  session->notice = g_strdup_printf (
    "%s failed, so Sightline runs the model on the CPU from here on: %s", title, said);
  return run_ours (session->instead, inputs, outputs);
}

static SlStatus
run_external (SlSession *session, const void *const *inputs, void *const *outputs)
{
  if (g_atomic_int_get (&session->cancelled))
    return SL_STATUS_CANCELLED;
  if (session->instead != NULL)
    return run_ours (session->instead, inputs, outputs);
  if (sl_external_session_run (session->external, inputs, outputs))
    return SL_STATUS_OK;
  if (g_atomic_int_get (&session->cancelled))
    return SL_STATUS_CANCELLED;
  return session->fallback ? fall_back (session, inputs, outputs) : SL_STATUS_BACKEND_FAILED;
}

/* What this run gave is what the next one gets. */
static void
carry (SlSession *session, void *const *outputs)
{
  for (guint i = 0; i < session->n_held; i++) {
    Held *memory = &session->held[i];
    const SlHeldInput *held = sl_graph_held (session->graph, i);
    void *before = memory->now;
    if (held->at >= 0)
      memcpy (memory->now, outputs[held->at], sl_graph_tensor (session->graph, held->input)->bytes);
    if (memory->next == NULL)
      continue;
    memory->now = memory->next;
    memory->next = before;
  }
}

static SlStatus
run_held (SlSession *session, const void *const *inputs, void *const *outputs)
{
  const void *all_inputs[SL_MAX_IO];
  void *all_outputs[SL_MAX_IO];
  guint n_outputs = sl_graph_n_outputs (session->graph);
  sl_session_all_inputs (session, inputs, all_inputs);
  memcpy (all_outputs, outputs, n_outputs * sizeof outputs[0]);
  for (guint i = 0; i < session->n_held; i++)
    if (session->held[i].next != NULL)
      all_outputs[n_outputs++] = session->held[i].next;
  const SlStatus status = session->external != NULL
                            ? run_external (session, all_inputs, all_outputs)
                            : run_ours (session, all_inputs, all_outputs);
  if (status == SL_STATUS_OK)
    carry (session, outputs);
  return status;
}

SlStatus
sl_session_run (SlSession *session, const void *const *inputs, void *const *outputs)
{
  if (session->n_held > 0)
    return run_held (session, inputs, outputs);
  return session->external != NULL ? run_external (session, inputs, outputs)
                                   : run_ours (session, inputs, outputs);
}

/* Of those who cancel a session and those who link it. */
static GMutex link_lock;

static void
set_cancelled (SlSession *session, gboolean cancelled)
{
  g_atomic_int_set (&session->cancelled, cancelled);
  if (session->external != NULL)
    sl_external_session_cancel (session->external, cancelled);
}

void
sl_session_cancel (SlSession *session, gboolean cancelled)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&link_lock);
  set_cancelled (session, cancelled);
  if (session->linked != NULL)
    set_cancelled (session->linked, cancelled);
}

gboolean
sl_session_is_cancelled (const SlSession *session)
{
  return g_atomic_int_get (&session->cancelled) != 0;
}

void
sl_session_link (SlSession *session, SlSession *other)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&link_lock);
  if (session->linked != NULL)
    set_cancelled (session->linked, FALSE);
  session->linked = other;
  if (other != NULL)
    set_cancelled (other, sl_session_is_cancelled (session));
}
