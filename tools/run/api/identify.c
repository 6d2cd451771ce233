/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a request to its user: by the cookie of a session, else by the credentials that it states.
 * An unknown user's password is checked against another user's hash, so it takes as long.
 */
#include <string.h>

#include "tools/run/api/call.h"
#include "tools/run/http/hash.h"

/* RFC 6585's. */
#define STATUS_TOO_MANY_REQUESTS 429

typedef struct
{
  char *name, *password, *credentials;
  char *hash;        /* that @password is checked against */
  gboolean is_known; /* there is a user of that name */
  gboolean right;
  void (*known) (SlApiCall *call);
} Check;

static void
check_free (gpointer data)
{
  Check *check = data;
  explicit_bzero (check->password, strlen (check->password));
  g_free (check->name);
  g_free (check->password);
  g_free (check->credentials);
  g_free (check->hash);
  g_free (check);
}

void
sl_api_call_set_user (SlApiCall *call, const char *name, SlRole role)
{
  g_free (call->user);
  call->user = g_strdup (name);
  call->request.user = call->user;
  call->request.role = role;
}

/* (transfer full) (nullable): the value of the cookie @name. */
static char *
find_cookie (SoupServerMessage *message, const char *name)
{
  const char *text =
    soup_message_headers_get_list (soup_server_message_get_request_headers (message), "Cookie");
  g_auto (GStrv) cookies = g_strsplit (text != NULL ? text : "", ";", -1);
  for (guint i = 0; cookies[i] != NULL; i++) {
    const char *cookie = g_strstrip (cookies[i]);
    const gsize length = strlen (name);
    if (strncmp (cookie, name, length) == 0 && cookie[length] == '=')
      return g_strdup (cookie + length + 1);
  }
  return NULL;
}

static gboolean
identify_by_cookie (SlApiCall *call)
{
  SlWho *who = call->api->who;
  SlRole role;
  g_autofree char *name = find_cookie (call->request.message, who->cookie);
  const SlSession *session =
    name != NULL ? sl_who_session (who, name, g_get_monotonic_time (), &role) : NULL;
  if (session == NULL)
    return FALSE;
  sl_api_call_set_user (call, session->user, role);
  call->session = g_strdup (session->token);
  return TRUE;
}

char *
sl_api_call_cookie (SlApiCall *call)
{
  return find_cookie (call->request.message, call->api->who->cookie);
}

/* A thread. */
static void
check_password (SlApiRequest *request, gpointer data)
{
  Check *check = data;
  check->right = sl_hash_check (check->hash, check->password) && check->is_known;
}

static void
password_is_checked (SlApiRequest *request, gpointer data)
{
  SlApiCall *call = (SlApiCall *) request;
  SlWho *who = call->api->who;
  const Check *check = data;
  const SlUser *user = check->right ? sl_users_find (who->users, check->name) : NULL;
  if (user != NULL && strcmp (user->hash, check->hash) == 0) {
    sl_who_remember (who, check->credentials, user, g_get_monotonic_time ());
    sl_api_call_set_user (call, user->name, user->role);
  } else
    sl_auth_throttle_delay (call->api->guard->throttle, request->message);
  check->known (call);
}

void
sl_api_call_check_password (SlApiCall *call, const char *name, const char *password,
                            void (*known) (SlApiCall *call))
{
  SlWho *who = call->api->who;
  const SlUser *user = sl_users_find (who->users, name), *any = sl_users_any (who->users);
  g_autofree char *credentials = g_strconcat (name, ":", password, NULL);
  const SlUser *recalled = sl_who_recall (who, credentials, g_get_monotonic_time ());
  if (recalled != NULL || any == NULL) {
    if (recalled != NULL)
      sl_api_call_set_user (call, recalled->name, recalled->role);
    known (call);
    return;
  }
  Check *check = g_new0 (Check, 1);
  check->name = g_strdup (name);
  check->password = g_strdup (password);
  check->credentials = g_steal_pointer (&credentials);
  check->hash = g_strdup (user != NULL ? user->hash : any->hash);
  check->is_known = user != NULL;
  check->known = known;
  if (sl_api_in_hashing (call, check_password, password_is_checked, check, check_free))
    return;
  check_free (check);
  sl_api_error (&call->request, STATUS_TOO_MANY_REQUESTS,
                "too many passwords wait to be checked: try again in some seconds");
}

/* FALSE: nothing was stated that it knows. */
static gboolean
identify_by_credentials (SlApiCall *call, const char *authorization,
                         void (*known) (SlApiCall *call))
{
  gsize length = 0;
  if (g_ascii_strncasecmp (authorization, "Basic ", 6) != 0)
    return FALSE;
  g_autofree guchar *decoded = g_base64_decode (authorization + 6, &length);
  g_autofree char *text = g_strndup ((const char *) decoded, length);
  char *colon = strchr (text, ':');
  if (colon == NULL || strlen (colon) > SL_PASSWORD_MOST)
    return FALSE;
  *colon = '\0';
  sl_api_call_check_password (call, text, colon + 1, known);
  explicit_bzero (decoded, length);
  return TRUE;
}

void
sl_api_call_identify (SlApiCall *call, void (*known) (SlApiCall *call))
{
  SoupServerMessage *message = call->request.message;
  const SlApi *api = call->api;
  const char *authorization = soup_message_headers_get_one (
    soup_server_message_get_request_headers (message), "Authorization");
  if (identify_by_cookie (call)) {
    known (call);
  } else if (api->who->users != NULL) {
    if (authorization == NULL || !identify_by_credentials (call, authorization, known))
      known (call);
  } else {
    if (!sl_auth_is_guarded (api->guard->auth))
      sl_api_call_set_user (call, SL_API_ANYONE, api->who->open);
    else if (sl_auth_is_told (api->guard->auth, message)) {
      if (sl_auth_knows (api->guard->auth, message))
        sl_api_call_set_user (call, "password", SL_ROLE_CONFIGURE);
      else
        sl_auth_throttle_delay (api->guard->throttle, message);
    }
    known (call);
  }
}
