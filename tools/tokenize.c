/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline tokenize`: the tokens of texts, to compare a tokenizer file with the model's own
 * program. */
#include <stdio.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/printable.h"
#include "models/text/tokenizer.h"
#include "tools/command.h"
#include "tools/options.h"

typedef struct
{
  SlTokenizer *tokenizer;
  guint length;
  gboolean json;
} Job;

static void
print_json (const Job *job, const char *text, const SlTokens *tokens)
{
  g_autoptr (GString) line = g_string_new ("{");
  sl_json_append_text (line, "format", sl_tokenizer_format (job->tokenizer));
  sl_json_append_text (line, "text", text);
  sl_json_append_key (line, "ids");
  for (guint i = 0; i < tokens->ids->len; i++)
    g_string_append_printf (line, "%s%d", i == 0 ? "[" : ", ",
                            g_array_index (tokens->ids, gint32, i));
  g_string_append (line, tokens->ids->len == 0 ? "[]" : "]");
  sl_json_append_key (line, "tokens");
  g_string_append_c (line, '[');
  for (guint i = 0; i < tokens->ids->len; i++) {
    g_autofree char *token =
      sl_tokenizer_token (job->tokenizer, g_array_index (tokens->ids, gint32, i));
    g_string_append (line, i == 0 ? "" : ", ");
    sl_json_append_string (line, token);
  }
  g_string_append_c (line, ']');
  sl_json_append_count (line, "first", tokens->first);
  sl_json_append_count (line, "count", tokens->count);
  printf ("%s}\n", line->str);
}

static void
print_table (const Job *job, const SlTokens *tokens)
{
  for (guint i = 0; i < tokens->ids->len; i++) {
    const gint32 id = g_array_index (tokens->ids, gint32, i);
    g_autofree char *token = sl_tokenizer_token (job->tokenizer, id);
    g_autofree char *shown = sl_printable (token != NULL ? token : "?", SL_PRINTABLE_MESSAGE);
    const gboolean padding = i < tokens->first || i >= tokens->first + tokens->count;
    printf ("%7d  %s%s\n", id, shown, padding ? "  (padding)" : "");
  }
}

static gboolean
tokenize (const Job *job, const char *text, GError **error)
{
  g_auto (SlTokens) tokens = { NULL };
  if (!sl_tokenizer_encode (job->tokenizer, text, job->length, &tokens, error))
    return FALSE;
  if (job->json)
    print_json (job, text, &tokens);
  else
    print_table (job, &tokens);
  return TRUE;
}

/* Each line of the standard input is a text. */
static gboolean
tokenize_lines (const Job *job, GError **error)
{
  g_autoptr (GIOChannel) input = g_io_channel_unix_new (fileno (stdin));
  g_autofree char *line = NULL;
  gsize end = 0;
  g_io_channel_set_encoding (input, NULL, NULL);
  while (g_io_channel_read_line (input, &line, NULL, &end, error) == G_IO_STATUS_NORMAL) {
    line[end] = '\0';
    if (!tokenize (job, line, error))
      return FALSE;
    g_clear_pointer (&line, g_free);
  }
  return *error == NULL;
}

static gboolean
run_job (Job *job, const char *path, char **texts, GError **error)
{
  g_autoptr (SlTokenizer) tokenizer = sl_tokenizer_load (path, error);
  if (tokenizer == NULL)
    return FALSE;
  job->tokenizer = tokenizer;
  if (texts[0] == NULL)
    return tokenize_lines (job, error);
  for (guint i = 0; texts[i] != NULL; i++)
    if (!tokenize (job, texts[i], error))
      return FALSE;
  return TRUE;
}

static int
run_tokenize (int argc, char **argv)
{
  g_auto (GStrv) rest = NULL;
  g_autofree char *length = NULL;
  g_autoptr (GError) error = NULL;
  Job job = { 0 };
  const GOptionEntry entries[] = {
    { "length", 'n', 0, G_OPTION_ARG_STRING, &length,
      "Cut or pad each text to so many numbers, 1..65536 (default: as the file says)", "N" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &job.json, "Print a JSON object for each text", NULL },
    { NULL },
  };
  const int status = sl_options_parse (
    "tokenize", "FILE [TEXT...]", "Prints the tokens of texts, which a text model gets as numbers.",
    "FILE is a tokenizer.json, vocab.json or merges.txt with the other beside it, "
    "bpe_simple_vocab_16e6.txt.gz, vocab.txt or a SentencePiece model. Without TEXT, each line of "
    "the standard input is one.",
    argc, argv, entries, NULL, &rest);
  if (status >= 0)
    return status;
  if (rest[0] == NULL)
    return sl_options_usage ("tokenize", "expected a FILE, such as tokenizer.json, and texts");
  if (!sl_options_integer ("tokenize", "--length", length, 1, SL_TOKENS_MAX, &job.length))
    return SL_EXIT_USAGE;
  if (run_job (&job, rest[0], rest + 1, &error))
    return SL_EXIT_OK;
  return sl_complain ("tokenize", "%s", error->message);
}

const SlCommand sl_command_tokenize = { "tokenize", "print the tokens of texts", run_tokenize };
