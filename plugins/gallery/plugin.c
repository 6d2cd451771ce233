/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin "sightlinegallery": slgallery in a file of its own, so that SQLite and libcrypto are
 * loaded only where people are remembered.
 */
#include "config.h"
#include "plugins/elements.h"

SL_DEFINE_ELEMENT_PLUGIN (sightlinegallery, "Remembers people across cameras", "slgallery",
                          "SlGallery", sl_gallery_element_get_type)
