/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pickles as torch.jit.save() writes them: a machine of 33 instructions that build values. It calls
 * nothing: the few functions that such pickles name are known here, and any other name is refused.
 */
#pragma once

#include "models/torch/archive.h"

/** ts_pickle_read: the value in member @name.pkl, whose tensors have their elements in folder
 * @name. FALSE with @heap's error set. */
gboolean ts_pickle_read (TsHeap *heap, TsArchive *archive, const char *name, TsValue *value);
/** ts_pickle_read_shapes: the same where tensors have types and sizes alone, and no elements in the
 * file. */
gboolean ts_pickle_read_shapes (TsHeap *heap, TsArchive *archive, const char *name, TsValue *value);
