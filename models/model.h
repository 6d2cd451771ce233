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
 * Every message starts with @path.
 */
SlModel *sl_model_load (const char *path, const SlContractOverrides *overrides, GError **error);
SlModel *sl_model_ref (SlModel *model);
void sl_model_unref (SlModel *model);
SlGraph *sl_model_graph (const SlModel *model);       /* (transfer none) */
SlContract *sl_model_contract (const SlModel *model); /* (transfer none) */
const char *sl_model_path (const SlModel *model);     /* (transfer none) */
const char *sl_model_format (const SlModel *model);   /* (transfer none): "tflite" */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlModel, sl_model_unref)

G_END_DECLS

#endif
