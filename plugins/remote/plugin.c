/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin "sightlineremote": slremote in a file of its own, so that libraries for networks are
 * loaded only where models run elsewhere.
 */
#include "config.h"
#include "plugins/elements.h"

SL_DEFINE_ELEMENT_PLUGIN (sightlineremote, "Runs models on other machines", "slremote", "SlRemote",
                          sl_remote_get_type)
