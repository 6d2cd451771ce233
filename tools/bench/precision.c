/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/bench/precision.h"

#include <stdio.h>

#include "core/base/json.h"
#include "models/backend.h"

static void
print_json (const char *path, guint threads, SlPrecision precision, const SlBackendTrial *trial)
{
  GString *out = g_string_new ("{\"model\":");
  sl_json_append_string (out, path);
  g_string_append_printf (out, ",\"threads\":%u,\"precision\":\"%s\",\"max_difference\":", threads,
                          sl_precision_name (precision));
  sl_json_append_double (out, trial->apart, 6);
  sl_json_append_number (out, "relative_difference", trial->difference, 6);
  sl_json_append_boolean (out, "top1_same", trial->same_top);
  g_string_append (out, "}\n");
  fwrite (out->str, 1, out->len, stdout);
  g_string_free (out, TRUE);
}

gboolean
sl_bench_precision (const char *path, guint threads, const SlModelSettings *words,
                    const SlModelLoadOptions *how, gboolean json, GError **error)
{
  SlModelLoadOptions single = *how;
  SlBackendTrial trial;
  single.backend = (SlBackendSettings){ .precision = sl_precision_name (SL_PRECISION_FLOAT) };
  g_autoptr (SlModel) model = sl_model_load_with (path, words, how, error);
  if (model == NULL)
    return FALSE;
  const SlPrecision precision = sl_graph_precision (sl_model_graph (model));
  if (precision == SL_PRECISION_FLOAT || sl_model_external (model) != NULL)
    return TRUE;
  g_autoptr (SlModel) exact = sl_model_load_with (path, words, &single, error);
  g_autoptr (SlSession) first =
    exact != NULL ? sl_session_new (sl_model_graph (exact), threads, error) : NULL;
  g_autoptr (SlSession) second =
    first != NULL ? sl_session_new (sl_model_graph (model), threads, error) : NULL;
  if (second == NULL
      || !sl_backend_try (first, second, sl_model_contract (exact), 0, NULL, &trial, error))
    return FALSE;
  if (json)
    print_json (path, threads, precision, &trial);
  else
    printf ("%7u %s is at most %.3g from float on noise, %.3g %% of the largest value; top-1 %s\n",
            threads, sl_precision_name (precision), trial.apart, 100 * trial.difference,
            trial.same_top ? "the same" : "another");
  return TRUE;
}
