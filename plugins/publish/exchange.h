/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One request of a transport by HTTP, and what its answer means. The publisher's thread. */
#pragma once

#include <libsoup/soup.h>

/** sl_exchange_session_new: whose requests are of @context, and take @timeout_s seconds at most. */
SoupSession *sl_exchange_session_new (GMainContext *context, guint timeout_s);
/** sl_exchange_session_free: @session: (inout) (nullable): NULL behind it */
void sl_exchange_session_free (GMainContext *context, SoupSession **session);
/** sl_exchange: (transfer full) (nullable): the answer's body. NULL with @error set: it has not
 * come within @timeout_s seconds, or @cancellable ended it. */
GInputStream *sl_exchange (SoupSession *session, SoupMessage *message, guint timeout_s,
                           GCancellable *cancellable, GError **error);
/** sl_exchange_set_header: @value: (nullable): no such header, as with "". */
void sl_exchange_set_header (SoupMessage *message, const char *name, const char *value);
/** sl_exchange_is_passing: whether the same request may be taken later. */
gboolean sl_exchange_is_passing (guint status);
/** sl_exchange_idle: of an SlTransport: without a connection there is nobody to serve. */
gboolean sl_exchange_idle (gpointer state, gint wake_fd, gint timeout_ms, GError **error);
