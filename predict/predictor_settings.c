/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPredictor's properties: the settings of a model by models/settings.h, as construct properties,
 * and its own.
 *
 * A property at its default states nothing, so that MODEL.modelinfo counts.
 */
#include "predict/predictor_settings.h"

#include "core/base/thread_count.h"
#include "postprocess/decoder.h"

enum
{
  PROP_FILTER = 1,
  PROP_CLASSES,
  PROP_SOURCE,
  PROP_THRESHOLD,
  PROP_IOU_THRESHOLD,
  PROP_MAX_RESULTS,
  PROP_TOP_K,
  PROP_THREADS,
  PROP_CUSTOM_DECODER,
  PROP_OF_MODEL /* the first of the model's settings: PROP_OF_MODEL + row of the table */
};

/**
 * SlPredictor:model:
 *
 * Path of the model file. Unset, the finder of codes (QR codes, barcodes) that comes with
 * Sightline.
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
 * What the model's outputs mean, as slpostprocess:decoder has it. Unset, what the model says or its
 * shapes tell.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:mean:
 *
 * Overrides the model: real input = (byte - mean) / std, byte in 0..255. One number, or one a
 * channel.
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
 * SlPredictor:crop-share:
 *
 * Overrides the model: the central share of each side that a crop keeps, 0.01..1; 0.875 is a crop
 * of 224 from 256 pixels. Unset, what the model states, else 1.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:pad-value:
 *
 * Overrides the model: brightness of letterbox borders, 0..255. -1, what the model says, 114 when
 * nothing says.
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
 * Classes whose objects and labels count, such as "person,car", or "!dog" for all but that one; see
 * slpostprocess:classes. #SlPredictor:max-results counts those alone. A mask keeps all its classes.
 * A name that the model does not have is an error at the next load or prediction, which names the
 * nearest ones. Unset, all.
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
 * Runtime of the model: sightline; onnxruntime or tflite, if their library is installed; auto, the
 * other runtime if it is faster with the same results. Unset, what MODEL.modelinfo says, else
 * sightline. If a runtime is not installed, refuses the model or fails, that is an error. With auto
 * or #SlPredictor:fallback, Sightline runs the model instead, and g_warning() says so.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:provider:
 *
 * Execution providers of ONNX Runtime, in order of preference with ',' between, such as
 * "tensorrt,cuda". Unset, its own on the CPU.
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
 * Path of an external delegate of TensorFlow Lite. Unset, the CPU, or what a model was compiled
 * for.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:text-model:
 *
 * Path of a text model, which makes the embeddings of #SlPredictor:prompts. It is loaded, run and
 * freed while the model is loaded.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:tokenizer:
 *
 * Path of the tokenizer file of #SlPredictor:text-model, such as tokenizer.json.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:prompts:
 *
 * Classes as sentences, separated by ';'. NAME=SENTENCE|SENTENCE names a class and averages its
 * sentences. A class with '!' before it competes with the others, and is not reported.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:templates:
 *
 * Texts that the sentences are put into, in place of {}, separated by ';'. The embeddings of all
 * are averaged. Unset, the sentences alone.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:embeddings:
 *
 * Path of a .npy file with an embedding a class, float32 or float16 [classes,length], in place of a
 * text model.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:provider-library:
 *
 * Path of a library with an execution provider of ONNX Runtime 1.22 or newer, in place of
 * #SlPredictor:provider.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:device:
 *
 * Which device of #SlPredictor:provider-library: cpu, gpu or npu, its number, from 0 on, or auto,
 * the fastest one whose results agree. Unset, the first one.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:precision:
 *
 * Of the model's layers of floats, where Sightline runs it: float; bf16 or fp16, their weights in
 * 16 bits, faster and smaller where the processor has instructions for that, with results that
 * differ. Unset, what MODEL.modelinfo says, else float.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:tensor-limit:
 *
 * Most memory that the model's tensors may take at once, in MiB. A file that needs more is refused.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:work-limit:
 *
 * Most multiply-adds that a frame may take, in billions, or as much other work. A file that asks
 * for more is refused.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:sha256:
 *
 * SHA-256 that the model's file must have, 64 digits as sha256sum prints them. Any other file is
 * refused before it is read as a model. Unset, any file.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:input-shape:
 *
 * Size of an input that the model leaves open, such as "1,3,224,224"; for several inputs with ';'
 * between. Unset, what the model says.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:fixed-inputs:
 *
 * Constant inputs, INPUT=VALUE separated by ';', such as "1=style.npy". The remaining input gets
 * the frames. Unset, what MODEL.modelinfo says.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:state:
 *
 * Inputs that get an output of the previous frame, INPUT=OUTPUT separated by ',', such as "h0=hn",
 * or "none". Unset, what MODEL.modelinfo says, else pairs with matching names and sizes.
 *
 * Since: 0.1
 */

/**
 * SlPredictor:fallback:
 *
 * With another backend: Sightline runs the model if the backend is not installed, refuses the
 * model, or fails, and g_warning() says so. Without fallback these are errors.
 *
 * Since: 0.1
 */

/* (nullable): the setting of the model that is property @id. */
static const SlSetting *
setting_of (guint id)
{
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  return id >= PROP_OF_MODEL ? &table[id - PROP_OF_MODEL] : NULL;
}

static GParamSpec *
spec_of (const SlSetting *setting, GParamFlags flags)
{
  const char *help = sl_setting_help (setting, SL_DOOR_PREDICTOR);
  if (setting->kind == SL_SETTING_NUMBER)
    return g_param_spec_int (setting->name, setting->nick, help,
                             MIN (setting->minimum, setting->initial), setting->maximum,
                             setting->initial, flags);
  if (setting->kind == SL_SETTING_BOOL)
    return g_param_spec_boolean (setting->name, setting->nick, help, setting->initial != 0, flags);
  return g_param_spec_string (setting->name, setting->nick, help, NULL, flags);
}

/* (transfer full) (nullable) */
static char *
text_of (const GValue *value, GParamSpec *spec)
{
  if (g_param_value_defaults (spec, value))
    return NULL;
  if (G_VALUE_HOLDS_INT (value))
    return g_strdup_printf ("%d", g_value_get_int (value));
  if (G_VALUE_HOLDS_BOOLEAN (value))
    return g_strdup (g_value_get_boolean (value) ? "true" : "false");
  return g_value_dup_string (value);
}

static gboolean
set_of_model (SlModelSettings *model, const SlSetting *setting, const GValue *value,
              GParamSpec *spec)
{
  g_autofree char *text = text_of (value, spec);
  if (g_strcmp0 (G_STRUCT_MEMBER (const char *, model, setting->offset), text) == 0)
    return FALSE;
  sl_setting_set (setting, model, text);
  return TRUE;
}

static void
get_of_model (const SlModelSettings *model, const SlSetting *setting, GValue *value,
              GParamSpec *spec)
{
  const char *text = G_STRUCT_MEMBER (const char *, model, setting->offset);
  if (text == NULL)
    g_param_value_set_default (spec, value);
  else if (G_VALUE_HOLDS_INT (value))
    g_value_set_int (value, (gint) g_ascii_strtoll (text, NULL, 10));
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    g_value_set_boolean (value, g_str_equal (text, "true"));
  else
    g_value_set_string (value, text);
}

static gboolean
set_text (char **place, const GValue *value)
{
  const char *text = g_value_get_string (value);
  if (g_strcmp0 (*place, text) == 0)
    return FALSE;
  g_free (*place);
  *place = g_strdup (text);
  return TRUE;
}

gboolean
sl_predictor_settings_set (SlPredictorSettings *settings, guint id, const GValue *value,
                           GParamSpec *spec)
{
  const guint threads = settings->threads;
  if (id >= PROP_OF_MODEL)
    return set_of_model (&settings->model, setting_of (id), value, spec);
  if (id == PROP_FILTER)
    return set_text (&settings->filter, value);
  if (id == PROP_CLASSES)
    set_text (&settings->classes, value);
  else if (id == PROP_SOURCE)
    set_text (&settings->source, value);
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
  else
    settings->threads = g_value_get_uint (value);
  return settings->threads != threads;
}

void
sl_predictor_settings_get (const SlPredictorSettings *settings, guint id, GValue *value,
                           GParamSpec *spec)
{
  if (id >= PROP_OF_MODEL)
    get_of_model (&settings->model, setting_of (id), value, spec);
  else if (id <= PROP_SOURCE)
    g_value_set_string (value, id == PROP_FILTER    ? settings->filter
                               : id == PROP_CLASSES ? settings->classes
                                                    : settings->source);
  else if (id == PROP_THRESHOLD)
    g_value_set_double (value, settings->threshold);
  else if (id == PROP_IOU_THRESHOLD)
    g_value_set_double (value, settings->iou_threshold);
  else if (id == PROP_CUSTOM_DECODER)
    g_value_set_object (value, settings->custom);
  else
    g_value_set_uint (value, id == PROP_MAX_RESULTS ? settings->max_results
                             : id == PROP_TOP_K     ? settings->top_k
                                                    : settings->threads);
}

void
sl_predictor_settings_copy (const SlPredictorSettings *from, SlPredictorSettings *to)
{
  sl_predictor_settings_clear (to);
  *to = *from;
  to->model = (SlModelSettings){ NULL };
  sl_model_settings_copy (&from->model, &to->model);
  to->filter = g_strdup (from->filter);
  to->classes = g_strdup (from->classes);
  to->source = g_strdup (from->source);
  to->custom = from->custom != NULL ? g_object_ref (from->custom) : NULL;
}

void
sl_predictor_settings_clear (SlPredictorSettings *settings)
{
  sl_model_settings_clear (&settings->model);
  g_clear_pointer (&settings->filter, g_free);
  g_clear_pointer (&settings->classes, g_free);
  g_clear_pointer (&settings->source, g_free);
  g_clear_object (&settings->custom);
}

static void
install_texts (GObjectClass *klass, GParamFlags flags)
{
  g_object_class_install_property (
    klass, PROP_FILTER,
    g_param_spec_string (
      "filter", "Filter",
      "How pixels are made when the size changes: nearest, bilinear, area or auto; unset = auto: "
      "area when reducing beyond 2",
      NULL, flags));
  g_object_class_install_property (
    klass, PROP_CLASSES,
    g_param_spec_string (
      "classes", "Classes",
      "Classes whose objects and labels count, such as person,car, or !dog for all but that one; "
      "unset = all",
      NULL, flags));
  g_object_class_install_property (
    klass, PROP_SOURCE,
    g_param_spec_string (
      "source", "Source",
      "Text that the predictions carry as their source, such as the name of the camera", NULL,
      flags));
}

static void
install_results (GObjectClass *object_class, GParamFlags flags)
{
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
      "Lowest confidence reported, 0..1; -1 = the decoder's own: 0.5 for most objects, 0 for "
      "labels of the whole picture",
      -1, 1, -1, flags));
  /**
   * SlPredictor:iou-threshold:
   *
   * Intersection over union above which the less confident of two boxes goes, 0..1. 0 = the
   * decoder's own.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
    object_class, PROP_IOU_THRESHOLD,
    g_param_spec_double (
      "iou-threshold", "Overlap threshold",
      "Overlap (intersection over union) above which the less confident of two boxes goes, 0..1; 0 "
      "= the decoder's own",
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
    g_param_spec_uint ("max-results", "Most objects",
                       "Most objects reported for a frame, best first", 1, SL_MAX_RESULTS, 100,
                       flags));
  /**
   * SlPredictor:top-k:
   *
   * Most labels of the whole frame, best first.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
    object_class, PROP_TOP_K,
    g_param_spec_uint ("top-k", "Most labels",
                       "Most labels of the whole picture reported for a frame, best first", 1,
                       SL_MAX_RESULTS, 1, flags));
}

static void
install_run (GObjectClass *object_class, GParamFlags flags)
{
  /**
   * SlPredictor:threads:
   *
   * CPU threads that run the model. 0 = the fastest number up to 4: the model is run a few times
   * when it is loaded.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
    object_class, PROP_THREADS,
    g_param_spec_uint ("threads", "Threads",
                       "CPU threads that run the model; 0 = the fastest number up to 4, measured",
                       0, SL_MAX_THREADS, 1, flags));
  /**
   * SlPredictor:custom-decoder:
   *
   * A decoder of the application's own, which counts instead of #SlPredictor:decoder. Unset, that
   * one.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
    object_class, PROP_CUSTOM_DECODER,
    g_param_spec_object ("custom-decoder", "Custom decoder",
                         "A decoder of the application's own, which counts instead of decoder",
                         SL_TYPE_CUSTOM_DECODER, flags));
}

void
sl_predictor_settings_install (GObjectClass *klass)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_STATIC_STRINGS;
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  for (guint i = 0; i < n; i++)
    if ((table[i].doors & SL_DOOR_PREDICTOR) != 0)
      g_object_class_install_property (klass, PROP_OF_MODEL + i, spec_of (&table[i], flags));
  install_texts (klass, flags);
  install_results (klass, flags);
  install_run (klass, flags);
}
