/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collects a card's rows from the report that inspect prints, the file's statements and the zoo. */
#include "tools/card/facts.h"

#include <glib/gstdio.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/zoo_name.h"
#include "core/graph/work.h"
#include "models/zoo/cache.h"
#include "predict/contractspec.h"

/* Labels that are named. */
#define SHOWN_LABELS 5

static void
fact_free (SlCardFact *fact)
{
  g_free (fact->name);
  g_free (fact->value);
  g_free (fact);
}

static void G_GNUC_PRINTF (4, 5)
  add (GPtrArray *facts, const char *section, const char *name, const char *format, ...)
{
  va_list arguments;
  SlCardFact *fact = g_new0 (SlCardFact, 1);
  va_start (arguments, format);
  fact->section = section;
  fact->name = g_strdup (name);
  fact->value = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_ptr_array_add (facts, fact);
}

/* Values that the graph computes with: floats and quantised values, not shapes and indices. */
static gboolean
is_parameter (const SlTensor *tensor)
{
  return tensor->data != NULL
         && (tensor->dtype == SL_DTYPE_F32 || tensor->dtype == SL_DTYPE_F16
             || tensor->quant.count > 0);
}

/* Each constant once after the rewrites. */
static guint64
count_parameters (const SlGraph *graph)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  guint64 n = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    for (guint k = 0; k < node->n_inputs; k++) {
      const SlTensor *tensor =
        node->inputs[k] >= 0 ? sl_graph_tensor (graph, node->inputs[k]) : NULL;
      if (tensor != NULL && is_parameter (tensor) && g_hash_table_add (seen, (gpointer) tensor))
        n += sl_tensor_count (tensor);
    }
  }
  return n;
}

gboolean
sl_card_fill (SlCard *card, const SlModelOptions *options, GError **error)
{
  const char *model = options->settings.model, *name = sl_zoo_name (model);
  g_autoptr (GError) problem = NULL;
  GStatBuf state;
  card->path = name != NULL ? sl_zoo_find (model, error) : g_strdup (model);
  if (card->path == NULL)
    return sl_fail_prefix (error, "%s: ", model);
  card->row = name != NULL ? sl_zoo_cached_row (name) : NULL;
  card->size = g_stat (card->path, &state) == 0 ? (guint64) state.st_size : 0;
  if (sl_model_report_fill (&card->report, options, &problem))
    card->parameters = count_parameters (sl_model_graph (card->report.model));
  else if (!sl_model_probe (card->path)) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  } else
    card->problem = g_strdup (problem->message);
  return TRUE;
}

void
sl_card_clear (SlCard *card)
{
  sl_model_report_clear (&card->report);
  g_clear_pointer (&card->row, sl_zoo_row_free);
  g_free (card->path);
  g_free (card->problem);
}

const char *
sl_card_licence (const SlCard *card)
{
  const char *name, *value = NULL;
  if (card->row != NULL)
    return card->row->licence;
  for (guint i = 0;
       card->problem == NULL && (name = sl_model_statement (card->report.model, i, &value)) != NULL;
       i++)
    if (g_ascii_strcasecmp (name, "licence") == 0 || g_ascii_strcasecmp (name, "license") == 0)
      return value;
  return NULL;
}

static void
add_file (GPtrArray *facts, const SlCard *card)
{
  const char *section = "model", *licence = sl_card_licence (card);
  add (facts, section, "file", "%s", card->path);
  if (card->problem == NULL)
    add (facts, section, "format", "%s", sl_model_format (card->report.model));
  add (facts, section, "size", "%.2f MB", (gdouble) card->size / 1e6);
  if (card->row != NULL) {
    add (facts, section, "zoo", "%s, %s", card->row->name, card->row->task);
    add (facts, section, "source", "%s", card->row->source);
    add (facts, section, "licence", "%s, by %s", licence, card->row->page);
  } else if (licence != NULL)
    add (facts, section, "licence", "%s, as the file states it", licence);
  else
    add (facts, section, "licence", "not stated; ask its author");
}

static void
add_statements (GPtrArray *facts, const SlModel *model)
{
  const char *name, *value = NULL;
  for (guint i = 0; (name = sl_model_statement (model, i, &value)) != NULL; i++)
    add (facts, "the file says", name, "%s", value);
  for (guint i = 0; (name = sl_model_fact (model, i, &value)) != NULL; i++)
    add (facts, "the file says", name, "%s", value);
}

static void
add_tensor (GPtrArray *facts, const char *name, const SlTensor *tensor)
{
  g_autofree char *described = sl_tensor_describe (tensor);
  add (facts, "inputs and outputs", name, "%s  %s", described, tensor->name);
}

static void
add_tensors (GPtrArray *facts, const SlGraph *graph)
{
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    add_tensor (facts, "input", sl_graph_declared_input_tensor (graph, i));
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    add_tensor (facts, "output", sl_graph_output_tensor (graph, i));
}

gboolean
sl_card_fit_known (const SlCard *card)
{
  const SlContract *contract = sl_model_contract (card->report.model);
  return contract->image.fit_known || sl_contract_fit (contract).decoder != NULL;
}

/* (transfer full): "127.5", or "124,116,104" where the channels differ. */
static char *
channels_text (const gdouble *values, gint32 n)
{
  GString *text = g_string_new (NULL);
  for (gint32 i = 0; i < n && (i == 0 || values[1] != values[0] || values[2] != values[0]); i++)
    g_string_append_printf (text, "%s%.6g", i > 0 ? "," : "", values[i]);
  return g_string_free (text, FALSE);
}

static void
add_picture (GPtrArray *facts, const SlCard *card)
{
  const SlContract *contract = sl_model_contract (card->report.model);
  const SlImageContract *image = &contract->image;
  const char *section = "understood";
  g_autofree char *mean = channels_text (image->mean, image->channels),
                  *std = channels_text (image->std, image->channels);
  if (!image->valid || sl_contract_may_be_vectors (contract)) {
    add (facts, section, "picture", "no: the first input is none, or nothing says so");
    return;
  }
  add (facts, section, "picture", "%dx%d, %s %s", image->width, image->height,
       sl_colour_name (image->colour), sl_layout_name (image->layout));
  if (card->report.input_problem != NULL)
    add (facts, section, "range", "no: %s", card->report.input_problem);
  else
    add (facts, section, "range", "mean %s, std %s", mean, std);
  add (facts, section, "fit", "%s%s", sl_fit_name (sl_contract_fit (contract).fit),
       sl_card_fit_known (card) ? "" : ", the default: nothing states it");
}

static void
add_labels (GPtrArray *facts, const SlLabels *labels)
{
  const guint n = labels != NULL ? sl_labels_count (labels) : 0;
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < MIN (n, SHOWN_LABELS); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : ": ",
                            sl_labels_get (labels, i) != NULL ? sl_labels_get (labels, i) : "-");
  if (n == 0)
    add (facts, "understood", "labels", "no: none is stated, so classes are numbers");
  else
    add (facts, "understood", "labels", "%u%s%s", n, names->str, n > SHOWN_LABELS ? ", ..." : "");
}

static void
add_understood (GPtrArray *facts, const SlCard *card)
{
  const SlModelReport *report = &card->report;
  add_picture (facts, card);
  if (report->decoder != NULL)
    add (facts, "understood", "decoder", "%s%s%s", report->decoder,
         report->decoder_note != NULL ? ": " : "",
         report->decoder_note != NULL ? report->decoder_note : "");
  else
    add (facts, "understood", "decoder", "no: %s", report->decoder_problem);
  add_labels (facts, sl_model_contract (report->model)->labels);
}

static void
add_costs (GPtrArray *facts, const SlCard *card)
{
  const SlModelReport *report = &card->report;
  const SlSessionStats *stats = &report->stats;
  const char *section = "costs";
  add (facts, section, "parameters", "%.3f million, after the rewrites",
       (gdouble) card->parameters / 1e6);
  add (facts, section, "work", "%.3f million multiply-adds a frame",
       (gdouble) sl_graph_multiply_adds (sl_model_graph (report->model)) / 1e6);
  add (facts, section, "weights", "%.2f MB, %.2f MB packed for the processor",
       (gdouble) stats->weight_bytes / 1e6, (gdouble) stats->packed_bytes / 1e6);
  add (facts, section, "arena", "%.2f MB for tensors between layers",
       (gdouble) stats->arena_bytes / 1e6);
}

static void
add_operators (GPtrArray *facts, const SlModelReport *report)
{
  for (guint i = 0; i < SL_OP_COUNT; i++)
    if (report->ops[i].count > 0)
      add (facts, "operators", sl_op_name ((SlOpType) i), "%u", report->ops[i].count);
}

GPtrArray *
sl_card_facts (const SlCard *card)
{
  GPtrArray *facts = g_ptr_array_new_with_free_func ((GDestroyNotify) fact_free);
  add_file (facts, card);
  if (card->problem != NULL) {
    add (facts, "understood", "operators", "no: %s", card->problem);
    return facts;
  }
  add_statements (facts, card->report.model);
  add_tensors (facts, sl_model_graph (card->report.model));
  add_understood (facts, card);
  add_costs (facts, card);
  add_operators (facts, &card->report);
  return facts;
}
