/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the frames of a camera that show a new scene: many frames of a scene that does not change
 * count as one picture.
 */
#ifndef SL_TOOLS_QUANTIZE_SCENES_H
#define SL_TOOLS_QUANTIZE_SCENES_H

#include <glib.h>

#include "preprocess/normalize.h"

typedef struct _SlScenes SlScenes;

/** sl_scenes_new: @spec: how the tensors are made, of float32. */
SlScenes *sl_scenes_new (const SlNormalizeSpec *spec);
void sl_scenes_free (SlScenes *scenes);
/** sl_scenes_add: whether @tensor differs from each of the last 4,096 that did: in 16 times 16
 * parts of the picture, one is lighter or darker by 10 of 255 or more. */
gboolean sl_scenes_add (SlScenes *scenes, const void *tensor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlScenes, sl_scenes_free)

#endif
