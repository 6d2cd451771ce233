/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A ring of the last predictions' times and ages. */
#include "pipelines/embed/rates.h"

#include <stdlib.h>

#include "core/base/percentile.h"

#define LOOK_BACK (2 * G_USEC_PER_SEC)

void
sl_pipeline_stats_reset (SlPipelineStats *stats, gint64 now)
{
  *stats = (SlPipelineStats){ .started = now };
}

void
sl_pipeline_stats_add (SlPipelineStats *stats, gint64 now, gint64 age)
{
  const guint at = (guint) (stats->total++ % SL_PIPELINE_STATS_WINDOW);
  stats->times[at] = now;
  stats->ages[at] = age;
}

static guint
kept (const SlPipelineStats *stats)
{
  return (guint) MIN (stats->total, SL_PIPELINE_STATS_WINDOW);
}

/* Predictions a second, of the last two seconds or since the start. */
static gdouble
rate (const SlPipelineStats *stats, gint64 now)
{
  const guint n = kept (stats);
  gint64 since = MAX (stats->started, now - LOOK_BACK);
  guint recent = 0;
  for (guint i = 0; i < n; i++)
    recent += stats->times[i] > since;
  if (recent == SL_PIPELINE_STATS_WINDOW) /* faster than the ring: it spans less */
    since = stats->times[stats->total % SL_PIPELINE_STATS_WINDOW];
  return recent > 0 && now > since ? recent * (gdouble) G_USEC_PER_SEC / (gdouble) (now - since)
                                   : 0;
}

static int
compare (const void *a, const void *b)
{
  const gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;
  return (x > y) - (x < y);
}

/* The percentile of the last predictions' ages; -1 = none known. */
static gint64
age_of (const SlPipelineStats *stats, guint percent)
{
  gint64 ages[SL_PIPELINE_STATS_WINDOW];
  guint n = 0;
  for (guint i = 0; i < kept (stats); i++)
    if (stats->ages[i] >= 0)
      ages[n++] = stats->ages[i];
  if (n == 0)
    return -1;
  qsort (ages, n, sizeof *ages, compare);
  return ages[sl_percentile_index (n, percent)];
}

void
sl_pipeline_stats_write (const SlPipelineStats *stats, gint64 now, GVariantBuilder *builder)
{
  const gdouble seconds =
    stats->started > 0 ? (gdouble) (now - stats->started) / G_USEC_PER_SEC : 0;
  g_variant_builder_add (builder, "{sv}", "seconds", g_variant_new_double (seconds));
  g_variant_builder_add (builder, "{sv}", "predictions", g_variant_new_uint64 (stats->total));
  g_variant_builder_add (builder, "{sv}", "rate", g_variant_new_double (rate (stats, now)));
  g_variant_builder_add (builder, "{sv}", "age-p50", g_variant_new_int64 (age_of (stats, 50)));
  g_variant_builder_add (builder, "{sv}", "age-p95", g_variant_new_int64 (age_of (stats, 95)));
}
