/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * 16-bit floats: IEEE 754's binary16, including subnormal numbers, infinities and NaN; and
 * bfloat16, the upper half of a float.
 */
#pragma once

#include <glib.h>

/** SL_HALF_MOST: the largest finite one. */
#define SL_HALF_MOST 65504.0f

gfloat sl_half_to_float (guint16 half);
/** sl_half_to_floats: @n of them, from and to any addresses of their types. */
void sl_half_to_floats (const guint16 *halves, gfloat *to, gsize n);
/** sl_half_from_float: the nearest, of two the even one; infinity from 65520 on. */
guint16 sl_half_from_float (gfloat value);
/** sl_half_holds: whether binary16 represents @value exactly. */
gboolean sl_half_holds (gfloat value);

/** SL_BFLOAT_MOST: the largest finite one. */
#define SL_BFLOAT_MOST 0x1.fep127f

gfloat sl_bfloat_to_float (guint16 bfloat);
/** sl_bfloat_from_float: the nearest, of two the even one. */
guint16 sl_bfloat_from_float (gfloat value);
