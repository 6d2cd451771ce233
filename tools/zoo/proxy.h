/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Proxies of the environment, as curl and npm have them: https_proxy, http_proxy, all_proxy and
 * no_proxy. */
#pragma once

#include <libsoup/soup.h>

/** sl_zoo_proxy_use: @session takes the proxies that the environment states; where it states none,
 * the system's stay. */
void sl_zoo_proxy_use (SoupSession *session);
/** sl_zoo_proxy_watch: where the proxy of @message asks for a password, it gets the environment's.
 */
void sl_zoo_proxy_watch (SoupMessage *message);
