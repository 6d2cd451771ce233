/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline inspect`: what a model takes and gives, what runs it, and what Sightline makes of it,
 * for people or as one JSON object. Both are printed from an SlModelReport.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "core/backends/backend.h"
#include "core/base/fail.h"
#include "core/base/printable.h"
#include "core/graph/work.h"
#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "models/model.h"
#include "models/state.h"
#include "predict/contractspec.h"
#include "core/base/json.h"
#include "tools/command.h"
#include "tools/contract_preview.h"
#include "tools/model_report.h"
#include "tools/options.h"

/* What models need of a build, for core/base/build_selection.h: a line is a kind and a name, such
 * as "operator CONV_2D". The models are loaded here, so the list is what reading, rewriting and
 * decoding them took, and not a guess from their bytes. */
static void
need (GHashTable *needs, const char *kind, const char *name)
{
  g_hash_table_add (needs, g_strdup_printf ("%s %s", kind, name));
}

static gboolean
add_model (GHashTable *needs, const char *path, const SlModelOptions *options, GError **error)
{
  const SlModelLoadOptions how = sl_model_options_load (options, TRUE);
  g_autoptr (SlModel) model = sl_model_load_with (path, &options->settings, &how, error);
  if (model == NULL)
    return FALSE;
  SlGraph *graph = sl_model_graph (model);
  g_autoptr (SlSession) session = sl_session_new (
    graph, 1, error); /* starts the backends, which say what they support only then */
  if (session == NULL)
    return sl_fail_prefix (error, "%s: ", path);
  g_autofree const char **imports = sl_graph_imports (graph);
  need (needs, "reader", sl_model_format (model));
  for (guint i = 0; imports[i] != NULL; i++)
    need (needs, "onnx", imports[i]);
  for (guint i = 1; i < SL_OP_COUNT; i++)
    if (sl_graph_may_need (graph, (SlOpType) i) != NULL)
      need (needs, "operator", sl_graph_may_need (graph, (SlOpType) i));
  g_autofree const char **backends = sl_backends_for (graph);
  for (guint i = 0; backends[i] != NULL; i++)
    need (needs, "backend", backends[i]);
  g_autoptr (SlDecoding) decoding = sl_contract_open_decoding (sl_model_contract (model), NULL);
  if (decoding != NULL)
    need (needs, "decoder", sl_decoding_decoder (decoding)->name);
  return TRUE;
}

/* One line a reader, operator, row of ONNX's table and decoder that one of @models needs, sorted;
 * an exit status. */
static int
print_needs (char **models, const SlModelOptions *options)
{
  g_autoptr (GHashTable) needs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; models[i] != NULL; i++) {
    g_autoptr (GError) error = NULL;
    if (!add_model (needs, models[i], options, &error))
      return sl_complain ("inspect", "%s", error->message);
  }
  need (needs, "version", SL_VERSION);
  g_autoptr (GList) lines = g_list_sort (g_hash_table_get_keys (needs), (GCompareFunc) g_strcmp0);
  for (const GList *line = lines; line != NULL; line = line->next)
    printf ("%s\n", (const char *) line->data);
  return SL_EXIT_OK;
}

#define SHOWN_LABELS 5

static void
print_tensors (const char *heading, const SlGraph *graph, guint n,
               const SlTensor *(*get) (const SlGraph *, guint))
{
  printf ("%s\n", heading);
  for (guint i = 0; i < n; i++) {
    const SlTensor *tensor = get (graph, i);
    g_autofree char *described = sl_tensor_describe (tensor),
                    *name = sl_printable (tensor->name, SL_PRINTABLE_NAME);
    printf ("  %u  %s  %s", i, described, name);
    if (tensor->quant.count > 1)
      printf ("  %u scales along axis %d", tensor->quant.count, tensor->quant.axis);
    else if (tensor->quant.count == 1)
      printf ("  scale %.9g  zero point %d", (double) sl_tensor_scale (tensor),
              sl_tensor_zero_point (tensor));
    printf ("  %" G_GSIZE_FORMAT " bytes\n", tensor->bytes);
  }
}

static void
print_triple (const char *name, const double *values, gint channels)
{
  printf ("  %-9s", name);
  for (gint i = 0; i < channels; i++)
    printf (" %.6g", values[i]);
  printf ("\n");
}

static void
print_fit (const SlContract *contract)
{
  const SlContractFit fit = sl_contract_fit (contract);
  printf ("  fit       %s", sl_fit_name (fit.fit));
  if (contract->image.crop_share != 1)
    printf (" of the central %g", contract->image.crop_share);
  if (fit.decoder != NULL && fit.fit != fit.expected)
    printf (", as is stated; models of the decoder %s are made for %s", fit.decoder,
            sl_fit_name (fit.expected));
  printf ("\n");
}

static void
print_picture (const SlModelReport *report)
{
  const SlContract *contract = sl_model_contract (report->model);
  const SlTensorInfo *input = &contract->inputs[0];
  const SlImageContract *image = &contract->image;
  printf ("picture\n");
  if (!image->valid) {
    printf ("  the first input is no picture (expected 1 or 3 channels and rank 3 or 4)\n");
    return;
  }
  if (sl_contract_may_be_vectors (contract)) {
    g_autofree char *text = sl_tensor_info_describe (input);
    printf (
      "  the first input, %s, is probably no picture: sightline infer runs the model; state mean "
      "and std if it is a gray picture of %dx%d\n",
      text, image->width, image->height);
    return;
  }
  printf ("  size      %dx%d, %s %s\n", image->width, image->height, sl_colour_name (image->colour),
          sl_layout_name (image->layout));
  print_fit (contract);
  if (contract->skips_input_quantize)
    printf (
      "  given as  %s  scale %.9g  zero point %d, behind the model's own QUANTIZE of its input, "
      "which is left out\n",
      sl_dtype_name (input->dtype), (double) input->scale, input->zero_point);
  if (report->input_problem != NULL) {
    printf ("  range     unknown: %s\n", report->input_problem);
    return;
  }
  if (contract->range_by_model)
    printf ("  range     0..%g, since the model's first operators subtract a mean and divide by a "
            "standard deviation\n",
            255 / image->std[0]);
  print_triple ("mean", image->mean, image->channels);
  print_triple ("std", image->std, image->channels);
  print_triple ("gain", image->gain, image->channels);
  print_triple ("offset", image->offset, image->channels);
}

static void
print_held (const SlGraph *graph)
{
  g_autofree char *pairs = sl_state_describe (graph, TRUE),
                  *shown = pairs != NULL ? sl_printable (pairs, SL_PRINTABLE_MESSAGE) : NULL;
  if (pairs == NULL)
    return;
  printf ("state\n  carried   %s: each of these inputs gets the output of the frame before\n",
          shown);
  for (guint i = 0; i < sl_graph_n_held (graph); i++) {
    const SlHeldInput *held = sl_graph_held (graph, i);
    const SlTensor *tensor = sl_graph_tensor (graph, held->input);
    g_autofree char *described = sl_tensor_describe (tensor),
                    *name = sl_printable (tensor->name, SL_PRINTABLE_NAME);
    printf ("  %u  %s  %s  first %s\n", i, described, name,
            held->first != NULL ? "as the file or fixed-inputs states it" : "zeros");
  }
}

static void
print_results (const SlModelReport *report)
{
  const SlLabels *labels = sl_model_contract (report->model)->labels;
  guint n = labels != NULL ? sl_labels_count (labels) : 0;
  printf ("results\n  decoder   %s\n", report->decoder != NULL ? report->decoder : "none");
  if (report->decoder_note != NULL)
    printf ("  note      %s\n", report->decoder_note);
  if (report->decoder_problem != NULL)
    printf ("  problem   %s\n", report->decoder_problem);
  printf ("  labels    %u", n);
  for (guint i = 0; i < MIN (n, SHOWN_LABELS); i++) {
    g_autofree char *label = sl_printable (
      sl_labels_get (labels, i) != NULL ? sl_labels_get (labels, i) : "-", SL_PRINTABLE_LABEL);
    printf ("%s%s", i == 0 ? ": " : ", ", label);
  }
  printf ("%s\n", n > SHOWN_LABELS ? ", ..." : "");
}

static void
print_operator_counts (const SlModelReport *report)
{
  printf ("operators\n  %-28s %6s", "", "count");
  for (guint k = 0; k < report->n_backends; k++)
    printf (" %7s", report->backends[k].name);
  printf (" %7s\n", "view");
  for (guint i = 0; i < SL_OP_COUNT; i++) {
    const SlOpCount *op = &report->ops[i];
    if (op->count == 0)
      continue;
    printf ("  %-28s %6u", sl_op_name ((SlOpType) i), op->count);
    for (guint k = 0; k < report->n_backends; k++)
      printf (" %7u", op->on[k]);
    printf (" %7u\n", op->view);
  }
}

/* In the order in which they run: what runs each, its operator, its result and its name in the
 * file. */
static void
print_nodes (const SlModelReport *report)
{
  const SlGraph *graph = sl_model_graph (report->model);
  printf ("nodes\n");
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    g_autofree char *result = sl_tensor_describe (sl_graph_tensor (graph, node->outputs[0])),
                    *name = sl_printable (node->name, SL_PRINTABLE_NAME);
    printf ("  %-5u %-8s %-24s %s  %s\n", node->index, sl_session_backend (report->session, i),
            sl_op_name (node->op), result, name);
  }
}

/* Nodes, and how many of them each backend runs. */
static void
print_backends (const SlModelReport *report)
{
  const char *separator = ", of them";
  printf ("run\n  nodes     %u", report->stats.nodes);
  for (guint k = 0; k < report->n_backends;
       k++, separator = k + 1 < report->n_backends ? "," : " and") {
    const SlBackendUse *use = &report->backends[k];
    printf ("%s %u by %s%s%s", separator, use->nodes, use->title, use->cpu != NULL ? " for " : "",
            use->cpu != NULL ? use->cpu : "");
  }
  printf (", in %u steps\n", report->stats.steps);
}

static void
print_facts (const SlModel *model)
{
  const char *name, *value = NULL;
  for (guint i = 0; (name = sl_model_fact (model, i, &value)) != NULL; i++) {
    g_autofree char *shown = sl_printable (value, SL_PRINTABLE_MESSAGE);
    printf ("%s  %-9s %s\n", i == 0 ? "program\n" : "", name, shown);
  }
}

static void
print_text (const SlModelReport *report)
{
  const SlGraph *graph = sl_model_graph (report->model);
  const SlSessionStats *stats = &report->stats;
  g_autofree char *path = sl_printable (sl_model_path (report->model), SL_PRINTABLE_MESSAGE);
  printf ("model  %s (%s)\n", path, sl_model_format (report->model));
  print_facts (report->model);
  print_tensors ("inputs", graph, sl_graph_n_inputs (graph), sl_graph_declared_input_tensor);
  print_tensors ("outputs", graph, sl_graph_n_outputs (graph), sl_graph_output_tensor);
  print_held (graph);
  print_picture (report);
  print_results (report);
  print_operator_counts (report);
  print_backends (report);
  printf ("  work      %.3f million multiply-adds a frame\n",
          (double) sl_graph_multiply_adds (graph) / 1e6);
  if (sl_graph_precision (graph) != SL_PRECISION_FLOAT)
    printf ("  precision %s\n", sl_precision_name (sl_graph_precision (graph)));
  printf ("  weights   %" G_GSIZE_FORMAT " bytes, %" G_GSIZE_FORMAT " packed\n",
          stats->weight_bytes, stats->packed_bytes);
  printf ("  arena     %" G_GSIZE_FORMAT " bytes (at least %" G_GSIZE_FORMAT " are needed)\n",
          stats->arena_bytes, stats->arena_lower_bound);
}

static void
print_passes (const SlModelReport *report)
{
  const SlGraph *graph = sl_model_graph (report->model);
  printf ("passes\n");
  for (guint i = 0; i < sl_graph_n_passes (graph); i++) {
    guint changes;
    const char *name = sl_graph_pass (graph, i, &changes);
    printf ("  %-28s %6u change%s\n", name, changes, changes != 1 ? "s" : "");
  }
  printf ("  %-28s %6u node%s\n", "in_place", report->stats.in_place_nodes,
          report->stats.in_place_nodes != 1 ? "s" : "");
}

static void
print_json (const SlModelReport *report)
{
  g_autoptr (GString) out = g_string_new ("{");
  sl_model_report_append_json (report, out);
  g_string_append (out, "}\n");
  fwrite (out->str, 1, out->len, stdout);
}

/* What `sightline predict` makes of @picture with the same options, which are those in @argv but
 * inspect's own. It looks whether the numbers can be what the decoder takes them for. */
static int
predict_picture (int argc, char **argv, const char *model, const char *picture)
{
  static const char *const own[] = { "--json", "-j", "--nodes", "--passes", NULL };
  const SlCommand *predict = sl_command_load ("predict");
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  gboolean json = FALSE;
  g_ptr_array_add (arguments, (gpointer) "predict");
  for (gint i = 1; i < argc; i++) {
    json = json || g_str_equal (argv[i], "--json") || g_str_equal (argv[i], "-j");
    if (g_str_equal (argv[i], "--picture"))
      i++;
    else if (!g_str_has_prefix (argv[i], "--picture=") && !g_strv_contains (own, argv[i])
             && strcmp (argv[i], model) != 0)
      g_ptr_array_add (arguments, argv[i]);
  }
  if (json)
    g_ptr_array_add (arguments, (gpointer) "--json");
  g_ptr_array_add (arguments, (gpointer) "--model");
  g_ptr_array_add (arguments, (gpointer) model);
  g_ptr_array_add (arguments, (gpointer) picture);
  g_ptr_array_add (arguments, NULL);
  fflush (stdout);
  return predict != NULL ? predict->run ((gint) arguments->len - 1, (char **) arguments->pdata)
                         : SL_EXIT_FAILED;
}

static void
print_operators (void)
{
  g_autofree const char **names = sl_op_supported_names ();
  for (guint i = 0; names[i] != NULL; i++)
    printf ("%s\n", names[i]);
}

static int
run_inspect (int argc, char **argv)
{
  g_auto (SlModelOptions) options = { 0 };
  g_auto (GStrv) rest = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (SlModelReport) report = { 0 };
  g_autofree char *picture = NULL;
  g_autofree char **given =
    g_memdup2 (argv, (gsize) argc * sizeof *argv); /* which parsing takes options from */
  const gint n_given = argc;
  gboolean json = FALSE, passes = FALSE, operators = FALSE, nodes = FALSE, needs = FALSE;
  const SlSetting *precision = sl_setting_find ("precision");
  const GOptionEntry entries[] = {
    { precision->name, 0, 0, G_OPTION_ARG_STRING, &options.settings.precision,
      precision->option_help, precision->value_name },
    { "operators", 0, 0, G_OPTION_ARG_NONE, &operators,
      "List the supported operators, without a MODEL", NULL },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL },
    { "nodes", 0, 0, G_OPTION_ARG_NONE, &nodes,
      "Show each node, by the name of its result in the file", NULL },
    { "needs", 0, 0, G_OPTION_ARG_NONE, &needs,
      "List what a build for the MODELs keeps, as input of meson's option operators", NULL },
    { "picture", 0, 0, G_OPTION_ARG_FILENAME, &picture,
      "Also run the model on a picture, as predict does, and check that its numbers fit the "
      "decoder",
      "FILE" },
    { "passes", 0, 0, G_OPTION_ARG_NONE, &passes, "Show what each rewrite of the graph changed",
      NULL },
    { NULL }
  };
  g_autofree GOptionEntry *more = sl_model_options_entries (
    &options, SL_SETTINGS_CONTRACT | SL_SETTINGS_LIMITS | SL_SETTINGS_WORDS);
  const int status = sl_options_parse (
    "inspect", "MODEL...", "Shows a model's inputs, outputs, operators, backends and contract.",
    NULL, argc, argv, entries, more, &rest);
  if (status >= 0)
    return status;
  if (operators && g_strv_length (rest) > 0)
    return sl_options_usage ("inspect", "--operators lists what runs: expected no MODEL, got '%s'",
                             rest[0]);
  if (operators) {
    print_operators ();
    return SL_EXIT_OK;
  }
  if (needs ? g_strv_length (rest) == 0 : g_strv_length (rest) != 1)
    return sl_options_usage ("inspect", "expected one MODEL%s, got %u", needs ? " or more" : "",
                             g_strv_length (rest));
  if (!sl_model_options_check ("inspect", &options))
    return SL_EXIT_USAGE;
  if (needs)
    return print_needs (rest, &options);
  options.settings.model = g_strdup (rest[0]);
  if (!sl_model_report_fill (&report, &options, &error))
    return sl_complain ("inspect", "%s", error->message);
  if (json)
    print_json (&report);
  else {
    print_text (&report);
    if (nodes)
      print_nodes (&report);
    if (passes)
      print_passes (&report);
  }
  return picture != NULL ? predict_picture (n_given, given, options.settings.model, picture)
                         : SL_EXIT_OK;
}

const SlCommand sl_command_inspect = { "inspect",
                                       "show a model's inputs, outputs, operators and contract",
                                       run_inspect };
