/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loader below the choice of a backend: it loads a model for the backend that it is told.
 * sl_model_load() and the choice, which loads a model in two backends, call it.
 */
#pragma once

#include "models/fixed_inputs.h"
#include "models/model.h"
#include "models/prompt_texts.h"

/**
 * SlLoadRequest:
 * @options: complete: what the key file says is in them, and their backend is a name other than
 * auto
 * @precision: that of @options
 * @fixed: inputs that are always the same; @has_fixed: there are some
 * @words: (nullable): classes that the user states; @texts: (nullable): as sentences for the model
 * itself; @word_labels: (nullable): their names
 * @by_choice: Sightline chose the backend, and may take over from it
 * @by_file: the key file beside the model names the backend
 */
typedef struct
{
  SlModelLoadOptions options;
  SlPrecision precision;
  const SlFixedInputs *fixed;
  const SlWordVectors *words;
  const SlPromptTexts *texts;
  SlLabels *word_labels;
  gboolean has_fixed, by_choice, by_file;
} SlLoadRequest;

/** sl_model_load_settled: the model file @path as @request has it; messages do not name the file.
 */
SlModel *sl_model_load_settled (const char *path, const SlModelSettings *overrides,
                                const SlLoadRequest *request, GError **error);
