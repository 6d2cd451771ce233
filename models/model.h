/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A loaded model: its prepared graph and its contract. Immutable, shared, thread-safe to reference.
 */
#pragma once

#include <glib.h>

#include "core/external/external.h"
#include "core/graph/file_image.h"
#include "core/graph/graph.h"
#include "models/contract.h"

typedef struct _SlModel SlModel;

/**
 * sl_model_load:
 * @path: (nullable): the model file; its format is told by its bytes; NULL = the one that comes
 * with Sightline; "zoo:NAME" = one that sightline get fetched
 * @overrides: (nullable): what properties say about the contract
 *
 * Reads the file into memory, so that it may be overwritten or deleted afterwards, converts it to a
 * graph, prepares the graph and builds the contract (model metadata, then @path.modelinfo or the
 * path with its extension replaced by .modelinfo when one exists, then @overrides). Every message
 * starts with @path. Models of one file share one graph and its bytes, unless the file changes or
 * was written just before. If weights are in other files, these are read and compared first. A file
 * that is written to while it is read is read again, a few times, and then refused.
 */
SlModel *sl_model_load (const char *path, const SlModelSettings *overrides, GError **error);
/**
 * SlModelLoadOptions:
 * @skip_input_quantize: for callers that make the input tensor by the contract. When the model
 * starts by quantising its only input, a picture, and nothing else reads that, the contract asks
 * for the quantised values behind the QUANTIZE and the graph starts there
 * (@skips_input_quantize of the contract). Results are those of the whole model for uint8 made int8
 * of one scale, and otherwise of pixels at most one quantised value away
 * @tensor_limit: as for sl_graph_set_limit(); 0 = its default
 * @work_limit: as for sl_graph_set_work_limit(); 0 = its default
 * @sha256: (nullable): that of the model's file, in 64 small digits; another file is refused
 * @input_shape: (nullable): "1,3,224,224", the size of an input that the file leaves open; with ';'
 * between for several inputs
 * @keep_activations: for callers that make another model of this one. Convolutions of float
 * activations with int8 weights take the activations as they are; else these are rounded to 8 bits,
 * as TensorFlow Lite does it. Attention stays the operators that it is made of
 * @fixed_inputs: (nullable): inputs that are always the same, as sl_fixed_inputs_read() has them;
 * unset, what the key file says
 * @state: (nullable): inputs that get an output of the run before, as sl_state_read() has them;
 * unset, what the key file says, else what names tell
 * @handed_inputs: (nullable): inputs that others hand in, likewise; sessions hold them
 * @tokens: a causal text model is cut to so many tokens, as sl_graph_cut_rows() has it; 0 = it is
 * not
 * @any_backend: for callers of sl_model_session_new(): what @backend leaves unset, the key file may
 * say
 * @backend: the runtime of the model, and its precision. A runtime of others gets the whole file,
 * so with one @skip_input_quantize counts for nothing. It also runs models with operators that
 * Sightline lacks
 * @threads: as for sl_model_session_new(); what other runtimes do on the processor
 */
typedef struct
{
  gboolean skip_input_quantize;
  gboolean keep_activations;
  gsize tensor_limit;
  guint64 work_limit;
  const char *sha256, *input_shape;
  const char *fixed_inputs;
  const char *state, *handed_inputs;
  guint tokens;
  gboolean any_backend;
  SlBackendSettings backend;
  guint threads;
} SlModelLoadOptions;

/** sl_model_load_options: what @settings state, whose texts it borrows. They have passed
 * sl_model_settings_check(). */
SlModelLoadOptions sl_model_load_options (const SlModelSettings *settings);
/** sl_model_load_with: sl_model_load() with @options. */
SlModel *sl_model_load_with (const char *path, const SlModelSettings *overrides,
                             const SlModelLoadOptions *options, GError **error);
/** sl_model_probe: whether the file @path looks like a model that could be loaded; FALSE for a
 * missing file. */
gboolean sl_model_probe (const char *path);
/** sl_model_files: (transfer full): what sl_model_load() of @path would read: the model file, and
 * the key file where there is one; none when @path is NULL and no model comes with Sightline. */
GStrv sl_model_files (const char *path);
SlModel *sl_model_ref (SlModel *model);
void sl_model_unref (SlModel *model);
SlGraph *sl_model_graph (const SlModel *model); /* (transfer none) */
/** sl_model_batch_graph: (transfer full): the model for @n items at once, of the same file:
 * dimension 0 of inputs and outputs is @n where it was 1. NULL with SL_ERROR_SHAPE,
 * SL_ERROR_UNSUPPORTED or SL_ERROR_LIMIT where it cannot be one. Nothing says yet that results are
 * the same: sl_batch_session_new(). */
SlGraph *sl_model_batch_graph (SlModel *model, guint n, GError **error);
SlContract *sl_model_contract (const SlModel *model); /* (transfer none) */
const char *sl_model_path (const SlModel *model);     /* (transfer none) */
const char *sl_model_format (const SlModel *model);   /* (transfer none): "tflite" */
/** sl_model_fact: (transfer none) (nullable): name of fact number @i that the file states of its
 * program, counted from 0; NULL after the last one. */
const char *sl_model_fact (const SlModel *model, guint i, const char **value);
/** sl_model_statement: likewise of what the file says of itself, such as its author and licence, in
 * the file's words: UTF-8 of any kind. */
const char *sl_model_statement (const SlModel *model, guint i, const char **value);
/** sl_model_data_files: (transfer none) (nullable): files beside the model's that it names and that
 * were read: their names, relative to the model's folder, to SlDataFile (models/data_file.h), and
 * SL_DATA_FIXED_INPUTS where inputs are fixed. */
GHashTable *sl_model_data_files (const SlModel *model);
/** sl_model_external: (transfer none) (nullable): the model in the runtime that runs it; NULL where
 * Sightline does. */
SlExternalModel *sl_model_external (const SlModel *model);
/** sl_model_falls_back: whether Sightline may take over from the runtime. */
gboolean sl_model_falls_back (const SlModel *model);
/** SL_BACKEND_FELL_BACK: a notice, with why. */
#define SL_BACKEND_FELL_BACK "Sightline runs the model on the CPU instead: %s"
/** sl_model_notice: (transfer none) (nullable): a sentence where something else runs the model than
 * was asked for. */
const char *sl_model_notice (const SlModel *model);
/** sl_model_device_choice: (transfer none) (nullable): with device=auto, what runs the model, and
 * why. */
const char *sl_model_device_choice (const SlModel *model);
/** sl_model_probe_format: (transfer none) (nullable): the format that the file @path begins as. */
const char *sl_model_probe_format (const char *path);
/** sl_model_stamp: (transfer none): the state of the file that was read. */
const SlFileStamp *sl_model_stamp (const SlModel *model);
/** sl_model_file_changed: whether another file has the model's path by now, or something was
 * written to it; FALSE when there is none. The model is what it was. */
gboolean sl_model_file_changed (const SlModel *model);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlModel, sl_model_unref)
