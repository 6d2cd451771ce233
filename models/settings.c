/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of a model's settings. It is the only list of them: a list elsewhere is a loop over
 * this table. Any thread.
 *
 * A key file comes with the model, so it is trusted no more than the model. It may not state
 * limits, which protect from the model's file. It may not state what loads a library either: a
 * delegate is a library, as is a provider's, and options of providers and delegates name libraries
 * (QNN's backend_path, TensorRT's trt_extra_plugin_lib_paths). Only the user may state these.
 */
#include "models/settings.h"

#include <string.h>

#include "core/external/external.h"
#include "core/graph/graph.h"
#include "models/fixed_inputs.h"
#include "models/formats.h"
#include "models/prompt_list.h"
#include "core/base/fail.h"
#include "models/setting_texts.h"
#include "models/state.h"

/* Begins a row. */
#define ROW(name, nick, kind, group, doors, member)          \
  name, nick, SL_SETTING_##kind, SL_SETTINGS_##group, doors, \
    G_STRUCT_OFFSET (SlModelSettings, member)
#define RANGE(least, most, by_default) \
  .minimum = (least), .maximum = (most), .initial = (by_default)
#define WORDS(list, n) .words = (list), .n_words = (n)
/* In @help: stands for the endings of the model files that are read. */
#define ENDINGS "@endings@"

#define PROPERTIES (SL_DOOR_ELEMENTS | SL_DOOR_PREDICTOR)
#define EVERYWHERE (PROPERTIES | SL_DOOR_OPTION | SL_DOOR_KEY_FILE)
#define BY_USER (PROPERTIES | SL_DOOR_OPTION)

static const SlSetting table[] = {
  { ROW ("model", "Model", FILE, FILES, PROPERTIES, model),
    .help =
      "Path of the model file (" ENDINGS
      "), such as model=ssd.tflite, or zoo:NAME, which sightline get fetched; unset = the finder "
      "of codes (QR, barcodes) that comes with Sightline",
    .element_help =
      ". What it does not say about its input and output is read from MODEL.modelinfo beside it. "
      "While frames flow, a new model is loaded in the background and takes over between two "
      "frames; if it cannot, a warning says why, and the old one continues" },
  { ROW ("threads", "Threads", TEXT, FILES, SL_DOOR_ELEMENTS,
         threads), /* SlPredictor has a number */
    .help =
      "CPU threads that run the model: 1..64, or auto, the same as 0: the fastest number up to 4, "
      "measured when the model is loaded; unset = 1" },
  { ROW ("labels", "Labels", FILE, CONTRACT, EVERYWHERE, labels),
    .help = "Path of a text file with one class name a line; unset = the names in the model file",
    .letter = 'l', .option_help = "Class names, one a line (default: the model's own)",
    .value_name = "FILE" },
  { ROW ("mean", "Mean", TEXT, CONTRACT, EVERYWHERE, mean), .check = sl_mean_check,
    .help =
      "Overrides the model: real input = (byte - mean) / std, byte in 0..255; one number or one a "
      "channel, such as mean=127.5 or mean=123.7,116.3,103.5",
    .option_help = "Mean of the input, one number or one a channel, in 0..255",
    .value_name = "M[,M,M]" },
  { ROW ("std", "Standard deviation", TEXT, CONTRACT, EVERYWHERE, std), .check = sl_std_check,
    .help =
      "Overrides the model: real input = (byte - mean) / std; one number above 0 or one a channel, "
      "such as std=127.5",
    .option_help = "Divisor of the input, above 0: value = (byte - mean) / std",
    .value_name = "S[,S,S]" },
  { ROW ("colour", "Colour", CHOICE, CONTRACT, EVERYWHERE, colour),
    WORDS (sl_colour_words, SL_N_COLOURS),
    .help = "Overrides the model: channels of its input and their order",
    .option_help = "Channel order of the input: " SL_COLOUR_NAMES, .value_name = "ORDER" },
  { ROW ("layout", "Layout", CHOICE, CONTRACT, EVERYWHERE, layout),
    WORDS (sl_layout_words, SL_N_LAYOUTS),
    .help = "Overrides the model: order of its input's dimensions",
    .option_help = "Layout of the input: " SL_LAYOUT_NAMES, .value_name = "LAYOUT" },
  { ROW ("fit", "Fit", CHOICE, CONTRACT, EVERYWHERE, fit), WORDS (sl_fit_words, SL_N_FITS),
    .help = "Overrides the model: how a frame is fitted into its input",
    .option_help = "How frames fill the input: " SL_FIT_NAMES, .value_name = "FIT" },
  { ROW ("crop-share", "Crop share", TEXT, CONTRACT, EVERYWHERE, crop_share),
    .check = sl_crop_share_check,
    .help =
      "Overrides the model, with fit=crop or fit=stretch: the central share of each side that "
      "fills the input, 0.01..1, such as 0.875 where pictures are resized to 256 and 224 of that "
      "are cropped; unset = what the model says, else 1",
    .option_help =
      "With fit crop or stretch: the central share of each side, such as 0.875 (default: the "
      "model's, else 1)",
    .value_name = "SHARE" },
  { ROW ("pad-value", "Pad value", NUMBER, CONTRACT, EVERYWHERE, pad_value), RANGE (0, 255, -1),
    .help =
      "Overrides the model: brightness of letterbox borders, 0..255; -1 = what the model says, 114 "
      "when nothing says",
    .option_help = "Brightness of letterbox borders, 0..255 (default: the model's, else 114)",
    .value_name = "N" },
  { ROW ("decoder", "Decoder", TEXT, CONTRACT, EVERYWHERE, decoder),
    .help =
      "Overrides the model: what its outputs mean (labels, ssd, yolo, pose, ... with parameters, "
      "such as yolo,preset=v5); unset = what the model says, else found by the outputs' shapes",
    .element_help = ". The slpostprocess downstream decodes by it",
    .option_help = "What the outputs mean: labels, ssd, yolo, ...",
    .value_name = "NAME[,PARAMETER=VALUE...]" },
  { ROW ("text-model", "Text model", FILE, WORDS, BY_USER, text_model),
    .help =
      "Path of the text model that belongs to a picture model, such as CLIP's; it makes embeddings "
      "of the prompts when the model is loaded, and is freed then",
    .option_help = "The text model that makes embeddings of --prompts", .value_name = "FILE" },
  { ROW ("tokenizer", "Tokenizer", FILE, WORDS, BY_USER, tokenizer),
    .help = "Path of the text model's tokenizer file, such as tokenizer.json, vocab.json or a "
            "SentencePiece model",
    .option_help = "The text model's tokenizer file", .value_name = "FILE" },
  { ROW ("prompts", "Prompts", TEXT, WORDS, BY_USER, prompts), .check = sl_prompts_check,
    .help =
      "Classes as sentences, separated by ';', for the text model, such as prompts=\"an open "
      "door;a closed door\"; NAME=SENTENCE|SENTENCE names a class and averages its sentences; a "
      "class with '!' before it competes with the others and is not reported",
    .option_help = "Classes as sentences, such as 'an open door;a closed door'",
    .value_name = "SENTENCE;..." },
  { ROW ("templates", "Templates", TEXT, WORDS, BY_USER, templates), .check = sl_templates_check,
    .help =
      "Texts that the prompts are put into, in place of {}, separated by ';', such as "
      "templates=\"a photo of a {}\"; the embeddings of all are averaged; unset = the prompts "
      "alone",
    .option_help = "Texts with {} for the prompts, such as 'a photo of a {}'",
    .value_name = "TEXT;..." },
  { ROW ("embeddings", "Embeddings", FILE, WORDS, BY_USER, embeddings),
    .help =
      "Path of a .npy file with an embedding a class, float32 or float16 [classes,length], in "
      "place of a text model; prompts or labels name the classes",
    .option_help = "A .npy file with an embedding a class, in place of a text model",
    .value_name = "FILE" },
  { ROW ("tensor-limit", "Tensor limit", NUMBER, LIMITS, BY_USER, tensor_limit),
    RANGE (1, SL_MAX_TENSOR_LIMIT, SL_MAX_TENSOR_BYTES >> 20),
    .help =
      "Most memory that the model's tensors may take at once, in MiB; a file that needs more is "
      "refused",
    .option_help = "Most MiB that the model's tensors may take, 1..1048576 (default 1024)",
    .value_name = "MIB" },
  { ROW ("work-limit", "Work limit", NUMBER, LIMITS, BY_USER, work_limit),
    RANGE (1, 1000000, SL_MAX_WORK / 1000000000),
    .help =
      "Most multiply-adds that a frame may take, in billions, or as much other work; a file that "
      "asks for more is refused (sightline inspect shows them)",
    .option_help = "Most multiply-adds of a frame, in billions, 1..1000000 (default 250)",
    .value_name = "N" },
  { ROW ("input-shape", "Input shape", TEXT, LIMITS, EVERYWHERE, input_shape),
    .check = sl_input_shape_check,
    .help = "Size of an input that the model leaves open, outermost dimension first, such as "
            "1,3,224,224; several inputs are separated by ';'; unset = what the model says",
    .option_help = "Size of an input that the model leaves open, such as 1,3,224,224",
    .value_name = "N,N,..." },
  { ROW ("fixed-inputs", "Fixed inputs", TEXT, LIMITS, EVERYWHERE, fixed_inputs),
    .check = sl_fixed_inputs_check,
    .help =
      "Constant inputs, INPUT=VALUE separated by ';': the input's number, from 0 on, or name; the "
      "value a number, a NumPy file (.npy), or a file with the tensor's bytes, such as "
      "1=style.npy; the remaining input gets the frames; unset = what MODEL.modelinfo says",
    .option_help = "Constant inputs, such as 1=style.npy or 1=0.5",
    .value_name = "INPUT=VALUE;..." },
  { ROW ("state", "State", TEXT, LIMITS, EVERYWHERE, state), .check = sl_state_check,
    .help =
      "Inputs that get an output of the previous frame, INPUT=OUTPUT separated by ',', each a "
      "number, from 0 on, or a name, such as h0=hn,c0=cn; the first frame gets zeros, or the "
      "values of fixed-inputs; none = no state; unset = what MODEL.modelinfo says, else pairs with "
      "matching names and sizes (sightline inspect shows them)",
    .option_help =
      "Inputs that get an output of the previous frame, such as h0=hn,c0=cn, or none (default: "
      "found by names)",
    .value_name = "INPUT=OUTPUT,..." },
  { ROW ("backend", "Backend", TEXT, BACKEND, EVERYWHERE, backend), .check = sl_backend_name_check,
    .help =
      "Runtime of the model: sightline; onnxruntime or tflite, which vendors of GPUs and NPUs "
      "support, if their library is installed; auto: the other runtime if it is faster with the "
      "same results, measured once and remembered, or if Sightline refuses the model; unset = what "
      "MODEL.modelinfo says, else sightline",
    .option_help = "Runtime of the model: " SL_BACKEND_NAMES " (default sightline)",
    .value_name = "NAME" },
  { ROW ("provider", "Provider", TEXT, BACKEND, EVERYWHERE, provider),
    .help =
      "Execution providers of ONNX Runtime, in order of preference, separated by ',', such as cuda "
      "or tensorrt,cuda; unset = its own on the CPU",
    .option_help = "Execution providers of ONNX Runtime, such as tensorrt,cuda",
    .value_name = "NAME,..." },
  { ROW ("provider-options", "Provider options", TEXT, BACKEND, BY_USER,
         provider_options), /* no key: see above */
    .check = sl_backend_options_check,
    .help =
      "Options of the first provider, or of the delegate, KEY=VALUE separated by ',', such as "
      "device_id=0",
    .option_help = "Options of the first provider, or of the delegate",
    .value_name = "KEY=VALUE,..." },
  { ROW ("delegate", "Delegate", FILE, BACKEND, BY_USER, delegate), /* no key: see above */
    .help =
      "Path of an external delegate of TensorFlow Lite, such as "
      "delegate=/usr/lib/libvx_delegate.so; unset = the CPU, or the device that the model was "
      "compiled for",
    .option_help = "External delegate of TensorFlow Lite", .value_name = "FILE.so" },
  { ROW ("provider-library", "Provider library", FILE, BACKEND, BY_USER,
         provider_library), /* no key: see above */
    .help = "Path of a library with an execution provider of ONNX Runtime 1.22 or newer, such as "
            "libonnxruntime_providers_webgpu.so; in place of provider",
    .option_help = "Library with an execution provider of ONNX Runtime", .value_name = "FILE.so" },
  { ROW ("device", "Device", TEXT, BACKEND, BY_USER, device), .check = sl_backend_device_check,
    .help = "Device of provider-library: " SL_DEVICE_TYPES
            ", or its number in the list of sightline backends, such as device=gpu; unset = "
            "the first one",
    .option_help = "Device of the provider's library: " SL_DEVICE_TYPES ", or a number",
    .value_name = "TYPE" },
  { ROW ("fallback", "Fallback", BOOL, BACKEND, EVERYWHERE, fallback),
    .help =
      "With another backend: Sightline runs the model, with a warning, if the backend is not "
      "installed, refuses the model, or fails while frames flow; without fallback these are errors",
    .option_help = "Sightline runs the model if the backend cannot" },
  { ROW ("precision", "Precision", TEXT, BACKEND, EVERYWHERE, precision),
    .check = sl_precision_check,
    .help =
      "Precision of the model's float layers, if Sightline runs it: float; bf16 or fp16: weights "
      "in 16 bits, faster and smaller if the processor has instructions for that; results differ "
      "(sightline bench model --precision shows by how much); unset = what MODEL.modelinfo says, "
      "else float",
    .option_help = "Of layers of floats: " SL_PRECISION_NAMES " (default float)",
    .value_name = "NAME" },
};

G_STATIC_ASSERT (G_N_ELEMENTS (table) <= SL_MAX_SETTINGS);

const SlSetting *
sl_settings_table (guint *n)
{
  *n = G_N_ELEMENTS (table);
  return table;
}

const SlSetting *
sl_setting_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (strcmp (table[i].name, name) == 0)
      return &table[i];
  return NULL;
}

const char *
sl_setting_help (const SlSetting *setting, SlSettingDoor door)
{
  g_autoptr (GString) help = g_string_new (setting->help);
  const char *place = strstr (help->str, ENDINGS);
  if (place != NULL) {
    const gssize at = place - help->str;
    g_autofree char *endings = sl_reader_endings ();
    g_string_erase (help, at, strlen (ENDINGS));
    g_string_insert (help, at, endings);
  }
  if (door == SL_DOOR_ELEMENTS && setting->element_help != NULL)
    g_string_append (help, setting->element_help);
  if (door == SL_DOOR_PREDICTOR && setting->kind == SL_SETTING_CHOICE) {
    g_autofree char *expected = sl_setting_expected (setting);
    g_string_append_printf (help, ": %s", expected);
  }
  return g_intern_string (help->str);
}

char *
sl_setting_expected (const SlSetting *setting)
{
  GString *text = g_string_new (setting->kind == SL_SETTING_BOOL ? "true or false" : NULL);
  if (setting->kind == SL_SETTING_NUMBER)
    g_string_printf (text, "%d..%d", setting->minimum, setting->maximum);
  for (guint i = 0; i < setting->n_words; i++)
    g_string_append_printf (text, "%s%s",
                            i == 0                     ? ""
                            : i + 1 < setting->n_words ? ", "
                                                       : " or ",
                            setting->words[i].name);
  return g_string_free (text, FALSE);
}

const char *
sl_setting_get (const SlSetting *setting, const SlModelSettings *settings)
{
  const char *text = G_STRUCT_MEMBER (const char *, settings, setting->offset);
  return text != NULL && text[0] != '\0' ? text : NULL;
}

void
sl_setting_set (const SlSetting *setting, SlModelSettings *settings, const char *text)
{
  char **place = G_STRUCT_MEMBER_P (settings, setting->offset), *copy = g_strdup (text);
  g_free (*place);
  *place = copy;
}

static gboolean
is_word (const SlSetting *setting, const char *text)
{
  for (guint i = 0; i < setting->n_words; i++)
    if (g_ascii_strcasecmp (text, setting->words[i].name) == 0)
      return TRUE;
  return FALSE;
}

gboolean
sl_setting_check (const SlSetting *setting, const char *text, GError **error)
{
  gboolean good = text == NULL || text[0] == '\0';
  if (!good && setting->kind == SL_SETTING_NUMBER)
    good = g_ascii_string_to_signed (text, 10, setting->minimum, setting->maximum, NULL, NULL);
  else if (!good && setting->kind == SL_SETTING_BOOL)
    good = strcmp (text, "true") == 0 || strcmp (text, "false") == 0;
  else if (!good)
    good = setting->kind != SL_SETTING_CHOICE || is_word (setting, text);
  if (good)
    return TRUE;
  g_autofree char *expected = sl_setting_expected (setting);
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s=%s: expected %s", setting->name, text, expected);
}

gboolean
sl_setting_check_text (const SlSetting *setting, const char *text, GError **error)
{
  return text == NULL || text[0] == '\0' || setting->check == NULL || setting->check (text, error);
}

gboolean
sl_model_settings_check (const SlModelSettings *settings, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (!sl_setting_check (&table[i], sl_setting_get (&table[i], settings), error))
      return FALSE;
  return TRUE;
}

void
sl_model_settings_copy (const SlModelSettings *from, SlModelSettings *to)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    sl_setting_set (&table[i], to, G_STRUCT_MEMBER (const char *, from, table[i].offset));
}

void
sl_model_settings_clear (SlModelSettings *settings)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    sl_setting_set (&table[i], settings, NULL);
}
