/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the threads of a worker have in common: complaints, shared subscriptions, answers. */
#include "tools/serve/serving.h"

#include "tools/run/log.h"

/* The most messages of one kind about invalid requests. */
#define MAX_COMPLAINTS 20

/* Messages of strangers about themselves: some are told, so that a flood fills no log. */
void
sl_serve_complain_some (SlServeWorker *self, const char *name, const char *text)
{
  g_mutex_lock (&self->lock);
  const guint n = ++self->complaints;
  g_mutex_unlock (&self->lock);
  if (n <= MAX_COMPLAINTS)
    sl_run_log (SL_LOG_WARNING, name, "trouble", "%s%s", text,
                n == MAX_COMPLAINTS ? " (further ones are counted only)" : "");
}

void
sl_serve_set_shares (SlServeWorker *self, gboolean join)
{
  for (guint i = 0; i < self->models->len; i++) {
    const SlServedModel *served = g_ptr_array_index (self->models, i);
    if (join)
      sl_broker_subscribe (self->broker, served->share_topic);
    else
      sl_broker_unsubscribe (self->broker, served->share_topic);
  }
}

void
sl_serve_settle_shares (SlServeWorker *self)
{
  const gboolean full = self->state == SL_SERVE_SERVING && self->queue.length >= self->queue_length;
  const gboolean empty =
    self->state == SL_SERVE_PAUSED && self->queue.length <= self->queue_length / 4;
  if (!full && !empty)
    return;
  self->state = full ? SL_SERVE_PAUSED : SL_SERVE_SERVING;
  sl_serve_set_shares (self, empty);
}

gint
sl_serve_answer (SlServeWorker *self, const char *response, const void *correlation,
                 guint16 correlation_size, const void *data, gsize size, gint64 until)
{
  const gint64 left = MAX (until - g_get_monotonic_time (), 0);
  return sl_broker_send (self->broker,
                         &(SlBrokerSend){ .topic = response,
                                          .data = data,
                                          .size = size,
                                          .expiry = (guint) (left / G_USEC_PER_SEC) + 1,
                                          .correlation = correlation,
                                          .correlation_size = correlation_size });
}
