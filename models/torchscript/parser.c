/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recursive descent over the Python that torch.jit writes: class, def, if/else, for, while, return,
 * pass, assignments and calls. Depth and the number of nodes are limited, so the memory is a small
 * multiple of the text's size.
 */
#include <string.h>

#include "core/base/name_hash.h"
#include "models/torchscript/ast.h"
#include "models/torchscript/lexer.h"

#define MAX_DEPTH 200
#define MAX_NODES (1 << 20)
#define LINE_SHOWN 160

typedef struct
{
  TsLexer lexer;
  SlArena *arena;
  guint depth, nodes;
} Parser;

static const TsExpr *parse_expr (Parser *parser);
static void parse_block (Parser *parser, TsBlock *block);

static gboolean
is_mark (const Parser *parser, const char *mark)
{
  return ts_lexer_is (&parser->lexer, TS_TOKEN_MARK, mark);
}

static gboolean
is_word (const Parser *parser, const char *word)
{
  return ts_lexer_is (&parser->lexer, TS_TOKEN_NAME, word);
}

static gboolean
accept_mark (Parser *parser, const char *mark)
{
  if (!is_mark (parser, mark))
    return FALSE;
  ts_lexer_next (&parser->lexer);
  return TRUE;
}

static void
expect_mark (Parser *parser, const char *mark)
{
  if (!accept_mark (parser, mark))
    ts_lexer_fail (&parser->lexer, "expected '%s', got '%s'", mark, parser->lexer.token.text);
}

static const char *
expect_name (Parser *parser)
{
  const char *name = parser->lexer.token.text;
  if (parser->lexer.token.kind != TS_TOKEN_NAME) {
    ts_lexer_fail (&parser->lexer, "expected a name, got '%s'", name);
    return "";
  }
  ts_lexer_next (&parser->lexer);
  return name;
}

static void
skip_newline (Parser *parser)
{
  if (parser->lexer.token.kind == TS_TOKEN_NEWLINE)
    ts_lexer_next (&parser->lexer);
  else if (parser->lexer.token.kind != TS_TOKEN_END)
    ts_lexer_fail (&parser->lexer, "expected the end of the line, got '%s'",
                   parser->lexer.token.text);
}

static gboolean
enter (Parser *parser)
{
  if (parser->depth++ < MAX_DEPTH && parser->nodes++ < MAX_NODES)
    return TRUE;
  ts_lexer_fail (&parser->lexer,
                 parser->depth > MAX_DEPTH ? "nested more than %d deep"
                                           : "more than %d expressions and statements",
                 parser->depth > MAX_DEPTH ? MAX_DEPTH : MAX_NODES);
  return FALSE;
}

static TsExpr *
new_expr (Parser *parser, TsExprKind kind)
{
  TsExpr *expr = sl_arena_alloc (parser->arena, sizeof *expr);
  expr->kind = kind;
  expr->line = parser->lexer.token.line;
  expr->text = "";
  return expr;
}

static void
set_items (Parser *parser, TsExpr *expr, const GPtrArray *items)
{
  expr->n = items->len;
  if (items->len > 0)
    expr->items = sl_arena_memdup (parser->arena, items->pdata, items->len * sizeof (gpointer));
}

/* Expressions up to the mark @end, with ',' between. @keywords, when not NULL, takes a name or NULL
 * for each. *@commas counts. */
static void
parse_list (Parser *parser, const char *end, GPtrArray *items, GPtrArray *keywords, guint *commas)
{
  while (parser->lexer.error == NULL && !is_mark (parser, end)) {
    const char *keyword = NULL;
    const TsExpr *item = parse_expr (parser);
    if (keywords != NULL && item != NULL && item->kind == TS_EXPR_NAME
        && accept_mark (parser, "=")) {
      keyword = item->text;
      item = parse_expr (parser);
    }
    g_ptr_array_add (items, (gpointer) item);
    if (keywords != NULL)
      g_ptr_array_add (keywords, (gpointer) keyword);
    if (!accept_mark (parser, ","))
      break;
    ++*commas;
  }
  expect_mark (parser, end);
}

static const TsExpr *
parse_dict (Parser *parser)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new ();
  TsExpr *expr = new_expr (parser, TS_EXPR_DICT);
  expect_mark (parser, "{");
  while (parser->lexer.error == NULL && !is_mark (parser, "}")) {
    g_ptr_array_add (items, (gpointer) parse_expr (parser));
    expect_mark (parser, ":");
    g_ptr_array_add (items, (gpointer) parse_expr (parser));
    if (!accept_mark (parser, ","))
      break;
  }
  expect_mark (parser, "}");
  set_items (parser, expr, items);
  return expr;
}

/* '(' begins a tuple, or an expression in brackets when there is one without a comma. */
static const TsExpr *
parse_brackets (Parser *parser, TsExprKind kind, const char *end)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new ();
  guint commas = 0;
  TsExpr *expr = new_expr (parser, kind);
  ts_lexer_next (&parser->lexer);
  parse_list (parser, end, items, NULL, &commas);
  if (kind == TS_EXPR_TUPLE && items->len == 1 && commas == 0)
    return items->pdata[0];
  set_items (parser, expr, items);
  return expr;
}

static const TsExpr *
parse_word (Parser *parser)
{
  static const struct
  {
    const char *word;
    TsExprKind kind;
  } words[] = {
    { "None", TS_EXPR_NONE },        { "True", TS_EXPR_TRUE },   { "False", TS_EXPR_FALSE },
    { "torch", TS_EXPR_GLOBAL },     { "ops", TS_EXPR_GLOBAL },  { "__torch__", TS_EXPR_GLOBAL },
    { "CONSTANTS", TS_EXPR_GLOBAL }, { "math", TS_EXPR_GLOBAL },
  };
  TsExpr *expr = new_expr (parser, TS_EXPR_NAME);
  expr->text = expect_name (parser);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (expr->text, words[i].word) == 0)
      expr->kind = words[i].kind;
  if (expr->kind != TS_EXPR_GLOBAL || !is_mark (parser, "."))
    return expr;
  g_autoptr (GString) path = g_string_new (expr->text);
  while (accept_mark (parser, "."))
    g_string_append_printf (path, ".%s", expect_name (parser));
  expr->text = sl_arena_strdup (parser->arena, path->str);
  return expr;
}

static const TsExpr *
parse_atom (Parser *parser)
{
  const TsToken *token = &parser->lexer.token;
  if (token->kind == TS_TOKEN_NAME)
    return parse_word (parser);
  if (is_mark (parser, "("))
    return parse_brackets (parser, TS_EXPR_TUPLE, ")");
  if (is_mark (parser, "["))
    return parse_brackets (parser, TS_EXPR_LIST, "]");
  if (is_mark (parser, "{"))
    return parse_dict (parser);
  if (token->kind != TS_TOKEN_INT && token->kind != TS_TOKEN_FLOAT
      && token->kind != TS_TOKEN_STRING) {
    ts_lexer_fail (&parser->lexer, "expected an expression, got '%s'", token->text);
    return new_expr (parser, TS_EXPR_NONE);
  }
  TsExpr *expr = new_expr (parser, token->kind == TS_TOKEN_INT     ? TS_EXPR_INT
                                   : token->kind == TS_TOKEN_FLOAT ? TS_EXPR_FLOAT
                                                                   : TS_EXPR_STRING);
  expr->whole = token->whole;
  expr->real = token->real;
  expr->text = token->text;
  ts_lexer_next (&parser->lexer);
  return expr;
}

static const TsExpr *
parse_call (Parser *parser, const TsExpr *base)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new (), keywords = g_ptr_array_new ();
  guint commas = 0;
  gboolean any = FALSE;
  TsExpr *expr = new_expr (parser, TS_EXPR_CALL);
  expr->base = base;
  ts_lexer_next (&parser->lexer);
  parse_list (parser, ")", items, keywords, &commas);
  set_items (parser, expr, items);
  for (guint i = 0; i < keywords->len; i++)
    any |= keywords->pdata[i] != NULL;
  if (any)
    expr->keywords =
      sl_arena_memdup (parser->arena, keywords->pdata, keywords->len * sizeof (gpointer));
  return expr;
}

static const TsExpr *
parse_postfix (Parser *parser)
{
  const TsExpr *expr = parse_atom (parser);
  for (guint chained = 0; parser->lexer.error == NULL; chained++) {
    TsExpr *outer;
    if (is_mark (parser, "(")) {
      expr = parse_call (parser, expr);
    } else if (is_mark (parser, "[")) {
      outer = (TsExpr *) parse_brackets (parser, TS_EXPR_SUBSCRIPT, "]");
      outer->base = expr;
      expr = outer;
    } else if (accept_mark (parser, ".")) {
      outer = new_expr (parser, TS_EXPR_ATTRIBUTE);
      outer->base = expr;
      outer->text = expect_name (parser);
      expr = outer;
    } else {
      break;
    }
    if (chained >= MAX_DEPTH)
      ts_lexer_fail (&parser->lexer, "more than %d calls, attributes and indices in one chain",
                     MAX_DEPTH);
  }
  return expr;
}

static const TsExpr *
parse_expr (Parser *parser)
{
  const TsExpr *expr = NULL;
  if (!enter (parser)) {
    expr = new_expr (parser, TS_EXPR_NONE);
  } else if (is_mark (parser, "-")) {
    TsExpr *negated = new_expr (parser, TS_EXPR_NEGATE);
    ts_lexer_next (&parser->lexer);
    negated->base = parse_expr (parser);
    expr = negated;
  } else if (is_mark (parser, "...")) {
    expr = new_expr (parser, TS_EXPR_NONE);
    ts_lexer_next (&parser->lexer);
  } else {
    expr = parse_postfix (parser);
  }
  parser->depth--;
  return expr;
}

/* One expression, or several with ',' between, which are a tuple: "a, b, = ...", "return a, b". */
static const TsExpr *
parse_tuple (Parser *parser)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new ();
  const TsExpr *first = parse_expr (parser);
  if (!is_mark (parser, ","))
    return first;
  TsExpr *expr = new_expr (parser, TS_EXPR_TUPLE);
  g_ptr_array_add (items, (gpointer) first);
  while (accept_mark (parser, ",") && !is_mark (parser, "=")
         && parser->lexer.token.kind != TS_TOKEN_NEWLINE && !is_word (parser, "in"))
    g_ptr_array_add (items, (gpointer) parse_expr (parser));
  set_items (parser, expr, items);
  return expr;
}

static gboolean
is_target (const TsExpr *expr)
{
  if (expr->kind == TS_EXPR_NAME || expr->kind == TS_EXPR_ATTRIBUTE
      || expr->kind == TS_EXPR_SUBSCRIPT)
    return TRUE;
  if (expr->kind != TS_EXPR_TUPLE)
    return FALSE;
  for (guint i = 0; i < expr->n; i++)
    if (!is_target (expr->items[i]))
      return FALSE;
  return TRUE;
}

static void
parse_simple (Parser *parser, TsStmt *stmt)
{
  const TsExpr *expr = parse_tuple (parser);
  stmt->kind = TS_STMT_EXPR;
  stmt->value = expr;
  if (accept_mark (parser, ":"))
    parse_expr (parser);
  if (accept_mark (parser, "=")) {
    if (!is_target (expr))
      ts_lexer_fail (&parser->lexer, "what stands left of '=' cannot be assigned to");
    stmt->kind = TS_STMT_ASSIGN;
    stmt->target = expr;
    stmt->value = parse_tuple (parser);
  }
  skip_newline (parser);
}

static void
parse_compound (Parser *parser, TsStmt *stmt)
{
  if (stmt->kind == TS_STMT_FOR) {
    stmt->target = parse_tuple (parser);
    if (!is_word (parser, "in") || !is_target (stmt->target))
      ts_lexer_fail (&parser->lexer, "expected 'for NAME in ...'");
    ts_lexer_next (&parser->lexer);
  }
  stmt->value = parse_expr (parser);
  parse_block (parser, &stmt->body);
  if (stmt->kind == TS_STMT_IF && is_word (parser, "else")) {
    ts_lexer_next (&parser->lexer);
    parse_block (parser, &stmt->otherwise);
  }
}

static const TsStmt *
parse_stmt (Parser *parser)
{
  static const struct
  {
    const char *word;
    TsStmtKind kind;
  } words[] = {
    { "if", TS_STMT_IF },         { "for", TS_STMT_FOR },   { "while", TS_STMT_WHILE },
    { "return", TS_STMT_RETURN }, { "pass", TS_STMT_PASS },
  };
  TsStmt *stmt = sl_arena_alloc (parser->arena, sizeof *stmt);
  stmt->line = parser->lexer.token.line;
  stmt->kind = TS_STMT_EXPR;
  if (!enter (parser))
    return stmt;
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (is_word (parser, words[i].word))
      stmt->kind = words[i].kind;
  if (stmt->kind != TS_STMT_EXPR)
    ts_lexer_next (&parser->lexer);
  if (stmt->kind == TS_STMT_EXPR) {
    parse_simple (parser, stmt);
  } else if (stmt->kind == TS_STMT_PASS || stmt->kind == TS_STMT_RETURN) {
    if (stmt->kind == TS_STMT_RETURN && parser->lexer.token.kind != TS_TOKEN_NEWLINE)
      stmt->value = parse_tuple (parser);
    skip_newline (parser);
  } else {
    parse_compound (parser, stmt);
  }
  parser->depth--;
  return stmt;
}

/* ':' and either one statement on the line or an indented block. */
static gboolean
open_block (Parser *parser)
{
  expect_mark (parser, ":");
  if (parser->lexer.token.kind != TS_TOKEN_NEWLINE)
    return FALSE;
  ts_lexer_next (&parser->lexer);
  if (parser->lexer.token.kind != TS_TOKEN_INDENT)
    ts_lexer_fail (&parser->lexer, "expected an indented block");
  ts_lexer_next (&parser->lexer);
  return TRUE;
}

/* Whether the block goes on; its end is taken. */
static gboolean
in_block (Parser *parser)
{
  if (parser->lexer.error != NULL || parser->lexer.token.kind == TS_TOKEN_END)
    return FALSE;
  if (parser->lexer.token.kind != TS_TOKEN_DEDENT)
    return TRUE;
  ts_lexer_next (&parser->lexer);
  return FALSE;
}

static void
parse_block (Parser *parser, TsBlock *block)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new ();
  if (!open_block (parser))
    g_ptr_array_add (items, (gpointer) parse_stmt (parser));
  else
    while (in_block (parser))
      g_ptr_array_add (items, (gpointer) parse_stmt (parser));
  block->n = items->len;
  if (items->len > 0)
    block->items = sl_arena_memdup (parser->arena, items->pdata, items->len * sizeof (gpointer));
}

static TsParameter
parse_parameter (Parser *parser)
{
  TsParameter parameter = { .name = expect_name (parser) };
  if (accept_mark (parser, ":"))
    parameter.type = parse_expr (parser);
  if (accept_mark (parser, "="))
    parameter.fallback = parse_expr (parser);
  return parameter;
}

static const TsDef *
parse_function (Parser *parser)
{
  g_autoptr (GArray) parameters = g_array_new (FALSE, FALSE, sizeof (TsParameter));
  TsDef *function = sl_arena_alloc (parser->arena, sizeof *function);
  ts_lexer_next (&parser->lexer);
  function->line = parser->lexer.token.line;
  function->name = expect_name (parser);
  expect_mark (parser, "(");
  while (parser->lexer.error == NULL && !is_mark (parser, ")")) {
    const TsParameter parameter = parse_parameter (parser);
    g_array_append_val (parameters, parameter);
    if (!accept_mark (parser, ","))
      break;
  }
  expect_mark (parser, ")");
  if (accept_mark (parser, "->"))
    parse_expr (parser);
  function->n = parameters->len;
  if (parameters->len > 0)
    function->parameters =
      sl_arena_memdup (parser->arena, parameters->data, parameters->len * sizeof (TsParameter));
  parse_block (parser, &function->body);
  return function;
}

/* "name : type", "name : type = value", "name = value"; assignments to entries of a dictionary say
 * nothing to us. */
static void
parse_field (Parser *parser, GArray *fields)
{
  const TsExpr *target = parse_postfix (parser);
  TsParameter field = { .name = target->kind == TS_EXPR_NAME ? target->text : "" };
  if (accept_mark (parser, ":"))
    field.type = parse_expr (parser);
  if (accept_mark (parser, "="))
    field.fallback = parse_tuple (parser);
  skip_newline (parser);
  if (field.name[0] != '\0')
    g_array_append_val (fields, field);
}

static const TsClass *
parse_class (Parser *parser)
{
  g_autoptr (GPtrArray) methods = g_ptr_array_new ();
  g_autoptr (GArray) fields = g_array_new (FALSE, FALSE, sizeof (TsParameter));
  TsClass *type = sl_arena_alloc (parser->arena, sizeof *type);
  ts_lexer_next (&parser->lexer);
  type->line = parser->lexer.token.line;
  type->name = expect_name (parser);
  type->base = "";
  if (accept_mark (parser, "(")) {
    if (!is_mark (parser, ")"))
      type->base = parse_expr (parser)->text;
    expect_mark (parser, ")");
  }
  if (!open_block (parser)) {
    parse_stmt (parser);
    return type;
  }
  while (in_block (parser)) {
    if (is_word (parser, "def"))
      g_ptr_array_add (methods, (gpointer) parse_function (parser));
    else if (is_word (parser, "pass"))
      parse_stmt (parser);
    else
      parse_field (parser, fields);
  }
  type->n_methods = methods->len;
  if (methods->len > 0)
    type->methods =
      sl_arena_memdup (parser->arena, methods->pdata, methods->len * sizeof (gpointer));
  type->n_fields = fields->len;
  if (fields->len > 0)
    type->fields =
      sl_arena_memdup (parser->arena, fields->data, fields->len * sizeof (TsParameter));
  return type;
}

TsUnit *
ts_parse (const char *name, const char *text, gsize length, SlArena *arena, GError **error)
{
  g_autoptr (TsUnit) unit = g_new0 (TsUnit, 1);
  Parser parser = { .arena = arena };
  unit->name = sl_arena_strdup (arena, name);
  unit->text = sl_arena_strndup (arena, text, length);
  unit->length = length;
  unit->functions = g_hash_table_new (sl_name_hash, g_str_equal);
  unit->classes = g_hash_table_new (sl_name_hash, g_str_equal);
  ts_lexer_init (&parser.lexer, unit->name, unit->text, length, arena);
  while (parser.lexer.token.kind != TS_TOKEN_END) {
    if (is_word (&parser, "class")) {
      const TsClass *type = parse_class (&parser);
      g_hash_table_insert (unit->classes, (gpointer) type->name, (gpointer) type);
    } else if (is_word (&parser, "def")) {
      const TsDef *function = parse_function (&parser);
      g_hash_table_insert (unit->functions, (gpointer) function->name, (gpointer) function);
    } else if (is_word (&parser, "import") || is_word (&parser, "op_version_set")) {
      while (parser.lexer.token.kind != TS_TOKEN_NEWLINE && parser.lexer.token.kind != TS_TOKEN_END)
        ts_lexer_next (&parser.lexer);
      skip_newline (&parser);
    } else {
      ts_lexer_fail (&parser.lexer, "expected 'class' or 'def', got '%s'", parser.lexer.token.text);
    }
  }
  if (parser.lexer.error == NULL)
    return g_steal_pointer (&unit);
  g_propagate_error (error, parser.lexer.error);
  return NULL;
}

void
ts_unit_free (TsUnit *unit)
{
  if (unit == NULL)
    return;
  g_hash_table_unref (unit->functions);
  g_hash_table_unref (unit->classes);
  g_free (unit);
}

char *
ts_unit_line (const TsUnit *unit, guint number)
{
  const char *p = unit->text, *end = unit->text + unit->length;
  for (guint line = 1; line < number && p < end; p++)
    line += *p == '\n';
  const char *stop = memchr (p, '\n', (gsize) (end - p));
  g_autofree char *line =
    g_strndup (p, MIN ((gsize) ((stop != NULL ? stop : end) - p), LINE_SHOWN));
  g_autofree char *valid = g_utf8_make_valid (g_strstrip (line), -1);
  for (char *c = valid; *c != '\0'; c++)
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  return g_steal_pointer (&valid);
}

const TsDef *
ts_class_method (const TsClass *type, const char *name)
{
  for (guint i = 0; i < type->n_methods; i++)
    if (strcmp (type->methods[i]->name, name) == 0)
      return type->methods[i];
  return NULL;
}
