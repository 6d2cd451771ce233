/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a model is made of: its loader fills it. */
#pragma once

#include "models/fixed_inputs.h"
#include "models/model.h"
#include "models/reader.h"

/** What a file says beside its graph, kept with the graph. */
typedef struct
{
  SlModelMetadata metadata;
  const char *format;
  guint word_rows;      /* classes that its input of embeddings has room for, 0 = it has none */
  GArray *word_columns; /* (nullable): of its inputs of tokens, as sl_prompt_texts_apply() has it */
} SlModelSource;

struct _SlModel
{
  gatomicrefcount refs;
  char *path;
  SlFileStamp stamp;
  SlGraph *graph;
  SlContract *contract;
  const SlFixedInputs *fixed; /* while it is loaded */
  const SlWordVectors *words; /* (nullable): likewise */
  const SlPromptTexts *texts; /* (nullable): likewise */
  guint batch;                /* of the graph that is read */
  SlExternalModel *external;  /* (nullable) */
  gboolean falls_back, backend_by_file;
  SlPrecision precision;
  char *notice;        /* (nullable) */
  char *device_choice; /* (nullable) */
  SlModelLoadOptions
    options; /* what a graph of a batch is read by; of its texts @input_shape and @state */
  char *input_shape, *state; /* (nullable) */
  gboolean has_fixed;        /* inputs are fixed */
};
