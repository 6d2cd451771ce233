/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sltensorconvert: between other/tensors, as slinfer and slpostprocess have them, and GstTensorMeta
 * on frames, as GStreamer's own inference elements and tensor decoders have them. What comes in
 * decides the direction: tensors go onto the frame that they were made of, which goes out; of a
 * frame with tensors the tensors go out, with the frame as slnormalize leaves it. Nothing is
 * copied.
 *
 * A GstElement with its own chain function, for the reason that slpostprocess has: what goes out is
 * known with the first buffer. Invariant: nothing but STREAM_START (and EOS) leaves before the CAPS
 * event.
 */
#include "plugins/elements.h"

#include <gst/analytics/analytics.h>
#include <math.h>

#include "models/model.h"
#include "plugins/base/describe.h"
#include "plugins/base/held_events.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/tensor/caps.h"
#include "plugins/tensor/decoding.h"
#include "plugins/tensor/mapping.h"
#include "plugins/tensor/tensor_meta.h"
#include "core/base/fail.h"

typedef struct
{
  GstElement parent;
  GstPad *sinkpad, *srcpad;
  char *model, *ids;    /* object lock */
  SlContract *contract; /* (nullable): of model, from READY on */
  /* The rest is the streaming thread's. */
  gboolean to_frames;              /* tensors come in, frames go out */
  SlTensorInfo tensors[SL_MAX_IO]; /* that come in, or went out last */
  guint n_tensors;
  GQuark names[SL_MAX_IO];
  GstVideoInfo info;   /* of frames that come in */
  GstCaps *input_caps; /* (nullable) */
  GstCaps *output_caps;
  GQueue held; /* sticky events waiting for the output's caps */
  gboolean refused, warned_part;
} SlTensorConvert;

typedef GstElementClass SlTensorConvertClass;

G_DEFINE_TYPE (SlTensorConvert, sl_tensor_convert, GST_TYPE_ELEMENT)

#define TEMPLATE_CAPS SL_TENSOR_TEMPLATE_CAPS "; video/x-raw(ANY)"

#define AT(member) G_STRUCT_OFFSET (SlTensorConvert, member)

static const SlProperty properties[] = {
  { "model", "Model",
    "Model file whose outputs the tensors on frames are, such as model=ssd.onnx: what it and "
    "MODEL.modelinfo say of decoder, labels and quantisation goes with the tensors; unset = types "
    "and dimensions are all that is known",
    SL_PROPERTY_STRING, AT (model) },
  { "ids", "Ids",
    "What the tensors are called on frames, with ',' between, in the model's order, such as "
    "ids=boxes,scores; unset = the ids in MODEL.modelinfo, else those of GStreamer's decoder of "
    "the same, else the outputs' names",
    SL_PROPERTY_STRING, AT (ids) },
};

static void
forget_tensors (SlTensorConvert *self)
{
  sl_tensor_infos_clear (self->tensors, self->n_tensors);
  self->n_tensors = 0;
}

/* The ids that the property states; FALSE with @error set when they are not as many as the tensors.
 */
static gboolean
name_by_property (SlTensorConvert *self, const char *text, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  const guint n = g_strv_length (words);
  if (n != self->n_tensors) {
    g_autofree char *got = sl_tensor_infos_describe (self->tensors, self->n_tensors);
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "sltensorconvert: ids: expected %u with ',' between, one for each of %s, got %u in '%s'",
      self->n_tensors, got, n, text);
  }
  for (guint i = 0; i < n; i++)
    self->names[i] = g_quark_from_string (g_strstrip (words[i]));
  return TRUE;
}

/* What decoders called tensors before GStreamer 1.28 took the registry's ids. */
static const char *
spell_id (const char *id)
{
  static const char *const older[][2] = {
    { "ssd-mobilenet-v1-variant-1-out-boxes", "Gst.Model.ObjectDetector.Boxes" },
    { "ssd-mobilenet-v1-variant-1-out-classes", "Gst.Model.ObjectDetector.Classes" },
    { "ssd-mobilenet-v1-variant-1-out-scores", "Gst.Model.ObjectDetector.Scores" },
    { "generic-variant-1-out-count", "Gst.Model.ObjectDetector.NumDetections" },
  };
  guint major, minor, micro, nano;
  gst_version (&major, &minor, &micro, &nano);
  for (guint i = 0; id != NULL && minor < 27 && i < G_N_ELEMENTS (older); i++)
    if (g_str_equal (id, older[i][0]))
      return older[i][1];
  return id;
}

static gboolean
name_tensors (SlTensorConvert *self, const GstCaps *caps, GError **error)
{
  const SlContract *contract = sl_tensor_caps_contract (caps);
  const char *ids[SL_MAX_IO] = { NULL };
  GST_OBJECT_LOCK (self);
  g_autofree char *stated = g_strdup (self->ids);
  GST_OBJECT_UNLOCK (self);
  if (stated != NULL)
    return name_by_property (self, stated, error);
  sl_tensor_decoding_ids (caps, ids);
  for (guint i = 0; i < self->n_tensors; i++) {
    const SlTensorInfo *output =
      contract != NULL && i < contract->n_outputs ? &contract->outputs[i] : &self->tensors[i];
    const char *id = spell_id (output->id != NULL ? output->id
                               : ids[i] != NULL   ? ids[i]
                                                  : output->name);
    self->names[i] = id != NULL && id[0] != '\0' ? g_quark_from_string (id) : 0;
  }
  return TRUE;
}

static gboolean
take_tensor_caps (SlTensorConvert *self, GstCaps *caps)
{
  GError *error = NULL;
  self->n_tensors = sl_tensor_caps_parse (caps, self->tensors, &error);
  if (self->n_tensors > 0 && name_tensors (self, caps, &error))
    return TRUE;
  return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
}

static gboolean
take_video_caps (SlTensorConvert *self, GstCaps *caps)
{
  if (gst_video_info_from_caps (&self->info, caps))
    return TRUE;
  g_autofree char *text = gst_caps_to_string (caps);
  GError *error =
    g_error_new (SL_ERROR, SL_ERROR_SHAPE,
                 "sltensorconvert: expected caps of raw video with format and size, got %s", text);
  return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
}

static gboolean
take_caps (SlTensorConvert *self, GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  gst_caps_replace (&self->input_caps, caps);
  forget_tensors (self);
  self->to_frames = !gst_structure_has_name (structure, "video/x-raw");
  return self->to_frames ? take_tensor_caps (self, caps) : take_video_caps (self, caps);
}

static GstFlowReturn
fail_output (SlTensorConvert *self, GstCaps *caps, GstCaps *allowed)
{
  g_autofree char *wanted = gst_caps_to_string (allowed), *got = gst_caps_to_string (caps);
  if (GST_PAD_IS_FLUSHING (self->srcpad))
    return GST_FLOW_FLUSHING;
  GST_ELEMENT_ERROR (
    self, STREAM, FORMAT,
    ("the element after sltensorconvert wants %s, but what comes out is %s: expected an element "
     "behind that takes it, such as slpostprocess for tensors, ssdobjectdetector for frames, "
     "videoconvert before one of another pixel format",
     wanted, got),
    (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* Makes sure that downstream knows the caps of what comes next, the first of @possible that it
 * takes. */
static GstFlowReturn
negotiate (SlTensorConvert *self, GstCaps *possible)
{
  if (!gst_pad_check_reconfigure (self->srcpad) && self->output_caps != NULL
      && gst_caps_can_intersect (self->output_caps, possible))
    return GST_FLOW_OK;
  g_autoptr (GstCaps) allowed = gst_pad_peer_query_caps (self->srcpad, NULL);
  GstCaps *caps = gst_caps_intersect_full (possible, allowed, GST_CAPS_INTERSECT_FIRST);
  if (gst_caps_is_empty (caps)) {
    gst_caps_unref (caps);
    return fail_output (self, possible, allowed);
  }
  g_autoptr (GstCaps) fixed = gst_caps_fixate (caps);
  if (self->output_caps == NULL || !gst_caps_is_equal (fixed, self->output_caps)) {
    if (!gst_pad_push_event (self->srcpad, gst_event_new_caps (fixed))) {
      gst_pad_mark_reconfigure (self->srcpad);
      return GST_PAD_IS_FLUSHING (self->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
    }
    gst_caps_replace (&self->output_caps, fixed);
  }
  sl_held_events_push (&self->held, self->srcpad);
  return GST_FLOW_OK;
}

/* Others take the tensors to be of the whole frame, each side stretched to the model's. */
static void
warn_of_part (SlTensorConvert *self, const SlFrameMeta *meta)
{
  double x0, y0, x1, y1;
  sl_affine_apply (&meta->affine, 0, 0, &x0, &y0);
  sl_affine_apply (&meta->affine, meta->tensor_width, meta->tensor_height, &x1, &y1);
  if (self->warned_part
      || (fabs (x0) < 1 && fabs (y0) < 1 && fabs (x1 - GST_VIDEO_INFO_WIDTH (&meta->info)) < 1
          && fabs (y1 - GST_VIDEO_INFO_HEIGHT (&meta->info)) < 1))
    return;
  self->warned_part = TRUE;
  GST_ELEMENT_WARNING (
    self, STREAM, FORMAT,
    ("the model sees %.0f,%.0f to %.0f,%.0f of frames of %dx%d, but GStreamer's tensor decoders "
     "take its coordinates as of the whole frame, so boxes will be elsewhere: expected "
     "fit=stretch, no crop and no turn on slnormalize",
     x0, y0, x1, y1, GST_VIDEO_INFO_WIDTH (&meta->info), GST_VIDEO_INFO_HEIGHT (&meta->info)),
    (NULL));
}

/* Takes @data, whose frame went its own way. */
static gboolean
attach (SlTensorConvert *self, GstBuffer *frame, GstBuffer *data)
{
  SlTensorMapping expected = { 0 };
  sl_tensor_mapping_init (&expected, self->tensors, self->n_tensors, 0);
  g_autofree char *text = sl_tensor_mapping_complaint (&expected, data, SL_TENSOR_MAPPING_BAD_SIZE);
  sl_tensor_mapping_clear (&expected);
  if (sl_tensor_meta_add (frame, data, self->tensors, self->n_tensors, self->names))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", text), (NULL));
  return FALSE;
}

/* Takes @buffer. */
static GstFlowReturn
push_frame (SlTensorConvert *self, GstBuffer *buffer)
{
  SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  if (meta == NULL || meta->frame == NULL) {
    gst_buffer_unref (buffer);
    GST_ELEMENT_ERROR (
      self, STREAM, FORMAT,
      ("the tensors bring no frame to be put on: expected slnormalize before the element that "
       "makes them"),
      (NULL));
    return GST_FLOW_ERROR;
  }
  if (meta->content == SL_FRAME_OBJECT || meta->content == SL_FRAME_LAST_OBJECT) {
    gst_buffer_unref (buffer);
    GST_ELEMENT_ERROR (
      self, STREAM, FORMAT,
      ("the tensors are of single objects of a frame, and GStreamer's tensor decoders take those "
       "of a whole one: expected slnormalize without objects=true"),
      (NULL));
    return GST_FLOW_ERROR;
  }
  if (meta->content == SL_FRAME_TILE) { /* the whole frame comes after them */
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  if (meta->content == SL_FRAME_LAST_TILE) {
    gst_buffer_unref (buffer);
    GST_ELEMENT_ERROR (
      self, STREAM, FORMAT,
      ("the tensors are of parts of a frame, and GStreamer's tensor decoders take those of a whole "
       "one: expected slnormalize without tiles=motion"),
      (NULL));
    return GST_FLOW_ERROR;
  }
  GstFlowReturn flow = negotiate (self, meta->caps);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  const SlFrameMeta values = *meta;
  const gboolean has_tensors = !sl_buffer_is_empty_frame (buffer);
  if (has_tensors)
    warn_of_part (self, meta);
  GstBuffer *frame = gst_buffer_ref (meta->frame);
  buffer = gst_buffer_make_writable (buffer);
  gst_buffer_remove_meta (buffer, (GstMeta *) sl_buffer_get_frame_meta (buffer));
  frame = gst_buffer_make_writable (frame);
  sl_frame_meta_copy_values (sl_buffer_ensure_frame_meta (frame, &values.info), &values);
  if (!has_tensors)
    gst_buffer_unref (buffer);
  else if (!attach (self, frame, buffer)) {
    gst_buffer_unref (frame);
    return GST_FLOW_ERROR;
  }
  return gst_pad_push (self->srcpad, frame);
}

/* The first meta of @frame with tensors that @contract (nullable) is of, else the first;
 * (nullable). */
static const GstTensorMeta *
find_meta (const SlContract *contract, GstBuffer *frame)
{
  const GstTensorMeta *first = NULL;
  gpointer state = NULL;
  GstMeta *meta;
  while ((meta = gst_buffer_iterate_meta_filtered (frame, &state, GST_TENSOR_META_API_TYPE))
         != NULL) {
    SlTensorInfo tensors[SL_MAX_IO];
    gboolean empty;
    first = first != NULL ? first : (const GstTensorMeta *) meta;
    const guint n = contract != NULL ? sl_tensor_meta_describe ((const GstTensorMeta *) meta,
                                                                tensors, &empty, NULL)
                                     : 0;
    if (n > 0 && sl_tensors_same (contract->outputs, contract->n_outputs, tensors, n))
      return (const GstTensorMeta *) meta;
  }
  return first;
}

/* Takes @error. */
static GstFlowReturn
refuse_frame (SlTensorConvert *self, GError *error)
{
  sl_element_report (GST_ELEMENT (self), error);
  g_error_free (error);
  return GST_FLOW_ERROR;
}

static gboolean
check_tensors (const SlContract *contract, const SlTensorInfo *tensors, guint n, GError **error)
{
  if (contract == NULL || sl_tensors_same (contract->outputs, contract->n_outputs, tensors, n))
    return TRUE;
  g_autofree char *expected = sl_tensor_infos_describe (contract->outputs, contract->n_outputs);
  g_autofree char *got = sl_tensor_infos_describe (tensors, n);
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "sltensorconvert: the model %s gives %s, but the tensors on the frame are %s: let model= name "
    "the model that made them",
    contract->model, expected, got);
}

static GstFlowReturn
negotiate_tensors (SlTensorConvert *self, const SlTensorInfo *tensors, guint n)
{
  g_autoptr (GstCaps) caps = sl_tensor_caps_new (tensors, n, self->contract);
  const GValue *rate =
    gst_structure_get_value (gst_caps_get_structure (self->input_caps, 0), "framerate");
  if (rate != NULL)
    gst_caps_set_value (caps, "framerate", rate);
  return negotiate (self, caps);
}

/* Takes @frame; pushes a buffer of @tensors (nullable: none) that brings it along. */
static GstFlowReturn
push_tensors (SlTensorConvert *self, GstBuffer *frame, const GstTensorMeta *tensors,
              SlFrameContent content)
{
  GstBuffer *out = gst_buffer_new ();
  const SlFrameMeta *before = sl_buffer_get_frame_meta (frame);
  const gint64 now = g_get_monotonic_time (),
               captured = before != NULL && before->captured > 0 ? before->captured : now;
  const SlImageContract *image =
    self->contract != NULL && self->contract->image.valid ? &self->contract->image : NULL;
  if (tensors != NULL)
    sl_tensor_meta_append (tensors, out);
  gst_buffer_copy_into (out, frame, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  SlFrameMeta *meta = sl_buffer_add_frame_meta (out, frame, self->input_caps, &self->info);
  gst_buffer_unref (frame);
  meta->tensor_width = image != NULL ? image->width : GST_VIDEO_INFO_WIDTH (&self->info);
  meta->tensor_height = image != NULL ? image->height : GST_VIDEO_INFO_HEIGHT (&self->info);
  sl_affine_fit (&meta->affine, SL_FIT_STRETCH, GST_VIDEO_INFO_WIDTH (&self->info),
                 GST_VIDEO_INFO_HEIGHT (&self->info), meta->tensor_width, meta->tensor_height);
  meta->captured = meta->started = captured;
  meta->preprocessed = meta->inferred = now;
  meta->content = content;
  meta->number = SL_NO_NUMBER;
  return gst_pad_push (self->srcpad, out);
}

/* Takes @frame. Before the first tensors nothing is known of their caps without a model; frames
 * until then go nowhere. */
static GstFlowReturn
push_without (SlTensorConvert *self, GstBuffer *frame, SlFrameContent content)
{
  const gboolean known = self->contract != NULL || self->output_caps != NULL;
  const GstFlowReturn flow =
    self->contract != NULL
      ? negotiate_tensors (self, self->contract->outputs, self->contract->n_outputs)
      : GST_FLOW_OK;
  if (known && flow == GST_FLOW_OK)
    return push_tensors (self, frame, NULL, content);
  gst_buffer_unref (frame);
  return flow;
}

/* Takes @frame. */
static GstFlowReturn
take_frame (SlTensorConvert *self, GstBuffer *frame)
{
  SlTensorInfo tensors[SL_MAX_IO];
  GError *error = NULL;
  gboolean empty = FALSE;
  const GstTensorMeta *meta = find_meta (self->contract, frame);
  if (meta == NULL)
    return push_without (self, frame, SL_FRAME_SKIPPED);
  const guint n = sl_tensor_meta_describe (meta, tensors, &empty, &error);
  if (empty && error == NULL)
    return push_without (self, frame, SL_FRAME_NO_OBJECTS);
  GstFlowReturn flow = n > 0 && check_tensors (self->contract, tensors, n, &error)
                         ? negotiate_tensors (self, tensors, n)
                         : refuse_frame (self, error);
  if (flow == GST_FLOW_OK)
    return push_tensors (self, frame, meta, SL_FRAME_WHOLE);
  gst_buffer_unref (frame);
  return flow;
}

static GstFlowReturn
sl_tensor_convert_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  SlTensorConvert *self = (SlTensorConvert *) parent;
  if (self->input_caps == NULL || (self->to_frames && self->n_tensors == 0)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  return self->to_frames ? push_frame (self, buffer) : take_frame (self, buffer);
}

static gboolean
sl_tensor_convert_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SlTensorConvert *self = (SlTensorConvert *) parent;
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    GstCaps *caps;
    gst_event_parse_caps (event, &caps);
    const gboolean taken = take_caps (self, caps);
    gst_event_unref (event);
    return taken;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    sl_held_events_flush (&self->held);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    sl_held_events_push (&self->held, self->srcpad);
  const gboolean waits =
    self->output_caps == NULL && GST_EVENT_TYPE (event) != GST_EVENT_STREAM_START;
  if (waits && GST_EVENT_IS_STICKY (event) && GST_EVENT_TYPE (event) != GST_EVENT_EOS) {
    g_queue_push_tail (&self->held, event);
    return TRUE;
  }
  if (waits && GST_EVENT_TYPE (event) == GST_EVENT_GAP) { /* nothing to tell yet */
    gst_event_unref (event);
    return TRUE;
  }
  return gst_pad_event_default (pad, parent, event);
}

static gboolean
load_model (SlTensorConvert *self)
{
  g_autoptr (GError) error = NULL;
  GST_OBJECT_LOCK (self);
  g_autofree char *path = g_strdup (self->model);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&self->contract, sl_contract_unref);
  if (path == NULL)
    return TRUE;
  g_autoptr (SlModel) model = sl_model_load (path, NULL, &error);
  if (model == NULL)
    return sl_element_report (GST_ELEMENT (self), error);
  self->contract = sl_contract_ref (sl_model_contract (model));
  return TRUE;
}

static void
stop (SlTensorConvert *self)
{
  forget_tensors (self);
  gst_clear_caps (&self->input_caps);
  gst_clear_caps (&self->output_caps);
  sl_held_events_clear (&self->held);
  self->refused = self->warned_part = FALSE;
}

static GstStateChangeReturn
sl_tensor_convert_change_state (GstElement *element, GstStateChange transition)
{
  SlTensorConvert *self = (SlTensorConvert *) element;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !load_model (self))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn result =
    GST_ELEMENT_CLASS (sl_tensor_convert_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    stop (self);
  return result;
}

static void
sl_tensor_convert_finalize (GObject *object)
{
  SlTensorConvert *self = (SlTensorConvert *) object;
  stop (self);
  g_clear_pointer (&self->contract, sl_contract_unref);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_tensor_convert_parent_class)->finalize (object);
}

static void
sl_tensor_convert_class_init (SlTensorConvertClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  object_class->finalize = sl_tensor_convert_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  sl_element_class_pads (element_class, TEMPLATE_CAPS, TEMPLATE_CAPS);
  sl_element_class_describe (
    element_class, "Sightline tensor converter", "Filter/Converter/Tensor",
    "Puts tensors onto the frame that they were made of, as GstTensorMeta, for GStreamer's own "
    "tensor decoders; and takes those that GStreamer's own inference elements put onto frames, for "
    "slpostprocess.",
    "gst-launch-1.0 filesrc location=picture.jpg ! decodebin ! slnormalize ! slinfer "
    "model=ssd.tflite ! sltensorconvert ! ssdobjectdetector label-file=labels.txt ! sloverlay ! "
    "videoconvert ! jpegenc ! filesink location=out.jpg",
    "predictions.md");
  element_class->change_state = sl_tensor_convert_change_state;
}

static void
sl_tensor_convert_init (SlTensorConvert *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  g_queue_init (&self->held);
  self->sinkpad =
    gst_pad_new_from_template (gst_element_get_pad_template (GST_ELEMENT (self), "sink"), "sink");
  GST_PAD_SET_ACCEPT_INTERSECT (self->sinkpad);
  GST_PAD_SET_ACCEPT_TEMPLATE (self->sinkpad);
  gst_pad_set_chain_function (self->sinkpad, sl_tensor_convert_chain);
  gst_pad_set_event_function (self->sinkpad, sl_tensor_convert_sink_event);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad =
    gst_pad_new_from_template (gst_element_get_pad_template (GST_ELEMENT (self), "src"), "src");
  gst_pad_use_fixed_caps (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
