/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TRANSPOSE of RESHAPE of TRANSPOSE becomes one TRANSPOSE: against the definition of the three,
 * element by element. Others stay as they are. */
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

/** @merged: whether one TRANSPOSE does; @read_twice: what the first one makes is an output, too */
typedef struct
{
  SlDtype dtype;
  guint rank, middle_rank;
  gint32 dims[6], first[6], middle[6], last[6];
  gboolean merged, read_twice;
} Case;

static const Case cases[] = {
  /* values of heads to pictures of pixels, as exporters write deformable attention */
  { SL_DTYPE_F32,
    5,
    4,
    { 1, 6, 5, 3, 7 },
    { 0, 3, 4, 1, 2 },
    { 3, 7, 6, 5 },
    { 0, 2, 3, 1 },
    TRUE,
    FALSE },
  /* heads back to channels, which the reshape joins */
  { SL_DTYPE_F32, 3, 3, { 3, 11, 7 }, { 0, 2, 1 }, { 1, 21, 11 }, { 0, 2, 1 }, TRUE, FALSE },
  { SL_DTYPE_U8, 3, 3, { 3, 11, 7 }, { 0, 2, 1 }, { 1, 21, 11 }, { 0, 2, 1 }, TRUE, FALSE },
  /* the reshape divides a dimension */
  { SL_DTYPE_F32, 2, 3, { 5, 12 }, { 1, 0 }, { 4, 3, 5 }, { 1, 2, 0 }, TRUE, FALSE },
  /* the reshape mixes dimensions that the first one moved */
  { SL_DTYPE_F32, 2, 2, { 4, 6 }, { 1, 0 }, { 8, 3 }, { 1, 0 }, FALSE, FALSE },
  { SL_DTYPE_F32, 3, 3, { 3, 11, 7 }, { 0, 2, 1 }, { 1, 21, 11 }, { 0, 2, 1 }, FALSE, TRUE },
};

/* The elements at @from, of @size bytes, in the order of the turned dimensions. */
static guint8 *
turned (const guint8 *from, gsize size, guint rank, const gint32 *dims, const gint32 *order)
{
  gsize n = size, strides[6], at[6] = { 0 };
  for (guint i = rank; i-- > 0; n *= (gsize) dims[i])
    strides[i] = n;
  guint8 *to = g_malloc (n);
  for (gsize k = 0; k < n; k += size) {
    gsize place = 0;
    for (guint i = 0; i < rank; i++)
      place += at[i] * strides[order[i]];
    for (gsize b = 0; b < size; b++)
      to[k + b] = from[place + b];
    for (guint i = rank; i-- > 0 && ++at[i] == (gsize) dims[order[i]];)
      at[i] = 0;
  }
  return to;
}

static void
build (Check *check, const Case *c)
{
  const gfloat scale = c->dtype == SL_DTYPE_U8 ? 0.5f : 0;
  SlOpParams reshape = { .reshape = { .count = c->middle_rank } };
  for (guint i = 0; i < c->middle_rank; i++)
    reshape.reshape.dims[i] = c->middle[i];
  const gint32 x = check_input (check, c->dtype, c->rank, c->dims, scale, 0),
               y = check_output (check, c->dtype, scale, 0);
  const gint32 a = c->read_twice ? check_output (check, c->dtype, scale, 0)
                                 : check_middle (check, c->dtype, scale, 0),
               b = check_middle (check, c->dtype, scale, 0);
  check_node (check, SL_OP_TRANSPOSE, (gint32[]){ x, check_ints (check, c->rank, c->first) }, 2, a,
              NULL);
  check_node (check, SL_OP_RESHAPE, &a, 1, b, &reshape);
  check_node (check, SL_OP_TRANSPOSE, (gint32[]){ b, check_ints (check, c->middle_rank, c->last) },
              2, y, NULL);
  check_prepare (check);
}

static guint
count_transposes (const SlGraph *graph)
{
  guint n = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    n += sl_graph_node (graph, i)->op == SL_OP_TRANSPOSE;
  return n;
}

static void
test_cases (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    const Case *c = &cases[k];
    const gsize size = sl_dtype_size (c->dtype);
    gsize n = 1;
    Check check;
    check_init (&check, k);
    build (&check, c);
    for (guint i = 0; i < c->rank; i++)
      n *= (gsize) c->dims[i];
    check_random (&check, c->dtype, n, check.input_data[0]);
    g_autofree guint8 *half = turned (check.input_data[0], size, c->rank, c->dims, c->first),
                      *expected = turned (half, size, c->middle_rank, c->middle, c->last);
    g_assert_cmpuint (count_transposes (check.graph), ==, c->merged ? 1 : 2);
    for (guint threads = 1; threads <= 2; threads++) {
      void *got = check_run (&check, threads == 1, threads);
      g_assert_cmpmem (got, n * size, expected, n * size);
      sl_tensor_buffer_free (got);
    }
    check_clear (&check);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/merge-moves", test_cases);
  return g_test_run ();
}
