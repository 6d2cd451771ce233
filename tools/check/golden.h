/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline check --make-golden MODEL`: the file that slinfer's self-test reads. */
#ifndef SL_TOOLS_CHECK_GOLDEN_H
#define SL_TOOLS_CHECK_GOLDEN_H

#include "tools/options.h"

/** sl_check_make_golden: writes MODEL.golden beside @model, and tries it in a session of its own;
 * FALSE, having complained, when either fails. */
gboolean sl_check_make_golden (const char *model, const SlModelOptions *options);

#endif
