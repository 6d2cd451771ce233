/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What models need of a build: `sightline inspect --needs`. */
#ifndef SL_TOOLS_NEEDS_H
#define SL_TOOLS_NEEDS_H

#include "tools/options.h"

/** sl_print_needs: one line a reader, operator, row of ONNX's table and decoder that one of @models
 * needs, sorted; an exit status. */
int sl_print_needs (char **models, const SlModelOptions *options);

#endif
