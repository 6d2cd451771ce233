/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks of pixels moved into channels before a convolution, in each way it is written, against
 * sums over the original pixels. */
#include "core/passes/prepare.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define H 6
#define W 8
#define C 3
#define O 5
#define MAX_OUT (H * W * O)

/** How blocks are written. */
typedef enum
{
  JOINED,       /* slices of slices, channels last */
  JOINED_FIRST, /* channels second, transposed before the convolution */
  SPACE_TO_DEPTH,
  ONE_PLACE_TWICE, /* the rest is left alone */
  DILATED,
  READ_TWICE, /* channels second; what the convolution reads is an output, too */
  SPELLINGS
} Spelling;

/* Rows first, then columns, as torch exports x[..., ::2, ::2]; order of the places: (0,0), (1,0),
 * (0,1), (1,1). */
static gint32
slice (Check *check, gint32 x, guint axis, gint32 start)
{
  gint32 begins[4] = { 0 }, strides[4] = { 1, 1, 1, 1 }, ends[4] = { 99, 99, 99, 99 };
  begins[axis] = start;
  strides[axis] = 2;
  const gint32 out = check_middle (check, SL_DTYPE_F32, 0, 0);
  const gint32 inputs[4] = { x, check_ints (check, 4, begins), check_ints (check, 4, ends),
                             check_ints (check, 4, strides) };
  check_node (check, SL_OP_STRIDED_SLICE, inputs, 4, out, NULL);
  return out;
}

static gint32
blocks_of (Check *check, Spelling spelling, gint32 x)
{
  const gboolean first = spelling == JOINED_FIRST || spelling == READ_TWICE;
  const guint row = first ? 2 : 1;
  gint32 parts[4];
  const gint32 deep = check_middle (check, SL_DTYPE_F32, 0, 0);
  if (spelling == SPACE_TO_DEPTH) {
    check_node (check, SL_OP_SPACE_TO_DEPTH, &x, 1, deep, &(SlOpParams){ .block = { 2 } });
    return deep;
  }
  for (gint32 i = 0; i < 4; i++)
    parts[i] =
      slice (check, slice (check, x, row, i % 2), row + 1, spelling == ONE_PLACE_TWICE ? 0 : i / 2);
  check_node (check, SL_OP_CONCATENATION, parts, 4, deep,
              &(SlOpParams){ .concat = { .axis = first ? 1 : 3 } });
  if (!first)
    return deep;
  const gint32 last = spelling == READ_TWICE ? check_output (check, SL_DTYPE_F32, 0, 0)
                                             : check_middle (check, SL_DTYPE_F32, 0, 0);
  check_node (check, SL_OP_TRANSPOSE,
              (gint32[]){ deep, check_ints (check, 4, (gint32[]){ 0, 2, 3, 1 }) }, 2, last, NULL);
  return last;
}

/* Channel @i of block (@y, @x), 0 outside. */
static double
block_value (Spelling spelling, const gfloat *in, gint32 y, gint32 x, gint32 i)
{
  const gint32 place = i / C, down = spelling == SPACE_TO_DEPTH ? place / 2 : place % 2;
  const gint32 right = spelling == SPACE_TO_DEPTH    ? place % 2
                       : spelling == ONE_PLACE_TWICE ? 0
                                                     : place / 2;
  const gint32 row = 2 * y + down, column = 2 * x + right, c = i % C;
  if (y < 0 || x < 0 || row >= H || column >= W)
    return 0;
  const gboolean first = spelling == JOINED_FIRST || spelling == READ_TWICE;
  return (double) in[first ? (c * H + row) * W + column : (row * W + column) * C + c];
}

static void
check_spelling (Spelling spelling, gint32 stride)
{
  static const gint32 last[4] = { 1, H, W, C }, first[4] = { 1, C, H, W },
                      w_dims[4] = { O, 3, 3, 4 * C }, b_dims[1] = { O };
  const gint32 dilation = spelling == DILATED ? 2 : 1;
  const gboolean folded = spelling <= SPACE_TO_DEPTH;
  gfloat weights[O * 9 * 4 * C], bias[O];
  double expected[MAX_OUT];
  Check check;
  check_init (&check, (guint32) spelling);
  check_random (&check, SL_DTYPE_F32, G_N_ELEMENTS (weights), weights);
  check_random (&check, SL_DTYPE_F32, O, bias);
  const gint32 x =
    check_input (&check, SL_DTYPE_F32, 4,
                 spelling == JOINED_FIRST || spelling == READ_TWICE ? first : last, 0, 0);
  const gint32 w = check_constant (&check, SL_DTYPE_F32, 4, w_dims, NULL, 0, 0, 0, weights);
  const gint32 b = check_constant (&check, SL_DTYPE_F32, 1, b_dims, NULL, 0, 0, 0, bias);
  const gint32 y = check_output (&check, SL_DTYPE_F32, 0, 0),
               deep = blocks_of (&check, spelling, x);
  const SlOpParams params = { .window = { SL_PADDING_EXPLICIT, stride, stride, dilation, dilation,
                                          0, 0, 1, 2, 2, 1 } };
  check_node (&check, SL_OP_CONV_2D, (gint32[]){ deep, w, b }, 3, y, &params);
  check_prepare (&check);
  const SlNode *conv = sl_graph_node (check.graph, sl_graph_n_nodes (check.graph) - 1);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==,
                    !folded                    ? sl_graph_n_nodes (check.graph)
                    : spelling == JOINED_FIRST ? 2
                                               : 1);
  g_assert_cmpint (sl_node_input (check.graph, conv, 1)->dims[1], ==, folded ? 6 : 3);
  const gint32 *d = sl_graph_output_tensor (check.graph, 0)->dims;
  for (gint32 i = 0; i < d[1] * d[2] * O; i++) {
    const gint32 top = i / O / d[2] * stride - 1, left = i / O % d[2] * stride - 2;
    double sum = (double) bias[i % O];
    for (gint32 k = 0; k < 9 * 4 * C; k++)
      sum += (double) weights[i % O * 9 * 4 * C + k]
             * block_value (spelling, check.input_data[0], top + k / (12 * C) * dilation,
                            left + k / (4 * C) % 3 * dilation, k % (4 * C));
    expected[i] = sum;
  }
  check_expect (&check, expected, 1e-4, 1e-4);
  check_clear (&check);
}

static void
test_spellings (void)
{
  for (Spelling spelling = 0; spelling < SPELLINGS; spelling++)
    for (gint32 stride = 1; stride <= 2; stride++)
      check_spelling (spelling, stride);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fold_blocks", test_spellings);
  return g_test_run ();
}
