/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline card`: a model's card, as text, as one JSON object and as a page. */
#include <stdio.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/printable.h"
#include "tools/card/facts.h"
#include "tools/command.h"
#include "tools/html_page.h"
#include "tools/options.h"
#include "tools/terminal.h"

#define NAME "card"
#define PAGE_WIDTH 60
#define WIDEST_NAME 28

static void
print_text (const GPtrArray *facts)
{
  const char *section = "";
  glong width = 0;
  for (guint i = 0; i < facts->len; i++)
    width = MAX (width, g_utf8_strlen (((SlCardFact *) g_ptr_array_index (facts, i))->name, -1));
  for (guint i = 0; i < facts->len; i++) {
    const SlCardFact *fact = g_ptr_array_index (facts, i);
    g_autofree char *name = sl_printable (fact->name, SL_PRINTABLE_NAME),
                    *value = sl_printable (fact->value, SL_PRINTABLE_MESSAGE);
    if (strcmp (section, fact->section) != 0)
      printf ("%s%s%s\n", sl_terminal_style (stdout, SL_STYLE_HEADING), fact->section,
              sl_terminal_style (stdout, SL_STYLE_PLAIN));
    section = fact->section;
    printf ("  %-*s  %s\n", (int) MIN (width, WIDEST_NAME), name, value);
  }
}

/* Names may come twice, so it is a list. */
static void
append_statements (GString *json, const SlCard *card)
{
  const char *name, *value = NULL;
  sl_json_append_key (json, "statements");
  g_string_append_c (json, '[');
  for (guint i = 0;
       card->problem == NULL && (name = sl_model_statement (card->report.model, i, &value)) != NULL;
       i++) {
    g_string_append (json, i > 0 ? ",{" : "{");
    sl_json_append_text (json, "name", name);
    sl_json_append_text (json, "value", value);
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
}

static void
append_understood (GString *json, const SlCard *card)
{
  const SlModelReport *report = &card->report;
  const SlContract *contract = card->problem == NULL ? sl_model_contract (report->model) : NULL;
  const gboolean picture =
    contract != NULL && contract->image.valid && !sl_contract_may_be_vectors (contract);
  sl_json_append_key (json, "understood");
  g_string_append_c (json, '{');
  sl_json_append_boolean (json, "operators", contract != NULL);
  sl_json_append_boolean (json, "picture", picture);
  sl_json_append_boolean (json, "range", picture && report->input_problem == NULL);
  sl_json_append_boolean (json, "fit", picture && sl_card_fit_known (card));
  sl_json_append_boolean (json, "decoder", report->decoder != NULL);
  sl_json_append_boolean (json, "labels", contract != NULL && contract->labels != NULL);
  g_string_append_c (json, '}');
}

static void
print_json (const SlCard *card)
{
  const SlZooRow *row = card->row;
  g_autoptr (GString) json = g_string_new ("{");
  sl_json_append_text (json, "file", card->path);
  sl_json_append_count (json, "size", card->size);
  sl_json_append_text (json, "licence", sl_card_licence (card));
  sl_json_append_text (json, "zoo", row != NULL ? row->name : NULL);
  sl_json_append_text (json, "task", row != NULL ? row->task : NULL);
  sl_json_append_text (json, "page", row != NULL ? row->page : NULL);
  sl_json_append_text (json, "source", row != NULL ? row->source : NULL);
  append_statements (json, card);
  append_understood (json, card);
  sl_json_append_text (json, "refused", card->problem);
  if (card->problem == NULL) {
    sl_json_append_count (json, "parameters", card->parameters);
    sl_json_append_key (json, "report");
    g_string_append_c (json, '{');
    sl_model_report_append_json (&card->report, json);
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, '}');
  puts (json->str);
}

static gboolean
write_page (const GPtrArray *facts, const char *title, const char *path, GError **error)
{
  const char *section = "";
  g_autoptr (GString) page = sl_html_page_new ("sightline card", PAGE_WIDTH);
  sl_html_append (page, "h1", title);
  for (guint i = 0; i < facts->len; i++) {
    const SlCardFact *fact = g_ptr_array_index (facts, i);
    const gboolean begins = strcmp (section, fact->section) != 0;
    if (begins && i > 0)
      g_string_append (page, "</table>\n");
    if (begins) {
      sl_html_append (page, "h2", fact->section);
      g_string_append (page, "<table>\n");
    }
    section = fact->section;
    sl_html_append_row (page, fact->name, "%s", fact->value);
  }
  g_string_append (page, "</table>\n");
  sl_html_page_end (page);
  return sl_options_write_text ("--html", path, page, error);
}

static int
show (const SlModelOptions *options, gboolean json, const char *html)
{
  g_auto (SlCard) card = { 0 };
  g_autoptr (GError) error = NULL;
  if (!sl_card_fill (&card, options, &error))
    return sl_complain (NAME, "%s", error->message);
  g_autoptr (GPtrArray) facts = sl_card_facts (&card);
  if (json)
    print_json (&card);
  else
    print_text (facts);
  if (html != NULL && !write_page (facts, options->settings.model, html, &error))
    return sl_complain (NAME, "%s", error->message);
  return card.problem != NULL ? sl_complain (NAME, "%s", card.problem) : SL_EXIT_OK;
}

static int
run_card (int argc, char **argv)
{
  g_auto (SlModelOptions) options = { 0 };
  g_auto (GStrv) rest = NULL;
  g_autofree char *html = NULL;
  gboolean json = FALSE;
  g_autofree GOptionEntry *more =
    sl_model_options_entries (&options, SL_SETTINGS_CONTRACT | SL_SETTINGS_LIMITS);
  const GOptionEntry entries[] = {
    { "html", 0, 0, G_OPTION_ARG_FILENAME, &html, "Also write the card as a page", "FILE" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL },
    { NULL }
  };
  const int status = sl_options_parse (
    NAME, "MODEL",
    "Shows what a model file says of itself, its licence, its costs, and what Sightline understood "
    "of it.",
    NULL, argc, argv, entries, more, &rest);
  if (status >= 0)
    return status;
  if (g_strv_length (rest) != 1)
    return sl_options_usage (NAME, "expected one MODEL, got %u", g_strv_length (rest));
  options.settings.model = g_strdup (rest[0]);
  if (!sl_model_options_check (NAME, &options)
      || !sl_options_apart (NAME, "--html", html, "MODEL", options.settings.model)
      || !sl_options_report (NAME, "--html", html, SL_HTML_HEAD))
    return SL_EXIT_USAGE;
  return show (&options, json, html);
}

const SlCommand sl_command_card = { NAME, "show a model's card: licence, costs, what is known",
                                    run_card };
