/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * SlFrameMeta is the meta of tensor buffers from slnormalize to slpostprocess. It holds the
 * original frame, its GstVideoInfo, the affine map from tensor to frame, and monotonic timestamps
 * of each stage. slpredict and slpostprocess also leave one on the frame itself, with the
 * timestamps and whether a model ran on the frame.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "postprocess/predictions/prediction.h"
#include "core/base/affine.h"

/** Which part of its frame the buffer with the meta holds. */
typedef enum
{
  SL_FRAME_WHOLE,       /* a tensor of the frame or of its cropped part */
  SL_FRAME_OBJECT,      /* a tensor of one region, more regions of the same frame follow */
  SL_FRAME_LAST_OBJECT, /* a tensor of the last one */
  SL_FRAME_TILE,        /* a tensor of one tile, more of the same frame follow */
  SL_FRAME_AFTER_TILES, /* a tensor of the whole frame, or of its cropped part, after its tiles */
  SL_FRAME_LAST_TILE, /* a tensor of the last tile around motion; none of the whole frame follows */
  SL_FRAME_SKIPPED, /* this and the next values: no tensor. The frame is skipped; on a frame itself:
                       no model ran */
  SL_FRAME_SKIPPED_OBJECTS, /* the regions of this frame are skipped */
  SL_FRAME_NO_OBJECTS       /* the frame has no region for the model */
} SlFrameContent;

/**
 * SlFrameMeta:
 * @frame: (nullable): the original full-resolution buffer, one reference
 * @caps: caps of @frame, one reference
 * @info: parsed @caps
 * @worker: (nullable): a GRefString: the name of the remote worker that ran the model; set by
 * sl_frame_meta_set_worker()
 * @affine: tensor pixels -> frame pixels
 * @tensor_width, @tensor_height: size of the picture in the tensor
 * @captured: g_get_monotonic_time () in us when the frame came in
 * @started: the time when slnormalize began with it
 * @preprocessed, @inferred, @decoded: the time when the stage ended; 0 = not yet
 * @content: what the buffer holds
 * @region: with SL_FRAME_OBJECT and SL_FRAME_LAST_OBJECT: index of the frame's region meta, from 0
 * @part, @divided: with SL_FRAME_TILE and SL_FRAME_LAST_TILE: the pixels of the frame that the
 * tensor shows, and the pixels that all tiles cover
 * @serial: number that slpredict gives each frame that it takes
 * @motion: slnormalize has tiles=motion: what a frame shows outside of its tiles is still there
 * @follows: slnormalize needs the positions of the landmarks
 * @budgeted: slinfer has a part in the budget, and needs to know whether there are objects
 * @number: number of the frame in its stream, from 0, as in predictions; SL_NO_NUMBER before
 * slpostprocess
 */
typedef struct
{
  GstMeta meta;
  GstBuffer *frame;
  GstCaps *caps;
  GstVideoInfo info;
  char *worker;
  SlAffine affine;
  gint tensor_width, tensor_height;
  gint64 captured, started, preprocessed, inferred, decoded;
  SlFrameContent content;
  guint region;
  SlRect part, divided;
  guint64 serial, number;
  gboolean follows, motion, budgeted;
} SlFrameMeta;

#define SL_NO_NUMBER G_MAXUINT64

GType sl_frame_meta_api_get_type (void);
/** sl_buffer_add_frame_meta: @frame and @caps (transfer none). */
SlFrameMeta *sl_buffer_add_frame_meta (GstBuffer *buffer, GstBuffer *frame, GstCaps *caps,
                                       const GstVideoInfo *info);
/** sl_frame_meta_copy_values: copies all fields of @from to @to, except frame, caps and info. */
void sl_frame_meta_copy_values (SlFrameMeta *to, const SlFrameMeta *from);
/** sl_frame_meta_set_worker: @worker: (transfer none) (nullable): a GRefString */
void sl_frame_meta_set_worker (SlFrameMeta *meta, char *worker);
/** sl_buffer_ensure_frame_meta: (transfer none): the meta of @buffer. Where there is none, one is
 * added, with only @info (nullable) set. */
SlFrameMeta *sl_buffer_ensure_frame_meta (GstBuffer *buffer, const GstVideoInfo *info);
/** sl_buffer_get_frame_meta: (transfer none) (nullable) */
SlFrameMeta *sl_buffer_get_frame_meta (GstBuffer *buffer);
/** sl_buffer_unwrap_frame: (transfer full): the frame in @buffer (transfer full), writable. @buffer
 * is let go first: with it goes the last other reference to the frame, which then needs no copy. */
GstBuffer *sl_buffer_unwrap_frame (GstBuffer *buffer);
/** sl_frame_meta_latency: how long the stages of the frame of @meta (nullable) took. Preprocessing
 * begins when slnormalize begins, without the wait before. Decoding lasts until its end, or until
 * @now while it runs. The age is the time from the capture to @now. FALSE, with all fields of
 * @latency -1, when the capture time is unknown. */
gboolean sl_frame_meta_latency (const SlFrameMeta *meta, gint64 now, SlLatency *latency);
/** sl_buffer_is_empty_frame: whether @buffer holds no tensor, only a frame that passes through. */
gboolean sl_buffer_is_empty_frame (GstBuffer *buffer);
/** sl_buffer_is_part: whether @buffer holds a tensor of an object or a tile, and more tensors of
 * the same frame follow. */
gboolean sl_buffer_is_part (GstBuffer *buffer);
/** sl_buffer_was_looked_at: whether the frame @buffer has the result of a detector, also one
 * without objects. */
gboolean sl_buffer_was_looked_at (GstBuffer *buffer);
