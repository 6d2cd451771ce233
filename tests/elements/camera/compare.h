/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of a stream of numbered pictures (tests/support/numbered.h), compared with the pictures
 * that they are of.
 */
#ifndef SL_TESTS_ELEMENTS_CAMERA_COMPARE_H
#define SL_TESTS_ELEMENTS_CAMERA_COMPARE_H

#include <gst/gst.h>

/** dB: frames below that differ by more than what encoding does to them. */
#define COMPARE_GOOD 25.0

/**
 * Compare: members below @lock belong to the streaming thread.
 * @bad: frames that are no picture of the stream
 * @worst: dB, of all frames
 * @first: when the first frame came, monotonic us
 */
typedef struct
{
  GMutex lock;
  guint frames, bad;
  double worst;
  gint64 first;
} Compare;

/** compare_watch: frames of @pad, in I420, or those of which its tensors are made. @compare must
 * stay. */
void compare_watch (Compare *compare, GstPad *pad);

#endif
