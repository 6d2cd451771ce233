/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A box of a tensor replaced at computed places: DYNAMIC_UPDATE_SLICE of TensorFlow Lite's files,
 * and ONNX's TensorScatter, against loops over the output's elements. */
#include "tests/ops/onnxmodel.h"
#include "tests/ops/opmodel.h"
#include "tests/support/program.h"

#define BUILTIN 151

/* The box [2,d,3] in [4,5,3], of places inside and outside. @d 5: whole rows move at once. */
static void
check_box (SlDtype type, gint32 d, const gint32 *start)
{
  const gint32 last[3] = { 2, 5 - d, 0 };
  gint32 first[3];
  double expected[60];
  OpModel m;
  om_init_builtin (&m, BUILTIN, 0, 0, NULL, 5);
  om_input (&m, type, 3, DIMS (4, 5, 3), 0, 0);
  om_input (&m, type, 3, DIMS (2, d, 3), 0, 0);
  const guint places = om_input (&m, SL_DTYPE_I32, 1, DIMS (3), 0, 0);
  om_output (&m, type, 3, DIMS (4, 5, 3), 0, 0);
  for (guint i = 0; i < 3; i++) {
    ((gint32 *) m.data[places])[i] = start[i];
    first[i] = MIN (MAX (start[i], 0), last[i]);
  }
  for (gsize i = 0; i < 60; i++) {
    gint32 p[3];
    om_place (&m.out[0], i, p);
    for (guint k = 0; k < 3; k++)
      p[k] -= first[k];
    const gboolean inside = p[0] >= 0 && p[0] < 2 && p[1] >= 0 && p[1] < d;
    expected[i] =
      inside ? om_real (&m, 1, (gsize) ((p[0] * d + p[1]) * 3 + p[2])) : om_real (&m, 0, i);
  }
  om_expect (&m, 0, expected, 0);
  om_clear (&m);
}

static void
test_places (void)
{
  static const gint32 starts[][3] = {
    { 0, 0, 0 }, { 1, 2, 0 }, { 2, 3, 0 }, { -4, 1, 7 }, { G_MAXINT32, G_MININT32, -1 }
  };
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++) {
    check_box (SL_DTYPE_F32, 2, starts[i]);
    check_box (SL_DTYPE_F32, 5, starts[i]);
    check_box (SL_DTYPE_I32, 1, starts[i]);
  }
}

static void
refuse (SlDtype type, gint32 dim, gint32 n, const char *text)
{
  OpModel m;
  om_init_builtin (&m, BUILTIN, 0, 0, NULL, 5);
  om_input (&m, SL_DTYPE_F32, 2, DIMS (4, 5), 0, 0);
  om_input (&m, type, 2, DIMS (2, dim), 0, 0);
  om_input (&m, SL_DTYPE_I32, 1, &n, 0, 0);
  om_output (&m, SL_DTYPE_F32, 2, DIMS (4, 5), 0, 0);
  om_refuse (&m, text);
  om_clear (&m);
}

static void
test_refused (void)
{
  refuse (SL_DTYPE_F32, 6, 2,
          "update float32[2,6] at int32[2] of float32[4,5]; expected an update of as many "
          "dimensions, none larger, and a place along each");
  refuse (SL_DTYPE_F32, 5, 1, "expected an update of as many dimensions");
  refuse (SL_DTYPE_I32, 5, 2, "int32");
}

/* Caches of two samples, [2,2,6,3], updated by [2,2,4,3] along axis 2, and of one sample. */
static void
check_cache (gint64 batch, gboolean stated, gboolean circular)
{
  const gint64 n = 6, steps = 4, elements = batch * 2 * n * 3;
  g_autofree double *expected = g_new (double, (gsize) elements);
  OnnxModel m;
  onnx_model_init (&m, 24, 9);
  const gfloat *cache = onnx_model_floats (&m, "cache", 4, (const gint64[]){ batch, 2, n, 3 }),
               *update =
                 onnx_model_floats (&m, "update", 4, (const gint64[]){ batch, 2, steps, 3 });
  gint64 *places = stated ? onnx_model_ints (&m, "places", 1, &batch, 0, 3) : NULL;
  for (gint64 b = 0; stated && b < batch; b++)
    places[b] = circular ? 5 - 2 * b : 2 - b;
  sl_onnx_writer_node (m.writer, "TensorScatter", stated ? "cache,update,places" : "cache,update",
                       "y", circular ? "mode s circular" : NULL, NULL);
  for (gint64 i = 0; i < elements; i++) {
    const gint64 b = i / (2 * n * 3), step = i / 3 % n, from = stated ? places[b] : 0;
    const gint64 at = circular ? (step - from + n) % n : step - from;
    expected[i] = at >= 0 && at < steps ? (double) update[(i / (n * 3) * steps + at) * 3 + i % 3]
                                        : (double) cache[i];
  }
  onnx_model_expect (&m, "y", 1, (gsize) elements, expected, 0);
  onnx_model_clear (&m);
}

static void
test_caches (void)
{
  for (gint64 batch = 1; batch <= 2; batch++) {
    check_cache (batch, FALSE, FALSE);
    check_cache (batch, TRUE, FALSE);
    check_cache (batch, TRUE, TRUE);
  }
}

static void
test_cache_refused (void)
{
  static const char *const attributes[] = { "axis i 0", "axis i 1" };
  for (guint i = 0; i < G_N_ELEMENTS (attributes); i++) {
    OnnxModel m;
    onnx_model_init (&m, 24, 9);
    onnx_model_floats (&m, "cache", 3, (const gint64[]){ 1, 6, 3 });
    onnx_model_floats (&m, "update", 3, (const gint64[]){ 1, 4, i == 0 ? 3 : 2 });
    sl_onnx_writer_node (m.writer, "TensorScatter", "cache,update", "y", attributes[i], NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, "expected equal dimensions but for that axis, which is not 0");
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/dynamic-update-slice/places", test_places);
  g_test_add_func ("/ops/dynamic-update-slice/refused", test_refused);
  g_test_add_func ("/ops/dynamic-update-slice/caches", test_caches);
  g_test_add_func ("/ops/dynamic-update-slice/cache-refused", test_cache_refused);
  return g_test_run ();
}
