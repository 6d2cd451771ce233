/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pipeline in READY knows what each link may carry: models are loaded and answer for their
 * tensors, cameras for their formats. What it will carry is predicted as the first of that,
 * completed to a common size where anything goes.
 */

#include "pipelines/supervise/bus.h"
#include "plugins/base/report.h"
#include "plugins/camera/unused.h"
#include "plugins/camera/uri.h"
#include "tools/check/findings.h"

#define LONGEST_CAPS 200
#define ASSUMED_WIDTH 1280
#define ASSUMED_HEIGHT 720
#define ASSUMED_FPS 30

/* Sinks that write files create and empty them in READY, and black boxes are made of what killed
 * programs recorded. */
static void
keep_files (GstElement *pipeline)
{
  g_autoptr (GPtrArray) elements = sl_check_elements (pipeline);
  for (guint i = 0; i < elements->len; i++)
    if (sl_check_is (elements->pdata[i], "slinfer"))
      g_object_set (elements->pdata[i], "black-box", NULL, NULL);
    else if (GST_OBJECT_FLAG_IS_SET (elements->pdata[i], GST_ELEMENT_FLAG_SINK)
             && g_object_class_find_property (G_OBJECT_GET_CLASS (elements->pdata[i]), "location")
                  != NULL)
      gst_element_set_locked_state (elements->pdata[i], TRUE);
}

/* Whether frames may leave @element with another size or rate. */
static gboolean
changes_frames (GstElement *element)
{
  return sl_element_has_class (element, "Scaler") || sl_element_has_class (element, "Effect");
}

/* Of the slcamera that @element is, or gets its frames from as they are; the properties are 0 where
 * they are not set. */
static void
read_camera (GstElement *element, gint *width, gint *height, gdouble *rate)
{
  GstElement *at = gst_object_ref (element);
  g_autofree char *text = NULL;
  gint set[2] = { 0 };
  gdouble set_rate = 0;
  while (at != NULL && !sl_check_is (at, "slcamera")) {
    sl_check_go_up (&at, FALSE);
    if (at != NULL && changes_frames (at))
      gst_clear_object (&at);
  }
  if (at != NULL)
    g_object_get (at, "uri", &text, NULL);
  g_autoptr (SlCameraUri) uri = text != NULL ? sl_camera_uri_parse (text, NULL) : NULL;
  if (uri != NULL && sl_camera_has_choice (uri))
    g_object_get (at, "width", &set[0], "height", &set[1], "framerate", &set_rate, NULL);
  *width = set[0] > 0 ? set[0] : *width;
  *height = set[1] > 0 ? set[1] : *height;
  *rate = set_rate > 0 ? set_rate : *rate;
  gst_clear_object (&at);
}

GstCaps *
sl_check_fixate (GstCaps *caps, GstElement *element)
{
  gint width = ASSUMED_WIDTH, height = ASSUMED_HEIGHT, n, d;
  gdouble rate = ASSUMED_FPS;
  read_camera (element, &width, &height, &rate);
  gst_util_double_to_fraction (rate, &n, &d);
  caps = gst_caps_truncate (caps);
  GstStructure *first = gst_caps_get_structure (caps, 0);
  if (gst_structure_has_field (first, "width"))
    gst_structure_fixate_field_nearest_int (first, "width", width);
  if (gst_structure_has_field (first, "height"))
    gst_structure_fixate_field_nearest_int (first, "height", height);
  if (gst_structure_has_field (first, "framerate"))
    gst_structure_fixate_field_nearest_fraction (first, "framerate", n, d);
  return gst_caps_fixate (caps);
}

gboolean
sl_check_ready (GstElement *pipeline, GArray *findings)
{
  keep_files (pipeline);
  if (gst_element_set_state (pipeline, GST_STATE_READY) != GST_STATE_CHANGE_FAILURE)
    return TRUE;
  g_autoptr (GError) error = NULL;
  g_autofree char *element = NULL;
  sl_bus_take_refusal (pipeline, "the pipeline", &element, &error);
  sl_findings_add (findings, SL_FINDING_PROBLEM, element != NULL ? element : "start", "%s",
                   error->message);
  return FALSE;
}

/* (transfer full): the first of @caps, without fields that say nothing to people. */
static char *
describe_caps (GstCaps *caps, GstElement *element)
{
  g_autoptr (GstCaps) first = gst_caps_truncate (gst_caps_copy (caps));
  GstStructure *structure = gst_caps_get_structure (first, 0);
  gst_structure_remove_fields (structure, "contract", "multiview-mode", "multiview-flags",
                               "interlace-mode", "pixel-aspect-ratio", NULL);
  const gboolean fixed = gst_caps_get_size (caps) == 1 && gst_caps_is_fixed (first);
  if (!fixed)
    first = sl_check_fixate (first, element);
  g_autofree char *text = gst_caps_to_string (first);
  return g_strdup_printf ("%s%.*s", fixed ? "" : "such as ", LONGEST_CAPS, text);
}

static void
describe_link (GstElement *element, GstPad *src, GArray *findings)
{
  GstPad *peer = gst_pad_get_peer (src);
  g_autoptr (GstCaps) caps = peer != NULL ? gst_pad_get_allowed_caps (src) : NULL;
  GstElement *next = peer != NULL ? gst_pad_get_parent_element (peer) : NULL;
  if (next == NULL || GST_IS_BIN (next) || caps == NULL) {
    /* the edge of a bin, or a pad that is linked while running */
  } else if (gst_caps_is_empty (caps)) {
    g_autofree char *about =
      g_strdup_printf ("%s ! %s", GST_OBJECT_NAME (element), GST_OBJECT_NAME (next));
    g_autoptr (GstCaps) gives = gst_pad_query_caps (src, NULL),
                        takes = gst_pad_query_caps (peer, NULL);
    g_autofree char *given = gst_caps_to_string (gives), *taken = gst_caps_to_string (takes);
    sl_findings_add (findings, SL_FINDING_PROBLEM, "caps",
                     "%s: they have no format in common: %.*s gives %.*s, %s takes %.*s", about,
                     LONGEST_CAPS, GST_OBJECT_NAME (element), LONGEST_CAPS, given,
                     GST_OBJECT_NAME (next), LONGEST_CAPS, taken);
  } else if (!gst_caps_is_any (caps)) {
    g_autofree char *text = describe_caps (caps, element);
    sl_findings_add (findings, SL_FINDING_FACT, "caps", "%s ! %s: %s", GST_OBJECT_NAME (element),
                     GST_OBJECT_NAME (next), text);
  }
  gst_clear_object (&next);
  gst_clear_object (&peer);
}

void
sl_check_caps (GstElement *pipeline, GArray *findings)
{
  g_autoptr (GPtrArray) elements = sl_check_elements (pipeline);
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = elements->pdata[i];
    for (GList *link = element->srcpads; link != NULL; link = link->next)
      describe_link (element, link->data, findings);
  }
}
