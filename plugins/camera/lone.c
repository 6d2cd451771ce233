/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pads are activated from the end to the beginning, so that no data meets an inactive one. */
#include "plugins/camera/lone.h"

void
sl_lone_start (SlLone *lone, GstElement *element, GstPad *out, GstPadChainFunction chain,
               GstPadEventFunction event, gpointer data)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink"),
                     src = gst_element_get_static_pad (element, "src");
  lone->element = gst_object_ref_sink (element);
  lone->in = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
  lone->out = gst_object_ref_sink (out);
  gst_pad_set_element_private (out, data);
  gst_pad_set_chain_function (out, chain);
  gst_pad_set_event_function (out, event);
  gst_pad_link (lone->in, sink);
  gst_pad_link (src, out);
  gst_pad_set_active (out, TRUE);
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_pad_set_active (lone->in, TRUE);
  gst_pad_push_event (lone->in, gst_event_new_stream_start ("lone"));
}

void
sl_lone_clear (SlLone *lone)
{
  if (lone->element == NULL)
    return;
  gst_pad_set_active (lone->in, FALSE);
  gst_element_set_state (lone->element, GST_STATE_NULL);
  gst_pad_set_active (lone->out, FALSE);
  gst_clear_object (&lone->in);
  gst_clear_object (&lone->out);
  gst_clear_object (&lone->element);
}
