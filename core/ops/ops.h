/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operator table (internal to core): what each operator is, how a node of it is checked, what shape it
 * gives, and the kernel of our own that runs it where XNNPACK does not.
 */
#ifndef SL_CORE_OPS_H
#define SL_CORE_OPS_H

#include "sightline/error.h"
#include "core/graph/graph.h"
#include "base/thread_pool.h"

G_BEGIN_DECLS

/** One execution of a kernel: everything it may touch. Omitted optional inputs are NULL. */
typedef struct
{
  const SlGraph *graph;
  const SlNode *node;
  void *state; /* what prepare returned */
  const void *inputs[SL_MAX_OPERANDS];
  void *outputs[SL_MAX_OUTPUTS];
  SlPool *pool; /* (nullable): see sl_parallel() */
} SlKernelCall;

/**
 * SlOp:
 * @min_inputs, @max_inputs: arity; inputs past @required may be omitted (-1)
 * @n_outputs, @max_outputs: how many outputs; @max_outputs 0 = exactly @n_outputs
 * @is_view: the output is the input's bytes under another shape; such a node never runs
 * @check: element types, ranks, constants and parameters; runs before @infer, trusts only the arity
 * @infer: sets the outputs' shapes (and resolves padding); may rely on @check
 * @prepare: (nullable): tables and scratch memory for @run, in the session's arena
 * @run: the kernel; allocates nothing, cannot fail
 */
typedef struct
{
  SlOpType type;
  const char *name;
  guint min_inputs, max_inputs, required, n_outputs, max_outputs;
  gboolean is_view;
  gboolean is_static; /* the result follows from the inputs' shapes alone */
  gboolean in_place;  /* @run may be given an input of the output's size as its output */
  gboolean (*check) (SlGraph *graph, SlNode *node, GError **error);
  gboolean (*infer) (SlGraph *graph, SlNode *node, GError **error);
  void *(*prepare) (const SlGraph *graph, const SlNode *node, SlArena *arena);
  void (*run) (const SlKernelCall *call);
} SlOp;

/** sl_op_get: (nullable): the row of @type. */
const SlOp *sl_op_get (SlOpType type);

#define SL_OPERATOR_ROW(type, row) extern const SlOp sl_op_##row;
SL_OPERATORS (SL_OPERATOR_ROW)
#undef SL_OPERATOR_ROW

/* Helpers for rows (core/ops/helpers.c). */

/** sl_node_error: sets "node 12 CONV_2D 'name': ..." and returns FALSE. */
gboolean sl_node_error (GError **error, const SlNode *node, SlError code, const char *format, ...) G_GNUC_PRINTF (4, 5);
/** sl_node_tensor: input @i of @node, NULL when omitted. */
SlTensor *sl_node_input (const SlGraph *graph, const SlNode *node, guint i);
SlTensor *sl_node_output (const SlGraph *graph, const SlNode *node, guint i);
/** sl_node_set_shape: gives output @i its shape; FALSE on a dimension below 1, overflow or a constant output. */
gboolean sl_node_set_shape (SlGraph *graph, const SlNode *node, guint i, guint rank, const gint32 *dims, GError **error);
/** sl_node_check_dtype: input or output @tensor must be one of the types in @mask (bits 1 << SlDtype). */
gboolean sl_node_check_dtype (const SlNode *node, const char *role, const SlTensor *tensor, guint32 mask, GError **error);
/** sl_node_check_quant: 8-bit and int16 tensors must be quantised per tensor; other types pass. */
gboolean sl_node_check_quant (const SlNode *node, const char *role, const SlTensor *tensor, GError **error);
/** sl_node_check_same_dtype: both must have the same element type. */
gboolean sl_node_check_same_dtype (const SlNode *node, const SlTensor *a, const SlTensor *b, GError **error);
/** sl_node_check_activations: input 0 .. @n_inputs-1 and every output float32, int8 or uint8, one type, quantised per tensor. */
gboolean sl_node_check_activations (const SlGraph *graph, const SlNode *node, guint n_inputs, GError **error);
/** sl_node_check_typed: the same with other element types, SL_DTYPE_BIT()s. */
gboolean sl_node_check_typed (const SlGraph *graph, const SlNode *node, guint n_inputs, guint32 types, GError **error);
/** sl_node_same_shape_infer: the outputs take the shape of input 0. */
gboolean sl_node_same_shape_infer (SlGraph *graph, SlNode *node, GError **error);
/** sl_node_check_copy: output @i holds elements of input @from unchanged: same type, same quantisation. */
gboolean sl_node_check_copy (const SlGraph *graph, const SlNode *node, guint from, guint i, GError **error);
/** sl_node_constant: input @i, named @what in messages, must be a constant of at most @max int32 or int64. */
gboolean sl_node_constant (const SlGraph *graph, const SlNode *node, guint i, const char *what, gint32 *values, guint max, guint *count,
                           GError **error);
/** sl_node_axis: makes @axis, -rank..rank-1 as written, 0..rank-1. */
gboolean sl_node_axis (const SlNode *node, gint32 *axis, guint rank, GError **error);
/** sl_node_broadcast: the shape two tensors broadcast to by NumPy's rules. */
gboolean sl_node_broadcast (const SlNode *node, const SlTensor *a, const SlTensor *b, gint32 *dims, guint *rank, GError **error);
/** sl_node_check_rank4: input @i must have 4 dimensions. */
gboolean sl_node_check_rank4 (const SlGraph *graph, const SlNode *node, guint i, GError **error);
/** sl_op_clamp: the activation that @op is when it only clamps, else SL_ACTIVATION_NONE. */
SlActivation sl_op_clamp (SlOpType op);
/** sl_constant_ints: reads an int32 or int64 constant of at most @max elements; FALSE when it is not one. */
gboolean sl_constant_ints (const SlTensor *tensor, gint32 *values, guint max, guint *count);
/** sl_window_resolve: output size and explicit paddings of a sliding window over @in_h x @in_w. */
gboolean sl_window_resolve (const SlNode *node, SlWindow *window, gint32 in_h, gint32 in_w, gint32 filter_h, gint32 filter_w, gint32 *out_h,
                            gint32 *out_w, GError **error);

#define SL_DTYPE_BIT(dtype) (1u << (dtype))
#define SL_DTYPES_8BIT (SL_DTYPE_BIT (SL_DTYPE_I8) | SL_DTYPE_BIT (SL_DTYPE_U8))
#define SL_DTYPES_INDEX (SL_DTYPE_BIT (SL_DTYPE_I32) | SL_DTYPE_BIT (SL_DTYPE_I64))
#define SL_DTYPES_ANY ((1u << SL_DTYPE_COUNT) - 2)
#define SL_DTYPES_ACTIVATION (SL_DTYPE_BIT (SL_DTYPE_F32) | SL_DTYPE_BIT (SL_DTYPE_I8) | SL_DTYPE_BIT (SL_DTYPE_U8))

G_END_DECLS

#endif
