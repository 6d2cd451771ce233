/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread that loads a model beside another, for slinfer. It lives while there is something to
 * load. Invariant: a model is ready only after a run of it has succeeded, and is never replaced,
 * only taken.
 */
#include "plugins/tensor/model_swap.h"

#include <math.h>

#include "core/base/fail.h"

struct _SlModelSwap
{
  SlModelSwapLoad load;
  SlModelSwapDone done;
  gpointer user;
  GMutex lock;
  GCond changed;
  /* The rest is under the lock. */
  GThread *thread; /* (nullable): running, or ended and not joined */
  gboolean busy;   /* the thread runs */
  gboolean wanted; /* a request that nobody works on yet */
  gboolean taking; /* a model was taken, and who took it has not said go on */
  gboolean stopping;
  SlSession *trying; /* (nullable): sl_model_swap_note() */
  SlLoadedModel ready;
};

void
sl_loaded_model_clear (SlLoadedModel *loaded)
{
  g_clear_pointer (&loaded->recorder, sl_recorder_unref);
  g_clear_pointer (&loaded->batch, sl_batch_stream_free);
  g_clear_pointer (&loaded->session, sl_session_free);
  g_clear_pointer (&loaded->model, sl_model_unref);
  g_clear_pointer (&loaded->notice, g_free);
  if (loaded->settings != NULL && loaded->free_settings != NULL)
    loaded->free_settings (loaded->settings);
  loaded->settings = NULL;
}

/* How many values of a float tensor are not finite. @masked: where it stands for no token, a number
 * is -infinity. */
static gsize
count_odd (const SlTensorInfo *tensor, const gfloat *values, gboolean masked)
{
  gsize odd = 0;
  for (gsize i = 0; tensor->dtype == SL_DTYPE_F32 && i < tensor->bytes / sizeof *values; i++)
    odd += !isfinite (values[i]) && !(masked && values[i] < 0);
  return odd;
}

static gboolean
allocate (const SlTensorInfo *tensors, guint n, void **buffers)
{
  for (guint i = 0; i < n; i++)
    if ((buffers[i] = sl_tensor_buffer_new (tensors[i].bytes)) == NULL)
      return FALSE;
  return TRUE;
}

static gboolean
run_once (const SlContract *contract, SlSession *session, void **inputs, void **outputs,
          GError **error)
{
  if (!allocate (contract->inputs, contract->n_inputs, inputs)
      || !allocate (contract->outputs, contract->n_outputs, outputs))
    return sl_fail (error, SL_ERROR_LIMIT, "%s: no memory to try the model in", contract->model);
  const SlStatus status = sl_session_run (session, (const void *const *) inputs, outputs);
  if (status != SL_STATUS_OK)
    return sl_fail (error, SL_ERROR_BACKEND, "%s: trying the model: %s", contract->model,
                    sl_session_status_text (session, status));
  sl_session_reset (session);
  for (guint i = 0; i < contract->n_outputs; i++) {
    const gsize odd =
      count_odd (&contract->outputs[i], outputs[i], contract->words.columns != NULL);
    if (odd > 0)
      return sl_fail (
        error, SL_ERROR_BACKEND,
        "%s: trying the model on zeros: expected numbers in output %u, got %" G_GSIZE_FORMAT
        " values that are infinite or not a number: its weights are damaged, convert the model "
        "again",
        contract->model, i, odd);
  }
  return TRUE;
}

void
sl_model_swap_note (SlModelSwap *swap, SlSession *session)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&swap->lock);
  swap->trying = session;
  if (session != NULL && swap->stopping)
    sl_session_cancel (session, TRUE);
}

/* Runs the model once, which also brings its weights into memory. */
static gboolean
try_model (SlLoadedModel *loaded, GError **error)
{
  void *inputs[SL_MAX_IO] = { NULL }, *outputs[SL_MAX_IO] = { NULL };
  const gboolean good =
    run_once (sl_model_contract (loaded->model), loaded->session, inputs, outputs, error);
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (inputs[i]);
    sl_tensor_buffer_free (outputs[i]);
  }
  return good;
}

/* Without the lock. Whether its result counts is for the caller to say. */
static void
load_one (SlModelSwap *swap, SlLoadedModel *loaded, GError **error)
{
  const gboolean good = swap->load (swap->user, loaded, error) && try_model (loaded, error);
  sl_model_swap_note (swap, NULL);
  if (!good)
    sl_loaded_model_clear (loaded);
}

static gpointer
work (gpointer data)
{
  SlModelSwap *swap = data;
  g_mutex_lock (&swap->lock);
  while (swap->wanted && !swap->stopping) {
    if (swap->ready.model != NULL || swap->taking) {
      g_cond_wait (&swap->changed, &swap->lock);
      continue;
    }
    g_autoptr (GError) error = NULL;
    SlLoadedModel loaded = { 0 };
    swap->wanted = FALSE;
    g_mutex_unlock (&swap->lock);
    load_one (swap, &loaded, &error);
    g_mutex_lock (&swap->lock);
    if (swap->stopping)
      swap->wanted = TRUE;
    const gboolean outdated = swap->wanted;
    if (!outdated)
      swap->ready = loaded;
    g_mutex_unlock (&swap->lock);
    if (outdated)
      sl_loaded_model_clear (&loaded);
    else
      swap->done (swap->user, error);
    g_mutex_lock (&swap->lock);
  }
  swap->busy = FALSE;
  g_mutex_unlock (&swap->lock);
  return NULL;
}

SlModelSwap *
sl_model_swap_new (SlModelSwapLoad load, SlModelSwapDone done, gpointer user)
{
  SlModelSwap *swap = g_new0 (SlModelSwap, 1);
  swap->load = load;
  swap->done = done;
  swap->user = user;
  g_mutex_init (&swap->lock);
  g_cond_init (&swap->changed);
  return swap;
}

void
sl_model_swap_free (SlModelSwap *swap)
{
  if (swap == NULL)
    return;
  g_assert (swap->thread == NULL);
  sl_loaded_model_clear (&swap->ready);
  g_mutex_clear (&swap->lock);
  g_cond_clear (&swap->changed);
  g_free (swap);
}

void
sl_model_swap_request (SlModelSwap *swap)
{
  g_autoptr (GError) cause = NULL;
  g_mutex_lock (&swap->lock);
  swap->wanted = TRUE;
  if (!swap->busy && !swap->stopping) {
    if (swap->thread != NULL)
      g_thread_join (swap->thread);
    swap->thread = g_thread_try_new ("sl-model", work, swap, &cause);
    swap->busy = swap->wanted = swap->thread != NULL;
  }
  g_mutex_unlock (&swap->lock);
  if (cause == NULL)
    return;
  g_autoptr (GError) error = g_error_new (
    SL_ERROR, SL_ERROR_LIMIT,
    "cannot start a thread to load it, for want of memory or by a limit on threads: %s",
    cause->message);
  swap->done (swap->user, error);
}

SlContract *
sl_model_swap_offer (SlModelSwap *swap)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&swap->lock);
  return swap->ready.model != NULL ? sl_contract_ref (sl_model_contract (swap->ready.model)) : NULL;
}

gboolean
sl_model_swap_take (SlModelSwap *swap, SlLoadedModel *loaded)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&swap->lock);
  *loaded = swap->ready;
  swap->ready = (SlLoadedModel){ 0 };
  swap->taking = loaded->model != NULL;
  return loaded->model != NULL;
}

void
sl_model_swap_go_on (SlModelSwap *swap)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&swap->lock);
  swap->taking = FALSE;
  g_cond_broadcast (&swap->changed);
}

gboolean
sl_model_swap_is_pending (SlModelSwap *swap)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&swap->lock);
  return swap->busy || swap->wanted || swap->ready.model != NULL || swap->taking;
}

gboolean
sl_model_swap_stop (SlModelSwap *swap)
{
  g_mutex_lock (&swap->lock);
  GThread *thread = g_steal_pointer (&swap->thread);
  swap->stopping = TRUE;
  if (swap->trying != NULL)
    sl_session_cancel (swap->trying, TRUE);
  g_cond_broadcast (&swap->changed);
  g_mutex_unlock (&swap->lock);
  if (thread != NULL)
    g_thread_join (thread);
  g_mutex_lock (&swap->lock);
  const gboolean given_up = swap->wanted;
  swap->wanted = swap->stopping = FALSE;
  g_mutex_unlock (&swap->lock);
  return given_up;
}
