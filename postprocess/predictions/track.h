/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Which boxes of one frame are the same objects as those of the frames before: ByteTrack (Y. Zhang et al., "ByteTrack:
 * Multi-Object Tracking by Associating Every Detection Box", ECCV 2022). Confident boxes are matched with all objects known,
 * then unsure ones with objects that were seen until now and found nothing; only confident boxes make new objects. Used by
 * sltrack and slpostprocess.
 *
 * Memory grows to the largest frame seen and is bounded, as is time, by SL_TRACK_MOST.
 */
#ifndef SL_PREDICTIONS_TRACK_H
#define SL_PREDICTIONS_TRACK_H

#include <glib.h>

G_BEGIN_DECLS

/** Most boxes of a frame that are tracked, and twice as many objects, seen and lost. */
#define SL_TRACK_MOST 256

/** Coordinates beyond this are no box of a picture, in pixels. */
#define SL_TRACK_FARTHEST 1e6

/**
 * SlTrackSettings:
 * @high: confidence from which a box counts as found, 0..1
 * @low: confidence from which a box may continue an object, 0..1
 * @fresh: confidence from which a box may be a new object, 0..1; never below @high
 * @iou: lowest overlap of a confident box with where its object was expected, 0..1
 * @low_iou: the same for boxes below @high
 * @max_age: frames that an object may be unseen, at least 0
 * @min_hits: frames in a row an object is seen before it gets an id, at least 1; objects of the first frame get theirs at once
 * @per_class: whether a box continues objects of its own class only
 */
typedef struct
{
  gdouble high, low, fresh, iou, low_iou;
  gint max_age, min_hits;
  gboolean per_class;
} SlTrackSettings;

/** ByteTrack's values; @fresh, which it has 0.1 above @high, is the same, so that whatever stays above @high gets an id. */
extern const SlTrackSettings sl_track_defaults;

/** A box; corners in pixels of the frame. @key: its class, any number. */
typedef struct
{
  double corners[4]; /* x_min, y_min, x_max, y_max */
  double confidence;
  guint32 key;
  gint32 label_id;
} SlTrackBox;

/** What a box is: @id of its object, from 1 on; 0 = none yet; SL_TRACK_UNSURE = too unsure, and no object's. @since: time of
 *  the frame in which the object was seen first. */
typedef struct
{
  gint32 id;
  guint64 since;
} SlTrackMatch;
#define SL_TRACK_UNSURE (-1)

/** An object that nobody looked for in this frame, where it should be by now. */
typedef struct
{
  SlTrackBox box;
  SlTrackMatch match;
} SlTracked;

typedef struct _SlTracker SlTracker;

SlTracker *sl_tracker_new (void);
void sl_tracker_free (SlTracker *tracker);
/** sl_tracker_reset: forgets all objects; ids go on. */
void sl_tracker_reset (SlTracker *tracker);
/** sl_tracker_next_id, sl_tracker_set_next_id: id of the next new object, at least 1, so that ids can go on where another tracker's ended. */
gint32 sl_tracker_next_id (const SlTracker *tracker);
void sl_tracker_set_next_id (SlTracker *tracker, gint32 next_id);
/** sl_tracker_configure: from the next frame on. */
void sl_tracker_configure (SlTracker *tracker, const SlTrackSettings *settings);
/** sl_tracker_update: @n boxes of a frame, @steps frames (at least 1) after the last, at @time. Boxes that are not finite, have no
 *  area, lie beyond SL_TRACK_FARTHEST or come after the first SL_TRACK_MOST get id 0 and are forgotten. */
void sl_tracker_update (SlTracker *tracker, const SlTrackBox *boxes, guint n, guint steps, guint64 time, SlTrackMatch *matches);
/** sl_tracker_skip: a frame that nobody looked at. */
void sl_tracker_skip (SlTracker *tracker, guint steps);
/** sl_tracker_expect: objects with an id that were seen in the last update, at most @room. Returns how many. */
guint sl_tracker_expect (const SlTracker *tracker, SlTracked *out, guint room);
/** sl_tracker_size: objects known, for tests: never above 2 * SL_TRACK_MOST. */
guint sl_tracker_size (const SlTracker *tracker);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTracker, sl_tracker_free)

G_END_DECLS

#endif
