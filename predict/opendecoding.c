/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening a decoder. Without a contract only the tensors' own types and dimensions are known. */
#include "predict/opendecoding.h"

#include "core/base/fail.h"
#include "postprocess/params.h"
#include "postprocess/plugin.h"

/* How many of the classes that @labels count have no name. */
static guint
count_nameless (const SlLabels *labels)
{
  guint nameless = 0;
  for (guint i = 0; i < sl_labels_count (labels); i++)
    nameless += sl_labels_get (labels, i) == NULL;
  return nameless;
}

/* What to do about @labels, which are not one for each of @classes classes. */
static const char *
advice (const SlDecoding *decoding, const SlLabels *labels, guint classes)
{
  const guint names = sl_labels_count (labels), nameless = count_nameless (labels);
  const gboolean one_number =
    classes == 1 && g_str_equal (sl_decoding_decoder (decoding)->name, "labels");
  if (one_number)
    return "a single number is the share of one class; give its name alone, or two names, of which "
           "it is the share of the second";
  if (nameless > 0 && names - nameless == classes)
    return "this model has as many classes as there are names; give a file with the names alone, "
           "one a line";
  /* A list with one name more, or less, mostly differs from the model in the class "background",
   * which shifts every name. */
  if (names == classes + 1)
    return "remove the name that the model does not have, often the first, 'background'";
  if (names + 1 == classes)
    return "add the name that is missing, often the first, 'background', or give the labels file "
           "that belongs to the model";
  return "is it another model's? Give the labels file that belongs to the model";
}

/* As many names as classes, where the tensors say how many there are. */
static gboolean
check_labels (const SlDecoding *decoding, const SlLabels *labels, const SlContract *contract,
              GError **error)
{
  const guint classes = sl_decoding_classes (decoding);
  if (labels == NULL || classes == 0 || sl_labels_count (labels) == classes)
    return TRUE;
  const guint nameless = count_nameless (labels);
  g_autofree char *counted =
    nameless > 0
      ? g_strdup_printf ("%u of these are classes without a name ('\?\?\?', an empty line, "
                         "or a number that is skipped): ",
                         nameless)
      : g_strdup ("");
  return sl_fail (error, SL_ERROR_LABELS,
                  "labels %s: %u name%s for the %u class%s%s%s; expected one a class: %s%s",
                  sl_labels_origin (labels), sl_labels_count (labels),
                  sl_labels_count (labels) == 1 ? "" : "s", classes, classes == 1 ? "" : "es",
                  contract != NULL ? " of " : "", contract != NULL ? contract->model : "", counted,
                  advice (decoding, labels, classes));
}

/* Prompts without a text model and embeddings name classes that the model has. */
static gboolean
check_prompts (const SlDecoding *decoding, const SlContract *contract, GError **error)
{
  const SlWordVectors *words = contract != NULL ? &contract->words : NULL;
  if (words == NULL || words->n == 0 || words->length > 0 || words->columns != NULL
      || sl_decoding_decoder (decoding)->classes != NULL)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "prompts alone name the classes of a model that has them inside, and %s gives "
                  "none (decoder %s); expected text-model=FILE and tokenizer=FILE with prompts, or "
                  "embeddings=FILE.npy",
                  contract->model, sl_decoding_decoder (decoding)->name);
}

/* What a model states may choose among the decoders that are installed. It may not bring code with
 * it. */
static gboolean
check_origin (const SlContract *contract, GError **error)
{
  if (contract->decoder_by_user || !sl_decoder_plugin_is_path (contract->decoder))
    return TRUE;
  return sl_fail (
    error, SL_ERROR_CONTRACT,
    "decoder: the model's description names a file of code, '%s', which is loaded only if you "
    "state it; expected the name of a decoder there: state decoder=%s yourself if you trust that "
    "file, or put it into a folder of SIGHTLINE_DECODERS",
    contract->decoder, contract->decoder);
}

static SlDecoding *
open_with (const SlDecoder *row, const char *decoder, SlDecoderConfig *config,
           const SlLabels *names, GError **error)
{
  g_autoptr (GPtrArray) all_names = g_ptr_array_new ();
  config->n_labels = names != NULL ? sl_labels_count (names) : 0;
  config->first_label = names != NULL ? sl_labels_get (names, 0) : NULL;
  for (guint i = 0; i < config->n_labels; i++)
    g_ptr_array_add (all_names, (gpointer) sl_labels_get (names, i));
  config->label_names = (const char *const *) all_names->pdata;
  return row != NULL ? sl_decoding_new_row (row, config, error)
                     : sl_decoding_new (decoder, config, error);
}

/* Names of @names that make a whole list: those from class 1 on where class 0 has none, as
 * TensorFlow's label maps count; else those before the first blank line, behind which a note may
 * stand. NULL where it is one list. */
static SlLabels *
part_of (SlLabels *names)
{
  const guint count = names != NULL ? sl_labels_count (names) : 0;
  guint named = 0;
  while (named < count && sl_labels_get (names, named) != NULL)
    named++;
  if (count < 2 || named == count)
    return NULL;
  return named == 0 ? sl_labels_slice (names, 1, count - 1) : sl_labels_slice (names, 0, named);
}

/* Opens with a part of the names where the tensors have as many classes as that part has names;
 * then *@names changes. Else NULL. */
static SlDecoding *
open_with_part (const SlDecoder *row, const char *decoder, SlDecoderConfig *config,
                SlLabels **names)
{
  g_autoptr (SlLabels) part = part_of (*names);
  g_autoptr (SlDecoding) decoding =
    part != NULL ? open_with (row, decoder, config, part, NULL) : NULL;
  if (decoding == NULL || sl_decoding_classes (decoding) != sl_labels_count (part))
    return NULL;
  sl_labels_unref (*names);
  *names = g_steal_pointer (&part);
  return g_steal_pointer (&decoding);
}

SlDecoding *
sl_decoding_open (const SlContract *contract, const SlTensorInfo *tensors, guint n,
                  const SlDecodingSettings *settings, SlLabels **labels, GError **error)
{
  SlDecoderConfig config = { .max_results = (guint) settings->max_results,
                             .threshold = settings->threshold < 0 ? SL_OWN_THRESHOLD
                                                                  : (gfloat) settings->threshold,
                             .iou_threshold = (gfloat) MAX (settings->iou_threshold, 0) };
  const char *decoder = settings->decoder;
  g_autoptr (SlLabels) names = NULL;
  *labels = NULL;
  if (contract != NULL) {
    config.params = contract->decoder_params;
    config.words = contract->words.n > 0 ? &contract->words : NULL;
    config.input_width = contract->image.valid ? contract->image.width : 0;
    config.input_height = contract->image.valid ? contract->image.height : 0;
    config.gray = contract->image.valid && contract->image.channels == 1;
    if (decoder == NULL && settings->row == NULL && !check_origin (contract, error))
      return NULL;
    decoder = decoder != NULL ? decoder : contract->decoder;
  }
  if (settings->labels != NULL) {
    names = sl_labels_load (settings->labels, error);
    if (names == NULL)
      return NULL;
  } else if (contract != NULL && contract->labels != NULL) {
    names = sl_labels_ref (contract->labels);
  }
  config.n_tensors = n;
  for (guint i = 0; i < n; i++)
    config.tensors[i] = tensors[i];
  g_autoptr (SlDecoding) decoding = open_with_part (settings->row, decoder, &config, &names);
  if (decoding == NULL)
    decoding = open_with (settings->row, decoder, &config, names, error);
  if (decoding == NULL || !check_labels (decoding, names, contract, error)
      || !check_prompts (decoding, contract, error))
    return NULL;
  gboolean own_names;
  sl_decoding_names (decoding, &own_names);
  *labels = own_names ? NULL : g_steal_pointer (&names);
  return g_steal_pointer (&decoding);
}

const char *
sl_decoding_scores_decoder (const SlDecoding *decoding, const SlContract *contract)
{
  const gboolean may_be = g_str_equal (sl_decoding_decoder (decoding)->name, "vector")
                          && contract->decoder == NULL
                          && contract->outputs[0].values != SL_VALUES_FEATURES
                          && sl_decoder_elements (&contract->outputs[0]) > 1;
  return may_be ? "labels" : NULL;
}

const char *
sl_decoding_vector_note (const SlDecoding *decoding, const SlContract *contract, const char *stated)
{
  const gboolean told = stated == NULL && (contract == NULL || contract->decoder == NULL)
                        && g_str_equal (sl_decoding_decoder (decoding)->name, "vector");
  return told ? sl_decoding_note (decoding) : NULL;
}

gboolean
sl_decoding_agrees (SlDecoding *decoding, const char *model, GError **error)
{
  const char *contradiction = sl_decoding_contradiction (decoding),
             *colon = model != NULL ? ": " : "";
  g_autofree char *choice = sl_decoding_take_choice (decoding);
  model = model != NULL ? model : "";
  if (choice != NULL)
    g_info ("%s%s%s", model, colon, choice);
  if (contradiction != NULL)
    sl_fail (error, SL_ERROR_CONTRACT, "%s%s%s", model, colon, contradiction);
  return contradiction == NULL;
}

GPtrArray *
sl_decoding_class_names (const SlDecoding *decoding, const SlLabels *labels)
{
  GPtrArray *names = g_ptr_array_new ();
  const char *const *own = labels == NULL ? sl_decoding_names (decoding, NULL) : NULL;
  const guint n_own = own != NULL ? g_strv_length ((char **) own) : 0;
  const guint n = MAX (MAX (labels != NULL ? sl_labels_count (labels) : 0, n_own),
                       sl_decoding_classes (decoding));
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (names, (gpointer) (labels != NULL ? sl_labels_get (labels, i)
                                        : i < n_own    ? own[i]
                                                       : NULL));
  return names;
}

gboolean
sl_decoding_check_classes (const SlDecoding *decoding, const SlLabels *labels, const char *model,
                           const SlClassFilter *filter, GError **error)
{
  g_autoptr (GPtrArray) names = sl_decoding_class_names (decoding, labels);
  const char *whose = labels != NULL  ? sl_labels_origin (labels)
                      : model != NULL ? model
                                      : "the model";
  return sl_class_filter_check (filter, (const char *const *) names->pdata, names->len, whose,
                                error);
}
