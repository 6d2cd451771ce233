/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames of a video or a camera, kept to be seen again: a camera shows nothing twice. */
#pragma once

#include <gst/gst.h>

#include "tools/predict/inputs.h"
#include "tools/predict/spawner.h"

/** sl_recording_new: (transfer full) (element-type GstSample): @n frames of @input at most, evenly
 * over the whole of a video, or half a second apart from a camera; after gst_init(). Of a video 2.5
 * million frames are looked at, for an hour; a camera is waited for two seconds a frame, whatever
 * its timestamps. NULL with @error set, and without when the program was interrupted. */
GPtrArray *sl_recording_new (SlSpawner *spawner, const SlInput *input, guint n, GError **error);
