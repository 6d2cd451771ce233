/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracker's state, for its files: track.c, and track_appearance.c, which has all that
 * embeddings add. */
#pragma once

#include "postprocess/predictions/appearance.h"
#include "postprocess/predictions/assignment.h"
#include "postprocess/predictions/camera_motion.h"
#include "postprocess/predictions/kalman.h"
#include "postprocess/predictions/observed.h"
#include "postprocess/predictions/track.h"

#define SL_TRACK_NONE G_MAXUINT
#define SL_TRACK_OBJECTS (2 * SL_TRACK_MOST)
/** Objects that are remembered by their appearance alone. */
#define SL_TRACK_REMEMBERED SL_TRACK_MOST

/**
 * SlTrackState: a tracked object.
 * @corners: of @box, for matching
 * @id: 0 = not confirmed
 * @hits, @unseen: frames
 * @seen_as: its box of the frame in hand, or SL_TRACK_NONE
 * @look: its slot; @look_age: frames since it was learned; @look_clear: nothing covered the object;
 * @look_told: sl_tracker_take_look() has given one away
 */
typedef struct
{
  SlKalmanBox box;
  gfloat corners[4];
  double confidence;
  guint32 key;
  gint32 label_id, id;
  guint64 since;
  guint hits, unseen;
  guint seen_as;
  gboolean lost;
  SlObserved observed;
  guint look, look_age;
  gboolean look_clear, look_told;
} SlTrackState;

/** A waiting object and a box that overlap, by their places in @waiting and @boxes. */
typedef struct
{
  guint16 object, box;
} SlTrackTouch;

/** What overlaps what, by the gains of the first round: how many boxes a waiting object overlaps,
 * how many objects a box, and the last of these. */
typedef struct
{
  guint of_object[SL_TRACK_OBJECTS], of_box[SL_TRACK_MOST], last[SL_TRACK_MOST];
} SlTrackOverlaps;

/**
 * SlTracker:
 * @boxes, @waiting: of the frame in hand: indices of boxes and tracks that are still to be matched
 * @late: boxes below the high threshold
 * @memory: of SlTrackState: objects that are no longer predicted, the oldest first; their @unseen
 * lacks @memory_steps frames, and with them none is above @memory_unseen
 * @touching: pairs of the round in hand whose gain is not 0, object by object
 * @described: boxes of the frame in hand that were described
 * @look_of: of each box: its place in @looks, or SL_TRACK_NONE; @look_clear: of each place: whether
 * others leave enough of the box to be seen
 */
struct _SlTracker
{
  SlTrackSettings settings;
  GArray *tracks;
  gint32 next_id;
  gboolean started;
  SlAssignment assignment;
  SlCameraMotion camera;
  guint boxes[SL_TRACK_MOST], waiting[SL_TRACK_OBJECTS];
  guint n_boxes, n_waiting;
  guint late[SL_TRACK_MOST];
  guint n_late;
  gfloat corners[SL_TRACK_MOST][4];
  gint32 pairs[SL_TRACK_OBJECTS + SL_TRACK_REMEMBERED];
  gint32 *gain;
  SlTrackTouch *touching;
  gsize room, n_touching;
  SlTrackOverlaps overlaps;
  SlTrackDescribe describe; /* (nullable) */
  gpointer describe_data;
  SlAppearance appearance;
  GArray *memory;
  guint memory_steps, memory_unseen;
  gfloat *looks;
  guint described[SL_TRACK_MOST], n_described;
  guint look_of[SL_TRACK_MOST];
  gboolean look_clear[SL_TRACK_MOST];
};

static inline SlTrackState *
sl_track_at (const SlTracker *tracker, guint i)
{
  return &g_array_index (tracker->tracks, SlTrackState, i);
}

/** sl_track_reserve_gains: memory for @rows of as many gains as boxes wait. */
void sl_track_reserve_gains (SlTracker *tracker, guint rows);
/** sl_track_wait: whose turn it is: confirmed or new ones, and of these those seen until now or
 * all. */
void sl_track_wait (SlTracker *tracker, gboolean confirmed, gboolean lost);
/** sl_track_see: box @b shows @track. */
void sl_track_see (SlTracker *tracker, SlTrackState *track, const SlTrackBox *boxes, guint b);
/** sl_track_drop_matched: boxes that are SL_TRACK_NONE by now do not wait any longer. */
void sl_track_drop_matched (SlTracker *tracker);

/** sl_track_look: has those boxes described whose objects are in doubt by the gains of the first
 * round, and adds to these gains how alike boxes and objects are. Sets @overlaps. */
void sl_track_look (SlTracker *tracker, const SlTrackBox *boxes);
/** sl_track_find_again: matches objects that no box overlaps, and remembered ones, with the
 * remaining boxes that look like them and are within their reach. */
void sl_track_find_again (SlTracker *tracker, const SlTrackBox *boxes);
/** sl_track_learn: @track looks as its box @b does, which was described. */
void sl_track_learn (SlTracker *tracker, SlTrackState *track, guint b);
/** sl_track_forget: @track is predicted no longer; remembers it where appearance can find it. */
void sl_track_forget (SlTracker *tracker, const SlTrackState *track);
/** sl_track_age_memory: objects are not remembered for ever. */
void sl_track_age_memory (SlTracker *tracker, guint steps);
