/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the program: statements and expressions of the function that was called, with its variables.
 * Every statement and expression is a step; steps, calls and nesting are limited, so no program
 * runs for long or deep.
 */
#include <math.h>
#include <string.h>

#include "core/base/name_hash.h"
#include "models/torchscript/code.h"

/* Frames of the interpreter itself inside each other: a few for each call and each nested
 * expression. */
#define MAX_NESTING 2400
/* Arguments of a call that lie on the stack. */
#define FEW_ARGUMENTS 8
/* Where torchvision has its functions; the same names elsewhere are the user's own. */
#define ROI_HEADS "code/__torch__/torchvision/models/detection/roi_heads.py"

/** TsFrame: a function that runs. @returned: it has its @result. */
struct _TsFrame
{
  TsFrame *outer; /* (nullable) */
  const TsUnit *unit;
  GHashTable *names; /* name -> index into @values, plus 1 */
  GArray *values;    /* of TsValue */
  gboolean returned;
  TsValue result;
};

static void run_block (TsProgram *program, const TsBlock *block);

/* FALSE after an error, and when this step is one too many. */
static gboolean
step (TsProgram *program)
{
  if (ts_failed (program))
    return FALSE;
  if (++program->steps > TS_MAX_STEPS)
    ts_fail (program->heap, SL_ERROR_LIMIT,
             "its code takes more than %d steps; loops must have an end", TS_MAX_STEPS);
  else if (ts_code (program)->nesting >= MAX_NESTING)
    ts_fail (program->heap, SL_ERROR_LIMIT, "its code is nested too deeply");
  return !ts_failed (program);
}

/* Says once where the first error happened: the innermost statement. */
static void
locate (TsProgram *program, const TsStmt *stmt)
{
  if (!ts_failed (program) || program->located || ts_code (program)->frame->unit->is_built_in)
    return;
  program->located = TRUE;
  g_autofree char *line = ts_unit_line (ts_code (program)->frame->unit, stmt->line);
  GError **error = program->heap->error != NULL ? &program->heap->error : &program->lower.error;
  g_prefix_error (error, "%s:%u: '%s': ", ts_code (program)->frame->unit->name, stmt->line, line);
}

static TsValue *
variable (const TsFrame *frame, const char *name)
{
  const guint index = GPOINTER_TO_UINT (g_hash_table_lookup (frame->names, name));
  return index > 0 ? &g_array_index (frame->values, TsValue, index - 1) : NULL;
}

static void
set_variable (TsFrame *frame, const char *name, TsValue value)
{
  TsValue *known = variable (frame, name);
  if (known != NULL) {
    *known = value;
    return;
  }
  g_array_append_val (frame->values, value);
  g_hash_table_insert (frame->names, (gpointer) name, GUINT_TO_POINTER (frame->values->len));
}

static TsValue
global (TsProgram *program, const char *name)
{
  guint64 index = 0;
  if (g_str_has_prefix (name, "CONSTANTS.c")) {
    const guint n = ts_code (program)->constants != NULL ? ts_code (program)->constants->n : 0;
    if (g_ascii_string_to_unsigned (name + strlen ("CONSTANTS.c"), 10, 0, G_MAXUINT32, &index, NULL)
        && index < n)
      return ts_code (program)->constants->items[index];
    return ts_refuse (program, SL_ERROR_FORMAT, "%s is not among the %u constants of the archive",
                      name, n);
  }
  if (strcmp (name, "math.inf") == 0 || strcmp (name, "torch.inf") == 0)
    return ts_float ((gdouble) INFINITY);
  if (strcmp (name, "math.nan") == 0 || strcmp (name, "torch.nan") == 0)
    return ts_float ((gdouble) NAN);
  if (strcmp (name, "math.pi") == 0)
    return ts_float (G_PI);
  return ts_find_global (program, name);
}

static TsValue
eval_items (TsProgram *program, const TsExpr *expr)
{
  TsValue list = ts_list (program->heap);
  for (guint i = 0; i < expr->n && !ts_failed (program); i++)
    ts_list_append (program->heap, list.list, ts_eval (program, expr->items[i]));
  if (expr->kind == TS_EXPR_TUPLE && !ts_failed (program))
    list.kind = TS_TUPLE;
  return list;
}

static TsValue
eval_dict (TsProgram *program, const TsExpr *expr)
{
  const TsValue dict = ts_dict (program->heap);
  for (guint i = 0; i + 1 < expr->n && !ts_failed (program); i += 2) {
    const TsValue key = ts_eval (program, expr->items[i]),
                  value = ts_eval (program, expr->items[i + 1]);
    if (!ts_failed (program))
      ts_dict_set (program->heap, dict.dict, key, value);
  }
  return dict;
}

/* "aten::add" for torch.add, "quantized::conv2d" for ops.quantized.conv2d; NULL for another name.
 */
static const char *
operator_name (TsProgram *program, const char *global_name)
{
  const gboolean torch = g_str_has_prefix (global_name, "torch.");
  if (!torch && !g_str_has_prefix (global_name, "ops."))
    return NULL;
  const char *rest = strchr (global_name, '.') + 1, *dot = strchr (rest, '.');
  if (!torch && dot == NULL)
    return NULL;
  g_autofree char *name = torch ? g_strdup_printf ("aten::%s", rest)
                                : g_strdup_printf ("%.*s::%s", (int) (dot - rest), rest, dot + 1);
  return ts_text (program->heap, name, strlen (name));
}

static TsValue
eval_call (TsProgram *program, const TsExpr *expr)
{
  TsValue few[FEW_ARGUMENTS], result = ts_none ();
  const char *op =
    expr->base->kind == TS_EXPR_GLOBAL ? operator_name (program, expr->base->text) : NULL;
  if (expr->base->kind == TS_EXPR_NAME
      && variable (ts_code (program)->frame, expr->base->text) == NULL
      && ts_builtin (program, expr->base->text, expr, &result))
    return result;
  g_autofree TsValue *many = expr->n > FEW_ARGUMENTS ? g_new (TsValue, expr->n) : NULL;
  TsValue *args = many != NULL ? many : few;
  const TsValue callee = op == NULL ? ts_eval (program, expr->base) : ts_none ();
  for (guint i = 0; i < expr->n; i++)
    args[i] = ts_eval (program, expr->items[i]);
  if (ts_failed (program))
    return ts_none ();
  if (op != NULL)
    return ts_run_op (program, op, args, expr->keywords, expr->n);
  if (callee.kind == TS_FUNCTION)
    return ts_call (program, callee.function, args, expr->keywords, expr->n);
  if (callee.kind != TS_OBJECT)
    return ts_refuse (program, SL_ERROR_FORMAT, "a value of type %s is called",
                      ts_kind_name (callee.kind));
  const TsValue forward = ts_get_attribute (program, callee, "forward");
  return forward.kind == TS_FUNCTION
           ? ts_call (program, forward.function, args, expr->keywords, expr->n)
           : ts_none ();
}

static TsValue
eval_name (TsProgram *program, const char *name)
{
  const TsValue *value = variable (ts_code (program)->frame, name);
  if (value == NULL && (strcmp (name, "inf") == 0 || strcmp (name, "nan") == 0))
    return ts_float (name[0] == 'i' ? (gdouble) INFINITY : (gdouble) NAN);
  return value != NULL ? *value
                       : ts_refuse (program, SL_ERROR_FORMAT, "nothing is called '%s' here", name);
}

static TsValue
negate (TsProgram *program, TsValue value)
{
  if (value.kind == TS_INT)
    return ts_int (value.number == G_MININT64 ? value.number : -value.number);
  if (value.kind == TS_FLOAT)
    return ts_float (-value.real);
  return ts_run_op (program, "aten::neg", &value, NULL, 1);
}

static TsValue
eval_inner (TsProgram *program, const TsExpr *expr)
{
  TsValue base;
  switch (expr->kind) {
    case TS_EXPR_TRUE:
    case TS_EXPR_FALSE:
      return ts_bool (expr->kind == TS_EXPR_TRUE);
    case TS_EXPR_INT:
      return ts_int (expr->whole);
    case TS_EXPR_FLOAT:
      return ts_float (expr->real);
    case TS_EXPR_STRING:
      return (TsValue){ .kind = TS_STRING, .text = expr->text };
    case TS_EXPR_NAME:
      return eval_name (program, expr->text);
    case TS_EXPR_GLOBAL:
      return global (program, expr->text);
    case TS_EXPR_NEGATE:
      return negate (program, ts_eval (program, expr->base));
    case TS_EXPR_ATTRIBUTE:
      base = ts_eval (program, expr->base);
      return ts_get_attribute (program, base, expr->text);
    case TS_EXPR_SUBSCRIPT:
      base = ts_eval (program, expr->base);
      if (expr->n != 1)
        return ts_refuse (program, SL_ERROR_FORMAT, "%u indices; expected 1", expr->n);
      return ts_index (program, base, ts_eval (program, expr->items[0]));
    case TS_EXPR_CALL:
      return eval_call (program, expr);
    case TS_EXPR_TUPLE:
    case TS_EXPR_LIST:
      return eval_items (program, expr);
    case TS_EXPR_DICT:
      return eval_dict (program, expr);
    default:
      return ts_none ();
  }
}

TsValue
ts_eval (TsProgram *program, const TsExpr *expr)
{
  if (!step (program))
    return ts_none ();
  ts_code (program)->nesting++;
  const TsValue value = eval_inner (program, expr);
  ts_code (program)->nesting--;
  return ts_failed (program) ? ts_none () : value;
}

static void
assign (TsProgram *program, const TsExpr *target, TsValue value)
{
  if (ts_failed (program))
    return;
  if (target->kind == TS_EXPR_NAME) {
    set_variable (ts_code (program)->frame, target->text, value);
  } else if (target->kind == TS_EXPR_TUPLE) {
    if ((value.kind != TS_TUPLE && value.kind != TS_LIST) || value.list->n != target->n) {
      ts_refuse (program, SL_ERROR_FORMAT, "%u names for a value of type %s with %u elements",
                 target->n, ts_kind_name (value.kind),
                 value.kind == TS_TUPLE || value.kind == TS_LIST ? value.list->n : 1);
      return;
    }
    for (guint i = 0; i < target->n; i++)
      assign (program, target->items[i], value.list->items[i]);
  } else {
    const TsValue base = ts_eval (program, target->base);
    if (target->kind == TS_EXPR_ATTRIBUTE && base.kind == TS_OBJECT) {
      ts_set_attribute (program->heap, base.object, target->text, value);
    } else if (target->kind == TS_EXPR_SUBSCRIPT && target->n == 1) {
      const TsValue args[] = { base, ts_eval (program, target->items[0]), value };
      ts_run_op (program, "aten::_set_item", args, NULL, 3);
    } else {
      ts_refuse (program, SL_ERROR_FORMAT, "a value of type %s has no attributes to set",
                 ts_kind_name (base.kind));
    }
  }
}

static void
run_for (TsProgram *program, const TsStmt *stmt)
{
  const TsValue over = ts_eval (program, stmt->value);
  if (ts_failed (program))
    return;
  if (over.kind != TS_INT && over.kind != TS_LIST && over.kind != TS_TUPLE) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "a loop over a value of type %s",
               ts_kind_name (over.kind));
    return;
  }
  const gint64 n = over.kind == TS_INT ? over.number : over.list->n;
  for (gint64 i = 0; i < n && !ts_code (program)->frame->returned && step (program); i++) {
    assign (program, stmt->target,
            over.kind == TS_INT ? ts_int (i)
            : i < over.list->n  ? over.list->items[i]
                                : ts_none ());
    run_block (program, &stmt->body);
  }
}

static void
run_stmt (TsProgram *program, const TsStmt *stmt)
{
  TsFrame *frame = ts_code (program)->frame;
  switch (stmt->kind) {
    case TS_STMT_PASS:
      break;
    case TS_STMT_EXPR:
      ts_eval (program, stmt->value);
      break;
    case TS_STMT_ASSIGN:
      assign (program, stmt->target, ts_eval (program, stmt->value));
      break;
    case TS_STMT_RETURN:
      frame->result = stmt->value != NULL ? ts_eval (program, stmt->value) : ts_none ();
      frame->returned = TRUE;
      break;
    case TS_STMT_IF:
      run_block (program, ts_truth (program, ts_eval (program, stmt->value)) ? &stmt->body
                                                                             : &stmt->otherwise);
      break;
    case TS_STMT_WHILE:
      while (!frame->returned && step (program)
             && ts_truth (program, ts_eval (program, stmt->value)))
        run_block (program, &stmt->body);
      break;
    case TS_STMT_FOR:
      run_for (program, stmt);
      break;
  }
}

static void
run_block (TsProgram *program, const TsBlock *block)
{
  ts_code (program)->nesting++;
  for (guint i = 0; i < block->n && !ts_code (program)->frame->returned && step (program); i++) {
    run_stmt (program, block->items[i]);
    locate (program, block->items[i]);
  }
  ts_code (program)->nesting--;
}

/* Arguments by place and by name; defaults for the rest. */
static void
bind (TsProgram *program, const TsFunction *function, const TsValue *args,
      const char *const *keywords, guint n)
{
  const TsDef *def = function->def;
  guint next = 0;
  TsFrame *frame = ts_code (program)->frame;
  if (function->is_bound && def->n > 0)
    set_variable (frame, def->parameters[next++].name, function->self);
  for (guint i = 0; i < n; i++) {
    const char *name = keywords != NULL ? keywords[i] : NULL;
    if (name == NULL && next >= def->n) {
      ts_refuse (program, SL_ERROR_FORMAT, "%s() gets %u arguments; expected at most %u", def->name,
                 n, def->n);
      return;
    }
    set_variable (frame, name != NULL ? name : def->parameters[next++].name, args[i]);
  }
  for (guint i = 0; i < def->n && !ts_failed (program); i++) {
    const TsParameter *parameter = &def->parameters[i];
    if (variable (frame, parameter->name) != NULL)
      continue;
    if (parameter->fallback == NULL)
      ts_refuse (program, SL_ERROR_FORMAT, "%s() gets no '%s'", def->name, parameter->name);
    else
      set_variable (frame, parameter->name, ts_eval (program, parameter->fallback));
  }
}

static void
push (TsProgram *program, TsFrame *frame, const TsUnit *unit)
{
  *frame = (TsFrame){ .outer = ts_code (program)->frame,
                      .unit = unit,
                      .names = g_hash_table_new (sl_name_hash, g_str_equal),
                      .values = g_array_new (FALSE, FALSE, sizeof (TsValue)) };
  ts_code (program)->frame = frame;
}

static void
pop (TsProgram *program)
{
  TsFrame *frame = ts_code (program)->frame;
  ts_code (program)->frame = frame->outer;
  g_hash_table_unref (frame->names);
  g_array_unref (frame->values);
}

/* A new object, whose __init__() sets its attributes; of a named tuple a tuple. */
static TsValue
construct (TsProgram *program, const TsFunction *function, const TsValue *args,
           const char *const *keywords, guint n)
{
  const TsClass *type = function->type;
  if (strcmp (type->base, "NamedTuple") == 0)
    return ts_tuple (program->heap, args, n);
  const TsValue object = ts_object (program->heap, function->class_name);
  const TsDef *init = ts_class_method (type, "__init__");
  if (init == NULL || function->is_bare || ts_failed (program))
    return object;
  const TsFunction method = {
    .unit = function->unit, .def = init, .is_bound = TRUE, .self = object
  };
  ts_call (program, &method, args, keywords, n);
  return object;
}

/* (nullable): the operator that does what torchvision's @function does, where its own steps depend
 * on the picture. */
static const char *
known_function (const TsFunction *function)
{
  const TsDef *def = function->def;
  static const char *const names[] = { "paste_masks_in_image", "_onnx_paste_masks_in_image_loop",
                                       "heatmaps_to_keypoints",
                                       "_onnx_heatmaps_to_keypoints_loop" };
  static const char *const ops[] = { "torchvision::paste_masks_in_image",
                                     "torchvision::_onnx_paste_masks_in_image_loop",
                                     "torchvision::heatmaps_to_keypoints",
                                     "torchvision::_onnx_heatmaps_to_keypoints_loop" };
  for (guint i = 0; i < G_N_ELEMENTS (names) && strcmp (function->unit->name, ROI_HEADS) == 0; i++)
    if (strcmp (def->name, names[i]) == 0 && def->n >= 2
        && strcmp (def->parameters[0].name, i < 2 ? "masks" : "maps") == 0)
      return ops[i];
  return NULL;
}

TsValue
ts_call (TsProgram *program, const TsFunction *function, const TsValue *args,
         const char *const *keywords, guint n)
{
  TsFrame frame;
  const char *op = program->op;
  if (!step (program))
    return ts_none ();
  program->op = NULL;
  if (function->def == NULL) {
    const TsValue object = construct (program, function, args, keywords, n);
    program->op = op;
    return object;
  }
  if (known_function (function) != NULL)
    return ts_run_op (program, known_function (function), args, keywords, n);
  if (++ts_code (program)->calls > TS_MAX_CALLS)
    ts_refuse (program, SL_ERROR_LIMIT, "its functions call each other more than %d deep",
               TS_MAX_CALLS);
  push (program, &frame, function->unit);
  bind (program, function, args, keywords, n);
  run_block (program, &function->def->body);
  pop (program);
  ts_code (program)->calls--;
  program->op = op;
  return ts_failed (program) ? ts_none () : frame.result;
}

TsValue
ts_evaluate (TsProgram *program, const TsUnit *unit, const TsExpr *expr)
{
  TsFrame frame;
  push (program, &frame, unit);
  const TsValue value = ts_eval (program, expr);
  pop (program);
  return value;
}
