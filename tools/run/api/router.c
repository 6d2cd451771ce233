/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a request must be before its handler sees it is checked when its headers have come, before
 * its body does. Forms of pages cannot send application/json, and pages of another origin state it.
 */
#include "tools/run/api/router.h"

#include <string.h>

#include "core/base/printable.h"
#include "core/base/suggest.h"
#include "tools/run/api/call.h"
#include "tools/run/api/revoke.h"
#include "tools/run/http/hash.h"

#define STATUS_TOO_LARGE 413
#define STATUS_TOO_MANY_REQUESTS 429
/* Microseconds from one look at files to the next. */
#define LOOK_INTERVAL G_USEC_PER_SEC

static const SlApiRoute *const tables[] = {
  sl_api_session_routes, sl_api_pipelines_routes, sl_api_log_routes,     sl_api_events_routes,
  sl_api_marks_routes,   sl_api_clips_routes,     sl_api_storage_routes, sl_api_charts_routes,
  sl_api_regions_routes, sl_api_settings_routes,  sl_api_push_routes
};

static gboolean
is_api (const char *path)
{
  return g_str_has_prefix (path, SL_API_PREFIX);
}

static const char *
path_of (SoupServerMessage *message)
{
  return g_uri_get_path (soup_server_message_get_uri (message));
}

/* (nullable): the one of the addresses from before /api/v1. */
static const SlHttpRoute *
find_old (const char *path)
{
  for (const SlHttpRoute *route = sl_run_site.routes; route->path != NULL; route++)
    if (sl_http_is_route (route->path, path))
      return route;
  return NULL;
}

static void
answer_old (SlApiRequest *request)
{
  find_old (path_of (request->message))->answer (request->site, request->message, request->query);
}

static const char *const any_keys[] = { SL_API_ANY_KEY, NULL };
static const SlApiRoute old = { "GET", "", SL_ROLE_LOOK, 0, answer_old, any_keys };

/* Whether the segments of @path are those of @pattern. @parts: takes what stands for {...} */
static gboolean
matches (const char *pattern, char **path, char *parts[SL_API_PARTS])
{
  g_auto (GStrv) wanted = g_strsplit (pattern, "/", -1);
  guint n = 0, i = 0;
  for (; wanted[i] != NULL && path[i] != NULL; i++) {
    if (wanted[i][0] == '{' && path[i][0] != '\0')
      parts[n++] = path[i];
    else if (strcmp (wanted[i], path[i]) != 0)
      return FALSE;
  }
  return wanted[i] == NULL && path[i] == NULL;
}

/* (transfer full) (nullable): segments, unescaped; NULL when one is no UTF-8 or has control
 * characters. */
static GStrv
split (const char *path)
{
  g_auto (GStrv) raw = g_strsplit (path, "/", -1);
  g_autoptr (GStrvBuilder) segments = g_strv_builder_new ();
  for (guint i = 0; raw[i] != NULL; i++) {
    g_autofree char *segment = g_uri_unescape_string (raw[i], NULL);
    if (segment == NULL || !g_utf8_validate (segment, -1, NULL))
      return NULL;
    for (const char *at = segment; *at != '\0'; at = g_utf8_next_char (at))
      if (g_unichar_iscntrl (g_utf8_get_char (at)))
        return NULL;
    g_strv_builder_add (segments, segment);
  }
  return g_strv_builder_end (segments);
}

static gboolean
is_method (const SlApiRoute *route, const char *method)
{
  return strcmp (route->method, method) == 0
         || (strcmp (method, "HEAD") == 0 && strcmp (route->method, "GET") == 0);
}

/* (nullable): NULL, having answered, when there is none. */
static const SlApiRoute *
find_route (SlApiCall *call, const char *path)
{
  SlApiRequest *request = &call->request;
  const char *method = soup_server_message_get_method (request->message);
  g_autoptr (GString) allowed = g_string_new (NULL);
  if (find_old (path) != NULL && is_method (&old, method))
    return &old;
  g_auto (GStrv) segments = split (path);
  for (guint t = 0; segments != NULL && t < G_N_ELEMENTS (tables); t++)
    for (const SlApiRoute *route = tables[t]; route->path != NULL; route++) {
      char *parts[SL_API_PARTS] = { NULL };
      if (!matches (route->path, segments, parts))
        continue;
      if (is_method (route, method)) {
        for (guint i = 0; i < SL_API_PARTS; i++)
          request->parts[i] = g_strdup (parts[i]);
        return route;
      }
      g_string_append_printf (allowed, "%s%s", allowed->len > 0 ? ", " : "", route->method);
    }
  g_autofree char *shown = sl_printable (path, SL_PRINTABLE_NAME);
  if (allowed->len > 0) {
    soup_message_headers_replace (soup_server_message_get_response_headers (request->message),
                                  "Allow", allowed->str);
    sl_api_error (request, SOUP_STATUS_METHOD_NOT_ALLOWED, "%s: got %s, expected %s", shown, method,
                  allowed->str);
  } else
    sl_api_error (request, SOUP_STATUS_NOT_FOUND,
                  "%s: there is nothing here; " SL_API_PREFIX "openapi.json lists what there is",
                  shown);
  return NULL;
}

/* FALSE, having answered, when its role is not enough. */
static gboolean
check_role (SlApiCall *call, const SlApiRoute *route)
{
  SlApiRequest *request = &call->request;
  if (request->role >= route->role)
    return TRUE;
  if (request->role > SL_ROLE_NONE) {
    sl_api_error (request, SOUP_STATUS_FORBIDDEN,
                  "%s %s: expected the role %s, got %s: ask who configures this machine",
                  route->method, route->path, sl_role_name (route->role),
                  sl_role_name (request->role));
    return FALSE;
  }
  if (call->api->who->users == NULL || !is_api (path_of (request->message)))
    sl_auth_challenge (request->message); /* the page has a form for it */
  sl_api_error (request, SOUP_STATUS_UNAUTHORIZED,
                "expected a session (POST " SL_API_PREFIX
                "session), or a user and a password that are right");
  return FALSE;
}

/* FALSE, having answered, when a page that this server did not send may have sent it: browsers add
 * the cookie by themselves, but not the token. */
static gboolean
check_token (SlApiCall *call, const SlApiRoute *route)
{
  SlApiRequest *request = &call->request;
  const char *token = soup_message_headers_get_one (
    soup_server_message_get_request_headers (request->message), "X-CSRF-Token");
  if (call->session == NULL || strcmp (route->method, "GET") == 0 || route->role == SL_ROLE_NONE
      || (token != NULL && sl_same_text (token, call->session)))
    return TRUE;
  sl_api_error (request, SOUP_STATUS_FORBIDDEN,
                "%s %s: expected the header X-CSRF-Token with the token of GET " SL_API_PREFIX
                "session, got %s",
                route->method, route->path, token != NULL ? "another one" : "none");
  return FALSE;
}

/* FALSE, having answered, when the address states a key that the route does not know: a filter with
 * a typing error would answer with everything. */
static gboolean
check_keys (SlApiCall *call, const SlApiRoute *route)
{
  static const char *const none[] = { NULL };
  const char *const *keys = route->keys != NULL ? route->keys : none;
  const char *query = g_uri_get_query (soup_server_message_get_uri (call->request.message));
  g_auto (GStrv) stated = g_strsplit (query != NULL ? query : "", "&", -1);
  for (guint i = 0; stated[i] != NULL && !g_strv_contains (keys, SL_API_ANY_KEY); i++) {
    const char *end = strchrnul (stated[i], '=');
    g_autofree char *key = g_uri_unescape_segment (stated[i], end, NULL);
    if (key == NULL) /* it is no text */
      key = g_strndup (stated[i], (gsize) (end - stated[i]));
    if (*stated[i] == '\0' || g_strv_contains (keys, key))
      continue;
    g_autofree char *shown = sl_printable (key, SL_PRINTABLE_NAME),
                    *hint = sl_suggest_nearest (key, keys, g_strv_length ((char **) keys));
    sl_api_error (&call->request, SOUP_STATUS_BAD_REQUEST, "?%s=: unknown key%s", shown,
                  keys[0] != NULL ? hint : "; expected none here");
    return FALSE;
  }
  return TRUE;
}

/* FALSE, having answered, when the body that is to come is none that the route takes. */
static gboolean
check_body (SlApiCall *call, const SlApiRoute *route)
{
  SlApiRequest *request = &call->request;
  SoupMessageHeaders *asked = soup_server_message_get_request_headers (request->message);
  const SoupEncoding encoding = soup_message_headers_get_encoding (asked);
  const goffset length = soup_message_headers_get_content_length (asked);
  if (encoding == SOUP_ENCODING_NONE || (encoding == SOUP_ENCODING_CONTENT_LENGTH && length == 0))
    return TRUE;
  const char *type = soup_message_headers_get_content_type (asked, NULL);
  if (encoding == SOUP_ENCODING_CONTENT_LENGTH && (guint64) length > route->max_body) {
    sl_api_error (request, STATUS_TOO_LARGE,
                  "%s %s: the body has %" G_GOFFSET_FORMAT
                  " bytes, expected at most %" G_GSIZE_FORMAT,
                  route->method, route->path, length, route->max_body);
    return FALSE;
  }
  if (route->max_body == 0 || g_strcmp0 (type, SL_HTTP_JSON) == 0)
    return TRUE;
  sl_api_error (request, SOUP_STATUS_UNSUPPORTED_MEDIA_TYPE,
                "%s %s: expected a body with Content-Type: " SL_HTTP_JSON ", got %s", route->method,
                route->path, type != NULL ? type : "none");
  return FALSE;
}

/* The user is known. */
static void
go_on (SlApiCall *call)
{
  const SlApiRoute *route = call->wanted;
  if (!check_role (call, route) || !check_token (call, route) || !check_keys (call, route)
      || !check_body (call, route))
    return;
  call->route = route;
  if (route->max_body > 0)
    sl_api_call_take_body (call);
}

static void
on_turn (SoupServerMessage *message, const char *path, GHashTable *query, gpointer data)
{
  sl_api_call_identify (sl_api_call_of (message), go_on);
}

gboolean
sl_api_call_take_turn (SlApiCall *call, SlAuthThrottleFunc answer)
{
  SoupServerMessage *message = call->request.message;
  if (sl_auth_throttle_take_for (call->api->guard->throttle, message, "", NULL, answer, NULL))
    return TRUE;
  sl_api_error (&call->request, STATUS_TOO_MANY_REQUESTS,
                "%d passwords of this client wait already, as one was wrong: try again later",
                SL_AUTH_MAX_WAITING);
  return FALSE;
}

static void
begin (gpointer data, SoupServerMessage *message, const char *path, GHashTable *query)
{
  SlApi *api = data;
  SlApiCall *call = sl_api_call_new (message, api, query);
  call->wanted = find_route (call, path);
  if (call->wanted == NULL)
    return;
  const char *why = sl_auth_check (api->guard->auth, message, SL_AUTH_METHODS | SL_AUTH_STRANGERS);
  if (why != NULL) {
    sl_api_error (&call->request, soup_server_message_get_status (message), "%s", why);
    return;
  }
  const gboolean told = soup_message_headers_get_one (
                          soup_server_message_get_request_headers (message), "Authorization")
                        != NULL;
  if (told && (api->who->users != NULL || sl_auth_is_guarded (api->guard->auth)))
    sl_api_call_take_turn (call, on_turn);
  else
    on_turn (message, path, query, NULL);
}

static void
received (gpointer data, SoupServerMessage *message)
{
  SlApiCall *call = sl_api_call_of (message);
  if (call == NULL || call->route == NULL)
    return;
  sl_api_call_end_body (call);
  if (call->too_long)
    sl_api_error (&call->request, STATUS_TOO_LARGE,
                  "%s %s: the body has more than %" G_GSIZE_FORMAT " bytes, the most expected",
                  call->route->method, call->route->path, call->route->max_body);
  else {
    if (strcmp (call->route->method, "GET") == 0 && call->route->role > SL_ROLE_NONE)
      sl_revoke_watch (call->api->revoke, call);
    call->route->answer (&call->request);
  }
}

/* Where users log in, what shows something is theirs, too. */
static gboolean
takes (gpointer data, const char *path)
{
  const SlApi *api = data;
  if (is_api (path))
    return TRUE;
  for (const SlHttpRoute *route = sl_run_site.routes; route->path != NULL; route++)
    if (route->open && sl_http_is_route (route->path, path))
      return FALSE;
  return api->who->users != NULL;
}

static void
started (gpointer data, const SlHttpGuard *guard)
{
  SlApi *api = data;
  api->guard = guard;
  api->jobs = sl_api_jobs_new ();
}

static void
tick (gpointer data)
{
  SlApi *api = data;
  const gint64 now = g_get_monotonic_time ();
  if (now - api->looked < LOOK_INTERVAL)
    return;
  api->looked = now;
  sl_who_tick (api->who, now);
  sl_revoke_tick (api->revoke, now);
  sl_api_push_tick (api->push, api->who->users);
  g_autoptr (SlReport) report = sl_run_site_get_report (api->site);
  sl_watch_take (api->watch, report, g_get_real_time ());
}

static void
stopped (gpointer data)
{
  SlApi *api = data;
  sl_api_jobs_free (api->jobs); /* whose threads find them there meanwhile */
  api->jobs = NULL;
}

SlHttpBranch
sl_api_branch (SlApi *api)
{
  return (SlHttpBranch){ api, takes, begin, received, started, tick, stopped };
}

SlApi *
sl_api_new (SlRunSite *site, const SlHttpSettings *settings, GError **error)
{
  SlApi *api = g_new0 (SlApi, 1);
  api->site = site;
  api->settings = settings;
  api->watch = sl_watch_new (sl_run_site_workers (site));
  api->who = sl_who_new (settings, error);
  api->revoke = sl_revoke_new (api->who);
  if (api->who != NULL && (api->push = sl_api_push_new (sl_run_site_workers (site), error)) != NULL
      && (settings->audit == NULL || (api->audit = sl_audit_new (settings->audit, error)) != NULL))
    return api;
  sl_api_free (api);
  return NULL;
}

void
sl_api_free (SlApi *api)
{
  sl_revoke_free (api->revoke);
  g_clear_pointer (&api->who, sl_who_free);
  g_clear_pointer (&api->audit, sl_audit_free);
  g_clear_pointer (&api->push, sl_api_push_free);
  sl_watch_free (api->watch);
  g_free (api);
}
