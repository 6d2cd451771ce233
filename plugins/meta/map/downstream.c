/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * There are probes at the input and the output of each element that moves pixels. The metas of an
 * input frame are kept, without its pixels. The output frame gets them, mapped. Such an element
 * makes one output frame from one input frame, in the pushing thread. The predictions of a frame
 * that it drops are kept until the next frame comes.
 */
#include "plugins/meta/map/downstream.h"

#include <gst/video/video.h>
#include <string.h>

#include "core/base/affine.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/meta/map/regions.h"
#include "plugins/meta/map/relations.h"
#include "plugins/meta/mask_meta.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/regions/keep.h"
#include "plugins/meta/regions/object.h"

/* The geometry of GStreamer's elements that crop, turn, mirror or scale a picture: where each puts
 * the pixels. There is one function for each element. It reads the element's current properties. */
typedef enum
{
  UNMOVED, /* it leaves pixels where they are, or nothing is known of it */
  MOVED,   /* it moves them as find_affine() says */
  BENT     /* it moves them in no way that a box could follow */
} GeometryKind;

#define FOLLOWED "sl-results-followed"

/* An element that is followed. */
typedef struct
{
  GstElement *element; /* the probes are its pads', and live no longer */
  GeometryKind kind;
  GstCaps *from_caps, *to_caps; /* (nullable) */
  GstVideoInfo from, to;
  GstVideoOrientationMethod tagged;
  GstBuffer *kept; /* (nullable): the predictions that went in */
  gboolean warned;
} Step;

/* Pixels cut off in front of the first, of @front and @back; -1 is what the sizes leave. */
static gint
cut_of (gint front, gint back, gint from, gint to)
{
  const gint all = from - to;
  return front >= 0 ? front : back >= 0 ? all - back : all / 2;
}

/* videocrop */
static void
find_crop (const Step *step, SlAffine *affine)
{
  gint left, right, top, bottom;
  g_object_get (step->element, "left", &left, "right", &right, "top", &top, "bottom", &bottom,
                NULL);
  affine->x0 = cut_of (left, right, step->from.width, step->to.width);
  affine->y0 = cut_of (top, bottom, step->from.height, step->to.height);
}

/* videobox: less than 0 is a border */
static void
find_box (const Step *step, SlAffine *affine)
{
  gint left, top;
  g_object_get (step->element, "left", &left, "top", &top, NULL);
  affine->x0 = left;
  affine->y0 = top;
}

/* videoflip and glvideoflip; of the latter "method" is the name. */
static void
find_flip (const Step *step, SlAffine *affine)
{
  const gboolean has_direction =
    g_object_class_find_property (G_OBJECT_GET_CLASS (step->element), "video-direction") != NULL;
  gint method = GST_VIDEO_ORIENTATION_IDENTITY;
  g_object_get (step->element, has_direction ? "video-direction" : "method", &method, NULL);
  if (method == GST_VIDEO_ORIENTATION_AUTO)
    method = step->tagged;
  const SlRect whole = { 0, 0, step->from.width, step->from.height };
  if (method >= 0 && method <= GST_VIDEO_ORIENTATION_UR_LL)
    sl_affine_view (affine, SL_FIT_STRETCH, (SlOrientation) method, &whole, step->to.width,
                    step->to.height);
}

/* videoscale: borders where the shape changes, in whole pixels as GStreamer makes them. */
static void
find_scale (const Step *step, SlAffine *affine)
{
  const GstVideoInfo *from = &step->from, *to = &step->to;
  gint from_n, from_d, n, d, width = to->width, height = to->height;
  gboolean borders = FALSE;
  g_object_get (step->element, "add-borders", &borders, NULL);
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
  void (*find) (const Step *step, SlAffine *affine);
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

static GeometryKind
geometry_kind (GstElement *element)
{
  const GType bending = g_type_from_name ("GstGeometricTransform");
  if (bending != 0 && g_type_is_a (G_OBJECT_TYPE (element), bending))
    return BENT;
  return find_row (element) >= 0 ? MOVED : UNMOVED;
}

/* @affine: points of a frame of @step's @to, which came out of the element, -> points of the one of
 * @from that went in. */
static void
find_affine (const Step *step, SlAffine *affine)
{
  const gint row = find_row (step->element);
  sl_affine_identity (affine);
  if (row >= 0)
    elements[row].find (step, affine);
}

static void
step_free (gpointer data)
{
  Step *step = data;
  gst_clear_caps (&step->from_caps);
  gst_clear_caps (&step->to_caps);
  gst_clear_buffer (&step->kept);
  g_free (step);
}

static gboolean
read_caps (GstPad *pad, GstCaps **known, GstVideoInfo *info)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  if (caps == NULL)
    return FALSE;
  if (caps != *known && !gst_video_info_from_caps (info, caps))
    return FALSE;
  gst_caps_replace (known, caps);
  return TRUE;
}

static GstPadProbeReturn
went_in (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Step *step = data;
  if ((info->type & GST_PAD_PROBE_TYPE_BUFFER) != 0) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
    gst_clear_buffer (&step->kept);
    if (!sl_buffer_has_predictions (buffer) || !read_caps (pad, &step->from_caps, &step->from))
      return GST_PAD_PROBE_OK;
    step->kept = gst_buffer_new ();
    gst_buffer_copy_into (step->kept, buffer, GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0,
                          0);
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_STREAM_START) {
    step->tagged = GST_VIDEO_ORIENTATION_IDENTITY;
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_TAG) {
    GstTagList *tags;
    gst_event_parse_tag (GST_EVENT_CAST (info->data), &tags);
    gst_video_orientation_from_tag (tags, &step->tagged);
  }
  return GST_PAD_PROBE_OK;
}

/* Regions, relations and the mask of the frame; @data: whether to leave the mask */
static gboolean
is_left_out (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  const GType api = (*meta)->info->api;
  if (api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE || sl_meta_api_is_relations (api)
      || (api == sl_mask_meta_api_get_type () && !*(const gboolean *) data))
    *meta = NULL;
  return TRUE;
}

static gboolean
is_identity (const SlAffine *affine)
{
  SlAffine identity;
  sl_affine_identity (&identity);
  return memcmp (affine, &identity, sizeof identity) == 0;
}

/* A label of the whole frame stays one. */
static void
move_region (Step *step, GstBuffer *out, GstVideoRegionOfInterestMeta *region,
             const SlAffine *affine)
{
  SlAffine whole;
  sl_affine_fit (&whole, SL_FIT_STRETCH, step->from.width, step->from.height, step->to.width,
                 step->to.height);
  const gboolean is_label = sl_region_is_label (region, step->from.width, step->from.height);
  sl_buffer_add_mapped_region (out, region, is_label ? &whole : affine, &step->from, &step->to);
}

static void
move_predictions (Step *step, GstBuffer *out, const SlAffine *affine)
{
  SlAffine whole;
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  sl_affine_fit (&whole, SL_FIT_STRETCH, step->from.width, step->from.height, step->to.width,
                 step->to.height);
  gboolean has_mask = memcmp (affine, &whole, sizeof whole) == 0;
  gst_buffer_foreach_meta (out, is_left_out, &has_mask);
  while ((region = sl_next_region (step->kept, &state)) != NULL)
    move_region (step, out, region, affine);
  sl_buffer_add_mapped_relations (out, step->kept, affine, &step->to);
  sl_buffer_keep_regions (out);
}

static void
drop_predictions (Step *step, GstBuffer *out)
{
  SlFrameMeta *meta = sl_buffer_get_frame_meta (out);
  gboolean has_mask = FALSE;
  gst_buffer_foreach_meta (out, is_left_out, &has_mask);
  if (meta != NULL)
    gst_buffer_remove_meta (out, &meta->meta);
  if (!step->warned)
    GST_ELEMENT_WARNING (
      step->element, STREAM, FORMAT,
      ("what a model found does not fit the pictures of %s, which bends them: it is left out; put "
       "the model behind it",
       GST_OBJECT_NAME (step->element)),
      (NULL));
  step->warned = TRUE;
}

static GstPadProbeReturn
came_out (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Step *step = data;
  GstBuffer *out = GST_PAD_PROBE_INFO_BUFFER (info);
  SlAffine affine;
  if (step->kept == NULL || GST_BUFFER_PTS (out) != GST_BUFFER_PTS (step->kept)
      || !read_caps (pad, &step->to_caps, &step->to))
    return GST_PAD_PROBE_OK;
  find_affine (step, &affine);
  const gboolean bent = step->kind == BENT;
  if (bent || !is_identity (&affine) || step->from.width != step->to.width
      || step->from.height != step->to.height) {
    out = gst_buffer_make_writable (out);
    GST_PAD_PROBE_INFO_DATA (info) = out;
    if (bent)
      drop_predictions (step, out);
    else
      move_predictions (step, out, &affine);
  }
  gst_clear_buffer (&step->kept);
  return GST_PAD_PROBE_OK;
}

static void
follow_element (GstElement *element, GstPad *sink)
{
  const GeometryKind kind = geometry_kind (element);
  g_autoptr (GstPad) source = gst_element_get_static_pad (element, "src");
  if (kind == UNMOVED || source == NULL)
    return;
  Step *step = g_new0 (Step, 1);
  step->element = element;
  step->kind = kind;
  /* Two branches may come to the element at once, in threads of their own: the first one follows
   * it. */
  if (!g_object_replace_data (G_OBJECT (element), FOLLOWED, NULL, step, step_free, NULL)) {
    step_free (step);
    return;
  }
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, went_in,
                     step, NULL);
  gst_pad_add_probe (source, GST_PAD_PROBE_TYPE_BUFFER, came_out, step, NULL);
}

/* Source pads to look behind, and those that were in @pending before: branches of a pipeline may
 * meet again and again. */
typedef struct
{
  GQueue pending;
  GHashTable *seen; /* of GstPad, which it owns */
} Walk;

/* Takes @source. */
static void
look_behind (Walk *walk, GstPad *source)
{
  if (g_hash_table_add (walk->seen, source))
    g_queue_push_tail (&walk->pending, source);
}

static gboolean
add_source (GstElement *element, GstPad *source, gpointer walk)
{
  look_behind (walk, gst_object_ref (source));
  return TRUE;
}

/* From the sink pad @pad on. */
static void
enter (Walk *walk, GstPad *pad)
{
  g_autoptr (GstElement) element = gst_pad_get_parent_element (pad);
  if (element == NULL)
    return;
  follow_element (element, pad);
  if (GST_IS_BIN (element) && GST_IS_GHOST_PAD (pad) && geometry_kind (element) == UNMOVED) {
    g_autoptr (GstPad) inside = gst_ghost_pad_get_target (GST_GHOST_PAD (pad));
    if (inside != NULL)
      enter (walk, inside);
  } else {
    gst_element_foreach_src_pad (element, add_source, walk);
  }
}

/* What is linked to @source, out of bins and into them. */
static void
pass_link (Walk *walk, GstPad *source)
{
  g_autoptr (GstPad) peer = gst_pad_get_peer (source);
  if (peer == NULL)
    return;
  if (GST_IS_PROXY_PAD (peer) && !GST_IS_GHOST_PAD (peer)) {
    GstProxyPad *outside = gst_proxy_pad_get_internal (GST_PROXY_PAD (peer));
    if (outside != NULL)
      look_behind (walk, GST_PAD (outside));
  } else {
    enter (walk, peer);
  }
}

void
sl_results_follow (GstPad *source)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (NULL, NULL, gst_object_unref, NULL);
  Walk walk = { G_QUEUE_INIT, seen };
  look_behind (&walk, gst_object_ref (source));
  while ((source = g_queue_pop_head (&walk.pending)) != NULL)
    pass_link (&walk, source);
}
