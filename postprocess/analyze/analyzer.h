/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Tracked objects against zones and lines: who entered and left, who crossed which way, who stays, how many there are. Objects are known
 * by their ids. Called once a frame that was looked at; one thread at a time.
 *
 * What a box's noise could cause does not count: a zone or the side of a line changes only when the anchor is beyond the edge by a margin,
 * more than once.
 * In between, passes through a line's segment are added up with their signs, so what counts in the end is the way that was gone.
 */
#ifndef SL_ANALYZE_ANALYZER_H
#define SL_ANALYZE_ANALYZER_H

#include "postprocess/analyze/regions.h"
#include "postprocess/predictions/prediction.h"

G_BEGIN_DECLS

/** Most objects known at once; further ones are not looked at. */
#define SL_ANALYZE_MOST 512

/**
 * SlAnalyzerSettings:
 * @anchor: of regions that name none
 * @margin: how far beyond an edge counts, 0..1 of the frame's shorter side
 * @confirm: how often in a row an object must be seen beyond an edge for it to count, at least 1
 * @patience: seconds that an object may be unseen before it counts as gone
 * @relink: seconds after which an object that is lost goes on under another id, when by then a new one of its class and size has appeared
 *   where it was; below 0 = never
 * @still: how far an object that does not move may move, in mean sides of its box
 * @interval: seconds of an interval of occupancy; 0 = none
 * @heat_columns: of the heat map, 0..SL_HEAT_MOST; 0 = none
 * @heat_half_life: seconds after which half of it has faded; 0 = never
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

/** sl_analyzer_new: @regions (transfer full) are checked. */
SlAnalyzer *sl_analyzer_new (SlRegions *regions, const SlAnalyzerSettings *settings);
/** sl_analyzer_free: NULL is legal. */
void sl_analyzer_free (SlAnalyzer *analyzer);
/** sl_analyzer_set_size: of frames from now on, before the first; where it differs, objects are forgotten. */
void sl_analyzer_set_size (SlAnalyzer *analyzer, gint width, gint height);
/** sl_analyzer_forget: objects are gone: they leave their zones with the next update. For streams that jump. */
void sl_analyzer_forget (SlAnalyzer *analyzer);
/** sl_analyzer_set_utc: @utc, microseconds since 1970, is that of the frame to come, and since when it counts where nothing is known yet. */
void sl_analyzer_set_utc (SlAnalyzer *analyzer, gint64 utc);
/** sl_analyzer_update: a frame at @time (nanoseconds; where it runs backwards objects are forgotten) with @n objects, of which those with an
 *  id count. Returns: (transfer none): the state then, with the events of this frame; valid until the next update. */
const SlAnalysis *sl_analyzer_update (SlAnalyzer *analyzer, const SlObjectView *objects, guint n, guint64 time);
/** sl_analyzer_last: (transfer none): what the last update returned, or the state before the first. */
const SlAnalysis *sl_analyzer_last (const SlAnalyzer *analyzer);
/** sl_analyzer_save: (transfer full): what it knows, as text: counts, times, objects; not the heat map. */
char *sl_analyzer_save (const SlAnalyzer *analyzer);
/** sl_analyzer_restore: goes on from @text, which another one saved, before the first update: counts of regions of the same kind and name
 *  go on, and objects where one of their class and about their size is in about their place, at most a minute later. FALSE with @error
 *  set (SL_ERROR_FORMAT) when @text is damaged or of something else; nothing has changed then. */
gboolean sl_analyzer_restore (SlAnalyzer *analyzer, const char *text, GError **error);
/** sl_analyzer_regions: (transfer none) */
const SlRegions *sl_analyzer_regions (const SlAnalyzer *analyzer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlAnalyzer, sl_analyzer_free)

G_END_DECLS

#endif
