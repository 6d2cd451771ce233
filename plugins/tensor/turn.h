/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slinfer's turns in the budget of the process (predict/budget.h). A frame has one turn, for all
 * tensors of its objects or tiles. If a newer frame waits in a leaky queue directly upstream when
 * the turn comes, that one has it.
 */
#pragma once

#include <gst/gst.h>

#include "models/batcher.h"
#include "predict/budget.h"
#include "predict/need.h"

/** SlInferTurn: of the streaming thread. @serial: of the last frame, 0 = unknown; @parts: more
 * tensors of the frame that has its turn follow; @gaps: the last frame had no tensor */
typedef struct
{
  SlBudgetStream *stream;
  guint64 serial;
  gboolean parts, gaps;
  gint seen;      /* atomic: the last frame downstream has objects */
  gboolean batch; /* it runs with other streams, which wait for it a moment */
  SlNeedKind need;
  const char *zone;     /* interned: of @need */
  GMutex lock;          /* of @occupied */
  GHashTable *occupied; /* interned names of zones downstream with objects */
} SlInferTurn;

/** sl_infer_turn_init, sl_infer_turn_clear: with the element. @source: its source pad. */
void sl_infer_turn_init (SlInferTurn *turn, GstPad *source);
void sl_infer_turn_clear (SlInferTurn *turn);
/** sl_infer_turn_set: between frames. @rate, @priority, @threads, @batch: as of
 * sl_budget_stream_set(). */
void sl_infer_turn_set (SlInferTurn *turn, gdouble rate, guint priority, guint threads,
                        SlBatchStream *batch);
/** sl_infer_turn_set_need: between frames. @need: (nullable): as sl_need_parse() takes it. */
void sl_infer_turn_set_need (SlInferTurn *turn, const char *need);
/** sl_infer_turn_take: waits for the turn of tensor @in. GST_FLOW_OK: the model runs on it;
 * GST_BASE_TRANSFORM_FLOW_DROPPED: a newer frame has its turn; GST_FLOW_FLUSHING: cancelled. */
GstFlowReturn sl_infer_turn_take (SlInferTurn *turn, GstPad *sink, GstBuffer *in);
/** sl_infer_turn_done: the model has filled @out, or failed. */
void sl_infer_turn_done (SlInferTurn *turn, GstPad *sink, GstBuffer *out, gboolean ran);
/** sl_infer_turn_end: nothing follows what came so far: a flush, the end of the stream, a frame
 * without a tensor. */
void sl_infer_turn_end (SlInferTurn *turn, gboolean gap);
/** sl_infer_turn_figures: (transfer full) (nullable): for the property "budget"; NULL: it has no
 * part in the budget. Any thread. */
GstStructure *sl_infer_turn_figures (const SlInferTurn *turn);
/** sl_infer_turn_install: the property "budget", which sl_infer_turn_figures() is the value of. */
void sl_infer_turn_install (GObjectClass *klass, guint id);
