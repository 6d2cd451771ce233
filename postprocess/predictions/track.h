/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Tracks objects from frame to frame with ByteTrack (Y. Zhang et al., "ByteTrack: Multi-Object
 * Tracking by Associating Every Detection Box", ECCV 2022). First, confident boxes are matched with
 * all known objects. Then less confident boxes are matched with the remaining objects that were
 * seen in the last frame. Only confident boxes make new objects. Used by sltrack and slpostprocess.
 *
 * Memory grows with the number of boxes in a frame. SL_TRACK_MOST bounds memory and time.
 */
#pragma once

#include <glib.h>

/** Most tracked boxes of a frame. Twice as many objects, seen and lost, are kept. */
#define SL_TRACK_MOST 256

/** Largest coordinate of a valid box, in pixels. */
#define SL_TRACK_FARTHEST 1e6

/**
 * SlTrackSettings:
 * @high: confidence from which a box counts as found, 0..1
 * @low: confidence from which a box may continue an object, 0..1
 * @fresh: confidence from which a box may be a new object, 0..1; never below @high
 * @iou: lowest overlap of a confident box with the expected box of its object, 0..1
 * @low_iou: the same for boxes below @high
 * @max_age: frames that an object may be unseen, at least 0
 * @min_hits: frames in a row an object is seen before it gets an id, at least 1; objects of the
 * first frame get theirs at once
 * @per_class: whether a box continues objects of its own class only
 * @observed: OC-SORT: what was seen corrects what was expected of an object after a gap, and the
 * direction of its motion counts
 * @look: with sl_tracker_describe(): least cosine of two embeddings of one object, where 0 is that
 * of different objects
 * @look_again: frames after which an object is described again, at least 1
 * @most_looks: most boxes of a frame that are described, 1..SL_TRACK_MOST
 * @remember: frames that an object may be unseen and be found again by its appearance alone
 */
typedef struct
{
  gdouble high, low, fresh, iou, low_iou;
  gint max_age, min_hits;
  gboolean per_class;
  gboolean observed;
  gdouble look;
  gint look_again, most_looks, remember;
} SlTrackSettings;

/** ByteTrack's values, except @fresh. ByteTrack sets it 0.1 above @high. Here it equals @high, so
 * that every object that stays above @high gets an id. */
extern const SlTrackSettings sl_track_defaults;

/** A box; corners in pixels of the frame. @key: its class, any number. */
typedef struct
{
  double corners[4]; /* x_min, y_min, x_max, y_max */
  double confidence;
  guint32 key;
  gint32 label_id;
} SlTrackBox;

/** The object of a box. @id: from 1 on; 0 = no id yet; SL_TRACK_UNSURE = too low confidence, and
 * not matched. @since: time of the frame in which the object was seen first. */
typedef struct
{
  gint32 id;
  guint64 since;
} SlTrackMatch;
#define SL_TRACK_UNSURE (-1)

/** The expected position of an object in a frame on which no model ran. */
typedef struct
{
  SlTrackBox box;
  SlTrackMatch match;
} SlTracked;

/** SlTrackDescribe: writes the embeddings of boxes @chosen, @n places in the frame's boxes, one
 * after another to @embeddings. They need no length of 1. One that has no direction tells nothing:
 * zeros, or numbers that are not finite. */
typedef void (*SlTrackDescribe) (gpointer data, const SlTrackBox *boxes, const guint *chosen,
                                 guint n, gfloat *embeddings);

typedef struct _SlTracker SlTracker;

SlTracker *sl_tracker_new (void);
void sl_tracker_free (SlTracker *tracker);
/** sl_tracker_reset: forgets all objects; ids go on. */
void sl_tracker_reset (SlTracker *tracker);
/** sl_tracker_next_id, sl_tracker_set_next_id: id of the next new object, at least 1, so that ids
 * can go on where another tracker's ended. */
gint32 sl_tracker_next_id (const SlTracker *tracker);
void sl_tracker_set_next_id (SlTracker *tracker, gint32 next_id);
/** sl_tracker_configure: sets the settings, from the next frame on. */
void sl_tracker_configure (SlTracker *tracker, const SlTrackSettings *settings);
/** sl_tracker_describe: appearance counts from now on: sl_tracker_update() calls @describe
 * (nullable), in its thread and at most once, where motion alone leaves objects in doubt.
 * Embeddings have @length numbers. What was known of appearances is forgotten. */
void sl_tracker_describe (SlTracker *tracker, guint length, SlTrackDescribe describe,
                          gpointer data);
/** sl_tracker_update: matches the @n boxes of a frame at @time, @steps frames (at least 1) after
 * the last one. Boxes that are not finite, have no area, lie beyond SL_TRACK_FARTHEST or come after
 * the first SL_TRACK_MOST get id 0 and are not tracked. */
void sl_tracker_update (SlTracker *tracker, const SlTrackBox *boxes, guint n, guint steps,
                        guint64 time, SlTrackMatch *matches);
/** sl_tracker_take_look: (transfer none) (nullable): after sl_tracker_update(): an embedding, of
 * length 1, of the object with an id that is box @box. NULL where there is none that the caller has
 * not got: embeddings of boxes that others cover are not given away. */
const gfloat *sl_tracker_take_look (SlTracker *tracker, guint box);
/** sl_tracker_shift: the picture moved by @x and @y pixels since the last frame, because the camera
 * did: so did the places where objects were seen and are expected. Call it before
 * sl_tracker_update() or sl_tracker_skip(). */
void sl_tracker_shift (SlTracker *tracker, double x, double y);
/** sl_tracker_skip: moves @steps frames on, to a frame on which no model ran. */
void sl_tracker_skip (SlTracker *tracker, guint steps);
/** sl_tracker_expect: writes the objects with an id that were seen in the last update to @out, at
 * most @room. Returns their number. */
guint sl_tracker_expect (const SlTracker *tracker, SlTracked *out, guint room);
/** sl_tracker_size: number of known objects, for tests: never above 2 * SL_TRACK_MOST. */
guint sl_tracker_size (const SlTracker *tracker);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTracker, sl_tracker_free)
