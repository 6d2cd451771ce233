/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread of a connection, and what other threads may do meanwhile.
 *
 * Invariant: @client is made and destroyed by the thread alone, under the lock. Others use it under
 * the lock; the thread needs none to use it. No lock is held while a call runs. The structure is
 * shared by its owner and the thread and freed by the later of the two.
 */
#include "pipelines/remote/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/base/backoff.h"
#include "core/base/printable.h"
#include "core/base/fail.h"

#define CONNECT_US (10 * G_USEC_PER_SEC)
#define STOP_US (2 * G_USEC_PER_SEC)
#define UNCONNECTED_US (G_USEC_PER_SEC / 4)
#define GOODBYE_US (G_USEC_PER_SEC / 2)
#define STEP_MS 100
#define IDLE_MS 1000
/* Reason codes from here on are errors (MQTT 5, 2.4). */
#define ERRORS 0x80

struct _SlBroker
{
  gatomicrefcount refs;
  SlBrokerCalls calls;
  gpointer user;
  SlMqttTarget target;
  char *client_id, *will_topic, *ca_file, *certificate, *key;
  guint receive_maximum, keep_alive, retry_min_ms, retry_max_ms;
  gsize most_bytes;
  GThread *thread;
  gint wake[2];
  gboolean answered; /* thread: the broker answered the connection with @answer */
  gint answer;
  GMutex lock;
  GCond changed;
  /* Under the lock: */
  struct mosquitto *client; /* (nullable) */
  gboolean ready;           /* connected, and things may be sent */
  guint unconfirmed;
  gboolean stopping, ended;
};

static void
unref_broker (SlBroker *self)
{
  if (!g_atomic_ref_count_dec (&self->refs))
    return;
  sl_mqtt_target_clear (&self->target);
  g_free (self->client_id);
  g_free (self->will_topic);
  g_free (self->ca_file);
  g_free (self->certificate);
  g_free (self->key);
  for (guint i = 0; i < 2; i++)
    if (self->wake[i] >= 0)
      close (self->wake[i]);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  mosquitto_lib_cleanup ();
  if (self->calls.gone != NULL)
    self->calls.gone (self->user);
  g_free (self);
}

static gboolean
is_stopping (SlBroker *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return self->stopping;
}

static void
on_connect (struct mosquitto *client, void *data, int code, int flags,
            const mosquitto_property *properties)
{
  SlBroker *self = data;
  self->answered = TRUE;
  self->answer = code;
}

static void
on_publish (struct mosquitto *client, void *data, int id, int code,
            const mosquitto_property *properties)
{
  SlBroker *self = data;
  g_mutex_lock (&self->lock);
  self->unconfirmed -= self->unconfirmed > 0;
  g_mutex_unlock (&self->lock);
  const SlBrokerSent sent = code == MQTT_RC_NO_MATCHING_SUBSCRIBERS ? SL_SENT_UNHEARD
                            : code >= ERRORS                        ? SL_SENT_REFUSED
                                                                    : SL_SENT_CONFIRMED;
  if (!is_stopping (self))
    self->calls.confirmed (self->user, id, sent,
                           sent == SL_SENT_REFUSED ? mosquitto_reason_string (code) : NULL);
}

static void
on_subscribe (struct mosquitto *client, void *data, int id, int n, const int *granted,
              const mosquitto_property *properties)
{
  SlBroker *self = data;
  for (int i = 0; i < n; i++)
    if (granted[i] >= ERRORS && !is_stopping (self)) {
      g_autofree char *reason = g_strdup_printf (
        "MQTT broker %s:%u: it does not let this user read: %s: check its access control "
        "(docs/remote.md has one)",
        self->target.host, self->target.port, mosquitto_reason_string (granted[i]));
      self->calls.denied (self->user, reason);
    }
}

static void
on_message (struct mosquitto *client, void *data, const struct mosquitto_message *message,
            const mosquitto_property *properties)
{
  SlBroker *self = data;
  char *response = NULL;
  void *correlation = NULL;
  guint16 size = 0;
  if (is_stopping (self))
    return;
  mosquitto_property_read_string (properties, MQTT_PROP_RESPONSE_TOPIC, &response, false);
  mosquitto_property_read_binary (properties, MQTT_PROP_CORRELATION_DATA, &correlation, &size,
                                  false);
  self->calls.heard (self->user, &(SlBrokerMessage){ message->topic, message->payload,
                                                     (gsize) message->payloadlen, response,
                                                     correlation, size });
  free (response);
  free (correlation);
}

/* A client for the next connection. */
static gboolean
make_client (SlBroker *self, GError **error)
{
  const SlMqttAccess access = { .ca_file = self->ca_file,
                                .certificate = self->certificate,
                                .key = self->key };
  struct mosquitto *client = mosquitto_new (self->client_id, true, self);
  if (client == NULL)
    return sl_mqtt_fail (&self->target, MOSQ_ERR_NOMEM, error);
  mosquitto_int_option (client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
  mosquitto_int_option (client, MOSQ_OPT_TCP_NODELAY, 1);
  if (self->receive_maximum > 0)
    mosquitto_int_option (client, MOSQ_OPT_RECEIVE_MAXIMUM, (int) self->receive_maximum);
  mosquitto_threaded_set (client, true);
  mosquitto_connect_v5_callback_set (client, on_connect);
  mosquitto_publish_v5_callback_set (client, on_publish);
  mosquitto_subscribe_v5_callback_set (client, on_subscribe);
  mosquitto_message_v5_callback_set (client, on_message);
  if (self->target.user != NULL)
    mosquitto_username_pw_set (client, self->target.user, self->target.password);
  if (self->will_topic != NULL)
    mosquitto_will_set (client, self->will_topic, 0, NULL, 1, true);
  if (!sl_mqtt_set_tls (client, &self->target, &access, error)) {
    mosquitto_destroy (client);
    return FALSE;
  }
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->client = client;
  self->unconfirmed = 0;
  return TRUE;
}

static void
drop_client (SlBroker *self)
{
  g_mutex_lock (&self->lock);
  struct mosquitto *client = g_steal_pointer (&self->client);
  self->ready = FALSE;
  self->unconfirmed = 0;
  g_mutex_unlock (&self->lock);
  if (client != NULL)
    mosquitto_destroy (client);
}

static gint
ask_for_connection (SlBroker *self)
{
  mosquitto_property *properties = NULL;
  mosquitto_property_add_int32 (&properties, MQTT_PROP_MAXIMUM_PACKET_SIZE,
                                (guint32) self->most_bytes);
  const gint code =
    mosquitto_connect_bind_v5 (self->client, self->target.host, (int) self->target.port,
                               (int) self->keep_alive, NULL, properties);
  mosquitto_property_free_all (&properties);
  return code;
}

static gboolean
open_connection (SlBroker *self, GError **error)
{
  const gint64 until = g_get_monotonic_time () + CONNECT_US;
  self->answered = FALSE;
  if (!make_client (self, error))
    return FALSE;
  const gint code = ask_for_connection (self);
  if (code != MOSQ_ERR_SUCCESS)
    return sl_mqtt_fail (&self->target, code, error);
  while (!self->answered) {
    g_autoptr (GError) reason = NULL;
    if (is_stopping (self) || g_get_monotonic_time () > until)
      return sl_mqtt_silent (&self->target, error);
    if (!sl_mqtt_step (self->client, &self->target, self->wake[0], STEP_MS, &reason)
        && !self->answered) {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  }
  if (self->answer != 0)
    return sl_mqtt_refused (&self->target, mosquitto_reason_string (self->answer), error);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->ready = TRUE;
  return TRUE;
}

static void
serve (SlBroker *self, GError **error)
{
  while (!is_stopping (self)) {
    const guint wait =
      self->calls.tick != NULL ? MIN (self->calls.tick (self->user), IDLE_MS) : IDLE_MS;
    if (!sl_mqtt_step (self->client, &self->target, self->wake[0], (gint) wait, error))
      return;
    char bytes[64];
    while (read (self->wake[0], bytes, sizeof bytes) > 0)
      continue;
  }
}

/* Sleeps between attempts, unless it stops. What has its time meanwhile still happens. */
static void
back_off (SlBroker *self, guint delay_ms)
{
  const gint64 until = g_get_monotonic_time () + delay_ms * G_TIME_SPAN_MILLISECOND;
  while (!is_stopping (self) && g_get_monotonic_time () < until) {
    const guint wait =
      self->calls.tick != NULL ? MIN (self->calls.tick (self->user), IDLE_MS) : IDLE_MS;
    const gint64 next = MIN (until, g_get_monotonic_time () + wait * G_TIME_SPAN_MILLISECOND);
    g_mutex_lock (&self->lock);
    if (!self->stopping)
      g_cond_wait_until (&self->changed, &self->lock, next);
    g_mutex_unlock (&self->lock);
  }
}

/* What was sent goes out, and the broker is told goodbye, so that it tells nobody of a death. */
static void
say_goodbye (SlBroker *self)
{
  const gint64 until = g_get_monotonic_time () + GOODBYE_US;
  while (sl_broker_unconfirmed (self) > 0 && g_get_monotonic_time () < until)
    if (!sl_mqtt_step (self->client, &self->target, -1, STEP_MS, NULL))
      return;
  mosquitto_disconnect_v5 (self->client, 0, NULL);
  if (mosquitto_want_write (self->client))
    mosquitto_loop_write (self->client, 1);
}

/* One connection, from beginning to end. TRUE: it was there. */
static gboolean
connect_once (SlBroker *self, GError **error)
{
  const gboolean open = open_connection (self, error);
  if (open) {
    if (!is_stopping (self))
      self->calls.connected (self, self->user);
    serve (self, error);
    if (*error == NULL)
      say_goodbye (self);
  }
  drop_client (self);
  return open;
}

/* A broker that closes its end must not end the process: this thread gets no SIGPIPE. */
static gpointer
broker_thread (gpointer data)
{
  SlBroker *self = data;
  guint failures = 0;
  sigset_t pipe_signal;
  sigemptyset (&pipe_signal);
  sigaddset (&pipe_signal, SIGPIPE);
  pthread_sigmask (SIG_BLOCK, &pipe_signal, NULL);
  while (!is_stopping (self)) {
    g_autoptr (GError) error = NULL;
    failures = connect_once (self, &error) ? 1 : failures + 1;
    if (is_stopping (self))
      break;
    const guint delay = sl_backoff_delay (self->retry_min_ms, self->retry_max_ms, failures);
    g_autofree char *reason =
      sl_printable_message (error != NULL ? error->message : "the connection is gone");
    self->calls.lost (self->user, reason, delay,
                      g_error_matches (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED));
    back_off (self, delay);
  }
  g_mutex_lock (&self->lock);
  self->ended = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  unref_broker (self);
  return NULL;
}

/* What is wrong with the settings is said now, not by the thread. */
static gboolean
check_settings (SlBroker *self, GError **error)
{
  if (self->will_topic != NULL && mosquitto_pub_topic_check (self->will_topic) != MOSQ_ERR_SUCCESS)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "topic \"%s\": expected at most 65535 bytes without + and #", self->will_topic);
  const gboolean good = make_client (self, error);
  drop_client (self);
  return good;
}

SlBroker *
sl_broker_new (const SlBrokerSettings *settings, const SlBrokerCalls *calls, gpointer user,
               GError **error)
{
  SlBroker *self = g_new0 (SlBroker, 1);
  const SlMqttAccess *access = &settings->access;
  mosquitto_lib_init ();
  g_atomic_ref_count_init (&self->refs);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->wake[0] = self->wake[1] = -1;
  self->calls = *calls;
  self->user = user;
  self->client_id = g_strdup (settings->client_id);
  self->will_topic = g_strdup (settings->will_topic);
  self->ca_file = g_strdup (access->ca_file);
  self->certificate = g_strdup (access->certificate);
  self->key = g_strdup (access->key);
  self->receive_maximum = settings->receive_maximum;
  self->keep_alive = settings->keep_alive;
  self->retry_min_ms = MAX (settings->retry_min_ms, 1);
  self->retry_max_ms = MAX (settings->retry_max_ms, self->retry_min_ms);
  self->most_bytes = settings->most_bytes;
  if (!sl_mqtt_target_parse (&self->target, access, settings->example, error)
      || !check_settings (self, error) || !g_unix_open_pipe (self->wake, FD_CLOEXEC, error)) {
    self->calls.gone = NULL;
    unref_broker (self);
    return NULL;
  }
  g_unix_set_fd_nonblocking (self->wake[0], TRUE, NULL);
  g_unix_set_fd_nonblocking (self->wake[1], TRUE, NULL);
  g_atomic_ref_count_inc (&self->refs);
  self->thread = g_thread_new ("sl-broker", broker_thread, self);
  return self;
}

const SlMqttTarget *
sl_broker_target (const SlBroker *self)
{
  return &self->target;
}

void
sl_broker_wake (SlBroker *self)
{
  ssize_t written;
  do
    written = write (self->wake[1], "", 1);
  while (written < 0 && errno == EINTR);
}

gboolean
sl_broker_subscribe (SlBroker *self, const char *topic)
{
  g_mutex_lock (&self->lock);
  const gboolean sent =
    self->ready
    && mosquitto_subscribe_v5 (self->client, NULL, topic, 1, 0, NULL) == MOSQ_ERR_SUCCESS;
  g_mutex_unlock (&self->lock);
  sl_broker_wake (self);
  return sent;
}

gboolean
sl_broker_unsubscribe (SlBroker *self, const char *topic)
{
  g_mutex_lock (&self->lock);
  const gboolean sent =
    self->ready && mosquitto_unsubscribe_v5 (self->client, NULL, topic, NULL) == MOSQ_ERR_SUCCESS;
  g_mutex_unlock (&self->lock);
  sl_broker_wake (self);
  return sent;
}

gint
sl_broker_send (SlBroker *self, const SlBrokerSend *message)
{
  gint id = 0;
  mosquitto_property *properties = NULL;
  if (message->expiry > 0)
    mosquitto_property_add_int32 (&properties, MQTT_PROP_MESSAGE_EXPIRY_INTERVAL, message->expiry);
  if (message->response != NULL)
    mosquitto_property_add_string (&properties, MQTT_PROP_RESPONSE_TOPIC, message->response);
  if (message->correlation != NULL)
    mosquitto_property_add_binary (&properties, MQTT_PROP_CORRELATION_DATA, message->correlation,
                                   message->correlation_size);
  g_mutex_lock (&self->lock);
  const int code = !self->ready ? MOSQ_ERR_NO_CONN
                   : message->size > G_MAXINT32
                     ? MOSQ_ERR_PAYLOAD_SIZE
                     : mosquitto_publish_v5 (self->client, &id, message->topic, (int) message->size,
                                             message->data, 1, message->retain, properties);
  if (code == MOSQ_ERR_NO_CONN || code == MOSQ_ERR_CONN_LOST)
    id = 0;
  else if (code != MOSQ_ERR_SUCCESS)
    id = -code;
  self->unconfirmed += id > 0;
  g_mutex_unlock (&self->lock);
  mosquitto_property_free_all (&properties);
  sl_broker_wake (self);
  return id;
}

char *
sl_broker_explain (gint sent, const char *what, gsize size)
{
  return sent == -MOSQ_ERR_OVERSIZE_PACKET
           ? g_strdup_printf ("%s of %" G_GSIZE_FORMAT
                              " bytes: the broker's limit is smaller: raise its max_packet_size",
                              what, size)
           : g_strdup_printf ("%s of %" G_GSIZE_FORMAT " bytes: %s", what, size,
                              mosquitto_strerror (-sent));
}

guint
sl_broker_unconfirmed (SlBroker *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return self->unconfirmed;
}

void
sl_broker_free (SlBroker *self)
{
  if (self == NULL)
    return;
  g_mutex_lock (&self->lock);
  /* Without a connection there is nobody to say goodbye to, and the thread may be in a call of the
   * system's that nothing wakes. */
  const gint64 until = g_get_monotonic_time () + (self->ready ? STOP_US : UNCONNECTED_US);
  self->stopping = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  sl_broker_wake (self);
  g_mutex_lock (&self->lock);
  while (!self->ended && g_cond_wait_until (&self->changed, &self->lock, until))
    continue;
  const gboolean ended = self->ended;
  g_mutex_unlock (&self->lock);
  if (ended)
    g_thread_join (self->thread);
  else
    g_thread_unref (self->thread);
  unref_broker (self);
}
