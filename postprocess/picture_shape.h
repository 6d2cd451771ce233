/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensors that are pictures: [1,height,width,channels], [1,channels,height,width] or
 * [1,height,width].
 */
#pragma once

#include "postprocess/decoder.h"

/** Number of channel c at cell i lies at i * @cell_step + c * @channel_step. */
typedef struct
{
  guint width, height, channels;
  gsize cell_step, channel_step;
} SlPictureShape;

/** sl_picture_shape_find: FALSE when @tensor has no such shape. Channels are the dimension, last or
 * first, that is @likely; else the first when it is smaller than both others, else the last. */
gboolean sl_picture_shape_find (SlPictureShape *shape, const SlTensorInfo *tensor, guint likely);
