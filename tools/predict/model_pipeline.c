/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * appsrc ! slnormalize ! slinfer ! slpostprocess ! appsink. One frame is in flight at a time, so
 * the frame that comes out is the one that went in; it comes out as video with the predictions
 * attached. Buffers are passed by reference.
 */
#include "tools/predict/model_pipeline.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <math.h>

#include "core/base/fail.h"
#include "models/default.h"
#include "pipelines/description/build.h"
#include "pipelines/supervise/bus.h"
#include "plugins/elements.h"
#include "plugins/meta/predictions.h"
#include "plugins/tensor/caps.h"
#include "plugins/tensor/setting_properties.h"
#include "predict/opendecoding.h"
#include "tools/command.h"
#include "tools/contract_preview.h"
#include "tools/frames.h"
#include "tools/interrupt.h"

/* Most labels of a picture shown when the user asks for those above a threshold, and not for how
 * many. */
#define LABELS_ABOVE_THRESHOLD 5
/* Most milliseconds that a frame waits for its codes: enough on a busy machine for all but pictures
 * made to take long. */
#define READ_LIMIT 3000
/* Objects of a frame that a text is read on. */
#define MOST_TEXTS 256
#define POLL_INTERVAL (100 * GST_MSECOND)

struct _SlFramePredictor
{
  GstElement *pipeline, *source, *normalize, *infer, *postprocess, *sink;
  GstElement *style_source; /* (nullable): of the branch of a style model */
  GstElement *texts;        /* (nullable): slpredict with the model that reads texts */
  GstSample *style;         /* (nullable) */
  GstSample *result;        /* the last one, which the prediction points into */
  SlPredictionReader reader;
  gboolean makes_pictures;
  const char *note; /* (nullable) */
  gboolean broken;  /* the pipeline reported an error and must be restarted */
};

static GstElement *
add_own (SlFramePredictor *predictor, GType type)
{
  GstElement *element = g_object_new (type, NULL);
  gst_bin_add (GST_BIN (predictor->pipeline), element);
  return element;
}

static void
set_properties (SlFramePredictor *predictor, const SlFramePredictorOptions *options)
{
  sl_setting_properties_give (&options->model->settings, G_OBJECT (predictor->infer));
  if (!isnan (options->threshold))
    g_object_set (predictor->postprocess, "threshold", options->threshold, NULL);
  if (options->filter != NULL)
    gst_util_set_object_arg (G_OBJECT (predictor->normalize), "filter", options->filter);
  g_object_set (predictor->normalize, "tiles", options->tiles, NULL);
  g_object_set (predictor->postprocess, "classes", options->classes, NULL);
  if (options->top > 0)
    g_object_set (predictor->postprocess, "max-results", options->top, "top-k", options->top, NULL);
  else if (!isnan (options->threshold))
    g_object_set (predictor->postprocess, "top-k", LABELS_ABOVE_THRESHOLD, NULL);
}

/* (nullable): slread, which is a plugin file of its own; NULL without @error where it need not be.
 */
static GstElement *
add_reader (SlFramePredictor *predictor, const SlFramePredictorOptions *options, GError **error)
{
  const SlReading reading = options->reading;
  if (reading == SL_READING_NO)
    return NULL;
  sl_find_installed_elements ("slread");
  GstElement *reader = gst_element_factory_make ("slread", NULL);
  if (reader == NULL && reading == SL_READING_YES)
    sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "--read: there is no element slread; expected it in a plugin file of Sightline, which is "
      "built where libzbar or zxing-cpp is found (Debian: libzbar-dev, libzxing-dev; meson options "
      "zbar, zxing)");
  else if (reader == NULL)
    sl_complain (
      "predict",
      "codes are found and not read: there is no element slread; expected it in a plugin file of "
      "Sightline (meson devenv finds that of a build folder), or --no-read");
  if (reader == NULL)
    return NULL;
  g_object_set (reader, "time-limit", READ_LIMIT, NULL);
  if (isnan (options->threshold) && sl_default_model_is_finder (options->model->settings.model)) {
    g_object_set (predictor->postprocess, "threshold", SL_FINDER_READ_THRESHOLD, NULL);
    g_object_set (reader, "unread-threshold", SL_FINDER_UNREAD_THRESHOLD, NULL);
  }
  gst_bin_add (GST_BIN (predictor->pipeline), reader);
  return reader;
}

/* Links @last, the end of the elements that read, to @next (nullable), and returns the new end. */
static gboolean
link_next (GstElement **last, GstElement *next)
{
  if (next == NULL)
    return TRUE;
  const gboolean linked = gst_element_link (*last, next);
  *last = next;
  return linked;
}

/* The second model, which reads a text on each object of the first, and what makes one text of it.
 */
static void
add_text (SlFramePredictor *predictor, const SlFramePredictorOptions *options,
          GstElement *elements[2])
{
  if (options->text_model == NULL)
    return;
  elements[0] = predictor->texts = add_own (predictor, sl_predict_get_type ());
  elements[1] = add_own (predictor, sl_text_get_type ());
  g_object_set (elements[0], "model", options->text_model, "threads",
                options->model->settings.threads, "inference-region", "roi-list",
                "object-alignment", "corners", "max-objects", MOST_TEXTS, NULL);
  gst_util_set_object_arg (G_OBJECT (elements[0]), "drop", "never");
  g_object_set (elements[1], "formats", options->text_formats, NULL);
}

static gboolean
link_elements (SlFramePredictor *predictor, GstElement *reader, GstElement *const texts[2])
{
  GstElement *last = predictor->postprocess;
  return gst_element_link_many (predictor->source, predictor->normalize, predictor->infer, last,
                                NULL)
         && link_next (&last, reader) && link_next (&last, texts[0]) && link_next (&last, texts[1])
         && gst_element_link (last, predictor->sink);
}

/* appsrc ! slnormalize ! slinfer, into input 1 of the model. What pixels mean is the same for both
 * models. */
static gboolean
add_style (SlFramePredictor *predictor, const SlFramePredictorOptions *options, GError **error)
{
  const SlModelSettings *model = &options->model->settings;
  predictor->style_source = sl_make_element (GST_BIN (predictor->pipeline), "appsrc", error);
  if (predictor->style_source == NULL)
    return FALSE;
  GstElement *normalize = add_own (predictor, sl_normalize_get_type ()),
             *infer = add_own (predictor, sl_infer_get_type ());
  g_object_set (predictor->style_source, "format", GST_FORMAT_TIME, NULL);
  g_object_set (infer, "model", options->style_model, "mean", model->mean, "std", model->std,
                "threads", model->threads, NULL);
  if (gst_element_link_many (predictor->style_source, normalize, infer, NULL)
      && gst_element_link_pads (infer, "src", predictor->infer, "input_1"))
    return TRUE;
  return sl_fail (error, SL_ERROR_UNSUPPORTED, "the elements of the style's branch do not link");
}

static void
tell (gpointer owner, const char *element, const GError *warning)
{
  sl_complain ("predict", "%s", warning->message);
}

/* As it is posted, since what reads the bus drops it. */
static void
warn (GstBus *bus, GstMessage *message, SlFramePredictor *predictor)
{
  sl_bus_handle (predictor->pipeline, message, &(SlBusEvents){ .warned = tell }, NULL);
}

static gboolean
build (SlFramePredictor *predictor, const SlFramePredictorOptions *options, GError **error)
{
  predictor->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  g_autoptr (GstBus) bus = gst_element_get_bus (predictor->pipeline);
  gst_bus_enable_sync_message_emission (bus);
  g_signal_connect (bus, "sync-message::warning", G_CALLBACK (warn), predictor);
  predictor->source = sl_make_element (GST_BIN (predictor->pipeline), "appsrc", error);
  if (predictor->source == NULL)
    return FALSE;
  predictor->sink = sl_make_element (GST_BIN (predictor->pipeline), "appsink", error);
  if (predictor->sink == NULL)
    return FALSE;
  predictor->normalize = add_own (predictor, sl_normalize_get_type ());
  predictor->infer = add_own (predictor, sl_infer_get_type ());
  predictor->postprocess = add_own (predictor, sl_postprocess_get_type ());
  set_properties (predictor, options);
  g_autoptr (GstCaps) video = gst_caps_from_string ("video/x-raw(ANY)");
  g_object_set (predictor->source, "format", GST_FORMAT_TIME, NULL);
  g_object_set (predictor->sink, "caps", video, "sync", FALSE, "async", FALSE, "enable-last-sample",
                FALSE, NULL);
  if (options->style_model != NULL && !add_style (predictor, options, error))
    return FALSE;
  g_autoptr (GError) missing = NULL;
  GstElement *reader = add_reader (predictor, options, &missing);
  if (missing != NULL) {
    g_propagate_error (error, g_steal_pointer (&missing));
    return FALSE;
  }
  GstElement *texts[2] = { NULL };
  add_text (predictor, options, texts);
  if (link_elements (predictor, reader, texts))
    return TRUE;
  return sl_fail (error, SL_ERROR_UNSUPPORTED,
                  "the elements of the prediction pipeline do not link");
}

static gboolean
start (SlFramePredictor *predictor, GError **error)
{
  gst_element_set_state (predictor->pipeline, GST_STATE_NULL);
  while (sl_bus_read (predictor->pipeline, &(SlBusEvents){ 0 }, NULL))
    ; /* of the run before */
  predictor->broken =
    gst_element_set_state (predictor->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE;
  if (predictor->broken)
    sl_bus_take_refusal (predictor->pipeline, "the prediction pipeline", NULL, error);
  else if (predictor->style != NULL)
    gst_app_src_push_sample (GST_APP_SRC (predictor->style_source), predictor->style);
  return !predictor->broken;
}

/* (transfer full) (nullable): caps with the contract of @infer's model. */
static GstCaps *
caps_of (GstElement *infer)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (infer, "sink");
  return gst_pad_query_caps (pad, NULL);
}

/* Other models than readers of texts would be run for nothing. */
static gboolean
check_text_model (SlFramePredictor *predictor, const char *path, GError **error)
{
  if (predictor->texts == NULL)
    return TRUE;
  g_autoptr (GstElement) infer = gst_bin_get_by_name (GST_BIN (predictor->texts), "infer");
  g_autoptr (GstCaps) caps = caps_of (infer);
  SlContract *contract = sl_tensor_caps_contract (caps);
  g_autoptr (SlDecoding) decoding =
    contract != NULL ? sl_contract_open_pictures (contract, error) : NULL;
  if (decoding == NULL)
    return contract == NULL;
  const char *decoder = sl_decoding_decoder (decoding)->name;
  return g_str_equal (decoder, "text")
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "--text %s: its decoder is %s; expected a model that reads characters: state "
                     "decoder=text in its .modelinfo, where it is one",
                     path, decoder);
}

/* Whether the model has all of @classes (nullable), of the option --@option. */
static gboolean
check_classes (const SlDecoding *decoding, const SlContract *contract, const char *option,
               const char *classes, GError **error)
{
  g_autoptr (SlClassFilter) filter = NULL;
  g_autoptr (GError) reason = NULL;
  if (sl_class_filter_parse (classes, &filter, &reason)
      && sl_decoding_check_classes (decoding, contract->labels, contract->model, filter, &reason))
    return TRUE;
  const char *said = reason->message;
  return sl_fail (error, SL_ERROR_ARGUMENT, "--%s: %s", option,
                  g_str_has_prefix (said, "classes: ") ? said + strlen ("classes: ") : said);
}

/* What else is wrong with the model, while no source has been touched yet. */
static gboolean
check_model (SlFramePredictor *predictor, const SlFramePredictorOptions *options, GError **error)
{
  g_autoptr (GstCaps) caps = caps_of (predictor->infer);
  SlContract *contract = sl_tensor_caps_contract (caps);
  if (contract == NULL)
    return TRUE;
  g_autoptr (SlDecoding) decoding = sl_contract_open_pictures (contract, error);
  predictor->makes_pictures =
    decoding != NULL && g_str_equal (sl_decoding_decoder (decoding)->name, "image");
  predictor->note = decoding != NULL ? sl_decoding_vector_note (decoding, contract, NULL) : NULL;
  return decoding != NULL && check_classes (decoding, contract, "classes", options->classes, error)
         && check_classes (decoding, contract, "redact", options->redact, error);
}

/* Says what the numbers of a frame decided that nothing states. */
static GstBusSyncReply
tell_choice (GstBus *bus, GstMessage *message, gpointer postprocess)
{
  g_autoptr (GError) said = NULL;
  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_INFO || GST_MESSAGE_SRC (message) != postprocess)
    return GST_BUS_PASS;
  gst_message_parse_info (message, &said, NULL);
  if (g_str_has_prefix (said->message, "decoder "))
    sl_complain ("predict", "%s", said->message);
  return GST_BUS_PASS;
}

SlFramePredictor *
sl_frame_predictor_new (const SlFramePredictorOptions *options, GError **error)
{
  g_autoptr (SlFramePredictor) predictor = g_new0 (SlFramePredictor, 1);
  sl_prediction_reader_init (&predictor->reader);
  if (!build (predictor, options, error) || !start (predictor, error)
      || !check_model (predictor, options, error)
      || !check_text_model (predictor, options->text_model, error))
    return NULL;
  g_autoptr (GstBus) bus = gst_element_get_bus (predictor->pipeline);
  gst_bus_set_sync_handler (bus, tell_choice, predictor->postprocess, NULL);
  return g_steal_pointer (&predictor);
}

void
sl_frame_predictor_free (SlFramePredictor *predictor)
{
  if (predictor == NULL)
    return;
  if (predictor->pipeline != NULL)
    gst_element_set_state (predictor->pipeline, GST_STATE_NULL);
  g_clear_pointer (&predictor->result, gst_sample_unref);
  g_clear_pointer (&predictor->style, gst_sample_unref);
  gst_clear_object (&predictor->pipeline);
  sl_prediction_reader_clear (&predictor->reader);
  g_free (predictor);
}

static gboolean
read_result (SlFramePredictor *predictor, SlPredictionView *prediction, GError **error)
{
  GstVideoInfo info;
  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (predictor->result)))
    return sl_fail (error, SL_ERROR_FORMAT, "the result is no video frame");
  prediction->width = GST_VIDEO_INFO_WIDTH (&info);
  prediction->height = GST_VIDEO_INFO_HEIGHT (&info);
  prediction->made_picture = predictor->makes_pictures;
  sl_prediction_reader_read (&predictor->reader, gst_sample_get_buffer (predictor->result),
                             prediction);
  return TRUE;
}

void
sl_frame_predictor_set_style (SlFramePredictor *predictor, GstSample *picture)
{
  predictor->style = gst_sample_ref (picture);
  gst_app_src_push_sample (GST_APP_SRC (predictor->style_source), picture);
}

void
sl_frame_predictor_begin (SlFramePredictor *predictor)
{
  g_signal_emit_by_name (predictor->infer, "reset-state");
}

const char *
sl_frame_predictor_note (const SlFramePredictor *predictor)
{
  return predictor->note;
}

GstSample *
sl_frame_predictor_result (SlFramePredictor *predictor)
{
  return predictor->result;
}

gboolean
sl_frame_predictor_run (SlFramePredictor *predictor, GstSample *frame, SlPredictionView *prediction,
                        GError **error)
{
  if (predictor->broken && !start (predictor, error))
    return FALSE;
  g_clear_pointer (&predictor->result, gst_sample_unref);
  prediction->timestamp = sl_frames_time (frame);
  GstFlowReturn flow = gst_app_src_push_sample (GST_APP_SRC (predictor->source), frame);
  while (!sl_interrupted ()) {
    predictor->result =
      gst_app_sink_try_pull_sample (GST_APP_SINK (predictor->sink), POLL_INTERVAL);
    if (predictor->result != NULL)
      return read_result (predictor, prediction, error);
    predictor->broken = sl_bus_take_error (predictor->pipeline, 0, NULL, error);
    if (predictor->broken)
      return FALSE;
    if (flow != GST_FLOW_OK || gst_app_sink_is_eos (GST_APP_SINK (predictor->sink))) {
      predictor->broken = TRUE;
      return sl_fail (error, SL_ERROR_BACKEND, "the prediction pipeline stopped: %s",
                      gst_flow_get_name (flow));
    }
  }
  return FALSE;
}
