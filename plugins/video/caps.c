/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What upstream could give is read off the templates of its pads, not asked: it would ask back. */
#include "plugins/video/caps.h"

#include "core/base/fail.h"
#include "plugins/base/report.h"

/* Elements between an element and the one that makes its caps. */
#define MAX_BETWEEN 64

/* What to put before an element that gets this memory; "%s" is the element. */
static const struct
{
  const char *feature, *advice;
} memories[] = {
  { "memory:GLMemory", "put gldownload before %s" },
  { "memory:DMABuf",
    "have the element upstream write system memory (v4l2src io-mode=mmap), or put glupload ! "
    "gldownload before %s" },
  { "memory:VAMemory", "put vapostproc ! video/x-raw before %s" },
  { "memory:VASurface", "put vaapipostproc ! video/x-raw before %s" },
  { "memory:CUDAMemory", "put cudadownload before %s" },
  { "memory:NVMM", "put nvvideoconvert ! video/x-raw before %s" },
  { "memory:VulkanImage", "put vulkandownload before %s" },
  { "memory:D3D11Memory", "put d3d11download before %s" },
};

/* (transfer full): what can come out of @source at all. */
static GstCaps *
possible_caps (GstPad *source, GstElement *element)
{
  GstCaps *caps = NULL;
  if (g_str_equal (G_OBJECT_TYPE_NAME (element), "GstCapsFilter"))
    g_object_get (element, "caps", &caps, NULL);
  return caps != NULL ? caps : gst_pad_get_pad_template_caps (source);
}

gboolean
sl_video_caps_has_choice (GstPad *sink, GstCaps *taken)
{
  GstPad *at = gst_object_ref (sink);
  gboolean choice = FALSE, known = FALSE;
  for (guint i = 0; i < MAX_BETWEEN && at != NULL && !known; i++) {
    g_autoptr (GstPad) source = sl_pad_get_source (at);
    g_autoptr (GstElement) element = source != NULL ? gst_pad_get_parent_element (source) : NULL;
    g_autoptr (GstCaps) caps = element != NULL ? possible_caps (source, element) : NULL;
    gst_clear_object (&at);
    if (caps == NULL)
      break;
    known = !gst_caps_is_any (caps);
    choice = known && gst_caps_can_intersect (caps, taken);
    at = known ? NULL : sl_element_get_only_sink (element);
  }
  gst_clear_object (&at);
  return choice;
}

static void
open_sink (GstPad *sink, GstQuery *query, GstCaps *filter, GstCaps *answer)
{
  g_autoptr (GstCaps) strict = gst_pad_get_pad_template_caps (sink);
  if (gst_caps_is_any (answer) || (filter != NULL && gst_caps_can_intersect (filter, strict))
      || sl_video_caps_has_choice (sink, strict))
    return;
  g_autoptr (GstCaps) raw = gst_caps_from_string ("video/x-raw(ANY)");
  g_autoptr (GstCaps) opened = gst_caps_merge (
    gst_caps_ref (answer), filter != NULL ? gst_caps_intersect (filter, raw) : gst_caps_ref (raw));
  gst_query_set_caps_result (query, opened);
}

static void
open_source (GstBaseTransform *base, GstQuery *query, GstCaps *filter, GstCaps *answer)
{
  g_autoptr (GstCaps) strict = gst_pad_get_pad_template_caps (base->sinkpad);
  if (!gst_caps_is_empty (answer) || sl_video_caps_has_choice (base->sinkpad, strict))
    return;
  g_autoptr (GstCaps) made = gst_pad_get_pad_template_caps (base->srcpad);
  g_autoptr (GstCaps) opened =
    filter != NULL ? gst_caps_intersect (filter, made) : gst_caps_ref (made);
  gst_query_set_caps_result (query, opened);
}

void
sl_video_caps_open (GstBaseTransform *base, GstPadDirection direction, GstQuery *query)
{
  GstCaps *filter = NULL, *answer = NULL;
  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    return;
  gst_query_parse_caps (query, &filter);
  gst_query_parse_caps_result (query, &answer);
  if (answer == NULL)
    return;
  if (direction == GST_PAD_SINK)
    open_sink (base->sinkpad, query, filter, answer);
  else
    open_source (base, query, filter, answer);
}

/* (nullable): the feature of @caps that is a kind of memory and not the system's. */
static const char *
find_memory (GstCaps *caps)
{
  GstCapsFeatures *features = gst_caps_get_features (caps, 0);
  for (guint i = 0; i < gst_caps_features_get_size (features); i++) {
    const char *feature = gst_caps_features_get_nth (features, i);
    if (g_str_has_prefix (feature, "memory:")
        && !g_str_equal (feature, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY))
      return feature;
  }
  return NULL;
}

static gboolean
in_system_memory (GstCaps *caps)
{
  return gst_caps_features_is_equal (gst_caps_get_features (caps, 0),
                                     GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
}

gboolean
sl_video_caps_is_raw (GstCaps *caps)
{
  return gst_caps_get_size (caps) == 1
         && gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw")
         && (in_system_memory (caps) || find_memory (caps) != NULL);
}

static gboolean
accept_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps)
{
  const GstBaseTransformClass *parent = g_type_class_peek (GST_TYPE_BASE_TRANSFORM);
  return direction == GST_PAD_SINK ? sl_video_caps_is_raw (caps)
                                   : parent->accept_caps (base, direction, caps);
}

static gboolean
answer_query (GstBaseTransform *base, GstPadDirection direction, GstQuery *query)
{
  const GstBaseTransformClass *parent = g_type_class_peek (GST_TYPE_BASE_TRANSFORM);
  const gboolean answered = parent->query (base, direction, query);
  if (answered)
    sl_video_caps_open (base, direction, query);
  return answered;
}

GstFlowReturn
sl_video_caps_submit (GstBaseTransform *base, gboolean discont, GstBuffer *frame)
{
  GstBaseTransformClass *parent = g_type_class_peek (GST_TYPE_BASE_TRANSFORM);
  if (sl_element_has_format (GST_ELEMENT (base), base->sinkpad))
    return parent->submit_input_buffer (base, discont, frame);
  gst_buffer_unref (frame);
  return GST_FLOW_NOT_NEGOTIATED;
}

void
sl_video_caps_let_through (GstBaseTransformClass *klass)
{
  klass->submit_input_buffer = sl_video_caps_submit;
  klass->accept_caps = accept_caps;
  klass->query = answer_query;
}

gboolean
sl_video_caps_check_memory (GstCaps *caps, const char *element, GError **error)
{
  if (gst_caps_is_empty (caps) || gst_caps_is_any (caps) || in_system_memory (caps))
    return TRUE;
  const char *memory = find_memory (caps);
  g_autoptr (GString) advice =
    g_string_new ("put an element before %s that gives video/x-raw in system memory");
  g_autofree char *features = gst_caps_features_to_string (gst_caps_get_features (caps, 0));
  for (guint i = 0; i < G_N_ELEMENTS (memories); i++)
    if (g_strcmp0 (memory, memories[i].feature) == 0)
      g_string_assign (advice, memories[i].advice);
  g_string_replace (advice, "%s", element, 1);
  return sl_fail (error, SL_ERROR_UNSUPPORTED,
                  "expected video/x-raw in system memory, got video/x-raw(%s): %s", features,
                  advice->str);
}

void
sl_video_caps_refuse_format (const char *got, const char *formats, const char *element,
                             GError **error)
{
  sl_fail (error, SL_ERROR_UNSUPPORTED,
           "pixel format %s is not supported; expected one of %s: put videoconvert before %s", got,
           formats, element);
}

gboolean
sl_video_caps_check (GstBaseTransform *base, GstEvent *event, const char *formats,
                     const char *element, gboolean *refused)
{
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (base->sinkpad);
  GError *error = NULL;
  GstCaps *caps;
  gst_event_parse_caps (event, &caps);
  if (gst_caps_can_intersect (caps, template))
    *refused = FALSE;
  else if (sl_video_caps_check_memory (caps, element, &error))
    sl_video_caps_refuse_format (
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "format"), formats, element,
      &error);
  return error == NULL || sl_element_refuse (GST_ELEMENT (base), refused, error);
}
