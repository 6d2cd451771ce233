/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Torch's operators: a row has the arguments and the function of an operator. Operators on tensors
 * are lowered to ONNX operators, as in torch's own exporter, whose converters build the nodes; if
 * there is no such form, nodes of the core are added. Rows know only values, not the text of a
 * program.
 */
#pragma once

#include "models/aten/program.h"

/** Most arguments that a row can name. */
#define TS_MAX_ARGUMENTS 32

typedef struct _TsOp TsOp;

/** TsCall: @args are as many as the row names; @n_given of them came by place. @rest: what "..." in
 * the row takes. */
struct _TsCall
{
  const TsOp *op;
  TsValue args[TS_MAX_ARGUMENTS];
  guint n_given;
  const TsValue *rest;
  guint n_rest;
};

/**
 * TsOp:
 * @name: "aten::add"; "aten::add_" then writes the result into its first argument, unless it has a
 * row of its own
 * @arguments: names, with defaults as torch has them: "self,other,alpha=1"; "..." at the end takes
 * any number
 * @onnx, @type: for functions of many rows
 */
struct _TsOp
{
  const char *name, *arguments;
  TsValue (*run) (TsProgram *program, const TsCall *call);
  const char *onnx;
  SlOpType type;
};

/** Tables, each ending in a row without a name. */
extern const TsOp ts_ops_scalar[], ts_ops_text[], ts_ops_list[], ts_ops_elementwise[],
  ts_ops_window[], ts_ops_shape[], ts_ops_axis[], ts_ops_index[], ts_ops_rows[], ts_ops_make[],
  ts_ops_norm[], ts_ops_quantized[], ts_ops_packed[], ts_ops_resize[], ts_ops_detect[],
  ts_ops_query[], ts_ops_recurrent[], ts_ops_composite[], ts_ops_patches[], ts_ops_core[],
  ts_ops_matrix[], ts_ops_series[], ts_ops_decomposed[];

/* Arguments (argument.c): what is none of the kind asked for is an error. */

/** ts_item: (of a tensor with one element that follows from shapes and constants) its element as a
 * number. */
TsValue ts_item (TsProgram *program, TsValue tensor);
gint64 ts_to_int (TsProgram *program, TsValue value);
gdouble ts_to_float (TsProgram *program, TsValue value);
/** ts_to_ints: elements of a list of whole numbers; one number counts as a list of it. */
gboolean ts_to_ints (TsProgram *program, TsValue value, gint64 *ints, guint most, guint *n);
/** ts_truth: of a condition; a tensor's must follow from shapes and constants. */
gboolean ts_truth (TsProgram *program, TsValue value);
/** ts_equal: as == compares; tensors never. */
gboolean ts_equal (TsValue a, TsValue b);
/** ts_index: an element of a list, tuple or dictionary. */
TsValue ts_index (TsProgram *program, TsValue base, TsValue index);
/** ts_is_number: of kinds int, float and bool. */
gboolean ts_is_number (TsValue value);
/** ts_axis: dimension @value within @rank, counted from the end when negative. */
guint ts_axis (TsProgram *program, TsValue value, guint rank);
/** ts_axis_of: the same of a number. */
guint ts_axis_of (TsProgram *program, gint64 axis, guint rank);

/* Tensors (lower.c). */

/** ts_read: (nullable): a tensor argument in the graph; anything else is an error. */
LowerValue *ts_read (TsProgram *program, TsValue value);
/** ts_write: an operation in place gives @box the value of @result. */
void ts_write (TsProgram *program, TsTensor *box, TsValue result);
/** ts_new: a new box for @value. */
TsValue ts_new (TsProgram *program, LowerValue *value, TsDtype dtype);
/** ts_new_plain, ts_new_last: the same of a tensor of the graph in torch's order, or with channels
 * last. */
TsValue ts_new_plain (TsProgram *program, gint32 tensor, TsDtype dtype);
TsValue ts_new_last (TsProgram *program, gint32 tensor, TsDtype dtype);
/** ts_constant_ints, ts_constant_floats: new constants. */
LowerValue *ts_constant_ints (TsProgram *program, const gint64 *values, guint n);
LowerValue *ts_constant_floats (TsProgram *program, const gfloat *values, guint n);
/** ts_scalar: a number as a constant of @dtype without dimensions. */
LowerValue *ts_scalar (TsProgram *program, TsValue number, TsDtype dtype);
/** ts_cast: @value as the type in which the graph holds @dtype. */
LowerValue *ts_cast (TsProgram *program, LowerValue *value, TsDtype dtype);

/* Attributes of an ONNX node. */
LowerAttribute ts_attr_int (const char *name, gint64 i);
LowerAttribute ts_attr_float (const char *name, gdouble f);
LowerAttribute ts_attr_ints (TsProgram *program, const char *name, const gint64 *ints, guint n);
LowerAttribute ts_attr_text (const char *name, const char *text);

/** ts_onnx: (nullable): the output of ONNX's operator @op; NULL among @inputs = omitted. */
LowerValue *ts_onnx (TsProgram *program, const char *op, LowerValue *const *inputs, guint n,
                     const LowerAttribute *attributes, guint n_attributes);
/** ts_onnx_pair: (nullable): the same of two inputs without attributes. */
LowerValue *ts_onnx_pair (TsProgram *program, const char *op, LowerValue *a, LowerValue *b);
/** ts_onnx_all: ts_onnx() of @n_outputs outputs; FALSE after an error. */
gboolean ts_onnx_all (TsProgram *program, const char *op, LowerValue *const *inputs, guint n,
                      const LowerAttribute *attributes, guint n_attributes, LowerValue **outputs,
                      guint n_outputs);

/* Shared by several tables. */

/** ts_binary_scalar: an operation of two numbers, strings or lists. */
TsValue ts_binary_scalar (TsProgram *program, const TsCall *call);
/** ts_unary_scalar: a function of a number. */
TsValue ts_unary_scalar (TsProgram *program, const TsCall *call);
/** ts_list_slice: elements of a list from start to end. */
TsValue ts_list_slice (TsProgram *program, const TsCall *call);
/** TS_MAX_POOL_PLACES: the operator that gives max_pool2d_with_indices() its second result. */
#define TS_MAX_POOL_PLACES "sightline::max_pool_places"
/** TS_DIAGONAL_PLACES: where the elements of a diagonal are among those of the last two dimensions.
 */
#define TS_DIAGONAL_PLACES "sightline::diagonal_places"
/** TS_NORM: the norm of another order than 1 and 2. */
#define TS_NORM "sightline::norm"
/** ts_composite: runs @call's row as a function written in TorchScript, whose body is its @onnx
 * (ops_composite.c), by the program's @run_body. */
TsValue ts_composite (TsProgram *program, const TsCall *call);
/** ts_promote: the type of an operation on both. */
TsDtype ts_promote (TsValue a, TsValue b);
