/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of eval's page. */
#pragma once

#include "tools/eval/report.h"

/** sl_page_summary_append: what was measured, and a row a model. */
void sl_page_summary_append (GString *page, const SlEvalReport *report);
/** sl_page_classes_append: a row a class, the worst first; of many classes most are folded away.
 * @measure: of objects alone. */
void sl_page_classes_append (GString *page, const SlEvaluatedModel *contender, SlMeasure measure);
