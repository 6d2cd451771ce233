/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slpostprocess: output tensors -> predictions, as text, as JSON, or as metas on the original
 * frame.
 *
 * A GstElement with its own chain function, not a GstBaseTransform: in video mode the caps of the
 * source pad are those of the frame inside the first buffer's SlFrameMeta, which no caps event of
 * the sink pad tells, and what is pushed is that frame, not a buffer made from the input. So sticky
 * events wait until the first buffer has chosen the output. Invariant: nothing but STREAM_START
 * (and EOS) leaves before the CAPS event.
 */
#include "plugins/elements.h"

#include "plugins/base/describe.h"
#include "plugins/base/held_events.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/base/byte_pool.h"
#include "plugins/meta/class_names.h"
#include "plugins/meta/landmark_event.h"
#include "plugins/meta/seen_event.h"
#include "plugins/meta/object_results.h"
#include "plugins/meta/regions/choose.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/prediction_signal.h"
#include "plugins/meta/vector_meta.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/tensor/caps.h"
#include "plugins/tensor/decoding.h"
#include "plugins/tensor/result_output.h"
#include "plugins/base/tracking.h"
#include "plugins/tensor/caps_probe.h"
#include "plugins/video/tiles.h"
#include "plugins/video/decoded_picture.h"
#include "postprocess/predictions/mapper.h"
#include "postprocess/predictions/parts.h"

GST_DEBUG_CATEGORY_STATIC (sl_postprocess_debug);
#define GST_CAT_DEFAULT sl_postprocess_debug

/* Overlap above which the less confident of two objects goes that were found in tiles, where
 * nothing else is said. */
#define TILE_IOU 0.45
typedef struct
{
  gdouble threshold, iou_threshold;
  gint max_results, top_k;
  char *decoder, *labels, *classes, *source;
  gboolean post_messages, track;
  gint next_id;
} Settings;

typedef struct
{
  GstElement parent;
  GstPad *sinkpad, *srcpad;
  gboolean seen;     /* of sl_seen_send() */
  Settings settings; /* object lock */
  gboolean stale;    /* object lock: settings changed since the decoder was opened */
  /* The rest is the streaming thread's. */
  GstSegment segment;
  GstCaps *tensor_caps;
  SlTensorDecoding tensors;
  const char *model; /* (nullable): name of the file that the tensors come from, interned */
  SlPredictionMapper *predictions;
  SlPredictionParts *parts;  /* (nullable): of objects whose model made a mask of classes */
  SlObjectResults *nested;   /* what was said of objects of @gathering */
  GstBuffer *gathering;      /* (nullable): the frame whose objects are coming in */
  SlTiles *tiles;            /* (nullable): what was found in tiles */
  SlPredictionReader reader; /* of frames with objects */
  guint top_k, max_results;
  double iou; /* of tiles */
  char *source;
  gboolean post_messages, track;
  double lowest; /* with track: what is reported without following an object */
  SlTracking tracking;
  GString *line;
  SlBytePool bytes; /* of lines and masks */
  SlDecodedPicture picture;
  SlLatency latency;
  SlResultOutput output;
  guint64 frame;
  gboolean refused;
  gboolean warned_no_frame, warned_left_out, told_vector; /* said since the start */
} SlPostprocess;

typedef GstElementClass SlPostprocessClass;

G_DEFINE_TYPE (SlPostprocess, sl_postprocess, GST_TYPE_ELEMENT)

static guint predictions_signal;

#define AT(member) G_STRUCT_OFFSET (SlPostprocess, settings.member)

static const SlProperty properties[] = {
  { "threshold", "Threshold",
    "Least confidence, 0..1; -1 = the decoder's default: 0.5 for most objects, 0 for labels of the "
    "whole picture",
    SL_PROPERTY_DOUBLE, AT (threshold), -1, 1, -1, NULL, TRUE },
  { "iou-threshold", "Overlap threshold",
    "Overlap (intersection over union) above which the less confident of two boxes is removed, "
    "0..1; 0 = the decoder's default",
    SL_PROPERTY_DOUBLE, AT (iou_threshold), 0, 1, 0, NULL, TRUE },
  { "max-results", "Most objects", "Most objects of a frame, best first", SL_PROPERTY_INT,
    AT (max_results), 1, SL_MAX_RESULTS, 100, NULL, TRUE },
  { "top-k", "Most labels",
    "Most labels of the whole picture for a frame, best first; text output shows the best one",
    SL_PROPERTY_INT, AT (top_k), 1, SL_MAX_RESULTS, 1, NULL, TRUE },
  { "decoder", "Decoder",
    "What the tensors mean: labels, ssd, yolo, pose, ... with parameters, such as yolo,preset=v5; "
    "unset = what the model says, else told by their shapes",
    SL_PROPERTY_STRING, AT (decoder) },
  { "labels", "Labels",
    "Path of a labels file, such as text with a class name in each line; unset = the model's; "
    "classes without a name get their number",
    SL_PROPERTY_STRING, AT (labels) },
  { "classes", "Classes",
    "Reported classes, separated by ',', such as person,car, or with ! excluded classes, such as "
    "!dog; unset = all",
    SL_PROPERTY_STRING, AT (classes), 0, 0, 0, NULL, TRUE },
  { "source", "Source",
    "Text for \"source\" of JSON output, such as the name of the file or camera; unset = null",
    SL_PROPERTY_STRING, AT (source), 0, 0, 0, NULL, TRUE },
  { "post-messages", "Post messages",
    "Post an element message \"prediction\" for each frame, with the fields frame and timestamp "
    "(uint64) and json (string)",
    SL_PROPERTY_BOOL, AT (post_messages), 0, 0, FALSE, NULL, TRUE },
  { "track", "Track",
    "Track objects: each has the same id from frame to frame, in every output. Boxes below "
    "threshold, down to 0.1, are then reported if they continue an object. sltrack does the same "
    "on video with more settings. Objects inside objects are not tracked",
    SL_PROPERTY_BOOL, AT (track), 0, 0, FALSE, NULL, TRUE },
  { "next-id", "Next id", SL_TRACKING_NEXT_ID_HELP, SL_PROPERTY_INT, AT (next_id), 1, G_MAXINT, 1 },
};

/* Tracking also wants the boxes that are too unsure to be reported by themselves. */
static gboolean
open_tracking (SlPostprocess *self, SlDecodingSettings *settings, const char *classes,
               GError **error)
{
  SlTrackSettings track = sl_track_defaults;
  gint fps_n = 0, fps_d = 1;
  track.high = track.fresh =
    settings->threshold >= 0 ? settings->threshold : sl_decoding_threshold (self->tensors.decoding);
  track.low = MIN (track.low, track.high);
  self->lowest = track.high;
  gst_structure_get_fraction (gst_caps_get_structure (self->tensor_caps, 0), "framerate", &fps_n,
                              &fps_d);
  sl_tracking_set_rate (&self->tracking, fps_n, fps_d);
  sl_tracker_configure (self->tracking.tracker, &track);
  settings->threshold = track.low;
  return sl_tensor_decoding_open (&self->tensors, self->tensor_caps, settings, classes, error);
}

/* Opens a decoder for @caps by what is set now. @stale: (out) (nullable): cleared when it is opened
 * for good */
static gboolean
open_for (SlPostprocess *self, SlTensorDecoding *tensors, GstCaps *caps, gboolean *stale,
          GError **error)
{
  GST_OBJECT_LOCK (self);
  g_autofree char *decoder = g_strdup (self->settings.decoder);
  g_autofree char *labels = g_strdup (self->settings.labels);
  g_autofree char *classes = g_strdup (self->settings.classes);
  SlDecodingSettings settings = { self->settings.threshold, self->settings.iou_threshold,
                                  MAX (self->settings.max_results, self->settings.top_k), decoder,
                                  labels };
  if (stale != NULL) {
    g_free (self->source);
    self->source = g_strdup (self->settings.source);
    self->top_k = (guint) self->settings.top_k;
    self->max_results = (guint) self->settings.max_results;
    self->iou = self->settings.iou_threshold > 0 ? self->settings.iou_threshold : TILE_IOU;
    self->post_messages = self->settings.post_messages;
    self->track = self->settings.track;
    *stale = FALSE;
  }
  GST_OBJECT_UNLOCK (self);
  return sl_tensor_decoding_open (tensors, caps, &settings, classes, error)
         && (stale == NULL || !self->track || open_tracking (self, &settings, classes, error));
}

/* Says once what numbers are given for that a user may have expected labels of. */
static void
tell_vector (SlPostprocess *self)
{
  GST_OBJECT_LOCK (self);
  g_autofree char *stated = g_strdup (self->settings.decoder);
  GST_OBJECT_UNLOCK (self);
  const char *note = sl_decoding_vector_note (self->tensors.decoding,
                                              sl_tensor_caps_contract (self->tensor_caps), stated);
  if (note == NULL || self->told_vector)
    return;
  self->told_vector = TRUE;
  GST_ELEMENT_INFO (self, STREAM, DECODE, ("%s", note), (NULL));
}

/* Says once that pictures were made for another decoder. */
static void
tell_fit (SlPostprocess *self, const SlFrameMeta *meta)
{
  g_autofree char *doubt = sl_tensor_decoding_doubt (&self->tensors, self->tensor_caps, meta);
  if (doubt != NULL)
    GST_ELEMENT_WARNING (self, STREAM, DECODE, ("%s", doubt), (NULL));
}

/* Opens the decoder for the current caps and settings. */
static gboolean
open_decoding (SlPostprocess *self)
{
  GError *error = NULL;
  if (!open_for (self, &self->tensors, self->tensor_caps, &self->stale, &error))
    return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
  self->refused = FALSE;
  sl_prediction_mapper_choose (self->predictions, self->tensors.classes, self->max_results);
  g_autoptr (GPtrArray) names =
    sl_decoding_class_names (self->tensors.decoding, self->tensors.labels);
  sl_class_names_offer (self->srcpad, names);
  gst_clear_caps (&self->picture.caps);
  const SlContract *contract = sl_tensor_caps_contract (self->tensor_caps);
  g_autofree char *name = contract != NULL ? g_path_get_basename (contract->model) : NULL;
  self->model = name != NULL ? g_intern_string (name) : NULL;
  tell_vector (self);
  GST_INFO_OBJECT (self, "decoder %s for %" GST_PTR_FORMAT,
                   sl_decoding_decoder (self->tensors.decoding)->name, self->tensor_caps);
  return TRUE;
}

static gboolean
sl_postprocess_sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCaps *caps = sl_caps_probe_asked (query);
  g_autoptr (GError) error = NULL;
  SlTensorDecoding tensors = { 0 };
  if (caps == NULL)
    return gst_pad_query_default (pad, parent, query);
  open_for ((SlPostprocess *) parent, &tensors, caps, NULL, &error);
  sl_tensor_decoding_clear (&tensors);
  sl_caps_probe_answer (query, error);
  return TRUE;
}

static gboolean
settings_changed (SlPostprocess *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->stale;
}

/* Whether the numbers of the frame can be what the decoder takes them for. What they decided is
 * told. */
static gboolean
agrees (SlPostprocess *self)
{
  const SlContract *contract = sl_tensor_caps_contract (self->tensor_caps);
  g_autoptr (GError) error = NULL;
  g_autofree char *choice = sl_decoding_take_choice (self->tensors.decoding);
  if (choice != NULL)
    GST_ELEMENT_INFO (self, STREAM, DECODE, ("%s", choice), (NULL));
  if (sl_decoding_agrees (self->tensors.decoding, contract != NULL ? contract->model : NULL,
                          &error))
    return TRUE;
  return sl_element_report (GST_ELEMENT (self), error);
}

static GstFlowReturn
fail_buffer (SlPostprocess *self, GstBuffer *buffer, SlTensorMappingStatus status)
{
  g_autofree char *text = sl_tensor_mapping_complaint (&self->tensors.mapping, buffer, status);
  GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", text), (NULL));
  return GST_FLOW_ERROR;
}

/* Caps of what goes out as video: the picture that the decoder made, else the frame; NULL when
 * there is neither. */
static GstCaps *
video_caps (const SlPostprocess *self, const SlFrameMeta *meta)
{
  if (self->picture.caps != NULL)
    return self->picture.caps;
  return meta != NULL && meta->frame != NULL ? meta->caps : NULL;
}

/* Makes sure that downstream knows the caps of what comes next. */
static GstFlowReturn
negotiate (SlPostprocess *self, const SlFrameMeta *meta)
{
  GstCaps *video = video_caps (self, meta);
  if (!gst_pad_check_reconfigure (self->srcpad) && sl_result_output_fits (&self->output, video))
    return GST_FLOW_OK;
  const GstFlowReturn flow =
    sl_result_output_choose (&self->output, GST_ELEMENT (self), self->srcpad, video, meta);
  if (flow == GST_FLOW_OK)
    GST_INFO_OBJECT (self, "output %" GST_PTR_FORMAT, self->output.caps);
  return flow;
}

static void
find_geometry (SlPostprocess *self, const SlFrameMeta *meta, SlFrameGeometry *geometry)
{
  if (meta != NULL && meta->frame != NULL) {
    geometry->affine = meta->affine;
    geometry->tensor_width = meta->tensor_width;
    geometry->tensor_height = meta->tensor_height;
    geometry->frame_width = GST_VIDEO_INFO_WIDTH (&meta->info);
    geometry->frame_height = GST_VIDEO_INFO_HEIGHT (&meta->info);
    return;
  }
  sl_affine_identity (&geometry->affine);
  geometry->tensor_width = geometry->frame_width = self->tensors.tensor_width;
  geometry->tensor_height = geometry->frame_height = self->tensors.tensor_height;
  if (!self->warned_no_frame) {
    self->warned_no_frame = TRUE;
    GST_ELEMENT_WARNING (
      self, STREAM, FORMAT,
      ("the tensors bring no frame: results are in coordinates of the model's input, %dx%d; "
       "expected tensors from slnormalize",
       geometry->tensor_width, geometry->tensor_height),
      (NULL));
  }
}

/* What @prediction says about its frame as such. */
static void
name_frame (SlPostprocess *self, GstBuffer *buffer, const SlFrameMeta *meta,
            SlPredictionView *prediction)
{
  prediction->source = self->source;
  prediction->frame = self->frame;
  sl_prediction_set_times (prediction, buffer, &self->segment, meta, &self->latency);
}

static gboolean
is_of_object (const SlFrameMeta *meta)
{
  return meta != NULL
         && (meta->content == SL_FRAME_OBJECT || meta->content == SL_FRAME_LAST_OBJECT);
}

/* A mask of classes over one object is parts of it; FALSE when the tensors are about something
 * else. */
static gboolean
decode_parts (SlPostprocess *self, const SlFrameMeta *meta, const SlResult *result,
              const SlFrameGeometry *geometry, SlPredictionView *prediction)
{
  SlRect region;
  if (result->mask.width == 0 || !is_of_object (meta) || meta->frame == NULL
      || !sl_object_region_find (meta->frame, &meta->info, meta->region, &region))
    return FALSE;
  if (self->parts == NULL)
    self->parts = sl_prediction_parts_new ();
  sl_prediction_parts_choose (self->parts, self->tensors.classes, self->max_results);
  sl_prediction_parts_run (self->parts, &result->mask, geometry, &region, self->tensors.labels,
                           sl_decoding_names (self->tensors.decoding, NULL), prediction);
  return TRUE;
}

/* Decodes @buffer into @prediction; the strings are the element's until the next frame. */
static SlTensorMappingStatus
decode (SlPostprocess *self, GstBuffer *buffer, const SlFrameMeta *meta,
        SlPredictionView *prediction)
{
  SlFrameGeometry geometry;
  SlTensorMappingStatus status = sl_tensor_mapping_read (&self->tensors.mapping, buffer);
  if (status != SL_TENSOR_MAPPING_OK)
    return status;
  const SlResult *result = sl_decoding_run (self->tensors.decoding, self->tensors.mapping.data);
  sl_tensor_mapping_done (&self->tensors.mapping);
  sl_decoded_picture_take (&self->picture, &result->picture, self->tensor_caps);
  find_geometry (self, meta, &geometry);
  tell_fit (self, meta);
  if (!decode_parts (self, meta, result, &geometry, prediction))
    sl_prediction_mapper_fill (self->predictions, result, self->tensors.labels,
                               sl_decoding_names (self->tensors.decoding, NULL), &geometry,
                               self->top_k, prediction);
  name_frame (self, buffer, meta, prediction);
  return SL_TENSOR_MAPPING_OK;
}

/* Timestamps of the stages and the frame's number travel on with the result; the frame itself does
 * not, it may be the result. */
static void
stamp (SlPostprocess *self, GstBuffer *out, const SlFrameMeta *from)
{
  SlFrameMeta *meta = sl_buffer_ensure_frame_meta (out, &from->info);
  const SlFrameContent content = meta->content; /* of @out, not of the tensor */
  sl_frame_meta_copy_values (meta, from);
  meta->content = content;
  meta->region = 0;
  meta->decoded = g_get_monotonic_time ();
  meta->number = self->frame - 1;
}

/* Takes @buffer. */
static GstFlowReturn
push_frame (SlPostprocess *self, GstBuffer *buffer, const SlPredictionView *prediction)
{
  const SlFrameMeta times = *sl_buffer_get_frame_meta (buffer);
  GstBuffer *frame = sl_buffer_unwrap_frame (buffer);
  sl_buffer_add_prediction (frame, prediction, &self->bytes);
  /* A classifier of the whole picture has not looked for objects, so results of upstream detectors
   * stay valid. */
  const gboolean looked = prediction->n_labels == 0 || sl_buffer_was_looked_at (frame);
  stamp (self, frame, &times);
  sl_buffer_get_frame_meta (frame)->content = looked ? SL_FRAME_WHOLE : SL_FRAME_SKIPPED;
  return gst_pad_push (self->srcpad, frame);
}

/* Takes @buffer. */
static GstFlowReturn
push_gap (SlPostprocess *self, GstBuffer *buffer)
{
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    gst_pad_push_event (self->srcpad,
                        gst_event_new_gap (GST_BUFFER_PTS (buffer), GST_BUFFER_DURATION (buffer)));
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

/* Takes @buffer. */
static GstFlowReturn
push_picture (SlPostprocess *self, GstBuffer *buffer, const SlFrameMeta *meta,
              const SlPredictionView *prediction)
{
  GstBuffer *out = sl_decoded_picture_copy (&self->picture);
  gst_buffer_copy_into (out, buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  if (meta != NULL)
    stamp (self, out, meta);
  if (prediction->vector.n > 0)
    sl_buffer_add_vector_meta (out, &prediction->vector);
  gst_buffer_unref (buffer);
  return gst_pad_push (self->srcpad, out);
}

static void
post_prediction (SlPostprocess *self, const SlPredictionView *prediction)
{
  g_string_truncate (self->line, 0);
  sl_prediction_append_json (self->line, prediction);
  GstStructure *structure = gst_structure_new (
    "prediction", "frame", G_TYPE_UINT64, prediction->frame, "timestamp", G_TYPE_UINT64,
    prediction->timestamp, "json", G_TYPE_STRING, self->line->str, NULL);
  sl_element_post (GST_ELEMENT (self), structure);
}

/* Takes @buffer. */
static GstFlowReturn
push_line (SlPostprocess *self, GstBuffer *buffer, const SlFrameMeta *meta,
           const SlPredictionView *prediction)
{
  sl_result_output_write (&self->output, prediction, self->line);
  if (self->line->len == 0)
    return push_gap (self, buffer);
  GstBuffer *out = sl_byte_pool_take (&self->bytes, self->line->str, self->line->len);
  gst_buffer_copy_into (out, buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  GST_BUFFER_OFFSET (out) = prediction->frame;
  if (meta != NULL)
    stamp (self, out, meta);
  gst_buffer_unref (buffer);
  return gst_pad_push (self->srcpad, out);
}

/* Takes @buffer, of a frame that it was not the turn of: video goes on, with a mark that says so,
 * else there is nothing to tell. */
static GstFlowReturn
push_skipped (SlPostprocess *self, GstBuffer *buffer)
{
  const SlFrameMeta passed = *sl_buffer_get_frame_meta (buffer);
  self->frame++;
  if (self->track)
    sl_tracking_skip (&self->tracking, GST_BUFFER_PTS (buffer));
  if (self->output.form != SL_RESULT_VIDEO || self->picture.caps != NULL)
    return push_gap (self, buffer);
  GstBuffer *frame = sl_buffer_unwrap_frame (buffer);
  SlFrameMeta *meta = sl_buffer_ensure_frame_meta (frame, &passed.info);
  meta->number = self->frame - 1;
  if (passed.content == SL_FRAME_SKIPPED
      && !sl_buffer_was_looked_at (frame)) { /* not by a model before this one either */
    meta->captured = passed.captured;
    meta->content = SL_FRAME_SKIPPED;
  }
  return gst_pad_push (self->srcpad, frame);
}

/* Takes @buffer, the last of a frame whose objects were looked at: what was said of them goes onto
 * the frame, and what the frame then carries goes out. */
static GstFlowReturn
push_objects (SlPostprocess *self, GstBuffer *buffer)
{
  const SlFrameMeta times = *sl_buffer_get_frame_meta (buffer);
  SlPredictionView prediction = { .width = GST_VIDEO_INFO_WIDTH (&times.info),
                                  .height = GST_VIDEO_INFO_HEIGHT (&times.info) };
  if (self->gathering != times.frame)
    sl_object_results_clear (self->nested);
  gst_clear_buffer (&self->gathering);
  GstBuffer *frame = sl_buffer_unwrap_frame (buffer);
  sl_object_results_attach (self->nested, frame, prediction.width, prediction.height);
  name_frame (self, frame, &times, &prediction);
  self->frame++;
  sl_prediction_reader_read (&self->reader, frame, &prediction);
  if (times.follows)
    sl_followed_send (self->sinkpad, &prediction,
                      (double) times.tensor_width / times.tensor_height);
  sl_prediction_signal_emit (self, predictions_signal, &prediction);
  if (self->post_messages)
    post_prediction (self, &prediction);
  if (self->output.form != SL_RESULT_VIDEO)
    return push_line (self, frame, &times, &prediction);
  stamp (self, frame, &times);
  return gst_pad_push (self->srcpad, frame);
}

/* What was made of a tile or an object, and has no place on the frame, is said once. */
static void
warn_left_out (SlPostprocess *self, const SlPredictionView *prediction, gboolean tile)
{
  const char *what = self->picture.last.width > 0         ? "pictures"
                     : prediction->vector.n > 0           ? "vectors"
                     : prediction->outputs.n > 0          ? "tensors"
                     : tile && prediction->n_labels > 0   ? "labels"
                     : tile && prediction->mask.width > 0 ? "masks of classes"
                                                          : NULL;
  if (what == NULL || self->warned_left_out)
    return;
  self->warned_left_out = TRUE;
  GST_ELEMENT_WARNING (
    self, STREAM, NOT_IMPLEMENTED,
    ("%s made of %s are left out; expected a model that gives %s", what,
     tile ? "tiles" : "single objects",
     tile ? "objects: unset tiles"
     : prediction->vector.n > 0
       ? "labels, objects, poses or a mask of classes; decoder=labels takes the numbers for scores "
         "of classes"
       : "labels, objects, poses or a mask of classes; run this one on whole frames"),
    (NULL));
}

/* Keeps what was said of one object of a frame. */
static void
gather (SlPostprocess *self, const SlFrameMeta *meta, const SlPredictionView *prediction)
{
  if (self->gathering != meta->frame)
    sl_object_results_clear (self->nested);
  gst_buffer_replace (&self->gathering, meta->frame);
  sl_object_results_add (self->nested, meta->region, prediction, self->track ? self->lowest : 0,
                         self->model);
  warn_left_out (self, prediction, FALSE);
}

/* Gives objects ids, and keeps next-id. */
static void
follow (SlPostprocess *self, SlPredictionView *prediction, GstClockTime time)
{
  sl_tracking_run (&self->tracking, prediction, time);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  self->settings.next_id = sl_tracker_next_id (self->tracking.tracker);
}

/* Takes @buffer, which holds tensors. */
static GstFlowReturn
take_tensors (SlPostprocess *self, GstBuffer *buffer)
{
  SlPredictionView prediction = { 0 };
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  SlTensorMappingStatus status = decode (self, buffer, meta, &prediction);
  GstFlowReturn flow = status != SL_TENSOR_MAPPING_OK ? fail_buffer (self, buffer, status)
                       : !agrees (self)               ? GST_FLOW_ERROR
                                                      : negotiate (self, meta);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  if (meta != NULL && (meta->content == SL_FRAME_TILE || meta->content == SL_FRAME_LAST_TILE))
    warn_left_out (self, &prediction, TRUE);
  if (sl_tiles_gather (&self->tiles, meta, &prediction, self->iou, self->max_results)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  if (is_of_object (meta)) {
    gather (self, meta, &prediction);
    if (meta->content == SL_FRAME_LAST_OBJECT)
      return push_objects (self, buffer);
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  self->frame++;
  if (meta != NULL && meta->budgeted)
    sl_seen_send (self->sinkpad, &self->seen, prediction.n_objects > 0);
  if (self->track)
    follow (self, &prediction, GST_BUFFER_PTS (buffer));
  sl_prediction_signal_emit (self, predictions_signal, &prediction);
  if (self->post_messages)
    post_prediction (self, &prediction);
  if (self->output.form != SL_RESULT_VIDEO)
    return push_line (self, buffer, meta, &prediction);
  return self->picture.caps != NULL ? push_picture (self, buffer, meta, &prediction)
                                    : push_frame (self, buffer, &prediction);
}

static GstFlowReturn
sl_postprocess_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  SlPostprocess *self = (SlPostprocess *) parent;
  if (self->tensors.decoding == NULL || (settings_changed (self) && !open_decoding (self))) {
    gst_buffer_unref (buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (!sl_buffer_is_empty_frame (buffer))
    return take_tensors (self, buffer);
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  GstFlowReturn flow = meta->frame != NULL ? negotiate (self, meta) : GST_FLOW_ERROR;
  if (flow == GST_FLOW_OK)
    return meta->content == SL_FRAME_NO_OBJECTS ? push_objects (self, buffer)
                                                : push_skipped (self, buffer);
  gst_buffer_unref (buffer);
  return flow;
}

static void
forget_stream (SlPostprocess *self)
{
  sl_tiles_forget (self->tiles);
  sl_result_output_clear (&self->output);
  gst_clear_caps (&self->picture.caps);
  sl_byte_pool_clear (&self->bytes);
  sl_decoded_picture_clear (&self->picture);
  gst_clear_buffer (&self->gathering);
  sl_tensor_decoding_clear (&self->tensors);
  gst_clear_caps (&self->tensor_caps);
}

static gboolean
take_caps (SlPostprocess *self, GstEvent *event)
{
  GstCaps *caps = NULL;
  gst_event_parse_caps (event, &caps);
  gst_caps_replace (&self->tensor_caps, caps);
  gst_event_unref (event);
  sl_tiles_forget (self->tiles);
  return open_decoding (self);
}

static void
flush (SlPostprocess *self)
{
  sl_held_events_flush (&self->output.held);
  gst_clear_buffer (&self->gathering);
  sl_tiles_forget (self->tiles);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  sl_tracking_reset (&self->tracking);
}

/* A gap before the first buffer chooses the output when that is not video; else there is nothing to
 * tell yet. */
static gboolean
take_gap (SlPostprocess *self, GstEvent *event)
{
  if (self->output.form == SL_RESULT_NONE
      && (!sl_result_output_is_lines (self->srcpad) || negotiate (self, NULL) != GST_FLOW_OK)) {
    gst_event_unref (event);
    return TRUE;
  }
  return gst_pad_push_event (self->srcpad, event);
}

static gboolean
sl_postprocess_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SlPostprocess *self = (SlPostprocess *) parent;
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      return take_caps (self, event);
    case GST_EVENT_GAP:
      return take_gap (self, event);
    case GST_EVENT_STREAM_START:
      self->frame = 0;
      self->seen = FALSE;
      sl_tracking_reset (&self->tracking);
      return gst_pad_push_event (self->srcpad, event);
    case GST_EVENT_FLUSH_STOP:
      flush (self);
      break;
    case GST_EVENT_EOS:
      sl_held_events_push (&self->output.held, self->srcpad);
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->segment);
      break;
    default:
      break;
  }
  if (GST_EVENT_IS_STICKY (event) && GST_EVENT_TYPE (event) != GST_EVENT_EOS
      && self->output.form == SL_RESULT_NONE) {
    g_queue_push_tail (&self->output.held, event);
    return TRUE;
  }
  return gst_pad_event_default (pad, parent, event);
}

static GstStateChangeReturn
sl_postprocess_change_state (GstElement *element, GstStateChange transition)
{
  SlPostprocess *self = (SlPostprocess *) element;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    self->refused = self->warned_no_frame = self->warned_left_out = self->told_vector = FALSE;
    self->tensors.told_fit = FALSE;
    self->frame = 0;
    self->seen = FALSE;
    gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
    sl_tracking_clear (&self->tracking);
    sl_tracking_init (&self->tracking);
    GST_OBJECT_LOCK (self);
    sl_tracker_set_next_id (self->tracking.tracker, self->settings.next_id);
    GST_OBJECT_UNLOCK (self);
  }
  GstStateChangeReturn result =
    GST_ELEMENT_CLASS (sl_postprocess_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    forget_stream (self);
  return result;
}

static void
sl_postprocess_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (object));
  sl_property_set (object, &properties[id - 1], value);
  ((SlPostprocess *) object)->stale = TRUE;
}

static void
sl_postprocess_finalize (GObject *object)
{
  SlPostprocess *self = (SlPostprocess *) object;
  forget_stream (self);
  sl_prediction_mapper_free (self->predictions);
  sl_prediction_parts_free (self->parts);
  sl_tracking_clear (&self->tracking);
  sl_object_results_free (self->nested);
  sl_tiles_free (self->tiles);
  sl_prediction_reader_clear (&self->reader);
  g_string_free (self->line, TRUE);
  g_free (self->source);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_postprocess_parent_class)->finalize (object);
}

static void
sl_postprocess_class_init (SlPostprocessClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_postprocess_debug, "slpostprocess", 0, "tensors to predictions");
  object_class->finalize = sl_postprocess_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  object_class->set_property = sl_postprocess_set_property;
  predictions_signal = sl_prediction_signal_add (object_class);
  sl_element_class_pads (element_class, SL_TENSOR_TEMPLATE_CAPS, SL_RESULT_OUTPUT_CAPS);
  sl_element_class_describe (
    element_class, "Sightline postprocessor", "Filter/Analyzer/Converter/Tensor",
    "Decodes a model's output tensors and maps the results to pixels of the original frame. The "
    "caps downstream choose the output: video/x-raw is the original frame with "
    "GstVideoRegionOfInterestMeta (or the picture that the model made), text/x-raw a line for each "
    "object (label confidence x y w h) or the best label, application/x-json a line for each "
    "frame.",
    "gst-launch-1.0 filesrc location=picture.jpg ! decodebin ! slnormalize ! slinfer "
    "model=ssd.tflite ! slpostprocess threshold=0.6 ! application/x-json ! fdsink",
    "predictions.md");
  element_class->change_state = sl_postprocess_change_state;
}

static void
sl_postprocess_init (SlPostprocess *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  self->predictions = sl_prediction_mapper_new ();
  sl_tracking_init (&self->tracking);
  self->nested = sl_object_results_new ();
  sl_prediction_reader_init (&self->reader);
  self->line = g_string_new (NULL);
  g_queue_init (&self->output.held);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  self->sinkpad =
    gst_pad_new_from_template (gst_element_get_pad_template (GST_ELEMENT (self), "sink"), "sink");
  GST_PAD_SET_ACCEPT_INTERSECT (self->sinkpad);
  GST_PAD_SET_ACCEPT_TEMPLATE (self->sinkpad);
  gst_pad_set_chain_function (self->sinkpad, sl_postprocess_chain);
  gst_pad_set_event_function (self->sinkpad, sl_postprocess_sink_event);
  gst_pad_set_query_function (self->sinkpad, sl_postprocess_sink_query);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad =
    gst_pad_new_from_template (gst_element_get_pad_template (GST_ELEMENT (self), "src"), "src");
  gst_pad_use_fixed_caps (self->srcpad);
  sl_class_names_install (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
