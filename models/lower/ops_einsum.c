/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Einsum of any number of operands: "bhid,bhjd->bhij". Operands join from left to right; each time
 * a label that nothing needs any more is summed, in the product of two matrices where both have it.
 * The dimensions of an ellipsis are labels, too: '0' for its last one, '1' for the one before.
 */
#include <string.h>

#include "models/lower/ops.h"

#include "core/base/prefix.h"

/** A tensor, and a label for each of its dimensions. */
typedef struct
{
  gint32 tensor;
  char labels[SL_MAX_RANK + 1];
} Term;

/** What becomes of the labels of two terms: of both and needed, of both and summed, of one alone.
 */
typedef struct
{
  char batch[2 * SL_MAX_RANK + 1], sum[2 * SL_MAX_RANK + 1], left[2 * SL_MAX_RANK + 1],
    right[2 * SL_MAX_RANK + 1];
} Labels;

static void
append (char *labels, char label)
{
  const gsize n = strlen (labels);
  labels[n] = label;
  labels[n + 1] = '\0';
}

/* @text, of letters and at most one ellipsis, which stands for @dots dimensions. */
static gboolean
read_labels (const char *text, gint dots, char *labels)
{
  gboolean seen = FALSE;
  guint n = 0;
  if (dots < 0 || dots > SL_MAX_RANK)
    return FALSE;
  for (const char *p = text; *p != '\0'; p++) {
    if (!seen && sl_has_prefix (p, "...")) {
      if (n + (guint) dots > SL_MAX_RANK)
        return FALSE;
      for (gint i = dots; i-- > 0;)
        labels[n++] = (char) ('0' + i);
      seen = TRUE;
      p += 2;
    } else if (g_ascii_isalpha (*p) && n < SL_MAX_RANK) {
      labels[n++] = *p;
    } else {
      return FALSE;
    }
  }
  labels[n] = '\0';
  return seen || dots == 0;
}

/* Labels of an operand of @rank; *@most becomes the dimensions that the widest ellipsis stands for.
 */
static gboolean
read_operand (const char *text, guint rank, char *labels, gint *most)
{
  const gboolean open = strstr (text, "...") != NULL;
  const gint dots = (gint) rank - (gint) strlen (text) + (open ? 3 : 0);
  if (open ? !read_labels (text, dots, labels) : dots != 0 || !read_labels (text, 0, labels))
    return FALSE;
  *most = MAX (*most, open ? dots : 0);
  return TRUE;
}

/* Where no result is stated: the ellipsis, then what occurs once, by the alphabet. */
static gboolean
imply_result (const Term *terms, guint n, gint dots, char *labels)
{
  for (gint i = dots; i-- > 0;)
    append (labels, (char) ('0' + i));
  for (char label = 'A'; label <= 'z'; label++) {
    guint times = 0;
    for (guint i = 0; i < n; i++)
      for (const char *p = terms[i].labels; *p != '\0'; p++)
        times += *p == label;
    if (times == 1 && strlen (labels) == SL_MAX_RANK)
      return FALSE;
    if (times == 1)
      append (labels, label);
  }
  return TRUE;
}

/* The terms and the labels of the result; FALSE for an equation that does not fit them. */
static gboolean
read_equation (const Lower *o, const char *equation, Term *terms, guint n, char *result)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gint dots = 0;
  for (const char *p = equation; *p != '\0'; p++)
    if (*p != ' ')
      g_string_append_c (text, *p);
  g_auto (GStrv) sides = g_strsplit (text->str, "->", 2);
  g_auto (GStrv) operands = g_strsplit (sides[0] != NULL ? sides[0] : "", ",", (gint) n + 1);
  if (g_strv_length (operands) != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!read_operand (operands[i], lower_t (o, terms[i].tensor)->rank, terms[i].labels, &dots))
      return FALSE;
  if (sides[1] == NULL)
    return imply_result (terms, n, dots, result);
  return read_labels (sides[1], strstr (sides[1], "...") != NULL ? dots : 0, result);
}

/* Every label of the result is one operand's at least, and stands there once. */
static gboolean
has_all (const Term *terms, guint n, const char *result)
{
  for (const char *p = result; *p != '\0'; p++) {
    gboolean found = FALSE;
    for (guint i = 0; i < n; i++)
      found |= strchr (terms[i].labels, *p) != NULL;
    if (!found || strchr (p + 1, *p) != NULL)
      return FALSE;
  }
  return TRUE;
}

static gint32
ordered (Lower *o, const Term *term, const char *order)
{
  gint32 places[SL_MAX_RANK];
  for (guint i = 0; order[i] != '\0'; i++)
    places[i] = (gint32) (strchr (term->labels, order[i]) - term->labels);
  return lower_transpose (o, term->tensor, places);
}

/* A label that stands twice in a term: the diagonal of both dimensions, which becomes the last one.
 */
static void
take_diagonal (Lower *o, Term *term, guint first, guint second)
{
  const guint rank = (guint) strlen (term->labels);
  const SlTensor t = *lower_t (o, term->tensor);
  gint32 places[SL_MAX_RANK], dims[SL_MAX_RANK], begins[SL_MAX_RANK] = { 0 }, strides[SL_MAX_RANK];
  char labels[SL_MAX_RANK + 1] = "";
  guint n = 0;
  if (o->error != NULL)
    return;
  const gint32 size = t.dims[first];
  if (lower_fail_if (o, size > G_MAXINT16 && t.dims[second] == size, SL_ERROR_LIMIT,
                     "the diagonal of %d by %d elements is not supported; at most %d", size, size,
                     G_MAXINT16))
    return;
  if (lower_fail_if (o, t.dims[second] != size, SL_ERROR_SHAPE,
                     "label '%c' stands for dimensions of %d and %d; expected equal ones",
                     term->labels[first], size, t.dims[second]))
    return;
  for (guint i = 0; i < rank; i++)
    if (i != first && i != second) {
      dims[n] = t.dims[i];
      strides[n] = 1;
      places[n++] = (gint32) i;
      append (labels, term->labels[i]);
    }
  append (labels, term->labels[first]);
  places[n] = (gint32) first;
  places[n + 1] = (gint32) second;
  dims[n] = size * size;
  strides[n++] = size + 1;
  const gint32 flat = lower_reshape (o, lower_transpose (o, term->tensor, places), dims, n);
  const gint32 inputs[4] = { flat, lower_ints_constant (o, begins, n),
                             lower_ints_constant (o, dims, n),
                             lower_ints_constant (o, strides, n) };
  term->tensor =
    lower_emit (o, SL_OP_STRIDED_SLICE, inputs, 4, &(SlOpParams){ 0 }, lower_tensor_type (o, flat));
  memcpy (term->labels, labels, sizeof labels);
}

static void
take_diagonals (Lower *o, Term *term)
{
  for (guint i = 0; term->labels[i] != '\0' && o->error == NULL;) {
    const char *again = strchr (term->labels + i + 1, term->labels[i]);
    if (again == NULL)
      i++;
    else
      take_diagonal (o, term, i, (guint) (again - term->labels));
  }
}

/* Leaves out dimensions whose labels neither @needed nor @other has, summed, and those of one
 * element where the other term has more. */
static void
leave_out (Lower *o, Term *term, const Term *other, const char *needed)
{
  gint32 axes[SL_MAX_RANK];
  char labels[SL_MAX_RANK + 1] = "";
  guint n = 0;
  for (guint i = 0; term->labels[i] != '\0' && o->error == NULL; i++) {
    const char label = term->labels[i],
               *there = other != NULL ? strchr (other->labels, label) : NULL;
    const gint32 dim = lower_t (o, term->tensor)->dims[i],
                 more =
                   there != NULL ? lower_t (o, other->tensor)->dims[there - other->labels] : dim;
    if (dim != more && dim != 1 && more != 1)
      lower_fail (o, SL_ERROR_SHAPE,
                  "label '%c' stands for dimensions of %d and %d; expected equal ones", label, dim,
                  more);
    if ((there == NULL && strchr (needed, label) == NULL) || (dim == 1 && more > 1))
      axes[n++] = (gint32) i;
    else
      append (labels, label);
  }
  if (o->error != NULL || n == 0)
    return;
  term->tensor = lower_reduce (o, SL_OP_SUM, term->tensor, axes, n, FALSE);
  memcpy (term->labels, labels, sizeof labels);
}

static void
sort_labels (const Term *a, const Term *b, const char *needed, Labels *l)
{
  memset (l, 0, sizeof *l);
  for (const char *p = a->labels; *p != '\0'; p++)
    append (strchr (b->labels, *p) == NULL ? l->left
            : strchr (needed, *p) != NULL  ? l->batch
                                           : l->sum,
            *p);
  for (const char *p = b->labels; *p != '\0'; p++)
    if (strchr (a->labels, *p) == NULL)
      append (l->right, *p);
}

static gint32
span_of (const SlTensor *t, guint first, guint end)
{
  gint64 n = 1;
  for (guint i = first; i < end; i++)
    n = MIN (n * t->dims[i], G_MAXINT32);
  return (gint32) n;
}

/* Both terms as one of the labels batch, left, right: a product of matrices, or of elements where
 * nothing is summed. */
static void
join (Lower *o, Term *a, const Term *b, const Labels *l)
{
  g_autofree char *order_a = g_strconcat (l->batch, l->left, l->sum, NULL),
                  *order_b = g_strconcat (l->batch, l->sum, l->right, NULL);
  g_autofree char *order = g_strconcat (l->batch, l->left, l->right, NULL);
  const guint nb = (guint) strlen (l->batch), nl = (guint) strlen (l->left),
              ns = (guint) strlen (l->sum), n = (guint) strlen (order);
  gint32 dims[SL_MAX_RANK];
  if (lower_fail_if (o, n > SL_MAX_RANK, SL_ERROR_LIMIT,
                     "its operands join to %u dimensions; at most %d are supported", n,
                     SL_MAX_RANK))
    return;
  const gint32 x = ordered (o, a, order_a), w = ordered (o, b, order_b);
  const SlTensor tx = *lower_t (o, x), tw = *lower_t (o, w);
  if (o->error != NULL)
    return;
  const gint32 ma[3] = { span_of (&tx, 0, nb), span_of (&tx, nb, nb + nl),
                         span_of (&tx, nb + nl, tx.rank) };
  const gint32 mb[3] = { span_of (&tw, 0, nb), span_of (&tw, nb, nb + ns),
                         span_of (&tw, nb + ns, tw.rank) };
  const gint32 left = lower_reshape (o, x, ma, 3),
               right = nb > 0 ? lower_reshape (o, w, mb, 3) : lower_reshape (o, w, mb + 1, 2);
  for (guint i = 0; i < n; i++)
    dims[i] = i < nb + nl ? tx.dims[i] : tw.dims[nb + ns + i - nb - nl];
  a->tensor = lower_reshape (
    o, ns > 0 ? lower_product (o, left, right) : lower_binary (o, SL_OP_MUL, left, right), dims, n);
  memcpy (a->labels, order, n + 1);
}

static gint32
einsum (Lower *o, Term *terms, guint n, const char *result)
{
  Labels labels;
  for (guint i = 0; i < n; i++)
    take_diagonals (o, &terms[i]);
  for (guint i = 1; i < n && o->error == NULL; i++) {
    g_autoptr (GString) needed = g_string_new (result);
    for (guint k = i + 1; k < n; k++)
      g_string_append (needed, terms[k].labels);
    leave_out (o, &terms[0], &terms[i], needed->str);
    leave_out (o, &terms[i], &terms[0], needed->str);
    sort_labels (&terms[0], &terms[i], needed->str, &labels);
    join (o, &terms[0], &terms[i], &labels);
  }
  leave_out (o, &terms[0], NULL, result);
  return o->error == NULL ? ordered (o, &terms[0], result) : -1;
}

static void
lower_einsum (Lower *o)
{
  const char *equation = lower_attr_text (o, "equation", "");
  const guint n = o->node->n_inputs;
  Term terms[SL_MAX_OPERANDS] = { { 0 } };
  char result[SL_MAX_RANK + 1] = "";
  for (guint i = 0; i < n; i++)
    terms[i].tensor = lower_plain (o, lower_required (o, i));
  if (o->error != NULL)
    return;
  if (n == 0 || !read_equation (o, equation, terms, n, result) || !has_all (terms, n, result)) {
    lower_fail (
      o, SL_ERROR_FORMAT,
      "equation '%s' does not fit its %u inputs; expected a letter for each dimension of each, "
      "such as 'bij,bjk->bik'",
      equation, n);
    return;
  }
  lower_set (o, 0, einsum (o, terms, n, result), FALSE);
}

const LowerOp lower_ops_einsum[] = {
  { LOWER_ROW (Einsum, lower_einsum), 0 },
  { NULL },
};
