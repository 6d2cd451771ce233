/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element that draws, where this build has it. */
#pragma once

#include <gst/gst.h>

/** sl_make_overlay: (transfer none) (nullable): an sloverlay added to @bin; NULL with @error set in
 * a build without. */
GstElement *sl_make_overlay (GstBin *bin, GError **error);
/** sl_make_drawing: (transfer none) (nullable): the same, or where @redact, a list of classes
 * (nullable), is stated, an slredact that hides them; "" = all. */
GstElement *sl_make_drawing (GstBin *bin, const char *redact, GError **error);
