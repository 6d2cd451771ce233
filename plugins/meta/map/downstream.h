/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predictions on frames that GStreamer's own elements crop, mirror, turn or put borders around:
 * these elements copy regions as they are, or leave them out.
 */
#pragma once

#include <gst/gst.h>

/** sl_results_follow: from now on what is predicted of frames that leave @source moves with their
 * pixels through the elements that are linked behind it: videocrop, aspectratiocrop, videobox,
 * videoflip, glvideoflip and videoscale. Behind elements that bend the picture predictions are left
 * out, with a warning. To be called again when others are linked; what is followed already is not
 * followed twice. */
void sl_results_follow (GstPad *source);
