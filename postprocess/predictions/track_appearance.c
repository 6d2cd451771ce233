/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What embeddings add to the tracker, after BoT-SORT (N. Aharon et al., arXiv:2206.14651). Boxes
 * are described only where motion leaves a doubt: a box that overlaps several objects, none, or a
 * lost one, and an object that overlaps several boxes. How alike they are is added to their
 * overlap. Objects that no box overlaps are looked for within their reach, which grows while they
 * are unseen.
 */
#include <math.h>
#include <string.h>

#include "postprocess/predictions/track_private.h"

/* What appearance counts, of an overlap. */
#define SHARE 0.5f
/* Where nothing is seen of an object, its reach: shares of its height, at once and for a frame. */
#define REACH 0.5
#define REACH_A_FRAME 0.12
/* Sizes of one object differ by this factor at most. */
#define SIZES 1.8
/* How much of its reach costs an object, of its cosine, so that of two alike the nearer one wins.
 */
#define DISTANCE_SHARE 0.3
/* By how much of itself each look-alike in the frame brings an object's reach down. */
#define ALIKE_SHARE 0.5
/* An object that is only remembered must look more alike: this share of what @look leaves to 1. */
#define REMEMBERED_SHARE 0.4
/* A box is covered where others hide more of it. */
#define COVERED 0.25

/* Whether other confident boxes leave enough of box @b to be seen. */
static gboolean
is_clear (const SlTracker *tracker, guint b)
{
  const gfloat *a = tracker->corners[b];
  const gfloat most = COVERED * (a[2] - a[0]) * (a[3] - a[1]);
  for (guint i = 0; i < tracker->n_boxes; i++) {
    const gfloat *c = tracker->corners[tracker->boxes[i]];
    const gfloat w = MIN (a[2], c[2]) - MAX (a[0], c[0]), h = MIN (a[3], c[3]) - MAX (a[1], c[1]);
    if (w > 0 && h > 0 && w * h > most && tracker->boxes[i] != b)
      return FALSE;
  }
  return TRUE;
}

static const gfloat *
look_of (const SlTracker *tracker, guint b)
{
  return tracker->look_of[b] != SL_TRACK_NONE
           ? tracker->looks + (gsize) tracker->look_of[b] * tracker->appearance.length
           : NULL;
}

static void
count (SlTracker *tracker)
{
  SlTrackOverlaps *overlaps = &tracker->overlaps;
  memset (overlaps->of_box, 0, tracker->n_boxes * sizeof *overlaps->of_box);
  memset (overlaps->of_object, 0, tracker->n_waiting * sizeof *overlaps->of_object);
  for (gsize i = 0; i < tracker->n_touching; i++) {
    const SlTrackTouch *pair = &tracker->touching[i];
    overlaps->of_object[pair->object]++;
    overlaps->of_box[pair->box]++;
    overlaps->last[pair->box] = pair->object;
  }
}

/* Chooses the boxes to describe: those in doubt, then those whose object changes with time. */
static guint
choose (const SlTracker *tracker, guint chosen[SL_TRACK_MOST])
{
  const SlTrackOverlaps *overlaps = &tracker->overlaps;
  const guint most = (guint) CLAMP (tracker->settings.most_looks, 1, SL_TRACK_MOST),
              old = (guint) tracker->settings.look_again;
  guint stale[SL_TRACK_MOST], n = 0, n_stale = 0;
  for (guint i = 0; i < tracker->n_boxes && n < most; i++) {
    const guint t = overlaps->last[i];
    const SlTrackState *only = overlaps->of_box[i] == 1 && overlaps->of_object[t] == 1
                                 ? sl_track_at (tracker, tracker->waiting[t])
                                 : NULL;
    if (only == NULL || only->lost || only->look == SL_APPEARANCE_NONE)
      chosen[n++] = tracker->boxes[i];
    else if (only->look_age >= old || !only->look_clear)
      stale[n_stale++] = tracker->boxes[i];
  }
  for (guint i = 0; i < n_stale && n < most; i++)
    chosen[n++] = stale[i];
  return n;
}

static void
describe (SlTracker *tracker, const SlTrackBox *boxes)
{
  SlAppearance *appearance = &tracker->appearance;
  const guint *chosen = tracker->described;
  const gfloat *last = NULL;
  for (guint i = 0; i < tracker->n_described; i++)
    tracker->look_of[chosen[i]] = SL_TRACK_NONE;
  const guint n = tracker->n_described = choose (tracker, tracker->described);
  if (n == 0)
    return;
  tracker->describe (tracker->describe_data, boxes, chosen, n, tracker->looks);
  for (guint i = 0; i < n; i++) {
    gfloat *look = tracker->looks + (gsize) i * appearance->length;
    if (!sl_appearance_unit (look, appearance->length))
      continue;
    tracker->look_of[chosen[i]] = i;
    tracker->look_clear[i] = is_clear (tracker, chosen[i]);
    if (!tracker->look_clear[i])
      continue;
    if (last != NULL)
      sl_appearance_tell_apart (appearance, last, look);
    last = look;
  }
  for (guint i = 0; i < n && sl_appearance_is_blind (appearance); i++)
    tracker->look_of[chosen[i]] = SL_TRACK_NONE;
}

void
sl_track_look (SlTracker *tracker, const SlTrackBox *boxes)
{
  count (tracker);
  describe (tracker, boxes);
  for (gsize i = 0; i < tracker->n_touching && tracker->n_described > 0; i++) {
    const SlTrackTouch *pair = &tracker->touching[i];
    const gfloat *look = look_of (tracker, tracker->boxes[pair->box]);
    if (look == NULL)
      continue;
    const SlTrackState *track = sl_track_at (tracker, tracker->waiting[pair->object]);
    gint32 *gain = &tracker->gain[(gsize) pair->object * tracker->n_boxes + pair->box];
    if (track->look == SL_APPEARANCE_NONE)
      continue;
    const gfloat more = sl_appearance_cosine (&tracker->appearance, track->look, look)
                        - (gfloat) tracker->settings.look;
    *gain = CLAMP (*gain + (gint32) (SHARE * SL_ASSIGNMENT_GAIN * more), 0, SL_ASSIGNMENT_GAIN);
  }
}

/* Coordinates are at most SL_TRACK_FARTHEST, so this is finite. */
static double
squared (double x, double y)
{
  return x * x + y * y;
}

/* How far box @b is from where @track may be, as a share of its reach; above 1 = out of reach. */
static double
distance (const SlTracker *tracker, const SlTrackState *track, guint b)
{
  const gfloat *corners = tracker->corners[b];
  const double x = (corners[0] + corners[2]) / 2, y = (corners[1] + corners[3]) / 2,
               height = corners[3] - corners[1], *seen = track->observed.box;
  if (height > SIZES * seen[3] || seen[3] > SIZES * height)
    return 2;
  const double from_seen = squared (x - seen[0], y - seen[1]),
               from_expected =
                 squared (x - track->box.axis[0].position, y - track->box.axis[1].position);
  return sqrt (MIN (from_seen, from_expected))
         / (MAX (height, seen[3]) * (REACH + REACH_A_FRAME * track->unseen));
}

/* How many objects of the frame look like box @b already: its look-alikes. */
static guint
count_alike (const SlTracker *tracker, guint b)
{
  const gfloat *look = look_of (tracker, b);
  guint n = 0;
  for (guint t = 0; t < tracker->tracks->len && look != NULL; t++) {
    const SlTrackState *track = sl_track_at (tracker, t);
    n += track->seen_as != SL_TRACK_NONE
         && sl_appearance_cosine (&tracker->appearance, track->look, look)
              >= (gfloat) tracker->settings.look;
  }
  return n;
}

/* @alike: (inout): how many others look like box @b, counted when it matters first: the more, the
 * less its looks say; SL_TRACK_NONE = not counted yet. */
static gint32
gain_of (const SlTracker *tracker, const SlTrackState *track, gboolean remembered,
         const SlTrackBox *boxes, guint b, guint *alike)
{
  const gfloat *look = look_of (tracker, b);
  if (look == NULL || track->look == SL_APPEARANCE_NONE
      || (tracker->settings.per_class && boxes[b].key != track->key))
    return 0;
  const double alone = distance (tracker, track, b);
  if (!(alone <= 1))
    return 0;
  if (*alike == SL_TRACK_NONE)
    *alike = count_alike (tracker, b);
  const double far = alone * (1 + ALIKE_SHARE * *alike);
  if (!(far <= 1))
    return 0;
  const double cosine = sl_appearance_cosine (&tracker->appearance, track->look, look),
               least = tracker->settings.look
                       + (remembered ? REMEMBERED_SHARE * (1 - tracker->settings.look) : 0);
  if (!(cosine >= least))
    return 0;
  return (gint32) CLAMP ((cosine - DISTANCE_SHARE * far) * SL_ASSIGNMENT_GAIN, 1,
                         SL_ASSIGNMENT_GAIN);
}

static SlTrackState *
remembered_at (const SlTracker *tracker, guint i)
{
  return &g_array_index (tracker->memory, SlTrackState, i);
}

/* From now on remembered objects have all frames in @unseen. */
static void
settle_memory (SlTracker *tracker)
{
  for (guint i = 0; i < tracker->memory->len; i++)
    remembered_at (tracker, i)->unseen += tracker->memory_steps;
  tracker->memory_steps = 0;
}

/* Row @row of the round: waiting objects, then remembered ones. */
static SlTrackState *
row_at (const SlTracker *tracker, guint row)
{
  return row < tracker->n_waiting ? sl_track_at (tracker, tracker->waiting[row])
                                  : remembered_at (tracker, row - tracker->n_waiting);
}

/* The object of row @row is box @b; a remembered one is tracked again. */
static void
take_back (SlTracker *tracker, guint row, const SlTrackBox *boxes, guint b)
{
  SlTrackState *track = row_at (tracker, row);
  if (row >= tracker->n_waiting) {
    const SlTrackState kept = *track;
    track->id = 0;
    track->look = SL_APPEARANCE_NONE;
    g_array_append_val (tracker->tracks, kept);
    track = sl_track_at (tracker, tracker->tracks->len - 1);
  }
  sl_track_see (tracker, track, boxes, b);
}

static void
clean_memory (SlTracker *tracker)
{
  for (guint i = tracker->memory->len; i > 0; i--)
    if (remembered_at (tracker, i - 1)->id == 0)
      g_array_remove_index (tracker->memory, i - 1);
}

/* Fills the gains of @rows and all boxes. Whether one of them is above 0: mostly none is. */
static gboolean
fill_gains (SlTracker *tracker, const SlTrackBox *boxes, guint rows)
{
  gint32 any = 0;
  settle_memory (tracker);
  sl_track_reserve_gains (tracker, rows);
  for (guint i = 0; i < tracker->n_boxes; i++) {
    guint alike = SL_TRACK_NONE;
    for (guint row = 0; row < rows; row++) {
      const gint32 gain = gain_of (tracker, row_at (tracker, row), row >= tracker->n_waiting, boxes,
                                   tracker->boxes[i], &alike);
      tracker->gain[(gsize) row * tracker->n_boxes + i] = gain;
      any |= gain;
    }
  }
  return any > 0;
}

void
sl_track_find_again (SlTracker *tracker, const SlTrackBox *boxes)
{
  if (tracker->n_boxes == 0 || tracker->n_described == 0)
    return;
  sl_track_wait (tracker, TRUE, TRUE);
  const guint rows = tracker->n_waiting + tracker->memory->len;
  if (rows == 0 || !fill_gains (tracker, boxes, rows))
    return;
  sl_assignment_solve (&tracker->assignment, tracker->gain, rows, tracker->n_boxes, tracker->pairs);
  for (guint row = 0; row < rows; row++) {
    if (tracker->pairs[row] < 0
        || (row >= tracker->n_waiting && tracker->tracks->len >= SL_TRACK_OBJECTS))
      continue;
    take_back (tracker, row, boxes, tracker->boxes[tracker->pairs[row]]);
    tracker->boxes[tracker->pairs[row]] = SL_TRACK_NONE;
  }
  clean_memory (tracker);
  sl_track_drop_matched (tracker);
}

void
sl_track_learn (SlTracker *tracker, SlTrackState *track, guint b)
{
  const gfloat *look = look_of (tracker, b);
  const gboolean clear = tracker->look_clear[tracker->look_of[b]];
  if (track->look != SL_APPEARANCE_NONE && clear && track->look_clear) {
    sl_appearance_learn (&tracker->appearance, track->look, look);
  } else if (track->look == SL_APPEARANCE_NONE || (clear && !track->look_clear)) {
    sl_appearance_give_back (&tracker->appearance, track->look);
    track->look = sl_appearance_take (&tracker->appearance, look);
    track->look_clear = clear;
  } else {
    return;
  }
  track->look_age = 0;
}

void
sl_track_forget (SlTracker *tracker, const SlTrackState *track)
{
  if (track->look == SL_APPEARANCE_NONE)
    return;
  if (track->id == 0 || track->unseen > (guint) tracker->settings.remember) {
    sl_appearance_give_back (&tracker->appearance, track->look);
    return;
  }
  if (tracker->memory->len == SL_TRACK_REMEMBERED) {
    sl_appearance_give_back (&tracker->appearance, remembered_at (tracker, 0)->look);
    g_array_remove_index (tracker->memory, 0);
  }
  settle_memory (tracker);
  tracker->memory_unseen = MAX (tracker->memory_unseen, track->unseen);
  g_array_append_vals (tracker->memory, track, 1);
}

void
sl_track_age_memory (SlTracker *tracker, guint steps)
{
  const guint most = (guint) tracker->settings.remember;
  guint kept = 0;
  if (steps <= most - MIN (tracker->memory_unseen, most)) {
    tracker->memory_steps += steps;
    tracker->memory_unseen += steps;
    return;
  }
  settle_memory (tracker);
  tracker->memory_unseen = 0;
  for (guint i = 0; i < tracker->memory->len; i++) {
    SlTrackState *track = remembered_at (tracker, i);
    if (steps > most - MIN (track->unseen, most)) {
      sl_appearance_give_back (&tracker->appearance, track->look);
      continue;
    }
    track->unseen += steps;
    tracker->memory_unseen = MAX (tracker->memory_unseen, track->unseen);
    if (kept != i)
      *remembered_at (tracker, kept) = *track;
    kept++;
  }
  g_array_set_size (tracker->memory, kept);
}

const gfloat *
sl_tracker_take_look (SlTracker *tracker, guint box)
{
  SlTrackState *track = NULL;
  for (guint t = 0; t < tracker->tracks->len && track == NULL; t++)
    if (sl_track_at (tracker, t)->seen_as == box)
      track = sl_track_at (tracker, t);
  if (track == NULL || track->id == 0 || track->look == SL_APPEARANCE_NONE || box >= SL_TRACK_MOST)
    return NULL;
  const gfloat *look = look_of (tracker, box);
  if (look != NULL && !tracker->look_clear[tracker->look_of[box]])
    look = NULL;
  if (look == NULL && !track->look_told && track->look_clear)
    look = sl_appearance_mean (&tracker->appearance, track->look);
  track->look_told = track->look_told || look != NULL;
  return look;
}
