/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts that models read of an object, as structures on its region of interest. A reading is a
 * structure "classification" with the label_id SL_TEXT_ID. Ours has one more field:
 *
 *   shares=<floats: the confidence of each character>
 *
 * What sltext makes of the readings is a structure of its own:
 *
 *   text, text=(string), confidence=(double), votes=(uint), format=(string, if it has one),
 * shares=<floats, one a character>, read=<uints: what was read in place of each character, 0 = the
 * same>
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "postprocess/predictions/prediction.h"

/** A reading: at most SL_MAX_TEXT characters; others are cut. */
typedef struct
{
  guint n;
  gunichar characters[SL_MAX_TEXT];
  gfloat shares[SL_MAX_TEXT]; /* 0..1; of readings without shares that of the text */
} SlReading;

/** sl_reading_set_shares: adds the confidences of characters to @classification. */
void sl_reading_set_shares (GstStructure *classification, const gfloat *shares, guint n);
/** sl_region_get_reading: sets @reading to the last text that a model read of the object of
 * @region. FALSE if none did. */
gboolean sl_region_get_reading (const GstVideoRegionOfInterestMeta *region, SlReading *reading);
/** sl_region_set_text: attaches @text to @region, in place of one that is there. */
void sl_region_set_text (GstVideoRegionOfInterestMeta *region, const SlTextView *text);
/** sl_region_read_text: FALSE if @region has no text, or one that makes no sense. The format's name
 * is interned. */
gboolean sl_region_read_text (GstVideoRegionOfInterestMeta *region, SlTextView *text);
