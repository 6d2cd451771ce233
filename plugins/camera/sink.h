/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sink of slcamera's inner pipeline. It passes frames to a callback, and requests the caps that
 * slcamera sets from upstream.
 */
#pragma once

#include <gst/base/gstbasesink.h>

/**
 * SlCameraSinkCalls: all are called from the inner streaming thread.
 * @frame: @buffer (transfer none), whose metadata may be changed where it is writable, with its
 * @running time in the inner
 *   pipeline, GST_CLOCK_TIME_NONE if it has none, and that pipeline's @base time
 * @caps: caps of the frames that follow
 * @tags: tags of the stream
 */
typedef struct
{
  GstFlowReturn (*frame) (gpointer data, GstBuffer *buffer, GstClockTime running,
                          GstClockTime base);
  void (*caps) (gpointer data, GstCaps *caps);
  void (*tags) (gpointer data, GstEvent *event);
} SlCameraSinkCalls;

#define SL_TYPE_CAMERA_SINK (sl_camera_sink_get_type ())
G_DECLARE_FINAL_TYPE (SlCameraSink, sl_camera_sink, SL, CAMERA_SINK, GstBaseSink)

/** sl_camera_sink_new: (transfer floating): @wanted are the caps it accepts; @free_data frees @data
 * with the sink. */
GstElement *sl_camera_sink_new (const GstCaps *wanted, const SlCameraSinkCalls *calls,
                                gpointer data, GDestroyNotify free_data);
