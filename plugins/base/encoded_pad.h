/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pads of an element that passes frames from sink to src and takes the camera's own encoded
 * stream at a request pad, which leads nowhere.
 */
#pragma once

#include <gst/gst.h>

/** The name of the request pad. */
#define SL_ENCODED_PAD "encoded"
/** Its caps: frames that files can hold as they are. */
#define SL_ENCODED_PAD_CAPS                                                    \
  "video/x-h264, stream-format=(string){ avc, avc3 }, alignment=(string)au; "  \
  "video/x-h265, stream-format=(string){ hvc1, hev1 }, alignment=(string)au; " \
  "image/jpeg, width=(int)[ 1, MAX ], height=(int)[ 1, MAX ]"

/** sl_encoded_pad_class: for class_init: adds the templates of the three pads. */
void sl_encoded_pad_class (GstElementClass *klass);
/** sl_encoded_pad_add: (transfer none): for init: adds the pad "sink" or "src" to @element. */
GstPad *sl_encoded_pad_add (GstElement *element, const char *name);
/** sl_encoded_pad_request: for request_new_pad: (transfer none) (nullable): the pad, with these
 * functions; NULL when there is one, or the element has started. @place: where the element keeps
 * it, under the object lock */
GstPad *sl_encoded_pad_request (GstElement *element, GstPadTemplate *template, GstPad **place,
                                GstPadChainFunction chain, GstPadEventFunction event);
/** sl_encoded_pad_release: for release_pad. @place: as above */
void sl_encoded_pad_release (GstElement *element, GstPad *pad, GstPad **place);
