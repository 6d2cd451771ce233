/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Addresses of push services come from browsers, so a client chooses whom this machine calls. Only
 * https to public addresses is called, and hosts that the description names.
 */
#pragma once

#include <gio/gio.h>

/** Bytes of an endpoint at most. */
#define SL_PUSH_ENDPOINT_MOST 1024

/** sl_push_endpoint_check: whether @endpoint may be called, by its text alone. @hosts: (nullable):
 * HOST or HOST:PORT with ',' between, which may have private addresses; those of this machine may
 * use http. FALSE with SL_ERROR_ARGUMENT. The message has at most the host. */
gboolean sl_push_endpoint_check (const char *endpoint, const char *hosts, GError **error);
/** sl_push_settings_check: whether the texts of the group [push] can be right. @key: the path of
 * the key. All are (nullable). FALSE with SL_ERROR_ARGUMENT. */
gboolean sl_push_settings_check (const char *key, const char *subject, const char *hosts,
                                 GError **error);
/** sl_push_endpoint_is_listed: whether @hosts (nullable) names the host of @endpoint. */
gboolean sl_push_endpoint_is_listed (const char *endpoint, const char *hosts);
/** sl_push_endpoint_origin: (transfer full) (nullable): https://HOST, the audience of a signature.
 */
char *sl_push_endpoint_origin (const char *endpoint);
/** sl_push_address_is_public: whether @address is one of the internet: not of this machine, of a
 * private network, of a translation into one, or of a group. */
gboolean sl_push_address_is_public (GInetAddress *address);
