/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Links the encoded frames of a camera to the recorder in the same launch line.
 */
#ifndef SL_PIPELINES_DESCRIPTION_CAMERA_LINK_H
#define SL_PIPELINES_DESCRIPTION_CAMERA_LINK_H

#include <gst/gst.h>

/** sl_camera_link_recorder: links the pad encoded of the slcamera before @recorder, an slrecord, to
 * its own, where between them are only elements that leave pictures as they are, neither pad is in
 * use, and no encoder is set. FALSE: it does not. */
gboolean sl_camera_link_recorder (GstElement *recorder);

#endif
