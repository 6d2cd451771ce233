/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/bench/field/trial.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/percentile.h"
#include "core/runtime/session.h"
#include "tools/bench/timing.h"

#define LEAST_RUNS 3
#define MOST_RUNS 50

typedef struct
{
  SlGraph *graph;
  SlSession *session;
  void *input, *outputs[SL_MAX_IO];
} Loop;

static void
loop_clear (Loop *loop)
{
  g_clear_pointer (&loop->session, sl_session_free);
  sl_tensor_buffer_free (loop->input);
  for (guint i = 0; i < G_N_ELEMENTS (loop->outputs); i++)
    sl_tensor_buffer_free (loop->outputs[i]);
  g_clear_pointer (&loop->graph, sl_graph_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Loop, loop_clear)

const char *
sl_field_type_name (SlFieldType type)
{
  static const char *const names[] = { "float", "fp16", "int8" };
  return names[type];
}

/* Floats of 0..1, or bytes; the same everywhere. */
static gboolean
add_buffers (Loop *loop, GError **error)
{
  const SlTensor *tensor = sl_graph_input_tensor (loop->graph, 0);
  guint32 state = 362436069;
  loop->input = sl_tensor_buffer_new (tensor->bytes);
  gboolean good = loop->input != NULL;
  for (guint i = 0; good && i < sl_graph_n_outputs (loop->graph); i++) {
    loop->outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (loop->graph, i)->bytes);
    good = loop->outputs[i] != NULL;
  }
  if (!good)
    return sl_fail (error, SL_ERROR_BACKEND, "no memory for the network's inputs and outputs");
  for (gsize i = 0; i < sl_tensor_count (tensor); i++) {
    const guint32 random = sl_field_random (&state);
    if (tensor->dtype == SL_DTYPE_F32)
      ((gfloat *) loop->input)[i] = (gfloat) (random >> 8) / 16777216.0f;
    else
      ((guint8 *) loop->input)[i] = (guint8) (random >> 24);
  }
  return TRUE;
}

/* The outputs are cleared first, so that values that are not written are seen. */
static gboolean
run_once (Loop *loop, SlFieldTrial *trial, double *ms, GError **error)
{
  const void *const inputs[] = { loop->input };
  for (guint i = 0; i < sl_graph_n_outputs (loop->graph); i++)
    memset (loop->outputs[i], 0, sl_graph_output_tensor (loop->graph, i)->bytes);
  const double start = sl_timing_now_ms ();
  const SlStatus status = sl_session_run (loop->session, inputs, loop->outputs);
  *ms = sl_timing_now_ms () - start;
  if (status != SL_STATUS_OK)
    return sl_fail (error, SL_ERROR_BACKEND, "%s", sl_session_status_text (loop->session, status));
  const SlFieldExpected *expected = sl_field_expected (trial->network, trial->type);
  sl_field_digest (loop->graph, loop->outputs, &trial->digest);
  trial->error = MAX (trial->error, sl_field_error (&trial->digest, expected));
  trial->right = trial->error <= expected->bound;
  return TRUE;
}

static void
describe (const Loop *loop, SlFieldTrial *trial)
{
  SlSessionStats stats;
  SlBackendUse use;
  sl_session_stats (loop->session, &stats);
  trial->arena_bytes = stats.arena_bytes;
  trial->weight_bytes = stats.weight_bytes;
  trial->packed_bytes = stats.packed_bytes;
  for (guint i = 0; sl_session_backend_use (loop->session, i, &use); i++) {
    if (use.nodes == 0)
      continue;
    g_strlcat (trial->backends, trial->backends[0] != '\0' ? "+" : "", sizeof trial->backends);
    g_strlcat (trial->backends, use.name, sizeof trial->backends);
    if (strcmp (use.name, "int8") == 0)
      trial->int8 = use.cpu;
    if (strcmp (use.name, "float") == 0)
      trial->floats = use.cpu;
  }
}

static gboolean
run_more (Loop *loop, SlFieldTrial *trial, double most_ms, gboolean (*stopped) (void),
          GError **error)
{
  double times[MOST_RUNS];
  const double start = sl_timing_now_ms ();
  while (trial->runs < MOST_RUNS
         && (trial->runs < LEAST_RUNS || sl_timing_now_ms () - start < most_ms))
    if (stopped () || !run_once (loop, trial, &times[trial->runs++], error))
      return FALSE;
  sl_timing_sort (times, trial->runs);
  trial->least_ms = times[0];
  trial->median_ms = times[sl_percentile_index (trial->runs, 50)];
  return TRUE;
}

gboolean
sl_field_trial_run (SlFieldTrial *trial, double most_ms, gboolean (*stopped) (void), GError **error)
{
  g_auto (Loop) loop = { sl_field_network_new (trial->network, trial->type, error) };
  if (loop.graph == NULL || stopped () || !add_buffers (&loop, error))
    return FALSE;
  const double start = sl_timing_now_ms ();
  loop.session = sl_session_new (loop.graph, trial->threads, error);
  trial->prepare_ms = sl_timing_now_ms () - start;
  if (loop.session == NULL || stopped () || !run_once (&loop, trial, &trial->first_ms, error))
    return FALSE;
  describe (&loop, trial);
  return most_ms <= 0 || run_more (&loop, trial, most_ms, stopped, error);
}
