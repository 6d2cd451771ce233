/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A gallery: names with their embeddings, from a JSON file {"anna": [[0.1, ...], ...], ...}. It
 * finds the names that are most similar to an embedding, by the cosine of the angle between them.
 */
#pragma once

#include "postprocess/result.h"
#include "postprocess/topk.h"

typedef struct _SlGallery SlGallery;

/** sl_gallery_load: of vectors with @length numbers, at least 1; they need not be of length 1.
 * Errors begin with @path: a file that is missing, no JSON, too large, or has vectors of another
 * length, with numbers that are not finite, or that are all 0. */
SlGallery *sl_gallery_load (const char *path, guint length, GError **error);
void sl_gallery_free (SlGallery *gallery);
/** sl_gallery_names: in the order of the file, then NULL; interned, for galleries that stay as they
 * are. */
const char *const *sl_gallery_names (SlGallery *gallery);
/** sl_gallery_search: into @top, best first, each name (its place as index) whose most similar
 * vector has a cosine of at least @threshold with @vector, which is of length 1. One thread at a
 * time; allocates nothing. */
void sl_gallery_search (SlGallery *gallery, const gfloat *vector, gfloat threshold, SlTopK *top);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlGallery, sl_gallery_free)
