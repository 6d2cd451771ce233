/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers of /api/v1. Their headers are the server's; the type of each is stated here. */
#include <stdarg.h>

#include "core/base/json.h"
#include "core/base/printable.h"
#include "tools/run/api/call.h"
#include "tools/run/api/router.h"

void
sl_api_json (SlApiRequest *request, guint status, GString *json)
{
  if (json->len == 0 || json->str[json->len - 1] != '\n')
    g_string_append_c (json, '\n');
  sl_http_answer (request->message, status, SL_HTTP_JSON, json);
}

void
sl_api_error (SlApiRequest *request, guint status, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *sentence = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *shown = sl_printable_message (sentence);
  GString *json = g_string_new ("{");
  sl_json_append_text (json, "error", shown);
  g_string_append_c (json, '}');
  sl_api_json (request, status, json);
}

void
sl_api_bytes (SlApiRequest *request, const char *type, GBytes *bytes, const char *file_name)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (request->message);
  if (file_name != NULL) {
    g_autoptr (GHashTable) parameters = g_hash_table_new (g_str_hash, g_str_equal);
    g_hash_table_insert (parameters, (gpointer) "filename", (gpointer) file_name);
    soup_message_headers_set_content_disposition (headers, "attachment", parameters);
  }
  soup_message_headers_replace (headers, "Content-Type", type);
  soup_server_message_set_status (request->message, SOUP_STATUS_OK, NULL);
  soup_message_body_append_bytes (soup_server_message_get_response_body (request->message), bytes);
}

gboolean
sl_api_read_body (const SlApiRequest *request, SlJsonReader *reader)
{
  gsize length = 0;
  const char *text = request->body != NULL ? g_bytes_get_data (request->body, &length) : NULL;
  sl_json_reader_init (reader, text != NULL ? text : "", length);
  return sl_json_reader_enter (reader, SL_JSON_OBJECT);
}

const char *
sl_api_query (const SlApiRequest *request, const char *name)
{
  return request->query != NULL ? g_hash_table_lookup (request->query, name) : NULL;
}

gboolean
sl_api_number (SlApiRequest *request, const char *name, guint low, guint high, guint *value)
{
  const char *text = sl_api_query (request, name);
  guint64 number;
  if (text == NULL)
    return TRUE;
  if (g_ascii_string_to_unsigned (text, 10, low, high, &number, NULL)) {
    *value = (guint) number;
    return TRUE;
  }
  sl_api_error (request, SOUP_STATUS_BAD_REQUEST, "?%s=%s: expected a whole number from %u to %u",
                name, text, low, high);
  return FALSE;
}

SlChannel *
sl_api_channel (SlApiRequest *request)
{
  SlChannel *channel = sl_run_site_channel (request->site, request->parts[0], NULL);
  if (channel == NULL)
    sl_api_error (request, SOUP_STATUS_NOT_FOUND, SL_API_NO_PIPELINE, request->parts[0]);
  return channel;
}

gboolean
sl_api_audit_line (SlApi *api, const char *user, const char *address, const char *message,
                   GError **error)
{
  return api->audit == NULL || sl_audit_add (api->audit, user, address, message, error);
}

void
sl_api_audit (SlApiRequest *request, const char *format, ...)
{
  const SlApiCall *call = (SlApiCall *) request;
  g_autoptr (GError) error = NULL;
  va_list args;
  va_start (args, format);
  g_autofree char *sentence = g_strdup_vprintf (format, args);
  va_end (args);
  sl_run_log_later (SL_LOG_INFO, NULL, "changed", "%s: %s", request->user, sentence);
  if (!sl_api_audit_line (call->api, request->user, call->address, sentence, &error))
    sl_run_log_later (SL_LOG_ERROR, NULL, "http", "%s", error->message);
}
