/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was read of an object, as a structure on its region of interest:
 *
 *   code, symbology=(string), text=(string, where the bytes are one), payload=(variant of bytes),
 * checked=(boolean), quality=(int),
 *   corners=<8 doubles: x and y in 0..1 of the object's box>
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "postprocess/predictions/prediction.h"

/** sl_region_set_code: attaches @code to @region, in place of one that is there. */
void sl_region_set_code (GstVideoRegionOfInterestMeta *region, const SlCodeView *code);
/** sl_region_read_code: FALSE where @region has no code, or one that makes no sense. @code points
 * into the region's structure. */
gboolean sl_region_read_code (GstVideoRegionOfInterestMeta *region, SlCodeView *code);
