/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs rows: the data is held in ONNX's order, or a convolution left it channels last. What is
 * compared is the result with its dimensions reversed, so that another shape of as many elements is
 * seen, too.
 */
#include "tests/ops/onnxaxes.h"

#include <math.h>
#include <string.h>

#define MOST 2000

double
axis_element (const gint64 *dims, const gfloat *x, const gint64 *at)
{
  gint64 place = 0;
  for (guint i = 0; i < AXIS_RANK; i++)
    place = place * dims[i] + at[i];
  return (double) x[place];
}

double
axis_data_at (const AxisCase *c, const gint64 *at)
{
  return axis_element (c->dims, c->x, at);
}

void
axis_add (AxisCase *c, const char *more, const char *a, const char *b)
{
  g_autofree char *inputs = g_strconcat (c->data, more, NULL);
  sl_onnx_writer_node (c->m.writer, c->row->op, inputs, "y", a != NULL ? a : "unused i 0", b, NULL);
}

char *
axis_text (const AxisCase *c)
{
  return g_strdup_printf ("axis i %d", (int) c->axis);
}

void
axis_add_along (AxisCase *c, const char *more, const char *attribute)
{
  g_autofree char *axis = axis_text (c);
  axis_add (c, more, axis, attribute);
}

void
axis_base_of (const AxisCase *c, const gint64 *at, gint64 base[AXIS_RANK])
{
  for (gint64 i = 0, from = 0; i < AXIS_RANK; i++) {
    base[i] = i == c->d ? 0 : at[from];
    from += i != c->d || c->rank == AXIS_RANK;
  }
}

void
axis_drop (AxisCase *c, gboolean keep)
{
  c->out[c->d] = 1;
  for (gint64 i = c->d; i < AXIS_RANK - 1 && !keep; i++)
    c->out[i] = c->dims[i + 1];
  c->rank = keep ? AXIS_RANK : AXIS_RANK - 1;
}

/* The data, passed on by a convolution that changes nothing where @held says so. */
static void
add_data (AxisCase *c, gboolean held)
{
  const gint64 n = c->dims[1];
  g_autofree gfloat *ones = g_new0 (gfloat, (gsize) (n * n));
  for (gint64 i = 0; i < n; i++)
    ones[i * n + i] = 1;
  c->x = onnx_model_floats (&c->m, "x", AXIS_RANK, c->dims);
  /* Sums have logarithms. */
  for (gint64 i = 0; i < c->dims[0] * n * c->dims[2] * c->dims[3]; i++)
    if (strcmp (c->row->op, "ReduceLogSum") == 0)
      ((gfloat *) c->x)[i] = fabsf (c->x[i]) + 0.1f;
  c->data = held ? "held" : "x";
  if (!held)
    return;
  sl_onnx_writer_floats (c->m.writer, "w", 4, AXIS_DIMS (n, n, 1, 1), ones);
  sl_onnx_writer_node (c->m.writer, "Conv", "x,w", "held", NULL);
}

/* The result's elements, the first dimension fastest. */
static void
expect (AxisCase *c)
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
  onnx_model_expect (&c->m, "z", c->row->whole ? SL_ONNX_INT64 : SL_ONNX_FLOAT, n, expected,
                     c->row->tolerance);
}

static void
test_row (gconstpointer data)
{
  const AxisRow *row = data;
  for (gint64 axis = -AXIS_RANK; axis < AXIS_RANK; axis++)
    for (guint form = 0; form < row->forms; form++)
      for (guint held = 0; held < 2; held++) {
        AxisCase c = { .row = row,
                       .axis = axis,
                       .d = axis < 0 ? axis + AXIS_RANK : axis,
                       .form = form,
                       .rank = AXIS_RANK };
        memcpy (c.dims, row->dims[0] > 0 ? row->dims : AXIS_DIMS (2, 3, 4, 5), sizeof c.dims);
        memcpy (c.out, c.dims, sizeof c.dims);
        onnx_model_init (&c.m, row->opset, 3 + form);
        add_data (&c, (gboolean) held);
        row->build (&c);
        expect (&c);
        onnx_model_clear (&c.m);
      }
}

int
axis_run (int argc, char **argv, const AxisRow *rows, guint n)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = g_strdup_printf ("/onnx-axes/%s-%u", rows[i].op, rows[i].opset);
    g_test_add_data_func (path, &rows[i], test_row);
  }
  return g_test_run ();
}
