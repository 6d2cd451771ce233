/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The side of the server's thread: which address means what, bodies as they come, the key, and
 * answers. What is received is bounded: bytes of a body, of all bodies, and those of one client.
 * A message is paused while its picture waits, and answered at its deadline at the latest.
 */
#include "tools/serve/http_request.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/prefix.h"
#include "core/base/printable.h"
#include "config.h"

/* All bodies together have at most this many times the bytes of the largest one, and those of one
 * client half of it. */
#define BODIES 4
/* From the headers to the answer: less than a connection lasts. */
#define LIFE_US (8 * G_USEC_PER_SEC)
#define STATUS_TOO_MANY_REQUESTS 429
#define VISION "/v1/vision/"
#define CUSTOM VISION "custom/"
#define FACE VISION "face/"
#define EXPECTED                                                                              \
  "expected /predict, /v1/vision/detection, /v1/vision/custom/NAME, /v1/vision/custom/list, " \
  "/v1/vision/scene, /v1/vision/face or /v1/vision/face/recognize, register, list or delete"

/* @name: of the model, NULL = the first that finds what is asked for */
typedef struct
{
  const char *path;
  SlHttpForm form;
  const char *command, *name;
  gboolean is_list;
} Address;

static const Address addresses[] = {
  { "/predict", SL_HTTP_PREDICTIONS, "predict", NULL, FALSE },
  { VISION "detection", SL_HTTP_DETECTION, "detect", NULL, FALSE },
  { VISION "scene", SL_HTTP_SCENE, "scene", NULL, FALSE },
  { VISION "face", SL_HTTP_DETECTION, "detect", "face", FALSE },
  { FACE "recognize", SL_HTTP_RECOGNIZE, "recognize", NULL, FALSE },
  { FACE "register", SL_HTTP_REGISTER, "register", NULL, FALSE },
  { FACE "list", SL_HTTP_FACES, "list", NULL, FALSE },
  { FACE "delete", SL_HTTP_FORGET, "delete", NULL, FALSE },
  { CUSTOM "list", SL_HTTP_DETECTION, "list-custom", NULL, TRUE },
  { VISION "list-custom", SL_HTTP_DETECTION, "list-custom", NULL, TRUE },
  { VISION "custom-list", SL_HTTP_DETECTION, "list-custom", NULL, TRUE },
};

static GQuark
request_quark (void)
{
  return g_quark_from_static_string ("sl-http-request");
}

SlHttpDoor *
sl_http_door_new (gsize body_most, gboolean keyed)
{
  SlHttpDoor *door = g_new0 (SlHttpDoor, 1);
  g_atomic_ref_count_init (&door->refs);
  g_mutex_init (&door->lock);
  door->body_most = body_most;
  door->keyed = keyed;
  door->models = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_http_model_free);
  door->requests = g_hash_table_new (g_int64_hash, g_int64_equal);
  return door;
}

SlHttpDoor *
sl_http_door_ref (SlHttpDoor *door)
{
  g_atomic_ref_count_inc (&door->refs);
  return door;
}

void
sl_http_door_unref (SlHttpDoor *door)
{
  if (!g_atomic_ref_count_dec (&door->refs))
    return;
  if (door->free_faces != NULL)
    door->free_faces (door->faces);
  g_ptr_array_unref (door->models);
  g_hash_table_unref (door->requests);
  g_mutex_clear (&door->lock);
  g_free (door);
}

SlHttpRequest *
sl_http_request_ref (SlHttpRequest *request)
{
  g_atomic_ref_count_inc (&request->refs);
  return request;
}

void
sl_http_request_drop_body (SlHttpRequest *request)
{
  SlHttpDoor *door = request->door;
  g_mutex_lock (&door->lock);
  door->bytes -= request->counted;
  request->counted = 0;
  g_mutex_unlock (&door->lock);
  g_clear_pointer (&request->body, g_byte_array_unref);
}

void
sl_http_request_unref (gpointer data)
{
  SlHttpRequest *request = data;
  if (!g_atomic_ref_count_dec (&request->refs))
    return;
  sl_http_request_drop_body (request);
  g_clear_pointer (&request->query, g_hash_table_unref);
  g_free (request->client);
  g_free (request->path);
  g_free (request->name);
  g_free (request->user);
  if (request->free_errand != NULL)
    request->free_errand (request->errand);
  sl_http_door_unref (request->door);
  g_free (request);
}

/* (transfer full): the JSON of an answer without results. */
static GString *
failure (guint status, const char *command, const char *sentence)
{
  GString *json = sl_http_begin_json (FALSE, status, command, NULL);
  sl_json_append_text (json, "error", sentence);
  sl_json_append_text (json, "message", sentence);
  g_string_append_c (json, '}');
  return json;
}

/* Takes @json. */
static void
answer (SoupServerMessage *message, guint status, GString *json)
{
  if (status == SOUP_STATUS_SERVICE_UNAVAILABLE)
    soup_message_headers_replace (soup_server_message_get_response_headers (message), "Retry-After",
                                  "1");
  g_string_append_c (json, '\n');
  sl_http_answer (message, status, SL_HTTP_JSON, json);
}

void
sl_http_door_refuse (SoupServerMessage *message, guint status, const char *sentence)
{
  answer (message, status, failure (status, "", sentence));
}

/* Removes one that is answered and that no thread works for. */
static void
forget (SlHttpRequest *request)
{
  SlHttpDoor *door = request->door;
  if (request->message != NULL || request->waits)
    return;
  g_mutex_lock (&door->lock);
  g_hash_table_steal (door->requests, &request->id);
  g_mutex_unlock (&door->lock);
  sl_http_request_unref (request);
}

/* No answer is waited for any more. */
static void
settle (SlHttpRequest *request)
{
  request->door->n_waiting -= request->waits;
  request->waits = FALSE;
}

/* The message is answered, or its connection has ended. */
static void
on_finished (SoupServerMessage *message, gpointer data)
{
  SlHttpRequest *request = data;
  SlHttpDoor *door = request->door;
  g_clear_signal_handler (&request->on_chunk, message);
  g_clear_signal_handler (&request->on_finished, message);
  g_object_set_qdata (G_OBJECT (message), request_quark (), NULL);
  g_clear_object (&request->message);
  if (!request->handed)
    sl_http_request_drop_body (request);
  g_atomic_int_add (&door->n_open, -1);
  g_mutex_lock (&door->lock);
  SlServeWorker *worker = door->worker;
  if (door->is_open) {
    g_mutex_lock (&worker->lock);
    g_cond_broadcast (&worker->changed);
    g_mutex_unlock (&worker->lock);
  }
  g_mutex_unlock (&door->lock);
  forget (request);
}

typedef struct
{
  SlHttpRequest *request;
  guint status;
  GString *json; /* (nullable) once it is sent */
} Delivery;

static void
delivery_free (gpointer data)
{
  Delivery *delivery = data;
  if (delivery->json != NULL)
    g_string_free (delivery->json, TRUE);
  sl_http_request_unref (delivery->request);
  g_free (delivery);
}

static gboolean
on_delivery (gpointer data)
{
  Delivery *delivery = data;
  SlHttpRequest *request = delivery->request;
  if (!request->waits)
    return G_SOURCE_REMOVE; /* it took too long */
  settle (request);
  if (request->message != NULL) {
    answer (request->message, delivery->status, g_steal_pointer (&delivery->json));
    soup_server_message_unpause (request->message);
  } else
    forget (request);
  return G_SOURCE_REMOVE;
}

void
sl_http_request_deliver (SlHttpRequest *request, guint status, GString *json)
{
  SlHttpDoor *door = request->door;
  Delivery *delivery = g_new0 (Delivery, 1);
  *delivery = (Delivery){ sl_http_request_ref (request), status, json };
  GSource *source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, on_delivery, delivery, delivery_free);
  g_mutex_lock (&door->lock);
  GMainContext *context = door->context != NULL ? g_main_context_ref (door->context) : NULL;
  g_mutex_unlock (&door->lock);
  if (context != NULL) {
    g_source_attach (source, context);
    g_main_context_unref (context);
  }
  g_source_unref (source);
}

void
sl_http_request_fail (SlHttpRequest *request, guint status, const char *sentence)
{
  sl_http_request_deliver (request, status, failure (status, request->asked.command, sentence));
}

void
sl_http_request_refuse (SlHttpRequest *request, guint status, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *sentence = g_strdup_vprintf (format, args);
  va_end (args);
  answer (request->message, status, failure (status, request->asked.command, sentence));
}

/* Bytes of bodies of @client. Under the lock. */
static gsize
bytes_of (const SlHttpDoor *door, const char *client)
{
  GHashTableIter iter;
  SlHttpRequest *request;
  gsize bytes = 0;
  g_hash_table_iter_init (&iter, door->requests);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &request))
    bytes += strcmp (request->client, client) == 0 ? request->counted : 0;
  return bytes;
}

/* Whether @size more bytes may be held for @request, which then count. */
static gboolean
take_bytes (SlHttpRequest *request, gsize size)
{
  SlHttpDoor *door = request->door;
  const gsize most = BODIES * door->body_most;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&door->lock);
  const gsize all = door->bytes + size;
  if (all > most || (all > most / 2 && bytes_of (door, request->client) + size > most / 2))
    return FALSE;
  door->bytes = all;
  request->counted += size;
  return TRUE;
}

static void
on_chunk (SoupServerMessage *message, GBytes *chunk, gpointer data)
{
  SlHttpRequest *request = data;
  gsize size;
  const guint8 *bytes = g_bytes_get_data (chunk, &size);
  if (soup_server_message_get_status (message) != 0)
    return;
  if (request->body->len + size > request->door->body_most)
    sl_http_request_refuse (request, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE,
                            "the body has more than %" G_GSIZE_FORMAT
                            " bytes: send a smaller picture",
                            request->door->body_most);
  else if (!take_bytes (request, size))
    sl_http_request_refuse (request, SOUP_STATUS_SERVICE_UNAVAILABLE,
                            "pictures of others fill the memory for them: send it again later");
  else
    g_byte_array_append (request->body, bytes, (guint) size);
  if (soup_server_message_get_status (message) != 0)
    sl_http_request_drop_body (request);
}

gboolean
sl_http_request_is_about_faces (const SlHttpRequest *request)
{
  return request->asked.form >= SL_HTTP_RECOGNIZE;
}

static gboolean
takes_picture (const SlHttpRequest *request)
{
  return request->asked.form != SL_HTTP_FACES && request->asked.form != SL_HTTP_FORGET;
}

/* FALSE where nothing is posted to @path. */
static gboolean
find_address (SlHttpRequest *request, const char *path)
{
  for (guint i = 0; i < G_N_ELEMENTS (addresses); i++)
    if (strcmp (path, addresses[i].path) == 0) {
      request->asked.form = addresses[i].form;
      request->asked.command = addresses[i].command;
      request->name = g_strdup (addresses[i].name);
      request->is_list = addresses[i].is_list;
      return TRUE;
    }
  if (!sl_has_prefix (path, CUSTOM) || path[strlen (CUSTOM)] == '\0')
    return FALSE;
  request->asked.form = SL_HTTP_DETECTION;
  request->asked.command = "custom";
  request->name = g_strdup (path + strlen (CUSTOM));
  return TRUE;
}

static gboolean
is_leaving (SlHttpDoor *door)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&door->lock);
  if (!door->is_open)
    return TRUE;
  g_autoptr (GMutexLocker) inner G_GNUC_UNUSED = g_mutex_locker_new (&door->worker->lock);
  return door->worker->draining;
}

static void
refuse_leaving (SlHttpRequest *request)
{
  sl_http_request_refuse (request, SOUP_STATUS_SERVICE_UNAVAILABLE,
                          "the worker ends: send it to the next one");
}

/* FALSE once it is refused, before its body is read. */
static gboolean
check_headers (SlHttpRequest *request, const char *path)
{
  static const char *const readable[] = { "/", "/status", "/health", "/metrics" };
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (request->message);
  g_autofree char *shown = sl_printable (path, SL_PRINTABLE_NAME);
  const goffset length = soup_message_headers_get_content_length (headers);
  const gboolean leaving = is_leaving (request->door);
  for (guint i = 0; i < G_N_ELEMENTS (readable); i++)
    if (strcmp (path, readable[i]) == 0) {
      soup_message_headers_replace (soup_server_message_get_response_headers (request->message),
                                    "Allow", "GET, HEAD");
      sl_http_request_refuse (request, SOUP_STATUS_METHOD_NOT_ALLOWED, "%s: expected GET or HEAD",
                              path);
      return FALSE;
    }
  if (!find_address (request, path))
    sl_http_request_refuse (request, SOUP_STATUS_NOT_FOUND, "%s: there is nothing here; " EXPECTED,
                            shown);
  else if (leaving)
    refuse_leaving (request);
  else if (length > 0 && (gsize) length > request->door->body_most)
    sl_http_request_refuse (request, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE,
                            "the body has %" G_GOFFSET_FORMAT
                            " bytes, expected at most %" G_GSIZE_FORMAT ": send a smaller picture",
                            length, request->door->body_most);
  return soup_server_message_get_status (request->message) == 0;
}

void
sl_http_door_begin (SlHttpDoor *door, SoupServerMessage *message, const char *path,
                    GHashTable *query, gboolean known)
{
  SlHttpRequest *request = g_new0 (SlHttpRequest, 1);
  g_atomic_ref_count_init (&request->refs);
  request->door = sl_http_door_ref (door);
  request->message = g_object_ref (message);
  request->client = sl_connections_client (soup_server_message_get_remote_address (message));
  request->path = g_strdup (path);
  request->query = query != NULL ? g_hash_table_ref (query) : NULL;
  request->known = known;
  request->asked.command = "";
  request->asked.min_confidence = -1;
  request->deadline = g_get_monotonic_time () + LIFE_US;
  if (!check_headers (request, path)) {
    g_clear_object (&request->message);
    sl_http_request_unref (request);
    return;
  }
  request->body = g_byte_array_new ();
  request->on_chunk = g_signal_connect (message, "got-chunk", G_CALLBACK (on_chunk), request);
  request->on_finished = g_signal_connect (message, "finished", G_CALLBACK (on_finished), request);
  g_object_set_qdata (G_OBJECT (message), request_quark (), request);
  g_atomic_int_inc (&door->n_open);
  g_mutex_lock (&door->lock);
  request->id = ++door->last;
  g_hash_table_insert (door->requests, &request->id, request);
  g_mutex_unlock (&door->lock);
}

static gboolean
suits (const SlHttpRequest *request, const SlHttpModel *model)
{
  return request->asked.form == SL_HTTP_PREDICTIONS
         || model->finds
              == (request->asked.form == SL_HTTP_SCENE ? SL_HTTP_FINDS_LABELS
                                                       : SL_HTTP_FINDS_OBJECTS);
}

/* FALSE once it is refused. A model called "face" is for faces alone, where there is another. */
static gboolean
find_model (SlHttpRequest *request)
{
  g_autoptr (GString) names = g_string_new (NULL);
  SlHttpModel *face = NULL;
  for (guint i = 0; i < request->door->models->len; i++) {
    SlHttpModel *model = request->door->models->pdata[i];
    const char *name = model->served->name;
    g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", name);
    if (!suits (request, model) || (request->name != NULL && strcmp (request->name, name) != 0))
      continue;
    if (request->name == NULL && strcmp (name, "face") == 0)
      face = model;
    else if (request->model == NULL)
      request->model = model;
  }
  if (request->model == NULL)
    request->model = face;
  if (request->model != NULL)
    return TRUE;
  g_autofree char *shown =
    sl_printable (request->name != NULL ? request->name : "", SL_PRINTABLE_NAME);
  sl_http_request_refuse (
    request, SOUP_STATUS_NOT_FOUND,
    "%s%s%s that finds %s, of those that are served: %s; others are served by "
    "sightline serve NAME=MODEL",
    *shown != '\0' ? "model " : "", shown, *shown != '\0' ? ": expected one" : "expected a model",
    request->asked.form == SL_HTTP_SCENE       ? "labels"
    : request->asked.form == SL_HTTP_DETECTION ? "objects"
                                               : "anything",
    names->str);
  return FALSE;
}

static void
answer_list (SlHttpRequest *request)
{
  GString *json = sl_http_begin_json (TRUE, SOUP_STATUS_OK, request->asked.command, NULL);
  sl_json_append_key (json, "models");
  g_string_append_c (json, '[');
  for (guint i = 0, n = 0; i < request->door->models->len; i++) {
    const SlHttpModel *model = request->door->models->pdata[i];
    if (model->finds != SL_HTTP_FINDS_OBJECTS)
      continue;
    g_string_append (json, n++ > 0 ? "," : "");
    sl_json_append_string (json, model->served->name);
  }
  g_string_append (json, "],\"inferenceMs\":0,\"processMs\":0,\"analysisRoundTripMs\":0}");
  answer (request->message, SOUP_STATUS_OK, json);
}

/* To the pool. FALSE once the door is closed, which may be while a body comes. */
static gboolean
push (SlHttpRequest *request)
{
  SlHttpDoor *door = request->door;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&door->lock);
  if (!door->is_open)
    return FALSE;
  request->asked.received = g_get_monotonic_time ();
  request->waits = request->handed = TRUE;
  door->n_waiting++;
  soup_server_message_pause (request->message);
  g_thread_pool_push (door->pool, sl_http_request_ref (request), NULL);
  return TRUE;
}

/* Its key is right: to the pool, or an answer at once. */
static void
hand_on (SlHttpRequest *request, const SlHttpBody *body)
{
  SlHttpDoor *door = request->door;
  if (request->is_list) {
    answer_list (request);
    return;
  }
  const gboolean about_faces = sl_http_request_is_about_faces (request);
  if (about_faces && door->faces == NULL) {
    sl_http_request_refuse (
      request, SOUP_STATUS_NOT_FOUND,
      "this worker knows no faces: start it with face=MODEL --faces MODEL --gallery FILE --keep "
      "TIME");
    return;
  }
  if (!sl_http_body_fields (request, body) || (!about_faces && !find_model (request)))
    return;
  if (request->n_pictures == 0 && request->asked.form <= SL_HTTP_REGISTER)
    sl_http_request_refuse (
      request, SOUP_STATUS_BAD_REQUEST,
      "expected a picture, as the body or as a part \"image\" of a form, got none");
  else if (door->n_waiting >= door->most_waiting)
    sl_http_request_refuse (
      request, SOUP_STATUS_SERVICE_UNAVAILABLE,
      "%u pictures wait already: send it again later, or take a faster model or more --jobs",
      door->n_waiting);
  else if (!push (request))
    refuse_leaving (request);
}

/* The turn of a request that states a key has come, or of one that need not. */
static void
check_key (SoupServerMessage *message, const char *path, GHashTable *query, gpointer data)
{
  SlHttpDoor *door = data;
  SlHttpRequest *request = g_object_get_qdata (G_OBJECT (message), request_quark ());
  SlHttpBody body;
  if (!sl_http_body_read (request, &body)) {
    sl_http_request_drop_body (request);
    return;
  }
  g_autofree char *key = sl_http_body_field (request, &body, "api_key");
  if (request->known || !door->keyed
      || (key != NULL && sl_auth_is_key (door->auth, key, strlen (key))))
    hand_on (request, &body);
  else {
    if (key != NULL && key[0] != '\0')
      sl_auth_throttle_delay (door->throttle, message);
    sl_http_request_refuse (
      request, SOUP_STATUS_UNAUTHORIZED,
      "Incorrect api key: expected the field api_key with the key of --api-key-file");
  }
  sl_http_body_clear (&body);
  if (!request->handed)
    sl_http_request_drop_body (request);
}

void
sl_http_door_received (SlHttpDoor *door, SoupServerMessage *message)
{
  SlHttpRequest *request = g_object_get_qdata (G_OBJECT (message), request_quark ());
  if (request == NULL)
    sl_http_door_refuse (message, SOUP_STATUS_INTERNAL_SERVER_ERROR, "the request was not begun");
  else if (request->known || !door->keyed)
    check_key (message, request->path, request->query, door);
  else if (!sl_auth_throttle_take (door->throttle, message, request->path, request->query))
    sl_http_request_refuse (
      request, STATUS_TOO_MANY_REQUESTS,
      "%d keys of this client wait already, as one was wrong: try again later",
      SL_AUTH_MAX_WAITING);
}

void
sl_http_door_get (SlHttpDoor *door, SoupServerMessage *message, const char *path)
{
  static const char *const pings[] = { "/v1/status/ping", "/v1/server/status/ping",
                                       "/v1/status/version", "/v1/server/status/version" };
  SlHttpRequest request = { .door = door, .message = message, .asked.command = "" };
  const gboolean found = find_address (&request, path);
  for (guint i = 0; i < G_N_ELEMENTS (pings); i++)
    if (strcmp (path, pings[i]) == 0) {
      GString *json = sl_http_begin_json (TRUE, SOUP_STATUS_OK, "status", NULL);
      sl_json_append_text (json, "message", "Sightline " SL_VERSION);
      sl_json_append_text (json, "version", SL_VERSION);
      g_string_append_c (json, '}');
      answer (message, SOUP_STATUS_OK, json);
      return;
    }
  if (found && request.is_list)
    answer_list (&request);
  else if (found) {
    soup_message_headers_replace (soup_server_message_get_response_headers (message), "Allow",
                                  "POST");
    sl_http_request_refuse (&request, SOUP_STATUS_METHOD_NOT_ALLOWED, "expected POST%s",
                            takes_picture (&request) ? " with a picture" : "");
  } else
    sl_http_request_refuse (&request, SOUP_STATUS_NOT_FOUND, "there is nothing here; " EXPECTED);
  g_free (request.name);
}

void
sl_http_door_started (SlHttpDoor *door, const SlAuth *auth)
{
  door->auth = auth;
  door->throttle = sl_auth_throttle_new (check_key, door);
  g_mutex_lock (&door->lock);
  door->context = g_main_context_ref_thread_default ();
  g_mutex_unlock (&door->lock);
}

void
sl_http_door_stopped (SlHttpDoor *door)
{
  g_mutex_lock (&door->lock);
  g_clear_pointer (&door->context, g_main_context_unref);
  g_autoptr (GList) left = g_hash_table_get_values (door->requests);
  g_mutex_unlock (&door->lock);
  g_clear_pointer (&door->throttle, sl_auth_throttle_free);
  for (const GList *link = left; link != NULL; link = link->next) {
    SlHttpRequest *request = link->data;
    settle (request);
    if (request->message != NULL)
      on_finished (request->message, request);
    else
      forget (request);
  }
}

void
sl_http_door_tick (SlHttpDoor *door)
{
  const gint64 now = g_get_monotonic_time ();
  g_mutex_lock (&door->lock);
  g_autoptr (GList) all = g_hash_table_get_values (door->requests);
  g_mutex_unlock (&door->lock);
  sl_auth_throttle_expire (door->throttle);
  for (const GList *link = all; link != NULL; link = link->next) {
    SlHttpRequest *request = link->data;
    if (!request->waits || now < request->deadline)
      continue;
    settle (request);
    if (request->message == NULL) {
      forget (request);
      continue;
    }
    sl_http_request_refuse (
      request, SOUP_STATUS_SERVICE_UNAVAILABLE,
      "the picture was not computed within %d s: take a faster model, or more --jobs",
      (int) (LIFE_US / G_USEC_PER_SEC));
    soup_server_message_unpause (request->message);
  }
}
