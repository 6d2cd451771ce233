/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How all pipelines are at one moment, taken on the main thread, read by the server's. Never
 * changed once made.
 */
#pragma once

#include "predict/turns.h"
#include "tools/run/figures.h"

/** SlReportCamera: @age: milliseconds since its last frame, -1 before the first. */
typedef struct
{
  char *name, *uri, *state;
  gint64 age;
} SlReportCamera;

/** SlReportModel: @model: (nullable): its path; NULL = the one in the box. @budgeted: whether it
 * has a part in the budget, whose @figures are those of its slinfer. */
typedef struct
{
  char *name, *model;
  gboolean budgeted;
  SlTurnFigures figures;
} SlReportModel;

/** SlReportOutput: of an slpublish. */
typedef struct
{
  char *name, *location;
  guint64 published, lost;
  gboolean connected;
} SlReportOutput;

/** SlReportRegions: of an slanalyze; @counts: (nullable): its property of that name. */
typedef struct
{
  char *name;
  GstStructure *counts;
} SlReportRegions;

/** SlReportRecorder: of an slrecord. */
typedef struct
{
  char *name;
  guint64 clips, failed, dropped;
} SlReportRecorder;

/** SlReportRemote: of an slremote; @silence: milliseconds since the first of the frames that have
 * no result, 0 while the last one had one. */
typedef struct
{
  char *name, *location;
  guint64 answered, lost, local, silence;
  guint workers;
  gboolean connected;
} SlReportRemote;

/**
 * SlReportPipeline:
 * @last: monotonic microseconds of the last frame at a sink of the pipeline that runs; 0 = none yet
 * @damaged: frames that were left out since they lack data, or came before a stream's first key
 * frame
 * @busy: frames that gave way to newer ones because the model was busy
 * @width, @height: of its frames, 0 while unknown
 * @drops: those that other elements dropped
 */
typedef struct
{
  char *name, *description;
  SlWorkerState state;
  guint restarts;
  SlWorkerTotals totals;
  SlFigures figures;
  gint64 last;
  guint64 busy, damaged, drops[SL_N_DROPS];
  guint width, height;
  GArray *cameras, *models, *outputs, *regions, *recorders, *remotes;
} SlReportPipeline;

/** SlReport: @made: monotonic microseconds; @started: seconds since 1970. */
typedef struct
{
  gint64 made, started;
  double cpu_percent;
  SlProcessFigures process;
  GPtrArray *pipelines;
} SlReport;

typedef struct _SlReporter SlReporter;

/** sl_reporter_new: @workers: of SlWorker, which must live as long. Main thread, as all of a
 * reporter. */
SlReporter *sl_reporter_new (GPtrArray *workers);
void sl_reporter_free (SlReporter *reporter);
/** sl_reporter_make: (transfer full): rates are those since the report before. */
SlReport *sl_reporter_make (SlReporter *reporter);

SlReport *sl_report_ref (SlReport *report);
void sl_report_unref (SlReport *report);
/** sl_report_list_length, sl_report_list_item: (transfer none): of the list of structures @name in
 * @structure (nullable). */
guint sl_report_list_length (const GstStructure *structure, const char *name);
const GstStructure *sl_report_list_item (const GstStructure *structure, const char *name, guint i);
/** sl_report_age: milliseconds since the last frame of @pipeline, as it was when @report was made;
 * -1 before the first. */
gint64 sl_report_age (const SlReport *report, const SlReportPipeline *pipeline);
/** sl_report_broken_promise: (transfer full) (nullable): "door: 3.1 of 5 frames a second", or that
 * the camera does not send as many as are promised: of the first model that gets less than 95 %;
 * without its name if it is the only one of @pipeline. @any: (out): whether anything is promised */
char *sl_report_broken_promise (const SlReportPipeline *pipeline, gboolean *any);
/** sl_report_health: (transfer full) (element-type utf8): why not all is well, empty when it is.
 * @now: monotonic microseconds; @stall: milliseconds without a frame that are too many. */
GPtrArray *sl_report_health (const SlReport *report, gint64 now, guint stall);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlReport, sl_report_unref)
