/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Runs a model on several inputs at once: dimension 0 of its tensors is a batch. The session has
 * measured whether that is faster, and has checked that results equal those of single runs.
 */
#pragma once

#include <glib.h>

#include "core/runtime/session.h"
#include "models/model.h"

/** Most inputs that are run at once. */
#define SL_MAX_BATCH 64

typedef struct _SlBatchSession SlBatchSession;

/** SlBatchItem: the tensors of one input, as sl_session_run() takes them. */
typedef struct
{
  const void *const *inputs;
  void *const *outputs;
} SlBatchItem;

/**
 * sl_batch_session_new:
 * @single: of @model, which does not run meanwhile
 * @n: 2..SL_MAX_BATCH
 *
 * It uses the runtime and the number of threads of @single. Both run @n different inputs: integers
 * must be equal, and floats may differ by SL_BATCH_AGREEMENT. Both are timed. Cancelling @single
 * from another thread ends the check.
 *
 * Returns: (transfer full): NULL with SL_ERROR_UNSUPPORTED and why where the model cannot be run in
 * batches
 */
SlBatchSession *sl_batch_session_new (SlModel *model, SlSession *single, guint n, GError **error);
/** Floats of a batch and of single runs, as a share of an output's largest magnitude: kernels may
 * add in another order. */
#define SL_BATCH_AGREEMENT 0.001
/** sl_batch_session_new_best: for --batch auto: of the sizes 2, 4, 8 ... up to @most the one with
 * the least time a frame. NULL with SL_ERROR_UNSUPPORTED and why where none is 5 % faster than
 * single runs. */
SlBatchSession *sl_batch_session_new_best (SlModel *model, SlSession *single, guint most,
                                           GError **error);
/** sl_batch_session_free: NULL is legal. */
void sl_batch_session_free (SlBatchSession *batch);
guint sl_batch_session_size (const SlBatchSession *batch);
/** sl_batch_session_times: milliseconds of a run of the batch, and of a single one. Returns how
 * much faster a frame of a full batch is, 1 = as fast. */
gdouble sl_batch_session_times (const SlBatchSession *batch, gdouble *batch_ms, gdouble *single_ms);
/** sl_batch_session_pays: whether @k inputs are faster at once than one after the other. */
gboolean sl_batch_session_pays (const SlBatchSession *batch, guint k);
/**
 * sl_batch_session_run:
 * @single: (nullable): of the same model; runs them one after the other where that is faster, and
 * from the first run of the batch on that fails
 * @items: @k, 1..size
 *
 * One run at a time. Allocates nothing.
 *
 * Returns: the first status that is not good
 */
SlStatus sl_batch_session_run (SlBatchSession *batch, SlSession *single, const SlBatchItem *items,
                               guint k);
/** sl_batch_session_failure: (transfer none) (nullable): why batches are not run any more. */
const char *sl_batch_session_failure (const SlBatchSession *batch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlBatchSession, sl_batch_session_free)
