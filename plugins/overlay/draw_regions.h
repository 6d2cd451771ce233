/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What zones, lines and heat maps look like.
 */
#ifndef SL_PLUGINS_OVERLAY_DRAW_REGIONS_H
#define SL_PLUGINS_OVERLAY_DRAW_REGIONS_H

#include "plugins/overlay/pen.h"
#include "postprocess/predictions/analysis.h"

/** sl_draw_regions: outlines of zones, lines with an arrow to the side that is in, names and counts
 * of both. */
void sl_draw_regions (const SlPen *pen, const SlAnalysis *analysis);
/** sl_draw_heat: cells in colours from blue to red, the emptier the clearer; without a map nothing.
 */
void sl_draw_heat (const SlPen *pen, const SlHeatMap *heat);

#endif
