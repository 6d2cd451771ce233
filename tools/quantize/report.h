/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a quantised model costs and gains, for people and as JSON. */
#pragma once

#include "models/quantize/quantize.h"

/** What was learned from: @pictures; of a camera, frames of @looked_at, of which @alike were left
 * out, since others had shown the same. Elsewhere both are 0. */
typedef struct
{
  guint pictures;
  guint64 looked_at, alike;
} SlLearned;

/** sl_quantize_print: what @report and @learned say of the file @output. */
void sl_quantize_print (const SlQuantizeReport *report, const SlLearned *learned,
                        const char *output, guint threads);
/** sl_quantize_print_json: the same, one object. */
void sl_quantize_print_json (const SlQuantizeReport *report, const SlLearned *learned,
                             const char *output, guint threads);
