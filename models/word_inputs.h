/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs of open-vocabulary detectors: the embeddings of classes, which become constants. */
#pragma once

#include "core/base/word_vectors.h"
#include "core/graph/graph.h"

/** sl_word_inputs_dim: what dimension @i of an input of @rank, of which the file states @dims
 * (below 1 = open), is for @words (nullable); -1 = it is no input of embeddings. */
gint64 sl_word_inputs_dim (const SlWordVectors *words, SlDtype dtype, const gint64 *dims,
                           guint rank, guint i);
/** sl_word_inputs_exist: whether @graph, not prepared or prepared, has such an input. */
gboolean sl_word_inputs_exist (const SlWordVectors *words, const SlGraph *graph);
/**
 * sl_word_inputs_apply:
 * @words: (nullable): NULL and zeroed = nothing happens
 * @graph: not prepared
 * @files: (nullable): gets the values as SL_DATA_FIXED_INPUTS (models/data_file.h)
 * @rows: (out): how many classes the model has room for; 0 = it has no such input
 *
 * Makes constants of the input of embeddings, float32 [classes,length] or [1,classes,length], and
 * of a mask of it. Room that is left has the last class once more. FALSE with @error set where the
 * model has room for fewer classes.
 */
gboolean sl_word_inputs_apply (const SlWordVectors *words, SlGraph *graph, GHashTable **files,
                               guint *rows, GError **error);
/** sl_word_inputs_hash: of @words. */
guint64 sl_word_inputs_hash (const SlWordVectors *words);
