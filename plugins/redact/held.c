/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects are few: each is compared with each. */
#include "plugins/redact/held.h"

#include <math.h>

/* Least overlap (intersection over union) of a box with the known object that it continues. */
#define LEAST_OVERLAP 0.1
/* Share of the newest velocity. */
#define NEWEST 0.5

static gdouble
seconds (guint64 from, guint64 to)
{
  return to > from ? (gdouble) (to - from) / 1e9 : 0;
}

static gdouble
overlap (const gdouble a[4], const gdouble b[4])
{
  const gdouble width = MIN (a[2], b[2]) - MAX (a[0], b[0]),
                height = MIN (a[3], b[3]) - MAX (a[1], b[1]);
  if (width <= 0 || height <= 0)
    return 0;
  const gdouble both = width * height;
  return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both);
}

/* (nullable): the known object that @seen is. */
static SlHeldObject *
find (SlHeld *held, const SlSeen *seen, guint64 time)
{
  SlHeldObject *best = NULL;
  gdouble most = LEAST_OVERLAP;
  for (guint i = 0; i < held->n; i++) {
    SlHeldObject *object = &held->objects[i];
    gdouble box[4];
    if (object->fresh)
      continue;
    if (seen->id > 0 && object->seen.id == seen->id)
      return object;
    if (seen->id > 0 && object->seen.id > 0)
      continue;
    sl_held_box (object, time, 0, box);
    const gdouble share = overlap (box, seen->box);
    if (share > most) {
      most = share;
      best = object;
    }
  }
  return best;
}

static void
go_on (SlHeldObject *object, const SlSeen *seen, guint64 time)
{
  const gdouble passed = seconds (object->time, time);
  for (guint i = 0; i < 2 && passed > 0; i++) {
    const gdouble way =
      (seen->box[i] + seen->box[i + 2] - object->seen.box[i] - object->seen.box[i + 2]) / 2;
    object->speed[i] += NEWEST * (way / passed - object->speed[i]);
  }
  object->seen = *seen;
  object->time = time;
  object->fresh = TRUE;
}

gboolean
sl_held_see (SlHeld *held, const SlSeen *seen, guint n, guint64 time)
{
  gboolean all = TRUE;
  for (guint i = 0; i < held->n; i++)
    held->objects[i].fresh = FALSE;
  for (guint i = 0; i < n; i++) {
    SlHeldObject *object = find (held, &seen[i], time);
    if (object != NULL)
      go_on (object, &seen[i], time);
    else if (held->n < SL_HELD_MOST)
      held->objects[held->n++] = (SlHeldObject){ seen[i], { 0, 0 }, time, TRUE };
    else
      all = FALSE;
  }
  return all;
}

void
sl_held_forget (SlHeld *held, guint64 time, guint64 hold)
{
  guint kept = 0;
  for (guint i = 0; i < held->n; i++)
    if (held->objects[i].time <= time && time - held->objects[i].time <= hold)
      held->objects[kept++] = held->objects[i];
  held->n = kept;
}

void
sl_held_box (const SlHeldObject *object, guint64 time, gdouble growth, gdouble box[4])
{
  const gdouble passed = seconds (object->time, time);
  for (guint i = 0; i < 2; i++) {
    const gdouble more = growth * passed * (object->seen.box[i + 2] - object->seen.box[i]),
                  way = object->speed[i] * passed;
    box[i] = object->seen.box[i] + MIN (way, 0) - more;
    box[i + 2] = object->seen.box[i + 2] + MAX (way, 0) + more;
  }
}
