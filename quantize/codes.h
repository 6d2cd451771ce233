/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A float graph as a graph of codes, by a plan.
 */
#ifndef SL_QUANTIZE_CODES_H
#define SL_QUANTIZE_CODES_H

#include "quantize/plan.h"

G_BEGIN_DECLS

/**
 * sl_codes_new: (transfer full): @graph, of sl_tflite_express(), with int8 where @plan says so, QUANTIZE and DEQUANTIZE at the borders, and
 *   results of the model as float; not prepared. Tensors keep their numbers: one that has codes is where the float one was. Biases take in
 *   what rounding the weights changes of a layer's mean, by the means of @ranges.
 */
SlGraph *sl_codes_new (SlGraph *graph, const SlPlan *plan, const SlRanges *ranges, GError **error);

G_END_DECLS

#endif
