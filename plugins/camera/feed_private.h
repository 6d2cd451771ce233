/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the two parts of a SlCameraFeed: its thread (feed.c), and what delivers frames
 * (feed_delivery.c).
 */
#pragma once

#include "plugins/camera/encoded.h"
#include "plugins/camera/feed.h"
#include "plugins/camera/sink.h"
#include "plugins/camera/stamp.h"
#include "plugins/camera/tap.h"

struct _SlCameraFeed
{
  gatomicrefcount refs;
  SlCameraUri *uri;
  SlCameraSettings settings; /* numbers only */
  gboolean live;
  GCancellable *cancel;
  GThread *thread;

  GMutex lock;
  GCond cond;
  GstElement *camera; /* these three NULL from stop on */
  GstAppSrc *output, *encoded;
  gboolean stop, finished;
  GError *fault, *remark; /* of this connection: what ended it; the last warning */
  GPtrArray *tried;       /* GstElementFactory of decoders and the like of this connection */
  gboolean ended, latency_changed, torn_down;
  gboolean waiting;    /* for a key frame, which was told */
  gboolean blocked;    /* a frame that is late waits for the elements downstream */
  guint64 frames;      /* of this connection */
  gint64 last_frame;   /* monotonic us, 0 before the first */
  gint64 steady_since; /* monotonic us of this connection's first frame */
  GstCaps *caps;
  const char *state;

  SlCameraSockets *sockets;        /* (nullable): of rtsp:// */
  SlIntact *intact;                /* of all connections */
  SlQuiet *quiet;                  /* (nullable): of all connections */
  SlCameraStamper stamper;         /* inner streaming thread */
  SlCameraStamper encoded_stamper; /* inner streaming thread, before the decoder, as @taken */
  SlCameraEncoded taken;
  gboolean late;        /* inner streaming thread: the last frame was late */
  gboolean taps;        /* there is @encoded */
  GstElement *pipeline; /* the inner one, while it is there */

  guint attempt; /* these are the thread's own */
  gint64 down_since;
  char *warned;        /* the reason last told as a warning */
  guint64 node;        /* the device's when it was opened last, see find_node() */
  SlIntactCounts told; /* frames left out */
  gint64 told_at;
  gint told_quiet; /* atomic: that there are no quiet times, or that one did not last */
};

/** sl_camera_feed_dup_camera, sl_camera_feed_dup_output, sl_camera_feed_dup_encoded: (transfer
 * full) (nullable): NULL once the feed is stopped; the last one also where nobody wants what the
 * camera encoded. Any thread. */
GstElement *sl_camera_feed_dup_camera (SlCameraFeed *feed);
GstAppSrc *sl_camera_feed_dup_output (SlCameraFeed *feed);
GstAppSrc *sl_camera_feed_dup_encoded (SlCameraFeed *feed);
/** sl_camera_feed_tell_people: posts an info, warning or error message of the element. @fault:
 * (nullable): its code. Any thread. */
void sl_camera_feed_tell_people (SlCameraFeed *feed, GstMessageType type, const GError *fault,
                                 const char *text);

/** sl_camera_feed_check_quiet: a warning where quiet=keyframes has no effect on this camera. The
 * thread's. */
void sl_camera_feed_check_quiet (SlCameraFeed *feed);
/** sl_camera_feed_tell_quiet: forwards an SL_QUIET_MESSAGE of the inner pipeline. Any thread. */
void sl_camera_feed_tell_quiet (SlCameraFeed *feed, const GstStructure *structure);

/** What the sink of the inner pipeline calls with frames, and the tap before its decoder with
 * encoded ones; @data is the feed. */
extern const SlCameraSinkCalls sl_camera_feed_sink_calls;
extern const SlCameraTapCalls sl_camera_feed_tap_calls;
