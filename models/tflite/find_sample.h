/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GRID_SAMPLE in files that have it as other nodes (internal to models/tflite). */
#pragma once

#include "core/graph/graph.h"

/**
 * tfl_find_sample: whether an ADD of @addends, which would be the next node of @graph, ends the
 * nodes that sl_express_places() makes of a GRID_SAMPLE, and makes @output
 * @inputs, @params: get those of the GRID_SAMPLE, if so, which may be added in the ADD's place
 */
gboolean tfl_find_sample (const SlGraph *graph, const gint32 addends[2], gint32 output,
                          gint32 inputs[2], SlOpParams *params);
