/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far the picture of a camera that turns or shakes moved since the frame before. Nothing of
 * rotation and zoom is measured. Used by sltrack.
 */
#pragma once

#include "plugins/motion/background.h"

/** The farthest shift that is found, in pixels, and at most a quarter of the picture each way. */
#define SL_SHIFT_FARTHEST 96

/** SlShift: zeroed at first. Small pixels are the means of 8x8 pixels, coarse ones of 16x16. */
typedef struct
{
  /*< private >*/
  gint width, height; /* in small pixels */
  guint8 *small[2], *coarse[2];
  guint16 *sums;
  guint now; /* which of the two is of the last frame */
  gboolean known;
} SlShift;

void sl_shift_clear (SlShift *shift);
/** sl_shift_forget: the next frame is a first one. */
void sl_shift_forget (SlShift *shift);
/** sl_shift_see: @moved: (out): how far what @luma shows has moved since the last frame, x and y in
 * pixels. FALSE, and zeros: it is a first frame or one of another size, or most of the picture did
 * not move alike. No memory is allocated unless the size changes. */
gboolean sl_shift_see (SlShift *shift, const SlLuma *luma, gdouble moved[2]);
