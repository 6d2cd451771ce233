/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The newest lines of the log and of the audit log, and the description of the API itself. */
#include <gio/gio.h>

#include "tools/run/api/call.h"

#define LINES_MOST 1000
#define LINES 100

typedef struct
{
  guint lines;
  GString *json;
} Reading;

static void
reading_free (gpointer data)
{
  Reading *reading = data;
  if (reading->json != NULL)
    g_string_free (reading->json, TRUE);
  g_free (reading);
}

static void
answer_log (SlApiRequest *request)
{
  guint lines = LINES;
  if (!sl_api_number (request, "lines", 1, LINES_MOST, &lines))
    return;
  GString *json = g_string_new ("{\"lines\":");
  sl_messages_append_json (sl_run_site_messages (request->site), lines, json);
  g_string_append_c (json, '}');
  sl_api_json (request, SOUP_STATUS_OK, json);
}

/* A thread. */
static void
read_audit (SlApiRequest *request, gpointer data)
{
  Reading *reading = data;
  reading->json = g_string_new ("{\"lines\":");
  sl_audit_read (((SlApiCall *) request)->api->audit, reading->lines, reading->json);
  g_string_append_c (reading->json, '}');
}

static void
answer_read (SlApiRequest *request, gpointer data)
{
  sl_api_json (request, SOUP_STATUS_OK, g_steal_pointer (&((Reading *) data)->json));
}

static void
answer_audit (SlApiRequest *request)
{
  guint lines = LINES;
  if (!sl_api_number (request, "lines", 1, LINES_MOST, &lines))
    return;
  if (((SlApiCall *) request)->api->audit == NULL) {
    sl_api_error (request, SOUP_STATUS_NOT_FOUND,
                  "there is no audit log: expected audit=FILE in [http] of the description");
    return;
  }
  Reading *reading = g_new0 (Reading, 1);
  reading->lines = lines;
  sl_api_in_thread (request, read_audit, answer_read, reading, reading_free);
}

static void
answer_openapi (SlApiRequest *request)
{
  g_autoptr (GBytes) bytes =
    g_resources_lookup_data ("/sightline/api/openapi.json", G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  sl_api_bytes (request, SL_HTTP_JSON, bytes, NULL);
}

static const char *const keys[] = { "lines", NULL };

const SlApiRoute sl_api_log_routes[] = {
  { "GET", "/api/v1/log", SL_ROLE_CONFIGURE, 0, answer_log, keys },
  { "GET", "/api/v1/audit", SL_ROLE_CONFIGURE, 0, answer_audit, keys },
  { "GET", "/api/v1/openapi.json", SL_ROLE_NONE, 0, answer_openapi },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
