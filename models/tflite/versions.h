/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Versions of TensorFlow Lite's operators: the lowest whose kernel can do what a node asks for. */
#pragma once

#include "core/graph/graph.h"

/** tfl_version: 1 or more; TensorFlow Lite refuses a file that states a lower one, or a higher one
 * than it knows. */
gint32 tfl_version (const SlGraph *graph, const SlNode *node);
