/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * While nothing moves in front of a camera, only its key frames are decoded. The frames between
 * them wait in front of the decoder, encoded, up to the next key frame: where something moved, they
 * are decoded first, and then every frame up to the next quiet time. For H.264 and H.265.
 */
#pragma once

#include <gst/gst.h>

#include "plugins/camera/intact.h"

/** Name of the element message that a decoder posts when a quiet time begins (quiet=TRUE) and ends
 * (quiet=FALSE). Fields: quiet (boolean), reason (string: "picture", "size" or "limit", or
 * "unreadable" where it is never quiet; empty while quiet), held (uint: frames that waited and are
 * decoded now). */
#define SL_QUIET_MESSAGE "slcamera-quiet"
/** How long the frames behind a key frame wait at most, and how many bytes. */
#define SL_QUIET_TIME (30 * GST_SECOND)
#define SL_QUIET_BYTES (64 << 20)

/** SlQuiet: counted references, any thread. */
typedef struct _SlQuiet SlQuiet;

/**
 * SlQuietFigures: since the start
 * @quiet: whether it is quiet now
 * @gated: the stream is one that can be held
 * @unreadable: its frames cannot be looked at, so all of them are decoded
 * @keys: key frames that were looked at while it was quiet
 * @skipped: frames that did not leave the decoder, since nothing moved
 * @held: frames that waited and were decoded then
 * @by_picture, @by_size, @by_limit: how often a quiet time ended by a key frame with motion, by the
 * sizes of encoded frames, and because no more frames may wait
 * @false_alarms: times by size in which nothing moved
 * @last: when a frame came, decoded or not, monotonic us; 0 = never
 */
typedef struct
{
  gboolean quiet, gated, unreadable;
  guint64 keys, skipped, held, by_picture, by_size, by_limit, false_alarms;
  gint64 last;
} SlQuietFigures;

/** sl_quiet_new: @after: time without motion after which it is quiet; @paced: the camera sends
 * frames when it takes them, so that later ones come late, too, while those that waited are
 * decoded; @ignore: (nullable): as of sl_scout_new() */
SlQuiet *sl_quiet_new (GstClockTime after, gboolean paced, const char *ignore);
SlQuiet *sl_quiet_ref (SlQuiet *quiet);
void sl_quiet_unref (gpointer quiet);
void sl_quiet_read (SlQuiet *quiet, SlQuietFigures *figures);
/** sl_quiet_watch: for the decoders that @bin gets from now on, at any depth. Call it after
 * sl_intact_watch(), whose marks it reads. */
void sl_quiet_watch (SlQuiet *quiet, GstBin *bin);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlQuiet, sl_quiet_unref)
