/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds, runs and compares single-operator graphs. */
#include "tests/core/opcheck.h"

#include <math.h>
#include <string.h>

#include "core/passes/prepare.h"
#include "sightline/error.h"

void
check_init (Check *check, guint32 seed)
{
  memset (check, 0, sizeof *check);
  check->graph = sl_graph_new (NULL);
  check->rand = g_rand_new_with_seed (seed);
  check->seed = seed;
}

void
check_clear (Check *check)
{
  for (guint i = 0; i < check->n_inputs; i++)
    sl_tensor_buffer_free (check->input_data[i]);
  sl_graph_unref (check->graph);
  g_rand_free (check->rand);
}

static gint32
add (Check *check, const char *name, SlDtype dtype, guint rank, const gint32 *dims,
     const gfloat *scales, guint n_scales, gint axis, gint32 zero_point, const void *data)
{
  g_autoptr (GError) error = NULL;
  SlArena *arena = sl_graph_arena (check->graph);
  SlTensor tensor = { .name = name, .dtype = dtype, .rank = rank, .data = data };
  if (rank > 0)
    memcpy (tensor.dims, dims, rank * sizeof dims[0]);
  if (n_scales > 0) {
    gint32 *zero_points = sl_arena_alloc (arena, n_scales * sizeof zero_points[0]);
    for (guint i = 0; i < n_scales; i++)
      zero_points[i] = zero_point;
    tensor.quant =
      (SlQuant){ n_scales, axis, sl_arena_memdup (arena, scales, n_scales * sizeof scales[0]),
                 zero_points };
  }
  const gint32 index = sl_graph_add_tensor (check->graph, &tensor, &error);
  g_assert_no_error (error);
  return index;
}

gint32
check_input (Check *check, SlDtype dtype, guint rank, const gint32 *dims, gfloat scale,
             gint32 zero_point)
{
  const gint32 index =
    add (check, "input", dtype, rank, dims, &scale, scale > 0, 0, zero_point, NULL);
  gsize n = 1;
  for (guint i = 0; i < rank; i++)
    n *= (gsize) MAX (dims[i], 1);
  check->input_data[check->n_inputs] = sl_tensor_buffer_new (n * sl_dtype_size (dtype));
  check_random (check, dtype, n, check->input_data[check->n_inputs]);
  check->inputs[check->n_inputs++] = index;
  return index;
}

gint32
check_middle (Check *check, SlDtype dtype, gfloat scale, gint32 zero_point)
{
  return add (check, "middle", dtype, 0, NULL, &scale, scale > 0, 0, zero_point, NULL);
}

gint32
check_output (Check *check, SlDtype dtype, gfloat scale, gint32 zero_point)
{
  const gint32 index =
    add (check, "output", dtype, 0, NULL, &scale, scale > 0, 0, zero_point, NULL);
  check->outputs[check->n_outputs++] = index;
  return index;
}

gint32
check_constant (Check *check, SlDtype dtype, guint rank, const gint32 *dims, const gfloat *scales,
                guint n_scales, gint axis, gint32 zero_point, const void *data)
{
  return add (check, "constant", dtype, rank, dims, scales, n_scales, axis, zero_point, data);
}

gint32
check_ints (Check *check, guint n, const gint32 *values)
{
  const gint32 dims[] = { (gint32) n };
  const void *data = sl_arena_memdup (sl_graph_arena (check->graph), values, n * sizeof values[0]);
  return add (check, "ints", SL_DTYPE_I32, 1, dims, NULL, 0, 0, 0, data);
}

void
check_node (Check *check, SlOpType op, const gint32 *inputs, guint n_inputs, gint32 output,
            const SlOpParams *params)
{
  g_autoptr (GError) error = NULL;
  sl_graph_add_node (check->graph, op, sl_graph_n_nodes (check->graph), inputs, n_inputs, &output,
                     1, params, &error);
  g_assert_no_error (error);
}

gint32
check_float_node (Check *check, SlOpType op, gint32 a, gint32 b, const SlOpParams *params)
{
  const gint32 inputs[2] = { a, b }, y = check_middle (check, SL_DTYPE_F32, 0, 0);
  check_node (check, op, inputs, b >= 0 ? 2 : 1, y, params);
  return y;
}

static gboolean
prepare (Check *check, GError **error)
{
  return sl_graph_set_io (check->graph, check->inputs, check->n_inputs, check->outputs,
                          check->n_outputs, error)
         && sl_graph_prepare (check->graph, error);
}

void
check_prepare (Check *check)
{
  g_autoptr (GError) error = NULL;
  prepare (check, &error);
  g_assert_no_error (error);
}

void
check_prepare_error (Check *check, gint code, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (prepare (check, &error));
  g_assert_error (error, SL_ERROR, code);
  if (strstr (error->message, text) == NULL)
    g_error ("expected '%s' in: %s", text, error->message);
}

void
check_random (Check *check, SlDtype dtype, gsize n, void *data)
{
  for (gsize i = 0; i < n; i++) {
    if (dtype == SL_DTYPE_F32)
      ((gfloat *) data)[i] = (gfloat) g_rand_double_range (check->rand, -2.0, 2.0);
    else if (dtype == SL_DTYPE_I32)
      ((gint32 *) data)[i] = g_rand_int_range (check->rand, -1000, 1000);
    else
      ((guint8 *) data)[i] = (guint8) g_rand_int_range (check->rand, 0, 256);
  }
}

double
check_real (const SlTensor *tensor, const void *data, gsize i)
{
  if (tensor->dtype == SL_DTYPE_F32)
    return (double) ((const gfloat *) data)[i];
  if (tensor->dtype == SL_DTYPE_I32)
    return ((const gint32 *) data)[i];
  const int code =
    tensor->dtype == SL_DTYPE_I8 ? ((const gint8 *) data)[i] : ((const guint8 *) data)[i];
  return (code - sl_tensor_zero_point (tensor)) * (double) sl_tensor_scale (tensor);
}

static gboolean
is_on_xnnpack (const SlSession *session)
{
  SlBackendUse use;
  for (guint i = 0; sl_session_backend_use (session, i, &use); i++)
    if (use.nodes > 0 && strcmp (use.name, "xnnpack") == 0)
      return TRUE;
  return FALSE;
}

void *
check_run (Check *check, gboolean reference, guint threads)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *named = g_strdup (g_getenv ("SIGHTLINE_BACKEND"));
  if (reference)
    g_setenv ("SIGHTLINE_BACKEND", "plain", TRUE);
  g_autoptr (SlSession) session = sl_session_new (check->graph, threads, &error);
  if (named != NULL)
    g_setenv ("SIGHTLINE_BACKEND", named, TRUE);
  else
    g_unsetenv ("SIGHTLINE_BACKEND");
  g_assert_no_error (error);
  check->on_xnnpack = is_on_xnnpack (session);
  void *outputs[SL_MAX_IO];
  for (guint i = 0; i < check->n_outputs; i++) {
    const gsize bytes = sl_graph_output_tensor (check->graph, i)->bytes + SL_TENSOR_PADDING;
    outputs[i] = sl_tensor_buffer_new (bytes + 32);
    memset ((guint8 *) outputs[i] + bytes, 0xa5, 32);
  }
  for (guint run = 0; run < 2; run++)
    g_assert_cmpint (sl_session_run (session, (const void *const *) check->input_data, outputs), ==,
                     SL_STATUS_OK);
  for (guint i = 0; i < check->n_outputs; i++) {
    const gsize bytes = sl_graph_output_tensor (check->graph, i)->bytes + SL_TENSOR_PADDING;
    for (guint k = 0; k < 32; k++)
      g_assert_cmpuint (((guint8 *) outputs[i])[bytes + k], ==, 0xa5);
    if (i > 0)
      sl_tensor_buffer_free (outputs[i]);
  }
  return outputs[0];
}

static void
compare (const SlTensor *output, const void *data, const double *expected, double tolerance,
         const char *backend)
{
  gsize n = 0;
  gint32 lo = 0, hi = 0;
  g_assert_true (sl_tensor_elements (output, &n));
  for (gsize i = 0; i < n; i++) {
    double got, want = expected[i], allowed = tolerance;
    if (output->dtype == SL_DTYPE_F32) {
      got = (double) ((const gfloat *) data)[i];
      allowed *= fmax (1.0, fabs (want));
    } else {
      sl_dtype_range (output->dtype, &lo, &hi);
      got = output->dtype == SL_DTYPE_I8 ? ((const gint8 *) data)[i] : ((const guint8 *) data)[i];
      want = want / (double) sl_tensor_scale (output) + sl_tensor_zero_point (output);
      want = fmin (fmax (want, lo), hi);
    }
    if (!(fabs (got - want) <= allowed))
      g_error ("%s: element %" G_GSIZE_FORMAT " of '%s' is %g; expected %g within %g", backend, i,
               output->name, got, want, allowed);
  }
}

void
check_expect (Check *check, const double *expected, double tolerance, double tolerance_reference)
{
  const SlTensor *output = sl_graph_output_tensor (check->graph, 0);
  for (guint threads = 1; threads <= 2; threads++) {
    void *data = check_run (check, FALSE, threads);
    compare (output, data, expected, tolerance, "xnnpack");
    sl_tensor_buffer_free (data);
    if (check->on_xnnpack && check->seed % 8 != 0)
      break;
  }
  void *data = check_run (check, TRUE, 1);
  compare (output, data, expected, tolerance_reference, "reference");
  sl_tensor_buffer_free (data);
}
