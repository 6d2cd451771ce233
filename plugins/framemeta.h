/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlFrameMeta rides on tensor buffers from slnormalize to slpostprocess: the original frame, its GstVideoInfo,
 * the map from tensor to frame, and monotonic timestamps of each stage.
 */
#ifndef SL_PLUGINS_FRAMEMETA_H
#define SL_PLUGINS_FRAMEMETA_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "preprocess/affine.h"

G_BEGIN_DECLS

/**
 * SlFrameMeta:
 * @frame: (nullable): the original full-resolution buffer, one reference
 * @caps: caps of @frame, one reference
 * @info: parsed @caps
 * @map: tensor pixels -> frame pixels
 * @tensor_width, @tensor_height: size of the picture in the tensor
 * @captured, @preprocessed, @inferred, @decoded: g_get_monotonic_time() in us when the stage ended; 0 = not yet
 */
typedef struct
{
  GstMeta meta;
  GstBuffer *frame;
  GstCaps *caps;
  GstVideoInfo info;
  SlAffine map;
  gint tensor_width, tensor_height;
  gint64 captured, preprocessed, inferred, decoded;
} SlFrameMeta;

GType sl_frame_meta_api_get_type (void);
const GstMetaInfo *sl_frame_meta_get_info (void);
/** sl_buffer_add_frame_meta: @frame and @caps (transfer none). */
SlFrameMeta *sl_buffer_add_frame_meta (GstBuffer *buffer, GstBuffer *frame, GstCaps *caps, const GstVideoInfo *info);
/** sl_buffer_get_frame_meta: (transfer none) (nullable) */
SlFrameMeta *sl_buffer_get_frame_meta (GstBuffer *buffer);

G_END_DECLS

#endif
