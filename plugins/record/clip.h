/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One clip while it is written: the video, the picture of its moment, and the notes beside them.
 * All get their names together when the clip is whole, the video last; of one that fails nothing is
 * left. One thread, which waits for the disk.
 */
#pragma once

#include <gst/gst.h>

#include "plugins/record/folder.h"
#include "plugins/record/picture.h"
#include "plugins/record/trail.h"

/** Events that the notes of one clip list; more are only counted. */
#define SL_CLIP_EVENTS_MOST 1000

/**
 * SlClipStart: why a clip begins.
 * @caps: of the frames
 * @moment: (nullable): the frame of the event
 * @event: its word
 * @predictions: (nullable): of @moment, a JSON object
 * @note: (nullable): the event, a JSON object
 * @time: running time of the event
 * @us: microseconds since 1970 of the event
 */
typedef struct
{
  GstCaps *caps;
  GstSample *moment;
  char *event, *predictions, *note;
  GstClockTime time;
  gint64 us;
} SlClipStart;

/** sl_clip_start_free: all that it has. */
void sl_clip_start_free (SlClipStart *start);

/** SlClipDone: what became of it. @path, @picture: (nullable): paths */
typedef struct
{
  char *path, *picture, *event, *cut;
  gdouble seconds;
  guint64 frames, bytes;
} SlClipDone;

void sl_clip_done_clear (SlClipDone *done);

typedef struct _SlClip SlClip;

/** sl_clip_new: opens its files. @folder and @start outlive it; @look: of its picture. NULL with
 * @error set. */
SlClip *sl_clip_new (SlFolder *folder, const SlClipStart *start, SlPictureLook look,
                     GError **error);
/** sl_clip_push: takes @frame, whose timestamps are running time. */
gboolean sl_clip_push (SlClip *clip, GstBuffer *frame, GError **error);
/** sl_clip_note: an event at running time @time. @json: an object */
void sl_clip_note (SlClip *clip, GstClockTime time, const char *json);
/** sl_clip_trail: takes @part: objects of the clip's frames. */
void sl_clip_trail (SlClip *clip, SlTrailPart *part);
/** sl_clip_bytes: that were given to the video so far. */
guint64 sl_clip_bytes (const SlClip *clip);
/** sl_clip_finish: the files get their names. @cut: (nullable): why it ends before its time. A clip
 * without frames leaves nothing and is an error. */
gboolean sl_clip_finish (SlClip *clip, const char *cut, SlClipDone *done, GError **error);
/** sl_clip_free: of a clip that is not finished nothing is left. */
void sl_clip_free (SlClip *clip);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlClip, sl_clip_free)
