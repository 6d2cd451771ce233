/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What trackers are measured by: boxes with ids, and the figures. */
#pragma once

#include "tools/evaluate/overlap.h"

/**
 * SlTrackedBox: the box of an object in a frame. An id occurs once in a frame.
 * @ignored: only of true boxes: it does not count
 * @absorbs: only of ignored boxes: a tracked box on it does not count either, as on reflections
 */
typedef struct
{
  guint32 frame;
  gint32 id;
  SlEvalBox box;
  gboolean ignored, absorbs;
} SlTrackedBox;

/**
 * SlTrackFigures:
 * @hota, @det_a, @ass_a: HOTA, and the accuracy of detection and of association, means over the
 * overlaps 0.05, 0.10, ... 0.95
 * @det_re, @det_pr, @ass_re, @ass_pr: recall and precision of both
 * @loc_a: mean overlap of matched boxes, a mean over the same overlaps
 * @mota, @motp, @idf1, @id_p, @id_r: at an overlap of at least 0.5
 * @truths, @found: boxes that count; @objects, @tracks: ids
 * @matched, @switches, @fragments: of CLEAR MOT
 * @mostly_tracked, @mostly_lost: objects matched in more than 0.8 and less than 0.2 of their frames
 */
typedef struct
{
  gdouble hota, det_a, ass_a, det_re, det_pr, ass_re, ass_pr, loc_a;
  gdouble mota, motp, idf1, id_p, id_r;
  guint truths, found, objects, tracks;
  guint matched, switches, fragments, mostly_tracked, mostly_lost;
} SlTrackFigures;
