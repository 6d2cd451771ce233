/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions of motion: changed small pixels, gathered in cells of 4x4 of them, and neighbouring cells
 * in rectangles. A region counts from the second frame on, and lasts for a while after its last
 * change.
 */
#pragma once

#include "plugins/meta/motion_meta.h"
#include "plugins/motion/background.h"

/** Small pixels of a cell's side. */
#define SL_CELL 4

/** @least: small pixels that a region has at least; @hold: how long a region lasts, in ns */
typedef struct
{
  guint least;
  guint64 hold;
} SlMovingSettings;

/** Zeroed at first. @boxes: in 0..1 of the frame, larger ones first */
typedef struct
{
  guint n;
  SlMotionBox boxes[SL_MOTION_MOST];
  /*< private >*/
  guint64 times[SL_MOTION_MOST]; /* of the last change */
  gint columns, rows;
  guint8 *counts, *rest; /* of each cell: changed pixels, all and those without a region yet */
  guint8 *before;        /* whether it had them in the frame before */
  guint *queue;
} SlMoving;

void sl_moving_clear (SlMoving *moving);
/** sl_moving_forget: no region, and none to confirm. */
void sl_moving_forget (SlMoving *moving);
/** sl_moving_find: the regions of @background.changed and those that last at @time. @ignored:
 * (nullable): for each cell, row by row, whether it does not count. More regions than
 * SL_MOTION_MOST are joined. */
void sl_moving_find (SlMoving *moving, const SlBackground *background, const guint8 *ignored,
                     const SlMovingSettings *settings, guint64 time);
