/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/events/buckets.h"

#include <string.h>

#include "core/base/fail.h"

#define ZONE_MOST 64
/* Zones change their clocks at multiples of this, by at most CHANGE. */
#define STEP (15 * SL_BUCKET_MINUTE)
#define CHANGE (3 * SL_BUCKET_HOUR)
/* Years 1 to 9999, which dates have. */
#define OLDEST (G_GINT64_CONSTANT (-62135596800) * G_USEC_PER_SEC + 2 * SL_BUCKET_DAY)
#define NEWEST (G_GINT64_CONSTANT (253402300799) * G_USEC_PER_SEC - 2 * SL_BUCKET_DAY)

void
sl_buckets_init (SlBuckets *buckets, gint64 width, GTimeZone *zone)
{
  *buckets =
    (SlBuckets){ zone != NULL ? g_time_zone_ref (zone) : g_time_zone_new_local (), width, 0, 0 };
}

void
sl_buckets_clear (SlBuckets *buckets)
{
  g_clear_pointer (&buckets->zone, g_time_zone_unref);
}

/* Microseconds that clocks are ahead of UTC. */
static gint64
offset_at (const SlBuckets *buckets, gint64 us)
{
  const gint interval =
    g_time_zone_find_interval (buckets->zone, G_TIME_TYPE_UNIVERSAL, us / G_USEC_PER_SEC);
  return (gint64) g_time_zone_get_offset (buckets->zone, interval) * G_USEC_PER_SEC;
}

static gint64
floor_to (gint64 us, gint64 width)
{
  return us - ((us % width) + width) % width;
}

/* The date as a number that grows by one a day. */
static gint64
date_at (const SlBuckets *buckets, gint64 us)
{
  return floor_to (us + offset_at (buckets, us), SL_BUCKET_DAY) / SL_BUCKET_DAY;
}

/* The first moment of @date, which midnight is not where clocks are changed at midnight. */
static gint64
begin_of (const SlBuckets *buckets, gint64 date, gint64 near)
{
  gint64 us = date * SL_BUCKET_DAY - offset_at (buckets, near);
  for (us -= CHANGE; date_at (buckets, us) < date; us += STEP)
    ;
  return us;
}

static void
find_day (SlBuckets *buckets, gint64 us)
{
  const gint64 date = date_at (buckets, us);
  buckets->from = begin_of (buckets, date, us);
  buckets->to = begin_of (buckets, date + 1, us);
}

gint64
sl_buckets_find (SlBuckets *buckets, gint64 us)
{
  us = CLAMP (us, OLDEST, NEWEST);
  if (us >= buckets->from && us < buckets->to)
    return buckets->from;
  if (buckets->width >= SL_BUCKET_DAY) {
    find_day (buckets, us);
    return buckets->from;
  }
  const gint64 offset = offset_at (buckets, us);
  const gint64 from = floor_to (us + offset, buckets->width) - offset, to = from + buckets->width;
  /* A bucket in which clocks change by a part of it is not remembered. */
  const gboolean even =
    offset_at (buckets, from) == offset && offset_at (buckets, to - 1) == offset;
  buckets->from = even ? from : 0;
  buckets->to = even ? to : 0;
  return from;
}

/* Names of zones begin with a capital, and other files beside theirs do not: GLib complains of
 * those past the log. */
static gboolean
is_zone (const char *name)
{
  const gboolean offset = *name == '+' || *name == '-';
  const char *c = name + (offset ? 1 : 0);
  if (!offset && !g_ascii_isupper (*name))
    return FALSE;
  while (offset ? g_ascii_isdigit (*c) || *c == ':'
                : g_ascii_isalnum (*c) || (*c != '\0' && strchr ("+-_/", *c) != NULL))
    c++;
  return *c == '\0' && c - name <= ZONE_MOST;
}

GTimeZone *
sl_buckets_zone (const char *name, GError **error)
{
  GTimeZone *zone = is_zone (name) ? g_time_zone_new_identifier (name) : NULL;
  return zone != NULL
           ? zone
           : sl_fail_null (error, SL_ERROR_ARGUMENT,
                           "%s: no time zone that this machine knows: expected a name such as "
                           "Europe/Berlin (Debian: tzdata) or an offset such as +05:30",
                           name);
}
