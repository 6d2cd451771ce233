/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every ONNX operator that names dimensions, along each of them, counted from either end, on data that is held in ONNX's order and on data
 * that a convolution left channels last. A row adds its nodes and says what the result has at given coordinates, computed from the data in
 * double. What is compared is the result with its dimensions reversed, so that another shape of as many elements is seen, too. One table
 * of small functions, so the file is longer than others.
 */
#include <math.h>
#include <string.h>

#include "core/graph/tensor.h"
#include "tests/ops/onnxmodel.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define RANK 4
#define MOST 2000

typedef struct _Row Row;

/** @d: the dimension, counted from the front; @dims: of the data; @out, @rank: of the result, set by the row; @other: a second operand */
typedef struct
{
  const Row *row;
  OnnxModel m;
  const gfloat *x, *other;
  const gint64 *indices;
  const char *data;
  gint64 axis, d, dims[RANK], out[SL_MAX_RANK];
  guint form, rank;
} Case;

struct _Row
{
  const char *op;
  guint opset, forms;
  gint64 dims[RANK]; /* of the data; none = 2,3,4,5 */
  gboolean whole;    /* the result is int64 */
  double tolerance;
  void (*build) (Case *c);
  double (*value) (const Case *c, const gint64 *at);
};

static double
element (const gint64 *dims, const gfloat *x, const gint64 *at)
{
  gint64 place = 0;
  for (guint i = 0; i < RANK; i++)
    place = place * dims[i] + at[i];
  return (double) x[place];
}

static double
data_at (const Case *c, const gint64 *at)
{
  return element (c->dims, c->x, at);
}

/* Adds the row's operator over the data and @more, with up to two attributes (nullable); the result is called y. */
static void
add (Case *c, const char *more, const char *a, const char *b)
{
  g_autofree char *inputs = g_strconcat (c->data, more, NULL);
  sl_onnx_writer_node (c->m.writer, c->row->op, inputs, "y", a != NULL ? a : "unused i 0", b, NULL);
}

static char *
axis_text (const Case *c)
{
  return g_strdup_printf ("axis i %d", (int) c->axis);
}

static void
add_along (Case *c, const char *more, const char *attribute)
{
  g_autofree char *axis = axis_text (c);
  add (c, more, axis, attribute);
}

/* The data's coordinates of a result that lacks dimension d, or has it as 1. */
static void
base_of (const Case *c, const gint64 *at, gint64 base[RANK])
{
  for (gint64 i = 0, from = 0; i < RANK; i++) {
    base[i] = i == c->d ? 0 : at[from];
    from += i != c->d || c->rank == RANK;
  }
}

static void
drop (Case *c, gboolean keep)
{
  c->out[c->d] = 1;
  for (gint64 i = c->d; i < RANK - 1 && !keep; i++)
    c->out[i] = c->dims[i + 1];
  c->rank = keep ? RANK : RANK - 1;
}

static void
build_same (Case *c)
{
  add_along (c, "", NULL);
}

/* Of the elements that are summed up with the one at @at: everything from the axis on before opset 13. */
static double
softmax_value (const Case *c, const gint64 *at)
{
  const gboolean flat = c->row->opset < 13;
  double sum = 0, top = -INFINITY;
  gint64 p[RANK];
  for (guint pass = 0; pass < 2; pass++)
    for (gint64 e = 0; e < 120; e++) {
      gboolean with = TRUE;
      gint64 rest = e;
      for (gint64 i = RANK; i-- > 0; rest /= c->dims[i]) {
        p[i] = rest % c->dims[i];
        with &= i == c->d || (flat && i > c->d) || p[i] == at[i];
      }
      if (with && pass == 0)
        top = fmax (top, data_at (c, p));
      else if (with)
        sum += exp (data_at (c, p) - top);
    }
  const double x = data_at (c, at);
  if (strcmp (c->row->op, "Hardmax") == 0)
    return x == top;
  return strcmp (c->row->op, "Softmax") == 0 ? exp (x - top) / sum : x - top - log (sum);
}

/* Forms: one axis or two, dimensions kept or dropped. */
static gboolean
reduced (const Case *c, gint64 i)
{
  return i == c->d || (c->form >= 2 && i == (c->d + 2) % RANK);
}

static void
build_reduce (Case *c)
{
  const gboolean keep = c->form & 1;
  const gint64 axes[2] = { c->axis, (c->d + 2) % RANK };
  g_autofree char *list = g_strdup_printf (c->form < 2 ? "axes I %d" : "axes I %d,%d", (int) axes[0], (int) axes[1]);
  const gboolean input = c->row->opset >= (strcmp (c->row->op, "ReduceSum") == 0 ? 13 : 18);
  sl_onnx_writer_ints (c->m.writer, "axes", c->form < 2 ? 1 : 2, axes);
  add (c, input ? ",axes" : "", keep ? "keepdims i 1" : "keepdims i 0", input ? NULL : list);
  c->rank = 0;
  for (gint64 i = 0; i < RANK; i++)
    if (keep || !reduced (c, i))
      c->out[c->rank++] = reduced (c, i) ? 1 : c->dims[i];
}

static double
reduce_value (const Case *c, const gint64 *at)
{
  const char *op = c->row->op + strlen ("Reduce");
  double sum = 0, product = 1, top = -INFINITY, least = INFINITY, absolute = 0, squares = 0, exps = 0, n = 0;
  gint64 p[RANK];
  for (gint64 e = 0; e < 120; e++) {
    gint64 rest = e, from = c->rank;
    gboolean with = TRUE;
    for (gint64 i = RANK; i-- > 0; rest /= c->dims[i]) {
      p[i] = rest % c->dims[i];
      if (reduced (c, i))
        from -= c->form & 1;
      else
        with &= at[--from] == p[i];
    }
    const double x = data_at (c, p);
    if (!with)
      continue;
    sum += x;
    product *= x;
    top = fmax (top, x);
    least = fmin (least, x);
    absolute += fabs (x);
    squares += x * x;
    exps += exp (x);
    n++;
  }
  const struct
  {
    const char *op;
    double value;
  } results[] = { { "Sum", sum },           { "Mean", sum / n },     { "Max", top },
                  { "Min", least },         { "Prod", product },     { "L1", absolute },
                  { "L2", sqrt (squares) }, { "LogSum", log (sum) }, { "LogSumExp", log (exps) },
                  { "SumSquare", squares } };
  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    if (strcmp (results[i].op, op) == 0)
      return results[i].value;
  g_assert_not_reached ();
}

static void
build_arg (Case *c)
{
  add_along (c, "", c->form ? "keepdims i 1" : "keepdims i 0");
  drop (c, (gboolean) c->form);
}

static double
arg_value (const Case *c, const gint64 *at)
{
  const double sign = strcmp (c->row->op, "ArgMax") == 0 ? 1 : -1;
  gint64 p[RANK], best = 0;
  double top = -INFINITY;
  base_of (c, at, p);
  for (; p[c->d] < c->dims[c->d]; p[c->d]++)
    if (sign * data_at (c, p) > top) {
      top = sign * data_at (c, p);
      best = p[c->d];
    }
  return (double) best;
}

static void
build_top_k (Case *c)
{
  g_autofree char *axis = axis_text (c), *inputs = g_strconcat (c->data, ",k", NULL);
  sl_onnx_writer_ints (c->m.writer, "k", 1, DIMS (2));
  sl_onnx_writer_node (c->m.writer, "TopK", inputs, c->row->whole ? "none,y" : "y,none", axis, c->form ? "largest i 1" : "largest i 0",
                       NULL);
  c->out[c->d] = 2;
}

/* The element of which as many are before it as its place in the result says. */
static double
top_k_value (const Case *c, const gint64 *at)
{
  const double sign = c->form ? 1 : -1;
  gint64 p[RANK], q[RANK];
  memcpy (p, at, sizeof p);
  for (p[c->d] = 0; p[c->d] < c->dims[c->d]; p[c->d]++) {
    gint64 before = 0;
    memcpy (q, p, sizeof q);
    for (q[c->d] = 0; q[c->d] < c->dims[c->d]; q[c->d]++)
      before += sign * data_at (c, q) > sign * data_at (c, p);
    if (before == at[c->d])
      return c->row->whole ? (double) p[c->d] : data_at (c, p);
  }
  g_assert_not_reached ();
}

static void
build_cum_sum (Case *c)
{
  sl_onnx_writer_ints (c->m.writer, "axis", 1, &c->axis);
  add (c, ",axis", NULL, NULL);
}

static double
cum_sum_value (const Case *c, const gint64 *at)
{
  double sum = 0;
  gint64 p[RANK];
  memcpy (p, at, sizeof p);
  for (p[c->d] = 0; p[c->d] <= at[c->d]; p[c->d]++)
    sum += data_at (c, p);
  return sum;
}

/* Forms: the other operand in ONNX's order, from a convolution, the data twice. */
static void
build_concat (Case *c)
{
  gint64 dims[RANK];
  memcpy (dims, c->dims, sizeof dims);
  dims[c->d] = c->form == 1 && c->d == 1 ? 3 : 2;
  c->other = c->form == 2 ? c->x : onnx_model_floats (&c->m, "o", RANK, dims);
  if (c->form == 1)
    sl_onnx_writer_node (c->m.writer, "MaxPool", "o", "p", "kernel_shape I 1,1", NULL);
  g_autofree char *twice = g_strdup_printf (",%s", c->data);
  add_along (c, c->form == 0 ? ",o" : c->form == 1 ? ",p" : twice, NULL);
  c->out[c->d] = c->dims[c->d] + (c->form == 2 ? c->dims[c->d] : dims[c->d]);
}

static double
concat_value (const Case *c, const gint64 *at)
{
  gint64 p[RANK], dims[RANK];
  memcpy (p, at, sizeof p);
  memcpy (dims, c->dims, sizeof dims);
  dims[c->d] = c->out[c->d] - c->dims[c->d];
  if (at[c->d] < c->dims[c->d])
    return data_at (c, p);
  p[c->d] -= c->dims[c->d];
  return element (dims, c->other, p);
}

/* Forms: the first part, the second. */
static void
build_split (Case *c)
{
  g_autofree char *axis = axis_text (c), *sizes = g_strdup_printf ("split I 1,%d", (int) c->dims[c->d] - 1);
  const gboolean input = c->row->opset >= 13;
  g_autofree char *inputs = g_strconcat (c->data, input ? ",sizes" : NULL, NULL);
  sl_onnx_writer_ints (c->m.writer, "sizes", 2, DIMS (1, c->dims[c->d] - 1));
  sl_onnx_writer_node (c->m.writer, "Split", inputs, c->form == 0 ? "y,none" : "none,y", axis, input ? NULL : sizes, NULL);
  c->out[c->d] = c->form == 0 ? 1 : c->dims[c->d] - 1;
}

static double
split_value (const Case *c, const gint64 *at)
{
  gint64 p[RANK];
  memcpy (p, at, sizeof p);
  p[c->d] += c->form;
  return data_at (c, p);
}

/* Forms: from 1 on, up to the last but one, every second, backwards. */
static const gint64 slices[][3] = { { 1, G_MAXINT64, 1 }, { 0, -1, 1 }, { 0, G_MAXINT64, 2 }, { -1, G_MININT64, -1 } };

static void
build_slice (Case *c)
{
  const gint64 *s = slices[c->form], n = c->dims[c->d];
  sl_onnx_writer_ints (c->m.writer, "starts", 1, s);
  sl_onnx_writer_ints (c->m.writer, "ends", 1, s + 1);
  sl_onnx_writer_ints (c->m.writer, "axes", 1, &c->axis);
  sl_onnx_writer_ints (c->m.writer, "steps", 1, s + 2);
  add (c, ",starts,ends,axes,steps", NULL, NULL);
  c->out[c->d] = c->form < 2 ? n - 1 : c->form == 2 ? (n + 1) / 2 : n;
}

static double
slice_value (const Case *c, const gint64 *at)
{
  gint64 p[RANK];
  memcpy (p, at, sizeof p);
  p[c->d] = c->form == 3 ? c->dims[c->d] - 1 - at[c->d] : slices[c->form][0] + at[c->d] * slices[c->form][2];
  return data_at (c, p);
}

static void
build_gather_elements (Case *c)
{
  gint64 dims[RANK] = { 2, 2, 3, 3 };
  dims[c->d] = 6;
  c->indices = onnx_model_ints (&c->m, "i", RANK, dims, (gint32) -c->dims[c->d], (gint32) c->dims[c->d]);
  add_along (c, ",i", NULL);
  memcpy (c->out, dims, sizeof dims);
}

static gint64
index_at (const Case *c, const gint64 *dims, const gint64 *at)
{
  gint64 place = 0;
  for (guint i = 0; i < RANK; i++)
    place = place * dims[i] + at[i];
  const gint64 index = c->indices[place];
  return index < 0 ? index + c->dims[c->d] : index;
}

static double
gather_elements_value (const Case *c, const gint64 *at)
{
  gint64 p[RANK];
  memcpy (p, at, sizeof p);
  p[c->d] = index_at (c, c->out, at);
  return data_at (c, p);
}

/* Updates of one element along the dimension, so that none comes twice. */
static void
build_scatter_elements (Case *c)
{
  gint64 dims[RANK] = { 2, 2, 3, 3 };
  dims[c->d] = 1;
  c->indices = onnx_model_ints (&c->m, "i", RANK, dims, (gint32) -c->dims[c->d], (gint32) c->dims[c->d]);
  c->other = onnx_model_floats (&c->m, "u", RANK, dims);
  add_along (c, ",i,u", NULL);
}

static double
scatter_elements_value (const Case *c, const gint64 *at)
{
  gint64 dims[RANK] = { 2, 2, 3, 3 }, p[RANK];
  gboolean inside = TRUE;
  dims[c->d] = 1;
  memcpy (p, at, sizeof p);
  p[c->d] = 0;
  for (guint i = 0; i < RANK; i++)
    inside &= p[i] < dims[i];
  return inside && index_at (c, dims, p) == at[c->d] ? element (dims, c->other, p) : data_at (c, at);
}

static void
build_squeeze (Case *c)
{
  const gboolean input = c->row->opset >= 13;
  g_autofree char *axes = g_strdup_printf ("axes I %d", (int) c->axis);
  sl_onnx_writer_ints (c->m.writer, "axes", 1, &c->axis);
  sl_onnx_writer_ints (c->m.writer, "first", 1, DIMS (0));
  sl_onnx_writer_ints (c->m.writer, "one", 1, DIMS (1));
  sl_onnx_writer_ints (c->m.writer, "along", 1, &c->axis);
  g_autofree char *cut = g_strconcat (c->data, ",first,one,along", NULL);
  sl_onnx_writer_node (c->m.writer, "Slice", cut, "thin", NULL);
  sl_onnx_writer_node (c->m.writer, "Squeeze", input ? "thin,axes" : "thin", "y", input ? "unused i 0" : axes, NULL);
  drop (c, FALSE);
}

static double
squeeze_value (const Case *c, const gint64 *at)
{
  gint64 p[RANK];
  base_of (c, at, p);
  return data_at (c, p);
}

/* Axes of the result, which has one dimension more: -5 to 4. */
static void
build_unsqueeze (Case *c)
{
  const gboolean input = c->row->opset >= 13;
  const gint64 axis = c->form ? c->axis : c->axis < 0 ? c->axis - 1 : c->axis + 1, d = axis < 0 ? axis + RANK + 1 : axis;
  g_autofree char *axes = g_strdup_printf ("axes I %d", (int) axis);
  sl_onnx_writer_ints (c->m.writer, "axes", 1, &axis);
  add (c, input ? ",axes" : "", input ? NULL : axes, NULL);
  for (gint64 i = 0; i < RANK + 1; i++)
    c->out[i] = i == d ? 1 : c->dims[i > d ? i - 1 : i];
  c->rank = RANK + 1;
}

static double
same_order (const Case *c, const gint64 *at)
{
  gint64 place = 0;
  for (guint i = 0; i < c->rank; i++)
    place = place * c->out[i] + at[i];
  return (double) c->x[place];
}

static void
build_flatten (Case *c)
{
  add_along (c, "", NULL);
  c->rank = 2;
  c->out[0] = c->out[1] = 1;
  for (gint64 i = 0; i < RANK; i++)
    c->out[i >= c->d] *= c->dims[i];
}

static const gint64 shapes[][6] = { { 2, 3, 20 }, { 2, 3, 2, 2, 5 }, { 2, 60 },         { 6, 20 }, { 120 },
                                    { 2, 12, 5 }, { 2, 3, 5, 4 },    { 1, 2, 3, 4, 5 }, { 24, 5 }, { 3, 2, 4, 5 } };

static void
build_reshape (Case *c)
{
  const gint64 *shape = shapes[c->form];
  for (c->rank = 0; c->rank < 6 && shape[c->rank] != 0; c->rank++)
    c->out[c->rank] = shape[c->rank];
  sl_onnx_writer_ints (c->m.writer, "shape", c->rank, shape);
  add (c, ",shape", NULL, NULL);
}

/* The order of dimensions that is number @form of all 24. */
static void
nth_order (guint form, gint64 order[RANK])
{
  gint64 left[RANK] = { 0, 1, 2, 3 };
  guint n = RANK;
  for (guint i = 0; i < RANK; i++) {
    const guint k = form % n;
    form /= n;
    order[i] = left[k];
    for (guint j = k; j + 1 < n; j++)
      left[j] = left[j + 1];
    n--;
  }
}

static void
build_transpose (Case *c)
{
  gint64 order[RANK];
  nth_order (c->form, order);
  g_autofree char *perm = g_strdup_printf ("perm I %d,%d,%d,%d", (int) order[0], (int) order[1], (int) order[2], (int) order[3]);
  add (c, "", perm, NULL);
  for (guint i = 0; i < RANK; i++)
    c->out[i] = c->dims[order[i]];
}

static double
transpose_value (const Case *c, const gint64 *at)
{
  gint64 order[RANK], p[RANK];
  nth_order (c->form, order);
  for (guint i = 0; i < RANK; i++)
    p[order[i]] = at[i];
  return data_at (c, p);
}

/* One before and two behind the dimension; forms: 0, the edge, mirrored, repeated, less than nothing. */
static void
build_pad (Case *c)
{
  static const char *const modes[] = { "mode s constant", "mode s edge", "mode s reflect", "mode s wrap", "mode s constant" };
  gint64 pads[2 * RANK] = { 0 };
  pads[c->d] = c->form == 4 ? -1 : 1;
  pads[RANK + c->d] = c->form == 2 ? 1 : 2;
  sl_onnx_writer_ints (c->m.writer, "pads", 2 * RANK, pads);
  add (c, ",pads", modes[c->form], NULL);
  c->out[c->d] = c->dims[c->d] + pads[c->d] + pads[RANK + c->d];
}

static double
pad_value (const Case *c, const gint64 *at)
{
  const gint64 n = c->dims[c->d];
  gint64 p[RANK];
  memcpy (p, at, sizeof p);
  gint64 *k = &p[c->d];
  *k += c->form == 4 ? 1 : -1;
  if (c->form == 1)
    *k = CLAMP (*k, 0, n - 1);
  else if (c->form == 2)
    *k = *k < 0 ? -*k : *k >= n ? 2 * n - 2 - *k : *k;
  else if (c->form == 3)
    *k = (*k + n) % n;
  return *k < 0 || *k >= n ? 0 : data_at (c, p);
}

/* Each element three times. */
static void
build_resize (Case *c)
{
  gfloat scales[RANK] = { 1, 1, 1, 1 };
  scales[c->d] = 3;
  sl_onnx_writer_floats (c->m.writer, "scales", 1, DIMS (RANK), scales);
  add (c, ",,scales", "mode s nearest", NULL);
  c->out[c->d] *= 3;
}

static double
resize_value (const Case *c, const gint64 *at)
{
  gint64 p[RANK];
  memcpy (p, at, sizeof p);
  p[c->d] /= 3;
  return data_at (c, p);
}

static void
build_depth (Case *c)
{
  const gboolean to_space = strcmp (c->row->op, "DepthToSpace") == 0;
  add (c, "", "blocksize i 2", to_space ? (c->form ? "mode s CRD" : "mode s DCR") : NULL);
  c->out[1] = to_space ? c->dims[1] / 4 : c->dims[1] * 4;
  for (guint i = 2; i < RANK; i++)
    c->out[i] = to_space ? c->dims[i] * 2 : c->dims[i] / 2;
}

static double
depth_value (const Case *c, const gint64 *at)
{
  gint64 p[RANK] = { at[0] };
  if (strcmp (c->row->op, "DepthToSpace") == 0) {
    const gint64 part = at[2] % 2 * 2 + at[3] % 2;
    p[1] = c->form ? at[1] * 4 + part : part * c->out[1] + at[1];
    p[2] = at[2] / 2;
    p[3] = at[3] / 2;
  } else {
    p[1] = at[1] % c->dims[1];
    p[2] = at[2] * 2 + at[1] / c->dims[1] / 2;
    p[3] = at[3] * 2 + at[1] / c->dims[1] % 2;
  }
  return data_at (c, p);
}

static void
build_layer_norm (Case *c)
{
  c->other = onnx_model_floats (&c->m, "scale", (guint) (RANK - c->d), c->dims + c->d);
  add_along (c, ",scale", "epsilon f 0.01");
}

static double
layer_norm_value (const Case *c, const gint64 *at)
{
  double sum = 0, squares = 0, n = 0;
  gint64 p[RANK], place = 0;
  for (gint64 e = 0; e < 120; e++) {
    gboolean with = TRUE;
    gint64 rest = e;
    for (gint64 i = RANK; i-- > 0; rest /= c->dims[i]) {
      p[i] = rest % c->dims[i];
      with &= i >= c->d || p[i] == at[i];
    }
    sum += with ? data_at (c, p) : 0;
    squares += with ? data_at (c, p) * data_at (c, p) : 0;
    n += with;
  }
  for (gint64 i = c->d; i < RANK; i++)
    place = place * c->dims[i] + at[i];
  const double mean = sum / n;
  return (data_at (c, at) - mean) / sqrt (squares / n - mean * mean + (double) 0.01f) * (double) c->other[place];
}

static void
build_lp (Case *c)
{
  add_along (c, "", c->form ? "p i 1" : "p i 2");
}

static double
lp_value (const Case *c, const gint64 *at)
{
  double sum = 0;
  gint64 p[RANK];
  memcpy (p, at, sizeof p);
  for (p[c->d] = 0; p[c->d] < c->dims[c->d]; p[c->d]++)
    sum += c->form ? fabs (data_at (c, p)) : data_at (c, p) * data_at (c, p);
  return data_at (c, at) / (c->form ? sum : sqrt (sum));
}

static void
build_trilu (Case *c)
{
  add (c, "", c->form ? "upper i 1" : "upper i 0", NULL);
}

static double
trilu_value (const Case *c, const gint64 *at)
{
  return (c->form ? at[3] >= at[2] : at[3] <= at[2]) ? data_at (c, at) : 0;
}

static void
build_tile (Case *c)
{
  gint64 repeats[RANK] = { 1, 1, 1, 1 };
  repeats[c->d] = 3;
  sl_onnx_writer_ints (c->m.writer, "repeats", RANK, repeats);
  add (c, ",repeats", NULL, NULL);
  c->out[c->d] *= 3;
}

static double
tile_value (const Case *c, const gint64 *at)
{
  gint64 p[RANK];
  memcpy (p, at, sizeof p);
  p[c->d] %= c->dims[c->d];
  return data_at (c, p);
}

/* A dimension of 1 to seven, and a new one in front. */
static void
build_expand (Case *c)
{
  gint64 shape[RANK + 1] = { 2, 1, 1, 1, 1 };
  shape[1 + c->d] = 7;
  sl_onnx_writer_ints (c->m.writer, "starts", 1, DIMS (0));
  sl_onnx_writer_ints (c->m.writer, "ends", 1, DIMS (1));
  sl_onnx_writer_ints (c->m.writer, "axes", 1, &c->axis);
  sl_onnx_writer_ints (c->m.writer, "shape", RANK + 1, shape);
  g_autofree char *cut = g_strconcat (c->data, ",starts,ends,axes", NULL);
  sl_onnx_writer_node (c->m.writer, "Slice", cut, "thin", NULL);
  sl_onnx_writer_node (c->m.writer, "Expand", "thin,shape", "y", NULL);
  c->rank = RANK + 1;
  c->out[0] = 2;
  for (gint64 i = 0; i < RANK; i++)
    c->out[i + 1] = i == c->d ? 7 : c->dims[i];
}

static double
expand_value (const Case *c, const gint64 *at)
{
  gint64 p[RANK];
  memcpy (p, at + 1, sizeof p);
  p[c->d] = 0;
  return data_at (c, p);
}

/* Of the place of the greatest element along the dimension, which becomes the new dimension again. */
static void
build_one_hot (Case *c)
{
  g_autofree char *axis = axis_text (c);
  sl_onnx_writer_ints (c->m.writer, "depth", 1, &c->dims[c->d]);
  sl_onnx_writer_floats (c->m.writer, "values", 1, DIMS (2), (const gfloat[]){ -1, 2 });
  sl_onnx_writer_node (c->m.writer, "ArgMax", c->data, "i", axis, "keepdims i 0", NULL);
  sl_onnx_writer_node (c->m.writer, "OneHot", "i,depth,values", "y", axis, NULL);
}

static double
one_hot_value (const Case *c, const gint64 *at)
{
  gint64 p[RANK];
  memcpy (p, at, sizeof p);
  for (p[c->d] = 0; p[c->d] < c->dims[c->d]; p[c->d]++)
    if (data_at (c, p) > data_at (c, at))
      return -1;
  return 2;
}

static const Row rows[] = {
  { "Softmax", 11, 1, { 0 }, FALSE, 1e-5, build_same, softmax_value },
  { "Softmax", 13, 1, { 0 }, FALSE, 1e-5, build_same, softmax_value },
  { "LogSoftmax", 11, 1, { 0 }, FALSE, 1e-5, build_same, softmax_value },
  { "LogSoftmax", 13, 1, { 0 }, FALSE, 1e-5, build_same, softmax_value },
  { "Hardmax", 11, 1, { 0 }, FALSE, 0, build_same, softmax_value },
  { "Hardmax", 13, 1, { 0 }, FALSE, 0, build_same, softmax_value },
  { "ReduceSum", 11, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceSum", 13, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceMean", 13, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceMean", 18, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceMax", 13, 4, { 0 }, FALSE, 0, build_reduce, reduce_value },
  { "ReduceMin", 18, 4, { 0 }, FALSE, 0, build_reduce, reduce_value },
  { "ReduceProd", 13, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceL1", 13, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceL2", 18, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceLogSum", 13, 4, { 0 }, FALSE, 1e-4, build_reduce, reduce_value },
  { "ReduceLogSumExp", 13, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceSumSquare", 18, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ArgMax", 13, 2, { 0 }, TRUE, 0, build_arg, arg_value },
  { "ArgMin", 11, 2, { 0 }, TRUE, 0, build_arg, arg_value },
  { "TopK", 13, 2, { 0 }, FALSE, 0, build_top_k, top_k_value },
  { "TopK", 11, 2, { 0 }, TRUE, 0, build_top_k, top_k_value },
  { "CumSum", 14, 1, { 0 }, FALSE, 1e-5, build_cum_sum, cum_sum_value },
  { "Concat", 13, 3, { 0 }, FALSE, 0, build_concat, concat_value },
  { "Split", 11, 2, { 0 }, FALSE, 0, build_split, split_value },
  { "Split", 13, 2, { 0 }, FALSE, 0, build_split, split_value },
  { "Slice", 13, 4, { 0 }, FALSE, 0, build_slice, slice_value },
  { "GatherElements", 13, 1, { 0 }, FALSE, 0, build_gather_elements, gather_elements_value },
  { "ScatterElements", 13, 1, { 0 }, FALSE, 0, build_scatter_elements, scatter_elements_value },
  { "Squeeze", 11, 1, { 0 }, FALSE, 0, build_squeeze, squeeze_value },
  { "Squeeze", 13, 1, { 0 }, FALSE, 0, build_squeeze, squeeze_value },
  { "Unsqueeze", 11, 2, { 0 }, FALSE, 0, build_unsqueeze, same_order },
  { "Unsqueeze", 13, 2, { 0 }, FALSE, 0, build_unsqueeze, same_order },
  { "Flatten", 13, 1, { 0 }, FALSE, 0, build_flatten, same_order },
  { "Reshape", 13, G_N_ELEMENTS (shapes), { 0 }, FALSE, 0, build_reshape, same_order },
  { "Transpose", 13, 24, { 0 }, FALSE, 0, build_transpose, transpose_value },
  { "Pad", 19, 5, { 0 }, FALSE, 0, build_pad, pad_value },
  { "Resize", 13, 1, { 0 }, FALSE, 0, build_resize, resize_value },
  { "DepthToSpace", 13, 2, { 2, 8, 3, 5 }, FALSE, 0, build_depth, depth_value },
  { "SpaceToDepth", 13, 1, { 2, 3, 4, 6 }, FALSE, 0, build_depth, depth_value },
  { "LayerNormalization", 17, 1, { 0 }, FALSE, 1e-4, build_layer_norm, layer_norm_value },
  { "LpNormalization", 13, 2, { 0 }, FALSE, 1e-5, build_lp, lp_value },
  { "Trilu", 14, 2, { 0 }, FALSE, 0, build_trilu, trilu_value },
  { "Tile", 13, 1, { 0 }, FALSE, 0, build_tile, tile_value },
  { "Expand", 13, 1, { 0 }, FALSE, 0, build_expand, expand_value },
  { "OneHot", 13, 1, { 0 }, FALSE, 0, build_one_hot, one_hot_value },
};

/* The data, passed on by a convolution that changes nothing where @held says so. */
static void
add_data (Case *c, gboolean held)
{
  const gint64 n = c->dims[1];
  g_autofree gfloat *ones = g_new0 (gfloat, (gsize) (n * n));
  for (gint64 i = 0; i < n; i++)
    ones[i * n + i] = 1;
  c->x = onnx_model_floats (&c->m, "x", RANK, c->dims);
  /* Sums have logarithms. */
  for (gint64 i = 0; i < c->dims[0] * n * c->dims[2] * c->dims[3]; i++)
    if (strcmp (c->row->op, "ReduceLogSum") == 0)
      ((gfloat *) c->x)[i] = fabsf (c->x[i]) + 0.1f;
  c->data = held ? "held" : "x";
  if (!held)
    return;
  sl_onnx_writer_floats (c->m.writer, "w", 4, DIMS (n, n, 1, 1), ones);
  sl_onnx_writer_node (c->m.writer, "Conv", "x,w", "held", NULL);
}

/* The result's elements, the first dimension fastest. */
static void
expect (Case *c)
{
  double expected[MOST];
  gsize n = 1;
  gint64 at[SL_MAX_RANK];
  for (guint i = 0; i < c->rank; i++)
    n *= (gsize) c->out[i];
  g_assert_cmpuint (n, <=, MOST);
  for (gsize e = 0; e < n; e++) {
    gsize rest = e;
    for (guint i = 0; i < c->rank; rest /= (gsize) c->out[i++])
      at[i] = (gint64) (rest % (gsize) c->out[i]);
    expected[e] = c->row->value (c, at);
  }
  sl_onnx_writer_node (c->m.writer, "Transpose", "y", "z", NULL);
  onnx_model_expect (&c->m, "z", c->row->whole ? SL_ONNX_INT64 : SL_ONNX_FLOAT, n, expected, c->row->tolerance);
}

static void
test_row (gconstpointer data)
{
  const Row *row = data;
  for (gint64 axis = -RANK; axis < RANK; axis++)
    for (guint form = 0; form < row->forms; form++)
      for (guint held = 0; held < 2; held++) {
        Case c = { .row = row, .axis = axis, .d = axis < 0 ? axis + RANK : axis, .form = form, .rank = RANK };
        memcpy (c.dims, row->dims[0] > 0 ? row->dims : DIMS (2, 3, 4, 5), sizeof c.dims);
        memcpy (c.out, c.dims, sizeof c.dims);
        onnx_model_init (&c.m, row->opset, 3 + form);
        add_data (&c, (gboolean) held);
        row->build (&c);
        expect (&c);
        onnx_model_clear (&c.m);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_strdup_printf ("/onnx-axes/%s-%u", rows[i].op, rows[i].opset);
    g_test_add_data_func (path, &rows[i], test_row);
  }
  return g_test_run ();
}
