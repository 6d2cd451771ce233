/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predictions on stdout: a table a source for people, or JSON lines.
 */
#ifndef SL_TOOLS_PREDICT_PRINTING_H
#define SL_TOOLS_PREDICT_PRINTING_H

#include <glib.h>

#include "predictions/prediction.h"

G_BEGIN_DECLS

/**
 * SlReport:
 * @json: print lines of JSON; set it before the first frame, with the rest zero
 * @rows: lines printed for the source so far
 */
typedef struct
{
  gboolean json;
  GString *line;
  gboolean headed, boxes, moving, shares;
  guint64 rows;
} SlReport;

/** sl_report_frame: prints one frame; @moving: it belongs to a video, so its number and time are shown. */
void sl_report_frame (SlReport *report, const SlPredictionView *prediction, gboolean moving);
/** sl_report_end: the source ended; @frames of it were printed. */
void sl_report_end (SlReport *report, guint64 frames);
void sl_report_clear (SlReport *report);

G_END_DECLS

#endif
