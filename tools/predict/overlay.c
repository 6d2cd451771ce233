/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sloverlay, made from its type: the program needs no plugin file. */
#include "config.h"
#include "tools/predict/overlay.h"

#include "core/base/fail.h"
#include "plugins/elements.h"

GstElement *
sl_make_drawing (GstBin *bin, const char *redact, GError **error)
{
  if (redact == NULL)
    return sl_make_overlay (bin, error);
  GstElement *redactor = g_object_new (sl_redact_get_type (), "classes", redact, NULL);
  gst_bin_add (bin, redactor);
  return redactor;
}

#ifdef SL_HAVE_OVERLAY

GstElement *
sl_make_overlay (GstBin *bin, GError **error)
{
  GstElement *overlay = g_object_new (sl_overlay_get_type (), NULL);
  gst_bin_add (bin, overlay);
  return overlay;
}

#else

GstElement *
sl_make_overlay (GstBin *bin, GError **error)
{
  return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                       "this build cannot draw: it was made without Pango (meson option overlay)");
}

#endif
