/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The code of a TorchScript archive while it is run once, at load: its files of code/, their names,
 * and the function that runs. The operators that it calls build the graph (models/aten/). Values
 * that depend only on shapes and constants are computed; values that depend on the picture become
 * nodes.
 */
#pragma once

#include "models/aten/ops.h"
#include "models/torchscript/ast.h"

/** Most statements and expressions evaluated, and most calls inside each other. */
#define TS_MAX_STEPS 10000000
#define TS_MAX_CALLS 200

/** TsReadCode: (nullable) (transfer full): the text of member @path of the archive,
 * "code/__torch__/a.py"; NULL without an error when there is none. */
typedef GBytes *(*TsReadCode) (gpointer archive, const char *path, GError **error);

typedef struct _TsFrame TsFrame;

/**
 * TsCode:
 * @constants: (nullable): of constants.pkl, which the code calls CONSTANTS.c0 and so on
 * @units: path -> TsUnit; files are parsed when something of them is first needed
 */
typedef struct
{
  const TsList *constants;
  TsReadCode read_code;
  gpointer archive;
  GHashTable *units;
  TsFrame *frame;
  guint calls, nesting;
} TsCode;

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

/** ts_code_init: @code runs @program and must outlive it, as must @archive. */
void ts_code_init (TsCode *code, TsProgram *program, TsReadCode read_code, gpointer archive);
void ts_code_clear (TsCode *code);
/** ts_code: (transfer none): what runs @program. */
static inline TsCode *
ts_code (const TsProgram *program)
{
  return program->reader;
}

/* Names (code.c). */

/** ts_find_class: (nullable): class @name, "__torch__.a.B"; the error is set when there is none. */
const TsClass *ts_find_class (TsProgram *program, const char *name, const TsUnit **unit);
/** ts_find_global: what a dotted name from __torch__ on stands for: a function. */
TsValue ts_find_global (TsProgram *program, const char *name);
/** ts_get_attribute: of an object: an attribute, a method, or a value of its class; of a tuple with
 * names an element. */
TsValue ts_get_attribute (TsProgram *program, TsValue base, const char *name);
/** ts_has_attribute: whether ts_get_attribute() would find it. */
gboolean ts_has_attribute (TsProgram *program, TsValue base, const char *name);

/* Running (interpret.c). */

/** ts_call: a function with @args and, where @keywords is not NULL, a name for each that has one.
 */
TsValue ts_call (TsProgram *program, const TsFunction *function, const TsValue *args,
                 const char *const *keywords, guint n);
/** ts_evaluate: an expression without variables: defaults, values of classes. */
TsValue ts_evaluate (TsProgram *program, const TsUnit *unit, const TsExpr *expr);

/* Python's own functions (builtins.c). */

/** ts_builtin: calls int, float, getattr, annotate and the like; FALSE when @name is none of them.
 * @args are not evaluated yet. */
gboolean ts_builtin (TsProgram *program, const char *name, const TsExpr *call, TsValue *result);
/** ts_eval: an expression in the function that runs. */
TsValue ts_eval (TsProgram *program, const TsExpr *expr);

/* Rows whose bodies are code (composite.c). */

/** ts_run_body: a TsRunBody. */
TsValue ts_run_body (TsProgram *program, const TsCall *call);
