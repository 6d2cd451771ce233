/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A build without GdkPixbuf decodes no pictures, so it makes no embeddings of them. */
#include "tools/search/encoder.h"

#include "core/base/fail.h"

static gpointer
refuse (GError **error)
{
  return sl_fail_null (
    error, SL_ERROR_UNSUPPORTED,
    "this build decodes no pictures: expected GdkPixbuf when it was made (Debian: "
    "libgdk-pixbuf-2.0-dev)");
}

SlSearchEncoder *
sl_search_encoder_new (const SlModelSettings *settings, GError **error)
{
  return refuse (error);
}

void
sl_search_encoder_free (SlSearchEncoder *encoder)
{
}

const char *
sl_search_encoder_hash (const SlSearchEncoder *encoder)
{
  g_return_val_if_reached (NULL);
}

guint
sl_search_encoder_length (const SlSearchEncoder *encoder)
{
  g_return_val_if_reached (0);
}

gfloat *
sl_search_encoder_run (SlSearchEncoder *encoder, const SlSearchPicture *picture,
                       const gdouble box[4], GError **error)
{
  return refuse (error);
}

SlSearchPicture *
sl_search_picture_new (GBytes *bytes, GError **error)
{
  return refuse (error);
}

SlSearchPicture *
sl_search_picture_load (const char *path, GError **error)
{
  return refuse (error);
}

void
sl_search_picture_free (SlSearchPicture *picture)
{
}
