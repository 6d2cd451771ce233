/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The role of a detector's tensor by its name, as exporters name them: "detection_boxes",
 * "det_scores", "labels", "num_dets".
 */
#pragma once

#include "core/graph/tensor_info.h"

typedef enum
{
  SL_TENSOR_UNNAMED, /* the name says nothing */
  SL_TENSOR_BOXES,
  SL_TENSOR_SCORES,
  SL_TENSOR_CLASSES,
  SL_TENSOR_COUNT,
  SL_TENSOR_OTHER, /* raw or auxiliary numbers beside the detections */
} SlTensorRole;

SlTensorRole sl_tensor_role (const SlTensorInfo *tensor);
/** sl_tensor_is_named: whether @part is in the name, whatever its case. */
gboolean sl_tensor_is_named (const SlTensorInfo *tensor, const char *part);
