/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slnormalize: video frames -> the tensor a model wants, in one pass: crop, turn, scale, colour
 * matrix, normalise or quantise, channel order. The original frame rides along in an SlFrameMeta.
 *
 * A GstBaseTransform: the base class brings caps and allocation negotiation, QoS, latency and
 * flushing, and its transform() sees the input buffer while it is alive, so that the meta can
 * reference it. Never in place, never passthrough. A frame gives one tensor, or with objects=true
 * one for each region on it, in one buffer list, so that a queue that drops what is old drops all
 * of a frame or nothing; a frame that gives none travels on in an empty buffer, so that order is
 * kept. Invariant: the maker of tensors is open exactly while caps are accepted.
 */
#include "plugins/elements.h"

#include <string.h>

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "core/base/thread_count.h"
#include "core/base/fail.h"
#include "plugins/camera/intact.h"
#include "plugins/base/describe.h"
#include "plugins/video/dmabuf.h"
#include "plugins/meta/landmark_event.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/tensor/normalize_spec.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/base/settings.h"
#include "plugins/tensor/frame_parts.h"
#include "plugins/tensor/maker.h"
#include "plugins/tensor/caps.h"
#include "plugins/tensor/buffer_pool.h"
#include "plugins/tensor/caps_probe.h"
#include "plugins/video/tiles.h"
#include "plugins/video/caps.h"
#include "plugins/video/frame.h"
#include "plugins/video/input.h"
#include "plugins/video/part.h"
#include "postprocess/result.h"

GST_DEBUG_CATEGORY_STATIC (sl_normalize_debug);
#define GST_CAT_DEFAULT sl_normalize_debug

#define SINK_CAPS GST_VIDEO_CAPS_MAKE (SL_VIDEO_INPUT_FORMATS)

/* Frames that their decoder calls corrupted. */
typedef enum
{
  CORRUPTED_DROP,
  CORRUPTED_KEEP
} Corrupted;

/* Between two warnings of them. */
#define REMIND_US (60 * G_USEC_PER_SEC)

typedef struct
{
  GstBaseTransform parent;
  SlNormalizeSettings settings; /* object lock */
  gint interval;                /* object lock */
  SlFrameParts parts;           /* object lock: its settings */
  gint corrupted;               /* object lock */
  guint64 damaged, told;        /* object lock: dropped frames; as many as the last warning said */
  gint64 told_at;               /* of that warning, monotonic us */
  guint spoiled;                /* of sl_intact_is_whole() */
  GstVideoInfo video;
  SlImageInfo image; /* of video */
  GstVideoOrientationMethod tagged;
  GstCaps *caps; /* of the frames, as they are once mapped */
  SlTensorInfo tensor;
  SlTensorMaker maker;
  SlNormalizeSpec spec;
  gboolean refused;
  guint waited; /* frames since the last one that became a tensor */
  gboolean told_unseen;
} SlNormalize;

typedef GstBaseTransformClass SlNormalizeClass;

G_DEFINE_TYPE (SlNormalize, sl_normalize, GST_TYPE_BASE_TRANSFORM)

static GType corrupted_get_type (void);
G_DEFINE_ENUM_TYPE (SlNormalizeCorrupted, corrupted,
                    { CORRUPTED_DROP, "They are dropped and counted", "drop" },
                    { CORRUPTED_KEEP, "They are looked at like all others", "keep" })

#define AT(member) G_STRUCT_OFFSET (SlNormalize, settings.member)

static const SlProperty properties[] = {
  { "width", "Width",
    "Width of the tensor in pixels; 0 = the model's, or the frame's without a model",
    SL_PROPERTY_INT, AT (width), 0, SL_MAX_SIDE, 0 },
  { "height", "Height",
    "Height of the tensor in pixels; 0 = the model's, or the frame's without a model",
    SL_PROPERTY_INT, AT (height), 0, SL_MAX_SIDE, 0 },
  { "type", "Element type",
    "Element type of the tensor; auto = the model's; without a model uint8, or float32 if mean or "
    "std is set",
    SL_PROPERTY_CHOICE, AT (type), 0, 0, SL_CHOICE_AUTO, sl_type_choice_get_type },
  { "colour", "Colour",
    "Channels and their order; auto = those of the model, RGB without one (GRAY for GRAY8 frames)",
    SL_PROPERTY_CHOICE, AT (colour), 0, 0, SL_CHOICE_AUTO, sl_colour_choice_get_type },
  { "layout", "Layout", "Order of the dimensions; auto = the model's, NHWC without a model",
    SL_PROPERTY_CHOICE, AT (layout), 0, 0, SL_CHOICE_AUTO, sl_layout_choice_get_type },
  { "fit", "Fit", "How the frame is fitted into the tensor; results are mapped back to the frame",
    SL_PROPERTY_CHOICE, AT (fit), 0, 0, SL_CHOICE_AUTO, sl_fit_choice_get_type },
  { "filter", "Filter", "Interpolation filter when the size changes", SL_PROPERTY_CHOICE,
    AT (filter), 0, 0, SL_FILTER_AUTO, sl_filter_get_type },
  { "video-direction", "Video direction",
    "Orientation of frames before they are fitted; auto = by the image-orientation tag; custom is "
    "refused. Results are mapped back to the original frame",
    SL_PROPERTY_CHOICE, AT (direction), 0, 0, GST_VIDEO_ORIENTATION_AUTO,
    gst_video_orientation_method_get_type },
  { "crop-x", "Crop x", "Left edge of the used part of the frame, in pixels of the original frame",
    SL_PROPERTY_INT, AT (crop.x), 0, SL_MAX_SIDE - 1, 0 },
  { "crop-y", "Crop y", "Top edge of the used part of the frame, in pixels of the original frame",
    SL_PROPERTY_INT, AT (crop.y), 0, SL_MAX_SIDE - 1, 0 },
  { "crop-width", "Crop width", "Width of the used part of the frame; 0 = to the right edge",
    SL_PROPERTY_INT, AT (crop.width), 0, SL_MAX_SIDE, 0 },
  { "crop-height", "Crop height", "Height of the used part of the frame; 0 = to the bottom edge",
    SL_PROPERTY_INT, AT (crop.height), 0, SL_MAX_SIDE, 0 },
  { "threads", "Threads",
    "CPU threads that compute the tensor; 0 = the number of processors, at most 4; more than 1 "
    "helps for large tensors only",
    SL_PROPERTY_INT, AT (threads), 0, SL_MAX_THREADS, 1 },
  { "mean", "Mean",
    "For float types: value = (byte - mean) / std, byte in 0..255; one number or one a channel of "
    "the tensor, such as mean=127.5 or mean=123.7,116.3,103.5; unset = what the model states, else "
    "0 when std is set",
    SL_PROPERTY_STRING, AT (mean) },
  { "std", "Standard deviation",
    "For float types: value = (byte - mean) / std; one number above 0 or one a channel, such as "
    "std=127.5; unset = what the model states, else 1 when mean is set",
    SL_PROPERTY_STRING, AT (std) },
  { "pad-value", "Pad value",
    "Brightness of letterbox borders, 0..255; -1 = the model's value, 114 without one",
    SL_PROPERTY_INT, AT (pad_value), -1, 255, -1 },
  { "inference-interval", "Inference interval",
    "Run the model on every Nth frame, beginning with the first; the other frames pass slinfer and "
    "slpostprocess unchanged",
    SL_PROPERTY_INT, G_STRUCT_OFFSET (SlNormalize, interval), 1, G_MAXINT, 1, NULL, TRUE },
  { "objects", "Objects",
    "Make a tensor of each region of interest on the frame (from any upstream element) instead of "
    "one of the whole frame; slpostprocess adds the results of a region to that region",
    SL_PROPERTY_BOOL, G_STRUCT_OFFSET (SlNormalize, parts.objects), 0, 0, FALSE },
  { "object-class", "Object classes",
    "With regions of interest as input: the labels of these regions, separated by ',', such as "
    "face,person; unset = all",
    SL_PROPERTY_STRING, G_STRUCT_OFFSET (SlNormalize, parts.object_class) },
  { "object-alignment", "Object alignment",
    "With regions of interest as input: how each is rotated upright by its keypoints, and the size "
    "of the square around it: face, hand or person, as MediaPipe's landmark models expect the "
    "objects of its detectors; or box; or corners: the part between an object's four keypoints, "
    "such as those of a turned box, is seen from the front, and scale grows it; or a direction "
    "from one keypoint to another, such as "
    "from=right_eye,to=left_eye,angle=0,scale=1.5. angle is the direction after the rotation, 90 = "
    "up; scale is the ratio of the square's side to the longer side of the region; shift-x and "
    "shift-y move the square; unset = the box as it is",
    SL_PROPERTY_STRING, G_STRUCT_OFFSET (SlNormalize, parts.object_alignment) },
  { "follow-landmarks", "Follow landmarks",
    "With object-alignment and a model with MediaPipe's landmarks: also use the positions of "
    "landmarks in the previous frame, even if the detector found no object in this one, so that "
    "the detector may have a long inference-interval; an object is followed until the model's "
    "confidence falls below threshold",
    SL_PROPERTY_BOOL, G_STRUCT_OFFSET (SlNormalize, parts.follows), 0, 0, FALSE },
  { "max-objects", "Most objects",
    "With regions of interest as input: most regions of a frame, in the order of detection; "
    "tensors of all of them are in memory at once",
    SL_PROPERTY_INT, G_STRUCT_OFFSET (SlNormalize, parts.max_objects), 1, SL_MAX_RESULTS, 16, NULL,
    TRUE },
  { "tiles", "Tiles",
    "Make a tensor of each of COLUMNSxROWS overlapping tiles of the frame, and one of the whole "
    "frame, such as tiles=2x2, to find small objects; slpostprocess merges the results. 2x2 takes "
    "five times the model's time. motion = tiles around what an upstream slmotion found, at the "
    "model's own scale, and none where nothing moves; unset = the whole frame alone",
    SL_PROPERTY_STRING, G_STRUCT_OFFSET (SlNormalize, parts.tiles) },
  { "full-interval", "Full interval",
    "With tiles=motion: seconds after which the model looks at a whole frame again, whatever moves",
    SL_PROPERTY_DOUBLE, G_STRUCT_OFFSET (SlNormalize, parts.full_interval), 0, 3600, 5, NULL,
    TRUE },
  { "corrupted", "Corrupted frames",
    "What to do with damaged frames: frames that their decoder flags as corrupted "
    "(GST_BUFFER_FLAG_CORRUPTED), such as gray ones before the first key frame of a stream, and "
    "frames between a gap in an upstream decoder's data and the next key frame",
    SL_PROPERTY_CHOICE, G_STRUCT_OFFSET (SlNormalize, corrupted), 0, 0, CORRUPTED_DROP,
    corrupted_get_type },
};

enum
{
  PROP_DAMAGED = G_N_ELEMENTS (properties) + 1,
};

/* What fails is said. */
static GstFlowReturn
convert (SlNormalize *self, GstBuffer *in, GstBuffer *out)
{
  GstVideoFrame frame;
  GstMapInfo map;
  SlImage image;
  GError *error = NULL;
  if (!sl_video_input_map (&frame, &image, &self->video, in, &error))
    return sl_element_refuse_frame (GST_ELEMENT (self), error);
  const gboolean mapped = gst_buffer_map (out, &map, GST_MAP_WRITE),
                 fits = mapped && map.size == self->tensor.bytes;
  if (fits)
    sl_tensor_maker_run (&self->maker, &image, map.data);
  if (mapped)
    gst_buffer_unmap (out, &map);
  gst_video_frame_unmap (&frame);
  if (fits)
    return GST_FLOW_OK;
  GST_ELEMENT_ERROR (
    self, RESOURCE, WRITE,
    ("tensor buffer: expected %" G_GSIZE_FORMAT " writable bytes, got %" G_GSIZE_FORMAT
     "; the element after slnormalize proposed a buffer pool that does not fit its caps",
     self->tensor.bytes, gst_buffer_get_size (out)),
    (NULL));
  return GST_FLOW_ERROR;
}

/* @frame is attached to @out. It came in now, or when the meta that slpredict or an earlier model
 * left on it says. */
static SlFrameMeta *
attach_frame (SlNormalize *self, GstBuffer *out, GstBuffer *frame, SlFrameContent content,
              gint64 started)
{
  const SlFrameMeta *earlier = sl_buffer_get_frame_meta (frame);
  SlFrameMeta *meta = sl_buffer_add_frame_meta (out, frame, self->caps, &self->video);
  meta->captured = earlier != NULL && earlier->captured > 0 ? earlier->captured : started;
  meta->started = started;
  meta->content = content;
  meta->serial = earlier != NULL ? earlier->serial : 0;
  return meta;
}

/* @region: (nullable): the part of the frame that tensors are made of from now on */
static gboolean
choose_part (SlNormalize *self, const SlObjectRegion *region)
{
  if (!sl_tensor_maker_is_open (&self->maker))
    return FALSE; /* said when it was turned */
  if (region == NULL) {
    sl_tensor_maker_choose_whole (&self->maker);
    return TRUE;
  }
  const SlNormalizeStatus status = sl_tensor_maker_choose (
    &self->maker, &region->part, &region->turned, region->is_flat ? &region->corners : NULL);
  if (status != SL_NORMALIZE_OK)
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
                       ("an object of %dx%d pixels to a tensor of %dx%d: %s", region->part.width,
                        region->part.height, self->spec.width, self->spec.height,
                        sl_normalize_status_text (status)),
                       (NULL));
  return status == SL_NORMALIZE_OK;
}

/* @region: (nullable): the part of the frame that @out shows */
static GstFlowReturn
fill_tensor (SlNormalize *self, const SlObjectRegion *region, SlFrameContent content, GstBuffer *in,
             GstBuffer *out)
{
  const gint64 started = g_get_monotonic_time ();
  if (!choose_part (self, region))
    return GST_FLOW_ERROR;
  const GstFlowReturn flow = convert (self, in, out);
  const SlAffine affine = *sl_tensor_maker_map (&self->maker);
  if (flow != GST_FLOW_OK)
    return flow;
  SlFrameMeta *meta = attach_frame (self, out, in, content, started);
  meta->affine = affine;
  meta->follows = region != NULL && region->turned.width > 0 && self->parts.following;
  meta->tensor_width = self->spec.width;
  meta->tensor_height = self->spec.height;
  meta->region = region != NULL ? region->index : 0;
  meta->motion = self->parts.motion;
  if (content == SL_FRAME_TILE || content == SL_FRAME_LAST_TILE) {
    meta->part = sl_tiles_seen (&region->part, &affine, meta->tensor_width, meta->tensor_height);
    meta->divided = self->spec.crop;
  }
  meta->preprocessed = g_get_monotonic_time ();
  return GST_FLOW_OK;
}

static GstFlowReturn
sl_normalize_transform (GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  return fill_tensor ((SlNormalize *) base, NULL, SL_FRAME_WHOLE, in, out);
}

/* Takes @frame: an empty buffer with it. */
static GstBuffer *
pass_frame (SlNormalize *self, GstBuffer *frame, SlFrameContent content)
{
  GstBuffer *out = gst_buffer_new ();
  gst_buffer_copy_into (out, frame, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  attach_frame (self, out, frame, content, g_get_monotonic_time ());
  gst_buffer_unref (frame);
  return out;
}

/* Whether this frame becomes a tensor. */
static gboolean
is_due (SlNormalize *self)
{
  GST_OBJECT_LOCK (self);
  const guint interval = (guint) self->interval;
  GST_OBJECT_UNLOCK (self);
  const gboolean due = self->waited == 0 || self->waited >= interval;
  self->waited = due ? 1 : self->waited + 1;
  return due;
}

static SlFrameContent
skipped_content (SlNormalize *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->parts.objects ? SL_FRAME_SKIPPED_OBJECTS : SL_FRAME_SKIPPED;
}

/* Adds the tensor of the @i-th chosen part of @frame to @tensors. */
static GstFlowReturn
add_part (SlNormalize *self, GstBuffer *frame, guint i, SlFramePartsKind kind,
          GstBufferList *tensors)
{
  GstBaseTransform *base = GST_BASE_TRANSFORM (self);
  const SlFrameContent content = sl_frame_parts_content (&self->parts, kind, i);
  GstBuffer *out = NULL;
  GstFlowReturn flow =
    GST_BASE_TRANSFORM_GET_CLASS (base)->prepare_output_buffer (base, frame, &out);
  if (flow == GST_FLOW_OK)
    flow = fill_tensor (self, &g_array_index (self->parts.chosen, SlObjectRegion, i), content,
                        frame, out);
  if (flow == GST_FLOW_OK)
    gst_buffer_list_insert (tensors, -1, out);
  else
    gst_clear_buffer (&out);
  return flow;
}

/* Takes @frame, of which a part is chosen. */
static GstFlowReturn
push_parts (SlNormalize *self, GstBuffer *frame, SlFramePartsKind kind)
{
  GstBufferList *tensors = gst_buffer_list_new_sized (self->parts.chosen->len);
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint i = 0; flow == GST_FLOW_OK && i < self->parts.chosen->len; i++)
    flow = add_part (self, frame, i, kind, tensors);
  gst_buffer_unref (frame);
  if (flow == GST_FLOW_OK)
    return gst_pad_push_list (GST_BASE_TRANSFORM_SRC_PAD (self), tensors);
  gst_buffer_list_unref (tensors);
  return flow;
}

/* Whether @frame is left out, which is counted, and said once a minute. */
static gboolean
is_left_out (SlNormalize *self, const GstBuffer *frame)
{
  if (sl_intact_is_whole (frame, &self->spoiled))
    return FALSE;
  GST_OBJECT_LOCK (self);
  const gboolean out = self->corrupted == CORRUPTED_DROP;
  self->damaged += out;
  const gint64 now = g_get_monotonic_time ();
  const guint64 news =
    out && (self->told == 0 || now - self->told_at >= REMIND_US) ? self->damaged - self->told : 0;
  if (news > 0) {
    self->told = self->damaged;
    self->told_at = now;
  }
  GST_OBJECT_UNLOCK (self);
  if (news > 0)
    GST_ELEMENT_WARNING (
      self, STREAM, DECODE,
      ("%" G_GUINT64_FORMAT
       " frames left out that are damaged or before a key frame; corrupted=keep has the model look "
       "at them",
       news),
      (NULL));
  return out;
}

static GstFlowReturn
sl_normalize_submit_input_buffer (GstBaseTransform *base, gboolean discont, GstBuffer *frame)
{
  if (is_left_out ((SlNormalize *) base, frame)) {
    gst_buffer_unref (frame);
    return GST_BASE_TRANSFORM_FLOW_DROPPED;
  }
  return sl_video_caps_submit (base, discont, frame);
}

/* Says once of a stream that no slmotion is before. */
static void
warn_unseen (SlNormalize *self)
{
  if (!self->parts.unseen || self->told_unseen)
    return;
  self->told_unseen = TRUE;
  GST_ELEMENT_WARNING (
    self, STREAM, FAILED,
    ("tiles=motion: frames come without regions of motion; expected slmotion upstream: the model "
     "looks at whole frames"),
    (NULL));
}

/* Called until there is nothing more to come of a frame. */
static GstFlowReturn
sl_normalize_generate_output (GstBaseTransform *base, GstBuffer **out)
{
  SlNormalize *self = (SlNormalize *) base;
  if (base->queued_buf == NULL)
    return GST_FLOW_OK;
  if (!is_due (self)) {
    *out = pass_frame (self, g_steal_pointer (&base->queued_buf), skipped_content (self));
    return GST_FLOW_OK;
  }
  const SlFramePartsKind kind =
    sl_frame_parts_choose (&self->parts, base, &base->queued_buf, &self->video, &self->spec);
  warn_unseen (self);
  if (kind == SL_FRAME_PARTS_NONE)
    return GST_BASE_TRANSFORM_CLASS (sl_normalize_parent_class)->generate_output (base, out);
  GstBuffer *frame = g_steal_pointer (&base->queued_buf);
  if (kind == SL_FRAME_PARTS_STILL) {
    *out = pass_frame (self, frame, SL_FRAME_SKIPPED);
    return GST_FLOW_OK;
  }
  if (self->parts.chosen->len > 0)
    return push_parts (self, frame, kind);
  *out = pass_frame (self, frame, SL_FRAME_NO_OBJECTS);
  return GST_FLOW_OK;
}

/* Metas of the frame stay on the frame, which the tensor carries along. */
static gboolean
sl_normalize_transform_meta (GstBaseTransform *base, GstBuffer *out, GstMeta *meta, GstBuffer *in)
{
  return FALSE;
}

static gboolean
sl_normalize_copy_metadata (GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  if (!GST_BASE_TRANSFORM_CLASS (sl_normalize_parent_class)->copy_metadata (base, in, out))
    return FALSE;
  GST_BUFFER_OFFSET (out) = GST_BUFFER_OFFSET (in);
  GST_BUFFER_OFFSET_END (out) = GST_BUFFER_OFFSET_END (in);
  return TRUE;
}

/* Tensors that can be made from frames of one rate. Sizes stay open: downstream's contract or
 * fixate_caps() decides, and set_caps() refuses what properties contradict, with a sentence. */
static GstCaps *
all_tensors (const GstCaps *frames, gpointer data)
{
  return gst_caps_from_string (
    "other/tensors, format=(string)static, num_tensors=(int)1, types=(string){ uint8, int8, int32, "
    "int64, float16, float32 }, framerate=(fraction)[0/1, max]; "
    "other/tensor, type=(string){ uint8, int8, int32, int64, float16, float32 }, "
    "framerate=(fraction)[0/1, max]");
}

/* (transfer full): of the sink pad */
static GstCaps *
frame_caps (void)
{
  return sl_dmabuf_offer (gst_caps_from_string (SINK_CAPS));
}

static GstCaps *
all_frames (const GstCaps *tensors, gpointer filter)
{
  return sl_dmabuf_is_wanted (filter) ? frame_caps () : gst_caps_from_string (SINK_CAPS);
}

static GstCaps *
sl_normalize_transform_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                             GstCaps *filter)
{
  return sl_caps_transform (caps, filter, direction == GST_PAD_SINK ? all_tensors : all_frames,
                            filter);
}

/* With the object lock. */
static SlOrientation
orientation (const SlNormalize *self)
{
  return sl_video_part_orientation (self->settings.direction, self->tagged);
}

static GstCaps *
sl_normalize_fixate_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                          GstCaps *othercaps)
{
  SlNormalize *self = (SlNormalize *) base;
  GstVideoInfo video;
  g_autoptr (GstCaps) plain = sl_dmabuf_plain (caps);
  if (direction == GST_PAD_SINK && sl_tensor_caps_contract (othercaps) == NULL
      && !gst_caps_is_empty (plain) && gst_video_info_from_caps (&video, plain)) {
    othercaps = gst_caps_make_writable (gst_caps_truncate (othercaps));
    SlTensorInfo tensor;
    SlRect part = { 0, 0, GST_VIDEO_INFO_WIDTH (&video), GST_VIDEO_INFO_HEIGHT (&video) };
    GST_OBJECT_LOCK (self);
    sl_video_part_crop (&self->settings.crop, part.width, part.height, "", &part, NULL);
    gboolean transposed = sl_affine_turn (orientation (self)).transpose;
    sl_normalize_spec_propose (&self->settings, transposed ? part.height : part.width,
                               transposed ? part.width : part.height,
                               GST_VIDEO_INFO_IS_GRAY (&video), &tensor);
    GST_OBJECT_UNLOCK (self);
    sl_tensor_caps_prefer (othercaps, &tensor);
  }
  return GST_BASE_TRANSFORM_CLASS (sl_normalize_parent_class)
    ->fixate_caps (base, direction, caps, othercaps);
}

static gboolean
read_video (SlNormalize *self, GstCaps *caps, GstVideoInfo *video, SlImageInfo *image,
            GError **error)
{
  if (!sl_video_input_read (caps, sl_element_shown_name (GST_ELEMENT (self)),
                            SL_VIDEO_INPUT_FORMATS, video, image, error))
    return FALSE;
  if (image->width >= 1 && image->width <= SL_MAX_SIDE && image->height >= 1
      && image->height <= SL_MAX_SIDE)
    return TRUE;
  return sl_fail (error, SL_ERROR_LIMIT, "frames of %dx%d pixels: expected 1..%d each way",
                  image->width, image->height, SL_MAX_SIDE);
}

/* By image and spec. */
static gboolean
open_maker (SlNormalize *self, GError **error)
{
  GST_OBJECT_LOCK (self);
  const guint threads = sl_threads_resolve ((guint) self->settings.threads);
  GST_OBJECT_UNLOCK (self);
  const SlNormalizeStatus status =
    sl_tensor_maker_open (&self->maker, &self->image, &self->spec, threads);
  if (status != SL_NORMALIZE_OK)
    sl_fail (error, SL_ERROR_ARGUMENT, "frames of %dx%d to a tensor of %dx%d: %s",
             self->image.width, self->image.height, self->spec.width, self->spec.height,
             sl_normalize_status_text (status));
  return status == SL_NORMALIZE_OK;
}

static gboolean
configure (SlNormalize *self, GstCaps *incaps, GstCaps *outcaps, GError **error)
{
  SlTensorInfo tensors[SL_MAX_IO];
  if (!read_video (self, incaps, &self->video, &self->image, error))
    return FALSE;
  guint n = sl_tensor_caps_parse (outcaps, tensors, error);
  if (n == 0)
    return FALSE;
  GST_OBJECT_LOCK (self);
  gboolean good = sl_video_part_check_direction (self->settings.direction, error)
                  && sl_normalize_spec_choose (&self->settings, sl_tensor_caps_contract (outcaps),
                                               tensors, n, &self->spec, error)
                  && sl_video_part_crop (&self->settings.crop, self->image.width,
                                         self->image.height, "", &self->spec.crop, error);
  self->spec.orientation = orientation (self);
  good = good && sl_frame_parts_divide (&self->parts, error);
  if (self->parts.columns * self->parts.rows > 1 || self->parts.motion)
    self->spec.share = 1; /* a share of each tile would leave gaps between them */
  GST_OBJECT_UNLOCK (self);
  self->tensor = tensors[0];
  self->tensor.name = NULL;
  sl_tensor_infos_clear (tensors, n);
  return good && open_maker (self, error);
}

static void
unconfigure (SlNormalize *self)
{
  sl_tensor_maker_close (&self->maker);
  gst_clear_caps (&self->caps);
}

static gboolean
sl_normalize_set_caps (GstBaseTransform *base, GstCaps *incaps, GstCaps *outcaps)
{
  SlNormalize *self = (SlNormalize *) base;
  GError *error = NULL;
  unconfigure (self);
  if (self->corrupted == CORRUPTED_DROP) /* decoders may come late */
    sl_intact_mark (base->sinkpad, &self->spoiled);
  if (!configure (self, incaps, outcaps, &error))
    return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
  self->caps = sl_dmabuf_plain (incaps);
  self->refused = FALSE;
  GST_INFO_OBJECT (self, "%" GST_PTR_FORMAT " -> %" GST_PTR_FORMAT, incaps, outcaps);
  return TRUE;
}

/* A tag that turns the frames to come; a new stream starts without one. */
static void
follow_orientation (SlNormalize *self, GstVideoOrientationMethod tagged)
{
  g_autoptr (GError) error = NULL;
  GST_OBJECT_LOCK (self);
  self->tagged = tagged;
  const SlOrientation turned = orientation (self);
  GST_OBJECT_UNLOCK (self);
  if (!sl_tensor_maker_is_open (&self->maker) || self->spec.orientation == turned)
    return;
  self->spec.orientation = turned;
  if (!open_maker (self, &error))
    sl_element_report (GST_ELEMENT (self), error);
}

static gboolean
sl_normalize_sink_event (GstBaseTransform *base, GstEvent *event)
{
  SlNormalize *self = (SlNormalize *) base;
  GstVideoOrientationMethod method;
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START
      || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    sl_frame_parts_forget (&self->parts, self);
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
    follow_orientation (self, GST_VIDEO_ORIENTATION_IDENTITY);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_TAG) {
    GstTagList *tags = NULL;
    gst_event_parse_tag (event, &tags);
    if (gst_video_orientation_from_tag (tags, &method))
      follow_orientation (self, method);
  }
  return GST_BASE_TRANSFORM_CLASS (sl_normalize_parent_class)->sink_event (base, event);
}

/* Whether a tensor of @caps could be made with these properties. */
static void
answer_probe (SlNormalize *self, GstCaps *caps, GstQuery *query)
{
  g_autoptr (GError) error = NULL;
  SlTensorInfo tensors[SL_MAX_IO];
  SlNormalizeSpec spec;
  const guint n = sl_tensor_caps_parse (caps, tensors, &error);
  if (n > 0) {
    GST_OBJECT_LOCK (self);
    sl_normalize_spec_choose (&self->settings, sl_tensor_caps_contract (caps), tensors, n, &spec,
                              &error);
    GST_OBJECT_UNLOCK (self);
    sl_tensor_infos_clear (tensors, n);
  }
  sl_caps_probe_answer (query, error);
}

static gboolean
sl_normalize_query (GstBaseTransform *base, GstPadDirection direction, GstQuery *query)
{
  GstCaps *caps = direction == GST_PAD_SRC ? sl_caps_probe_asked (query) : NULL;
  if (caps == NULL) {
    const gboolean answered =
      GST_BASE_TRANSFORM_CLASS (sl_normalize_parent_class)->query (base, direction, query);
    if (answered)
      sl_video_caps_open (base, direction, query);
    return answered;
  }
  answer_probe ((SlNormalize *) base, caps, query);
  return TRUE;
}

/* What is wanted downstream changes what is made of frames, never the frames: upstream need not
 * hear of it, nor of landmarks. */
static gboolean
sl_normalize_src_event (GstBaseTransform *base, GstEvent *event)
{
  SlNormalize *self = (SlNormalize *) base;
  GST_OBJECT_LOCK (self);
  const gboolean landmarks =
    self->parts.follows && sl_followed_receive (event, self->parts.followed);
  GST_OBJECT_UNLOCK (self);
  if (!landmarks && GST_EVENT_TYPE (event) != GST_EVENT_RECONFIGURE)
    return GST_BASE_TRANSFORM_CLASS (sl_normalize_parent_class)->src_event (base, event);
  gst_event_unref (event);
  return TRUE;
}

static gboolean
sl_normalize_decide_allocation (GstBaseTransform *base, GstQuery *query)
{
  SlNormalize *self = (SlNormalize *) base;
  sl_tensor_pool_offer (query, &self->tensor, 1, 2);
  return GST_BASE_TRANSFORM_CLASS (sl_normalize_parent_class)->decide_allocation (base, query);
}

/* The model and the frames may contradict further ones when they are known. The start refuses what
 * aligns objects, and the first frame the rest. */
static gboolean
check_settings (GstElement *element, GError **error)
{
  SlNormalize *self = (SlNormalize *) element;
  GST_OBJECT_LOCK (self);
  const gboolean good = sl_video_part_check_direction (self->settings.direction, error)
                        && sl_frame_parts_divide (&self->parts, error);
  GST_OBJECT_UNLOCK (self);
  return good && sl_frame_parts_start (&self->parts, self, error);
}

static gboolean
sl_normalize_start (GstBaseTransform *base)
{
  SlNormalize *self = (SlNormalize *) base;
  g_autoptr (GError) error = NULL;
  if (!sl_frame_parts_start (&self->parts, self, &error))
    return sl_element_report (GST_ELEMENT (self), error);
  self->refused = self->told_unseen = FALSE;
  self->waited = self->spoiled = 0;
  if (self->corrupted == CORRUPTED_DROP) /* it changes in READY alone */
    sl_intact_mark (base->sinkpad, &self->spoiled);
  GST_OBJECT_LOCK (self);
  self->damaged = self->told = 0;
  GST_OBJECT_UNLOCK (self);
  GST_INFO_OBJECT (self, "kernels: %s", sl_normalizer_cpu ());
  return TRUE;
}

static gboolean
sl_normalize_stop (GstBaseTransform *base)
{
  sl_frame_parts_forget (&((SlNormalize *) base)->parts, base);
  unconfigure ((SlNormalize *) base);
  return TRUE;
}

static void
sl_normalize_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  SlNormalize *self = (SlNormalize *) object;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  if (id == PROP_DAMAGED)
    g_value_set_uint64 (value, self->damaged);
  else
    sl_property_get (self, &properties[id - 1], value);
}

static void
sl_normalize_finalize (GObject *object)
{
  unconfigure ((SlNormalize *) object);
  sl_frame_parts_clear (&((SlNormalize *) object)->parts);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_normalize_parent_class)->finalize (object);
}

static void
sl_normalize_class_init (SlNormalizeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base_class = GST_BASE_TRANSFORM_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_normalize_debug, "slnormalize", 0, "frames to tensors");
  object_class->finalize = sl_normalize_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  object_class->get_property = sl_normalize_get_property;
  g_object_class_install_property (
    object_class, PROP_DAMAGED,
    sl_property_count ("damaged", "Damaged frames",
                       "Frames since the start that corrupted=drop left out"));
  g_autoptr (GstCaps) frames = frame_caps ();
  gst_element_class_add_pad_template (
    element_class, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, frames));
  sl_element_class_set_check (element_class, check_settings);
  sl_element_class_pads (element_class, NULL, SL_TENSOR_TEMPLATE_CAPS);
  sl_element_class_describe (
    element_class, "Sightline normalizer", "Filter/Converter/Video/Tensor",
    "Converts video frames to the input tensor of the model in the downstream slinfer (size, "
    "element type, colour order, value range). Properties are only needed for other downstream "
    "elements, and must not contradict the model. The tensor carries a reference to its frame.",
    "gst-launch-1.0 filesrc location=picture.jpg ! decodebin ! slnormalize ! slinfer "
    "model=ssd.tflite ! slpostprocess ! application/x-json ! fdsink",
    "slpredict.md");
  base_class->transform_caps = sl_normalize_transform_caps;
  base_class->fixate_caps = sl_normalize_fixate_caps;
  sl_video_caps_let_through (base_class);
  base_class->set_caps = sl_normalize_set_caps;
  base_class->sink_event = sl_normalize_sink_event;
  base_class->src_event = sl_normalize_src_event;
  base_class->query = sl_normalize_query;
  base_class->decide_allocation = sl_normalize_decide_allocation;
  base_class->propose_allocation = sl_dmabuf_propose;
  base_class->copy_metadata = sl_normalize_copy_metadata;
  base_class->transform_meta = sl_normalize_transform_meta;
  base_class->submit_input_buffer = sl_normalize_submit_input_buffer;
  base_class->generate_output = sl_normalize_generate_output;
  base_class->transform = sl_normalize_transform;
  base_class->start = sl_normalize_start;
  base_class->stop = sl_normalize_stop;
}

static void
sl_normalize_init (SlNormalize *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  sl_frame_parts_init (&self->parts);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), FALSE);
}
