/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Clients are counted: the publisher's thread has one reference, and so has each thread that asks a
 * broker. The thread that drops the last one ends the client.
 */
#include "plugins/publish/kafka_client.h"

#include <unistd.h>

#include "core/base/fail.h"

#define LEAVE_US (300 * G_TIME_SPAN_MILLISECOND)

/* What two threads know of a piece of work that one of them waits for. */
typedef struct
{
  gatomicrefcount refs;
  SlKafkaClient *client;
  gint timeout_ms;
  GMutex lock;
  GCond changed;
  gboolean done, cancelled;
  rd_kafka_resp_err_t code;
} Work;

static void
client_unref (SlKafkaClient *client)
{
  if (!g_atomic_ref_count_dec (&client->refs))
    return;
  if (client->topic != NULL)
    rd_kafka_topic_destroy (client->topic);
  rd_kafka_destroy (client->client);
  g_free (client);
}

/* @client: a reference, taken */
static Work *
work_new (SlKafkaClient *client, gint timeout_ms)
{
  Work *work = g_new0 (Work, 1);
  g_atomic_ref_count_init (&work->refs);
  g_atomic_ref_count_inc (&work->refs);
  work->client = client;
  work->timeout_ms = timeout_ms;
  g_mutex_init (&work->lock);
  g_cond_init (&work->changed);
  return work;
}

static void
work_unref (Work *work)
{
  if (!g_atomic_ref_count_dec (&work->refs))
    return;
  g_mutex_clear (&work->lock);
  g_cond_clear (&work->changed);
  g_free (work);
}

static void
finish (Work *work, rd_kafka_resp_err_t code)
{
  g_mutex_lock (&work->lock);
  work->code = code;
  work->done = TRUE;
  g_cond_signal (&work->changed);
  g_mutex_unlock (&work->lock);
  work_unref (work);
}

/* Begins @function with a reference to @work of its own; without a thread, it is done here. */
static void
begin (Work *work, GThreadFunc function)
{
  GThread *thread = g_thread_try_new ("kafka", function, work, NULL);
  if (thread != NULL)
    g_thread_unref (thread);
  else
    function (work);
}

static gpointer
end_client (gpointer data)
{
  Work *work = data;
  client_unref (work->client);
  finish (work, RD_KAFKA_RESP_ERR_NO_ERROR);
  return NULL;
}

static gpointer
ask (gpointer data)
{
  Work *work = data;
  SlKafkaClient *client = work->client;
  const struct rd_kafka_metadata *about;
  rd_kafka_resp_err_t code =
    rd_kafka_metadata (client->client, 0, client->topic, &about, work->timeout_ms);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    code = RD_KAFKA_RESP_ERR__TIMED_OUT;
  } else {
    code = about->topic_cnt == 1 ? about->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    rd_kafka_metadata_destroy (about);
  }
  client_unref (client);
  finish (work, code);
  return NULL;
}

static void
on_cancelled (GCancellable *cancellable, gpointer data)
{
  Work *work = data;
  g_mutex_lock (&work->lock);
  work->cancelled = TRUE;
  g_cond_signal (&work->changed);
  g_mutex_unlock (&work->lock);
}

gboolean
sl_kafka_client_find_topic (SlKafkaClient *client, gint timeout_ms, GCancellable *cancellable,
                            rd_kafka_resp_err_t *code)
{
  g_atomic_ref_count_inc (&client->refs);
  Work *work = work_new (client, timeout_ms);
  begin (work, ask);
  const gulong id = cancellable != NULL
                      ? g_cancellable_connect (cancellable, G_CALLBACK (on_cancelled), work, NULL)
                      : 0;
  g_mutex_lock (&work->lock);
  while (!work->done && !work->cancelled)
    g_cond_wait (&work->changed, &work->lock);
  *code = work->done ? work->code : RD_KAFKA_RESP_ERR__TIMED_OUT;
  g_mutex_unlock (&work->lock);
  g_cancellable_disconnect (cancellable, id);
  work_unref (work);
  return *code == RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void
set_events (rd_kafka_t *client, gint events)
{
  static const guint64 one = 1;
  rd_kafka_queue_t *queue = rd_kafka_queue_get_main (client);
  rd_kafka_queue_io_event_enable (queue, events, &one, sizeof one);
  rd_kafka_queue_destroy (queue);
}

/* (nullable) */
static rd_kafka_t *
make_producer (const rd_kafka_conf_t *conf, GError **error)
{
  char reason[512];
  rd_kafka_conf_t *copy = rd_kafka_conf_dup (conf);
  rd_kafka_t *producer = rd_kafka_new (RD_KAFKA_PRODUCER, copy, reason, sizeof reason);
  if (producer != NULL)
    return producer;
  rd_kafka_conf_destroy (copy);
  return sl_fail_null (error, SL_ERROR_ARGUMENT, "Kafka cannot be set up: %s", reason);
}

gboolean
sl_kafka_conf_check (const rd_kafka_conf_t *conf, GError **error)
{
  rd_kafka_t *producer = make_producer (conf, error);
  if (producer == NULL)
    return FALSE;
  rd_kafka_destroy (producer);
  return TRUE;
}

SlKafkaClient *
sl_kafka_client_new (const rd_kafka_conf_t *conf, const char *topic, gint events, GError **error)
{
  rd_kafka_t *producer = make_producer (conf, error);
  if (producer == NULL)
    return NULL;
  SlKafkaClient *client = g_new0 (SlKafkaClient, 1);
  g_atomic_ref_count_init (&client->refs);
  client->client = producer;
  client->topic = rd_kafka_topic_new (producer, topic, NULL);
  if (client->topic == NULL) {
    sl_fail (error, SL_ERROR_ARGUMENT, "Kafka topic %s cannot be set up: %s", topic,
             rd_kafka_err2str (rd_kafka_last_error ()));
    client_unref (client);
    return NULL;
  }
  set_events (producer, events);
  return client;
}

void
sl_kafka_client_free (SlKafkaClient *client)
{
  if (client == NULL)
    return;
  rd_kafka_purge (client->client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_poll (client->client, 0);
  set_events (client->client, -1); /* whose number may be another file's soon */
  Work *work = work_new (client, 0);
  begin (work, end_client);
  const gint64 until = g_get_monotonic_time () + LEAVE_US;
  g_mutex_lock (&work->lock);
  while (!work->done && g_cond_wait_until (&work->changed, &work->lock, until))
    continue;
  g_mutex_unlock (&work->lock);
  work_unref (work);
}
