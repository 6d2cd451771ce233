/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of backends is complete, and SIGHTLINE_BACKEND says where in it the choice starts. */
#include <string.h>

#include "core/backends/backend.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define CHANNELS 4

static void
test_table (void)
{
  guint n = 0;
  for (const SlBackend *backend; (backend = sl_backends_get (n)) != NULL; n++) {
    g_assert_nonnull (backend->name);
    g_assert_nonnull (backend->title);
    g_assert_nonnull (backend->failure);
    g_assert_nonnull (backend->supports);
    g_assert_nonnull (backend->prepare);
    g_assert_nonnull (backend->run);
    g_assert_true ((backend->start_threads == NULL) == (backend->stop_threads == NULL));
    g_assert_true ((backend->start_threads == NULL) == (backend->rest_threads == NULL));
    for (guint k = 0; k < n; k++)
      g_assert_cmpstr (sl_backends_get (k)->name, !=, backend->name);
  }
  g_assert_cmpuint (n, >=, 3);
}

/* A layer that all backends take, and an operator that only plain kernels have. */
static void
build (Check *check)
{
  static const gint8 weights[CHANNELS * CHANNELS] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
  const gint32 dims[4] = { 1, 5, 5, CHANNELS }, kernel[4] = { CHANNELS, 1, 1, CHANNELS };
  const gfloat scale = 0.01f;
  check_init (check, 1);
  const gint32 x = check_input (check, SL_DTYPE_I8, 4, dims, 0.05f, 0),
               y = check_middle (check, SL_DTYPE_I8, 0.05f, 0);
  const gint32 inputs[] = { x, check_constant (check, SL_DTYPE_I8, 4, kernel, &scale, 1, 0, 0,
                                               weights) };
  check_node (check, SL_OP_CONV_2D, inputs, 2, y,
              &(SlOpParams){ .window = { .padding = SL_PADDING_SAME,
                                         .stride_h = 1,
                                         .stride_w = 1,
                                         .dilation_h = 1,
                                         .dilation_w = 1 } });
  check_node (check, SL_OP_ARG_MAX, (gint32[]){ y, check_ints (check, 1, (gint32[]){ 3 }) }, 2,
              check_output (check, SL_DTYPE_I64, 0, 0), NULL);
  check_prepare (check);
}

/* The backend of the layer under SIGHTLINE_BACKEND=@name; plain kernels run the rest. */
static const char *
layer_backend (const char *name)
{
  g_autoptr (GError) error = NULL;
  Check check;
  SlBackendUse use;
  guint nodes = 0;
  build (&check);
  g_setenv ("SIGHTLINE_BACKEND", name, TRUE);
  g_autoptr (SlSession) session = sl_session_new (check.graph, 1, &error);
  g_unsetenv ("SIGHTLINE_BACKEND");
  g_assert_no_error (error);
  const char *backend = sl_session_backend (session, 0);
  g_assert_cmpstr (sl_session_backend (session, 1), ==, "plain");
  for (guint i = 0; sl_session_backend_use (session, i, &use); i++) {
    g_assert_cmpuint (use.nodes, ==,
                      (strcmp (use.name, backend) == 0) + (strcmp (use.name, "plain") == 0));
    nodes += use.nodes;
  }
  g_assert_cmpuint (nodes, ==, 2);
  check_clear (&check);
  return backend;
}

static void
test_forced (void)
{
  static const char *const names[] = { "int8", "xnnpack", "plain" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpstr (layer_backend (names[i]), ==, names[i]);
}

static void
test_unknown (void)
{
  const char *chosen = layer_backend ("");
  g_test_expect_message (
    NULL, G_LOG_LEVEL_WARNING,
    "SIGHTLINE_BACKEND is 'gpu', expected int8, float, xnnpack or plain: the backends are chosen "
    "as without it");
  g_assert_cmpstr (layer_backend ("gpu"), ==, chosen);
  g_assert_cmpstr (layer_backend ("gpu"), ==, chosen); /* it is said once */
  g_test_assert_expected_messages ();
}

/* A layer of one row that has a scale for each channel, which not every XNNPACK takes. */
static void
test_layer_not_plain (void)
{
  static const gint8 weights[CHANNELS * CHANNELS] = { 1, -2, 3, -4, 5, -6, 7, -8, 9 };
  static const gfloat scales[CHANNELS] = { 0.01f, 0.02f, 0.03f, 0.04f };
  g_autoptr (GError) error = NULL;
  Check check;
  check_init (&check, 1);
  const gint32 x = check_input (&check, SL_DTYPE_I8, 2, (const gint32[]){ 1, CHANNELS }, 0.05f, 0),
               w = check_constant (&check, SL_DTYPE_I8, 2, (const gint32[]){ CHANNELS, CHANNELS },
                                   scales, CHANNELS, 0, 0, weights);
  check_node (&check, SL_OP_FULLY_CONNECTED, (const gint32[]){ x, w }, 2,
              check_output (&check, SL_DTYPE_I8, 0.05f, 0), NULL);
  check_prepare (&check);
  g_autoptr (SlSession) session = sl_session_new (check.graph, 1, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_session_backend (session, 0), !=, "plain");
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/backends/table", test_table);
  g_test_add_func ("/backends/forced", test_forced);
  g_test_add_func ("/backends/unknown", test_unknown);
  g_test_add_func ("/backends/layer-not-plain", test_layer_not_plain);
  return g_test_run ();
}
