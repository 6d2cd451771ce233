/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/serve/figures.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/percentile.h"

/* Anyone may call himself another client with each request. */
#define MAX_CLIENTS 4096

const char *
sl_serve_stage_name (SlServeStage stage)
{
  static const char *const names[SL_SERVE_N_STAGES] = { "wait", "compute", "age" };
  return names[stage];
}

void
sl_serve_figures_init (SlServeFigures *figures)
{
  figures->clients = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

void
sl_serve_figures_clear (SlServeFigures *figures)
{
  g_clear_pointer (&figures->clients, g_hash_table_unref);
}

void
sl_serve_figures_asked (SlServeFigures *figures, const char *client, gint64 now)
{
  gint64 *seen = g_hash_table_lookup (figures->clients, client);
  if (seen == NULL && g_hash_table_size (figures->clients) < MAX_CLIENTS) {
    seen = g_new (gint64, 1);
    g_hash_table_insert (figures->clients, g_strdup (client), seen);
  }
  if (seen != NULL)
    *seen = now;
}

void
sl_serve_figures_answered (SlServeFigures *figures, gint64 arrived, gint64 start, gint64 end,
                           gint64 now)
{
  figures->answered++;
  figures->ages[figures->n_ages++ % SL_SERVE_AGES] = now - arrived;
  sl_histogram_add (&figures->histograms[SL_SERVE_WAIT], start - arrived);
  sl_histogram_add (&figures->histograms[SL_SERVE_COMPUTE], end - start);
  sl_histogram_add (&figures->histograms[SL_SERVE_AGE], now - arrived);
}

guint
sl_serve_figures_clients (SlServeFigures *figures, gint64 now)
{
  GHashTableIter iter;
  gpointer seen;
  g_hash_table_iter_init (&iter, figures->clients);
  while (g_hash_table_iter_next (&iter, NULL, &seen))
    if (now - *(gint64 *) seen > SL_SERVE_CLIENT_S * G_USEC_PER_SEC)
      g_hash_table_iter_remove (&iter);
  return g_hash_table_size (figures->clients);
}

static int
compare_times (const void *a, const void *b)
{
  const gint64 one = *(const gint64 *) a, other = *(const gint64 *) b;
  return one < other ? -1 : one > other;
}

gint64
sl_serve_figures_age (const SlServeFigures *figures, guint percent)
{
  gint64 ages[SL_SERVE_AGES];
  const gsize n = (gsize) MIN (figures->n_ages, SL_SERVE_AGES);
  if (n == 0)
    return -1;
  memcpy (ages, figures->ages, n * sizeof *ages);
  qsort (ages, n, sizeof *ages, compare_times);
  return ages[sl_percentile_index (n, percent)];
}
