/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /api/v1/push: who is told about events. A user sees and removes the own browsers, and who
 * configures those of all. */
#include <string.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "core/base/printable.h"
#include "pipelines/push/crypt.h"
#include "pipelines/push/endpoint.h"
#include "pipelines/push/phones.h"
#include "tools/run/api/call.h"
#include "tools/run/api/reply.h"

#define MAX_BODY 4096

/* A request under way. @status: 0 = as it should be */
typedef struct
{
  SlPhone *phone; /* (nullable) */
  SlApiReply reply;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;
  g_clear_pointer (&job->phone, sl_phone_free);
  sl_api_reply_clear (&job->reply);
  g_free (job);
}

static const SlApiPush *
push_of (SlApiRequest *request)
{
  return ((SlApiCall *) request)->api->push;
}

static void
answer_job (SlApiRequest *request, gpointer data)
{
  sl_api_reply_send (request, &((Job *) data)->reply);
}

/* FALSE, having answered, where nobody can be told anything. */
static gboolean
check_there (SlApiRequest *request)
{
  const SlApiPush *push = push_of (request);
  if (push->key != NULL)
    return TRUE;
  sl_api_error (request, SOUP_STATUS_CONFLICT, "push: %s", push->why);
  return FALSE;
}

static void
append_phones (SlApiRequest *request, GPtrArray *phones, GString *json)
{
  gboolean more = FALSE;
  for (guint i = 0; i < phones->len; i++) {
    const SlPhone *phone = phones->pdata[i];
    const gboolean own = strcmp (phone->user, request->user) == 0;
    if (!own && request->role < SL_ROLE_CONFIGURE)
      continue;
    g_string_append (json, more ? ",{" : "{");
    more = TRUE;
    sl_json_append_text (json, "id", phone->id);
    sl_json_append_text (json, "user", phone->user);
    sl_json_append_text (json, "name", phone->name);
    sl_json_append_text (json, "added", phone->added);
    sl_json_append_key (json, "own");
    g_string_append (json, own ? "true}" : "false}");
  }
}

/* A thread: the answer of each of these requests. */
static void
describe (SlApiRequest *request, Job *job)
{
  const SlApiPush *push = push_of (request);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) phones = push->key != NULL ? sl_phones_read (push->path, &error) : NULL;
  if (error != NULL) {
    sl_api_reply_refuse (&job->reply, SOUP_STATUS_INTERNAL_SERVER_ERROR, "%s", error->message);
    return;
  }
  job->reply.status = SOUP_STATUS_OK;
  job->reply.json = g_string_new ("{");
  sl_json_append_text (job->reply.json, "key", push->key);
  sl_json_append_text (job->reply.json, "why", push->why);
  sl_json_append_key (job->reply.json, "browsers");
  g_string_append_c (job->reply.json, '[');
  if (phones != NULL)
    append_phones (request, phones, job->reply.json);
  g_string_append (job->reply.json, "]}");
}

static void
work_get (SlApiRequest *request, gpointer data)
{
  describe (request, data);
}

static void
work_post (SlApiRequest *request, gpointer data)
{
  Job *job = data;
  const SlApiPush *push = push_of (request);
  g_autoptr (GError) error = NULL;
  if (!sl_phones_add (push->path, job->phone, &error)) {
    const gboolean full = g_error_matches (error, SL_ERROR, SL_ERROR_LIMIT);
    sl_api_reply_refuse (&job->reply,
                         full ? SOUP_STATUS_CONFLICT : SOUP_STATUS_INTERNAL_SERVER_ERROR, "%s",
                         error->message);
    return;
  }
  sl_api_audit (request, "push: the browser '%s' is told about events", job->phone->name);
  describe (request, job);
}

static void
work_delete (SlApiRequest *request, gpointer data)
{
  Job *job = data;
  const char *user = request->role < SL_ROLE_CONFIGURE ? request->user : NULL;
  g_autoptr (GError) error = NULL;
  guint removed = 0;
  if (!sl_phones_remove (push_of (request)->path, request->parts[0], user, &removed, &error)) {
    sl_api_reply_refuse (&job->reply, SOUP_STATUS_INTERNAL_SERVER_ERROR, "%s", error->message);
    return;
  }
  if (removed == 0) {
    sl_api_reply_refuse (
      &job->reply, SOUP_STATUS_NOT_FOUND,
      "there is no browser of that id; GET /api/v1/push lists those that may be removed");
    return;
  }
  sl_api_audit (request, "push: the browser %s is removed", request->parts[0]);
  describe (request, job);
}

/* What a browser sends. FALSE with @error set. */
static gboolean
read_phone (SlApiRequest *request, SlPhone *phone, GError **error)
{
  SlJsonReader reader;
  if (sl_api_read_body (request, &reader))
    while (sl_json_reader_next (&reader)) {
      const char *key = reader.key->str;
      char **into = strcmp (key, "endpoint") == 0 ? &phone->endpoint
                    : strcmp (key, "p256dh") == 0 ? &phone->p256dh
                    : strcmp (key, "auth") == 0   ? &phone->auth
                    : strcmp (key, "name") == 0   ? &phone->name
                                                  : NULL;
      if (into == NULL || *into != NULL)
        sl_json_reader_fail (&reader, "%s: expected endpoint, p256dh, auth and name, each once",
                             key);
      else if (sl_json_reader_string (&reader))
        *into = g_strdup (reader.text->str);
    }
  if (!sl_json_reader_end (&reader))
    g_propagate_error (error, g_steal_pointer (&reader.error));
  else if (phone->endpoint == NULL || phone->p256dh == NULL || phone->auth == NULL
           || phone->name == NULL)
    sl_fail (error, SL_ERROR_ARGUMENT, "expected endpoint, p256dh, auth and name");
  sl_json_reader_clear (&reader);
  return *error == NULL;
}

static gboolean
check_phone (const SlApiPush *push, const SlPhone *phone, GError **error)
{
  if (*phone->name == '\0' || strlen (phone->name) > SL_PHONE_NAME_MOST)
    return sl_fail (error, SL_ERROR_ARGUMENT, "name: expected 1 to %d bytes", SL_PHONE_NAME_MOST);
  return sl_push_endpoint_check (phone->endpoint, push->hosts, error)
         && sl_push_check_keys (phone->p256dh, phone->auth, error);
}

static void
answer_get (SlApiRequest *request)
{
  sl_api_in_thread (request, work_get, answer_job, g_new0 (Job, 1), job_free);
}

static void
answer_post (SlApiRequest *request)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlPhone) phone = g_new0 (SlPhone, 1);
  if (!check_there (request))
    return;
  if (!read_phone (request, phone, &error) || !check_phone (push_of (request), phone, &error)) {
    sl_api_error (request, SOUP_STATUS_UNPROCESSABLE_ENTITY, "%s", error->message);
    return;
  }
  Job *job = g_new0 (Job, 1);
  g_autofree char *name = g_steal_pointer (&phone->name);
  phone->name = sl_printable (name, SL_PHONE_NAME_MOST);
  phone->user = g_strdup (request->user);
  phone->login = sl_api_push_login (((SlApiCall *) request)->api->who->users, request->user);
  job->phone = g_steal_pointer (&phone);
  sl_api_in_thread (request, work_post, answer_job, job, job_free);
}

static void
answer_delete (SlApiRequest *request)
{
  if (check_there (request))
    sl_api_in_thread (request, work_delete, answer_job, g_new0 (Job, 1), job_free);
}

const SlApiRoute sl_api_push_routes[] = {
  { "GET", "/api/v1/push", SL_ROLE_LOOK, 0, answer_get },
  { "POST", "/api/v1/push", SL_ROLE_LOOK, MAX_BODY, answer_post },
  { "DELETE", "/api/v1/push/{id}", SL_ROLE_LOOK, 0, answer_delete },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
