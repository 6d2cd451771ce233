/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorFlow Lite's variables (VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, and CALL_ONCE, whose
 * subgraph sets their first values): state from run to run beside a model's inputs and outputs.
 * Each becomes an input and an output of the graph, a pair of its state (models/state.h).
 */
#pragma once

#include "models/reader.h"
#include "models/tflite/flatbuffer.h"

/**
 * TflVariableFile: what is asked of the reader.
 * @find_buffer: bytes of buffer @index; NULL with 0 bytes for an empty one
 * @builtin: the number of operator code @code; -1 = there is none, or it is no builtin operator
 * @may_copy: whether so many more bytes may be copied
 */
typedef struct
{
  gpointer reader;
  SlFlatBuffer *fb;
  SlGraph *graph;
  gboolean (*find_buffer) (gpointer reader, guint32 index, const guint8 **data, gsize *bytes,
                           GError **error);
  gint32 (*builtin) (gpointer reader, guint32 code);
  gboolean (*may_copy) (gpointer reader, guint64 bytes, GError **error);
} TflVariableFile;

typedef struct _TflVariables TflVariables;

/** tfl_variables_is_op: whether builtin operator @builtin is one of these four. */
gboolean tfl_variables_is_op (gint32 builtin);
/** tfl_variables_is_value: whether operand @i, or with @output result @i, of such an operator is a
 * tensor and no handle of a variable. */
gboolean tfl_variables_is_value (gint32 builtin, gboolean output, guint i);

TflVariables *tfl_variables_new (const TflVariableFile *file);
void tfl_variables_free (TflVariables *variables);
/** tfl_variables_read_node: @node, number @index of the first of @subgraphs, which is such an
 * operator; its tensors exist. */
gboolean tfl_variables_read_node (TflVariables *variables, const SlFbVector *subgraphs,
                                  const SlFbTable *node, guint index, GError **error);
/** tfl_variables_finish: adds the variables' inputs and outputs behind those that are there, and
 * says in @metadata which belong together. @index: a number for the nodes that this takes. */
gboolean tfl_variables_finish (TflVariables *variables, guint index, gint32 *inputs,
                               guint *n_inputs, gint32 *outputs, guint *n_outputs,
                               SlModelMetadata *metadata, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TflVariables, tfl_variables_free)
