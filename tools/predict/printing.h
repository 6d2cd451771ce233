/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predictions on stdout, or in a file: a table a source for people, JSON lines, or rows of CSV. */
#pragma once

#include <glib.h>
#include <stdio.h>

#include "postprocess/predictions/prediction.h"

typedef enum
{
  SL_REPORT_TABLE,
  SL_REPORT_JSON,
  SL_REPORT_CSV
} SlReportFormat;

/**
 * SlReport:
 * @format, @out: set them before the first frame, with the rest zero
 * @rows: lines printed for the source so far
 */
typedef struct
{
  SlReportFormat format;
  FILE *out;
  GString *line;
  gboolean headed, boxes, moving, shares;
  guint64 rows;
} SlReport;

/** sl_report_frame: prints one frame; @moving: it belongs to a video, so its number and time are
 * shown. FALSE with @error set: the format cannot tell what was found. */
gboolean sl_report_frame (SlReport *report, const SlPredictionView *prediction, gboolean moving,
                          GError **error);
/** sl_report_end: the source ended; @frames of it were printed. */
void sl_report_end (SlReport *report, guint64 frames);
void sl_report_clear (SlReport *report);
