/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides when clips begin, continue and end. It gets two times, both running time. One is the time
 * of the encoded frames, which are kept in a ring. The other is the time of the analysed frames. It
 * may be behind, since a model takes time, or ahead, since an encoder takes time. Any thread may
 * call; no call blocks.
 */
#pragma once

#include "plugins/record/writer.h"

/** SlClipRecorderSettings: @pre_roll, @post_roll, @max_length: ns; @max_length 0 = any;
 * @ring_bytes: of encoded frames that are kept */
typedef struct
{
  GstClockTime pre_roll, post_roll, max_length;
  gsize ring_bytes;
} SlClipRecorderSettings;

typedef struct _SlRecorder SlClipRecorder;

/** sl_clip_recorder_new: @writer is to outlive it. */
SlClipRecorder *sl_clip_recorder_new (const SlClipRecorderSettings *settings, SlWriter *writer);
/** sl_clip_recorder_free: ends a clip that goes on. */
void sl_clip_recorder_free (SlClipRecorder *recorder);
/** sl_clip_recorder_set_caps: of encoded frames to come. Others than before end a clip and empty
 * the ring. */
void sl_clip_recorder_set_caps (SlClipRecorder *recorder, GstCaps *caps);
/** sl_clip_recorder_frame: takes an encoded frame, whose timestamps are running time. */
void sl_clip_recorder_frame (SlClipRecorder *recorder, GstBuffer *frame);
/** sl_clip_recorder_look: before what is on a frame of @time is told. TRUE: its time jumps back,
 * and what there was is as after sl_clip_recorder_reset(). */
gboolean sl_clip_recorder_look (SlClipRecorder *recorder, GstClockTime time);
/** sl_clip_recorder_seen: frames up to @time were looked at, and their events told. */
void sl_clip_recorder_seen (SlClipRecorder *recorder, GstClockTime time);
/** sl_clip_recorder_trail: objects of the frame of @time; NULL = it has none. */
void sl_clip_recorder_trail (SlClipRecorder *recorder, GstClockTime time,
                             const SlPredictionView *prediction);
/** sl_clip_recorder_wants_start: whether no clip goes on, so that sl_clip_recorder_event() would
 * begin one. */
gboolean sl_clip_recorder_wants_start (SlClipRecorder *recorder);
/** sl_clip_recorder_event: something happened at @time. @json: (transfer full): the event; @start:
 * (transfer full) (nullable): of the clip that begins when none goes on, its caps are filled in;
 * without it none begins */
void sl_clip_recorder_event (SlClipRecorder *recorder, GstClockTime time, char *json,
                             SlClipStart *start);
/** sl_clip_recorder_reset: the streams begin anew: ends a clip, forgets frames and times. */
void sl_clip_recorder_reset (SlClipRecorder *recorder);
/** sl_clip_recorder_end: no more frames come, of those that are encoded or of those that are looked
 * at. */
void sl_clip_recorder_end (SlClipRecorder *recorder, gboolean encoded);
