/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `sightline advise` measured and concludes, printed, and as a description file. */
#pragma once

#include "tools/advise/candidate.h"

/** SlAdviceRow: @candidate with one number of threads. */
typedef struct
{
  const SlCandidate *candidate;
  SlPlanTimes times;
  SlPlan plan;
} SlAdviceRow;

/**
 * SlAdvice:
 * @decoder: (nullable): that decodes the camera's frames
 * @undecoded: (nullable): why that was not measured
 * @rows: of SlAdviceRow
 * @candidates: of SlCandidate, trials among them
 */
typedef struct
{
  SlPlanAim aim;
  const char *task, *codec;
  char *decoder, *undecoded;
  GPtrArray *candidates;
  GArray *rows;
} SlAdvice;

/** sl_advice_plan: fills @rows. */
void sl_advice_plan (SlAdvice *advice);
void sl_advice_clear (SlAdvice *advice);
/** sl_advice_best: (nullable): the model with the most work that fits, with the threads that load
 * the processors least. */
const SlAdviceRow *sl_advice_best (const SlAdvice *advice);
/** sl_advice_way_out: (transfer full): what would fit, where nothing does. */
char *sl_advice_way_out (const SlAdvice *advice);
void sl_advice_print (const SlAdvice *advice);
void sl_advice_print_best (const SlAdvice *advice, const SlAdviceRow *row);
/** sl_advice_print_json: @description: (nullable): of sl_advice_describe(). */
void sl_advice_print_json (const SlAdvice *advice, const char *description);
/** sl_advice_describe: (transfer full): a pipeline description of @row. */
char *sl_advice_describe (const SlAdvice *advice, const SlAdviceRow *row);
/** sl_advice_row_bits: (transfer none): how numbers of the row's model are stored. */
const char *sl_advice_row_bits (const SlAdviceRow *row);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlAdvice, sl_advice_clear)
