/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a worker is at one moment: taken on the main thread, read by the server's. Never changed once
 * made.
 */
#pragma once

#include "tools/run/process.h"
#include "tools/serve/worker.h"

/** SlServeModel: of a model. @rate: answers a second; @p50, @p95: microseconds of the last answers'
 * ages, -1 before the first; @figures: without clients, which @clients counts */
typedef struct
{
  char *name, *file, *hash;
  guint batch, clients;
  gdouble rate;
  gint64 p50, p95;
  SlServeFigures figures;
} SlServeModel;

/**
 * SlServeReport:
 * @made: monotonic microseconds; @started: seconds since 1970
 * @away: (nullable): why there is no connection
 * @stuck: microseconds since anything was answered, while requests wait or are computed; else 0
 * @busy: 0..1 of the worker's threads
 */
typedef struct
{
  gatomicrefcount refs;
  gint64 made, started, stuck;
  char *name, *broker, *away;
  SlServeState state;
  guint waiting, jobs;
  gdouble busy, cpu_percent;
  SlProcessFigures process;
  GPtrArray *models; /* of SlServeModel */
} SlServeReport;

/** sl_serve_report_new: (transfer full): rates are those since @before (nullable). Main thread */
SlServeReport *sl_serve_report_new (SlServeWorker *worker, const SlServeReport *before);
SlServeReport *sl_serve_report_ref (SlServeReport *report);
void sl_serve_report_unref (SlServeReport *report);
/** sl_serve_report_health: (transfer full) (element-type utf8): why not all is well, empty when it
 * is. @now: monotonic microseconds */
GPtrArray *sl_serve_report_health (const SlServeReport *report, gint64 now);
/** sl_serve_state_name: "away", "joining", "serving", "full", "leaving" or "left". */
const char *sl_serve_state_name (SlServeState state);

/** sl_serve_text_health: appends {"ok":..., "reasons":[...]}. Returns whether all is well. */
gboolean sl_serve_text_health (GString *out, const SlServeReport *report);
/** sl_serve_text_status: appends all that the page shows but for messages, as members of an object
 * that is open. */
void sl_serve_text_status (GString *out, const SlServeReport *report);
/** sl_serve_text_metrics: appends @report as Prometheus's text format has it. */
void sl_serve_text_metrics (GString *out, const SlServeReport *report);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlServeReport, sl_serve_report_unref)
