/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The intermediate representation: tensors and nodes in topological order, in one arena.
 *
 * Life of a graph: a reader adds tensors and nodes -> sl_graph_prepare() (core/passes/prepare.h)
 * checks every node, infers every shape and runs the passes -> it is immutable and shared by any
 * number of sessions. Constants point into the model file's bytes, which the graph keeps alive.
 */
#pragma once

#include <glib.h>

#include "core/graph/arena.h"
#include "core/graph/file_image.h"
#include "core/graph/op.h"
#include "core/graph/precision.h"
#include "core/graph/tensor.h"

/** Limits for a file; more is SL_ERROR_LIMIT. */
#define SL_MAX_TENSORS 65536
#define SL_MAX_NODES 65536
#define SL_MAX_OPERANDS 256
#define SL_MAX_IO 64
/** Most outputs of one node. */
#define SL_MAX_OUTPUTS 256
/** Most multiply-adds that a run of a graph may take, or as much other work, unless
 * sl_graph_set_work_limit() says otherwise. */
#define SL_MAX_WORK (G_GUINT64_CONSTANT (250) * 1000000000)
/** Most bytes that variable tensors of a graph may take at once, unless sl_graph_set_limit() says
 * otherwise. */
#define SL_MAX_TENSOR_BYTES ((gsize) 1 << 30)
/** SL_MAX_TENSOR_LIMIT: in MiB, what users may raise that limit to. */
#define SL_MAX_TENSOR_LIMIT 1048576

/**
 * SlHeldInput: an input whose memory belongs to the session, because callers do not pass it with
 * each run: state from run to run, or a tensor that stays until there is a newer one.
 * @input, @output: tensors; @output -1 = nothing of the model becomes the next run's input
 * @at: place of @output among the graph's outputs where it is one of them, too, else -1
 * @first: (nullable): value in the first run; NULL = zeros
 */
typedef struct
{
  gint32 input, output, at;
  const void *first;
} SlHeldInput;

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

/** sl_graph_new: @bytes (transfer none) (nullable): the model file, kept until the graph is freed.
 */
SlGraph *sl_graph_new (GBytes *bytes);
SlGraph *sl_graph_ref (SlGraph *graph);
void sl_graph_unref (SlGraph *graph);

/* Building: readers only, before sl_graph_prepare(). */

/** sl_graph_arena: (transfer none): where names, scales and copied constants go. */
SlArena *sl_graph_arena (SlGraph *graph);
/** sl_graph_add_tensor: copies the struct (its pointers must be the arena's or the file's). Returns
 * its index, or -1 with @error set over SL_MAX_TENSORS. */
gint32 sl_graph_add_tensor (SlGraph *graph, const SlTensor *tensor, GError **error);
/** sl_graph_add_node: nodes must come in execution order. @inputs and @outputs are copied; indices
 * must exist. @index is the node's number in the file. FALSE with @error set otherwise. */
gboolean sl_graph_add_node (SlGraph *graph, SlOpType op, guint index, const gint32 *inputs,
                            guint n_inputs, const gint32 *outputs, guint n_outputs,
                            const SlOpParams *params, GError **error);
/** sl_graph_note_import: a row of the reader's own table was needed, by its @name, which stays. */
void sl_graph_note_import (SlGraph *graph, const char *name);
/** sl_graph_settle_node: checks the node added last, infers its outputs' shapes and, where it reads
 * constants only, puts constants in its place. For readers whose next nodes depend on shapes and
 * values; its inputs must be settled, too. */
gboolean sl_graph_settle_node (SlGraph *graph, GError **error);
/** sl_graph_set_io: which tensors are the graph's inputs and outputs, in the model's
 * order, 1..SL_MAX_IO each. */
gboolean sl_graph_set_io (SlGraph *graph, const gint32 *inputs, guint n_inputs,
                          const gint32 *outputs, guint n_outputs, GError **error);
/** sl_graph_set_limit: most bytes of one tensor, and of all variable tensors that are in memory at
 * once; 0 = SL_MAX_TENSOR_BYTES. */
void sl_graph_set_limit (SlGraph *graph, gsize bytes);
gsize sl_graph_limit (const SlGraph *graph);
/** sl_graph_set_work_limit: most multiply-adds a run, or as much other work; 0 = SL_MAX_WORK. */
void sl_graph_set_work_limit (SlGraph *graph, guint64 multiply_adds);
/** sl_graph_set_precision: what sessions of the graph may do with layers of floats;
 * SL_PRECISION_FLOAT unless it is set. */
void sl_graph_set_precision (SlGraph *graph, SlPrecision precision);
SlPrecision sl_graph_precision (const SlGraph *graph);
/** sl_graph_set_file: (transfer none): what the model file's bytes are of; sessions give back the
 * pages of weights that they packed. */
void sl_graph_set_file (SlGraph *graph, SlFileImage *file);
/** sl_graph_set_copied: for readers that copied all that they keep of the file but constants and
 * scales; sessions give back the other pages, too. */
void sl_graph_set_copied (SlGraph *graph);
/** sl_graph_keep_apart: for graphs that are read to make other models of them: passes leave alone
 * what only kernels of ours have as one operator. */
void sl_graph_keep_apart (SlGraph *graph);
/** sl_graph_set_source: what a reader learned of the file beside the graph; @destroy (nullable)
 * frees it with the graph. */
void sl_graph_set_source (SlGraph *graph, gpointer source, GDestroyNotify destroy);

/** sl_graph_set_batch: before anything is read into it: dimension 0 of each input is @n where the
 * file says 1, and so are those that follow from it; 0 and 1 = as the file says. */
void sl_graph_set_batch (SlGraph *graph, guint n);
/** sl_graph_set_file_batch: the file was written for @n items at once, and the graph's input has
 * one. */
void sl_graph_set_file_batch (SlGraph *graph, guint n);
/** sl_graph_batch_input: @tensor, an input of the file, gets the graph's batch. FALSE with
 * SL_ERROR_UNSUPPORTED where dimension 0 is another's. */
gboolean sl_graph_batch_input (const SlGraph *graph, SlTensor *tensor, GError **error);

/** sl_graph_set_whole: instead of sl_graph_prepare(): the graph has inputs and outputs, which are
 * settled, and no nodes; @runtime, "ONNX Runtime", runs the model whole, and no session of ours
 * can. */
gboolean sl_graph_set_whole (SlGraph *graph, const char *runtime, GError **error);

/* Reading: any thread, after sl_graph_prepare(). */

/** sl_graph_share: takes @graph, prepared; returns (transfer full) the existing graph that was
 * shared under the same @identity, else
 *  @graph, which is now shared under it. Sessions of one graph share its packed weights. */
SlGraph *sl_graph_share (SlGraph *graph, const char *identity);
/** sl_graph_find_shared: (transfer full) (nullable): the living graph that was shared under
 * @identity. */
SlGraph *sl_graph_find_shared (const char *identity);
/** sl_graph_attach: (transfer none): data that users of the graph share and the graph does not
 * know, such as packed weights: made by the first call's @make; @destroy takes it when the graph is
 * freed, before its tensors go. Every call gives the same functions. */
gpointer sl_graph_attach (SlGraph *graph, gpointer (*make) (void), GDestroyNotify destroy);
/** sl_graph_file: (transfer none) (nullable): see sl_graph_set_file(). */
SlFileImage *sl_graph_file (const SlGraph *graph);
/** sl_graph_is_copied: see sl_graph_set_copied(). */
gboolean sl_graph_is_copied (const SlGraph *graph);
/** sl_graph_source: (transfer none) (nullable): see sl_graph_set_source(). */
gpointer sl_graph_source (const SlGraph *graph);
/** sl_graph_skips_input_quantize: whether sl_graph_skip_input_quantize() was called. */
gboolean sl_graph_skips_input_quantize (const SlGraph *graph);
/** sl_graph_batch: see sl_graph_set_batch(); at least 1. */
guint sl_graph_batch (const SlGraph *graph);
/** sl_graph_batch_shape: @dims (-1 for the inferred one) is the file's shape for a reshape of a
 * tensor of @elements, whose dimension 0 is
 *  @first. If it is the shape of one item, or of the file's batch, it becomes that of the graph's
 * batch. */
void sl_graph_batch_shape (const SlGraph *graph, gsize elements, gint32 first, gint32 *dims,
                           guint rank);
/** sl_graph_whole: (transfer none) (nullable): see sl_graph_set_whole(). */
const char *sl_graph_whole (const SlGraph *graph);
/** sl_graph_imports: (transfer container): the names of sl_graph_note_import(), in no order,
 * NULL-terminated. */
const char **sl_graph_imports (const SlGraph *graph);
guint sl_graph_n_tensors (const SlGraph *graph);
guint sl_graph_n_nodes (const SlGraph *graph);
const SlTensor *sl_graph_tensor (const SlGraph *graph, gint32 index);
const SlNode *sl_graph_node (const SlGraph *graph, guint index);
guint sl_graph_n_inputs (const SlGraph *graph);
/** sl_graph_fix_input: input @i becomes a constant with @data, which lives as long as @graph, and
 * is no input any more; the graph has others and is not prepared. */
void sl_graph_fix_input (SlGraph *graph, guint i, const void *data);
/** sl_graph_hold_input: input @i becomes one that sessions hold and is none of the graph's inputs
 * any more; output @output (-1 = none), of the same type and size, is what the next run gets, and
 * none of the outputs any more unless it is @shown. The graph is prepared, nobody runs it yet, and
 * it has other inputs and outputs. @first lives as long as @graph. */
void sl_graph_hold_input (SlGraph *graph, guint i, gint output, gboolean shown, const void *first);
guint sl_graph_n_held (const SlGraph *graph);
const SlHeldInput *sl_graph_held (const SlGraph *graph, guint i);
/** sl_graph_held_place: which input of the model held input @i is. */
guint sl_graph_held_place (const SlGraph *graph, guint i);
/** sl_graph_carries_state: whether the result of a run depends on earlier runs. */
gboolean sl_graph_carries_state (const SlGraph *graph);
/** sl_graph_all_inputs, sl_graph_all_outputs: (transfer none): tensors: first those of
 * sl_graph_input() and sl_graph_output(), then those of held inputs, in their order. @places: (out)
 * (optional) (transfer none): which input or output of the model each is. */
const gint32 *sl_graph_all_inputs (const SlGraph *graph, guint *n, const guint8 **places);
const gint32 *sl_graph_all_outputs (const SlGraph *graph, guint *n, const guint8 **places);
/** sl_graph_fix_channels: input @i loses its last @n elements along @axis, which are @data, the
 * arena's or the file's, from now on. */
gboolean sl_graph_fix_channels (SlGraph *graph, guint i, guint axis, gint32 n, const void *data,
                                GError **error);
guint sl_graph_n_outputs (const SlGraph *graph);
/** sl_node_input: (nullable): the tensor behind input @i, NULL when it is omitted or past the last.
 * Writable for operators and passes. */
SlTensor *sl_node_input (const SlGraph *graph, const SlNode *node, guint i);
SlTensor *sl_node_output (const SlGraph *graph, const SlNode *node, guint i);
gint32 sl_graph_input (const SlGraph *graph, guint i);
gint32 sl_graph_output (const SlGraph *graph, guint i);
/** sl_graph_input_tensor, sl_graph_output_tensor: the tensor behind the i-th input or output. */
const SlTensor *sl_graph_input_tensor (const SlGraph *graph, guint i);
const SlTensor *sl_graph_output_tensor (const SlGraph *graph, guint i);
/** sl_graph_declared_input_tensor: the i-th input as the model file declares it, also after
 * sl_graph_skip_input_quantize(). */
const SlTensor *sl_graph_declared_input_tensor (const SlGraph *graph, guint i);
/** sl_graph_constant_bytes: bytes of all constants (weights). */
gsize sl_graph_constant_bytes (const SlGraph *graph);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlGraph, sl_graph_unref)
