/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loader is chosen by the kind that picture_header.c found, so no other loader of this machine
 * sees the bytes. Its size is checked again when it states it, since a file can state two.
 */
#include "tools/picture_load.h"

#include "core/base/fail.h"
#include "plugins/video/exif_chunks.h"

static const char *const names[] = {
  [SL_PICTURE_PNG] = "png",   [SL_PICTURE_JPEG] = "jpeg", [SL_PICTURE_GIF] = "gif",
  [SL_PICTURE_TIFF] = "tiff", [SL_PICTURE_WEBP] = "webp", [SL_PICTURE_BMP] = "bmp",
  [SL_PICTURE_PNM] = "pnm"
};

/* @rows: how many rows of the picture have pixels so far */
typedef struct
{
  guint64 most;
  int width, height, rows;
  gboolean too_large;
} Progress;

/* A size of 0 makes the loader stop. */
static void
on_size (GdkPixbufLoader *loader, int width, int height, gpointer data)
{
  Progress *progress = data;
  progress->width = width;
  progress->height = height;
  progress->too_large = (guint64) width * (guint64) height > progress->most;
  if (progress->too_large)
    gdk_pixbuf_loader_set_size (loader, 0, 0);
}

static void
on_rows (GdkPixbufLoader *loader, int x, int y, int width, int height, gpointer data)
{
  Progress *progress = data;
  progress->rows = MAX (progress->rows, y + height);
}

/* GdkPixbuf reads no EXIF of PNG files, and not all versions of its WebP loader read theirs. */
static void
note_orientation (GdkPixbufAnimation *animation, const SlPictureHeader *header, const guint8 *bytes,
                  gsize n)
{
  if (header->kind != SL_PICTURE_PNG && header->kind != SL_PICTURE_WEBP)
    return;
  SlExifChunks chunks = { .file = header->kind == SL_PICTURE_PNG ? SL_EXIF_PNG : SL_EXIF_WEBP };
  g_autofree char *number = g_strdup_printf ("%u", sl_exif_chunks_read (&chunks, bytes, n));
  sl_exif_chunks_clear (&chunks);
  if (gdk_pixbuf_animation_is_static_image (animation))
    gdk_pixbuf_set_option (gdk_pixbuf_animation_get_static_image (animation), "orientation",
                           number);
}

static GdkPixbufAnimation *
load (const SlPictureHeader *header, const guint8 *bytes, gsize n, Progress *progress,
      GError **error)
{
  g_autoptr (GError) cause = NULL;
  const char *name = header->kind < G_N_ELEMENTS (names) ? names[header->kind] : NULL;
  g_autoptr (GdkPixbufLoader) loader =
    name != NULL ? gdk_pixbuf_loader_new_with_type (name, &cause) : NULL;
  if (loader == NULL)
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "GdkPixbuf has no loader for this kind of picture%s",
                         header->kind == SL_PICTURE_WEBP ? ": install webp-pixbuf-loader" : "");
  g_signal_connect (loader, "size-prepared", G_CALLBACK (on_size), progress);
  g_signal_connect (loader, "area-updated", G_CALLBACK (on_rows), progress);
  const gboolean written = gdk_pixbuf_loader_write (loader, bytes, n, &cause);
  const gboolean closed = gdk_pixbuf_loader_close (loader, written ? &cause : NULL);
  if (progress->too_large)
    return sl_fail_null (error, SL_ERROR_LIMIT, "it has %dx%d pixels", progress->width,
                         progress->height);
  GdkPixbufAnimation *animation =
    written && closed ? gdk_pixbuf_loader_get_animation (loader) : NULL;
  if (animation == NULL)
    return sl_fail_null (error, SL_ERROR_FORMAT, "%s",
                         cause != NULL ? cause->message : "there is no picture in it");
  note_orientation (animation, header, bytes, n);
  return g_object_ref (animation);
}

GdkPixbufAnimation *
sl_picture_load (const SlPictureHeader *header, const guint8 *bytes, gsize n, guint64 most,
                 GError **error)
{
  Progress progress = { .most = most };
  return load (header, bytes, n, &progress, error);
}

GdkPixbuf *
sl_picture_load_upright (const SlPictureHeader *header, const guint8 *bytes, gsize n, guint64 most,
                         GError **error)
{
  Progress progress = { .most = most };
  g_autoptr (GdkPixbufAnimation) animation = load (header, bytes, n, &progress, error);
  GdkPixbuf *still = animation != NULL ? gdk_pixbuf_animation_get_static_image (animation) : NULL;
  if (animation == NULL)
    return NULL;
  if (still == NULL || progress.rows < progress.height)
    return sl_fail_null (error, SL_ERROR_FORMAT, "only %d of %d rows are there", progress.rows,
                         progress.height);
  GdkPixbuf *upright = gdk_pixbuf_apply_embedded_orientation (still);
  return upright != NULL ? upright : g_object_ref (still);
}
