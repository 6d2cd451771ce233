/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The syntax tree of a file of code/: functions and classes, statements, expressions. Everything is
 * in one arena. Types in annotations are expressions, too.
 */
#pragma once

#include <glib.h>

#include "core/graph/arena.h"

typedef enum
{
  TS_EXPR_NONE,
  TS_EXPR_TRUE,
  TS_EXPR_FALSE,
  TS_EXPR_INT,
  TS_EXPR_FLOAT,
  TS_EXPR_STRING,
  TS_EXPR_NAME,   /* of a variable */
  TS_EXPR_GLOBAL, /* a dotted name from torch, ops, __torch__, CONSTANTS or math on */
  TS_EXPR_NEGATE,
  TS_EXPR_ATTRIBUTE,
  TS_EXPR_SUBSCRIPT,
  TS_EXPR_CALL,
  TS_EXPR_TUPLE,
  TS_EXPR_LIST,
  TS_EXPR_DICT
} TsExprKind;

typedef struct _TsExpr TsExpr;
typedef struct _TsStmt TsStmt;

/**
 * TsExpr:
 * @text: a name, an attribute's name, a string's text
 * @base: what is called, indexed, negated, or has the attribute
 * @items: arguments, elements, indices; of dictionaries a key and its value by turns
 * @keywords: (nullable): one for each argument of a call, NULL in it for positional ones
 */
struct _TsExpr
{
  TsExprKind kind;
  guint line, n;
  const char *text;
  gint64 whole;
  gdouble real;
  const TsExpr *base;
  const TsExpr **items;
  const char **keywords;
};

typedef struct
{
  const TsStmt **items;
  guint n;
} TsBlock;

typedef enum
{
  TS_STMT_ASSIGN,
  TS_STMT_RETURN,
  TS_STMT_EXPR,
  TS_STMT_IF,
  TS_STMT_FOR,
  TS_STMT_WHILE,
  TS_STMT_PASS
} TsStmtKind;

/**
 * TsStmt:
 * @target: (nullable): of an assignment or a loop: a name, an attribute, a subscript or a tuple of
 * them
 * @value: (nullable): what is assigned, returned, evaluated, tested or iterated over
 */
struct _TsStmt
{
  TsStmtKind kind;
  guint line;
  const TsExpr *target, *value;
  TsBlock body, otherwise;
};

/** @fallback: (nullable): the argument's default */
typedef struct
{
  const char *name;
  const TsExpr *type, *fallback;
} TsParameter;

/** @name: within its file. */
typedef struct
{
  const char *name;
  guint line, n;
  const TsParameter *parameters;
  TsBlock body;
} TsDef;

/** @fields: what the class declares: attributes in order, and values that belong to the class where
 * they have one. */
typedef struct
{
  const char *name, *base;
  guint line, n_methods, n_fields;
  const TsDef **methods;
  const TsParameter *fields;
} TsClass;

/** @text: for messages; @is_built_in: not the model's own, so no message is about it */
typedef struct
{
  const char *name;
  const char *text;
  gsize length;
  GHashTable *functions; /* name -> TsDef * */
  GHashTable *classes;   /* name -> TsClass * */
  gboolean is_built_in;
} TsUnit;

/** ts_parse: (nullable): a file of code/, @name its path in the archive; @text is copied. What is
 * not of the subset is SL_ERROR_FORMAT with file and line. Free with ts_unit_free(); the arena has
 * the rest. */
TsUnit *ts_parse (const char *name, const char *text, gsize length, SlArena *arena, GError **error);
void ts_unit_free (TsUnit *unit);
/** ts_unit_line: (transfer full): line @number of the text, cut to what a message can show. */
char *ts_unit_line (const TsUnit *unit, guint number);
/** ts_class_method: (nullable): */
const TsDef *ts_class_method (const TsClass *type, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TsUnit, ts_unit_free)
