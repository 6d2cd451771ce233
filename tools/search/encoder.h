/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Embeddings of pictures and of parts of them, by a picture model such as CLIP's. One thread at a
 * time. A build without GdkPixbuf has these functions, too, and refuses.
 */
#pragma once

#include <glib.h>

#include "models/settings.h"

/** Bytes and pixels of a picture. */
#define SL_SEARCH_PICTURE_BYTES (64 << 20)
#define SL_SEARCH_PICTURE_PIXELS 50000000

typedef struct _SlSearchEncoder SlSearchEncoder;
typedef struct _SlSearchPicture SlSearchPicture;

/** sl_search_encoder_new: NULL with @error set where the model makes no embeddings. */
SlSearchEncoder *sl_search_encoder_new (const SlModelSettings *settings, GError **error);
void sl_search_encoder_free (SlSearchEncoder *encoder);
/** sl_search_encoder_hash: (transfer none): of the model's file, of its key file, and of what
 * @settings state of it. */
const char *sl_search_encoder_hash (const SlSearchEncoder *encoder);
guint sl_search_encoder_length (const SlSearchEncoder *encoder);
/** sl_search_encoder_run: (transfer full): @box: (nullable): x, y, width and height in 0..1 of the
 * part; NULL with @error set. */
gfloat *sl_search_encoder_run (SlSearchEncoder *encoder, const SlSearchPicture *picture,
                               const gdouble box[4], GError **error);

/** sl_search_picture_new: decodes the picture file @bytes. NULL with @error set. */
SlSearchPicture *sl_search_picture_new (GBytes *bytes, GError **error);
/** sl_search_picture_load: the same of the file @path. */
SlSearchPicture *sl_search_picture_load (const char *path, GError **error);
void sl_search_picture_free (SlSearchPicture *picture);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlSearchEncoder, sl_search_encoder_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlSearchPicture, sl_search_picture_free)
