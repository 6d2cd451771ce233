/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sltrack: gives the objects of video frames ids that stay the same from frame to frame. Objects
 * are regions of interest. Objects that other elements wrote only as relations get a region first.
 * Pixels are not copied. They are read only with camera-motion=true, and where appearance= names a
 * model, which then runs in the streaming thread. A frame without objects passes unchanged.
 *
 * A frame counts as analysed when it has objects, an empty relation meta, or an SlFrameMeta that
 * says so; slpostprocess adds one to every frame that went through a model. In any other frame the
 * tracker predicts the positions of objects, and no object counts as missed.
 */
#include "plugins/elements.h"

#include <math.h>
#include <string.h>

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "plugins/base/describe.h"
#include "plugins/meta/class_names.h"
#include "plugins/motion/luma.h"
#include "plugins/motion/shift.h"
#include "plugins/meta/map/relations.h"
#include "plugins/meta/regions/choose.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/prediction_signal.h"
#include "plugins/meta/regions/keep.h"
#include "plugins/meta/regions/keypoints.h"
#include "plugins/meta/regions/look.h"
#include "plugins/meta/regions/object.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/meta/relations/write.h"
#include "plugins/tensor/embedder.h"
#include "plugins/tensor/stage_latency.h"
#include "plugins/video/input.h"
#include "plugins/base/tracking.h"
#include "postprocess/predictions/alignment.h"

GST_DEBUG_CATEGORY_STATIC (sl_track_debug);
#define GST_CAT_DEFAULT sl_track_debug

typedef struct
{
  GstBaseTransform parent;
  SlTrackSettings settings;          /* object lock */
  gboolean interpolate, drop_unsure; /* object lock */
  gboolean camera_motion;            /* object lock */
  char *classes;                     /* object lock */
  char *appearance, *look_settings;  /* object lock */
  gint batch, next_id;               /* object lock */
  /* The rest is the streaming thread's. */
  gint width, height;
  SlTracking tracking;
  SlClassChoice choice; /* of classes that are followed */
  GPtrArray *regions;   /* of the frame in hand */
  GPtrArray *unsure;    /* of these, those that go */
  GArray *boxes, *matches;
  SlPredictionReader reader; /* for the signal, and objects without a region */
  guint64 frame;
  SlTracked *expected;   /* SL_TRACK_MOST */
  SlObjectView *objects; /* as many */
  GstVideoInfo video;    /* where pixels are read */
  /* With camera-motion. */
  gboolean follows_camera;
  SlShift shift;
  /* With a model of appearance. */
  SlEmbedder *embedder; /* (nullable) */
  SlTurnedRect *parts;  /* SL_TRACK_MOST: of faces that are looked at */
  GArray *points;       /* of one of them */
  SlReadSkeleton skeleton;
  GstBuffer *buffer; /* the frame in hand */
  GError *failure;   /* (nullable): of the frame in hand */
  gint64 looked;     /* microseconds that the model took for it */
  SlStageLatency latency;
  gboolean refused, told_blank;
  gint gives_looks; /* atomic: slgallery asked for embeddings */
  SlBytePool given; /* of embeddings for it */
} SlTrack;

typedef GstBaseTransformClass SlTrackClass;

G_DEFINE_TYPE (SlTrack, sl_track, GST_TYPE_BASE_TRANSFORM)

static guint predictions_signal;

#define CAPS "video/x-raw(ANY)"
/* The model's formats whose luma, or green, has 8 bits. */
#define CAMERA_FORMATS                                                                          \
  "{ NV12, NV21, I420, YV12, YUY2, UYVY, Y42B, Y444, GRAY8, RGB, BGR, RGBx, BGRx, RGBA, BGRA, " \
  "xRGB, ARGB, xBGR, ABGR, RGBP }"

#define AT(member) G_STRUCT_OFFSET (SlTrack, member)

static const SlProperty properties[] = {
  { "high-threshold", "High threshold", "Least confidence of a detected object, 0..1",
    SL_PROPERTY_DOUBLE, AT (settings.high), 0, 1, 0.5, NULL, TRUE },
  { "low-threshold", "Low threshold",
    "Least confidence of a box that may continue a known object, 0..1; high-threshold or more = "
    "only boxes above high-threshold. The detector must output such boxes: slpostprocess "
    "threshold=0.1",
    SL_PROPERTY_DOUBLE, AT (settings.low), 0, 1, 0.1, NULL, TRUE },
  { "new-threshold", "Threshold of new objects",
    "Least confidence of a new object, 0..1; at least high-threshold is used", SL_PROPERTY_DOUBLE,
    AT (settings.fresh), 0, 1, 0.5, NULL, TRUE },
  { "iou-threshold", "Overlap threshold",
    "Least overlap (intersection over union) of a box with the predicted box of its object, 0..1; "
    "lower for faster objects",
    SL_PROPERTY_DOUBLE, AT (settings.iou), 0, 1, 0.2, NULL, TRUE },
  { "low-iou-threshold", "Overlap threshold of unsure boxes",
    "Least overlap of a box below high-threshold with the predicted box of its object, 0..1",
    SL_PROPERTY_DOUBLE, AT (settings.low_iou), 0, 1, 0.5, NULL, TRUE },
  { "max-age", "Longest absence",
    "Frames that an object may be missing and keep its id; by the stream's frame rate, so lost "
    "frames count",
    SL_PROPERTY_INT, AT (settings.max_age), 0, 10000, 30, NULL, TRUE },
  { "min-hits", "Hits before an id",
    "Consecutive frames in which an object is found before it gets an id; objects of the first "
    "frame get theirs at once",
    SL_PROPERTY_INT, AT (settings.min_hits), 1, 1000, 2, NULL, TRUE },
  { "per-class", "Per class",
    "An object keeps its class; false = a box may continue an object of another class",
    SL_PROPERTY_BOOL, AT (settings.per_class), 0, 0, TRUE, NULL, TRUE },
  { "classes", "Classes",
    "Tracked classes, such as person,car, or with ! excluded classes, such as !dog; regions of "
    "other classes do not change and get no id; unset = all",
    SL_PROPERTY_STRING, AT (classes), 0, 0, 0, NULL, TRUE },
  { "interpolate", "Interpolate",
    "Add regions at predicted positions to frames without inference, such as those that slpredict "
    "inference-interval skips; their structure \"detection\" has predicted=true",
    SL_PROPERTY_BOOL, AT (interpolate), 0, 0, FALSE, NULL, TRUE },
  { "drop-unsure", "Drop unsure boxes", "Remove regions below high-threshold that match no object",
    SL_PROPERTY_BOOL, AT (drop_unsure), 0, 0, TRUE, NULL, TRUE },
  { "observation-centred", "Observation-centred",
    "OC-SORT: after a gap, correct an object's motion by a straight line between its last and its "
    "new position; also match "
    "objects by the direction of their motion",
    SL_PROPERTY_BOOL, AT (settings.observed), 0, 0, FALSE, NULL, TRUE },
  { "camera-motion", "Camera motion",
    "The camera turns or shakes: measure in each frame how far the picture moved, by its pixels, "
    "and move known objects with it. Frames must be in system memory, with 8 bits",
    SL_PROPERTY_BOOL, AT (camera_motion), 0, 0, FALSE },
  { "appearance", "Appearance",
    "Path of a model that makes an embedding of an object's picture, such as "
    "appearance=osnet.onnx, or zoo:NAME: objects "
    "that cross, or come back, keep their ids by it (BoT-SORT). What the file does not say about "
    "its input is read from "
    "MODEL.modelinfo beside it. Frames must be in system memory; unset = motion and overlap alone",
    SL_PROPERTY_STRING, AT (appearance), 0, 0, 0 },
  { "appearance-settings", "Appearance settings",
    "Settings of that model, as slinfer has them, such as appearance-settings=\"mean=127.5 "
    "std=127.5 threads=2\"",
    SL_PROPERTY_STRING, AT (look_settings), 0, 0, 0 },
  { "appearance-threshold", "Appearance threshold",
    "Least similarity of two embeddings of one object, 0..1: 0 = the mean similarity of different "
    "objects in this stream, 1 = "
    "equal embeddings",
    SL_PROPERTY_DOUBLE, AT (settings.look), 0, 1, 0.5, NULL, TRUE },
  { "appearance-interval", "Appearance interval",
    "Frames after which the model looks again at an object that overlaps no other; it looks at "
    "objects in doubt in every frame",
    SL_PROPERTY_INT, AT (settings.look_again), 1, 10000, 15, NULL, TRUE },
  { "appearance-objects", "Most objects for appearance",
    "Most objects of a frame that the model looks at; objects in doubt come first", SL_PROPERTY_INT,
    AT (settings.most_looks), 1, SL_TRACK_MOST, 16, NULL, TRUE },
  { "appearance-memory", "Appearance memory",
    "Frames that an object may be missing and still be found again by its appearance; max-age or "
    "less = no longer than "
    "max-age",
    SL_PROPERTY_INT, AT (settings.remember), 0, 100000, 300, NULL, TRUE },
  { "appearance-batch", "Appearance batch",
    "Most objects in one run of the model; 1 = one after the other, as also where a batch is not "
    "faster or not possible",
    SL_PROPERTY_INT, AT (batch), 1, 64, 8 },
  { "next-id", "Next id", SL_TRACKING_NEXT_ID_HELP, SL_PROPERTY_INT, AT (next_id), 1, G_MAXINT, 1 },
};

static gboolean
interpolates (SlTrack *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->interpolate;
}

/* The region's box: exact where it has a detection with its edges, else in whole pixels; none
 * outside of the frame. */
static SlTrackBox
read_box (SlTrack *self, const GstVideoRegionOfInterestMeta *region)
{
  const double width = self->width, height = self->height;
  SlTrackBox box = { .key = region->roi_type, .label_id = -1 };
  SlObjectView object;
  if (sl_region_read_object (region, self->width, self->height, &object))
    box = (SlTrackBox){ { object.x_min * width, object.y_min * height, object.x_max * width,
                          object.y_max * height },
                        object.confidence,
                        region->roi_type,
                        object.label_id };
  return box;
}

static void
collect_regions (SlTrack *self, GstBuffer *buffer)
{
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  g_ptr_array_set_size (self->regions, 0);
  g_array_set_size (self->boxes, 0);
  while ((region = sl_next_region (buffer, &state)) != NULL) {
    if (sl_region_is_label (region, self->width, self->height)
        || !sl_class_filter_passes (self->choice.filter, sl_region_type_name (region)))
      continue;
    const SlTrackBox box = read_box (self, region);
    g_ptr_array_add (self->regions, region);
    g_array_append_val (self->boxes, box);
  }
  g_array_set_size (self->matches, self->boxes->len);
}

/* Says once that the model gives vectors without a direction. */
static void
check_blank (SlTrack *self, const gfloat *embeddings, guint n)
{
  const guint length = sl_embedder_length (self->embedder);
  guint blank = 0;
  for (guint i = 0; i < n && !self->told_blank; i++) {
    double squares = 0;
    for (guint k = 0; k < length; k++)
      squares += (double) embeddings[(gsize) i * length + k] * embeddings[(gsize) i * length + k];
    blank += !(squares > 0) || !isfinite (squares);
  }
  if (blank == 0)
    return;
  self->told_blank = TRUE;
  GST_ELEMENT_WARNING (
    self, STREAM, FAILED,
    ("appearance=%s: %u of %u embeddings are zeros or not finite; such objects are tracked by "
     "motion "
     "alone. Expected a model for pictures of this kind; mean and std of its input may be wrong",
     sl_embedder_model (self->embedder), blank, n),
    (NULL));
}

/* Whether points are those of a face alone: poses of bodies have eyes, but no mouth. */
static gboolean
is_face (const SlSkeleton *skeleton)
{
  for (guint i = 0; i < skeleton->n_points; i++)
    if (strcmp (skeleton->names[i], "mouth") == 0 || strcmp (skeleton->names[i], "left_mouth") == 0)
      return TRUE;
  return FALSE;
}

/* The part in which eyes, nose and mouth of object @i lie as `sightline serve --faces` places them;
 * the width 0: take its box. */
static SlTurnedRect
place_face (SlTrack *self, guint i)
{
  const SlSkeleton *skeleton = &self->skeleton.skeleton;
  GstVideoRegionOfInterestMeta *region = g_ptr_array_index (self->regions, i);
  SlObjectView object;
  SlTurnedRect part = { 0 };
  g_array_set_size (self->points, 0);
  if (!sl_region_read_object (region, self->width, self->height, &object)
      || sl_region_read_points (region, &object, self->points, &self->skeleton) == 0
      || skeleton->n_points != self->points->len || !is_face (skeleton))
    return part;
  object.points = (const SlPoint *) (gconstpointer) self->points->data;
  object.n_points = self->points->len;
  return sl_alignment_place_face (&object, skeleton, self->width, self->height,
                                  sl_embedder_aspect (self->embedder), &part)
           ? part
           : (SlTurnedRect){ 0 };
}

/* The tracker asks how boxes of the frame in hand look. */
static void
look (gpointer data, const SlTrackBox *boxes, const guint *chosen, guint n, gfloat *embeddings)
{
  SlTrack *self = data;
  const gint64 start = g_get_monotonic_time ();
  GstVideoFrame frame;
  SlImage image;
  memset (embeddings, 0, (gsize) n * sl_embedder_length (self->embedder) * sizeof *embeddings);
  if (!sl_video_input_map (&frame, &image, &self->video, self->buffer, &self->failure)) {
    g_prefix_error (&self->failure, "appearance: ");
    return;
  }
  for (guint i = 0; i < n; i++)
    self->parts[i] = place_face (self, chosen[i]);
  if (sl_embedder_run (self->embedder, &image, boxes, self->parts, chosen, n, embeddings,
                       &self->failure))
    check_blank (self, embeddings, n);
  else
    g_prefix_error (&self->failure, "appearance: ");
  gst_video_frame_unmap (&frame);
  self->looked = g_get_monotonic_time () - start;
}

/* What the model made of box @i, for slgallery. */
static void
give_look (SlTrack *self, GstVideoRegionOfInterestMeta *region, guint i)
{
  const gfloat *look = g_atomic_int_get (&self->gives_looks) != 0 && self->embedder != NULL
                         ? sl_tracker_take_look (self->tracking.tracker, i)
                         : NULL;
  if (look != NULL)
    sl_region_set_look (region, &self->given, look, sl_embedder_length (self->embedder));
}

static void
track_regions (SlTrack *self, GstBuffer *buffer, guint steps, gboolean drop_unsure)
{
  collect_regions (self, buffer);
  const SlTrackMatch *matches = (const SlTrackMatch *) (gconstpointer) self->matches->data;
  sl_tracker_update (self->tracking.tracker, (const SlTrackBox *) (gconstpointer) self->boxes->data,
                     self->boxes->len, steps, GST_BUFFER_PTS (buffer),
                     (SlTrackMatch *) (gpointer) self->matches->data);
  GST_OBJECT_LOCK (self);
  self->next_id = sl_tracker_next_id (self->tracking.tracker);
  GST_OBJECT_UNLOCK (self);
  g_ptr_array_set_size (self->unsure, 0);
  for (guint i = 0; i < self->regions->len; i++) {
    GstVideoRegionOfInterestMeta *region = g_ptr_array_index (self->regions, i);
    if (matches[i].id > 0) {
      sl_region_set_object_id (region, matches[i].id);
      give_look (self, region, i);
      sl_buffer_relate_track (buffer, self->width, self->height, region, matches[i].id,
                              matches[i].since, GST_BUFFER_PTS (buffer));
    } else if (matches[i].id == SL_TRACK_UNSURE && drop_unsure) {
      g_ptr_array_add (self->unsure, region);
    }
  }
  sl_buffer_remove_related (buffer, self->width, self->height,
                            (GstVideoRegionOfInterestMeta *const *) self->unsure->pdata,
                            self->unsure->len);
  for (guint i = 0; i < self->unsure->len; i++)
    gst_buffer_remove_meta (buffer, g_ptr_array_index (self->unsure, i));
}

/* What of @expected is inside the frame, as an object; FALSE when nothing is. */
static gboolean
to_object (SlTrack *self, const SlTracked *expected, SlObjectView *object)
{
  const char *label = g_quark_to_string (expected->box.key);
  *object = (SlObjectView){ .confidence = expected->box.confidence,
                            .label_id = expected->box.label_id,
                            .label = label != NULL ? label : "unknown",
                            .object_id = expected->match.id,
                            .tracked_since = expected->match.since };
  return sl_object_set_box (object, expected->box.corners, self->width, self->height);
}

static void
mark_predicted (GstBuffer *buffer)
{
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  while ((region = sl_next_region (buffer, &state)) != NULL) {
    GstStructure *detection = gst_video_region_of_interest_meta_get_param (region, "detection");
    if (detection != NULL)
      gst_structure_set (detection, "predicted", G_TYPE_BOOLEAN, TRUE, NULL);
  }
}

static void
add_expected (SlTrack *self, GstBuffer *buffer)
{
  SlPredictionView prediction = { .width = self->width,
                                  .height = self->height,
                                  .objects = self->objects };
  const guint n = sl_tracker_expect (self->tracking.tracker, self->expected, SL_TRACK_MOST);
  for (guint i = 0; i < n; i++)
    prediction.n_objects +=
      to_object (self, &self->expected[i], &self->objects[prediction.n_objects]);
  sl_buffer_add_prediction (buffer, &prediction, NULL);
  mark_predicted (buffer);
}

/* To who listens: the frame with its ids. */
static void
tell (SlTrack *self, GstBuffer *buffer)
{
  SlPredictionView prediction = { .width = self->width, .height = self->height };
  sl_prediction_signal_emit_buffer (self, predictions_signal, &self->reader, buffer,
                                    &GST_BASE_TRANSFORM (self)->segment, self->frame - 1,
                                    &prediction);
}

/* Known objects move with the picture. FALSE: @failure says why not. */
static gboolean
follow_camera (SlTrack *self, GstBuffer *buffer)
{
  GstVideoFrame frame;
  SlImage image;
  gdouble moved[2];
  if (!sl_video_input_map (&frame, &image, &self->video, buffer, &self->failure)) {
    g_prefix_error (&self->failure, "camera-motion: ");
    return FALSE;
  }
  const SlLuma luma = sl_frame_luma (&frame);
  if (sl_shift_see (&self->shift, &luma, moved))
    sl_tracker_shift (self->tracking.tracker, moved[0], moved[1]);
  gst_video_frame_unmap (&frame);
  return TRUE;
}

/* What went wrong on the frame in hand. */
static GstFlowReturn
fail (SlTrack *self)
{
  sl_element_report (GST_ELEMENT (self), self->failure);
  g_clear_error (&self->failure);
  return GST_FLOW_ERROR;
}

static GstFlowReturn
sl_track_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  SlTrack *self = (SlTrack *) base;
  if (!sl_class_choice_follow (&self->choice, GST_ELEMENT (self), &self->classes,
                               GST_BASE_TRANSFORM_SINK_PAD (self)))
    return GST_FLOW_ERROR;
  GST_OBJECT_LOCK (self);
  const SlTrackSettings settings = self->settings;
  const gboolean interpolate = self->interpolate, drop_unsure = self->drop_unsure;
  GST_OBJECT_UNLOCK (self);
  sl_tracker_configure (self->tracking.tracker, &settings);
  const guint steps = sl_tracking_advance (&self->tracking, GST_BUFFER_PTS (buffer));
  self->frame++;
  self->buffer = buffer;
  self->looked = 0;
  if (self->follows_camera && !follow_camera (self, buffer))
    return fail (self);
  if (sl_buffer_has_objects (buffer, self->width, self->height)) {
    if (gst_buffer_is_writable (buffer))
      sl_prediction_reader_adopt (&self->reader, &buffer, self->width, self->height);
    track_regions (self, buffer, steps, drop_unsure);
    if (self->failure != NULL)
      return fail (self);
    if (self->embedder != NULL)
      sl_stage_latency_note (&self->latency, GST_ELEMENT (self), self->looked);
    if (self->regions->len > 0)
      sl_buffer_keep_regions (buffer);
    tell (self, buffer);
    return GST_FLOW_OK;
  }
  sl_tracker_skip (self->tracking.tracker, steps);
  if (interpolate && gst_buffer_is_writable (buffer))
    add_expected (self, buffer);
  if (interpolate)
    tell (self, buffer);
  return GST_FLOW_OK;
}

/* A frame that gets nothing need not be writable. */
static GstFlowReturn
sl_track_prepare_output_buffer (GstBaseTransform *base, GstBuffer *in, GstBuffer **out)
{
  SlTrack *self = (SlTrack *) base;
  const gboolean regions =
    gst_buffer_get_meta (in, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) != NULL;
  if (regions || sl_buffer_has_related (in, TRUE)
      || (interpolates (self) && !sl_buffer_has_objects (in, self->width, self->height)))
    return GST_BASE_TRANSFORM_CLASS (sl_track_parent_class)->prepare_output_buffer (base, in, out);
  *out = in;
  return GST_FLOW_OK;
}

/* Where pixels are read, only formats that can be read are taken. */
static gboolean
read_format (SlTrack *self, GstCaps *caps)
{
  SlImageInfo image;
  GError *error = NULL;
  if (self->follows_camera
      && !sl_video_input_read (caps, "sltrack with camera-motion=", CAMERA_FORMATS, &self->video,
                               &image, &error))
    return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
  if (self->embedder == NULL
      || (sl_video_input_read (caps, "sltrack with appearance=", SL_VIDEO_INPUT_FORMATS,
                               &self->video, &image, &error)
          && sl_embedder_set_image (self->embedder, &image, &error)))
    return TRUE;
  return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
}

/* Upstream converts to these formats, if it can. */
static GstCaps *
sl_track_transform_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                         GstCaps *filter)
{
  const SlTrack *self = (const SlTrack *) base;
  GstCaps *all = GST_BASE_TRANSFORM_CLASS (sl_track_parent_class)
                   ->transform_caps (base, direction, caps, filter);
  GST_OBJECT_LOCK (base);
  const gboolean camera = self->camera_motion,
                 model = self->appearance != NULL && *self->appearance != '\0';
  GST_OBJECT_UNLOCK (base);
  return direction == GST_PAD_SRC && (camera || model) ? sl_video_input_narrow (
           base, all, filter, camera ? CAMERA_FORMATS : SL_VIDEO_INPUT_FORMATS)
                                                       : all;
}

static void
forget (SlTrack *self)
{
  sl_tracking_reset (&self->tracking);
  sl_shift_forget (&self->shift);
}

static gboolean
sl_track_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  SlTrack *self = (SlTrack *) base;
  const GstStructure *structure = gst_caps_get_structure (in, 0);
  gint width = 0, height = 0, fps_n = 0, fps_d = 1;
  if (!gst_structure_get_int (structure, "width", &width)
      || !gst_structure_get_int (structure, "height", &height))
    return FALSE;
  if (!read_format (self, in))
    return FALSE;
  gst_structure_get_fraction (structure, "framerate", &fps_n, &fps_d);
  /* Boxes of a frame of another size are elsewhere. */
  if (width != self->width || height != self->height)
    forget (self);
  self->width = width;
  self->height = height;
  sl_tracking_set_rate (&self->tracking, fps_n, fps_d);
  return TRUE;
}

static gboolean
sl_track_sink_event (GstBaseTransform *base, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    forget ((SlTrack *) base);
  return GST_BASE_TRANSFORM_CLASS (sl_track_parent_class)->sink_event (base, event);
}

/* slgallery asks from downstream, at its first frame: in the streaming thread. */
static gboolean
answer_looks (SlTrack *self, GstQuery *query)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *hash = self->embedder != NULL ? sl_embedder_hash (self->embedder, &error) : NULL;
  if (hash == NULL)
    return FALSE;
  sl_looks_answer (query, hash, sl_embedder_length (self->embedder));
  g_atomic_int_set (&self->gives_looks, 1);
  return TRUE;
}

static gboolean
sl_track_query (GstBaseTransform *base, GstPadDirection direction, GstQuery *query)
{
  if (direction == GST_PAD_SRC && sl_looks_is_asked (query))
    return answer_looks ((SlTrack *) base, query);
  const gboolean answered =
    GST_BASE_TRANSFORM_CLASS (sl_track_parent_class)->query (base, direction, query);
  if (answered && direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    sl_stage_latency_add (&((SlTrack *) base)->latency, GST_ELEMENT (base), 0, query);
  return answered;
}

/* Loads the model of appearance, where one is wanted. */
static gboolean
open_model (SlTrack *self)
{
  g_autoptr (GError) error = NULL;
  GST_OBJECT_LOCK (self);
  g_autofree char *model = g_strdup (self->appearance), *settings = g_strdup (self->look_settings);
  const guint batch = (guint) self->batch;
  GST_OBJECT_UNLOCK (self);
  if (model == NULL || *model == '\0')
    return TRUE;
  self->embedder = sl_embedder_new (model, settings, batch, &error);
  if (self->embedder == NULL) {
    g_prefix_error (&error, "appearance: ");
    return sl_element_report (GST_ELEMENT (self), error);
  }
  g_autofree char *notice = sl_embedder_take_notice (self->embedder);
  if (notice != NULL)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("appearance=%s: %s", model, notice), (NULL));
  sl_tracker_describe (self->tracking.tracker, sl_embedder_length (self->embedder), look, self);
  return TRUE;
}

static gboolean
sl_track_stop (GstBaseTransform *base)
{
  SlTrack *self = (SlTrack *) base;
  g_clear_pointer (&self->embedder, sl_embedder_free);
  sl_byte_pool_clear (&self->given);
  sl_tracker_describe (self->tracking.tracker, 0, NULL, NULL);
  return TRUE;
}

static gboolean
sl_track_start (GstBaseTransform *base)
{
  SlTrack *self = (SlTrack *) base;
  sl_stage_latency_start (&self->latency, GST_ELEMENT (self));
  self->refused = self->told_blank = FALSE;
  g_atomic_int_set (&self->gives_looks, 0);
  sl_tracking_clear (&self->tracking);
  sl_tracking_init (&self->tracking);
  GST_OBJECT_LOCK (base);
  sl_tracker_set_next_id (self->tracking.tracker, self->next_id);
  self->follows_camera = self->camera_motion;
  GST_OBJECT_UNLOCK (base);
  sl_shift_forget (&self->shift);
  sl_class_choice_clear (&self->choice);
  self->frame = 0;
  return open_model (self);
}

static void
sl_track_finalize (GObject *object)
{
  SlTrack *self = (SlTrack *) object;
  sl_tracking_clear (&self->tracking);
  sl_shift_clear (&self->shift);
  g_ptr_array_unref (self->regions);
  g_ptr_array_unref (self->unsure);
  g_array_unref (self->boxes);
  g_array_unref (self->matches);
  g_array_unref (self->points);
  g_free (self->parts);
  g_free (self->expected);
  g_free (self->objects);
  sl_prediction_reader_clear (&((SlTrack *) object)->reader);
  sl_class_choice_clear (&self->choice);
  g_clear_error (&self->failure);
  g_clear_pointer (&self->embedder, sl_embedder_free);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_track_parent_class)->finalize (object);
}

static void
sl_track_class_init (SlTrackClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_track_debug, "sltrack", 0, "objects followed from frame to frame");
  object_class->finalize = sl_track_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  predictions_signal = sl_prediction_signal_add (object_class);
  sl_element_class_pads (element_class, CAPS, CAPS);
  sl_element_class_describe (
    element_class, "Sightline tracker", "Filter/Analyzer/Video",
    "Tracks objects of any element (ByteTrack, and BoT-SORT with appearance=MODEL): each gets an "
    "id that stays the same "
    "from frame to frame, in a structure \"object_id\" with the field id, as in DL Streamer's "
    "elements.",
    "gst-launch-1.0 v4l2src ! slpredict model=ssd.tflite threshold=0.1 ! sltrack ! sloverlay ! "
    "videoconvert ! autovideosink",
    "predictions.md");
  klass->transform_ip = sl_track_transform_ip;
  klass->prepare_output_buffer = sl_track_prepare_output_buffer;
  klass->transform_caps = sl_track_transform_caps;
  klass->set_caps = sl_track_set_caps;
  klass->sink_event = sl_track_sink_event;
  klass->start = sl_track_start;
  klass->stop = sl_track_stop;
  klass->query = sl_track_query;
}

static void
sl_track_init (SlTrack *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  sl_tracking_init (&self->tracking);
  sl_prediction_reader_init (&self->reader);
  self->regions = g_ptr_array_new ();
  self->unsure = g_ptr_array_new ();
  self->boxes = g_array_new (FALSE, FALSE, sizeof (SlTrackBox));
  self->matches = g_array_new (FALSE, FALSE, sizeof (SlTrackMatch));
  self->points = g_array_new (FALSE, FALSE, sizeof (SlPoint));
  self->parts = g_new (SlTurnedRect, SL_TRACK_MOST);
  self->expected = g_new (SlTracked, SL_TRACK_MOST);
  self->objects = g_new (SlObjectView, SL_TRACK_MOST);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
