/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A build without SQLite says so where events, storage and charts would be. */
#include "tools/run/api/api.h"

static void
refuse (SlApiRequest *request)
{
  sl_api_error (request, SOUP_STATUS_NOT_IMPLEMENTED,
                "this build keeps no events: expected SQLite 3 when it was made (Debian: "
                "libsqlite3-dev, meson option sqlite)");
}

static const char *const keys[] = { SL_API_ANY_KEY, NULL };

const SlApiRoute sl_api_events_routes[] = {
  { "GET", "/api/v1/events", SL_ROLE_LOOK, 0, refuse, keys },
  { "GET", "/api/v1/events/{id}", SL_ROLE_LOOK, 0, refuse, keys },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};

const SlApiRoute sl_api_marks_routes[] = {
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};

const SlApiRoute sl_api_clips_routes[] = {
  { "GET", "/api/v1/events/{id}/{file}", SL_ROLE_LOOK, 0, refuse, keys },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};

const SlApiRoute sl_api_storage_routes[] = {
  { "GET", "/api/v1/storage", SL_ROLE_LOOK, 0, refuse, keys },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};

const SlApiRoute sl_api_charts_routes[] = {
  { "GET", "/api/v1/charts/{name}", SL_ROLE_LOOK, 0, refuse, keys },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
