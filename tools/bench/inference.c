/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline bench model`: how long a model takes to load, to answer first and to answer again, on
 * each number of threads asked for, and with --profile which operators take the time and who runs
 * them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "core/base/cores.h"
#include "core/base/percentile.h"
#include "core/base/printable.h"
#include "core/base/fail.h"
#include "core/base/heat.h"
#include "core/graph/work.h"
#include "core/runtime/session.h"
#include "models/backend.h"
#include "models/batch.h"
#include "models/model.h"
#include "core/base/json.h"
#include "tools/bench/allocations.h"
#include "tools/bench/backends.h"
#include "tools/bench/bench.h"
#include "tools/bench/compare.h"
#include "tools/bench/page.h"
#include "tools/bench/peak.h"
#include "tools/bench/precision.h"
#include "tools/command.h"
#include "tools/html_page.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/bench/timing.h"

/* Runs of ours before the other runtime's turn, and of its own. */
#define TURN 5

typedef struct
{
  const char *model;
  guint runs, warm_up;
  const SlModelSettings *words; /* classes as sentences are in them */
  SlModelLoadOptions how;
  gboolean json, profile, all, compare, backends;
  guint batch;   /* 0 = none, 1 = the best */
  char *onnx;    /* (nullable) */
  GString *page; /* (nullable) */
} Settings;

typedef struct
{
  double load_ms, first_ms, min_ms, median_ms, p95_ms, max_ms, rss_mb;
  double joules;      /* of a run; 0 = not told */
  char power[64];     /* where from */
  gint64 allocations; /* over all measured runs; -1 = not counted */
  SlSessionStats stats;
  guint threads;
  char backends[64]; /* names of those that run nodes, joined by + */
  SlHeat before, after;
} Result;

typedef struct
{
  SlGraph *graph;
  SlSession *session;
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
  SlEnergy *energy; /* (nullable) */
  double joules;
} Loop;

static void
loop_clear (Loop *loop)
{
  g_clear_pointer (&loop->session, sl_session_free);
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (loop->inputs[i]);
    sl_tensor_buffer_free (loop->outputs[i]);
  }
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Loop, loop_clear)

/* Noise, so that no branch of a kernel always goes the same way: bytes, or floats in 0..1. */
static void
fill_noise (const SlTensor *tensor, void *buffer)
{
  guint32 state = 2654435761u;
  for (gsize i = 0; i < tensor->bytes / (tensor->dtype == SL_DTYPE_F32 ? 4 : 1); i++) {
    state = state * 1664525u + 1013904223u;
    if (tensor->dtype == SL_DTYPE_F32)
      ((gfloat *) buffer)[i] = (gfloat) (state >> 8) / 16777216.0f;
    else
      ((guint8 *) buffer)[i] = (guint8) (state >> 24);
  }
}

static gboolean
loop_start (Loop *loop, SlModel *model, guint threads, gboolean profile, GError **error)
{
  SlGraph *graph = sl_model_graph (model);
  g_autofree char *notice = NULL;
  loop->graph = graph;
  loop->session = profile ? sl_session_new_full (graph, threads, profile, error)
                          : sl_model_session_new (model, threads, &notice, error);
  if (notice != NULL)
    sl_complain ("bench model", "%s: %s", sl_model_path (model), notice);
  if (loop->session == NULL)
    return sl_fail_prefix (error, "%s: ", sl_model_path (model));
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++) {
    loop->inputs[i] = sl_tensor_buffer_new (sl_graph_input_tensor (graph, i)->bytes);
    fill_noise (sl_graph_input_tensor (graph, i), loop->inputs[i]);
  }
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    loop->outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  return TRUE;
}

static gboolean
loop_run (Loop *loop, GError **error)
{
  const SlStatus status =
    sl_session_run (loop->session, (const void *const *) loop->inputs, loop->outputs);
  if (status == SL_STATUS_OK)
    return TRUE;
  return sl_fail (error, SL_ERROR_BACKEND, "%s", sl_session_status_text (loop->session, status));
}

/* SlTimedTurn of a Loop. */
static gboolean
turn_of_ours (gpointer data, guint n, double *ms, GError **error)
{
  Loop *loop = data;
  for (guint i = 0; i < n; i++) {
    const double at = sl_timing_now_ms ();
    if (!loop_run (loop, error))
      return FALSE;
    ms[i] = sl_timing_now_ms () - at;
    if (loop->energy != NULL)
      loop->joules += sl_energy_read (loop->energy);
  }
  return TRUE;
}

static void
show_progress (guint done, guint all)
{
  static SlProgress progress;
  if (progress.started == 0)
    sl_progress_start (&progress, "bench", "runs", all);
  sl_progress_show (&progress, done);
  if (done < all)
    return;
  sl_progress_hide ();
  progress.started = 0;
}

static void
show_on_page (const Settings *settings, guint threads, const SlBenchTimes *times, guint n)
{
  g_autofree char *title = g_strdup_printf (n > 1 ? "%u thread%s, beside %s" : "%u thread%s",
                                            threads, threads != 1 ? "s" : "", times[n - 1].name);
  if (settings->page != NULL)
    sl_bench_page_add (settings->page, title, times, n, settings->runs);
}

static void
name_backends (const SlSession *session, char *names, gsize size)
{
  SlBackendUse use;
  *names = '\0';
  for (guint i = 0; sl_session_backend_use (session, i, &use); i++) {
    if (use.nodes == 0)
      continue;
    g_strlcat (names, *names != '\0' ? "+" : "", size);
    g_strlcat (names, use.name, size);
  }
}

static gboolean
measure (const Settings *settings, guint threads, Result *result, GError **error)
{
  g_auto (Loop) loop = { 0 };
  const double start = sl_timing_now_ms ();
  SlModelLoadOptions how = settings->how;
  how.threads = threads;
  g_autoptr (SlModel) model = sl_model_load_with (settings->model, settings->words, &how, error);
  if (model == NULL || !loop_start (&loop, model, threads, FALSE, error))
    return FALSE;
  const double loaded = sl_timing_now_ms ();
  if (!loop_run (&loop, error))
    return FALSE;
  result->load_ms = loaded - start;
  result->first_ms = sl_timing_now_ms () - loaded;
  for (guint i = 0; i < settings->warm_up; i++)
    loop_run (&loop, NULL);
  g_autofree double *times = g_new (double, settings->runs);
  g_autofree char *why = NULL;
  g_autoptr (SlEnergy) energy = sl_energy_open (g_getenv (SL_CORES_SYS), &why);
  loop.energy = energy;
  if (energy != NULL)
    sl_energy_read (energy);
  sl_heat_read (g_getenv (SL_CORES_SYS), &result->before);
  const gint64 before = sl_allocations ();
  const SlTimed row = { "ours", turn_of_ours, &loop, times };
  if (!sl_timing_in_turn (&row, 1, settings->runs, TURN, 0, show_progress, error))
    return FALSE;
  result->allocations = before < 0 ? -1 : sl_allocations () - before;
  sl_heat_read (g_getenv (SL_CORES_SYS), &result->after);
  result->joules = loop.joules / settings->runs;
  g_strlcpy (result->power, energy != NULL ? sl_energy_source (energy) : "", sizeof result->power);
  result->min_ms = times[0];
  result->median_ms = times[sl_percentile_index (settings->runs, 50)];
  result->p95_ms = times[sl_percentile_index (settings->runs, 95)];
  result->max_ms = times[settings->runs - 1];
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  result->rss_mb = (double) usage.ru_maxrss / 1024.0;
  sl_session_stats (loop.session, &result->stats);
  result->threads = sl_session_threads (loop.session);
  name_backends (loop.session, result->backends, sizeof result->backends);
  show_on_page (settings, result->threads, &(const SlBenchTimes){ "Sightline", times }, 1);
  return TRUE;
}

/* Members only where the system tells. */
static void
append_heat (GString *out, const Result *r)
{
  if (r->before.mhz > 0 && r->after.mhz > 0) {
    sl_json_append_number (out, "mhz_before", r->before.mhz, 6);
    sl_json_append_number (out, "mhz_after", r->after.mhz, 6);
  }
  if (isfinite (r->after.celsius))
    sl_json_append_number (out, "celsius", r->after.celsius, 4);
  if (r->after.throttled[0] != '\0')
    sl_json_append_text (out, "throttled", r->after.throttled);
}

static void
print_json (const Settings *settings, guint threads, const Result *r)
{
  GString *out = g_string_new ("{\"model\":");
  const struct
  {
    const char *name;
    double value;
    int digits;
  } numbers[] = { { "min_ms", r->min_ms, 6 },     { "median_ms", r->median_ms, 6 },
                  { "p95_ms", r->p95_ms, 6 },     { "max_ms", r->max_ms, 6 },
                  { "load_ms", r->load_ms, 6 },   { "first_ms", r->first_ms, 6 },
                  { "peak_rss_mb", r->rss_mb, 6 } };
  sl_json_append_string (out, settings->model);
  g_string_append_printf (out, ",\"threads\":%u,\"backend\":\"%s\"", threads, r->backends);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    g_string_append_printf (out, ",\"%s\":", numbers[i].name);
    sl_json_append_double (out, numbers[i].value, numbers[i].digits);
  }
  g_string_append_printf (out,
                          ",\"arena_bytes\":%" G_GSIZE_FORMAT ",\"weight_bytes\":%" G_GSIZE_FORMAT
                          ",\"packed_bytes\":%" G_GSIZE_FORMAT ",\"allocations_per_run\":",
                          r->stats.arena_bytes, r->stats.weight_bytes, r->stats.packed_bytes);
  if (r->allocations < 0)
    g_string_append (out, "null");
  else
    sl_json_append_double (out, (double) r->allocations / settings->runs, 6);
  if (r->joules > 0) {
    sl_json_append_number (out, "joules_per_run", r->joules, 6);
  }
  append_heat (out, r);
  g_string_append (out, "}\n");
  fwrite (out->str, 1, out->len, stdout);
  g_string_free (out, TRUE);
}

static void
print_text (guint threads, const Result *r, const Settings *settings, gboolean first)
{
  g_autofree char *model = sl_printable (settings->model, SL_PRINTABLE_MESSAGE);
  if (first)
    printf ("%s, %u runs after %u, milliseconds\n%7s %9s %9s %9s %9s %9s %9s %9s %10s %6s\n", model,
            settings->runs, settings->warm_up, "threads", "min", "median", "p95", "max", "load",
            "first", "RSS MB", "arena KB", "alloc");
  printf ("%7u %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %9.1f %10.1f ", threads, r->min_ms, r->median_ms,
          r->p95_ms, r->max_ms, r->load_ms, r->first_ms, r->rss_mb,
          (double) r->stats.arena_bytes / 1024.0);
  if (r->allocations < 0)
    printf ("%6s\n", "-");
  else
    printf ("%6.2f\n", (double) r->allocations / settings->runs);
  if (r->joules > 0)
    printf ("%7s %9.3f mJ a run, of all that runs meanwhile (%s)\n", "", r->joules * 1e3, r->power);
  g_autofree char *heat = sl_heat_line (&r->before, &r->after);
  if (heat != NULL)
    printf ("%7s %s\n", "", heat);
}

/* One row of the profile: all nodes of one operator on one backend, or one node. */
typedef struct
{
  const char *name, *backend, *tensor;
  guint count;
  guint64 ns, operations;
  double least_ns; /* at the peak of the processor; 0 where there is none */
} Row;

static int
compare_rows (const void *a, const void *b)
{
  const Row *x = a, *y = b;
  return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static void
add_row (GArray *rows, const Row *row, gboolean merge)
{
  for (guint i = 0; merge && i < rows->len; i++) {
    Row *known = &g_array_index (rows, Row, i);
    if (strcmp (known->name, row->name) == 0 && strcmp (known->backend, row->backend) == 0) {
      known->count++;
      known->ns += row->ns;
      known->operations += row->operations;
      known->least_ns += row->least_ns;
      return;
    }
  }
  g_array_append_val (rows, *row);
}

/* The shortest time that each node took in any run: what else the machine does lengthens some of
 * all. */
static gboolean
least_times (const Settings *settings, Loop *loop, guint64 *least, GError **error)
{
  const guint n = sl_graph_n_nodes (loop->graph);
  g_autofree guint64 *before = g_new0 (guint64, n + 1);
  for (guint i = 0; i < n; i++)
    least[i] = G_MAXUINT64;
  for (guint run = 0; run < settings->warm_up + settings->runs; run++) {
    if (!loop_run (loop, error))
      return FALSE;
    for (guint i = 0; i < n; i++) {
      const guint64 now = sl_session_node_ns (loop->session, i);
      if (run >= settings->warm_up)
        least[i] = MIN (least[i], now - before[i]);
      before[i] = now;
    }
  }
  return TRUE;
}

/* Operations a nanosecond of one thread, of floats and of 8-bit numbers. */
typedef struct
{
  double gops[2];
} Peaks;

static Peaks
print_peaks (void)
{
  Peaks peaks;
  const char *instructions[2];
  peaks.gops[SL_PEAK_FLOAT] = sl_peak_measure (SL_PEAK_FLOAT, &instructions[SL_PEAK_FLOAT]);
  peaks.gops[SL_PEAK_INT8] = sl_peak_measure (SL_PEAK_INT8, &instructions[SL_PEAK_INT8]);
  printf ("\nThe peak of a thread, GOP/s: float %.1f (%s)", peaks.gops[SL_PEAK_FLOAT],
          instructions[SL_PEAK_FLOAT]);
  if (peaks.gops[SL_PEAK_INT8] > 0)
    printf (", int8 %.1f (%s)", peaks.gops[SL_PEAK_INT8], instructions[SL_PEAK_INT8]);
  printf ("\n");
  return peaks;
}

static Row
profile_row (const Loop *loop, guint i, guint64 ns, guint threads, const Peaks *peaks)
{
  const SlNode *node = sl_graph_node (loop->graph, i);
  const SlTensor *input = sl_node_input (loop->graph, node, 0);
  const SlDtype dtype = input != NULL ? input->dtype : SL_DTYPE_F32;
  const double peak =
    peaks->gops[dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_U8 ? SL_PEAK_INT8 : SL_PEAK_FLOAT];
  Row row = {
    sl_op_name (node->op), sl_session_backend (loop->session, i), node->name, 1, ns, 0, 0
  };
  const guint64 multiply_adds = sl_node_multiply_adds (loop->graph, node);
  row.operations = multiply_adds > G_MAXUINT64 / 2 ? G_MAXUINT64 : 2 * multiply_adds;
  row.least_ns = peak > 0 ? (double) row.operations / peak / threads : 0;
  return row;
}

static void
print_row (const Row *row, guint64 total, gboolean name)
{
  g_autofree char *tensor = sl_printable (name ? row->tensor : "", SL_PRINTABLE_NAME);
  const double ns = (double) MAX (row->ns, 1);
  printf ("%9.1f %6.2f ", (double) row->ns / 1e3, 100.0 * ns / (double) MAX (total, 1));
  if (row->operations > 0)
    printf ("%7.1f ", (double) row->operations / ns);
  else
    printf ("%7s ", "");
  if (row->least_ns > 0 && row->least_ns <= ns)
    printf ("%5.0f%% ", 100.0 * row->least_ns / ns);
  else
    printf ("%6s ", "");
  printf ("%6u  %-10s %s %s\n", row->count, row->backend, row->name, tensor);
}

static gboolean
print_profile (const Settings *settings, guint threads, GError **error)
{
  g_auto (Loop) loop = { 0 };
  g_autoptr (SlModel) model =
    sl_model_load_with (settings->model, settings->words, &settings->how, error);
  if (model == NULL || !loop_start (&loop, model, threads, TRUE, error))
    return FALSE;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_autofree guint64 *least = g_new (guint64, sl_graph_n_nodes (loop.graph) + 1);
  guint64 total = 0;
  if (!least_times (settings, &loop, least, error))
    return FALSE;
  const Peaks peaks = print_peaks ();
  for (guint i = 0; i < sl_graph_n_nodes (loop.graph); i++) {
    const Row row = profile_row (&loop, i, least[i], threads, &peaks);
    total += row.ns;
    add_row (rows, &row, !settings->all);
  }
  qsort (rows->data, rows->len, sizeof (Row), compare_rows);
  printf ("%u thread%s, node by node, the least of all runs\n%9s %6s %7s %6s %6s  %-10s %s\n",
          threads, threads > 1 ? "s" : "", "us", "%", "GOP/s", "peak", "nodes", "run by",
          "operator");
  for (guint i = 0; i < rows->len; i++)
    print_row (&g_array_index (rows, Row, i), total, settings->all);
  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, Row, i).least_ns > (double) g_array_index (rows, Row, i).ns) {
      printf (
        "No share of the peak is told of what is faster: it multiplies less than the model states "
        "(Winograd's tiles, weights that are zero), or the processor was slower when the peak was "
        "measured.\n");
      break;
    }
  return TRUE;
}

/* SlTimedTurn of a SlPeer. */
static gboolean
turn_of_theirs (gpointer data, guint n, double *ms, GError **error)
{
  return sl_peer_run (data, n, ms, error);
}

static void
print_comparison (const Settings *settings, guint threads, const SlPeer *peer, const double *ours,
                  const double *theirs)
{
  const guint middle = settings->runs / 2;
  if (!settings->json) {
    printf ("%7u %9.3f %9.3f  %s; ratio of ours to it: %.3f of minima, %.3f of medians\n", threads,
            theirs[0], theirs[middle], sl_peer_name (peer), ours[0] / theirs[0],
            ours[middle] / theirs[middle]);
    return;
  }
  const struct
  {
    const char *name;
    double value;
  } numbers[] = { { "min_ms", theirs[0] },
                  { "median_ms", theirs[middle] },
                  { "ratio_min", ours[0] / theirs[0] },
                  { "ratio_median", ours[middle] / theirs[middle] } };
  GString *out = g_string_new ("{\"model\":");
  sl_json_append_string (out, settings->model);
  sl_json_append_text (out, "peer", sl_peer_name (peer));
  g_string_append_printf (out, ",\"threads\":%u", threads);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    g_string_append_printf (out, ",\"%s\":", numbers[i].name);
    sl_json_append_double (out, numbers[i].value, 6);
  }
  g_string_append (out, "}\n");
  fwrite (out->str, 1, out->len, stdout);
  g_string_free (out, TRUE);
}

/* (transfer full): "1x3x224x224,1x4" of the model's inputs. */
static char *
describe_shapes (const SlGraph *graph)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++) {
    const SlTensor *tensor = sl_graph_declared_input_tensor (graph, i);
    for (guint k = 0; k < tensor->rank; k++)
      g_string_append_printf (text, "%s%d", k > 0 ? "x" : i > 0 ? "," : "", tensor->dims[k]);
  }
  return g_string_free (text, FALSE);
}

/* The runtime of a format. */
static SlPeerKind
peer_of (const char *format)
{
  return strcmp (format, "onnx") == 0          ? SL_PEER_ONNX
         : strcmp (format, "torchscript") == 0 ? SL_PEER_TORCH
         : strcmp (format, "pt2") == 0         ? SL_PEER_EXPORTED
                                               : SL_PEER_TFLITE;
}

/* @onnx: (nullable): the file for ONNX Runtime; the model itself in the runtime of its format when
 * NULL. */
static gboolean
compare_with (const Settings *settings, guint threads, const char *onnx, GError **error)
{
  g_auto (Loop) loop = { 0 };
  g_autofree double *ours = g_new0 (double, settings->runs + settings->warm_up),
                    *theirs = g_new0 (double, settings->runs + settings->warm_up);
  g_autoptr (SlModel) model =
    sl_model_load_with (settings->model, settings->words, &settings->how, error);
  if (model == NULL || !loop_start (&loop, model, threads, FALSE, error))
    return FALSE;
  const SlPeerKind kind = onnx != NULL ? SL_PEER_ONNX : peer_of (sl_model_format (model));
  g_autofree char *shapes = describe_shapes (loop.graph);
  g_autoptr (SlPeer) peer =
    sl_peer_new (kind, onnx != NULL ? onnx : settings->model, shapes, threads, error);
  if (peer == NULL)
    return FALSE;
  for (guint i = 0; i < settings->warm_up; i++)
    loop_run (&loop, NULL);
  const SlTimed rows[] = { { "ours", turn_of_ours, &loop, ours },
                           { sl_peer_name (peer), turn_of_theirs, peer, theirs } };
  if (!sl_peer_run (peer, settings->warm_up, theirs, error)
      || !sl_timing_in_turn (rows, G_N_ELEMENTS (rows), settings->runs, TURN, 0, show_progress,
                             error))
    return FALSE;
  print_comparison (settings, threads, peer, ours, theirs);
  const SlBenchTimes both[] = { { "Sightline", ours }, { sl_peer_name (peer), theirs } };
  show_on_page (settings, threads, both, G_N_ELEMENTS (both));
  return TRUE;
}

static gboolean
compare (const Settings *settings, guint threads, GError **error)
{
  if (settings->compare && !compare_with (settings, threads, NULL, error))
    return FALSE;
  return settings->onnx == NULL || compare_with (settings, threads, settings->onnx, error);
}

static gboolean
bench_backends (const Settings *settings, char **threads, GError **error)
{
  for (guint i = 0; threads[i] != NULL; i++) {
    guint n = 1;
    if (!sl_options_threads ("bench model", "--threads", threads[i], &n)
        || !sl_bench_backends (settings->model, n, &settings->how, settings->json, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
bench_batch (const Settings *settings, char **threads, GError **error)
{
  for (guint i = 0; threads[i] != NULL; i++) {
    guint n = 1;
    if (!sl_options_threads ("bench model", "--threads", threads[i], &n)
        || !sl_bench_batch (settings->model, n, settings->batch, &settings->how, settings->json,
                            error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
bench_all (const Settings *settings, char **threads, GError **error)
{
  for (guint i = 0; threads[i] != NULL; i++) {
    Result result;
    guint n = 1;
    if (!sl_options_threads ("bench model", "--threads", threads[i], &n)
        || !measure (settings, n, &result, error))
      return FALSE;
    n = result.threads;
    if (settings->json)
      print_json (settings, n, &result);
    else
      print_text (n, &result, settings, i == 0);
    fflush (stdout);
    g_autofree char *warning = sl_heat_warning (&result.before, &result.after);
    if (warning != NULL)
      sl_complain ("bench model", "%s", warning);
    /* The comparison is last, because the other runtime may be missing. */
    if (!sl_bench_precision (settings->model, n, settings->words, &settings->how, settings->json,
                             error)
        || (settings->profile && !print_profile (settings, n, error))
        || !compare (settings, n, error))
      return FALSE;
    fflush (stdout);
  }
  return TRUE;
}

static gboolean
threads_check (char **threads)
{
  guint n;
  for (guint i = 0; threads[i] != NULL; i++)
    if (!sl_options_threads ("bench model", "--threads", threads[i], &n))
      return FALSE;
  return TRUE;
}

int
sl_bench_model (int argc, char **argv)
{
  g_auto (GStrv) rest = NULL;
  g_auto (GStrv) threads = NULL;
  g_autofree char *threads_text = NULL, *runs_text = NULL, *warm_up_text = NULL, *onnx = NULL,
                  *batch_text = NULL, *html = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (SlModelOptions) options = { 0 };
  g_autofree GOptionEntry *more = sl_model_options_entries (
    &options, SL_SETTINGS_LIMITS | SL_SETTINGS_BACKEND | SL_SETTINGS_WORDS);
  Settings settings = { .runs = 100, .warm_up = 10 };
  const GOptionEntry entries[] = {
    { "threads", 't', 0, G_OPTION_ARG_STRING, &threads_text,
      "Numbers of threads, 1..64 or auto (0 = auto; default 1)", "N[,N...]" },
    { "runs", 'n', 0, G_OPTION_ARG_STRING, &runs_text, "Measured runs (default 100)", "N" },
    { "warm-up", 'w', 0, G_OPTION_ARG_STRING, &warm_up_text, "Runs before them (default 10)", "N" },
    { "backends", 0, 0, G_OPTION_ARG_NONE, &settings.backends,
      "Show every backend that is here: time, processor time, and whether results agree", NULL },
    { "batch", 0, 0, G_OPTION_ARG_STRING, &batch_text,
      "Show whether N inputs, 2..64, are faster at once than one after the other; auto: which N is "
      "best",
      "N" },
    { "html", 0, 0, G_OPTION_ARG_FILENAME, &html, "Write the times as a page, with charts",
      "FILE" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &settings.json, "Print one JSON object a line", NULL },
    { "profile", 'p', 0, G_OPTION_ARG_NONE, &settings.profile, "Show which operators take the time",
      NULL },
    { "nodes", 0, 0, G_OPTION_ARG_NONE, &settings.all, "With --profile: every node by itself",
      NULL },
    { "compare", 0, 0, G_OPTION_ARG_NONE, &settings.compare,
      "Run it in TensorFlow Lite too, in turn, an ONNX model in ONNX Runtime, one of PyTorch in "
      "PyTorch, if python3 has that",
      NULL },
    { "compare-onnx", 0, 0, G_OPTION_ARG_FILENAME, &onnx,
      "Run FILE in ONNX Runtime too, in turn, if python3 or node has that", "FILE" },
    { NULL },
  };
  const int status = sl_options_parse ("bench model", "MODEL", "Measures how fast a model runs.",
                                       NULL, argc, argv, entries, more, &rest);
  if (status >= 0)
    return status;
  if (g_strv_length (rest) != 1)
    return sl_options_usage ("bench model", "expected one MODEL");
  threads = g_strsplit (threads_text != NULL ? threads_text : "1", ",", -1);
  if (!threads_check (threads)
      || !sl_options_integer ("bench model", "--runs", runs_text, 1, 1000000, &settings.runs)
      || !sl_options_integer ("bench model", "--warm-up", warm_up_text, 0, 1000000,
                              &settings.warm_up)
      || !sl_model_options_check ("bench model", &options))
    return SL_EXIT_USAGE;
  if (settings.json && settings.profile)
    return sl_options_usage ("bench model", "--json and --profile exclude each other");
  if (settings.profile && options.settings.backend != NULL
      && strcmp (options.settings.backend, SL_BACKEND_OURS) != 0)
    return sl_options_usage ("bench model",
                             "--profile shows Sightline's own nodes; it goes without --backend");
  if (sl_model_options_state (&options, SL_SETTINGS_WORDS)
      && (settings.backends || batch_text != NULL || settings.compare || onnx != NULL))
    return sl_options_usage ("bench model",
                             "--prompts and what belongs to them fix inputs, which others do not "
                             "have; they go without --backends, --batch and --compare");
  if (g_strcmp0 (batch_text, "auto") == 0)
    settings.batch = 1;
  else if (!sl_options_integer ("bench model", "--batch", batch_text, 2, SL_MAX_BATCH,
                                &settings.batch))
    return SL_EXIT_USAGE;
  if (html != NULL && (settings.backends || settings.batch > 0))
    return sl_options_usage ("bench model",
                             "--html shows times of runs; it goes without --backends and --batch");
  if (!sl_options_apart ("bench model", "--html", html, "MODEL", rest[0])
      || !sl_options_apart ("bench model", "--html", html, "--compare-onnx", onnx)
      || !sl_options_report ("bench model", "--html", html, SL_HTML_HEAD))
    return SL_EXIT_USAGE;
  g_autoptr (GString) page = html != NULL ? sl_bench_page_new (rest[0]) : NULL;
  settings.page = page;
  settings.model = rest[0];
  settings.words = &options.settings;
  settings.how = sl_model_options_load (&options, FALSE);
  settings.how.any_backend = TRUE;
  settings.onnx = onnx;
  if ((settings.backends    ? bench_backends
       : settings.batch > 0 ? bench_batch
                            : bench_all) (&settings, threads, &error)
      && (page == NULL || sl_bench_page_write (page, html, &error)))
    return SL_EXIT_OK;
  return sl_complain ("bench model", "%s", error->message);
}
