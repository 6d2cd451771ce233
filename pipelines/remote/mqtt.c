/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs libmosquitto from a thread of Sightline. */
#include "pipelines/remote/mqtt.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <gio/gio.h>
#include <mosquitto.h>

#include "core/base/fail.h"

#define SYSTEM_AUTHORITIES "/etc/ssl/certs"
/* OPENSSL_INIT_NO_ATEXIT of OpenSSL 1.1.1 and later. */
#define OPENSSL_NO_ATEXIT 0x00080000u
/* Packets of one round at most. */
#define ROUND 16

static gboolean
readable (const char *property, const char *path, GError **error)
{
  if (path == NULL || access (path, R_OK) == 0)
    return TRUE;
  return sl_fail (error, SL_ERROR_OPEN,
                  "%s=%s: no such file, or it cannot be read: expected a file in PEM form",
                  property, path);
}

/* libcrypto frees its tables when the process ends, and a connection that is being made cannot be
 * waited for: its thread would read freed memory. The system takes the memory anyway. Only
 * libcrypto's first call in a process can say so. */
static void
keep_tables_to_the_end (void)
{
  static const char *const libraries[] = { "libcrypto.so.3", "libcrypto.so.1.1" };
  void *library = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (libraries) && library == NULL; i++)
    library = dlopen (libraries[i], RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL)
    library = dlopen (NULL, RTLD_LAZY);
  gpointer found = library != NULL ? dlsym (library, "OPENSSL_init_crypto") : NULL;
  int (*init) (guint64 options, const void *settings);
  memcpy (&init, &found, sizeof init);
  if (init != NULL)
    init (OPENSSL_NO_ATEXIT, NULL);
  if (library != NULL)
    dlclose (library);
}

gboolean
sl_mqtt_set_tls (struct mosquitto *client, const SlMqttTarget *target, const SlMqttAccess *access,
                 GError **error)
{
  if (!target->tls) {
    if (access->ca_file == NULL && access->certificate == NULL && access->key == NULL)
      return TRUE;
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "ca-file, certificate and private-key are for mqtts://, and the location says mqtt://: write "
      "mqtts:// or leave them unset");
  }
  if (!readable ("ca-file", access->ca_file, error)
      || !readable ("certificate", access->certificate, error)
      || !readable ("private-key", access->key, error))
    return FALSE;
  if ((access->certificate == NULL) != (access->key == NULL))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "certificate and private-key belong together: set both or neither");
  keep_tables_to_the_end ();
  const gboolean system = access->ca_file == NULL;
  gint code =
    system ? mosquitto_int_option (client, MOSQ_OPT_TLS_USE_OS_CERTS, 1) : MOSQ_ERR_SUCCESS;
  /* The library takes a client's certificate only together with authorities of some kind. */
  if (code == MOSQ_ERR_SUCCESS && (!system || access->certificate != NULL))
    code = mosquitto_tls_set (client, access->ca_file, system ? SYSTEM_AUTHORITIES : NULL,
                              access->certificate, access->key, NULL);
  if (code == MOSQ_ERR_SUCCESS)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "TLS cannot be set up: %s: check ca-file, certificate and private-key",
                  mosquitto_strerror (code));
}

gboolean
sl_mqtt_fail (const SlMqttTarget *target, int code, GError **error)
{
  if (target->tls && code == MOSQ_ERR_ERRNO
      && errno == EPROTO) /* how the library hands on an error of TLS that it met in a read */
    code = MOSQ_ERR_TLS;
  g_set_error (
    error, G_IO_ERROR, code == MOSQ_ERR_TLS ? G_IO_ERROR_PERMISSION_DENIED : G_IO_ERROR_FAILED,
    "MQTT broker %s:%u: %s%s", target->host, target->port,
    code == MOSQ_ERR_ERRNO ? g_strerror (errno) : mosquitto_strerror (code),
    code == MOSQ_ERR_TLS
      ? " Is its certificate made for this host name, and signed by ca-file or the system's "
        "authorities?"
      : "");
  return FALSE;
}

gboolean
sl_mqtt_refused (const SlMqttTarget *target, const char *reason, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
               "MQTT broker %s:%u: %s: check username and password", target->host, target->port,
               reason);
  return FALSE;
}

gboolean
sl_mqtt_silent (const SlMqttTarget *target, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "MQTT broker %s:%u: it does not answer",
               target->host, target->port);
  return FALSE;
}

gboolean
sl_mqtt_step (struct mosquitto *client, const SlMqttTarget *target, int wake_fd, int timeout_ms,
              GError **error)
{
  struct pollfd pollers[] = {
    { .fd = mosquitto_socket (client),
      .events = (short) (POLLIN | (mosquitto_want_write (client) ? POLLOUT : 0)) },
    { .fd = wake_fd, .events = POLLIN },
  };
  gint code = MOSQ_ERR_SUCCESS;
  if (pollers[0].fd < 0)
    return sl_mqtt_fail (target, MOSQ_ERR_NO_CONN, error);
  poll (pollers, G_N_ELEMENTS (pollers), timeout_ms);
  if ((pollers[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
    code = mosquitto_loop_read (client, ROUND);
  if (code == MOSQ_ERR_SUCCESS && mosquitto_want_write (client))
    code = mosquitto_loop_write (client, ROUND);
  if (code == MOSQ_ERR_SUCCESS)
    code = mosquitto_loop_misc (client);
  return code == MOSQ_ERR_SUCCESS || sl_mqtt_fail (target, code, error);
}
