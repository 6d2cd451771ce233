/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program of a TorchScript archive while it is run once, at load: its files of code/, the values that it computes with, and the graph
 * that its operators on tensors build. Values that depend only on shapes and constants are computed; values that depend on the picture
 * become nodes. Errors are sticky, those of the heap and of the builder; calls after one do nothing.
 */
#ifndef SL_MODELS_TORCHSCRIPT_PROGRAM_H
#define SL_MODELS_TORCHSCRIPT_PROGRAM_H

#include "models/onnx/build.h"
#include "models/torchscript/ast.h"
#include "models/torchscript/value.h"

/** Most statements and expressions evaluated, and most calls inside each other. */
#define TS_MAX_STEPS 10000000
#define TS_MAX_CALLS 200

/** TsReadCode: (nullable) (transfer full): the text of member @path of the archive, "code/__torch__/a.py"; NULL without an error when there
 *  is none. */
typedef GBytes *(*TsReadCode) (gpointer archive, const char *path, GError **error);

typedef struct _TsFrame TsFrame;

/**
 * TsProgram:
 * @constants: (nullable): of constants.pkl, which the code calls CONSTANTS.c0 and so on
 * @units: path -> TsUnit; files are parsed when something of them is first needed
 * @ops: name -> TsOp of every operator
 * @views: tensor -> what it is a view of
 * @op: (nullable): the operator that runs, for messages
 */
typedef struct
{
  TsHeap *heap;
  Onnx onnx;
  OnnxFile file;
  OnnxScope scope;
  const TsList *constants;
  TsReadCode read_code;
  gpointer archive;
  GHashTable *units;
  GHashTable *ops;
  GHashTable *views;
  TsFrame *frame;
  guint64 steps;
  guint calls, nesting;
  gboolean located;
  const char *op;
} TsProgram;

/** TsFunction: a callable: a function or method of code/, or a class, which makes an object. */
struct _TsFunction
{
  const TsUnit *unit;
  const TsDef *def;    /* (nullable) */
  const TsClass *type; /* (nullable): the class to make an object of */
  const char *class_name;
  gboolean is_bare; /* the class makes the object alone, and __init__() is another call */
  gboolean is_bound;
  TsValue self;
};

/** ts_program_init: @archive and @heap must outlive the program, and @graph takes the nodes. */
void ts_program_init (TsProgram *program, TsHeap *heap, SlGraph *graph, TsReadCode read_code, gpointer archive);
void ts_program_clear (TsProgram *program);
/** ts_failed: whether there was an error, of the heap or of the builder. */
gboolean ts_failed (const TsProgram *program);
/** ts_refuse: ts_fail() with the name of the operator that runs before the text; gives none. */
TsValue ts_refuse (TsProgram *program, SlError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** ts_take_error: (transfer full) (nullable): the first error. */
GError *ts_take_error (TsProgram *program);

/* Names (program.c). */

/** ts_find_class: (nullable): class @name, "__torch__.a.B"; the error is set when there is none. */
const TsClass *ts_find_class (TsProgram *program, const char *name, const TsUnit **unit);
/** ts_find_global: what a dotted name from __torch__ on stands for: a function. */
TsValue ts_find_global (TsProgram *program, const char *name);
/** ts_get_attribute: of an object: an attribute, a method, or a value of its class; of a tuple with names an element. */
TsValue ts_get_attribute (TsProgram *program, TsValue base, const char *name);
/** ts_has_attribute: whether ts_get_attribute() would find it. */
gboolean ts_has_attribute (TsProgram *program, TsValue base, const char *name);

/* Running (interpret.c). */

/** ts_call: a function with @args and, where @keywords is not NULL, a name for each that has one. */
TsValue ts_call (TsProgram *program, const TsFunction *function, const TsValue *args, const char *const *keywords, guint n);
/** ts_evaluate: an expression without variables: defaults, values of classes. */
TsValue ts_evaluate (TsProgram *program, const TsUnit *unit, const TsExpr *expr);
/** ts_truth: of a condition; a tensor's must follow from shapes and constants. */
gboolean ts_truth (TsProgram *program, TsValue value);
/** ts_equal: as == compares; tensors never. */
gboolean ts_equal (TsValue a, TsValue b);

/** ts_index: an element of a list, tuple or dictionary. */
TsValue ts_index (TsProgram *program, TsValue base, TsValue index);

/* Python's own functions (builtins.c). */

/** ts_builtin: calls int, float, getattr, annotate and the like; FALSE when @name is none of them. @args are not evaluated yet. */
gboolean ts_builtin (TsProgram *program, const char *name, const TsExpr *call, TsValue *result);
/** ts_eval: an expression in the function that runs. */
TsValue ts_eval (TsProgram *program, const TsExpr *expr);

/* Operators (schema.c). */

/** ts_run_op: operator @name, "aten::add". */
TsValue ts_run_op (TsProgram *program, const char *name, const TsValue *args, const char *const *keywords, guint n);

#endif
