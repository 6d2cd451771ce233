/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Networks of tokens (transformers, mixers): fully connected layers of many rows, each of which has
 * a range of its own, between normalisations that 8 bits would spoil.
 */
#pragma once

#include "models/quantize/ranges.h"

/**
 * sl_tokens_plan: where @graph is such a network, @dynamic of its fully connected layers becomes
 * TRUE: they round each row of their input while the model runs. So do both products of attention,
 * of which the second operands have int8 values of one scale. Then @quantized stays TRUE for
 * convolutions, and for nodes between them alone; other nodes compute in floats.
 * @kept: (nullable): by node: it stays float
 */
void sl_tokens_plan (const SlGraph *graph, const SlRanges *ranges, const gboolean *kept,
                     gboolean *quantized, gboolean *dynamic);
