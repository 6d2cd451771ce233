/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that only move elements: every output element must be the input element the test names.
 */
#include <string.h>

#include "tests/ops/opmodel.h"
#include "tests/support/program.h"

static const SlDtype dtypes[] = { SL_DTYPE_F32, SL_DTYPE_I8,  SL_DTYPE_U8,  SL_DTYPE_I16,
                                  SL_DTYPE_I32, SL_DTYPE_I64, SL_DTYPE_BOOL };

static gfloat
scale_of (SlDtype dtype)
{
  return dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I16 ? 0.5f : 0;
}

static gint32
zero_of (SlDtype dtype)
{
  return dtype == SL_DTYPE_I8 ? -7 : dtype == SL_DTYPE_U8 ? 9 : 0;
}

/* Where output element @position comes from: FALSE = it is padding, 0. */
typedef gboolean (*Source) (const OpModel *m, const gint32 *position, gint32 *from);

static void
expect_moved (OpModel *m, guint output, Source source)
{
  const SlTfliteTensor *t = &m->out[output];
  g_autofree double *expected = g_new0 (double, om_elements (t));
  for (gsize i = 0; i < om_elements (t); i++) {
    gint32 position[SL_MAX_RANK] = { 0 }, from[SL_MAX_RANK] = { 0 };
    om_place (t, i, position);
    if (source (m, position, from))
      expected[i] = om_real (m, 0, om_at (&m->in[0], from));
  }
  om_expect (m, output, expected, 0);
}

static void
add_input (OpModel *m, SlDtype dtype, guint rank, const gint32 *dims)
{
  om_input (m, dtype, rank, dims, scale_of (dtype), zero_of (dtype));
}

static void
add_output (OpModel *m, SlDtype dtype, guint rank, const gint32 *dims)
{
  om_output (m, dtype, rank, dims, scale_of (dtype), zero_of (dtype));
}

static gboolean
from_transposed (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[2] = p[0];
  from[0] = p[1];
  from[3] = p[2];
  from[1] = p[3];
  return TRUE;
}

static gboolean
from_swapped (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[1];
  from[1] = p[0];
  return TRUE;
}

static void
test_transpose (void)
{
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++) {
    OpModel m;
    om_init (&m, SL_OP_TRANSPOSE, NULL, t);
    add_input (&m, dtypes[t], 4, DIMS (3, 5, 2, 7));
    om_ints (&m, 4, DIMS (2, 0, 3, 1));
    add_output (&m, dtypes[t], 4, DIMS (2, 3, 7, 5));
    expect_moved (&m, 0, from_transposed);
    om_clear (&m);
    om_init (&m, SL_OP_TRANSPOSE, NULL, t); /* larger than a tile, several threads' worth */
    add_input (&m, dtypes[t], 2, DIMS (171, 533));
    om_ints (&m, 2, DIMS (-1, 0));
    add_output (&m, dtypes[t], 2, DIMS (533, 171));
    expect_moved (&m, 0, from_swapped);
    om_clear (&m);
  }
}

static gboolean
from_slice (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[0] + 1;
  from[1] = p[1];
  from[2] = p[2] + 2;
  return TRUE;
}

static gboolean
from_strided (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = 3 - p[0];
  from[1] = 1 + 2 * p[1];
  from[2] = 4;
  return TRUE;
}

static gboolean
from_ellipsis (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[0];
  from[1] = p[1];
  from[2] = p[3] + 3;
  return TRUE;
}

static void
test_slice (void)
{
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++) {
    OpModel m;
    om_init (&m, SL_OP_SLICE, NULL, t);
    add_input (&m, dtypes[t], 3, DIMS (4, 6, 8));
    om_ints (&m, 3, DIMS (1, 0, 2));
    om_ints (&m, 3, DIMS (2, -1, 5));
    add_output (&m, dtypes[t], 3, DIMS (2, 6, 5));
    expect_moved (&m, 0, from_slice);
    om_clear (&m);
    /* [:-5:-1, 1::2, 4] of 4x6x8 */
    om_init (&m, SL_OP_STRIDED_SLICE,
             &(SlOpParams){ .slice = { .begin_mask = 1, .end_mask = 2, .shrink_axis_mask = 4 } },
             t);
    add_input (&m, dtypes[t], 3, DIMS (4, 6, 8));
    om_ints (&m, 3, DIMS (0, 1, 4));
    om_ints (&m, 3, DIMS (-5, 0, 5));
    om_ints (&m, 3, DIMS (-1, 2, 1));
    add_output (&m, dtypes[t], 2, DIMS (4, 3));
    expect_moved (&m, 0, from_strided);
    om_clear (&m);
    /* [..., newaxis, 3:7] */
    om_init (&m, SL_OP_STRIDED_SLICE,
             &(SlOpParams){ .slice = { .ellipsis_mask = 1, .new_axis_mask = 2 } }, t);
    add_input (&m, dtypes[t], 3, DIMS (4, 6, 8));
    om_ints (&m, 3, DIMS (0, 0, 3));
    om_ints (&m, 3, DIMS (0, 0, 7));
    om_ints (&m, 3, DIMS (1, 1, 1));
    add_output (&m, dtypes[t], 4, DIMS (4, 6, 1, 4));
    expect_moved (&m, 0, from_ellipsis);
    om_clear (&m);
  }
}

static gboolean
from_second_third (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[0];
  from[1] = p[1] + 3;
  from[2] = p[2];
  return TRUE;
}

static gboolean
from_unpacked (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[0];
  from[1] = 2;
  from[2] = p[1];
  return TRUE;
}

static void
test_split (void)
{
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++) {
    OpModel m;
    om_init (&m, SL_OP_SPLIT, NULL, t);
    om_scalar (&m, 1);
    add_input (&m, dtypes[t], 3, DIMS (2, 9, 4));
    for (guint i = 0; i < 3; i++)
      add_output (&m, dtypes[t], 3, DIMS (2, 3, 4));
    expect_moved (&m, 1, from_second_third);
    om_clear (&m);
    om_init (&m, SL_OP_SPLIT_V, NULL, t);
    add_input (&m, dtypes[t], 3, DIMS (2, 9, 4));
    om_ints (&m, 3, DIMS (3, -1, 2));
    om_scalar (&m, -2);
    add_output (&m, dtypes[t], 3, DIMS (2, 3, 4));
    add_output (&m, dtypes[t], 3, DIMS (2, 4, 4));
    add_output (&m, dtypes[t], 3, DIMS (2, 2, 4));
    expect_moved (&m, 1, from_second_third);
    om_clear (&m);
    om_init (&m, SL_OP_UNPACK, &(SlOpParams){ .axis = { .axis = 1, .count = 3 } }, t);
    add_input (&m, dtypes[t], 3, DIMS (5, 3, 4));
    for (guint i = 0; i < 3; i++)
      add_output (&m, dtypes[t], 2, DIMS (5, 4));
    expect_moved (&m, 2, from_unpacked);
    om_clear (&m);
  }
}

static gboolean
from_the_other_end (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[0];
  from[1] = 127 - p[1];
  return TRUE;
}

/* Models write a depthwise convolution as so many single channels: cut apart, and joined backwards.
 */
static void
test_split_many (void)
{
  OpModel m;
  om_init (&m, SL_OP_CONCATENATION, &(SlOpParams){ .concat = { .axis = 1 } }, 0);
  add_input (&m, SL_DTYPE_F32, 2, DIMS (2, 128));
  const gint32 axis = sl_tflite_writer_tensor (
    m.writer, &(SlTfliteTensor){ .dtype = SL_DTYPE_I32, .data = (gint32[]){ 1 } });
  SlTfliteOp cut = {
    .op = SL_OP_SPLIT, .n_inputs = 2, .inputs = { axis, m.inputs[0] }, .n_outputs = 128
  };
  for (guint i = 0; i < 128; i++) {
    cut.outputs[i] = sl_tflite_writer_tensor (
      m.writer, &(SlTfliteTensor){ .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 2, 1 } });
    m.op.inputs[127 - i] = cut.outputs[i];
  }
  m.op.n_inputs = 128;
  sl_tflite_writer_op (m.writer, &cut);
  add_output (&m, SL_DTYPE_F32, 2, DIMS (2, 128));
  expect_moved (&m, 0, from_the_other_end);
  om_clear (&m);
}

static void
test_pack (void)
{
  for (gint32 axis = -1; axis < 3; axis++) {
    const guint at = (guint) (axis < 0 ? 2 : axis);
    const gint32 dims[3][3] = { { 3, 4, 5 }, { 4, 3, 5 }, { 4, 5, 3 } };
    OpModel m;
    om_init (&m, SL_OP_PACK, &(SlOpParams){ .axis = { .axis = axis, .count = 3 } }, 3);
    for (guint i = 0; i < 3; i++)
      add_input (&m, SL_DTYPE_F32, 2, DIMS (4, 5));
    add_output (&m, SL_DTYPE_F32, 3, dims[at]);
    double expected[60];
    for (gsize i = 0; i < 60; i++) {
      gint32 p[3], q[2];
      om_place (&m.out[0], i, p);
      for (guint k = 0, n = 0; k < 3; k++)
        if (k != at)
          q[n++] = p[k];
      expected[i] = om_real (&m, (guint) p[at], om_at (&m.in[0], q));
    }
    om_expect (&m, 0, expected, 0);
    om_clear (&m);
  }
}

static gboolean
from_tiled (const OpModel *m, const gint32 *p, gint32 *from)
{
  for (guint i = 0; i < 3; i++)
    from[i] = p[i] % m->in[0].dims[i];
  return TRUE;
}

static gboolean
from_broadcast (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[1];
  from[1] = 0;
  return TRUE;
}

static void
test_tile (void)
{
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++) {
    OpModel m;
    om_init (&m, SL_OP_TILE, NULL, t);
    add_input (&m, dtypes[t], 3, DIMS (2, 1, 5));
    om_ints (&m, 3, DIMS (3, 4, 2));
    add_output (&m, dtypes[t], 3, DIMS (6, 4, 10));
    expect_moved (&m, 0, from_tiled);
    om_clear (&m);
    om_init (&m, SL_OP_BROADCAST_TO, NULL, t);
    add_input (&m, dtypes[t], 2, DIMS (4, 1));
    om_ints (&m, 3, DIMS (3, 4, 6));
    add_output (&m, dtypes[t], 3, DIMS (3, 4, 6));
    expect_moved (&m, 0, from_broadcast);
    om_clear (&m);
  }
}

static gboolean
from_reversed (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = 2 - p[0];
  from[1] = p[1];
  from[2] = 4 - p[2];
  return TRUE;
}

static void
test_reverse (void)
{
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++) {
    OpModel m;
    om_init (&m, SL_OP_REVERSE_V2, NULL, t);
    add_input (&m, dtypes[t], 3, DIMS (3, 4, 5));
    om_ints (&m, 2, DIMS (0, -1));
    add_output (&m, dtypes[t], 3, DIMS (3, 4, 5));
    expect_moved (&m, 0, from_reversed);
    om_clear (&m);
  }
}

static gboolean
from_padded (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[0];
  from[1] = p[1] - 2;
  from[2] = p[2] - 1;
  return from[1] >= 0 && from[1] < 5 && from[2] >= 0 && from[2] < 4;
}

static gint32
mirrored (gint32 at, gint32 n, gint32 edge)
{
  return at < 0 ? -at - 1 + edge : at >= n ? 2 * n - 1 - edge - at : at;
}

static gboolean
from_reflected (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[0];
  from[1] = mirrored (p[1] - 2, 5, 1);
  from[2] = mirrored (p[2] - 1, 4, 1);
  return TRUE;
}

static gboolean
from_symmetric (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[0];
  from[1] = mirrored (p[1] - 2, 5, 0);
  from[2] = mirrored (p[2] - 1, 4, 0);
  return TRUE;
}

static void
test_pad (void)
{
  static const struct
  {
    SlOpType op;
    gboolean symmetric;
    Source source;
  } rows[] = { { SL_OP_PAD, FALSE, from_padded },
               { SL_OP_MIRROR_PAD, FALSE, from_reflected },
               { SL_OP_MIRROR_PAD, TRUE, from_symmetric } };
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++)
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
      OpModel m;
      om_init (&m, rows[i].op, &(SlOpParams){ .mirror = { rows[i].symmetric } }, t);
      add_input (&m, dtypes[t], 3, DIMS (2, 5, 4));
      om_constant (&m, SL_DTYPE_I32, 2, DIMS (3, 2), 0, 0, DIMS (0, 0, 2, 1, 1, 3));
      add_output (&m, dtypes[t], 3, DIMS (2, 8, 8));
      expect_moved (&m, 0, rows[i].source);
      om_clear (&m);
    }
  OpModel m;
  const gfloat value = -3.5f;
  double expected[5] = { -3.5, 0, 0, 0, -3.5 };
  om_init (&m, SL_OP_PADV2, NULL, 1);
  add_input (&m, SL_DTYPE_F32, 1, DIMS (3));
  om_constant (&m, SL_DTYPE_I32, 2, DIMS (1, 2), 0, 0, DIMS (1, 1));
  om_constant (&m, SL_DTYPE_F32, 0, NULL, 0, 0, &value);
  add_output (&m, SL_DTYPE_F32, 1, DIMS (5));
  for (gsize i = 0; i < 3; i++)
    expected[i + 1] = om_real (&m, 0, i);
  om_expect (&m, 0, expected, 0);
  om_clear (&m);
}

static gboolean
from_depth (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[0];
  from[1] = p[1] / 2;
  from[2] = p[2] / 2;
  from[3] = (p[1] % 2 * 2 + p[2] % 2) * 3 + p[3];
  return TRUE;
}

static gboolean
from_space (const OpModel *m, const gint32 *p, gint32 *from)
{
  from[0] = p[0];
  from[1] = p[1] * 2 + p[3] / 3 / 2;
  from[2] = p[2] * 2 + p[3] / 3 % 2;
  from[3] = p[3] % 3;
  return TRUE;
}

static gboolean
from_space_to_batch (const OpModel *m, const gint32 *p, gint32 *from)
{
  const gint32 place = p[0] / 2;
  from[0] = p[0] % 2;
  from[1] = p[1] * 2 + place / 3 - 1;
  from[2] = p[2] * 3 + place % 3;
  from[3] = p[3];
  return from[1] >= 0 && from[1] < 4 && from[2] < 5;
}

static gboolean
from_batch_to_space (const OpModel *m, const gint32 *p, gint32 *from)
{
  const gint32 y = p[1] + 1, x = p[2];
  from[0] = (y % 2 * 3 + x % 3) * 2 + p[0];
  from[1] = y / 2;
  from[2] = x / 3;
  from[3] = p[3];
  return TRUE;
}

static void
test_space (void)
{
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++) {
    const SlOpParams two = { .block = { 2 } };
    OpModel m;
    om_init (&m, SL_OP_DEPTH_TO_SPACE, &two, t);
    add_input (&m, dtypes[t], 4, DIMS (2, 3, 4, 12));
    add_output (&m, dtypes[t], 4, DIMS (2, 6, 8, 3));
    expect_moved (&m, 0, from_depth);
    om_clear (&m);
    om_init (&m, SL_OP_SPACE_TO_DEPTH, &two, t);
    add_input (&m, dtypes[t], 4, DIMS (2, 6, 8, 3));
    add_output (&m, dtypes[t], 4, DIMS (2, 3, 4, 12));
    expect_moved (&m, 0, from_space);
    om_clear (&m);
    om_init (&m, SL_OP_SPACE_TO_BATCH_ND, NULL, t);
    add_input (&m, dtypes[t], 4, DIMS (2, 4, 5, 3));
    om_ints (&m, 2, DIMS (2, 3));
    om_constant (&m, SL_DTYPE_I32, 2, DIMS (2, 2), 0, 0, DIMS (1, 1, 0, 1));
    add_output (&m, dtypes[t], 4, DIMS (12, 3, 2, 3));
    expect_moved (&m, 0, from_space_to_batch);
    om_clear (&m);
    om_init (&m, SL_OP_BATCH_TO_SPACE_ND, NULL, t);
    add_input (&m, dtypes[t], 4, DIMS (12, 3, 2, 3));
    om_ints (&m, 2, DIMS (2, 3));
    om_constant (&m, SL_DTYPE_I32, 2, DIMS (2, 2), 0, 0, DIMS (1, 1, 0, 1));
    add_output (&m, dtypes[t], 4, DIMS (2, 4, 5, 3));
    expect_moved (&m, 0, from_batch_to_space);
    om_clear (&m);
  }
}

static gboolean
from_gathered (const OpModel *m, const gint32 *p, gint32 *from)
{
  static const gint32 indices[2][2] = { { 2, 0 }, { 3, 3 } };
  from[0] = p[0];
  from[1] = indices[p[1]][p[2]];
  from[2] = p[3];
  return TRUE;
}

static gboolean
from_gathered_nd (const OpModel *m, const gint32 *p, gint32 *from)
{
  static const gint32 indices[3][2] = { { 1, 3 }, { 0, 0 }, { 1, 1 } };
  from[0] = indices[p[0]][0];
  from[1] = indices[p[0]][1];
  from[2] = p[1];
  return TRUE;
}

static void
test_gather (void)
{
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++) {
    OpModel m;
    om_init (&m, SL_OP_GATHER, &(SlOpParams){ .axis = { .axis = -2 } }, t);
    add_input (&m, dtypes[t], 3, DIMS (2, 4, 3));
    om_constant (&m, SL_DTYPE_I32, 2, DIMS (2, 2), 0, 0, DIMS (2, 0, 3, 3));
    add_output (&m, dtypes[t], 4, DIMS (2, 2, 2, 3));
    expect_moved (&m, 0, from_gathered);
    om_clear (&m);
    om_init (&m, SL_OP_GATHER_ND, NULL, t);
    add_input (&m, dtypes[t], 3, DIMS (2, 4, 3));
    om_constant (&m, SL_DTYPE_I32, 2, DIMS (3, 2), 0, 0, DIMS (1, 3, 0, 0, 1, 1));
    add_output (&m, dtypes[t], 2, DIMS (3, 3));
    expect_moved (&m, 0, from_gathered_nd);
    om_clear (&m);
  }
}

/* Computed indices outside the tensor read its edge, never beyond it. */
static void
test_gather_limits (void)
{
  OpModel m;
  om_init (&m, SL_OP_GATHER, NULL, 1);
  add_input (&m, SL_DTYPE_F32, 1, DIMS (5));
  const guint indices = om_input (&m, SL_DTYPE_I32, 1, DIMS (4), 0, 0);
  memcpy (m.data[indices], DIMS (-7, 2, 5, G_MAXINT32), 16);
  add_output (&m, SL_DTYPE_F32, 1, DIMS (4));
  const double expected[] = { om_real (&m, 0, 0), om_real (&m, 0, 2), om_real (&m, 0, 4),
                              om_real (&m, 0, 4) };
  om_expect (&m, 0, expected, 0);
  om_clear (&m);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/transpose", test_transpose);
  g_test_add_func ("/ops/slice", test_slice);
  g_test_add_func ("/ops/split", test_split);
  g_test_add_func ("/ops/split-many", test_split_many);
  g_test_add_func ("/ops/pack", test_pack);
  g_test_add_func ("/ops/tile", test_tile);
  g_test_add_func ("/ops/reverse", test_reverse);
  g_test_add_func ("/ops/pad", test_pad);
  g_test_add_func ("/ops/space", test_space);
  g_test_add_func ("/ops/gather", test_gather);
  g_test_add_func ("/ops/gather/limits", test_gather_limits);
  return g_test_run ();
}
