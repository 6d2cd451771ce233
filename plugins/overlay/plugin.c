/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin "sightlineoverlay": sloverlay in a file of its own, so that Pango and Cairo are loaded
 * only where something is drawn.
 */
#include "config.h"
#include "plugins/elements.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  return sl_plugin_register_element (plugin, "sloverlay", "SlOverlay", GST_RANK_NONE,
                                     sl_overlay_get_type);
}

#define PACKAGE "sightline"

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, sightlineoverlay,
                   "Draws predictions on frames", plugin_init, SL_VERSION, "LGPL", "Sightline",
                   SL_DOCS_URI)
