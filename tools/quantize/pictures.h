/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures of folders as tensors of a model, decoded by a process of its own. */
#pragma once

#include <gst/gst.h>

#include "preprocess/normalize.h"
#include "tools/predict/inputs.h"
#include "tools/predict/spawner.h"

typedef struct _SlPictures SlPictures;

/** sl_pictures_new: after gst_init(); @command: for complaints; @spec: a size of 0 of its crop is
 * up to the frame's edge; @spawner must outlive it. */
SlPictures *sl_pictures_new (const char *command, SlSpawner *spawner, const SlNormalizeSpec *spec,
                             gsize tensor_bytes);
void sl_pictures_free (SlPictures *pictures);
/** sl_pictures_set_spec: pictures that are loaded from now on become other tensors, of the same
 * size. */
void sl_pictures_set_spec (SlPictures *pictures, const SlNormalizeSpec *spec);
/** sl_pictures_load: (transfer none) (nullable): the tensor of @input, valid until the next call;
 * NULL, having complained, for one that cannot be read, and without complaint when the program was
 * interrupted. */
const void *sl_pictures_load (SlPictures *pictures, const SlInput *input);

/** sl_pictures_load_frame: the same of a frame, which does not complain. */
const void *sl_pictures_load_frame (SlPictures *pictures, GstSample *frame, GError **error);

/** sl_pictures_map: of the picture that was loaded last: tensor pixels -> pixels of the picture,
 * whose size is that. */
void sl_pictures_map (const SlPictures *pictures, SlAffine *map, gint *width, gint *height);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPictures, sl_pictures_free)
