/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/model_report.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/graph/work.h"
#include "core/passes/prepare.h"
#include "models/state.h"
#include "predict/contractspec.h"
#include "tools/contract_preview.h"

void
sl_model_report_clear (SlModelReport *report)
{
  g_clear_pointer (&report->session, sl_session_free);
  g_clear_pointer (&report->model, sl_model_unref);
  g_free (report->decoder_note);
  g_free (report->decoder_problem);
  g_free (report->input_problem);
}

static void
count_ops (SlModelReport *report)
{
  const SlGraph *graph = sl_model_graph (report->model);
  while (report->n_backends < SL_REPORT_BACKENDS
         && sl_session_backend_use (report->session, report->n_backends,
                                    &report->backends[report->n_backends]))
    report->n_backends++;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    SlOpCount *op = &report->ops[sl_graph_node (graph, i)->op];
    const char *backend = sl_session_backend (report->session, i);
    op->count++;
    op->view += strcmp (backend, "view") == 0;
    for (guint k = 0; k < report->n_backends; k++)
      op->on[k] += strcmp (backend, report->backends[k].name) == 0;
  }
}

gboolean
sl_model_report_fill (SlModelReport *report, const SlModelOptions *options, GError **error)
{
  g_autoptr (GError) range = NULL;
  g_autoptr (GError) outputs = NULL;
  SlModelLoadOptions how = sl_model_options_load (options, TRUE);
  how.any_backend = TRUE; /* for the key file's precision */
  how.backend.backend = SL_BACKEND_OURS;
  report->model = sl_model_load_with (options->settings.model, &options->settings, &how, error);
  if (report->model == NULL)
    return FALSE;
  report->session = sl_session_new (sl_model_graph (report->model), 1, error);
  if (report->session == NULL)
    return sl_fail_prefix (error, "%s: ", options->settings.model);
  sl_session_stats (report->session, &report->stats);
  count_ops (report);
  SlContract *contract = sl_model_contract (report->model);
  g_autoptr (SlDecoding) decoding = sl_contract_open_decoding (contract, &outputs);
  report->decoder = decoding != NULL ? sl_decoding_decoder (decoding)->name : NULL;
  report->decoder_note = decoding != NULL ? g_strdup (sl_decoding_note (decoding)) : NULL;
  report->decoder_problem = outputs != NULL ? sl_printable_message (outputs->message) : NULL;
  if (!sl_contract_require_range (contract, &range))
    report->input_problem = sl_printable_message (range->message);
  return TRUE;
}

static void
json_passes (GString *out, const SlModelReport *report)
{
  const SlGraph *graph = sl_model_graph (report->model);
  g_string_append (out, ",\"passes\":{");
  for (guint i = 0; i < sl_graph_n_passes (graph); i++) {
    guint changes;
    const char *name = sl_graph_pass (graph, i, &changes);
    g_string_append_printf (out, "\"%s\":%u,", name, changes);
  }
  g_string_append_printf (out, "\"in_place\":%u}", report->stats.in_place_nodes);
}

static void
json_tensors (GString *out, const char *key, const SlGraph *graph, guint n,
              const SlTensor *(*get) (const SlGraph *, guint))
{
  g_string_append_printf (out, ",\"%s\":[", key);
  for (guint i = 0; i < n; i++) {
    const SlTensor *tensor = get (graph, i);
    g_string_append (out, i > 0 ? ",{\"name\":" : "{\"name\":");
    sl_json_append_string (out, tensor->name);
    g_string_append_printf (out, ",\"dtype\":\"%s\",\"shape\":[", sl_dtype_name (tensor->dtype));
    for (guint d = 0; d < tensor->rank; d++)
      g_string_append_printf (out, "%s%d", d > 0 ? "," : "", tensor->dims[d]);
    g_string_append (out, "],\"scales\":[");
    for (guint q = 0; q < tensor->quant.count; q++) {
      g_string_append (out, q > 0 ? "," : "");
      sl_json_append_double (out, tensor->quant.scale[q], 9);
    }
    g_string_append (out, "],\"zero_points\":[");
    for (guint q = 0; q < tensor->quant.count; q++)
      g_string_append_printf (out, "%s%d", q > 0 ? "," : "", tensor->quant.zero_point[q]);
    g_string_append_printf (out, "],\"bytes\":%" G_GSIZE_FORMAT "}", tensor->bytes);
  }
  g_string_append_c (out, ']');
}

static void
json_facts (GString *out, const SlModel *model)
{
  const char *name, *value = NULL;
  g_string_append (out, ",\"program\":");
  if (sl_model_fact (model, 0, &value) == NULL) {
    g_string_append (out, "null");
    return;
  }
  for (guint i = 0; (name = sl_model_fact (model, i, &value)) != NULL; i++) {
    g_string_append_printf (out, "%s\"%s\":", i == 0 ? "{" : ",", name);
    sl_json_append_string (out, value);
  }
  g_string_append_c (out, '}');
}

static void
json_numbers (GString *out, const char *key, const double *values, gint n)
{
  g_string_append_printf (out, ",\"%s\":[", key);
  for (gint i = 0; i < n; i++) {
    g_string_append (out, i > 0 ? "," : "");
    sl_json_append_double (out, values[i], 9);
  }
  g_string_append_c (out, ']');
}

static void
json_contract (GString *out, const SlModelReport *report)
{
  const SlContract *contract = sl_model_contract (report->model);
  const SlTensorInfo *input = &contract->inputs[0];
  const SlImageContract *image = &contract->image;
  g_string_append (out, ",\"picture\":");
  if (image->valid) {
    g_string_append_printf (
      out,
      "{\"width\":%d,\"height\":%d,\"channels\":%d,\"colour\":\"%s\",\"layout\":\"%s\","
      "\"fit\":\"%s\"",
      image->width, image->height, image->channels, sl_colour_name (image->colour),
      sl_layout_name (image->layout), sl_fit_name (sl_contract_fit (contract).fit));
    if (image->crop_share != 1) {
      sl_json_append_number (out, "crop_share", image->crop_share, 9);
    }
    g_string_append_printf (out, ",\"dtype\":\"%s\",\"scale\":", sl_dtype_name (input->dtype));
    sl_json_append_double (out, (double) input->scale, 9);
    g_string_append_printf (out, ",\"zero_point\":%d", input->zero_point);
    sl_json_append_boolean (out, "already_quantised", contract->skips_input_quantize);
    sl_json_append_boolean (out, "range_known", report->input_problem == NULL);
    gint n = report->input_problem == NULL ? image->channels : 0;
    json_numbers (out, "mean", image->mean, n);
    json_numbers (out, "std", image->std, n);
    json_numbers (out, "gain", image->gain, n);
    json_numbers (out, "offset", image->offset, n);
    g_string_append_c (out, '}');
  } else
    g_string_append (out, "null");
  sl_json_append_text (out, "decoder", report->decoder);
  sl_json_append_text (out, "note", report->decoder_note);
  sl_json_append_text (out, "problem",
                       report->input_problem != NULL ? report->input_problem
                                                     : report->decoder_problem);
  g_string_append (out, ",\"labels\":[");
  for (guint i = 0; contract->labels != NULL && i < sl_labels_count (contract->labels); i++) {
    g_string_append (out, i > 0 ? "," : "");
    sl_json_append_string (out, sl_labels_get (contract->labels, i));
  }
  g_string_append_c (out, ']');
}

static void
json_operator (GString *out, const char *separator, const SlModelReport *report, SlOpType type)
{
  const SlOpCount *op = &report->ops[type];
  g_string_append_printf (out, "%s{\"name\":\"%s\",\"count\":%u", separator, sl_op_name (type),
                          op->count);
  for (guint k = 0; k < report->n_backends; k++)
    g_string_append_printf (out, ",\"%s\":%u", report->backends[k].name, op->on[k]);
  g_string_append_printf (out, ",\"view\":%u}", op->view);
}

void
sl_model_report_append_json (const SlModelReport *report, GString *out)
{
  const SlGraph *graph = sl_model_graph (report->model);
  const SlSessionStats *stats = &report->stats;
  const char *separator = "";
  sl_json_append_key (out, "model");
  sl_json_append_string (out, sl_model_path (report->model));
  g_string_append_printf (out, ",\"format\":\"%s\"", sl_model_format (report->model));
  json_facts (out, report->model);
  json_tensors (out, "inputs", graph, sl_graph_n_inputs (graph), sl_graph_declared_input_tensor);
  json_tensors (out, "outputs", graph, sl_graph_n_outputs (graph), sl_graph_output_tensor);
  g_autofree char *pairs = sl_state_describe (graph, TRUE);
  sl_json_append_text (out, "state", pairs);
  json_contract (out, report);
  json_passes (out, report);
  g_string_append (out, ",\"operators\":[");
  for (guint i = 0; i < SL_OP_COUNT; i++)
    if (report->ops[i].count > 0) {
      json_operator (out, separator, report, (SlOpType) i);
      separator = ",";
    }
  g_string_append_printf (out, "],\"multiply_adds\":%" G_GUINT64_FORMAT ",\"nodes\":%u",
                          sl_graph_multiply_adds (graph), stats->nodes);
  for (guint k = 0; k < report->n_backends; k++) {
    const SlBackendUse *use = &report->backends[k];
    g_string_append_printf (out, ",\"%s_nodes\":%u", use->name, use->nodes);
    if (use->cpu != NULL)
      g_string_append_printf (out, ",\"%s_cpu\":\"%s\"", use->name, use->cpu);
  }
  g_string_append_printf (out,
                          ",\"steps\":%u,\"weight_bytes\":%" G_GSIZE_FORMAT
                          ",\"packed_bytes\":%" G_GSIZE_FORMAT ",\"arena_bytes\":%" G_GSIZE_FORMAT
                          ",\"arena_lower_bound\":%" G_GSIZE_FORMAT,
                          stats->steps, stats->weight_bytes, stats->packed_bytes,
                          stats->arena_bytes, stats->arena_lower_bound);
  sl_json_append_text (out, "precision", sl_precision_name (sl_graph_precision (graph)));
}
