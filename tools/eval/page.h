/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The figures as a page for a browser: curves, calibration, confusion matrix, a table of classes
 * and the worst pictures of each model.
 */
#pragma once

#include "tools/eval/report.h"

/** Worst pictures on a page where the user states no number, and at most. */
#define SL_EVAL_PAGE_WORST 12
#define SL_EVAL_PAGE_MOST_WORST 60

/** sl_eval_page_write: to @path, whole or not at all. @settings: with which the models were run;
 * pictures are drawn with them. FALSE with @error set, and without when the program was
 * interrupted. */
gboolean sl_eval_page_write (const SlEvalReport *report, const SlModelSettings *settings,
                             const char *path, GError **error);
