/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Linear assignment by shortest augmenting paths: R. Jonker and A. Volgenant, "A Shortest
 * Augmenting Path Algorithm for Dense and Sparse Linear Assignment Problems", Computing 38 (1987).
 * Integers throughout, so that sums are exact.
 *
 * A cost is a gain with its sign changed. Each row also has a column of its own at cost 0, which
 * stands for "no pair": it is free until that row takes it, so that a path may end there, and no
 * other row ever asks for it.
 *
 * Invariant between rows: cost - row_price - column_price >= 0 for every pair, and = 0 for those
 * chosen.
 */
#include "postprocess/predictions/assignment.h"

#include <string.h>

#define FAR G_MAXINT32
#define NOBODY (-1)

void
sl_assignment_clear (SlAssignment *self)
{
  g_free (self->row_price);
  g_free (self->column_price);
  g_free (self->distance);
  g_free (self->row_of);
  g_free (self->from);
  g_free (self->reached);
  memset (self, 0, sizeof *self);
}

static void
make_room (SlAssignment *self, guint rows, guint columns)
{
  if (rows > self->room_rows) {
    self->row_price = g_renew (gint32, self->row_price, rows);
    self->room_rows = rows;
  }
  if (columns > self->room_columns) {
    self->column_price = g_renew (gint32, self->column_price, columns);
    self->distance = g_renew (gint32, self->distance, columns);
    self->row_of = g_renew (gint32, self->row_of, columns);
    self->from = g_renew (gint32, self->from, columns);
    self->reached = g_renew (guint32, self->reached, columns);
    self->room_columns = columns;
  }
}

/* Lowest price at which @row can stay in the invariant. */
static gint32
first_price (const SlAssignment *self, const gint32 *gain, guint columns)
{
  gint32 best = 0;
  for (guint c = 0; c < columns; c++)
    best = MIN (best, -gain[c] - self->column_price[c]);
  return best;
}

/* The nearest column not reached yet, after looking at all that @row at @start leads to; NOBODY
 * when there is none. */
static gint32
look_around (SlAssignment *self, const gint32 *gain, gint32 row, gint32 start, guint columns,
             guint n_reached)
{
  gint32 nearest = NOBODY, shortest = FAR;
  for (guint c = 0; c < columns; c++) {
    if (self->reached[c] < n_reached)
      continue;
    const gint32 way =
      gain[c] > 0 ? start - gain[c] - self->row_price[row] - self->column_price[c] : FAR;
    if (way < self->distance[c]) {
      self->distance[c] = way;
      self->from[c] = row;
    }
    if (self->distance[c] < shortest) {
      shortest = self->distance[c];
      nearest = (gint32) c;
    }
  }
  return nearest;
}

/* Pairs along the path that ends at @column, free by now, backwards to the row it began with. */
static void
flip_path (SlAssignment *self, gint32 column, gint32 *match)
{
  while (column != NOBODY) {
    const gint32 row = self->from[column], next = match[row];
    self->row_of[column] = row;
    match[row] = column;
    column = next;
  }
}

static void
add_row (SlAssignment *self, const gint32 *gain, gint32 first, guint columns, gint32 *match)
{
  gint32 row = first, start = 0, alone = first, end = NOBODY, length;
  gint32 best_alone = FAR;
  guint n_reached = 0;
  self->row_price[first] = first_price (self, gain + (gsize) first * columns, columns);
  for (guint c = 0; c < columns; c++) {
    self->distance[c] = FAR;
    self->reached[c] = G_MAXUINT32;
  }
  for (;;) {
    if (start - self->row_price[row] < best_alone) {
      best_alone = start - self->row_price[row];
      alone = row;
    }
    const gint32 nearest =
      look_around (self, gain + (gsize) row * columns, row, start, columns, n_reached);
    if (nearest == NOBODY || self->distance[nearest] >= best_alone)
      break;
    if (self->row_of[nearest] == NOBODY) {
      end = nearest;
      break;
    }
    self->reached[nearest] = n_reached++;
    row = self->row_of[nearest];
    start = self->distance[nearest];
  }
  length = end != NOBODY ? self->distance[end] : best_alone;
  self->row_price[first] += length;
  for (guint c = 0; c < columns && n_reached > 0; c++)
    if (self->reached[c] != G_MAXUINT32) {
      self->column_price[c] -= length - self->distance[c];
      self->row_price[self->row_of[c]] += length - self->distance[c];
    }
  if (end == NOBODY && alone != first) {
    end = match[alone];
    match[alone] = NOBODY;
  }
  flip_path (self, end, match);
}

void
sl_assignment_solve (SlAssignment *self, const gint32 *gain, guint rows, guint columns,
                     gint32 *match)
{
  g_return_if_fail (rows <= SL_ASSIGNMENT_MOST && columns <= SL_ASSIGNMENT_MOST);
  make_room (self, rows, columns);
  for (guint c = 0; c < columns; c++) {
    self->column_price[c] = 0;
    self->row_of[c] = NOBODY;
  }
  for (guint r = 0; r < rows; r++)
    match[r] = NOBODY;
  for (guint r = 0; columns > 0 && r < rows; r++)
    add_row (self, gain, (gint32) r, columns, match);
}
