/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connections from their arrival to their end: how many there may be, how long each may take, and
 * TLS. libsoup bounds neither. The server's thread.
 */
#pragma once

#include <libsoup/soup.h>

/** Connections at once by default, those of streams not among them: beyond that the oldest one
 * gives way, of the client that has most. */
#define SL_CONNECTIONS_MOST 64
/** Seconds from a connection's arrival, its TLS handshake and all, to the end of the answer. */
#define SL_CONNECTION_PATIENCE 10

typedef struct _SlConnections SlConnections;

/** sl_connections_client: (transfer full): what tells clients apart by their @address: an address
 * of IPv4, or the network (/64) of one of IPv6, in which a client chooses its address itself. */
char *sl_connections_client (GSocketAddress *address);

/** sl_connections_new: hands what arrives at @listener to @server. @certificate: (nullable): for
 * TLS; @most: connections at once, 0 = SL_CONNECTIONS_MOST */
SlConnections *sl_connections_new (SoupServer *server, GSocketListener *listener,
                                   GTlsCertificate *certificate, guint most);
/** sl_connections_set_certificate: of connections that are still to come; they have one. */
void sl_connections_set_certificate (SlConnections *connections, GTlsCertificate *certificate);
/** sl_connections_free: ends all connections. */
void sl_connections_free (SlConnections *connections);
/** sl_connections_expire: ends those that take too long; to be called some times a second. */
void sl_connections_expire (SlConnections *connections);
/** sl_connections_socket: (transfer none) (nullable): below the connection of @message. */
GSocket *sl_connections_socket (SoupServerMessage *message);
/** sl_connections_steal: (transfer full) (nullable): the connection of @message, which libsoup
 * knows no more: it may take as long as it likes, and counts no more. @socket: (out) (transfer
 * full): below it. */
GIOStream *sl_connections_steal (SlConnections *connections, SoupServerMessage *message,
                                 GSocket **socket);
