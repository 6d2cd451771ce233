/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Classes that sentences describe: a text model makes an embedding of each, once, at load; or a
 * file has the embeddings. */
#pragma once

#include "core/base/word_vectors.h"
#include "models/labels.h"
#include "models/prompt_texts.h"
#include "models/settings.h"

/**
 * sl_prompts_encode:
 * @settings: (nullable): text-model, tokenizer, prompts, templates and embeddings count
 * @words: (out): an embedding for each class: of length 1, the mean of its sentences in all
 * templates; or the rows of the file as they are. The caller frees its numbers. Untouched where
 * nothing is stated. Without numbers and @length, where prompts are stated alone: they name classes
 * that the model has inside
 * @texts: (out) (transfer full) (nullable): the sentences, where a tokenizer is stated without a
 * text model: the model itself is to take them. @words has no embeddings then
 * @labels: (out) (transfer full) (nullable): the names of the classes; NULL = embeddings of a file
 * without names
 *
 * Loads the text model, runs it, and frees it. TRUE where nothing is stated. FALSE with @error set
 * when one is missing or does not fit the others.
 */
gboolean sl_prompts_encode (const SlModelSettings *settings, SlWordVectors *words,
                            SlPromptTexts **texts, SlLabels **labels, GError **error);
/** sl_prompts_encode_sentences: one embedding, the mean of @sentences in all templates: @settings
 * state a text model and a tokenizer, and their prompts do not count. Otherwise as
 * sl_prompts_encode(). */
gboolean sl_prompts_encode_sentences (const SlModelSettings *settings, GStrv sentences,
                                      SlWordVectors *words, GError **error);
/** sl_prompts_open: loads the tokenizer and the text model of @settings, and frees them: whether
 * sentences can be encoded. @length: (out): of an embedding. FALSE with @error set. */
gboolean sl_prompts_open (const SlModelSettings *settings, guint *length, GError **error);
