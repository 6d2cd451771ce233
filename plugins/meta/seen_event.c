/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/meta/seen_event.h"

#define SEEN "sightline-seen"
#define ZONE "sightline-zone"

static void
send_upstream (GstPad *pad, GstStructure *structure)
{
  gst_pad_push_event (pad, gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM, structure));
}

/* (nullable): what @event says if it is @name. */
static const GstStructure *
find_structure (GstEvent *event, const char *name)
{
  const GstStructure *structure =
    GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_UPSTREAM ? gst_event_get_structure (event) : NULL;
  return structure != NULL && gst_structure_has_name (structure, name) ? structure : NULL;
}

void
sl_seen_send (GstPad *pad, gboolean *told, gboolean seen)
{
  if (seen == *told)
    return;
  *told = seen;
  send_upstream (pad, gst_structure_new (SEEN, "objects", G_TYPE_BOOLEAN, seen, NULL));
}

gboolean
sl_seen_receive (GstEvent *event, gboolean *seen)
{
  const GstStructure *structure = find_structure (event, SEEN);
  return structure != NULL && gst_structure_get_boolean (structure, "objects", seen);
}

static void
send_zone (GstPad *pad, const char *name, gboolean occupied)
{
  send_upstream (pad, gst_structure_new (ZONE, "name", G_TYPE_STRING, name, "occupied",
                                         G_TYPE_BOOLEAN, occupied, NULL));
}

static gboolean
is_occupied (const SlRegionView *region)
{
  return region->kind == SL_REGION_ZONE && region->inside > 0;
}

static gboolean
has_objects (const SlAnalysis *analysis, const char *zone)
{
  for (guint i = 0; analysis != NULL && i < analysis->n_regions; i++)
    if (analysis->regions[i].name == zone && is_occupied (&analysis->regions[i]))
      return TRUE;
  return FALSE;
}

void
sl_zones_send (GstPad *pad, GPtrArray *told, const SlAnalysis *analysis)
{
  for (guint i = told->len; i-- > 0;) {
    const char *zone = told->pdata[i];
    if (has_objects (analysis, zone))
      continue;
    g_ptr_array_remove_index_fast (told, i);
    send_zone (pad, zone, FALSE);
  }
  for (guint i = 0; analysis != NULL && i < analysis->n_regions; i++) {
    const SlRegionView *region = &analysis->regions[i];
    if (!is_occupied (region) || g_ptr_array_find (told, region->name, NULL))
      continue;
    g_ptr_array_add (told, (gpointer) region->name);
    send_zone (pad, region->name, TRUE);
  }
}

gboolean
sl_zone_receive (GstEvent *event, const char **zone, gboolean *occupied)
{
  const GstStructure *structure = find_structure (event, ZONE);
  *zone = structure != NULL ? gst_structure_get_string (structure, "name") : NULL;
  return *zone != NULL && gst_structure_get_boolean (structure, "occupied", occupied);
}
