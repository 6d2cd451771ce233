/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The encoded frames that leave slcamera. They begin with a key frame and have the same timestamps
 * as its decoded frames. Their queue is bounded.
 */
#pragma once

#include <gst/app/gstappsrc.h>

/** Name of the appsrc in slcamera that outputs them. */
#define SL_CAMERA_ENCODED_OUTPUT "encoded-output"
/** Name of the custom out-of-band event of a live camera whose frames are not encoded. */
#define SL_CAMERA_ENCODED_NONE "slcamera-encoded-none"
/** Limits of the queue. When it is full, frames of a live camera are dropped up to the next key
 * frame, and a file blocks. */
#define SL_CAMERA_ENCODED_BYTES (16 << 20)
#define SL_CAMERA_ENCODED_TIME (5 * GST_SECOND)

/** SlCameraEncoded: used only by the pushing thread. */
typedef struct
{
  gboolean flows; /* the last frame went out; else the next one is a key frame, marked DISCONT */
  gboolean came;  /* a frame has come since the connection began; it may still be inside a parser */
  gboolean crowded; /* frames were dropped since then, because the queue was full */
} SlCameraEncoded;

/** sl_camera_encoded_new: (transfer floating) (nullable): an appsrc of that name. It takes no more
 * frames once downstream has returned EOS. NULL where appsrc is not installed. */
GstElement *sl_camera_encoded_new (void);
/** sl_camera_encoded_set_up: configures @output. Call it before @output starts. */
void sl_camera_encoded_set_up (GstAppSrc *output, gboolean live);
/** sl_camera_encoded_begin: call it when a connection begins. */
void sl_camera_encoded_begin (SlCameraEncoded *encoded);
/** sl_camera_encoded_move: shifts the timestamps of @frame by @to - @from. Timestamps below 0
 * become 0. A DTS after the PTS becomes NONE. */
void sl_camera_encoded_move (GstBuffer *frame, GstClockTime from, GstClockTime to);
/** sl_camera_encoded_push: pushes @frame (transfer full). Blocks while the queue is full, unless
 * the camera is @live. After the end of stream of @output the frame is freed. */
void sl_camera_encoded_push (SlCameraEncoded *encoded, GstAppSrc *output, gboolean live,
                             GstBuffer *frame);
