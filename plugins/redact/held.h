/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects that stay hidden after the detector lost them. A lost object's region follows its last
 * velocity and grows with time. All coordinates are in 0..1 of the frame, times in nanoseconds.
 */
#pragma once

#include <glib.h>

/** Most objects that are held. */
#define SL_HELD_MOST 256

/** @id: that of a tracker, 0 = none; @box: left, top, right, bottom */
typedef struct
{
  gint id;
  gdouble box[4];
} SlSeen;

typedef struct
{
  SlSeen seen;
  gdouble speed[2]; /* of the centre, in a second */
  guint64 time;     /* when it was seen last */
  gboolean fresh;   /* by the last result */
} SlHeldObject;

typedef struct
{
  guint n;
  SlHeldObject objects[SL_HELD_MOST];
} SlHeld;

/** sl_held_see: the @n objects that the detector found at @time. Known ones are continued by id,
 * else by overlap; others are new. FALSE when some find no place: more than SL_HELD_MOST. */
gboolean sl_held_see (SlHeld *held, const SlSeen *seen, guint n, guint64 time);
/** sl_held_forget: removes what was last seen more than @hold before @time, or after it. */
void sl_held_forget (SlHeld *held, guint64 time, guint64 hold);
/** sl_held_box: where @object may be at @time: its last box and the one moved by its velocity, and
 * @growth of its size more on each side for each second. */
void sl_held_box (const SlHeldObject *object, guint64 time, gdouble growth, gdouble box[4]);
