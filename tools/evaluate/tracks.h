/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Tracked boxes against true ones: HOTA (J. Luiten et al., "HOTA: A Higher Order Metric for
 * Evaluating Multi-Object Tracking", IJCV 2021), CLEAR MOT (K. Bernardin and R. Stiefelhagen, 2008)
 * and IDF1 (E. Ristani et al., 2016). Where the papers leave something open, the figures are those
 * of TrackEval, with which the MOTChallenge is scored.
 */
#pragma once

#include "tools/evaluate/tracked_box.h"

/** Most boxes of a frame, and the most pairs of a true object and a tracked one. */
#define SL_TRACK_BOXES_MOST 1000
#define SL_TRACK_PAIRS_MOST (1u << 22)

/** sl_track_figures: @truth, @found: (element-type SlTrackedBox): both are sorted by frame, and
 * what is ignored is removed. FALSE where the two have more than SL_TRACK_PAIRS_MOST pairs of
 * objects; frames have at most SL_TRACK_BOXES_MOST boxes each. Without true boxes all is 0. */
gboolean sl_track_figures (GArray *truth, GArray *found, SlTrackFigures *figures);
