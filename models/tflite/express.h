/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A prepared graph in operators of TensorFlow Lite, for the writer and the quantiser. */
#pragma once

#include "core/graph/graph.h"

/**
 * sl_tflite_express:
 * @graph: (transfer none): a prepared graph of which no session was made; the result keeps a
 * reference, since it shares the constants
 * @nhwc: the first input is a picture that @graph takes as NCHW: where all it does is to transpose
 * that, the result takes NHWC
 *
 * Fused curves become nodes again, SILU becomes LOGISTIC and MUL, and paddings that are neither
 * SAME nor VALID become PAD. GATHER_ELEMENTS and most GRID_SAMPLE become GATHER and arithmetic.
 *
 * Returns: (transfer full): a graph that is not prepared, with shapes known; NULL with
 * SL_ERROR_UNSUPPORTED that names the node and what TensorFlow Lite lacks
 */
SlGraph *sl_tflite_express (SlGraph *graph, gboolean nhwc, GError **error);
