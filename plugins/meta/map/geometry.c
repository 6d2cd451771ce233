/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * There is one function for each element. It reads the element's current properties.
 */
#include "plugins/meta/map/geometry.h"

typedef struct
{
  const GstVideoInfo *from, *to;
  GstVideoOrientationMethod tagged;
} Frames;

/* Pixels cut off in front of the first, of @front and @back; -1 is what the sizes leave. */
static gint
cut_of (gint front, gint back, gint from, gint to)
{
  const gint all = from - to;
  return front >= 0 ? front : back >= 0 ? all - back : all / 2;
}

/* videocrop */
static void
find_crop (GstElement *element, const Frames *frames, SlAffine *affine)
{
  gint left, right, top, bottom;
  g_object_get (element, "left", &left, "right", &right, "top", &top, "bottom", &bottom, NULL);
  affine->x0 = cut_of (left, right, frames->from->width, frames->to->width);
  affine->y0 = cut_of (top, bottom, frames->from->height, frames->to->height);
}

/* videobox: less than 0 is a border */
static void
find_box (GstElement *element, const Frames *frames, SlAffine *affine)
{
  gint left, top;
  g_object_get (element, "left", &left, "top", &top, NULL);
  affine->x0 = left;
  affine->y0 = top;
}

/* videoflip and glvideoflip; of the latter "method" is the name. */
static void
find_flip (GstElement *element, const Frames *frames, SlAffine *affine)
{
  const gboolean has_direction =
    g_object_class_find_property (G_OBJECT_GET_CLASS (element), "video-direction") != NULL;
  gint method = GST_VIDEO_ORIENTATION_IDENTITY;
  g_object_get (element, has_direction ? "video-direction" : "method", &method, NULL);
  if (method == GST_VIDEO_ORIENTATION_AUTO)
    method = frames->tagged;
  const SlRect whole = { 0, 0, frames->from->width, frames->from->height };
  if (method >= 0 && method <= GST_VIDEO_ORIENTATION_UR_LL)
    sl_affine_view (affine, SL_FIT_STRETCH, (SlOrientation) method, &whole, frames->to->width,
                    frames->to->height);
}

/* videoscale: borders where the shape changes, in whole pixels as GStreamer makes them. */
static void
find_scale (GstElement *element, const Frames *frames, SlAffine *affine)
{
  const GstVideoInfo *from = frames->from, *to = frames->to;
  gint from_n, from_d, n, d, width = to->width, height = to->height;
  gboolean borders = FALSE;
  g_object_get (element, "add-borders", &borders, NULL);
  if (borders
      && gst_util_fraction_multiply (from->width, from->height, from->par_n, from->par_d, &from_n,
                                     &from_d)
      && gst_util_fraction_multiply (from_n, from_d, to->par_d, to->par_n, &n, &d)) {
    const gint fitting = (gint) gst_util_uint64_scale_int ((guint64) to->width, d, n);
    if (fitting <= to->height)
      height = fitting;
    else
      width = (gint) gst_util_uint64_scale_int ((guint64) to->height, n, d);
  }
  affine->xx = (double) from->width / MAX (width, 1);
  affine->yy = (double) from->height / MAX (height, 1);
  affine->x0 = -affine->xx * ((to->width - width) / 2);
  affine->y0 = -affine->yy * ((to->height - height) / 2);
}

static const struct
{
  const char *factory;
  void (*find) (GstElement *element, const Frames *frames, SlAffine *affine);
} elements[] = {
  { "videocrop", find_crop },   { "videobox", find_box },     { "videoflip", find_flip },
  { "glvideoflip", find_flip }, { "videoscale", find_scale }, { "videoconvertscale", find_scale },
};

/* -1: none of them */
static gint
find_row (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  for (guint i = 0; i < G_N_ELEMENTS (elements) && factory != NULL; i++)
    if (g_str_equal (GST_OBJECT_NAME (factory), elements[i].factory))
      return (gint) i;
  return -1;
}

SlGeometryKind
sl_geometry_kind (GstElement *element)
{
  const GType bending = g_type_from_name ("GstGeometricTransform");
  if (bending != 0 && g_type_is_a (G_OBJECT_TYPE (element), bending))
    return SL_GEOMETRY_BENT;
  return find_row (element) >= 0 ? SL_GEOMETRY_KNOWN : SL_GEOMETRY_NONE;
}

void
sl_geometry_find (GstElement *element, const GstVideoInfo *from, const GstVideoInfo *to,
                  GstVideoOrientationMethod tagged, SlAffine *affine)
{
  const gint row = find_row (element);
  sl_affine_identity (affine);
  if (row >= 0)
    elements[row].find (element, &(Frames){ from, to, tagged }, affine);
}
