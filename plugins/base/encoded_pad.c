/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Templates, links inside the element, and the request pad. */
#include "plugins/base/encoded_pad.h"

#include <string.h>

static GstStaticPadTemplate templates[] = {
  GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                           GST_STATIC_CAPS ("video/x-raw(ANY)")),
  GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                           GST_STATIC_CAPS ("video/x-raw(ANY)")),
  GST_STATIC_PAD_TEMPLATE (SL_ENCODED_PAD, GST_PAD_SINK, GST_PAD_REQUEST,
                           GST_STATIC_CAPS (SL_ENCODED_PAD_CAPS)),
};

void
sl_encoded_pad_class (GstElementClass *klass)
{
  for (guint i = 0; i < G_N_ELEMENTS (templates); i++)
    gst_element_class_add_static_pad_template (klass, &templates[i]);
}

/* Nothing goes from encoded to src, or back. */
static GstIterator *
find_links (GstPad *pad, GstObject *parent)
{
  const gboolean encoded = strcmp (GST_OBJECT_NAME (pad), SL_ENCODED_PAD) == 0;
  g_autoptr (GstPad) other =
    encoded
      ? NULL
      : gst_element_get_static_pad (GST_ELEMENT (parent), GST_PAD_IS_SINK (pad) ? "src" : "sink");
  GValue value = G_VALUE_INIT;
  if (other == NULL)
    return NULL;
  g_value_init (&value, GST_TYPE_PAD);
  g_value_set_object (&value, other);
  GstIterator *iterator = gst_iterator_new_single (GST_TYPE_PAD, &value);
  g_value_unset (&value);
  return iterator;
}

GstPad *
sl_encoded_pad_add (GstElement *element, const char *name)
{
  GstPad *pad = gst_pad_new_from_template (
    gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (element), name), name);
  GST_PAD_SET_PROXY_CAPS (pad);
  GST_PAD_SET_PROXY_ALLOCATION (pad);
  GST_PAD_SET_PROXY_SCHEDULING (pad);
  gst_pad_set_iterate_internal_links_function (pad, find_links);
  gst_element_add_pad (element, pad);
  return pad;
}

GstPad *
sl_encoded_pad_request (GstElement *element, GstPadTemplate *template, GstPad **place,
                        GstPadChainFunction chain, GstPadEventFunction event)
{
  GST_OBJECT_LOCK (element);
  const gboolean late = GST_STATE (element) > GST_STATE_READY, there = *place != NULL;
  GST_OBJECT_UNLOCK (element);
  if (late || there)
    return NULL;
  GstPad *pad = gst_pad_new_from_template (template, SL_ENCODED_PAD);
  gst_pad_set_chain_function (pad, chain);
  gst_pad_set_event_function (pad, event);
  gst_pad_set_iterate_internal_links_function (pad, find_links);
  GST_OBJECT_LOCK (element);
  *place = pad;
  GST_OBJECT_UNLOCK (element);
  gst_element_add_pad (element, pad);
  return pad;
}

void
sl_encoded_pad_release (GstElement *element, GstPad *pad, GstPad **place)
{
  gst_pad_set_active (pad, FALSE);
  GST_OBJECT_LOCK (element);
  *place = NULL;
  GST_OBJECT_UNLOCK (element);
  gst_element_remove_pad (element, pad);
}
