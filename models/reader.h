/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Model formats: bytes -> graph and metadata. Each format is a file and a table row. */
#pragma once

#include <glib.h>

#include "core/base/word_vectors.h"
#include "core/graph/graph.h"
#include "models/labels.h"
#include "models/modelinfo.h"
#include "models/prompt_texts.h"

/**
 * SlModelMetadata: a model file's information beside its graph; zero = not stated.
 * @n_mean: 0 = not stated, 1 or 3 values in @mean and @std (real = (byte - mean) / std)
 * @decoder: (nullable): decoder implied by the file (last op, task)
 * @params: (nullable): that decoder's parameters
 * @has_colour: whether the order of channels is stated: gray, BGR, or else RGB
 * @of_detector: @n_mean and @fit_letterbox hold for detectors and segmenters: an output that is a
 * vector is a classifier's, of which they say nothing
 * @fit_letterbox: the model was trained on letterboxed pictures (Ultralytics); it wins over
 * @fit_crop
 * @crop_share: with @fit_crop, else with stretch: the central share of each side that fills the
 * input; 0 = not stated
 * @range_hint: (nullable): which mean and std the model was probably trained with; proposed in a
 * message where nothing states them
 * @info: (nullable): a description file inside the model file
 * @data_files: (nullable): files beside the model's whose bytes are in the graph
 * (models/data_file.h)
 * @state: (nullable): inputs that get an output of the run before, as sl_state_read() has them;
 * @state_first: (nullable): by pair: what the first run gets, in the graph's arena
 * @facts: (nullable): names and values, one after the other, that inspect shows of a program
 * @statements: (nullable): likewise: what the file says of itself, such as its author; for people
 * @missing_labels: (nullable): a labels file that the metadata names and the model file does not
 * contain
 */
typedef struct
{
  guint n_mean;
  gdouble mean[3], std[3];
  gboolean has_colour, colour_gray, colour_bgr;
  gboolean fit_letterbox, fit_crop, of_detector;
  gdouble crop_share;
  char *decoder;
  GHashTable *params;
  SlLabels *labels;
  SlModelInfo *info;
  char *missing_labels;
  char *range_hint;
  GHashTable *data_files;
  char *state;
  const void *state_first[SL_MAX_IO];
  GPtrArray *facts, *statements;
  char *description; /* (nullable): name or description, for inspect */
} SlModelMetadata;

/** What to do in Python with a PyTorch file that is no program. */
#define SL_EXPORT_TORCH                                                                     \
  "export the model with torch.export.save(torch.export.export(model.eval(), (example,)), " \
  "'model.pt2'), with torch.jit.script(model.eval()).save('model.pt'), or to ONNX with "    \
  "torch.onnx.export()"

/** sl_model_metadata_set_param: a parameter of the decoder; copies both. */
void sl_model_metadata_set_param (SlModelMetadata *metadata, const char *key, const char *value);
/** sl_model_metadata_add_fact: @value: (transfer full) (nullable): nothing is added. */
void sl_model_metadata_add_fact (SlModelMetadata *metadata, const char *name, char *value);
/** sl_model_metadata_state: the file says @text, @length bytes, of itself. Empty texts, what
 * follows 4096 bytes, and what follows 64 statements are left out. */
void sl_model_metadata_state (SlModelMetadata *metadata, const char *name, const char *text,
                              gsize length);
/** sl_model_metadata_forget_input: what the file says of its first input, which pictures do not go
 * to. */
void sl_model_metadata_forget_input (SlModelMetadata *metadata);
void sl_model_metadata_clear (SlModelMetadata *metadata);

/**
 * SlReaderSource: where a model comes from, and what is stated about it.
 * @path: of its file, for messages and for files beside it
 * @input_shape: (nullable): "1,3,224,224"; for several inputs with ';' between
 * @keep_activations: as in SlModelLoadOptions
 * @words: (nullable): classes, which open dimensions of an input of embeddings are for
 * @texts: (nullable): sentences, which those of inputs of tokens are for
 */
typedef struct
{
  const char *path;
  const char *input_shape;
  gboolean keep_activations;
  const SlWordVectors *words;
  const SlPromptTexts *texts;
} SlReaderSource;

/**
 * SlModelReader:
 * @name: "tflite"
 * @endings: of such files' names, ".pt, .ptl", for help texts
 * @probe: whether @bytes look like this format
 * @read: fills @graph (not yet prepared) and @metadata
 * @names_files: (nullable): whether a model, also one that @read refuses, may need files beside its
 * own; NULL = none does
 * @describe: (nullable): fills @metadata alone, also of a model with operators that @read refuses
 */
typedef struct
{
  const char *name, *endings;
  gboolean (*probe) (GBytes *bytes);
  gboolean (*read) (GBytes *bytes, const SlReaderSource *source, SlGraph *graph,
                    SlModelMetadata *metadata, GError **error);
  gboolean (*names_files) (GBytes *bytes);
  gboolean (*describe) (GBytes *bytes, SlModelMetadata *metadata, GError **error);
} SlModelReader;

extern const SlModelReader sl_reader_tflite, sl_reader_onnx, sl_reader_pt2, sl_reader_torchscript;

/** sl_reader_find: (nullable): the reader whose format @bytes have. */
const SlModelReader *sl_reader_find (GBytes *bytes);
/** sl_reader_contains: whether @text occurs near the start or the end of @bytes: archives name
 * their members there. */
gboolean sl_reader_contains (GBytes *bytes, const char *text);
/** sl_reader_describe_unknown: (transfer none) (nullable): what @bytes of @path, which no reader
 * takes, look like, and what to do: "a GGUF model", ... */
const char *sl_reader_describe_unknown (GBytes *bytes, const char *path);
/** sl_reader_describe_folder: (transfer none) (nullable): what the folder @path looks like that
 * somebody takes for a model. */
const char *sl_reader_describe_folder (const char *path);
