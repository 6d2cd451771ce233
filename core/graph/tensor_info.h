/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A tensor outside its graph: as input or output of a model, in caps, for a decoder. Messages write
 * its dimensions as the graph does, outermost first.
 */
#pragma once

#include <glib.h>

#include "core/graph/tensor.h"
#include "core/graph/value_kind.h"

/**
 * SlTensorInfo:
 * @name: (nullable)
 * @id: (nullable): the id of an output in a description file (docs/modelinfo.md)
 * @dims: outermost first
 * @scale: 0 = not quantised per tensor
 * @values: what an output's numbers are
 * @classes: number of classes from which ARG_MAX chose the output's values; 0 = unknown
 */
typedef struct
{
  char *name, *id;
  SlDtype dtype;
  guint rank;
  gint32 dims[SL_MAX_RANK];
  gsize bytes;
  gfloat scale;
  gint32 zero_point;
  SlValueKind values;
  guint classes;
} SlTensorInfo;

/** sl_tensor_info_init: what @tensor says; its name is copied, of its numbers nothing is known. */
void sl_tensor_info_init (SlTensorInfo *info, const SlTensor *tensor);
/** sl_tensor_info_describe: (transfer full): "uint8[1,224,224,3]", for messages. */
char *sl_tensor_info_describe (const SlTensorInfo *info);
/** sl_tensor_infos_describe: (transfer full): each of @n, ", " between. */
char *sl_tensor_infos_describe (const SlTensorInfo *infos, guint n);
/** sl_tensor_infos_clear: frees the texts of @n. */
void sl_tensor_infos_clear (SlTensorInfo *infos, guint n);
