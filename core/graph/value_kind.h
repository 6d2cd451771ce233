/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kind of a tensor's values, derived from the operators that compute it: probabilities, or
 * arbitrary numbers.
 */
#pragma once

#include "core/graph/graph.h"

typedef enum
{
  SL_VALUES_UNKNOWN,
  SL_VALUES_PROBABILITIES, /* 0..1, each by itself: LOGISTIC or the like makes them */
  SL_VALUES_LOGITS,   /* of any size, both signs: a layer without activation, or LOG_SOFTMAX, makes
                         them */
  SL_VALUES_FEATURES, /* never below 0: a layer with a RELU; or of length 1: L2_NORMALIZATION */
  SL_VALUES_SHARES    /* probabilities whose sum is 1: SOFTMAX makes them */
} SlValueKind;

/** sl_graph_value_kind: of tensor @index of a prepared graph. Operators that only move or average
 * values keep the kind of their input. */
SlValueKind sl_graph_value_kind (const SlGraph *graph, gint32 index);
/** sl_graph_class_count: how many numbers each element of tensor @index was chosen from, where
 * ARG_MAX makes it, or how many classes TFLite_Detection_PostProcess has; 0 = nothing says so. */
guint sl_graph_class_count (const SlGraph *graph, gint32 index);
