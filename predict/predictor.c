/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPredictor: normaliser, session and decoder in a row, for applications that hold frames in
 * memory.
 *
 * One mutex guards everything, so that bindings may call from any thread. Two flags say what the
 * properties have outdated: the model, or only its decoder. Invariant: with @session come @model,
 * @input, @outputs and @decoding, and @spec fits them.
 */
#include "sightline/predictor.h"

#include <string.h>

#include "core/base/printable.h"
#include "core/base/fail.h"
#include "core/runtime/session.h"
#include "models/backend.h"
#include "models/model.h"
#include "predict/contractspec.h"
#include "predict/custom_decoder_private.h"
#include "predict/frame_private.h"
#include "predict/opendecoding.h"
#include "postprocess/predictions/mapper.h"
#include "predict/predictions_private.h"
#include "predict/predictor_settings.h"

struct _SlPredictor
{
  GObject parent;
  GMutex lock; /* of all below */
  SlPredictorSettings settings;
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

static gboolean
find_filter (const char *name, SlFilter *filter, GError **error)
{
  static const char *const names[] = { [SL_FILTER_NEAREST] = "nearest",
                                       [SL_FILTER_BILINEAR] = "bilinear",
                                       [SL_FILTER_AREA] = "area",
                                       [SL_FILTER_AUTO] = "auto" };
  *filter = SL_FILTER_AUTO;
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (names); i++) {
    if (g_ascii_strcasecmp (name, names[i]) == 0) {
      *filter = (SlFilter) i;
      return TRUE;
    }
  }
  if (name != NULL)
    sl_fail (error, SL_ERROR_ARGUMENT, "filter=%s: expected nearest, bilinear, area or auto", name);
  return name == NULL;
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
  if (!find_filter (self->settings.filter, &self->spec.filter, error))
    return FALSE;
  if (!sl_contract_spec (contract, &self->spec)) {
    g_autofree char *summary = sl_contract_summary (contract);
    return sl_fail (
      error, SL_ERROR_CONTRACT,
      "%s: expected a model whose input is a picture (uint8, int8, int32, int64, float16 or "
      "float32; 1 or 3 channels), got %s",
      contract->model, summary);
  }
  return sl_contract_require_one_input (contract, error)
         && sl_contract_require_range (contract, error);
}

static gboolean
allocate (SlPredictor *self, const SlContract *contract, GError **error)
{
  gboolean complete = (self->input = sl_tensor_buffer_new (contract->inputs[0].bytes)) != NULL;
  for (guint i = 0; complete && i < contract->n_outputs; i++)
    complete = (self->outputs[i] = sl_tensor_buffer_new (contract->outputs[i].bytes)) != NULL;
  if (!complete)
    sl_fail (error, SL_ERROR_BACKEND, "%s: no memory for the model's input and output",
             contract->model);
  return complete;
}

static gboolean
open_decoding (SlPredictor *self, GError **error)
{
  SlContract *contract = sl_model_contract (self->model);
  const SlPredictorSettings *settings = &self->settings;
  const guint most = MAX (settings->max_results, settings->top_k);
  g_autoptr (SlClassFilter) classes = NULL;
  if (!sl_class_filter_parse (settings->classes, &classes, error))
    return FALSE;
  const SlDecodingSettings how = { .threshold = settings->threshold,
                                   .iou_threshold = settings->iou_threshold,
                                   .max_results = classes != NULL ? SL_MAX_RESULTS : (gint) most,
                                   .row = settings->custom != NULL
                                            ? sl_custom_decoder_row (settings->custom)
                                            : NULL };
  g_autoptr (SlLabels) labels = NULL;
  g_autoptr (SlDecoding) decoding =
    sl_decoding_open (contract, contract->outputs, contract->n_outputs, &how, &labels, error);
  if (decoding == NULL)
    return sl_fail_prefix (error, "%s: ", contract->model);
  if (!sl_decoding_check_classes (decoding, labels, contract->model, classes, error))
    return FALSE;
  if (strcmp (sl_decoding_decoder (decoding)->name, "image") == 0)
    return sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "%s: makes pictures; expected a model that finds or names something. slpostprocess gives "
      "pictures as video",
      contract->model);
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
load_model (const SlPredictorSettings *settings, GError **error)
{
  if (!sl_model_settings_check (&settings->model, error))
    return NULL;
  SlModelLoadOptions options = sl_model_load_options (&settings->model);
  options.skip_input_quantize = TRUE;
  options.any_backend = TRUE;
  options.threads = settings->threads;
  return sl_model_load_with (settings->model.model, &settings->model, &options, error);
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
ensure_normalizer (SlPredictor *self, const SlImageInfo *image, GError **error)
{
  if (self->normalizer != NULL && sl_image_info_same (&self->image, image))
    return TRUE;
  g_clear_pointer (&self->normalizer, sl_normalizer_free);
  const SlNormalizeStatus status = sl_normalizer_new (&self->normalizer, image, &self->spec);
  self->image = *image;
  if (status == SL_NORMALIZE_OK)
    return TRUE;
  return sl_fail (error, SL_ERROR_BACKEND, "%s: frames of %s %dx%d: %s",
                  sl_model_path (self->model), sl_pixel_format_name (image->format), image->width,
                  image->height, sl_normalize_status_text (status));
}

/* Names, places and counts what the decoder found. */
static SlPredictions *
collect (SlPredictor *self, const SlResult *result, const SlFrame *frame, const SlLatency *latency)
{
  SlPredictionView prediction = { .source = self->settings.source,
                                  .frame = self->frame++,
                                  .timestamp = sl_frame_get_timestamp (frame),
                                  .latency = latency };
  const SlFrameGeometry geometry = { .affine = *sl_normalizer_map (self->normalizer),
                                     .tensor_width = self->spec.width,
                                     .tensor_height = self->spec.height,
                                     .frame_width = self->image.width,
                                     .frame_height = self->image.height };
  sl_prediction_mapper_fill (self->mapper, result, self->labels,
                             sl_decoding_names (self->decoding, NULL), &geometry,
                             self->settings.top_k, &prediction);
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
  if (status != SL_STATUS_OK)
    return sl_fail_null (error, SL_ERROR_BACKEND, "%s: %s", sl_model_path (self->model),
                         sl_session_status_text (self->session, status));
  const gint64 run = g_get_monotonic_time ();
  const SlResult *result = sl_decoding_run (self->decoding, (const void *const *) self->outputs);
  const gint64 end = g_get_monotonic_time ();
  if (!sl_decoding_agrees (self->decoding, sl_model_path (self->model), error))
    return NULL;
  const SlLatency latency = {
    .age = end - start, .preprocess = made - start, .inference = run - made, .decode = end - run
  };
  return collect (self, result, frame, &latency);
}

/**
 * sl_predictor_new: (constructor)
 * @model: path of a model file
 * @error: where an error goes
 *
 * Makes a predictor with default properties and loads the model. To set properties first, make one
 * with g_object_new() and call sl_predictor_load().
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

/**
 * sl_predictor_new_shared: (constructor)
 * @other: a predictor
 * @error: where an error goes
 *
 * Makes a predictor with the properties of @other that shares its model, for another thread.
 * Labels, contract and constants are in memory once; working memory and threads are its own. The
 * model of @other is loaded if it is not yet.
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
    sl_predictor_settings_copy (&other->settings, &self->settings);
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
 * Loads the model that the properties name, unless it is loaded. Without it, the first prediction
 * does.
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
 * Runs the model on @frame, in the calling thread, and waits for it. A predictor stays usable after
 * an error.
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
sl_predictor_predict_bytes (SlPredictor *self, const char *format, guint width, guint height,
                            GBytes *data, GError **error)
{
  g_return_val_if_fail (SL_IS_PREDICTOR (self) && format != NULL && data != NULL, NULL);
  g_autoptr (SlFrame) frame = sl_frame_new (format, width, height, data, error);
  return frame != NULL ? sl_predictor_predict (self, frame, error) : NULL;
}

/**
 * sl_predictor_reset:
 * @self: a predictor
 *
 * Has a model that carries state from frame to frame begin anew with the next frame: call it where
 * the frames that follow are another sequence. Without state it does nothing. Predictors of
 * sl_predictor_new_shared() have a state each.
 *
 * Since: 0.1
 */
void
sl_predictor_reset (SlPredictor *self)
{
  g_return_if_fail (SL_IS_PREDICTOR (self));
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (self->session != NULL)
    sl_session_forget (self->session);
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
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  const gboolean loaded = self->session != NULL;
  *width = loaded ? (guint) self->spec.width : 0;
  *height = loaded ? (guint) self->spec.height : 0;
  return loaded;
}

/**
 * sl_predictor_dup_summary:
 * @self: a predictor
 *
 * Describes the model that is loaded.
 *
 * Returns: (transfer full) (nullable): one line that says what the model takes and means, such as
 * "uint8[1,224,224,3] RGB NHWC, decoder labels, 1001 labels"; %NULL when no model is loaded
 *
 * Since: 0.1
 */
char *
sl_predictor_dup_summary (SlPredictor *self)
{
  g_return_val_if_fail (SL_IS_PREDICTOR (self), NULL);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return self->session != NULL ? sl_contract_summary (sl_model_contract (self->model)) : NULL;
}

static void
sl_predictor_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  SlPredictor *self = SL_PREDICTOR (object);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->model_stale |= sl_predictor_settings_set (&self->settings, id, value, pspec);
  self->decoding_stale = TRUE;
}

static void
sl_predictor_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SlPredictor *self = SL_PREDICTOR (object);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  sl_predictor_settings_get (&self->settings, id, value, pspec);
}

static void
sl_predictor_finalize (GObject *object)
{
  SlPredictor *self = SL_PREDICTOR (object);
  unload (self);
  sl_predictor_settings_clear (&self->settings);
  sl_prediction_mapper_free (self->mapper);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (sl_predictor_parent_class)->finalize (object);
}

static void
sl_predictor_class_init (SlPredictorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->set_property = sl_predictor_set_property;
  object_class->get_property = sl_predictor_get_property;
  object_class->finalize = sl_predictor_finalize;
  sl_predictor_settings_install (object_class);
}

static void
sl_predictor_init (SlPredictor *self)
{
  g_mutex_init (&self->lock);
  self->mapper = sl_prediction_mapper_new ();
  self->model_stale = TRUE;
}
