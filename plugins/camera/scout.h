/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks for motion on behalf of plugins/camera/quiet.c: on key frames before the stream's decoder
 * gets them, with a decoder of its own, and on frames that the stream's decoder gave. Both are
 * compared with one background.
 */
#pragma once

#include <gst/gst.h>

typedef enum
{
  SL_SIGHT_SAME,   /* nothing moves */
  SL_SIGHT_MOTION, /* or the first picture of all */
  SL_SIGHT_NONE    /* there was no frame, or one that cannot be read */
} SlSight;

/** SlScout: any thread, one after the other. */
typedef struct _SlScout SlScout;

/** sl_scout_new: @ignore: (nullable): zones whose motion does not count; those of slmotion, and
 * without a fault. */
SlScout *sl_scout_new (const char *ignore);
void sl_scout_free (SlScout *scout);
/** sl_scout_forget: what comes next is another scene. */
void sl_scout_forget (SlScout *scout);
/** sl_scout_look: at a decoded frame of @caps. */
SlSight sl_scout_look (SlScout *scout, GstBuffer *frame, GstCaps *caps);
/** sl_scout_decode: decodes @key, an encoded key frame of @caps, by an element of @factory, and
 * looks at it. */
SlSight sl_scout_decode (SlScout *scout, GstElementFactory *factory, GstBuffer *key, GstCaps *caps);
/** sl_scout_take: (transfer full) (nullable): the picture of the last sl_scout_decode(), once; NULL
 * where something moves, or it is not of @caps (nullable). */
GstBuffer *sl_scout_take (SlScout *scout, GstCaps *caps);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlScout, sl_scout_free)
