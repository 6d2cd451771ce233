/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A connection to an MQTT 5 broker with a thread of its own. The thread connects, reconnects with
 * back-off and jitter, and passes messages on. Each connection is a new session: the caller decides
 * whether to send unconfirmed messages of the last connection again.
 */
#pragma once

#include "pipelines/remote/mqtt.h"

typedef struct _SlBroker SlBroker;

/** SlBrokerMessage: a received message; valid during the call. @response, @correlation: (nullable)
 */
typedef struct
{
  const char *topic;
  const void *data;
  gsize size;
  const char *response;
  const void *correlation;
  gsize correlation_size;
} SlBrokerMessage;

typedef enum
{
  SL_SENT_CONFIRMED, /* the broker has it, for at least one subscriber */
  SL_SENT_UNHEARD,   /* the topic has no subscriber */
  SL_SENT_REFUSED    /* by its access control or its limits */
} SlBrokerSent;

/**
 * SlBrokerCalls: all callbacks come from the broker's thread. No callback but @gone begins after
 * sl_broker_free().
 * @connected: the place to subscribe to topics
 * @lost: the connection is lost or failed; the next attempt is in @retry_ms. Its argument @denied:
 * the broker refuses this client, or its certificate is not trusted; a person has to correct that
 * @denied: the broker refuses the subscription to a topic
 * @heard: a message has come
 * @confirmed: the broker answered to the message with the @id of sl_broker_send(); @reason: the
 * broker's words when it refused
 * @tick: (nullable): called again after at most the milliseconds that it returned
 * @gone: (nullable): called once after the last callback, from either thread; not after a failed
 * sl_broker_new()
 */
typedef struct
{
  void (*connected) (SlBroker *broker, gpointer user);
  void (*lost) (gpointer user, const char *reason, guint retry_ms, gboolean denied);
  void (*denied) (gpointer user, const char *reason);
  void (*heard) (gpointer user, const SlBrokerMessage *message);
  void (*confirmed) (gpointer user, gint id, SlBrokerSent sent, const char *reason);
  guint (*tick) (gpointer user);
  GDestroyNotify gone;
} SlBrokerCalls;

/**
 * SlBrokerSettings:
 * @access: location and credentials. These and all other strings are only used during
 * sl_broker_new()
 * @example: a location, for messages
 * @client_id: unique on the broker
 * @will_topic: (nullable): gets an empty retained message (the will) when this client is lost
 * without a disconnect
 * @receive_maximum: most unacknowledged messages from the broker; 0 = no limit
 * @most_bytes: most bytes of a packet from the broker
 */
typedef struct
{
  SlMqttAccess access;
  const char *example, *client_id, *will_topic;
  guint receive_maximum, keep_alive, retry_min_ms, retry_max_ms;
  gsize most_bytes;
} SlBrokerSettings;

/** SlBrokerSend: @response, @correlation: (nullable). @expiry: seconds, 0 = never */
typedef struct
{
  const char *topic;
  const void *data;
  gsize size;
  gboolean retain;
  guint expiry;
  const char *response;
  const void *correlation;
  guint16 correlation_size;
} SlBrokerSend;

/** sl_broker_new: checks @settings and starts the thread. Errors: SL_ERROR_ARGUMENT, SL_ERROR_OPEN.
 */
SlBroker *sl_broker_new (const SlBrokerSettings *settings, const SlBrokerCalls *calls,
                         gpointer user, GError **error);
/** sl_broker_target: (transfer none): the parsed location; immutable. */
const SlMqttTarget *sl_broker_target (const SlBroker *broker);
/** sl_broker_subscribe, sl_broker_unsubscribe: any thread; FALSE when there is no connection. */
gboolean sl_broker_subscribe (SlBroker *broker, const char *topic);
gboolean sl_broker_unsubscribe (SlBroker *broker, const char *topic);
/** sl_broker_send: any thread, QoS 1. Returns the id of the message, 0 when there is no connection,
 * below 0 when the message cannot be sent at all: see sl_broker_explain(). The bytes are copied. */
gint sl_broker_send (SlBroker *broker, const SlBrokerSend *message);
/** sl_broker_explain: (transfer full): why sl_broker_send() returned @sent, below 0. @what: the
 * kind of message, such as "request", of @size bytes */
char *sl_broker_explain (gint sent, const char *what, gsize size);
/** sl_broker_unconfirmed: the number of messages that the broker has not confirmed yet. */
guint sl_broker_unconfirmed (SlBroker *broker);
/** sl_broker_wake: makes the thread call @tick now. */
void sl_broker_wake (SlBroker *broker);
/** sl_broker_free: disconnects, so that the broker does not publish the will. Returns within two
 * seconds. A thread that is blocked longer by a system call or inside a callback ends by itself
 * later. */
void sl_broker_free (SlBroker *broker);
