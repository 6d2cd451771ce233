/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Instead of fading all cells at each frame, what is added later counts for more, until numbers
 * become large. */
#include "postprocess/analyze/heat.h"

#include <math.h>

#define LARGE 1e6

struct _SlHeat
{
  guint columns, rows;
  gdouble half_life, weight; /* of a second that is added now */
  gdouble *seconds;
  guint8 *cells;
};

SlHeat *
sl_heat_new (guint columns, guint rows, gdouble half_life)
{
  SlHeat *heat = g_new0 (SlHeat, 1);
  heat->columns = CLAMP (columns, 1, SL_HEAT_MOST);
  heat->rows = CLAMP (rows, 1, SL_HEAT_MOST);
  heat->half_life = half_life;
  heat->weight = 1;
  heat->seconds = g_new0 (gdouble, (gsize) heat->columns * heat->rows);
  heat->cells = g_new0 (guint8, (gsize) heat->columns * heat->rows);
  return heat;
}

void
sl_heat_free (SlHeat *heat)
{
  if (heat == NULL)
    return;
  g_free (heat->seconds);
  g_free (heat->cells);
  g_free (heat);
}

void
sl_heat_pass (SlHeat *heat, gdouble seconds)
{
  if (heat->half_life <= 0)
    return;
  heat->weight *= exp2 (MIN (seconds / heat->half_life, 900));
  if (heat->weight < LARGE)
    return;
  for (gsize i = 0; i < (gsize) heat->columns * heat->rows; i++)
    heat->seconds[i] /= heat->weight;
  heat->weight = 1;
}

void
sl_heat_add (SlHeat *heat, gdouble x, gdouble y, gdouble seconds)
{
  const guint column = (guint) (CLAMP (x, 0, 1) * heat->columns),
              row = (guint) (CLAMP (y, 0, 1) * heat->rows);
  heat->seconds[(gsize) MIN (row, heat->rows - 1) * heat->columns
                + MIN (column, heat->columns - 1)] += seconds * heat->weight;
}

SlHeatMap
sl_heat_view (SlHeat *heat)
{
  const gsize n = (gsize) heat->columns * heat->rows;
  gdouble most = 0;
  for (gsize i = 0; i < n; i++)
    most = MAX (most, heat->seconds[i]);
  for (gsize i = 0; i < n; i++)
    heat->cells[i] = most > 0 ? (guint8) (heat->seconds[i] / most * 255 + 0.5) : 0;
  return (SlHeatMap){ heat->columns, heat->rows, heat->cells, most / heat->weight };
}
