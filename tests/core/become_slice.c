/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A channel shuffle as FastestDet's file has it becomes slices: against its definition, elements
 * exactly. Other moves stay as they are. */
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

/** @groups that channels are dealt to, of @channels each; @taken: the group that is the output
 * @turned: height and width change places, so that it is no slice */
typedef struct
{
  SlDtype dtype;
  gint32 groups, channels, h, w, taken;
  gboolean turned;
} Case;

static const Case cases[] = {
  { SL_DTYPE_F32, 2, 24, 5, 7, 0, FALSE }, { SL_DTYPE_F32, 2, 24, 5, 7, 1, FALSE },
  { SL_DTYPE_F32, 2, 2, 3, 3, 1, FALSE },  { SL_DTYPE_F32, 2, 6, 4, 4, 1, FALSE },
  { SL_DTYPE_F32, 3, 5, 2, 9, 2, FALSE },  { SL_DTYPE_U8, 2, 18, 6, 3, 1, FALSE },
  { SL_DTYPE_F32, 2, 12, 4, 4, 1, TRUE },
};

/* To planes, to groups of channels, one of these, and back to pixels. */
static void
build (Check *check, const Case *c)
{
  const gint32 dims[4] = { 1, c->h, c->w, c->groups * c->channels };
  const gint32 to_planes[4] = { 0, 3, 1, 2 }, to_groups[3] = { 1, 0, 2 };
  const gint32 back[4] = { 0, c->turned ? 3 : 2, c->turned ? 2 : 3, 1 };
  const gfloat scale = c->dtype == SL_DTYPE_U8 ? 0.5f : 0;
  gint32 at = check_input (check, c->dtype, 4, dims, scale, 0), next;
  SlOpParams dealt = { .reshape = { .count = 3, .dims = { c->channels, c->groups, c->h * c->w } } };
  SlOpParams planes = { .reshape = { .count = 5,
                                     .dims = { c->groups, 1, c->channels, c->h, c->w } } };
  next = check_middle (check, c->dtype, scale, 0);
  check_node (check, SL_OP_TRANSPOSE, (gint32[]){ at, check_ints (check, 4, to_planes) }, 2, next,
              NULL);
  at = check_middle (check, c->dtype, scale, 0);
  check_node (check, SL_OP_RESHAPE, &next, 1, at, &dealt);
  next = check_middle (check, c->dtype, scale, 0);
  check_node (check, SL_OP_TRANSPOSE, (gint32[]){ at, check_ints (check, 3, to_groups) }, 2, next,
              NULL);
  at = check_middle (check, c->dtype, scale, 0);
  check_node (check, SL_OP_RESHAPE, &next, 1, at, &planes);
  next = check_middle (check, c->dtype, scale, 0);
  const gint32 taken =
    check_constant (check, SL_DTYPE_I32, 0, NULL, NULL, 0, 0, 0,
                    sl_arena_memdup (sl_graph_arena (check->graph), &c->taken, sizeof c->taken));
  check_node (check, SL_OP_GATHER, (gint32[]){ at, taken }, 2, next,
              &(SlOpParams){ .axis = { 0 } });
  at = check_output (check, c->dtype, scale, 0);
  check_node (check, SL_OP_TRANSPOSE, (gint32[]){ next, check_ints (check, 4, back) }, 2, at, NULL);
  check_prepare (check);
}

/* Where in the input element @i of the output is. */
static gsize
place_of (const Case *c, gsize i)
{
  const gsize channel = i % (gsize) c->channels, pixel = i / (gsize) c->channels, h = (gsize) c->h,
              w = (gsize) c->w;
  const gsize from = c->turned ? pixel % h * w + pixel / h : pixel;
  return (from * (gsize) c->channels + channel) * (gsize) c->groups + (gsize) c->taken;
}

static void
test_cases (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    const Case *c = &cases[k];
    const gsize n = (gsize) (c->h * c->w * c->channels), size = sl_dtype_size (c->dtype);
    Check check;
    check_init (&check, k);
    build (&check, c);
    check_random (&check, c->dtype, n * (gsize) c->groups, check.input_data[0]);
    if (!c->turned) {
      g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 1);
      g_assert_cmpint (sl_graph_node (check.graph, 0)->op, ==, SL_OP_STRIDED_SLICE);
    }
    for (guint threads = 1; threads <= 2; threads++) {
      guint8 *got = check_run (&check, threads == 1, threads);
      for (gsize i = 0; i < n; i++)
        g_assert_cmpmem (got + i * size, size,
                         (const guint8 *) check.input_data[0] + place_of (c, i) * size, size);
      sl_tensor_buffer_free (got);
    }
    check_clear (&check);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/become-slice", test_cases);
  return g_test_run ();
}
