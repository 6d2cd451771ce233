/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin "sightlineremote": slremote in a file of its own, so that libraries for networks are
 * loaded only where models run elsewhere.
 */
#include "config.h"
#include "plugins/elements.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  return sl_plugin_register_element (plugin, "slremote", "SlRemote", GST_RANK_NONE,
                                     sl_remote_get_type);
}

#define PACKAGE "sightline"

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, sightlineremote,
                   "Runs models on other machines", plugin_init, SL_VERSION, "LGPL", "Sightline",
                   SL_DOCS_URI)
