/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin "sightlineread": slread in a file of its own, so that a reader's libraries are loaded
 * only where codes are read.
 */
#include "config.h"
#include "plugins/elements.h"

SL_DEFINE_ELEMENT_PLUGIN (sightlineread, "Reads the codes that a model found", "slread", "SlRead",
                          sl_read_get_type)
