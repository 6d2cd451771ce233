/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin "sightlineoverlay": sloverlay in a file of its own, so that Pango and Cairo are loaded
 * only where something is drawn.
 */
#include "config.h"
#include "plugins/elements.h"

SL_DEFINE_ELEMENT_PLUGIN (sightlineoverlay, "Draws predictions on frames", "sloverlay", "SlOverlay",
                          sl_overlay_get_type)
