/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a reverse proxy says of a request: X-Forwarded-For, -Proto and -Host, which are believed
 * from the address of the settings alone. The server's thread.
 */
#pragma once

#include <libsoup/soup.h>

typedef struct _SlProxy SlProxy;

/** sl_proxy_new: @mask: (nullable): ADDR[/BITS], which is valid */
SlProxy *sl_proxy_new (const char *mask);
void sl_proxy_free (SlProxy *proxy);
/** sl_proxy_read: notes with @message what its proxy says, if it is from one. To be called when the
 * headers have come. */
void sl_proxy_read (const SlProxy *proxy, SoupServerMessage *message);
/** sl_proxy_client: (transfer full) (nullable): the address of the client of @message; NULL = it is
 * unknown. */
GInetAddress *sl_proxy_client (SoupServerMessage *message);
/** sl_proxy_is_secure: whether the client speaks TLS. @here: this server does */
gboolean sl_proxy_is_secure (SoupServerMessage *message, gboolean here);
/** sl_proxy_is_own: whether @origin (as the header has it) is this server, as the client sees it.
 */
gboolean sl_proxy_is_own (SoupServerMessage *message, const char *origin);
