/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/pt2/sizes.h"

#include <string.h>

#include "core/base/name_hash.h"
#include "core/base/prefix.h"

/* Expressions inside each other. */
#define MAX_DEPTH 40
#define MAX_NAME 64
/* Bytes of an expression in a message. */
#define MAX_SHOWN 200
#define FAR ((gint64) 1 << 40)
#define SYMBOL_LETTERS G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_"

/* factor * symbol + constant; @symbol: "" = it is a number; @good: FALSE = it is of no such form.
 */
typedef struct
{
  gboolean good;
  gint64 factor, constant;
  char symbol[MAX_NAME];
} Linear;

typedef struct
{
  const char *at;
  GHashTable *symbols; /* name -> gint64 *, of those that are known */
  guint depth;
} Expr;

static Linear parse_sum (Expr *e);

static Linear
number (gint64 value)
{
  return (Linear){ .good = value > -FAR && value < FAR, .constant = value };
}

static const Linear bad = { .good = FALSE };

static Linear
add (Linear a, Linear b, gint64 sign)
{
  Linear sum = a;
  if (!a.good || !b.good
      || (a.symbol[0] != '\0' && b.symbol[0] != '\0' && strcmp (a.symbol, b.symbol) != 0))
    return bad;
  if (b.symbol[0] != '\0')
    memcpy (sum.symbol, b.symbol, sizeof sum.symbol);
  sum.factor += sign * b.factor;
  sum.constant += sign * b.constant;
  if (sum.factor == 0)
    sum.symbol[0] = '\0';
  sum.good = ABS (sum.factor) < FAR && ABS (sum.constant) < FAR;
  return sum;
}

static Linear
multiply (Linear a, Linear b)
{
  gint64 product;
  if (!a.good || !b.good || (a.symbol[0] != '\0' && b.symbol[0] != '\0'))
    return bad;
  if (b.symbol[0] != '\0')
    return multiply (b, a);
  if (__builtin_mul_overflow (a.factor, b.constant, &product))
    return bad;
  a.factor = product;
  if (__builtin_mul_overflow (a.constant, b.constant, &product))
    return bad;
  a.constant = product;
  a.good = ABS (a.factor) < FAR && ABS (a.constant) < FAR;
  return a;
}

/* Of two numbers: floor division, remainder, largest, smallest. */
static Linear
combine (char op, Linear a, Linear b)
{
  if (!a.good || !b.good || a.symbol[0] != '\0' || b.symbol[0] != '\0')
    return bad;
  const gint64 x = a.constant, y = b.constant;
  if ((op == '/' || op == '%') && y <= 0)
    return bad;
  const gint64 floor = y > 0 ? (x - (x % y + y) % y) / y : 0;
  return number (op == '/'   ? floor
                 : op == '%' ? x - floor * y
                 : op == '>' ? MAX (x, y)
                             : MIN (x, y));
}

static void
skip_space (Expr *e)
{
  while (*e->at == ' ')
    e->at++;
}

static gboolean
take (Expr *e, const char *text)
{
  skip_space (e);
  if (!sl_has_prefix (e->at, text))
    return FALSE;
  e->at += strlen (text);
  return TRUE;
}

static Linear
symbol (const Expr *e, const char *name)
{
  const gint64 *known = g_hash_table_lookup (e->symbols, name);
  Linear result = { .good = TRUE, .factor = 1 };
  if (known != NULL)
    return number (*known);
  g_strlcpy (result.symbol, name, sizeof result.symbol);
  return result;
}

/* Symbol('s0', positive=True, integer=True) */
static Linear
parse_symbol_call (Expr *e)
{
  char name[MAX_NAME];
  if (!take (e, "'"))
    return bad;
  const gsize length = strcspn (e->at, "'");
  if (length == 0 || length >= sizeof name)
    return bad;
  g_strlcpy (name, e->at, length + 1);
  e->at += length + strcspn (e->at + length, ")");
  return take (e, ")") ? symbol (e, name) : bad;
}

/* Mul(a, b, ...) and the like; both ways in which torch writes expressions. */
static Linear
parse_call (Expr *e, const char *name)
{
  static const struct
  {
    const char *name;
    char op;
  } calls[] = { { "Integer", '=' },  { "Mul", '*' }, { "Add", '+' }, { "FloorDiv", '/' },
                { "CleanDiv", '/' }, { "Mod", '%' }, { "Max", '>' }, { "Min", '<' } };
  guint i = 0;
  if (strcmp (name, "Symbol") == 0)
    return parse_symbol_call (e);
  while (i < G_N_ELEMENTS (calls) && strcmp (calls[i].name, name) != 0)
    i++;
  if (i == G_N_ELEMENTS (calls))
    return bad;
  Linear result = parse_sum (e);
  while (result.good && take (e, ",")) {
    const Linear next = parse_sum (e);
    result = calls[i].op == '*'   ? multiply (result, next)
             : calls[i].op == '+' ? add (result, next, 1)
             : calls[i].op == '=' ? bad
                                  : combine (calls[i].op, result, next);
  }
  return result.good && take (e, ")") ? result : bad;
}

static Linear
parse_atom (Expr *e)
{
  char name[MAX_NAME];
  char *end = NULL;
  if (take (e, "(")) {
    const Linear inner = parse_sum (e);
    return inner.good && take (e, ")") ? inner : bad;
  }
  if (g_ascii_isdigit (*e->at)) {
    const gint64 value = g_ascii_strtoll (e->at, &end, 10);
    e->at = end;
    return number (value);
  }
  gsize length = 0;
  while (g_ascii_isalnum (e->at[length]) || e->at[length] == '_')
    length++;
  if (length == 0 || length >= sizeof name)
    return bad;
  g_strlcpy (name, e->at, length + 1);
  e->at += length;
  return take (e, "(") ? parse_call (e, name) : symbol (e, name);
}

/* Signs are counted: a recursion would be as deep as their number. */
static Linear
parse_signed (Expr *e)
{
  gint64 sign = 1;
  while (take (e, "-"))
    sign = -sign;
  return multiply (number (sign), parse_atom (e));
}

static Linear
parse_product (Expr *e)
{
  Linear result = parse_signed (e);
  while (result.good)
    if (sl_has_prefix (e->at, "**"))
      return bad;
    else if (take (e, "*"))
      result = multiply (result, parse_signed (e));
    else if (take (e, "//"))
      result = combine ('/', result, parse_signed (e));
    else
      break;
  return result;
}

static Linear
parse_sum (Expr *e)
{
  if (++e->depth > MAX_DEPTH)
    return bad;
  Linear result = parse_product (e);
  while (result.good)
    if (take (e, "+"))
      result = add (result, parse_product (e), 1);
    else if (take (e, "-"))
      result = add (result, parse_product (e), -1);
    else
      break;
  e->depth--;
  return result;
}

static Linear
evaluate (GHashTable *symbols, const char *text)
{
  Expr e = { .at = text, .symbols = symbols };
  const Linear result = parse_sum (&e);
  skip_space (&e);
  return *e.at == '\0' ? result : bad;
}

/* "32*s3", or the program's own text for what is not of such a form, unless it is long. */
static char *
describe (const char *text)
{
  g_autoptr (GHashTable) none = g_hash_table_new (sl_name_hash, g_str_equal);
  const Linear l = evaluate (none, text);
  if (!l.good)
    return g_strdup (strlen (text) <= MAX_SHOWN ? text : "...");
  g_autofree char *factor =
    l.factor == 1 ? g_strdup ("") : g_strdup_printf ("%" G_GINT64_FORMAT "*", l.factor);
  g_autofree char *plus =
    l.constant == 0 ? g_strdup ("") : g_strdup_printf ("%+" G_GINT64_FORMAT, l.constant);
  return l.symbol[0] == '\0' ? g_strdup_printf ("%" G_GINT64_FORMAT, l.constant)
                             : g_strconcat (factor, l.symbol, plus, NULL);
}

/* Reading. */

/* {"expr_str": TEXT, "hint": {"as_int": N}} */
static void
read_expr (PtProgram *program, SlJsonReader *reader, const char **text, gint64 *hint)
{
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "expr_str") == 0) {
      *text = pt_read_text (program, reader);
    } else if (strcmp (reader->key->str, "hint") == 0
               && sl_json_reader_kind (reader) == SL_JSON_OBJECT) {
      sl_json_reader_enter (reader, SL_JSON_OBJECT);
      while (sl_json_reader_next (reader))
        if (strcmp (reader->key->str, "as_int") == 0)
          sl_json_reader_integer (reader, 0, G_MAXINT32, hint);
        else
          sl_json_reader_skip (reader);
    } else {
      sl_json_reader_skip (reader);
    }
  if (*text == NULL)
    sl_json_reader_fail (reader, "a size without 'expr_str'");
}

static void
read_size (PtProgram *program, SlJsonReader *reader, PtInput *input, guint i)
{
  gint64 size = 0;
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "as_int") == 0) {
      sl_json_reader_integer (reader, 0, G_MAXINT32, &size);
      input->shape.dims[i] = (gint32) size;
    } else if (strcmp (reader->key->str, "as_expr") == 0) {
      read_expr (program, reader, &input->open[i], &input->hints[i]);
    } else {
      sl_json_reader_fail (reader, "a size of the unknown kind '%s'", reader->key->str);
    }
}

static void
read_tensor (PtProgram *program, SlJsonReader *reader, PtInput *input)
{
  gint64 dtype = 0;
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "dtype") == 0) {
      sl_json_reader_integer (reader, 0, G_MAXINT32, &dtype);
    } else if (strcmp (reader->key->str, "sizes") == 0) {
      input->shape.rank = 0;
      sl_json_reader_enter (reader, SL_JSON_LIST);
      while (sl_json_reader_next (reader)) {
        if (input->shape.rank == SL_MAX_RANK) {
          sl_json_reader_fail (reader, "tensor '%s' has more than %d dimensions", input->name,
                               SL_MAX_RANK);
          return;
        }
        read_size (program, reader, input, input->shape.rank++);
      }
    } else {
      sl_json_reader_skip (reader);
    }
  input->shape.dtype = pt_dtype (dtype);
}

gboolean
pt_read_types (PtProgram *program, PtInput *inputs, guint n)
{
  SlJsonReader reader;
  pt_reader_init (&reader, program->graph.tensors);
  sl_json_reader_enter (&reader, SL_JSON_OBJECT);
  while (sl_json_reader_next (&reader)) {
    guint i = 0;
    while (i < n && strcmp (inputs[i].name, reader.key->str) != 0)
      i++;
    if (i < n)
      read_tensor (program, &reader, &inputs[i]);
    else
      sl_json_reader_skip (&reader);
  }
  return pt_reader_done (program, &reader);
}

gboolean
pt_read_inputs (PtProgram *program, PtInput *inputs, guint n)
{
  if (!pt_read_types (program, inputs, n))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (inputs[i].shape.dtype >= TS_N_DTYPES)
      return ts_fail (program->ops.heap, SL_ERROR_UNSUPPORTED,
                      "%s: input '%s' has no type in 'tensor_values', or one that is not supported",
                      program->member, inputs[i].name);
  return TRUE;
}

/* Settling. */

typedef struct
{
  PtProgram *program;
  GHashTable *symbols;
} Solver;

static void
set_symbol (Solver *solver, const char *name, gint64 value)
{
  g_hash_table_insert (solver->symbols, g_strdup (name), g_memdup2 (&value, sizeof value));
}

/* Finds the symbol's value for which the expression of dimension @i is @size. */
static gboolean
solve (Solver *solver, const PtInput *input, guint i, gint64 size)
{
  const Linear l = evaluate (solver->symbols, input->open[i]);
  g_autofree char *text = describe (input->open[i]);
  const gint64 rest = size - l.constant;
  if (!l.good)
    return TRUE;
  if (l.symbol[0] == '\0' ? rest == 0
                          : l.factor != 0 && rest % l.factor == 0 && rest / l.factor >= 0) {
    if (l.symbol[0] != '\0')
      set_symbol (solver, l.symbol, rest / l.factor);
    return TRUE;
  }
  g_autofree char *settled =
    l.symbol[0] == '\0' ? g_strdup_printf ("%" G_GINT64_FORMAT, l.constant) : NULL;
  return ts_fail (solver->program->ops.heap, SL_ERROR_SHAPE,
                  "input '%s', dimension %u: %" G_GINT64_FORMAT
                  " is stated; expected %s%s%s, for which the program was exported",
                  input->name, i, size, text, settled != NULL ? ", by the sizes before it " : "",
                  settled != NULL ? settled : "");
}

static gboolean
check_stated (Solver *solver, const PtInput *input, const TsShape *stated)
{
  TsHeap *heap = solver->program->ops.heap;
  if (stated->rank != input->shape.rank)
    return ts_fail (heap, SL_ERROR_SHAPE, "input '%s' has %u dimensions; input-shape states %u",
                    input->name, input->shape.rank, stated->rank);
  for (guint i = 0; i < stated->rank; i++) {
    if (input->open[i] == NULL && input->shape.dims[i] != stated->dims[i])
      return ts_fail (
        heap, SL_ERROR_SHAPE,
        "input '%s', dimension %u: input-shape states %d, and the program was exported for %d "
        "alone; export it with dynamic_shapes, or leave input-shape out",
        input->name, i, stated->dims[i], input->shape.dims[i]);
    if (input->open[i] != NULL && !solve (solver, input, i, stated->dims[i]))
      return FALSE;
  }
  return TRUE;
}

/* {"min_val": 2, "max_val": 20}; an end that is null stays as it is. */
static gboolean
read_range (SlJsonReader *reader, gint64 *low, gint64 *high)
{
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (reader)) {
    gint64 *bound = strcmp (reader->key->str, "min_val") == 0   ? low
                    : strcmp (reader->key->str, "max_val") == 0 ? high
                                                                : NULL;
    if (bound != NULL && sl_json_reader_kind (reader) == SL_JSON_NUMBER)
      sl_json_reader_integer (reader, G_MININT64, G_MAXINT64, bound);
    else
      sl_json_reader_skip (reader);
  }
  return reader->error == NULL;
}

/* Of ranges, keys are symbols and expressions. */
static gboolean
check_range (Solver *solver, SlJsonReader *reader, const char *key)
{
  const Linear l = evaluate (solver->symbols, key);
  gint64 low = G_MININT64, high = G_MAXINT64;
  read_range (reader, &low, &high);
  if (reader->error != NULL || !l.good || l.symbol[0] != '\0'
      || (l.constant >= low && l.constant <= high))
    return reader->error == NULL;
  g_autofree char *most =
    high == G_MAXINT64 ? g_strdup ("on") : g_strdup_printf ("to %" G_GINT64_FORMAT, high);
  return ts_fail (solver->program->ops.heap, SL_ERROR_SHAPE,
                  "%s is %" G_GINT64_FORMAT
                  " for the stated sizes; the program was exported for it from %" G_GINT64_FORMAT
                  " %s",
                  key, l.constant, low, most);
}

static gboolean
check_ranges (Solver *solver)
{
  SlJsonReader reader;
  if (solver->program->ranges.text == NULL)
    return TRUE;
  pt_reader_init (&reader, solver->program->ranges);
  sl_json_reader_enter (&reader, SL_JSON_OBJECT);
  while (sl_json_reader_next (&reader)) {
    g_autofree char *key = g_strdup (reader.key->str);
    if (!check_range (solver, &reader, key))
      break;
  }
  return pt_reader_done (solver->program, &reader);
}

/* Whether the program was exported for a value of 1 of @symbol. */
static gboolean
may_be_one (const Solver *solver, const char *symbol)
{
  SlJsonReader reader;
  gint64 low = G_MININT64, high = G_MAXINT64;
  if (solver->program->ranges.text == NULL)
    return TRUE;
  pt_reader_init (&reader, solver->program->ranges);
  sl_json_reader_enter (&reader, SL_JSON_OBJECT);
  while (sl_json_reader_next (&reader))
    if (strcmp (reader.key->str, symbol) == 0)
      read_range (&reader, &low, &high);
    else
      sl_json_reader_skip (&reader);
  return pt_reader_done (solver->program, &reader) && low <= 1 && high >= 1;
}

/* "s0,3,32*h,32*w"; with @solver (nullable) numbers: those that are known, and else the sizes of
 * the export. */
static char *
describe_shape (const Solver *solver, const PtInput *input)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < input->shape.rank; i++) {
    g_autofree char *open = input->open[i] != NULL ? describe (input->open[i]) : NULL;
    const Linear l =
      open != NULL && solver != NULL ? evaluate (solver->symbols, input->open[i]) : bad;
    const gint64 size = open == NULL                    ? input->shape.dims[i]
                        : l.good && l.symbol[0] == '\0' ? l.constant
                                                        : MAX (input->hints[i], 1);
    g_string_append (text, i > 0 ? "," : "");
    if (open != NULL && solver == NULL)
      g_string_append (text, open);
    else
      g_string_append_printf (text, "%" G_GINT64_FORMAT, size);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* "; h from 2 to 20" for symbols that have an end. */
static void
append_ranges (PtProgram *program, GString *text)
{
  SlJsonReader reader;
  guint n = 0;
  if (program->ranges.text == NULL)
    return;
  pt_reader_init (&reader, program->ranges);
  sl_json_reader_enter (&reader, SL_JSON_OBJECT);
  while (sl_json_reader_next (&reader)) {
    g_autofree char *key = g_strdup (reader.key->str);
    gint64 low = G_MININT64, high = G_MAXINT64;
    if (!read_range (&reader, &low, &high))
      break;
    if (high != G_MAXINT64 && n++ < SL_MAX_IO && strlen (key) < MAX_NAME
        && strspn (key, SYMBOL_LETTERS) == strlen (key))
      g_string_append_printf (text, "; %s from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, key, low,
                              high);
  }
  pt_reader_done (program, &reader);
}

char *
pt_describe_open (PtProgram *program, const PtInput *inputs, guint n)
{
  GString *text = g_string_new (NULL);
  for (guint k = 0; k < n; k++) {
    guint i = 0;
    while (i < inputs[k].shape.rank && inputs[k].open[i] == NULL)
      i++;
    if (i == inputs[k].shape.rank)
      continue;
    g_autofree char *shape = describe_shape (NULL, &inputs[k]);
    g_string_append_printf (text, "%s%s %s", text->len > 0 ? "; " : "", inputs[k].name, shape);
  }
  if (text->len > 0)
    append_ranges (program, text);
  return g_string_free (text, text->len == 0);
}

static gboolean
ask (Solver *solver, const PtInput *inputs, guint n, const PtInput *input)
{
  g_autofree char *open = pt_describe_open (solver->program, inputs, n);
  g_autoptr (GString) all = g_string_new (NULL);
  for (guint i = 0; i < n; i++) {
    g_autofree char *shape = describe_shape (solver, &inputs[i]);
    g_string_append_printf (all, "%s%s", i > 0 ? ";" : "", shape);
  }
  return ts_fail (
    solver->program->ops.heap, SL_ERROR_SHAPE,
    "the program leaves sizes of input '%s' open (%s); state them, for example as input-shape=%s, "
    "with which it was exported: property of slinfer, option --input-shape of the program, or line "
    "under [sightline] of the model's .modelinfo",
    input->name, open, all->str);
}

gboolean
pt_settle_sizes (PtProgram *program, PtInput *inputs, guint n, const TsShape *stated,
                 guint n_stated)
{
  g_autoptr (GHashTable) symbols =
    g_hash_table_new_full (sl_name_hash, g_str_equal, g_free, g_free);
  Solver solver = { program, symbols };
  if (n_stated > n)
    return ts_fail (program->ops.heap, SL_ERROR_ARGUMENT,
                    "input-shape states %u shapes; expected at most %u, one for each input",
                    n_stated, n);
  for (guint k = 0; k < n_stated; k++)
    if (!check_stated (&solver, &inputs[k], &stated[k]))
      return FALSE;
  /* A batch of which nothing is stated is 1. */
  for (guint k = 0; k < n; k++)
    if (inputs[k].shape.rank > 1 && inputs[k].open[0] != NULL) {
      const Linear l = evaluate (symbols, inputs[k].open[0]);
      if (l.good && l.symbol[0] != '\0' && l.factor == 1 && l.constant == 0
          && may_be_one (&solver, l.symbol))
        set_symbol (&solver, l.symbol, 1);
    }
  for (guint k = 0; k < n; k++)
    for (guint i = 0; i < inputs[k].shape.rank; i++) {
      if (inputs[k].open[i] == NULL)
        continue;
      const Linear l = evaluate (symbols, inputs[k].open[i]);
      if (l.good && l.symbol[0] == '\0' && l.constant >= 0 && l.constant <= G_MAXINT32)
        inputs[k].shape.dims[i] = (gint32) l.constant;
      else if (k < n_stated)
        inputs[k].shape.dims[i] = stated[k].dims[i];
      else
        return ask (&solver, inputs, n, &inputs[k]);
    }
  return check_ranges (&solver);
}
