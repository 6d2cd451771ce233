/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread of its own accepts connections and looks once a second for sessions that have timed out,
 * for connections without one, and for paths without an element. Clients are served by threads of
 * gst-rtsp-server.
 *
 * One lock guards servers and paths. The server's thread only tries it, because its holder
 * may wait for that thread to end. Connections are counted without it.
 */
#include "plugins/restream/server.h"

#include <string.h>

#include "core/base/fail.h"

/* Clients stay so long without an element. */
#define LINGER_US (10 * G_USEC_PER_SEC)
/* A connection stays so long without a session. */
#define SILENT_US (10 * G_USEC_PER_SEC)
/* Connections beyond the limit, which are told so; further ones are closed. */
#define REFUSED_MOST 8
#define REQUEST_BYTES (64 << 10)
#define THREADS 8
#define ROLE "viewer"

typedef struct
{
  char *key, *user, *password;
  guint port;
  GstRTSPServer *rtsp;
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  GSource *listen, *tick;
  GPtrArray *paths;
  gint *connections, most; /* atomic; the first is a box, since clients may end later */
} Server;

struct _SlRestreamPath
{
  Server *server;
  char *path;
  gboolean is_claimed;
  gint64 released; /* monotonic time */
  SlRestreamMount *mount;
};

static GMutex lock;
static GPtrArray *servers; /* of Server */

/* What it takes to close the clients of a path. */
typedef struct
{
  GstRTSPServer *rtsp;
  GMainContext *context;
  char *path;
} Rejection;

/* Clients */

static GstRTSPFilterResult
find_media (GstRTSPClient *client, GstRTSPSession *session, gpointer data)
{
  gint matched = 0;
  const char *path = data;
  GstRTSPSessionMedia *media = gst_rtsp_session_get_media (session, path, &matched);
  return media != NULL && matched == (gint) strlen (path) ? GST_RTSP_FILTER_REF
                                                          : GST_RTSP_FILTER_KEEP;
}

static GstRTSPFilterResult
close_client (GstRTSPServer *rtsp, GstRTSPClient *client, gpointer path)
{
  GList *sessions = path != NULL ? gst_rtsp_client_session_filter (client, find_media, path) : NULL;
  const gboolean closes = path == NULL || sessions != NULL;
  g_list_free_full (sessions, g_object_unref);
  return closes ? GST_RTSP_FILTER_REMOVE : GST_RTSP_FILTER_KEEP;
}

static Rejection *
new_rejection (GstRTSPServer *rtsp, GMainContext *context, const char *path)
{
  Rejection *rejection = g_new0 (Rejection, 1);
  rejection->rtsp = g_object_ref (rtsp);
  rejection->context = g_main_context_ref (context);
  rejection->path = g_strdup (path);
  return rejection;
}

static void
rejection_free (gpointer data)
{
  Rejection *rejection = data;
  g_object_unref (rejection->rtsp);
  g_main_context_unref (rejection->context);
  g_free (rejection->path);
  g_free (rejection);
}

static gboolean
reject_now (gpointer data)
{
  const Rejection *rejection = data;
  g_list_free_full (gst_rtsp_server_client_filter (rejection->rtsp, close_client, rejection->path),
                    g_object_unref);
  return G_SOURCE_REMOVE;
}

/* In the server's thread, since a client's may be the one that calls. */
static void
reject (gpointer data)
{
  const Rejection *from = data;
  g_main_context_invoke_full (from->context, G_PRIORITY_DEFAULT, reject_now,
                              new_rejection (from->rtsp, from->context, from->path),
                              rejection_free);
}

/* Of a connection, which has it as VISIT. @since: monotonic time from which it has no session; the
 * server's thread has it */
typedef struct
{
  gint *connections;
  gint64 since;
  GMutex lock;
  GPtrArray *sessions; /* under the lock: their ids */
} Visit;

#define VISIT "sl-visit"

static void
visit_free (gpointer data)
{
  Visit *visit = data;
  g_atomic_rc_box_release (visit->connections);
  g_ptr_array_unref (visit->sessions);
  g_mutex_clear (&visit->lock);
  g_free (visit);
}

static void
on_session (GstRTSPClient *client, GstRTSPSession *session, gpointer data)
{
  Visit *visit = data;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&visit->lock);
  g_ptr_array_add (visit->sessions, g_strdup (gst_rtsp_session_get_sessionid (session)));
}

/* A session ends with its connection: one of a client that was killed would count until it times
 * out. The client has forgotten its sessions by now, the pool has not. */
static void
on_closed (GstRTSPClient *client, gpointer data)
{
  Visit *visit = data;
  g_autoptr (GstRTSPSessionPool) pool = gst_rtsp_client_get_session_pool (client);
  g_mutex_lock (&visit->lock);
  for (guint i = 0; i < visit->sessions->len; i++) {
    g_autoptr (GstRTSPSession) session =
      gst_rtsp_session_pool_find (pool, visit->sessions->pdata[i]);
    if (session != NULL)
      gst_rtsp_session_pool_remove (pool, session);
  }
  g_ptr_array_set_size (visit->sessions, 0);
  g_mutex_unlock (&visit->lock);
  g_atomic_int_add (visit->connections, -1);
}

/* gst-rtsp-server has one status for all that goes wrong, and no words. */
static void
on_message (GstRTSPClient *client, GstRTSPSession *session, GstRTSPMessage *message, gpointer data)
{
  GstRTSPStatusCode status = GST_RTSP_STS_OK;
  if (message->type != GST_RTSP_MESSAGE_RESPONSE
      || message->type_data.response.code < GST_RTSP_STS_BAD_REQUEST)
    return;
  char *reason = sl_restream_mount_take_refusal (client, &status);
  if (reason == NULL)
    return;
  g_free (message->type_data.response.reason);
  message->type_data.response.code = status;
  message->type_data.response.reason = reason;
}

/* Who says nothing takes no other client's place. */
static GstRTSPFilterResult
close_silent (GstRTSPServer *rtsp, GstRTSPClient *client, gpointer data)
{
  const gint64 *now = data;
  Visit *visit = g_object_get_data (G_OBJECT (client), VISIT);
  GList *sessions = gst_rtsp_client_session_filter (client, NULL, NULL);
  if (sessions != NULL)
    visit->since = *now;
  g_list_free_full (sessions, g_object_unref);
  return *now - visit->since > SILENT_US ? GST_RTSP_FILTER_REMOVE : GST_RTSP_FILTER_KEEP;
}

static gboolean
close_now (gpointer client)
{
  gst_rtsp_client_close (client);
  return G_SOURCE_REMOVE;
}

/* Once gst-rtsp-server has set up the connection, which it cannot do to one that is closed. */
static void
close_soon (const Server *server, GstRTSPClient *client)
{
  g_autoptr (GSource) source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, close_now, g_object_ref (client), g_object_unref);
  g_source_attach (source, server->context);
}

/* Sessions beyond the limit get 503. */
static void
on_connected (GstRTSPServer *rtsp, GstRTSPClient *client, gpointer data)
{
  Server *server = data;
  Visit *visit = g_new0 (Visit, 1);
  const gint before = g_atomic_int_add (server->connections, 1);
  visit->connections = g_atomic_rc_box_acquire (server->connections);
  visit->since = g_get_monotonic_time ();
  visit->sessions = g_ptr_array_new_with_free_func (g_free);
  g_mutex_init (&visit->lock);
  g_object_set_data_full (G_OBJECT (client), VISIT, visit, visit_free);
  g_signal_connect (client, "new-session", G_CALLBACK (on_session), visit);
  g_signal_connect (client, "send-message", G_CALLBACK (on_message), NULL);
  g_signal_connect (client, "closed", G_CALLBACK (on_closed), visit);
  if (before >= g_atomic_int_get (&server->most) + REFUSED_MOST)
    close_soon (server, client);
}

/* Paths: the lock is held. */

static void
remove_path (SlRestreamPath *path)
{
  Server *server = path->server;
  g_autoptr (GstRTSPMountPoints) points = gst_rtsp_server_get_mount_points (server->rtsp);
  gst_rtsp_mount_points_remove_factory (points, path->path);
  g_list_free_full (gst_rtsp_server_client_filter (server->rtsp, close_client, path->path),
                    g_object_unref);
  g_ptr_array_remove_fast (server->paths, path);
  sl_restream_mount_unref (path->mount);
  g_free (path->path);
  g_free (path);
}

static SlRestreamPath *
add_path (Server *server, const char *name, gboolean has_metadata)
{
  SlRestreamPath *path = g_new0 (SlRestreamPath, 1);
  path->server = server;
  path->path = g_strdup (name);
  path->mount = sl_restream_mount_new (
    has_metadata, reject, new_rejection (server->rtsp, server->context, name), rejection_free);
  GstRTSPMediaFactory *factory = sl_restream_mount_factory (path->mount);
  gst_rtsp_media_factory_add_role (factory, ROLE, GST_RTSP_PERM_MEDIA_FACTORY_ACCESS,
                                   G_TYPE_BOOLEAN, TRUE, GST_RTSP_PERM_MEDIA_FACTORY_CONSTRUCT,
                                   G_TYPE_BOOLEAN, TRUE, NULL);
  g_autoptr (GstRTSPMountPoints) points = gst_rtsp_server_get_mount_points (server->rtsp);
  gst_rtsp_mount_points_add_factory (points, name, factory);
  g_ptr_array_add (server->paths, path);
  return path;
}

static SlRestreamPath *
find_path (const Server *server, const char *name)
{
  for (guint i = 0; i < server->paths->len; i++) {
    SlRestreamPath *path = server->paths->pdata[i];
    if (strcmp (path->path, name) == 0)
      return path;
  }
  return NULL;
}

/* Servers: the lock is held. */

static gboolean
quit (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

/* A loop that has not begun yet would forget that it was told to end, so it is told by itself. */
static void
end_loop (const Server *server)
{
  g_autoptr (GSource) source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_HIGH);
  g_source_set_callback (source, quit, g_main_loop_ref (server->loop),
                         (GDestroyNotify) g_main_loop_unref);
  g_source_attach (source, server->context);
}

static void
server_free (Server *server)
{
  if (server->listen != NULL) {
    g_source_destroy (server->listen);
    g_source_unref (server->listen);
  }
  if (server->tick != NULL) {
    g_source_destroy (server->tick);
    g_source_unref (server->tick);
  }
  g_list_free_full (gst_rtsp_server_client_filter (server->rtsp, close_client, NULL),
                    g_object_unref);
  end_loop (server);
  if (server->thread == g_thread_self ())
    g_thread_unref (server->thread);
  else if (server->thread != NULL)
    g_thread_join (server->thread);
  g_signal_handlers_disconnect_by_data (server->rtsp, server);
  g_object_unref (server->rtsp);
  g_main_loop_unref (server->loop);
  g_main_context_unref (server->context);
  g_ptr_array_unref (server->paths);
  g_atomic_rc_box_release (server->connections);
  g_free (server->key);
  g_free (server->user);
  g_free (server->password);
  g_free (server);
}

static void
stop_when_unused (Server *server)
{
  if (server->paths->len > 0)
    return;
  g_ptr_array_remove_fast (servers, server);
  server_free (server);
}

static gpointer
serve (gpointer data)
{
  g_autoptr (GMainLoop) loop = data;
  GMainContext *context = g_main_loop_get_context (loop);
  g_main_context_push_thread_default (context);
  g_main_loop_run (loop);
  g_main_context_pop_thread_default (context);
  return NULL;
}

static gboolean
on_tick (gpointer data)
{
  Server *server = data;
  gint64 now = g_get_monotonic_time ();
  g_autoptr (GstRTSPSessionPool) pool = gst_rtsp_server_get_session_pool (server->rtsp);
  gst_rtsp_session_pool_cleanup (pool);
  g_list_free_full (gst_rtsp_server_client_filter (server->rtsp, close_silent, &now),
                    g_object_unref);
  if (!g_mutex_trylock (&lock))
    return G_SOURCE_CONTINUE;
  for (guint i = server->paths->len; i > 0; i--) {
    SlRestreamPath *path = server->paths->pdata[i - 1];
    if (!path->is_claimed
        && (now - path->released > LINGER_US || !sl_restream_mount_has_clients (path->mount)))
      remove_path (path);
  }
  stop_when_unused (server);
  g_mutex_unlock (&lock);
  return G_SOURCE_CONTINUE;
}

static void
set_user (Server *server, const SlRestreamPlace *place)
{
  g_autoptr (GstRTSPAuth) auth = NULL;
  if (place->user != NULL) {
    auth = gst_rtsp_auth_new ();
    GstRTSPToken *token =
      gst_rtsp_token_new (GST_RTSP_TOKEN_MEDIA_FACTORY_ROLE, G_TYPE_STRING, ROLE, NULL);
    gst_rtsp_auth_set_supported_methods (auth, GST_RTSP_AUTH_DIGEST);
    gst_rtsp_auth_set_realm (auth, "Sightline");
    gst_rtsp_auth_add_digest (auth, place->user, place->password, token);
    gst_rtsp_token_unref (token);
  }
  gst_rtsp_server_set_auth (server->rtsp, auth);
  g_free (server->user);
  g_free (server->password);
  server->user = g_strdup (place->user);
  server->password = g_strdup (place->password);
}

static void
set_up (Server *server, const SlRestreamPlace *place)
{
  g_autofree char *service = g_strdup_printf ("%u", place->port);
  g_autoptr (GstRTSPThreadPool) threads = gst_rtsp_server_get_thread_pool (server->rtsp);
  gst_rtsp_server_set_address (server->rtsp, place->address);
  gst_rtsp_server_set_service (server->rtsp, service);
  gst_rtsp_server_set_content_length_limit (server->rtsp, REQUEST_BYTES);
  gst_rtsp_thread_pool_set_max_threads (threads, THREADS);
  g_signal_connect (server->rtsp, "client-connected", G_CALLBACK (on_connected), server);
  set_user (server, place);
}

/* (nullable) */
static Server *
server_new (const SlRestreamPlace *place, GError **error)
{
  Server *server = g_new0 (Server, 1);
  g_autoptr (GError) reason = NULL;
  server->key = g_strdup_printf ("%s:%u", place->address, place->port);
  server->rtsp = gst_rtsp_server_new ();
  server->context = g_main_context_new ();
  server->loop = g_main_loop_new (server->context, FALSE);
  server->paths = g_ptr_array_new ();
  server->connections = g_atomic_rc_box_new0 (gint);
  set_up (server, place);
  server->listen = gst_rtsp_server_create_source (server->rtsp, NULL, &reason);
  if (server->listen == NULL) {
    sl_fail (
      error, SL_ERROR_OPEN,
      "rtsp: nothing can listen on %s, port %u: %s; choose another port, or end the program that "
      "has it",
      place->address, place->port, reason != NULL ? reason->message : "unknown reason");
    server_free (server);
    return NULL;
  }
  server->port = (guint) gst_rtsp_server_get_bound_port (server->rtsp);
  g_source_attach (server->listen, server->context);
  server->tick = g_timeout_source_new_seconds (1);
  g_source_set_callback (server->tick, on_tick, server, NULL);
  g_source_attach (server->tick, server->context);
  server->thread = g_thread_new ("sl-restream", serve, g_main_loop_ref (server->loop));
  g_ptr_array_add (servers, server);
  return server;
}

/* (nullable) */
static Server *
find_server (const SlRestreamPlace *place)
{
  g_autofree char *key = g_strdup_printf ("%s:%u", place->address, place->port);
  for (guint i = 0; i < servers->len; i++) {
    Server *server = servers->pdata[i];
    if (strcmp (server->key, key) == 0)
      return server;
  }
  return NULL;
}

/* Whether an element has one of the paths. */
static gboolean
is_in_use (const Server *server)
{
  for (guint i = 0; i < server->paths->len; i++)
    if (((SlRestreamPath *) server->paths->pdata[i])->is_claimed)
      return TRUE;
  return FALSE;
}

static gboolean
check_user (Server *server, const SlRestreamPlace *place, GError **error)
{
  const gboolean in_use = is_in_use (server);
  if (sl_restream_place_check_user (place, server->user, server->password, server->port,
                                    in_use ? error : NULL))
    return TRUE;
  if (!in_use)
    set_user (server, place);
  return !in_use;
}

/* The largest that one of its elements has. */
static void
set_most (Server *server, guint clients)
{
  g_autoptr (GstRTSPSessionPool) pool = gst_rtsp_server_get_session_pool (server->rtsp);
  if ((gint) clients <= g_atomic_int_get (&server->most))
    return;
  g_atomic_int_set (&server->most, (gint) clients);
  gst_rtsp_session_pool_set_max_sessions (pool, clients);
}

/* (nullable): a path that waits for an element is this one's now, with its clients. */
static SlRestreamPath *
take_path (Server *server, const char *name, gboolean has_metadata, GError **error)
{
  SlRestreamPath *path = find_path (server, name);
  if (path != NULL && path->is_claimed) {
    sl_restream_fail_taken (name, server->port, error);
    return NULL;
  }
  if (path == NULL)
    path = add_path (server, name, has_metadata);
  path->is_claimed = TRUE;
  return path;
}

SlRestreamPath *
sl_restream_claim (const SlRestreamPlace *place, const char *suffix, gboolean has_metadata,
                   GError **error)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  g_autofree char *name = g_strconcat (place->path, suffix, NULL);
  if (servers == NULL)
    servers = g_ptr_array_new ();
  Server *server = find_server (place);
  if (server == NULL && (server = server_new (place, error)) == NULL)
    return NULL;
  SlRestreamPath *path =
    check_user (server, place, error) ? take_path (server, name, has_metadata, error) : NULL;
  if (path != NULL)
    set_most (server, place->clients);
  return path;
}

void
sl_restream_release (SlRestreamPath *path)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  Server *server = path->server;
  path->is_claimed = FALSE;
  path->released = g_get_monotonic_time ();
  sl_restream_mount_set_caps (path->mount, NULL);
  if (!sl_restream_mount_has_clients (path->mount))
    remove_path (path);
  stop_when_unused (server);
}

SlRestreamMount *
sl_restream_path_mount (SlRestreamPath *path)
{
  return path->mount;
}

guint
sl_restream_path_port (SlRestreamPath *path)
{
  return path->server->port;
}

guint
sl_restream_path_clients (SlRestreamPath *path)
{
  return (guint) MAX (0, g_atomic_int_get (path->server->connections));
}
