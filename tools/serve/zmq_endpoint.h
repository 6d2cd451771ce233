/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Addresses of ZeroMQ that `sightline serve --zmq` listens at. */
#pragma once

#include <glib.h>

/** sl_zmq_endpoint_check: whether @endpoint is ipc:///PATH or tcp://ADDRESS:PORT. FALSE with @error
 * set; nothing is opened. */
gboolean sl_zmq_endpoint_check (const char *endpoint, GError **error);
/** sl_zmq_endpoint_path: (transfer none) (nullable): the socket's path, NULL of tcp://. */
const char *sl_zmq_endpoint_path (const char *endpoint);
/** sl_zmq_endpoint_listen: a socket that listens at @endpoint, which was checked, and does not
 * block. A socket's file that a killed program left is replaced. -1 with @error set. */
int sl_zmq_endpoint_listen (const char *endpoint, GError **error);
