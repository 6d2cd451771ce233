/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tokens become constants, so the text model inside is folded at load, as far as folding goes.
 * A caption is the sentences with '.' behind each; which tokens are of which sentence follows from
 * the number of tokens that each has alone.
 */
#include "models/prompt_texts.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/xxh64.h"
#include "models/data_file.h"

void
sl_prompt_texts_free (SlPromptTexts *texts)
{
  if (texts == NULL)
    return;
  g_clear_pointer (&texts->tokenizer, sl_tokenizer_free);
  g_ptr_array_unref (texts->texts);
  g_array_unref (texts->classes);
  g_free (texts);
}

static const char *
text_at (const SlPromptTexts *texts, guint i)
{
  return g_ptr_array_index (texts->texts, i);
}

/* Numbers of @text without padding; 0 where it has none. */
static guint
count_tokens (const SlPromptTexts *texts, const char *text)
{
  g_auto (SlTokens) tokens = { NULL };
  return sl_tokenizer_encode (texts->tokenizer, text, 0, &tokens, NULL) ? tokens.count : 0;
}

static char *
make_caption (const SlPromptTexts *texts)
{
  GString *caption = g_string_new (NULL);
  for (guint i = 0; i < texts->texts->len; i++)
    g_string_append_printf (caption, "%s%s.", i > 0 ? " " : "", text_at (texts, i));
  return g_string_free (caption, FALSE);
}

guint64
sl_prompt_texts_hash (const SlPromptTexts *texts)
{
  guint64 hash = sl_xxh64 (texts->classes->data, texts->classes->len * sizeof (guint), 0);
  for (guint i = 0; i < texts->texts->len; i++) {
    g_auto (SlTokens) tokens = { NULL };
    if (sl_tokenizer_encode (texts->tokenizer, text_at (texts, i), 0, &tokens, NULL))
      hash = sl_xxh64 (tokens.ids->data, tokens.ids->len * sizeof (gint32), hash);
  }
  return hash;
}

gint64
sl_prompt_texts_dim (const SlPromptTexts *texts, gboolean captioned, guint i)
{
  guint longest = 0;
  if (i == 0)
    return captioned ? 1 : (gint64) texts->texts->len;
  g_autofree char *caption = captioned ? make_caption (texts) : NULL;
  for (guint k = 0; k < texts->texts->len && !captioned; k++)
    longest = MAX (longest, count_tokens (texts, text_at (texts, k)));
  return captioned ? (gint64) count_tokens (texts, caption) : (gint64) longest;
}

gboolean
sl_prompt_texts_is_caption (const char *name)
{
  return name != NULL && strstr (name, "token_type") != NULL;
}

gboolean
sl_prompt_texts_is_input (const char *name, SlDtype dtype, guint rank)
{
  static const char *const words[] = { "input_ids", "attention_mask", "token_type",
                                       "position_ids" };
  gboolean named = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (words) && name != NULL; i++)
    named |= strstr (name, words[i]) != NULL;
  return named && rank == 2 && (dtype == SL_DTYPE_I64 || dtype == SL_DTYPE_I32);
}

static gboolean
is_input_at (const SlGraph *graph, guint i)
{
  const SlTensor *tensor = sl_graph_input_tensor (graph, i);
  return sl_prompt_texts_is_input (tensor->name, tensor->dtype, tensor->rank);
}

gboolean
sl_prompt_texts_exist (const SlGraph *graph)
{
  gboolean any = FALSE;
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    any |= is_input_at (graph, i);
  return any;
}

/* The tokens of one row of @tensor. */
static gboolean
fill_row (const SlPromptTexts *texts, const SlTensor *tensor, const char *text, guint8 *row,
          GError **error)
{
  g_auto (SlTokens) tokens = { NULL };
  const guint n = (guint) tensor->dims[1];
  if (!sl_tokenizer_encode (texts->tokenizer, text, n, &tokens, error))
    return sl_fail_prefix (error, "prompts: '%.60s': ", text);
  for (guint i = 0; i < n; i++) {
    const gint64 value = sl_tokens_value (&tokens, tensor->name, i);
    const gint32 narrow = (gint32) value;
    if (tensor->dtype == SL_DTYPE_I64)
      memcpy (row + i * sizeof value, &value, sizeof value);
    else
      memcpy (row + i * sizeof narrow, &narrow, sizeof narrow);
  }
  return TRUE;
}

static gboolean
fix (const SlPromptTexts *texts, SlGraph *graph, guint input, const char *caption,
     GHashTable **files, GError **error)
{
  const SlTensor *tensor = sl_graph_input_tensor (graph, input);
  const gsize row = (gsize) tensor->dims[1] * sl_dtype_size (tensor->dtype),
              rows = (gsize) tensor->dims[0];
  guint8 *data = sl_arena_alloc (sl_graph_arena (graph), rows * row + SL_TENSOR_PADDING);
  for (guint i = 0; i < rows; i++) {
    const char *text = caption != NULL ? caption : text_at (texts, MIN (i, texts->texts->len - 1));
    if (!fill_row (texts, tensor, text, data + i * row, error))
      return FALSE;
  }
  sl_data_files_note (files, SL_DATA_FIXED_INPUTS, input, data, rows * row);
  sl_graph_fix_input (graph, input, data);
  return TRUE;
}

static void
append_columns (GArray *columns, gint32 class, guint n)
{
  for (guint i = 0; i < n; i++)
    g_array_append_val (columns, class);
}

/* How many of the tokens of a text come before it, such as BERT's [CLS]. */
static guint
count_leading (const SlPromptTexts *texts, const char *caption)
{
  g_auto (SlTokens) none = { NULL }, some = { NULL };
  guint n = 0;
  if (!sl_tokenizer_encode (texts->tokenizer, "", 0, &none, NULL)
      || !sl_tokenizer_encode (texts->tokenizer, caption, 0, &some, NULL))
    return 0;
  while (n < none.count && n < some.count
         && g_array_index (none.ids, gint32, n) == g_array_index (some.ids, gint32, n))
    n++;
  return n;
}

/* (transfer full): the class of each token of @caption, of which @room fit. */
static GArray *
columns_of_caption (const SlPromptTexts *texts, const char *caption, guint room, GError **error)
{
  g_autoptr (GArray) columns = g_array_new (FALSE, FALSE, sizeof (gint32));
  const guint around = count_tokens (texts, ""), leading = count_leading (texts, caption),
              all = count_tokens (texts, caption);
  append_columns (columns, -1, leading);
  for (guint i = 0; i < texts->texts->len; i++) {
    const guint n = count_tokens (texts, text_at (texts, i));
    append_columns (columns, (gint32) g_array_index (texts->classes, guint, i),
                    n - MIN (n, around));
    append_columns (columns, -1, 1);
  }
  append_columns (columns, -1, around - MIN (around, leading));
  if (columns->len == all && all <= room)
    return g_steal_pointer (&columns);
  if (columns->len != all)
    return sl_fail_null (
      error, SL_ERROR_ARGUMENT,
      "prompts: '%.200s' is %u tokens, and %u of the sentences one by one; expected "
      "sentences that the tokenizer keeps apart: leave out '.' in them",
      caption, all, columns->len);
  return sl_fail_null (error, SL_ERROR_LIMIT,
                       "prompts: '%.200s' is %u tokens, and the model has room for %u; expected "
                       "fewer or shorter sentences",
                       caption, all, room);
}

static GArray *
columns_of_rows (const SlPromptTexts *texts, guint rows, GError **error)
{
  if (rows < texts->texts->len)
    return sl_fail_null (
      error, SL_ERROR_SHAPE,
      "prompts: %u sentences are stated, and the model has room for %u; expected "
      "no more, or a model that leaves their number open",
      texts->texts->len, rows);
  GArray *columns = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (guint i = 0; i < rows; i++)
    append_columns (
      columns, i < texts->texts->len ? (gint32) g_array_index (texts->classes, guint, i) : -1, 1);
  return columns;
}

gboolean
sl_prompt_texts_apply (const SlPromptTexts *texts, SlGraph *graph, GHashTable **files,
                       GArray **columns, GError **error)
{
  const SlTensor *first = NULL;
  gboolean captioned = FALSE;
  *columns = NULL;
  for (guint i = 0; i < sl_graph_n_inputs (graph) && texts != NULL; i++) {
    const SlTensor *tensor = sl_graph_input_tensor (graph, i);
    captioned |= sl_prompt_texts_is_caption (tensor->name);
    if (first == NULL && is_input_at (graph, i))
      first = tensor;
  }
  if (first == NULL)
    return TRUE;
  g_autofree char *caption = captioned ? make_caption (texts) : NULL;
  g_autoptr (GArray) made = captioned
                              ? columns_of_caption (texts, caption, (guint) first->dims[1], error)
                              : columns_of_rows (texts, (guint) first->dims[0], error);
  if (made == NULL)
    return FALSE;
  for (guint i = sl_graph_n_inputs (graph); i-- > 0;)
    if (is_input_at (graph, i) && sl_graph_n_inputs (graph) > 1
        && !fix (texts, graph, i, caption, files, error))
      return FALSE;
  *columns = g_steal_pointer (&made);
  return TRUE;
}
