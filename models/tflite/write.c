/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graph -> FlatBuffer. Tensors that no node and no edge of the model names are left out, operator
 * codes and buffers come in the order in which nodes need them, so the bytes follow from the graph
 * alone.
 */
#include "models/tflite/write.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/ops/ops.h"
#include "models/tflite/flatbuffer_writer.h"
#include "models/tflite/operators.h"
#include "models/tflite/schema.h"
#include "models/tflite/types.h"
#include "models/tflite/versions.h"
#include "models/tflite/write_metadata.h"
#include "models/tflite/options.h"

/* Offsets have 31 bits; the rest of a file beside its weights is far less than what this leaves. */
#define MAX_WEIGHTS ((gsize) 1900 << 20)
/* Of constants, as TensorFlow Lite's own converter places them. */
#define BUFFER_ALIGN 16

typedef struct
{
  const TflOp *op;
  gint32 version;
} Code;

typedef struct
{
  SlGraph *graph;
  FbWriter *fb;
  GArray *codes;   /* of Code */
  gint32 *numbers; /* of each tensor in the file, -1 = not written */
  FbNode *tensors, *buffers, *operators;
  gint32 n_tensors;
  guint n_buffers;
  gsize weights; /* bytes */
} Writer;

static guint
code_of (Writer *w, const TflOp *op, gint32 version)
{
  for (guint i = 0; i < w->codes->len; i++) {
    const Code *code = &g_array_index (w->codes, Code, i);
    if (code->op == op && code->version == version)
      return i;
  }
  const Code code = { op, version };
  g_array_append_val (w->codes, code);
  return w->codes->len - 1;
}

static guint
add_buffer (Writer *w, const void *data, gsize bytes)
{
  FbNode *buffer = fb_table (w->fb);
  if (bytes > 0)
    fb_ref (buffer, TFL_BUFFER_DATA, fb_vector (w->fb, data, bytes, 1, BUFFER_ALIGN, 0));
  fb_push (w->buffers, buffer);
  return w->n_buffers++;
}

static FbNode *
quantisation (Writer *w, const SlQuant *quant)
{
  FbNode *table = fb_table (w->fb);
  g_autofree gint64 *zero_points = g_new (gint64, quant->count);
  for (guint i = 0; i < quant->count; i++)
    zero_points[i] = quant->zero_point[i];
  fb_ref (table, TFL_QUANT_SCALE, fb_vector (w->fb, quant->scale, quant->count, 4, 4, 0));
  fb_ref (table, TFL_QUANT_ZERO_POINT, fb_vector (w->fb, zero_points, quant->count, 8, 8, 0));
  fb_i32 (table, TFL_QUANT_DIMENSION, quant->count > 1 ? quant->axis : 0);
  return table;
}

static gint32
number_of (Writer *w, gint32 index)
{
  if (index < 0 || w->numbers[index] >= 0)
    return index < 0 ? -1 : w->numbers[index];
  const SlTensor *tensor = sl_graph_tensor (w->graph, index);
  FbNode *table = fb_table (w->fb);
  fb_ref (table, TFL_TENSOR_SHAPE, fb_vector (w->fb, tensor->dims, tensor->rank, 4, 4, 0));
  fb_u8 (table, TFL_TENSOR_TYPE, tfl_type_of (tensor->dtype));
  fb_i32 (table, TFL_TENSOR_BUFFER,
          tensor->data != NULL ? (gint32) add_buffer (w, tensor->data, tensor->bytes) : 0);
  fb_ref (table, TFL_TENSOR_NAME, fb_string (w->fb, tensor->name));
  if (tensor->quant.count > 0)
    fb_ref (table, TFL_TENSOR_QUANTISATION, quantisation (w, &tensor->quant));
  fb_push (w->tensors, table);
  w->weights += tensor->data != NULL ? tensor->bytes : 0;
  return w->numbers[index] = w->n_tensors++;
}

static FbNode *
numbers_of (Writer *w, const gint32 *indices, guint n)
{
  gint32 numbers[SL_MAX_OPERANDS];
  for (guint i = 0; i < n; i++)
    numbers[i] = number_of (w, indices[i]);
  return fb_vector (w->fb, numbers, n, 4, 4, 0);
}

static gboolean
write_node (Writer *w, const SlNode *node, GError **error)
{
  const TflOp *op = tfl_op_row (node->op);
  FbNode *table = fb_table (w->fb);
  FbNode *options = op != NULL ? tfl_write_options (w->fb, w->graph, node, op) : NULL;
  if (op == NULL || op->custom != NULL || (options == NULL && op->options_type != 0))
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                          "cannot be written to a TensorFlow Lite file");
  fb_i32 (table, TFL_OPERATOR_CODE, (gint32) code_of (w, op, tfl_version (w->graph, node)));
  fb_ref (table, TFL_OPERATOR_INPUTS, numbers_of (w, node->inputs, node->n_inputs));
  fb_ref (table, TFL_OPERATOR_OUTPUTS, numbers_of (w, node->outputs, node->n_outputs));
  if (options != NULL) {
    fb_u8 (table, TFL_OPERATOR_OPTIONS_TYPE, op->options_type);
    fb_ref (table, TFL_OPERATOR_OPTIONS, options);
  }
  fb_push (w->operators, table);
  return TRUE;
}

static FbNode *
write_codes (const Writer *w)
{
  FbNode *codes = fb_refs (w->fb);
  for (guint i = 0; i < w->codes->len; i++) {
    const Code *code = &g_array_index (w->codes, Code, i);
    FbNode *table = fb_table (w->fb);
    fb_u8 (table, TFL_CODE_DEPRECATED, (guint8) MIN (code->op->builtin, 127));
    fb_i32 (table, TFL_CODE_VERSION, code->version);
    fb_i32 (table, TFL_CODE_BUILTIN, code->op->builtin);
    fb_push (codes, table);
  }
  return codes;
}

static FbNode *
write_subgraph (Writer *w, GError **error)
{
  gint32 inputs[SL_MAX_IO], outputs[SL_MAX_IO];
  FbNode *subgraph = fb_table (w->fb), *subgraphs = fb_refs (w->fb);
  const guint n_inputs = sl_graph_n_inputs (w->graph), n_outputs = sl_graph_n_outputs (w->graph);
  for (guint i = 0; i < n_inputs; i++)
    inputs[i] = number_of (w, sl_graph_input (w->graph, i));
  for (guint i = 0; i < sl_graph_n_nodes (w->graph); i++)
    if (!write_node (w, sl_graph_node (w->graph, i), error))
      return NULL;
  for (guint i = 0; i < n_outputs; i++)
    outputs[i] = number_of (w, sl_graph_output (w->graph, i));
  fb_ref (subgraph, TFL_SUBGRAPH_TENSORS, w->tensors);
  fb_ref (subgraph, TFL_SUBGRAPH_INPUTS, fb_vector (w->fb, inputs, n_inputs, 4, 4, 0));
  fb_ref (subgraph, TFL_SUBGRAPH_OUTPUTS, fb_vector (w->fb, outputs, n_outputs, 4, 4, 0));
  fb_ref (subgraph, TFL_SUBGRAPH_OPERATORS, w->operators);
  fb_push (subgraphs, subgraph);
  return subgraphs;
}

static GByteArray *
write_model (Writer *w, const SlContract *contract, GError **error)
{
  FbNode *model = fb_table (w->fb), *entry = fb_table (w->fb), *entries = fb_refs (w->fb);
  add_buffer (w, NULL, 0);
  FbNode *subgraphs = write_subgraph (w, error);
  if (subgraphs == NULL)
    return NULL;
  if (w->weights > MAX_WEIGHTS)
    return sl_fail_null (error, SL_ERROR_LIMIT,
                         "its weights have %" G_GSIZE_FORMAT
                         " bytes; a TensorFlow Lite file takes %" G_GSIZE_FORMAT,
                         w->weights, MAX_WEIGHTS);
  g_autoptr (GBytes) metadata = tfl_metadata_write (contract, sl_graph_n_outputs (w->graph));
  fb_ref (entry, TFL_METADATA_ENTRY_NAME, fb_string (w->fb, TFL_METADATA_NAME));
  fb_i32 (entry, TFL_METADATA_ENTRY_BUFFER,
          (gint32) add_buffer (w, g_bytes_get_data (metadata, NULL), g_bytes_get_size (metadata)));
  fb_push (entries, entry);
  fb_i32 (model, TFL_MODEL_VERSION, TFL_VERSION);
  fb_ref (model, TFL_MODEL_OPERATOR_CODES, write_codes (w));
  fb_ref (model, TFL_MODEL_SUBGRAPHS, subgraphs);
  fb_ref (model, TFL_MODEL_DESCRIPTION, fb_string (w->fb, "Sightline"));
  fb_ref (model, TFL_MODEL_BUFFERS, w->buffers);
  fb_ref (model, TFL_MODEL_METADATA, entries);
  return fb_finish (w->fb, model, TFL_IDENTIFIER);
}

GBytes *
sl_tflite_write (SlGraph *graph, const SlContract *contract, GError **error)
{
  g_autoptr (FbWriter) fb = fb_writer_new ();
  g_autoptr (GArray) codes = g_array_new (FALSE, FALSE, sizeof (Code));
  g_autofree gint32 *numbers = g_new (gint32, MAX (sl_graph_n_tensors (graph), 1));
  memset (numbers, 0xff, sl_graph_n_tensors (graph) * sizeof numbers[0]);
  Writer w = { .graph = graph, .fb = fb, .codes = codes, .numbers = numbers };
  w.tensors = fb_refs (fb);
  w.buffers = fb_refs (fb);
  w.operators = fb_refs (fb);
  GByteArray *out = write_model (&w, contract, error);
  if (out == NULL)
    return NULL;
  tfl_metadata_append (out, contract);
  return g_byte_array_free_to_bytes (out);
}
