/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element before slpublish whose threshold decides what is found. */
#pragma once

#include <gst/gst.h>

/** sl_detector_find: (transfer full) (nullable): the first slpredict, or slpostprocess, of those
 * that data comes through to sink @pad. */
GstElement *sl_detector_find (GstPad *pad);
