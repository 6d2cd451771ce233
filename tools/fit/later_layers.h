/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the layers behind the first one tell of the pixels that a model was trained with. */
#pragma once

#include "tools/fit/layer.h"

typedef struct _SlLaterLayers SlLaterLayers;

/** sl_later_layers_new: (nullable): the first convolutions of floats with a bias of @graph, behind
 * the one that reads the picture; @graph must outlive them. NULL where there is none, or no memory.
 */
SlLaterLayers *sl_later_layers_new (SlGraph *graph, guint threads);
void sl_later_layers_free (SlLaterLayers *layers);
/** sl_later_layers_forget: the pictures so far. */
void sl_later_layers_forget (SlLaterLayers *layers);
/** sl_later_layers_see: a picture as the model's input. */
gboolean sl_later_layers_see (SlLaterLayers *layers, const void *tensor, GError **error);
/** sl_later_layers_off: how far their biases are from what the pictures seen make of their inputs,
 * at least 0: of each layer the logarithm of the likelihood, added. */
gdouble sl_later_layers_off (const SlLaterLayers *layers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlLaterLayers, sl_later_layers_free)
