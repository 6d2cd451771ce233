/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin "sightlineread": slread in a file of its own, so that a reader's libraries are loaded
 * only where codes are read.
 */
#include "config.h"
#include "plugins/elements.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  return sl_plugin_register_element (plugin, "slread", "SlRead", GST_RANK_NONE, sl_read_get_type);
}

#define PACKAGE "sightline"

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, sightlineread,
                   "Reads the codes that a model found", plugin_init, SL_VERSION, "LGPL",
                   "Sightline", SL_DOCS_URI)
