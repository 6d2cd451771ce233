/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Shared code of all connections to an MQTT broker: locations, TLS, one step of the network loop,
 * and error messages. The transport of slpublish and the connections of remote inference use it.
 * Both run libmosquitto from a thread of their own.
 */
#pragma once

#include <glib.h>

struct mosquitto;

/** SlMqttAccess: location and credentials of a broker; all but @location are nullable. */
typedef struct
{
  const char *location, *username, *password, *ca_file, *certificate, *key;
} SlMqttAccess;

typedef struct
{
  char *host, *user, *password; /* user, password: (nullable) */
  guint port;
  gboolean tls;
  char *topic; /* percent-decoded */
} SlMqttTarget;

/** sl_mqtt_target_parse: reads mqtt[s]://[user[:password]@]host[:port]/topic. @example: a location
 * for messages. Errors: SL_ERROR_ARGUMENT; the message has no password. The caller zeroes @target
 * before, and may clear it after an error. */
gboolean sl_mqtt_target_parse (SlMqttTarget *target, const SlMqttAccess *access,
                               const char *example, GError **error);
void sl_mqtt_target_clear (SlMqttTarget *target);

/** sl_mqtt_set_tls: applies the TLS settings of @access to @client. This and the following
 * functions exist only where libmosquitto was found. */
gboolean sl_mqtt_set_tls (struct mosquitto *client, const SlMqttTarget *target,
                          const SlMqttAccess *access, GError **error);
/** sl_mqtt_step: one step of the network loop: waits at most @timeout_ms for the broker or for
 * @wake_fd (-1 = not used), then reads and writes. FALSE with @error set: the connection is lost.
 */
gboolean sl_mqtt_step (struct mosquitto *client, const SlMqttTarget *target, int wake_fd,
                       int timeout_ms, GError **error);
/** sl_mqtt_fail: sets @error from the library's @code and errno, and returns FALSE. TLS errors
 * become G_IO_ERROR_PERMISSION_DENIED. */
gboolean sl_mqtt_fail (const SlMqttTarget *target, int code, GError **error);
/** sl_mqtt_refused: sets @error, G_IO_ERROR_PERMISSION_DENIED, to the broker's @reason for refusing
 * the connection. Returns FALSE. */
gboolean sl_mqtt_refused (const SlMqttTarget *target, const char *reason, GError **error);
/** sl_mqtt_silent: sets @error to a message that the broker did not answer. Returns FALSE. */
gboolean sl_mqtt_silent (const SlMqttTarget *target, GError **error);
