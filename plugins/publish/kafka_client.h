/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A client of librdkafka and its topic, of which nothing is waited for that the library cannot end:
 * a broker may accept connections and never answer. Questions are asked in a thread of their own,
 * and where a client does not end soon, a thread remains that ends it.
 */
#pragma once

#include <gio/gio.h>
#include <librdkafka/rdkafka.h>

/** SlKafkaClient: for one thread; @client and @topic end with it. */
typedef struct
{
  rd_kafka_t *client;
  rd_kafka_topic_t *topic;
  /*< private >*/
  gatomicrefcount refs;
} SlKafkaClient;

/** sl_kafka_client_new: a producer of @conf, which is copied. @events: a file that is written to
 * when the library has something to say, until sl_kafka_client_free(). */
SlKafkaClient *sl_kafka_client_new (const rd_kafka_conf_t *conf, const char *topic, gint events,
                                    GError **error);
/** sl_kafka_conf_check: whether a producer of @conf, which has no brokers, can be made. */
gboolean sl_kafka_conf_check (const rd_kafka_conf_t *conf, GError **error);
/** sl_kafka_client_find_topic: asks a broker for the topic. TRUE: it is there. @code: (out): what
 * is wrong with it; RD_KAFKA_RESP_ERR__TIMED_OUT where there was no answer, or @cancellable
 * (nullable) was cancelled, which ends the wait at once. */
gboolean sl_kafka_client_find_topic (SlKafkaClient *client, gint timeout_ms,
                                     GCancellable *cancellable, rd_kafka_resp_err_t *code);
/** sl_kafka_client_free: messages that were not sent are lost. It takes 0.3 s at most; what lasts
 * longer goes on in a thread. NULL is legal. */
void sl_kafka_client_free (SlKafkaClient *client);
