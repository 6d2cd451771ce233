/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice among normalizers and the warp, for slnormalize. A slicer is a normalizer on several
 * threads: each fills a contiguous share of the tensor's slices and has a scratch of its own. The
 * threads wait between frames without spinning; the caller is one of them. The slicer is set anew
 * only where another normalizer is chosen.
 */
#include "plugins/tensor/maker.h"

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

/* @slicer is for @normalizer from now on, another one, or the same set anew, which must outlive it.
 * FALSE when out of memory: it must be set again before it runs. */
static gboolean
slicer_set (SlSlicer *slicer, const SlNormalizer *normalizer)
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

static void
slicer_free (SlSlicer *slicer)
{
  sl_pool_free (slicer->pool);
  free (slicer->scratch);
  g_free (slicer);
}

/* (nullable): @threads (2..64) for @normalizer; NULL when out of memory. */
static SlSlicer *
slicer_new (const SlNormalizer *normalizer, guint threads)
{
  SlSlicer *slicer = g_new0 (SlSlicer, 1);
  slicer->threads = threads;
  if (!slicer_set (slicer, normalizer)) {
    slicer_free (slicer);
    return NULL;
  }
  if (slicer->shares > 1)
    slicer->pool = sl_pool_new (slicer->shares, NULL);
  return slicer;
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

SlNormalizeStatus
sl_tensor_maker_open (SlTensorMaker *maker, const SlImageInfo *image, const SlNormalizeSpec *spec,
                      guint threads)
{
  sl_tensor_maker_close (maker);
  const SlNormalizeStatus status = sl_normalizer_new (&maker->whole, image, spec);
  if (status != SL_NORMALIZE_OK)
    return status;
  maker->image = *image;
  maker->spec = *spec;
  if (threads > 1)
    maker->slicer = slicer_new (maker->whole, threads);
  return status;
}

void
sl_tensor_maker_close (SlTensorMaker *maker)
{
  g_clear_pointer (&maker->slicer, slicer_free);
  g_clear_pointer (&maker->whole, sl_normalizer_free);
  g_clear_pointer (&maker->part, sl_normalizer_free);
  g_clear_pointer (&maker->turned, sl_warp_free);
  maker->slices_part = FALSE;
}

gboolean
sl_tensor_maker_is_open (const SlTensorMaker *maker)
{
  return maker->whole != NULL;
}

/* Chooses @normalizer, on the threads where there are any. */
static void
choose (SlTensorMaker *maker, SlNormalizer *normalizer)
{
  const gboolean whole = normalizer == maker->whole;
  maker->chosen = normalizer;
  maker->sliced = maker->slicer != NULL
                  && ((whole && !maker->slices_part) || slicer_set (maker->slicer, normalizer));
  maker->slices_part = !whole || !maker->sliced;
}

void
sl_tensor_maker_choose_whole (SlTensorMaker *maker)
{
  choose (maker, maker->whole);
}

static SlNormalizeStatus
choose_turned (SlTensorMaker *maker, const SlTurnedRect *turned, const SlCorners *corners)
{
  if (maker->turned == NULL)
    maker->turned = sl_warp_new ();
  maker->chosen = NULL;
  if (maker->turned == NULL)
    return SL_NORMALIZE_NO_MEMORY;
  return corners != NULL ? sl_warp_set_corners (maker->turned, &maker->image, &maker->spec, corners)
                         : sl_warp_set (maker->turned, &maker->image, &maker->spec, turned);
}

SlNormalizeStatus
sl_tensor_maker_choose (SlTensorMaker *maker, const SlRect *part, const SlTurnedRect *turned,
                        const SlCorners *corners)
{
  SlNormalizeSpec spec = maker->spec;
  if (turned->width > 0 || corners != NULL)
    return choose_turned (maker, turned, corners);
  spec.crop = *part;
  const SlNormalizeStatus status = maker->part != NULL
                                     ? sl_normalizer_set (maker->part, &maker->image, &spec)
                                     : sl_normalizer_new (&maker->part, &maker->image, &spec);
  if (status == SL_NORMALIZE_OK)
    choose (maker, maker->part);
  return status;
}

const SlAffine *
sl_tensor_maker_map (const SlTensorMaker *maker)
{
  return maker->chosen != NULL ? sl_normalizer_map (maker->chosen) : sl_warp_map (maker->turned);
}

void
sl_tensor_maker_run (SlTensorMaker *maker, const SlImage *image, void *tensor)
{
  SlSlicer *slicer = maker->slicer;
  if (maker->chosen == NULL) {
    sl_warp_run (maker->turned, image, tensor);
  } else if (maker->sliced) { /* the same bits as on one thread */
    slicer->image = image;
    slicer->tensor = tensor;
    sl_pool_run (slicer->pool, fill_share, slicer, slicer->shares, COST_US);
  } else {
    sl_normalizer_run (maker->chosen, image, tensor);
  }
}
