/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/prompts.h"

#include <malloc.h>
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/thread_count.h"
#include "models/class_embeddings.h"
#include "models/prompt_list.h"
#include "models/text/limits.h"
#include "models/text_encoder.h"

static gboolean
is_stated (const char *text)
{
  return text != NULL && text[0] != '\0';
}

/* The texts of @class become a vector of length 1. */
static gboolean
encode_class (SlTextEncoder *encoder, const SlPromptTexts *texts, guint class, gfloat *out,
              GError **error)
{
  const guint n = sl_text_encoder_length (encoder);
  g_autofree double *sum = g_new0 (double, n);
  double squares = 0;
  for (guint i = 0; i < texts->texts->len; i++)
    if (g_array_index (texts->classes, guint, i) == class
        && !sl_text_encoder_add (encoder, g_ptr_array_index (texts->texts, i), sum, error))
      return FALSE;
  for (guint i = 0; i < n; i++)
    squares += sum[i] * sum[i];
  for (guint i = 0; i < n; i++)
    out[i] = (gfloat) (squares > 0 ? sum[i] / sqrt (squares) : 0);
  return TRUE;
}

/* (transfer full): names of @prompts. */
static SlLabels *
make_labels (const GArray *prompts, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < prompts->len; i++)
    g_string_append_printf (names, "%u %s\n", i, g_array_index (prompts, SlPrompt, i).name);
  return sl_labels_parse (names->str, names->len, "prompts", error);
}

static guint
count_shown (const GArray *prompts)
{
  guint shown = 0;
  while (shown < prompts->len && !g_array_index (prompts, SlPrompt, shown).negative)
    shown++;
  return shown;
}

/* @sentence in @template. Nothing is joined that no tokenizer would take. */
static gboolean
add_text (SlPromptTexts *all, const char *template, const char *sentence, guint class,
          GError **error)
{
  g_auto (GStrv) parts = g_strsplit (template, SL_PROMPT_PLACE, 0);
  const gsize places = g_strv_length (parts) - 1, length = strlen (sentence);
  if (strlen (template) > SL_TEXT_MAX || length > SL_TEXT_MAX || places * length > SL_TEXT_MAX)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "prompts: '%.60s': the text is longer than %d bytes; expected a shorter "
                    "sentence, or a shorter template",
                    sentence, SL_TEXT_MAX);
  if (all->texts->len == SL_MAX_TEXTS)
    return sl_fail (
      error, SL_ERROR_LIMIT,
      "prompts: more than %d sentences, with their templates; expected fewer classes, "
      "sentences or templates",
      SL_MAX_TEXTS);
  g_ptr_array_add (all->texts, g_strstrip (g_strjoinv (sentence, parts)));
  g_array_append_val (all->classes, class);
  return TRUE;
}

/* (transfer full): the sentences of all @prompts in all templates; @tokenizer is taken. */
static SlPromptTexts *
make_all_texts (const SlModelSettings *settings, SlTokenizer *tokenizer, const GArray *prompts,
                GError **error)
{
  g_auto (GStrv) templates =
    g_strsplit (is_stated (settings->templates) ? settings->templates : SL_PROMPT_PLACE, ";", 0);
  g_autoptr (SlPromptTexts) all = g_new (SlPromptTexts, 1);
  *all = (SlPromptTexts){ tokenizer, g_ptr_array_new_with_free_func (g_free),
                          g_array_new (FALSE, FALSE, sizeof (guint)) };
  for (guint i = 0; i < prompts->len; i++) {
    const SlPrompt *prompt = &g_array_index (prompts, SlPrompt, i);
    for (guint s = 0; prompt->sentences[s] != NULL; s++)
      for (guint k = 0; templates[k] != NULL; k++)
        if (!add_text (all, templates[k], prompt->sentences[s], i, error))
          return NULL;
  }
  return g_steal_pointer (&all);
}

static gboolean
encode_all (const SlModelSettings *settings, const SlPromptTexts *texts, SlWordVectors *words,
            GError **error)
{
  guint threads = 1;
  sl_threads_parse (is_stated (settings->threads) ? settings->threads : "1", &threads);
  g_autoptr (SlTextEncoder) encoder = sl_text_encoder_new (
    settings->text_model, texts->tokenizer, texts->texts, sl_threads_resolve (threads), error);
  if (encoder == NULL)
    return sl_fail_prefix (error, "text-model: ");
  words->length = sl_text_encoder_length (encoder);
  g_autofree gfloat *numbers = g_new0 (gfloat, (gsize) words->n * words->length);
  for (guint i = 0; i < words->n; i++)
    if (!encode_class (encoder, texts, i, numbers + (gsize) i * words->length, error))
      return FALSE;
  words->numbers = g_steal_pointer (&numbers);
  return TRUE;
}

static gboolean
read_sentences (const SlModelSettings *settings, const GArray *prompts, SlWordVectors *words,
                SlPromptTexts **texts, SlLabels **labels, GError **error)
{
  if (is_stated (settings->templates) && !sl_templates_check (settings->templates, error))
    return FALSE;
  SlTokenizer *tokenizer = sl_tokenizer_load (settings->tokenizer, error);
  if (tokenizer == NULL)
    return sl_fail_prefix (error, "tokenizer: ");
  g_autoptr (SlPromptTexts) all = make_all_texts (settings, tokenizer, prompts, error);
  if (all == NULL)
    return FALSE;
  g_autoptr (SlLabels) names = make_labels (prompts, error);
  SlWordVectors made = { .n = prompts->len, .shown = count_shown (prompts) };
  if (names == NULL
      || (is_stated (settings->text_model) && !encode_all (settings, all, &made, error)))
    return FALSE;
  *words = made;
  *labels = g_steal_pointer (&names);
  *texts = made.numbers == NULL ? g_steal_pointer (&all) : NULL;
  return TRUE;
}

/* What the text model took goes back to the system. */
static void
trim_memory (void)
{
#ifdef __GLIBC__
  malloc_trim (0);
#endif
}

/* (transfer full): @rows, which are in the order of the text, in that of @prompts. */
static gfloat *
order_rows (const gfloat *rows, const GArray *prompts, guint length)
{
  gfloat *ordered = g_new (gfloat, (gsize) prompts->len * length);
  for (guint i = 0; i < prompts->len; i++)
    memcpy (ordered + (gsize) i * length,
            rows + (gsize) g_array_index (prompts, SlPrompt, i).place * length,
            length * sizeof *ordered);
  return ordered;
}

/* The rows of a file, which the prompts name. */
static gboolean
read_embeddings (const SlModelSettings *settings, SlWordVectors *words, SlLabels **labels,
                 GError **error)
{
  g_autoptr (GArray) prompts = NULL;
  g_autofree gfloat *numbers = NULL;
  guint n = 0, length = 0;
  if (is_stated (settings->prompts)) {
    prompts = sl_prompts_parse (settings->prompts, error);
    if (prompts == NULL)
      return FALSE;
  }
  numbers = sl_class_embeddings_load (settings->embeddings, &n, &length, error);
  if (numbers == NULL)
    return FALSE;
  if (prompts != NULL && prompts->len != n)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "embeddings: %s has %u rows, and prompts=%s names %u classes; expected a name "
                    "for each row, in their order",
                    settings->embeddings, n, settings->prompts, prompts->len);
  if (prompts != NULL && (*labels = make_labels (prompts, error)) == NULL)
    return FALSE;
  *words = (SlWordVectors){ n, prompts != NULL ? count_shown (prompts) : n, length,
                            prompts != NULL ? order_rows (numbers, prompts, length)
                                            : g_steal_pointer (&numbers) };
  return TRUE;
}

/* Names for classes that the model has inside. */
static gboolean
read_names (const SlModelSettings *settings, SlWordVectors *words, SlLabels **labels,
            GError **error)
{
  g_autoptr (GArray) prompts = sl_prompts_parse (settings->prompts, error);
  if (prompts == NULL)
    return FALSE;
  if (count_shown (prompts) < prompts->len)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "prompts=%s: prompts alone name the classes that a model has, in its order; "
                    "expected none with '!' before it",
                    settings->prompts);
  *words = (SlWordVectors){ .n = prompts->len, .shown = prompts->len };
  *labels = make_labels (prompts, error);
  return *labels != NULL;
}

gboolean
sl_prompts_encode (const SlModelSettings *settings, SlWordVectors *words, SlPromptTexts **texts,
                   SlLabels **labels, GError **error)
{
  if (settings == NULL)
    return TRUE;
  const gboolean by_model = is_stated (settings->text_model) || is_stated (settings->tokenizer)
                            || is_stated (settings->templates);
  if (is_stated (settings->embeddings) && by_model)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "embeddings=%s comes with a text model; expected embeddings=FILE.npy, or "
                    "text-model=FILE and tokenizer=FILE with prompts",
                    settings->embeddings);
  if (is_stated (settings->embeddings))
    return read_embeddings (settings, words, labels, error);
  if (!by_model && !is_stated (settings->prompts))
    return TRUE;
  if (!by_model)
    return read_names (settings, words, labels, error);
  if (!is_stated (settings->prompts) || !is_stated (settings->tokenizer))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s is not stated; expected text-model=FILE, tokenizer=FILE and "
                    "prompts=SENTENCE;SENTENCE together, or embeddings=FILE.npy",
                    !is_stated (settings->prompts) ? "prompts" : "tokenizer");
  g_autoptr (GArray) prompts = sl_prompts_parse (settings->prompts, error);
  const gboolean good =
    prompts != NULL && read_sentences (settings, prompts, words, texts, labels, error);
  trim_memory ();
  return good;
}

gboolean
sl_prompts_encode_sentences (const SlModelSettings *settings, GStrv sentences, SlWordVectors *words,
                             GError **error)
{
  SlPrompt prompt = { .name = (char *) "words", .sentences = sentences };
  g_autoptr (GArray) prompts = g_array_new (FALSE, FALSE, sizeof prompt);
  g_autoptr (SlPromptTexts) texts = NULL;
  g_autoptr (SlLabels) labels = NULL;
  g_array_append_val (prompts, prompt);
  const gboolean good = read_sentences (settings, prompts, words, &texts, &labels, error);
  trim_memory ();
  return good;
}

gboolean
sl_prompts_open (const SlModelSettings *settings, guint *length, GError **error)
{
  SlTokenizer *tokenizer = sl_tokenizer_load (settings->tokenizer, error);
  if (tokenizer == NULL)
    return sl_fail_prefix (error, "tokenizer: ");
  g_autoptr (SlPromptTexts) texts = g_new (SlPromptTexts, 1);
  *texts = (SlPromptTexts){ tokenizer, g_ptr_array_new_with_free_func (g_free),
                            g_array_new (FALSE, FALSE, sizeof (guint)) };
  g_ptr_array_add (texts->texts, g_strdup ("a"));
  g_autoptr (SlTextEncoder) encoder =
    sl_text_encoder_new (settings->text_model, tokenizer, texts->texts, 1, error);
  if (encoder == NULL)
    return sl_fail_prefix (error, "text-model: ");
  *length = sl_text_encoder_length (encoder);
  return TRUE;
}
