/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the first layer of a model tells of the pixels that it was trained with. */
#pragma once

#include "tools/fit/layer.h"

typedef struct _SlFirstLayer SlFirstLayer;

/** sl_first_layer_new: (nullable): the convolution with a bias that reads the picture, its first
 * input, of @graph; NULL where there is none of floats. */
SlFirstLayer *sl_first_layer_new (SlGraph *graph);
void sl_first_layer_free (SlFirstLayer *layer);
/** sl_first_layer_forget: the pictures so far. */
void sl_first_layer_forget (SlFirstLayer *layer);
/** sl_first_layer_see: a picture as the model's input. */
void sl_first_layer_see (SlFirstLayer *layer, const gfloat *tensor);
/** sl_first_layer_fit: of the pictures seen, in values whose usual mean is @mean: that of these
 * pictures is too much by chance. */
void sl_first_layer_fit (const SlFirstLayer *layer, gdouble mean, SlLayerFit *fit);
/** sl_first_layer_norm: the logarithm, at most 0, of how well the sums of the pictures seen are as
 * batch normalisation had them in training; NAN where the file keeps none. */
gdouble sl_first_layer_norm (const SlFirstLayer *layer);
/** sl_first_layer_lean: the logarithm of how much more its filters look at the first channel than
 * at the last. Red tells more than blue, which is noisy and dark in photographs, so that it is
 * above 0 in RGB. 0 of gray. */
gdouble sl_first_layer_lean (const SlFirstLayer *layer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlFirstLayer, sl_first_layer_free)
