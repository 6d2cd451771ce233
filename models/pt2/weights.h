/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tensors of an archive of torch.export, by name: weights, buffers and constants. Before
 * PyTorch 2.8 they are archives of torch.save() inside the archive; since, each storage is a member
 * and a table in JSON has types and sizes.
 */
#pragma once

#include "models/torch/archive.h"

/** PtWeights: name -> tensor; what the program was exported with, which has no elements. */
typedef struct
{
  TsDict *weights, *constants;
  TsValue examples;
} PtWeights;

/** pt_weights_read: the tables of @archive, whose program is called @model. FALSE with @heap's
 * error set. */
gboolean pt_weights_read (TsHeap *heap, TsArchive *archive, const char *model, PtWeights *weights);
/** pt_weights_find: (nullable): the tensor @name, a weight or a constant. */
TsTensor *pt_weights_find (const PtWeights *weights, const char *name);
