/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Building blocks of the converters of ONNX operators. Every node is settled when it is added, so shapes are known, and values that depend
 * only on constants and shapes are constants.
 *
 * Layout: ONNX has channels second, our kernels have them last. A value is stored plain (ONNX's order), channels last (dimension 1 moved to
 * the end), or both; the other form is made at its first use. So a convolution network stays channels last throughout. Errors are sticky:
 * the first one is kept, every later call does nothing and returns -1 or NULL, so converters need not check each step.
 */
#ifndef SL_MODELS_ONNX_BUILD_H
#define SL_MODELS_ONNX_BUILD_H

#include "sightline/error.h"
#include "core/graph/graph.h"
#include "models/onnx/parse.h"

/** More than any dimension; diagonals beyond it are like this one. */
#define MAX_DIAGONAL (1 << 30)
/** Most looks at nodes while a file is converted. */
#define ONNX_MAX_STEPS (8 * SL_MAX_NODES)

/**
 * OnnxValue: what a name in the file stands for.
 * @plain, @last: tensors of the graph, -1 = not made yet; both -1 for a value without elements
 * @codes: of a constant that the file holds quantised: its codes, plain; @plain is then what they stand for
 * @zero: of what DynamicQuantizeLinear makes, less its zero point: that
 * @type: OnnxType that the file states, where it says more than the tensor's type; else 0
 * @widened: of packed codes: the memory for what they stand for has been granted
 * @dims: in ONNX's order
 * @split: (nullable): a value held channels last, whose channels were split here in @parts parts of neighbours; @exchanged: parts come
 *         behind their members
 * @is_missing: of an optional value: it is not there
 * @is_list: it stands for the sequence @items, and has no elements itself
 */
typedef struct _OnnxValue OnnxValue;
struct _OnnxValue
{
  gint32 plain, last, codes, zero;
  guint type;
  gboolean widened;
  guint rank;
  gint32 dims[SL_MAX_RANK];
  gboolean empty, is_list, is_missing;
  OnnxValue *split;
  gint32 parts;
  gboolean exchanged;
  guint n_items;
  OnnxValue **items;
};

/** Names of one graph; inner graphs see the outer ones' names. */
typedef struct _OnnxScope OnnxScope;
struct _OnnxScope
{
  OnnxScope *outer; /* (nullable) */
  const OnnxGraph *graph;
  GHashTable *values; /* name -> OnnxValue * */
};

typedef struct
{
  OnnxFile *file;
  SlGraph *graph;
  SlArena *arena; /* the graph's */
  OnnxScope *scope;
  gboolean signed_codes;  /* uint8 activations become int8, because the weights are int8 */
  const OnnxNode *node;   /* being converted */
  const OnnxNode *caller; /* (nullable): the node of the file that is made of @node and others: errors name it */
  gboolean is_foreign;    /* the nodes stand for another format's operators, whose reader says where a problem is */
  char *folder;           /* of the model file, for external data */
  GHashTable *data_files; /* (nullable): what was read of that (models/data_file.h) */
  gint32 height, width;   /* of a picture of open size, 0 = nothing states it */
  guint64 copied, may_copy, made;
  guint64 granted; /* bytes beside @may_copy, for what packed codes become */
  guint depth;
  guint64 steps;    /* nodes looked at, those of loops each time */
  GHashTable *open; /* indices of tensors made of the rows of NonMaxSuppression or NonZero, of which those left open are -1 */
  GError *error;    /* (nullable): the first problem */
} Onnx;

/* The graph. */

/** onnx_times: @a * @b; the greatest number where that does not fit, to which nothing can be reshaped. */
static inline gint32
onnx_times (gint32 a, gint32 b)
{
  return (gint32) MIN ((gint64) a * b, G_MAXINT32);
}

/** onnx_fail: "node 12 Conv 'name' (opset 13): ..."; returns -1. */
gint32 onnx_fail (Onnx *o, SlError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** onnx_t: (transfer none): tensor @index of the graph, until another is added; a scalar float once there was an error. */
const SlTensor *onnx_t (const Onnx *o, gint32 index);
/** onnx_tensor_type: of tensor @index; for arguments beside calls that add tensors, which move them. */
SlDtype onnx_tensor_type (const Onnx *o, gint32 index);
/** onnx_emit: adds a node of one output of @dtype and gives that; -1 among @inputs = omitted. */
gint32 onnx_emit (Onnx *o, SlOpType op, const gint32 *inputs, guint n, const SlOpParams *params, SlDtype dtype);
/** onnx_emit_all: the same of several outputs, written to @outputs; FALSE after an error. */
gboolean onnx_emit_all (Onnx *o, SlOpType op, const gint32 *inputs, guint n, const SlOpParams *params, const SlDtype *dtypes,
                        gint32 *outputs, guint n_outputs);
/** onnx_is_open: whether negative numbers of tensor @index are rows that NonMaxSuppression or NonZero left open, moved or not. */
gboolean onnx_is_open (const Onnx *o, gint32 index);
/** onnx_unary, onnx_binary: a node whose output has the first input's type. */
gint32 onnx_unary (Onnx *o, SlOpType op, gint32 input);
gint32 onnx_binary (Onnx *o, SlOpType op, gint32 a, gint32 b);
/** onnx_settled: adds a node of one output that is @like. */
gint32 onnx_settled (Onnx *o, SlOpType op, const gint32 *inputs, guint n, const SlOpParams *params, const SlTensor *like);
/** onnx_reshape: @dims may be NULL for a scalar. */
gint32 onnx_reshape (Onnx *o, gint32 input, const gint32 *dims, guint rank);
gint32 onnx_transpose (Onnx *o, gint32 input, const gint32 *order);
gint32 onnx_cast (Onnx *o, gint32 input, SlDtype dtype);
gint32 onnx_reduce (Onnx *o, SlOpType op, gint32 input, const gint32 *axes, guint n, gboolean keep_dims);
/** onnx_cut: elements @first up to @end along @axis. */
gint32 onnx_cut (Onnx *o, gint32 input, guint axis, gint32 first, gint32 end);
gint32 onnx_pad (Onnx *o, gint32 input, const gint32 *amounts, gfloat value);
/** onnx_grant: codes that the file holds packed become @bytes. A file whose codes are read many times gets no more for that. */
void onnx_grant (Onnx *o, guint64 bytes);
/** onnx_may_make: whether constants of @bytes more may be made of what a file says in a few bytes; an error else. */
gboolean onnx_may_make (Onnx *o, guint64 bytes);
/** onnx_constant: a tensor of @data, which is copied. */
gint32 onnx_constant (Onnx *o, SlDtype dtype, guint rank, const gint32 *dims, const void *data);
gint32 onnx_ints_constant (Onnx *o, const gint32 *values, guint n);
gint32 onnx_int_scalar (Onnx *o, gint32 value);
/** onnx_count: @first, @first + 1, ... @end - 1, int32; computed in the graph, so that a large one takes no memory now. */
gint32 onnx_count (Onnx *o, gint64 first, gint64 end);
gint32 onnx_float (Onnx *o, gfloat value);
/** onnx_float_like: @value as a constant of the type of @like, float32 or int32. */
gint32 onnx_float_like (Onnx *o, gint32 like, gfloat value);
/** onnx_new_tensor: adds a tensor that is @like; without a name it gets that of the node being converted. */
gint32 onnx_new_tensor (Onnx *o, const SlTensor *like);

/* Values. */

gint32 onnx_plain (Onnx *o, OnnxValue *value);
gint32 onnx_last (Onnx *o, OnnxValue *value);
/** onnx_any: the form that exists; *@last tells which. */
gint32 onnx_any (Onnx *o, OnnxValue *value, gboolean *last);
/** onnx_is_last: whether @value exists channels last only. */
gboolean onnx_is_last (const OnnxValue *value);
/** onnx_axis: dimension @axis of ONNX's order in the other layout. */
guint onnx_axis (guint axis, guint rank, gboolean last);
/** onnx_operand: @value in the layout of a result of @rank dimensions, so that it broadcasts. */
gint32 onnx_operand (Onnx *o, OnnxValue *value, guint rank, gboolean last);
OnnxValue *onnx_value_new (Onnx *o, gint32 tensor, gboolean last);
OnnxValue *onnx_value_empty (Onnx *o, guint rank, const gint32 *dims);
SlDtype onnx_dtype (const Onnx *o, const OnnxValue *value);
/** onnx_data: (nullable): the elements of a constant, in ONNX's order. */
const void *onnx_data (Onnx *o, OnnxValue *value, gsize *elements);
gsize onnx_elements (const OnnxValue *value);

/* The node being converted. */

gboolean onnx_has_input (const Onnx *o, guint i);
/** onnx_input: (nullable): NULL when it is omitted or unknown; the latter is an error. */
OnnxValue *onnx_input (Onnx *o, guint i);
/** onnx_required: the same; omitted is an error, too. */
OnnxValue *onnx_required (Onnx *o, guint i);
gboolean onnx_has_output (const Onnx *o, guint i);
void onnx_set (Onnx *o, guint i, gint32 tensor, gboolean last);
void onnx_set_value (Onnx *o, guint i, OnnxValue *value);
const OnnxAttribute *onnx_attribute (const Onnx *o, const char *name);
gint64 onnx_attr_int (const Onnx *o, const char *name, gint64 fallback);
gfloat onnx_attr_float (const Onnx *o, const char *name, gfloat fallback);
/** onnx_attr_text: (transfer none): a NUL-terminated string. */
const char *onnx_attr_text (Onnx *o, const char *name, const char *fallback);
/** onnx_attr_choice: which of @words, NULL-terminated, it is; the first where it is absent. */
guint onnx_attr_choice (Onnx *o, const char *name, const char *const *words);
/** onnx_attr_ints: FALSE when it is absent; more than @most and numbers beyond 32 bits are errors. */
gboolean onnx_attr_ints (Onnx *o, const char *name, gint32 *values, guint most, guint *n);
/** onnx_input_ints: the elements of a constant integer input; FALSE when it is omitted. */
gboolean onnx_input_ints (Onnx *o, guint i, const char *what, gint32 *values, guint most, guint *n);
/** onnx_input_floats: the same of floats. */
gboolean onnx_input_floats (Onnx *o, guint i, const char *what, gfloat *values, guint most, guint *n);
/** onnx_list: an attribute before opset @since, input @i from then on. */
gboolean onnx_list (Onnx *o, const char *name, guint i, gint64 since, gint32 *values, guint most, guint *n);
/** onnx_norm_axis: @axis within @rank, counted from the end when negative. */
guint onnx_norm_axis (Onnx *o, gint64 axis, guint rank);

/** onnx_change_tensor: (transfer none): tensor @index, to be completed before anything reads it. */
SlTensor *onnx_change_tensor (Onnx *o, gint32 index);

/** onnx_own_output: what stands for output @tensor of the model: a copy where it is a constant, one of @inputs or one of @outputs, too. */
gint32 onnx_own_output (Onnx *o, gint32 tensor, const gint32 *inputs, guint n_inputs, const gint32 *outputs, guint n_outputs);

/* The other files. */

/** onnx_read_constant: a TensorProto as a value. int64 and float64 become int32 and float32, float16 becomes float32. */
OnnxValue *onnx_read_constant (Onnx *o, SlPbMessage tensor, const char *name);
/** onnx_ir_type: the type in the graph of an ONNX element type, SL_DTYPE_INVALID for one that is not supported. */
SlDtype onnx_ir_type (guint type);
/** onnx_file_type: the type of a tensor at the model's edge. */
SlDtype onnx_file_type (guint type);
/** onnx_lookup: (nullable): what @name stands for here. */
OnnxValue *onnx_lookup (Onnx *o, const char *name);
/** onnx_run_graph: converts the nodes of @o->scope's graph. */
gboolean onnx_run_graph (Onnx *o);

/** A converter: one row of the table. */
typedef struct
{
  const char *op;
  void (*convert) (Onnx *o); /* (nullable): left out of this build */
  SlOpType type;             /* for converters of many operators */
} OnnxOp;

/** onnx_convert: the current node by its row, which there is. */
void onnx_convert (Onnx *o);
/** onnx_call: (nullable): what operator @op of ONNX's own domain gives, for operators that are made of others. NULL among @inputs = omitted; errors name
 *  the node being converted. */
OnnxValue *onnx_call (Onnx *o, const char *op, OnnxValue *const *inputs, guint n, const OnnxAttribute *attributes, guint n_attributes);
/** onnx_op_find: (nullable). */
const OnnxOp *onnx_op_find (const char *domain, const char *op);
const OnnxOp *onnx_current (const Onnx *o);

#endif
