/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A connection to an MQTT 5 broker with a thread of its own, which connects, comes back with back-off and jitter, and hands on what it hears. Each
 * connection is a new session: what was on its way when the last one broke is the caller's to send again, or to forget.
 */
#ifndef SL_REMOTE_BROKER_H
#define SL_REMOTE_BROKER_H

#include "pipelines/remote/mqtt.h"

G_BEGIN_DECLS

typedef struct _SlBroker SlBroker;

/** SlBrokerMessage: what was heard; valid during the call. @response, @correlation: (nullable) */
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
  SL_SENT_UNHEARD,   /* nobody subscribes to the topic */
  SL_SENT_REFUSED    /* by its access control or its limits */
} SlBrokerSent;

/**
 * SlBrokerCalls: all from the broker's thread, and none begins after sl_broker_free().
 * @connected: subscribe here
 * @lost: the connection is gone, or was not to be had; tried again in @retry_ms. @denied: the broker does not take us, or we do not trust it, and a
 *   person has to mend that
 * @denied: the broker does not let us read a topic
 * @confirmed: of a message that sl_broker_send() gave @id; @reason: the broker's words where it refused
 * @tick: (nullable): at least once in the milliseconds that it returned
 * @gone: (nullable): once, when no call is under way any more; from either thread, and not after an sl_broker_new() that failed
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
 * @access: strings are borrowed during sl_broker_new(), as all others
 * @example: a location, for messages
 * @client_id: its own on its broker
 * @will_topic: (nullable): gets an empty retained message when this client is gone without a word
 * @receive_maximum: messages that the broker may send before the first is taken; 0 = as many as it likes
 * @most_bytes: of a packet that the broker may send
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

/** sl_broker_new: checks @settings and starts the thread. Errors: SL_ERROR_ARGUMENT, SL_ERROR_OPEN. */
SlBroker *sl_broker_new (const SlBrokerSettings *settings, const SlBrokerCalls *calls, gpointer user, GError **error);
/** sl_broker_target: (transfer none): where it goes; immutable. */
const SlMqttTarget *sl_broker_target (const SlBroker *broker);
/** sl_broker_subscribe, sl_broker_unsubscribe: any thread; FALSE when there is no connection. */
gboolean sl_broker_subscribe (SlBroker *broker, const char *topic);
gboolean sl_broker_unsubscribe (SlBroker *broker, const char *topic);
/** sl_broker_send: any thread, QoS 1. Returns the message's id, 0 when there is no connection, less when the message cannot be sent at all, which
 *  sl_broker_explain() has the words for. The bytes are copied. */
gint sl_broker_send (SlBroker *broker, const SlBrokerSend *message);
/** sl_broker_explain: (transfer full): why sl_broker_send() returned @sent, less than 0, for @what, such as a request, of @size bytes. */
char *sl_broker_explain (gint sent, const char *what, gsize size);
/** sl_broker_unconfirmed: messages that the broker has yet to confirm. */
guint sl_broker_unconfirmed (SlBroker *broker);
/** sl_broker_wake: has the thread call tick now. */
void sl_broker_wake (SlBroker *broker);
/** sl_broker_free: says goodbye, which keeps the will from being told, and returns within two seconds: a thread that a system call holds
 *  longer, or one that is in a call, ends by itself later. */
void sl_broker_free (SlBroker *broker);

G_END_DECLS

#endif
