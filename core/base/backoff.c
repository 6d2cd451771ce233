/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exponential back-off with jitter. */
#include "core/base/backoff.h"

#define JITTER 0.25

guint
sl_backoff_delay_at (guint shortest, guint longest, guint failures, gdouble chance)
{
  const guint64 limit = MAX (shortest, longest);
  guint64 delay = shortest;
  for (guint i = 1; i < failures && delay < limit && delay > 0; i++)
    delay *= 2;
  return (guint) ((gdouble) MIN (delay, limit) * (1 - JITTER * chance));
}

guint
sl_backoff_delay (guint shortest, guint longest, guint failures)
{
  return sl_backoff_delay_at (shortest, longest, failures, g_random_double ());
}
