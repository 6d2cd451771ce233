/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlOutputsMeta: the undecoded tensors of a model that looked at a video frame. Frames that are
 * copies of each other share them.
 */
#pragma once

#include <gst/gst.h>

#include "postprocess/result.h"

/**
 * SlOutputsMeta:
 * @outputs: infos, names and data are in @shared
 * @shared: a g_atomic_rc_box
 */
typedef struct
{
  GstMeta meta;
  SlOutputs outputs;
  gpointer shared;
} SlOutputsMeta;

GType sl_outputs_meta_api_get_type (void);
const GstMetaInfo *sl_outputs_meta_get_info (void);
/** sl_buffer_add_outputs_meta: (nullable): copies @outputs, of which there are some. */
SlOutputsMeta *sl_buffer_add_outputs_meta (GstBuffer *buffer, const SlOutputs *outputs);
/** sl_buffer_get_outputs: (transfer none) (nullable): valid as long as @buffer and its meta are */
const SlOutputs *sl_buffer_get_outputs (GstBuffer *buffer);
