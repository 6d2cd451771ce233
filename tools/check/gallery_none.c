/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of check/gallery.c where SQLite is missing, and so slgallery, too. */
#include "tools/check/findings.h"

void
sl_check_gallery (GstElement *element, GArray *findings)
{
}
