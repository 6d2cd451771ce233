/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transport to Kafka, through librdkafka. The library has threads of its own, which connect and
 * send; what they have to say (delivery reports, errors) is heard in the publisher's thread alone.
 *
 * Invariant: lines handed to the library weigh at most max-queue-bytes (or are one line), and it
 * sends each until the cluster has it or refuses it: messages have no time limit, and the producer
 * is idempotent, so a line that is sent again is written once and in its place. All other lines
 * wait in the publisher's bounded queue.
 */
#include <librdkafka/rdkafka.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "plugins/publish/kafka_client.h"
#include "plugins/publish/kafka_location.h"
#include "core/base/fail.h"

#define CONNECT_US (10 * G_USEC_PER_SEC)
/* An attempt while the library tries by itself all along. */
#define RETRY_US G_USEC_PER_SEC
/* Brokers that make topics by themselves need a moment. */
#define TOPIC_US G_USEC_PER_SEC
#define GOODBYE_MS 500
#define STEP_MS 100
#define LONGEST_STEP_MS 800

typedef struct
{
  SlKafkaLocation at;
  rd_kafka_conf_t *conf; /* what clients are made of */
  SlKafkaClient *client; /* (nullable) */
  gint events;           /* readable when the library has something to say */
  gsize window, bytes_on_the_way;
  guint on_the_way, refused;
  char *refusal;           /* (nullable): why the last line was refused */
  rd_kafka_resp_err_t why; /* of @reason */
  char *reason; /* (nullable): the last trouble with a broker since the connection was there */
  gboolean up, down, fatal;
} Kafka;

static gboolean
fail (const Kafka *self, GError **error)
{
  const gboolean tls = self->why == RD_KAFKA_RESP_ERR__SSL
                       || (self->reason != NULL && strstr (self->reason, "certificate") != NULL);
  const gboolean user = self->why == RD_KAFKA_RESP_ERR__AUTHENTICATION;
  if (self->reason != NULL)
    g_set_error (
      error, G_IO_ERROR, tls || user ? G_IO_ERROR_PERMISSION_DENIED : G_IO_ERROR_FAILED,
      "Kafka broker %s%s", self->reason,
      user  ? ": check username, password and sasl-mechanism"
      : tls ? ": is its certificate made for this host name, and signed by ca-file or the system's "
              "authorities?"
            : "");
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "Kafka broker %s: it does not answer",
                 self->at.brokers);
  return FALSE;
}

static gboolean
fail_topic (const Kafka *self, rd_kafka_resp_err_t code, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
               "Kafka topic %s: %s: make the topic, or give this user the right to write to it",
               self->at.topic, rd_kafka_err2str (code));
  return FALSE;
}

/* What the library adds of times and of its own settings is left out. */
static void
note_reason (Kafka *self, rd_kafka_resp_err_t code, const char *reason)
{
  const char *end = strstr (reason, ": verify that security.protocol");
  if (end == NULL)
    end = strstr (reason, " (after ");
  g_free (self->reason);
  self->reason = end != NULL ? g_strndup (reason, (gsize) (end - reason)) : g_strdup (reason);
  self->why = code;
}

static void
on_error (rd_kafka_t *client, int code, const char *reason, void *data)
{
  Kafka *self = data;
  char text[512];
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
    self->down = TRUE;
  } else if (code == RD_KAFKA_RESP_ERR__FATAL) {
    self->fatal = TRUE;
    note_reason (self, rd_kafka_fatal_error (client, text, sizeof text), text);
  } else {
    note_reason (self, (rd_kafka_resp_err_t) code, reason);
  }
}

static void
refuse (Kafka *self, rd_kafka_resp_err_t code)
{
  self->refused++;
  g_free (self->refusal);
  self->refusal = g_strdup_printf ("Kafka topic %s: a line was refused: %s", self->at.topic,
                                   rd_kafka_err2str (code));
}

static void
on_delivery (rd_kafka_t *client, const rd_kafka_message_t *message, void *data)
{
  Kafka *self = data;
  self->on_the_way--;
  self->bytes_on_the_way -= message->len;
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
    refuse (self, message->err);
}

/* What matters of it comes as an error, too. */
static void
on_log (const rd_kafka_t *client, int level, const char *facility, const char *text)
{
}

static gboolean
set (rd_kafka_conf_t *conf, const char *name, const char *value, GError **error)
{
  char reason[256];
  if (value == NULL
      || rd_kafka_conf_set (conf, name, value, reason, sizeof reason) == RD_KAFKA_CONF_OK)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT, "Kafka cannot be set up: %s", reason);
}

static gboolean
set_number (rd_kafka_conf_t *conf, const char *name, guint value, GError **error)
{
  char text[16];
  g_snprintf (text, sizeof text, "%u", value);
  return set (conf, name, text, error);
}

static gboolean
set_tls (rd_kafka_conf_t *conf, const SlKafkaLocation *at, const SlPublishSettings *settings,
         GError **error)
{
  const struct
  {
    const char *property, *name, *path;
  } files[] = {
    { "ca-file", "ssl.ca.location", settings->ca_file },
    { "certificate", "ssl.certificate.location", settings->certificate },
    { "private-key", "ssl.key.location", settings->key },
  };
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    if (files[i].path != NULL && !at->tls)
      return sl_fail (
        error, SL_ERROR_ARGUMENT,
        "ca-file, certificate and private-key are for kafkas://, and the location says kafka://: "
        "write kafkas:// or leave them unset");
    if (files[i].path != NULL && access (files[i].path, R_OK) != 0)
      return sl_fail (error, SL_ERROR_OPEN,
                      "%s=%s: no such file, or it cannot be read: expected a file in PEM form",
                      files[i].property, files[i].path);
    if (!set (conf, files[i].name, files[i].path, error))
      return FALSE;
  }
  if ((settings->certificate == NULL) != (settings->key == NULL))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "certificate and private-key belong together: set both or neither");
  return !at->tls || set (conf, "ssl.endpoint.identification.algorithm", "https", error);
}

static gboolean
set_user (rd_kafka_conf_t *conf, const SlKafkaLocation *at, const SlPublishSettings *settings,
          GError **error)
{
  static const char *const mechanisms[] = { "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", NULL };
  const char *mechanism =
    settings->sasl_mechanism != NULL ? settings->sasl_mechanism : mechanisms[0];
  if (!g_strv_contains (mechanisms, mechanism))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "sasl-mechanism=%s: expected PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", mechanism);
  if (at->user == NULL) {
    if (settings->sasl_mechanism == NULL && at->password == NULL)
      return set (conf, "security.protocol", at->tls ? "ssl" : "plaintext", error);
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "password and sasl-mechanism need a user: set username, or user@ in the location");
  }
  return set (conf, "security.protocol", at->tls ? "sasl_ssl" : "sasl_plaintext", error)
         && set (conf, "sasl.mechanisms", mechanism, error)
         && set (conf, "sasl.username", at->user, error)
         && set (conf, "sasl.password", at->password != NULL ? at->password : "", error);
}

/* All but the brokers. "message.timeout.ms": none, as for lines that wait for an MQTT broker.
 * Partitions are chosen as Java's clients choose them. */
static gboolean
configure (Kafka *self, const SlPublishSettings *settings, GError **error)
{
  rd_kafka_conf_t *conf = self->conf;
  const guint longest = MIN (MAX (settings->retry_max_ms, settings->retry_min_ms), 3600000);
  rd_kafka_conf_set_opaque (conf, self);
  rd_kafka_conf_set_error_cb (conf, on_error);
  rd_kafka_conf_set_dr_msg_cb (conf, on_delivery);
  rd_kafka_conf_set_log_cb (conf, on_log);
  return set (conf, "enable.idempotence", "true", error)
         && set (conf, "message.timeout.ms", "0", error)
         && set (conf, "partitioner", "murmur2_random", error)
         && set (conf, "client.id", settings->client_id != NULL ? settings->client_id : "sightline",
                 error)
         && set_number (conf, "reconnect.backoff.ms", MIN (settings->retry_min_ms, longest), error)
         && set_number (conf, "reconnect.backoff.max.ms", longest, error)
         && set_tls (conf, &self->at, settings, error)
         && set_user (conf, &self->at, settings, error);
}

static void
drop_client (Kafka *self)
{
  g_clear_pointer (&self->client, sl_kafka_client_free);
}

static gboolean
make_client (Kafka *self, GError **error)
{
  self->client = sl_kafka_client_new (self->conf, self->at.topic, self->events, error);
  return self->client != NULL;
}

static void
kafka_close (gpointer state)
{
  Kafka *self = state;
  drop_client (self);
  if (self->conf != NULL)
    rd_kafka_conf_destroy (self->conf);
  if (self->events >= 0)
    close (self->events);
  sl_kafka_location_clear (&self->at);
  g_free (self->refusal);
  g_free (self->reason);
  g_free (self);
}

static gpointer
kafka_open (const SlPublishSettings *settings, GError **error)
{
  Kafka *self = g_new0 (Kafka, 1);
  self->events = eventfd (0, EFD_NONBLOCK | EFD_CLOEXEC);
  self->window = settings->queue_bytes;
  self->conf = rd_kafka_conf_new ();
  if (self->events < 0)
    sl_fail (error, SL_ERROR_OPEN, "no more files can be opened: raise the limit (ulimit -n)");
  else if (sl_kafka_location_parse (&self->at, settings, error) && configure (self, settings, error)
           && set (self->conf, "bootstrap.servers", self->at.brokers, error)
           && make_client (self, error))
    return self;
  kafka_close (self);
  return NULL;
}

/* The library reads certificates and keys when a producer is made. One without brokers connects to
 * nobody. */
static gboolean
kafka_check (const SlPublishSettings *settings, GError **error)
{
  Kafka self = { .events = -1, .conf = rd_kafka_conf_new () };
  const gboolean good = sl_kafka_location_parse (&self.at, settings, error)
                        && configure (&self, settings, error)
                        && sl_kafka_conf_check (self.conf, error);
  rd_kafka_conf_destroy (self.conf);
  sl_kafka_location_clear (&self.at);
  return good;
}

/* A producer that lost count of what it sent is of no use any more; another begins anew, and what
 * was on its way is lost. Where none can be made, there is none until the next attempt. */
static gboolean
renew (Kafka *self, GError **error)
{
  if (!self->fatal && self->client != NULL)
    return TRUE;
  const gboolean lost = self->on_the_way > 0;
  drop_client (self);
  if (lost) {
    self->refused += self->on_the_way;
    self->on_the_way = 0;
    self->bytes_on_the_way = 0;
    g_free (self->refusal);
    self->refusal =
      g_strdup_printf ("Kafka topic %s: what was on its way was refused: %s", self->at.topic,
                       self->reason != NULL ? self->reason : "the connection's state was lost");
  }
  if (!make_client (self, error))
    return FALSE;
  self->fatal = FALSE;
  return TRUE;
}

/* Whether a topic that is not there may be yet: it is being made, or its partitions move. */
static gboolean
may_come (rd_kafka_resp_err_t code)
{
  return code == RD_KAFKA_RESP_ERR__TIMED_OUT || code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
         || code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
}

static gboolean
kafka_connect (gpointer state, GCancellable *cancellable, GError **error)
{
  Kafka *self = state;
  const gint64 begun = g_get_monotonic_time (),
               until = begun + (self->reason != NULL ? RETRY_US : CONNECT_US);
  rd_kafka_resp_err_t code;
  if (!renew (self, error))
    return FALSE;
  self->down = FALSE;
  for (gint step = STEP_MS; !sl_kafka_client_find_topic (self->client, step, cancellable, &code);
       step = MIN (2 * step, LONGEST_STEP_MS)) {
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    rd_kafka_poll (self->client->client, code == RD_KAFKA_RESP_ERR__TIMED_OUT ? 0 : STEP_MS);
    const gint64 now = g_get_monotonic_time ();
    if (!may_come (code) || (code != RD_KAFKA_RESP_ERR__TIMED_OUT && now > begun + TOPIC_US))
      return fail_topic (self, code, error);
    if (self->down || now > until || self->why == RD_KAFKA_RESP_ERR__AUTHENTICATION)
      return fail (self, error);
  }
  g_clear_pointer (&self->reason, g_free);
  self->why = RD_KAFKA_RESP_ERR_NO_ERROR;
  self->up = TRUE;
  return TRUE;
}

/* Hears what the library has to say. FALSE: the connection is gone. */
static gboolean
hear (Kafka *self, gint timeout_ms, GError **error)
{
  rd_kafka_poll (self->client->client, timeout_ms);
  if (!self->down && !self->fatal)
    return TRUE;
  self->up = FALSE;
  return fail (self, error);
}

static gboolean
kafka_send (gpointer state, const char *line, gsize bytes, GCancellable *cancellable,
            GError **error)
{
  Kafka *self = state;
  const gsize length = bytes - 1; /* A message ends where its length says: no newline. */
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__QUEUE_FULL;
  if (!hear (self, 0, error))
    return FALSE;
  while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
    if (self->on_the_way == 0 || self->bytes_on_the_way + length <= self->window)
      code = rd_kafka_producev (self->client->client, RD_KAFKA_V_RKT (self->client->topic),
                                RD_KAFKA_V_MSGFLAGS (RD_KAFKA_MSG_F_COPY),
                                RD_KAFKA_V_KEY (self->at.key, strlen (self->at.key)),
                                RD_KAFKA_V_VALUE ((void *) line, length), RD_KAFKA_V_END);
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL
        && (g_cancellable_set_error_if_cancelled (cancellable, error)
            || !hear (self, STEP_MS, error)))
      return FALSE;
  }
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
    self->on_the_way++;
    self->bytes_on_the_way += length;
  } else if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
    refuse (self, code);
  } else {
    self->up = FALSE;
    return fail_topic (self, code, error);
  }
  return TRUE;
}

static gboolean
kafka_idle (gpointer state, gint wake_fd, gint timeout_ms, GError **error)
{
  Kafka *self = state;
  guint64 times;
  struct pollfd pollers[] = { { .fd = self->events, .events = POLLIN },
                              { .fd = wake_fd, .events = POLLIN } };
  poll (pollers, G_N_ELEMENTS (pollers), timeout_ms);
  while (read (self->events, &times, sizeof times) > 0)
    continue;
  return hear (self, 0, error);
}

static guint
kafka_unacknowledged (gpointer state)
{
  return ((Kafka *) state)->on_the_way;
}

static guint
kafka_refused (gpointer state, const char **reason)
{
  Kafka *self = state;
  const guint refused = self->refused;
  self->refused = 0;
  *reason = self->refusal;
  return refused;
}

/* A cluster that is still there gets what the library has; the library reconnects by itself. */
static void
kafka_disconnect (gpointer state)
{
  Kafka *self = state;
  if (self->up)
    rd_kafka_flush (self->client->client, GOODBYE_MS);
  self->up = FALSE;
}

static const char *const kafka_schemes[] = { "kafka://", "kafkas://", NULL };

const SlTransport sl_transport_kafka = {
  .schemes = kafka_schemes,
  .open = kafka_open,
  .check = kafka_check,
  .connect = kafka_connect,
  .send = kafka_send,
  .idle = kafka_idle,
  .unacknowledged = kafka_unacknowledged,
  .refused = kafka_refused,
  .disconnect = kafka_disconnect,
  .close = kafka_close,
};
