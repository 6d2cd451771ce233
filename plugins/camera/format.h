/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which of a camera's formats costs least: what a device offers and what is wanted -> one format,
 * size and rate. Knows no device.
 */
#pragma once

#include <gst/gst.h>

/** SlCameraWish: @width, @height: at least that many pixels; @framerate: frames a second, at least.
 */
typedef struct
{
  gint width, height;
  gdouble framerate;
} SlCameraWish;

/** sl_camera_choose_caps: (transfer full) (nullable): fixed caps out of @device (of video/x-raw and
 * image/jpeg). In this order: no pixel fewer than wanted, no frame fewer, and then the least work a
 * second: raw formats that @downstream takes, raw formats that must be converted, JPEG; smaller
 * before larger. NULL when @device has neither. */
GstCaps *sl_camera_choose_caps (const GstCaps *device, const GstCaps *downstream,
                                const SlCameraWish *wish);
/** sl_camera_model_size: the size of the picture that models downstream of @src want; FALSE when
 * there is none. The largest width and the largest height where there are several. */
gboolean sl_camera_model_size (GstPad *src, gint *width, gint *height);
