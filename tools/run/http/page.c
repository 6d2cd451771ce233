/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The page is built into the program. */
#include "tools/run/http/page.h"

#include <gio/gio.h>

const char *
sl_http_page (void)
{
  static GBytes *page;
  if (g_once_init_enter (&page))
    g_once_init_leave (&page, g_resources_lookup_data ("/sightline/http/page.html",
                                                       G_RESOURCE_LOOKUP_FLAGS_NONE, NULL));
  return g_bytes_get_data (page, NULL);
}
