/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Hungarian method with prices: one shortest augmenting path for each row (H. W. Kuhn 1955,
 * J. Munkres 1957). Costs are negative gains.
 */
#include "tools/evaluate/assign.h"

#include <string.h>

typedef struct
{
  const gdouble *gain;
  guint rows, columns;
  gboolean turned; /* rows are the gain's columns */
  gdouble *row_price, *column_price, *slack;
  guint *row_of, *from; /* by column from 1 on; 0 = none */
  gboolean *reached;
} Problem;

static gdouble
cost (const Problem *self, guint row, guint column)
{
  return self->turned ? -self->gain[(gsize) (column - 1) * self->rows + row - 1]
                      : -self->gain[(gsize) (row - 1) * self->columns + column - 1];
}

/* From column @at to the next one: the cheapest that is not reached. */
static guint
step (Problem *self, guint at)
{
  gdouble least = G_MAXDOUBLE;
  guint next = 0;
  const guint row = self->row_of[at];
  self->reached[at] = TRUE;
  for (guint column = 1; column <= self->columns; column++) {
    if (self->reached[column])
      continue;
    const gdouble reduced =
      cost (self, row, column) - self->row_price[row] - self->column_price[column];
    if (reduced < self->slack[column]) {
      self->slack[column] = reduced;
      self->from[column] = at;
    }
    if (self->slack[column] < least) {
      least = self->slack[column];
      next = column;
    }
  }
  for (guint column = 0; column <= self->columns; column++) {
    if (self->reached[column]) {
      self->row_price[self->row_of[column]] += least;
      self->column_price[column] -= least;
    } else {
      self->slack[column] -= least;
    }
  }
  return next;
}

static void
add_row (Problem *self, guint row)
{
  guint at = 0;
  memset (self->reached, 0, (self->columns + 1) * sizeof *self->reached);
  for (guint column = 0; column <= self->columns; column++)
    self->slack[column] = G_MAXDOUBLE;
  self->row_of[0] = row;
  do
    at = step (self, at);
  while (self->row_of[at] != 0);
  for (; at != 0; at = self->from[at])
    self->row_of[at] = self->row_of[self->from[at]];
}

void
sl_assign (const gdouble *gain, guint rows, guint columns, gint *match)
{
  const gsize room = (gsize) MAX (rows, columns) + 1;
  g_autofree gdouble *numbers = g_new0 (gdouble, 3 * room);
  g_autofree guint *links = g_new0 (guint, 2 * room);
  g_autofree gboolean *reached = g_new (gboolean, room);
  const gboolean turned = rows > columns;
  Problem self = { gain,
                   MIN (rows, columns),
                   MAX (rows, columns),
                   turned,
                   numbers,
                   numbers + room,
                   numbers + 2 * room,
                   links,
                   links + room,
                   reached };
  for (guint row = 0; row < rows; row++)
    match[row] = -1;
  for (guint row = 1; row <= self.rows; row++)
    add_row (&self, row);
  for (guint column = 1; column <= self.columns; column++) {
    const guint row = self.row_of[column];
    if (row != 0 && cost (&self, row, column) < 0)
      match[turned ? column - 1 : row - 1] = (gint) (turned ? row - 1 : column - 1);
  }
}
