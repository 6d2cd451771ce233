/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports as texts: for Prometheus, and as JSON. */
#pragma once

#include "sightline/predictions.h"
#include "tools/run/http/messages.h"
#include "tools/run/http/report.h"

/** sl_text_metrics: appends @report as Prometheus's text format has it. @newest: (element-type
 * SlPredictions): the newest predictions of each pipeline, NULL where there are no current ones. */
void sl_text_metrics (GString *out, const SlReport *report, const GPtrArray *newest);
/** sl_text_health: appends {"ok":..., "reasons":[...], "pipelines":[...]}. Returns whether all is
 * well. */
gboolean sl_text_health (GString *out, const SlReport *report, guint stall);
/** sl_text_pipelines: appends everything that the page shows but for pictures and predictions. */
void sl_text_pipelines (GString *out, const SlReport *report, guint stall, SlMessages *messages);
/** sl_text_drops: appends a member @key with the dropped frames by reason. */
void sl_text_drops (GString *out, const char *key, const SlReportPipeline *pipeline);
/** sl_text_stages: appends a member with the times of each stage:
 * "stages":{"inference":{"p50_ms":..., "p95_ms":...}}, empty before the first frame. */
void sl_text_stages (GString *out, const SlFigures *figures);
/** sl_text_budget: appends members with the part in the budget of @model: "promised", "delivered",
 * "offered", "skipped", "cost_ms", "waited_p50_ms", "waited_p99_ms"; none where it has no part. */
void sl_text_budget (GString *out, const SlReportModel *model);
/** sl_text_process: appends members about the program: version, uptime, processor, memory,
 * threads. */
void sl_text_process (GString *out, const SlReport *report);
