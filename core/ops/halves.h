/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which operators take intermediate tensors in binary16 where a graph's precision asks for it
 * (core/passes/narrow.c). Values are rounded when they are stored; backends may compute in it.
 */
#pragma once

#include "core/graph/graph.h"

/**
 * SlHalves: of a node's data, that is of its float operands that are no constants
 * @SL_HALVES_NONE: all are floats
 * @SL_HALVES_ANY: each input, and the output, is float or binary16
 * @SL_HALVES_MIXED: the same, and the operator's own kernel converts
 * @SL_HALVES_ALIKE: all are float, or all are binary16: elements are moved or compared
 */
typedef enum
{
  SL_HALVES_NONE,
  SL_HALVES_ANY,
  SL_HALVES_MIXED,
  SL_HALVES_ALIKE
} SlHalves;

/** sl_node_repeated: of @node, a sum or a product, the input that each pixel of the other one
 * takes: a vector over the channels, or a number, the same for a whole image, which is some of the
 * last dimensions; -1: none. */
gint sl_node_repeated (const SlGraph *graph, const SlNode *node);
/** sl_node_halves: of @node, whose shapes are known. */
SlHalves sl_node_halves (const SlGraph *graph, const SlNode *node);
