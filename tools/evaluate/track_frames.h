/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two sets of tracked boxes frame by frame, with ids as numbers from 0 on. */
#pragma once

#include "tools/evaluate/tracked_box.h"

/** SlTrackSide: @number: for each box the number of its object; @count: boxes of each object. */
typedef struct
{
  const SlTrackedBox *boxes;
  guint n, objects;
  guint *number, *count;
} SlTrackSide;

/** SlTrackFrame: true boxes from @truth on and tracked boxes from @found on. */
typedef struct
{
  guint truth, n_truth, found, n_found;
} SlTrackFrame;

/** SlTrackFrames: @similarity, @gain: room for the overlaps of a frame, true boxes are rows;
 * @match: for each row its column. @frames: (element-type SlTrackFrame). */
typedef struct
{
  SlTrackSide truth, found;
  GArray *frames;
  gdouble *similarity, *gain;
  gint *match;
} SlTrackFrames;

void sl_track_frames_init (SlTrackFrames *self, GArray *truth, GArray *found);
void sl_track_frames_clear (SlTrackFrames *self);
/** sl_track_frames_compare: fills @similarity with the overlaps of frame @i. */
const SlTrackFrame *sl_track_frames_compare (SlTrackFrames *self, guint i);
/** sl_track_frames_match: fills @match by @gain. */
void sl_track_frames_match (SlTrackFrames *self, const SlTrackFrame *frame);
/** sl_hota: HOTA's figures. */
void sl_hota (SlTrackFrames *self, SlTrackFigures *figures);
