/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts a float graph to an int8 graph by a plan. */
#pragma once

#include "models/quantize/plan.h"

/**
 * sl_int8_graph_new: (transfer full): @graph, of sl_tflite_express(), with int8 where @plan says
 * so, QUANTIZE and DEQUANTIZE at the borders, and
 *   results of the model as float; not prepared. Tensors keep their numbers: a quantised one is
 * where the float one was. Biases take in
 *   what rounding the weights changes of a layer's mean, by the means of @ranges.
 */
SlGraph *sl_int8_graph_new (SlGraph *graph, const SlPlan *plan, const SlRanges *ranges,
                            GError **error);

/** sl_int8_graph_to_uint8: makes int8 values of @graph, of sl_int8_graph_new() with one scale for
 * the weights of a layer, the same as uint8. */
void sl_int8_graph_to_uint8 (SlGraph *graph);
