/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies the input of the decoder in slcamera's inner pipeline: whole encoded frames from the
 * camera.
 */
#pragma once

#include <gst/gst.h>

/** Caps of what a tap gives: frames that files can hold as they are, parameter sets in the caps. */
#define SL_CAMERA_ENCODED_CAPS                                                            \
  "video/x-h264, stream-format=(string)avc, alignment=(string)au; video/x-h265, "         \
  "stream-format=(string)hvc1, alignment=(string)au; image/jpeg, width=(int)[ 1, MAX ], " \
  "height=(int)[ 1, MAX ]"

/**
 * SlCameraTapCalls: all are called from the decoder's streaming thread, which waits meanwhile.
 * @stamp: @frame's timestamps, running time of the inner pipeline or NONE, become those of the
 * outer one; @reordered: it may be shown before frames that came earlier
 * @caps: of the frames that follow
 * @frame: @frame (transfer full), with the timestamps that @stamp gave it
 */
typedef struct
{
  void (*stamp) (gpointer data, GstBuffer *frame, gboolean reordered);
  void (*caps) (gpointer data, GstCaps *caps);
  void (*frame) (gpointer data, GstBuffer *frame);
} SlCameraTapCalls;

/** SlCameraTap: counted references, any thread. */
typedef struct _SlCameraTap SlCameraTap;

/** sl_camera_tap_new: @free_data frees @data with the tap. */
SlCameraTap *sl_camera_tap_new (const SlCameraTapCalls *calls, gpointer data,
                                GDestroyNotify free_data);
void sl_camera_tap_unref (SlCameraTap *tap);
/** sl_camera_tap_decoder: takes what reaches the sink pad of @decoder. Of several decoders it is
 * the first that gets a stream of SL_CAMERA_ENCODED_CAPS, as long as that one exists. */
void sl_camera_tap_decoder (SlCameraTap *tap, GstElement *decoder);
/** sl_camera_tap_decoders: the same for all decoders that @bin gets from now on, at any depth. */
void sl_camera_tap_decoders (SlCameraTap *tap, GstBin *bin);
