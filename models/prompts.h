/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Classes that sentences describe: a text model makes an embedding of each, once, at load. */
#pragma once

#include "core/base/word_vectors.h"
#include "models/labels.h"
#include "models/settings.h"

/**
 * sl_prompts_encode:
 * @settings: (nullable): text-model, tokenizer, prompts and templates count
 * @words: (out): a vector for each class: the mean of its sentences in all templates; the caller
 * frees its numbers. Untouched where nothing is stated
 * @labels: (out) (transfer full): the names of the classes
 *
 * Loads the text model, runs it, and frees it. TRUE where nothing is stated. FALSE with @error set
 * when one of the first three is missing or does not fit the others.
 */
gboolean sl_prompts_encode (const SlModelSettings *settings, SlWordVectors *words,
                            SlLabels **labels, GError **error);
