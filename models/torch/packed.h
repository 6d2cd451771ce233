/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packed parameters: the contents of the states of torch's classes for them. */
#pragma once

#include "models/aten/value.h"

/** ts_packed_new: an empty box of class @class_name,
 * "__torch__.torch.classes.quantized.Conv2dPackedParamsBase"; FALSE when that is no class of packed
 * parameters. */
gboolean ts_packed_new (TsHeap *heap, const char *class_name, TsValue *value);
/** ts_packed_fill: sets @packed from @state, which __getstate__ gave. */
gboolean ts_packed_fill (TsHeap *heap, TsPacked *packed, TsValue state);
