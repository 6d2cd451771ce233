/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GdkPixbuf repeats a GIF as often as it asks to be, so its frames are counted first
 * (picture_header.h).
 */
#include "config.h"
#include "tools/picture_file.h"

#include "core/base/fail.h"

gboolean
sl_picture_file_takes (const SlPictureHeader *header)
{
  return header->kind == SL_PICTURE_GIF || header->kind == SL_PICTURE_TIFF
         || (header->kind == SL_PICTURE_JPEG && header->channels == 4)
         || (header->kind == SL_PICTURE_PNG && header->channels == 3 && header->bits == 16);
}

/* As a user knows it. */
static const char *
describe (const SlPictureHeader *header)
{
  return header->kind == SL_PICTURE_GIF    ? "a GIF picture"
         : header->kind == SL_PICTURE_TIFF ? "a TIFF picture"
         : header->kind == SL_PICTURE_JPEG ? "a JPEG picture of four colours (CMYK)"
                                           : "a PNG picture of 16 bits";
}

gboolean
sl_picture_file_check_stream (const SlPictureHeader *header, GError **error)
{
  if (!sl_picture_file_takes (header))
    return TRUE;
  return sl_fail (error, SL_ERROR_UNSUPPORTED,
                  "%s is decoded from a file alone: save it, and name the file", describe (header));
}

#ifdef SL_HAVE_GDK_PIXBUF
#include <gst/video/video.h>
#include <string.h>

#include "tools/picture_load.h"

/* The time of a frame that states none, in milliseconds; browsers show it as long. */
#define USUAL_DELAY 100

/* GTimeVal, which GdkPixbuf takes and GLib marks as deprecated. */
typedef struct
{
  glong seconds, microseconds;
} Clock;
G_STATIC_ASSERT (sizeof (Clock) == 2 * sizeof (glong));

struct _SlPictureFile
{
  GdkPixbuf *still;              /* (nullable): of what does not move */
  GdkPixbufAnimation *animation; /* (nullable) */
  GdkPixbufAnimationIter *iter;  /* (nullable): of what moves */
  Clock clock;                   /* of the iterator, from 0 on */
  guint left;                    /* frames */
  guint rate_n, rate_d;
  GstClockTime time;
};

/* FALSE with @error (nullable) set. The tiles of TIFF are read from files alone, not from memory.
 */
static gboolean
load (SlPictureFile *file, const SlPictureHeader *header, const char *path, const guint8 *bytes,
      gsize n, GError **error)
{
  if (header->kind == SL_PICTURE_TIFF) {
    file->still = gdk_pixbuf_new_from_file (path, error);
    return file->still != NULL;
  }
  file->animation = sl_picture_load (header, bytes, n, SL_PICTURE_MAX_PIXELS, error);
  if (file->animation == NULL)
    return FALSE;
  if (gdk_pixbuf_animation_is_static_image (file->animation)) {
    file->still = g_object_ref (gdk_pixbuf_animation_get_static_image (file->animation));
  } else {
    file->left = MAX (header->frames, 1);
    file->iter = gdk_pixbuf_animation_get_iter (file->animation, (gconstpointer) &file->clock);
  }
  return TRUE;
}

SlPictureFile *
sl_picture_file_open (const SlPictureHeader *header, const char *path, const guint8 *bytes, gsize n,
                      GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (SlPictureFile) file = g_new0 (SlPictureFile, 1);
  file->left = 1;
  file->rate_d = 1;
  if (header->kind == SL_PICTURE_TIFF && (header->width == 0 || header->height == 0))
    sl_fail (&cause, SL_ERROR_FORMAT, "it states no size");
  else if (load (file, header, path, bytes, n, &cause))
    return g_steal_pointer (&file);
  return sl_fail_null (
    error, SL_ERROR_FORMAT,
    "%s cannot be decoded: %s; it is damaged, or of a variety that GdkPixbuf does not read: "
    "convert it to PNG",
    describe (header), cause != NULL ? cause->message : "there is no picture in it");
}

void
sl_picture_file_close (SlPictureFile *file)
{
  if (file == NULL)
    return;
  g_clear_object (&file->iter);
  g_clear_object (&file->animation);
  g_clear_object (&file->still);
  g_free (file);
}

static GstSample *
make_sample (const SlPictureFile *file, GdkPixbuf *pixels, guint delay)
{
  GstVideoInfo info;
  GstMapInfo map;
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_video_info_set_format (
    &info, gdk_pixbuf_get_has_alpha (pixels) ? GST_VIDEO_FORMAT_RGBA : GST_VIDEO_FORMAT_RGB,
    (guint) gdk_pixbuf_get_width (pixels), (guint) gdk_pixbuf_get_height (pixels));
  info.fps_n = (gint) file->rate_n;
  info.fps_d = (gint) file->rate_d;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  const gsize stride = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&info, 0),
              row = (gsize) info.width * (gsize) gdk_pixbuf_get_n_channels (pixels);
  for (gint y = 0; y < info.height; y++)
    memcpy (map.data + stride * (gsize) y,
            gdk_pixbuf_read_pixels (pixels) + (gsize) gdk_pixbuf_get_rowstride (pixels) * (gsize) y,
            row);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = file->time;
  if (delay > 0)
    GST_BUFFER_DURATION (buffer) = delay * GST_MSECOND;
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  GstSample *sample = gst_sample_new (buffer, caps, &segment, NULL);
  gst_buffer_unref (buffer);
  return sample;
}

static GstSample *
next_moving (SlPictureFile *file)
{
  const int stated = gdk_pixbuf_animation_iter_get_delay_time (file->iter);
  const guint delay = stated > 0 ? (guint) stated : USUAL_DELAY;
  if (file->rate_n == 0) {
    file->rate_n = 1000;
    file->rate_d = delay;
  }
  GstSample *sample = make_sample (file, gdk_pixbuf_animation_iter_get_pixbuf (file->iter), delay);
  file->time += delay * GST_MSECOND;
  const guint64 now = file->time / GST_USECOND;
  file->clock = (Clock){ (glong) (now / G_USEC_PER_SEC), (glong) (now % G_USEC_PER_SEC) };
  gdk_pixbuf_animation_iter_advance (file->iter, (gconstpointer) &file->clock);
  return sample;
}

GstSample *
sl_picture_file_next (SlPictureFile *file)
{
  if (file->left == 0)
    return NULL;
  file->left--;
  if (file->iter != NULL)
    return next_moving (file);
  g_autoptr (GdkPixbuf) upright = gdk_pixbuf_apply_embedded_orientation (file->still);
  return make_sample (file, upright != NULL ? upright : file->still, 0);
}
#else
SlPictureFile *
sl_picture_file_open (const SlPictureHeader *header, const char *path, const guint8 *bytes, gsize n,
                      GError **error)
{
  return sl_fail_null (
    error, SL_ERROR_UNSUPPORTED,
    "%s cannot be decoded: Sightline was built without GdkPixbuf; convert it to JPEG, or to PNG of "
    "8 bits",
    describe (header));
}

void
sl_picture_file_close (SlPictureFile *file)
{
}

GstSample *
sl_picture_file_next (SlPictureFile *file)
{
  return NULL;
}
#endif
