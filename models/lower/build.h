/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What readers and their converters build a graph with. A format is lowered to operators as ONNX
 * defines them, whose converters build the nodes. Nothing here knows a file. Every node that they
 * add is settled at once, so shapes are known and everything that follows from constants and shapes
 * is a constant.
 *
 * Layout: ONNX has channels second, our kernels have them last. A value is held plain (ONNX's
 * order), channels last (dimension 1 moved to the end), or both; the other form is made when
 * somebody asks for it, once. So a convolution network stays channels last throughout.
 *
 * Errors stick: the first one is kept, every later call does nothing and gives -1 or NULL, so
 * converters need not ask after each step.
 */
#pragma once

#include "sightline/error.h"
#include "core/graph/graph.h"
#include "models/lower/node.h"

/** More than any dimension; diagonals beyond it are like this one. */
#define MAX_DIAGONAL (1 << 30)

/**
 * LowerValue: what a name in the file stands for.
 * @plain, @last: tensors of the graph, -1 = not made yet; both -1 for a value without elements
 * @codes: of a constant that the file holds quantised: its codes, plain; @plain is then what they
 * stand for
 * @zero: of what DynamicQuantizeLinear makes, less its zero point: that
 * @type: OnnxType that the file states, where it says more than the tensor's type; else 0
 * @widened: of packed codes: the memory for what they stand for has been granted
 * @dims: in ONNX's order
 * @split: (nullable): a value held channels last, whose channels were split here in @parts parts of
 * neighbours; @exchanged: parts come
 *         behind their members
 * @is_missing: of an optional value: it is not there
 * @is_list: it stands for the sequence @items, and has no elements itself
 */
typedef struct _LowerValue LowerValue;
struct _LowerValue
{
  gint32 plain, last, codes, zero;
  guint type;
  gboolean widened;
  guint rank;
  gint32 dims[SL_MAX_RANK];
  gboolean empty, is_list, is_missing;
  LowerValue *split;
  gint32 parts;
  gboolean exchanged;
  guint n_items;
  LowerValue **items;
};

typedef struct _Lower Lower;
typedef struct _LowerOp LowerOp;

/** Names of one graph; inner graphs see the outer ones' names. */
typedef struct _LowerScope LowerScope;
struct _LowerScope
{
  LowerScope *outer;      /* (nullable) */
  const OnnxGraph *graph; /* (nullable): of an ONNX file */
  GHashTable *values;     /* name -> LowerValue * */
};

/** LowerReadConstant: (nullable): the constant called @name that the file of @scope holds. */
typedef LowerValue *(*LowerReadConstant) (Lower *o, const LowerScope *scope, const char *name);
/** LowerFindOp: (nullable): the row of operator @op of @domain. */
typedef const LowerOp *(*LowerFindOp) (const char *domain, const char *op);

/** A graph being built. */
struct _Lower
{
  SlGraph *graph;
  SlArena *arena;      /* the graph's */
  SlArena *scratch;    /* freed when the model is loaded */
  GStringChunk *names; /* as long as @scratch */
  gint64 opset;        /* the version of ONNX's operators that the nodes mean */
  gpointer reader;     /* (nullable): the state of the file's reader */
  LowerFindOp find_op; /* (nullable): rows of the reader beside those that formats share */
  LowerReadConstant read_constant; /* (nullable): for names that are no values yet */
  LowerScope *scope;
  const LowerNode *node; /* being converted */
  const LowerNode
    *caller; /* (nullable): the node of the file that is made of @node and others: errors name it */
  const LowerOp *row;    /* of @node */
  gboolean signed_codes; /* uint8 activations become int8, because the weights are int8 */
  gboolean is_foreign; /* the nodes stand for another format's operators, whose reader says where a
                          problem is */
  guint64 copied, may_copy, made;
  guint64 granted;  /* bytes beside @may_copy, for what packed codes become */
  GHashTable *open; /* indices of tensors made of the rows of NonMaxSuppression or NonZero, of which
                       those left open are -1 */
  GError *error;    /* (nullable): the first problem */
};

/* The graph. */

/** lower_times: @a * @b; the greatest number where that does not fit, to which nothing can be
 * reshaped. */
static inline gint32
lower_times (gint32 a, gint32 b)
{
  return (gint32) MIN ((gint64) a * b, G_MAXINT32);
}

/** lower_fail: "node 12 Conv 'name' (opset 13): ..."; returns -1. */
gint32 lower_fail (Lower *o, SlError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** lower_refuse, lower_fail_null: likewise; return FALSE and NULL. */
gboolean lower_refuse (Lower *o, SlError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
gpointer lower_fail_null (Lower *o, SlError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** lower_fail_if: likewise where it is @bad, which it returns. The arguments are evaluated anyway.
 */
gboolean lower_fail_if (Lower *o, gboolean bad, SlError code, const char *format, ...)
  G_GNUC_PRINTF (4, 5);
/** lower_t: (transfer none): tensor @index of the graph, until another is added; a scalar float
 * once there was an error. */
const SlTensor *lower_t (const Lower *o, gint32 index);
/** lower_constant_data: (nullable): the data of tensor @index where it is a constant, readable;
 * NULL also where the error is set. */
const void *lower_constant_data (Lower *o, gint32 index);
/** lower_tensor_type: of tensor @index; for arguments beside calls that add tensors, which move
 * them. */
SlDtype lower_tensor_type (const Lower *o, gint32 index);
/** lower_emit: adds a node of one output of @dtype and gives that; -1 among @inputs = omitted. */
gint32 lower_emit (Lower *o, SlOpType op, const gint32 *inputs, guint n, const SlOpParams *params,
                   SlDtype dtype);
/** lower_emit_all: the same of several outputs, written to @outputs; FALSE after an error. */
gboolean lower_emit_all (Lower *o, SlOpType op, const gint32 *inputs, guint n,
                         const SlOpParams *params, const SlDtype *dtypes, gint32 *outputs,
                         guint n_outputs);
/** lower_is_open: whether negative numbers of tensor @index are rows that NonMaxSuppression or
 * NonZero left open, moved or not. */
gboolean lower_is_open (const Lower *o, gint32 index);
/** lower_unary, lower_binary: a node whose output has the first input's type. */
gint32 lower_unary (Lower *o, SlOpType op, gint32 input);
gint32 lower_binary (Lower *o, SlOpType op, gint32 a, gint32 b);
/** lower_settled: adds a node of one output that is @like. */
gint32 lower_settled (Lower *o, SlOpType op, const gint32 *inputs, guint n,
                      const SlOpParams *params, const SlTensor *like);
/** lower_reshape: @dims may be NULL for a scalar. */
gint32 lower_reshape (Lower *o, gint32 input, const gint32 *dims, guint rank);
gint32 lower_transpose (Lower *o, gint32 input, const gint32 *order);
gint32 lower_cast (Lower *o, gint32 input, SlDtype dtype);
gint32 lower_reduce (Lower *o, SlOpType op, gint32 input, const gint32 *axes, guint n,
                     gboolean keep_dims);
/** lower_cut: elements @first up to @end along @axis. */
gint32 lower_cut (Lower *o, gint32 input, guint axis, gint32 first, gint32 end);
gint32 lower_pad (Lower *o, gint32 input, const gint32 *amounts, gfloat value);
/** lower_grant: codes that the file holds packed become @bytes. A file whose codes are read many
 * times gets no more for that. */
void lower_grant (Lower *o, guint64 bytes);
/** lower_may_make: whether constants of @bytes more may be made of what a file says in a few bytes;
 * an error else. */
gboolean lower_may_make (Lower *o, guint64 bytes);
/** lower_constant: a tensor of @data, which is copied. */
gint32 lower_constant (Lower *o, SlDtype dtype, guint rank, const gint32 *dims, const void *data);
gint32 lower_ints_constant (Lower *o, const gint32 *values, guint n);
gint32 lower_int_scalar (Lower *o, gint32 value);
/** lower_count: @first, @first + 1, ... @end - 1, int32; computed in the graph, so that a large one
 * takes no memory now. */
gint32 lower_count (Lower *o, gint64 first, gint64 end);
gint32 lower_float (Lower *o, gfloat value);
/** lower_float_like: @value as a constant of the type of @like, float32 or int32. */
gint32 lower_float_like (Lower *o, gint32 like, gfloat value);
/** lower_new_tensor: adds a tensor that is @like; without a name it gets that of the node being
 * converted. */
gint32 lower_new_tensor (Lower *o, const SlTensor *like);
/** lower_unsigned: int8 codes as the uint8 ones that they were. */
gint32 lower_unsigned (Lower *o, gint32 tensor);

/* Values. */

gint32 lower_plain (Lower *o, LowerValue *value);
gint32 lower_last (Lower *o, LowerValue *value);
/** lower_any: the form that exists; *@last tells which. */
gint32 lower_any (Lower *o, LowerValue *value, gboolean *last);
/** lower_is_last: whether @value exists channels last only. */
gboolean lower_is_last (const LowerValue *value);
/** lower_axis: dimension @axis of ONNX's order in the other layout. */
guint lower_axis (guint axis, guint rank, gboolean last);
/** lower_operand: @value in the layout of a result of @rank dimensions, so that it broadcasts. */
gint32 lower_operand (Lower *o, LowerValue *value, guint rank, gboolean last);
LowerValue *lower_value_new (Lower *o, gint32 tensor, gboolean last);
LowerValue *lower_value_empty (Lower *o, guint rank, const gint32 *dims);
SlDtype lower_dtype (const Lower *o, const LowerValue *value);
/** lower_data: (nullable): the elements of a constant, in ONNX's order. */
const void *lower_data (Lower *o, LowerValue *value, gsize *elements);
/** lower_is_constant: whether lower_data() finds any; nothing is read for that. */
gboolean lower_is_constant (Lower *o, LowerValue *value);
gsize lower_elements (const LowerValue *value);

/* The node being converted. */

gboolean lower_has_input (const Lower *o, guint i);
/** lower_input: (nullable): NULL when it is omitted or unknown; the latter is an error. */
LowerValue *lower_input (Lower *o, guint i);
/** lower_required: the same; omitted is an error, too. */
LowerValue *lower_required (Lower *o, guint i);
gboolean lower_has_output (const Lower *o, guint i);
void lower_set (Lower *o, guint i, gint32 tensor, gboolean last);
void lower_set_value (Lower *o, guint i, LowerValue *value);
const LowerAttribute *lower_attribute (const Lower *o, const char *name);
gint64 lower_attr_int (const Lower *o, const char *name, gint64 fallback);
gfloat lower_attr_float (const Lower *o, const char *name, gfloat fallback);
/** lower_attr_text: (transfer none): a NUL-terminated string. */
const char *lower_attr_text (Lower *o, const char *name, const char *fallback);
/** lower_attr_choice: which of @words, NULL-terminated, it is; the first where it is absent. */
guint lower_attr_choice (Lower *o, const char *name, const char *const *words);
/** lower_attr_ints: FALSE when it is absent; more than @most and numbers beyond 32 bits are errors.
 */
gboolean lower_attr_ints (Lower *o, const char *name, gint32 *values, guint most, guint *n);
/** lower_input_ints: the elements of a constant integer input; FALSE when it is omitted. */
gboolean lower_input_ints (Lower *o, guint i, const char *what, gint32 *values, guint most,
                           guint *n);
/** lower_input_floats: the same of floats. */
gboolean lower_input_floats (Lower *o, guint i, const char *what, gfloat *values, guint most,
                             guint *n);
/** lower_list: an attribute before opset @since, input @i from then on. */
gboolean lower_list (Lower *o, const char *name, guint i, gint64 since, gint32 *values, guint most,
                     guint *n);
/** lower_norm_axis: @axis within @rank, counted from the end when negative. */
guint lower_norm_axis (Lower *o, gint64 axis, guint rank);

/** lower_change_tensor: (transfer none): tensor @index, to be completed before anything reads it.
 */
SlTensor *lower_change_tensor (Lower *o, gint32 index);

/** lower_own_output: what stands for output @tensor of the model: a copy where it is a constant,
 * one of @inputs or one of @outputs, too. */
gint32 lower_own_output (Lower *o, gint32 tensor, const gint32 *inputs, guint n_inputs,
                         const gint32 *outputs, guint n_outputs);

/** lower_lookup: (nullable): what @name stands for here. */
LowerValue *lower_lookup (Lower *o, const char *name);

/* Rows of operators (table.c). */

/** A converter: one row of a table. */
struct _LowerOp
{
  const char *op;
  void (*convert) (Lower *o);          /* (nullable): left out of this build */
  SlOpType type;                       /* for converters of many operators */
  gint32 (*each) (Lower *o, gint32 x); /* for lower_each(): what an element becomes */
};

/** lower_convert: the current node by its row, which there is. */
void lower_convert (Lower *o);
/** lower_call: (nullable): what operator @op of ONNX's own domain gives, for operators that are
 * made of others. NULL among @inputs = omitted; errors name the node being converted. */
LowerValue *lower_call (Lower *o, const char *op, LowerValue *const *inputs, guint n,
                        const LowerAttribute *attributes, guint n_attributes);
/** lower_row: (nullable): the row of @op in @tables. The list of tables ends in NULL, each table in
 * a row without a name. @index belongs to these tables, and is 0 at first. */
const LowerOp *lower_row (gsize *index, const LowerOp *const *tables, const char *op);
/** lower_find_op: (nullable): the row of an operator of ONNX's own domain that every format may be
 * lowered to. */
const LowerOp *lower_find_op (const char *op);
