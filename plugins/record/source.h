/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which encoded stream clips are made of: the camera's, or, as long as nothing comes of that, the
 * one of our own encoder.
 */
#pragma once

#include "plugins/record/recorder.h"

/** The camera's stream is silent when frames that are looked at are newer than all of it for so
 * long. */
#define SL_CLIP_SOURCE_SILENCE (2 * GST_SECOND)

/** SlClipSource: any thread, from sl_clip_source_start() to sl_clip_source_stop(); @own, here and
 * below, is our encoder's stream. */
typedef struct
{
  GMutex lock;
  SlClipRecorder *recorder;
  GstCaps *caps; /* (nullable): the camera's */
  gboolean
    own; /* the recorder gets our encoder's frames, and none of the camera's have come since */
  gboolean ended; /* the camera's stream, at least for now */
  GstClockTime newest,
    alone; /* of the camera's frames; since when those that are looked at are newer. NONE */
} SlClipSource;

void sl_clip_source_init (SlClipSource *source);
void sl_clip_source_clear (SlClipSource *source);
void sl_clip_source_start (SlClipSource *source, SlClipRecorder *recorder, gboolean own);
void sl_clip_source_stop (SlClipSource *source);
/** sl_clip_source_is_own: whether the frame of @time, which is looked at, is to be encoded here.
 * @linked: a camera's stream may come */
gboolean sl_clip_source_is_own (SlClipSource *source, gboolean linked, GstClockTime time);
void sl_clip_source_set_caps (SlClipSource *source, gboolean own, GstCaps *caps);
/** sl_clip_source_frame: takes @frame. One of the camera's makes the camera's stream the source
 * again. */
void sl_clip_source_frame (SlClipSource *source, gboolean own, GstBuffer *frame);
void sl_clip_source_end (SlClipSource *source, gboolean own);
/** sl_clip_source_none: the camera's stream has none of the frames that are looked at from now on.
 */
void sl_clip_source_none (SlClipSource *source);
/** sl_clip_source_reset: the camera's stream begins anew. */
void sl_clip_source_reset (SlClipSource *source);
