/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a module's forward() once, to record its operators on a picture. */
#pragma once

#include "models/torch/archive.h"
#include "models/torch/shapes.h"

/** TsModule: what an archive holds; @constants: the tuple that the code calls CONSTANTS. */
typedef struct
{
  TsHeap *heap;
  TsArchive *archive;
  TsValue module, constants;
} TsModule;

/** ts_forward: fills @graph with what forward() does to inputs of the @n shapes, 1 or more. FALSE
 * with the heap's error set. */
gboolean ts_forward (const TsModule *module, const TsShape *shapes, guint n, SlGraph *graph);
