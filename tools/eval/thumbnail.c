/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/thumbnail.h"

#include "config.h"

#ifdef SL_HAVE_GDK_PIXBUF
#include <gdk-pixbuf/gdk-pixbuf.h>

/* Longest side, pixels: sharp on screens with two pixels a point. */
#define SIDE 560

char *
sl_thumbnail_new (const char *image)
{
  gsize size;
  g_autofree guchar *data = g_base64_decode (image, &size);
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data (data, (gssize) size, NULL);
  g_autoptr (GdkPixbuf) large = gdk_pixbuf_new_from_stream (stream, NULL, NULL);
  const int width = large != NULL ? gdk_pixbuf_get_width (large) : 0,
            height = large != NULL ? gdk_pixbuf_get_height (large) : 0;
  if (MAX (width, height) <= SIDE)
    return g_strdup (image);
  const gdouble scale = (gdouble) SIDE / MAX (width, height);
  g_autoptr (GdkPixbuf) small = gdk_pixbuf_scale_simple (
    large, MAX ((int) (width * scale), 1), MAX ((int) (height * scale), 1), GDK_INTERP_BILINEAR);
  g_autofree char *jpeg = NULL;
  if (small == NULL
      || !gdk_pixbuf_save_to_buffer (small, &jpeg, &size, "jpeg", NULL, "quality", "85", NULL))
    return g_strdup (image);
  return g_base64_encode ((const guchar *) jpeg, size);
}
#else
char *
sl_thumbnail_new (const char *image)
{
  return g_strdup (image);
}
#endif
