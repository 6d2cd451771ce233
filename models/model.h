/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A loaded model: its prepared graph and its contract. Immutable, shared, thread-safe to reference.
 */
#ifndef SL_MODELS_MODEL_H
#define SL_MODELS_MODEL_H

#include <glib.h>

#include "core/graph.h"
#include "models/contract.h"

G_BEGIN_DECLS

typedef struct _SlModel SlModel;

/**
 * sl_model_load:
 * @path: (nullable): the model file; its format is told by its bytes; NULL = the one that comes with Sightline
 * @overrides: (nullable): what properties say about the contract
 *
 * Maps the file, reads it into a graph, prepares the graph and builds the contract (model metadata, then
 * @path.modelinfo or the path with its extension replaced by .modelinfo when one exists, then @overrides).
 * Every message starts with @path. Models of one file, while it does not change, share one graph.
 */
SlModel *sl_model_load (const char *path, const SlContractOverrides *overrides, GError **error);
/**
 * SlModelLoadOptions:
 * @direct: for whoever makes the input tensor by the contract. When the model starts by quantising its only input, a picture, and
 *   nothing else reads that, the contract asks for the codes behind the QUANTIZE and the graph starts there (@direct of the
 *   contract). Results are those of the whole model for uint8 made int8 of one scale, and otherwise of pixels at most one code away
 * @tensor_limit: as for sl_graph_set_limit(); 0 = its default
 */
typedef struct
{
  gboolean direct;
  gsize tensor_limit;
} SlModelLoadOptions;

/** sl_model_load_with: sl_model_load() with @options. */
SlModel *sl_model_load_with (const char *path, const SlContractOverrides *overrides, const SlModelLoadOptions *options, GError **error);
SlModel *sl_model_ref (SlModel *model);
void sl_model_unref (SlModel *model);
SlGraph *sl_model_graph (const SlModel *model);       /* (transfer none) */
SlContract *sl_model_contract (const SlModel *model); /* (transfer none) */
const char *sl_model_path (const SlModel *model);     /* (transfer none) */
const char *sl_model_format (const SlModel *model);   /* (transfer none): "tflite" */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlModel, sl_model_unref)

G_END_DECLS

#endif
