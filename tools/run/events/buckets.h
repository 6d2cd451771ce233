/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Minutes, hours and days of a time zone. A day begins with its date there, so that it has 23 or 25
 * hours where clocks are changed. One thread's at a time.
 */
#pragma once

#include <glib.h>

/** Microseconds. */
#define SL_BUCKET_MINUTE (60 * (gint64) G_USEC_PER_SEC)
#define SL_BUCKET_HOUR (60 * SL_BUCKET_MINUTE)
#define SL_BUCKET_DAY (24 * SL_BUCKET_HOUR)

/** SlBuckets: @width: one of the three; @from, @to: the bucket that was found last */
typedef struct
{
  GTimeZone *zone;
  gint64 width, from, to;
} SlBuckets;

/** sl_buckets_init: @zone: (nullable): NULL = that of this machine */
void sl_buckets_init (SlBuckets *buckets, gint64 width, GTimeZone *zone);
void sl_buckets_clear (SlBuckets *buckets);
/** sl_buckets_find: where the bucket of the time @us begins. Both are microseconds since 1970. */
gint64 sl_buckets_find (SlBuckets *buckets, gint64 us);

/** sl_buckets_zone: (transfer full) (nullable): @name is that of a zone ("Europe/Berlin"), or an
 * offset ("+05:30"); NULL with SL_ERROR_ARGUMENT. */
GTimeZone *sl_buckets_zone (const char *name, GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlBuckets, sl_buckets_clear)
