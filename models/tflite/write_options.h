/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the options tables of operators that operators.c reads. */
#ifndef SL_MODELS_TFLITE_WRITE_OPTIONS_H
#define SL_MODELS_TFLITE_WRITE_OPTIONS_H

#include "core/graph/graph.h"
#include "models/tflite/flatbuffer_writer.h"
#include "models/tflite/operators.h"

/** tfl_write_options: (nullable): the table of @node, whose row @op has an options type; NULL for a
 * type that nothing writes. */
FbNode *tfl_write_options (FbWriter *fb, const SlGraph *graph, const SlNode *node, const TflOp *op);

#endif
