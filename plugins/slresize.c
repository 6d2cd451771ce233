/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slresize: YUV frames -> smaller YUV frames of the same format, before queues and tees: crop,
 * turn, fit, scale.
 *
 * A GstBaseTransform and not a GstVideoFilter, because that maps frames before anyone could say
 * what is wrong with a buffer. Passthrough, with the very same buffers, when nothing is to do and
 * they are in system memory; linear DMABuf is mapped in place and read. Regions of interest and
 * relations move with the pixels. Invariant: a resizer exists exactly while caps are accepted.
 */
#include "plugins/elements.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/navigation.h>
#include <gst/video/video.h>

#include "core/base/fail.h"
#include "plugins/base/describe.h"
#include "plugins/video/dmabuf.h"
#include "plugins/meta/map/relations.h"
#include "plugins/base/properties.h"
#include "plugins/meta/map/regions.h"
#include "plugins/base/report.h"
#include "plugins/video/caps.h"
#include "plugins/video/frame.h"
#include "plugins/video/input.h"
#include "plugins/video/part.h"
#include "preprocess/resize.h"

GST_DEBUG_CATEGORY_STATIC (sl_resize_debug);
#define GST_CAT_DEFAULT sl_resize_debug

#define FORMATS "{ NV12, NV21, I420, YV12, YUY2, UYVY, Y42B, Y444, GRAY8, P010_10LE, I420_10LE }"
#define CAPS GST_VIDEO_CAPS_MAKE (FORMATS)

typedef struct
{
  gint width, height;
  SlRect crop; /* width or height 0 = up to the edge */
  gint fit, direction, filter, pad_value;
} Settings;

typedef struct
{
  GstBaseTransform parent;
  Settings settings;                /* object lock */
  GstVideoOrientationMethod tagged; /* object lock */
  gboolean changed;                 /* object lock: either since the last configuration */
  SlAffine affine;                  /* object lock: picture to frame, of the resizer made last */
  GstVideoInfo from, to;
  SlImageInfo from_image, to_image;
  SlResizer *resizer;
  gboolean refused;
} SlResize;

typedef GstBaseTransformClass SlResizeClass;

G_DEFINE_TYPE (SlResize, sl_resize, GST_TYPE_BASE_TRANSFORM)

#define AT(member) G_STRUCT_OFFSET (SlResize, settings.member)

static const SlProperty properties[] = {
  { "width", "Width",
    "Width of the result in pixels; 0 = from downstream's caps, else from height and the picture's "
    "aspect ratio",
    SL_PROPERTY_INT, AT (width), 0, SL_RESIZE_MAX_SIZE, 0, .live = TRUE },
  { "height", "Height",
    "Height of the result in pixels; 0 = from downstream's caps, else from width and the picture's "
    "aspect ratio",
    SL_PROPERTY_INT, AT (height), 0, SL_RESIZE_MAX_SIZE, 0, .live = TRUE },
  { "crop-x", "Crop x",
    "Left edge of the used part of the frame, in pixels before rotation; rounded down to a whole "
    "chroma sample",
    SL_PROPERTY_INT, AT (crop.x), 0, SL_RESIZE_MAX_SIZE, 0, .live = TRUE },
  { "crop-y", "Crop y",
    "Top edge of the used part of the frame, in pixels before rotation; rounded down to a whole "
    "chroma sample",
    SL_PROPERTY_INT, AT (crop.y), 0, SL_RESIZE_MAX_SIZE, 0, .live = TRUE },
  { "crop-width", "Crop width",
    "Width of the used part of the frame, before rotation; 0 = to the right edge", SL_PROPERTY_INT,
    AT (crop.width), 0, SL_RESIZE_MAX_SIZE, 0, .live = TRUE },
  { "crop-height", "Crop height",
    "Height of the used part of the frame, before rotation; 0 = to the bottom edge",
    SL_PROPERTY_INT, AT (crop.height), 0, SL_RESIZE_MAX_SIZE, 0, .live = TRUE },
  { "fit", "Fit", "How the picture is fitted if its aspect ratio differs from that of the result",
    SL_PROPERTY_CHOICE, AT (fit), 0, 0, SL_FIT_STRETCH, sl_resize_fit_get_type, TRUE },
  { "video-direction", "Video direction",
    "Orientation of the picture; auto = by the stream's image-orientation tag, which is then no "
    "longer forwarded; custom is refused",
    SL_PROPERTY_CHOICE, AT (direction), 0, 0, GST_VIDEO_ORIENTATION_AUTO,
    gst_video_orientation_method_get_type, TRUE },
  { "filter", "Filter", "Interpolation filter when the size changes", SL_PROPERTY_CHOICE,
    AT (filter), 0, 0, SL_FILTER_AUTO, sl_filter_get_type, TRUE },
  { "pad-value", "Pad value",
    "Luma of letterbox borders as stored in 8 bits, 0..255; their chroma is neutral",
    SL_PROPERTY_INT, AT (pad_value), 0, 255, 114, .live = TRUE },
};

static SlOrientation
orientation_of (SlResize *self)
{
  GST_OBJECT_LOCK (self);
  const SlOrientation orientation =
    sl_video_part_orientation (self->settings.direction, self->tagged);
  GST_OBJECT_UNLOCK (self);
  return orientation;
}

static Settings
settings_of (SlResize *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->settings;
}

static gboolean
exchanges_axes (SlResize *self)
{
  return sl_affine_turn (orientation_of (self)).transpose;
}

/* Width and height of the part that is fitted, after turning. */
static void
turned_size (SlResize *self, gint width, gint height, gint *turned_width, gint *turned_height)
{
  const Settings settings = settings_of (self);
  SlRect part = { 0, 0, width, height };
  sl_video_part_crop (&settings.crop, width, height, "", &part, NULL);
  const gboolean exchanged = exchanges_axes (self);
  *turned_width = exchanged ? part.height : part.width;
  *turned_height = exchanged ? part.width : part.height;
}

static void
set_size_field (GstStructure *structure, const char *field, gint fixed)
{
  if (fixed > 0)
    gst_structure_set (structure, field, G_TYPE_INT, fixed, NULL);
  else
    gst_structure_set (structure, field, GST_TYPE_INT_RANGE, 1, SL_RESIZE_MAX_SIZE, NULL);
}

static GstCaps *
sl_resize_transform_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                          GstCaps *filter)
{
  const Settings settings = settings_of ((SlResize *) base);
  GstCaps *all = gst_caps_new_empty ();
  g_autoptr (GstCaps) plain = sl_dmabuf_plain (caps);
  for (guint i = 0; i < gst_caps_get_size (plain); i++) {
    GstStructure *other = gst_structure_copy (gst_caps_get_structure (plain, i));
    set_size_field (other, "width", direction == GST_PAD_SINK ? settings.width : 0);
    set_size_field (other, "height", direction == GST_PAD_SINK ? settings.height : 0);
    if (gst_structure_has_field (other, "pixel-aspect-ratio"))
      gst_structure_set (other, "pixel-aspect-ratio", GST_TYPE_FRACTION_RANGE, 1, G_MAXINT,
                         G_MAXINT, 1, NULL);
    all = gst_caps_merge_structure (all, other);
  }
  if (direction == GST_PAD_SRC && sl_dmabuf_is_wanted (filter))
    all = sl_dmabuf_offer (all);
  if (filter != NULL) {
    GstCaps *filtered = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (all);
    return filtered;
  }
  return all;
}

static gboolean
fixed_int (const GstStructure *structure, const char *field, gint *value)
{
  return gst_structure_get_int (structure, field, value);
}

static gint
in_shape (gint length, gint num, gint den)
{
  return (gint) CLAMP (gst_util_uint64_scale_int_round ((guint64) length, num, den), 1,
                       SL_RESIZE_MAX_SIZE);
}

/* What is open follows the picture: both sizes are its own, or one follows the other. */
static void
fixate_size (GstStructure *structure, gint width, gint height)
{
  gint w, h;
  const gboolean has_width = fixed_int (structure, "width", &w),
                 has_height = fixed_int (structure, "height", &h);
  if (!has_width)
    gst_structure_fixate_field_nearest_int (structure, "width",
                                            has_height ? in_shape (h, width, height) : width);
  if (!has_height) {
    gst_structure_get_int (structure, "width", &w);
    gst_structure_fixate_field_nearest_int (
      structure, "height", has_width || w != width ? in_shape (w, height, width) : height);
  }
}

/* Stretching changes the shape of pixels; letterbox and crop do not. */
static void
fixate_aspect (SlResize *self, const GstVideoInfo *video, GstStructure *structure, gint width,
               gint height)
{
  const gboolean exchanged = exchanges_axes (self);
  gint num = exchanged ? GST_VIDEO_INFO_PAR_D (video) : GST_VIDEO_INFO_PAR_N (video);
  gint den = exchanged ? GST_VIDEO_INFO_PAR_N (video) : GST_VIDEO_INFO_PAR_D (video);
  gint out_width, out_height;
  if (!fixed_int (structure, "width", &out_width) || !fixed_int (structure, "height", &out_height))
    return;
  if (settings_of (self).fit == SL_FIT_STRETCH) {
    gint x_num, x_den, y_num, y_den, scaled_num, scaled_den;
    gst_util_double_to_fraction ((double) width / out_width, &x_num, &x_den);
    gst_util_double_to_fraction ((double) out_height / height, &y_num, &y_den);
    if (gst_util_fraction_multiply (x_num, x_den, y_num, y_den, &x_num, &x_den)
        && gst_util_fraction_multiply (num, den, x_num, x_den, &scaled_num, &scaled_den)) {
      num = scaled_num;
      den = scaled_den;
    }
  }
  if (gst_structure_has_field (structure, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction (structure, "pixel-aspect-ratio", num, den);
  else if (num != den)
    gst_structure_set (structure, "pixel-aspect-ratio", GST_TYPE_FRACTION, num, den, NULL);
}

static GstCaps *
sl_resize_fixate_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                       GstCaps *othercaps)
{
  SlResize *self = (SlResize *) base;
  GstVideoInfo video;
  g_autoptr (GstCaps) plain = sl_dmabuf_plain (caps);
  othercaps = gst_caps_make_writable (gst_caps_truncate (othercaps));
  if (direction == GST_PAD_SINK && !gst_caps_is_empty (plain)
      && gst_video_info_from_caps (&video, plain) && gst_caps_get_size (othercaps) == 1) {
    GstStructure *structure = gst_caps_get_structure (othercaps, 0);
    gint width, height;
    turned_size (self, GST_VIDEO_INFO_WIDTH (&video), GST_VIDEO_INFO_HEIGHT (&video), &width,
                 &height);
    fixate_size (structure, width, height);
    fixate_aspect (self, &video, structure, width, height);
  }
  return gst_caps_fixate (othercaps);
}

static gboolean
read_video (GstCaps *caps, GstVideoInfo *video, SlImageInfo *image, GError **error)
{
  return sl_video_input_read (caps, "slresize", FORMATS, video, image, error);
}

static gboolean
take_changed (SlResize *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  const gboolean changed = self->changed;
  self->changed = FALSE;
  return changed;
}

static gboolean
configure (SlResize *self, GstCaps *incaps, GstCaps *outcaps, GError **error)
{
  const Settings settings = settings_of (self);
  SlRect part;
  if (!read_video (incaps, &self->from, &self->from_image, error)
      || !read_video (outcaps, &self->to, &self->to_image, error))
    return FALSE;
  if (!sl_video_part_check_direction (settings.direction, error)
      || !sl_video_part_crop (
        &settings.crop, self->from_image.width, self->from_image.height,
        "; where the frame should be larger, put caps with its size before slresize", &part, error))
    return FALSE;
  const SlResizeSpec spec = {
    .width = self->to_image.width,
    .height = self->to_image.height,
    .crop = part,
    .fit = (SlFit) settings.fit,
    .orientation = orientation_of (self),
    .filter = (SlFilter) settings.filter,
    .pad_value = settings.pad_value,
  };
  const SlResizeStatus status = sl_resizer_new (&self->resizer, &self->from_image, &spec);
  if (status == SL_RESIZE_OK) {
    GST_OBJECT_LOCK (self);
    self->affine = *sl_resizer_map (self->resizer);
    GST_OBJECT_UNLOCK (self);
    return TRUE;
  }
  return sl_fail (error, SL_ERROR_ARGUMENT, "frames of %dx%d to %dx%d: %s", self->from_image.width,
                  self->from_image.height, spec.width, spec.height, sl_resize_status_text (status));
}

static gboolean
sl_resize_set_caps (GstBaseTransform *base, GstCaps *incaps, GstCaps *outcaps)
{
  SlResize *self = (SlResize *) base;
  GError *error = NULL;
  take_changed (self);
  g_clear_pointer (&self->resizer, sl_resizer_free);
  if (!configure (self, incaps, outcaps, &error))
    return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
  self->refused = FALSE;
  const gboolean system = gst_caps_features_is_equal (gst_caps_get_features (incaps, 0),
                                                      GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
  gst_base_transform_set_passthrough (base, system && sl_resizer_is_identity (self->resizer));
  GST_INFO_OBJECT (self, "%" GST_PTR_FORMAT " -> %" GST_PTR_FORMAT, incaps, outcaps);
  return TRUE;
}

/* The base class negotiates again after a change, but does not call set_caps() when caps come out
 * the same. It must know before that whether it needs buffers. */
static GstFlowReturn
sl_resize_submit_input_buffer (GstBaseTransform *base, gboolean is_discont, GstBuffer *in)
{
  SlResize *self = (SlResize *) base;
  if (!sl_element_has_format (GST_ELEMENT (base), base->sinkpad)) {
    gst_buffer_unref (in);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (take_changed (self) && self->resizer != NULL) {
    g_autoptr (GstCaps) incaps = gst_pad_get_current_caps (base->sinkpad);
    g_autoptr (GstCaps) outcaps = gst_pad_get_current_caps (base->srcpad);
    if (incaps != NULL && outcaps != NULL && !sl_resize_set_caps (base, incaps, outcaps)) {
      gst_buffer_unref (in);
      return GST_FLOW_NOT_NEGOTIATED;
    }
  }
  return GST_BASE_TRANSFORM_CLASS (sl_resize_parent_class)
    ->submit_input_buffer (base, is_discont, in);
}

/* A pool of video buffers, downstream's if it has one; strides of its own only when downstream
 * reads GstVideoMeta. */
static gboolean
sl_resize_decide_allocation (GstBaseTransform *base, GstQuery *query)
{
  SlResize *self = (SlResize *) base;
  GstCaps *caps = NULL;
  gst_query_parse_allocation (query, &caps, NULL);
  GstBufferPool *pool = NULL;
  guint size = (guint) GST_VIDEO_INFO_SIZE (&self->to), least = 0, most = 0;
  const gboolean offered = gst_query_get_n_allocation_pools (query) > 0;
  if (offered)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &least, &most);
  size = MAX (size, (guint) GST_VIDEO_INFO_SIZE (&self->to));
  if (pool == NULL)
    pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, size, least, most);
  if (gst_buffer_pool_has_option (pool, GST_BUFFER_POOL_OPTION_VIDEO_META)
      && gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_set_config (pool, config);
  if (offered)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, least, most);
  else
    gst_query_add_allocation_pool (query, pool, size, least, most);
  gst_object_unref (pool);
  return GST_BASE_TRANSFORM_CLASS (sl_resize_parent_class)->decide_allocation (base, query);
}

/* Upstream may use any strides. In passthrough the base class asks downstream instead. */
static gboolean
sl_resize_propose_allocation (GstBaseTransform *base, GstQuery *decide_query, GstQuery *query)
{
  if (!GST_BASE_TRANSFORM_CLASS (sl_resize_parent_class)
         ->propose_allocation (base, decide_query, query))
    return FALSE;
  if (decide_query != NULL
      && !gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* Turns frames by @method from now on when the direction is automatic; TRUE when it is. */
static gboolean
set_tagged (SlResize *self, GstVideoOrientationMethod method)
{
  GST_OBJECT_LOCK (self);
  const gboolean automatic = self->settings.direction == GST_VIDEO_ORIENTATION_AUTO;
  const gboolean changed = automatic && self->tagged != method;
  self->tagged = method;
  self->changed |= changed;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  return automatic;
}

/* The orientation tag is obeyed here, so nobody downstream may obey it again: the event to pass on.
 */
static GstEvent *
read_tags (SlResize *self, GstEvent *event)
{
  GstVideoOrientationMethod method;
  GstTagList *tags;
  gst_event_parse_tag (event, &tags);
  if (!gst_video_orientation_from_tag (tags, &method) || !set_tagged (self, method))
    return event;
  GstTagList *upright = gst_tag_list_copy (tags);
  gst_tag_list_add (upright, GST_TAG_MERGE_REPLACE, GST_TAG_IMAGE_ORIENTATION, "rotate-0", NULL);
  GstEvent *told = gst_event_new_tag (upright);
  gst_event_set_seqnum (told, gst_event_get_seqnum (event));
  gst_event_unref (event);
  return told;
}

/* Caps that the base class would refuse without a word. */
static gboolean
check_caps (SlResize *self, GstEvent *event)
{
  GstCaps *caps;
  GstVideoInfo video;
  SlImageInfo image;
  GError *error = NULL;
  gst_event_parse_caps (event, &caps);
  return read_video (caps, &video, &image, &error)
         || sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
}

static gboolean
sl_resize_sink_event (GstBaseTransform *base, GstEvent *event)
{
  SlResize *self = (SlResize *) base;
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    set_tagged (self, GST_VIDEO_ORIENTATION_IDENTITY);
  if (GST_EVENT_TYPE (event) == GST_EVENT_TAG)
    event = read_tags (self, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS && !check_caps (self, event)) {
    gst_event_unref (event);
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS (sl_resize_parent_class)->sink_event (base, event);
}

/* A pointer in the picture is one in the frame. */
static gboolean
sl_resize_src_event (GstBaseTransform *base, GstEvent *event)
{
  SlResize *self = (SlResize *) base;
  double x, y;
  if (GST_EVENT_TYPE (event) == GST_EVENT_NAVIGATION
      && gst_navigation_event_get_coordinates (event, &x, &y)) {
    event = gst_event_make_writable (event);
    GST_OBJECT_LOCK (self);
    sl_affine_apply (&self->affine, x, y, &x, &y);
    GST_OBJECT_UNLOCK (self);
    gst_navigation_event_set_coordinates (event, x, y);
  }
  return GST_BASE_TRANSFORM_CLASS (sl_resize_parent_class)->src_event (base, event);
}

/* Regions and relations move; what else is tied to pixel positions would be wrong in the result and
 * is left out; the rest is copied. */
static gboolean
sl_resize_transform_meta (GstBaseTransform *base, GstBuffer *out, GstMeta *meta, GstBuffer *in)
{
  SlResize *self = (SlResize *) base;
  if (meta->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) {
    sl_buffer_add_mapped_region (out, (GstVideoRegionOfInterestMeta *) meta,
                                 sl_resizer_map (self->resizer), &self->from, &self->to);
    return FALSE;
  }
  if (sl_meta_api_is_relations (meta->info->api)) {
    sl_buffer_add_mapped_relations (out, in, sl_resizer_map (self->resizer), &self->to);
    return FALSE;
  }
  return !sl_meta_api_has_positions (meta->info->api);
}

static gboolean
sl_resize_copy_metadata (GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  if (!GST_BASE_TRANSFORM_CLASS (sl_resize_parent_class)->copy_metadata (base, in, out))
    return FALSE;
  GST_BUFFER_OFFSET (out) = GST_BUFFER_OFFSET (in);
  GST_BUFFER_OFFSET_END (out) = GST_BUFFER_OFFSET_END (in);
  return TRUE;
}

/* Maps @out for writing; what fails is said. */
static gboolean
map_output (SlResize *self, GstBuffer *out, GstVideoFrame *frame, SlImageTarget *target)
{
  g_autoptr (GError) error = NULL;
  if (!sl_video_frame_map (frame, &self->to, out, GST_MAP_WRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF,
                           &error)) {
    GST_ELEMENT_ERROR (
      self, RESOURCE, WRITE,
      ("output buffer: %s; the element after slresize proposed a buffer pool that does not fit its "
       "caps",
       error->message),
      (NULL));
    return FALSE;
  }
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (&self->to); p++) {
    target->plane[p] = GST_VIDEO_FRAME_PLANE_DATA (frame, p);
    target->stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE (frame, p);
  }
  return TRUE;
}

static GstFlowReturn
sl_resize_transform (GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  SlResize *self = (SlResize *) base;
  GstVideoFrame from, to;
  SlImage image;
  SlImageTarget target;
  GError *error = NULL;
  if (!sl_video_input_map (&from, &image, &self->from, in, &error))
    return sl_element_refuse_frame (GST_ELEMENT (self), error);
  if (!map_output (self, out, &to, &target)) {
    gst_video_frame_unmap (&from);
    return GST_FLOW_ERROR;
  }
  const SlResizeStatus status = sl_resizer_run (self->resizer, &image, &target);
  gst_video_frame_unmap (&to);
  gst_video_frame_unmap (&from);
  if (status == SL_RESIZE_OK)
    return GST_FLOW_OK;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
                     ("frame or output buffer: %s", sl_resize_status_text (status)), (NULL));
  return GST_FLOW_ERROR;
}

static gboolean
sl_resize_start (GstBaseTransform *base)
{
  SlResize *self = (SlResize *) base;
  self->refused = FALSE;
  self->tagged = GST_VIDEO_ORIENTATION_IDENTITY;
  return TRUE;
}

static gboolean
sl_resize_stop (GstBaseTransform *base)
{
  g_clear_pointer (&((SlResize *) base)->resizer, sl_resizer_free);
  return TRUE;
}

static void
sl_resize_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  sl_property_set (object, &properties[id - 1], value);
  ((SlResize *) object)->changed = TRUE;
  GST_OBJECT_UNLOCK (object);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (object));
}

static void
sl_resize_finalize (GObject *object)
{
  g_clear_pointer (&((SlResize *) object)->resizer, sl_resizer_free);
  G_OBJECT_CLASS (sl_resize_parent_class)->finalize (object);
}

static void
sl_resize_class_init (SlResizeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base_class = GST_BASE_TRANSFORM_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_resize_debug, "slresize", 0, "YUV frames to smaller ones");
  object_class->finalize = sl_resize_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  object_class->set_property = sl_resize_set_property;
  g_autoptr (GstCaps) taken = sl_dmabuf_offer (gst_caps_from_string (CAPS));
  gst_element_class_add_pad_template (
    element_class, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, taken));
  sl_element_class_pads (element_class, NULL, CAPS);
  sl_element_class_describe (
    element_class, "Sightline resizer", "Filter/Converter/Video/Scaler",
    "Makes YUV frames smaller, for use before queues and tees: crops, turns, fits and scales "
    "within one pixel format, from system memory or linear DMABuf to system memory. Downstream's "
    "caps, or width and height, state the size; regions of interest and relations are mapped with "
    "the pixels. Frames in system memory pass unchanged if nothing is to be done.",
    "gst-launch-1.0 v4l2src ! slresize width=640 ! tee name=t t. ! queue ! slpredict "
    "model=ssd.tflite ! text/x-raw ! fdsink t. ! queue ! autovideosink",
    "architecture.md");
  base_class->transform_caps = sl_resize_transform_caps;
  base_class->fixate_caps = sl_resize_fixate_caps;
  sl_video_caps_let_through (base_class);
  base_class->set_caps = sl_resize_set_caps;
  base_class->decide_allocation = sl_resize_decide_allocation;
  base_class->propose_allocation = sl_resize_propose_allocation;
  base_class->submit_input_buffer = sl_resize_submit_input_buffer;
  base_class->sink_event = sl_resize_sink_event;
  base_class->src_event = sl_resize_src_event;
  base_class->copy_metadata = sl_resize_copy_metadata;
  base_class->transform_meta = sl_resize_transform_meta;
  base_class->transform = sl_resize_transform;
  base_class->start = sl_resize_start;
  base_class->stop = sl_resize_stop;
  base_class->transform_ip_on_passthrough = FALSE;
}

static void
sl_resize_init (SlResize *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  self->tagged = GST_VIDEO_ORIENTATION_IDENTITY;
  sl_affine_identity (&self->affine);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self),
                                      TRUE); /* as GStreamer's video filters */
}
