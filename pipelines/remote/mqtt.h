/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * What all who speak to an MQTT broker have in common: locations, TLS, one round of the library's work, and what is said of an error. For
 * slpublish's transport and for the connections of remote inference; both drive libmosquitto from a thread of their own.
 */
#ifndef SL_REMOTE_MQTT_H
#define SL_REMOTE_MQTT_H

#include <glib.h>

G_BEGIN_DECLS

struct mosquitto;

/** SlMqttAccess: how to get to a broker; all but @location are nullable. */
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

/** sl_mqtt_target_parse: mqtt[s]://[user[:password]@]host[:port]/topic; @example: a location, for messages. Errors: SL_ERROR_ARGUMENT, without
 *  the password. @target is zeroed before, and may be cleared after an error. */
gboolean sl_mqtt_target_parse (SlMqttTarget *target, const SlMqttAccess *access, const char *example, GError **error);
void sl_mqtt_target_clear (SlMqttTarget *target);

/** sl_mqtt_set_tls: only where libmosquitto was found, as the rest. What @access says of TLS becomes @client's. */
gboolean sl_mqtt_set_tls (struct mosquitto *client, const SlMqttTarget *target, const SlMqttAccess *access, GError **error);
/** sl_mqtt_step: one round: waits for the broker or for @wake_fd (-1: none), and does what there is to do. FALSE with @error set: the connection is
 *  gone. */
gboolean sl_mqtt_step (struct mosquitto *client, const SlMqttTarget *target, int wake_fd, int timeout_ms, GError **error);
/** sl_mqtt_fail: sets @error by the library's @code, which errno may explain, G_IO_ERROR_PERMISSION_DENIED where it is about TLS; returns FALSE. */
gboolean sl_mqtt_fail (const SlMqttTarget *target, int code, GError **error);
/** sl_mqtt_refused: sets @error, G_IO_ERROR_PERMISSION_DENIED, to what the broker said when it was asked for a connection; returns FALSE. */
gboolean sl_mqtt_refused (const SlMqttTarget *target, const char *reason, GError **error);
/** sl_mqtt_silent: sets @error to that it said nothing; returns FALSE. */
gboolean sl_mqtt_silent (const SlMqttTarget *target, GError **error);

G_END_DECLS

#endif
