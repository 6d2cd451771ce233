/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attention whose masks are the least numbers, and masks that are not what they resemble. */
#include <float.h>
#include <math.h>

#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define KEYS 700
#define QUERIES 3
#define DEPTH 8
#define SMALL 6

/* Scores of @queries and @keys, two inputs. */
static gint32
scores_of (Check *check, gint32 queries, gint32 keys)
{
  const gint32 q = check_input (check, SL_DTYPE_F32, 2, (gint32[]){ queries, DEPTH }, 0, 0),
               k = check_input (check, SL_DTYPE_F32, 2, (gint32[]){ DEPTH, keys }, 0, 0);
  return check_float_node (check, SL_OP_BATCH_MATMUL, q, k, &(SlOpParams){ 0 });
}

/* The rest, with values for an input; whether it became attention. */
static gboolean
finish (Check *check, gint32 scores, gint32 keys)
{
  const gint32 v = check_input (check, SL_DTYPE_F32, 2, (gint32[]){ keys, DEPTH }, 0, 0),
               shares = check_float_node (check, SL_OP_SOFTMAX, scores, -1,
                                          &(SlOpParams){ .softmax = { 1 } }),
               y = check_output (check, SL_DTYPE_F32, 0, 0);
  check_node (check, SL_OP_BATCH_MATMUL, (gint32[]){ shares, v }, 2, y, &(SlOpParams){ 0 });
  check_prepare (check);
  for (guint i = 0; i < sl_graph_n_nodes (check->graph); i++)
    if (sl_graph_node (check->graph, i)->op == SL_OP_ATTENTION)
      return TRUE;
  return FALSE;
}

/* Scores are nothing beside the least number, so a query whose keys all have it for a mask has the
 * mean of the values; with one key that is not masked, or has the largest, that one's. */
static void
test_lowest (void)
{
  Check check;
  check_init (&check, 3);
  const gint32 scores = scores_of (&check, QUERIES, KEYS),
               mask = check_input (&check, SL_DTYPE_F32, 2, (gint32[]){ 1, KEYS }, 0, 0);
  g_assert_true (
    finish (&check, check_float_node (&check, SL_OP_ADD, scores, mask, &(SlOpParams){ 0 }), KEYS));
  gfloat *masks = check.input_data[2];
  const gfloat *values = check.input_data[3];
  for (guint i = 0; i < 12; i++) {
    const gint32 shown = i < 4 ? -1 : i % 4 < 2 ? 2 : KEYS - 1;
    for (gint32 k = 0; k < KEYS; k++)
      masks[k] = i >= 8 ? (k == shown ? FLT_MAX : 0) : k == shown ? 0 : -FLT_MAX;
    gfloat *out = check_run (&check, i % 2 == 1, 1 + i / 2 % 2);
    for (gint32 d = 0; d < DEPTH; d++) {
      double sum = 0;
      for (gint32 k = 0; k < KEYS; k++)
        sum += shown < 0 || shown == k ? (double) values[k * DEPTH + d] : 0;
      for (gint32 q = 0; q < QUERIES; q++)
        g_assert_cmpfloat_with_epsilon ((double) out[q * DEPTH + d], sum / (shown < 0 ? KEYS : 1),
                                        1e-5);
    }
    sl_tensor_buffer_free (out);
  }
  check_clear (&check);
}

/* Scores times @hidden where a query has not the key, then less 10000. */
static gboolean
becomes_attention (gfloat hidden)
{
  gfloat times[SMALL * SMALL], less[SMALL * SMALL];
  Check check;
  for (gint32 i = 0; i < SMALL * SMALL; i++) {
    times[i] = i % SMALL <= i / SMALL ? 1 : hidden;
    less[i] = i % SMALL <= i / SMALL ? 0 : 10000;
  }
  check_init (&check, 4);
  const gint32 dims[] = { SMALL, SMALL };
  const gint32 by = check_constant (&check, SL_DTYPE_F32, 2, dims, NULL, 0, 0, 0, times),
               from = check_constant (&check, SL_DTYPE_F32, 2, dims, NULL, 0, 0, 0, less);
  const gint32 scores =
    check_float_node (&check, SL_OP_MUL, scores_of (&check, SMALL, SMALL), by, &(SlOpParams){ 0 });
  const gboolean is =
    finish (&check, check_float_node (&check, SL_OP_SUB, scores, from, &(SlOpParams){ 0 }), SMALL);
  check_clear (&check);
  return is;
}

/* A factor that makes hidden scores larger than what is taken from them is no mask. */
static void
test_times (void)
{
  g_assert_true (becomes_attention (0));
  g_assert_true (becomes_attention (-1));
  g_assert_true (becomes_attention (0.5f));
  g_assert_false (becomes_attention (1e6f));
  g_assert_false (becomes_attention (-2));
  g_assert_false (becomes_attention (NAN));
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/attention_masks/lowest", test_lowest);
  g_test_add_func ("/core/attention_masks/times", test_times);
  return g_test_run ();
}
