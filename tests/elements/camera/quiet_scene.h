/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drawn videos of a fixed camera: a textured scene with noise, through which a box goes now and
 * then. The box shows the number of its frame, so a decoded frame proves which one it is.
 */
#ifndef SL_TESTS_ELEMENTS_CAMERA_QUIET_SCENE_H
#define SL_TESTS_ELEMENTS_CAMERA_QUIET_SCENE_H

#include <gst/gst.h>

/**
 * QuietScene:
 * @encoder: elements from raw I420 to an encoded stream that matroskamux takes
 * @fps, @gop: frames a second, and from key frame to key frame
 * @noise: deviation of the camera's noise, in levels
 * @box: height of the box in pixels; it is twice as wide. Its number can be read from 32 on
 * @times: how often it goes through the picture
 * @quiet, @walk: frames before each time, and of one time; each time begins later by up to a group
 */
typedef struct
{
  const char *encoder;
  gint width, height, fps, gop;
  double noise;
  gint box;
  guint times, quiet, walk;
} QuietScene;

/** QuietSeen: members below @lock belong to the streaming thread. @frames: one byte for each frame
 * of the scene: how often it came; @wrong: frames whose box is missing or shows another number;
 * @late: frames that are marked as late */
typedef struct
{
  const QuietScene *scene;
  GMutex lock;
  guint8 *frames;
  guint n, came, wrong, late;
  GstClockTime begin; /* time of the first frame */
} QuietSeen;

guint quiet_scene_frames (const QuietScene *scene);
/** quiet_scene_start: the first frame of walk @time, from 0. */
guint quiet_scene_start (const QuietScene *scene, guint time);
/** quiet_scene_write: FALSE: an element is not installed. */
gboolean quiet_scene_write (const QuietScene *scene, const char *path);
/** quiet_seen_watch: frames of @pad, I420 of @scene; the time since the first one tells their
 * number. */
void quiet_seen_watch (QuietSeen *seen, const QuietScene *scene, GstPad *pad);
void quiet_seen_clear (QuietSeen *seen);
/** quiet_seen_missing: frames of walks, and from the key frames before them on, that did not come.
 * @walks: (out): walks of which a frame is missing */
guint quiet_seen_missing (const QuietSeen *seen, guint *walks);

#endif
