/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * SlFrameMeta rides on tensor buffers from slnormalize to slpostprocess: the original frame, its GstVideoInfo,
 * the affine map from tensor to frame, and monotonic timestamps of each stage. slpredict and slpostprocess also leave one on the frame itself,
 * with the timestamps and whether a model looked at it.
 */
#ifndef SL_PLUGINS_META_FRAME_META_H
#define SL_PLUGINS_META_FRAME_META_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "postprocess/predictions/prediction.h"
#include "core/base/affine.h"

G_BEGIN_DECLS

/** What the buffer that carries the meta holds of its frame. */
typedef enum
{
  SL_FRAME_WHOLE,           /* a tensor of the frame or of the part that is looked at */
  SL_FRAME_OBJECT,          /* a tensor of one region, more regions of the same frame follow */
  SL_FRAME_LAST_OBJECT,     /* a tensor of the last one */
  SL_FRAME_TILE,            /* a tensor of one tile, more of the same frame follow */
  SL_FRAME_AFTER_TILES,     /* a tensor of the whole frame, or of the part that is looked at, whose tiles came before */
  SL_FRAME_SKIPPED,         /* from here on no tensor: it is not this frame's turn; on a frame itself: nobody looked for objects */
  SL_FRAME_SKIPPED_OBJECTS, /* it is not the turn of this frame's regions */
  SL_FRAME_NO_OBJECTS       /* the frame has no region that is looked at */
} SlFrameContent;

/**
 * SlFrameMeta:
 * @frame: (nullable): the original full-resolution buffer, one reference
 * @caps: caps of @frame, one reference
 * @info: parsed @caps
 * @worker: (nullable): a GRefString: the name of the one that ran the model on another machine; set by sl_frame_meta_set_worker()
 * @affine: tensor pixels -> frame pixels
 * @tensor_width, @tensor_height: size of the picture in the tensor
 * @captured: g_get_monotonic_time () in us when the frame came in; @started: when slnormalize began with it; @preprocessed,
 *   @inferred, @decoded: when the stage ended; 0 = not yet
 * @content: what the buffer holds
 * @region: with SL_FRAME_OBJECT and SL_FRAME_LAST_OBJECT: which of the frame's region metas, counted from 0
 * @part, @divided: with SL_FRAME_TILE: the pixels of the frame that the tensor shows, and those that all tiles are of
 * @serial: number that slpredict gives each frame that it takes
 * @follows: slnormalize wants to be told where landmarks were
 * @number: of the frame in its stream, from 0, as predictions name it; SL_NO_NUMBER before slpostprocess has seen it
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
  gboolean follows;
} SlFrameMeta;

#define SL_NO_NUMBER G_MAXUINT64

GType sl_frame_meta_api_get_type (void);
/** sl_buffer_add_frame_meta: @frame and @caps (transfer none). */
SlFrameMeta *sl_buffer_add_frame_meta (GstBuffer *buffer, GstBuffer *frame, GstCaps *caps, const GstVideoInfo *info);
/** sl_frame_meta_copy_values: all that @from says, but not its frame: @to keeps its own, with caps and info. */
void sl_frame_meta_copy_values (SlFrameMeta *to, const SlFrameMeta *from);
/** sl_frame_meta_set_worker: @worker: (transfer none) (nullable): a GRefString */
void sl_frame_meta_set_worker (SlFrameMeta *meta, char *worker);
/** sl_buffer_ensure_frame_meta: (transfer none): the meta of @buffer, added with @info (nullable) and nothing else where there is none. */
SlFrameMeta *sl_buffer_ensure_frame_meta (GstBuffer *buffer, const GstVideoInfo *info);
/** sl_buffer_get_frame_meta: (transfer none) (nullable) */
SlFrameMeta *sl_buffer_get_frame_meta (GstBuffer *buffer);
/** sl_frame_meta_latency: what the stages of @meta's frame (nullable) took: preprocessing since slnormalize began with it, without the
 *  time it waited before; decoding until its end, or until @now while it goes on; the age from the capture to @now. FALSE, and all of
 *  @latency -1, when nothing is known of the capture. */
gboolean sl_frame_meta_latency (const SlFrameMeta *meta, gint64 now, SlLatency *latency);
/** sl_buffer_is_empty_frame: whether @buffer holds no tensor, only a frame that passes by. */
gboolean sl_buffer_is_empty_frame (GstBuffer *buffer);
/** sl_buffer_is_part: whether @buffer holds a tensor of an object or a tile, and more tensors of the same frame follow. */
gboolean sl_buffer_is_part (GstBuffer *buffer);
/** sl_buffer_was_looked_at: whether the result of a model that looks for objects is on the frame @buffer, found or not. */
gboolean sl_buffer_was_looked_at (GstBuffer *buffer);

G_END_DECLS

#endif
