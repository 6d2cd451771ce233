/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caps of DMABuf. The kernel names formats by four letters (drm_fourcc.h), of a little-endian word
 * where GStreamer names bytes in their order; behind a colon comes the modifier, which says how
 * pixels lie in memory, and whose highest byte is a vendor's number.
 */
#include "plugins/video/dmabuf.h"

#include <gst/video/video.h>

#include <string.h>

#include "plugins/video/caps.h"
#include "core/base/fail.h"

#define MEMORY "memory:DMABuf"
#define DRM "DMA_DRM"

static const struct
{
  const char *format, *drm;
} formats[] = {
  { "NV12", "NV12" },      { "NV21", "NV21" },  { "I420", "YU12" }, { "YV12", "YV12" },
  { "YUY2", "YUYV" },      { "UYVY", "UYVY" },  { "Y42B", "YU16" }, { "Y444", "YU24" },
  { "P010_10LE", "P010" }, { "GRAY8", "R8  " }, { "RGB", "BG24" },  { "BGR", "RG24" },
  { "RGBx", "XB24" },      { "BGRx", "XR24" },  { "RGBA", "AB24" }, { "BGRA", "AR24" },
  { "xRGB", "BX24" },      { "ARGB", "BA24" },  { "xBGR", "RX24" }, { "ABGR", "RA24" },
};

/* By the modifier's highest byte; what makes linear frames in system memory of theirs. */
static const struct
{
  guint vendor;
  const char *name, *advice;
} vendors[] = {
  { 1, "Intel", "vapostproc ! video/x-raw" },
  { 2, "AMD", "vapostproc ! video/x-raw" },
  { 3, "NVIDIA", "glupload ! glcolorconvert ! gldownload" },
  { 4, "Samsung", "v4l2convert" },
  { 5, "Qualcomm", "glupload ! glcolorconvert ! gldownload" },
  { 6, "Vivante", "glupload ! glcolorconvert ! gldownload" },
  { 7, "Broadcom", "v4l2convert" },
  { 8, "Arm", "glupload ! glcolorconvert ! gldownload" },
  { 9, "Allwinner", "v4l2convert" },
  { 10, "Amlogic", "glupload ! glcolorconvert ! gldownload" },
};

static const char *
drm_of (const char *format)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_str_equal (format, formats[i].format))
      return formats[i].drm;
  return NULL;
}

static gboolean
read_modifier (const char *drm, guint64 *modifier)
{
  const char *colon = strchr (drm, ':');
  const char *digits = colon == NULL                        ? "0"
                       : g_str_has_prefix (colon + 1, "0x") ? colon + 3
                                                            : colon + 1;
  return g_ascii_string_to_unsigned (digits, 16, 0, G_MAXUINT64, modifier, NULL);
}

/* (nullable): of a linear format that is known. */
static const char *
format_of (const char *drm)
{
  guint64 modifier;
  const gsize length = strcspn (drm, ":");
  if (!read_modifier (drm, &modifier) || modifier != 0)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (strlen (formats[i].drm) == length && strncmp (drm, formats[i].drm, length) == 0)
      return formats[i].format;
  return NULL;
}

/* Sets @field of @structure to what @rename makes of the strings of @value, a string or a list of
 * strings; FALSE when of none. */
static gboolean
set_renamed (GstStructure *structure, const char *field, const GValue *value,
             const char *(*rename) (const char *) )
{
  const gboolean listed = GST_VALUE_HOLDS_LIST (value);
  const guint n = listed ? gst_value_list_get_size (value) : 1;
  g_auto (GValue) names = G_VALUE_INIT;
  g_value_init (&names, GST_TYPE_LIST);
  for (guint i = 0; i < n; i++) {
    const GValue *one = listed ? gst_value_list_get_value (value, i) : value;
    const char *name = G_VALUE_HOLDS_STRING (one) && g_value_get_string (one) != NULL
                         ? rename (g_value_get_string (one))
                         : NULL;
    GValue renamed = G_VALUE_INIT;
    if (name == NULL)
      continue;
    g_value_init (&renamed, G_TYPE_STRING);
    g_value_set_static_string (&renamed, name);
    gst_value_list_append_and_take_value (&names, &renamed);
  }
  const guint found = gst_value_list_get_size (&names);
  if (found > 0)
    gst_structure_set_value (structure, field,
                             found == 1 ? gst_value_list_get_value (&names, 0) : &names);
  return found > 0;
}

GstCaps *
sl_dmabuf_offer (GstCaps *caps)
{
  caps = gst_caps_make_writable (caps);
  const guint n = gst_caps_get_size (caps);
  for (guint i = 0; i < n; i++) {
    GstStructure *drm = gst_structure_copy (gst_caps_get_structure (caps, i));
    const GValue *format = gst_structure_get_value (drm, "format");
    gst_caps_append_structure_full (caps, gst_structure_copy (drm),
                                    gst_caps_features_new (MEMORY, NULL));
    if (format != NULL && !set_renamed (drm, "drm-format", format, drm_of)) {
      gst_structure_free (drm);
      continue;
    }
    gst_structure_set (drm, "format", G_TYPE_STRING, DRM, NULL);
    gst_caps_append_structure_full (caps, drm, gst_caps_features_new (MEMORY, NULL));
  }
  return caps;
}

gboolean
sl_dmabuf_is_wanted (GstCaps *filter)
{
  if (filter == NULL)
    return TRUE;
  for (guint i = 0; i < gst_caps_get_size (filter); i++)
    if (gst_structure_has_name (gst_caps_get_structure (filter, i), "video/x-raw")
        && gst_caps_features_is_equal (gst_caps_get_features (filter, i),
                                       GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      return FALSE;
  return TRUE;
}

static gboolean
in_dmabuf (GstCaps *caps, guint i)
{
  return gst_caps_features_contains (gst_caps_get_features (caps, i), MEMORY);
}

static gboolean
is_drm (const GstStructure *structure)
{
  return g_strcmp0 (gst_structure_get_string (structure, "format"), DRM) == 0;
}

GstCaps *
sl_dmabuf_plain (GstCaps *caps)
{
  GstCaps *plain = gst_caps_new_empty ();
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    if (!in_dmabuf (caps, i)
        && !gst_caps_features_is_equal (gst_caps_get_features (caps, i),
                                        GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      continue;
    GstStructure *structure = gst_structure_copy (gst_caps_get_structure (caps, i));
    const GValue *drm = gst_structure_get_value (structure, "drm-format");
    const gboolean known =
      !is_drm (structure) || (drm != NULL && set_renamed (structure, "format", drm, format_of));
    gst_structure_remove_field (structure, "drm-format");
    if (known)
      plain = gst_caps_merge_structure (plain, structure);
    else
      gst_structure_free (structure);
  }
  return plain;
}

/* Why frames of @drm are not mapped, and what to do. Returns FALSE. */
static gboolean
refuse_drm (const char *drm, const char *element, GError **error)
{
  const char *vendor = NULL, *advice = "glupload ! glcolorconvert ! gldownload";
  guint64 modifier = 0;
  const gboolean numbered = read_modifier (drm, &modifier);
  for (guint i = 0; i < G_N_ELEMENTS (vendors); i++)
    if (vendors[i].vendor == modifier >> 56)
      vendor = vendors[i].name, advice = vendors[i].advice;
  return sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "expected DMABuf frames whose rows lie one after another (linear, such as drm-format=NV12) and "
    "of a known format, got drm-format=%s%s%s%s: have the element upstream write those, or system "
    "memory, or put %s before %s",
    drm,
    !numbered || modifier == 0 ? ""
    : vendor != NULL           ? ", tiled or compressed as hardware of "
                               : ", of an unknown layout",
    vendor != NULL ? vendor : "", vendor != NULL ? " does" : "", advice, element);
}

gboolean
sl_dmabuf_check (GstCaps *caps, const char *element, GError **error)
{
  if (gst_caps_get_size (caps) == 0 || !in_dmabuf (caps, 0))
    return sl_video_caps_check_memory (caps, element, error);
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const char *drm = gst_structure_get_string (structure, "drm-format");
  if (!is_drm (structure) || (drm != NULL && format_of (drm) != NULL))
    return TRUE;
  return refuse_drm (drm != NULL ? drm : "(none)", element, error);
}

gboolean
sl_dmabuf_propose (GstBaseTransform *base, GstQuery *decide_query, GstQuery *query)
{
  GstCaps *caps = NULL;
  GstVideoInfo video;
  gst_query_parse_allocation (query, &caps, NULL);
  g_autoptr (GstCaps) plain = caps != NULL ? sl_dmabuf_plain (caps) : NULL;
  if (plain == NULL || gst_caps_is_empty (plain) || !gst_video_info_from_caps (&video, plain))
    return FALSE;
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_pool (query, NULL, (guint) GST_VIDEO_INFO_SIZE (&video), 2, 0);
  return TRUE;
}
