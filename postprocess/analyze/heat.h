/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The heat map: a grid over the frame that holds how many seconds objects were in each cell. It may
 * fade.
 */
#pragma once

#include "postprocess/predictions/analysis.h"

/** Most columns, and most rows. */
#define SL_HEAT_MOST 256

typedef struct _SlHeat SlHeat;

/** sl_heat_new: @columns x @rows cells, 1..SL_HEAT_MOST each. @half_life: seconds in which values
 * fade to a half; 0 = they do not fade */
SlHeat *sl_heat_new (guint columns, guint rows, gdouble half_life);
/** sl_heat_free: NULL is legal. */
void sl_heat_free (SlHeat *heat);
/** sl_heat_pass: lets the map fade by @seconds. */
void sl_heat_pass (SlHeat *heat, gdouble seconds);
/** sl_heat_add: adds @seconds at @x, @y, 0..1 of the frame. Points outside count at the frame's
 * edge. */
void sl_heat_add (SlHeat *heat, gdouble x, gdouble y, gdouble seconds);
/** sl_heat_view: the current map; valid until the next call. */
SlHeatMap sl_heat_view (SlHeat *heat);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlHeat, sl_heat_free)
