/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inputs and outputs of a program of torch's operators. Tuples and lists of outputs are numbered,
 * those of dictionaries have their keys as names. Outputs whose number of rows depends on the
 * picture have as many as there can be, with zeros after the last. float16 and float64 are float32
 * unless the reader asks for them.
 */
#pragma once

#include "models/aten/ops.h"
#include "models/torch/shapes.h"

/** TsEdges: @names: of outputs, each once. @padded: names of outputs whose number of rows depends
 * on the picture. @halves, @doubles: tensors of float16 and of float64 keep their type. */
typedef struct
{
  TsProgram *program;
  gboolean halves, doubles;
  gint32 inputs[SL_MAX_IO], outputs[SL_MAX_IO];
  guint n_inputs, n_outputs;
  GHashTable *names;
  GString *padded;
} TsEdges;

/** ts_edges_init: @program must outlive @edges. */
void ts_edges_init (TsEdges *edges, TsProgram *program);
void ts_edges_clear (TsEdges *edges);
/** ts_edge_dtype: the type that inputs and outputs of @dtype have outside of the graph. */
SlDtype ts_edge_dtype (const TsEdges *edges, TsDtype dtype);
/** ts_add_input: a new tensor of the graph for input @name. @listed: it is one of a list of
 * pictures, which have no batch. */
TsValue ts_add_input (TsEdges *edges, const char *name, TsShape shape, gboolean listed);
/** ts_add_outputs: each tensor in @value is an output; None and numbers are skipped. */
void ts_add_outputs (TsEdges *edges, const char *name, TsValue value);
