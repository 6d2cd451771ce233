/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transport to an MQTT broker, through libmosquitto driven from the publisher's thread: no thread
 * of the library's.
 *
 * At most WINDOW lines are on their way at once; the library sends those that the broker had not
 * confirmed again after a reconnection, all others wait in the publisher's bounded queue. With a
 * client-id the session outlives the connection, which makes QoS 2 exactly once for as long as the
 * broker keeps sessions.
 */
#include <mosquitto.h>
#include <string.h>

#include "core/base/fail.h"
#include "plugins/publish/control.h"
#include "plugins/publish/home.h"
#include "plugins/publish/topic.h"

#define WINDOW 16
#define CONNECT_US (10 * G_USEC_PER_SEC)
#define GOODBYE_US (G_USEC_PER_SEC / 2)
#define STEP_MS 100
/* Levels of settings, behind the topic. */
#define SET "/set/"
#define STATE "/state/"

typedef struct
{
  SlMqttTarget target;
  struct mosquitto *client;
  char *availability, *discovery, *device; /* (nullable) */
  gboolean pictures, has_threshold;
  SlPublishCommand command;
  SlPublishCommand control; /* (nullable) */
  gpointer command_data;
  GHashTable *states;                  /* of lines, by names: what the broker was told last */
  SlLabelCounts *labels;               /* (nullable) */
  GHashTable *confirmed;               /* labels that are no false alarms */
  GHashTable *announced;               /* labels, on this connection */
  GBytes *extras[SL_PUBLISH_N_EXTRAS]; /* the last of each, for the next connection */
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
  g_free (self->discovery);
  g_free (self->device);
  g_hash_table_unref (self->announced);
  g_hash_table_unref (self->confirmed);
  g_hash_table_unref (self->states);
  for (guint i = 0; i < SL_PUBLISH_N_EXTRAS; i++)
    g_clear_pointer (&self->extras[i], g_bytes_unref);
  g_free (self);
  mosquitto_lib_cleanup ();
}

/* Commands come to TOPIC/NAME/set; those that the broker kept are old, and nobody's wish any more.
 */
static void
on_message (struct mosquitto *client, void *data, const struct mosquitto_message *message)
{
  Mqtt *self = data;
  const gsize length = strlen (self->target.topic);
  if (message->retain || strncmp (message->topic, self->target.topic, length) != 0
      || message->payloadlen < 0)
    return;
  const char *end = message->topic + length;
  const gsize bytes = (gsize) message->payloadlen;
  if (self->control != NULL
      && (g_str_has_prefix (end, SET) || strcmp (end, SL_CONTROL_THRESHOLD) == 0)) {
    self->control (self->command_data, message->topic, message->payload, bytes);
    return;
  }
  for (guint i = 0; self->command != NULL && i < SL_HOME_N_COMMANDS; i++) {
    g_autofree char *command = g_strdup_printf ("/%s/set", sl_home_command_names[i]);
    if (strcmp (end, command) == 0)
      self->command (self->command_data, sl_home_command_names[i], message->payload, bytes);
  }
}

/* (transfer full): a name for people. */
static char *
make_device (const SlPublishSettings *settings, const char *topic)
{
  if (settings->source != NULL && *settings->source != '\0')
    return g_strdup (settings->source);
  return g_strdelimit (g_strdup (topic), "/", ' ');
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
  self->labels = settings->counts ? sl_label_counts_new () : NULL;
  if (home) {
    self->discovery = g_strdup (settings->discovery);
    self->device = make_device (settings, topic);
    self->pictures = settings->pictures;
    self->has_threshold = settings->has_threshold;
    self->command = settings->command;
  }
  self->control = settings->control;
  self->command_data = settings->command_data;
  mosquitto_message_callback_set (self->client, on_message);
  const char *all[] = { topic, self->availability, self->discovery };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i] != NULL && mosquitto_pub_topic_check (all[i]) != MOSQ_ERR_SUCCESS)
      return sl_fail (error, SL_ERROR_ARGUMENT,
                      "topic \"%s\": expected at most 65535 bytes without + and #", all[i]);
  if (self->availability != NULL)
    mosquitto_will_set (self->client, self->availability, (int) strlen ("offline"), "offline",
                        self->qos, true);
  return TRUE;
}

static gpointer
mqtt_open (const SlPublishSettings *settings, GError **error)
{
  Mqtt *self = g_new0 (Mqtt, 1);
  self->announced = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->states = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->confirmed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  mosquitto_lib_init ();
  self->qos = (gint) settings->qos;
  self->keep_alive = (gint) settings->keep_alive;
  self->retain = settings->retain;
  if (!sl_mqtt_topic_target (&self->target, settings, error))
    goto fail;
  self->client = mosquitto_new (settings->client_id, settings->client_id == NULL, self);
  if (self->client == NULL) {
    sl_fail (error, SL_ERROR_ARGUMENT,
             "client-id=%s: not one that MQTT allows: expected 1 to 23 letters and digits",
             settings->client_id);
    goto fail;
  }
  mosquitto_connect_callback_set (self->client, on_connect);
  mosquitto_publish_callback_set (self->client, on_publish);
  mosquitto_max_inflight_messages_set (self->client, 0);
  if (self->target.user != NULL)
    mosquitto_username_pw_set (self->client, self->target.user, self->target.password);
  const SlMqttAccess access = sl_mqtt_access (settings);
  if (sl_mqtt_set_tls (self->client, &self->target, &access, error)
      && set_topics (self, settings, error))
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

static void
publish_retained (gpointer user_data, const char *topic, const char *text)
{
  Mqtt *self = user_data;
  mosquitto_publish (self->client, NULL, topic, (int) strlen (text), text, self->qos, true);
}

/* Once for each connection: who forgot the retained message hears of it again. */
static void
announce_count (Mqtt *self, const char *label)
{
  const SlHome home = { self->discovery, self->target.topic, self->availability, self->device };
  if (self->discovery == NULL || !g_hash_table_contains (self->confirmed, label)
      || !g_hash_table_add (self->announced, g_strdup (label)))
    return;
  sl_home_announce_count (&home, label, publish_retained, self);
}

static void
publish_count (gpointer user_data, const char *label, guint count)
{
  Mqtt *self = user_data;
  announce_count (self, label);
  g_autofree char *topic = g_strdup_printf ("%s/%s", self->target.topic, label);
  char text[16];
  g_snprintf (text, sizeof text, "%u", count);
  publish_retained (self, topic, text);
}

static void
announce_confirmed (Mqtt *self, GBytes *list)
{
  gsize length = 0;
  const char *text = g_bytes_get_data (list, &length);
  g_autofree char *copy = g_strndup (text, length);
  g_auto (GStrv) labels = g_strsplit (copy, "\n", -1);
  for (guint i = 0; labels[i] != NULL; i++)
    if (*labels[i] != '\0') {
      g_hash_table_add (self->confirmed, g_strdup (labels[i]));
      announce_count (self, labels[i]);
    }
}

/* What differs from what the broker was told. */
static void
publish_states (Mqtt *self, GBytes *states)
{
  gsize length = 0;
  const char *text = g_bytes_get_data (states, &length);
  g_autofree char *copy = g_strndup (text, length);
  g_auto (GStrv) lines = g_strsplit (copy, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    g_auto (GStrv) parts = g_strsplit (lines[i], "\t", 4);
    if (g_strv_length (parts) != 4
        || g_strcmp0 (g_hash_table_lookup (self->states, parts[0]), lines[i]) == 0)
      continue;
    g_hash_table_replace (self->states, g_strdup (parts[0]), g_strdup (lines[i]));
    g_autofree char *topic = g_strconcat (self->target.topic, STATE, parts[0], NULL);
    mosquitto_publish (self->client, NULL, topic, (int) strlen (parts[3]), parts[3], self->qos,
                       strcmp (parts[2], "1") == 0);
  }
}

static void
publish_extra (Mqtt *self, SlPublishExtra extra, GBytes *what)
{
  static const char *const names[] = { [SL_PUBLISH_ENABLED] = "enabled",
                                       [SL_PUBLISH_THRESHOLD] = "threshold",
                                       [SL_PUBLISH_PICTURE] = "picture" };
  gsize length = 0;
  gconstpointer data = g_bytes_get_data (what, &length);
  if (extra == SL_PUBLISH_CONFIRMED) {
    announce_confirmed (self, what);
    return;
  }
  if (extra == SL_PUBLISH_STATES) {
    publish_states (self, what);
    return;
  }
  if (extra == SL_PUBLISH_ENABLED && self->labels != NULL && length == strlen ("OFF"))
    sl_label_counts_leave (self->labels, publish_count, self);
  g_autofree char *topic = g_strdup_printf ("%s/%s", self->target.topic, names[extra]);
  mosquitto_publish (self->client, NULL, topic, (int) length, data,
                     extra == SL_PUBLISH_PICTURE ? 0 : self->qos, true);
}

static gboolean
mqtt_extra (gpointer state, SlPublishExtra extra, GBytes *what, GError **error)
{
  Mqtt *self = state;
  g_clear_pointer (&self->extras[extra], g_bytes_unref);
  self->extras[extra] = g_bytes_ref (what);
  publish_extra (self, extra, what);
  return TRUE;
}

/* A broker that forgot the value hears of it again, and of an answer it does not. */
static gboolean
is_retained (gpointer name, gpointer line, gpointer data)
{
  g_auto (GStrv) parts = g_strsplit (line, "\t", 4);
  return strcmp (parts[2], "1") == 0;
}

static void
greet_home (Mqtt *self)
{
  const SlHome home = { self->discovery, self->target.topic, self->availability, self->device };
  sl_home_announce_device (&home, self->pictures, self->has_threshold, publish_retained, self);
  for (guint i = 0; i < SL_HOME_N_COMMANDS; i++) {
    g_autofree char *topic =
      g_strdup_printf ("%s/%s/set", self->target.topic, sl_home_command_names[i]);
    mosquitto_subscribe (self->client, NULL, topic, self->qos);
  }
}

/* Commands of QoS 0: a broker keeps none for the next connection, when they are nobody's wish. */
static void
greet_control (Mqtt *self)
{
  g_autofree char *topic = g_strconcat (self->target.topic, SET "+", NULL);
  g_hash_table_foreach_remove (self->states, is_retained, NULL);
  mosquitto_subscribe (self->client, NULL, topic, 0);
}

static void
greet (Mqtt *self)
{
  if (self->availability != NULL)
    publish_retained (self, self->availability, "online");
  if (self->discovery != NULL)
    greet_home (self);
  if (self->control != NULL)
    greet_control (self);
  g_hash_table_remove_all (self->announced);
  for (guint i = 0; i < SL_PUBLISH_N_EXTRAS; i++)
    if (self->extras[i] != NULL)
      publish_extra (self, (SlPublishExtra) i, self->extras[i]);
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
  const gint code =
    mosquitto_connect (self->client, self->target.host, (int) self->target.port, self->keep_alive);
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

/* The library keeps a line of QoS 1 or 2 before it writes to the socket: one that the socket then
 * refuses is sent again by the library, and must not be handed to it a second time. */
static gboolean
takes (const Mqtt *self, gint code)
{
  return code == MOSQ_ERR_SUCCESS
         || (self->qos > 0
             && (code == MOSQ_ERR_ERRNO || code == MOSQ_ERR_CONN_LOST || code == MOSQ_ERR_NO_CONN
                 || code == MOSQ_ERR_TLS));
}

static gboolean
mqtt_send (gpointer state, const char *line, gsize bytes, GCancellable *cancellable, GError **error)
{
  Mqtt *self = state;
  gint id = 0;
  while (self->broken != NULL || self->n_on_the_way == WINDOW)
    if (g_cancellable_set_error_if_cancelled (cancellable, error)
        || !step (self, -1, STEP_MS, error))
      return FALSE;
  /* A message ends where its length says: no newline. */
  const gint code = mosquitto_publish (self->client, &id, self->target.topic, (int) bytes - 1, line,
                                       self->qos, self->retain);
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
    mosquitto_publish (self->client, NULL, self->availability, (int) strlen ("offline"), "offline",
                       0, true);
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
  .extra = mqtt_extra,
  .idle = mqtt_idle,
  .unacknowledged = mqtt_unacknowledged,
  .disconnect = mqtt_disconnect,
  .close = mqtt_close,
};
