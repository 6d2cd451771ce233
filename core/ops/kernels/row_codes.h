/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of floats rounded to 8 bits while a model runs: the row's own range, with zero in it, is
 * divided into 255 steps, or 127. Every kernel that rounds rows takes scale and zero point from
 * here.
 */
#pragma once

#include <glib.h>
#include <math.h>

/**
 * SlRowCodes: value / scale is value * @inverse; a value is (quantised value - @zero) * @scale
 */
typedef struct
{
  gfloat scale, inverse, zero;
} SlRowCodes;

/** sl_row_codes: of values from @least, at most 0, to @most, at least 0, both finite; quantised
 * values are 0..@last. @whole: values are whole numbers, no more than @last apart. */
static inline SlRowCodes
sl_row_codes (gfloat least, gfloat most, gint32 last, gboolean whole)
{
  if (whole)
    return (SlRowCodes){ 1, 1, MIN (rintf (-least), (gfloat) last) };
  const gfloat scale = (most - least) / (gfloat) last, inverse = 1 / scale;
  if (!(scale > 0) || !isfinite (scale) || !isfinite (inverse))
    return (SlRowCodes){ 1, 1, 0 };
  return (SlRowCodes){ scale, inverse, MIN (rintf (-least / scale), (gfloat) last) };
}
