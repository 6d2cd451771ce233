/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The geometry of GStreamer's elements that crop, turn, mirror or scale a picture: where each puts
 * the pixels.
 */
#ifndef SL_PLUGINS_META_MAP_GEOMETRY_H
#define SL_PLUGINS_META_MAP_GEOMETRY_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "core/base/affine.h"

typedef enum
{
  SL_GEOMETRY_NONE,  /* it leaves pixels where they are, or nothing is known of it */
  SL_GEOMETRY_KNOWN, /* it moves them as sl_geometry_find() says */
  SL_GEOMETRY_BENT   /* it moves them in no way that a box could follow */
} SlGeometryKind;

SlGeometryKind sl_geometry_kind (GstElement *element);
/** sl_geometry_find: @affine: points of a frame of @to, which came out of @element, -> points of
 * the one of @from that went in. @tagged: how the stream's tag says that frames are to be turned.
 */
void sl_geometry_find (GstElement *element, const GstVideoInfo *from, const GstVideoInfo *to,
                       GstVideoOrientationMethod tagged, SlAffine *affine);

#endif
