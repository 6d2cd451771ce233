/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predictions as ONVIF metadata: a document of XML for each frame. */
#pragma once

#include "postprocess/predictions/prediction.h"

/** Media type of such documents. */
#define SL_ONVIF_CAPS "application/x-onvif-metadata, parsed=(boolean)true"

/** sl_onvif_append: appends a document tt:MetadataStream. @prediction: (nullable): objects and
 * labels of a frame that was taken at @utc, microseconds since 1970; NULL = the document is empty.
 */
void sl_onvif_append (GString *out, const SlPredictionView *prediction, gint64 utc);
