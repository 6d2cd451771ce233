/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The people that `serve --faces` knows: a gallery that several workers may share, and cameras with
 * slgallery, too. Each change is on the disk before it is answered. Any thread.
 */
#pragma once

#include <glib.h>

#include "tools/serve/serving.h"

/** Pictures of a person. */
#define SL_FACE_PICTURES 6

typedef struct _SlFaceGallery SlFaceGallery;

/** sl_face_gallery_new: of embeddings with @length numbers, which the model with the SHA-256 @model
 * makes. A file that is missing is made. NULL with @error set where the file cannot be read, or is
 * of another model. */
SlFaceGallery *sl_face_gallery_new (const SlServeFaces *faces, guint length, const char *model,
                                    GError **error);
/** sl_face_gallery_free: NULL is legal. */
void sl_face_gallery_free (SlFaceGallery *gallery);
/** sl_face_gallery_set: gives @name these @n embeddings, of length 1, in place of those that it
 * had. @known: (out): whether it had any. FALSE with @error set, and nothing changed. */
gboolean sl_face_gallery_set (SlFaceGallery *gallery, const char *name, const gfloat *vectors,
                              guint n, gboolean *known, GError **error);
/** sl_face_gallery_remove: @known: (out): whether there was such a person. FALSE with @error set.
 */
gboolean sl_face_gallery_remove (SlFaceGallery *gallery, const char *name, gboolean *known,
                                 GError **error);
/** sl_face_gallery_names: (transfer full); NULL with @error set where the file cannot be read. */
GStrv sl_face_gallery_names (SlFaceGallery *gallery, GError **error);
/** sl_face_gallery_find: (transfer full) (nullable): who is most similar to @vector, of length 1,
 * where their @cosine is at least @least. */
char *sl_face_gallery_find (SlFaceGallery *gallery, const gfloat *vector, gfloat least,
                            gfloat *cosine);
/** sl_face_gallery_refresh: reads the file again where another program has written it, and erases
 * what is too old. FALSE with @error set where it cannot be read; the people are those before. */
gboolean sl_face_gallery_refresh (SlFaceGallery *gallery, GError **error);
