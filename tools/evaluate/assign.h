/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Linear assignment in double precision: pairs of rows and columns with the largest sum of gains.
 * The tracker has an assignment of its own in whole numbers, so that an error of one is not an
 * error of both.
 */
#pragma once

#include <glib.h>

/** sl_assign: @gain: @rows x @columns numbers, at least 0, row by row. @match: for each row its
 * column, or -1; a pair without gain is not made. Takes rows * columns * the smaller of both steps.
 */
void sl_assign (const gdouble *gain, guint rows, guint columns, gint *match);
