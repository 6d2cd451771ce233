/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of operators: read by the reader, written by the writer, from one table of fields. */
#pragma once

#include "core/graph/graph.h"
#include "models/tflite/flatbuffer_writer.h"
#include "models/tflite/operators.h"

/** tfl_read_options: fills @params; FALSE with @error for a value outside the schema. */
gboolean tfl_read_options (const TflOp *op, const TflOptions *options, SlOpParams *params,
                           GError **error);
/** tfl_write_options: (nullable): the table of @node, whose row @op has an options type; NULL for a
 * type that nothing writes. */
FbNode *tfl_write_options (FbWriter *fb, const SlGraph *graph, const SlNode *node, const TflOp *op);
