/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin "sightlinerestream": slrestream in a file of its own, so that gst-rtsp-server is
 * loaded only where something is streamed.
 */
#include "config.h"
#include "plugins/elements.h"

SL_DEFINE_ELEMENT_PLUGIN (sightlinerestream, "Streams frames and predictions to recorders",
                          "slrestream", "SlRestream", sl_restream_get_type)
