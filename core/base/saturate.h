/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Converts real numbers of a file to integers: in C the conversion of values out of range is
 * undefined.
 */
#pragma once

#include <glib.h>

/** sl_saturate: towards zero; the nearest limit of 32 bits where it does not fit, 0 for NaN. */
static inline gint32
sl_saturate (gdouble real)
{
  if (real >= G_MAXINT32)
    return G_MAXINT32;
  if (real <= G_MININT32)
    return G_MININT32;
  return real == real ? (gint32) real : 0;
}
