/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A gallery: names with their embeddings, from a JSON file {"anna": [[0.1, ...], ...], ...}. It
 * finds the names that are most similar to an embedding, by the cosine of the angle between them. A
 * member
 * "@model" may say which model made the embeddings.
 */
#pragma once

#include "postprocess/result.h"
#include "postprocess/topk.h"

/** The member with the name of the model; names of people do not begin with its first character. */
#define SL_GALLERY_MODEL "@model"

typedef struct _SlGallery SlGallery;

/** sl_gallery_load: of vectors with @length numbers, at least 1; they need not be of length 1.
 * Errors begin with @path: a file that is missing, no JSON, too large, or has vectors of another
 * length, with numbers that are not finite, or that are all 0. */
SlGallery *sl_gallery_load (const char *path, guint length, GError **error);
/** sl_gallery_open: likewise; without names where there is no file, or no name in it. */
SlGallery *sl_gallery_open (const char *path, guint length, GError **error);
void sl_gallery_free (SlGallery *gallery);
/** sl_gallery_model: (nullable): which model made the embeddings, as the file says. */
const char *sl_gallery_model (const SlGallery *gallery);
/** sl_gallery_names: in the order of the file, then NULL; interned, for galleries that stay as they
 * are. */
const char *const *sl_gallery_names (SlGallery *gallery);
guint sl_gallery_n_names (const SlGallery *gallery);
/** sl_gallery_name: name number @i, until the gallery changes. */
const char *sl_gallery_name (const SlGallery *gallery, guint i);
/** sl_gallery_set: gives @name its @n vectors, each of length 1, in place of those that it had.
 * Returns whether it had any. */
gboolean sl_gallery_set (SlGallery *gallery, const char *name, const gfloat *vectors, guint n);
/** sl_gallery_remove: FALSE where there is no such name. */
gboolean sl_gallery_remove (SlGallery *gallery, const char *name);
/** sl_gallery_write: (transfer full): the file, with @model in it. */
GString *sl_gallery_write (const SlGallery *gallery, const char *model);
/** sl_gallery_search: into @top, best first, each name (its place as index) whose most similar
 * vector has a cosine of at least @threshold with @vector, which is of length 1. One thread at a
 * time; allocates nothing. */
void sl_gallery_search (SlGallery *gallery, const gfloat *vector, gfloat threshold, SlTopK *top);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlGallery, sl_gallery_free)
