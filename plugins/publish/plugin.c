/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin "sightlinepublish": slpublish in a file of its own, so that libraries for networks are
 * loaded only where something is published.
 */
#include "config.h"
#include "plugins/elements.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  return sl_plugin_register_element (plugin, "slpublish", "SlPublish", GST_RANK_NONE,
                                     sl_publish_get_type);
}

#define PACKAGE "sightline"

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, sightlinepublish, "Publishes predictions",
                   plugin_init, SL_VERSION, "LGPL", "Sightline", SL_DOCS_URI)
