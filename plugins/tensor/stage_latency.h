/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a model adds to a live pipeline's latency: the running mean of its time is added to
 * upstream's, announced again when it moves by a quarter; the mean, because one hiccup must not
 * delay the pipeline for good. For slinfer, slremote and slread.
 */
#pragma once

#include <gst/gst.h>

/**
 * SlStageLatency:
 * @mean_us: of the thread that notes times
 * @parts_us: of that thread, too: what tensors of a frame took of which more follow
 * @announced: object lock: latency last announced
 * @live: object lock: what upstream said in its last answer
 */
typedef struct
{
  gint64 mean_us, parts_us;
  GstClockTime announced;
  gboolean live;
} SlStageLatency;

void sl_stage_latency_start (SlStageLatency *latency, GstElement *element);
/** sl_stage_latency_note_part: a tensor took @elapsed_us, and more of the same frame follow: their
 * time is the frame's. */
void sl_stage_latency_note_part (SlStageLatency *latency, gint64 elapsed_us);
/** sl_stage_latency_note: a frame, or the last tensor of one, took @elapsed_us; announces the mean
 * when a live pipeline has to know. */
void sl_stage_latency_note (SlStageLatency *latency, GstElement *element, gint64 elapsed_us);
/** sl_stage_latency_add: adds to upstream's answer to a LATENCY @query; of a live one @wait, too,
 * for which a tensor may wait beside the time that is noted. */
void sl_stage_latency_add (SlStageLatency *latency, GstElement *element, GstClockTime wait,
                           GstQuery *query);
