/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sl_session_new(): the number of threads that runs a graph fastest on this machine is found by
 * running it on zeros with the numbers of sl_threads_trials(), and going on while more threads save
 * a seventh of the time. Small models lose by being divided, and a container may be granted less
 * than the processors it sees. Threads are not bound to cores: the system puts them on the fast
 * ones first, and work items are taken by any thread that is free.
 */
#include "core/runtime/session.h"

#include "core/base/thread_count.h"

/* Runs of a trial, fewer where they take longer than this in all. The first one meets cold memory.
 */
#define TRIAL_RUNS 6
#define TRIAL_US 40000
/* More threads must save so much: they also take processors from everything else. */
#define GAIN 1.15

typedef struct
{
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
} Buffers;

static void
buffers_clear (Buffers *buffers)
{
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (buffers->inputs[i]);
    sl_tensor_buffer_free (buffers->outputs[i]);
  }
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Buffers, buffers_clear)

static gboolean
buffers_init (Buffers *buffers, const SlGraph *graph)
{
  gboolean good = TRUE;
  for (guint i = 0; good && i < sl_graph_n_inputs (graph); i++)
    good =
      (buffers->inputs[i] = sl_tensor_buffer_new (sl_graph_input_tensor (graph, i)->bytes)) != NULL;
  for (guint i = 0; good && i < sl_graph_n_outputs (graph); i++)
    good = (buffers->outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes))
           != NULL;
  return good;
}

/* Microseconds of the shortest run, at least 1; G_MAXINT64 when a run fails. */
static gint64
try (SlSession *session, const Buffers *buffers)
{
  const gint64 begin = g_get_monotonic_time ();
  gint64 least = G_MAXINT64, now = begin;
  for (guint i = 0; i < TRIAL_RUNS && (i == 0 || now - begin < TRIAL_US); i++) {
    const gint64 start = now;
    if (sl_session_run (session, (const void *const *) buffers->inputs,
                        (void *const *) buffers->outputs)
        != SL_STATUS_OK)
      return G_MAXINT64;
    now = g_get_monotonic_time ();
    least = MIN (least, MAX (now - start, 1));
  }
  return least;
}

static SlSession *
fastest (SlGraph *graph, GError **error)
{
  guint trials[SL_MAX_TRIALS];
  const guint n = sl_threads_trials (NULL, trials);
  g_autoptr (SlSession) best = sl_session_new (graph, 1, error);
  g_auto (Buffers) buffers = { 0 };
  if (best == NULL || n == 1 || !buffers_init (&buffers, graph))
    return g_steal_pointer (&best);
  gint64 least = try (best, &buffers);
  for (guint i = 1; i < n; i++) {
    g_autoptr (SlSession) next = sl_session_new (graph, trials[i], NULL);
    const gint64 time = next != NULL ? try (next, &buffers) : G_MAXINT64;
    if ((double) time * GAIN >= (double) least)
      break;
    least = time;
    sl_session_free (best);
    best = g_steal_pointer (&next);
  }
  sl_session_reset (best);
  return g_steal_pointer (&best);
}

SlSession *
sl_session_new (SlGraph *graph, guint threads, GError **error)
{
  return threads > 0 ? sl_session_new_full (graph, threads, FALSE, error) : fastest (graph, error);
}
