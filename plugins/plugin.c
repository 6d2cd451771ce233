/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plugin "sightline": what GStreamer's registry finds. */
#include "config.h"
#include "plugins/elements.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  return sl_plugin_register_elements (plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, sightline,
                   "From camera frames to predictions: preprocessing, inference, decoding",
                   plugin_init, SL_VERSION, "LGPL", "Sightline", SL_DOCS_URI)
