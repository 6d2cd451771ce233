/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the objects of the last frames were, so that who steps through a clip sees the predictions
 * of each frame. Bounded: 16 bytes an object, SL_TRAIL_CELLS of them. One thread at a time; a part
 * is for another one.
 */
#pragma once

#include <gst/gst.h>

#include "postprocess/predictions/prediction.h"

/** Cells of 16 bytes: an object is one, and a frame one more. */
#define SL_TRAIL_CELLS 32768
/** Names of classes; objects of others have none. */
#define SL_TRAIL_LABELS 255

/** SlTrail: zeroed at first. @first: of the oldest cell in @cells; @cut: frames are missing since
 * it was full; @empty: the newest frame has no objects */
typedef struct
{
  GArray *cells;
  guint first;
  GPtrArray *labels;
  gboolean cut, empty;
} SlTrail;

/** SlTrailPart: frames of a clip. */
typedef struct _SlTrailPart SlTrailPart;

void sl_trail_init (SlTrail *trail);
void sl_trail_clear (SlTrail *trail);
/** sl_trail_forget: as after sl_trail_init(). */
void sl_trail_forget (SlTrail *trail);
/** sl_trail_put: a frame of running time @time, behind the last one. @prediction: (nullable): it
 * has no objects; of such frames in a row the first is kept */
void sl_trail_put (SlTrail *trail, GstClockTime time, const SlPredictionView *prediction);
/** sl_trail_trim: frames before @since are not needed any more. */
void sl_trail_trim (SlTrail *trail, GstClockTime since);
/** sl_trail_part: (transfer full): a copy of the frames from @from to @to. */
SlTrailPart *sl_trail_part (const SlTrail *trail, GstClockTime from, GstClockTime to);
void sl_trail_part_free (SlTrailPart *part);
/** sl_trail_part_append_json: as docs/recording.md says. @zero: running time of the clip's first
 * frame */
void sl_trail_part_append_json (GString *out, const SlTrailPart *part, GstClockTime zero);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTrailPart, sl_trail_part_free)
