/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of decoders and the state around an open one. A decoding owns its result, allocated
 * once; running it allocates nothing.
 */
#include "postprocess/decoders.h"

#include <string.h>

#include "core/base/build_selection.h"
#include "core/base/fail.h"
#include "postprocess/halves.h"
#include "postprocess/params.h"
#include "postprocess/plausible.h"
#include "postprocess/plugin.h"

struct _SlDecoding
{
  const SlDecoder *decoder;
  gpointer state;
  SlResult *result;
  guint classes;
  guint n_labels; /* 0 = no list of names, or the tensors tell the number of classes */
  gfloat threshold;
  gboolean checked;           /* of this table, and nothing states otherwise */
  gboolean proposed;          /* of a proposal that is tried; its own ones are not */
  SlDecoderConfig config;     /* as it came, with names of its own; what floats of 16 bits became */
  guint frames, with_results; /* looked at so far */
  GString *why;               /* room for either */
  char *contradiction, *choice; /* (nullable) */
  SlHalves *halves;             /* (nullable) */
};

/* For finding out which decoder it is, whose own threshold then counts. */
#define ANY_THRESHOLD 0.5f

/* Decoders that a message names. */
#define MAX_SUGGESTED 2

#define SL_DECODER_ENTRY(name) &sl_decoder_##name,

/* Of this build. */
static const char *const left_out[] = { SL_DECODERS_LEFT_OUT };

/* In the order in which they are tried when none is named. */
static const SlDecoder *const decoders[] = { SL_DECODERS (SL_DECODER_ENTRY) };

static gboolean
check_config (const SlDecoderConfig *config, GError **error)
{
  if (config->n_tensors == 0 || config->n_tensors > SL_MAX_IO)
    return sl_fail (error, SL_ERROR_ARGUMENT, "decoder: expected 1..%d tensors, got %u", SL_MAX_IO,
                    config->n_tensors);
  if (config->threshold != SL_OWN_THRESHOLD && !(config->threshold >= 0 && config->threshold <= 1))
    return sl_fail (error, SL_ERROR_ARGUMENT, "threshold: expected 0..1, got %g",
                    config->threshold);
  if (!(config->iou_threshold >= 0 && config->iou_threshold <= 1))
    return sl_fail (error, SL_ERROR_ARGUMENT, "iou-threshold: expected 0..1, got %g",
                    config->iou_threshold);
  if (config->max_results == 0 || config->max_results > SL_MAX_RESULTS)
    return sl_fail (error, SL_ERROR_ARGUMENT, "max-results: expected 1..%d, got %u", SL_MAX_RESULTS,
                    config->max_results);
  for (guint t = 0; t < config->n_tensors; t++)
    if (config->tensors[t].rank > SL_MAX_RANK || sl_decoder_elements (&config->tensors[t]) == 0)
      return sl_fail (
        error, SL_ERROR_SHAPE,
        "decoder: tensor %u: expected a rank of at most %d, dimensions of at least 1 and fewer "
        "than 2^31 elements",
        t, SL_MAX_RANK);
  return TRUE;
}

/* Whether @decoder takes the tensors when it is named, and may be right. */
static gboolean
would_take (const SlDecoder *decoder, const SlDecoderConfig *config)
{
  if (decoder->matches == NULL || (decoder->likely != NULL && !decoder->likely (config)))
    return FALSE;
  gpointer state = decoder->open (config, NULL);
  if (state != NULL)
    decoder->close (state);
  return state != NULL;
}

/* Says of which tensors no decoder is sure, why, and which lines state one that would take them:
 * the most general decoders, which many models share, stand last in the table. */
static void
refuse_all (const SlDecoderConfig *config, GError **error)
{
  const char *why = NULL;
  guint n = 0;
  g_autoptr (GString) text = g_string_new ("no decoder takes the tensors ");
  g_autofree char *got = sl_decoder_describe (config);
  g_string_append (text, got);
  for (guint i = 0; i < G_N_ELEMENTS (decoders) && why == NULL; i++)
    why = decoders[i]->unmatched != NULL ? decoders[i]->unmatched (config) : NULL;
  if (why != NULL)
    g_string_append_printf (text, " unnamed, because %s", why);
  const gboolean names_some = why != NULL && strstr (why, "decoder=") != NULL;
  for (guint i = G_N_ELEMENTS (decoders); i-- > 0 && n < MAX_SUGGESTED && !names_some;)
    if (would_take (decoders[i], config))
      g_string_append_printf (text, "%sdecoder=%s", n++ == 0 ? "; try " : " or ",
                              decoders[i]->name);
  if (left_out[0] != NULL)
    g_string_append (text, "; perhaps the one that does " SL_LEFT_OUT);
  g_string_append (
    text, n == 0 ? "; sightline infer gives their numbers, docs/predictions.md lists the decoders"
                 : "; docs/predictions.md lists all decoders");
  sl_fail (error, SL_ERROR_SHAPE, "%s", text->str);
}

static const SlDecoder *
find_decoder (const char *name, const SlDecoderConfig *config, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    if (name != NULL ? g_ascii_strcasecmp (decoders[i]->name, name) == 0
                     : decoders[i]->matches != NULL && decoders[i]->matches (config))
      return decoders[i];
  if (name == NULL) {
    refuse_all (config, error);
    return NULL;
  }
  g_autoptr (GError) cause = NULL;
  const SlDecoder *plugin = sl_decoder_plugin_find (name, &cause);
  if (plugin == NULL && cause == NULL && g_strv_contains (left_out, name)) {
    sl_fail (error, SL_ERROR_ARGUMENT,
             "decoder %s " SL_LEFT_OUT ", or with %s in its option decoders", name, name);
  } else if (plugin == NULL && cause == NULL) {
    g_autofree char *names = sl_decoder_names ();
    sl_fail (error, SL_ERROR_ARGUMENT,
             "decoder: expected one of %s, got '%s'; a plug-in is named by its path, ./%s.so",
             names, name, name);
  } else if (plugin == NULL) {
    g_propagate_error (error, g_steal_pointer (&cause));
  }
  return plugin;
}

/* Splits "NAME,KEY=VALUE,..." and adds the parameters to @params. A piece without '=' belongs to
 * the value before it. */
static char *
parse_name (const char *text, GHashTable *params, GError **error)
{
  g_auto (GStrv) pieces = g_strsplit (text, ",", -1);
  g_autofree char *key = NULL;
  for (guint i = 1; pieces[0] != NULL && pieces[i] != NULL; i++) {
    char *equals = strchr (pieces[i], '=');
    if (equals == NULL && key == NULL)
      return sl_fail_null (
        error, SL_ERROR_ARGUMENT,
        "decoder '%s': expected NAME or NAME,PARAMETER=VALUE,..., got '%s' after the name", text,
        pieces[i]);
    if (equals == NULL) {
      const char *before = g_hash_table_lookup (params, key);
      g_hash_table_replace (params, g_strdup (key),
                            g_strdup_printf ("%s,%s", before, g_strstrip (pieces[i])));
      continue;
    }
    *equals = '\0';
    g_free (key);
    key = g_strdup (g_strstrip (pieces[i]));
    g_hash_table_replace (params, g_strdup (key), g_strdup (g_strstrip (equals + 1)));
  }
  return g_strdup (pieces[0] != NULL ? g_strstrip (pieces[0]) : "");
}

/* (transfer full) */
static char *
list_params (const SlDecoder *decoder)
{
  GString *names = g_string_new (NULL);
  for (guint i = 0; decoder->params != NULL && decoder->params[i].name != NULL; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", decoder->params[i].name);
  return g_string_free (g_string_append (names, names->len == 0 ? "none" : ""), FALSE);
}

/* Refuses what @decoder does not take, and values that it takes with no model; of the model's
 * parameters, which may be another decoder's, what none takes. */
static gboolean
check_params (const SlDecoder *decoder, GHashTable *params, gboolean of_model, GError **error)
{
  GHashTableIter iter;
  gpointer key, value;
  if (params == NULL)
    return TRUE;
  g_hash_table_iter_init (&iter, params);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    const SlDecoderParam *own = sl_decoder_param_row (decoder->params, key);
    if (own == NULL)
      own = sl_decoder_param_row (sl_decoder_model_params, key);
    gboolean known = own != NULL;
    for (guint i = 0; i < G_N_ELEMENTS (decoders) && of_model; i++)
      known = known || sl_decoder_param_row (decoders[i]->params, key) != NULL;
    if (!known) {
      g_autofree char *names = list_params (decoder);
      return sl_fail (error, SL_ERROR_ARGUMENT, "decoder %s: no parameter '%s'; there are: %s",
                      decoder->name, (const char *) key, names);
    }
    if (!of_model && !sl_decoder_param_check (own, value, error))
      return FALSE;
  }
  return TRUE;
}

static SlDecoding *
open_decoding (const SlDecoder *decoder, SlDecoderConfig *config, gfloat threshold, GError **error)
{
  double chosen = (double) threshold;
  if (threshold == SL_OWN_THRESHOLD
      && !sl_decoder_param_double (config, sl_decoder_model_params, SL_PARAM_THRESHOLD,
                                   (double) decoder->threshold, &chosen, error))
    return NULL;
  config->threshold = (gfloat) chosen;
  gboolean checked;
  if (!sl_decoder_param_bool (config, sl_decoder_model_params, SL_PARAM_CHECK, TRUE, &checked,
                              error))
    return NULL;
  gpointer state = decoder->open (config, error);
  if (state == NULL)
    return NULL;
  SlDecoding *decoding = g_new0 (SlDecoding, 1);
  decoding->decoder = decoder;
  decoding->state = state;
  decoding->threshold = config->threshold;
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    decoding->checked = decoding->checked || (checked && decoders[i] == decoder);
  decoding->result = g_new0 (SlResult, 1);
  decoding->why = g_string_sized_new (256);
  decoding->classes = decoder->classes != NULL ? decoder->classes (config) : 0;
  gboolean own_names;
  sl_decoding_names (decoding, &own_names);
  decoding->n_labels = decoding->classes == 0 && !own_names ? config->n_labels : 0;
  return decoding;
}

static void
copy_params (GHashTable *from, GHashTable *to)
{
  GHashTableIter iter;
  gpointer key, value;
  if (from == NULL)
    return;
  g_hash_table_iter_init (&iter, from);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_hash_table_replace (to, g_strdup (key), g_strdup (value));
}

/* Plug-ins get the tensors as they are, and "none" gives them so. */
static gboolean
reads_halves (const SlDecoder *decoder)
{
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    if (decoders[i] == decoder)
      return decoder == &sl_decoder_none;
  return TRUE;
}

/* Keeps what proposals are opened with. @params: (nullable): the model's */
static void
keep_config (SlDecoding *decoding, const SlDecoderConfig *config, gfloat threshold,
             GHashTable *params)
{
  decoding->config = *config;
  decoding->config.threshold = threshold;
  decoding->config.params = params != NULL ? g_hash_table_ref (params) : NULL;
  decoding->config.first_label = g_strdup (config->first_label);
  decoding->config.label_names = NULL;
  decoding->config.decoder = NULL;
  decoding->config.named = FALSE;
  for (guint t = 0; t < config->n_tensors; t++) {
    decoding->config.tensors[t].name = g_strdup (config->tensors[t].name);
    decoding->config.tensors[t].id = g_strdup (config->tensors[t].id);
  }
}

static void
drop_config (SlDecoding *decoding)
{
  g_clear_pointer (&decoding->config.params, g_hash_table_unref);
  g_free ((char *) decoding->config.first_label);
  for (guint t = 0; t < decoding->config.n_tensors; t++) {
    g_free (decoding->config.tensors[t].name);
    g_free (decoding->config.tensors[t].id);
  }
}

gboolean
sl_decoder_check (const char *text, GError **error)
{
  g_autoptr (GHashTable) params = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autofree char *name = parse_name (text, params, error);
  const SlDecoder *decoder = name != NULL ? find_decoder (name, NULL, error) : NULL;
  return decoder != NULL && check_params (decoder, params, FALSE, error);
}

SlDecoding *
sl_decoding_new (const char *name, const SlDecoderConfig *config, GError **error)
{
  g_return_val_if_fail (config != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);
  if (!check_config (config, error))
    return NULL;
  g_autoptr (GHashTable) stated = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GHashTable) params = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autofree char *bare = NULL;
  if (name != NULL && (bare = parse_name (name, stated, error)) == NULL)
    return NULL;
  copy_params (config->params, params);
  copy_params (stated, params);
  SlDecoderConfig with_params = *config;
  with_params.params = params;
  with_params.named = bare != NULL;
  if (config->threshold == SL_OWN_THRESHOLD)
    with_params.threshold = ANY_THRESHOLD;
  g_autoptr (SlHalves) halves = sl_halves_new (&with_params);
  const SlDecoder *decoder = with_params.decoder = find_decoder (bare, &with_params, error);
  if (decoder != NULL && reads_halves (decoder)) {
    g_clear_pointer (&halves, sl_halves_free);
    memcpy (with_params.tensors, config->tensors, sizeof with_params.tensors);
  }
  if (decoder == NULL || !check_params (decoder, stated, FALSE, error)
      || !check_params (decoder, config->params, TRUE, error))
    return NULL;
  SlDecoding *decoding = open_decoding (decoder, &with_params, config->threshold, error);
  if (decoding != NULL) {
    keep_config (decoding, &with_params, config->threshold, config->params);
    decoding->halves = g_steal_pointer (&halves);
  }
  return decoding;
}

SlDecoding *
sl_decoding_new_row (const SlDecoder *decoder, const SlDecoderConfig *config, GError **error)
{
  SlDecoderConfig of_row = *config;
  of_row.decoder = decoder;
  SlDecoding *decoding = check_config (config, error)
                           ? open_decoding (decoder, &of_row, config->threshold, error)
                           : NULL;
  if (decoding != NULL)
    keep_config (decoding, config, config->threshold, config->params);
  return decoding;
}

void
sl_decoding_free (SlDecoding *decoding)
{
  if (decoding == NULL)
    return;
  decoding->decoder->close (decoding->state);
  drop_config (decoding);
  sl_halves_free (decoding->halves);
  g_free (decoding->result);
  g_string_free (decoding->why, TRUE);
  g_free (decoding->contradiction);
  g_free (decoding->choice);
  g_free (decoding);
}

static void
clear_result (SlDecoding *decoding)
{
  decoding->result->n_detections = 0;
  decoding->result->n_classes = 0;
  decoding->result->n_keypoints = 0;
  decoding->result->skeleton = NULL;
  decoding->result->masks = NULL;
  decoding->result->mask = (SlClassMask){ 0 };
  decoding->result->picture = (SlPicture){ 0 };
  decoding->result->vector = (SlVector){ 0 };
  decoding->result->outputs = (SlOutputs){ 0 };
  decoding->result->highest = 0;
}

static void
decode (SlDecoding *decoding, const void *const *data)
{
  clear_result (decoding);
  decoding->decoder->decode (decoding->state, data, decoding->result);
}

/* The list of names has one for every class that was found. Where the tensors tell the number of
 * classes, the list was compared before. */
static gboolean
names_reach (const SlDecoding *decoding, GString *why)
{
  for (guint i = 0; decoding->n_labels > 0 && i < decoding->result->n_detections; i++) {
    const SlDetection *box = &decoding->result->detections[i];
    if (box->label_id < (gint32) decoding->n_labels)
      continue;
    g_string_append_printf (
      why,
      "a box has class %d, and the labels name %u classes, 0..%u: give the labels file that "
      "belongs to the model",
      box->label_id, decoding->n_labels, decoding->n_labels - 1);
    return FALSE;
  }
  return TRUE;
}

/* Whether the decoder that @text states takes the frame, and what it finds can be. */
static gboolean
holds (const SlDecoding *decoding, const char *text, const void *const *data)
{
  g_autoptr (SlDecoding) other = sl_decoding_new (text, &decoding->config, NULL);
  if (other == NULL)
    return FALSE;
  other->proposed = TRUE;
  sl_decoding_run (other, data);
  return other->contradiction == NULL;
}

/* A proposal in @why that does not hold is left out. */
static void
try_proposal (const SlDecoding *decoding, GString *why, const void *const *data)
{
  static const char begins[] = ": state decoder=";
  const char *at = strstr (why->str, begins);
  if (at == NULL || decoding->proposed)
    return;
  const char *text = at + strlen (begins);
  g_autofree char *proposal = g_strndup (text, strcspn (text, " ;"));
  if (holds (decoding, proposal, data))
    return;
  g_string_truncate (why, (gsize) (at - why->str));
  g_string_append (
    why, "; expected another decoder (docs/predictions.md lists them; sightline infer gives the "
         "numbers)");
}

/* Looks whether the numbers of a frame can be what they were taken for. */
static void
check (SlDecoding *decoding, const void *const *data)
{
  const SlDecoder *decoder = decoding->decoder;
  GString *why = g_string_truncate (decoding->why, 0);
  const SlCheck first =
    decoder->check != NULL ? decoder->check (decoding->state, data, why) : SL_CHECK_FITS;
  if (first == SL_CHECK_CONTRADICTS)
    try_proposal (decoding, why, data);
  decoding->frames++;
  if (first == SL_CHECK_CHANGED) {
    g_free (decoding->choice);
    decoding->choice = g_strdup_printf ("decoder %s: %s", decoder->name, why->str);
    g_string_truncate (why, 0);
    decode (decoding, data);
  }
  decoding->with_results += decoding->result->n_detections + decoding->result->n_classes > 0;
  g_clear_pointer (&decoding->contradiction, g_free);
  const gboolean plausible =
    first != SL_CHECK_CONTRADICTS && sl_plausible_result (decoding->result, why);
  if (plausible && names_reach (decoding, why))
    return;
  decoding->contradiction = g_strdup_printf (
    "decoder %s: %s%s", decoder->name, why->str,
    first == SL_CHECK_CONTRADICTS || plausible
      ? ""
      : "; expected other parameters of the decoder (activation=, units=), or another one "
        "(docs/predictions.md lists them; sightline infer gives the numbers)");
  clear_result (decoding);
}

const SlResult *
sl_decoding_run (SlDecoding *decoding, const void *const *data)
{
  if (decoding->halves != NULL)
    data = sl_halves_read (decoding->halves, data);
  decode (decoding, data);
  if (decoding->checked && decoding->frames < SL_PLAUSIBLE_MAX_FRAMES
      && decoding->with_results < SL_PLAUSIBLE_FRAMES)
    check (decoding, data);
  else
    g_clear_pointer (&decoding->contradiction, g_free);
  return decoding->result;
}

const char *
sl_decoding_contradiction (const SlDecoding *decoding)
{
  return decoding->contradiction;
}

char *
sl_decoding_take_choice (SlDecoding *decoding)
{
  return g_steal_pointer (&decoding->choice);
}

const SlDecoder *
sl_decoding_decoder (const SlDecoding *decoding)
{
  return decoding->decoder;
}

double
sl_decoding_threshold (const SlDecoding *decoding)
{
  return (double) decoding->threshold;
}

const char *const *
sl_decoding_names (const SlDecoding *decoding, gboolean *own)
{
  const SlDecoder *decoder = decoding->decoder;
  gboolean before_labels = FALSE;
  const char *const *names =
    decoder->names_of != NULL ? decoder->names_of (decoding->state, &before_labels) : NULL;
  if (own != NULL)
    *own = before_labels;
  return names != NULL ? names : decoder->names;
}

guint
sl_decoding_classes (const SlDecoding *decoding)
{
  return decoding->classes;
}

gboolean
sl_decoding_ids (const SlDecoding *decoding, const char *ids[SL_MAX_IO])
{
  if (decoding->decoder->ids == NULL)
    return FALSE;
  decoding->decoder->ids (decoding->state, ids);
  return TRUE;
}

const char *
sl_decoding_note (const SlDecoding *decoding)
{
  return decoding->decoder->note != NULL ? decoding->decoder->note (decoding->state) : NULL;
}

char *
sl_decoder_names (void)
{
  GString *names = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", decoders[i]->name);
  return g_string_free (names, FALSE);
}
