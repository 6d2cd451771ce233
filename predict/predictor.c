/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPredictor: normaliser, session and decoder in a row, for applications that hold frames in memory.
 *
 * One mutex guards everything, so that bindings may call from any thread. Two flags say what the properties have outdated: the
 * model, or only its decoder. Invariant: with @session come @model, @input, @outputs and @decoding, and @spec fits them.
 */
#include "sightline/predictor.h"

#include <string.h>

#include "core/base/printable.h"
#include "sightline/error.h"
#include "core/runtime/session.h"
#include "models/backend.h"
#include "models/model.h"
#include "predict/contractspec.h"
#include "predict/custom_decoder_private.h"
#include "predict/frame_private.h"
#include "predict/opendecoding.h"
#include "postprocess/predictions/mapper.h"
#include "predict/predictions_private.h"

typedef enum
{
  TEXT_MODEL,
  TEXT_LABELS,
  TEXT_DECODER,
  TEXT_MEAN,
  TEXT_STD,
  TEXT_COLOUR,
  TEXT_LAYOUT,
  TEXT_FIT,
  TEXT_FILTER,
  TEXT_CLASSES,
  TEXT_SOURCE,
  TEXT_BACKEND,
  TEXT_PROVIDER,
  TEXT_PROVIDER_OPTIONS,
  TEXT_DELEGATE,
  TEXT_PRECISION,
  N_TEXTS
} Text;

enum
{
  PROP_THRESHOLD = N_TEXTS + 1, /* texts come first, from 1 on */
  PROP_IOU_THRESHOLD,
  PROP_MAX_RESULTS,
  PROP_TOP_K,
  PROP_THREADS,
  PROP_CUSTOM_DECODER,
  N_PROPERTIES
};

typedef struct
{
  char *texts[N_TEXTS]; /* (nullable) each */
  gdouble threshold, iou_threshold;
  guint max_results, top_k, threads;
  SlCustomDecoder *custom; /* (nullable) */
} Settings;

struct _SlPredictor
{
  GObject parent;
  GMutex lock; /* of all below */
  Settings settings;
  gboolean model_stale, decoding_stale;
  SlModel *model;
  SlSession *session;
  SlNormalizeSpec spec;
  SlNormalizer *normalizer; /* (nullable): for frames like @image */
  SlImageInfo image;
  void *input;
  void *outputs[SL_MAX_IO];
  SlDecoding *decoding;
  SlLabels *labels;       /* (nullable) */
  SlClassFilter *classes; /* (nullable): those that count */
  SlPredictionMapper *mapper;
  guint64 frame;
};

G_DEFINE_FINAL_TYPE (SlPredictor, sl_predictor, G_TYPE_OBJECT)

/**
 * SlPredictor:model:
 *
 * Path of the model file. Unset, the finder of codes (QR codes, barcodes) that comes with Sightline.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:labels:
 *
 * Path of a text file with one class name a line. Unset, the names in the model file.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:decoder:
 *
 * What the model's outputs mean, as slpostprocess:decoder has it. Unset, what the model says or its shapes tell.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:mean:
 *
 * Overrides the model: real input = (byte - mean) / std, byte in 0..255. One number, or one a channel.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:std:
 *
 * Overrides the model: real input = (byte - mean) / std. One number above 0, or one a channel.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:colour:
 *
 * Overrides the model: channels of its input and their order, RGB, BGR or GRAY.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:layout:
 *
 * Overrides the model: order of its input's dimensions, NHWC or NCHW.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:fit:
 *
 * Overrides the model: how a frame is fitted into its input, stretch, letterbox or crop.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:filter:
 *
 * How pixels are made when the size changes: nearest, bilinear, area or auto. Unset, auto.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:classes:
 *
 * Classes whose objects and labels count, such as "person,car", or "!dog" for all but that one; see slpostprocess:classes. #SlPredictor:max-results
 * counts those alone. A mask keeps all its classes. A name that the model does not have is an error at the next load or prediction, which names
 * the nearest ones. Unset, all.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:source:
 *
 * Text that the predictions carry as their source.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:backend:
 *
 * Who runs the model: sightline; onnxruntime or tflite, where their library is installed; auto, what gives the same results faster. Unset, what
 * MODEL.modelinfo says, else sightline. A runtime that is not there, refuses the model or fails is an error; with auto, and where
 * MODEL.modelinfo states fallback=true, Sightline runs the model then, and g_warning() says so.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:provider:
 *
 * Execution providers of ONNX Runtime, in order of preference with ',' between, such as "tensorrt,cuda". Unset, its own on the CPU.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:provider-options:
 *
 * Options of the first provider, or of the delegate, KEY=VALUE with ',' between.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:delegate:
 *
 * Path of an external delegate of TensorFlow Lite. Unset, the CPU, or what a model was compiled for.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:precision:
 *
 * Of the model's layers of floats, where Sightline runs it: float; bf16 or fp16, their weights in 16 bits, faster and smaller where the processor has
 * instructions for that, with results that differ. Unset, what MODEL.modelinfo says, else float.
 *
 * Since: 0.1
 */

static const struct
{
  const char *name, *nick, *blurb;
} texts[N_TEXTS] = {
  [TEXT_MODEL] = { "model", "Model",
                   "Path of the model file (.tflite or .onnx); unset = the finder of codes (QR, barcodes) that comes with Sightline" },
  [TEXT_LABELS] = { "labels", "Labels", "Path of a text file with one class name a line; unset = the names in the model file" },
  [TEXT_DECODER] = { "decoder", "Decoder",
                     "What the model's outputs mean: labels, ssd, yolo, ... with parameters, such as yolo,preset=v5; unset = what the model "
                     "says, else told by their shapes" },
  [TEXT_MEAN] = { "mean", "Mean",
                  "Overrides the model: real input = (byte - mean) / std, byte in 0..255; one number or one a channel, such as "
                  "123.7,116.3,103.5" },
  [TEXT_STD] = { "std", "Standard deviation",
                 "Overrides the model: real input = (byte - mean) / std; one number above 0 or one a channel, such as 127.5" },
  [TEXT_COLOUR] = { "colour", "Colour", "Overrides the model: channels of its input and their order: " SL_COLOUR_NAMES },
  [TEXT_LAYOUT] = { "layout", "Layout", "Overrides the model: order of its input's dimensions: " SL_LAYOUT_NAMES },
  [TEXT_FIT] = { "fit", "Fit", "Overrides the model: how a frame is fitted into its input: " SL_FIT_NAMES },
  [TEXT_FILTER] = { "filter", "Filter",
                    "How pixels are made when the size changes: nearest, bilinear, area or auto; unset = auto: area when reducing beyond 2" },
  [TEXT_CLASSES] = { "classes", "Classes",
                     "Classes whose objects and labels count, such as person,car, or !dog for all but that one; unset = all" },
  [TEXT_SOURCE] = { "source", "Source", "Text that the predictions carry as their source, such as the name of the camera" },
  [TEXT_BACKEND] = { "backend", "Backend",
                     "Who runs the model: sightline, onnxruntime, tflite, or auto: what gives the same results faster; unset = what MODEL.modelinfo "
                     "says, else sightline" },
  [TEXT_PROVIDER] = { "provider", "Provider", "Execution providers of ONNX Runtime, in order of preference, such as tensorrt,cuda" },
  [TEXT_PROVIDER_OPTIONS] = { "provider-options", "Provider options",
                              "Options of the first provider, or of the delegate, KEY=VALUE with ',' between" },
  [TEXT_DELEGATE] = { "delegate", "Delegate", "Path of an external delegate of TensorFlow Lite" },
  [TEXT_PRECISION] = { "precision", "Precision",
                       "Of the model's layers of floats: float; bf16 or fp16, their weights in 16 bits; unset = what MODEL.modelinfo says, else float" },
};

static gboolean
find_filter (const char *name, SlFilter *filter, GError **error)
{
  static const char *const names[] = {
    [SL_FILTER_NEAREST] = "nearest", [SL_FILTER_BILINEAR] = "bilinear", [SL_FILTER_AREA] = "area", [SL_FILTER_AUTO] = "auto"
  };
  *filter = SL_FILTER_AUTO;
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (names); i++) {
    if (g_ascii_strcasecmp (name, names[i]) == 0) {
      *filter = (SlFilter) i;
      return TRUE;
    }
  }
  if (name != NULL)
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "filter=%s: expected nearest, bilinear, area or auto", name);
  return name == NULL;
}

static gboolean
check_choices (const Settings *settings, GError **error)
{
  SlColour colour;
  SlLayout layout;
  SlFit fit;
  const struct
  {
    Text text;
    gboolean good;
    const char *expected;
  } choices[] = {
    { TEXT_COLOUR, settings->texts[TEXT_COLOUR] == NULL || sl_colour_from_name (settings->texts[TEXT_COLOUR], &colour), SL_COLOUR_NAMES },
    { TEXT_LAYOUT, settings->texts[TEXT_LAYOUT] == NULL || sl_layout_from_name (settings->texts[TEXT_LAYOUT], &layout), SL_LAYOUT_NAMES },
    { TEXT_FIT, settings->texts[TEXT_FIT] == NULL || sl_fit_from_name (settings->texts[TEXT_FIT], &fit), SL_FIT_NAMES },
  };
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++) {
    const Text text = choices[i].text;
    if (!choices[i].good) {
      g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "%s=%s: expected %s", texts[text].name, settings->texts[text], choices[i].expected);
      return FALSE;
    }
  }
  return TRUE;
}

static void
unload (SlPredictor *self)
{
  g_clear_pointer (&self->normalizer, sl_normalizer_free);
  g_clear_pointer (&self->decoding, sl_decoding_free);
  g_clear_pointer (&self->labels, sl_labels_unref);
  sl_prediction_mapper_choose (self->mapper, NULL, 0);
  g_clear_pointer (&self->classes, sl_class_filter_free);
  g_clear_pointer (&self->session, sl_session_free);
  g_clear_pointer (&self->model, sl_model_unref);
  g_clear_pointer (&self->input, sl_tensor_buffer_free);
  for (guint i = 0; i < SL_MAX_IO; i++)
    g_clear_pointer (&self->outputs[i], sl_tensor_buffer_free);
  self->model_stale = TRUE;
}

/* Whether pictures can be given to the model: what it wants, in the preprocessor's words. */
static gboolean
choose_spec (SlPredictor *self, const SlContract *contract, GError **error)
{
  memset (&self->spec, 0, sizeof self->spec);
  if (!find_filter (self->settings.texts[TEXT_FILTER], &self->spec.filter, error))
    return FALSE;
  if (!sl_contract_spec (contract, &self->spec)) {
    g_autofree char *summary = sl_contract_summary (contract);
    g_set_error (error, SL_ERROR, SL_ERROR_CONTRACT,
                 "%s: expected a model whose input is a picture (uint8, int8, float16 or float32; 1 or 3 channels), got %s",
                 contract->model, summary);
    return FALSE;
  }
  return sl_contract_require_one_input (contract, error) && sl_contract_require_range (contract, error);
}

static gboolean
allocate (SlPredictor *self, const SlContract *contract, GError **error)
{
  gboolean complete = (self->input = sl_tensor_buffer_new (contract->inputs[0].bytes)) != NULL;
  for (guint i = 0; complete && i < contract->n_outputs; i++)
    complete = (self->outputs[i] = sl_tensor_buffer_new (contract->outputs[i].bytes)) != NULL;
  if (!complete)
    g_set_error (error, SL_ERROR, SL_ERROR_BACKEND, "%s: no memory for the model's input and output", contract->model);
  return complete;
}

static gboolean
open_decoding (SlPredictor *self, GError **error)
{
  SlContract *contract = sl_model_contract (self->model);
  const Settings *settings = &self->settings;
  const guint most = MAX (settings->max_results, settings->top_k);
  g_autoptr (SlClassFilter) classes = NULL;
  if (!sl_class_filter_parse (settings->texts[TEXT_CLASSES], &classes, error))
    return FALSE;
  const SlDecodingSettings how = { .threshold = settings->threshold,
                                   .iou_threshold = settings->iou_threshold,
                                   .max_results = classes != NULL ? SL_MAX_RESULTS : (gint) most,
                                   .row = settings->custom != NULL ? sl_custom_decoder_row (settings->custom) : NULL };
  g_autoptr (SlLabels) labels = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_open (contract, contract->outputs, contract->n_outputs, &how, &labels, error);
  if (decoding == NULL) {
    g_prefix_error (error, "%s: ", contract->model);
    return FALSE;
  }
  if (!sl_decoding_check_classes (decoding, labels, contract->model, classes, error))
    return FALSE;
  if (strcmp (sl_decoding_decoder (decoding)->name, "image") == 0) {
    g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED,
                 "%s: makes pictures; expected a model that finds or names something. slpostprocess gives pictures as video",
                 contract->model);
    return FALSE;
  }
  sl_prediction_mapper_choose (self->mapper, classes, most);
  g_clear_pointer (&self->classes, sl_class_filter_free);
  self->classes = g_steal_pointer (&classes);
  g_clear_pointer (&self->decoding, sl_decoding_free);
  g_clear_pointer (&self->labels, sl_labels_unref);
  self->decoding = g_steal_pointer (&decoding);
  self->labels = g_steal_pointer (&labels);
  self->decoding_stale = FALSE;
  return TRUE;
}

/* Takes @notice (nullable), a sentence that something else runs the model than was asked for. */
static void
warn_of_backend (const SlPredictor *self, char *notice)
{
  if (notice == NULL)
    return;
  g_autofree char *model = sl_printable (sl_model_path (self->model), SL_PRINTABLE_MESSAGE);
  g_warning ("%s: %s", model, notice);
  g_free (notice);
}

/* Makes ready for @model. */
static gboolean
use_model (SlPredictor *self, SlModel *model, GError **error)
{
  const SlContract *contract = sl_model_contract (model);
  self->model = sl_model_ref (model);
  if (!choose_spec (self, contract, error) || !open_decoding (self, error))
    return FALSE;
  char *notice = NULL;
  self->session = sl_model_session_new (model, self->settings.threads, &notice, error);
  warn_of_backend (self, notice);
  if (self->session == NULL)
    g_prefix_error (error, "%s: ", contract->model);
  if (self->session == NULL || !allocate (self, contract, error))
    return FALSE;
  self->model_stale = FALSE;
  return TRUE;
}

static SlModel *
load_model (const Settings *settings, GError **error)
{
  const SlContractOverrides overrides = {
    .labels = settings->texts[TEXT_LABELS],
    .mean = settings->texts[TEXT_MEAN],
    .std = settings->texts[TEXT_STD],
    .colour = settings->texts[TEXT_COLOUR],
    .fit = settings->texts[TEXT_FIT],
    .layout = settings->texts[TEXT_LAYOUT],
    .decoder = settings->texts[TEXT_DECODER],
  };
  const SlModelLoadOptions options = { .skip_input_quantize = TRUE,
                                       .any_backend = TRUE,
                                       .backend = { .backend = settings->texts[TEXT_BACKEND],
                                                    .provider = settings->texts[TEXT_PROVIDER],
                                                    .options = settings->texts[TEXT_PROVIDER_OPTIONS],
                                                    .delegate = settings->texts[TEXT_DELEGATE],
                                                    .precision = settings->texts[TEXT_PRECISION] },
                                       .threads = settings->threads };
  return check_choices (settings, error) ? sl_model_load_with (settings->texts[TEXT_MODEL], &overrides, &options, error) : NULL;
}

/* Loads what the properties say unless that is loaded already. */
static gboolean
ensure_loaded (SlPredictor *self, GError **error)
{
  if (!self->model_stale)
    return !self->decoding_stale || open_decoding (self, error);
  unload (self);
  g_autoptr (SlModel) model = load_model (&self->settings, error);
  if (model != NULL && use_model (self, model, error))
    return TRUE;
  unload (self);
  return FALSE;
}

static gboolean
same_image (const SlImageInfo *a, const SlImageInfo *b)
{
  return a->format == b->format && a->width == b->width && a->height == b->height && a->matrix == b->matrix
         && a->full_range == b->full_range && a->site_h == b->site_h && a->site_v == b->site_v;
}

static gboolean
ensure_normalizer (SlPredictor *self, const SlImageInfo *image, GError **error)
{
  if (self->normalizer != NULL && same_image (&self->image, image))
    return TRUE;
  g_clear_pointer (&self->normalizer, sl_normalizer_free);
  const SlNormalizeStatus status = sl_normalizer_new (&self->normalizer, image, &self->spec);
  self->image = *image;
  if (status == SL_NORMALIZE_OK)
    return TRUE;
  g_set_error (error, SL_ERROR, SL_ERROR_BACKEND, "%s: frames of %s %dx%d: %s", sl_model_path (self->model),
               sl_pixel_format_name (image->format), image->width, image->height, sl_normalize_status_text (status));
  return FALSE;
}

/* Names, places and counts what the decoder found. */
static SlPredictions *
collect (SlPredictor *self, const SlResult *result, const SlFrame *frame, const SlLatency *latency)
{
  SlPredictionView prediction = {
    .source = self->settings.texts[TEXT_SOURCE], .frame = self->frame++, .timestamp = sl_frame_get_timestamp (frame), .latency = latency
  };
  const SlFrameGeometry geometry = { .affine = *sl_normalizer_map (self->normalizer),
                                     .tensor_width = self->spec.width,
                                     .tensor_height = self->spec.height,
                                     .frame_width = self->image.width,
                                     .frame_height = self->image.height };
  sl_prediction_mapper_fill (self->mapper, result, self->labels, sl_decoding_names (self->decoding, NULL), &geometry, self->settings.top_k,
                             &prediction);
  return sl_predictions_new (&prediction);
}

static SlPredictions *
predict (SlPredictor *self, const SlFrame *frame, GError **error)
{
  SlImageInfo info;
  SlImage image;
  if (!ensure_loaded (self, error))
    return NULL;
  sl_frame_get_image (frame, &info, &image);
  if (!ensure_normalizer (self, &info, error))
    return NULL;
  const gint64 start = g_get_monotonic_time ();
  sl_normalizer_run (self->normalizer, &image, self->input);
  const gint64 made = g_get_monotonic_time ();
  const void *input = self->input;
  const SlStatus status = sl_session_run (self->session, &input, self->outputs);
  warn_of_backend (self, sl_session_take_notice (self->session));
  if (status != SL_STATUS_OK) {
    g_set_error (error, SL_ERROR, SL_ERROR_BACKEND, "%s: %s", sl_model_path (self->model), sl_session_status_text (self->session, status));
    return NULL;
  }
  const gint64 run = g_get_monotonic_time ();
  const SlResult *result = sl_decoding_run (self->decoding, (const void *const *) self->outputs);
  const gint64 end = g_get_monotonic_time ();
  if (!sl_decoding_agrees (self->decoding, sl_model_path (self->model), error))
    return NULL;
  const SlLatency latency = { .age = end - start, .preprocess = made - start, .inference = run - made, .decode = end - run };
  return collect (self, result, frame, &latency);
}

/**
 * sl_predictor_new: (constructor)
 * @model: path of a model file
 * @error: where an error goes
 *
 * Makes a predictor with default properties and loads the model. To set properties first, make one with g_object_new() and
 * call sl_predictor_load().
 *
 * Returns: (transfer full): %NULL with @error set when the model cannot be loaded
 *
 * Since: 0.1
 */
SlPredictor *
sl_predictor_new (const char *model, GError **error)
{
  g_return_val_if_fail (model != NULL, NULL);
  g_autoptr (SlPredictor) self = g_object_new (SL_TYPE_PREDICTOR, "model", model, NULL);
  return sl_predictor_load (self, error) ? g_steal_pointer (&self) : NULL;
}

static void
copy_settings (Settings *to, const Settings *from)
{
  for (guint i = 0; i < N_TEXTS; i++)
    g_free (to->texts[i]);
  g_set_object (&to->custom, from->custom);
  *to = *from;
  for (guint i = 0; i < N_TEXTS; i++)
    to->texts[i] = g_strdup (from->texts[i]);
}

/**
 * sl_predictor_new_shared: (constructor)
 * @other: a predictor
 * @error: where an error goes
 *
 * Makes a predictor with the properties of @other that shares its model, for another thread. Labels, contract and constants are
 * in memory once; working memory and threads are its own. The model of @other is loaded if it is not yet.
 *
 * Returns: (transfer full): %NULL with @error set when the model cannot be loaded
 *
 * Since: 0.1
 */
SlPredictor *
sl_predictor_new_shared (SlPredictor *other, GError **error)
{
  g_return_val_if_fail (SL_IS_PREDICTOR (other), NULL);
  g_autoptr (SlPredictor) self = g_object_new (SL_TYPE_PREDICTOR, NULL);
  g_mutex_lock (&other->lock);
  gboolean shared = ensure_loaded (other, error);
  if (shared) {
    copy_settings (&self->settings, &other->settings);
    shared = use_model (self, other->model, error);
  }
  g_mutex_unlock (&other->lock);
  return shared ? g_steal_pointer (&self) : NULL;
}

/**
 * sl_predictor_load:
 * @self: a predictor
 * @error: where an error goes
 *
 * Loads the model that the properties name, unless it is loaded. Without it, the first prediction does.
 *
 * Returns: %FALSE with @error set when the model or a property is not as it should be
 *
 * Since: 0.1
 */
gboolean
sl_predictor_load (SlPredictor *self, GError **error)
{
  g_return_val_if_fail (SL_IS_PREDICTOR (self), FALSE);
  g_mutex_lock (&self->lock);
  const gboolean loaded = ensure_loaded (self, error);
  g_mutex_unlock (&self->lock);
  if (!loaded)
    sl_printable_error (error);
  return loaded;
}

/**
 * sl_predictor_predict:
 * @self: a predictor
 * @frame: the frame; formats and sizes may change from frame to frame
 * @error: where an error goes
 *
 * Runs the model on @frame, in the calling thread, and waits for it. A predictor stays usable after an error.
 *
 * Returns: (transfer full): %NULL with @error set when the model cannot be loaded or fails
 *
 * Since: 0.1
 */
SlPredictions *
sl_predictor_predict (SlPredictor *self, SlFrame *frame, GError **error)
{
  g_return_val_if_fail (SL_IS_PREDICTOR (self) && frame != NULL, NULL);
  g_mutex_lock (&self->lock);
  SlPredictions *predictions = predict (self, frame, error);
  g_mutex_unlock (&self->lock);
  if (predictions == NULL)
    sl_printable_error (error);
  return predictions;
}

/**
 * sl_predictor_predict_bytes:
 * @self: a predictor
 * @format: name of the pixel format, see sl_frame_new()
 * @width: pixels, 1..32768
 * @height: pixels, 1..32768
 * @data: the pixels, rows and planes without padding
 * @error: where an error goes
 *
 * sl_frame_new() and sl_predictor_predict() in one.
 *
 * Returns: (transfer full): %NULL with @error set
 *
 * Since: 0.1
 */
SlPredictions *
sl_predictor_predict_bytes (SlPredictor *self, const char *format, guint width, guint height, GBytes *data, GError **error)
{
  g_return_val_if_fail (SL_IS_PREDICTOR (self) && format != NULL && data != NULL, NULL);
  g_autoptr (SlFrame) frame = sl_frame_new (format, width, height, data, error);
  return frame != NULL ? sl_predictor_predict (self, frame, error) : NULL;
}

/**
 * sl_predictor_reset:
 * @self: a predictor
 *
 * Has a model that carries state from frame to frame begin anew with the next frame: call it where the frames that follow are another sequence.
 * Without state it does nothing. Predictors of sl_predictor_new_shared() have a state each.
 *
 * Since: 0.1
 */
void
sl_predictor_reset (SlPredictor *self)
{
  g_return_if_fail (SL_IS_PREDICTOR (self));
  g_mutex_lock (&self->lock);
  if (self->session != NULL)
    sl_session_forget (self->session);
  g_mutex_unlock (&self->lock);
}

/**
 * sl_predictor_get_input_size:
 * @self: a predictor
 * @width: (out): pixels of the model's input
 * @height: (out): pixels of the model's input
 *
 * Frames of any size are taken; those of this size need no scaling.
 *
 * Returns: %FALSE, and 0 for both, when no model is loaded
 *
 * Since: 0.1
 */
gboolean
sl_predictor_get_input_size (SlPredictor *self, guint *width, guint *height)
{
  g_return_val_if_fail (SL_IS_PREDICTOR (self) && width != NULL && height != NULL, FALSE);
  g_mutex_lock (&self->lock);
  const gboolean loaded = self->session != NULL;
  *width = loaded ? (guint) self->spec.width : 0;
  *height = loaded ? (guint) self->spec.height : 0;
  g_mutex_unlock (&self->lock);
  return loaded;
}

/**
 * sl_predictor_dup_summary:
 * @self: a predictor
 *
 * Describes the model that is loaded.
 *
 * Returns: (transfer full) (nullable): one line that says what the model takes and means, such as
 *   "uint8[1,224,224,3] RGB NHWC stretch, decoder labels, 1001 labels"; %NULL when no model is loaded
 *
 * Since: 0.1
 */
char *
sl_predictor_dup_summary (SlPredictor *self)
{
  g_return_val_if_fail (SL_IS_PREDICTOR (self), NULL);
  g_mutex_lock (&self->lock);
  char *summary = self->session != NULL ? sl_contract_summary (sl_model_contract (self->model)) : NULL;
  g_mutex_unlock (&self->lock);
  return summary;
}

static void
set_text (SlPredictor *self, Text text, const char *value)
{
  if (g_strcmp0 (self->settings.texts[text], value) == 0)
    return;
  g_free (self->settings.texts[text]);
  self->settings.texts[text] = g_strdup (value);
  if (text != TEXT_SOURCE && text != TEXT_CLASSES)
    self->model_stale = TRUE;
}

static void
sl_predictor_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  SlPredictor *self = SL_PREDICTOR (object);
  Settings *settings = &self->settings;
  g_mutex_lock (&self->lock);
  if (id <= N_TEXTS)
    set_text (self, (Text) (id - 1), g_value_get_string (value));
  else if (id == PROP_THRESHOLD)
    settings->threshold = g_value_get_double (value);
  else if (id == PROP_IOU_THRESHOLD)
    settings->iou_threshold = g_value_get_double (value);
  else if (id == PROP_MAX_RESULTS)
    settings->max_results = g_value_get_uint (value);
  else if (id == PROP_TOP_K)
    settings->top_k = g_value_get_uint (value);
  else if (id == PROP_CUSTOM_DECODER)
    g_set_object (&settings->custom, g_value_get_object (value));
  else {
    self->model_stale = self->model_stale || settings->threads != g_value_get_uint (value);
    settings->threads = g_value_get_uint (value);
  }
  self->decoding_stale = TRUE;
  g_mutex_unlock (&self->lock);
}

static void
sl_predictor_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SlPredictor *self = SL_PREDICTOR (object);
  const Settings *settings = &self->settings;
  g_mutex_lock (&self->lock);
  if (id <= N_TEXTS)
    g_value_set_string (value, settings->texts[id - 1]);
  else if (id == PROP_THRESHOLD)
    g_value_set_double (value, settings->threshold);
  else if (id == PROP_IOU_THRESHOLD)
    g_value_set_double (value, settings->iou_threshold);
  else if (id == PROP_CUSTOM_DECODER)
    g_value_set_object (value, settings->custom);
  else
    g_value_set_uint (value, id == PROP_MAX_RESULTS ? settings->max_results : id == PROP_TOP_K ? settings->top_k : settings->threads);
  g_mutex_unlock (&self->lock);
}

static void
sl_predictor_finalize (GObject *object)
{
  SlPredictor *self = SL_PREDICTOR (object);
  unload (self);
  for (guint i = 0; i < N_TEXTS; i++)
    g_free (self->settings.texts[i]);
  g_clear_object (&self->settings.custom);
  sl_prediction_mapper_free (self->mapper);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (sl_predictor_parent_class)->finalize (object);
}

static void
sl_predictor_class_init (SlPredictorClass *klass)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->set_property = sl_predictor_set_property;
  object_class->get_property = sl_predictor_get_property;
  object_class->finalize = sl_predictor_finalize;
  for (guint i = 0; i < N_TEXTS; i++)
    g_object_class_install_property (object_class, i + 1, g_param_spec_string (texts[i].name, texts[i].nick, texts[i].blurb, NULL, flags));
  /**
   * SlPredictor:threshold:
   *
   * Lowest confidence reported, 0..1. -1 = the decoder's own.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
    object_class, PROP_THRESHOLD,
    g_param_spec_double (
      "threshold", "Threshold",
      "Lowest confidence reported, 0..1; -1 = the decoder's own: 0.5 for most objects, 0 for labels of the whole picture", -1, 1, -1,
      flags));
  /**
   * SlPredictor:iou-threshold:
   *
   * Intersection over union above which the less confident of two boxes goes, 0..1. 0 = the decoder's own.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
    object_class, PROP_IOU_THRESHOLD,
    g_param_spec_double ("iou-threshold", "Overlap threshold",
                         "Overlap (intersection over union) above which the less confident of two boxes goes, 0..1; 0 = the decoder's own",
                         0, 1, 0, flags));
  /**
   * SlPredictor:max-results:
   *
   * Most objects reported for a frame, best first.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
    object_class, PROP_MAX_RESULTS,
    g_param_spec_uint ("max-results", "Most objects", "Most objects reported for a frame, best first", 1, SL_MAX_RESULTS, 100, flags));
  /**
   * SlPredictor:top-k:
   *
   * Most labels of the whole frame, best first.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_TOP_K,
                                   g_param_spec_uint ("top-k", "Most labels",
                                                      "Most labels of the whole picture reported for a frame, best first", 1,
                                                      SL_MAX_RESULTS, 1, flags));
  /**
   * SlPredictor:threads:
   *
   * CPU threads that run the model. 0 = as many as run it fastest, at most 4: the model is run a few times when it is loaded.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_THREADS,
                                   g_param_spec_uint ("threads", "Threads",
                                                      "CPU threads that run the model; 0 = as many as run it fastest, measured, at most 4",
                                                      0, SL_MAX_THREADS, 1, flags));
  /**
   * SlPredictor:custom-decoder:
   *
   * A decoder of the application's own, which counts instead of #SlPredictor:decoder. Unset, that one.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_CUSTOM_DECODER,
                                   g_param_spec_object ("custom-decoder", "Custom decoder",
                                                        "A decoder of the application's own, which counts instead of decoder",
                                                        SL_TYPE_CUSTOM_DECODER, flags));
}

static void
sl_predictor_init (SlPredictor *self)
{
  g_mutex_init (&self->lock);
  self->mapper = sl_prediction_mapper_new ();
  self->model_stale = TRUE;
}
