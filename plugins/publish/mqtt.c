/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transport to an MQTT broker, through libmosquitto driven from the publisher's thread: no thread of the library's.
 *
 * At most WINDOW lines are on their way at once; the library sends those that the broker had not confirmed again after a
 * reconnection, all others wait in the publisher's bounded queue. With a client-id the session outlives the
 * connection, which makes QoS 2 exactly once for as long as the broker keeps sessions.
 */
#include <mosquitto.h>
#include <string.h>

#include "sightline/error.h"
#include "plugins/publish/topic.h"

#define WINDOW 16
#define CONNECT_US (10 * G_USEC_PER_SEC)
#define GOODBYE_US (G_USEC_PER_SEC / 2)
#define STEP_MS 100

typedef struct
{
  SlMqttTarget target;
  struct mosquitto *client;
  char *availability, *discovery_prefix, *discovery_id, *discovery_topic, *discovery; /* (nullable) */
  SlLabelCounts *labels;                                                              /* (nullable) */
  GHashTable *announced;                                                              /* labels, on this connection */
  gint qos, keep_alive;
  gboolean retain;
  gint on_the_way[WINDOW]; /* message ids, 0 where free */
  guint n_on_the_way;
  gboolean answered; /* the broker answered the connection with @answer */
  gint answer;
  GError *broken; /* the connection broke with a line that the library has taken (nullable) */
} Mqtt;

static void
on_connect (struct mosquitto *client, void *data, int code)
{
  Mqtt *self = data;
  self->answered = TRUE;
  self->answer = code;
}

static void
on_publish (struct mosquitto *client, void *data, int id)
{
  Mqtt *self = data;
  for (guint i = 0; i < WINDOW; i++)
    if (self->on_the_way[i] == id) {
      self->on_the_way[i] = 0;
      self->n_on_the_way--;
      return;
    }
}

static void
mqtt_close (gpointer state)
{
  Mqtt *self = state;
  if (self->client != NULL)
    mosquitto_destroy (self->client);
  sl_mqtt_target_clear (&self->target);
  sl_label_counts_free (self->labels);
  g_clear_error (&self->broken);
  g_free (self->availability);
  g_free (self->discovery_prefix);
  g_free (self->discovery_id);
  g_free (self->discovery_topic);
  g_hash_table_unref (self->announced);
  g_free (self->discovery);
  g_free (self);
  mosquitto_lib_cleanup ();
}

/* What Home Assistant calls a node or object id: letters, digits, _ and -. */
static char *
make_id (const SlPublishSettings *settings)
{
  char *id =
    settings->client_id != NULL ? g_strdup (settings->client_id) : g_strdup_printf ("sightline-%s-%s", g_get_host_name (), settings->name);
  return g_strcanon (id, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-", '_');
}

static gboolean
set_topics (Mqtt *self, const SlPublishSettings *settings, GError **error)
{
  const char *topic = self->target.topic;
  const gboolean home = settings->discovery != NULL && *settings->discovery != '\0';
  if (settings->availability == NULL)
    self->availability = g_strconcat (topic, "/available", NULL);
  else if (*settings->availability != '\0')
    self->availability = g_strdup (settings->availability);
  if (settings->counts && (self->labels = sl_label_counts_new ()) == NULL) {
    g_set_error_literal (error, SL_ERROR, SL_ERROR_UNSUPPORTED,
                         "counts: this build has no JSON-GLib: install libjson-glib-dev and build again");
    return FALSE;
  }
  if (home) {
    self->discovery_id = make_id (settings);
    self->discovery_prefix = g_strdup (settings->discovery);
    self->discovery_topic = g_strdup_printf ("%s/sensor/%s/config", settings->discovery, self->discovery_id);
    self->discovery = sl_mqtt_discovery (topic, self->availability, self->discovery_id, settings->name);
  }
  const char *all[] = { topic, self->availability, self->discovery_topic };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i] != NULL && mosquitto_pub_topic_check (all[i]) != MOSQ_ERR_SUCCESS) {
      g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "topic \"%s\": expected at most 65535 bytes without + and #", all[i]);
      return FALSE;
    }
  if (self->availability != NULL)
    mosquitto_will_set (self->client, self->availability, (int) strlen ("offline"), "offline", self->qos, true);
  return TRUE;
}

static gpointer
mqtt_open (const SlPublishSettings *settings, GError **error)
{
  Mqtt *self = g_new0 (Mqtt, 1);
  self->announced = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  mosquitto_lib_init ();
  self->qos = (gint) settings->qos;
  self->keep_alive = (gint) settings->keep_alive;
  self->retain = settings->retain;
  if (!sl_mqtt_topic_target (&self->target, settings, error))
    goto fail;
  self->client = mosquitto_new (settings->client_id, settings->client_id == NULL, self);
  if (self->client == NULL) {
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "client-id=%s: not one that MQTT allows: expected 1 to 23 letters and digits",
                 settings->client_id);
    goto fail;
  }
  mosquitto_connect_callback_set (self->client, on_connect);
  mosquitto_publish_callback_set (self->client, on_publish);
  mosquitto_max_inflight_messages_set (self->client, 0);
  if (self->target.user != NULL)
    mosquitto_username_pw_set (self->client, self->target.user, self->target.password);
  const SlMqttAccess access = sl_mqtt_access (settings);
  if (sl_mqtt_set_tls (self->client, &self->target, &access, error) && set_topics (self, settings, error))
    return self;
fail:
  mqtt_close (self);
  return NULL;
}

/* One round of the connection, unless it is known to be broken. */
static gboolean
step (Mqtt *self, gint wake_fd, gint timeout_ms, GError **error)
{
  if (self->broken == NULL)
    return sl_mqtt_step (self->client, &self->target, wake_fd, timeout_ms, error);
  g_propagate_error (error, g_steal_pointer (&self->broken));
  return FALSE;
}

/* Once for each connection: who forgot the retained message hears of it again. */
static void
announce_count (Mqtt *self, const char *label)
{
  g_autofree char *object_id = NULL;
  if (self->discovery == NULL || !g_hash_table_add (self->announced, g_strdup (label)))
    return;
  g_autofree char *text = sl_mqtt_count_discovery (self->target.topic, self->availability, self->discovery_id, label, &object_id);
  g_autofree char *topic = g_strdup_printf ("%s/sensor/%s/config", self->discovery_prefix, object_id);
  mosquitto_publish (self->client, NULL, topic, (int) strlen (text), text, self->qos, true);
}

static void
publish_count (gpointer user_data, const char *label, guint count)
{
  Mqtt *self = user_data;
  announce_count (self, label);
  g_autofree char *topic = g_strdup_printf ("%s/%s", self->target.topic, label);
  char text[16];
  g_snprintf (text, sizeof text, "%u", count);
  mosquitto_publish (self->client, NULL, topic, (int) strlen (text), text, self->qos, true);
}

static void
greet (Mqtt *self)
{
  if (self->availability != NULL)
    mosquitto_publish (self->client, NULL, self->availability, (int) strlen ("online"), "online", self->qos, true);
  if (self->discovery != NULL)
    mosquitto_publish (self->client, NULL, self->discovery_topic, (int) strlen (self->discovery), self->discovery, self->qos, true);
  g_hash_table_remove_all (self->announced);
  if (self->labels != NULL)
    sl_label_counts_repeat (self->labels, publish_count, self);
}

static gboolean
mqtt_connect (gpointer state, GCancellable *cancellable, GError **error)
{
  Mqtt *self = state;
  const gint64 until = g_get_monotonic_time () + CONNECT_US;
  self->answered = FALSE;
  g_clear_error (&self->broken);
  const gint code = mosquitto_connect (self->client, self->target.host, (int) self->target.port, self->keep_alive);
  if (code != MOSQ_ERR_SUCCESS)
    return sl_mqtt_fail (&self->target, code, error);
  while (!self->answered) {
    g_autoptr (GError) reason = NULL;
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    if (!step (self, -1, STEP_MS, &reason) && !self->answered) {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
    if (g_get_monotonic_time () > until)
      return sl_mqtt_silent (&self->target, error);
  }
  if (self->answer != 0)
    return sl_mqtt_refused (&self->target, mosquitto_connack_string (self->answer), error);
  greet (self);
  return TRUE;
}

/* The library keeps a line of QoS 1 or 2 before it writes to the socket: one that the socket then refuses is sent again
 * by the library, and must not be handed to it a second time. */
static gboolean
takes (const Mqtt *self, gint code)
{
  return code == MOSQ_ERR_SUCCESS
         || (self->qos > 0 && (code == MOSQ_ERR_ERRNO || code == MOSQ_ERR_CONN_LOST || code == MOSQ_ERR_NO_CONN || code == MOSQ_ERR_TLS));
}

static gboolean
mqtt_send (gpointer state, const char *line, gsize bytes, GCancellable *cancellable, GError **error)
{
  Mqtt *self = state;
  gint id = 0;
  while (self->broken != NULL || self->n_on_the_way == WINDOW)
    if (g_cancellable_set_error_if_cancelled (cancellable, error) || !step (self, -1, STEP_MS, error))
      return FALSE;
  /* A message ends where its length says: no newline. */
  const gint code = mosquitto_publish (self->client, &id, self->target.topic, (int) bytes - 1, line, self->qos, self->retain);
  const gboolean taken = takes (self, code);
  if (code != MOSQ_ERR_SUCCESS)
    sl_mqtt_fail (&self->target, code, taken ? &self->broken : error);
  if (!taken)
    return FALSE;
  for (guint i = 0; self->qos > 0 && i < WINDOW; i++)
    if (self->on_the_way[i] == 0) {
      self->on_the_way[i] = id;
      self->n_on_the_way++;
      break;
    }
  if (self->labels != NULL)
    sl_label_counts_update (self->labels, line, bytes, publish_count, self);
  return TRUE;
}

static gboolean
mqtt_idle (gpointer state, gint wake_fd, gint timeout_ms, GError **error)
{
  return step (state, wake_fd, timeout_ms, error);
}

static guint
mqtt_unacknowledged (gpointer state)
{
  return ((Mqtt *) state)->n_on_the_way;
}

/* A broker that is still there is told goodbye; one that is gone tells our last will by itself. */
static void
mqtt_disconnect (gpointer state)
{
  Mqtt *self = state;
  const gint64 until = g_get_monotonic_time () + GOODBYE_US;
  if (mosquitto_socket (self->client) < 0)
    return;
  if (self->answered && self->answer == 0 && self->availability != NULL)
    mosquitto_publish (self->client, NULL, self->availability, (int) strlen ("offline"), "offline", 0, true);
  while (mosquitto_want_write (self->client) && g_get_monotonic_time () < until)
    if (!step (self, -1, STEP_MS, NULL))
      return;
  mosquitto_disconnect (self->client);
}

static const char *const mqtt_schemes[] = { "mqtt://", "mqtts://", NULL };

const SlTransport sl_transport_mqtt = {
  .schemes = mqtt_schemes,
  .open = mqtt_open,
  .connect = mqtt_connect,
  .send = mqtt_send,
  .idle = mqtt_idle,
  .unacknowledged = mqtt_unacknowledged,
  .disconnect = mqtt_disconnect,
  .close = mqtt_close,
};
