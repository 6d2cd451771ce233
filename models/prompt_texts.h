/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sentences for models that contain their text model: they take the tokens themselves. OWL-ViT has
 * a row of tokens for each sentence, Grounding DINO one caption of all sentences.
 */
#pragma once

#include "core/graph/graph.h"
#include "models/text/tokenizer.h"

/**
 * SlPromptTexts:
 * @tokenizer: owned
 * @texts: (element-type utf8): sentences in their templates; @classes: (element-type guint): the
 * class of each
 */
typedef struct
{
  SlTokenizer *tokenizer;
  GPtrArray *texts;
  GArray *classes;
} SlPromptTexts;

void sl_prompt_texts_free (SlPromptTexts *texts);
/** sl_prompt_texts_hash: of tokens and classes. */
guint64 sl_prompt_texts_hash (const SlPromptTexts *texts);
/** sl_prompt_texts_dim: what dimension @i, 0 or 1, of an input of tokens is; @captioned: all
 * sentences are one caption. */
gint64 sl_prompt_texts_dim (const SlPromptTexts *texts, gboolean captioned, guint i);
/** sl_prompt_texts_is_caption: whether an input called @name says so: those of BERT, which has
 * parts of texts. */
gboolean sl_prompt_texts_is_caption (const char *name);
/** sl_prompt_texts_is_input: whether the input @name of @dtype and @rank is one of tokens. */
gboolean sl_prompt_texts_is_input (const char *name, SlDtype dtype, guint rank);
/** sl_prompt_texts_exist: whether @graph has such inputs. */
gboolean sl_prompt_texts_exist (const SlGraph *graph);
/**
 * sl_prompt_texts_apply:
 * @texts: (nullable): nothing happens
 * @graph: not prepared
 * @files: as of sl_word_inputs_apply()
 * @columns: (out) (transfer full) (nullable): (element-type gint32): the class of each number that
 * the model gives, -1 = of none; NULL = it has no such inputs
 *
 * Makes constants of the inputs of tokens. FALSE with @error set where the texts do not fit them.
 */
gboolean sl_prompt_texts_apply (const SlPromptTexts *texts, SlGraph *graph, GHashTable **files,
                                GArray **columns, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPromptTexts, sl_prompt_texts_free)
