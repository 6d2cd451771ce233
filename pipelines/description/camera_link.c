/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A clip must not show more than the launch line passes on. So elements that cover or crop a part
 * of the picture also apply to clips. */
#include "pipelines/description/camera_link.h"

#include <string.h>

#define ENCODED "encoded"

/* Those whose frames are the ones that came. */
static const char *const transparent[] = {
  "slpredict", "sltrack", "slanalyze", "slnormalize", "slinfer",  "slpostprocess", "slpublish",
  "queue",     "queue2",  "tee",       "capsfilter",  "identity", "videorate",     "videoconvert"
};

/* (transfer none) */
static const char *
factory_of (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  return factory != NULL ? GST_OBJECT_NAME (factory) : "";
}

static gboolean
is_transparent (GstElement *element)
{
  for (guint i = 0; i < G_N_ELEMENTS (transparent); i++)
    if (strcmp (factory_of (element), transparent[i]) == 0)
      return TRUE;
  return FALSE;
}

/* (transfer full) (nullable): what is linked to the sink pad of @element. */
static GstElement *
element_before (GstElement *element)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstPad) peer = sink != NULL ? gst_pad_get_peer (sink) : NULL;
  return peer != NULL ? gst_pad_get_parent_element (peer) : NULL;
}

/* (transfer full) (nullable) */
static GstElement *
camera_before (GstElement *recorder)
{
  GstElement *element = element_before (recorder);
  while (element != NULL && is_transparent (element)) {
    GstElement *before = element_before (element);
    gst_object_unref (element);
    element = before;
  }
  if (element != NULL && strcmp (factory_of (element), "slcamera") != 0)
    gst_clear_object (&element);
  return element;
}

static gboolean
is_in_use (GstElement *element)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, ENCODED);
  return pad != NULL;
}

gboolean
sl_camera_link_recorder (GstElement *recorder)
{
  g_autoptr (GstElement) camera = camera_before (recorder);
  g_autofree char *encoder = NULL;
  g_object_get (recorder, "encoder", &encoder, NULL);
  return camera != NULL && (encoder == NULL || *encoder == '\0') && !is_in_use (camera)
         && !is_in_use (recorder) && gst_element_link_pads (camera, ENCODED, recorder, ENCODED);
}
