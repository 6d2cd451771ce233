/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames through a running pipeline, counted by pad probes, and how long each stage takes them,
 * read from SlFrameMeta. Streaming threads write, the supervisor reads.
 */
#pragma once

#include "tools/run/drops.h"
#include "tools/run/process.h"

typedef enum
{
  SL_STAGE_PREPROCESS, /* capture to tensor */
  SL_STAGE_INFERENCE,
  SL_STAGE_DECODE,
  SL_STAGE_AGE, /* capture to prediction */
  SL_N_STAGES
} SlStage;

/**
 * SlFlowCounts:
 * @in: frames from the decoders, or from the sources in a pipeline without decoders; never
 * decreases
 * @out: the most that one sink got
 * @predictions: tensors of frames that slpostprocess decoded, not frames that passed it without any
 * @dropped: frames of @in that gave no prediction, frames still on their way among them; 0 in a
 * pipeline without a model
 * @first: monotonic microseconds of the first at a sink; 0 = none yet
 * @last: of the last
 */
typedef struct
{
  guint64 in, out, predictions, dropped;
  gint64 first, last;
} SlFlowCounts;

typedef struct _SlFlow SlFlow;

/** sl_flow_new: counts in @pipeline, elements that come later included. */
SlFlow *sl_flow_new (GstElement *pipeline);
/** sl_flow_free: @pipeline must be in NULL. */
void sl_flow_free (SlFlow *flow);
/** sl_flow_serial: a number, from 1, that no other flow of the process has or had. */
guint64 sl_flow_serial (const SlFlow *flow);
/** sl_flow_drops: (transfer none): of the same pipeline, elements that come later included. */
SlDrops *sl_flow_drops (const SlFlow *flow);
void sl_flow_counts (SlFlow *flow, SlFlowCounts *counts);
/** sl_flow_latency: the 50th and the 95th percentile (core/base/percentile.h) of the last 512
 * frames, in microseconds. FALSE before the first frame. */
gboolean sl_flow_latency (SlFlow *flow, SlStage stage, gint64 *p50, gint64 *p95);
/** sl_flow_add_histogram: adds what @stage took all frames so far to @histogram. */
void sl_flow_add_histogram (SlFlow *flow, SlStage stage, SlHistogram *histogram);
