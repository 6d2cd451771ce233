/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Segmentations have a picture of their own, of any size, that lies anywhere on the frame: cells
 * take the pixel under their middle.
 */
#include "config.h"
#include "plugins/meta/relations/masks.h"

#ifdef SL_HAVE_SEGMENTATION_MTD
#include <gst/analytics/analytics.h>
#include <string.h>

#include "plugins/video/frame.h"

/* Most cells each way, of an object and of a frame; and pixels of a picture. */
#define MAX_OBJECT_SIDE 512
#define MAX_FRAME_SIDE 1024
#define MAX_PICTURE_SIDE 8192

typedef struct
{
  GstAnalyticsSegmentationMtd entry;
  GstBuffer *buffer;
  GstVideoFrame frame;
  gint x, y;
  guint w, h; /* on the frame, in pixels */
} Picture;

static gboolean
open_picture (Picture *picture, gpointer relations, guint id)
{
  GstVideoInfo video;
  if (!gst_analytics_relation_meta_get_segmentation_mtd (relations, id, &picture->entry))
    return FALSE;
  picture->buffer = gst_analytics_segmentation_mtd_get_mask (&picture->entry, &picture->x,
                                                             &picture->y, &picture->w, &picture->h);
  const GstVideoMeta *meta =
    picture->buffer != NULL ? gst_buffer_get_video_meta (picture->buffer) : NULL;
  if (meta != NULL && meta->format == GST_VIDEO_FORMAT_GRAY8 && meta->width > 0
      && meta->width <= MAX_PICTURE_SIDE && meta->height > 0 && meta->height <= MAX_PICTURE_SIDE
      && picture->w > 0 && picture->h > 0
      && gst_video_info_set_format (&video, meta->format, meta->width, meta->height)
      && sl_video_frame_map (&picture->frame, &video, picture->buffer, GST_MAP_READ, NULL))
    return TRUE;
  gst_clear_buffer (&picture->buffer);
  return FALSE;
}

static void
close_picture (Picture *picture)
{
  gst_video_frame_unmap (&picture->frame);
  gst_clear_buffer (&picture->buffer);
}

/* The pixel at @x, @y of the frame; -1 where the picture does not lie. */
static gint
pixel_at (const Picture *picture, double x, double y)
{
  const double column = (x - picture->x) * GST_VIDEO_FRAME_WIDTH (&picture->frame) / picture->w;
  const double row = (y - picture->y) * GST_VIDEO_FRAME_HEIGHT (&picture->frame) / picture->h;
  if (!(column >= 0) || !(row >= 0) || column >= GST_VIDEO_FRAME_WIDTH (&picture->frame)
      || row >= GST_VIDEO_FRAME_HEIGHT (&picture->frame))
    return -1;
  return ((const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (
    &picture->frame,
    0))[(gint) row * GST_VIDEO_FRAME_PLANE_STRIDE (&picture->frame, 0) + (gint) column];
}

/* As many cells over @length pixels of the frame as a picture of @pixels over @extent has there. */
static guint
count_cells (gint length, gint pixels, guint extent, guint most)
{
  const double cells = (double) length * pixels / extent;
  return (guint) CLAMP (cells + 0.5, 1, MIN ((guint) length, most));
}

static gboolean
read_object (const Picture *picture, const SlObjectView *object, GByteArray *cells,
             SlObjectMask *mask)
{
  const guint width =
    count_cells (object->w, GST_VIDEO_FRAME_WIDTH (&picture->frame), picture->w, MAX_OBJECT_SIDE);
  const guint height =
    count_cells (object->h, GST_VIDEO_FRAME_HEIGHT (&picture->frame), picture->h, MAX_OBJECT_SIDE);
  guint n = cells->len;
  if ((gsize) n + (gsize) width * height > SL_MAX_OBJECT_CELLS)
    return FALSE;
  g_byte_array_set_size (cells, n + width * height);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      cells->data[n++] = pixel_at (picture, object->x + (x + 0.5) * object->w / width,
                                   object->y + (y + 0.5) * object->h / height)
                             > 0
                           ? 255
                           : 0;
  *mask = (SlObjectMask){ width, height, NULL };
  return TRUE;
}

gboolean
sl_segmentation_read_object (gpointer relations, guint id, const SlObjectView *object,
                             GByteArray *cells, SlObjectMask *mask)
{
  Picture picture;
  if (object->w <= 0 || object->h <= 0 || !open_picture (&picture, relations, id))
    return FALSE;
  const gboolean read = read_object (&picture, object, cells, mask);
  close_picture (&picture);
  return read;
}

/* The classes of pixels, and what they are called; returns the background. */
static gint
read_classes (const Picture *picture, gpointer relations, guint8 classes[256], const char **names)
{
  GstAnalyticsClsMtd labels;
  gpointer state = NULL;
  gint background = SL_NO_BACKGROUND;
  const gsize n = gst_analytics_segmentation_mtd_get_region_count (&picture->entry);
  memset (classes, SL_MASK_VOID, 256);
  memset (names, 0, 256 * sizeof *names);
  for (gsize i = 0; i < MIN (n, SL_MASK_VOID); i++) {
    const guint region = gst_analytics_segmentation_mtd_get_region_id (&picture->entry, i);
    if (region < 256)
      classes[region] = (guint8) i;
  }
  if (!gst_analytics_relation_meta_get_direct_related (
        relations, picture->entry.id, GST_ANALYTICS_REL_TYPE_ANY,
        gst_analytics_cls_mtd_get_mtd_type (), &state, &labels))
    return classes[0] != SL_MASK_VOID ? classes[0] : SL_NO_BACKGROUND;
  for (gsize i = 0; i < MIN (gst_analytics_cls_mtd_get_length (&labels), SL_MASK_VOID); i++) {
    const GQuark name = gst_analytics_cls_mtd_get_quark (&labels, i);
    names[i] = name != 0 ? g_quark_to_string (name) : NULL;
    if (names[i] != NULL && strcmp (names[i], "background") == 0)
      background = (gint) i;
  }
  return background;
}

gboolean
sl_segmentation_read_frame (gpointer relations, guint id, gint width, gint height,
                            GByteArray *cells, SlClassMask *mask, const char **names)
{
  Picture picture;
  guint8 classes[256];
  if (width <= 0 || height <= 0 || !open_picture (&picture, relations, id))
    return FALSE;
  const guint columns =
    count_cells (width, GST_VIDEO_FRAME_WIDTH (&picture.frame), picture.w, MAX_FRAME_SIDE);
  const guint rows =
    count_cells (height, GST_VIDEO_FRAME_HEIGHT (&picture.frame), picture.h, MAX_FRAME_SIDE);
  const gint background = read_classes (&picture, relations, classes, names);
  g_byte_array_set_size (cells, columns * rows);
  for (guint y = 0; y < rows; y++)
    for (guint x = 0; x < columns; x++) {
      const gint pixel =
        pixel_at (&picture, (x + 0.5) * width / columns, (y + 0.5) * height / rows);
      cells->data[y * columns + x] = pixel >= 0 ? classes[pixel] : SL_MASK_VOID;
    }
  *mask = (SlClassMask){ columns, rows, cells->data, background };
  close_picture (&picture);
  return TRUE;
}

#else

gboolean
sl_segmentation_read_object (gpointer relations, guint id, const SlObjectView *object,
                             GByteArray *cells, SlObjectMask *mask)
{
  return FALSE;
}

gboolean
sl_segmentation_read_frame (gpointer relations, guint id, gint width, gint height,
                            GByteArray *cells, SlClassMask *mask, const char **names)
{
  return FALSE;
}

#endif
