/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who the client is; logging in and out. A login always begins a session with a new name, so a name
 * that somebody else planted is worth nothing. Wrong passwords are slowed down by the server's
 * throttle, and are lines of the audit log.
 */
#include <string.h>

#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "core/base/printable.h"
#include "tools/run/api/call.h"
#include "tools/run/http/hash.h"
#include "tools/run/http/proxy.h"

#define BODY_MOST 4096

static gboolean
asks_for_login (const SlApi *api)
{
  return api->who->users != NULL || sl_auth_is_guarded (api->guard->auth);
}

static void
answer_session (SlApiRequest *request)
{
  const SlApiCall *call = (SlApiCall *) request;
  const gboolean named = call->api->who->users != NULL && request->role > SL_ROLE_NONE;
  GString *json = g_string_new ("{");
  sl_json_append_text (json, "user", named ? request->user : NULL);
  sl_json_append_text (json, "role", sl_role_name (request->role));
  sl_json_append_text (json, "csrf", call->session);
  sl_json_append_boolean (json, "users", call->api->who->users != NULL);
  sl_json_append_boolean (json, "login", asks_for_login (call->api));
  sl_json_append_text (json, "search", sl_events_searches (sl_run_site_events (request->site)));
  g_string_append_c (json, '}');
  sl_api_json (request, SOUP_STATUS_OK, json);
}

/* @name: "": the cookie goes. */
static void
set_cookie (SlApiCall *call, const char *name)
{
  g_autofree char *cookie = g_strdup_printf (
    "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s", call->api->who->cookie, name,
    name[0] != '\0' ? (int) (SL_SESSION_LONGEST / G_USEC_PER_SEC) : 0,
    sl_proxy_is_secure (call->request.message, call->api->guard->secure) ? "; Secure" : "");
  soup_message_headers_append (soup_server_message_get_response_headers (call->request.message),
                               "Set-Cookie", cookie);
}

static void
end_session (SlApiCall *call)
{
  g_autofree char *name = sl_api_call_cookie (call);
  if (name != NULL)
    sl_sessions_end (call->api->who->sessions, name);
  g_clear_pointer (&call->session, g_free);
}

/* @user, @password: (out) (transfer full). FALSE, having answered, when the body has none. */
static gboolean
read_login (SlApiRequest *request, char **user, char **password)
{
  SlJsonReader reader;
  if (sl_api_read_body (request, &reader))
    while (sl_json_reader_next (&reader)) {
      char **value = strcmp (reader.key->str, "user") == 0       ? user
                     : strcmp (reader.key->str, "password") == 0 ? password
                                                                 : NULL;
      if (value == NULL)
        sl_json_reader_skip (&reader);
      else if (sl_json_reader_string (&reader)) {
        g_free (*value);
        *value = g_strdup (reader.text->str);
      }
    }
  const gboolean good = sl_json_reader_end (&reader) && *user != NULL && *password != NULL;
  if (!good)
    sl_api_error (request, SOUP_STATUS_UNPROCESSABLE_ENTITY,
                  "POST session: expected {\"user\":\"NAME\",\"password\":\"...\"}%s%s",
                  reader.error != NULL ? ": " : "",
                  reader.error != NULL ? reader.error->message : "");
  sl_json_reader_clear (&reader);
  return good;
}

/* At most one line a second: who guesses does not fill the log. */
static void
note_refusal (SlApiCall *call)
{
  SlApi *api = call->api;
  const gint64 now = g_get_monotonic_time ();
  if (now - api->refused < G_USEC_PER_SEC) {
    api->unlisted++;
    return;
  }
  sl_api_audit (&call->request,
                "login refused: wrong user or password (%u more since the last line)",
                api->unlisted);
  api->refused = now;
  api->unlisted = 0;
}

static void
on_login (SlApiCall *call)
{
  SlApiRequest *request = &call->request;
  SlWho *who = call->api->who;
  const SlSession *session;
  if (request->role == SL_ROLE_NONE) {
    note_refusal (call);
    sl_api_error (request, SOUP_STATUS_UNAUTHORIZED,
                  "wrong user or password: check both, and whether Caps Lock is on");
    return;
  }
  const SlUser *user = who->users != NULL ? sl_users_find (who->users, call->user) : NULL;
  g_autofree char *name = sl_sessions_begin (
    who->sessions, call->user, user != NULL ? user->hash : "", g_get_monotonic_time (), &session);
  call->session = g_strdup (session->token);
  set_cookie (call, name);
  sl_api_audit (request, "logged in");
  answer_session (request);
}

/* The turn of this client's password has come. */
static void
on_turn (SoupServerMessage *message, const char *path, GHashTable *query, gpointer data)
{
  SlApiCall *call = sl_api_call_of (message);
  const SlHttpGuard *guard = call->api->guard;
  g_autofree char *user = NULL, *password = NULL;
  if (!read_login (&call->request, &user, &password))
    return;
  sl_api_call_set_user (call, SL_API_ANYONE, SL_ROLE_NONE);
  if (call->api->who->users != NULL) {
    sl_api_call_check_password (call, user, password, on_login);
  } else {
    if (sl_auth_is_key (guard->auth, password, strlen (password)))
      sl_api_call_set_user (call, "password", SL_ROLE_CONFIGURE);
    else
      sl_auth_throttle_delay (guard->throttle, message);
    on_login (call);
  }
  explicit_bzero (password, strlen (password));
}

static void
answer_login (SlApiRequest *request)
{
  SlApiCall *call = (SlApiCall *) request;
  if (!asks_for_login (call->api)) {
    sl_api_error (request, SOUP_STATUS_CONFLICT,
                  "POST session: nobody logs in here: [http] has neither users nor a password");
    return;
  }
  end_session (call);
  sl_api_call_take_turn (call, on_turn);
}

static void
answer_logout (SlApiRequest *request)
{
  SlApiCall *call = (SlApiCall *) request;
  if (call->session != NULL)
    sl_api_audit (request, "logged out");
  end_session (call);
  set_cookie (call, "");
  sl_api_call_set_user (call, SL_API_ANYONE,
                        asks_for_login (call->api) ? SL_ROLE_NONE : request->role);
  answer_session (request);
}

const SlApiRoute sl_api_session_routes[] = {
  { "GET", "/api/v1/session", SL_ROLE_NONE, 0, answer_session },
  { "POST", "/api/v1/session", SL_ROLE_NONE, BODY_MOST, answer_login },
  { "DELETE", "/api/v1/session", SL_ROLE_LOOK, 0, answer_logout },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
