/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "plugins/publish/exchange.h"

#include <poll.h>

#define STATUS_TOO_MANY_REQUESTS 429

SoupSession *
sl_exchange_session_new (GMainContext *context, guint timeout_s)
{
  g_main_context_push_thread_default (context);
  SoupSession *session = soup_session_new_with_options ("timeout", timeout_s, "user-agent",
                                                        "sightline/" SL_VERSION, NULL);
  g_main_context_pop_thread_default (context);
  return session;
}

void
sl_exchange_session_free (GMainContext *context, SoupSession **session)
{
  g_main_context_push_thread_default (context);
  g_clear_object (session);
  g_main_context_pop_thread_default (context);
}

/* A request under way. */
typedef struct
{
  GCancellable *cancellable;
  gint64 until; /* monotonic time */
  GMutex lock;  /* of these */
  GCond changed;
  gboolean done, expired;
} Exchange;

static void
on_cancelled (GCancellable *cancellable, gpointer own)
{
  g_cancellable_cancel (own);
}

static gpointer
watch (gpointer data)
{
  Exchange *exchange = data;
  g_mutex_lock (&exchange->lock);
  while (!exchange->done && !exchange->expired)
    exchange->expired = !g_cond_wait_until (&exchange->changed, &exchange->lock, exchange->until);
  const gboolean late = !exchange->done;
  g_mutex_unlock (&exchange->lock);
  if (late)
    g_cancellable_cancel (exchange->cancellable);
  return NULL;
}

/* The session's own timeout begins again with each
 * byte, so a peer that answers slowly enough would never end: another thread has an eye on it. */
GInputStream *
sl_exchange (SoupSession *session, SoupMessage *message, guint timeout_s, GCancellable *cancellable,
             GError **error)
{
  g_autoptr (GCancellable) own = g_cancellable_new ();
  g_autoptr (GError) cause = NULL;
  Exchange state = { .cancellable = own,
                     .until = g_get_monotonic_time () + timeout_s * G_TIME_SPAN_SECOND };
  const gulong link = g_cancellable_connect (cancellable, G_CALLBACK (on_cancelled), own, NULL);
  g_mutex_init (&state.lock);
  g_cond_init (&state.changed);
  GThread *thread = g_thread_new ("sl-webhook-time", watch, &state);
  GInputStream *answer = soup_session_send (session, message, own, &cause);
  g_mutex_lock (&state.lock);
  state.done = TRUE;
  g_cond_signal (&state.changed);
  g_mutex_unlock (&state.lock);
  g_thread_join (thread);
  g_mutex_clear (&state.lock);
  g_cond_clear (&state.changed);
  g_cancellable_disconnect (cancellable, link);
  if (answer == NULL
      && (state.expired || g_error_matches (cause, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "no whole answer within %u s (timeout)",
                 timeout_s);
  else if (answer == NULL)
    g_propagate_error (error, g_steal_pointer (&cause));
  return answer;
}

void
sl_exchange_set_header (SoupMessage *message, const char *name, const char *value)
{
  if (value != NULL && *value != '\0')
    soup_message_headers_replace (soup_message_get_request_headers (message), name, value);
}

gboolean
sl_exchange_is_passing (guint status)
{
  return status == SOUP_STATUS_REQUEST_TIMEOUT || status == STATUS_TOO_MANY_REQUESTS
         || status >= 500;
}

gboolean
sl_exchange_idle (gpointer state, gint wake_fd, gint timeout_ms, GError **error)
{
  struct pollfd poller = { .fd = wake_fd, .events = POLLIN };
  poll (&poller, 1, timeout_ms);
  return TRUE;
}
