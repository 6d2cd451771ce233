/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The budget of a process: streams take turns at their models (predict/turns.h). A stream's own
 * thread waits for its turn and then runs the model, so there is no extra thread. Any thread, but
 * for each stream one thread that enters and leaves.
 */
#pragma once

#include "models/batcher.h"
#include "predict/turns.h"

typedef struct _SlBudgetStream SlBudgetStream;

/** sl_budget_set_cores: processor seconds a second for all streams together; 0 = as many as the
 * machine has. */
void sl_budget_set_cores (gdouble cores);
gdouble sl_budget_cores (void);

/** sl_budget_stream_new: it is promised nothing yet. */
SlBudgetStream *sl_budget_stream_new (void);
/** sl_budget_stream_free: its thread has left. */
void sl_budget_stream_free (SlBudgetStream *stream);
/**
 * sl_budget_stream_set:
 * @rate: promised frames a second; 0 = it has no part in the budget, and never waits
 * @priority, @threads: as of sl_turn_stream_set()
 * @batch: (nullable) (transfer none): streams of one batch have their turns together. Until the
 * next call
 *
 * In its thread, or while that is not there; not between enter and leave.
 */
void sl_budget_stream_set (SlBudgetStream *stream, gdouble rate, guint priority, guint threads,
                           SlBatchStream *batch);
/** sl_budget_stream_enter: waits for its turn; at once when it has one already. @n, @need: as of
 * sl_turn_stream_arrive() and sl_turn_stream_wait(). FALSE: cancelled. Allocates nothing. */
gboolean sl_budget_stream_enter (SlBudgetStream *stream, guint n, gboolean need);
/** sl_budget_stream_has_turn: FALSE also without a part in the budget. */
gboolean sl_budget_stream_has_turn (SlBudgetStream *stream);
/** sl_budget_stream_skip: the frame gives way to a newer one, which has its turn. */
void sl_budget_stream_skip (SlBudgetStream *stream);
/** sl_budget_stream_leave: its turn is over; legal without one, and, when nothing ran, in any
 * thread. @ran, @more: as of
 * sl_turn_stream_done(). */
void sl_budget_stream_leave (SlBudgetStream *stream, gboolean ran, gboolean more);
/** sl_budget_stream_cancel: sl_budget_stream_enter() returns FALSE at once, and later calls, until
 * called with FALSE. */
void sl_budget_stream_cancel (SlBudgetStream *stream, gboolean cancelled);
/** sl_budget_stream_figures: FALSE when it has no part in the budget. */
gboolean sl_budget_stream_figures (SlBudgetStream *stream, SlTurnFigures *figures);
