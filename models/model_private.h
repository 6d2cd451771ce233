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
} SlModelSource;

struct _SlModel
{
  gatomicrefcount refs;
  char *path;
  SlFileStamp stamp;
  SlGraph *graph;
  SlContract *contract;
  const SlFixedInputs *fixed; /* while it is loaded */
  guint batch;                /* of the graph that is read */
  SlExternalModel *external;  /* (nullable) */
  gboolean falls_back, backend_by_file;
  SlPrecision precision;
  char *notice; /* (nullable) */
  SlModelLoadOptions
    options; /* what a graph of a batch is read by; of its texts @input_shape and @state */
  char *input_shape, *state; /* (nullable) */
  gboolean has_fixed;        /* inputs are fixed */
};
