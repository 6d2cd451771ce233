/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walk upstream, along first sink pads. */
#include "plugins/publish/detector.h"

#include <string.h>

#include "plugins/base/report.h"

#define MAX_ELEMENTS 256

static gboolean
finds (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  const char *name = factory != NULL ? GST_OBJECT_NAME (factory) : "";
  return strcmp (name, "slpredict") == 0 || strcmp (name, "slpostprocess") == 0;
}

/* (transfer full) (nullable): the element that data comes to @pad from, bins seen through. */
static GstElement *
element_before (GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer (pad);
  while (peer != NULL) {
    GstElement *element = gst_pad_get_parent_element (peer);
    if (element != NULL
        && (!GST_IS_GHOST_PAD (peer) || finds (element)
            || G_OBJECT_TYPE (element) != GST_TYPE_BIN)) {
      gst_object_unref (peer);
      return element;
    }
    gst_clear_object (&element);
    if (GST_IS_PROXY_PAD (peer))
      peer = sl_pad_pass_bin (peer);
    else
      gst_clear_object (&peer);
  }
  return NULL;
}

GstElement *
sl_detector_find (GstPad *pad)
{
  GstElement *found = NULL;
  GstPad *at = gst_object_ref (pad);
  for (guint n = 0; at != NULL && n < MAX_ELEMENTS; n++) {
    GstElement *element = element_before (at);
    gst_clear_object (&at);
    if (element == NULL)
      break;
    if (finds (element))
      gst_object_replace ((GstObject **) &found, GST_OBJECT (element));
    GST_OBJECT_LOCK (element);
    at = element->sinkpads != NULL ? gst_object_ref (element->sinkpads->data) : NULL;
    GST_OBJECT_UNLOCK (element);
    gst_object_unref (element);
  }
  gst_clear_object (&at);
  return found;
}
