/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cells, connected components of them, and what lasts. */
#include "plugins/motion/moving.h"

#include <string.h>

/* Changed small pixels from which a cell is part of a region. */
#define ACTIVE 3
/* Cells around a region in which the frame before must have changed. */
#define REACH 3

void
sl_moving_clear (SlMoving *moving)
{
  g_free (moving->counts);
  g_free (moving->rest);
  g_free (moving->before);
  g_free (moving->queue);
  *moving = (SlMoving){ 0 };
}

void
sl_moving_forget (SlMoving *moving)
{
  moving->n = 0;
  if (moving->before != NULL)
    memset (moving->before, 0, (gsize) moving->columns * (gsize) moving->rows);
}

static void
resize (SlMoving *moving, gint columns, gint rows)
{
  if (moving->counts != NULL && moving->columns == columns && moving->rows == rows)
    return;
  const gsize n = MAX ((gsize) columns * (gsize) rows, 1);
  sl_moving_clear (moving);
  moving->columns = columns;
  moving->rows = rows;
  moving->counts = g_malloc0 (n);
  moving->rest = g_malloc0 (n);
  moving->before = g_malloc0 (n);
  moving->queue = g_new (guint, n);
}

static void
count_cells (SlMoving *moving, const SlBackground *background, const guint8 *ignored)
{
  memset (moving->counts, 0, (gsize) moving->columns * (gsize) moving->rows);
  for (gint y = 0; y < background->height; y++) {
    const guint8 *changed = background->changed + (gsize) y * (gsize) background->width;
    guint8 *cells = moving->counts + (gsize) (y / SL_CELL) * (gsize) moving->columns;
    for (gint x = 0; x < background->width; x++)
      cells[x / SL_CELL] += changed[x] == SL_PIXEL_CHANGED;
  }
  for (gint i = 0; ignored != NULL && i < moving->columns * moving->rows; i++)
    if (ignored[i])
      moving->counts[i] = 0;
}

/* A component of cells. @changed: small pixels; from @left, @top up to @right, @bottom, exclusive
 */
typedef struct
{
  gint left, top, right, bottom;
  guint changed;
} Part;

/* Takes the component of the cell @first away from @moving->rest. */
static Part
take_part (SlMoving *moving, guint first)
{
  Part part = { moving->columns, moving->rows, 0, 0, 0 };
  guint n = 0;
  moving->queue[n++] = first;
  part.changed = moving->rest[first];
  moving->rest[first] = 0;
  for (guint i = 0; i < n; i++) {
    const gint x = (gint) moving->queue[i] % moving->columns,
               y = (gint) moving->queue[i] / moving->columns;
    part.left = MIN (part.left, x);
    part.right = MAX (part.right, x + 1);
    part.top = MIN (part.top, y);
    part.bottom = MAX (part.bottom, y + 1);
    for (gint v = MAX (y - 1, 0); v <= MIN (y + 1, moving->rows - 1); v++)
      for (gint u = MAX (x - 1, 0); u <= MIN (x + 1, moving->columns - 1); u++) {
        const guint next = (guint) (v * moving->columns + u);
        if (moving->rest[next] < ACTIVE)
          continue;
        part.changed += moving->rest[next];
        moving->rest[next] = 0;
        moving->queue[n++] = next;
      }
  }
  return part;
}

/* Whether something near @part had changed in the frame before, too. */
static gboolean
is_confirmed (const SlMoving *moving, const Part *part)
{
  for (gint y = MAX (part->top - REACH, 0); y < MIN (part->bottom + REACH, moving->rows); y++)
    for (gint x = MAX (part->left - REACH, 0); x < MIN (part->right + REACH, moving->columns); x++)
      if (moving->before[y * moving->columns + x])
        return TRUE;
  return FALSE;
}

static gdouble
area_of (const SlMotionBox *box)
{
  return (gdouble) (box->x_max - box->x_min) * (gdouble) (box->y_max - box->y_min);
}

static gboolean
overlap (const SlMotionBox *a, const SlMotionBox *b)
{
  return a->x_min < b->x_max && b->x_min < a->x_max && a->y_min < b->y_max && b->y_min < a->y_max;
}

static void
join (SlMotionBox *box, const SlMotionBox *other)
{
  box->x_min = MIN (box->x_min, other->x_min);
  box->y_min = MIN (box->y_min, other->y_min);
  box->x_max = MAX (box->x_max, other->x_max);
  box->y_max = MAX (box->y_max, other->y_max);
}

/* Adds @box to the first *@n of @moving, with those that it overlaps joined in. */
static void
add_box (SlMoving *moving, guint *n, SlMotionBox box, guint64 time)
{
  for (guint i = 0; i < *n;) {
    if (!overlap (&moving->boxes[i], &box)) {
      i++;
      continue;
    }
    join (&box, &moving->boxes[i]);
    time = MAX (time, moving->times[i]);
    (*n)--;
    moving->boxes[i] = moving->boxes[*n];
    moving->times[i] = moving->times[*n];
    i = 0; /* it is larger now */
  }
  if (*n == SL_MOTION_MOST) {
    join (&moving->boxes[*n - 1], &box);
    moving->times[*n - 1] = MAX (time, moving->times[*n - 1]);
    return;
  }
  moving->boxes[*n] = box;
  moving->times[(*n)++] = time;
}

/* With one cell more around: the edge of what moves is faint. */
static SlMotionBox
box_of (const SlBackground *background, const Part *part)
{
  const gfloat width = (gfloat) background->width / SL_CELL,
               height = (gfloat) background->height / SL_CELL;
  return (SlMotionBox){ (gfloat) MAX (part->left - 1, 0) / width,
                        (gfloat) MAX (part->top - 1, 0) / height,
                        MIN ((gfloat) (part->right + 1) / width, 1),
                        MIN ((gfloat) (part->bottom + 1) / height, 1) };
}

static void
sort_boxes (SlMoving *moving)
{
  for (guint i = 1; i < moving->n; i++)
    for (guint k = i; k > 0 && area_of (&moving->boxes[k]) > area_of (&moving->boxes[k - 1]); k--) {
      const SlMotionBox box = moving->boxes[k];
      const guint64 time = moving->times[k];
      moving->boxes[k] = moving->boxes[k - 1];
      moving->times[k] = moving->times[k - 1];
      moving->boxes[k - 1] = box;
      moving->times[k - 1] = time;
    }
}

/* Regions that are over, or of a time that has not come. */
static void
drop_old (SlMoving *moving, guint64 hold, guint64 time)
{
  guint n = 0;
  for (guint i = 0; i < moving->n; i++)
    if (moving->times[i] <= time && time - moving->times[i] <= hold) {
      moving->boxes[n] = moving->boxes[i];
      moving->times[n++] = moving->times[i];
    }
  moving->n = n;
}

/* A held region ends where a new one takes its place. */
static void
add_regions (SlMoving *moving, const SlBackground *background, guint least, guint64 time)
{
  SlMoving held = *moving;
  guint n = 0;
  for (guint i = 0; i < (guint) (moving->columns * moving->rows); i++) {
    if (moving->rest[i] < ACTIVE)
      continue;
    const Part part = take_part (moving, i);
    if (part.changed >= least && is_confirmed (moving, &part))
      add_box (moving, &n, box_of (background, &part), time);
  }
  const guint fresh = n;
  for (guint i = 0; i < held.n; i++) {
    gboolean replaced = FALSE;
    for (guint k = 0; k < fresh && !replaced; k++)
      replaced = overlap (&moving->boxes[k], &held.boxes[i]);
    if (!replaced && n < SL_MOTION_MOST) {
      moving->boxes[n] = held.boxes[i];
      moving->times[n++] = held.times[i];
    }
  }
  moving->n = n;
}

void
sl_moving_find (SlMoving *moving, const SlBackground *background, const guint8 *ignored,
                const SlMovingSettings *settings, guint64 time)
{
  resize (moving, (background->width + SL_CELL - 1) / SL_CELL,
          (background->height + SL_CELL - 1) / SL_CELL);
  count_cells (moving, background, ignored);
  drop_old (moving, settings->hold, time);
  const gsize n = (gsize) moving->columns * (gsize) moving->rows;
  memcpy (moving->rest, moving->counts, n);
  add_regions (moving, background, settings->least, time);
  for (gsize i = 0; i < n; i++)
    moving->before[i] = moving->counts[i] >= ACTIVE;
  sort_boxes (moving);
}
