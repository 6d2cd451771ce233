/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The Python of TorchScript archives: what torch.jit wrote for small modules, and texts that are
 * cut, too deep or not of the subset. */
#include <string.h>

#include "models/torchscript/ast.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

/* torch 1.13 wrote this for a module with a conditional, a loop and a default. */
static const char sample[] = "class Net(Module):\n"
                             "  __parameters__ = [\"weight\", ]\n"
                             "  __annotations__[\"0\"] = __torch__.torch.nn.modules.conv.Conv2d\n"
                             "  weight : Tensor\n"
                             "  eps : Final[float] = 1.0000000000000001e-05\n"
                             "  def forward(self: __torch__.Net,\n"
                             "    x: Tensor,\n"
                             "    sizes: Optional[List[int]]=None) -> Tuple[Tensor, int]:\n"
                             "    _0 = \"say \\\"no\\\"\\n\"\n"
                             "    _1 = getattr(self, \"0\")\n"
                             "    if torch.gt(torch.len(torch.size(x)), -3):\n"
                             "      pass\n"
                             "    else:\n"
                             "      ops.prim.RaiseException(\"AssertionError: \")\n"
                             "    for i in range(2):\n"
                             "      y, z, = (_1).forward(x, CONSTANTS.c0, dtype=6)[i]\n"
                             "    return (y, 1)\n"
                             "def helper(a: int=3) -> NoneType:\n"
                             "  return None\n";

static TsUnit *
parse (const char *text, SlArena *arena, GError **error)
{
  return ts_parse ("code/__torch__.py", text, strlen (text), arena, error);
}

static void
test_sample (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlArena) arena = sl_arena_new ();
  g_autoptr (TsUnit) unit = parse (sample, arena, &error);
  g_assert_no_error (error);
  const TsClass *type = g_hash_table_lookup (unit->classes, "Net");
  const TsDef *helper = g_hash_table_lookup (unit->functions, "helper");
  g_assert_nonnull (type);
  g_assert_cmpstr (type->base, ==, "Module");
  g_assert_cmpuint (type->n_fields, ==, 3);
  g_assert_cmpstr (type->fields[2].name, ==, "eps");
  g_assert_cmpfloat (type->fields[2].fallback->real, ==, 1e-05);
  const TsDef *forward = ts_class_method (type, "forward");
  g_assert_cmpuint (forward->n, ==, 3);
  g_assert_cmpint (forward->parameters[2].fallback->kind, ==, TS_EXPR_NONE);
  g_assert_cmpuint (forward->body.n, ==, 5);
  g_assert_cmpstr (forward->body.items[0]->value->text, ==, "say \"no\"\n");
  const TsStmt *branch = forward->body.items[2], *loop = forward->body.items[3];
  g_assert_cmpint (branch->kind, ==, TS_STMT_IF);
  g_assert_cmpstr (branch->value->base->text, ==, "torch.gt");
  g_assert_cmpint (branch->value->items[1]->kind, ==, TS_EXPR_NEGATE);
  g_assert_cmpuint (branch->otherwise.n, ==, 1);
  g_assert_cmpint (loop->kind, ==, TS_STMT_FOR);
  const TsStmt *inner = loop->body.items[0];
  g_assert_cmpuint (inner->target->n, ==, 2);
  g_assert_cmpint (inner->value->kind, ==, TS_EXPR_SUBSCRIPT);
  g_assert_cmpstr (inner->value->base->keywords[2], ==, "dtype");
  g_assert_null (inner->value->base->keywords[1]);
  g_assert_cmpint (forward->body.items[4]->value->kind, ==, TS_EXPR_TUPLE);
  g_assert_cmpint (helper->parameters[0].fallback->whole, ==, 3);
  g_autofree char *line = ts_unit_line (unit, inner->line);
  g_assert_cmpstr (line, ==, "y, z, = (_1).forward(x, CONSTANTS.c0, dtype=6)[i]");
}

static void
test_numbers (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlArena) arena = sl_arena_new ();
  g_autoptr (TsUnit) unit = parse (
    "def f():\n  return [1., -9223372036854775807, 18446744073709551616, 2.5e+3]\n", arena, &error);
  g_assert_no_error (error);
  const TsExpr *list =
    ((const TsDef *) g_hash_table_lookup (unit->functions, "f"))->body.items[0]->value;
  g_assert_cmpfloat (list->items[0]->real, ==, 1);
  g_assert_cmpint (list->items[1]->base->whole, ==, G_MAXINT64);
  g_assert_cmpint (list->items[2]->kind, ==, TS_EXPR_FLOAT);
  g_assert_cmpfloat (list->items[2]->real, ==, 18446744073709551616.0);
  g_assert_cmpfloat (list->items[3]->real, ==, 2500);
}

static void
expect_refused (const char *text, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlArena) arena = sl_arena_new ();
  g_autoptr (TsUnit) unit = parse (text, arena, &error);
  g_assert_null (unit);
  g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
  if (strstr (error->message, part) == NULL)
    g_error ("'%s' is not in '%s'", part, error->message);
}

static void
test_refused (void)
{
  g_autofree char *deep = g_strnfill (5000, '[');
  g_autofree char *text = g_strdup_printf ("def f():\n  return %s\n", deep);
  expect_refused (text, "nested more than 200 deep");
  expect_refused ("def f():\n  return a + b\n", "code/__torch__.py:2: the character '+'");
  expect_refused ("def f():\n  return lambda: 1\n", "expected the end of the line, got ':'");
  expect_refused ("def f():\n  return )\n", "expected an expression, got ')'");
  expect_refused ("def f():\n  return x.[\n", "expected a name, got '['");
  expect_refused ("def f():\n  return \"a\n", "string without an end");
  expect_refused ("def f():\n    pass\n  pass\n", "fits no block");
  expect_refused ("x = 1\n", "expected 'class' or 'def', got 'x'");
  expect_refused ("def f():\n  f() = 1\n", "cannot be assigned to");
  expect_refused ("def f():\npass\n", "indented block");
  expect_refused ("def f():\n  return 1j\n", "a number of a kind");
}

/* @part many times behind "return @first". */
static void
expect_repeated_refused (const char *first, const char *part, guint n, const char *message)
{
  g_autoptr (GString) text = g_string_new ("def f():\n  return ");
  g_string_append (text, first);
  for (guint i = 0; i < n; i++)
    g_string_append (text, part);
  g_string_append_c (text, '\n');
  expect_refused (text->str, message);
}

static void
test_limits (void)
{
  expect_repeated_refused ("x", ".a", 300,
                           "more than 200 calls, attributes and indices in one chain");
  expect_repeated_refused ("[", "1,", (1 << 20) + 1,
                           "more than 1048576 expressions and statements");
}

/* Every beginning of the sample, and every byte of it replaced: parsed or refused, nothing else. */
static void
test_damaged (void)
{
  for (gsize cut = 0; cut < strlen (sample); cut++) {
    g_autoptr (SlArena) arena = sl_arena_new_sized (4096), second = sl_arena_new_sized (4096);
    g_autofree char *copy = g_strdup (sample);
    ts_unit_free (ts_parse ("a.py", sample, cut, arena, NULL));
    copy[cut] = "()[]:=\n\"' 0.\\-,"[cut % 15];
    ts_unit_free (ts_parse ("a.py", copy, strlen (copy), second, NULL));
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/torchscript-parser/sample", test_sample);
  g_test_add_func ("/models/torchscript-parser/numbers", test_numbers);
  g_test_add_func ("/models/torchscript-parser/refused", test_refused);
  g_test_add_func ("/models/torchscript-parser/limits", test_limits);
  g_test_add_func ("/models/torchscript-parser/damaged", test_damaged);
  return g_test_run ();
}
