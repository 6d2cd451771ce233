/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The normaliser on pictures of 1920x1080, in time, and beside double precision. */
#pragma once

#include <glib.h>

/** SL_FIELD_PICTURE_BOUND: the largest difference from double precision, of 255, that is right:
 * rows are scaled in fixed point. Integers count less their rounding. */
#define SL_FIELD_PICTURE_BOUND 0.15

/** SL_FIELD_PICTURES: how many rows are measured. */
#define SL_FIELD_PICTURES 7

typedef struct
{
  const char *format, *fit, *type; /* as in caps: "NV12" */
  guint size;                      /* of the tensor, both ways */
  double least_us, median_us;      /* 0 where time is not measured */
  double error;                    /* of 255 */
  gboolean right;
} SlFieldPicture;

/** sl_field_picture_run: row @i of SL_FIELD_PICTURES, on one thread, for @most_ms; 0 = once,
 * without times. */
void sl_field_picture_run (guint i, double most_ms, SlFieldPicture *picture);
