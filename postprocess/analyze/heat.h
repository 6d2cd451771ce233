/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * How long objects were where: a grid of seconds over the frame, which may fade.
 */
#ifndef SL_ANALYZE_HEAT_H
#define SL_ANALYZE_HEAT_H

#include "postprocess/predictions/analysis.h"

G_BEGIN_DECLS

/** Most columns, and most rows. */
#define SL_HEAT_MOST 256

typedef struct _SlHeat SlHeat;

/** sl_heat_new: @columns x @rows cells, 1..SL_HEAT_MOST each. @half_life: seconds after which half of what was is left; 0 = it stays */
SlHeat *sl_heat_new (guint columns, guint rows, gdouble half_life);
/** sl_heat_free: NULL is legal. */
void sl_heat_free (SlHeat *heat);
/** sl_heat_pass: so many seconds have gone by. */
void sl_heat_pass (SlHeat *heat, gdouble seconds);
/** sl_heat_add: @seconds at @x, @y, which are 0..1 of the frame and else count at its edge. */
void sl_heat_add (SlHeat *heat, gdouble x, gdouble y, gdouble seconds);
/** sl_heat_view: as it is now; valid until the next. */
SlHeatMap sl_heat_view (SlHeat *heat);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlHeat, sl_heat_free)

G_END_DECLS

#endif
