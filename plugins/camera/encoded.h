/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The way of encoded frames out of slcamera: from key frames on, stamped like its decoded frames, and never more than a bounded queue of them.
 */
#ifndef SL_PLUGINS_CAMERA_ENCODED_H
#define SL_PLUGINS_CAMERA_ENCODED_H

#include <gst/app/gstappsrc.h>

G_BEGIN_DECLS

/** Name of the appsrc in slcamera that gives them. */
#define SL_CAMERA_ENCODED_OUTPUT "encoded-output"
/** Name of the custom event, out of band, by which a live camera tells that frames come which it did not encode. */
#define SL_CAMERA_ENCODED_NONE "slcamera-encoded-none"
/** What waits for whoever takes the frames: a live camera's next ones are left out then, up to a key frame; files wait. */
#define SL_CAMERA_ENCODED_BYTES (16 << 20)
#define SL_CAMERA_ENCODED_TIME (5 * GST_SECOND)

/** SlCameraEncoded: of the thread that pushes. */
typedef struct
{
  gboolean flows;   /* the last frame went out; else the next one is a key frame, marked DISCONT */
  gboolean came;    /* a frame, since the connection began; it may be on its way through a parser */
  gboolean crowded; /* frames were left out since then, because too many waited */
} SlCameraEncoded;

/** sl_camera_encoded_new: (transfer floating) (nullable): an appsrc of that name, which takes no more once what is behind it wants no more;
 *  NULL where there is no appsrc. */
GstElement *sl_camera_encoded_new (void);
/** sl_camera_encoded_set_up: before @output starts. */
void sl_camera_encoded_set_up (GstAppSrc *output, gboolean live);
/** sl_camera_encoded_begin: of a connection. */
void sl_camera_encoded_begin (SlCameraEncoded *encoded);
/** sl_camera_encoded_move: timestamps of @frame to where @from is @to. What would be before 0 is 0, and a DTS behind the PTS is NONE. */
void sl_camera_encoded_move (GstBuffer *frame, GstClockTime from, GstClockTime to);
/** sl_camera_encoded_push: takes @frame, which waits for room where @output is not that of a @live camera. At
 *  the end of @output's stream it goes nowhere. */
void sl_camera_encoded_push (SlCameraEncoded *encoded, GstAppSrc *output, gboolean live, GstBuffer *frame);

G_END_DECLS

#endif
