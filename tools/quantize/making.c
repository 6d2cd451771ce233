/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/quantize/making.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "tools/options.h"

#define DEFAULT_PERCENT 99.99

gboolean
sl_making_options_check (const char *command, SlMakingOptions *making)
{
  static const char *const methods[] = { "minmax", "percentile", "mse", NULL }, *const heads[] = {
    "auto", "none", NULL
  };
  static const char *const scales[] = { "per-channel", "per-tensor", NULL }, *const types[] = {
    "int8", "uint8", NULL
  };
  gdouble percent = DEFAULT_PERCENT / 100, prune = 0;
  making->how = (SlQuantizeOptions){ .method = SL_RANGE_MSE, .float_head = TRUE };
  if (!sl_options_choice (command, "--method", &making->method, methods)
      || !sl_options_choice (command, "--float-head", &making->float_head, heads)
      || !sl_options_choice (command, "--weights", &making->weights, scales)
      || !sl_options_choice (command, "--activations", &making->activations, types)
      || !sl_options_fraction (command, "--percentile", making->percentile, &percent)
      || !sl_options_fraction (command, "--min-agreement", making->min_agreement, &making->limit)
      || !sl_options_fraction (command, "--prune", making->prune, &prune))
    return FALSE;
  for (guint i = 0; making->method != NULL && methods[i] != NULL; i++)
    if (g_str_equal (making->method, methods[i]))
      making->how.method = (SlRangeMethod) i;
  making->how.float_head = making->float_head == NULL || g_str_equal (making->float_head, "auto");
  making->how.uint8 = making->activations != NULL && g_str_equal (making->activations, "uint8");
  making->how.per_tensor =
    making->how.uint8 || (making->weights != NULL && g_str_equal (making->weights, "per-tensor"));
  if (making->how.uint8 && making->weights != NULL
      && g_str_equal (making->weights, "per-channel")) {
    sl_options_usage (
      command,
      "--activations uint8: weights of uint8 have one scale; expected --weights per-tensor");
    return FALSE;
  }
  if (making->prune_blocks && making->prune == NULL) {
    sl_options_usage (command,
                      "--prune-blocks says how weights become zero; expected --prune X, too");
    return FALSE;
  }
  making->how.percent = 100 * percent;
  making->how.prune = prune;
  making->how.prune_blocks = making->prune_blocks;
  return TRUE;
}

gboolean
sl_making_check_agreement (const SlMakingOptions *making, const SlQuantizeReport *report,
                           const char *output, GError **error)
{
  if (making->min_agreement == NULL || report->agreement >= making->limit)
    return TRUE;
  if (isnan (report->agreement))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "--min-agreement: the agreement could not be measured, so %s is not written; "
                    "expected a decoder for the model, and 5 pictures or more to compare some",
                    output);
  /* Nodes are compared with those of the pruned model: the noisiest says nothing of what pruning
   * cost. */
  const gboolean pruned = report->pruned > 0;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "the models agree to %.3f (%s); expected at least %g, so %s is not written; the noisiest "
    "node%s is %s '%s' (%.1f dB): %stry another --method, or more pictures of what the model will "
    "see",
    report->agreement, report->measure, making->limit, output, pruned ? " of the pruned model" : "",
    report->worst[0].op, report->worst[0].name, report->worst[0].snr,
    pruned
      ? "state a lower share with --prune, whose zeros no layer that stays float brings back, or "
      : "");
}

static GBytes *
make_and_compare (SlQuantizer *quantizer, SlCompareAll compare, gpointer data,
                  SlQuantizeReport *report, GError **error)
{
  g_autoptr (GBytes) file = sl_quantizer_finish (quantizer, error);
  if (file == NULL || !compare (data, error))
    return NULL;
  sl_quantizer_report (quantizer, report);
  return g_steal_pointer (&file);
}

GBytes *
sl_making_file (SlQuantizer *quantizer, const SlMakingOptions *making, SlCompareAll compare,
                gpointer data, SlQuantizeReport *report, GError **error)
{
  g_autoptr (GBytes) file = make_and_compare (quantizer, compare, data, report, error);
  while (file != NULL && making->min_agreement != NULL && report->agreement < making->limit
         && sl_quantizer_keep (quantizer) > 0) {
    g_autoptr (GError) none_left = NULL;
    GBytes *more = make_and_compare (quantizer, compare, data, report, &none_left);
    /* Nothing would be quantised any more: what is left is the last that was. */
    if (more == NULL && none_left != NULL)
      break;
    g_bytes_unref (file);
    file = more;
  }
  return g_steal_pointer (&file);
}
