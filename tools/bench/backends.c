/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of backends for one model. What runs it on a device has its time, and the processor
 * time that it costs all the same. */
#include "tools/bench/backends.h"

#include <stdio.h>

#include "core/base/cores.h"
#include "core/base/json.h"
#include "models/backend.h"
#include "models/batch.h"
#include "core/base/fail.h"
#include "tools/terminal.h"

#define TRIAL_MS 2000

/* A row; @error (nullable): why there are no numbers. */
typedef struct
{
  const char *name, *title;
  double ms, cpu_ms, joules, difference; /* joules: 0 = not told */
  gboolean agrees, compared;
  const GError *error;
} Row;

static void
print_text (const Row *row)
{
  if (row->error != NULL)
    printf ("%-12s %s\n", row->name, row->error->message);
  if (row->error != NULL)
    return;
  printf ("%-12s %9.3f %9.3f ", row->name, row->ms, row->cpu_ms);
  if (row->joules > 0)
    printf (" %9.3f", row->joules * 1e3);
  else
    printf (" %9s", "-");
  if (row->compared)
    printf ("  %9.2e %s%-8s%s %s\n", row->difference,
            sl_terminal_style (stdout, row->agrees ? SL_STYLE_GOOD : SL_STYLE_BAD),
            row->agrees ? "agrees" : "differs", sl_terminal_style (stdout, SL_STYLE_PLAIN),
            row->title);
  else
    printf ("  %9s %-8s %s\n", "", "", row->title);
}

static void
print_json (const Row *row)
{
  GString *out = g_string_new ("{\"backend\":");
  sl_json_append_string (out, row->name);
  if (row->error != NULL) {
    sl_json_append_text (out, "error", row->error->message);
  } else {
    sl_json_append_text (out, "title", row->title);
    sl_json_append_number (out, "min_ms", row->ms, 6);
    sl_json_append_number (out, "cpu_ms", row->cpu_ms, 6);
    if (row->joules > 0) {
      sl_json_append_number (out, "joules", row->joules, 6);
    }
  }
  if (row->compared) {
    sl_json_append_number (out, "difference", row->difference, 6);
    sl_json_append_boolean (out, "agrees", row->agrees);
  }
  g_string_append (out, "}\n");
  fwrite (out->str, 1, out->len, stdout);
  g_string_free (out, TRUE);
}

static void
print (const Row *row, gboolean json)
{
  (json ? print_json : print_text) (row);
  fflush (stdout);
}

/* Both rows. */
static void
print_runtime (SlModel *ours, SlSession *session, guint threads, const SlModelLoadOptions *how,
               SlEnergy *energy, gboolean json)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *notice = NULL;
  SlBackendTrial trial = { 0 };
  g_autoptr (SlModel) theirs = sl_model_load_with (sl_model_path (ours), NULL, how, &error);
  g_autoptr (SlSession) other =
    theirs != NULL ? sl_model_session_new (theirs, threads, &notice, &error) : NULL;
  Row row = { .name = how->backend.backend };
  if (other != NULL && sl_session_external (other) == NULL)
    sl_fail (&error, SL_ERROR_BACKEND, "%s", notice);
  else if (other != NULL)
    sl_session_set_fallback (other, FALSE); /* the key file beside the model may state it */
  if (error == NULL
      && sl_backend_try (session, other, sl_model_contract (ours), TRIAL_MS, energy, &trial,
                         &error)) {
    const Row first = { .name = SL_BACKEND_OURS,
                        .title = "Sightline, CPU",
                        .ms = trial.ours_ms,
                        .cpu_ms = trial.ours_cpu_ms,
                        .joules = trial.ours_joules };
    print (&first, json);
    row.title = sl_external_model_title (sl_session_external (other));
    row.ms = trial.theirs_ms;
    row.cpu_ms = trial.theirs_cpu_ms;
    row.joules = trial.theirs_joules;
    row.difference = trial.difference;
    row.agrees = trial.agrees;
    row.compared = TRUE;
  }
  row.error = error;
  print (&row, json);
}

gboolean
sl_bench_backends (const char *path, guint threads, const SlModelLoadOptions *how, gboolean json,
                   GError **error)
{
  SlModelLoadOptions plain = *how, runtime = *how;
  plain.any_backend = FALSE;
  plain.backend = (SlBackendSettings){ .precision = how->backend.precision };
  g_autoptr (SlModel) model = sl_model_load_with (path, NULL, &plain, error);
  const char *name = model != NULL ? sl_external_for_format (sl_model_format (model)) : NULL;
  g_autoptr (SlSession) session =
    model != NULL ? sl_session_new (sl_model_graph (model), threads, error) : NULL;
  if (session == NULL)
    return FALSE;
  if (name == NULL)
    return sl_fail (error, SL_ERROR_UNSUPPORTED, "%s: no other backend takes files of %s", path,
                    sl_model_format (model));
  runtime.backend.backend = name;
  runtime.backend.fallback = FALSE;
  runtime.backend.precision = NULL;
  runtime.threads = sl_session_threads (session);
  if (!json)
    printf ("%-12s %9s %9s  %9s  %9s\n", "backend", "min ms", "CPU ms", "mJ", "apart");
  g_autofree char *why = NULL;
  g_autoptr (SlEnergy) energy = sl_energy_open (g_getenv (SL_CORES_SYS), &why);
  print_runtime (model, session, runtime.threads, &runtime, energy, json);
  if (!json)
    printf ("mJ: %s\n", energy != NULL ? sl_energy_source (energy) : why);
  return TRUE;
}

gboolean
sl_bench_batch (const char *path, guint threads, guint batch, const SlModelLoadOptions *how,
                gboolean json, GError **error)
{
  SlModelLoadOptions options = *how;
  g_autofree char *notice = NULL;
  gdouble batch_ms, single_ms;
  options.threads = threads;
  g_autoptr (SlModel) model = sl_model_load_with (path, NULL, &options, error);
  g_autoptr (SlSession) single =
    model != NULL ? sl_model_session_new (model, threads, &notice, error) : NULL;
  g_autoptr (SlBatchSession) session =
    single == NULL ? NULL
    : batch > 1    ? sl_batch_session_new (model, single, batch, error)
                   : sl_batch_session_new_best (model, single, SL_MAX_BATCH, error);
  if (session == NULL) {
    if (single != NULL)
      g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  const guint n = sl_batch_session_size (session);
  const gdouble gain = sl_batch_session_times (session, &batch_ms, &single_ms);
  if (!json) {
    printf (
      "%u threads, %u inputs at once: %.3f ms, %.3f ms each; one by itself: %.3f ms; %.2f times as "
      "fast\n",
      sl_session_threads (single), n, batch_ms, batch_ms / n, single_ms, gain);
    return TRUE;
  }
  GString *out = g_string_new (NULL);
  g_string_printf (out, "{\"threads\":%u,\"batch\":%u,\"batch_ms\":", sl_session_threads (single),
                   n);
  sl_json_append_double (out, batch_ms, 6);
  sl_json_append_number (out, "single_ms", single_ms, 6);
  sl_json_append_number (out, "gain", gain, 6);
  puts (g_string_append (out, "}")->str);
  g_string_free (out, TRUE);
  return TRUE;
}
