/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slices on a pthreadpool, a contiguous run of them and a scratch a thread.
 */
#include "plugins/slicer.h"

#include <pthreadpool.h>
#include <stdlib.h>

#define SCRATCH_ALIGN 64

struct _SlSlicer
{
  const SlNormalizer *normalizer;
  pthreadpool_t pool;
  guint shares;
  gint slices;
  gsize scratch_bytes;
  guint8 *scratch;
  const SlImage *image; /* of the run in progress */
  void *tensor;
};

SlSlicer *
sl_slicer_new (const SlNormalizer *normalizer, guint threads)
{
  SlSlicer *slicer = g_new0 (SlSlicer, 1);
  slicer->normalizer = normalizer;
  slicer->slices = sl_normalizer_slices (normalizer);
  slicer->shares = MIN (threads, (guint) slicer->slices);
  slicer->scratch_bytes = (sl_normalizer_scratch_bytes (normalizer) + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
  slicer->scratch = aligned_alloc (SCRATCH_ALIGN, slicer->scratch_bytes * slicer->shares);
  slicer->pool = pthreadpool_create (slicer->shares);
  if (slicer->scratch != NULL && slicer->pool != NULL)
    return slicer;
  sl_slicer_free (slicer);
  return NULL;
}

void
sl_slicer_free (SlSlicer *slicer)
{
  if (slicer == NULL)
    return;
  if (slicer->pool != NULL)
    pthreadpool_destroy (slicer->pool);
  free (slicer->scratch);
  g_free (slicer);
}

static void
fill_share (void *data, size_t share)
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
  pthreadpool_parallelize_1d (slicer->pool, fill_share, slicer, slicer->shares, PTHREADPOOL_FLAG_YIELD_WORKERS);
}
