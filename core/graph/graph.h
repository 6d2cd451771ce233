/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The intermediate representation: tensors and nodes in topological order, in one arena.
 *
 * Life of a graph: a reader adds tensors and nodes -> sl_graph_prepare() (core/passes/prepare.h) checks every node, infers every
 * shape and runs the passes -> it is immutable and shared by any number of sessions. Constants point into
 * the model file's bytes, which the graph keeps alive.
 */
#ifndef SL_CORE_GRAPH_GRAPH_H
#define SL_CORE_GRAPH_GRAPH_H

#include <glib.h>

#include "core/graph/arena.h"
#include "core/graph/file_image.h"
#include "core/graph/op.h"
#include "core/graph/precision.h"
#include "core/graph/tensor.h"

G_BEGIN_DECLS

/** Limits on what a file may declare; more is SL_ERROR_LIMIT. */
#define SL_MAX_TENSORS 65536
#define SL_MAX_NODES 65536
#define SL_MAX_OPERANDS 256
#define SL_MAX_IO 64
/** Most outputs of one node. */
#define SL_MAX_OUTPUTS 256
/** Most multiply-adds that a run of a graph may take, or as much other work, unless sl_graph_set_work_limit() says otherwise. */
#define SL_MAX_WORK (G_GUINT64_CONSTANT (250) * 1000000000)
/** Most bytes that all variable tensors of a graph may have together, unless sl_graph_set_limit() says otherwise. */
#define SL_MAX_TENSOR_BYTES ((gsize) 1 << 30)

/**
 * SlNode:
 * @op: what it does
 * @index: position in the model file, for messages
 * @name: (not nullable): name of its first output, for messages
 * @inputs: tensor indices, -1 for an omitted optional input
 * @outputs: tensor indices
 */
struct _SlNode
{
  SlOpType op;
  guint index;
  const char *name;
  guint n_inputs, n_outputs;
  const gint32 *inputs;
  const gint32 *outputs;
  SlOpParams params;
};

/** sl_graph_new: @bytes (transfer none) (nullable): the model file, kept until the graph is freed. */
SlGraph *sl_graph_new (GBytes *bytes);
SlGraph *sl_graph_ref (SlGraph *graph);
void sl_graph_unref (SlGraph *graph);

/* Building: readers only, before sl_graph_prepare(). */

/** sl_graph_arena: (transfer none): where names, scales and copied constants go. */
SlArena *sl_graph_arena (SlGraph *graph);
/** sl_graph_add_tensor: copies the struct (its pointers must be the arena's or the file's). Returns its index,
 *  or -1 with @error set over SL_MAX_TENSORS. */
gint32 sl_graph_add_tensor (SlGraph *graph, const SlTensor *tensor, GError **error);
/** sl_graph_add_node: nodes must come in execution order. @inputs and @outputs are copied; indices must exist.
 *  @index is the node's number in the file. FALSE with @error set otherwise. */
gboolean sl_graph_add_node (SlGraph *graph, SlOpType op, guint index, const gint32 *inputs, guint n_inputs, const gint32 *outputs,
                            guint n_outputs, const SlOpParams *params, GError **error);
/** sl_graph_settle_node: checks the node added last, infers its outputs' shapes and, where it reads constants only, puts constants in its
 *  place. For readers whose next nodes depend on shapes and values; its inputs must be settled, too. */
gboolean sl_graph_settle_node (SlGraph *graph, GError **error);
/** sl_graph_set_io: which tensors are the graph's inputs and outputs, in the model's order, 1..SL_MAX_IO each. */
gboolean sl_graph_set_io (SlGraph *graph, const gint32 *inputs, guint n_inputs, const gint32 *outputs, guint n_outputs, GError **error);
/** sl_graph_set_limit: most bytes of one tensor, and of all variable tensors together; 0 = SL_MAX_TENSOR_BYTES. */
void sl_graph_set_limit (SlGraph *graph, gsize bytes);
gsize sl_graph_limit (const SlGraph *graph);
/** sl_graph_set_work_limit: most multiply-adds a run, or as much other work; 0 = SL_MAX_WORK. */
void sl_graph_set_work_limit (SlGraph *graph, guint64 multiply_adds);
/** sl_graph_set_precision: what sessions of the graph may do with layers of floats; SL_PRECISION_FLOAT unless it is set. */
void sl_graph_set_precision (SlGraph *graph, SlPrecision precision);
SlPrecision sl_graph_precision (const SlGraph *graph);
/** sl_graph_set_file: (transfer none): what the model file's bytes are of; sessions give back the pages of weights that they packed. */
void sl_graph_set_file (SlGraph *graph, SlFileImage *file);
/** sl_graph_set_copied: for readers that copied all that they keep of the file but constants and scales; sessions give back the other pages, too. */
void sl_graph_set_copied (SlGraph *graph);
/** sl_graph_set_source: what a reader learned of the file beside the graph; @destroy (nullable) frees it with the graph. */
void sl_graph_set_source (SlGraph *graph, gpointer source, GDestroyNotify destroy);

/** sl_graph_set_whole: instead of sl_graph_prepare(): the graph has inputs and outputs, which are settled, and no nodes; @runtime, "ONNX Runtime", runs the model
 *  whole, and no session of ours can. */
gboolean sl_graph_set_whole (SlGraph *graph, const char *runtime, GError **error);

/* Reading: any thread, after sl_graph_prepare(). */

/** sl_graph_share: takes @graph, prepared; returns (transfer full) the living graph that was shared under the same @identity
 *  before, else @graph, found under it from now on. Sessions of one graph share its packed weights. */
SlGraph *sl_graph_share (SlGraph *graph, const char *identity);
/** sl_graph_find_shared: (transfer full) (nullable): the living graph that was shared under @identity. */
SlGraph *sl_graph_find_shared (const char *identity);
/** sl_graph_attach: (transfer none): what users of the graph share and it knows nothing of, such as packed weights: made by the first call's
 *  @make; @destroy takes it when the graph is freed, before its tensors go. Every call gives the same functions. */
gpointer sl_graph_attach (SlGraph *graph, gpointer (*make) (void), GDestroyNotify destroy);
/** sl_graph_file: (transfer none) (nullable): see sl_graph_set_file(). */
SlFileImage *sl_graph_file (const SlGraph *graph);
/** sl_graph_is_copied: see sl_graph_set_copied(). */
gboolean sl_graph_is_copied (const SlGraph *graph);
/** sl_graph_source: (transfer none) (nullable): see sl_graph_set_source(). */
gpointer sl_graph_source (const SlGraph *graph);
/** sl_graph_skips_input_quantize: whether sl_graph_skip_input_quantize() was called. */
gboolean sl_graph_skips_input_quantize (const SlGraph *graph);
/** sl_graph_whole: (transfer none) (nullable): see sl_graph_set_whole(). */
const char *sl_graph_whole (const SlGraph *graph);
guint sl_graph_n_tensors (const SlGraph *graph);
guint sl_graph_n_nodes (const SlGraph *graph);
const SlTensor *sl_graph_tensor (const SlGraph *graph, gint32 index);
const SlNode *sl_graph_node (const SlGraph *graph, guint index);
guint sl_graph_n_inputs (const SlGraph *graph);
/** sl_graph_fix_input: input @i becomes a constant with @data, which lives as long as @graph, and is no input any more; the graph has others and is
 *  not prepared. */
void sl_graph_fix_input (SlGraph *graph, guint i, const void *data);
guint sl_graph_n_outputs (const SlGraph *graph);
/** sl_node_input: (nullable): the tensor behind input @i, NULL when it is omitted or past the last. Writable for operators and passes. */
SlTensor *sl_node_input (const SlGraph *graph, const SlNode *node, guint i);
SlTensor *sl_node_output (const SlGraph *graph, const SlNode *node, guint i);
gint32 sl_graph_input (const SlGraph *graph, guint i);
gint32 sl_graph_output (const SlGraph *graph, guint i);
/** sl_graph_input_tensor, sl_graph_output_tensor: the tensor behind the i-th input or output. */
const SlTensor *sl_graph_input_tensor (const SlGraph *graph, guint i);
const SlTensor *sl_graph_output_tensor (const SlGraph *graph, guint i);
/** sl_graph_declared_input_tensor: the i-th input as the model file declares it, also after sl_graph_skip_input_quantize(). */
const SlTensor *sl_graph_declared_input_tensor (const SlGraph *graph, guint i);
/** sl_graph_constant_bytes: bytes of all constants (weights). */
gsize sl_graph_constant_bytes (const SlGraph *graph);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlGraph, sl_graph_unref)

G_END_DECLS

#endif
