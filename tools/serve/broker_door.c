/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The door to an MQTT broker: requests come on shared subscriptions, answers go to the topics that
 * the requests name.
 *
 * A queue that is full leaves the shared subscription, so that the broker gives what comes to other
 * workers, and joins again when it is nearly empty. When all have left, cameras learn at once that
 * nobody listens. Requests that are older than their answer is of use are dropped.
 *
 * After each connection the worker asks for the contracts that the broker keeps and then writes its
 * own report, to which it listens, too: MQTT keeps the order, so when that comes back, all
 * contracts there are have come. Only then it announces its own and takes work. The same way it
 * knows, after it has left the subscriptions, that no request is on its way any more.
 */
#include <string.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/printable.h"
#include "config.h"
#include "pipelines/remote/topics.h"
#include "sightline/error.h"
#include "tools/run/log.h"
#include "tools/serve/worker.h"

#define REPORT_US (5 * G_USEC_PER_SEC)
#define KEEP_ALIVE_S 15
#define RETRY_MIN_MS 500
#define RETRY_MAX_MS 15000
/* Of a packet beside the tensors. */
#define PACKET_ROOM 65536

static void
fail (SlServeWorker *self, char *reason)
{
  g_mutex_lock (&self->lock);
  if (self->failed == NULL)
    self->failed = g_steal_pointer (&reason);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  g_free (reason);
}

/* Under the lock: joins or leaves the shared subscriptions. */
static void
set_shares (SlServeWorker *self, gboolean join)
{
  for (guint i = 0; i < self->models->len; i++) {
    const SlServedModel *served = g_ptr_array_index (self->models, i);
    if (join)
      sl_broker_subscribe (self->broker, served->share_topic);
    else
      sl_broker_unsubscribe (self->broker, served->share_topic);
  }
}

/* Leaves or joins the shared subscriptions as the queue says. */
static void
settle (SlServeWorker *self)
{
  const gboolean full = self->state == SL_SERVE_SERVING && self->queue.length >= self->queue_length;
  const gboolean empty =
    self->state == SL_SERVE_PAUSED && self->queue.length <= self->queue_length / 4;
  if (!full && !empty)
    return;
  self->state = full ? SL_SERVE_PAUSED : SL_SERVE_SERVING;
  set_shares (self, empty);
}

/* @until: when the answer is of no use any more. Returns what sl_broker_send() returns. */
static gint
send_answer (SlServeWorker *self, const char *response, const SlBrokerReply *reply,
             const void *data, gsize size, gint64 until)
{
  const gint64 left = MAX (until - g_get_monotonic_time (), 0);
  return sl_broker_send (
    self->broker,
    &(SlBrokerSend){ .topic = response,
                     .data = data,
                     .size = size,
                     .expiry = (guint) (left / G_USEC_PER_SEC) + 1,
                     .correlation = reply->correlation_size > 0 ? reply->correlation : NULL,
                     .correlation_size = reply->correlation_size });
}

/* The answer cannot be sent: the client gets the reason. */
static void
refuse_answer (SlServeWorker *self, const SlWork *work, gint sent, gsize size)
{
  gsize refusal_size;
  g_autofree char *why = sl_broker_explain (sent, "an answer", size);
  sl_serve_complain_some (self, work->served->name, why);
  g_autofree guint8 *refusal = sl_remote_refusal_new (why, FALSE, &refusal_size);
  send_answer (self, work->client, &work->reply.broker, refusal, refusal_size, work->until);
}

static gboolean
answer (SlServeWorker *self, SlWork *work, void *const *outputs, const char *refusal, gint64 start,
        gint64 end)
{
  gsize size;
  const SlRemoteEncoding encoding = work->reply.broker.encoding == SL_REMOTE_ENCODING_LZ4
                                      ? SL_REMOTE_ENCODING_LZ4
                                      : SL_REMOTE_ENCODING_NONE;
  g_autofree guint8 *data =
    refusal == NULL
      ? sl_remote_answer_new (work->served->contract, self->name, (guint) (start - work->arrived),
                              (guint) (end - start), encoding, (const void *const *) outputs, &size)
      : sl_remote_refusal_new (refusal, FALSE, &size);
  const gint sent = send_answer (self, work->client, &work->reply.broker, data, size, work->until);
  if (sent < 0)
    refuse_answer (self, work, sent, size);
  return refusal == NULL && sent >= 0;
}

/* Under the lock. */
static char *
write_report (SlServeWorker *self)
{
  const gint64 now = g_get_monotonic_time (), passed = MAX (now - self->reported, 1);
  GString *json = g_string_new ("{\"worker\":");
  guint64 answered = 0, refused = 0, stale = 0;
  sl_json_append_string (json, self->name);
  g_string_append (json, ",\"models\":[");
  for (guint i = 0; i < self->models->len; i++) {
    const SlServedModel *served = g_ptr_array_index (self->models, i);
    g_string_append_printf (json, "%s{\"name\":", i > 0 ? "," : "");
    sl_json_append_string (json, served->name);
    g_string_append_printf (json, ",\"hash\":\"%s\",\"answered\":%" G_GUINT64_FORMAT "}",
                            served->hash, served->figures.answered);
    answered += served->figures.answered;
    refused += served->figures.refused;
    stale += served->figures.stale;
  }
  g_string_append_printf (json,
                          "],\"answered\":%" G_GUINT64_FORMAT ",\"refused\":%" G_GUINT64_FORMAT
                          ",\"stale\":%" G_GUINT64_FORMAT,
                          answered, refused, stale);
  g_string_append_printf (json, ",\"waiting\":%u,\"rate\":", self->queue.length);
  sl_json_append_double (
    json, (gdouble) (answered - self->answered_before) * G_USEC_PER_SEC / (gdouble) passed, 4);
  g_string_append (json, ",\"busy\":");
  sl_json_append_double (
    json, (gdouble) (self->computed_us - self->busy_before) / (gdouble) passed / self->n_jobs, 3);
  sl_json_append_boolean (json, "takes", self->state == SL_SERVE_SERVING);
  sl_json_append_count (json, "marker", self->marker);
  sl_json_append_text (json, "version", SL_VERSION);
  g_string_append_c (json, '}');
  self->reported = now;
  self->busy_before = self->computed_us;
  self->answered_before = answered;
  return g_string_free (json, FALSE);
}

/* A retained message of the broker's thread without which there is no worker: a broker that refuses
 * it ends us. */
static void
send_vital (SlServeWorker *self, const char *topic, const void *data, gsize size, const char *what)
{
  const gint id = sl_broker_send (
    self->broker, &(SlBrokerSend){ .topic = topic, .data = data, .size = size, .retain = TRUE });
  if (id < 0)
    fail (self, sl_broker_explain (id, what, size));
  else if (id > 0)
    g_hash_table_add (self->vital, GINT_TO_POINTER (id));
}

static void
report (SlServeWorker *self, gboolean marks)
{
  g_mutex_lock (&self->lock);
  const gboolean joins = marks && self->state == SL_SERVE_JOINING;
  if (marks)
    self->marker++;
  g_autofree char *text = write_report (self);
  g_mutex_unlock (&self->lock);
  if (joins)
    send_vital (self, self->report_topic, text, strlen (text), "a report");
  else
    sl_broker_send (self->broker, &(SlBrokerSend){ .topic = self->report_topic,
                                                   .data = text,
                                                   .size = strlen (text),
                                                   .retain = TRUE });
}

static void
announce (SlServeWorker *self)
{
  for (guint i = 0; i < self->models->len; i++) {
    SlServedModel *served = g_ptr_array_index (self->models, i);
    g_mutex_lock (&self->lock);
    const gboolean there = served->announced;
    served->announced = TRUE;
    g_mutex_unlock (&self->lock);
    gsize size;
    const void *data = g_bytes_get_data (served->announcement, &size);
    if (!there)
      send_vital (self, served->contract_topic, data, size, "an announcement");
  }
}

/* A report came back. All at once under the lock: the worker may be told to leave meanwhile. */
static void
marker_came (SlServeWorker *self, guint64 marker)
{
  g_mutex_lock (&self->lock);
  const gboolean ours = marker == self->marker && self->failed == NULL;
  const gboolean joins = ours && self->state == SL_SERVE_JOINING,
                 leaves = ours && self->state == SL_SERVE_LEAVING;
  if (joins || leaves) {
    self->state = joins ? SL_SERVE_SERVING : SL_SERVE_LEFT;
    g_cond_broadcast (&self->changed);
  }
  if (joins) /* first, so that a client that sees the contract finds a worker */
    set_shares (self, TRUE);
  g_mutex_unlock (&self->lock);
  if (!joins)
    return;
  announce (self);
  report (self, FALSE);
}

static void
heard_report (SlServeWorker *self, const SlBrokerMessage *message)
{
  g_autofree char *text = g_strndup (message->size > 0 ? message->data : "", message->size);
  const char *at = strstr (text, "\"marker\":");
  if (at != NULL)
    marker_came (self, g_ascii_strtoull (at + strlen ("\"marker\":"), NULL, 10));
}

/* A contract that the broker keeps, ours or another's. */
static void
heard_contract (SlServeWorker *self, SlServedModel *served, const SlBrokerMessage *message)
{
  g_autoptr (GError) error = NULL;
  char hash[SL_REMOTE_HASH];
  guint encodings = 0;
  if (message->size == 0) /* it was taken away */
    return;
  g_autoptr (SlContract) contract = sl_remote_contract_read (
    message->data, message->size, message->topic, hash, &encodings, &error);
  const gboolean same = contract != NULL && strcmp (hash, served->hash) == 0;
  const gboolean too_many = (encodings & ~sl_remote_encodings_built ()) != 0;
  g_mutex_lock (&self->lock);
  const gboolean joining = self->state == SL_SERVE_JOINING, ours = served->announced;
  if (same)
    served->announced = !too_many && !(joining && self->replace);
  g_mutex_unlock (&self->lock);
  if (same && too_many) {
    sl_served_model_announce_less (served, encodings);
    if (!joining)
      announce (self);
  }
  if (same || (joining && self->replace))
    return;
  g_autofree char *expected = sl_contract_summary (served->contract),
                  *got = contract != NULL ? sl_contract_summary (contract) : NULL;
  g_autofree char *text = g_strdup_printf (
    "%s: another contract is there: expected %s (%s), got %s (%s)", message->topic, expected,
    served->hash, got != NULL ? got : error->message, contract != NULL ? hash : "none");
  if (joining && !ours)
    fail (
      self,
      g_strconcat (
        text,
        ": serve under another name (NAME=FILE), or take --replace where all workers get the new "
        "model",
        NULL));
  else
    sl_serve_complain_some (self, served->name, text);
}

/* Whether @topic is one of @served's requests, of whichever user. */
static gboolean
is_work (const SlServedModel *served, const char *topic)
{
  const gsize length = strlen (served->work_topic) - strlen ("+");
  return strncmp (topic, served->work_topic, length) == 0 && topic[length] != '\0'
         && strchr (topic + length, '/') == NULL;
}

static SlServedModel *
find_served (SlServeWorker *self, const char *topic, gboolean *is_contract)
{
  for (guint i = 0; i < self->models->len; i++) {
    SlServedModel *served = g_ptr_array_index (self->models, i);
    *is_contract = strcmp (topic, served->contract_topic) == 0;
    if (*is_contract || is_work (served, topic))
      return served;
  }
  return NULL;
}

/* The client of a request that cannot be served gets the reason, where a reply may be sent. */
static void
refuse (SlServeWorker *self, SlServedModel *served, const SlBrokerMessage *message,
        const char *sentence, gboolean of_encoding)
{
  gsize size;
  g_mutex_lock (&self->lock);
  served->figures.refused++;
  g_mutex_unlock (&self->lock);
  sl_serve_complain_some (self, served->name, sentence);
  if (!sl_remote_may_answer (served->prefix, served->name, message->topic, message->response)
      || message->correlation_size > SL_REMOTE_CORRELATION)
    return;
  SlBrokerReply reply = { .correlation_size = (guint16) message->correlation_size };
  memcpy (reply.correlation, message->correlation, reply.correlation_size);
  g_autofree guint8 *data = sl_remote_refusal_new (sentence, of_encoding, &size);
  send_answer (self, message->response, &reply, data, size,
               g_get_monotonic_time () + G_USEC_PER_SEC);
}

static gboolean
read_inputs (SlWork *work, const SlRemoteRequest *request, GError **error)
{
  const SlContract *contract = work->served->contract;
  for (guint i = 0; i < contract->n_inputs; i++)
    if (!sl_remote_tensor_read (&request->inputs, &contract->inputs[i], i, work->inputs[i],
                                "request", error))
      return FALSE;
  return TRUE;
}

/* (transfer full): NULL with @error set for a message that is no request, or asks for its answer
 * where none belongs. */
static SlWork *
read_work (SlServedModel *served, const SlBrokerMessage *message, GError **error)
{
  SlRemoteRequest request;
  if (!sl_remote_may_answer (served->prefix, served->name, message->topic, message->response)) {
    g_autofree char *shown =
      sl_printable (message->response != NULL ? message->response : "none", SL_PRINTABLE_NAME);
    return sl_fail_null (error, SL_ERROR_FORMAT,
                         "request: expected a response topic below %s/%s/answers%s/, got %s",
                         served->prefix, served->name, strrchr (message->topic, '/'), shown);
  }
  if (message->correlation_size == 0 || message->correlation_size > SL_REMOTE_CORRELATION)
    return sl_fail_null (
      error, SL_ERROR_FORMAT,
      "request: expected 1 to %d bytes of correlation data, got %" G_GSIZE_FORMAT,
      SL_REMOTE_CORRELATION, message->correlation_size);
  if (!sl_remote_request_read (message->data, message->size, served->contract, served->hash,
                               &request, error))
    return NULL;
  SlWork *work = sl_work_new (served, g_strdup (message->response),
                              request.life_ms * G_TIME_SPAN_MILLISECOND, error);
  if (work == NULL || !read_inputs (work, &request, error)) {
    sl_work_free (work);
    return NULL;
  }
  work->reply.broker = (SlBrokerReply){ .correlation_size = (guint16) message->correlation_size,
                                        .encoding = request.inputs.encoding };
  memcpy (work->reply.broker.correlation, message->correlation, message->correlation_size);
  return work;
}

/* What is already on its way when the queue is full is still taken, up to a bound. */
static void
take_work (SlServeWorker *self, SlServedModel *served, const SlBrokerMessage *message)
{
  g_autoptr (GError) error = NULL;
  g_mutex_lock (&self->lock);
  const gboolean room = self->queue.length < 4 * self->queue_length + 64;
  g_mutex_unlock (&self->lock);
  SlWork *work = room ? read_work (served, message, &error) : NULL;
  if (work != NULL)
    sl_serve_worker_take (self, work);
  else
    refuse (self, served, message,
            error != NULL ? error->message : "request: too many wait here: ask again",
            g_error_matches (error, SL_ERROR, SL_ERROR_UNSUPPORTED));
}

static void
on_heard (gpointer user, const SlBrokerMessage *message)
{
  SlServeWorker *self = user;
  gboolean is_contract = FALSE;
  SlServedModel *served = find_served (self, message->topic, &is_contract);
  if (strcmp (message->topic, self->report_topic) == 0)
    heard_report (self, message);
  else if (served != NULL && is_contract)
    heard_contract (self, served, message);
  else if (served != NULL)
    take_work (self, served, message);
}

static void
on_connected (SlBroker *broker, gpointer user)
{
  SlServeWorker *self = user;
  g_mutex_lock (&self->lock);
  self->broker = broker;
  self->connected = TRUE;
  self->state = self->draining ? SL_SERVE_LEFT : SL_SERVE_JOINING;
  g_hash_table_remove_all (self->vital);
  for (guint i = 0; i < self->models->len; i++)
    ((SlServedModel *) g_ptr_array_index (self->models, i))->announced = FALSE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  const SlMqttTarget *target = sl_broker_target (broker);
  sl_run_log (SL_LOG_INFO, NULL, "connected", "connected to %s:%u as %s", target->host,
              target->port, self->name);
  for (guint i = 0; i < self->models->len; i++)
    sl_broker_subscribe (broker,
                         ((SlServedModel *) g_ptr_array_index (self->models, i))->contract_topic);
  sl_broker_subscribe (broker, self->report_topic);
  report (self, TRUE);
}

static void
on_lost (gpointer user, const char *reason, guint retry_ms, gboolean denied)
{
  SlServeWorker *self = user;
  g_mutex_lock (&self->lock);
  self->connected = FALSE;
  g_free (self->away);
  self->away = g_strdup (reason);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  sl_run_log (SL_LOG_WARNING, NULL, "disconnected", "%s; trying again in %.1f s", reason,
              retry_ms / 1000.0);
}

static void
on_denied (gpointer user, const char *reason)
{
  fail (user, g_strdup (reason));
}

static void
on_confirmed (gpointer user, gint id, SlBrokerSent sent, const char *reason)
{
  SlServeWorker *self = user;
  const gboolean vital = g_hash_table_remove (self->vital, GINT_TO_POINTER (id));
  if (sent == SL_SENT_REFUSED && vital)
    fail (
      self,
      g_strdup_printf (
        "the broker does not let this user announce: %s: check its access control (docs/remote.md "
        "has one)",
        reason));
  else if (sent == SL_SENT_REFUSED)
    sl_serve_complain_some (self, self->name, reason);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  g_cond_broadcast (&self->changed);
}

static guint
on_tick (gpointer user)
{
  SlServeWorker *self = user;
  const gint64 now = g_get_monotonic_time ();
  g_mutex_lock (&self->lock);
  const gboolean due = self->connected && !self->draining && now - self->reported >= REPORT_US;
  g_mutex_unlock (&self->lock);
  if (due)
    report (self, FALSE);
  return REPORT_US / 1000;
}

static gsize
most_bytes (SlServeWorker *self)
{
  gsize most = SL_REMOTE_MAX_CONTRACT;
  for (guint i = 0; i < self->models->len; i++)
    most = MAX (most, sl_remote_request_size (
                        ((SlServedModel *) g_ptr_array_index (self->models, i))->contract));
  return most + PACKET_ROOM;
}

static gboolean
open_door (SlServeWorker *self, const SlServeSettings *settings, GError **error)
{
  static const SlBrokerCalls calls = {
    on_connected, on_lost, on_denied, on_heard, on_confirmed, on_tick, sl_serve_worker_unref
  };
  const SlServedModel *first = g_ptr_array_index (self->models, 0);
  self->report_topic = sl_remote_topic_worker (first->prefix, settings->name);
  self->replace = settings->replace;
  const SlBrokerSettings broker = {
    .access = settings->access,
    .example = SL_SERVE_EXAMPLE,
    .client_id = settings->name,
    .will_topic = self->report_topic,
    .keep_alive = KEEP_ALIVE_S,
    .retry_min_ms = RETRY_MIN_MS,
    .retry_max_ms = RETRY_MAX_MS,
    .most_bytes = most_bytes (self),
  };
  g_atomic_ref_count_inc (&self->refs);
  SlBroker *connection = sl_broker_new (&broker, &calls, self, error);
  if (connection == NULL) {
    sl_serve_worker_unref (self);
    return FALSE;
  }
  const SlMqttTarget *target = sl_broker_target (connection);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->address = g_strdup_printf ("%s:%u", target->host, target->port);
  self->broker = connection;
  return TRUE;
}

static gboolean
has_left (SlServeWorker *self)
{
  return self->state == SL_SERVE_LEFT;
}

static gboolean
has_answered (SlServeWorker *self)
{
  return self->queue.length == 0 && self->busy == 0 && sl_broker_unconfirmed (self->broker) == 0;
}

static gboolean
drain (SlServeWorker *self, gint64 until)
{
  g_mutex_lock (&self->lock);
  self->draining = TRUE;
  const gboolean connected = self->connected && self->failed == NULL;
  const gboolean serves = connected && self->state != SL_SERVE_JOINING; /* else it has no frames */
  self->state = SL_SERVE_LEAVING;
  self->marker++; /* reports that are under way do not end that */
  if (serves)
    set_shares (self, FALSE);
  g_mutex_unlock (&self->lock);
  if (serves)
    report (self, TRUE);
  g_mutex_lock (&self->lock);
  const gboolean drained = !serves
                           || (sl_serve_worker_wait (self, has_left, until)
                               && sl_serve_worker_wait (self, has_answered, until));
  g_mutex_unlock (&self->lock);
  if (connected)
    sl_broker_send (self->broker,
                    &(SlBrokerSend){ .topic = self->report_topic, .data = "", .retain = TRUE });
  return drained;
}

/* The broker's thread uses the pointer until it has ended. */
static void
close_door (SlServeWorker *self)
{
  sl_broker_free (self->broker);
  self->broker = NULL;
}

const SlServeDoor sl_serve_broker_door = { open_door, answer, settle, drain, close_door };
