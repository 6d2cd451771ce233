/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a quantised model costs and gains, for people and as JSON. */
#ifndef SL_TOOLS_QUANTIZE_REPORT_H
#define SL_TOOLS_QUANTIZE_REPORT_H

#include "quantize/quantize.h"

G_BEGIN_DECLS

/** sl_quantize_print: @calibrated: pictures that were learned from. */
void sl_quantize_print (const SlQuantizeReport *report, guint calibrated, const char *output, guint threads);
/** sl_quantize_print_json: the same, one object. */
void sl_quantize_print_json (const SlQuantizeReport *report, guint calibrated, const char *output, guint threads);

G_END_DECLS

#endif
