/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Compares tracked objects with zones and lines: which objects entered and left, crossed a line in
 * which direction, stay, and how many there are. Objects are identified by their ids. Call it once
 * for each frame on which a model ran; one thread at a time.
 *
 * Noise of boxes must not change counts. An object changes its zone, or its side of a line, only
 * when its anchor is beyond the edge by a margin, in several frames. Until then, crossings of the
 * line's segment are added up with their signs, so that the sum gives the direction.
 */
#pragma once

#include "postprocess/analyze/regions.h"
#include "postprocess/predictions/prediction.h"

/** Most objects that are known at a time; more objects are ignored. */
#define SL_ANALYZE_MOST 512

/**
 * SlAnalyzerSettings:
 * @anchor: default anchor of regions
 * @margin: distance beyond an edge that counts as crossed, 0..1 of the frame's shorter side
 * @confirm: number of frames in a row in which an object must be beyond an edge, at least 1
 * @patience: seconds that an object may be unseen before it counts as gone
 * @relink: seconds in which a lost object may continue under another id: when a new object of its
 * class and size appears at its place; below 0 = never
 * @still: how far an object may move and still count as not moving, in mean sides of its box
 * @interval: seconds of an interval of occupancy; 0 = no intervals
 * @heat_columns: columns of the heat map, 0..SL_HEAT_MOST; 0 = no heat map
 * @heat_half_life: half-life of the heat map in seconds; 0 = it does not fade
 */
typedef struct
{
  gint anchor, confirm; /* an SlAnchor */
  gdouble margin, patience, relink, still, interval;
  gint heat_columns;
  gdouble heat_half_life;
} SlAnalyzerSettings;

extern const SlAnalyzerSettings sl_analyzer_defaults;

typedef struct _SlAnalyzer SlAnalyzer;

/** sl_analyzer_new: @regions (transfer full): regions that were checked before. */
SlAnalyzer *sl_analyzer_new (SlRegions *regions, const SlAnalyzerSettings *settings);
/** sl_analyzer_free: NULL is legal. */
void sl_analyzer_free (SlAnalyzer *analyzer);
/** sl_analyzer_set_size: sets the size of the following frames, in pixels. Call it before the first
 * frame. When the size changes, objects are forgotten. */
void sl_analyzer_set_size (SlAnalyzer *analyzer, gint width, gint height);
/** sl_analyzer_forget: forgets all objects: they leave their zones with the next update. For
 * streams that jump in time. */
void sl_analyzer_forget (SlAnalyzer *analyzer);
/** sl_analyzer_set_utc: sets the time of the next frame to @utc, microseconds since 1970. Where the
 * start of the counts is unknown, this is the start. */
void sl_analyzer_set_utc (SlAnalyzer *analyzer, gint64 utc);
/** sl_analyzer_update: processes a frame at @time, in nanoseconds, with @n objects. Objects without
 * an id are ignored. When the time runs backwards, objects are forgotten. Returns: (transfer none):
 * the state after it with the events of this frame; valid until the next update. */
const SlAnalysis *sl_analyzer_update (SlAnalyzer *analyzer, const SlObjectView *objects, guint n,
                                      guint64 time);
/** sl_analyzer_last: (transfer none): the result of the last update, or the state before the first
 * update. */
const SlAnalysis *sl_analyzer_last (const SlAnalyzer *analyzer);
/** sl_analyzer_save: (transfer full): the state as text: counts, times, objects; not the heat map.
 */
char *sl_analyzer_save (const SlAnalyzer *analyzer);
/** sl_analyzer_restore: restores the state from @text of sl_analyzer_save(). Call it before the
 * first update. Regions of the same kind and name get their counts back. A saved object continues
 * when, at most a minute later, an object of its class and similar size is near its place. FALSE
 * with @error set (SL_ERROR_FORMAT) when @text is damaged or is not such a state; then nothing has
 * changed. */
gboolean sl_analyzer_restore (SlAnalyzer *analyzer, const char *text, GError **error);
/** sl_analyzer_replace_regions: counts for @regions (transfer full), checked before, from now on.
 * Regions of the same kind and name keep their counts, or of the same place if they have a new
 * name, and objects stay inside them or on their side until the next frames show otherwise. */
void sl_analyzer_replace_regions (SlAnalyzer *analyzer, SlRegions *regions);
/** sl_analyzer_regions: (transfer none): valid until they are replaced. */
const SlRegions *sl_analyzer_regions (const SlAnalyzer *analyzer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlAnalyzer, sl_analyzer_free)
