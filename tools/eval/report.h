/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How good models are, for people and as JSON. */
#pragma once

#include "tools/eval/evaluated_model.h"

/** SlEvalReport: @worst: number of worst pictures to list, 0 = no list; @contenders: (element-type
 * SlEvaluatedModel): of one kind, at least one; @path: of the data set. */
typedef struct
{
  const char *path;
  const SlDataset *dataset;
  const GPtrArray *contenders;
  guint threads, worst;
} SlEvalReport;

void sl_eval_print (const SlEvalReport *report);
/** sl_eval_print_json: all classes and confusions, one object. */
void sl_eval_print_json (const SlEvalReport *report);
