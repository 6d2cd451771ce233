/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Prepares a graph from a reader for sessions, and removes optional parts on request. */
#pragma once

#include "core/graph/graph.h"

/** sl_graph_prepare: checks nodes, infers shapes, runs the passes. Idempotent. */
gboolean sl_graph_prepare (SlGraph *graph, GError **error);
/** sl_graph_input_scale: the factor by which the first operators of a prepared graph multiply its
 * first input, one number for all pixels; 0 = unknown. */
gdouble sl_graph_input_scale (const SlGraph *graph);
/** sl_graph_find_input_scale: the same of a graph that is not prepared yet, whose operators still
 * are those of the file. */
gdouble sl_graph_find_input_scale (const SlGraph *graph);
/** sl_graph_input_top: where the first operators of a prepared graph subtract a mean and divide by
 * a standard deviation, in any order: the largest pixel value that these are for, 1 or 255; 0 =
 * they do not. */
gdouble sl_graph_input_top (const SlGraph *graph);
/** sl_graph_find_input_top: the same of a graph that is not prepared yet. */
gdouble sl_graph_find_input_top (const SlGraph *graph);
/** sl_graph_n_passes: rewrites that sl_graph_prepare() tries. */
guint sl_graph_n_passes (const SlGraph *graph);
/** sl_graph_pass: (transfer none): name of rewrite @i and in how many places it changed the graph.
 */
const char *sl_graph_pass (const SlGraph *graph, guint i, guint *changes);
/** sl_graph_may_need: (nullable): sl_op_type_name() of @op where the graph has a node of it, as it
 * was read or as rewrites may leave it. */
const char *sl_graph_may_need (const SlGraph *graph, SlOpType op);
/** sl_graph_cut_rows: before @graph, prepared, is shared: if it is a causal text model whose inputs
 * are [1,N], N above @rows, it becomes one of [1,@rows]. Its results are the same for texts of
 * which token @rows and all behind it are padding; an output with a row for each token has only the
 * first rows. Other graphs stay as they are. FALSE with @error set where a constant cannot be read.
 */
gboolean sl_graph_cut_rows (SlGraph *graph, guint rows, GError **error);
/** sl_graph_quantized_input: (transfer none) (nullable): what the QUANTIZE of a prepared graph's
 * only input makes; NULL when there is none, when something else reads the input too, and when its
 * result is an output of the model. */
const SlTensor *sl_graph_quantized_input (const SlGraph *graph);
/** sl_graph_skip_input_quantize: makes that tensor the graph's input and drops the QUANTIZE. Before
 * the graph is shared. */
void sl_graph_skip_input_quantize (SlGraph *graph);
