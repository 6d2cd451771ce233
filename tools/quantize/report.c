/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/quantize/report.h"

#include <math.h>
#include <stdio.h>

#include "core/base/json.h"
#include "core/base/printable.h"

static void
print_agreement (const SlQuantizeReport *report)
{
  if (report->compared == 0)
    printf ("agreement  not measured: no picture was left for it\n");
  else if (report->measure == NULL)
    printf ("agreement  not measured: no decoder takes the outputs (--decoder states one)\n");
  else if (isnan (report->agreement))
    printf ("agreement  not measured: the float model finds nothing in the %u pictures\n",
            report->compared);
  else
    printf ("agreement  %.3f %s, float against %s, on %u other pictures\n", report->agreement,
            report->measure, report->what == SL_QUANTIZE_FLOAT16 ? "16 bits" : "8 bits",
            report->compared);
}

static const char *const bits[] = { "8 bits", "weights of 8 bits", "weights of float16" };

void
sl_quantize_print (const SlQuantizeReport *report, const SlLearned *learned, const char *output,
                   guint threads)
{
  g_autofree char *shown = sl_printable (output, SL_PRINTABLE_MESSAGE);
  printf ("model      %s\n", shown);
  if (learned->looked_at > 0)
    printf ("frames     %" G_GUINT64_FORMAT " looked at, %" G_GUINT64_FORMAT
            " alike, %u learned from\n",
            learned->looked_at, learned->alike, learned->pictures);
  else if (report->what == SL_QUANTIZE_ALL)
    printf ("pictures   %u learned from\n", learned->pictures);
  printf ("nodes      %u, of them %u with %s\n", report->nodes, report->quantized,
          bits[report->what]);
  if (report->dynamic > 0)
    printf ("rows       %u layers round each row of their input while the model runs\n",
            report->dynamic);
  if (report->equalized > 0)
    printf ("equalized  %u pairs of layers\n", report->equalized);
  if (report->pruned > 0)
    printf ("pruned     %u layers\n", report->pruned);
  if (report->n_kept > 0)
    printf ("kept float %u layers\n", report->n_kept);
  for (guint i = 0; i < MIN (report->n_kept, SL_QUANTIZE_KEPT); i++) {
    g_autofree char *name = sl_printable (report->kept[i], SL_PRINTABLE_MESSAGE);
    printf ("           %s\n", name);
  }
  printf ("size       %.2f MB float, %.2f MB now\n", (double) report->float_bytes / 1e6,
          (double) report->quantized_bytes / 1e6);
  print_agreement (report);
  if (report->compared == 0)
    return;
  printf ("time       %.2f ms float, %.2f ms now, %u thread%s\n", report->float_ms,
          report->quantized_ms, threads, threads != 1 ? "s" : "");
  printf ("outputs    %.1f dB signal to noise\n", report->output_snr);
  printf ("noisiest\n");
  for (guint i = 0; i < report->n_worst; i++) {
    g_autofree char *name = sl_printable (report->worst[i].name, SL_PRINTABLE_MESSAGE);
    printf ("  %6.1f dB  %-24s %s\n", report->worst[i].snr, report->worst[i].op, name);
  }
}

void
sl_quantize_print_json (const SlQuantizeReport *report, const SlLearned *learned,
                        const char *output, guint threads)
{
  g_autoptr (GString) out = g_string_new ("{\"model\":");
  sl_json_append_string (out, output);
  g_string_append_printf (out,
                          ",\"calibrated\":%u,\"compared\":%u,\"nodes\":%u,\"quantized_nodes\":%u,"
                          "\"float_bytes\":%" G_GSIZE_FORMAT ",\"bytes\":%" G_GSIZE_FORMAT
                          ",\"threads\":%u,\"measure\":",
                          learned->pictures, report->compared, report->nodes, report->quantized,
                          report->float_bytes, report->quantized_bytes, threads);
  sl_json_append_string (out, report->measure);
  sl_json_append_number (out, "agreement", report->agreement, 6);
  sl_json_append_number (out, "float_ms", report->float_ms, 6);
  sl_json_append_number (out, "ms", report->quantized_ms, 6);
  sl_json_append_number (out, "output_snr_db", report->compared > 0 ? report->output_snr : NAN, 6);
  if (learned->looked_at > 0)
    g_string_append_printf (out,
                            ",\"looked_at\":%" G_GUINT64_FORMAT ",\"alike\":%" G_GUINT64_FORMAT,
                            learned->looked_at, learned->alike);
  g_string_append_printf (out, ",\"rounding_rows\":%u,\"equalized\":%u,\"pruned\":%u,\"kept\":[",
                          report->dynamic, report->equalized, report->pruned);
  for (guint i = 0; i < MIN (report->n_kept, SL_QUANTIZE_KEPT); i++) {
    g_string_append (out, i > 0 ? "," : "");
    sl_json_append_string (out, report->kept[i]);
  }
  g_string_append (out, "],\"noisiest\":[");
  for (guint i = 0; i < report->n_worst; i++) {
    g_string_append (out, i > 0 ? ",{\"operator\":" : "{\"operator\":");
    sl_json_append_string (out, report->worst[i].op);
    sl_json_append_text (out, "name", report->worst[i].name);
    sl_json_append_number (out, "snr_db", report->worst[i].snr, 6);
    g_string_append_c (out, '}');
  }
  g_string_append (out, "]}");
  puts (out->str);
}
