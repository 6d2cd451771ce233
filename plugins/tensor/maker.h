/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlTensorMaker: makes tensors of one size from frames of one format: of the whole frame, or of a
 * part that changes with each tensor. It keeps the memory of the part before for the next one. One
 * thread at a time.
 */
#pragma once

#include <glib.h>

#include "preprocess/normalize.h"
#include "preprocess/warp.h"

typedef struct _SlSlicer SlSlicer; /* a normalizer on several threads */

/** SlTensorMaker: zeroed at first, then closed. All fields are private. */
typedef struct
{
  SlImageInfo image;
  SlNormalizeSpec spec;
  SlNormalizer *whole; /* (nullable): NULL = closed */
  SlNormalizer *part;  /* (nullable): of the upright part before, whose memory the next one takes */
  SlWarp *turned;      /* (nullable): of turned parts */
  SlSlicer *
    slicer; /* (nullable): with more than one thread, for @whole or, with @slices_part, for @part */
  gboolean slices_part;
  SlNormalizer *chosen; /* (nullable): @whole or @part; NULL = @turned */
  gboolean sliced;      /* @slicer runs @chosen */
} SlTensorMaker;

/** sl_tensor_maker_open: for frames of @image and tensors as @spec says, whose crop is the whole;
 * on @threads (1..64). What it made before is freed. It stays closed where the result is not
 * SL_NORMALIZE_OK. */
SlNormalizeStatus sl_tensor_maker_open (SlTensorMaker *maker, const SlImageInfo *image,
                                        const SlNormalizeSpec *spec, guint threads);
/** sl_tensor_maker_close: also of a closed one. */
void sl_tensor_maker_close (SlTensorMaker *maker);
gboolean sl_tensor_maker_is_open (const SlTensorMaker *maker);
/** sl_tensor_maker_choose_whole: tensors are of the whole from now on. @maker is open. */
void sl_tensor_maker_choose_whole (SlTensorMaker *maker);
/** sl_tensor_maker_choose: tensors are of @part of the frame from now on, or of @turned where its
 * width is not 0, or between @corners (nullable). @maker is open. Where the result is not
 * SL_NORMALIZE_OK, another choice must follow. */
SlNormalizeStatus sl_tensor_maker_choose (SlTensorMaker *maker, const SlRect *part,
                                          const SlTurnedRect *turned, const SlCorners *corners);
/** sl_tensor_maker_map: (transfer none): the map from tensor pixels to frame pixels, for the chosen
 * part. */
const SlAffine *sl_tensor_maker_map (const SlTensorMaker *maker);
/** sl_tensor_maker_run: fills @tensor with the chosen part of @image. */
void sl_tensor_maker_run (SlTensorMaker *maker, const SlImage *image, void *tensor);
