/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/meta/seen_event.h"

#define NAME "sightline-seen"

void
sl_seen_send (GstPad *pad, gboolean *told, gboolean seen)
{
  if (seen == *told)
    return;
  *told = seen;
  gst_pad_push_event (
    pad, gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
                               gst_structure_new (NAME, "objects", G_TYPE_BOOLEAN, seen, NULL)));
}

gboolean
sl_seen_receive (GstEvent *event, gboolean *seen)
{
  const GstStructure *structure =
    GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_UPSTREAM ? gst_event_get_structure (event) : NULL;
  return structure != NULL && gst_structure_has_name (structure, NAME)
         && gst_structure_get_boolean (structure, "objects", seen);
}
