/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Linear assignment: pairs rows with columns so that the sum of the gains is the largest possible.
 * Rows and columns may stay without a pair, and a pair without gain is not made. Used by the
 * tracker.
 */
#pragma once

#include <glib.h>

/** Most rows and most columns, and the largest gain: their product is the largest sum. */
#define SL_ASSIGNMENT_MOST 1000
#define SL_ASSIGNMENT_GAIN (1 << 20)

/** Memory that solving needs; grows to the largest problem seen. */
typedef struct
{
  guint room_rows, room_columns;
  gint32 *row_price, *column_price, *distance, *row_of, *from;
  guint32 *reached;
} SlAssignment;

/** sl_assignment_clear: also for a zeroed struct, which is the initial state. */
void sl_assignment_clear (SlAssignment *self);
/** sl_assignment_solve: @gain: @rows x @columns numbers of 0..SL_ASSIGNMENT_GAIN, row by row; 0 =
 * these two cannot be a pair.
 *  @match: for each row its column, or -1. At most SL_ASSIGNMENT_MOST rows and columns. Exact; of
 * equally good solutions always the same one. Allocates only when a problem is larger than all
 * before. */
void sl_assignment_solve (SlAssignment *self, const gint32 *gain, guint rows, guint columns,
                          gint32 *match);
