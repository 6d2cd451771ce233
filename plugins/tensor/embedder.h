/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * SlEmbedder: how objects of a frame look: a model runs on the part of the frame in each box, read
 * in place, and makes an embedding. For sltrack, and for sightline check. One thread at a time.
 */
#pragma once

#include <glib.h>

#include "core/base/affine.h"
#include "postprocess/predictions/track.h"
#include "preprocess/image.h"

typedef struct _SlEmbedder SlEmbedder;

/**
 * sl_embedder_new:
 * @model: path of the model, or zoo:NAME
 * @settings: (nullable): "NAME=VALUE NAME=VALUE ...", with quotes as in a shell: settings of the
 * input and of what runs the model
 * @batch: most boxes that run at once, 1..64; fewer where the model is faster so, or cannot do it
 *
 * Returns: (transfer full): NULL with @error set where the settings are not such, or the model does
 * not make one vector of one picture
 */
SlEmbedder *sl_embedder_new (const char *model, const char *settings, guint batch, GError **error);
/** sl_embedder_free: NULL is legal. */
void sl_embedder_free (SlEmbedder *self);
/** sl_embedder_model: (transfer none): the path of the model. */
const char *sl_embedder_model (const SlEmbedder *self);
/** sl_embedder_hash: (transfer full): SHA-256 of the model's file. NULL with @error set. */
char *sl_embedder_hash (const SlEmbedder *self, GError **error);
/** sl_embedder_length: how many numbers an embedding has. */
guint sl_embedder_length (const SlEmbedder *self);
/** sl_embedder_take_notice: (transfer full) (nullable): once: a sentence where something else runs
 * the model than was asked for. */
char *sl_embedder_take_notice (SlEmbedder *self);
/** sl_embedder_set_image: frames are such from now on. FALSE with @error set. */
gboolean sl_embedder_set_image (SlEmbedder *self, const SlImageInfo *image, GError **error);
/** sl_embedder_aspect: width by height of the picture that the model takes. */
double sl_embedder_aspect (const SlEmbedder *self);
/** sl_embedder_run: the embeddings of the boxes @chosen, @n places in @boxes, one after another to
 * @embeddings. A box with nothing inside the frame gets zeros. Allocates nothing. FALSE with @error
 * set when the model fails.
 *  @parts: (nullable): @n turned parts of the frame that show the objects upright, in place of
 * their boxes; of the width 0: the box */
gboolean sl_embedder_run (SlEmbedder *self, const SlImage *image, const SlTrackBox *boxes,
                          const SlTurnedRect *parts, const guint *chosen, guint n,
                          gfloat *embeddings, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlEmbedder, sl_embedder_free)
