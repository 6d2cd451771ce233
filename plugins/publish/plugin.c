/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin "sightlinepublish": slpublish in a file of its own, so that libraries for networks are
 * loaded only where something is published.
 */
#include "config.h"
#include "plugins/elements.h"

SL_DEFINE_ELEMENT_PLUGIN (sightlinepublish, "Publishes predictions", "slpublish", "SlPublish",
                          sl_publish_get_type)
