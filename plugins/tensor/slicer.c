/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slices on a pool of threads, a contiguous run of them and a scratch each.
 */
#include "plugins/tensor/slicer.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/thread_pool.h"

#define SCRATCH_ALIGN 64
/* Tensors worth threads take longer than this, microseconds. */
#define COST_US 100

struct _SlSlicer
{
  const SlNormalizer *normalizer;
  SlPool *pool;
  guint threads, shares;
  gint slices;
  gsize scratch_bytes, room; /* of a share; of all that there is */
  guint8 *scratch;
  const SlImage *image; /* of the run in progress */
  void *tensor;
};

gboolean
sl_slicer_set (SlSlicer *slicer, const SlNormalizer *normalizer)
{
  slicer->normalizer = normalizer;
  slicer->slices = sl_normalizer_slices (normalizer);
  slicer->shares = MIN (slicer->threads, (guint) slicer->slices);
  slicer->scratch_bytes =
    (sl_normalizer_scratch_bytes (normalizer) + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
  const gsize needed = slicer->scratch_bytes * slicer->shares;
  if (needed > slicer->room) {
    free (slicer->scratch);
    slicer->scratch = aligned_alloc (SCRATCH_ALIGN, needed);
    slicer->room = slicer->scratch != NULL ? needed : 0;
  }
  if (slicer->scratch == NULL)
    return FALSE;
  memset (slicer->scratch, 0, needed);
  return TRUE;
}

SlSlicer *
sl_slicer_new (const SlNormalizer *normalizer, guint threads)
{
  SlSlicer *slicer = g_new0 (SlSlicer, 1);
  slicer->threads = threads;
  if (!sl_slicer_set (slicer, normalizer)) {
    sl_slicer_free (slicer);
    return NULL;
  }
  if (slicer->shares > 1)
    slicer->pool = sl_pool_new (slicer->shares, NULL);
  return slicer;
}

void
sl_slicer_free (SlSlicer *slicer)
{
  if (slicer == NULL)
    return;
  sl_pool_free (slicer->pool);
  free (slicer->scratch);
  g_free (slicer);
}

static void
fill_share (const void *data, guint share, guint thread)
{
  const SlSlicer *slicer = data;
  const gint first = (gint) ((gint64) slicer->slices * (gint64) share / slicer->shares);
  const gint end = (gint) ((gint64) slicer->slices * (gint64) (share + 1) / slicer->shares);
  sl_normalizer_run_slices (slicer->normalizer, slicer->image, slicer->tensor, first, end - first,
                            slicer->scratch + share * slicer->scratch_bytes);
}

void
sl_slicer_run (SlSlicer *slicer, const SlImage *image, void *tensor)
{
  slicer->image = image;
  slicer->tensor = tensor;
  sl_pool_run (slicer->pool, fill_share, slicer, slicer->shares, COST_US);
}
