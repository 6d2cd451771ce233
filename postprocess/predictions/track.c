/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tracker: predict, three rounds of matching, births and deaths. Two differences from the
 * authors' program keep the ids of objects that pass behind others: lost objects are not removed
 * because they overlap one that is seen, and what overlaps both goes rather to the one that is
 * seen. A third keeps ids before cameras that move: unseen objects move as the others do.
 */
#include <math.h>
#include <string.h>

#include "postprocess/predictions/track_private.h"

/* Overlap that boxes of new objects need with where they appeared first. */
#define UNCONFIRMED_IOU 0.3
/* What an overlap with a lost object counts, of one with an object seen in the last frame. */
#define LOST_SHARE 0.8
/* Frames after which an object's expected place tells of the camera. */
#define SETTLED 3
/* What the direction of a motion counts, of an overlap. */
#define DIRECTION_SHARE 0.1

G_STATIC_ASSERT (SL_TRACK_OBJECTS + SL_TRACK_REMEMBERED <= SL_ASSIGNMENT_MOST);
G_STATIC_ASSERT (SL_TRACK_MOST <= SL_CAMERA_MOST);

const SlTrackSettings sl_track_defaults = {
  .high = 0.5,
  .low = 0.1,
  .fresh = 0.5,
  .iou = 0.2,
  .low_iou = 0.5,
  .max_age = 30,
  .min_hits = 2,
  .per_class = TRUE,
  .observed = FALSE,
  .look = 0.5,
  .look_again = 15,
  .most_looks = 16,
  .remember = 300,
};

SlTracker *
sl_tracker_new (void)
{
  SlTracker *tracker = g_new0 (SlTracker, 1);
  tracker->settings = sl_track_defaults;
  tracker->tracks = g_array_new (FALSE, FALSE, sizeof (SlTrackState));
  tracker->memory = g_array_sized_new (FALSE, FALSE, sizeof (SlTrackState), SL_TRACK_REMEMBERED);
  tracker->next_id = 1;
  return tracker;
}

void
sl_tracker_free (SlTracker *tracker)
{
  if (tracker == NULL)
    return;
  g_array_unref (tracker->tracks);
  g_array_unref (tracker->memory);
  sl_appearance_clear (&tracker->appearance);
  g_free (tracker->looks);
  sl_assignment_clear (&tracker->assignment);
  g_free (tracker->gain);
  g_free (tracker->touching);
  g_free (tracker);
}

void
sl_tracker_reset (SlTracker *tracker)
{
  g_array_set_size (tracker->tracks, 0);
  g_array_set_size (tracker->memory, 0);
  sl_appearance_forget (&tracker->appearance);
  tracker->started = FALSE;
}

gint32
sl_tracker_next_id (const SlTracker *tracker)
{
  return tracker->next_id;
}

void
sl_tracker_set_next_id (SlTracker *tracker, gint32 next_id)
{
  tracker->next_id = MAX (next_id, 1);
}

void
sl_tracker_describe (SlTracker *tracker, guint length, SlTrackDescribe describe, gpointer data)
{
  g_return_if_fail (length > 0 || describe == NULL);
  for (guint t = 0; t < tracker->tracks->len; t++)
    sl_track_at (tracker, t)->look = SL_APPEARANCE_NONE;
  g_array_set_size (tracker->memory, 0);
  sl_appearance_start (&tracker->appearance, length);
  g_free (tracker->looks);
  tracker->looks = describe != NULL ? g_new (gfloat, (gsize) SL_TRACK_MOST * length) : NULL;
  tracker->describe = describe;
  tracker->describe_data = data;
  tracker->n_described = 0;
  for (guint b = 0; b < SL_TRACK_MOST; b++)
    tracker->look_of[b] = SL_TRACK_NONE;
}

void
sl_tracker_configure (SlTracker *tracker, const SlTrackSettings *settings)
{
  tracker->settings = *settings;
}

guint
sl_tracker_size (const SlTracker *tracker)
{
  return tracker->tracks->len;
}

static gboolean
is_box (const SlTrackBox *box)
{
  for (guint i = 0; i < 4; i++)
    if (!(fabs (box->corners[i]) <= SL_TRACK_FARTHEST))
      return FALSE;
  return box->corners[2] - box->corners[0] >= SL_KALMAN_SMALLEST
         && box->corners[3] - box->corners[1] >= SL_KALMAN_SMALLEST && !isnan (box->confidence);
}

static void
centre_and_size (const SlTrackBox *box, double measured[4])
{
  for (guint i = 0; i < 2; i++) {
    measured[i] = (box->corners[i] + box->corners[2 + i]) / 2;
    measured[2 + i] = box->corners[2 + i] - box->corners[i];
  }
}

static void
set_corners (SlTrackState *track)
{
  double corners[4];
  sl_kalman_box_corners (&track->box, corners);
  for (guint i = 0; i < 4; i++)
    track->corners[i] = (gfloat) corners[i];
}

/* Overlap above @least as a gain, 0 below. */
static gint32
overlap_gain (const gfloat a[4], const gfloat b[4], gfloat least)
{
  const gfloat w = MIN (a[2], b[2]) - MAX (a[0], b[0]), h = MIN (a[3], b[3]) - MAX (a[1], b[1]);
  if (!(w > 0) || !(h > 0))
    return 0;
  const gfloat both = w * h,
               all = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both;
  const gfloat iou = all > 0 ? MIN (both / all, 1) : 0;
  return iou > least ? 1 + (gint32) ((iou - least) * (SL_ASSIGNMENT_GAIN - 1)) : 0;
}

void
sl_track_reserve_gains (SlTracker *tracker, guint rows)
{
  const gsize needed = (gsize) rows * tracker->n_boxes;
  if (needed <= tracker->room)
    return;
  tracker->room = MAX (needed, 2 * tracker->room);
  g_free (tracker->gain);
  g_free (tracker->touching);
  tracker->gain = g_new (gint32, tracker->room);
  tracker->touching = g_new (SlTrackTouch, tracker->room);
}

static void
fill_gains (SlTracker *tracker, const SlTrackBox *boxes, double iou)
{
  sl_track_reserve_gains (tracker, tracker->n_waiting);
  tracker->n_touching = 0;
  for (guint t = 0; tracker->n_boxes > 0 && t < tracker->n_waiting; t++) {
    const SlTrackState *track = sl_track_at (tracker, tracker->waiting[t]);
    gint32 *gain = tracker->gain + (gsize) t * tracker->n_boxes;
    for (guint i = 0; i < tracker->n_boxes; i++) {
      const guint b = tracker->boxes[i];
      const gboolean alike = !tracker->settings.per_class || boxes[b].key == track->key;
      const gint32 overlap =
        alike ? overlap_gain (track->corners, tracker->corners[b], (gfloat) iou) : 0;
      gain[i] = track->lost && overlap > 0 ? 1 + (gint32) (LOST_SHARE * (overlap - 1)) : overlap;
      if (overlap > 0)
        tracker->touching[tracker->n_touching++] = (SlTrackTouch){ (guint16) t, (guint16) i };
    }
  }
}

/* The direction in which objects go decides, too. */
static void
add_directions (SlTracker *tracker, const SlTrackBox *boxes)
{
  for (gsize i = 0; i < tracker->n_touching; i++) {
    const SlTrackTouch *pair = &tracker->touching[i];
    const SlTrackState *track = sl_track_at (tracker, tracker->waiting[pair->object]);
    gint32 *gain = &tracker->gain[(gsize) pair->object * tracker->n_boxes + pair->box];
    double box[4];
    centre_and_size (&boxes[tracker->boxes[pair->box]], box);
    const double share = DIRECTION_SHARE * sl_observed_agrees (&track->observed, box[0], box[1]);
    *gain = MAX (1, (gint32) ((*gain + share * SL_ASSIGNMENT_GAIN) / (1 + DIRECTION_SHARE)));
  }
}

/* That @track was @measured as box @b, and how it looks. */
static void
remember (SlTracker *tracker, SlTrackState *track, const double measured[4], guint b)
{
  if (tracker->settings.observed)
    sl_observed_add (&track->observed, measured, &track->box);
  if (tracker->describe == NULL)
    return;
  memcpy (track->observed.box, measured, sizeof track->observed.box);
  if (tracker->look_of[b] != SL_TRACK_NONE)
    sl_track_learn (tracker, track, b);
}

void
sl_track_see (SlTracker *tracker, SlTrackState *track, const SlTrackBox *boxes, guint b)
{
  const SlTrackBox *box = &boxes[b];
  const SlKalmanBox before = track->box;
  double measured[4];
  centre_and_size (box, measured);
  if (tracker->settings.observed && track->unseen > 1 && track->observed.n > 0)
    sl_observed_catch_up (&track->observed, measured, track->unseen, &track->box);
  else
    sl_kalman_box_update (&track->box, measured);
  remember (tracker, track, measured, b);
  if (!track->lost && track->hits >= SETTLED)
    sl_camera_motion_add (&tracker->camera, &before, &track->box, measured);
  track->confidence = box->confidence;
  track->key = box->key;
  track->label_id = box->label_id;
  track->hits++;
  track->unseen = 0;
  track->lost = FALSE;
  track->seen_as = b;
}

void
sl_track_drop_matched (SlTracker *tracker)
{
  guint n_left = 0;
  for (guint i = 0; i < tracker->n_boxes; i++)
    if (tracker->boxes[i] != SL_TRACK_NONE)
      tracker->boxes[n_left++] = tracker->boxes[i];
  tracker->n_boxes = n_left;
}

/* Waiting tracks and their boxes by the gains, to @pairs. */
static void
solve (SlTracker *tracker)
{
  sl_assignment_solve (&tracker->assignment, tracker->gain, tracker->n_waiting, tracker->n_boxes,
                       tracker->pairs);
}

/* The same where @overlaps are known: an object and a box that overlap nothing else are a pair, and
 * only the gains of the others are solved. */
static void
solve_doubtful (SlTracker *tracker)
{
  SlTrackOverlaps *overlaps = &tracker->overlaps;
  guint rows[SL_TRACK_OBJECTS], columns[SL_TRACK_MOST], n_rows = 0, n_columns = 0;
  gint32 found[SL_TRACK_OBJECTS];
  const gsize n_boxes = tracker->n_boxes;
  for (guint t = 0; t < tracker->n_waiting; t++)
    tracker->pairs[t] = -1;
  for (gsize i = 0; i < tracker->n_touching; i++) {
    const SlTrackTouch *pair = &tracker->touching[i];
    if (overlaps->of_object[pair->object] != 1 || overlaps->of_box[pair->box] != 1)
      continue;
    tracker->pairs[pair->object] =
      tracker->gain[pair->object * n_boxes + pair->box] > 0 ? pair->box : -1;
    overlaps->of_object[pair->object] = overlaps->of_box[pair->box] = 0;
  }
  for (guint t = 0; t < tracker->n_waiting; t++)
    if (overlaps->of_object[t] > 0)
      rows[n_rows++] = t;
  for (guint i = 0; i < tracker->n_boxes; i++)
    if (overlaps->of_box[i] > 0)
      columns[n_columns++] = i;
  for (guint r = 0; r < n_rows; r++)
    for (guint c = 0; c < n_columns; c++)
      tracker->gain[(gsize) r * n_columns + c] = tracker->gain[rows[r] * n_boxes + columns[c]];
  sl_assignment_solve (&tracker->assignment, tracker->gain, n_rows, n_columns, found);
  for (guint r = 0; r < n_rows; r++)
    tracker->pairs[rows[r]] = found[r] >= 0 ? (gint32) columns[found[r]] : -1;
}

/* Waiting tracks see their boxes by @pairs; takes both out of their lists. */
static void
match_pairs (SlTracker *tracker, const SlTrackBox *boxes)
{
  for (guint t = 0; t < tracker->n_waiting; t++) {
    if (tracker->pairs[t] < 0)
      continue;
    sl_track_see (tracker, sl_track_at (tracker, tracker->waiting[t]), boxes,
                  tracker->boxes[tracker->pairs[t]]);
    tracker->boxes[tracker->pairs[t]] = SL_TRACK_NONE;
  }
  sl_track_drop_matched (tracker);
}

/* A round: matches waiting tracks with boxes that overlap them by more than @iou. */
static void
match_round (SlTracker *tracker, const SlTrackBox *boxes, double iou)
{
  if (tracker->n_waiting == 0 || tracker->n_boxes == 0)
    return;
  fill_gains (tracker, boxes, iou);
  if (tracker->settings.observed)
    add_directions (tracker, boxes);
  solve (tracker);
  match_pairs (tracker, boxes);
}

/* The first round: all confirmed objects and confident boxes. */
static void
match_first (SlTracker *tracker, const SlTrackBox *boxes)
{
  sl_track_wait (tracker, TRUE, TRUE);
  if (tracker->describe == NULL) {
    match_round (tracker, boxes, tracker->settings.iou);
    return;
  }
  fill_gains (tracker, boxes, tracker->settings.iou);
  if (tracker->settings.observed)
    add_directions (tracker, boxes);
  sl_track_look (tracker, boxes);
  solve_doubtful (tracker);
  match_pairs (tracker, boxes);
}

void
sl_track_wait (SlTracker *tracker, gboolean confirmed, gboolean lost)
{
  tracker->n_waiting = 0;
  for (guint t = 0; t < tracker->tracks->len; t++) {
    const SlTrackState *track = sl_track_at (tracker, t);
    if (track->seen_as == SL_TRACK_NONE && (track->id != 0) == confirmed && (lost || !track->lost))
      tracker->waiting[tracker->n_waiting++] = t;
  }
}

/* Moves objects @steps frames on; those unseen for too long until now stay behind. */
static void
predict (SlTracker *tracker, guint steps)
{
  sl_track_age_memory (tracker, steps);
  const guint most = (guint) tracker->settings.max_age + 1;
  guint kept = 0;
  for (guint t = 0; t < tracker->tracks->len; t++) {
    SlTrackState *track = sl_track_at (tracker, t);
    if (steps > most - MIN (track->unseen, most)) {
      track->unseen += MIN (steps, G_MAXUINT - track->unseen);
      sl_track_forget (tracker, track);
      continue;
    }
    for (guint i = 0; i < steps; i++)
      sl_kalman_box_predict (&track->box, track->lost);
    track->unseen += steps;
    track->look_age += steps;
    track->seen_as = SL_TRACK_NONE;
    set_corners (track);
    if (kept != t)
      *sl_track_at (tracker, kept) = *track;
    kept++;
  }
  g_array_set_size (tracker->tracks, kept);
}

/* Removes the tracks that were unseen for too long. When the detector looked, it also removes new
 * tracks that it missed. */
static void
bury (SlTracker *tracker, gboolean looked)
{
  guint kept = 0;
  for (guint t = 0; t < tracker->tracks->len; t++) {
    SlTrackState *track = sl_track_at (tracker, t);
    const gboolean missed = looked && track->seen_as == SL_TRACK_NONE;
    if (track->unseen > (guint) tracker->settings.max_age || (missed && track->id == 0)) {
      sl_track_forget (tracker, track);
      continue;
    }
    track->lost = track->lost || missed;
    if (kept != t)
      *sl_track_at (tracker, kept) = *track;
    kept++;
  }
  g_array_set_size (tracker->tracks, kept);
}

static void
confirm (SlTracker *tracker, SlTrackState *track)
{
  if (track->id != 0 || (tracker->started && track->hits < (guint) tracker->settings.min_hits))
    return;
  track->id = tracker->next_id;
  tracker->next_id = tracker->next_id < G_MAXINT32 ? tracker->next_id + 1 : 1;
}

static void
add_tracks (SlTracker *tracker, const SlTrackBox *boxes, guint64 time)
{
  for (guint i = 0; i < tracker->n_boxes && tracker->tracks->len < SL_TRACK_OBJECTS; i++) {
    const SlTrackBox *box = &boxes[tracker->boxes[i]];
    SlTrackState track = { .confidence = box->confidence,
                           .key = box->key,
                           .label_id = box->label_id,
                           .since = time,
                           .hits = 1,
                           .seen_as = tracker->boxes[i] };
    double measured[4];
    if (box->confidence < MAX (tracker->settings.fresh, tracker->settings.high))
      continue;
    centre_and_size (box, measured);
    sl_kalman_box_init (&track.box, measured);
    set_corners (&track);
    remember (tracker, &track, measured, track.seen_as);
    g_array_append_val (tracker->tracks, track);
  }
}

/* Sorts boxes into confident and unsure ones. */
static void
sort_boxes (SlTracker *tracker, const SlTrackBox *boxes, guint n)
{
  tracker->n_boxes = tracker->n_late = 0;
  for (guint b = 0; b < n; b++) {
    if (!is_box (&boxes[b]))
      continue;
    for (guint i = 0; i < 4; i++)
      tracker->corners[b][i] = (gfloat) boxes[b].corners[i];
    if (boxes[b].confidence >= tracker->settings.high)
      tracker->boxes[tracker->n_boxes++] = b;
    else if (boxes[b].confidence >= tracker->settings.low)
      tracker->late[tracker->n_late++] = b;
  }
}

static void
report (SlTracker *tracker, const SlTrackBox *boxes, guint n, SlTrackMatch *matches)
{
  for (guint b = 0; b < n; b++)
    matches[b] = (SlTrackMatch){
      is_box (&boxes[b]) && boxes[b].confidence < tracker->settings.high ? SL_TRACK_UNSURE : 0, 0
    };
  for (guint t = 0; t < tracker->tracks->len; t++) {
    SlTrackState *track = sl_track_at (tracker, t);
    if (track->seen_as == SL_TRACK_NONE)
      continue;
    confirm (tracker, track);
    matches[track->seen_as] = (SlTrackMatch){ track->id, track->since };
  }
}

/* Unsure boxes for objects that were seen until now and found nothing better; the other boxes left
 * wait meanwhile. */
static void
match_unsure (SlTracker *tracker, const SlTrackBox *boxes)
{
  guint rest[SL_TRACK_MOST];
  const guint n_rest = tracker->n_boxes;
  memcpy (rest, tracker->boxes, n_rest * sizeof *rest);
  memcpy (tracker->boxes, tracker->late, tracker->n_late * sizeof *rest);
  tracker->n_boxes = tracker->n_late;
  sl_track_wait (tracker, TRUE, FALSE);
  match_round (tracker, boxes, tracker->settings.low_iou);
  memcpy (tracker->boxes, rest, n_rest * sizeof *rest);
  tracker->n_boxes = n_rest;
}

/* Moves the objects that found no box yet as the camera moved. Their boxes of this frame are where
 * the others are; their state changes as if they had been seen with the same surprise. Returns
 * whether the camera moved. */
static gboolean
follow_camera (SlTracker *tracker)
{
  double common[SL_CAMERA_VALUES][2];
  sl_track_wait (tracker, TRUE, TRUE);
  if (tracker->n_waiting == 0 || !sl_camera_motion_find (&tracker->camera, common))
    return FALSE;
  for (guint t = 0; t < tracker->n_waiting; t++) {
    SlTrackState *track = sl_track_at (tracker, tracker->waiting[t]);
    for (guint k = 0; k < 2; k++) {
      track->box.axis[k].position += common[SL_CAMERA_POSITION][k];
      track->box.axis[k].velocity += common[SL_CAMERA_VELOCITY][k];
      track->corners[k] += (gfloat) common[SL_CAMERA_SURPRISE][k];
      track->corners[2 + k] += (gfloat) common[SL_CAMERA_SURPRISE][k];
    }
  }
  return TRUE;
}

void
sl_tracker_update (SlTracker *tracker, const SlTrackBox *boxes, guint n, guint steps, guint64 time,
                   SlTrackMatch *matches)
{
  for (guint b = SL_TRACK_MOST; b < n; b++)
    matches[b] = (SlTrackMatch){ 0, 0 };
  n = MIN (n, SL_TRACK_MOST);
  predict (tracker, MAX (steps, 1));
  sort_boxes (tracker, boxes, n);
  tracker->camera.n = 0;
  match_first (tracker, boxes);
  if (follow_camera (tracker))
    match_round (tracker, boxes, tracker->settings.iou);
  if (tracker->describe != NULL)
    sl_track_find_again (tracker, boxes);
  match_unsure (tracker, boxes);
  sl_track_wait (tracker, FALSE, TRUE);
  match_round (tracker, boxes, UNCONFIRMED_IOU);
  bury (tracker, TRUE);
  add_tracks (tracker, boxes, time);
  report (tracker, boxes, n, matches);
  tracker->started = tracker->started || tracker->tracks->len > 0;
}

static void
shift (SlTrackState *track, const double by[2])
{
  for (guint k = 0; k < 2; k++)
    track->box.axis[k].position += by[k];
  sl_observed_shift (&track->observed, by);
}

void
sl_tracker_shift (SlTracker *tracker, double x, double y)
{
  const double by[2] = { x, y };
  for (guint t = 0; t < tracker->tracks->len; t++)
    shift (sl_track_at (tracker, t), by);
  for (guint i = 0; i < tracker->memory->len; i++)
    shift (&g_array_index (tracker->memory, SlTrackState, i), by);
}

void
sl_tracker_skip (SlTracker *tracker, guint steps)
{
  predict (tracker, MAX (steps, 1));
  bury (tracker, FALSE);
}

guint
sl_tracker_expect (const SlTracker *tracker, SlTracked *out, guint room)
{
  guint n = 0;
  for (guint t = 0; t < tracker->tracks->len && n < room; t++) {
    const SlTrackState *track = sl_track_at (tracker, t);
    if (track->lost || track->id == 0)
      continue;
    out[n] = (SlTracked){ { { 0 }, track->confidence, track->key, track->label_id },
                          { track->id, track->since } };
    sl_kalman_box_corners (&track->box, out[n].box.corners);
    n++;
  }
  return n;
}
