/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice among normalizers and the warp, for slnormalize. The slicer is set anew only where
 * another normalizer is chosen.
 */
#include "plugins/tensor/maker.h"

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
    maker->slicer = sl_slicer_new (maker->whole, threads);
  return status;
}

void
sl_tensor_maker_close (SlTensorMaker *maker)
{
  g_clear_pointer (&maker->slicer, sl_slicer_free);
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
                  && ((whole && !maker->slices_part) || sl_slicer_set (maker->slicer, normalizer));
  maker->slices_part = !whole || !maker->sliced;
}

void
sl_tensor_maker_choose_whole (SlTensorMaker *maker)
{
  choose (maker, maker->whole);
}

static SlNormalizeStatus
choose_turned (SlTensorMaker *maker, const SlTurnedRect *turned)
{
  if (maker->turned == NULL)
    maker->turned = sl_warp_new ();
  maker->chosen = NULL;
  return maker->turned != NULL ? sl_warp_set (maker->turned, &maker->image, &maker->spec, turned)
                               : SL_NORMALIZE_NO_MEMORY;
}

SlNormalizeStatus
sl_tensor_maker_choose (SlTensorMaker *maker, const SlRect *part, const SlTurnedRect *turned)
{
  SlNormalizeSpec spec = maker->spec;
  if (turned->width > 0)
    return choose_turned (maker, turned);
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
  if (maker->chosen == NULL)
    sl_warp_run (maker->turned, image, tensor);
  else if (maker->sliced)
    sl_slicer_run (maker->slicer, image, tensor);
  else
    sl_normalizer_run (maker->chosen, image, tensor);
}
