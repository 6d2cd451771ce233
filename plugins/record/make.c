/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A table of packages, for the message of one that is missing. */
#include "plugins/record/make.h"

#include <string.h>

#include "core/base/fail.h"

static const struct
{
  const char *factory, *package;
} packages[] = {
  { "fdsink", "libgstreamer1.0-0" },           { "matroskamux", "gstreamer1.0-plugins-good" },
  { "jpegenc", "gstreamer1.0-plugins-good" },  { "vp8enc", "gstreamer1.0-plugins-good" },
  { "x264enc", "gstreamer1.0-plugins-ugly" },  { "openh264enc", "gstreamer1.0-plugins-bad" },
  { "h264parse", "gstreamer1.0-plugins-bad" }, { "h265parse", "gstreamer1.0-plugins-bad" },
  { "jpegparse", "gstreamer1.0-plugins-bad" },
};

const char *
sl_record_package (const char *factory)
{
  for (guint i = 0; i < G_N_ELEMENTS (packages); i++)
    if (strcmp (packages[i].factory, factory) == 0)
      return packages[i].package;
  return "gstreamer1.0-plugins-base";
}

/* (transfer floating) (nullable): programs that carry sloverlay inside have its type, and no
 * factory. */
static GstElement *
make (const char *factory)
{
  const GType overlay = g_type_from_name ("SlOverlay");
  if (strcmp (factory, "sloverlay") == 0 && overlay != G_TYPE_INVALID)
    return g_object_new (overlay, NULL);
  return gst_element_factory_make (factory, NULL);
}

GstElement *
sl_record_add (GstBin *bin, const char *factory, GstElement **last, GError **error)
{
  GstElement *element = make (factory);
  if (element == NULL)
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "GStreamer's element '%s' is missing: install %s (Debian's name)", factory,
                         sl_record_package (factory));
  gst_bin_add (bin, element);
  if (*last != NULL && !gst_element_link (*last, element))
    return sl_fail_null (error, SL_ERROR_BACKEND, "%s cannot be linked behind %s", factory,
                         GST_OBJECT_NAME (*last));
  *last = element;
  return element;
}

gboolean
sl_record_has (const char *factory)
{
  g_autoptr (GstElementFactory) found = gst_element_factory_find (factory);
  return found != NULL
         || (strcmp (factory, "sloverlay") == 0
             && g_type_from_name ("SlOverlay") != G_TYPE_INVALID);
}

gboolean
sl_record_reads (GstCaps *caps, GstVideoInfo *info)
{
  const GstCapsFeatures *features = gst_caps_get_features (caps, 0);
  for (guint i = 0; i < gst_caps_features_get_size (features); i++) {
    const char *feature = gst_caps_features_get_nth (features, i);
    if (!g_str_has_prefix (feature, "meta:")
        && strcmp (feature, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY) != 0)
      return FALSE;
  }
  return gst_video_info_from_caps (info, caps);
}

GstCaps *
sl_record_plain (GstCaps *caps)
{
  GstCaps *plain = gst_caps_copy (caps);
  gst_caps_set_features (plain, 0, NULL);
  return plain;
}

GstClockTime
sl_record_running_time (const GstSegment *segment, GstClockTime time)
{
  guint64 running;
  if (segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (time)
      || gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, time, &running) <= 0)
    return GST_CLOCK_TIME_NONE;
  return running;
}
