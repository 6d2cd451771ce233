/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Einsum against sums over all its labels in double precision. */
#include <string.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define MOST 4
#define SIZES "abcdefgh"

/** @terms: labels of each operand, an ellipsis written out; @result: those of the result. A label's
 * size is 2 more than its place in the alphabet, an upper case one is a dimension of 1 of the lower
 * case one. */
typedef struct
{
  const char *equation, *terms[MOST + 1], *result;
} Case;

static const Case cases[] = {
  { "ab,bc->ac", { "ab", "bc" }, "ac" },
  { "ab,bc,cd->ad", { "ab", "bc", "cd" }, "ad" },
  { "ab, ac, ad, a -> bcd", { "ab", "ac", "ad", "a" }, "bcd" },
  { "abc,abd->acd", { "abc", "abd" }, "acd" },
  { "abc,abd->dac", { "abc", "abd" }, "dac" },
  { "ab,ab->ab", { "ab", "ab" }, "ab" },
  { "ab,ab->", { "ab", "ab" }, "" },
  { "a,b->ba", { "a", "b" }, "ba" },
  { "ab,c->c", { "ab", "c" }, "c" },
  { "ab->ba", { "ab" }, "ba" },
  { "abc->b", { "abc" }, "b" },
  { "aa->a", { "aa" }, "a" },
  { "aba->b", { "aba" }, "b" },
  { "abab->ba", { "abab" }, "ba" },
  { "aa,ab->b", { "aa", "ab" }, "b" },
  { "ba", { "ba" }, "ab" },
  { "ab,bc", { "ab", "bc" }, "ac" },
  { "aa", { "aa" }, "" },
  { "...ab,...bc->...ac", { "deab", "debc" }, "deac" },
  { "...ab,bc->...ac", { "dab", "bc" }, "dac" },
  { "...ab,...bc->...ac", { "deab", "ebc" }, "deac" },
  { "...ab,...bc->...ac", { "Dab", "dbc" }, "dac" },
  { "a...->...a", { "abc" }, "bca" },
  { "a...,a...", { "ab", "ab" }, "b" },
  { "ab,cd,ef->acebdf", { "ab", "cd", "ef" }, "acebdf" },
};

static gint64
size_of (char label)
{
  return g_ascii_islower (label) ? 2 + (label - 'a') : 1;
}

/* Where the element at @places, by label, lies. */
static gsize
place (const char *labels, const gint64 *places)
{
  gsize at = 0;
  for (const char *p = labels; *p != '\0'; p++)
    at = at * (gsize) size_of (*p) + (gsize) (g_ascii_islower (*p) ? places[*p - 'a'] : 0);
  return at;
}

static void
sum_all (const Case *c, gfloat *const *values, double *expected)
{
  const guint n = (guint) strlen (SIZES);
  gint64 places[sizeof SIZES] = { 0 }, sizes[sizeof SIZES];
  gsize all = 1;
  for (guint i = 0; i < n; i++) {
    sizes[i] = 1;
    for (guint k = 0; c->terms[k] != NULL; k++)
      if (strchr (c->terms[k], SIZES[i]) != NULL)
        sizes[i] = size_of (SIZES[i]);
    all *= (gsize) sizes[i];
  }
  for (gsize step = 0; step < all; step++) {
    gsize rest = step;
    double product = 1;
    for (guint i = 0; i < n; i++) {
      places[i] = (gint64) (rest % (gsize) sizes[i]);
      rest /= (gsize) sizes[i];
    }
    for (guint k = 0; c->terms[k] != NULL; k++)
      product *= (double) values[k][place (c->terms[k], places)];
    expected[place (c->result, places)] += product;
  }
}

static void
test_equations (void)
{
  static const char *const names[] = { "x0", "x1", "x2", "x3" };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Case *c = &cases[i];
    gfloat *values[MOST];
    gint64 dims[8];
    gsize n = 1;
    OnnxModel m;
    g_autoptr (GString) inputs = g_string_new (NULL);
    onnx_model_init (&m, 12, i);
    for (guint k = 0; c->terms[k] != NULL; k++) {
      for (guint d = 0; c->terms[k][d] != '\0'; d++)
        dims[d] = size_of (c->terms[k][d]);
      values[k] = onnx_model_floats (&m, names[k], (guint) strlen (c->terms[k]), dims);
      g_string_append_printf (inputs, "%s%s", k > 0 ? "," : "", names[k]);
    }
    for (const char *p = c->result; *p != '\0'; p++)
      n *= (gsize) size_of (*p);
    g_autofree double *expected = g_new0 (double, n);
    sum_all (c, values, expected);
    g_autofree char *equation = g_strconcat ("equation s ", c->equation, NULL);
    sl_onnx_writer_node (m.writer, "Einsum", inputs->str, "y", equation, NULL);
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, n, expected, 2e-5);
    onnx_model_clear (&m);
  }
}

static void
test_errors (void)
{
  static const struct
  {
    const char *equation, *text;
  } wrong[] = {
    { "equation s ab->ab", "does not fit its 2 inputs" },
    { "equation s ab,bc,cd->ad", "does not fit its 2 inputs" },
    { "equation s abc,bc->a", "does not fit its 2 inputs" },
    { "equation s ab,bc->ax", "does not fit its 2 inputs" },
    { "equation s ab,bc->aa", "does not fit its 2 inputs" },
    { "equation s a1,bc->a", "does not fit its 2 inputs" },
    { "equation s ......ab,bc->a", "does not fit its 2 inputs" },
    { "equation s ab,bc->...........ac", "does not fit its 2 inputs" },
    { "equation s ab,bc->abcdefghijklmnopq", "does not fit its 2 inputs" },
    { "equation s abcdefghijklmnopq,bc->a", "does not fit its 2 inputs" },
    { "equation s ,", "does not fit its 2 inputs" },
    { "equation s ->", "does not fit its 2 inputs" },
    { "equation i 1", "equation" },
    { "equation s ab,ca->b", "label 'a' stands for dimensions of 2 and 4; expected equal ones" },
    { "equation s aa,bc->b", "label 'a' stands for dimensions of 2 and 3; expected equal ones" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    OnnxModel m;
    onnx_model_init (&m, 12, i);
    onnx_model_floats (&m, "a", 2, (const gint64[]){ 2, 3 });
    onnx_model_floats (&m, "b", 2, (const gint64[]){ 3, 4 });
    sl_onnx_writer_node (m.writer, "Einsum", "a,b", "y", wrong[i].equation, NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, wrong[i].text);
    onnx_model_clear (&m);
  }
}

/* Nine dimensions: of a result that the equation does not state, and of which none may be summed
 * before the third operand. */
static void
test_too_many_dimensions (void)
{
  static const struct
  {
    const char *inputs, *equation, *text;
  } rows[] = {
    { "a,b", "equation s abcde,fghi", "abcde,fghi" },
    { "a,b,a", "equation s abcde,fghi,abcde->fghi",
      "its operands join to 9 dimensions; at most 8 are supported" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    OnnxModel m;
    onnx_model_init (&m, 12, 1);
    const gint64 dims[5] = { 1, 2, 1, 2, 1 };
    onnx_model_floats (&m, "a", 5, dims);
    onnx_model_floats (&m, "b", 4, dims);
    sl_onnx_writer_node (m.writer, "Einsum", rows[i].inputs, "y", rows[i].equation, NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, rows[i].text);
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/einsum/equations", test_equations);
  g_test_add_func ("/onnx/einsum/errors", test_errors);
  g_test_add_func ("/onnx/einsum/too-many-dimensions", test_too_many_dimensions);
  return g_test_run ();
}
