/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Max pooling by the float kernels: the largest number under each window, compared with a loop over
 * its pixels. Every instruction set of this machine, one to three threads.
 */
#include <math.h>
#include <string.h>

#include "core/backends/float/float_layers.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

/** @side_h, @side_w: of a window */
typedef struct
{
  gint32 n, h, w, channels, side_h, side_w, stride_h, stride_w;
  SlPadding padding;
  SlActivation limits;
} Case;

static const Case cases[] = {
  { 1, 13, 17, 24, 3, 3, 2, 2, SL_PADDING_SAME, SL_ACTIVATION_NONE },
  { 2, 12, 19, 19, 3, 3, 2, 2, SL_PADDING_VALID, SL_ACTIVATION_RELU6 },
  { 1, 10, 11, 1, 2, 2, 2, 2, SL_PADDING_VALID, SL_ACTIVATION_NONE },
  { 1, 9, 14, 33, 2, 2, 2, 2, SL_PADDING_SAME, SL_ACTIVATION_RELU },
  { 3, 7, 5, 16, 3, 3, 1, 1, SL_PADDING_SAME, SL_ACTIVATION_NONE },
  { 1, 9, 40, 7, 5, 5, 1, 1, SL_PADDING_SAME, SL_ACTIVATION_NONE },
  { 1, 11, 9, 50, 1, 4, 3, 2, SL_PADDING_SAME, SL_ACTIVATION_NONE },
  { 1, 1, 6, 20, 4, 2, 1, 3, SL_PADDING_SAME, SL_ACTIVATION_NONE },
  { 1, 2, 2, 3, 5, 5, 5, 5, SL_PADDING_SAME, SL_ACTIVATION_NONE },
};

static void
build (Check *check, const Case *c, guint32 seed)
{
  const gint32 dims[4] = { c->n, c->h, c->w, c->channels };
  const gsize n = (gsize) (c->n * c->h * c->w * c->channels);
  check_init (check, seed);
  const gint32 x = check_input (check, SL_DTYPE_F32, 4, dims, 0, 0);
  check_node (check, SL_OP_MAX_POOL_2D, &x, 1, check_output (check, SL_DTYPE_F32, 0, 0),
              &(SlOpParams){ .window = { .padding = c->padding,
                                         .stride_h = c->stride_h,
                                         .stride_w = c->stride_w,
                                         .filter_h = c->side_h,
                                         .filter_w = c->side_w,
                                         .activation = c->limits } });
  check_prepare (check);
  gfloat *values = check->input_data[0];
  check_random (check, SL_DTYPE_F32, n, values);
  for (gsize i = 0; i < n; i++)
    if (g_rand_int_range (check->rand, 0, 9) == 0)
      values[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? -INFINITY : INFINITY;
}

/* The largest number of channel @k under the window of output pixel (@y, @x) of image @image. */
static double
largest (const Case *c, const gfloat *values, const SlTensor *out, gint32 image, gint32 y, gint32 x,
         gint32 k)
{
  const gboolean same = c->padding == SL_PADDING_SAME;
  const gint32 top = same ? MAX ((out->dims[1] - 1) * c->stride_h + c->side_h - c->h, 0) / 2 : 0,
               left = same ? MAX ((out->dims[2] - 1) * c->stride_w + c->side_w - c->w, 0) / 2 : 0;
  double most = -HUGE_VAL;
  for (gint32 iy = y * c->stride_h - top; iy < y * c->stride_h - top + c->side_h; iy++)
    for (gint32 ix = x * c->stride_w - left; ix < x * c->stride_w - left + c->side_w; ix++)
      if (iy >= 0 && iy < c->h && ix >= 0 && ix < c->w)
        most = fmax (most, (double) values[((image * c->h + iy) * c->w + ix) * c->channels + k]);
  return c->limits == SL_ACTIVATION_RELU    ? fmax (most, 0)
         : c->limits == SL_ACTIVATION_RELU6 ? fmin (fmax (most, 0), 6)
                                            : most;
}

static void
compare (const Check *check, const Case *c, const gfloat *got)
{
  const SlTensor *out = sl_graph_output_tensor (check->graph, 0);
  for (gint32 image = 0; image < out->dims[0]; image++)
    for (gint32 y = 0; y < out->dims[1]; y++)
      for (gint32 x = 0; x < out->dims[2]; x++)
        for (gint32 k = 0; k < c->channels; k++, got++)
          g_assert_cmpfloat ((double) *got, ==,
                             largest (c, check->input_data[0], out, image, y, x, k));
}

static void
run (const Check *check, const Case *c)
{
  const gsize bytes = sl_graph_output_tensor (check->graph, 0)->bytes;
  for (guint threads = 1; threads <= 3; threads++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlSession) session = sl_session_new (check->graph, threads, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (sl_session_backend (session, 0), ==, "float");
    void *out = sl_tensor_buffer_new (bytes);
    g_assert_cmpint (sl_session_run (session, (const void *const *) check->input_data, &out), ==,
                     SL_STATUS_OK);
    compare (check, c, out);
    sl_tensor_buffer_free (out);
  }
}

static void
test_cases (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    Check check;
    build (&check, &cases[k], k);
    for (guint i = 0; i < n_isas; i++) {
      if (!isas[i]->faster)
        continue;
      sl_float_isa_force (isas[i]);
      run (&check, &cases[k]);
      sl_float_isa_force (NULL);
    }
    check_clear (&check);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/float-pool", test_cases);
  return g_test_run ();
}
